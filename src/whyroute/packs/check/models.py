"""What the pack's providers say of their models: prices, lengths and regions that can't be right together."""

import re
from collections.abc import Iterator
from typing import Final

from ...basics.issues import shown
from ...basics.numbers import Number, ecmascript
from ...model.features import UNSPECIFIED_REGION
from ..load.definitions import Definition
from ..load.models import PackProvider
from ..source.problems import Place
from .findings import Finding, found
from .survey import Survey

__all__ = ["long_outputs", "mismatched_regions", "prices_per_million"]

_IMPLAUSIBLE: Final = 1
"""USD for 1,000 tokens that no model has cost: the dearest so far was 0.6, or 600 for a million."""

_FACTOR: Final = 300
"""How many times what another provider asks for the same model a price has to be to look like one for a million."""

_AREAS: Final = {
    "global.": None,
    "us-gov.": re.compile(r"us-?gov"),
    "us.": re.compile(r"us-(?!gov)|.*us\d?$|us$"),
    "eu.": re.compile(r"eu\b|eu-|europe|.*europe"),
    "apac.": re.compile(r"ap-|apac|asia|.*asia"),
    "jp.": re.compile(r"ap-northeast-[13]|jp|japan|asia-northeast[12]"),
    "au.": re.compile(r"ap-southeast-[24]|au|australia"),
    "ca.": re.compile(r"ca-|canada|northamerica-northeast"),
}
"""Prefixes of model names that say where calls are served, each with the regions that they go with."""

_PREFIX: Final = re.compile("|".join(map(re.escape, _AREAS)))

_PLACE: Final = re.compile(r"(us|eu|ap|af|ca|cn|il|me|mx|sa)-|us-?gov|.*(europe|asia|us\d?$)|japan|australia|canada|uk")
"""Regions that are known to be somewhere."""


def prices_per_million(survey: Survey) -> Iterator[Finding]:
    """Prices for 1,000 tokens that are what a million would cost."""
    cheapest = _cheapest(survey)
    for provider in survey.pack.providers.values():
        for index, model in enumerate(provider.value.metadata.models):
            prices = (
                ("promptUsdPer1kTokens", model.cost.prompt_usd_per_1k_tokens),
                ("completionUsdPer1kTokens", model.cost.completion_usd_per_1k_tokens),
            )
            for key, price in prices:
                less, where = cheapest[key].get(model.name, (price, None))
                elsewhere = where is not None and less > 0 and price >= _FACTOR * less
                if price >= _IMPLAUSIBLE or elsewhere:
                    place = provider.piece.value("models", index, "cost", key)
                    thousandth = ecmascript(float(f"{price / 1000:.12g}"))
                    message = (
                        f"{ecmascript(price)} USD for 1,000 tokens looks like the price of a million; "
                        f"for 1,000 that is {thousandth}"
                    )
                    yield found("price-per-million", place, message, [where] if elsewhere and where else [])


def _cheapest(survey: Survey) -> dict[str, dict[str, tuple[Number, Place | None]]]:
    """For each price, the lowest that models of a name have, and where; only of names that several providers have."""
    counts: dict[str, int] = {}
    for meta in survey.catalog.metadata:
        for model in meta.models:
            counts[model.name] = counts.get(model.name, 0) + 1
    lowest: dict[str, dict[str, tuple[Number, Definition[PackProvider], int]]] = {
        "promptUsdPer1kTokens": {},
        "completionUsdPer1kTokens": {},
    }
    for provider in survey.pack.providers.values():
        for index, model in enumerate(provider.value.metadata.models):
            if counts[model.name] > 1:
                for key, price in (
                    ("promptUsdPer1kTokens", model.cost.prompt_usd_per_1k_tokens),
                    ("completionUsdPer1kTokens", model.cost.completion_usd_per_1k_tokens),
                ):
                    known = lowest[key].get(model.name)
                    if price > 0 and (known is None or price < known[0]):
                        lowest[key][model.name] = (price, provider, index)
    return {
        key: {
            name: (price, provider.piece.value("models", index, "cost", key))
            for name, (price, provider, index) in models.items()
        }
        for key, models in lowest.items()
    }


def long_outputs(survey: Survey) -> Iterator[Finding]:
    """Models whose longest answer is said to be longer than prompt and answer together may be."""
    for provider in survey.pack.providers.values():
        for index, model in enumerate(provider.value.metadata.models):
            if model.max_output_tokens is not None and model.max_output_tokens > model.context_window:
                place = provider.piece.value("models", index, "maxOutputTokens")
                message = (
                    f"`maxOutputTokens`, {ecmascript(model.max_output_tokens)}, is above `contextWindow`, "
                    f"{ecmascript(model.context_window)}, which prompt and answer share"
                )
                other = provider.piece.value("models", index, "contextWindow")
                yield found("output-above-context", place, message, [other])


def mismatched_regions(survey: Survey) -> Iterator[Finding]:
    """Models whose name says that calls are served elsewhere than in their provider's region."""
    for provider in survey.pack.providers.values():
        region = provider.value.metadata.region
        if region == UNSPECIFIED_REGION or _PLACE.match(region) is None:
            continue
        for index, model in enumerate(provider.value.metadata.models):
            known = _PREFIX.match(model.name)
            if known is not None:
                prefix = known.group()
                area = _AREAS[prefix]
                if area is None or area.match(region) is None:
                    message = (
                        f"{shown(prefix)} in {shown(model.name)} says that calls are served elsewhere than in "
                        f"{shown(region)}, the provider's region"
                    )
                    place = provider.piece.value("models", index, "name")
                    yield found("model-region-mismatch", place, message, [provider.piece.value("region")])
