"""Candidates: one model of one provider each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..basics.issues import Issue, kind_of
from ..errors import InvalidProviderError
from ..model.metadata import ModelInfo, ProviderMetadata, read_metadata
from ..model.provider import DeclaredProvider, ModelProvider, metadata_of

__all__ = ["Candidate", "Member", "as_provider", "tie_break_order"]

Member = tuple[ModelProvider, ProviderMetadata]
"""A provider, and its metadata as it was when it was read."""


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Candidate:
    """One model of one provider.

    Attributes:
        provider: The registered provider, to invoke.
        metadata: What the provider says of itself.
        model: The model.

    Example:
        >>> import whyroute as wr
        >>> candidate = wr.route({"needs": []}, [wr.EchoProvider("echo")]).candidate
        >>> candidate.key, candidate.to_dict()
        (('echo', 'echo'), {'provider': 'echo', 'model': 'echo'})
    """

    provider: ModelProvider
    metadata: ProviderMetadata
    model: ModelInfo

    def __init__(self, provider: ModelProvider, metadata: ProviderMetadata, model: ModelInfo) -> None:
        # As the one that would be generated, at half its cost: a decision of many alternates makes many.
        _SET_PROVIDER(self, provider)
        _SET_METADATA(self, metadata)
        _SET_MODEL(self, model)

    @property
    def id(self) -> str:
        """`<providerId>/<modelName>`, for diagnostics: two candidates may read alike."""
        return f"{self.metadata.id}/{self.model.name}"

    @property
    def key(self) -> tuple[str, str]:
        """Provider id and model name: what identifies the candidate in its catalog."""
        return self.metadata.id, self.model.name

    def to_dict(self) -> dict[str, str]:
        """The candidate as it goes over the wire."""
        return {"provider": self.metadata.id, "model": self.model.name}

    def __hash__(self) -> int:
        # A provider of a user's own need not have a hash, and equal candidates have equal keys.
        return hash(self.key)

    def __repr__(self) -> str:
        return f"<Candidate {self.metadata.id!r} {self.model.name!r}>"


_SET_PROVIDER, _SET_METADATA, _SET_MODEL = (
    Candidate.__dict__[name].__set__ for name in ("provider", "metadata", "model")
)


def as_provider(value: Any, path: str = "") -> Member:
    """A provider and its metadata, from a provider, a ProviderMetadata or metadata in wire form.

    Args:
        value: The provider.
        path: JSON pointer of its metadata, for the issues.

    Raises:
        InvalidProviderError: The metadata breaks a rule.
    """
    if isinstance(value, ProviderMetadata | Mapping):
        metadata = read_metadata(value, path)
        return DeclaredProvider(metadata), metadata
    metadata = metadata_of(value)
    if metadata is None:
        message = f"{kind_of(value)} without `metadata`; a provider has `metadata` and an async `invoke`"
        raise InvalidProviderError("empty-id", [Issue(path, message)])
    return value, read_metadata(metadata, path)


def tie_break_order(meta: ProviderMetadata) -> list[int]:
    """The positions of a provider's models: the default first, then by name."""
    models = meta.models
    default = meta.default_model
    return sorted(range(len(models)), key=lambda index: (models[index].name != default, models[index].name))
