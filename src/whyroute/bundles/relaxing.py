"""Relaxations of bundles: corrections turned into edits of the request, solved again, with the picks they lead to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isfinite, nextafter
from typing import Any

from ..basics import bits
from ..basics.issues import shown
from ..basics.numbers import Number, as_double, exact, wire_number
from ..catalog.catalog import Candidate
from ..constraints.terms import ContextWindowTerm, ListTerm, PriceTerm
from ..explanations.relaxations import Draft, Edit, Moves, Operation
from ..model.policy import TenantPolicy
from .joint import best
from .ordering import costs_of, ranked_of
from .solving import JointConstraint, JointSolved
from .ties import Tie

__all__ = ["BundleRelaxation", "failing_exactly", "relax_bundle"]


@dataclass(frozen=True, slots=True)
class BundleRelaxation(Moves):
    """A correction as edits of the request, and the picks that the edited request leads to.

    Attributes:
        correction: The constraints that change, in constraint order.
        texts: What to do, in plain words, one sentence an edit.
        patch: The edits as a JSON Patch (RFC 6902) of the wire request; a copy that refuses changes.
        picks: The candidate of each slot that the patched request picks.
        offered: Whether it may be proposed to a person at all.
    """

    correction: tuple[JointConstraint, ...]
    texts: tuple[str, ...]
    patch: tuple[Operation, ...]
    picks: Mapping[str, Candidate]
    offered: bool = True

    @property
    def text(self) -> str:
        """What to do, in plain words."""
        return "; ".join(self.texts)

    def to_dict(self) -> dict[str, Any]:
        """The relaxation as it goes over the wire."""
        return self._document(picks={name: candidate.to_dict() for name, candidate in self.picks.items()})


def failing_exactly(solved: JointSolved, correction: Sequence[int]) -> tuple[int, ...] | None:
    """The best bundle that fails exactly a correction's constraints; None when the search ended before it found one.

    Of such bundles it is one whose needs take the fewest edits, and of these the best.
    """
    dropped = set(correction)
    extra: list[list[int]] = []
    ranked = []
    for slot, each in enumerate(solved.slots):
        members = solved.catalog.all()
        edits = [0] * solved.catalog.size
        for index, constraint in enumerate(solved.constraints):
            named = constraint.named.get(slot)
            if named is None:
                continue
            if index not in dropped:
                members &= named.admitted
            elif isinstance(named.term, ListTerm) and named.term.deny and named.term.allow is not None:
                # Off the one list and on the other: two edits for one need.
                allowed = set(named.term.allow)
                neither = tuple(name for name in named.term.deny if name not in allowed)
                for number in bits.positions(ListTerm(named.term.subject, neither, None).admitted(solved.catalog)):
                    edits[number] += 1
        own = ranked_of(each, members)
        ranked.append(own)
        extra.append([edits[number] for number in own.numbers])
    if not all(own.numbers for own in ranked):
        return None
    kept = {constraint.tie for index, constraint in enumerate(solved.constraints) if index not in dropped}
    ties = [tie for index, tie in enumerate(solved.compiled) if index in kept]
    costs = costs_of(ranked, extra if any(map(any, extra)) else None)
    return best([own.numbers for own in ranked], costs, ties, solved.limit.budget()).numbers


def relax_bundle(solved: JointSolved, correction: Sequence[int], numbers: Sequence[int]) -> BundleRelaxation | None:
    """The relaxation of one correction that admits a bundle; None when the edited request picks nothing.

    That may be when other rules apply to it. The edited request is solved again: the picks are what it answers.

    Args:
        solved: A request that nothing satisfies.
        correction: Indices of the constraints, ascending.
        numbers: The bundle: it fails these constraints and no others.
    """
    chosen = [solved.constraints[index] for index in correction]
    editing = _Editing(solved, numbers)
    for constraint in chosen:
        editing.admit(constraint)
    again = solved.again(editing.capabilities(), editing.policy, editing.kept_ties(), editing.lifted)
    found = again.best.numbers
    if found is None:
        return None
    offered = all(constraint.waivable for constraint in chosen if constraint.owner == "rule")
    return BundleRelaxation(
        tuple(chosen), tuple(editing.texts), tuple(editing.operations()), again.picks(found), offered
    )


class _Editing:
    """A request for a bundle under edit: its parts, and the same edits as a JSON Patch."""

    def __init__(self, solved: JointSolved, numbers: Sequence[int]) -> None:
        self.solved = solved
        self.candidates = [solved.catalog.candidate(number) for number in numbers]
        self.numbers = numbers
        self.drafts = [Draft(each.capability, each.policy) for each in solved.slots]
        self.policy: TenantPolicy | None = solved.policy
        self.shared: list[Operation] = []
        self.ties: list[Tie | None] = list(solved.ties)
        self.tie_changes: list[Operation] = []
        self.lifted: list[str] = []
        self.texts: list[str] = []

    def admit(self, constraint: JointConstraint) -> None:
        """Edit the request so that one constraint admits the bundle."""
        if constraint.tie is not None:
            self._loosen(constraint.tie)
        elif constraint.owner == "caller":
            (slot,) = constraint.slots
            edit = self.drafts[slot].admit(constraint.named[slot], self.candidates[slot])
            self.texts.append(f"in slot {shown(self.solved.names[slot])}, {edit.text}")
        elif constraint.owner == "rule":
            self._lift(constraint)
        else:
            self._admit_clause(constraint)

    def _lift(self, constraint: JointConstraint) -> None:
        assert constraint.first is not None  # only a tie has none
        draft = Draft(self.drafts[0].capability, self.policy)
        self.texts.append(draft.admit(constraint.first, self.candidates[0]).text)
        self.lifted += draft.lifted

    def _admit_clause(self, constraint: JointConstraint) -> None:
        """One pick after the other, as long as the clause stops one; of a cap, the pick that it stops most."""
        assert constraint.first is not None  # only a tie has none
        order = list(range(len(self.candidates)))
        if isinstance(constraint.first.term, PriceTerm):
            order.sort(key=lambda slot: -self.candidates[slot].model.cost.prompt_usd_per_1k_tokens)
        elif isinstance(constraint.first.term, ContextWindowTerm):
            order.sort(key=lambda slot: self.candidates[slot].model.context_window)
        for slot in order:
            if constraint.named[slot].admitted >> self.numbers[slot] & 1 or not self._stops(constraint.id, slot):
                continue
            draft = Draft(self.drafts[slot].capability, self.policy)
            edit: Edit = draft.admit(constraint.named[slot], self.candidates[slot])
            self.policy = draft.policy
            self.shared += draft.changes
            self.texts.append(edit.text)

    def _stops(self, clause: str, slot: int) -> bool:
        """Whether a clause, as it stands now, still stops a pick."""
        solved = self.solved.slots[slot]
        constraints = solved.again(solved.capability, self.policy).constraints
        return any(each.id == clause and not each.admitted >> self.numbers[slot] & 1 for each in constraints)

    def _loosen(self, index: int) -> None:
        tie = self.solved.ties[index]
        total = None
        if tie.op is not None:
            total = tie.total([self.candidates[self.solved.names.index(name)] for name in tie.slots])
        what = f"{shown(tie.label)} (together/{index})"
        value = None if total is None else _bounding(tie.op or "<=", total)
        if value is None:
            self.ties[index] = None
            why = "something of the picks is not known" if total is None else "no double is a bound that the picks meet"
            self.texts.append(f"do without {what}" + (f": {why}" if tie.op is not None else ""))
            return
        op = {"<": "<=", ">": ">="}.get(tie.op or "<=", tie.op)
        self.ties[index] = loosened = replace(tie, op=op, value=value)
        if op != tie.op:
            self.tie_changes.append({"op": "replace", "path": f"/together/{index}/op", "value": op})
        if value != tie.value:
            self.tie_changes.append({"op": "replace", "path": f"/together/{index}/value", "value": value})
        self.texts.append(f"ask for {shown(loosened.label)} instead of {what}")

    def capabilities(self) -> list[Any]:
        return [draft.edited_capability() for draft in self.drafts]

    def kept_ties(self) -> tuple[Tie, ...]:
        return tuple(tie for tie in self.ties if tie is not None)

    def operations(self) -> list[Operation]:
        """The edits as a patch; what is removed from a list goes last, and from the highest index down."""
        found: list[Operation] = []
        removals: list[Operation] = []
        for name, draft, solved in zip(self.solved.names, self.drafts, self.solved.slots, strict=True):
            base = "/slots/" + name.replace("~", "~0").replace("/", "~1")
            for operation in draft.operations(solved):
                moved = {**operation, "path": base + operation["path"]}
                (removals if operation["op"] == "remove" and operation not in draft.changes else found).append(moved)
        found += self.shared + self.tie_changes + removals
        found += [
            {"op": "remove", "path": f"/together/{index}"}
            for index in range(len(self.ties) - 1, -1, -1)
            if self.ties[index] is None
        ]
        lifting = Draft(self.drafts[0].capability, self.policy, lifted=self.lifted)
        return [*found, *lifting.operations(self.solved.slots[0])]


def _bounding(op: str, total: Fraction) -> Number | None:
    """A total as a bound that a double can hold, rounded to the side on which the total still meets it.

    None where there is no such double: past the largest one, and for a bound that is to be equal and can't be.
    """
    value = wire_number(total)
    if op in ("<=", "<") and exact(value) < total:
        value = nextafter(value, inf)
    elif op in (">=", ">") and exact(value) > total:
        value = nextafter(value, -inf)
    elif op == "=" and exact(value) != total:
        return None
    return as_double(value) if isfinite(value) else None
