"""Why not these picks: candidates that fail something, that fit nothing beside them, or that are outranked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..basics.numbers import Number
from ..catalog.candidate import Candidate
from ..solving.combining import best
from ..solving.joint import JointConstraint, JointSolved
from ..solving.ordering import costs_of, ranked_of
from .clashes import Clashes
from .failing import Failed, failed_dicts, failures_of
from .ranking import ranked_bundle

__all__ = ["BundleContrast", "contrast_of"]

DecidedBy = Literal["fallback", "hint", "score", "slot"]


@dataclass(frozen=True, slots=True)
class BundleContrast:
    """The answer to "why not these?".

    Attributes:
        asked: The (provider id, model name) asked about, by slot.
        missing: The slots whose candidate the catalog does not have.
        failed: What they fail on their own and between themselves: the constraint, the slot (None for a tie), and why.
        clash: When they fail nothing by themselves: constraints that no candidates of the other slots meet beside them.
        picks: The best bundle with them; None when there is none.
        score: Its score.
        pick_score: The score of the best bundle; None when there is none at all.
        decided_by: What puts the best bundle before this one; None when it is the best, or there is none.
        slot: When the order of one slot's candidates decides: its name.
    """

    asked: Mapping[str, tuple[str, str]]
    missing: tuple[str, ...] = ()
    failed: tuple[Failed, ...] = ()
    clash: tuple[JointConstraint, ...] = ()
    picks: Mapping[str, Candidate] | None = None
    score: Number | None = None
    pick_score: Number | None = None
    decided_by: DecidedBy | None = None
    slot: str | None = None

    @property
    def admitted(self) -> bool:
        """Whether some bundle has them."""
        return self.picks is not None

    def to_dict(self) -> dict[str, Any]:
        """The contrast as it goes over the wire."""
        found: dict[str, Any] = {
            "candidates": {slot: {"provider": p, "model": m} for slot, (p, m) in self.asked.items()},
            "known": not self.missing,
        }
        if self.missing:
            return {**found, "missing": list(self.missing)}
        found["admitted"] = self.admitted
        if self.failed:
            found["failed"] = failed_dicts(self.failed)
        if self.clash:
            found["clash"] = [constraint.id for constraint in self.clash]
        if self.picks is not None:
            found["picks"] = {slot: candidate.to_dict() for slot, candidate in self.picks.items()}
            found["score"] = self.score
        if self.pick_score is not None:
            found["pickScore"] = self.pick_score
        if self.decided_by is not None:
            found["decidedBy"] = self.decided_by
        if self.slot is not None:
            found["slot"] = self.slot
        return found


def contrast_of(solved: JointSolved, asked: Mapping[str, tuple[str, str]]) -> BundleContrast:
    """Why these candidates are not picked for these slots."""
    numbers = {slot: solved.catalog.number_of(*pair) for slot, pair in asked.items()}
    missing = tuple(slot for slot, number in numbers.items() if number is None)
    top = None if solved.best.numbers is None else ranked_bundle(solved, solved.best.numbers, solved.best.proved)
    pick_score = None if top is None else top.score
    if missing:
        return BundleContrast(asked, missing, pick_score=pick_score)
    fixed = {solved.names.index(slot): number for slot, number in numbers.items() if number is not None}
    failed = tuple(failures_of(solved, fixed))
    if failed:
        return BundleContrast(asked, failed=failed, pick_score=pick_score)
    members = [1 << fixed[slot] if slot in fixed else each.survivors for slot, each in enumerate(solved.slots)]
    found = None
    if all(members):
        ranked = [ranked_of(each, one) for each, one in zip(solved.slots, members, strict=True)]
        rows = [each.numbers for each in ranked]
        found = best(rows, costs_of(ranked), solved.compiled, solved.limit.budget())
    if found is None or found.numbers is None:
        clash: tuple[JointConstraint, ...] = ()
        clashes = Clashes(solved, fixed)
        everything = range(len(solved.constraints))
        if not clashes.satisfiable(everything):
            clash = tuple(solved.constraints[index] for index in clashes.one_core())
        return BundleContrast(asked, clash=clash, pick_score=pick_score)
    with_them = ranked_bundle(solved, found.numbers, found.proved)
    decided: DecidedBy | None = None
    slot = None
    if top is not None and found.numbers != solved.best.numbers and solved.best.numbers is not None:
        if top.fallbacks != with_them.fallbacks:
            decided = "fallback"
        elif top.hints != with_them.hints:
            decided = "hint"
        elif top.score != with_them.score:
            decided = "score"
        else:
            decided = "slot"
            pairs = zip(solved.names, solved.best.numbers, found.numbers, strict=True)
            slot = next(name for name, one, other in pairs if one != other)
    return BundleContrast(
        asked,
        picks=with_them.picks,
        score=with_them.score,
        pick_score=pick_score,
        decided_by=decided,
        slot=slot,
    )
