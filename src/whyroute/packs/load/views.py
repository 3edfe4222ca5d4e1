"""What a pack says for one tenant."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ...catalog.catalog import Catalog
from ...constraints.rulebook import Rulebook
from ...constraints.three_valued import Call, EvalContext
from ...solving.request import RequestTerms
from ...solving.situation import Situation
from .definitions import Definition
from .models import Tenant
from .policy import Part, PolicyInForce, parts_of, policy_of

if TYPE_CHECKING:
    from .pack import Pack

__all__ = ["TenantView"]

_PREPARED: Final = 4096
"""How many prepared requests of a tenant are kept: labels that a pack declares have many combinations."""


class TenantView:
    """What a pack says for one tenant, each part made when it is first asked for."""

    def __init__(self, pack: "Pack", tenant: Definition[Tenant]) -> None:
        self._pack = pack
        self._tenant = tenant
        self._prepared: dict[tuple[str, tuple[tuple[str, str], ...]], RequestTerms] = {}

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The policies that the tenant's is combined from, each once, in that order; its own last."""
        every_tenant = (name for name, _ in self._pack.every_tenant)
        return tuple(parts_of(self._tenant, every_tenant, self._pack.policies))

    @cached_property
    def policy(self) -> PolicyInForce:
        """What holds for the tenant."""
        pack, name = self._pack, self._tenant.name
        regions = pack.groups if pack.regions else None
        waivers = [each for each in pack.waivers.values() if each.value.tenant == name]
        return policy_of(name, self.parts, regions, pack.rules, waivers)

    @cached_property
    def rulebook(self) -> Rulebook:
        """The rules that hold for the tenant, with its own waivers and everything else that they refer to."""
        entries = [self._pack.entries[each.rule.name] for each in self.policy.rules]
        return Rulebook(
            tuple(entry.of_tenant(self._tenant.name) for entry in entries),
            tuple(each.value for each in self.policy.waivers),
            self._pack.groups,
        )

    @cached_property
    def catalog(self) -> Catalog:
        """The candidates that the tenant sees; tenants that see the same share one."""
        providers = self._pack.providers.values()
        return self._pack.catalog_without(
            tuple(each.name for each in providers if not each.value.visible_to(self._tenant.name))
        )

    def situation(self, labels: Mapping[str, str], call: Call | None, capability: str | None) -> Situation:
        """The tenant's rules, and what they depend on for a request."""
        context = EvalContext(self._pack.groups, call)
        return Situation(self.rulebook, context, labels, capability, self.policy.origins, self.policy.contacts)

    def terms(self, capability: str, labels: Mapping[str, str]) -> RequestTerms:
        """The request for a capability of the pack, prepared; kept for the next with the same labels.

        Args:
            capability: The name of the capability.
            labels: What is known of the request.
        """
        key = capability, tuple(sorted(labels.items()))
        found = self._prepared.get(key)
        if found is None:
            _, asked = self._pack.declaration(capability)
            call = self._pack.capabilities[capability].value.call
            found = RequestTerms(asked, self.policy.clauses, self.situation(labels, call, capability))
            # Where the pack declares no labels, a caller may give any: those are not kept.
            if self._pack.labels is not None or not labels:
                if len(self._prepared) >= _PREPARED:
                    self._prepared = {}
                self._prepared[key] = found
        return found
