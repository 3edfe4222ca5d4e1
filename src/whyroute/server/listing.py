"""Lists in pages: descriptors of capabilities, and providers. No I/O: lists, filters and cursors in, documents out."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ..documents.json_text import plain
from ..model.features import FEATURE_DESCRIPTIONS
from ..packs import Descriptor, Pack
from .cursors import Cursors
from .envelope import ApiError
from .queries import read_limit
from .tenants import Holdings
from .tokens import Caller

__all__ = ["capability_of", "capability_page", "provider_of", "provider_page"]

Key = tuple[int | str, ...]

_BUILT_IN: Final = 0
_OF_PACK: Final = 1
_PAGE_BYTES: Final = 4 * 1024 * 1024  # past so many a page ends early; it has one entry at least


@dataclass(frozen=True, slots=True)
class _Listed:
    """Something on a list: where it sorts, its feature, and what makes its document."""

    key: Key
    feature: str
    make: Callable[[], dict[str, Any]]


def _page(
    name: str,
    entries: Sequence[_Listed],
    query: Mapping[str, str],
    caller: Caller,
    cursors: Cursors,
) -> dict[str, Any]:
    """A page: the entries after the cursor's. What is added between pages moves none that was there."""
    limit = read_limit(query.get("limit"))
    feature = query.get("feature")
    scope = (name, "" if feature is None else f"feature={feature}", caller.tenant, caller.token)
    rest = entries
    if "cursor" in query:
        after = tuple(cursors.open(scope, query["cursor"]))
        rest = [entry for entry in entries if entry.key > after]
    page: list[dict[str, Any]] = []
    size = 0
    for entry in rest[:limit]:
        document = entry.make()
        size += len(json.dumps(document))
        if page and size > _PAGE_BYTES:
            break
        page.append(document)
    found: dict[str, Any] = {"data": page, "hasMore": len(rest) > len(page)}
    if found["hasMore"]:
        found["nextCursor"] = cursors.seal(scope, rest[len(page) - 1].key)
    return found


def capability_page(
    pack: Pack, holdings: Holdings, query: Mapping[str, str], caller: Caller, cursors: Cursors
) -> dict[str, Any]:
    """A page of the descriptors whose feature begins as the query says."""
    prefix = query.get("feature", "")
    entries = [entry for entry in _descriptors(pack, holdings) if entry.feature.startswith(prefix)]
    return _page("capabilities", entries, query, caller, cursors)


def capability_of(pack: Pack, holdings: Holdings, capability_id: str) -> dict[str, Any]:
    """The descriptor of an id.

    Raises:
        ApiError: `capability-not-found`.
    """
    for entry in _descriptors(pack, holdings):
        document = entry.make()
        if document["id"] == capability_id:
            return document
    raise ApiError("capability-not-found", "there is no capability of this id", {"capabilityId": capability_id})


def _descriptors(pack: Pack, holdings: Holdings) -> list[_Listed]:
    """Built-in ones in their own order, then the pack's by id."""
    found = [
        _Listed((_BUILT_IN, place), feature, partial(_built_in, feature, holdings))
        for place, feature in enumerate(FEATURE_DESCRIPTIONS)
    ]
    for name in sorted(pack.descriptors):
        descriptor = pack.descriptors[name].value
        found.append(_Listed((_OF_PACK, name), descriptor.feature, partial(_of_pack, descriptor, holdings)))
    return found


def _built_in(feature: str, holdings: Holdings) -> dict[str, Any]:
    description = FEATURE_DESCRIPTIONS[feature]
    providers = _having(feature, holdings)
    return {"id": f"feature:{feature}", "feature": feature, "description": description, "providers": providers}


def _of_pack(descriptor: Descriptor, holdings: Holdings) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": descriptor.id,
        "feature": descriptor.feature,
        "description": descriptor.description,
    }
    if descriptor.kind is not None:
        found["kind"] = descriptor.kind
    if descriptor.params_schema is not None:
        found["paramsSchema"] = plain(descriptor.params_schema)[0]
    return {**found, "providers": _having(descriptor.feature, holdings)}


def _having(feature: str, holdings: Holdings) -> list[dict[str, Any]]:
    providers = holdings.by_feature.get(feature, {})
    return [{"providerId": provider, "models": list(models)} for provider, models in providers.items()]


def provider_page(holdings: Holdings, query: Mapping[str, str], caller: Caller, cursors: Cursors) -> dict[str, Any]:
    """A page of the tenant's providers, in the order of their ids, with those that can't be set up named."""
    feature = query.get("feature")
    entries = [
        _Listed((name,), "", metadata.to_dict)
        for name, metadata in holdings.providers.items()
        if feature is None or any(feature in model.features for model in metadata.models)
    ]
    page = _page("providers", entries, query, caller, cursors)
    if holdings.failures:
        page["setupFailures"] = [failure.model_dump(by_alias=True) for failure in holdings.failures]
    return page


def provider_of(holdings: Holdings, provider_id: str) -> dict[str, Any]:
    """A provider's metadata.

    Raises:
        ApiError: `provider-not-found`.
    """
    metadata = holdings.providers.get(provider_id)
    if metadata is None:
        raise ApiError("provider-not-found", "there is no provider of this id", {"providerId": provider_id})
    return metadata.to_dict()
