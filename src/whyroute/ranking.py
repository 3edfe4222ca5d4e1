"""Ranking: fallbacks, preference scores in exact sums, hints."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any, Protocol, overload

from . import bits
from .catalog import Candidate, Catalog
from .declarations import Preference
from .numbers import Number, scaled

__all__ = ["Order", "Orders", "RankedCandidates", "Ranking", "Wishes", "rank"]


class Wish(Protocol):
    """A weight that some candidates gain."""

    @property
    def weight(self) -> Number:
        """What they gain."""
        ...

    @property
    def members(self) -> int:
        """Who they are, as a set."""
        ...


class Order(Protocol):
    """An order of candidates with equal scores."""

    @property
    def told(self) -> str:
        """What it puts first, in plain words: `rule ... puts the lowest ... first`."""
        ...

    def foremost(self, members: int) -> int:
        """Those of a set that is not empty that come first."""
        ...


Wishes = Sequence[Wish]
Orders = Sequence[Order]


@dataclass(frozen=True, slots=True)
class Scores:
    """The score of every candidate at once, exactly: integers sliced by bit.

    A candidate's score is `(low + unit * n) * 10**exponent`, where bit k of n tells whether the candidate is in
    slice k. Adding a weight to a set of candidates is a ripple-carry addition over the slices.
    """

    slices: tuple[int, ...]
    unit: int
    low: int
    exponent: int

    @classmethod
    def of(cls, preferences: Sequence[Preference], catalog: Catalog, wishes: Wishes = ()) -> "Scores":
        """The scores of every candidate of a catalog: what its preferences and wishes add up to."""
        if not preferences and not wishes:
            return _NO_SCORES
        parts = [(preference.feature, *scaled(preference.weight)) for preference in preferences]
        wished = [(wish.members, *scaled(wish.weight)) for wish in wishes]
        exponent = min(power for _, _, power in (*parts, *wished))
        weights: dict[str, int] = {}
        for name, digits, power in parts:
            weights[name] = weights.get(name, 0) + digits * 10 ** (power - exponent)
        gains = [
            (catalog.with_feature(name) | catalog.with_attribute(name), weight)
            for name, weight in weights.items()
            if weight
        ]
        gains += [(members, digits * 10 ** (power - exponent)) for members, digits, power in wished if digits]
        unit = gcd(*(weight for _, weight in gains)) or 1
        slices: list[int] = []
        low = 0
        for gaining, weight in gains:
            members = gaining
            if weight < 0:
                low += weight  # a penalty for some is a gain for all others, over a lower floor
                members = catalog.all() & ~members
            if members:
                bits.add_weight(slices, members, abs(weight) // unit)
        return cls(tuple(slices), unit, low, exponent)

    def score(self, number: int) -> Fraction:
        """The score of one candidate."""
        gained = sum((members >> number & 1) << k for k, members in enumerate(self.slices))
        return Fraction(self.low + self.unit * gained) * Fraction(10) ** self.exponent

    def best(self, members: int) -> int:
        """Those of a set that is not empty with the highest score."""
        for plane in reversed(self.slices):
            members = members & plane or members
        return members


_NO_SCORES = Scores((), 1, 0, 0)


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

    __slots__ = ("_found", "_lock", "_rest", "catalog", "fallback", "hinted", "matching", "members", "orders", "scores")

    def __init__(
        self, catalog: Catalog, scores: Scores, members: int, matching: int, *, fallback: bool, orders: Orders = ()
    ) -> None:
        self.catalog = catalog
        self.scores = scores
        self.members = members
        self.matching = matching
        self.hinted = hinted = members & matching
        self.fallback = fallback
        self.orders = orders
        self._found: list[int] = []
        self._rest = [part for part in (members & ~hinted, hinted) if part]
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        # The classes are found again where they are asked for; the lock can't travel.
        return _restored, (self.catalog, self.scores, self.members, self.matching, self.fallback, self.orders)

    def among(self, members: int) -> Iterator[int]:
        """The numbers of a set in rank order, regular candidates before fallbacks, whether they qualify or not."""
        fallbacks = members & self.catalog.fallbacks()
        for part in (members ^ fallbacks, fallbacks):
            if part:
                fallback = part == fallbacks
                yield from Ranking(
                    self.catalog, self.scores, part, self.matching, fallback=fallback, orders=self.orders
                )

    def best(self) -> int:
        """The number of the pick."""
        return bits.lowest(self._foremost(self.hinted or self.members))

    def _foremost(self, members: int) -> int:
        """Those of a set that is not empty that only the tie-break order tells apart from its best."""
        members = self.scores.best(members)
        for order in self.orders:
            members = order.foremost(members)
        return members

    def classes(self) -> Iterator[int]:
        """Sets of candidates that only the tie-break order tells apart, best first; made when they are reached."""
        at = 0
        while at < len(self._found) or self._find_next(at):
            yield self._found[at]
            at += 1

    def _find_next(self, at: int) -> bool:
        with self._lock:
            if at == len(self._found) and self._rest:
                part = self._rest.pop()
                found = self._foremost(part)
                self._found.append(found)
                if part != found:
                    self._rest.append(part ^ found)
            return at < len(self._found)

    def __len__(self) -> int:
        return self.members.bit_count()

    def __iter__(self) -> Iterator[int]:
        for members in self.classes():
            yield from bits.positions(members)

    def at(self, place: int) -> int:
        """The number of the candidate at a place from 0."""
        for members in self.classes():
            count = members.bit_count()
            if place < count:
                return bits.select(members, place)
            place -= count
        raise IndexError("rank out of range")


def _restored(catalog: Catalog, scores: Scores, members: int, matching: int, fallback: bool, orders: Orders) -> Ranking:
    return Ranking(catalog, scores, members, matching, fallback=fallback, orders=orders)


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
    def __getitem__(self, index: slice) -> "RankedCandidates": ...

    def __getitem__(self, index: int | slice) -> "Candidate | RankedCandidates":
        if isinstance(index, slice):
            return RankedCandidates(self._ranking, self._window[index])
        return self._ranking.catalog.candidate(self._ranking.at(self._window[index]))

    def __iter__(self) -> Iterator[Candidate]:
        window = self._window
        if window.step != 1:
            yield from (self[index] for index in range(len(window)))
            return
        candidate = self._ranking.catalog.candidate
        for place, number in enumerate(self._ranking):
            if place >= window.stop:
                return
            if place >= window.start:
                yield candidate(number)

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
    preferences: Sequence[Preference],
    preferred_provider: str | None = None,
    preferred_model: str | None = None,
    *,
    wishes: Wishes = (),
    orders: Orders = (),
) -> Ranking:
    """Rank the candidates of a set that is not empty.

    Fallback candidates count only when no other is in the set; a hint never lifts one over a regular candidate.
    """
    regular = survivors & ~catalog.fallbacks()
    members = regular or survivors
    matching = 0
    if preferred_provider is not None or preferred_model is not None:
        matching = catalog.all()
        if preferred_provider is not None:
            matching &= catalog.of_provider(preferred_provider)
        if preferred_model is not None:
            matching &= catalog.of_model(preferred_model)
    scores = Scores.of(preferences, catalog, wishes)
    return Ranking(catalog, scores, members, matching, fallback=not regular, orders=orders)
