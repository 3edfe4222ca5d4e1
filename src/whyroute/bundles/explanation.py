"""Why a bundle came out as it did: what clashes between which slots, and what would have to change."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from ..basics.computed import computed
from ..catalog.candidate import Candidate
from ..constraints.named import NamedConstraint
from ..errors import Reason
from ..explanations import reasons_of
from ..explanations.explained import Explained, constraint_dict
from ..explanations.failures import unknowns
from ..explanations.found import Conflicts
from ..explanations.hints import UnmetHint, unmet_hints_of_bundle
from ..explanations.relaxations import BundleRelaxation
from ..solving.joint import JointConstraint, JointSolved
from .clashes import Clashes
from .contrast import BundleContrast, contrast_of
from .failing import NearBundle, failures_of
from .ranking import RankedBundle, ranked_bundle
from .sentences import clash_sentence

__all__ = ["BundleExplanation", "SlotUnknown", "reasons_of_bundle"]

_RANKED = 5
"""How many bundles a ranking has, unless a limit asks for fewer: each costs a few searches."""


@dataclass(frozen=True, slots=True)
class SlotUnknown:
    """An unknown fact about a candidate, which a constraint of a slot or a tie asks for.

    Attributes:
        slot: The name of the slot.
        candidate: The candidate.
        field: The fact.
        constraint: The id of the constraint that rejects it for want of the fact.
        also: The ids of the other constraints of the slot that reject it.
    """

    slot: str
    candidate: Candidate
    field: str
    constraint: str
    also: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The unknown as it goes over the wire."""
        return {
            "slot": self.slot,
            "candidate": self.candidate.to_dict(),
            "field": self.field,
            "constraint": self.constraint,
            "also": list(self.also),
        }


@dataclass(frozen=True)
class BundleExplanation(Explained[JointSolved, Mapping[str, tuple[str, str]], JointConstraint, BundleRelaxation]):
    """Why a bundle came out as it did: what `Explained` says, and more.

    Asked about is a (provider id, model name) for some slots.
    """

    @property
    def constraints(self) -> tuple[JointConstraint, ...]:
        """Every constraint: those of each slot, what ties the slots, the policy's clauses, the rules."""
        return self.solved.constraints

    @computed
    def hints(self) -> tuple[UnmetHint, ...]:
        """The hints that the picks don't follow, slot by slot; all of them when there is no bundle."""
        return unmet_hints_of_bundle(self.solved)

    @property
    def satisfiable(self) -> bool:
        """Whether there is a bundle."""
        return self.solved.best.numbers is not None

    @property
    def proved(self) -> bool:
        """Whether all that is said was proved; no when a search ended at its limit."""
        if self.satisfiable or not self.solved.best.proved:
            return self.solved.best.proved
        asked = self._conflicts, self.core  # either may ask what is too hard to prove
        return bool(asked) and not self._clashes.undecided

    # When nothing qualifies.

    @computed
    def _clashes(self) -> Clashes:
        return Clashes(self.solved)

    @computed
    def _conflicts(self) -> Conflicts[int]:
        if self.satisfiable or not self.solved.best.proved:
            return Conflicts()
        return self._clashes.conflicts(self.limits.cores, self.limits.corrections)

    @computed
    def core(self) -> tuple[JointConstraint, ...]:
        """One minimal set of constraints that can't be satisfied together, found fast; empty when there is a bundle."""
        if self.satisfiable or not self.solved.best.proved:
            return ()
        return self._named([self._clashes.one_core()])[0]

    @property
    def _joint(self) -> JointSolved:
        return self.solved

    @computed
    def near_misses(self) -> tuple[NearBundle, ...]:
        """For every correction, the smallest first, the best bundle that fails exactly its constraints."""
        found = [nearest.numbers for nearest in self._nearest if nearest.numbers is not None]
        return tuple(map(self._near, found[: self.limits.near_misses]))

    def _near(self, numbers: Sequence[int]) -> NearBundle:
        return NearBundle(self.solved.picks(numbers), tuple(failures_of(self.solved, dict(enumerate(numbers)))))

    @computed
    def clash(self) -> str:
        """The first core in plain words: which slots and ties clash, and through which candidates."""
        core = self.core
        return clash_sentence(self.solved, core)

    @computed
    def unknowns(self) -> tuple[SlotUnknown, ...]:
        """Unknown facts that stand in the way, of each slot in turn, then of the ties."""
        return tuple(islice(_unknowns(self.solved, self.limits.unknowns), self.limits.unknowns))

    # Always.

    @computed
    def contrast(self) -> BundleContrast | None:
        """Why the candidates of `why_not` are not picked; None when none were asked about."""
        return None if not self.why_not else contrast_of(self.solved, self.why_not)

    @computed
    def ranking(self) -> tuple[RankedBundle, ...]:
        """The first few bundles, best first; empty when there is none."""
        count = _RANKED if self.limits.ranking is None else min(self.limits.ranking, _RANKED)
        return tuple(ranked_bundle(self.solved, *each) for each in islice(self.solved.in_order(), count))

    def _first_members(self) -> Iterator[tuple[str, Any]]:
        yield "proved", self.proved
        yield "constraints", [self._constraint(constraint) for constraint in self.constraints]

    def _last_members(self) -> Iterator[tuple[str, Any]]:
        yield "unknowns", (unknown.to_dict() for unknown in self.unknowns)
        yield "nearMisses", (miss.to_dict() for miss in self.near_misses)
        if self.satisfiable:
            yield "ranking", (ranked.to_dict() for ranked in self.ranking)
        elif self.core:
            yield "clash", self.clash
        if self.contrast is not None:
            yield "contrast", self.contrast.to_dict()

    def _constraint(self, constraint: JointConstraint) -> dict[str, Any]:
        found = {**constraint_dict(constraint), "slots": [self.solved.names[slot] for slot in constraint.slots]}
        if constraint.tie is None:
            admitted = self.catalog.all()
            for named in constraint.named.values():
                admitted &= named.admitted
            found |= {"admitted": admitted.bit_count(), "rejected": self.catalog.size - admitted.bit_count()}
        return found


