"""What a request of a tenant may name: for completion on the page, and for authors of requests."""

from typing import Any

from ..model.features import BUILT_IN_KINDS, FEATURES
from ..packs import Pack
from .tenants import Holdings

__all__ = ["vocabulary"]


def vocabulary(pack: Pack, tenant: str, holdings: Holdings) -> dict[str, Any]:
    """The capabilities of the pack and the names that the tenant's candidates give rise to; no other tenant's."""
    metadata = holdings.catalog.metadata
    kinds = dict.fromkeys((*BUILT_IN_KINDS, *(each.capability_kind for each in metadata)))
    regions = sorted({each.region for each in metadata} | set(pack.regions))
    attributes = sorted({attribute for each in metadata for attribute in each.attributes})
    return {
        "tenant": tenant,
        "capabilities": [
            {
                "name": name,
                "declaration": pack.declaration(name)[0],
                **({"labels": dict(entry.value.labels)} if entry.value.labels else {}),
            }
            for name, entry in sorted(pack.capabilities.items())
        ],
        "features": list(FEATURES),
        "kinds": list(kinds),
        "regions": regions,
        "attributes": attributes,
        "providers": [
            {"id": each.id, "models": [model.name for model in each.models]}
            for each in sorted(metadata, key=lambda each: each.id)
        ],
        "labels": {
            name: {"values": list(each.value.values), **_default(each.value.default)}
            for name, each in sorted((pack.labels or {}).items())
            if each.value.set_by is None
        },
    }


def _default(value: str | None) -> dict[str, str]:
    return {} if value is None else {"default": value}
