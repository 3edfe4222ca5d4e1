"""Why a bundle came out as it did: what clashes between which slots, and what would have to change."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

from ..catalog.catalog import Candidate, Catalog
from ..constraints.named import NamedConstraint
from ..errors import Reason
from ..explanations import Limits, reasons_of
from ..explanations.failures import unknowns
from ..explanations.found import Conflicts
from ..explanations.relaxations import BundleRelaxation, DeadEnd, Moves
from ..explanations.relaxing import failing_exactly, nearest_among, relax
from ..model.provider import SetupFailure
from ..solving.joint import BundleShadow, JointConstraint, JointSolved
from .clashes import Clashes
from .contrast import BundleContrast, contrast_of
from .failing import NearBundle, failures_of
from .ranking import RankedBundle, ranked_bundle
from .sentences import clash_sentence

__all__ = ["BundleExplanation", "SlotUnknown", "reasons_of_bundle"]

Sets = tuple[tuple[JointConstraint, ...], ...]

_RANKED = 5
"""How many bundles a ranking has, unless a limit asks for fewer: each costs a few searches."""


@dataclass(frozen=True, slots=True)
class SlotUnknown:
    """A fact about a candidate that nobody supplied, and that a constraint of a slot or a tie asks for.

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
class BundleExplanation:
    """Why a bundle came out as it did; everything is computed when it is read.

    Attributes:
        solved: The request, compiled and solved.
        why_not: For some slots, a (provider id, model name) that is asked about.
        limits: How much of each list is made.
    """

    solved: JointSolved = field(repr=False)
    why_not: Mapping[str, tuple[str, str]] | None = None
    limits: Limits = field(default_factory=Limits)

    def __reduce__(self) -> tuple[Any, ...]:
        # A live provider may hold connections and locks. What was read is computed again where it is asked for.
        declared = [slot.declared() for slot in self.solved.slots]
        catalog = declared[0].catalog
        shared = tuple(replace(each, catalog=catalog).again(each.capability, each.policy) for each in declared)
        solved = replace(self.solved, slots=shared, catalog=catalog)
        return BundleExplanation, (solved, self.why_not, self.limits)

    @property
    def catalog(self) -> Catalog:
        """The candidates."""
        return self.solved.catalog

    @property
    def constraints(self) -> tuple[JointConstraint, ...]:
        """Every constraint: those of each slot, what ties the slots, the policy's clauses, the rules."""
        return self.solved.constraints

    @property
    def setup_failures(self) -> tuple[SetupFailure, ...]:
        """Registered providers that were no candidates because they could not be set up."""
        return self.solved.setup_failures

    @property
    def satisfiable(self) -> bool:
        """Whether there is a bundle."""
        return self.solved.best.numbers is not None

    @property
    def proved(self) -> bool:
        """Whether all that is said was proved; no when a search ended at its limit."""
        return self.solved.best.proved and (self.satisfiable or not self._clashes.undecided)

    @property
    def shadow(self) -> BundleShadow | None:
        """What enforcing the rules that are only tried out would give; None when none is in force."""
        return self.solved.shadow

    # When nothing qualifies.

    @cached_property
    def _clashes(self) -> Clashes:
        return Clashes(self.solved)

    @cached_property
    def _conflicts(self) -> Conflicts[int]:
        if self.satisfiable or not self.solved.best.proved:
            return Conflicts()
        return self._clashes.conflicts(self.limits.cores, self.limits.corrections)

    @cached_property
    def core(self) -> tuple[JointConstraint, ...]:
        """One minimal set of constraints that can't be satisfied together, found fast; empty when there is a bundle."""
        if self.satisfiable or not self.solved.best.proved:
            return ()
        return self._named(self._clashes.one_core())

    @cached_property
    def cores(self) -> Sets:
        """The minimal sets of constraints that no bundle satisfies together, smallest first."""
        return tuple(map(self._named, self._conflicts.cores.sets))

    @cached_property
    def corrections(self) -> Sets:
        """The minimal sets of constraints without which there is a bundle, smallest first."""
        return tuple(map(self._named, self._conflicts.corrections.sets))

    def _named(self, indices: Sequence[int]) -> tuple[JointConstraint, ...]:
        return tuple(self.constraints[index] for index in indices)

    @cached_property
    def _nearest(self) -> tuple[tuple[tuple[int, ...], tuple[int, ...] | None], ...]:
        """The first corrections, each with the best bundle that fails exactly its constraints, if it was found."""
        sets = self._conflicts.corrections.sets[: self.limits.relaxations]
        return tuple(
            (each, nearest_among(self.solved, each, failing_exactly(self.solved, each)).numbers) for each in sets
        )

    @cached_property
    def _ways(self) -> tuple[Moves | DeadEnd, ...]:
        return tuple(relax(self.solved, correction, numbers) for correction, numbers in self._nearest)

    @property
    def relaxations(self) -> tuple[BundleRelaxation, ...]:
        """For every correction the edits it takes, solved again, with the picks that they lead to."""
        return tuple(each for each in self._ways if isinstance(each, BundleRelaxation))

    @property
    def dead_ends(self) -> tuple[DeadEnd, ...]:
        """The corrections that no edits carry out, each with why."""
        return tuple(each for each in self._ways if isinstance(each, DeadEnd))

    @cached_property
    def near_misses(self) -> tuple[NearBundle, ...]:
        """For every correction, the smallest first, the best bundle that fails exactly its constraints."""
        found = [numbers for _, numbers in self._nearest if numbers is not None]
        return tuple(map(self._near, found[: self.limits.near_misses]))

    def _near(self, numbers: Sequence[int]) -> NearBundle:
        return NearBundle(self.solved.picks(numbers), tuple(failures_of(self.solved, dict(enumerate(numbers)))))

    @property
    def truncated(self) -> tuple[str, ...]:
        """Which of cores, corrections and relaxations a limit cut short."""
        return self._conflicts.truncated(self.limits.relaxations)

    @cached_property
    def clash(self) -> str:
        """The first core in plain words: which slots and ties clash, and through which candidates."""
        core = self.core
        return clash_sentence(self.solved, core)

    @cached_property
    def unknowns(self) -> tuple[SlotUnknown, ...]:
        """Facts that nobody supplied and that stand in the way, of each slot in turn, then of the ties."""
        return tuple(islice(_unknowns(self.solved, self.limits.unknowns), self.limits.unknowns))

    # Always.

    @cached_property
    def contrast(self) -> BundleContrast | None:
        """Why the candidates of `why_not` are not picked; None when none were asked about."""
        return None if not self.why_not else contrast_of(self.solved, self.why_not)

    @cached_property
    def ranking(self) -> tuple[RankedBundle, ...]:
        """The first few bundles, best first; empty when there is none."""
        count = _RANKED if self.limits.ranking is None else min(self.limits.ranking, _RANKED)
        return tuple(ranked_bundle(self.solved, *each) for each in islice(self.solved.in_order(), count))

    def to_dict(self) -> dict[str, Any]:
        """The explanation as it goes over the wire."""
        found: dict[str, Any] = {
            "satisfiable": self.satisfiable,
            "proved": self.proved,
            "constraints": [self._constraint(constraint) for constraint in self.constraints],
            "cores": [[constraint.id for constraint in core] for core in self.cores],
            "corrections": [[constraint.id for constraint in each] for each in self.corrections],
        }
        if self.truncated:
            found["truncated"] = list(self.truncated)
        found["relaxations"] = [relaxation.to_dict() for relaxation in self.relaxations]
        if self.dead_ends:
            found["deadEnds"] = [each.to_dict() for each in self.dead_ends]
        found["unknowns"] = [unknown.to_dict() for unknown in self.unknowns]
        found["nearMisses"] = [miss.to_dict() for miss in self.near_misses]
        if self.satisfiable:
            found["ranking"] = [ranked.to_dict() for ranked in self.ranking]
        elif self.core:
            found["clash"] = self.clash
        found["proved"] = self.proved  # the lists above may have asked what was too hard
        if self.contrast is not None:
            found["contrast"] = self.contrast.to_dict()
        return found

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def _constraint(self, constraint: JointConstraint) -> dict[str, Any]:
        found: dict[str, Any] = {"id": constraint.id, "label": constraint.label, "owner": constraint.owner}
        if constraint.contact is not None:
            found["contact"] = constraint.contact
        if constraint.because is not None:
            found["because"] = constraint.because
        if constraint.origins:
            found["origins"] = [
                {"file": each.file, "line": each.line, "column": each.column} for each in constraint.origins
            ]
        found["slots"] = [self.solved.names[slot] for slot in constraint.slots]
        if constraint.tie is None:
            admitted = self.catalog.all()
            for named in constraint.named.values():
                admitted &= named.admitted
            found |= {"admitted": admitted.bit_count(), "rejected": self.catalog.size - admitted.bit_count()}
        return found


def reasons_of_bundle(solved: JointSolved) -> tuple[Reason, ...]:
    """For each constraint that rejects a candidate, in order, whom it admits and whom it rejects, with why.

    The requirement of a slot's own constraint begins with the slot's name and a colon.
    """
    constraints = [
        (constraint, named) for constraint in solved.constraints for named in _distinct(constraint) if named.rejected
    ]
    reasons = reasons_of([named for _, named in constraints], solved.catalog, solved.setup_failures)
    told: list[Reason] = []
    for place, reason in enumerate(reasons):
        if place < len(constraints) and constraints[place][0].owner == "caller":
            slot = solved.names[constraints[place][0].slots[0]]
            reason = replace(reason, requirement=f"{slot}: {reason.requirement}")  # noqa: PLW2901
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
