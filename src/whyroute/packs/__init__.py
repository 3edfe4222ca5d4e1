"""Rule packs: policies that people write, in YAML files."""

from .load.definitions import Definition
from .load.loading import load_pack, pack_of
from .load.models import Descriptor
from .load.pack import Pack
from .load.policy import AttachedRule, PolicyInForce
from .load.resolved import Resolved, ResolvedBundle
from .load.unknown import UnknownBundleError, UnknownCapabilityError, UnknownTenantError
from .source.problems import PackError, Place, Problem
from .source.sources import Source, pack_files, read_sources
from .test.coverage import Coverage, Covered
from .test.expectations import Mismatch
from .test.running import Case, CaseResult, NoTestsError, Results, run_tests

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
    "pack_files",
    "pack_of",
    "read_sources",
    "run_tests",
]
