"""What was asked, of which tenant and under which pack, and when: what every answer says of its question."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .. import __version__
from ..documents.json_text import plain
from ..model.timestamps import Moment, text_of

if TYPE_CHECKING:
    from ..constraints.three_valued import Call
    from ..model.policy import TenantPolicy
    from .joint import JointSolved
    from .request import Solved

__all__ = ["LabelSource", "Provenance", "asked_of", "asked_of_bundle", "request_labels"]

LabelSource = Literal["request", "default", "capability", "operator"]
"""Where a label comes from: the request, the pack's default, the pack's capability, or the operator of the service."""

Labels = Mapping[str, tuple[str, LabelSource]]
"""Labels with their values, each with where it comes from."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a request comes from, which changes nothing about its answer.

    Attributes:
        labels: Its labels; None: those of its situation, all from the request itself.
        pack: SHA-256 of the pack that resolved it, in hexadecimal; None when there is none.
        at: Its time as it was written; None: as its moment is written.
        bundle: The name of the pack's bundle; None when there is none.
        declaration: The slots and ties of a bundle of the request's own, as it gave them.
        tokens: The tokens of a bundle's request, in wire form.
    """

    labels: Labels | None = None
    pack: str | None = None
    at: str | None = None
    bundle: str | None = None
    declaration: Mapping[str, Any] | None = None
    tokens: Mapping[str, Any] | None = None


def request_labels(labels: Mapping[str, str]) -> Labels:
    """Labels that a request gives itself."""
    return {key: (value, "request") for key, value in labels.items()}


_NOWHERE = Provenance()


def asked_of(solved: "Solved") -> dict[str, Any]:
    """What a request for one capability asked, as it goes over the wire."""
    situation, source = solved.situation, solved.provenance or _NOWHERE
    found = _tenant(solved.policy)
    name = None if situation is None else situation.capability
    if name is not None:
        found["capability"] = name
    if name is None or source.pack is None:
        found["declaration"] = solved.capability.to_dict()
    labels = source.labels
    if labels is None:
        labels = request_labels({} if situation is None else situation.labels)
    found["labels"] = _labels(labels)
    if solved.preferred_provider is not None:
        found["preferredProvider"] = solved.preferred_provider
    if solved.preferred_model is not None:
        found["preferredModel"] = solved.preferred_model
    call = None if situation is None else situation.context.call
    if call is not None:
        found["tokens"] = _tokens(call)
    return found | _ending(source, solved.at)


def asked_of_bundle(solved: "JointSolved") -> dict[str, Any]:
    """What a request for a bundle asked, as it goes over the wire."""
    source = solved.provenance or _NOWHERE
    found = _tenant(solved.policy)
    if source.bundle is not None:
        found["bundle"] = source.bundle
    if source.declaration is not None:
        found["declaration"] = plain(source.declaration)[0]
    found["labels"] = _labels(source.labels or {})
    if source.tokens is not None:
        found["tokens"] = dict(source.tokens)
    return found | _ending(source, solved.slots[0].at)


def _tenant(policy: "TenantPolicy | None") -> dict[str, Any]:
    return {} if policy is None else {"tenant": policy.tenant_id}


def _labels(labels: Labels) -> dict[str, dict[str, str]]:
    return {key: {"value": value, "from": source} for key, (value, source) in labels.items()}


def _tokens(call: "Call") -> dict[str, Any]:
    return {"prompt": call.prompt, "completion": call.completion}


def _ending(source: Provenance, at: Moment | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if source.at is not None:
        found["at"] = source.at
    elif at is not None:
        found["at"] = text_of(at)
    if source.pack is not None:
        found["pack"] = source.pack
    found["whyroute"] = __version__
    return found
