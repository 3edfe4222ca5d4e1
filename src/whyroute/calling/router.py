"""A router: tenants, their policies and their providers, bound together once."""

import os
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ..basics.issues import Issue, child, shown
from ..catalog.candidate import Member
from ..catalog.catalog import Catalog
from ..errors import InvalidPolicyError, InvalidRequestError
from ..model.calls import ModelCallDelta, ModelCallInput
from ..model.capability import Capability
from ..model.policy import TenantPolicy, read_policy
from ..model.provider import SetupFailure
from ..packs import Pack, UnknownTenantError, load_pack
from ..providers.registry import LoadsProviders, Registry
from ..routing.decision import Decision
from ..routing.prepare import prepare
from .invoking import Outcome, RetryOn, invoke, stream

__all__ = ["Router"]


class Router:
    """Routes and calls for the tenants of a pack, or of policies, over the providers of a registry.

    With a pack, its providers and the registry's stand side by side; an id in both is the pack's metadata with the
    registry's `invoke`. A tenant without a policy is an error, and so is a policy of another tenant. Safe to share
    between threads and event loops.

    Args:
        pack: A rule pack, or the path of one.
        registry: The providers; None: those of the pack, which can be routed to and not called.
        policies: Instead of a pack, the policy of each tenant.
        operator_labels: The labels that the operator sets.

    Raises:
        InvalidPolicyError: A policy is broken, or is another tenant's.
        TypeError: Neither a pack nor policies are given, or both.

    Example:
        >>> import asyncio
        >>> import whyroute as wr
        >>> registry = wr.ProviderRegistry([("acme", wr.EchoProvider("echo", region="eu"))])
        >>> policy = wr.TenantPolicy(tenant_id="acme", region_allow=["eu"])
        >>> router = wr.Router(policies={"acme": policy}, registry=registry)
        >>> router.route("acme", {"needs": [{"region": "eu"}]}).candidate
        <Candidate 'echo' 'echo'>
        >>> call = wr.ModelCallInput(model="any", messages=[wr.ModelMessage(role="user", content="hello")])
        >>> outcome = asyncio.run(router.invoke("acme", {"needs": [{"region": "eu"}]}, call))
        >>> outcome.result.message.content, outcome.result.provider.model, len(outcome.attempts)
        ('hello', 'echo', 1)
    """

    def __init__(
        self,
        pack: Pack | str | os.PathLike[str] | None = None,
        registry: Registry | None = None,
        *,
        policies: Mapping[str, TenantPolicy | Mapping[str, Any]] | None = None,
        operator_labels: Mapping[str, str] | None = None,
    ) -> None:
        if (pack is None) == (policies is None):
            raise TypeError("a router takes a pack or policies: exactly one of them")
        self._pack = pack if pack is None or isinstance(pack, Pack) else load_pack(pack)
        self._registry = registry
        self._policies = _policies(policies or {})
        self._operator_labels = dict(operator_labels or {})
        self._merged: dict[str, tuple[Catalog, Catalog]] = {}

    async def hydrate(self, tenant: str) -> None:
        """Load what the registry has for a tenant, where it loads anything; `invoke` and `stream` do it themselves.

        Raises:
            UnknownTenantError: The tenant has no policy.
        """
        self._known(tenant)
        if isinstance(self._registry, LoadsProviders):
            await self._registry.hydrate(tenant)

    def route(
        self,
        tenant: str,
        capability: str | Mapping[str, Any] | Capability,
        *,
        labels: Mapping[str, str] | None = None,
        at: datetime | str | None = None,
        preferred_provider: str | None = None,
        preferred_model: str | None = None,
    ) -> Decision:
        """Pick the candidate that serves a tenant's request, among the providers that are loaded.

        Args:
            tenant: The tenant.
            capability: The name of a capability of the pack, or a declaration.
            labels: What the request says of itself.
            at: The time of the request; the present when absent.
            preferred_provider: A hint: candidates of this provider come first.
            preferred_model: A hint: candidates of this model name come first.

        Raises:
            UnknownTenantError: The tenant has no policy.
            UnknownCapabilityError: The pack doesn't name the capability.
            CapabilityUnsatisfiableError: No candidate qualifies.
            InvalidCapabilityError: The declaration is broken.
            InvalidRequestError: A label, the time or a hint is broken.
        """
        self._known(tenant)
        catalog, failures = self._providers(tenant)
        if self._pack is None:
            if isinstance(capability, str):
                message = f"{shown(capability)} is a name, and no pack defines it; give a declaration"
                raise InvalidRequestError([Issue("/capability", message)])
            prepared = prepare(capability, self._policies[tenant], labels=labels)
            bound = prepared.bind(catalog, at, setup_failures=failures)
            return bound.route(preferred_provider, preferred_model)
        resolved = self._pack.resolve(
            tenant,
            capability,
            labels=labels,
            at=_written(at),
            preferred_provider=preferred_provider,
            preferred_model=preferred_model,
            operator_labels=self._operator_labels,
            catalog=catalog,
        )
        request = resolved.read(setup_failures=failures)
        outcome = request.outcome(request.solve())
        if isinstance(outcome, Decision):
            return outcome
        raise outcome

    async def invoke(
        self,
        tenant: str,
        capability: str | Mapping[str, Any] | Capability,
        call: ModelCallInput,
        *,
        retry_on: RetryOn | None = None,
        labels: Mapping[str, str] | None = None,
        at: datetime | str | None = None,
        preferred_provider: str | None = None,
        preferred_model: str | None = None,
    ) -> Outcome:
        """Route, and call the pick; where that fails in a way that is transient, call the alternates in rank order.

        Args:
            tenant: The tenant.
            capability: As for `route`.
            call: The call; its model is replaced by that of each candidate.
            retry_on: Which errors of a provider are transient; None: none is.
            labels: As for `route`.
            at: As for `route`.
            preferred_provider: As for `route`.
            preferred_model: As for `route`.

        Raises:
            InvocationError: No candidate answered; it has every attempt.
            BudgetExceededError: The answer used more than the budget of the capability; `outcome` has it all the same.
            WhyrouteError: As `route`.
        """
        await self.hydrate(tenant)
        decision = self.route(
            tenant,
            capability,
            labels=labels,
            at=at,
            preferred_provider=preferred_provider,
            preferred_model=preferred_model,
        )
        return await invoke(decision, decision.capability.budget, call, retry_on)

    async def stream(
        self,
        tenant: str,
        capability: str | Mapping[str, Any] | Capability,
        call: ModelCallInput,
        *,
        retry_on: RetryOn | None = None,
        labels: Mapping[str, str] | None = None,
        at: datetime | str | None = None,
        preferred_provider: str | None = None,
        preferred_model: str | None = None,
    ) -> AsyncIterator[ModelCallDelta | Outcome]:
        """`invoke` piece by piece, the outcome last; once a piece was given, no other candidate is called.

        Takes the arguments of `invoke` and raises its errors. A provider without `stream` is invoked.
        """
        await self.hydrate(tenant)
        decision = self.route(
            tenant,
            capability,
            labels=labels,
            at=at,
            preferred_provider=preferred_provider,
            preferred_model=preferred_model,
        )
        async for item in stream(decision, decision.capability.budget, call, retry_on):
            yield item

    def _known(self, tenant: str) -> None:
        if self._pack is not None:
            self._pack.policy(tenant)
        elif tenant not in self._policies:
            raise UnknownTenantError(tenant, self._policies, "policies")

    def _providers(self, tenant: str) -> tuple[Catalog, tuple[SetupFailure, ...]]:
        registry = self._registry
        live = Catalog() if registry is None else registry.list(tenant)
        failures = registry.setup_failures(tenant) if isinstance(registry, LoadsProviders) else ()
        if self._pack is None:
            return live, failures
        kept = self._merged.get(tenant)
        if kept is None or kept[0] is not live:
            kept = self._merged[tenant] = live, _side_by_side(self._pack, tenant, live)
        return kept[1], failures


