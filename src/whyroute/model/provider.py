"""A provider: what it says of itself, and the shapes of a model call."""

from collections.abc import Iterable, Mapping
from inspect import getattr_static
from typing import Any, Protocol, cast, runtime_checkable

from pydantic import Field

from ..basics.issues import Issue, child, kind_of
from ..documents.fields import WireModel
from ..documents.model_issues import read_model
from ..errors import InvalidRequestError, NotInvocableError
from .calls import ModelCallInput, ModelCallResult
from .metadata import ProviderMetadata, invalid_provider, routable_problems

__all__ = [
    "DeclaredProvider",
    "ModelProvider",
    "ProviderSetupFailure",
    "SetupFailure",
    "check_provider",
    "metadata_of",
    "read_setup_failures",
]


class SetupFailure(WireModel):
    """A registered provider that its registry could not set up; it is never a candidate."""

    provider_id: str
    message: str = Field(description="why, in a sentence for the caller; no secrets")


ProviderSetupFailure = SetupFailure
"""What the published package calls a setup failure."""


@runtime_checkable
class ModelProvider(Protocol):
    """A provider: metadata to route by, and a call."""

    @property
    def metadata(self) -> ProviderMetadata:
        """What it says of itself; read once, when it is registered or listed."""
        ...

    async def invoke(self, call: ModelCallInput, /) -> ModelCallResult:
        """Call the model. Cancel it as any asyncio task."""
        ...


class DeclaredProvider:
    """A provider known by its metadata alone: it can be routed to, not called. Equal to others with equal metadata."""

    __slots__ = ("_metadata",)

    def __init__(self, metadata: ProviderMetadata) -> None:
        self._metadata = metadata

    @property
    def metadata(self) -> ProviderMetadata:
        """What is known of it."""
        return self._metadata

    def __eq__(self, other: object) -> bool:
        return self._metadata == other._metadata if isinstance(other, DeclaredProvider) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._metadata)

    async def invoke(self, call: ModelCallInput, /) -> ModelCallResult:
        """Always raises NotInvocableError."""
        raise NotInvocableError(self.metadata.id)

    def __repr__(self) -> str:
        return f"DeclaredProvider({self.metadata.id!r})"


def check_provider(provider: Any, path: str = "") -> ProviderMetadata:
    """The provider's metadata, when it meets every rule and the provider can be called.

    Args:
        provider: Anything with `metadata` (a ProviderMetadata or its wire form) and an async `invoke`.
        path: JSON pointer of the metadata, for the issues.

    Raises:
        InvalidProviderError: With the first broken rule as `reason`, and all as `issues`.

    Example:
        >>> import whyroute as wr
        >>> wr.check_provider(wr.EchoProvider("echo")).id
        'echo'
    """
    metadata = metadata_of(provider)
    problems, found = ([], metadata) if isinstance(metadata, ProviderMetadata) else routable_problems(metadata, path)
    if not callable(getattr(provider, "invoke", None)):
        problems.append(("invalid-invoke", Issue("/invoke", "a provider has an async `invoke` to call its models")))
    if problems:
        raise invalid_provider(problems, found)
    return cast("ProviderMetadata", found)


def metadata_of(provider: Any) -> Any:
    """What a provider gives as its metadata; None when it has none.

    An AttributeError from within a `metadata` property is the provider's own fault, and is not taken for the lack of
    one.
    """
    try:
        return provider.metadata
    except AttributeError:
        if getattr_static(provider, "metadata", None) is not None:
            raise
        return None


def read_setup_failures(given: Any, path: str = "") -> tuple[SetupFailure, ...]:
    """Read setup failures, as models or in wire form.

    Args:
        given: Several of them.
        path: JSON pointer of the whole, for the issues.

    Raises:
        InvalidRequestError: One of them is broken; all issues, in order.
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        message = f"{kind_of(given)}; setup failures are a list of {{providerId, message}}"
        raise InvalidRequestError([Issue(path, message)])
    found: list[SetupFailure] = []
    issues: list[Issue] = []
    for index, failure in enumerate(given):
        try:
            found.append(read_model(SetupFailure, failure, child(path, index), error=InvalidRequestError))
        except InvalidRequestError as error:
            issues += error.issues
    if issues:
        raise InvalidRequestError(issues)
    return tuple(found)
