"""A request for a bundle, compiled and solved: what bundles and their explanations are made from."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import Any

from ..basics import bits
from ..basics.computed import computed
from ..basics.issues import Issue, child, shown
from ..catalog.candidate import Candidate
from ..catalog.catalog import Catalog
from ..constraints.named import NamedConstraint, Origin, Owner
from ..engine.deadlines import check_time
from ..engine.joint import SearchBudget
from ..errors import InvalidRequestError
from ..model.capability import Capability
from ..model.policy import TenantPolicy
from ..model.provider import SetupFailure
from ..model.timestamps import Moment
from .asked import Provenance, asked_of_bundle
from .combining import Best, best
from .ordering import RankedSlot, costs_of, ranked_of
from .request import RequestTerms, Shadow, Solved
from .situation import Situation
from .tie_columns import CompiledTie, Compiler
from .ties import Tie

__all__ = ["JointConstraint", "JointSolved", "SearchLimit", "Slot", "solve_jointly"]


@dataclass(frozen=True, slots=True)
class SearchLimit:
    """How long a search for a bundle may take. One that ends early gives the best found, and says so.

    Attributes:
        nodes: How many nodes of the search tree it may visit, some ten thousand a second; None: any number.
        seconds: How many seconds it may take; None: any number. The answer then depends on the machine.

    Raises:
        InvalidRequestError: A limit is no number above 0; all issues.
    """

    nodes: int | None = 100_000
    seconds: float | None = None

    def __post_init__(self) -> None:
        issues = []
        for name, kind, what in (("nodes", int, "an integer"), ("seconds", (int, float), "a number")):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, kind) or not value > 0):
                issues.append(Issue(child("/limit", name), f"{shown(value)}; {what} above 0 is expected, or None"))
        if issues:
            raise InvalidRequestError(issues)

    def budget(self) -> SearchBudget:
        """A budget for one search."""
        return SearchBudget(self.nodes, self.seconds)


@dataclass(frozen=True, slots=True)
class Slot:
    """One capability of several that are routed jointly.

    Attributes:
        name: Its name.
        capability: The declaration.
        preferred_provider: The provider hint.
        preferred_model: The model hint.
        situation: The rules, and what they depend on; None when there are neither rules nor groups of regions.
    """

    name: str
    capability: Capability
    preferred_provider: str | None = None
    preferred_model: str | None = None
    situation: Situation | None = None


@dataclass(frozen=True, slots=True)
class JointConstraint:
    """A constraint of a bundle: of one slot, of all slots, or between some.

    Attributes:
        id: What it is called: `<slot>:kind`, `<slot>:needs/0`, `together/0`, `policy/regionAllow`, `rules/<name>`.
        owner: Whose it is to change.
        label: What it asks for.
        slots: The numbers of the slots that it has to do with.
        named: For each of them, what it is there; empty for a tie.
        tie: The number of the tie; None when it is none.
    """

    id: str
    owner: Owner
    label: str
    slots: tuple[int, ...]
    named: Mapping[int, NamedConstraint] = field(repr=False)
    tie: int | None = None

    @property
    def first(self) -> NamedConstraint | None:
        """What it is in the first slot that it has to do with; None for a tie."""
        return self.named[self.slots[0]] if self.tie is None else None

    @property
    def because(self) -> str | None:
        """Why there is this rule; None for other constraints."""
        return None if self.first is None else self.first.because

    @property
    def contact(self) -> str | None:
        """The contact for this rule, when it says so."""
        return None if self.first is None else self.first.contact

    @property
    def waivable(self) -> bool:
        """Whether it is a rule that a waiver may lift."""
        return self.first is not None and self.first.waivable

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Where it is written, when that is known."""
        return () if self.first is None else self.first.origins


