"""A request, compiled and solved: what a decision, a failed answer and an explanation are made from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from . import bits
from .catalog import Candidate, Catalog
from .constraints import Constraints, compile_constraints
from .declarations import Capability, read_capability
from .policies import TenantPolicy, read_policy
from .providers import SetupFailure
from .ranking import Ranking, rank
from .solver import EngineName, engine_named

__all__ = ["Solved", "solve"]


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
    """

    catalog: Catalog
    capability: Capability
    policy: TenantPolicy | None
    constraints: Constraints
    survivors: int
    preferred_provider: str | None
    preferred_model: str | None
    setup_failures: tuple[SetupFailure, ...]

    def ranked(self, members: int) -> Ranking:
        """The candidates of a set that is not empty, ranked as if they were the ones that qualify."""
        return rank(members, self.catalog, self.capability.prefer, self.preferred_provider, self.preferred_model)

    def matched(self) -> tuple[Candidate, ...]:
        """The candidates that qualify, in input order."""
        admitted = bits.flags(self.survivors, self.catalog.size)
        candidate = self.catalog.candidate
        return tuple(candidate(number) for number in self.catalog.input_order() if admitted[number] == "1")

    def again(self, capability: Capability, policy: TenantPolicy | None) -> "Solved":
        """The same request with another declaration or policy, solved. What stays of it is not compiled again."""
        constraints = compile_constraints(capability, policy, self.catalog, self.constraints.known())
        survivors = engine_named("bitset").solve(constraints)
        return replace(self, capability=capability, policy=policy, constraints=constraints, survivors=survivors)


def solve(
    capability: Capability | Mapping[str, Any],
    providers: Iterable[Any],
    *,
    policy: TenantPolicy | Mapping[str, Any] | None = None,
    preferred_provider: str | None = None,
    preferred_model: str | None = None,
    setup_failures: Sequence[SetupFailure | Mapping[str, Any]] = (),
    engine: EngineName = "bitset",
) -> Solved:
    """Compile a request against the catalog and solve it. Takes the arguments of `route`."""
    if not isinstance(capability, Capability):
        capability = read_capability(capability)
    if policy is not None and not isinstance(policy, TenantPolicy):
        policy = read_policy(policy)
    catalog = providers if isinstance(providers, Catalog) else Catalog(providers)
    constraints = compile_constraints(capability, policy, catalog)
    return Solved(
        catalog,
        capability,
        policy,
        constraints,
        engine_named(engine).solve(constraints),
        preferred_provider,
        preferred_model,
        _read_failures(setup_failures) if setup_failures else (),
    )


def _read_failures(given: Sequence[SetupFailure | Mapping[str, Any]]) -> tuple[SetupFailure, ...]:
    return tuple(f if isinstance(f, SetupFailure) else SetupFailure.model_validate(f) for f in given)
