"""From rows of a published catalog to providers in wire form, and the account of what was left out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from ...basics.issues import shown
from ...model.features import DEFAULT_KIND, FEATURES, UNSPECIFIED_REGION
from ...model.metadata import metadata_problems
from .amounts import PriceUnit, decimal_of, price_per_1k, token_count

__all__ = [
    "EMBEDDING_KIND",
    "Conversion",
    "LeftOut",
    "Offer",
    "Skipped",
    "build",
    "model",
    "phrase",
    "skipped_lines",
]

EMBEDDING_KIND = "embedding"
_EXAMPLES = 3


class LeftOut(StrEnum):
    """Why a model is not imported, in the order in which it is reported."""

    FORMAT_EXAMPLE = "format-example"
    UNREADABLE = "unreadable"
    OTHER_KIND = "other-kind"
    UNCLEAR_KIND = "unclear-kind"
    NOT_TEXT = "not-text"
    NO_PRICE = "no-price"
    UNUSABLE_PRICE = "unusable-price"
    NO_CONTEXT_WINDOW = "no-context-window"
    UNUSABLE_CONTEXT_WINDOW = "unusable-context-window"
    REPEATED = "repeated"
    CONFLICTING = "conflicting"
    ID_TAKEN = "id-taken"
    AGAINST_THE_RULES = "against-the-rules"


_PHRASES = MappingProxyType(
    {
        LeftOut.FORMAT_EXAMPLE: "meant as an example of the format",
        LeftOut.UNREADABLE: "not in the source's form",
        LeftOut.OTHER_KIND: "of a kind that is neither text generation nor embedding",
        LeftOut.UNCLEAR_KIND: "whose kind the source leaves unclear",
        LeftOut.NOT_TEXT: "not taking text and answering in text",
        LeftOut.NO_PRICE: "without a price",
        LeftOut.UNUSABLE_PRICE: "with an unusable price (negative, not a number, or out of range)",
        LeftOut.NO_CONTEXT_WINDOW: "without a context window",
        LeftOut.UNUSABLE_CONTEXT_WINDOW: "with an unusable context window (not a positive integer)",
        LeftOut.REPEATED: "listed again with the same facts",
        LeftOut.CONFLICTING: "listed twice with different facts",
        LeftOut.ID_TAKEN: "whose provider id another kind has",
        LeftOut.AGAINST_THE_RULES: "with metadata that can't be registered",
    }
)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Models that were left out for one reason.

    Attributes:
        reason: A stable name of the reason, such as `no-price`.
        count: How many.
        examples: The first few of them by name.
    """

    reason: str
    count: int
    examples: tuple[str, ...]


class Offer(NamedTuple):
    """One row of a source.

    Attributes:
        provider: Id of the provider it goes to.
        kind: The capability kind.
        name: The model's name.
        label: What the report calls it.
        outcome: The model in wire form, or why it is left out.
    """

    provider: str
    kind: str
    name: str
    label: str
    outcome: dict[str, Any] | LeftOut


@dataclass(frozen=True, slots=True)
class Conversion:
    """A source's providers, before an overlay.

    Attributes:
        providers: In wire form, by id, their models by name.
        skipped: What was left out, by reason.
        reasons: Provider id and model name to the reason, for the models that were left out.
    """

    providers: tuple[dict[str, Any], ...]
    skipped: tuple[Skipped, ...]
    reasons: Mapping[tuple[str, str], LeftOut] = field(default_factory=dict)


def model(
    *,
    name: str,
    prices: tuple[object, object],
    unit: PriceUnit,
    context_window: object,
    features: Iterable[str],
    max_output_tokens: object = None,
    no_sampling: bool = False,
    text_prices: bool = False,
) -> dict[str, Any] | LeftOut:
    """A model in wire form from a source's facts, or why it can't be one.

    Args:
        name: The vendor's name of the model.
        prices: For prompt and completion, in USD per `unit`; None when the source says nothing.
        unit: How many tokens the prices are for.
        context_window: In tokens; None when the source says nothing.
        features: Those the source asserts.
        max_output_tokens: In tokens; left off unless it is a positive integer.
        no_sampling: Whether the source says that it takes no temperature.
        text_prices: Whether the source writes prices as strings.
    """
    if any(price is None for price in prices):
        return LeftOut.NO_PRICE
    amounts = []
    for price in prices:
        number = decimal_of(price, text=text_prices)
        amount = None if number is None else price_per_1k(number, unit)
        if amount is None:
            return LeftOut.UNUSABLE_PRICE
        amounts.append(amount)
    if context_window is None:
        return LeftOut.NO_CONTEXT_WINDOW
    window = token_count(context_window)
    if window is None:
        return LeftOut.UNUSABLE_CONTEXT_WINDOW
    asserted = set(features)
    found: dict[str, Any] = {
        "name": name,
        "contextWindow": window,
        "features": [feature for feature in FEATURES if feature in asserted],
        "cost": {"promptUsdPer1kTokens": amounts[0], "completionUsdPer1kTokens": amounts[1]},
    }
    longest = token_count(max_output_tokens)
    if longest is not None:
        found["maxOutputTokens"] = longest
    if no_sampling:
        found["sampling"] = False
    return found


