"""A request, compiled and solved: what a decision, a failed answer and an explanation are made from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from . import bits
from .catalog import Candidate, Catalog
from .constraints import Constraints, compile_constraints
from .declarations import Capability, read_capability
from .errors import InvalidRequestError
from .issues import Issue, kind_of, shown
from .policies import TenantPolicy, read_policy
from .providers import DeclaredProvider, SetupFailure, read_setup_failures
from .ranking import Ranking, ScoreMemo, rank
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
    _memo: ScoreMemo = field(default_factory=ScoreMemo, repr=False, compare=False, kw_only=True)

    def ranked(self, members: int) -> Ranking:
        """The candidates of a set that is not empty, ranked as if they were the ones that qualify."""
        return rank(
            members,
            self.catalog,
            self.capability.prefer,
            self.preferred_provider,
            self.preferred_model,
            memo=self._memo,
        )

    def matched(self) -> tuple[Candidate, ...]:
        """The candidates that qualify, in input order."""
        admitted = bits.flags(self.survivors, self.catalog.size)
        candidate = self.catalog.candidate
        return tuple(candidate(number) for number in self.catalog.input_order() if admitted[number] == "1")

    def declared(self) -> "Solved":
        """The same over providers that are known by their metadata alone, which can be sent to another process."""
        catalog = Catalog.of_members((DeclaredProvider(meta), meta) for meta in self.catalog.metadata)
        return replace(self, catalog=catalog).again(self.capability, self.policy)

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
    failures = _read_rest(preferred_provider, preferred_model, setup_failures)
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
        failures,
    )


def _read_rest(
    preferred_provider: str | None,
    preferred_model: str | None,
    setup_failures: Sequence[SetupFailure | Mapping[str, Any]],
) -> tuple[SetupFailure, ...]:
    """Check what of a request has no type of its own; the setup failures.

    Raises:
        InvalidRequestError: Something is broken; all issues.
    """
    if preferred_provider is None and preferred_model is None and setup_failures == ():
        return ()
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
