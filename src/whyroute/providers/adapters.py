"""Adapter factories: from an adapter's id to the code that checks registrations and builds providers.

An adapter is code, the same for every tenant of a deployment. A registration (a provider's metadata, its adapter id
and settings) is data of one tenant.
"""

import re
import threading
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, Literal, Protocol, runtime_checkable

from pydantic import AfterValidator, Field

from ..basics.issues import kind_of, shown
from ..documents.fields import Count, Number, OrNone, WireModel, broken
from ..errors import AdapterConfigError, DuplicateAdapterError
from ..model.metadata import ProviderMetadata
from ..model.provider import ModelProvider

__all__ = [
    "AdapterConfig",
    "AdapterConfigCheckInput",
    "AdapterConfigProblem",
    "AdapterFactory",
    "AdapterFactoryEntry",
    "AdapterFactoryInput",
    "AdapterFactoryRegistry",
    "AdapterIdentities",
    "AdapterIdentitiesPresent",
    "AwsCredentialClient",
    "AwsCredentials",
    "AzureToken",
    "AzureTokenClient",
    "CheckConfig",
    "HttpClientFactory",
    "Prepare",
    "PrepareError",
    "PrepareEvent",
    "PrepareProgress",
    "PrepareReady",
    "adapter_config_error",
    "check_registration",
    "kind_problems",
]

AdapterConfig = Mapping[str, str | int | float | bool]
"""An adapter's connection settings: flat, and never a secret."""

ApiKeyResolver = Callable[[], Awaitable[str]]
"""Reads the registration's secret, when it is needed."""

HttpClientFactory = Callable[[], AbstractAsyncContextManager[Any]]
"""Opens an HTTP client, such as `httpx.AsyncClient`; deployment and adapters agree on which."""


@runtime_checkable
class AzureToken(Protocol):
    """An access token of Entra ID; the one of `azure-identity` fits."""

    @property
    def token(self) -> str:
        """The bearer token."""
        ...


@runtime_checkable
class AzureTokenClient(Protocol):
    """Gets tokens of Entra ID; the credentials of `azure.identity.aio` fit."""

    async def get_token(self, *scopes: str) -> AzureToken:
        """A token for `scopes`. Ask anew for every request: the client caches and renews."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsCredentials:
    """Credentials of AWS that may expire. Its repr shows no secret.

    Attributes:
        access_key_id: The key's id.
        secret_access_key: The key.
        session_token: Only with temporary credentials.
        expiration: When they end, with a time zone; None when they don't, or it is not known.
    """

    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)
    expiration: datetime | None = None


@runtime_checkable
class AwsCredentialClient(Protocol):
    """Gets credentials of AWS."""

    async def __call__(self) -> AwsCredentials:
        """Credentials for one request. Ask anew for every request: the client caches and renews."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterIdentities:
    """The server's own cloud identities, for registrations that sign in as the server instead of with a key.

    Attributes:
        azure: Signs in at Azure; None when the server has no such identity.
        aws: Signs in at AWS; None when the server has no such identity.
    """

    azure: AzureTokenClient | None = None
    aws: AwsCredentialClient | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterIdentitiesPresent:
    """Which identities the server has, without the identities."""

    azure: bool
    aws: bool

    @classmethod
    def of(cls, identities: AdapterIdentities | None) -> "AdapterIdentitiesPresent":
        """Those of `identities` that are there; none of None."""
        if identities is None:
            return cls(azure=False, aws=False)
        return cls(azure=identities.azure is not None, aws=identities.aws is not None)

    def to_dict(self) -> dict[str, bool]:
        """Each identity, and whether it is there."""
        return {"azure": self.azure, "aws": self.aws}


def _flag(name: str, value: object) -> None:
    # Compared by identity where it is read: a 0 that was meant as False would leave a door open.
    if value is not None and not isinstance(value, bool):
        raise TypeError(f"`{name}` is {shown(value)}, {kind_of(value)}; it is True, False or None")


