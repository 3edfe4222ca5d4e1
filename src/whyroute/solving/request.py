"""A request, compiled and solved: what a decision, a failed answer and an explanation are made from."""

from bisect import bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..basics import bits
from ..basics.numbers import Number
from ..catalog.candidate import Candidate
from ..catalog.catalog import Catalog
from ..constraints.named import (
    Constraints,
    NamedConstraint,
    Terms,
    request_terms,
    rule_constraint,
)
from ..engine.single import EngineName, engine_named, intersection
from ..model.capability import Capability
from ..model.policy import TenantPolicy
from ..model.provider import DeclaredProvider, SetupFailure
from ..model.regions import NO_REGIONS
from ..model.timestamps import Moment, present
from .asked import Provenance, asked_of
from .ranking import Ranking, Scores, Weights, rank
from .situation import Situation

if TYPE_CHECKING:
    from ..constraints.rule_terms import ActiveRules, RuleSet, RuleTerm, Wish
    from ..constraints.rulebook import Entry

__all__ = ["RequestTerms", "Shadow", "Solved"]


@dataclass(frozen=True, slots=True)
class Shadow:
    """What enforcing the rules that are only tried out would give.

    Attributes:
        picks: The candidate of each slot that would be picked, where a request for one capability has one slot without
            a name; None when nothing would qualify, or nothing was found.
        by: The ids of those rules that would reject a candidate that qualifies, or prefer one.
        proved: Whether that is proved; no when the search ended at its limit.
    """

    picks: Mapping[str, Candidate] | None
    by: tuple[str, ...]
    proved: bool = True

    @property
    def pick(self) -> Candidate | None:
        """The candidate of one capability that would be picked; None when nothing would qualify."""
        return None if self.picks is None else self.picks[""]

    def to_dict(self) -> dict[str, Any]:
        """What it would be, as it goes over the wire."""
        found: dict[str, Any] = {}
        if self.picks is None:
            found |= {"unsatisfiable": True} if self.proved else {}
        elif "" in self.picks:
            found["pick"] = self.picks[""].to_dict()
        else:
            found["picks"] = {name: candidate.to_dict() for name, candidate in self.picks.items()}
        found["by"] = list(self.by)
        return found if self.proved else {**found, "proved": False}


