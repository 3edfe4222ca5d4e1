"""A request, compiled and solved: what a decision, a failed answer and an explanation are made from."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from . import bits
from .catalog import Candidate, Catalog
from .constraints import (
    Constraints,
    NamedConstraint,
    Origin,
    Origins,
    caller_terms,
    clause_terms,
    compile_constraints,
    compile_with_rules,
    rule_constraint,
)
from .declarations import Capability, FeatureNeed, read_capability
from .errors import InvalidRequestError
from .facts import fact_issues
from .instances import kept_for
from .issues import Issue, kind_of, shown
from .moments import Moment, read_moment, written
from .numbers import Number
from .policies import TenantPolicy, read_policy
from .providers import DeclaredProvider, SetupFailure, read_setup_failures
from .ranking import Ranking, ScoreMemo, rank
from .regions import Regions
from .solver import EngineName, engine_named

if TYPE_CHECKING:
    from .conditions import Condition
    from .kleene import Setting
    from .rulebook import Rulebook
    from .rules import Rule, Waiver
    from .ruleterms import Applied

__all__ = ["RuleArguments", "Shadow", "Situation", "Solved", "situation_of", "solve"]


T = TypeVar("T")

_REASONS = 8
"""For how many hints of one request the reason is kept."""


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
        contacts: Whom to ask about clauses, by their constraints' ids.
    """

    book: "Rulebook"
    setting: "Setting"
    labels: Mapping[str, str]
    capability: str | None
    at: Moment
    origins: Origins | None = None
    contacts: Mapping[str, str] | None = None

    def applied(self, capability: Capability, policy: TenantPolicy | None, catalog: Catalog) -> "Applied":
        """The rules that are in force for a declaration under a policy, over a catalog."""
        from .rulebook import RequestFacts  # noqa: PLC0415 (takes long to load, and most requests have no rules)
        from .ruleterms import apply  # noqa: PLC0415

        features = tuple(need.feature for need in capability.needs if isinstance(need, FeatureNeed))
        tenant = None if policy is None else policy.tenant_id
        request = RequestFacts(capability.kind, features, self.capability, self.labels, tenant, self.at)
        return apply(self.book, request, self.setting, catalog)

    def compiled(
        self,
        capability: Capability,
        policy: TenantPolicy | None,
        catalog: Catalog,
        known: Mapping[Any, int] | None = None,
    ) -> "tuple[Ruling, Constraints]":
        """What the rules come to for a declaration under a policy, and the constraints, against a catalog."""
        applied = self.applied(capability, policy, catalog)
        constraints = compile_with_rules(
            capability,
            policy,
            catalog,
            applied.constraints,
            applied.admitted,
            regions=self.setting.regions,
            origins=self.origins,
            contacts=self.contacts,
            known=known,
        )
        return Ruling(self, applied), constraints


@dataclass(frozen=True, slots=True)
class Ruling:
    """Rules, and what they come to for one request.

    Attributes:
        situation: The rules, and what they depend on.
        applied: Those that are in force.
    """

    situation: Situation
    applied: "Applied"


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


