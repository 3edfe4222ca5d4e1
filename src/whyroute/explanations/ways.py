"""Ways out of a failed route, by whose move they are."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ..catalog import Candidate
from ..constraints import NamedConstraint
from ..features import UNSPECIFIED_REGION
from ..terms import LatencyTerm, RegionListTerm, RegionTerm
from .explanation import Explanation
from .relaxations import Relaxation

__all__ = ["MissingFact", "WaysOut", "ways_out"]

_CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class MissingFact:
    """A fact that would be enough to know: nothing but its absence stops these candidates.

    Attributes:
        name: The fact in plain words.
        constraint: The constraint that asks for it.
        candidates: The first ten of those that nobody supplied it for, in rank order.
        count: How many they are in all.
    """

    name: str
    constraint: NamedConstraint
    candidates: tuple[Candidate, ...]
    count: int


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


def ways_out(explanation: Explanation) -> WaysOut:
    """Group what may be offered: relaxations, and the facts whose absence alone stops a candidate."""
    groups: dict[str, list[Relaxation]] = {"bounds": [], "policy": [], "dropped": []}
    for relaxation in explanation.relaxations:
        if relaxation.offered:
            groups[_move(relaxation)].append(relaxation)
    facts = tuple(_facts(explanation))
    return WaysOut(tuple(groups["bounds"]), tuple(groups["policy"]), facts, tuple(groups["dropped"]))


def _facts(explanation: Explanation) -> Iterator[MissingFact]:
    catalog = explanation.catalog
    for constraint, members in explanation.stopped_alone:
        match constraint.term:
            case LatencyTerm():
                name, lacking = "the p95 latency", members & ~catalog.p95_latency().known
            case RegionTerm() | RegionListTerm():
                name, lacking = "the region", members & catalog.in_region(UNSPECIFIED_REGION)
            case _:
                continue
        if lacking:
            first = islice(explanation.solved.ranked(lacking).among(lacking), _CANDIDATES)
            candidates = tuple(map(catalog.candidate, first))
            yield MissingFact(name, constraint, candidates, lacking.bit_count())


def _move(relaxation: Relaxation) -> str:
    """Whose move it is: what the caller gives up weighs most, then what the policy's owner has to allow."""
    if any(edit.kind == "dropped" or edit.constraint.id == "kind" for edit in relaxation.edits):
        return "dropped"
    return "bounds" if relaxation.owners == ("caller",) else "policy"
