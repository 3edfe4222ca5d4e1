"""The registry of providers: tenant-scoped, in memory, and the protocol for registries on storage."""

import threading
from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

from ..basics.issues import kind_of
from ..catalog.candidate import Member
from ..catalog.catalog import Catalog
from ..errors import DuplicateProviderError
from ..model.metadata import ProviderMetadata
from ..model.provider import ModelProvider, SetupFailure, check_provider

__all__ = ["LoadsProviders", "ProviderRegistry", "Registry", "hydrated"]


@runtime_checkable
class Registry(Protocol):
    """What a registry of providers offers; every method is scoped to one tenant.

    A registry on storage offers `LoadsProviders`, too.

    Example:
        >>> import whyroute as wr
        >>> isinstance(wr.ProviderRegistry(), wr.Registry)
        True
    """

    def register(self, tenant: str, provider: ModelProvider) -> None:
        """Add a provider; raises InvalidProviderError or DuplicateProviderError."""
        ...

    def get(self, tenant: str, provider_id: str) -> ModelProvider | None:
        """The tenant's provider of that id, or None."""
        ...

    def list(self, tenant: str) -> Catalog:
        """The tenant's providers that are set up, indexed."""
        ...

    def has(self, tenant: str, provider_id: str) -> bool:
        """Whether the tenant has a provider of that id."""
        ...


@runtime_checkable
class LoadsProviders(Protocol):
    """What a registry on storage offers beside `Registry`; one in memory may do without.

    It reads a tenant's providers in `hydrate`, sets them up through adapter factories, and forgets them in
    `invalidate`, which its write path calls. Callers await `hydrate` before they `list`.

    Example:
        >>> import whyroute as wr
        >>> isinstance(wr.HydratingRegistry(lambda tenant: []), wr.LoadsProviders)
        True
    """

    async def hydrate(self, tenant: str) -> None:
        """Load what storage holds for the tenant. Doing it again costs nothing."""
        ...

    def invalidate(self, tenant: str) -> None:
        """Forget what was loaded, so that the next `hydrate` reads storage again."""
        ...

    def setup_failures(self, tenant: str) -> tuple[SetupFailure, ...]:
        """The tenant's registered providers that the last `hydrate` could not set up; `list` leaves them out."""
        ...


async def hydrated(registry: Registry, tenant: str) -> tuple[Catalog, tuple[SetupFailure, ...]]:
    """A tenant's providers, loaded where the registry loads any, and those that could not be set up."""
    if not isinstance(registry, LoadsProviders):
        return registry.list(tenant), ()
    await registry.hydrate(tenant)
    return registry.list(tenant), registry.setup_failures(tenant)


class _Registered:
    """One tenant's providers, and a snapshot of the first so many of them with its index."""

    __slots__ = ("catalog", "ids", "members")

    def __init__(self, tenant: str, members: Iterable[Member] = ()) -> None:
        self.ids: dict[str, ModelProvider] = {}
        self.members: list[Member] = []
        self.catalog = Catalog.of_members((), tenant)
        for provider, metadata in members:
            self.add(provider, metadata)

    def add(self, provider: ModelProvider, metadata: ProviderMetadata) -> None:
        self.ids[metadata.id] = provider
        self.members.append((provider, metadata))

    def up_to_date(self) -> Catalog:
        missing = self.members[len(self.catalog) :]
        if len(missing) > _UPDATE_AT_MOST:
            self.catalog = Catalog.of_members(self.members, self.catalog.tenant)
        else:
            for member in missing:
                self.catalog = self.catalog.with_member(member)
        return self.catalog


_UPDATE_AT_MOST = 16  # past so many new providers at once, indexing afresh is cheaper than updating


