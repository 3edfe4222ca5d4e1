"""What stands in the way of each candidate: near misses, unknown facts, rejections grouped by reason."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ..basics import bits
from ..catalog.candidate import Candidate
from ..constraints.custom import CustomTerm
from ..constraints.named import NamedConstraint
from ..constraints.terms import LatencyTerm, RegionListTerm, RegionTerm
from ..engine.deadlines import check_time
from ..errors import RejectionReason
from ..model.features import UNSPECIFIED_REGION
from ..solving.request import Solved

if TYPE_CHECKING:
    from ..constraints.rule_terms import RuleTerm

__all__ = [
    "NearMiss",
    "ReasonGroup",
    "Unknown",
    "failures_of",
    "grouped",
    "near_miss_numbers",
    "near_misses",
    "unknowns",
]

Failed = tuple[NamedConstraint, RejectionReason]


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A candidate that does not qualify, and everything that stands in its way.

    Attributes:
        candidate: The candidate.
        failed: Every constraint that rejects it, in constraint order, each with why.
    """

    candidate: Candidate
    failed: tuple[Failed, ...]

    def to_dict(self) -> dict[str, Any]:
        """The near miss as it goes over the wire."""
        return {"candidate": self.candidate.to_dict(), "failed": failed_dicts(self.failed)}


@dataclass(frozen=True, slots=True)
class Unknown:
    """An unknown fact about a candidate, which a constraint asks for.

    Attributes:
        candidate: The candidate.
        field: The fact: `p95LatencyMs` or `region`, or any field that a rule looks at.
        constraint: The constraint that rejects it for want of the fact.
        also: The other constraints that reject it: with none, measuring may be enough.
    """

    candidate: Candidate
    field: str
    constraint: NamedConstraint
    also: tuple[NamedConstraint, ...]

    def to_dict(self) -> dict[str, Any]:
        """The unknown as it goes over the wire."""
        return {
            "candidate": self.candidate.to_dict(),
            "field": self.field,
            "constraint": self.constraint.id,
            "also": [constraint.id for constraint in self.also],
        }


@dataclass(frozen=True, slots=True)
class ReasonGroup:
    """The candidates that a constraint rejects for one reason.

    Attributes:
        reason: The reason, the same for all of them.
        members: Who they are, as a set of candidate numbers.
    """

    reason: RejectionReason
    members: int

    @property
    def count(self) -> int:
        """How many they are."""
        return self.members.bit_count()


def failed_dicts(failed: Sequence[Failed]) -> list[dict[str, Any]]:
    """Failed constraints as they go over the wire."""
    return [{"constraint": constraint.id, "reason": reason.to_dict()} for constraint, reason in failed]


def failures_of(
    solved: Solved, number: int, told: list[dict[Hashable, RejectionReason]] | None = None
) -> tuple[Failed, ...]:
    """The constraints that reject a candidate, in constraint order, each with why.

    Args:
        solved: The request.
        number: The candidate.
        told: For each constraint, the reasons that were told already, by what was observed: candidates share them.

    Raises:
        TooLateError: The time that there was is over.
    """
    check_time()
    candidate = solved.catalog.candidate(number)
    shared = told or [{} for _ in solved.constraints]
    return tuple(
        (constraint, reason)
        for constraint, known in zip(solved.constraints, shared, strict=True)
        if (reason := constraint.rejection(candidate, known)) is not None
    )


def levels(solved: Solved) -> Iterator[int]:
    """The candidates that don't qualify, in sets of equally many failures, the fewest first."""
    everyone = solved.catalog.all()
    slices: list[int] = []
    for admitted in solved.constraints.admitted:
        bits.add_weight(slices, everyone & ~admitted, 1)
    rest = everyone & ~solved.survivors
    while rest:
        level = rest
        for plane in reversed(slices):
            level = level & ~plane or level
        yield level
        rest ^= level


