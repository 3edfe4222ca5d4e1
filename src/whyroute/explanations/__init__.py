"""Explanations: why, why not, and what would have to change. Data only."""

from .contrast import Contrast
from .edits import Edit
from .explained import Limits
from .explanation import Explanation, Ranked
from .failures import NearMiss, ReasonGroup, Unknown
from .reasons import reasons_of
from .relaxations import DeadEnd, Relaxation

__all__ = [
    "Contrast",
    "DeadEnd",
    "Edit",
    "Explanation",
    "Limits",
    "NearMiss",
    "Ranked",
    "ReasonGroup",
    "Relaxation",
    "Unknown",
    "reasons_of",
]
