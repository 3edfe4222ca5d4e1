"""Named constraints: kind check, needs, policy clauses and rules, compiled against a catalog."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from ..catalog.candidate import Candidate
from ..catalog.catalog import Catalog
from ..errors import RejectionReason
from ..model.capability import (
    Capability,
    ContextWindowNeed,
    CostNeed,
    FeatureNeed,
    LatencyNeed,
    ModelsNeed,
    ProvidersNeed,
    RegionNeed,
)
from ..model.policy import TenantPolicy
from ..model.regions import NO_REGIONS, Regions
from .custom import CustomTerm
from .terms import (
    ContextWindowTerm,
    FeatureTerm,
    KindTerm,
    LatencyTerm,
    ListTerm,
    PriceTerm,
    RegionListTerm,
    RegionTerm,
    Term,
)

if TYPE_CHECKING:
    from .rule_terms import RuleTerm

__all__ = [
    "About",
    "Constraints",
    "NamedConstraint",
    "Origin",
    "Origins",
    "Owner",
    "Terms",
    "caller_terms",
    "clause_terms",
    "compile_constraints",
    "request_terms",
    "rule_constraint",
]

Owner = Literal["caller", "policy", "rule"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a constraint is written.

    Attributes:
        file: Name of the file.
        line: Its line, from 1.
        column: Its column, from 1.
    """

    file: str
    line: int
    column: int

    def to_dict(self) -> dict[str, Any]:
        """The place as JSON."""
        return {"file": self.file, "line": self.line, "column": self.column}


Origins = Mapping[str, Sequence[Origin]]
"""Where constraints are written, by their ids."""


@dataclass(frozen=True, slots=True)
class About:
    """What a rule says of itself; of a clause, the contact.

    Attributes:
        because: Why there is this rule.
        contact: The contact for questions about it.
        waivable: Whether a waiver may lift it.
        shadow: Whether it is only tried out, and rejects no candidate.
    """

    because: str | None = None
    contact: str | None = None
    waivable: bool = False
    shadow: bool = False


_SAYS_NOTHING = About()


@dataclass(frozen=True, slots=True, init=False)
class NamedConstraint:
    """One requirement, clause, kind check or rule, compiled against a catalog.

    Attributes:
        id: What it is called: `kind`, `needs/0`, `policy/regionAllow`, `rules/<name>`.
        owner: Whose it is to change: the caller's, the policy's or a rule's.
        term: What it compares.
        admitted: The set of candidate numbers it admits.
        catalog: The catalog it was compiled against.
        origins: Where it is written, when that is known.
        about: What a rule says of itself; of a clause, the contact.
    """

    id: str
    owner: Owner
    term: Term
    admitted: int
    catalog: Catalog
    origins: tuple[Origin, ...] = ()
    about: About = _SAYS_NOTHING

    def __init__(
        self,
        id: str,
        owner: Owner,
        term: Term,
        admitted: int,
        catalog: Catalog,
        origins: tuple[Origin, ...] = (),
        about: About = _SAYS_NOTHING,
    ) -> None:
        # As the one that would be generated, at half its cost: every failed answer makes all of its constraints.
        _SET_ID(self, id)
        _SET_OWNER(self, owner)
        _SET_TERM(self, term)
        _SET_ADMITTED(self, admitted)
        _SET_CATALOG(self, catalog)
        _SET_ORIGINS(self, origins)
        _SET_ABOUT(self, about)

    @property
    def because(self) -> str | None:
        """Why there is this rule or custom constraint; None for other constraints."""
        return self.about.because

    @property
    def contact(self) -> str | None:
        """The contact for this rule or clause, when that is known."""
        return self.about.contact

    @property
    def waivable(self) -> bool:
        """Whether it is a rule that a waiver may lift."""
        return self.about.waivable

    @property
    def shadow(self) -> bool:
        """Whether it is a rule that is only tried out: it rejects no candidate, whatever its counts are."""
        return self.about.shadow

    @property
    def label(self) -> str:
        """The contract's text for it, such as `contextWindow>=200000`."""
        return self.term.label

    @property
    def rejected(self) -> int:
        """The set of candidate numbers it does not admit."""
        return self.catalog.all() & ~self.admitted

    def admits(self, candidate: Candidate) -> bool:
        """Whether a candidate passes, judged by its metadata alone, without the index."""
        return self.term.accepts(self.term.observe(candidate.metadata, candidate.model))

    def rejection(
        self, candidate: Candidate, told: dict[Hashable, RejectionReason] | None = None
    ) -> RejectionReason | None:
        """Why a candidate does not pass; None when it does.

        Args:
            candidate: The candidate.
            told: The reasons that this constraint told already, by what was observed: candidates share them.
        """
        observed = self.term.observe(candidate.metadata, candidate.model)
        reason = None if told is None else told.get(observed)
        if reason is None and not self.term.accepts(observed):
            reason = self.term.reason(observed)
            if told is not None:
                told[observed] = reason
        return reason

    def rejections(self) -> Iterator[tuple[Candidate, RejectionReason]]:
        """The candidates it rejects, each with why; candidates with the same value share the reason."""
        told: dict[Hashable, RejectionReason] = {}
        for candidate in self.catalog.candidates(self.rejected):
            reason = self.rejection(candidate, told)
            assert reason is not None  # it is among the rejected
            yield candidate, reason

    def __len__(self) -> int:
        """How many candidates it admits."""
        return self.admitted.bit_count()

    def __bool__(self) -> bool:
        # A constraint that admits nothing is no less a constraint.
        return True

    def __repr__(self) -> str:
        return f"<NamedConstraint {self.id} {self.label!r} admits {self.admitted.bit_count()} of {self.catalog.size}>"