@dataclass(frozen=True)
class JointSolved:
    """A request for a bundle, compiled and solved.

    Attributes:
        names: The names of the slots, in the order in which they are written.
        slots: Each slot on its own, compiled and solved.
        ties: What ties them.
        catalog: The candidates, the same for all slots.
        policy: The tenant's policy, if there is one.
        setup_failures: Registered providers that were no candidates because they could not be set up.
        limit: How long a search may take.
        provenance: Where the request comes from, when that is known.
    """

    names: tuple[str, ...]
    slots: tuple[Solved, ...] = field(repr=False)
    ties: tuple[Tie, ...]
    catalog: Catalog = field(repr=False)
    policy: TenantPolicy | None
    setup_failures: tuple[SetupFailure, ...]
    limit: SearchLimit
    provenance: Provenance | None = None

    @classmethod
    def of_one(cls, solved: Solved) -> "JointSolved":
        """A request for one capability as a bundle of one slot, which has no name."""
        return cls(("",), (solved,), (), solved.catalog, solved.policy, solved.setup_failures, SearchLimit())

    @property
    def alone(self) -> bool:
        """Whether it is a request for one capability: its one slot has no name."""
        return self.names == ("",)

    @computed
    def compiled(self) -> tuple[CompiledTie, ...]:
        """The ties as integers."""
        compiler = Compiler(self.catalog, self.names)
        return tuple(map(compiler.compiled, self.ties))

    @computed
    def ranked(self) -> tuple[RankedSlot, ...]:
        """For each slot, the candidates that qualify on their own, in rank order."""
        return tuple(ranked_of(solved, solved.survivors) for solved in self.slots)

    @computed
    def costs(self) -> list[list[int]]:
        """For each slot, what each of these costs: a better bundle costs less. Every slot has some."""
        return costs_of(self.ranked)

    @computed
    def best(self) -> Best:
        """The best bundle."""
        if self.alone:  # the first of those that qualify: there is nothing to search
            (slot,) = self.slots
            return Best((slot.ranked(slot.survivors).best(),) if slot.survivors else None, True)
        return self.best_among(None)

    def best_among(self, places: Sequence[int] | None) -> Best:
        """The best bundle whose picks are among some of each slot's ranked candidates, as sets of places; None: all."""
        if not all(slot.numbers for slot in self.ranked):
            return Best(None, True)
        rows = [slot.numbers for slot in self.ranked]
        costs: Sequence[Sequence[int]] = self.costs
        if places is not None:
            chosen = [list(bits.positions(each)) for each in places]
            rows = [[slot[at] for at in each] for slot, each in zip(rows, chosen, strict=True)]
            costs = [[slot[at] for at in each] for slot, each in zip(costs, chosen, strict=True)]
        return best(rows, costs, self.compiled, self.limit.budget())

    def in_order(self) -> Iterator[tuple[tuple[int, ...], bool]]:
        """The bundles, best first: the candidates of each, and whether no better one can be missing before it.

        While there is a bundle of regular candidates, the others don't count. One more costs for a few
        searches: the space without the bundles that were found is split into parts, each with its own best
        (Lawler, "A procedure for computing the K best solutions to discrete optimization problems", Management Science
        18, 1972), and a part is searched when its bound comes up.
        """
        first = self.best
        if first.numbers is None:
            return
        where = [{number: place for place, number in enumerate(slot.numbers)} for slot in self.ranked]
        regular = not any(self._fallbacks(first.numbers))
        everywhere = tuple(bits.full(len(slot.numbers)) for slot in self.ranked)
        if regular:
            everywhere = tuple(
                members
                & bits.from_positions((p for p, is_one in enumerate(slot.fallback) if not is_one), len(slot.numbers))
                for members, slot in zip(everywhere, self.ranked, strict=True)
            )
        count = 0
        heap: list[tuple[int, int, tuple[int, ...], tuple[int, ...] | None]] = [
            (first.cost, count, everywhere, first.numbers)
        ]
        proved = first.proved
        while heap:
            _, _, places, numbers = heappop(heap)
            count += 1
            if numbers is None:
                found = self.best_among(places)
                proved &= found.proved
                if found.numbers is not None:
                    heappush(heap, (found.cost, count, places, found.numbers))
                continue
            yield numbers, proved
            taken = [1 << where[slot][number] for slot, number in enumerate(numbers)]
            for slot, one in enumerate(taken):
                left = places[slot] & ~one
                if left:
                    part = (*taken[:slot], left, *places[slot + 1 :])
                    bound = sum(self.costs[at][bits.lowest(each)] for at, each in enumerate(part))
                    count += 1
                    heappush(heap, (bound, count, part, None))

    def _fallbacks(self, numbers: Sequence[int]) -> list[bool]:
        fallbacks = self.catalog.fallbacks
        return [bool(fallbacks >> number & 1) for number in numbers]

    def fallbacks(self, numbers: Sequence[int]) -> int:
        """How many of the picks are fallbacks."""
        return sum(self._fallbacks(numbers))

    def hints(self, numbers: Sequence[int]) -> int:
        """How many of the picks match the hints of their slots, where such were given."""
        return sum(
            bool(solved.ranked(self.catalog.all()).matching >> number & 1)
            for solved, number in zip(self.slots, numbers, strict=True)
        )

    def picks(self, numbers: Sequence[int]) -> dict[str, Candidate]:
        """The candidates of a bundle by the names of their slots."""
        return {name: self.catalog.candidate(number) for name, number in zip(self.names, numbers, strict=True)}

    @computed
    def constraints(self) -> tuple[JointConstraint, ...]:
        """Every constraint: those of each slot, what ties the slots, the policy's clauses, the rules."""
        own: list[JointConstraint] = []
        shared: dict[str, dict[int, NamedConstraint]] = {}
        places: dict[str, int] = {}
        for index, (name, solved) in enumerate(zip(self.names, self.slots, strict=True)):
            for constraint in solved.constraints:
                if constraint.owner == "caller":
                    own.append(
                        JointConstraint(
                            f"{name}:{constraint.id}" if name else constraint.id,
                            "caller",
                            constraint.label,
                            (index,),
                            {index: constraint},
                        )
                    )
                else:
                    shared.setdefault(constraint.id, {})[index] = constraint
            places |= _rule_places(solved)
        ties = [
            JointConstraint(
                f"together/{index}",
                "caller",
                tie.label,
                tuple(self.names.index(name) for name in tie.slots),
                {},
                index,
            )
            for index, tie in enumerate(self.ties)
        ]
        common = [
            JointConstraint(name, first.owner, first.label, tuple(named), named)
            for name, named in sorted(shared.items(), key=lambda item: places.get(item[0], -1))
            for first in (next(iter(named.values())),)
        ]
        return (*own, *ties, *common)

    @computed
    def shadow(self) -> Shadow | None:
        """What enforcing the rules that are only tried out would give; None when none is in force. One more search."""
        shadows = [slot.shadow for slot in self.slots]
        if all(shadow is None for shadow in shadows):
            return None
        named = {name for shadow in shadows if shadow is not None for name in shadow.by}
        books = (slot.situation.book for slot in self.slots if slot.situation is not None)
        places = dict.fromkeys(f"rules/{entry.rule.name}" for book in books for entry in book.entries)
        by = tuple(name for name in places if name in named)
        found = replace(self, slots=tuple(slot.enforced for slot in self.slots)).best if by else self.best
        picks = None if found.numbers is None else self.picks(found.numbers)
        return Shadow(picks, by, found.proved)

    def asked(self) -> dict[str, Any]:
        """What was asked, as it goes over the wire."""
        return asked_of_bundle(self)

    def matched(self) -> dict[str, tuple[Candidate, ...]]:
        """The candidates that qualify for each slot on its own, in input order."""
        return {name: slot.matched() for name, slot in zip(self.names, self.slots, strict=True)}

    def declared(self) -> "JointSolved":
        """The same over providers that are known by their metadata alone, which can be sent to another process."""
        declared = [slot.declared() for slot in self.slots]
        catalog = declared[0].catalog
        slots = tuple(replace(each, catalog=catalog).again(each.capability, each.policy) for each in declared)
        return replace(self, slots=slots, catalog=catalog)

    def again(
        self,
        capabilities: Sequence[Capability],
        policy: TenantPolicy | None,
        ties: tuple[Tie, ...],
        without: Collection[str] = (),
    ) -> "JointSolved":
        """The same request with other declarations, another policy or other ties, or with fewer rules, solved."""
        slots = tuple(
            solved.again(capability, policy, without)
            for solved, capability in zip(self.slots, capabilities, strict=True)
        )
        return replace(self, slots=slots, policy=policy, ties=ties)


def _rule_places(solved: Solved) -> dict[str, int]:
    """The place of each rule that is in force among the rules."""
    if solved.active is None:
        return {}
    rules = solved.active.rules
    return {term.id: place for place, term in zip(rules.places, rules.terms, strict=True)}


def solve_jointly(
    slots: Sequence[Slot],
    catalog: Catalog,
    ties: Sequence[Tie],
    *,
    policy: TenantPolicy | None = None,
    setup_failures: tuple[SetupFailure, ...] = (),
    limit: SearchLimit | None = None,
    at: Moment | None = None,
    provenance: Provenance | None = None,
) -> JointSolved:
    """Compile the slots of a bundle, and solve each on its own. The search starts when the best bundle is asked for."""
    solved: list[Solved] = []
    for slot in slots:
        check_time()
        found = RequestTerms(slot.capability, policy, slot.situation).solved(
            catalog,
            at,
            preferred_provider=slot.preferred_provider,
            preferred_model=slot.preferred_model,
            setup_failures=setup_failures,
        )
        solved.append(found)
    return JointSolved(
        tuple(slot.name for slot in slots),
        tuple(solved),
        tuple(ties),
        catalog,
        policy,
        setup_failures,
        limit or SearchLimit(),
        provenance,
    )
