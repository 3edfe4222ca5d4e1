"""What a provider is registered with: its metadata, its adapter, and the name of its secret."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..basics.issues import Issue, child, did_you_mean, kind_of, quoted, shown
from ..documents.json_text import plain
from ..errors import InvalidProviderError, InvalidRequestError
from ..model.metadata import ProviderMetadata, read_metadata, source_of
from ..providers.hydrating import Registration
from .envelope import ApiError

__all__ = ["MAX_ID_LENGTH", "Quota", "read_registration"]

MAX_ID_LENGTH: Final = 512
"""How long a provider's id may be over HTTP, in characters: it has to fit into a path."""

_KEYS: Final = ("metadata", "adapter_id", "adapter_config", "secret_ref", "send_traceparent")
_SECRET_KEYS: Final = ("envName", "name")


@dataclass(frozen=True, slots=True)
class Quota:
    """How much one tenant may register.

    Attributes:
        providers: How many providers.
        size: How many bytes all its registrations may have together, as JSON in ASCII.
    """

    providers: int = 100
    size: int = 4 * 1024 * 1024

    def check(self, registered: Sequence[Registration], one_more: Registration) -> None:
        """Check whether there is room for one more.

        Raises:
            ApiError: `too-many-providers`; its `details` say how much there is and how much there may be.
        """
        count, size = len(registered), sum(each.size for each in registered)
        details = {
            "registered": {"providers": count, "bytes": size},
            "limit": {"providers": self.providers, "bytes": self.size},
        }
        if count >= self.providers:
            message = f"{count} providers are registered and the limit is {self.providers}; unregister one first"
            raise ApiError("too-many-providers", message, details)
        if size + one_more.size > self.size:
            message = (
                f"the tenant's registrations would have {size + one_more.size} bytes and the limit is {self.size}; "
                "register less, or unregister a provider first"
            )
            raise ApiError("too-many-providers", message, {**details, "bytes": one_more.size})


def read_registration(body: Any) -> Registration:
    """Read the body of `POST /v1/providers`.

    Raises:
        InvalidRequestError: Something beside the metadata is broken; all issues, those of the metadata too.
        InvalidProviderError: The metadata breaks a rule; `reason` is the first one.
    """
    if not isinstance(body, dict):
        raise InvalidRequestError([Issue("", f"{kind_of(body)}; a registration is an object")])
    issues = _issues(body)
    metadata: ProviderMetadata | None = None
    if "metadata" in body:
        try:
            metadata = _read_metadata(body["metadata"])
        except InvalidProviderError as error:
            if not issues:
                raise
            issues += error.issues
    if issues or metadata is None:
        raise InvalidRequestError(issues)
    config, _ = plain(body.get("adapter_config"))
    return Registration(metadata, body["adapter_id"], config, body.get("secret_ref"))


def _read_metadata(document: Any) -> ProviderMetadata:
    metadata = read_metadata(document, "/metadata")
    if source_of(metadata) == "pack":
        issue = Issue("/metadata/source", "`pack` is for a rule pack's own providers to say; leave `source` out")
    elif len(metadata.id) > MAX_ID_LENGTH:
        issue = Issue("/metadata/id", f"{len(metadata.id)} characters; an id has at most {MAX_ID_LENGTH} over HTTP")
    else:
        return metadata
    raise InvalidProviderError("invalid-metadata", [issue], metadata.id)


def _issues(body: dict[str, Any]) -> list[Issue]:
    issues = [
        Issue(
            child("", key), f"{shown(key)} is not a key here{did_you_mean(key, _KEYS) or f'; they are {quoted(_KEYS)}'}"
        )
        for key in body
        if key not in _KEYS
    ]
    issues += [
        Issue(child("", key), f"missing; a registration has `{key}`")
        for key in ("metadata", "adapter_id")
        if key not in body
    ]
    if "adapter_id" in body:
        issues += _non_empty(body["adapter_id"], "/adapter_id")
    if "adapter_config" in body:
        issues += _config_issues(body["adapter_config"])
    if "secret_ref" in body:
        issues += _secret_issues(body["secret_ref"])
    if "send_traceparent" in body and not isinstance(body["send_traceparent"], bool):
        issues.append(Issue("/send_traceparent", f"{kind_of(body['send_traceparent'])}; true or false is expected"))
    return issues


def _non_empty(value: Any, path: str) -> list[Issue]:
    if isinstance(value, str) and value:
        return plain(value, path)[1]
    return [Issue(path, f"{'empty' if value == '' else kind_of(value)}; a non-empty string is expected")]


def _config_issues(config: Any) -> list[Issue]:
    if not isinstance(config, dict):
        return [Issue("/adapter_config", f"{kind_of(config)}; the settings of an adapter are an object")]
    issues = plain(config, "/adapter_config")[1]
    return issues + [
        Issue(child("/adapter_config", key), f"{kind_of(value)}; a setting is a string, a number or a boolean")
        for key, value in config.items()
        if not isinstance(value, str | int | float | bool)
    ]


def _secret_issues(secret: Any) -> list[Issue]:
    if not isinstance(secret, dict):
        return [Issue("/secret_ref", f"{kind_of(secret)}; a secret is named by {{envName, name}}")]
    issues = [
        Issue(child("/secret_ref", key), f"{shown(key)} is not a key here{did_you_mean(key, _SECRET_KEYS)}")
        for key in secret
        if key not in _SECRET_KEYS
    ]
    for key in _SECRET_KEYS:
        if key not in secret:
            issues.append(Issue(child("/secret_ref", key), "missing; a secret is named by {envName, name}"))
        else:
            issues += _non_empty(secret[key], child("/secret_ref", key))
    return issues
