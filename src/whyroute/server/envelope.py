"""Errors as they go over HTTP: one envelope, and the status of each code."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ..errors import (
    DuplicateProviderError,
    InvalidInputError,
    InvalidProviderError,
    WhyrouteError,
)

__all__ = ["FAULT", "STATUSES", "ApiError", "api_error", "envelope"]

STATUSES: Final[Mapping[str, int]] = {
    "bad-input": 400,
    "bad-request": 400,
    "invalid-request": 400,
    "invalid-capability": 400,
    "invalid-provider": 400,
    "auth-missing": 401,
    "auth-expired": 401,
    "auth-revoked": 401,
    "unknown-tenant": 403,
    "foreign-origin": 403,
    "not-found": 404,
    "capability-not-found": 404,
    "provider-not-found": 404,
    "unknown-capability": 404,
    "unknown-bundle": 404,
    "method-not-allowed": 405,
    "request-timeout": 408,
    "duplicate-provider": 409,
    "registry-read-only": 409,
    "body-too-large": 413,
    "too-many-providers": 413,
    "target-too-long": 414,
    "unsupported-media-type": 415,
    "foreign-host": 421,
    "capability-unsatisfiable": 422,
    "search-limit": 422,
    "answer-too-large": 422,
    "provider-config-invalid": 422,
    "budget-exceeded": 422,
    "too-many-requests": 429,
    "headers-too-large": 431,
    "internal-server-error": 500,
    "unavailable": 503,
    "answer-timeout": 503,
}
"""The status of each error code."""

_TENANT_UNKNOWN: Final = "the tenant of this token is not in the rule pack that is served"


class ApiError(WhyrouteError):
    """An error with a place in HTTP.

    Attributes:
        code: One of STATUSES.
        status: Its status.
        details: What goes with it, as JSON.
        headers: Headers of the answer.
    """

    code: ClassVar[str] = "internal-server-error"

    def __init__(
        self,
        code: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = code
        self.status = STATUSES[code]
        self.details = details
        self.headers = dict(headers or {})
        if self.status == 401:
            self.headers.setdefault("WWW-Authenticate", "Bearer")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.kind, self.message, self.details, self.headers)


FAULT: Final = ApiError("internal-server-error", "a fault of the server's own; its log tells more")
"""What is said of a fault of our own."""


def api_error(error: WhyrouteError) -> ApiError:
    """An error of the library as one of HTTP. Unknown kinds are faults, whose text stays inside."""
    if isinstance(error, ApiError):
        return error
    if error.code == "unknown-tenant":  # its sentence names the other tenants
        return ApiError("unknown-tenant", _TENANT_UNKNOWN)
    if error.code not in STATUSES:
        return FAULT
    return ApiError(error.code, error.message, _details(error))


def _details(error: WhyrouteError) -> dict[str, Any] | None:
    details: dict[str, Any] = {}
    if isinstance(error, InvalidInputError | DuplicateProviderError) and error.issues:
        details["issues"] = [{"path": issue.path, "message": issue.message} for issue in error.issues]
    if isinstance(error, InvalidProviderError):
        details["reason"] = error.reason
    if isinstance(error, DuplicateProviderError):
        details["providerId"] = error.provider_id
    return details or None


def envelope(error: ApiError, request_id: str) -> dict[str, Any]:
    """The body of an error's answer."""
    found: dict[str, Any] = {"code": error.kind, "message": error.message}
    if error.details is not None:
        found["details"] = dict(error.details)
    return {"error": {**found, "requestId": request_id}}