@dataclass(slots=True)
class Solved:
    """A request, compiled and solved. Never changed; a frozen one takes several times as long to make.

    Attributes:
        terms: The request, compiled to terms.
        catalog: The candidates.
        constraints: The constraints, in the contract's order.
        survivors: The set of candidates that all of them admit.
        weights: What the preferences of the declaration and of rules weigh.
        active: The rules that are in force; None when there are neither rules nor groups of regions.
        at: The time of the request.
        preferred_provider: The provider hint.
        preferred_model: The model hint.
        setup_failures: Registered providers that were no candidates because they could not be set up.
        provenance: Where the request comes from, when that is known.
    """

    terms: "RequestTerms"
    catalog: Catalog
    constraints: Constraints
    survivors: int
    weights: Weights
    active: "ActiveRules | None" = None
    at: Moment | None = None
    preferred_provider: str | None = None
    preferred_model: str | None = None
    setup_failures: tuple[SetupFailure, ...] = ()
    provenance: Provenance | None = None
    _scores: Scores | None = field(default=None, repr=False, compare=False)

    @property
    def capability(self) -> Capability:
        """The declaration."""
        return self.terms.capability

    @property
    def policy(self) -> TenantPolicy | None:
        """The tenant's policy, if there is one."""
        return self.terms.policy

    @property
    def situation(self) -> Situation | None:
        """The rules, and what they depend on; None when there are neither rules nor groups of regions."""
        return self.terms.situation

    @property
    def scores(self) -> Scores:
        """The score of every candidate."""
        found = self._scores
        if found is None:
            found = self._scores = Scores.of(self.weights, self.catalog, self._wishes)
        return found

    @property
    def _wishes(self) -> "tuple[Wish, ...]":
        return () if self.active is None else self.active.wishes

    def ranked(self, members: int) -> Ranking:
        """The candidates of a set that is not empty, ranked as if they were the ones that qualify."""
        return rank(
            members,
            self.catalog,
            self.scores,
            self.preferred_provider,
            self.preferred_model,
            orders=() if self.active is None else self.active.orderings,
        )

    def wished(self, number: int) -> tuple[tuple[str, Number], ...]:
        """The rules that prefer a candidate, each with its weight, in rule order."""
        return tuple((wish.rule.name, wish.weight) for wish in self._wishes if wish.members >> number & 1)

    @property
    def shadows(self) -> tuple[NamedConstraint, ...]:
        """The rules that are only tried out, each with what it would admit."""
        if self.active is None:
            return ()
        catalog, origins = self.catalog, None if self.situation is None else self.situation.origins
        terms = self.active.rules.shadow_terms
        return tuple(rule_constraint(term, term.admitted(catalog), catalog, origins) for term in terms)

    @property
    def listed(self) -> tuple[NamedConstraint, ...]:
        """The constraints with the rules that are only tried out, each rule at its place among the rules."""
        if self.active is None or not self.active.rules.shadow_terms:
            return tuple(self.constraints)
        places = {f"rules/{name}": place for place, name in enumerate(self.active.rules.names)}
        return tuple(sorted((*self.constraints, *self.shadows), key=lambda each: places.get(each.id, -1)))

    @property
    def shadow(self) -> Shadow | None:
        """What enforcing the rules that are only tried out would give; None when none is in force."""
        active = self.active
        if active is None or not active.has_shadows:
            return None
        terms, catalog = active.rules.shadow_terms, self.catalog
        by = [term.rule.name for term in terms if self.survivors & ~term.admitted(catalog)]
        by += [wish.rule.name for wish in active.all_wishes if wish.rule.shadow and wish.members & self.survivors]
        by += [each.rule.name for each in active.all_orderings if each.rule.shadow and each.tells(self.survivors)]
        named = set(by)
        ids = tuple(f"rules/{name}" for name in active.rules.names if name in named)
        enforced = self.enforced
        if not enforced.survivors:
            return Shadow(None, ids)
        return Shadow({"": catalog.candidate(enforced.ranked(enforced.survivors).best())}, ids)

    @property
    def enforced(self) -> "Solved":
        """The same with the rules that are only tried out: who qualifies then, and in which order.

        Its constraints are still those without them.
        """
        if self.active is None or not self.active.has_shadows:
            return self
        terms = self.active.rules.shadow_terms
        left = intersection(self.survivors, [term.admitted(self.catalog) for term in terms])
        active = self.active.enforced()
        weights = Weights.of(self.capability.prefer, [wish.weight for wish in active.wishes])
        return replace(self, survivors=left, active=active, weights=weights, _scores=None)

    def asked(self) -> dict[str, Any]:
        """What was asked, as it goes over the wire."""
        return asked_of(self)

    def matched(self) -> tuple[Candidate, ...]:
        """The candidates that qualify, in input order."""
        admitted = bits.flags(self.survivors, self.catalog.size)
        candidate = self.catalog.candidate
        return tuple(candidate(number) for number in self.catalog.input_order() if admitted[number] == "1")

    def declared(self) -> "Solved":
        """The same over providers that are known by their metadata alone, which can be sent to another process."""
        catalog = Catalog.of_members((DeclaredProvider(meta), meta) for meta in self.catalog.metadata)
        return replace(self, catalog=catalog).again(self.capability, self.policy)

    def again(self, capability: Capability, policy: TenantPolicy | None, without: Collection[str] = ()) -> "Solved":
        """The same request with another declaration or policy, or without some rules and custom constraints, solved."""
        situation = self.situation
        if situation is not None and without:
            situation = situation.without(without)
        found = RequestTerms(capability, policy, situation).solved(
            self.catalog,
            self.at,
            preferred_provider=self.preferred_provider,
            preferred_model=self.preferred_model,
            setup_failures=self.setup_failures,
            provenance=self.provenance,
        )
        if found.weights == self.weights and found._wishes == self._wishes:
            found._scores = self.scores
        return found

    def hinted(
        self, preferred_provider: str | None, preferred_model: str | None, provenance: Provenance | None = None
    ) -> "Solved":
        """The same request with other hints, and from elsewhere where that is given."""
        return Solved(
            self.terms,
            self.catalog,
            self.constraints,
            self.survivors,
            self.weights,
            self.active,
            self.at,
            preferred_provider,
            preferred_model,
            self.setup_failures,
            provenance or self.provenance,
            self._scores,
        )