def _config(config: AdapterConfig | None) -> AdapterConfig | None:
    return None if config is None else MappingProxyType(dict(config))


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterConfigCheckInput:
    """What an adapter's check reads: a registration without its secret.

    Attributes:
        metadata: The provider's metadata.
        config: The registration's `adapter_config`; None when it has none.
        has_secret_ref: Whether it names a secret. The secret may be set later, so a check never reads it.
        identities: Which identities the server has; None when that is not known, and the factory decides.
        server_credentials: False: the registration may not sign in as the server. None: it may.

    Raises:
        TypeError: `server_credentials` is neither a boolean nor None.
    """

    metadata: ProviderMetadata
    has_secret_ref: bool
    config: AdapterConfig | None = None
    identities: AdapterIdentitiesPresent | None = None
    server_credentials: bool | None = None

    def __post_init__(self) -> None:
        _flag("server_credentials", self.server_credentials)
        object.__setattr__(self, "config", _config(self.config))

    @property
    def may_use_server_credentials(self) -> bool:
        """Whether the registration may sign in as the server: yes, unless it was told not to."""
        return self.server_credentials is not False


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterFactoryInput:
    """What a factory builds a provider from.

    Attributes:
        metadata: The provider's metadata.
        config: The registration's `adapter_config`; None when it has none.
        resolve_api_key: Reads the registration's secret; None when it names none. Await it when a call needs the key,
            not when the provider is built.
        http_client: Opens the client for an endpoint that the registration chose: the deployment's, which refuses the
            hosts it forbids. None: any client will do.
        identities: The server's own cloud identities; None: it has none.
        server_credentials: False: the registration may not sign in as the server, neither with `identities` nor with
            credentials from the environment. None: it may.

    Raises:
        TypeError: `server_credentials` is neither a boolean nor None.
    """

    metadata: ProviderMetadata
    config: AdapterConfig | None = None
    resolve_api_key: ApiKeyResolver | None = None
    http_client: HttpClientFactory | None = None
    identities: AdapterIdentities | None = None
    server_credentials: bool | None = None

    def __post_init__(self) -> None:
        _flag("server_credentials", self.server_credentials)
        object.__setattr__(self, "config", _config(self.config))

    @property
    def may_use_server_credentials(self) -> bool:
        """Whether the registration may sign in as the server: yes, unless it was told not to."""
        return self.server_credentials is not False

    def for_check(self) -> AdapterConfigCheckInput:
        """The same registration as a check reads it, so that a factory refuses exactly what its check reports.

        It is for factories, whose input has what the registry adds. Elsewhere use the entry's `check_input`.
        """
        return AdapterConfigCheckInput(
            metadata=self.metadata,
            config=self.config,
            has_secret_ref=self.resolve_api_key is not None,
            identities=AdapterIdentitiesPresent.of(self.identities),
            server_credentials=self.server_credentials,
        )


_PROBLEM_PATH = re.compile(r"/(adapter_config|secret_ref|metadata)(/([^~/]|~[01])*)*")


@dataclass(frozen=True, slots=True)
class AdapterConfigProblem:
    """One thing that is wrong with a registration.

    Attributes:
        path: JSON pointer into the registration: `/adapter_config/<key>`, `/secret_ref`, `/metadata/region`,
            `/metadata/models/<i>/name`. Build it with `issues.child` when a key may hold `~` or `/`.
        message: Names the setting and what it takes. It names neither adapter nor provider.

    Raises:
        ValueError: The path points elsewhere or the message is empty; that is a fault of the adapter's.
    """

    path: str
    message: str

    def __post_init__(self) -> None:
        if not _PROBLEM_PATH.fullmatch(self.path):
            raise ValueError(
                f"{shown(self.path)} is no JSON pointer into a registration; "
                "it starts with `/adapter_config`, `/secret_ref` or `/metadata`"
            )
        if not self.message:
            raise ValueError(f"the problem at {shown(self.path)} has no message; say what the setting takes")

    def to_dict(self) -> dict[str, str]:
        """The problem as it goes over the wire."""
        return {"path": self.path, "message": self.message}


def adapter_config_error(adapter_id: str, provider_id: str, problem: AdapterConfigProblem) -> AdapterConfigError:
    """The error that a factory raises for a problem that its check reports.

    Args:
        adapter_id: The adapter.
        provider_id: The provider whose registration is at fault.
        problem: What the check found.

    Returns:
        The error, to be raised; it reads `<adapter_id>: provider "<provider_id>": <message>`.
    """
    return AdapterConfigError(adapter_id, provider_id, problem.path, problem.message)


