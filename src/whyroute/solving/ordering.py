"""The order of bundles as one integer for each candidate of each slot, so that the sums order the bundles.

Fallback picks come first, then slots whose hints are not honoured, then what is missing to the highest total score,
then the places in rank order, the first slot's before the second's: digits of one number, each with room for all that
the slots add to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from ..basics import bits
from ..basics.numbers import Number, wire_number
from ..engine.deadlines import check_time
from .request import Solved

__all__ = ["RankedSlot", "costs_of", "ranked_of", "total_score"]


@dataclass(frozen=True, slots=True)
class RankedSlot:
    """The candidates of a slot in rank order, and what their place in a bundle rests on.

    Attributes:
        numbers: The candidates.
        scores: The score of each, in units of 10 to the power of `exponent`.
        exponent: That power.
        fallback: Whether each is of a fallback provider.
        missed: Whether hints were given that each does not match.
    """

    numbers: list[int]
    scores: list[int]
    exponent: int
    fallback: list[bool]
    missed: list[bool]


def ranked_of(solved: Solved, members: int) -> RankedSlot:
    """Candidates of a slot, those of a set, in rank order: regular before fallback, hints, score, then ties."""
    check_time()
    catalog = solved.catalog
    if not members:
        return RankedSlot([], [], 0, [], [])
    ranking = solved.ranked(catalog.all())
    numbers = list(ranking.among(members))
    scores = ranking.scores
    gained = [0] * catalog.size
    for power, having in enumerate(scores.slices):
        for number in bits.positions(having & members):
            gained[number] += 1 << power
    fallbacks, matching = catalog.fallbacks, ranking.matching
    hinted = solved.preferred_provider is not None or solved.preferred_model is not None
    return RankedSlot(
        numbers,
        [scores.low + scores.unit * gained[number] for number in numbers],
        scores.exponent,
        [bool(fallbacks >> number & 1) for number in numbers],
        [hinted and not matching >> number & 1 for number in numbers],
    )


def costs_of(slots: Sequence[RankedSlot]) -> list[list[int]]:
    """What each candidate costs: a bundle that is better than another costs less.

    Args:
        slots: The candidates of each slot; there is at least one of each.
    """
    count = len(slots)
    exponent = min(slot.exponent for slot in slots)
    lacking: list[list[int]] = []
    for slot in slots:
        factor = 10 ** (slot.exponent - exponent)
        most = max(slot.scores)
        lacking.append([(most - score) * factor for score in slot.scores])
    places = prod(len(slot.numbers) for slot in slots)
    points = sum(map(max, lacking)) + 1
    found: list[list[int]] = []
    weight = places
    for index, slot in enumerate(slots):
        check_time()
        weight //= len(slot.numbers)
        found.append(
            [
                ((fallback * (count + 1) + missed) * points + short) * places + place * weight
                for place, (fallback, missed, short) in enumerate(
                    zip(slot.fallback, slot.missed, lacking[index], strict=True)
                )
            ]
        )
    return found


def total_score(solved: Sequence[Solved], numbers: Sequence[int]) -> Number:
    """The sum of the scores of one candidate for each slot, exactly, as a JSON number."""
    scores = (
        each.ranked(each.catalog.all()).scores.score(number) for each, number in zip(solved, numbers, strict=True)
    )
    return wire_number(sum(scores, start=Fraction(0)))
