"""The search for minimal hitting sets, the smallest first, over edges that need not all be known from the start.

A set hits a family of sets (its *edges*) when it shares a member with each of them.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

from ..basics import bits

__all__ = ["HittingSets", "Work"]


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


@dataclass(slots=True)
class _Step:
    """A vertex that was chosen, after those of the steps before.

    Attributes:
        vertex: The vertex; -1 before the first choice.
        following: The next vertex to be tried after it.
        missing: The edges that none of those chosen is in.
        private: For each of those chosen, the edges that it alone is in.
    """

    vertex: int
    following: int
    missing: int
    private: list[int]


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
        if not self._edges:
            missed = refute(())
            if missed is None:
                yield ()
                return
            self._add(missed)
        size = 1
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
        larger = False
        steps = [_Step(-1, 0, edges, [])]
        while steps:
            step = steps[-1]
            vertex = step.following
            if vertex == len(hits) or step.missing & self._from[vertex] != step.missing:
                steps.pop()
                continue
            step.following += 1
            self._work.left -= len(steps) * self._cost()
            if self._work.spent:
                return False
            room = size - len(steps)
            hit = hits[vertex]
            gained = step.missing & hit
            left = step.missing ^ gained
            if not gained or (left and larger and not room):
                continue
            private = [own ^ (own & hit) for own in step.private]
            if not all(private):
                continue
            if not left and not room:
                found = (*(each.vertex for each in steps[1:]), vertex)
                missed = refute(found)
                if missed is None:
                    yield found
                    continue
                # Nothing chosen on the way here is in the new edge, as the set found misses it.
                new = self._add(missed)
                for each in steps:
                    each.missing |= new
            elif self._disjoint(left, room) > room:
                larger = True
            elif left:
                steps.append(_Step(vertex, vertex + 1, left, [*private, gained]))
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