def _ratio(value: int | float) -> int | float:
    if not 0 <= value <= 1:
        raise broken("a ratio between 0 and 1 is expected; leave it out when it is not known")
    return value


class _Event(WireModel):
    def to_dict(self) -> dict[str, Any]:
        """The event as it goes over the wire, without what is not known."""
        return self.model_dump(mode="json", by_alias=True)


class PrepareProgress(_Event):
    """Preparation goes on. An adapter fills in what it knows."""

    kind: Literal["progress"] = "progress"
    message: OrNone[str] = None
    ratio: OrNone[Annotated[Number, AfterValidator(_ratio)]] = Field(
        default=None, description="how much is done, from 0 to 1; absent: not known"
    )
    loaded_bytes: OrNone[Count] = Field(default=None, description="bytes loaded so far")
    total_bytes: OrNone[Count] = Field(default=None, description="bytes to load in all; absent: not known")
    file: OrNone[str] = Field(default=None, description="the file being loaded")


class PrepareReady(_Event):
    """Preparation is done."""

    kind: Literal["ready"] = "ready"
    message: OrNone[str] = None


class PrepareError(_Event):
    """Preparation failed."""

    kind: Literal["error"] = "error"
    message: str = Field(description="what failed, for people; no secrets")


PrepareEvent = Annotated[PrepareProgress | PrepareReady | PrepareError, Field(discriminator="kind")]
"""What a preparation streams: any number of `progress`, then `ready` or `error`."""


AdapterFactory = Callable[[AdapterFactoryInput], ModelProvider]
"""Builds the provider of one registration, or raises `adapter_config_error`. It waits for nothing."""

CheckConfig = Callable[[AdapterConfigCheckInput], Sequence[AdapterConfigProblem]]
"""All that is wrong with a registration, found without network, secrets or clients. Empty: the factory takes it."""


class Prepare(Protocol):
    """Downloads or warms up what an adapter needs; an async generator function fits."""

    def __call__(self, params: Mapping[str, Any] | None = None, /) -> AsyncIterable[PrepareEvent]:
        """Stream what happens.

        Args:
            params: The adapter's own parameters, passed on as they came; None when there are none.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterFactoryEntry:
    """An adapter: its id and its code.

    Attributes:
        adapter_id: What a registration's `adapter_id` says.
        capability_kind: The kind of the providers it builds; registrations of another kind are refused.
        factory: Builds a provider.
        prepare: Its one-time set-up; None when it needs none. Whether a second run does anything is up to the adapter.
        check_config: Checks a registration; None when any flat configuration will do.

    Raises:
        ValueError: The id or the kind is empty.
    """

    adapter_id: str
    capability_kind: str
    factory: AdapterFactory
    prepare: Prepare | None = None
    check_config: CheckConfig | None = None

    def __post_init__(self) -> None:
        for name in ("adapter_id", "capability_kind"):
            if not getattr(self, name):
                raise ValueError(f"`{name}` is empty; it is a non-empty string")

    def check_input(self, given: AdapterFactoryInput) -> AdapterConfigCheckInput:
        """A registration as the check reads it before a provider is built.

        Identities that the input doesn't name are not known here: the registry's own count, and where it has none
        either, the factory decides, which may have some of its own.
        """
        checked = given.for_check()
        return checked if given.identities is not None else replace(checked, identities=None)


def kind_problems(entry: AdapterFactoryEntry, metadata: ProviderMetadata) -> tuple[AdapterConfigProblem, ...]:
    """That an adapter builds providers of another kind than a registration's, where it does."""
    wrong, right = metadata.capability_kind, entry.capability_kind
    message = f"metadata.capabilityKind is {shown(wrong)}; the adapter builds providers of the kind {shown(right)}"
    return () if wrong == right else (AdapterConfigProblem("/metadata/capabilityKind", message),)


def check_registration(
    entry: AdapterFactoryEntry, registration: AdapterConfigCheckInput
) -> tuple[AdapterConfigProblem, ...]:
    """What the adapter finds wrong with a registration.

    Args:
        entry: The adapter, as its registry returned it: that one knows the server's identities.
        registration: The registration.

    Returns:
        That the kind is not the adapter's, where it isn't; then the problems in the adapter's order.
    """
    problems = kind_problems(entry, registration.metadata)
    return problems if entry.check_config is None else (*problems, *entry.check_config(registration))


