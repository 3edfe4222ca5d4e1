"""Ways out of a failed route, by whose move they are."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..catalog import Candidate
from ..constraints import NamedConstraint
from ..issues import shown
from .failures import Unknown
from .relaxations import Relaxation

__all__ = ["MissingFact", "WaysOut", "ways_out"]


@dataclass(frozen=True, slots=True)
class MissingFact:
    """A fact that would be enough to know: nothing but its absence stops these candidates.

    Attributes:
        field: The fact: `p95LatencyMs` or `region`, or any field that a rule looks at.
        constraint: The constraint that asks for it.
        candidates: Those that nobody supplied it for, in near-miss order.
    """

    field: str
    constraint: NamedConstraint
    candidates: tuple[Candidate, ...]

    @property
    def name(self) -> str:
        """The fact in plain words."""
        return _FACTS.get(self.field, shown(self.field))


_FACTS = {
    "p95LatencyMs": "the p95 latency",
    "region": "the region",
    "maxOutputTokens": "the limit of output tokens",
    "callUsd": "the tokens of the call, for the price",
}


@dataclass(frozen=True, slots=True)
class WaysOut:
    """What could be done, by whose move it is, in the order in which people should consider it.

    Attributes:
        bounds: The caller moves thresholds and lists of its own.
        policy: The policy's owner allows more.
        facts: Somebody finds out what nobody supplied.
        dropped: The caller gives up a need, or asks for another kind.
        waivers: A rule's owner waives it.
        fixed: The rules that stand in the way and are nobody's to change here: they can't be waived.
    """

    bounds: tuple[Relaxation, ...]
    policy: tuple[Relaxation, ...]
    facts: tuple[MissingFact, ...]
    dropped: tuple[Relaxation, ...]
    waivers: tuple[Relaxation, ...] = ()
    fixed: tuple[NamedConstraint, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.bounds or self.policy or self.facts or self.dropped or self.waivers or self.fixed)


def ways_out(relaxations: Sequence[Relaxation], unknowns: Sequence[Unknown]) -> WaysOut:
    """Group what may be offered: relaxations, and the facts whose absence alone stops a candidate."""
    groups: dict[str, list[Relaxation]] = {"bounds": [], "policy": [], "dropped": [], "waivers": []}
    fixed: dict[str, NamedConstraint] = {}
    for relaxation in relaxations:
        if relaxation.offered:
            groups[_move(relaxation)].append(relaxation)
        for constraint in relaxation.correction:
            if constraint.owner == "rule" and not constraint.waivable:
                fixed[constraint.id] = constraint
    lacking: dict[tuple[str, str], list[Unknown]] = {}
    for unknown in unknowns:
        if not unknown.also:
            lacking.setdefault((unknown.field, unknown.constraint.id), []).append(unknown)
    facts = (
        MissingFact(field, same[0].constraint, tuple(unknown.candidate for unknown in same))
        for (field, _), same in lacking.items()
    )
    return WaysOut(
        tuple(groups["bounds"]),
        tuple(groups["policy"]),
        tuple(facts),
        tuple(groups["dropped"]),
        tuple(groups["waivers"]),
        tuple(fixed.values()),
    )


def _move(relaxation: Relaxation) -> str:
    """Whose move it is: what the caller gives up weighs most, then what the policy's owner has to allow."""
    if any(edit.kind == "dropped" or edit.constraint.id == "kind" for edit in relaxation.edits):
        return "dropped"
    if "rule" in relaxation.owners:
        return "waivers"
    return "bounds" if relaxation.owners == ("caller",) else "policy"
