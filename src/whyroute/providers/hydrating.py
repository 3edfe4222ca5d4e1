"""A registry whose registrations come from a loader: set up through adapters at first use, and kept."""

import inspect
import json
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from ..basics.issues import Issue, did_you_mean, shown
from ..catalog.catalog import Catalog
from ..errors import AdapterConfigError, DuplicateProviderError
from ..model.metadata import ProviderMetadata, read_metadata
from ..model.provider import DeclaredProvider, ModelProvider, SetupFailure, check_provider
from .adapters import (
    AdapterFactoryInput,
    AdapterFactoryRegistry,
    HttpClientFactory,
    check_registration,
    kind_problems,
)

__all__ = ["HydratingRegistry", "Registration"]


@dataclass(frozen=True)
class Registration:
    """A provider, as it was registered.

    Attributes:
        metadata: What it says of itself.
        adapter_id: The adapter that calls it; None where it was registered from Python, set up already.
        adapter_config: Settings of the adapter, flat and without secrets.
        secret_ref: The name of its secret; never the secret.

    Example:
        >>> import whyroute as wr
        >>> registration = wr.Registration(wr.EchoProvider("echo").metadata, "echo", secret_ref={"name": "echo-key"})
        >>> wr.Registration.of_json(registration.to_json()) == registration
        True
    """

    metadata: ProviderMetadata
    adapter_id: str | None = None
    adapter_config: Mapping[str, str | int | float | bool] | None = None
    secret_ref: Mapping[str, str] | None = None

    @property
    def id(self) -> str:
        """The provider's id."""
        return self.metadata.id

    @cached_property
    def size(self) -> int:
        """How many bytes it has in storage."""
        return len(self.to_json())

    def to_json(self) -> str:
        """The registration as JSON in ASCII, for storage."""
        found: dict[str, Any] = {"metadata": self.metadata.to_dict()}
        for key in ("adapter_id", "adapter_config", "secret_ref"):
            if (value := getattr(self, key)) is not None:
                found[key] = value if isinstance(value, str) else dict(value)
        return json.dumps(found, allow_nan=False)

    @classmethod
    def of_json(cls, text: str) -> "Registration":
        """What `to_json` wrote."""
        found = json.loads(text)
        made = cls(
            read_metadata(found["metadata"]),
            found.get("adapter_id"),
            found.get("adapter_config"),
            found.get("secret_ref"),
        )
        made.__dict__["size"] = len(text)
        return made


Load: TypeAlias = Callable[[str], "Iterable[Registration] | Awaitable[Iterable[Registration]]"]
"""Reads what is registered for a tenant; it may wait."""

ReadSecret: TypeAlias = Callable[[Mapping[str, str]], Awaitable[str]]
"""Reads the secret that a registration's `secret_ref` names."""


@dataclass(slots=True)
class _TenantEntries:
    """What one tenant has: registrations and providers by id, in order, and what became of the registrations."""

    entries: dict[str, Registration | ModelProvider] = field(default_factory=dict)
    outcomes: dict[str, tuple[Registration, ModelProvider | SetupFailure]] = field(default_factory=dict)
    loaded: bool = False
    version: int = 0
    catalog: Catalog | None = None