@dataclass(slots=True)
class Solved:
    """A request, compiled and solved. Nobody changes one; a frozen one takes several times as long to make.

    Attributes:
        catalog: The candidates.
        capability: The declaration.
        policy: The tenant's policy, if there is one.
        constraints: The constraints, in the contract's order.
        survivors: The set of candidates that all of them admit.
        preferred_provider: The provider hint.
        preferred_model: The model hint.
        setup_failures: Registered providers that were no candidates because they could not be set up.
        ruling: The rules and what they come to; None when there are neither rules nor groups of regions.
    """

    catalog: Catalog
    capability: Capability
    policy: TenantPolicy | None
    constraints: Constraints
    survivors: int
    preferred_provider: str | None
    preferred_model: str | None
    setup_failures: tuple[SetupFailure, ...]
    ruling: Ruling | None = None
    _memo: ScoreMemo = field(default_factory=ScoreMemo, repr=False, compare=False, kw_only=True)

    @property
    def situation(self) -> Situation | None:
        """The rules, and what they depend on; None when there are neither rules nor groups of regions."""
        return None if self.ruling is None else self.ruling.situation

    @property
    def applied(self) -> "Applied | None":
        """The rules that are in force; None when there is no situation."""
        return None if self.ruling is None else self.ruling.applied

    def ranked(self, members: int) -> Ranking:
        """The candidates of a set that is not empty, ranked as if they were the ones that qualify."""
        ruling = self.ruling
        return rank(
            members,
            self.catalog,
            self.capability.prefer,
            self.preferred_provider,
            self.preferred_model,
            wishes=() if ruling is None else ruling.applied.wishes,
            orders=() if ruling is None else ruling.applied.orderings,
            memo=self._memo,
        )

    def told(self, make: Callable[[T], str], decision: T) -> str:
        """Why the pick is the pick, in plain words: as it was made for the same request a moment ago, or made."""
        memo = self._memo
        request = memo.request
        if request is None or self.ruling or request[0] is not self.capability or request[1] is not self.policy:
            return make(decision)
        hints = self.preferred_provider, self.preferred_model
        reasons = memo.reasons
        found = reasons.get(hints)
        if found is None:
            found = make(decision)
            if len(reasons) < _REASONS:
                reasons[hints] = found
        return found

    def wished(self, number: int) -> tuple[tuple[str, Number], ...]:
        """The rules that prefer a candidate, each with its weight, in rule order."""
        wishes = () if self.applied is None else self.applied.wishes
        return tuple((wish.rule.name, wish.weight) for wish in wishes if wish.members >> number & 1)

    @property
    def shadows(self) -> tuple[NamedConstraint, ...]:
        """The rules that are only tried out, each with whom it would admit."""
        if self.applied is None or not self.applied.shadow_terms:
            return ()
        catalog, origins = self.catalog, None if self.situation is None else self.situation.origins
        return tuple(
            rule_constraint(term, term.admitted(catalog), catalog, origins) for term in self.applied.shadow_terms
        )

    @property
    def listed(self) -> tuple[NamedConstraint, ...]:
        """The constraints with the rules that are only tried out, each rule at its place among the rules."""
        if self.applied is None or not self.applied.shadow_terms:
            return tuple(self.constraints)
        places = {f"rules/{name}": place for place, name in enumerate(self.applied.names)}
        return tuple(sorted((*self.constraints, *self.shadows), key=lambda each: places.get(each.id, -1)))

    @property
    def shadow(self) -> Shadow | None:
        """What enforcing the rules that are only tried out would give; None when none is in force."""
        applied = self.applied
        if applied is None or not applied.has_shadows:
            return None
        left, by = self.survivors, []
        for term in applied.shadow_terms:
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
        enforced = self.enforced
        return Shadow(self.catalog.candidate(enforced.ranked(enforced.survivors).best()), ids)

    @property
    def enforced(self) -> "Solved":
        """The same with the rules that are only tried out: who qualifies then, and in which order.

        Its constraints are still those without them.
        """
        if self.ruling is None or not self.ruling.applied.has_shadows:
            return self
        applied, left = self.ruling.applied, self.survivors
        for term in applied.shadow_terms:
            left &= term.admitted(self.catalog)
        enforced = replace(applied, shadow_terms=(), wishes=applied.all_wishes, orderings=applied.all_orderings)
        ruling = replace(self.ruling, applied=enforced)
        return replace(self, survivors=left, ruling=ruling, _memo=ScoreMemo())

    def matched(self) -> tuple[Candidate, ...]:
        """The candidates that qualify, in input order."""
        admitted = bits.flags(self.survivors, self.catalog.size)
        candidate = self.catalog.candidate
        return tuple(candidate(number) for number in self.catalog.input_order() if admitted[number] == "1")

    def declared(self) -> "Solved":
        """The same over providers that are known by their metadata alone, which can be sent to another process."""
        catalog = Catalog.of_members((DeclaredProvider(meta), meta) for meta in self.catalog.metadata)
        return replace(self, catalog=catalog).again(self.capability, self.policy)

    def again(
        self, capability: Capability, policy: TenantPolicy | None, without_rules: Collection[str] = ()
    ) -> "Solved":
        """The same request with another declaration or policy, or with fewer rules, solved.

        What stays of it is not compiled again.
        """
        situation = self.situation
        if situation is not None and without_rules:
            situation = replace(situation, book=situation.book.without(without_rules))
        known, ruling = self.constraints.known(), None
        if situation is None:
            constraints = compile_constraints(capability, policy, self.catalog, known)
        else:
            ruling, constraints = situation.compiled(capability, policy, self.catalog, known)
        return replace(
            self,
            capability=capability,
            policy=policy,
            constraints=constraints,
            survivors=engine_named("bitset").solve(constraints),
            ruling=ruling,
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
    failures: tuple[SetupFailure, ...] = ()
    if preferred_provider is not None or preferred_model is not None or setup_failures != ():
        failures = _read_rest(preferred_provider, preferred_model, setup_failures)
    plainly = situation is None and engine == "bitset"
    if plainly and type(providers) is Catalog:
        recent = providers.recent.get((id(capability), id(policy)))
        if recent is not None:
            # The very objects that were checked a moment ago, and are frozen.
            terms, admitted, survivors, memo = recent
            read, ruled = memo.request
            return Solved(
                providers,
                read,
                ruled,
                Constraints(terms, providers, admitted=admitted),
                survivors,
                preferred_provider,
                preferred_model,
                failures,
                _memo=memo,
            )
    # Most have been checked before; what was made of them then is found in the same step.
    asked = clauses = None
    if type(capability) is not Capability or (asked := kept_for(capability)) is None:
        capability = read_capability(capability)
    if policy is not None and (type(policy) is not TenantPolicy or (clauses := kept_for(policy)) is None):
        policy = read_policy(policy)
    catalog = providers if isinstance(providers, Catalog) else Catalog(providers)
    memo = ScoreMemo((capability, policy))
    ruling = None
    if situation is not None:
        ruling, constraints = situation.compiled(capability, policy, catalog)
    else:
        terms = caller_terms(capability, asked)
        if policy is not None:
            terms += clause_terms(policy, clauses)
        constraints = Constraints(terms, catalog)
    survivors = engine_named(engine).solve(constraints)
    if plainly:
        catalog.recent.keep(capability, policy, (terms, constraints.admitted, survivors, memo))
    return Solved(
        catalog,
        capability,
        policy,
        constraints,
        survivors,
        preferred_provider,
        preferred_model,
        failures,
        ruling,
        _memo=memo,
    )


class RuleArguments(TypedDict, total=False):
    """The arguments of `route` that are about rules.

    Attributes:
        rules: What policy authors require, forbid and prefer, in order; or a Rulebook, which has the waivers,
            conditions and regions already and is read once for any number of routes.
        waivers: Exceptions from waivable rules.
        conditions: Named conditions, which rules and waivers refer to by `is`.
        regions: Groups of regions: the name of a group means its members too, in needs, policies and rules.
        labels: What the request says of itself; rules may look at it.
        at: The request's time, which decides about rules and waivers with dates; the present when absent.
        tokens: What the call uses, `prompt` and `completion`; without it nobody knows what the call costs.
        capability_name: The capability's name; rules may look at it.
        origins: Where constraints are written, by their ids.
    """

    rules: "Rulebook | Iterable[Rule | Mapping[str, Any]]"
    waivers: "Iterable[Waiver | Mapping[str, Any]]"
    conditions: "Mapping[str, Condition | Mapping[str, Any]] | None"
    regions: Regions | Mapping[str, Sequence[str]] | None
    labels: Mapping[str, str] | None
    at: datetime | str | None
    tokens: Mapping[str, int] | None
    capability_name: str | None
    origins: Origins | None


def situation_of(
    *,
    rules: "Rulebook | Iterable[Any]" = (),
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
    issues = _argument_issues(rules, waivers, capability_name, origins)
    if issues:
        raise InvalidRequestError(issues)
    if not (rules or waivers or conditions or regions or origins):
        # Nothing looks at the rest, but a broken one is no less broken.
        if at is not None or tokens is not None or labels is not None:
            _read_facts(labels, at, tokens)
        return None
    from .kleene import Call  # noqa: PLC0415 (takes long to load, and most requests have no rules)
    from .rulebook import read_rulebook  # noqa: PLC0415

    book = read_rulebook(rules, waivers=waivers, conditions=conditions, regions=regions)
    moment, call = _read_facts(labels, at, tokens)
    setting = book.setting(None if call is None else Call.of(*call))
    return Situation(book, setting, dict(labels or {}), capability_name, moment, origins)


def _argument_issues(rules: Any, waivers: Any, capability_name: Any, origins: Any) -> list[Issue]:
    """What is wrong with arguments that nothing else looks at, or whose absence would be taken for none."""
    issues = [
        Issue(f"/{name}", f"null; {name} are a list, which may be empty")
        for name, given in (("rules", rules), ("waivers", waivers))
        if given is None
    ]
    if capability_name is not None and not isinstance(capability_name, str):
        message = f"{shown(capability_name)} is {kind_of(capability_name)}; a string is expected"
        issues.append(Issue("/capabilityName", message))
    if origins is not None and not _are_origins(origins):
        issues.append(Issue("/origins", "origins are lists of Origin in an object, by the ids of constraints"))
    return issues


def _are_origins(given: Any) -> bool:
    return isinstance(given, Mapping) and all(
        isinstance(name, str) and isinstance(places, list | tuple) and all(isinstance(each, Origin) for each in places)
        for name, places in given.items()
    )


def _read_facts(labels: Any, at: Any, tokens: Any) -> tuple[Moment, tuple[Number, Number] | None]:
    """A request's time, and the tokens of its call."""
    if isinstance(at, datetime):
        at = at.astimezone(UTC).isoformat() if at.tzinfo is not None else str(at)
    given = {"labels": labels, "at": at, "tokens": tokens}
    issues = fact_issues({key: value for key, value in given.items() if value is not None})
    if issues:
        raise InvalidRequestError(issues)
    moment = read_moment(written(datetime.now(UTC)) if at is None else at)
    return moment, None if tokens is None else (tokens["prompt"], tokens["completion"])


def _read_rest(
    preferred_provider: str | None,
    preferred_model: str | None,
    setup_failures: Sequence[SetupFailure | Mapping[str, Any]],
) -> tuple[SetupFailure, ...]:
    """Check what of a request has no type of its own; the setup failures.

    Raises:
        InvalidRequestError: Something is broken; all issues.
    """
    issues = [
        Issue(path, f"{shown(hint)} is {kind_of(hint)}; a string is expected")
        for path, hint in (("/preferredProvider", preferred_provider), ("/preferredModel", preferred_model))
        if hint is not None and not isinstance(hint, str)
    ]
    failures: tuple[SetupFailure, ...] = ()
    try:
        failures = read_setup_failures(setup_failures, "/setupFailures")
    except InvalidRequestError as error:
        issues += error.issues
    if issues:
        raise InvalidRequestError(issues)
    return failures