def near_misses(solved: Solved, limit: int | None) -> Iterator[NearMiss]:
    """The candidates that don't qualify, fewest failures first, then in rank order; at most `limit`."""
    told: list[dict[Hashable, RejectionReason]] = [{} for _ in solved.constraints]
    for number in near_miss_numbers(solved, limit):
        yield NearMiss(solved.catalog.candidate(number), failures_of(solved, number, told))


def near_miss_numbers(solved: Solved, limit: int | None) -> Iterator[int]:
    """The numbers of the candidates that don't qualify, fewest failures first, then in rank order; at most `limit`."""
    return _first(limit, solved, lambda level: level)


def _first(limit: int | None, solved: Solved, part_of: Callable[[int], int]) -> Iterator[int]:
    """Numbers in near-miss order, of the part of each level that is asked for; at most `limit`."""
    left = solved.catalog.size if limit is None else limit
    ranking = solved.ranked(solved.catalog.all()) if solved.catalog.size else None
    for level in levels(solved):
        part = part_of(level)
        if not part or ranking is None:
            continue
        for number in ranking.among(part):
            if left == 0:
                return
            left -= 1
            yield number


def unknowns(solved: Solved, limit: int | None) -> Iterator[Unknown]:
    """The unknown facts that stand in the way, those with the fewest other failures first."""
    missing = list(_missing(solved))
    concerned = 0
    for _, _, members in missing:
        concerned |= members
    if not concerned:
        return
    left = limit
    for number in _first(None, solved, lambda level: level & concerned):
        failed = [constraint for constraint in solved.constraints if not constraint.admitted >> number & 1]
        candidate = solved.catalog.candidate(number)
        for constraint, only, members in missing:
            if not members >> number & 1:
                continue
            also = tuple(other for other in failed if other is not constraint)
            for field in _unknown_fields(constraint, candidate) if only is None else (only,):
                if left == 0:
                    return
                left = None if left is None else left - 1
                yield Unknown(candidate, field, constraint, also)


def _missing(solved: Solved) -> Iterator[tuple[NamedConstraint, str | None, int]]:
    """Constraints that reject for want of a fact: which, where it is one for all, and the candidates it stops."""
    for constraint in solved.constraints:
        match constraint.term:
            case LatencyTerm():
                unmeasured = solved.catalog.all() & ~solved.catalog.p95_latency.known
                yield constraint, "p95LatencyMs", unmeasured & ~constraint.admitted
            case RegionTerm() | RegionListTerm():
                nowhere = solved.catalog.in_region(UNSPECIFIED_REGION)
                yield constraint, "region", nowhere & ~constraint.admitted
            case CustomTerm():
                yield constraint, constraint.id, constraint.term.undecided(solved.catalog)
            case term if constraint.owner == "rule":
                # Which fact it is may differ from candidate to candidate.
                yield constraint, None, cast("RuleTerm", term).undecided(solved.catalog)
            case _:
                pass


def _unknown_fields(constraint: NamedConstraint, candidate: Candidate) -> tuple[str, ...]:
    """The facts for want of which a rule rejects a candidate."""
    term = cast("RuleTerm", constraint.term)
    return term.unknown_fields(term.observe(candidate.metadata, candidate.model))


def grouped(constraint: NamedConstraint, members: int | None = None) -> tuple[ReasonGroup, ...]:
    """The candidates that a constraint rejects, grouped by reason, the largest group first, then in tie-break order.

    Costs a pass over the rejected candidates.

    Args:
        constraint: The constraint.
        members: A part of those that it rejects, as a set; all of them when absent.
    """
    catalog, term = constraint.catalog, constraint.term
    found: dict[Hashable, list[int]] = {}
    for number in bits.positions(constraint.rejected if members is None else members):
        candidate = catalog.candidate(number)
        found.setdefault(term.observe(candidate.metadata, candidate.model), []).append(number)
    groups = (
        ReasonGroup(term.reason(observed), bits.from_positions(numbers, catalog.size))
        for observed, numbers in found.items()
    )
    return tuple(sorted(groups, key=lambda group: (-group.count, bits.lowest(group.members))))
