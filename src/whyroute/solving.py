"""A request, compiled and solved: what a decision, a failed answer and an explanation are made from."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from . import bits
from .catalog import Candidate, Catalog
from .constraints import About, Constraints, NamedConstraint, Origins, RuleTerms, compile_constraints
from .declarations import Capability, FeatureNeed, read_capability
from .errors import InvalidRequestError
from .facts import fact_issues
from .moments import Moment, read_moment, written
from .numbers import Number
from .policies import TenantPolicy, read_policy
from .providers import SetupFailure
from .ranking import Ranking, rank
from .solver import EngineName, engine_named

if TYPE_CHECKING:
    from .kleene import Setting
    from .rulebook import Rulebook
    from .ruleterms import Applied, RuleTerm

__all__ = ["Shadow", "Situation", "Solved", "situation_of", "solve"]


@dataclass(frozen=True, slots=True)
class Situation:
    """Rules, and what they depend on beside the declaration, the policy and the candidates.

    Attributes:
        book: The rules.
        setting: The groups of regions and the tokens of the call.
        labels: What the request says of itself.
        capability: The capability's name; None when it is declared in place.
        at: The request's time.
        origins: Where constraints are written, by their ids.
    """

    book: "Rulebook"
    setting: "Setting"
    labels: Mapping[str, str]
    capability: str | None
    at: Moment
    origins: Origins | None = None

    def applied(self, capability: Capability, policy: TenantPolicy | None, catalog: Catalog) -> "Applied":
        """The rules that are in force for a declaration under a policy, over a catalog."""
        from .rulebook import RequestFacts  # noqa: PLC0415 (takes long to load, and most requests have no rules)
        from .ruleterms import apply  # noqa: PLC0415

        features = tuple(need.feature for need in capability.needs if isinstance(need, FeatureNeed))
        tenant = None if policy is None else policy.tenant_id
        request = RequestFacts(capability.kind, features, self.capability, self.labels, tenant, self.at)
        return apply(self.book, request, self.setting, catalog)


@dataclass(frozen=True, slots=True)
class Shadow:
    """What enforcing the rules that are only tried out would give.

    Attributes:
        pick: The candidate that would be picked; None when nothing would qualify.
        by: The ids of those rules that would reject a candidate that qualifies, or change the rank of one.
    """

    pick: Candidate | None
    by: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """What it would be, as it goes over the wire."""
        outcome: dict[str, Any] = {"unsatisfiable": True} if self.pick is None else {"pick": self.pick.to_dict()}
        return {**outcome, "by": list(self.by)}


@dataclass(frozen=True, slots=True)
class Solved:
    """A request, compiled and solved.

    Attributes:
        catalog: The candidates.
        capability: The declaration.
        policy: The tenant's policy, if there is one.
        constraints: The constraints, in the contract's order.
        survivors: The set of candidates that all of them admit.
        preferred_provider: The provider hint.
        preferred_model: The model hint.
        setup_failures: Registered providers that were no candidates because they could not be set up.
        situation: The rules, and what they depend on; None when there are neither rules nor groups of regions.
        applied: The rules that are in force; None when there is no situation.
    """

    catalog: Catalog
    capability: Capability
    policy: TenantPolicy | None
    constraints: Constraints
    survivors: int
    preferred_provider: str | None
    preferred_model: str | None
    setup_failures: tuple[SetupFailure, ...]
    situation: Situation | None = None
    applied: "Applied | None" = None

    def ranked(self, members: int) -> Ranking:
        """The candidates of a set that is not empty, ranked as if they were the ones that qualify."""
        applied = self.applied
        if applied is None:
            return rank(members, self.catalog, self.capability.prefer, self.preferred_provider, self.preferred_model)
        return rank(
            members,
            self.catalog,
            self.capability.prefer,
            self.preferred_provider,
            self.preferred_model,
            wishes=applied.wishes,
            orders=applied.orderings,
        )

    def wished(self, number: int) -> tuple[tuple[str, Number], ...]:
        """The rules that prefer a candidate, each with its weight, in rule order."""
        wishes = () if self.applied is None else self.applied.wishes
        return tuple((wish.rule.name, wish.weight) for wish in wishes if wish.members >> number & 1)

    @property
    def shadows(self) -> tuple[NamedConstraint, ...]:
        """The rules that are only tried out, each with whom it would admit."""
        if self.applied is None or not self.applied.shadow_terms:
            return ()
        return tuple(_constraint(term, self) for _, term in self.applied.shadow_terms)

    @property
    def listed(self) -> tuple[NamedConstraint, ...]:
        """The constraints with the rules that are only tried out, each rule at its place among the rules."""
        if self.applied is None or not self.applied.shadow_terms:
            return tuple(self.constraints)
        places = {f"rules/{term.rule.name}": place for place, term in (*self.applied.terms, *self.applied.shadow_terms)}
        return tuple(sorted((*self.constraints, *self.shadows), key=lambda each: places.get(each.id, -1)))

    @property
    def shadow(self) -> Shadow | None:
        """What enforcing the rules that are only tried out would give; None when none is in force."""
        applied = self.applied
        if applied is None or not applied.has_shadows:
            return None
        left, by = self.survivors, []
        for _, term in applied.shadow_terms:
            admitted = term.admitted(self.catalog)
            left &= admitted
            if self.survivors & ~admitted:
                by.append(term.rule.name)
        by += [wish.rule.name for wish in applied.all_wishes if wish.rule.shadow and wish.members & self.survivors]
        by += [each.rule.name for each in applied.all_orderings if each.rule.shadow and each.tells(self.survivors)]
        named = set(by)
        ids = tuple(f"rules/{name}" for name in applied.names if name in named)
        if not left:
            return Shadow(None, ids)
        ranking = rank(
            left,
            self.catalog,
            self.capability.prefer,
            self.preferred_provider,
            self.preferred_model,
            wishes=applied.all_wishes,
            orders=applied.all_orderings,
        )
        return Shadow(self.catalog.candidate(ranking.best()), ids)

    def matched(self) -> tuple[Candidate, ...]:
        """The candidates that qualify, in input order."""
        admitted = bits.flags(self.survivors, self.catalog.size)
        candidate = self.catalog.candidate
        return tuple(candidate(number) for number in self.catalog.input_order() if admitted[number] == "1")

    def again(
        self, capability: Capability, policy: TenantPolicy | None, without_rules: Collection[str] = ()
    ) -> "Solved":
        """The same request with another declaration or policy, or with fewer rules, solved.

        What stays of it is not compiled again.
        """
        situation = self.situation
        if situation is not None and without_rules:
            situation = replace(situation, book=situation.book.without(without_rules))
        applied = None if situation is None else situation.applied(capability, policy, self.catalog)
        constraints = _compiled(capability, policy, self.catalog, situation, applied, self.constraints.known())
        return replace(
            self,
            capability=capability,
            policy=policy,
            constraints=constraints,
            survivors=engine_named("bitset").solve(constraints),
            situation=situation,
            applied=applied,
        )


def solve(
    capability: Capability | Mapping[str, Any],
    providers: Iterable[Any],
    *,
    policy: TenantPolicy | Mapping[str, Any] | None = None,
    preferred_provider: str | None = None,
    preferred_model: str | None = None,
    setup_failures: Sequence[SetupFailure | Mapping[str, Any]] = (),
    situation: Situation | None = None,
    engine: EngineName = "bitset",
) -> Solved:
    """Compile a request against the catalog and solve it. Takes the arguments of `route`, its rules as a situation."""
    if not isinstance(capability, Capability):
        capability = read_capability(capability)
    if policy is not None and not isinstance(policy, TenantPolicy):
        policy = read_policy(policy)
    catalog = providers if isinstance(providers, Catalog) else Catalog(providers)
    applied = None if situation is None else situation.applied(capability, policy, catalog)
    constraints = _compiled(capability, policy, catalog, situation, applied)
    return Solved(
        catalog,
        capability,
        policy,
        constraints,
        engine_named(engine).solve(constraints),
        preferred_provider,
        preferred_model,
        _read_failures(setup_failures) if setup_failures else (),
        situation,
        applied,
    )


def situation_of(
    rules: "Rulebook | Iterable[Any]" = (),
    *,
    waivers: Iterable[Any] = (),
    conditions: Mapping[str, Any] | None = None,
    regions: Any = None,
    labels: Mapping[str, str] | None = None,
    at: datetime | str | None = None,
    tokens: Any = None,
    capability_name: str | None = None,
    origins: Origins | None = None,
) -> Situation | None:
    """Read the rules of a request and what they depend on, as `route` takes them; None when there is nothing of it.

    Raises:
        InvalidRequestError: Something is broken; all issues.
    """
    if not (rules or waivers or conditions or regions or origins):
        # Nothing looks at the rest, but a broken one is no less broken.
        if at is not None or tokens is not None or labels is not None:
            _read_facts(labels, at, tokens)
        return None
    from .kleene import Call, Setting  # noqa: PLC0415 (takes long to load, and most requests have no rules)
    from .rulebook import read_rulebook  # noqa: PLC0415

    book = read_rulebook(rules, waivers=waivers, conditions=conditions, regions=regions)
    moment, call = _read_facts(labels, at, tokens)
    setting = Setting(book.regions, None if call is None else Call(*call))
    return Situation(book, setting, dict(labels or {}), capability_name, moment, origins)


def _read_facts(labels: Any, at: Any, tokens: Any) -> tuple[Moment, tuple[int, int] | None]:
    """A request's time, and the tokens of its call."""
    if isinstance(at, datetime):
        at = at.astimezone(UTC).isoformat() if at.tzinfo is not None else str(at)
    given = {"labels": labels, "at": at, "tokens": tokens}
    issues = fact_issues({key: value for key, value in given.items() if value is not None})
    if issues:
        raise InvalidRequestError(issues)
    moment = read_moment(written(datetime.now(UTC)) if at is None else at)
    return moment, None if tokens is None else (tokens["prompt"], tokens["completion"])