_SET_ID, _SET_OWNER, _SET_TERM, _SET_ADMITTED, _SET_CATALOG, _SET_ORIGINS, _SET_ABOUT = (
    NamedConstraint.__dict__[name].__set__
    for name in ("id", "owner", "term", "admitted", "catalog", "origins", "about")
)


class Constraints(Sequence[NamedConstraint]):
    """The constraints of a route, in the contract's order. Each is made when it is first read.

    A route that finds a candidate reads none of them: the engine needs only the sets they admit.

    Attributes:
        catalog: What they were compiled against.
        admitted: For each, the set of candidates that it admits.
    """

    __slots__ = ("_contacts", "_named", "_origins", "_terms", "admitted", "catalog")

    def __init__(
        self,
        terms: "Terms",
        catalog: Catalog,
        *,
        origins: Origins | None = None,
        contacts: Mapping[str, str] | None = None,
    ) -> None:
        self._terms = terms
        self._origins = origins
        self._contacts = contacts
        self._named: list[NamedConstraint] | None = None
        self.catalog = catalog
        self.admitted = [term.admitted(catalog) for _, _, term in terms]

    @property
    def ids(self) -> tuple[str, ...]:
        """The id of each, at no more cost than that of reading it."""
        return tuple(name for name, _, _ in self._terms)

    def __len__(self) -> int:
        return len(self._terms)

    @overload
    def __getitem__(self, index: int) -> NamedConstraint: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[NamedConstraint]: ...

    def __getitem__(self, index: int | slice) -> NamedConstraint | Sequence[NamedConstraint]:
        named = self._named
        if named is None:
            origins, contacts, catalog = self._origins or {}, self._contacts or {}, self.catalog
            named = [
                NamedConstraint(name, owner, term, admitted, catalog)
                if owner == "caller" and not isinstance(term, CustomTerm)
                else NamedConstraint(
                    name,
                    owner,
                    term,
                    admitted,
                    catalog,
                    tuple(origins.get(name, ())),
                    _about(name, owner, term, contacts),
                )
                for (name, owner, term), admitted in zip(self._terms, self.admitted, strict=True)
            ]
            self._named = named
        return named[index]


def rule_constraint(
    term: "RuleTerm", admitted: int, catalog: Catalog, origins: Origins | None = None
) -> NamedConstraint:
    """The constraint that a rule comes to.

    Args:
        term: What the rule compares.
        admitted: The candidates that it admits.
        catalog: The catalog it was compiled against.
        origins: Where constraints are written, by their ids.
    """
    name = term.id
    return NamedConstraint(name, "rule", term, admitted, catalog, tuple((origins or {}).get(name, ())), _of_rule(term))


def _of_rule(term: "RuleTerm") -> About:
    rule = term.rule
    return About(rule.because, rule.owner, rule.waivable, rule.shadow)


