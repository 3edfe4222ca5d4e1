"""Relaxations of bundles: corrections turned into edits of the request, solved again, with the picks they lead to."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import inf, isfinite, nextafter
from operator import or_
from typing import Any, Final

from ..basics import bits
from ..basics.issues import shown
from ..basics.numbers import Number, as_double, exact, wire_number
from ..catalog.catalog import Candidate
from ..constraints.named import NamedConstraint
from ..constraints.terms import ListTerm, RegionListTerm
from ..explanations.edits import Draft, Operation, outermost
from ..explanations.relaxations import DeadEnd, Moves, editable, two_edits
from ..model.regions import NO_REGIONS
from ..solving.combining import Best, best
from ..solving.joint import JointConstraint, JointSolved
from ..solving.ordering import costs_of, ranked_of
from ..solving.ties import Tie

__all__ = ["BundleRelaxation", "failing_exactly", "relax_bundle"]

_OPENINGS: Final = 2_000
"""How many sets of names are tried to find fewer edits of the policy's lists."""

_SEARCHES: Final = 64
"""For how many of them a bundle is searched."""


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

    Of such bundles it is one that the fewest edits admit, and of these the best.
    """
    return _Failing(solved, correction, _members(solved, correction)).nearest().numbers


def relax_bundle(
    solved: JointSolved, correction: Sequence[int], nearest: Sequence[int] | None
) -> BundleRelaxation | DeadEnd:
    """The relaxation of one correction, or why there is none.

    It admits a bundle that fails exactly the correction's constraints: one that the fewest edits admit, and of these
    the best. The edited request is solved again: the picks are what it answers.

    Args:
        solved: A request that nothing satisfies.
        correction: Indices of the constraints, ascending; minimal, so that there are such bundles.
        nearest: What `failing_exactly` finds for it.
    """
    chosen = tuple(solved.constraints[index] for index in correction)
    lifted = {constraint.id for constraint in chosen if constraint.owner == "rule"}
    members, by, numbers = _members(solved, correction), dict[str, None](), nearest
    admissible: list[int] = []
    for slot, each in enumerate(solved.slots):
        own = [constraint.named[slot] for constraint in chosen if slot in constraint.named]
        left, rules = editable(each, own, lifted, members[slot])
        admissible.append(left)
        by |= dict.fromkeys(rules)
    if admissible != members:
        found = _Failing(solved, correction, admissible).nearest()
        numbers = found.numbers
        if numbers is None and found.proved:
            return DeadEnd(chosen, "rules" if by else "kind", tuple(by))
    if numbers is None:
        return DeadEnd(chosen, "search-limit")
    editing = _Editing(solved, numbers)
    for constraint in chosen:
        editing.admit(constraint)
    draft = editing.draft
    again = solved.again([slot.edited() for slot in draft.slots], draft.policy, editing.kept_ties(), draft.lifted)
    if again.best.numbers is None:
        if not again.best.proved:
            return DeadEnd(chosen, "search-limit")
        raise RuntimeError(f"the edits {draft.operations()} admit no bundle, though {numbers} was to be admitted")
    offered = all(constraint.waivable for constraint in chosen if constraint.owner == "rule")
    picks = again.picks(again.best.numbers)
    return BundleRelaxation(chosen, tuple(editing.texts), tuple(draft.operations()), picks, offered)


def _members(solved: JointSolved, correction: Sequence[int]) -> list[int]:
    """For each slot, the candidates that fail none but a correction's constraints there."""
    members = [solved.catalog.all()] * len(solved.slots)
    for index, constraint in enumerate(solved.constraints):
        if index not in correction:
            for slot, named in constraint.named.items():
                members[slot] &= named.admitted
    return members