def reasons_of_bundle(solved: JointSolved) -> tuple[Reason, ...]:
    """For each constraint that rejects a candidate, in order, which candidates it admits and rejects, with why.

    The requirement of a slot's own constraint begins with the slot's name and a colon, as its id does.
    """
    constraints = [
        (constraint, named) for constraint in solved.constraints for named in _distinct(constraint) if named.rejected
    ]
    reasons = reasons_of([named for _, named in constraints], solved.catalog, solved.setup_failures)
    told: list[Reason] = []
    for place, reason in enumerate(reasons):
        if place < len(constraints) and constraints[place][0].owner == "caller":
            constraint = constraints[place][0]
            requirement = f"{solved.names[constraint.slots[0]]}: {reason.requirement}"
            reason = replace(reason, requirement=requirement, constraint=constraint.id)  # noqa: PLW2901
        told.append(reason)
    return tuple(told)


def _distinct(constraint: JointConstraint) -> list[NamedConstraint]:
    """What a constraint is in the slots, each once: a rule may be lifted or weigh differently from slot to slot."""
    found: list[NamedConstraint] = []
    for named in constraint.named.values():
        if all(named.admitted != other.admitted for other in found):
            found.append(named)
    return found


def _unknowns(solved: JointSolved, limit: int | None) -> Iterator[SlotUnknown]:
    if solved.best.numbers is not None:
        return
    for name, slot in zip(solved.names, solved.slots, strict=True):
        for each in unknowns(slot, limit):
            prefix = {constraint.id: _id(name, constraint) for constraint in (each.constraint, *each.also)}
            also = tuple(prefix[constraint.id] for constraint in each.also)
            yield SlotUnknown(name, each.candidate, each.field, prefix[each.constraint.id], also)
    for index, tie in enumerate(solved.ties):
        for name in tie.slots:
            slot = solved.slots[solved.names.index(name)]
            for candidate in solved.catalog.candidates(slot.survivors):
                if tie.values([candidate]) == [None] and (len(tie.slots) > 1 or tie.op is not None):
                    yield SlotUnknown(name, candidate, tie.field, f"together/{index}", ())


def _id(slot: str, constraint: NamedConstraint) -> str:
    return f"{slot}:{constraint.id}" if constraint.owner == "caller" else constraint.id
