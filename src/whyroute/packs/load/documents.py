"""A pack as one document: what its files define, whatever they are called and however they are laid out."""

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ...providers.provider_files import FORMAT_VERSION
from .definitions import Definition
from .sections import VERSION_KEY

if TYPE_CHECKING:
    from .pack import Pack

__all__ = ["pack_document"]

_LISTS = ("capabilities", "policies", "tenants", "rules", "waivers", "bundles", "descriptors")
_MAPPINGS = ("labels", "conditions")


def pack_document(pack: "Pack") -> dict[str, Any]:
    """What a pack defines but for its tests, as one pack file says it; sections that it doesn't have are absent."""
    found: dict[str, Any] = {VERSION_KEY: FORMAT_VERSION}
    if pack.regions:
        found["regions"] = pack.region_document
    if pack.every_tenant:
        found["everyTenant"] = [name for name, _ in pack.every_tenant]
    if pack.providers:
        found["providers"] = [_provider(each) for each in pack.providers.values()]
    for name in _LISTS:
        if section := getattr(pack, name):
            found[name] = [_dumped(each.value) for each in section.values()]
    for name in _MAPPINGS:
        section = getattr(pack, name)
        if section is not None and (section or name == "labels"):
            found[name] = {key: _dumped(each.value) for key, each in section.items()}
    return found


def _provider(provider: Definition[Any]) -> dict[str, Any]:
    document = _dumped(provider.value.metadata)
    document.pop("source", None)  # which the loader writes
    only = provider.value.only_tenants
    return document if only is None else {**document, "onlyTenants": list(only)}


def _dumped(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(by_alias=True, exclude_unset=True, mode="json")