def build(offers: Iterable[Offer], descriptions: Mapping[str, str]) -> Conversion:
    """Group a source's rows into providers that can be registered, and account for the rest.

    A name that a provider lists twice is kept once when both rows say the same, and not at all when they differ:
    nothing says which of them is right.

    Args:
        offers: The rows.
        descriptions: Provider id to description.
    """
    grouped: dict[str, dict[str, list[Offer]]] = {}
    kinds: dict[str, str] = {}
    tally = _Tally()
    for offer in sorted(offers, key=lambda offer: (offer.provider, offer.kind != DEFAULT_KIND, offer.kind)):
        if kinds.setdefault(offer.provider, offer.kind) != offer.kind:
            tally.add(offer, LeftOut.ID_TAKEN)
        else:
            grouped.setdefault(offer.provider, {}).setdefault(offer.name, []).append(offer)
    providers = []
    for provider_id in sorted(grouped):
        models = []
        for _, rows in sorted(grouped[provider_id].items()):
            kept = _settled(rows, descriptions.get(provider_id), tally)
            if kept is not None:
                models.append(kept)
        if models:
            providers.append(_provider(provider_id, kinds[provider_id], descriptions.get(provider_id), models))
    return Conversion(tuple(providers), tally.report(), tally.reasons)


def _settled(rows: Sequence[Offer], description: str | None, tally: "_Tally") -> dict[str, Any] | None:
    first = rows[0]
    if any(row.outcome != first.outcome for row in rows):
        for row in rows:
            tally.add(row, LeftOut.CONFLICTING)
        return None
    if isinstance(first.outcome, LeftOut):
        for row in rows:
            tally.add(row, first.outcome)
        return None
    if metadata_problems(_provider(first.provider, first.kind, description, [first.outcome]))[0]:
        for row in rows:
            tally.add(row, LeftOut.AGAINST_THE_RULES)
        return None
    for row in rows[1:]:
        tally.add(row, LeftOut.REPEATED, kept=True)
    return first.outcome


def _provider(provider_id: str, kind: str, description: str | None, models: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {"id": provider_id, "region": UNSPECIFIED_REGION}
    if kind != DEFAULT_KIND:
        found["capabilityKind"] = kind
    if description:
        found["description"] = description
    found["models"] = models
    return found


class _Tally:
    def __init__(self) -> None:
        self.labels: dict[LeftOut, list[str]] = {}
        self.reasons: dict[tuple[str, str], LeftOut] = {}

    def add(self, offer: Offer, reason: LeftOut, *, kept: bool = False) -> None:
        self.labels.setdefault(reason, []).append(offer.label)
        if not kept:
            self.reasons[offer.provider, offer.name] = reason

    def report(self) -> tuple[Skipped, ...]:
        return tuple(
            Skipped(str(reason), len(labels), tuple(sorted(set(labels))[:_EXAMPLES]))
            for reason in LeftOut
            if (labels := self.labels.get(reason))
        )


def skipped_lines(skipped: Iterable[Skipped]) -> list[str]:
    """One line for people per reason: how many models were left out, why, and a few of them."""
    return [
        f"left out {item.count} {'model' if item.count == 1 else 'models'} {_PHRASES[LeftOut(item.reason)]}"
        f" (e.g. {', '.join(shown(label) for label in item.examples)})"
        for item in skipped
    ]


def phrase(reason: LeftOut) -> str:
    """The reason in words, to follow `a model` or `models`."""
    return _PHRASES[reason]