class _Failing:
    """The bundles that fail exactly a correction's constraints, in the order of how many edits admit them.

    Each constraint takes one edit, but for a need whose deny and allow list both stop a pick, and for a list of the
    policy, which takes one for each name that it lets through then.
    """

    def __init__(self, solved: JointSolved, correction: Sequence[int], members: Sequence[int]) -> None:
        self.solved = solved
        self.members = members
        self.ranked = [ranked_of(each, own) for each, own in zip(solved.slots, members, strict=True)]
        kept = {each.tie for index, each in enumerate(solved.constraints) if index not in correction}
        self.ties = [tie for index, tie in enumerate(solved.compiled) if index in kept]
        chosen = [solved.constraints[index] for index in correction]
        policy = [each.named[each.slots[0]] for each in chosen if each.owner == "policy"]
        self.lists = [each for each in policy if isinstance(each.term, ListTerm | RegionListTerm)]
        self.budget = solved.limit.budget()
        self.costs: list[list[int]] = []
        self.edit = 1
        if all(slot.numbers for slot in self.ranked):
            costs = costs_of(self.ranked)
            self.edit += sum(map(max, costs))  # one more edit weighs more than everything else
            for slot, (own, row) in enumerate(zip(self.ranked, costs, strict=True)):
                edits = [0] * solved.catalog.size
                for each in chosen:
                    if each.owner == "caller" and slot in each.named:
                        for number in bits.positions(two_edits(each.named[slot].term, solved.catalog)):
                            edits[number] += 1
                self.costs.append(
                    [cost + edits[number] * self.edit for cost, number in zip(row, own.numbers, strict=True)]
                )

    def nearest(self) -> Best:
        """The best of those that the fewest edits admit, as far as that can be tried out."""
        if not self.costs:
            return Best(None, True)
        found = self._best(self.members)
        if found.numbers is None or not self.lists:
            return found
        least, total = found.cost, self._total(found.cost, found.numbers)
        tried = searched = 0
        pools = [self._names(each, _union(self.members)) for each in self.lists]
        size = len(self.lists)
        while least + size * self.edit < total:
            for opened in _openings([list(pool) for pool in pools], size):
                tried += 1
                rows = self._opened(pools, opened)
                searched += all(rows)
                if tried > _OPENINGS or searched > _SEARCHES:
                    return found
                other = self._best(rows) if all(rows) else None
                if other is not None and other.numbers is not None:
                    cost = self._total(other.cost, other.numbers)
                    if cost < total:
                        found, total = other, cost
            size += 1
        return found

    def _best(self, members: Sequence[int]) -> Best:
        rows, costs = [], []
        for own, slot, kept in zip(self.ranked, self.costs, members, strict=True):
            among = set(bits.positions(kept))
            places = [place for place, number in enumerate(own.numbers) if number in among]
            rows.append([own.numbers[place] for place in places])
            costs.append([slot[place] for place in places])
        return best(rows, costs, self.ties, self.budget)

    def _total(self, cost: int, numbers: Sequence[int]) -> int:
        picks = _union(1 << number for number in numbers)
        return cost + self.edit * sum(len(self._names(each, picks)) for each in self.lists)

    def _names(self, clause: NamedConstraint, members: int) -> dict[str, int]:
        """The names that a list of the policy has to let through for some candidates, and what each lets through."""
        catalog, term = self.solved.catalog, clause.term
        stopped = catalog.candidates(members & ~clause.admitted)
        if isinstance(term, ListTerm):
            if term.subject == "providers":
                return {each.metadata.id: catalog.of_provider(each.metadata.id) for each in stopped}
            return {each.model.name: catalog.of_model(each.model.name) for each in stopped}
        situation = self.solved.slots[0].situation
        groups = NO_REGIONS if situation is None else situation.context.regions
        names = dict.fromkeys(each.metadata.region for each in stopped)
        return {name: catalog.in_any_region(groups.meaning(name)) for name in outermost(names, groups)}

    def _opened(self, pools: Sequence[Mapping[str, int]], opened: Sequence[Sequence[str]]) -> list[int]:
        """For each slot, the candidates that are left when the lists let these names through."""
        rows = list(self.members)
        for clause, pool, names in zip(self.lists, pools, opened, strict=True):
            admitted = clause.admitted | _union(pool[name] for name in names)
            rows = [row & admitted for row in rows]
        return rows


def _union(members: Iterable[int]) -> int:
    return reduce(or_, members, 0)


def _openings(pools: Sequence[Sequence[str]], size: int) -> Iterator[tuple[tuple[str, ...], ...]]:
    """So many names in all, at least one of each pool."""
    if not pools:
        yield ()
        return
    first, *rest = pools
    for count in range(max(1, size - sum(map(len, rest))), min(len(first), size - len(rest)) + 1):
        for names in combinations(first, count):
            for others in _openings(rest, size - count):
                yield (names, *others)


class _Editing:
    """A request for a bundle under edit: the draft of its declarations, policy and rules, and its ties."""

    def __init__(self, solved: JointSolved, numbers: Sequence[int]) -> None:
        self.solved = solved
        self.numbers = numbers
        self.candidates = [solved.catalog.candidate(number) for number in numbers]
        paths = ["/slots/" + name.replace("~", "~0").replace("/", "~1") for name in solved.names]
        self.draft = Draft(solved.slots, [f"{path}/capability" for path in paths])
        self.ties: list[Tie | None] = list(solved.ties)
        self.texts: list[str] = []

    def admit(self, constraint: JointConstraint) -> None:
        """Edit the request so that one constraint admits the bundle."""
        if constraint.tie is not None:
            self._loosen(constraint.tie)
            return
        stopped = {
            slot: self.candidates[slot]
            for slot, named in constraint.named.items()
            if not named.admitted >> self.numbers[slot] & 1
        }
        if stopped:
            slot = next(iter(stopped))
            text = self.draft.admit(constraint.named[slot], stopped).text
            where = f"in slot {shown(self.solved.names[slot])}, " if constraint.owner == "caller" else ""
            self.texts.append(f"{where}{text}")

    def _loosen(self, index: int) -> None:
        tie = self.solved.ties[index]
        picks = [self.candidates[self.solved.names.index(name)] for name in tie.slots]
        if tie.holds(picks):
            return
        total = None if tie.op is None else tie.total(picks)
        what = f"{shown(tie.label)} (together/{index})"
        loosened = tie
        if total is not None:
            op = tie.op or "<="
            value = _bounding(op, total)
            if value is not None:
                loosened = replace(tie, op={"<": "<=", ">": ">="}.get(op, op), value=value)
        if not loosened.holds(picks):
            # There is no bound to move, something is not known, or no double is the sum.
            self.ties[index] = None
            self.draft.untied.append(index)
            why = "something of the picks is not known" if total is None else "no double is a bound that the picks meet"
            self.texts.append(f"do without {what}" + (f": {why}" if tie.op is not None else ""))
            return
        self.ties[index] = loosened
        for key, was, now in (("op", tie.op, loosened.op), ("value", tie.value, loosened.value)):
            if was != now:
                self.draft.changes.append({"op": "replace", "path": f"/together/{index}/{key}", "value": now})
        self.texts.append(f"ask for {shown(loosened.label)} instead of {what}")

    def kept_ties(self) -> tuple[Tie, ...]:
        return tuple(tie for tie in self.ties if tie is not None)


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
