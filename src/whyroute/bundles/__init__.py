"""Bundles: several capabilities routed together, with constraints between them."""

from .bundle import Bundle, BundleLimitError, BundleUnsatisfiableError
from .contrast import BundleContrast
from .explanation import BundleExplanation
from .ranking import Alternates, RankedBundle
from .relaxing import BundleRelaxation
from .routing import explain_bundle, route_bundle
from .solving import BundleShadow, JointConstraint, SearchLimit

__all__ = [
    "Alternates",
    "Bundle",
    "BundleContrast",
    "BundleExplanation",
    "BundleLimitError",
    "BundleRelaxation",
    "BundleShadow",
    "BundleUnsatisfiableError",
    "JointConstraint",
    "RankedBundle",
    "SearchLimit",
    "explain_bundle",
    "route_bundle",
]
