"""Cores over one candidate variable: the minimal sets of constraints that no candidate satisfies together.

The cores are the minimal hitting sets of the corrections. Where these are too many to list, candidates stand in for the
rest of them: a set that hits every signature hits every minimal one.
"""

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from heapq import merge
from itertools import groupby, islice
from operator import or_
from typing import Final

from .. import bits
from .corrections import Group, MinimalSignatures, folded, in_full, minimal_signatures
from .hitting import Conflicts, Found, HittingSets, Work, transposed
from .lattice import minimal_hitting_sets

__all__ = ["WORK", "conflicts", "cores"]

WORK: Final = 400_000
"""How many set operations a search may take: about a tenth of a second."""

_TABLE = 24
"""Up to so many different constraints all subsets are looked at, at once; with more they are searched."""

_SIGNATURES = 256
"""How many corrections are made for the cores' sake, however few are asked for."""


def cores(admitted: Sequence[int], size: int, limit: int = 64, work: int = WORK) -> Found[int]:
    """The minimal sets of constraints that no candidate satisfies together, as constraint indices.

    There are none when something qualifies. Without candidates there is one, the empty one.

    Args:
        admitted: For each constraint, the set of candidates that it admits.
        size: How many candidates there are.
        limit: How many sets at most, at least 1.
        work: How many set operations a search may take. It is exact however many there are while at most 24 different
            constraints stand in somebody's way. Beyond, when it is used up, what was found so far is the beginning
            of the full list; when nothing was, some cores are made greedily, and they may not be the smallest.
    """
    return conflicts(admitted, size, core_limit=limit, correction_limit=1, work=work).cores


def conflicts(
    admitted: Sequence[int], size: int, *, core_limit: int = 64, correction_limit: int = 64, work: int = WORK
) -> Conflicts[int]:
    """Cores and corrections together, at less than the price of both; the arguments are those of `cores`."""
    if not size:
        return Conflicts(cores=Found(((),)))
    groups = folded(admitted, size)
    found = minimal_signatures(groups, size, max(correction_limit, _SIGNATURES))
    if () in found.signatures:
        return Conflicts()
    return Conflicts(_cores(groups, found, core_limit, work), in_full(groups, found, correction_limit))


def _cores(groups: Sequence[Group], found: MinimalSignatures, limit: int, work: int) -> Found[int]:
    # Edges are numbered: the signatures that are listed, then the remaining candidates.
    listed = len(found.signatures)
    hits = transposed(found.signatures, len(groups))
    if found.remaining:
        hits = [hit | (group.rejected & found.remaining) << listed for hit, group in zip(hits, groups, strict=True)]
    # A constraint that makes up a correction alone is in every core; only what it leaves open is to be solved.
    forced = sorted({signature[0] for signature in found.signatures if len(signature) == 1})
    settled = 0
    for position in forced:
        settled |= hits[position]
    alike: dict[int, list[int]] = {}
    for hit, group in zip(hits, groups, strict=True):
        left = hit ^ (hit & settled)
        if left:
            alike.setdefault(left, []).extend(group.members)
    # Constraints that hit the same are one vertex: a core has at most one of them, and any one will do.
    vertices = [tuple(sorted(members)) for members in alike.values()]
    always = [groups[position].members for position in forced]
    if len(vertices) <= _TABLE:
        every = (_vertices_of(number, len(vertices)) for number in _all_at_once(list(alike)))
        return Found.first(limit, _written_out(every, vertices, always, limit))
    bound = Work(work)
    some = list(islice(HittingSets(list(alike), bound).enumerate(), limit + 1))
    if not bound.spent:
        return Found.first(limit, _written_out(some, vertices, always, limit))
    some = some or _greedy(list(alike))
    sets = tuple(islice(_written_out(some, vertices, always, limit, cut=True), limit))
    return Found(sets, truncated=True)


def _all_at_once(hits: Sequence[int]) -> Iterator[int]:
    width = max(hits, default=0).bit_length()
    ones = int.from_bytes(b"\1" * width, "big")
    edges = bytearray(4 * width)
    # Eight vertices make one octet of each edge's number. The last vertex is the lowest bit.
    for low in range(0, len(hits), 8):
        packed = 0
        for bit, hit in enumerate(hits[::-1][low : low + 8]):
            digits = format(hit, f"0{width}b").encode()
            packed |= (int.from_bytes(digits, "big") & ones) << bit
        edges[low >> 3 :: 4] = packed.to_bytes(width, "big")
    numbers = array("I", bytes(edges))
    if sys.byteorder == "big":
        numbers.byteswap()
    return minimal_hitting_sets(len(hits), set(numbers) - {0})


def _vertices_of(number: int, vertices: int) -> tuple[int, ...]:
    return tuple(sorted(vertices - 1 - bit for bit in bits.positions(number)))


def _written_out(
    found: Iterable[tuple[int, ...]],
    vertices: Sequence[tuple[int, ...]],
    always: Sequence[tuple[int, ...]],
    limit: int,
    *,
    cut: bool = False,
) -> Iterator[tuple[int, ...]]:
    """The cores that sets of vertices stand for, in order: one constraint of each vertex, in every way.

    The first of each vertex come in the order of the sets, so the first sets are enough for as many cores.
    """
    for _, same_size in groupby(islice(found, limit + 1), key=len):
        choices = [[*always, *(vertices[vertex] for vertex in each)] for each in same_size]
        if all(len(members) == 1 for each in choices for members in each):
            yield from (tuple(sorted(members[0] for members in each)) for each in choices)
            continue
        end = sorted(members[0] for members in choices[-1])
        for core in merge(*map(_choices, choices)):
            if cut and list(core) > end:
                # A set that the search did not get to may stand for one in between.
                break
            yield core


def _choices(sets: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """Every choice of one member from each of some disjoint sets, lexicographically."""
    members = sorted((member, at) for at, each in enumerate(sets) for member in each)
    members.append((members[-1][0] + 1, len(sets)))  # beyond every end
    pending = set(range(len(sets)))
    path: list[int] = []
    position = 0
    while True:
        if not pending:
            yield tuple(members[step][0] for step in path)
        else:
            # None of the sets may be passed by: each has to have a member that is not yet behind.
            end = min(sets[at][-1] for at in pending)
            while members[position][0] <= end and members[position][1] not in pending:
                position += 1
            if members[position][0] <= end:
                pending.remove(members[position][1])
                path.append(position)
                position += 1
                continue
        if not path:
            return
        position = path.pop()
        pending.add(members[position][1])
        position += 1


def _greedy(hits: Sequence[int]) -> list[tuple[int, ...]]:
    """A few minimal hitting sets, each from another first vertex; the smallest first."""
    found: set[tuple[int, ...]] = set()
    for start in range(min(len(hits), 8)):
        chosen = [start]
        missing = _union(hits) & ~hits[start]
        while missing:
            best = max(range(len(hits)), key=lambda vertex: ((missing & hits[vertex]).bit_count(), -vertex))
            chosen.append(best)
            missing &= ~hits[best]
        for vertex in tuple(chosen):
            others = [each for each in chosen if each != vertex]
            if hits[vertex] & ~_union([hits[each] for each in others]) == 0:
                chosen = others
        found.add(tuple(sorted(chosen)))
    return sorted(found, key=lambda each: (len(each), each))


def _union(sets: Sequence[int]) -> int:
    return reduce(or_, sets, 0)
