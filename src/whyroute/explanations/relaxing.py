"""Corrections turned into edits for the picks that the fewest edits admit, and of these the best; solved again."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations
from operator import or_
from typing import Final, NamedTuple

from ..basics import bits
from ..catalog.catalog import Catalog
from ..constraints.named import NamedConstraint
from ..constraints.terms import FeatureTerm, KindTerm, ListTerm, RegionListTerm, Term
from ..model.regions import NO_REGIONS
from ..solving.combining import Best, best
from ..solving.joint import JointConstraint, JointSolved
from ..solving.ordering import costs_of, ranked_of
from ..solving.request import RequestTerms, Solved
from .edits import Draft, outermost
from .relaxations import BundleRelaxation, DeadEnd, Moves, Relaxation

__all__ = ["Nearest", "nearest_of", "relax"]

_OPENINGS: Final = 2_000
"""How many sets of names are tried to find fewer edits of the policy's lists."""

_SEARCHES: Final = 64
"""For how many of them a bundle is searched."""


class Nearest(NamedTuple):
    """What fails exactly a correction's constraints.

    Attributes:
        correction: Indices of the constraints, ascending; minimal, so that there are such picks.
        members: For each slot, the candidates that fail none but these constraints there.
        numbers: The best such picks of those that the fewest edits admit; None when the search found none in time.
    """

    correction: tuple[int, ...]
    members: list[int]
    numbers: tuple[int, ...] | None


def nearest_of(solved: JointSolved, correction: tuple[int, ...]) -> Nearest:
    """What fails exactly a correction's constraints, of a request that nothing satisfies."""
    members = [solved.catalog.all()] * len(solved.slots)
    for index, constraint in enumerate(solved.constraints):
        if index not in correction:
            for slot, named in constraint.named.items():
                members[slot] &= named.admitted
    return Nearest(correction, members, _best_among(solved, correction, members).numbers)


def relax(solved: JointSolved, nearest: Nearest) -> Moves | DeadEnd:
    """The relaxation of one correction, or why there is none.

    The edited request is solved again: the picks are what it answers.

    Args:
        solved: A request that nothing satisfies.
        nearest: What fails exactly the correction's constraints, and is to be admitted.
    """
    correction, members, numbers = nearest
    chosen = [solved.constraints[index] for index in correction]
    told = tuple(each.first for each in chosen) if solved.alone else tuple(chosen)
    lifted = {constraint.id for constraint in chosen if constraint.owner == "rule"}
    by = dict[str, None]()
    admissible: list[int] = []
    for slot, each in enumerate(solved.slots):
        own = [constraint.named[slot] for constraint in chosen if slot in constraint.named]
        left, rules = _editable(each, own, lifted, members[slot])
        admissible.append(left)
        by |= dict.fromkeys(rules)
    if admissible != members:
        found = _best_among(solved, correction, admissible)
        numbers = found.numbers
        if numbers is None and found.proved:
            return DeadEnd(told, "rules" if by else "kind", tuple(by))
    if numbers is None:
        return DeadEnd(told, "search-limit")
    draft = Draft(solved, numbers)
    for constraint in chosen:
        draft.admit(constraint)
    again = draft.solve()
    if again.best.numbers is None:
        if not again.best.proved:
            return DeadEnd(told, "search-limit")
        raise RuntimeError(f"the edits {draft.operations()} admit nothing, though {numbers} was to be admitted")
    made = Relaxation if solved.alone else BundleRelaxation
    return made(told, tuple(draft.edits), tuple(draft.operations()), again.picks(again.best.numbers))


