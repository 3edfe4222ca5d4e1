"""The facade: route, match and explain."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .catalog import Candidate
from .constraints import Origins
from .decisions import Decision, outcome_of
from .declarations import Capability
from .explanations import Explanation, Limits
from .policies import TenantPolicy
from .providers import SetupFailure
from .regions import Regions
from .solver import EngineName
from .solving import situation_of, solve

if TYPE_CHECKING:
    from .conditions import Condition
    from .rulebook import Rulebook
    from .rules import Rule, Waiver

__all__ = ["explain", "match", "route"]


def route(
    capability: Capability | Mapping[str, Any],
    providers: Iterable[Any],
    *,
    policy: TenantPolicy | Mapping[str, Any] | None = None,
    preferred_provider: str | None = None,
    preferred_model: str | None = None,
    setup_failures: Sequence[SetupFailure | Mapping[str, Any]] = (),
    rules: "Rulebook | Iterable[Rule | Mapping[str, Any]]" = (),
    waivers: "Iterable[Waiver | Mapping[str, Any]]" = (),
    conditions: "Mapping[str, Condition | Mapping[str, Any]] | None" = None,
    regions: Regions | Mapping[str, Sequence[str]] | None = None,
    labels: Mapping[str, str] | None = None,
    at: datetime | str | None = None,
    tokens: Mapping[str, int] | None = None,
    capability_name: str | None = None,
    origins: Origins | None = None,
    engine: EngineName = "bitset",
) -> Decision:
    """Pick the candidate that serves a capability under a policy.

    Args:
        capability: The declaration, as a model or in wire form. An empty `needs` is fine here.
        providers: The tenant's providers: `registry.list(tenant)`, which is indexed, or any list of providers.
        policy: The tenant's policy.
        preferred_provider: A hint: candidates of this provider come first. It never admits anyone.
        preferred_model: A hint: candidates of this model name come first.
        setup_failures: Providers that could not be set up, to be named when nothing qualifies.
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
        engine: `bitset`, or `plain`: the library's own search over function constraints, slower by far.

    Raises:
        CapabilityUnsatisfiableError: No candidate qualifies.
        InvalidCapabilityError: The declaration is broken.
        InvalidPolicyError: The policy is broken.
        InvalidProviderError: A provider's metadata is broken.
        DuplicateProviderError: Two providers in the list have one id.
        InvalidRequestError: Rules, or what goes with them, are broken.
    """
    solved = solve(
        capability,
        providers,
        policy=policy,
        preferred_provider=preferred_provider,
        preferred_model=preferred_model,
        setup_failures=setup_failures,
        situation=situation_of(
            rules,
            waivers=waivers,
            conditions=conditions,
            regions=regions,
            labels=labels,
            at=at,
            tokens=tokens,
            capability_name=capability_name,
            origins=origins,
        ),
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
    rules: "Rulebook | Iterable[Rule | Mapping[str, Any]]" = (),
    waivers: "Iterable[Waiver | Mapping[str, Any]]" = (),
    conditions: "Mapping[str, Condition | Mapping[str, Any]] | None" = None,
    regions: Regions | Mapping[str, Sequence[str]] | None = None,
    labels: Mapping[str, str] | None = None,
    at: datetime | str | None = None,
    tokens: Mapping[str, int] | None = None,
    capability_name: str | None = None,
    origins: Origins | None = None,
    engine: EngineName = "bitset",
) -> tuple[Candidate, ...]:
    """The candidates that qualify, fallbacks included, unranked: in the order of the providers and their models.

    Takes the arguments of `route` but for the hints, and raises the same errors.
    """
    solved = solve(
        capability,
        providers,
        policy=policy,
        setup_failures=setup_failures,
        situation=situation_of(
            rules,
            waivers=waivers,
            conditions=conditions,
            regions=regions,
            labels=labels,
            at=at,
            tokens=tokens,
            capability_name=capability_name,
            origins=origins,
        ),
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
    rules: "Rulebook | Iterable[Rule | Mapping[str, Any]]" = (),
    waivers: "Iterable[Waiver | Mapping[str, Any]]" = (),
    conditions: "Mapping[str, Condition | Mapping[str, Any]] | None" = None,
    regions: Regions | Mapping[str, Sequence[str]] | None = None,
    labels: Mapping[str, str] | None = None,
    at: datetime | str | None = None,
    tokens: Mapping[str, int] | None = None,
    capability_name: str | None = None,
    origins: Origins | None = None,
    why_not: tuple[str, str] | None = None,
    limits: Limits | None = None,
    engine: EngineName = "bitset",
) -> Explanation:
    """Why a route comes out as it does, why not otherwise, and what would have to change.

    Takes the arguments of `route` and raises its errors, but never for "nothing qualifies".

    Args:
        why_not: A (provider id, model name) to compare with the pick.
        limits: How much of each list is made.
    """
    solved = solve(
        capability,
        providers,
        policy=policy,
        preferred_provider=preferred_provider,
        preferred_model=preferred_model,
        setup_failures=setup_failures,
        situation=situation_of(
            rules,
            waivers=waivers,
            conditions=conditions,
            regions=regions,
            labels=labels,
            at=at,
            tokens=tokens,
            capability_name=capability_name,
            origins=origins,
        ),
        engine=engine,
    )
    return Explanation(solved, why_not, limits or Limits())
