"""Corrections over one candidate variable: the minimal sets of constraints whose removal lets a candidate through.

A candidate's *signature* is the set of constraints that reject it. The minimal signatures are the corrections.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..basics import bits
from .found import Found

__all__ = ["ConstraintGroup", "MinimalSignatures", "folded", "in_full", "minimal_signatures"]


@dataclass(frozen=True, slots=True)
class ConstraintGroup:
    """Constraints that reject the same candidates: a correction has all of them or none, a core at most one.

    Attributes:
        rejected: The candidates, never none.
        members: The constraints' indices, ascending.
    """

    rejected: int
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MinimalSignatures:
    """The minimal signatures as far as they were sought.

    Attributes:
        signatures: Each as ascending positions among the groups; those with the fewest constraints first, then by
            constraint order.
        remaining: The candidates whose signature contains none of them; no candidate when they are all there.
    """

    signatures: tuple[tuple[int, ...], ...]
    remaining: int


def folded(admitted: Sequence[int], size: int) -> list[ConstraintGroup]:
    """The constraints that reject somebody, those with equal sets together, in the order of the first of each."""
    everyone = bits.full(size)
    members: dict[int, list[int]] = {}
    for index, each in enumerate(admitted):
        if each != everyone:
            members.setdefault(each, []).append(index)
    return [ConstraintGroup(everyone ^ each, tuple(indices)) for each, indices in members.items()]


def minimal_signatures(groups: Sequence[ConstraintGroup], size: int, limit: int) -> MinimalSignatures:
    """The first `limit` minimal signatures. When something qualifies, the empty one is the only one."""
    counts = _counts(groups)
    remaining = bits.full(size)
    found: list[tuple[int, ...]] = []
    while remaining and len(found) < limit:
        # No signature here contains one found before, and none is lighter: all of the lightest are minimal.
        level = _lightest(remaining, counts)
        while level and len(found) < limit:
            # Constraint by constraint, the candidates that it rejects: leads to the lexicographically first signature.
            alike = level
            signature: list[int] = []
            for position, group in enumerate(groups):
                rejected = alike & group.rejected
                if rejected:
                    alike = rejected
                    signature.append(position)
            found.append(tuple(signature))
            level ^= alike
            superseded = remaining
            for position in signature:
                superseded &= groups[position].rejected
            remaining ^= superseded
    return MinimalSignatures(tuple(found), remaining)


def in_full(groups: Sequence[ConstraintGroup], found: MinimalSignatures, limit: int) -> Found[int]:
    """The first `limit` corrections that the minimal signatures stand for."""
    signatures = found.signatures[:limit]
    if signatures == ((),):
        return Found()
    sets = (sorted(index for position in each for index in groups[position].members) for each in signatures)
    return Found(tuple(map(tuple, sets)), bool(found.remaining) or len(found.signatures) > limit)


def _lightest(members: int, weights: list[int]) -> int:
    """The members of least weight; slice k of the weights holds those whose weight has bit k."""
    for plane in reversed(weights):
        heavier = members & plane
        if heavier != members:
            members ^= heavier
    return members


def _counts(groups: Sequence[ConstraintGroup]) -> list[int]:
    """How many constraints reject each candidate, bit-sliced: slice k holds those whose number has bit k."""
    slices: list[int] = []
    for group in groups:
        times = len(group.members)
        for low in range(times.bit_length()):
            if not times >> low & 1:
                continue
            carry = group.rejected
            while len(slices) < low:
                slices.append(0)
            for k in range(low, len(slices)):
                slices[k], carry = slices[k] ^ carry, slices[k] & carry
                if not carry:
                    break
            else:
                slices.append(carry)
    return slices
