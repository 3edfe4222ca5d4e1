"""Minimal hitting sets, the smallest first: how cores follow from corrections, and corrections from cores.

A set hits a family of sets (its *edges*) when it shares a member with each of them. Every unsatisfiable set of
constraints hits every correction, and the minimal ones that do are the cores; likewise the other way round (Reiter,
"A theory of diagnosis from first principles", Artificial Intelligence 32, 1987).
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from .. import bits

__all__ = ["Conflicts", "Found", "HittingSets", "Work", "transposed"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """Some sets of constraints, the smallest first, then by constraint order.

    Attributes:
        sets: The sets; the members of each stand in constraint order.
        truncated: Whether there are more than a limit let through.
    """

    sets: tuple[tuple[T, ...], ...] = ()
    truncated: bool = False

    @classmethod
    def first(cls, limit: int, sets: Iterable[tuple[T, ...]]) -> "Found[T]":
        """The first `limit` of the sets, which come in order."""
        taken = tuple(islice(sets, limit + 1))
        return cls(taken[:limit], len(taken) > limit)


@dataclass(frozen=True, slots=True)
class Conflicts(Generic[T]):
    """Both views of one clash.

    Attributes:
        cores: The minimal sets of constraints that nothing satisfies together.
        corrections: The minimal sets of constraints without which the others can be satisfied.
    """

    cores: Found[T] = Found()  # frozen, and so safe to share
    corrections: Found[T] = Found()


@dataclass(slots=True)
class Work:
    """A bound on a search, counted and not timed, so that it gives the same answer on every machine.

    Attributes:
        left: How many more set operations may be spent; one over a wide set counts for several.
    """

    left: int

    @property
    def spent(self) -> bool:
        """Whether the search had to stop early."""
        return self.left < 0


class HittingSets:
    """Enumerates the minimal hitting sets of edges over the vertices 0 to n - 1, the smallest first, then
    lexicographically.

    Depth first in vertex order, one size after the other. As in the MMCS algorithm (Murakami and Uno, "Efficient
    algorithms for dualizing large-scale hypergraphs", Discrete Applied Mathematics 170, 2014) each chosen vertex
    keeps the edges that it alone hits, and a choice that leaves one without any is abandoned. So is a choice whose
    open edges contain more disjoint ones than vertices may still be added.

    The edges need not all be known from the start: `refute` may answer a set that hits every known edge with one
    that it misses. No set found before is wrong then, and none is skipped: while size k is searched, every minimal
    hitting set of the known edges with fewer than k members hits the unknown edges too.

    Attributes:
        hits: For each vertex, the set of edges that it is in.
    """

    __slots__ = ("_crossing", "_edges", "_from", "_work", "hits")

    def __init__(self, hits: Sequence[int], work: Work) -> None:
        self.hits = list(hits)
        self._work = work
        self._edges = 0
        self._from: list[int] = []
        self._crossing: dict[int, int] = {}
        self._index()

    def enumerate(self, refute: Callable[[tuple[int, ...]], int | None] = lambda _: None) -> Iterator[tuple[int, ...]]:
        """The minimal hitting sets in order, until there are no more or the work is spent.

        Args:
            refute: Gives an edge that the set misses, as a set of vertices; None when there is none.
        """
        size = 0
        while not self._work.spent:
            size = max(size, self._disjoint(self._edges, len(self.hits)))
            larger = yield from self._of_size(size, refute)
            if not larger:
                return
            size += 1

    def _of_size(
        self, size: int, refute: Callable[[tuple[int, ...]], int | None]
    ) -> Generator[tuple[int, ...], None, bool]:
        """Yields those of one size; returns whether there may be larger ones."""
        hits = self.hits
        edges = self._edges
        if size == 0:
            missed = refute(())
            if missed is None:
                yield ()
            else:
                self._add(missed)
            return missed is not None
        work = self._work
        larger = False
        chosen: list[int] = []
        following = [0]
        # For each depth: the edges that the chosen vertices miss, and for each of these the edges that it alone hits.
        missing = [edges]
        private: list[list[int]] = [[]]
        while following:
            vertex = following[-1]
            left = missing[-1]
            if vertex == len(hits) or left & self._from[vertex] != left:
                following.pop()
                missing.pop()
                private.pop()
                if chosen:
                    chosen.pop()
                continue
            following[-1] = vertex + 1
            hit = hits[vertex]
            gained = left & hit
            last = len(chosen) + 1 == size
            work.left -= (1 + len(chosen)) * self._cost()
            if work.spent:
                return False
            if not gained or (last and larger and gained != left):
                continue
            kept = [own ^ (own & hit) for own in private[-1]]
            if not all(kept):
                continue
            left ^= gained
            if last and not left:
                found = (*chosen, vertex)
                missed = refute(found)
                if missed is None:
                    yield found
                    continue
                # Nothing chosen on the way here is in the new edge, as it misses them all.
                new = self._add(missed)
                missing = [open_edges | new for open_edges in missing]
            elif last or self._disjoint(left, size - len(chosen) - 1) >= size - len(chosen):
                larger = True
            elif left:
                chosen.append(vertex)
                following.append(vertex + 1)
                missing.append(left)
                private.append([*kept, gained])
        return larger or self._edges != edges

    def _add(self, edge: int) -> int:
        new = 1 << self._edges.bit_length()
        for vertex in bits.positions(edge):
            self.hits[vertex] |= new
        self._index()
        return new

    def _index(self) -> None:
        # For each vertex, the edges that it or a later one is in: an edge outside can't be hit any more.
        reach = 0
        self._from = [0] * len(self.hits)
        for vertex in reversed(range(len(self.hits))):
            reach |= self.hits[vertex]
            self._from[vertex] = reach
        self._edges = reach
        self._crossing.clear()

    def _disjoint(self, edges: int, enough: int) -> int:
        """How many pairwise disjoint edges are found greedily among `edges`, counted up to `enough` + 1."""
        count = 0
        while edges and count <= enough:
            edges ^= edges & self._crossing_of(edges)
            count += 1
        self._work.left -= count * self._cost()
        return count

    def _crossing_of(self, edges: int) -> int:
        """The edges that share a vertex with the lowest of `edges`, itself included."""
        lowest = bits.lowest(edges)
        found = self._crossing.get(lowest)
        if found is None:
            found = 0
            for hit in self.hits:
                if hit >> lowest & 1:
                    found |= hit
            self._work.left -= len(self.hits) * self._cost()
            self._crossing[lowest] = found
        return found

    def _cost(self) -> int:
        return 1 + (self._edges.bit_length() >> 12)


def transposed(sets: Iterable[Iterable[int]], members: int) -> list[int]:
    """For each of so many members, the set of positions in `sets` at which it occurs."""
    found = [0] * members
    for position, each in enumerate(sets):
        for member in each:
            found[member] |= 1 << position
    return found
