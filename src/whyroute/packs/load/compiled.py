"""A pack's requests, prepared: one for each tenant, capability and set of labels."""

from collections.abc import Iterator, Mapping
from typing import Any

from ...model.capability import Capability
from ...routing.prepare import Prepared
from .pack import Pack

__all__ = ["CompiledPack"]


class CompiledPack:
    """The requests of a pack, each prepared when it is first asked for. Safe to share between threads.

    Iterates over the pairs of tenant and capability.
    """

    def __init__(self, pack: Pack) -> None:
        self.pack = pack

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((tenant, capability) for tenant in self.pack.tenants for capability in self.pack.capabilities)

    def __len__(self) -> int:
        return len(self.pack.tenants) * len(self.pack.capabilities)

    def prepared(
        self,
        tenant: str,
        capability: str | Mapping[str, Any] | Capability,
        *,
        labels: Mapping[str, str] | None = None,
        operator_labels: Mapping[str, str] | None = None,
    ) -> Prepared:
        """A tenant's request, prepared: `bind` it to `pack.catalog(tenant)` or to any other providers.

        Args:
            tenant: The tenant.
            capability: The name of a capability of the pack, which is prepared once, or a declaration.
            labels: What the request says of itself.
            operator_labels: The labels that the operator of the service sets.

        Raises:
            UnknownTenantError: The pack doesn't name the tenant.
            UnknownCapabilityError: The pack doesn't name the capability.
            InvalidCapabilityError: The declaration is broken.
            InvalidRequestError: A label is broken, or the request may not set it.
        """
        resolved = self.pack.resolve(tenant, capability, labels=labels, operator_labels=operator_labels)
        return Prepared(resolved.terms)
