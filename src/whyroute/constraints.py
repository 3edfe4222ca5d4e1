"""Named constraints: kind check, needs and policy clauses, compiled against a catalog."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

from .catalog import Candidate, Catalog
from .declarations import (
    Capability,
    ContextWindowNeed,
    CostNeed,
    FeatureNeed,
    LatencyNeed,
    ModelsNeed,
    ProvidersNeed,
    RegionNeed,
)
from .errors import RejectionReason
from .policies import TenantPolicy
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

__all__ = ["Constraints", "NamedConstraint", "Origin", "Owner", "compile_constraints"]

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


@dataclass(frozen=True, slots=True)
class NamedConstraint:
    """One requirement, clause or kind check, compiled against a catalog.

    Attributes:
        id: What it is called: `kind`, `needs/0`, `policy/regionAllow`.
        owner: Whose it is to change: the caller's, the policy's or a rule's.
        term: What it compares.
        admitted: The set of candidate numbers it admits.
        catalog: The catalog it was compiled against.
        origins: Where it is written, when that is known.
    """

    id: str
    owner: Owner
    term: Term
    admitted: int
    catalog: Catalog
    origins: tuple[Origin, ...] = ()

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

    def rejection(self, candidate: Candidate) -> RejectionReason | None:
        """Why a candidate does not pass; None when it does."""
        observed = self.term.observe(candidate.metadata, candidate.model)
        return None if self.term.accepts(observed) else self.term.reason(observed)

    def rejections(self) -> Iterator[tuple[Candidate, RejectionReason]]:
        """The candidates it rejects, each with why; candidates with the same value share the reason."""
        shared: dict[Any, RejectionReason] = {}
        observe = self.term.observe
        for candidate in self.catalog.candidates(self.rejected):
            observed = observe(candidate.metadata, candidate.model)
            reason = shared.get(observed)
            if reason is None:
                reason = shared[observed] = self.term.reason(observed)
            yield candidate, reason

    def __repr__(self) -> str:
        return f"<NamedConstraint {self.id} {self.label!r} admits {self.admitted.bit_count()} of {self.catalog.size}>"


class Constraints(Sequence[NamedConstraint]):
    """The constraints of a route, in the contract's order. Each is made when it is first read.

    A route that finds a candidate reads none of them: the engine needs only the sets they admit.

    Attributes:
        catalog: What they were compiled against.
        admitted: For each, the set of candidates that it admits.
    """

    __slots__ = ("_named", "_terms", "admitted", "catalog")

    def __init__(
        self, terms: list[tuple[str, Owner, Term]], catalog: Catalog, known: Mapping[Term, int] | None = None
    ) -> None:
        self._terms = terms
        self._named: list[NamedConstraint] | None = None
        self.catalog = catalog
        if known is None:
            self.admitted: list[int] = [term.admitted(catalog) for _, _, term in terms]
        else:
            found = (known.get(term) for _, _, term in terms)
            self.admitted = [
                term.admitted(catalog) if members is None else members
                for members, (_, _, term) in zip(found, terms, strict=True)
            ]

    def known(self) -> dict[Term, int]:
        """What each term admits, for compiling a request that is nearly the same against the same catalog."""
        return {term: admitted for (_, _, term), admitted in zip(self._terms, self.admitted, strict=True)}

    def __len__(self) -> int:
        return len(self._terms)

    @overload
    def __getitem__(self, index: int) -> NamedConstraint: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[NamedConstraint]: ...

    def __getitem__(self, index: int | slice) -> NamedConstraint | Sequence[NamedConstraint]:
        named = self._named
        if named is None:
            named = self._named = [
                NamedConstraint(name, owner, term, admitted, self.catalog)
                for (name, owner, term), admitted in zip(self._terms, self.admitted, strict=True)
            ]
        return named[index]


def compile_constraints(
    capability: Capability, policy: TenantPolicy | None, catalog: Catalog, known: Mapping[Term, int] | None = None
) -> Constraints:
    """The constraints of a route, in the contract's order: kind, needs, policy clauses.

    Args:
        capability: The declaration.
        policy: The tenant's policy, if there is one.
        catalog: The candidates.
        known: What some terms admit of this very catalog; these are not asked again.
    """
    terms: list[tuple[str, Owner, Term]] = [("kind", "caller", KindTerm(capability.kind))]
    for index, need in enumerate(capability.needs):
        terms.append((f"needs/{index}", "caller", _NEED_TERMS[type(need)](need)))
    if policy is not None:
        terms += [(clause, "policy", term) for clause, term in _policy_terms(policy)]
    return Constraints(terms, catalog, known)


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
