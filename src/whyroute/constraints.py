"""Named constraints: kind check, needs and policy clauses, compiled against a catalog."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

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

__all__ = ["NamedConstraint", "Origin", "Owner", "compile_constraints"]

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


def compile_constraints(capability: Capability, policy: TenantPolicy | None, catalog: Catalog) -> list[NamedConstraint]:
    """The constraints of a route, in the contract's order: kind, needs, policy clauses."""
    kind = KindTerm(capability.kind)
    found = [NamedConstraint("kind", "caller", kind, kind.admitted(catalog), catalog)]
    for index, need in enumerate(capability.needs):
        term = _NEED_TERMS[type(need)](need)
        found.append(NamedConstraint(f"needs/{index}", "caller", term, term.admitted(catalog), catalog))
    if policy is not None:
        for clause, term in _policy_terms(policy):
            found.append(NamedConstraint(clause, "policy", term, term.admitted(catalog), catalog))
    return found


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


def failing(constraints: list[NamedConstraint], number: int) -> list[NamedConstraint]:
    """The constraints that reject the candidate of this number."""
    return [constraint for constraint in constraints if not constraint.admitted >> number & 1]
