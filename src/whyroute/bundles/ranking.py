"""Bundles in order: the best, and the next best ones, each found when it is read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..basics.frozen import FrozenDict
from ..basics.numbers import Number
from ..catalog.candidate import Candidate
from ..solving.joint import JointSolved
from ..solving.ordering import total_score

__all__ = ["Alternates", "RankedBundle", "ranked_bundle"]


@dataclass(frozen=True, slots=True)
class RankedBundle:
    """One candidate for each slot, that meet everything together.

    Attributes:
        picks: The candidate of each slot, by its name.
        score: The sum of the scores.
        hints: How many picks match the hints of their slots, where such were given.
        fallbacks: How many picks are of fallback providers.
        proved: Whether nothing better can be missing before it; no when a search ended at its limit.
    """

    picks: Mapping[str, Candidate]
    score: Number
    hints: int
    fallbacks: int
    proved: bool

    def to_dict(self) -> dict[str, Any]:
        """The bundle as it goes over the wire."""
        found: dict[str, Any] = {
            "picks": {name: candidate.to_dict() for name, candidate in self.picks.items()},
            "score": self.score,
            "hints": self.hints,
            "fallbacks": self.fallbacks,
        }
        return found if self.proved else {**found, "proved": False}


class Alternates:
    """The bundles after the best, best first, each found when it is read. How many there are is not known beforehand.

    Reading one more costs a few searches like that for the best; what was read is kept.
    """

    __slots__ = ("_found", "_rest", "_solved")

    def __init__(self, solved: JointSolved) -> None:
        self._solved = solved
        self._found: list[RankedBundle] = []
        self._rest = islice(solved.in_order(), 1, None)

    def __iter__(self) -> Iterator[RankedBundle]:
        place = 0
        while self._reach(place):
            yield self._found[place]
            place += 1

    def __getitem__(self, place: int) -> RankedBundle:
        if place < 0 or not self._reach(place):
            raise IndexError("there are not so many alternates")
        return self._found[place]

    def __bool__(self) -> bool:
        return self._reach(0)

    def first(self, count: int) -> tuple[RankedBundle, ...]:
        """The first so many, or all when there are fewer."""
        return tuple(islice(self, count))

    def _reach(self, place: int) -> bool:
        while len(self._found) <= place:
            following = next(self._rest, None)
            if following is None:
                return False
            self._found.append(ranked_bundle(self._solved, *following))
        return True

    def __repr__(self) -> str:
        return f"<alternates, {len(self._found)} read so far>"


def ranked_bundle(solved: JointSolved, numbers: tuple[int, ...], proved: bool) -> RankedBundle:
    """A bundle by the numbers of its picks."""
    return RankedBundle(
        FrozenDict(solved.picks(numbers)),
        total_score(solved.slots, numbers),
        solved.hints(numbers),
        solved.fallbacks(numbers),
        proved,
    )
