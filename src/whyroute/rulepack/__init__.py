"""Rule packs: policies that people write, in YAML files."""

from .coverage import Coverage, Covered
from .definitions import Definition
from .expectations import Mismatch
from .loading import load_pack, pack_of
from .models import Descriptor
from .pack import (
    AttachedRule,
    Pack,
    PolicyInForce,
    Resolved,
    ResolvedBundle,
    UnknownBundleError,
    UnknownCapabilityError,
    UnknownTenantError,
    metadata_document,
)
from .problems import PackError, Place, Problem
from .sources import Source, pack_files, read_sources
from .testing import Case, CaseResult, NoTestsError, Results, run_tests

__all__ = [
    "AttachedRule",
    "Case",
    "CaseResult",
    "Coverage",
    "Covered",
    "Definition",
    "Descriptor",
    "Mismatch",
    "NoTestsError",
    "Pack",
    "PackError",
    "Place",
    "PolicyInForce",
    "Problem",
    "Resolved",
    "ResolvedBundle",
    "Results",
    "Source",
    "UnknownBundleError",
    "UnknownCapabilityError",
    "UnknownTenantError",
    "load_pack",
    "metadata_document",
    "pack_files",
    "pack_of",
    "read_sources",
    "run_tests",
]