class AdapterFactoryRegistry:
    """The adapters of a deployment, by id; every tenant shares them. Safe to use from several threads.

    Args:
        seed: Entries to register at once.
        identities: The server's own cloud identities. Every factory gets them, unless its input names its own, and
            every check learns which are there.
        server_credentials: False: no registration may sign in as the server. Every factory and check is told so, none
            gets or sees an identity, and no input turns that back on.

    Raises:
        DuplicateAdapterError: An id is twice in `seed`.
        TypeError: `server_credentials` is neither False nor None.
    """

    __slots__ = ("_entries", "_identities", "_lock", "_locked")

    def __init__(
        self,
        seed: Iterable[AdapterFactoryEntry] = (),
        *,
        identities: AdapterIdentities | None = None,
        server_credentials: Literal[False] | None = None,
    ) -> None:
        if server_credentials is not None and server_credentials is not False:
            raise TypeError("`server_credentials` is False, or left out where registrations may sign in as the server")
        self._locked = server_credentials is False
        self._identities = identities
        self._lock = threading.Lock()
        self._entries: dict[str, AdapterFactoryEntry] = {}
        for entry in seed:
            self.register(entry)

    def register(self, entry: AdapterFactoryEntry) -> None:
        """Add an adapter.

        Raises:
            DuplicateAdapterError: Its id is taken; the entry that was there stays.
        """
        bound = self._bound(entry)
        with self._lock:
            if entry.adapter_id in self._entries:
                raise DuplicateAdapterError(entry.adapter_id)
            # Replaced, not changed, so that readers need no lock.
            self._entries = {**self._entries, entry.adapter_id: bound}

    def get(self, adapter_id: str) -> AdapterFactoryEntry | None:
        """The adapter of that id, bound to this registry's identities; None when there is none."""
        return self._entries.get(adapter_id)

    def has(self, adapter_id: str) -> bool:
        """Whether an adapter of that id is registered."""
        return adapter_id in self._entries

    def list(self) -> tuple[AdapterFactoryEntry, ...]:
        """All adapters, in the order they were registered."""
        return tuple(self._entries.values())

    def _bound(self, entry: AdapterFactoryEntry) -> AdapterFactoryEntry:
        if self._locked:
            return _without_server_credentials(entry)
        return entry if self._identities is None else _with_identities(entry, self._identities)


@dataclass(frozen=True, slots=True)
class _FactoryWithIdentities:
    factory: AdapterFactory
    identities: AdapterIdentities

    def __call__(self, given: AdapterFactoryInput, /) -> ModelProvider:
        own = given.identities
        return self.factory(given if own is not None else replace(given, identities=self.identities))


def _with_identities(entry: AdapterFactoryEntry, identities: AdapterIdentities) -> AdapterFactoryEntry:
    factory = _FactoryWithIdentities(entry.factory, identities)
    check = entry.check_config
    if check is None:
        return replace(entry, factory=factory)
    present = AdapterIdentitiesPresent.of(identities)

    def check_config(given: AdapterConfigCheckInput, /) -> Sequence[AdapterConfigProblem]:
        return check(given if given.identities is not None else replace(given, identities=present))

    return replace(entry, factory=factory, check_config=check_config)


def _without_server_credentials(entry: AdapterFactoryEntry) -> AdapterFactoryEntry:
    inner, check = entry.factory, entry.check_config
    # An entry taken from a registry with identities would get them back as soon as they are withheld here.
    while isinstance(inner, _FactoryWithIdentities):
        inner = inner.factory
    build = inner

    def factory(given: AdapterFactoryInput, /) -> ModelProvider:
        return build(replace(given, identities=None, server_credentials=False))

    if check is None:
        return replace(entry, factory=factory)
    none = AdapterIdentitiesPresent.of(None)

    def check_config(given: AdapterConfigCheckInput, /) -> Sequence[AdapterConfigProblem]:
        return check(replace(given, identities=none, server_credentials=False))

    return replace(entry, factory=factory, check_config=check_config)