class HydratingRegistry:
    """Providers whose registrations come from a loader, such as one that reads a database.

    `hydrate` loads a tenant's registrations once and sets each up through its adapter; one that can't be set up is
    kept as a setup failure, and the others serve. The program that writes the database calls `register`, `replace` and
    `unregister` here too, which check first, or `invalidate`, after which the next `hydrate` loads again. All methods
    may be called from several threads at once.

    Args:
        load: Reads a tenant's registrations; a function or an async function.
        adapters: The adapters; None: registered providers can be routed to, not called.
        secrets: Reads a secret by its `secret_ref`, when a call needs it; None: no secret can be read here.
        http_client: Opens the client that adapters use for endpoints that registrations chose.

    Example:
        >>> import asyncio
        >>> import whyroute as wr
        >>> adapter = wr.AdapterFactoryEntry(
        ...     adapter_id="echo",
        ...     capability_kind="llm-inference",
        ...     factory=lambda given: wr.EchoProvider(given.metadata),
        ... )
        >>> rows = {"acme": [wr.Registration(wr.EchoProvider("echo-1").metadata, "echo")]}
        >>> registry = wr.HydratingRegistry(lambda tenant: rows.get(tenant, ()), wr.AdapterFactoryRegistry([adapter]))
        >>> asyncio.run(registry.hydrate("acme"))
        >>> [provider.metadata.id for provider in registry.list("acme")]
        ['echo-1']
    """

    def __init__(
        self,
        load: Load,
        adapters: AdapterFactoryRegistry | None = None,
        *,
        secrets: ReadSecret | None = None,
        http_client: HttpClientFactory | None = None,
    ) -> None:
        self._load = load
        self._adapters = adapters
        self._secrets = secrets
        self._http_client = http_client
        self._tenants: dict[str, _TenantEntries] = {}
        self._lock = threading.RLock()

    def problems(self, registration: Registration) -> tuple[Issue, ...]:
        """What is wrong with a registration, as its adapter sees it, found without network or secret."""
        if self._adapters is None or registration.adapter_id is None:
            return ()
        entry = self._adapters.get(registration.adapter_id)
        if entry is None:
            known = [each.adapter_id for each in self._adapters.list()]
            near = did_you_mean(registration.adapter_id, known)
            message = f"there is no adapter {shown(registration.adapter_id)}{near}"
            return (Issue("/adapter_id", message),)
        problems = check_registration(entry, entry.check_input(self._input(registration)))
        return tuple(Issue(problem.path, problem.message) for problem in problems)

    def check(self, registration: Registration) -> None:
        """Refuse a registration that its adapter would refuse.

        Raises:
            AdapterConfigError: There is no such adapter, or it refuses the registration; the first problem.
        """
        for path, message in self.problems(registration):
            raise AdapterConfigError(registration.adapter_id or "", registration.id, path, message)

    def set_up(self, registration: Registration) -> ModelProvider | SetupFailure:
        """The provider of a registration, or why there is none."""
        if self._adapters is None or registration.adapter_id is None:
            return DeclaredProvider(registration.metadata)
        entry = self._adapters.get(registration.adapter_id)
        if entry is None:
            return _failure(registration, f"there is no adapter {shown(registration.adapter_id)}")
        for problem in kind_problems(entry, registration.metadata):
            return _failure(registration, problem.message)
        try:
            return entry.factory(self._input(registration))
        except AdapterConfigError as error:
            return _failure(registration, error.message)
        except Exception as error:
            # Whatever an adapter trips over may hold a secret.
            return _failure(registration, f"its adapter failed with {shown(type(error).__name__)}")

    def _input(self, registration: Registration) -> AdapterFactoryInput:
        name, read = registration.secret_ref, self._secrets

        async def secret() -> str:
            if read is None or name is None:
                raise PermissionError("no secrets are read here")
            return await read(name)

        return AdapterFactoryInput(
            metadata=registration.metadata,
            config=registration.adapter_config,
            resolve_api_key=None if name is None else secret,
            http_client=self._http_client,
        )

    def register(self, tenant: str, provider: ModelProvider | Registration) -> None:
        """Add a provider, or a registration that its adapter takes.

        Raises:
            InvalidProviderError: The provider breaks a rule.
            AdapterConfigError: The adapter refuses the registration.
            DuplicateProviderError: The tenant has a provider of that id.
        """
        name = self._checked(provider)
        with self._lock:
            held = self._tenants.setdefault(tenant, _TenantEntries())
            if name in held.entries:
                raise DuplicateProviderError(name, tenant)
            self._put(held, name, provider)

    def replace(self, tenant: str, provider: ModelProvider | Registration) -> None:
        """Put a provider, or a registration, in the place of the one of its id; it is added where there is none.

        Raises:
            InvalidProviderError: The provider breaks a rule; the one that was there stays.
            AdapterConfigError: The adapter refuses the registration; the one that was there stays.
        """
        name = self._checked(provider)
        with self._lock:
            self._put(self._tenants.setdefault(tenant, _TenantEntries()), name, provider)

    def unregister(self, tenant: str, provider_id: str) -> bool:
        """Remove a provider; False where there is none of that id."""
        with self._lock:
            held = self._tenants.get(tenant)
            if held is None or held.entries.pop(provider_id, None) is None:
                return False
            held.outcomes.pop(provider_id, None)
            held.catalog = None
            held.version += 1
            return True

    def _checked(self, provider: ModelProvider | Registration) -> str:
        if isinstance(provider, Registration):
            self.check(provider)
            return provider.id
        return check_provider(provider).id

    def _put(self, held: _TenantEntries, name: str, provider: ModelProvider | Registration) -> None:
        held.entries[name] = provider
        held.catalog = None
        held.version += 1

    def get(self, tenant: str, provider_id: str) -> ModelProvider | None:
        """The tenant's provider of that id that is set up, or None."""
        catalog = self.list(tenant)
        pairs = zip(catalog, catalog.metadata, strict=True)
        return next((provider for provider, metadata in pairs if metadata.id == provider_id), None)

    def has(self, tenant: str, provider_id: str) -> bool:
        """Whether the tenant has a provider of that id that is set up."""
        return self.get(tenant, provider_id) is not None

    def list(self, tenant: str) -> Catalog:
        """The tenant's providers that are held and set up, indexed."""
        with self._lock:
            held = self._tenants.get(tenant)
            return Catalog.of_members((), tenant) if held is None else self._indexed(tenant, held)

    def _indexed(self, tenant: str, held: _TenantEntries) -> Catalog:
        if held.catalog is None:
            members = []
            for name, entry in held.entries.items():
                if isinstance(entry, Registration):
                    known = held.outcomes.get(name)
                    if known is None or known[0] != entry:
                        known = held.outcomes[name] = entry, self.set_up(entry)
                    if not isinstance(known[1], SetupFailure):
                        members.append((known[1], entry.metadata))
                else:
                    held.outcomes.pop(name, None)
                    members.append((entry, check_provider(entry)))
            held.catalog = Catalog.of_members(members, tenant)
        return held.catalog

    async def hydrate(self, tenant: str) -> None:
        """Load the tenant's registrations and set them up, unless that was done already."""
        while True:
            with self._lock:
                held = self._tenants.setdefault(tenant, _TenantEntries())
                if held.loaded:
                    return
                version = held.version
            found = self._load(tenant)
            rows = [*(await found if inspect.isawaitable(found) else found)]
            with self._lock:
                if held.version != version:
                    continue  # what was read may be out of date
                fresh: dict[str, Registration | ModelProvider] = {}
                for row in rows:
                    if row.id in fresh:
                        raise DuplicateProviderError(row.id, tenant)
                    fresh[row.id] = row
                held.entries = fresh | held.entries
                held.loaded, held.catalog = True, None
                self._indexed(tenant, held)
                return

    def invalidate(self, tenant: str) -> None:
        """Forget what was loaded, so that the next `hydrate` loads again. Providers set up in Python stay."""
        with self._lock:
            held = self._tenants.get(tenant)
            if held is not None:
                held.entries = {name: each for name, each in held.entries.items() if not isinstance(each, Registration)}
                held.outcomes.clear()
                held.loaded, held.catalog = False, None
                held.version += 1

    def setup_failures(self, tenant: str) -> tuple[SetupFailure, ...]:
        """The tenant's registrations that could not be set up, each with why, in order."""
        with self._lock:
            held = self._tenants.get(tenant)
            if held is None:
                return ()
            self._indexed(tenant, held)
            outcomes = (held.outcomes.get(name) for name in held.entries)
            return tuple(each[1] for each in outcomes if each is not None and isinstance(each[1], SetupFailure))


def _failure(registration: Registration, message: str) -> SetupFailure:
    return SetupFailure(provider_id=registration.id, message=message)
