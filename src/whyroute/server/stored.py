"""The registry on storage: the protocol of `whyroute.providers.registry`, with what a rule pack provides in front."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..catalog.catalog import Catalog
from ..errors import DuplicateProviderError
from ..model.provider import ModelProvider, SetupFailure, check_provider
from ..packs import Pack
from ..providers.adapters import AdapterFactoryRegistry
from ..providers.hydrating import HydratingRegistry, Registration
from .registrations import Quota
from .storage import Storage
from .tenants import Holdings, holdings_of
from .turns import stepping_aside

__all__ = ["StoredRegistry"]


class StoredRegistry(HydratingRegistry):
    """The providers of every tenant: those of the pack in force and those in the database.

    Other processes may write to the same database: `hydrate` asks for the tenant's version, which costs one look-up by
    key, and reads the rest when it is another one than that of what is held.

    Args:
        storage: Where registrations are kept.
        pack: Gives the pack that is in force.
        adapters: The adapters of the deployment; None where the service only routes.
        quota: How much one tenant may register; None: any amount.
    """

    def __init__(
        self,
        storage: Storage,
        pack: Callable[[], Pack],
        adapters: AdapterFactoryRegistry | None = None,
        quota: Quota | None = None,
    ) -> None:
        super().__init__(lambda tenant: self.refresh(tenant).registrations, adapters)
        self._quota = quota
        self._adding: dict[str, threading.Lock] = {}
        self._storage = storage
        self._pack = pack
        self._held: dict[str, tuple[Pack, Holdings]] = {}
        self._locks: dict[str, threading.Lock] = {}

    def refresh(self, tenant: str) -> Holdings:
        """What a tenant has now. It blocks.

        Raises:
            UnknownTenantError: The pack doesn't name the tenant.
            StorageUnavailableError: The database does not answer.
        """
        pack = self._pack()
        pack.policy(tenant)  # no other tenant's name is looked up, or kept
        with stepping_aside():
            version = self._storage.version(tenant)
        held = self._held.get(tenant)
        if held is not None and held[0] is pack and held[1].version == version:
            return held[1]
        with self._lock:
            lock = self._locks.setdefault(tenant, threading.Lock())
        with _held(lock):
            held = self._held.get(tenant)
            before = held[1] if held is not None and held[0] is pack else None
            with stepping_aside():
                # Asked again, for others may have loaded it meanwhile. A database that was put back has an earlier one.
                if before is not None and before.version == self._storage.version(tenant):
                    return before
                version, registrations = self._storage.load(tenant)
            found = holdings_of(pack, tenant, version, registrations, self.set_up, before)
            self._held[tenant] = (pack, found)
            return found

    def at_once(self, tenant: str) -> Holdings | None:
        """`refresh` where it takes no waiting and nothing is to be read; else None."""
        held = self._held.get(tenant)
        if held is None or held[0] is not self._pack():
            return None
        return held[1] if self._storage.version_at_once(tenant) == held[1].version else None

    def add(self, tenant: str, registration: Registration) -> None:
        """Keep a registration. It blocks, and returns when it is on disk.

        Raises:
            DuplicateProviderError: The tenant has a provider of that id.
            ApiError: `too-many-providers`. Each process that shares a database counts by itself, so as many
                registrations as there are processes may pass the limit at the same moment.
        """
        with self._lock:
            lock = self._adding.setdefault(tenant, threading.Lock())
        with _held(lock):
            held = self.refresh(tenant)
            if registration.id in held.providers:
                raise DuplicateProviderError(registration.id, tenant)
            if self._quota is not None:
                self._quota.check(held.registrations, registration)
            with stepping_aside():
                self._storage.add(tenant, registration)

    # The protocol.

    def register(self, tenant: str, provider: ModelProvider | Registration) -> None:
        """Keep a registration, or a provider's metadata: it can be routed to."""
        self.add(tenant, self._registration(provider))

    def replace(self, tenant: str, provider: ModelProvider | Registration) -> None:
        """Keep a registration in place of the one of its id. It blocks."""
        registration = self._registration(provider)
        with stepping_aside():
            self._storage.replace(tenant, registration)

    def unregister(self, tenant: str, provider_id: str) -> bool:
        """Forget a registration; False when there is none. It blocks."""
        with stepping_aside():
            return self._storage.remove(tenant, provider_id)

    def _registration(self, provider: ModelProvider | Registration) -> Registration:
        if not isinstance(provider, Registration):
            return Registration(check_provider(provider))
        self.check(provider)
        return provider

    def list(self, tenant: str) -> Catalog:
        """The tenant's providers that are held and set up, indexed."""
        held = self._held.get(tenant)
        return Catalog() if held is None else held[1].catalog

    async def hydrate(self, tenant: str) -> None:
        """Load what the tenant has."""
        await asyncio.to_thread(self.refresh, tenant)

    def invalidate(self, tenant: str) -> None:
        """Forget what is held for the tenant."""
        self._held.pop(tenant, None)

    def setup_failures(self, tenant: str) -> tuple[SetupFailure, ...]:
        """The tenant's registered providers that can't be set up."""
        held = self._held.get(tenant)
        return () if held is None else held[1].failures


@contextmanager
def _held(lock: threading.Lock) -> Iterator[None]:
    """Hold a lock that other threads may hold while they wait for a disk: waiting for it needs no turn."""
    with stepping_aside():
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
