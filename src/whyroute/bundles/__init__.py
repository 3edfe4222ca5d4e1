"""Bundles: several capabilities routed together, with constraints between them.

A name's module is loaded when the name is first asked for: all of them together take longer than a bundle.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_MODULES = {
    "Alternates": "ranking",
    "Bundle": "bundle",
    "BundleContrast": "contrast",
    "BundleExplanation": "explanation",
    "BundleLimitError": "bundle",
    "BundleRelaxation": "relaxing",
    "BundleShadow": "solving",
    "BundleUnsatisfiableError": "bundle",
    "JointConstraint": "solving",
    "RankedBundle": "ranking",
    "SearchLimit": "solving",
    "explain_bundle": "routing",
    "route_bundle": "routing",
}


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f".{module}", __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
