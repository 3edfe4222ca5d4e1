"""Rule packs: policies that people write, in YAML files."""

from .coverage import Coverage, Covered
from .definitions import Definition
from .expectations import Mismatch
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
from .sources import pack_files
from .testing import Case, CaseResult, NoTestsError, Results, run_tests

__all__ = [
    "AttachedRule",
    "Case",
    "CaseResult",
    "Coverage",
    "Covered",
    "Definition",
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
    "UnknownBundleError",
    "UnknownCapabilityError",
    "UnknownTenantError",
    "load_pack",
    "pack_files",
    "run_tests",
]
