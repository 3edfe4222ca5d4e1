"""The facade: route, match and explain."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from ..catalog.candidate import Candidate
from ..engine.single import EngineName
from ..explanations import Explanation, Limits
from ..model.capability import Capability
from ..model.policy import TenantPolicy
from ..model.provider import SetupFailure
from ..solving.situation import RuleArguments, read_rest
from .decision import Decision
from .prepare import Bound, prepared_at, read_why_not

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

    Example:
        >>> import whyroute as wr
        >>> decision = wr.route({"needs": []}, [wr.EchoProvider("echo", region="eu")])
        >>> decision.provider.metadata.id, decision.model.name
        ('echo', 'echo')
    """
    failures = read_rest(preferred_provider, preferred_model, setup_failures)
    bound = _bound(capability, providers, policy, failures, engine, ruling)
    return bound.route(preferred_provider, preferred_model)


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

    Example:
        >>> import whyroute as wr
        >>> [each.id for each in wr.match({"needs": []}, [wr.EchoProvider("a"), wr.EchoProvider("b")])]
        ['a/echo', 'b/echo']
    """
    return _bound(capability, providers, policy, read_rest(None, None, setup_failures), engine, ruling).match()


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

    Example:
        >>> import whyroute as wr
        >>> explanation = wr.explain({"needs": [{"region": "eu"}]}, [wr.EchoProvider("echo", region="us")])
        >>> explanation.satisfiable, [[each.id for each in core] for core in explanation.cores]
        (False, [['needs/0']])
    """
    if why_not is not None:
        why_not = read_why_not(why_not)
    failures = read_rest(preferred_provider, preferred_model, setup_failures)
    bound = _bound(capability, providers, policy, failures, engine, ruling)
    return bound.explain(why_not, limits, preferred_provider=preferred_provider, preferred_model=preferred_model)


def _bound(
    capability: Capability | Mapping[str, Any],
    providers: Iterable[Any],
    policy: TenantPolicy | Mapping[str, Any] | None,
    failures: tuple[SetupFailure, ...],
    engine: EngineName,
    ruling: RuleArguments,
) -> Bound:
    prepared, at = prepared_at(capability, policy, ruling)
    return prepared.bind(providers, at, setup_failures=failures, engine=engine)
