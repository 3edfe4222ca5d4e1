"""Cores over one candidate variable: the minimal sets of constraints that no candidate satisfies together.

The cores are the minimal hitting sets of the corrections. Where these are too many to list, candidates stand in for the
rest of them: a set that hits every signature hits every minimal one.
"""

from collections.abc import Sequence

from .corrections import ConstraintGroup, MinimalSignatures, folded, in_full, minimal_signatures
from .found import Conflicts, Found
from .hitting import WORK, hitting_sets, transposed

__all__ = ["conflicts"]

_SIGNATURES = 256
"""How many corrections are made for the cores' sake, however few are asked for."""


def conflicts(
    admitted: Sequence[int], size: int, *, core_limit: int = 64, correction_limit: int = 64, work: int = WORK
) -> Conflicts[int]:
    """The minimal sets of constraints that no candidate satisfies together, and those without which one qualifies.

    As constraint indices. There are none when something qualifies. Without candidates there is one core, the empty one.

    Args:
        admitted: For each constraint, the set of candidates that it admits.
        size: How many candidates there are.
        core_limit: How many cores at most, at least 1.
        correction_limit: How many corrections at most. Time grows with it, times constraints, times candidates.
        work: How many set operations a search for cores may take. It is exact however many there are while at most 24
            different constraints stand in somebody's way. Beyond, when it is used up, what was found so far is the
            beginning of the full list; when nothing was, some cores are made greedily: they may not be the smallest.
    """
    if not size:
        return Conflicts(cores=Found(((),)))
    groups = folded(admitted, size)
    found = minimal_signatures(groups, size, max(correction_limit, _SIGNATURES))
    if () in found.signatures:
        return Conflicts()
    return Conflicts(_cores(groups, found, core_limit, work), in_full(groups, found, correction_limit))


def _cores(groups: Sequence[ConstraintGroup], found: MinimalSignatures, limit: int, work: int) -> Found[int]:
    # Edges are numbered: the signatures that are listed, then the remaining candidates.
    listed = len(found.signatures)
    hits = transposed(found.signatures, len(groups))
    if found.remaining:
        hits = [hit | (group.rejected & found.remaining) << listed for hit, group in zip(hits, groups, strict=True)]
    return hitting_sets(hits, [group.members for group in groups], limit, work)
