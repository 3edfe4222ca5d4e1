"""Explanations: what each constraint did, and what stands in the way of each candidate. Data only."""

from .explanation import Explanation, NearMiss
from .reasons import reasons_of

__all__ = ["Explanation", "NearMiss", "reasons_of"]