class ProviderRegistry:
    """A registry in memory. All its methods may be called from several threads at once.

    Args:
        seed: (tenant, provider) pairs to register at once.

    All methods raise TypeError for a tenant or an id that is no string.

    Raises:
        InvalidProviderError: A seeded provider breaks a rule.
        DuplicateProviderError: Two seeded providers of one tenant have one id.

    Example:
        >>> import whyroute as wr
        >>> registry = wr.ProviderRegistry([("acme", wr.EchoProvider("echo"))])
        >>> registry.has("acme", "echo"), registry.has("other", "echo")
        (True, False)
    """

    def __init__(self, seed: Iterable[tuple[str, ModelProvider]] = ()) -> None:
        self._tenants: dict[str, _Registered] = {}
        self._lock = threading.Lock()
        for place, pair in enumerate(seed):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise TypeError(
                    f"item {place} of the seed is {kind_of(pair)}; a pair of a tenant and a provider is expected"
                )
            self.register(*pair)

    def register(self, tenant: str, provider: ModelProvider) -> None:
        """Add a provider for one tenant. The same id may be registered under another tenant.

        Raises:
            InvalidProviderError: The provider breaks a rule of the contract; `reason` names it.
            DuplicateProviderError: The tenant has a provider of that id.
        """
        _require_text(tenant, "tenant")
        metadata = check_provider(provider)
        with self._lock:
            entry = self._tenants.setdefault(tenant, _Registered(tenant))
            if metadata.id in entry.ids:
                raise DuplicateProviderError(metadata.id, tenant)
            entry.add(provider, metadata)

    def replace(self, tenant: str, provider: ModelProvider) -> None:
        """Put a provider in the place of the one of its id, at once for all who list; it is added where there is none.

        Raises:
            InvalidProviderError: The provider breaks a rule; the one that was there stays.
        """
        _require_text(tenant, "tenant")
        metadata = check_provider(provider)
        with self._lock:
            entry = self._tenants.setdefault(tenant, _Registered(tenant))
            if metadata.id in entry.ids:
                members = [
                    (provider, metadata) if known.id == metadata.id else (each, known) for each, known in entry.members
                ]
                self._tenants[tenant] = _Registered(tenant, members)
            else:
                entry.add(provider, metadata)

    def unregister(self, tenant: str, provider_id: str) -> bool:
        """Remove a provider; False where the tenant has none of that id. Catalogs that were listed keep it."""
        _require_text(tenant, "tenant")
        _require_text(provider_id, "provider_id")
        with self._lock:
            entry = self._tenants.get(tenant)
            if entry is None or provider_id not in entry.ids:
                return False
            left = [member for member in entry.members if member[1].id != provider_id]
            if left:
                self._tenants[tenant] = _Registered(tenant, left)
            else:
                del self._tenants[tenant]
            return True

    def get(self, tenant: str, provider_id: str) -> ModelProvider | None:
        """The tenant's provider of that id, or None."""
        _require_text(tenant, "tenant")
        _require_text(provider_id, "provider_id")
        with self._lock:
            entry = self._tenants.get(tenant)
            return None if entry is None else entry.ids.get(provider_id)

    def list(self, tenant: str) -> Catalog:
        """The tenant's providers in the order they were registered, indexed. An unknown tenant has none."""
        _require_text(tenant, "tenant")
        with self._lock:
            entry = self._tenants.get(tenant)
            return Catalog.of_members((), tenant) if entry is None else entry.up_to_date()

    def has(self, tenant: str, provider_id: str) -> bool:
        """Whether the tenant has a provider of that id."""
        return self.get(tenant, provider_id) is not None

    async def hydrate(self, tenant: str) -> None:
        """Nothing to load: everything is in memory already."""
        _require_text(tenant, "tenant")

    def invalidate(self, tenant: str) -> None:
        """Forget what the tenant's providers said of themselves, and read it again now.

        Raises:
            InvalidProviderError: A provider breaks a rule now; what was read before stays.
            DuplicateProviderError: Two providers have one id now; what was read before stays.
        """
        _require_text(tenant, "tenant")
        with self._lock:
            entry = self._tenants.get(tenant)
            if entry is None:
                return
            members = [(provider, check_provider(provider)) for provider, _ in entry.members]
            if [metadata for _, metadata in members] != [metadata for _, metadata in entry.members]:
                Catalog.of_members(members)  # refuses an id that is there twice
                self._tenants[tenant] = _Registered(tenant, members)

    def setup_failures(self, tenant: str) -> tuple[SetupFailure, ...]:
        """None: a provider is registered here only once it is set up."""
        _require_text(tenant, "tenant")
        return ()


def _require_text(value: Any, name: str) -> None:
    """A name of another type would be another tenant, which nothing finds."""
    if not isinstance(value, str):
        raise TypeError(f"`{name}` is {kind_of(value)}; a string is expected")
