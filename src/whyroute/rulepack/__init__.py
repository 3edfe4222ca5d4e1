"""Rule packs: policies that people write, in YAML files."""

from .definitions import Definition
from .loading import load_pack
from .pack import (
    AttachedRule,
    Pack,
    PolicyInForce,
    Resolved,
    ResolvedBundle,
    UnknownBundleError,
    UnknownCapabilityError,
    UnknownTenantError,
)
from .problems import PackError, Place, Problem

__all__ = [
    "AttachedRule",
    "Definition",
    "Pack",
    "PackError",
    "Place",
    "PolicyInForce",
    "Problem",
    "Resolved",
    "ResolvedBundle",
    "UnknownBundleError",
    "UnknownCapabilityError",
    "UnknownTenantError",
    "load_pack",
]
