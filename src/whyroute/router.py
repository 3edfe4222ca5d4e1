"""The facade: route, match and explain."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from .catalog import Candidate
from .decisions import Decision, outcome_of
from .declarations import Capability
from .errors import InvalidRequestError
from .explanations import Explanation, Limits
from .issues import Issue, kind_of, shown
from .policies import TenantPolicy
from .providers import SetupFailure
from .solver import EngineName
from .solving import RuleArguments, situation_of, solve

__all__ = ["explain", "match", "route"]


def route(
    capability: Capability | Mapping[str, Any],
    providers: Iterable[Any],
    *,
    policy: TenantPolicy | Mapping[str, Any] | None = None,
    preferred_provider: str | None = None,
    preferred_model: str | None = None,
    setup_failures: Sequence[SetupFailure | Mapping[str, Any]] = (),
    engine: EngineName = "bitset",
    **ruling: Unpack[RuleArguments],
) -> Decision:
    """Pick the candidate that serves a capability under a policy.

    Args:
        capability: The declaration, as a model or in wire form. An empty `needs` is fine here.
        providers: The tenant's providers: `registry.list(tenant)`, which is indexed, or any list of providers.
        policy: The tenant's policy.
        preferred_provider: A hint: candidates of this provider come first. It never admits anyone.
        preferred_model: A hint: candidates of this model name come first.
        setup_failures: Providers that could not be set up, to be named when nothing qualifies.
        engine: `bitset`, or `plain`: the library's own search over function constraints, slower by far.
        ruling: Rules and what they depend on: the keys of `RuleArguments`.

    Raises:
        CapabilityUnsatisfiableError: No candidate qualifies.
        InvalidCapabilityError: The declaration is broken.
        InvalidPolicyError: The policy is broken.
        InvalidProviderError: A provider's metadata is broken.
        DuplicateProviderError: Two providers in the list have one id.
        InvalidRequestError: A hint, a setup failure, a rule or what goes with rules is broken.
    """
    solved = solve(
        capability,
        providers,
        policy=policy,
        preferred_provider=preferred_provider,
        preferred_model=preferred_model,
        setup_failures=setup_failures,
        situation=situation_of(**ruling) if ruling else None,
        engine=engine,
    )
    outcome = outcome_of(solved)
    if isinstance(outcome, Decision):
        return outcome
    raise outcome


def match(
    capability: Capability | Mapping[str, Any],
    providers: Iterable[Any],
    *,
    policy: TenantPolicy | Mapping[str, Any] | None = None,
    setup_failures: Sequence[SetupFailure | Mapping[str, Any]] = (),
    engine: EngineName = "bitset",
    **ruling: Unpack[RuleArguments],
) -> tuple[Candidate, ...]:
    """The candidates that qualify, fallbacks included, unranked: in the order of the providers and their models.

    Takes the arguments of `route` but for the hints, and raises the same errors.
    """
    solved = solve(
        capability,
        providers,
        policy=policy,
        setup_failures=setup_failures,
        situation=situation_of(**ruling) if ruling else None,
        engine=engine,
    )
    outcome = outcome_of(solved)
    if isinstance(outcome, Decision):
        return solved.matched()
    raise outcome


def explain(
    capability: Capability | Mapping[str, Any],
    providers: Iterable[Any],
    *,
    policy: TenantPolicy | Mapping[str, Any] | None = None,
    preferred_provider: str | None = None,
    preferred_model: str | None = None,
    setup_failures: Sequence[SetupFailure | Mapping[str, Any]] = (),
    why_not: tuple[str, str] | None = None,
    limits: Limits | None = None,
    engine: EngineName = "bitset",
    **ruling: Unpack[RuleArguments],
) -> Explanation:
    """Why a route comes out as it does, why not otherwise, and what would have to change.

    Takes the arguments of `route` and raises its errors, but never for "nothing qualifies".

    Args:
        why_not: A (provider id, model name) to compare with the pick.
        limits: How much of each list is made.
    """
    if why_not is not None:
        why_not = _read_candidate(why_not)
    if limits is not None and not isinstance(limits, Limits):
        raise TypeError(f"`limits` is {kind_of(limits)}; Limits are expected")
    solved = solve(
        capability,
        providers,
        policy=policy,
        preferred_provider=preferred_provider,
        preferred_model=preferred_model,
        setup_failures=setup_failures,
        situation=situation_of(**ruling) if ruling else None,
        engine=engine,
    )
    return Explanation(solved, why_not, limits or Limits())


def _read_candidate(given: Any) -> tuple[str, str]:
    match given:
        case tuple() | list() if len(given) == 2 and all(isinstance(name, str) for name in given):
            return given[0], given[1]
        case _:
            message = f"{shown(given)} is {kind_of(given)}; a provider id and a model name are expected, in a tuple"
            raise InvalidRequestError([Issue("/whyNot", message)])
