"""Rule packs: policies that people write, in YAML files."""

from .definitions import Definition
from .loading import load_pack, pack_of
from .models import Descriptor
from .pack import (
    AttachedRule,
    Pack,
    PolicyInForce,
    Resolved,
    UnknownCapabilityError,
    UnknownTenantError,
    metadata_document,
)
from .problems import PackError, Place, Problem
from .sources import Source, read_sources

__all__ = [
    "AttachedRule",
    "Definition",
    "Descriptor",
    "Pack",
    "PackError",
    "Place",
    "PolicyInForce",
    "Problem",
    "Resolved",
    "Source",
    "UnknownCapabilityError",
    "UnknownTenantError",
    "load_pack",
    "metadata_document",
    "pack_of",
    "read_sources",
]