def _compiled(
    capability: Capability,
    policy: TenantPolicy | None,
    catalog: Catalog,
    situation: Situation | None,
    applied: "Applied | None",
    known: Mapping[Any, int] | None = None,
) -> Constraints:
    if situation is None or applied is None:
        return compile_constraints(capability, policy, catalog, known)
    return compile_constraints(
        capability,
        policy,
        catalog,
        known,
        regions=situation.setting.regions,
        rules=_rule_terms([term for _, term in applied.terms]),
        origins=situation.origins,
    )


def _rule_terms(terms: Iterable["RuleTerm"]) -> RuleTerms:
    return [(f"rules/{term.rule.name}", term, _about(term)) for term in terms]


def _about(term: "RuleTerm") -> About:
    rule = term.rule
    return About(rule.because, rule.owner, rule.waivable, rule.shadow)


def _constraint(term: "RuleTerm", solved: Solved) -> NamedConstraint:
    name, origins = f"rules/{term.rule.name}", solved.situation.origins if solved.situation else None
    where = tuple((origins or {}).get(name, ()))
    return NamedConstraint(name, "rule", term, term.admitted(solved.catalog), solved.catalog, where, _about(term))


def _read_failures(given: Sequence[SetupFailure | Mapping[str, Any]]) -> tuple[SetupFailure, ...]:
    return tuple(f if isinstance(f, SetupFailure) else SetupFailure.model_validate(f) for f in given)