class RequestTerms:
    """A request compiled to terms, before it meets a catalog and a time.

    Args:
        capability: The declaration.
        policy: The tenant's policy, if there is one.
        situation: The rules, and what they depend on.

    Attributes:
        changes: The instants at which other rules may be in force than a moment before, in order.
        said: What the reason of a decision says whatever the candidate; None before it is first said.
    """

    __slots__ = ("_asked", "_intervals", "_terms", "_weights", "capability", "changes", "policy", "said", "situation")

    def __init__(self, capability: Capability, policy: TenantPolicy | None, situation: Situation | None) -> None:
        self.capability = capability
        self.policy = policy
        self.situation = situation
        regions = NO_REGIONS if situation is None else situation.context.regions
        self._terms: Terms = request_terms(capability, policy, regions)
        if situation is not None and situation.custom:
            from ..constraints.custom import CustomTerm  # noqa: PLC0415 (few requests have any)

            # With the caller's others: those of a bundle's slots come before the policy, too.
            own: Terms = [(term.id, "caller", term) for term in map(CustomTerm, situation.custom)]
            place = 1 + len(capability.needs)
            self._terms = (*self._terms[:place], *own, *self._terms[place:])
        self._weights = Weights.of(capability.prefer)
        self._asked: tuple[tuple[int, Entry], ...] = ()
        self.changes: tuple[int, ...] = ()
        if situation is not None and situation.book.entries:
            from ..constraints.rulebook import changes_of  # noqa: PLC0415 (takes long to load, and most requests have no rules)

            self._asked = situation.asked(capability, policy)
            self.changes = changes_of(self._asked)
        self._intervals: dict[int, tuple[RuleSet, Terms, Weights]] = {}
        self.said: tuple[str, tuple[tuple[str, str], ...]] | None = None

    @property
    def rules(self) -> int:
        """How many rules apply, whatever the time."""
        return len(self._asked)

    def __reduce__(self) -> tuple[Any, ...]:
        return RequestTerms, (self.capability, self.policy, self.situation)

    def solved(
        self,
        catalog: Catalog,
        at: Moment | None = None,
        *,
        preferred_provider: str | None = None,
        preferred_model: str | None = None,
        setup_failures: tuple[SetupFailure, ...] = (),
        engine: EngineName = "bitset",
        provenance: Provenance | None = None,
    ) -> Solved:
        """The request over a catalog at a time, solved.

        Args:
            catalog: The candidates.
            at: The time; the present where it is left out, which it may be where no rule has a date.
            preferred_provider: The provider hint.
            preferred_model: The model hint.
            setup_failures: Providers that could not be set up.
            engine: What enumerates the candidates.
            provenance: Where the request comes from.
        """
        situation, active, terms, weights = self.situation, None, self._terms, self._weights
        if situation is None:
            constraints = Constraints(terms, catalog)
        else:
            rules, terms, weights = self._in_force(at)
            active = rules.over(catalog)
            constraints = Constraints(terms, catalog, origins=situation.origins, contacts=situation.contacts)
        return Solved(
            self,
            catalog,
            constraints,
            engine_named(engine).solve(constraints),
            weights,
            active,
            at or present(),
            preferred_provider,
            preferred_model,
            setup_failures,
            provenance,
        )

    def is_same_period(self, one: Moment, other: Moment) -> bool:
        """Whether the same rules and waivers are in force at two times."""
        return bisect_right(self.changes, one.start) == bisect_right(self.changes, other.start)

    def rule_terms(self, at: Moment | None) -> "tuple[RuleTerm, ...]":
        """What the rules compare that require or forbid at a time."""
        return self._in_force(at)[0].terms if self._asked else ()

    def _in_force(self, at: Moment | None) -> "tuple[RuleSet, Terms, Weights]":
        """The rules that are in force at a time, all terms, and what all preferences weigh; once for each period."""
        if at is None and self.changes:
            raise ValueError("a request whose rules have dates is solved at a time")
        period = 0 if at is None else bisect_right(self.changes, at.start)
        found = self._intervals.get(period)
        if found is None:
            from ..constraints.rule_terms import RuleSet  # noqa: PLC0415
            from ..constraints.rulebook import in_force  # noqa: PLC0415 (as above)

            assert self.situation is not None  # there are no rules without one
            now = Moment(0, 0) if at is None else at
            rules = RuleSet.of(in_force(self._asked, now), self.situation.context)
            weights = self._weights
            if rules.weights:
                weights = Weights.of(self.capability.prefer, rules.weights)
            found = self._intervals[period] = rules, (*self._terms, *rules.constraints), weights
        return found