def _about(name: str, owner: Owner, term: Term, contacts: Mapping[str, str]) -> About:
    if owner == "rule":
        return _of_rule(cast("RuleTerm", term))
    if isinstance(term, CustomTerm):
        return About(term.custom.because)
    contact = contacts.get(name)
    return _SAYS_NOTHING if contact is None else About(contact=contact)


Terms = Sequence[tuple[str, Owner, Term]]
"""Constraints before they meet a catalog: of each its id, whose it is and what it compares."""


def compile_constraints(
    capability: Capability,
    policy: TenantPolicy | None,
    catalog: Catalog,
    *,
    regions: Regions = NO_REGIONS,
    origins: Origins | None = None,
) -> Constraints:
    """The constraints of a request without rules, in the contract's order: kind, needs, policy clauses.

    Args:
        capability: The declaration.
        policy: The tenant's policy, if there is one.
        catalog: The candidates.
        regions: Groups of regions, which region needs and `regionAllow` may name.
        origins: Where constraints are written, by their ids.
    """
    return Constraints(request_terms(capability, policy, regions), catalog, origins=origins)


def request_terms(capability: Capability, policy: TenantPolicy | None, regions: Regions = NO_REGIONS) -> "_Terms":
    """What a request without its rules compares, in the contract's order: kind, needs, policy clauses.

    Args:
        capability: The declaration.
        policy: The tenant's policy, if there is one.
        regions: Groups of regions, which region needs and `regionAllow` may name.
    """
    terms = caller_terms(capability)
    if policy is not None:
        terms += clause_terms(policy)
    if regions.groups:
        terms = tuple((name, owner, _over_groups(term, regions)) for name, owner, term in terms)
    return terms


_Terms = tuple[tuple[str, Owner, Term], ...]


def caller_terms(capability: Capability) -> _Terms:
    """What a declaration compares: its kind, then its needs."""
    needs = enumerate(capability.needs)
    kind: tuple[str, Owner, Term] = ("kind", "caller", KindTerm(capability.kind))
    return (kind, *((f"needs/{index}", "caller", _NEED_TERMS[type(need)](need)) for index, need in needs))


def clause_terms(policy: TenantPolicy) -> _Terms:
    """What a policy compares: the clauses that are set, in their order."""
    return tuple((clause, "policy", term) for clause, term in _policy_terms(policy))


def _over_groups(term: Term, regions: Regions) -> Term:
    """A comparison of regions that takes the name of a group for its members as well."""
    match term:
        case RegionTerm(wanted=wanted):
            return RegionTerm(wanted, regions.meaning(wanted))
        case RegionListTerm(allow=allow):
            return RegionListTerm(allow, regions.meanings(allow))
        case _:
            return term


_NEED_TERMS: dict[type, Callable[[Any], Term]] = {
    FeatureNeed: lambda need: FeatureTerm(need.feature),
    ContextWindowNeed: lambda need: ContextWindowTerm(need.context_window.op, need.context_window.value),
    CostNeed: lambda need: PriceTerm(need.cost_per_call.op, need.cost_per_call.usd),
    RegionNeed: lambda need: RegionTerm(need.region),
    LatencyNeed: lambda need: LatencyTerm(need.p95_latency_ms.op, need.p95_latency_ms.value),
    ProvidersNeed: lambda need: ListTerm("providers", need.providers.allow, need.providers.deny),
    ModelsNeed: lambda need: ListTerm("models", need.models.allow, need.models.deny),
}


def _policy_terms(policy: TenantPolicy) -> Iterator[tuple[str, Term]]:
    """The clauses that are set. An empty deny list sets nothing; an empty allow list allows nothing."""
    for subject, lists in (("providers", policy.providers), ("models", policy.models)):
        if lists is not None:
            if lists.deny:
                yield f"policy/{subject}/deny", ListTerm(subject, None, lists.deny, "deny")
            if lists.allow is not None:
                yield f"policy/{subject}/allow", ListTerm(subject, lists.allow, None, "allow")
    if policy.region_allow is not None:
        yield "policy/regionAllow", RegionListTerm(policy.region_allow)
    if policy.max_cost_per_call_usd is not None:
        yield "policy/maxCostPerCallUsd", PriceTerm("<=", policy.max_cost_per_call_usd, cap=True)
    if policy.max_tokens_per_call is not None:
        yield "policy/maxTokensPerCall", ContextWindowTerm(">=", policy.max_tokens_per_call, floor=True)
