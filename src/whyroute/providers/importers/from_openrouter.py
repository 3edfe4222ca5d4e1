"""OpenRouter: what https://openrouter.ai/api/v1/models answers.

All models go to one provider, `openrouter`. What becomes of a model's facts:

| OpenRouter | here |
|---|---|
| `id` | name |
| `pricing.prompt`, `pricing.completion` | prices: USD per token there, as strings; per 1,000 tokens here |
| `context_length` | contextWindow |
| `top_provider.max_completion_tokens` | maxOutputTokens |
| `image` among `architecture.input_modalities` | feature `vision` |
| `audio` among `architecture.input_modalities`, `.output_modalities` | features `audio-input`, `audio-output` |
| `tools` among `supported_parameters` | feature `tool-use` |
| `parallel_tool_calls` | feature `parallel-tool-use` |
| `structured_outputs` | feature `structured-output` |
| `reasoning` | feature `thinking` |
| `web_search_options` | feature `web-search` |
| `supported_parameters` without `temperature` | `sampling: false`; an empty list says nothing |

A price of -1 marks a model that picks another one and charges its price: it is unknown, so the model is left out.
`response_format` alone is JSON without a schema, so it is no `structured-output`.
"""

from collections.abc import Iterator
from typing import Any

from ...model.features import DEFAULT_KIND
from .amounts import PriceUnit
from .building import Conversion, LeftOut, Offer, build, model
from .recognising import require_format

__all__ = ["PROVIDER_ID", "convert"]

PROVIDER_ID = "openrouter"

_PARAMETERS = {
    "tools": "tool-use",
    "parallel_tool_calls": "parallel-tool-use",
    "structured_outputs": "structured-output",
    "reasoning": "thinking",
    "web_search_options": "web-search",
}


def convert(document: Any) -> Conversion:
    """The provider from the parsed answer; none when no model is usable.

    Raises:
        InvalidCatalogError: The document is of another format.
    """
    require_format(document, "openrouter")
    return build((_offer(index, row) for index, row in enumerate(document["data"])), {PROVIDER_ID: "OpenRouter"})


def _offer(index: int, row: Any) -> Offer:
    name = row.get("id") if isinstance(row, dict) else None
    if not isinstance(name, str) or not name:
        return Offer(PROVIDER_ID, DEFAULT_KIND, "", f"data/{index}", LeftOut.UNREADABLE)
    return Offer(PROVIDER_ID, DEFAULT_KIND, name, name, _model(name, row))


def _model(name: str, row: dict[str, Any]) -> dict[str, Any] | LeftOut:
    architecture, pricing, top = row.get("architecture"), row.get("pricing"), row.get("top_provider")
    inputs, outputs = _listed(architecture, "input_modalities"), _listed(architecture, "output_modalities")
    if inputs is None or outputs is None:
        return LeftOut.UNCLEAR_KIND
    if "text" not in inputs or "text" not in outputs:
        return LeftOut.NOT_TEXT
    if pricing is None:
        return LeftOut.NO_PRICE
    if not isinstance(pricing, dict):
        return LeftOut.UNUSABLE_PRICE
    parameters = _listed(row, "supported_parameters") or []
    return model(
        name=name,
        prices=(pricing.get("prompt"), pricing.get("completion")),
        unit=PriceUnit.PER_TOKEN,
        context_window=row.get("context_length"),
        features=_features(inputs, outputs, parameters),
        max_output_tokens=top.get("max_completion_tokens") if isinstance(top, dict) else None,
        no_sampling=bool(parameters) and "temperature" not in parameters,
        text_prices=True,
    )


def _features(inputs: list[Any], outputs: list[Any], parameters: list[Any]) -> Iterator[str]:
    yield from (feature for parameter, feature in _PARAMETERS.items() if parameter in parameters)
    if "image" in inputs:
        yield "vision"
    if "audio" in inputs:
        yield "audio-input"
    if "audio" in outputs:
        yield "audio-output"


def _listed(value: Any, key: str) -> list[Any] | None:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else None
