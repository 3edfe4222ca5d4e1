"""Ways out of a failed route, by whose move they are."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..catalog import Candidate
from ..constraints import NamedConstraint
from .failures import Unknown
from .relaxations import Relaxation

__all__ = ["MissingFact", "WaysOut", "ways_out"]


@dataclass(frozen=True, slots=True)
class MissingFact:
    """A fact that would be enough to know: nothing but its absence stops these candidates.

    Attributes:
        field: The fact: `p95LatencyMs` or `region`.
        constraint: The constraint that asks for it.
        candidates: Those that nobody supplied it for, in near-miss order.
    """

    field: str
    constraint: NamedConstraint
    candidates: tuple[Candidate, ...]

    @property
    def name(self) -> str:
        """The fact in plain words."""
        return "the p95 latency" if self.field == "p95LatencyMs" else "the region"


@dataclass(frozen=True, slots=True)
class WaysOut:
    """What could be done, by whose move it is, in the order in which people should consider it.

    Attributes:
        bounds: The caller moves thresholds and lists of its own.
        policy: The policy's owner allows more.
        facts: Somebody finds out what nobody supplied.
        dropped: The caller gives up a need, or asks for another kind.
    """

    bounds: tuple[Relaxation, ...]
    policy: tuple[Relaxation, ...]
    facts: tuple[MissingFact, ...]
    dropped: tuple[Relaxation, ...]

    def __bool__(self) -> bool:
        return bool(self.bounds or self.policy or self.facts or self.dropped)


def ways_out(relaxations: Sequence[Relaxation], unknowns: Sequence[Unknown]) -> WaysOut:
    """Group what may be offered: relaxations, and the facts whose absence alone stops a candidate."""
    groups: dict[str, list[Relaxation]] = {"bounds": [], "policy": [], "dropped": []}
    for relaxation in relaxations:
        if relaxation.offered:
            groups[_move(relaxation)].append(relaxation)
    lacking: dict[tuple[str, str], list[Unknown]] = {}
    for unknown in unknowns:
        if not unknown.also:
            lacking.setdefault((unknown.field, unknown.constraint.id), []).append(unknown)
    facts = (
        MissingFact(field, same[0].constraint, tuple(unknown.candidate for unknown in same))
        for (field, _), same in lacking.items()
    )
    return WaysOut(tuple(groups["bounds"]), tuple(groups["policy"]), tuple(facts), tuple(groups["dropped"]))


def _move(relaxation: Relaxation) -> str:
    """Whose move it is: what the caller gives up weighs most, then what the policy's owner has to allow."""
    if any(edit.kind == "dropped" or edit.constraint.id == "kind" for edit in relaxation.edits):
        return "dropped"
    return "bounds" if relaxation.owners == ("caller",) else "policy"