def _editable(
    solved: Solved, chosen: Collection[NamedConstraint], lifted: Collection[str], members: int
) -> tuple[int, tuple[str, ...]]:
    """The candidates of a set that qualify once the request is edited for them, and the rules that stop others then.

    A declaration can't ask for a kind without a name; and other rules may apply to another kind, or without a feature.

    Args:
        solved: The request.
        chosen: The constraints that are edited.
        lifted: The ids of the rules that are lifted.
        members: Candidates that fail none but `chosen`.
    """
    catalog, capability = solved.catalog, solved.capability
    new_kind = any(isinstance(constraint.term, KindTerm) for constraint in chosen)
    if new_kind:
        members &= ~catalog.of_kind("")
    dropped = {constraint.id for constraint in chosen if isinstance(constraint.term, FeatureTerm)}
    if solved.situation is None or not (new_kind or dropped):
        return members, ()
    needs = tuple(need for index, need in enumerate(capability.needs) if f"needs/{index}" not in dropped)
    groups = {capability.kind: members}
    if new_kind:
        kinds = dict.fromkeys(candidate.metadata.capability_kind for candidate in catalog.candidates(members))
        groups = {kind: members & catalog.of_kind(kind) for kind in kinds}
    found, by = 0, dict[str, None]()
    for kind, group in groups.items():
        edited = capability.model_copy(update={"kind": kind, "needs": needs})
        for term in RequestTerms(edited, solved.policy, solved.situation).rule_terms(solved.at):
            admitted = term.admitted(catalog)
            if term.id not in lifted and group & ~admitted:
                by[term.id] = None
                group &= admitted  # noqa: PLW2901
        found |= group
    return found, tuple(by)


def _best_among(solved: JointSolved, correction: Sequence[int], members: Sequence[int]) -> Best:
    """The best picks that the fewest edits of a correction's constraints admit, as far as that can be tried out.

    Args:
        solved: The request.
        correction: Indices of the constraints. The other ones hold.
        members: For each slot, candidates that fail none but these.
    """
    chosen = [solved.constraints[index] for index in correction]
    if not all(members):
        return Best(None, True)
    levels = [_levels(chosen, slot, own) for slot, own in enumerate(members)]
    if solved.alone:
        fewest = next(filter(None, levels[0]))
        return Best((solved.slots[0].ranked(fewest).best(),), True)
    ties = {each.tie for index, each in enumerate(solved.constraints) if index not in correction}
    return _Failing(solved, chosen, ties, members, levels).nearest()


def _levels(chosen: Iterable[JointConstraint], slot: int, members: int) -> list[int]:
    """Candidates of a slot in sets: those that take one edit of each constraint, those that take one more, and so on.

    It takes two edits of a need whose deny list has a name that its allow list has not.
    """
    levels = [members]
    for constraint in chosen:
        if constraint.owner != "caller" or slot not in constraint.named:
            continue
        named = constraint.named[slot]
        both = _two_edits(named.term, named.catalog)
        split = [0] * (len(levels) + 1)
        for extra, level in enumerate(levels):
            split[extra] |= level & ~both
            split[extra + 1] |= level & both
        levels = split
    return levels


def _two_edits(term: Term, catalog: Catalog) -> int:
    """The candidates that take two edits of one need: off its deny list, and on its allow list."""
    if not isinstance(term, ListTerm) or not term.deny or term.allow is None:
        return 0
    allowed = set(term.allow)
    neither = tuple(name for name in term.deny if name not in allowed)
    return catalog.all() & ~ListTerm(term.subject, None, neither).admitted(catalog)


class _Failing:
    """The bundles that fail exactly a correction's constraints, in the order of how many edits admit them.

    Each constraint takes one edit, but for a need whose deny and allow list both stop a pick, and for a list of the
    policy, which takes one for each name that it lets through then.
    """

    def __init__(
        self,
        solved: JointSolved,
        chosen: Sequence[JointConstraint],
        ties: Collection[int | None],
        members: Sequence[int],
        levels: Sequence[Sequence[int]],
    ) -> None:
        self.solved = solved
        self.members = members
        self.ranked = [ranked_of(each, own) for each, own in zip(solved.slots, members, strict=True)]
        self.ties = [tie for index, tie in enumerate(solved.compiled) if index in ties]
        policy = [each.named[each.slots[0]] for each in chosen if each.owner == "policy"]
        self.lists = [each for each in policy if isinstance(each.term, ListTerm | RegionListTerm)]
        self.budget = solved.limit.budget()
        costs = costs_of(self.ranked)
        self.edit = 1 + sum(map(max, costs))  # one more edit weighs more than everything else
        self.costs: list[list[int]] = []
        for own, row, sets in zip(self.ranked, costs, levels, strict=True):
            more = {number: extra for extra, level in enumerate(sets) for number in bits.positions(level)}
            self.costs.append([cost + more[number] * self.edit for cost, number in zip(row, own.numbers, strict=True)])

    def nearest(self) -> Best:
        """The best of those that the fewest edits admit, as far as that can be tried out."""
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
