"""LiteLLM: its model_prices_and_context_window.json.

What becomes of a row:

| LiteLLM | here |
|---|---|
| key | name, with its prefix: `azure/gpt-4o` stays `azure/gpt-4o` |
| `litellm_provider` | provider id |
| `mode` `chat`, `completion`, `responses` | capability kind `llm-inference` |
| `mode` `embedding` | capability kind `embedding`, in a provider `<litellm_provider>-embedding` |
| `input_cost_per_token`, `output_cost_per_token` | prices: USD per token there, per 1,000 tokens here |
| `max_input_tokens` | contextWindow |
| `max_output_tokens` | maxOutputTokens (not for embedding) |
| `supports_function_calling` | feature `tool-use` |
| `supports_parallel_function_calling` | feature `parallel-tool-use` |
| `supports_response_schema` | feature `structured-output` |
| `supports_vision`, `supports_embedding_image_input` | feature `vision` |
| `supports_audio_input`, `supports_audio_output` | features `audio-input`, `audio-output` |
| `supports_reasoning` | feature `thinking` |
| `supports_web_search` | feature `web-search` |

`max_tokens` is never read: it is the output limit in some rows, the input limit in others, and neither in a few.
`max_input_tokens` is at most the context window, so a need for a large window is never met by mistake; a row without
it is left out. Prices by character, second, image or request are not prices per token.
"""

from typing import Any

from ...model.features import DEFAULT_KIND
from .amounts import PriceUnit
from .building import EMBEDDING_KIND, Conversion, LeftOut, Offer, build, model
from .reading import entries
from .recognising import require_format

__all__ = ["convert"]

_FORMAT_EXAMPLE = "sample_spec"
_KINDS = {
    "chat": DEFAULT_KIND,
    "completion": DEFAULT_KIND,
    "responses": DEFAULT_KIND,
    "embedding": EMBEDDING_KIND,
}
_FEATURES = (
    ("supports_response_schema", "structured-output"),
    ("supports_vision", "vision"),
    ("supports_embedding_image_input", "vision"),
    ("supports_audio_input", "audio-input"),
    ("supports_audio_output", "audio-output"),
    ("supports_function_calling", "tool-use"),
    ("supports_parallel_function_calling", "parallel-tool-use"),
    ("supports_reasoning", "thinking"),
    ("supports_web_search", "web-search"),
)


def convert(document: Any) -> Conversion:
    """Providers from the parsed file.

    Raises:
        InvalidCatalogError: The document is of another format.
    """
    require_format(document, "litellm")
    return build((_offer(name, row) for name, row in entries(document)), {})


def _offer(name: str, row: Any) -> Offer:
    provider = row.get("litellm_provider") if isinstance(row, dict) else None
    if name == _FORMAT_EXAMPLE:
        return Offer("", DEFAULT_KIND, name, name, LeftOut.FORMAT_EXAMPLE)
    if not name or not isinstance(provider, str) or not provider:
        return Offer("", DEFAULT_KIND, name, name, LeftOut.UNREADABLE)
    mode = row.get("mode")
    kind = _KINDS.get(mode) if isinstance(mode, str) else None
    if kind is None:
        reason = LeftOut.OTHER_KIND if isinstance(mode, str) else LeftOut.UNCLEAR_KIND
        return Offer(provider, DEFAULT_KIND, name, name, reason)
    embedding = kind == EMBEDDING_KIND
    outcome = model(
        name=name,
        prices=(row.get("input_cost_per_token"), row.get("output_cost_per_token")),
        unit=PriceUnit.PER_TOKEN,
        context_window=row.get("max_input_tokens"),
        features=(feature for key, feature in _FEATURES if row.get(key) is True),
        max_output_tokens=None if embedding else row.get("max_output_tokens"),
    )
    return Offer(f"{provider}-{EMBEDDING_KIND}" if embedding else provider, kind, name, name, outcome)
