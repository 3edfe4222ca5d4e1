"""Ways out of a failed route, by whose move they are."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, cast

from ..basics.issues import shown
from ..catalog.candidate import Candidate
from ..constraints.named import NamedConstraint
from ..constraints.terms import LatencyTerm, RegionListTerm, RegionTerm
from ..model.features import UNSPECIFIED_REGION
from .explained import C, Explained, R
from .explanation import Explanation
from .relaxations import Moves, Relaxation

if TYPE_CHECKING:
    from ..constraints.rule_terms import RuleTerm

__all__ = ["MissingFact", "WaysOut", "ways_out"]

_CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class MissingFact:
    """A fact that would be enough to know: nothing but its absence stops these candidates.

    Attributes:
        name: The fact in plain words.
        constraint: The constraint that asks for it.
        candidates: The first ten of those for which it is unknown, in rank order.
        count: How many they are in all.
    """

    name: str
    constraint: NamedConstraint
    candidates: tuple[Candidate, ...]
    count: int


_FACTS = {
    "p95LatencyMs": "the p95 latency",
    "region": "the region",
    "maxOutputTokens": "the limit of output tokens",
    "callUsd": "the tokens of the call, for the price",
}


@dataclass(frozen=True, slots=True)
class WaysOut(Generic[C, R]):
    """What could be done, by whose move it is, in the order in which people should consider it.

    Attributes:
        bounds: The caller moves thresholds and lists of its own.
        policy: The policy's owner allows more.
        facts: Somebody finds out what is unknown.
        dropped: The caller gives up a need, or asks for another kind; of a bundle, that is among `bounds`.
        waivers: A rule's owner waives it.
        fixed: The rules that stand in the way and can't be changed here: they can't be waived.
    """

    bounds: tuple[R, ...]
    policy: tuple[R, ...]
    facts: tuple[MissingFact, ...]
    dropped: tuple[R, ...]
    waivers: tuple[R, ...] = ()
    fixed: tuple[C, ...] = ()


def ways_out(explanation: Explained[Any, Any, C, R]) -> WaysOut[C, R]:
    """Group what may be offered: relaxations, and the facts whose absence alone stops a candidate."""
    groups: dict[str, list[R]] = {"bounds": [], "policy": [], "dropped": [], "waivers": []}
    fixed: dict[str, C] = {}
    for relaxation in explanation.relaxations:
        if relaxation.offered:
            groups[_move(relaxation)].append(relaxation)
        for constraint in relaxation.correction:
            if constraint.owner == "rule" and not constraint.waivable:
                fixed[constraint.id] = constraint
    return WaysOut(
        tuple(groups["bounds"]),
        tuple(groups["policy"]),
        tuple(_facts(explanation)) if isinstance(explanation, Explanation) else (),
        tuple(groups["dropped"]),
        tuple(groups["waivers"]),
        tuple(fixed.values()),
    )


def _facts(explanation: Explanation) -> Iterator[MissingFact]:
    catalog = explanation.catalog
    for constraint, members in explanation.stopped_alone:
        for name, lacking in _lacking(constraint, members):
            first = islice(explanation.solved.ranked(lacking).among(lacking), _CANDIDATES)
            candidates = tuple(map(catalog.candidate, first))
            yield MissingFact(name, constraint, candidates, lacking.bit_count())


def _lacking(constraint: NamedConstraint, members: int) -> Iterator[tuple[str, int]]:
    """The facts for want of which alone a constraint rejects some of a set, and which."""
    catalog = constraint.catalog
    if constraint.owner == "rule":
        for field, lacking in cast("RuleTerm", constraint.term).lacking(catalog, members):
            yield _FACTS.get(field, f"the {shown(field)}"), lacking
        return
    match constraint.term:
        case LatencyTerm():
            name, lacking = "the p95 latency", members & ~catalog.p95_latency.known
        case RegionTerm() | RegionListTerm():
            name, lacking = "the region", members & catalog.in_region(UNSPECIFIED_REGION)
        case _:
            return
    if lacking:
        yield name, lacking


def _move(relaxation: Moves) -> str:
    """Whose move it is: what the caller gives up weighs most, then what the policy's owner has to allow."""
    if isinstance(relaxation, Relaxation) and any(
        edit.kind == "dropped" or edit.constraint.id == "kind" for edit in relaxation.edits
    ):
        return "dropped"
    if "rule" in relaxation.owners:
        return "waivers"
    return "bounds" if relaxation.owners == ("caller",) else "policy"
