"""Ranking: fallbacks, preference scores in exact sums, hints."""

from __future__ import annotations  # array is not subscriptable before Python 3.12

import threading
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice
from math import gcd
from typing import Any, Protocol, overload

from ..basics import bits
from ..basics.numbers import Number, scaled, wire_number
from ..catalog.candidate import Candidate
from ..catalog.catalog import Catalog
from ..model.capability import Preference

__all__ = ["Gains", "RankedCandidates", "Ranking", "Scores", "TieBreak", "TieBreaks", "Weights", "rank"]


class Gain(Protocol):
    """A weight that some candidates gain."""

    @property
    def weight(self) -> Number:
        """What they gain."""
        ...

    @property
    def members(self) -> int:
        """Who they are, as a set."""
        ...


class TieBreak(Protocol):
    """An order of candidates with equal scores."""

    @property
    def told(self) -> str:
        """What it puts first, in plain words: `rule ... puts the lowest ... first`."""
        ...

    def foremost(self, members: int) -> int:
        """Those of a set that is not empty that come first."""
        ...


Gains = Sequence[Gain]
TieBreaks = Sequence[TieBreak]


@dataclass(slots=True)
class Scores:
    """The score of every candidate at once, exactly: integers sliced by bit.

    It is never changed; a frozen one takes several times as long to make.

    A candidate's score is `(low + unit * n) * 10**exponent`, where bit k of n tells whether the candidate is in
    slice k. Adding a weight to a set of candidates is a ripple-carry addition over the slices.
    """

    slices: tuple[int, ...]
    unit: int
    low: int
    exponent: int

    @classmethod
    def of(cls, weights: Weights, catalog: Catalog, wishes: Gains = ()) -> Scores:
        """The scores of every candidate of a catalog.

        Args:
            weights: What preferences and wishes weigh, together.
            catalog: The candidates.
            wishes: The wishes, in the order in which they were weighed.
        """
        if not weights.units:
            return Scores((), weights.unit, weights.low, weights.exponent)
        slices: list[int] = []
        for key, weight in weights.units:
            if isinstance(key, str):
                members = catalog.with_feature(key) | catalog.with_attribute(key)
            else:
                members = wishes[key].members
            if weight < 0:
                members, weight = catalog.all() & ~members, -weight  # noqa: PLW2901 (a penalty is a gain for the rest)
            if members:
                bits.add_weight(slices, members, weight)
        return cls(tuple(slices), weights.unit, weights.low, weights.exponent)

    def score(self, number: int) -> Fraction:
        """The score of one candidate."""
        return Fraction(self._digits(number)) * Fraction(10) ** self.exponent

    def wire_score(self, number: int) -> Number:
        """The score of one candidate as a JSON number: `wire_number` of `score`, at a fraction of its cost."""
        digits, exponent = self._digits(number) if self.slices else self.low, self.exponent
        if exponent >= 0:
            return wire_number(digits * 10**exponent)
        scale: int = 10**-exponent
        if digits % scale == 0:
            return wire_number(digits // scale)
        try:
            return digits / scale  # correctly rounded, as the fraction's nearest double is
        except OverflowError:
            return wire_number(Fraction(digits, scale))

    def _digits(self, number: int) -> int:
        gained = 0
        for k, members in enumerate(self.slices):
            gained |= (members >> number & 1) << k
        return self.low + self.unit * gained

    def best(self, members: int) -> int:
        """Those of a set that is not empty with the highest score."""
        for plane in self.slices[::-1]:
            members = members & plane or members
        return members


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights as integers over a common unit, those of one feature added up; no candidate has a say in it.

    Attributes:
        units: What each feature, or the wish of an index, gains: so many units, never 0.
        unit: The unit, as an integer over the power of ten.
        low: The sum of the penalties: a penalty for some is a gain for all others, over a lower floor.
        exponent: The power of ten.
    """

    units: tuple[tuple[str | int, int], ...] = ()
    unit: int = 1
    low: int = 0
    exponent: int = 0

    @classmethod
    def of(cls, preferences: Sequence[Preference], wishes: Sequence[Number] = ()) -> Weights:
        """What preferences and wishes weigh.

        Args:
            preferences: The preferences of a declaration.
            wishes: The weight of each wish.
        """
        parts: list[tuple[str | int, int, int]] = [(each.feature, *scaled(each.weight)) for each in preferences]
        parts += [(index, *scaled(weight)) for index, weight in enumerate(wishes)]
        if not parts:
            return cls()
        exponent = min(power for _, _, power in parts)
        sums: dict[str | int, int] = {}
        for key, digits, power in parts:
            sums[key] = sums.get(key, 0) + digits * 10 ** (power - exponent)
        unit = gcd(*sums.values()) or 1
        low = sum(weight for weight in sums.values() if weight < 0)
        return cls(tuple((key, weight // unit) for key, weight in sums.items() if weight), unit, low, exponent)


def _foremost(members: int, orders: TieBreaks) -> int:
    """Those of a set of equal scores that only the tie-break order tells apart from its first."""
    for order in orders:
        members = order.foremost(members)
    return members


class _Classes:
    """Candidates of equal rank but for the tie-break order, class by class, found when they are asked for.

    Args:
        scores: The score of each.
        orders: What orders equal scores, the most important first.
        parts: Sets of candidates, the best last; none of them is empty.
    """

    # A class that was found is kept as a set, or, where its numbers take less space, as `~` its place in `_numbers`;
    # `ends` counts the candidates up to and with it. So what is kept stays within a few bytes a candidate.
    __slots__ = ("_lock", "_numbers", "_orders", "_rest", "_scores", "ends", "kept")

    def __init__(self, scores: Scores, orders: TieBreaks, parts: list[int]) -> None:
        self._scores = scores
        self._orders = orders
        self._rest = parts
        self._lock = threading.Lock()
        self._numbers = array("I")
        self.kept: list[int] = []
        self.ends = array("I")

    def find_next(self) -> bool:
        """Find the next class, unless all are found. Readers go by `ends`, which is extended last."""
        with self._lock:
            if not self._rest:
                return False
            part = self._rest.pop()
            found = _foremost(self._scores.best(part), self._orders)
            if part != found:
                self._rest.append(part ^ found)
            count = found.bit_count()
            if count * _BITS_A_NUMBER < found.bit_length():
                self.kept.append(~len(self._numbers))
                self._numbers.extend(bits.positions(found))
            else:
                self.kept.append(found)
            self.ends.append(self.start(len(self.ends)) + count)
            return True

    def has(self, index: int) -> bool:
        """Whether there is a class of that index; all before it were found."""
        # Another thread may have found the last one between the first look and the search, which then finds none.
        return index < len(self.ends) or self.find_next() or index < len(self.ends)

    def start(self, index: int) -> int:
        """The place of the first candidate of a class."""
        return self.ends[index - 1] if index else 0

    def at(self, place: int) -> int:
        """The index of the class that a place from 0 is in; where there is none, their number."""
        while not self.ends or self.ends[-1] <= place:
            if not self.find_next():
                break
        return bisect_right(self.ends, place)

    def numbers(self, index: int) -> Sequence[int]:
        """The numbers of a class that was found."""
        kept = self.kept[index]
        if kept >= 0:
            return tuple(bits.positions(kept))
        return self._numbers[~kept : ~kept + self.ends[index] - self.start(index)]

    def number(self, index: int, place: int) -> int:
        """The number at a place from 0 within a class that was found."""
        kept = self.kept[index]
        return bits.select(kept, place) if kept >= 0 else self._numbers[~kept + place]


class Ranking:
    """The candidates that qualify, best first: hinted ones, then by score, then by `orders`, then in tie-break order.

    Attributes:
        catalog: The catalog they are numbered in.
        scores: The score of each.
        members: All of them, as a set.
        matching: The candidates of the catalog that match every hint; empty when none was given.
        hinted: Those of them that qualify.
        fallback: Whether only fallback providers qualify.
        orders: What orders equal scores, the most important first.
    """

    __slots__ = (
        *("_first", "_found", "_tied"),
        *("catalog", "fallback", "hinted", "matching", "members", "orders", "scores"),
    )

    def __init__(
        self, catalog: Catalog, scores: Scores, members: int, matching: int, *, fallback: bool, orders: TieBreaks = ()
    ) -> None:
        self.catalog = catalog
        self.scores = scores
        self.members = members
        self.matching = matching
        self.hinted = members & matching
        self.fallback = fallback
        self.orders = orders
        self._first = -1
        self._tied = 0
        self._found: _Classes | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # The classes are found again where they are asked for.
        make = partial(Ranking, fallback=self.fallback, orders=self.orders)
        return make, (self.catalog, self.scores, self.members, self.matching)

    @property
    def _classes(self) -> _Classes:
        found = self._found
        if found is None:
            parts = [part for part in (self.members & ~self.hinted, self.hinted) if part]
            found = self._found = _Classes(self.scores, self.orders, parts)
        return found

    def among(self, members: int) -> Iterator[int]:
        """The numbers of a set in rank order, regular candidates before fallbacks, whether they qualify or not."""
        fallbacks = members & self.catalog.fallbacks
        for part in (members ^ fallbacks, fallbacks):
            if part:
                fallback = part == fallbacks
                yield from Ranking(
                    self.catalog, self.scores, part, self.matching, fallback=fallback, orders=self.orders
                )

    @property
    def tied(self) -> int:
        """Those that score as the pick does and match the hints that it matches, as a set."""
        found = self._tied
        if not found:
            found = self._tied = self.scores.best(self.hinted or self.members)
        return found

    def best(self) -> int:
        """The number of the pick."""
        first = self._first
        if first < 0:
            members = _foremost(self.tied, self.orders) if self.orders else self.tied
            first = self._first = (members & -members).bit_length() - 1
        return first

    def __len__(self) -> int:
        return self.members.bit_count()

    def __iter__(self) -> Iterator[int]:
        return self.starting(0)

    def numbers(self) -> list[int]:
        """All numbers, best first, to be read once: nothing is kept."""
        found: list[int] = []
        for part in (self.hinted, self.members & ~self.hinted):
            rest = part
            while rest:
                leading = _foremost(self.scores.best(rest), self.orders)
                found += bits.positions(leading)
                rest ^= leading
        return found

    def starting(self, place: int) -> Iterator[int]:
        """The numbers from a place from 0 on, best first."""
        classes = self._classes
        index = classes.at(place)
        while classes.has(index):
            start = classes.start(index)
            kept = classes.kept[index]
            numbers = bits.positions(kept) if kept >= 0 else iter(classes.numbers(index))
            yield from islice(numbers, place - start, None) if place > start else numbers
            index += 1

    def back_from(self, place: int) -> Iterator[int]:
        """The numbers from a place from 0 back to the best; the place is not beyond the last."""
        classes = self._classes
        for index in range(classes.at(place), -1, -1):
            numbers = classes.numbers(index)
            yield from reversed(numbers[: place + 1 - classes.start(index)])

    def at(self, place: int) -> int:
        """The number of the candidate at a place from 0."""
        classes = self._classes
        index = classes.at(place)
        if index == len(classes.ends):
            raise IndexError("rank out of range")
        return classes.number(index, place - classes.start(index))

    def place_of(self, number: int) -> int | None:
        """The place from 0 of a candidate; None when it is none of them."""
        if not self.members >> number & 1:
            return None
        classes = self._classes
        index = 0
        while classes.has(index):
            kept, start = classes.kept[index], classes.start(index)
            if kept >= 0:
                if kept >> number & 1:
                    return start + (kept & bits.full(number)).bit_count()
            elif number in (numbers := classes.numbers(index)):
                return start + numbers.index(number)
            index += 1
        return None


_BITS_A_NUMBER = 32
"""What a number takes in an array."""


class RankedCandidates(Sequence[Candidate]):
    """Candidates in rank order, made when they are read. Length and index cost no pass over the candidates.

    Equal to any sequence of the same candidates.
    """

    __slots__ = ("_ranking", "_window")

    def __init__(self, ranking: Ranking, window: range) -> None:
        self._ranking = ranking
        self._window = window

    def __len__(self) -> int:
        return len(self._window)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...

    @overload
    def __getitem__(self, index: slice) -> RankedCandidates: ...

    def __getitem__(self, index: int | slice) -> Candidate | RankedCandidates:
        if isinstance(index, slice):
            return RankedCandidates(self._ranking, self._window[index])
        return self._ranking.catalog.candidate(self._ranking.at(self._window[index]))

    def __iter__(self) -> Iterator[Candidate]:
        window = self._window
        if not window:
            return
        count, step = len(window), window.step
        numbers = self._ranking.starting(window[0]) if step > 0 else self._ranking.back_from(window[0])
        candidate = self._ranking.catalog.candidate
        for number in islice(numbers, 0, (count - 1) * abs(step) + 1, abs(step)):
            yield candidate(number)

    def __reversed__(self) -> Iterator[Candidate]:
        return iter(self[::-1])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # compared by content, like a list

    def __repr__(self) -> str:
        shown = ", ".join(candidate.id for candidate in self[:3])
        return f"<{len(self)} candidates in rank order: {shown}{', ...' if len(self) > 3 else ''}>"


def rank(
    survivors: int,
    catalog: Catalog,
    scores: Scores,
    preferred_provider: str | None = None,
    preferred_model: str | None = None,
    *,
    orders: TieBreaks = (),
) -> Ranking:
    """Rank the candidates of a set that is not empty.

    Fallback candidates count only when no other is in the set; a hint never lifts one over a regular candidate.
    """
    fallbacks = catalog.fallbacks
    regular = survivors & ~fallbacks if fallbacks else survivors
    members = regular or survivors
    matching = 0
    if preferred_provider is not None or preferred_model is not None:
        matching = catalog.all()
        if preferred_provider is not None:
            matching &= catalog.of_provider(preferred_provider)
        if preferred_model is not None:
            matching &= catalog.of_model(preferred_model)
    return Ranking(catalog, scores, members, matching, fallback=not regular, orders=orders)