def _side_by_side(pack: Pack, tenant: str, live: Catalog) -> Catalog:
    """The pack's providers that a tenant sees, then the registry's; one that the pack keeps from it stays hidden."""
    own = pack.catalog(tenant)
    brought = {metadata.id: provider for provider, metadata in zip(live, live.metadata, strict=True)}
    members: list[Member] = [
        (brought.get(metadata.id, provider), metadata) for provider, metadata in zip(own, own.metadata, strict=True)
    ]
    members += [
        (provider, metadata)
        for provider, metadata in zip(live, live.metadata, strict=True)
        if metadata.id not in pack.providers
    ]
    return Catalog.of_members(members)


def _policies(given: Mapping[str, TenantPolicy | Mapping[str, Any]]) -> dict[str, TenantPolicy]:
    found: dict[str, TenantPolicy] = {}
    issues: list[Issue] = []
    for tenant, policy in given.items():
        path = child("", tenant)
        try:
            found[tenant] = read_policy(policy, path)
        except InvalidPolicyError as error:
            issues += error.issues
            continue
        if found[tenant].tenant_id != tenant:
            message = f"this is the policy of tenant {shown(found[tenant].tenant_id)}, not of {shown(tenant)}"
            issues.append(Issue(child(path, "tenantId"), message))
    if issues:
        raise InvalidPolicyError(issues)
    return found


def _written(at: datetime | str | None) -> str | None:
    if not isinstance(at, datetime):
        return at
    return at.astimezone(UTC).isoformat() if at.tzinfo is not None else str(at)
