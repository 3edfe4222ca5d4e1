"""Minimal hitting sets: how cores follow from corrections, and corrections from cores.

A set hits a family of sets (its *edges*) when it shares a member with each of them. Every unsatisfiable set of
constraints hits every correction, and the minimal ones that do are the cores; likewise the other way round (Reiter,
"A theory of diagnosis from first principles", Artificial Intelligence 32, 1987).
"""

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from heapq import merge
from itertools import accumulate, groupby, islice, product
from math import prod
from operator import or_
from typing import Final

from ..basics import bits
from .found import Found
from .lattice import minimal_hitting_sets
from .search import HittingSets, Work

__all__ = ["WORK", "hitting_sets", "transposed"]

WORK: Final = 200_000
"""How many set operations a search may take: well under a tenth of a second."""

_TABLE = 24
"""Up to so many different vertices all subsets are looked at, at once; with more they are searched."""

_FEW_VERTICES = 8
_FEW_EDGES = 64
"""Up to so many different vertices and edges the sets, at most 70, are made edge by edge, which starts at once."""

_FEW_CHOICES = 256
"""Up to so many choices are made and then sorted; more are made in order, as far as they are asked for."""

_GREEDY = 8
"""How many sets are made greedily when a search has found none."""


def hitting_sets(hits: Sequence[int], members: Sequence[Sequence[int]], limit: int, work: int) -> Found[int]:
    """The minimal hitting sets of some edges, none of them empty; the smallest first, then lexicographically.

    Args:
        hits: For each group of interchangeable members, the set of edges that they are in; never empty.
        members: The groups: each ascending, in the order of the first of each. A hitting set takes one member at most.
        limit: How many sets at most, at least 1.
        work: How many set operations a search may take. While at most 24 groups are different the answer is exact
            whatever the edges. Beyond, when it is used up, what was found so far is the beginning of the full list;
            when nothing was, some sets are made greedily, which are minimal and may not be the smallest.
    """
    # What is alone in an edge is in every hitting set; only the edges that these leave open are to be solved.
    seen = repeated = 0
    for hit in hits:
        repeated |= seen & hit
        seen |= hit
    lone = seen ^ repeated
    forced = [position for position, hit in enumerate(hits) if hit & lone]
    settled = _union([hits[position] for position in forced])
    alike: dict[int, list[int]] = {}
    for position, hit in enumerate(hits):
        left = hit ^ (hit & settled)
        if left:
            alike.setdefault(left, []).extend(members[position])
    vertices = [sorted(each) for each in alike.values()]
    always = [members[position] for position in forced]
    different = list(alike)
    if len(different) <= _TABLE:
        few = len(different) <= _FEW_VERTICES and seen.bit_length() <= _FEW_EDGES
        numbers = _one_by_one(different) if few else _all_at_once(different)
        every = (_vertices_of(number, len(different)) for number in numbers)
        return Found.first(limit, _written_out(every, vertices, always, limit))
    bound = Work(work)
    some = list(islice(HittingSets(different, bound).enumerate(), limit + 1))
    if not bound.spent:
        return Found.first(limit, _written_out(some, vertices, always, limit))
    some = some or _greedy(different, Work(work))
    return Found(tuple(islice(_written_out(some, vertices, always, limit, cut=True), limit)), truncated=True)


def transposed(sets: Iterable[Iterable[int]], members: int) -> list[int]:
    """For each of so many members, the set of positions in `sets` at which it occurs."""
    found = [0] * members
    for position, each in enumerate(sets):
        for member in each:
            found[member] |= 1 << position
    return found


def _one_by_one(hits: Sequence[int]) -> list[int]:
    """The minimal hitting sets of a few edges, as `_all_at_once` gives them: one edge after the other (Berge,
    "Hypergraphs", 1989, section 2.1).
    """
    edges = [0] * max(hits, default=0).bit_length()
    for vertex, hit in enumerate(reversed(hits)):
        for edge in range(hit.bit_length()):
            edges[edge] |= (hit >> edge & 1) << vertex
    found = [0]
    for edge in edges:
        hitting: list[int] = []
        missing: list[int] = []
        for each in found:
            (hitting if each & edge else missing).append(each)
        if not edge or not missing:
            continue
        found = hitting.copy()
        while edge:
            lowest = edge & -edge
            edge ^= lowest  # noqa: PLW2901 (its vertices, one after the other)
            for each in missing:
                larger = each | lowest
                for other in hitting:
                    if other & larger == other:
                        break
                else:
                    found.append(larger)
    found.sort(key=lambda number: (number.bit_count(), -number))
    return found


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
    vertices: Sequence[Sequence[int]],
    always: Sequence[Sequence[int]],
    limit: int,
    *,
    cut: bool = False,
) -> Iterator[tuple[int, ...]]:
    """The hitting sets that sets of vertices stand for, in order: one member of each vertex, in every way.

    The first of each vertex come in the order of the sets, so the first of these sets are enough for as many of those.
    """
    for _, same_size in groupby(islice(found, limit + 1), key=len):
        choices = [[*always, *(vertices[vertex] for vertex in each)] for each in same_size]
        if all(len(members) == 1 for each in choices for members in each):
            yield from (tuple(sorted(members[0] for members in each)) for each in choices)
            continue
        if not cut and sum(prod(map(len, each)) for each in choices) <= _FEW_CHOICES:
            yield from sorted([tuple(sorted(each)) for sets in choices for each in product(*sets)])
            continue
        end = sorted(members[0] for members in choices[-1])
        for each in merge(*map(_choices, choices)):
            if cut and list(each) > end:
                # A set that the search did not get to may stand for one in between.
                break
            yield each


def _choices(sets: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
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


def _greedy(hits: Sequence[int], bound: Work) -> list[tuple[int, ...]]:
    """A few minimal hitting sets, at least one, each from another first vertex; the smallest first."""
    found: set[tuple[int, ...]] = set()
    edges = _union(hits)
    cost = len(hits) * (1 + (edges.bit_length() >> 12))
    for start in range(len(hits)):
        if bound.spent or len(found) == _GREEDY:
            break
        chosen = [start]
        missing = edges & ~hits[start]
        while missing:
            best = max(range(len(hits)), key=lambda vertex: ((missing & hits[vertex]).bit_count(), -vertex))
            chosen.append(best)
            bound.left -= 2 * cost
            missing &= ~hits[best]
        # Each stays only if neither those that stayed nor all those after it do without it.
        after = [*accumulate((hits[vertex] for vertex in reversed(chosen)), or_, initial=0)]
        stayed = 0
        kept: list[int] = []
        for vertex, later in zip(chosen, after[-2::-1], strict=True):
            if hits[vertex] & ~(stayed | later):
                stayed |= hits[vertex]
                kept.append(vertex)
        found.add(tuple(sorted(kept)))
    return sorted(found, key=lambda each: (len(each), each))


def _union(sets: Sequence[int]) -> int:
    return reduce(or_, sets, 0)
