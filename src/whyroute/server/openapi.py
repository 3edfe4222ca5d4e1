"""The OpenAPI 3.1 description of the service, made from the models that read what crosses the wire."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from functools import cache
from typing import Any, Final

from .. import __version__
from .envelope import STATUSES
from .openapi_schemas import TEXT, object_of, ref, schemas
from .queries import DEFAULT_LIMIT, MAX_LIMIT

__all__ = ["openapi_document"]

Json = dict[str, Any]

_ALWAYS: Final = ("bad-request", "target-too-long", "headers-too-large", "internal-server-error")
_WITH_TOKEN: Final = ("auth-missing", "auth-expired", "auth-revoked", "foreign-host", "foreign-origin")
_OF_TENANT: Final = (
    *("bad-input", "unknown-tenant", "unavailable", "answer-timeout", "body-too-large"),
    "too-many-requests",
)
_LISTED: Final = (*_OF_TENANT, "answer-too-large")
_WITH_BODY: Final = ("invalid-request", "request-timeout", "unsupported-media-type")


def openapi_document() -> Json:
    """The description, a copy of one's own."""
    return deepcopy(_document())


@cache
def _document() -> Json:
    paths = _paths()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "whyroute",
            "version": __version__,
            "summary": "Which (provider, model) candidate serves a capability under a tenant's policy, and why.",
            "description": (
                "The tenant, its policy and its providers come from the token. Every answer carries `X-Request-Id`: "
                "the request's own where it is at most 128 of the characters `A-Z a-z 0-9 . _ ~ : @ / + = -`, else a "
                "new one. "
                "Every error has one envelope, whose `code` is stable."
            ),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "tags": [
            {"name": "capabilities", "description": "What can be asked for."},
            {"name": "providers", "description": "Who could serve it."},
            {"name": "routing", "description": "Who does serve it, and why."},
            {"name": "operations", "description": "For the operator of the service."},
        ],
        "paths": paths,
        "components": {
            "responses": _refusals(paths),
            "schemas": schemas(),
            "headers": {
                "RequestId": {
                    "description": "The id of the request.",
                    "required": True,
                    "schema": {"type": "string", "minLength": 1, "maxLength": 128},
                },
                "KeptPack": {
                    "description": (
                        "There only where the rule pack in force is one that was kept, for the pack was broken at the "
                        "start; with the time when it was last seen to be good."
                    ),
                    "schema": {"type": "string", "pattern": '^kept; since="[^"]+"$'},
                },
                "RetryAfter": {
                    "description": "After how many seconds to try again.",
                    "required": True,
                    "schema": {"type": "string", "pattern": "^[0-9]+$"},
                },
                "Challenge": {
                    "description": "How to authenticate.",
                    "required": True,
                    "schema": {"const": "Bearer"},
                },
            },
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token that `whyroute token` made. A service without `--tokens` asks for none.",
                }
            },
        },
    }


def _paths() -> Json:
    capability = _path_parameter("capabilityId", "The capability's id, such as `feature:vision`.")
    provider = _path_parameter("providerId", "The provider's id; a `/` in it is written `%2F`.")
    return {
        "/v1/capabilities": {
            "get": _operation(
                "capabilities.list",
                "capabilities",
                "List capability descriptors",
                "In pages: the built-in features, then what the rule pack describes beyond them, each with the "
                "tenant's own providers. What is added between two pages moves nothing that was there.",
                parameters=_page_parameters("Descriptors whose feature begins like this."),
                answers={200: ("A page of descriptors.", ref("CapabilityPage"))},
                errors=_LISTED,
            )
        },
        "/v1/capabilities/{capabilityId}": {
            "get": _operation(
                "capabilities.get",
                "capabilities",
                "Fetch a capability descriptor",
                "One descriptor by its id.",
                parameters=[capability],
                answers={200: ("The descriptor.", ref("CapabilityDescriptor"))},
                errors=(*_LISTED, "capability-not-found"),
            )
        },
        "/v1/providers": {
            "get": _operation(
                "providers.list",
                "providers",
                "List providers",
                "In pages, in the order of their ids: the rule pack's that the tenant sees, and its own.",
                parameters=_page_parameters("Providers with a model that has exactly this feature."),
                answers={200: ("A page of providers.", ref("ProviderPage"))},
                errors=_LISTED,
            ),
            "post": _operation(
                "providers.register",
                "providers",
                "Register a provider",
                "It is on disk when this is answered. A secret is named, never sent.",
                body=ref("Registration"),
                answers={201: ("It is registered.", object_of({"providerId": TEXT}))},
                errors=(
                    *_OF_TENANT,
                    *_WITH_BODY,
                    "invalid-provider",
                    "duplicate-provider",
                    "too-many-providers",
                    "provider-config-invalid",
                ),
            ),
        },
        "/v1/providers/{providerId}": {
            "get": _operation(
                "providers.get",
                "providers",
                "Fetch a provider",
                "Its metadata.",
                parameters=[provider],
                answers={200: ("The metadata.", ref("Provider"))},
                errors=(*_LISTED, "provider-not-found"),
            )
        },
        "/v1/providers/{providerId}/unregister": {
            "post": _operation(
                "providers.unregister",
                "providers",
                "Unregister a provider",
                "Its id is free again. The rule pack's own can't be unregistered.",
                parameters=[provider],
                answers={
                    200: ("It is unregistered.", object_of({"providerId": TEXT, "unregistered": {"const": True}}))
                },
                errors=(*_OF_TENANT, "provider-not-found", "registry-read-only"),
            )
        },
        "/v1/vocabulary": {
            "get": _operation(
                "vocabulary.get",
                "capabilities",
                "What a request may name",
                "The rule pack's capabilities, and features, kinds, regions, names and labels, for completion.",
                answers={200: ("The words.", ref("Vocabulary"))},
                errors=_LISTED,
            )
        },
        "/v1/route": {
            "post": _operation(
                "route",
                "routing",
                "Route a capability",
                "The candidate that serves it. Nothing qualifies: 422, with the reasons and the explanation.",
                body=ref("RouteRequest"),
                answers={200: ("The decision.", ref("RouteAnswer"))},
                errors=(
                    *_OF_TENANT,
                    *_WITH_BODY,
                    "invalid-capability",
                    "unknown-capability",
                    "capability-unsatisfiable",
                    "answer-too-large",
                ),
            )
        },
        "/v1/explain": {
            "post": _operation(
                "explain",
                "routing",
                "Explain a route",
                "Why a route would come out as it does, and what would have to change; nothing is decided. "
                "With `Accept: text/html` as a page.",
                body=ref("ExplainRequest"),
                answers={200: ("The explanation.", ref("Explanation"))},
                errors=(*_OF_TENANT, *_WITH_BODY, "invalid-capability", "unknown-capability", "answer-too-large"),
                html=True,
            )
        },
        "/v1/bundle": {
            "post": _operation(
                "bundle",
                "routing",
                "Route several capabilities together",
                "The candidates that serve a bundle of the rule pack, or slots of the request's own, and meet what "
                "ties them. There are none: 422, with the reasons and the explanation; `search-limit` where the search "
                "ended before it found any, and that there are none is not proved.",
                body=ref("BundleRequest"),
                answers={200: ("The decision.", ref("BundleAnswer"))},
                errors=(
                    *_OF_TENANT,
                    *_WITH_BODY,
                    "unknown-bundle",
                    "unknown-capability",
                    "capability-unsatisfiable",
                    "search-limit",
                    "answer-too-large",
                ),
            )
        },
        "/healthz": {
            "get": _operation(
                "health",
                "operations",
                "Whether the server runs",
                "It does, when this is answered.",
                answers={200: ("It runs.", object_of({"status": {"const": "ok"}}))},
                public=True,
            )
        },
        "/readyz": {
            "get": _operation(
                "ready",
                "operations",
                "Whether the server can answer",
                "With the digest of the rule pack in force.",
                answers={
                    200: ("It can.", ref("Readiness")),
                    503: ("It can't: the database or the file of tokens can't be read.", ref("Readiness")),
                },
                public=True,
            )
        },
        "/metrics": {
            "get": _operation(
                "metrics",
                "operations",
                "Numbers for Prometheus",
                "Requests, routes by outcome, what rejected most, how long answers took.",
                answers={200: ("In the text format.", None)},
                public=True,
            )
        },
        "/openapi.json": {
            "get": _operation(
                "openapi",
                "operations",
                "This description",
                "OpenAPI 3.1.",
                answers={200: ("The description.", {"type": "object", "required": ["openapi", "info", "paths"]})},
                public=True,
            )
        },
    }


def _operation(
    name: str,
    tag: str,
    summary: str,
    description: str,
    *,
    answers: Mapping[int, tuple[str, Json | None]],
    parameters: list[Json] | None = None,
    body: Json | None = None,
    errors: Iterable[str] = (),
    public: bool = False,
    html: bool = False,
) -> Json:
    found: Json = {"operationId": name, "tags": [tag], "summary": summary, "description": description}
    if public:
        found["security"] = []
    if parameters:
        found["parameters"] = parameters
    if body is not None:
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    responses: Json = {}
    for status, (told, schema) in answers.items():
        kind = "application/json" if schema is not None else "text/plain"
        content: Json = {kind: {"schema": schema if schema is not None else TEXT}}
        if html:
            content["text/html"] = {"schema": TEXT}
        responses[str(status)] = {"description": told, "headers": _headers(status), "content": content}
    codes = (*_ALWAYS, *errors, *(() if public else _WITH_TOKEN))
    # Without tokens, requests from elsewhere are refused everywhere.
    codes = (*codes, "foreign-host", "foreign-origin") if public else codes
    for status, those in _by_status(codes).items():
        if str(status) not in responses:
            responses[str(status)] = {"$ref": f"#/components/responses/{_name_of(status, those)}"}
    found["responses"] = dict(sorted(responses.items()))
    return found


def _name_of(status: int, codes: Iterable[str]) -> str:
    return ".".join([str(status), *codes])


def _refusals(paths: Json) -> Json:
    """The answers to what goes wrong, which several operations share."""
    used: dict[str, None] = {}
    for operations in paths.values():
        for operation in operations.values():
            for answer in operation["responses"].values():
                if "$ref" in answer:
                    used[answer["$ref"].rpartition("/")[2]] = None
    found = {}
    for name in sorted(used):
        status, *codes = name.split(".")
        found[name] = {
            "description": f"{', '.join(f'`{code}`' for code in codes)}.",
            "headers": _headers(int(status)),
            "content": {"application/json": {"schema": _error(codes)}},
        }
    return found


def _by_status(codes: Iterable[str]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for code in dict.fromkeys(codes):
        found.setdefault(STATUSES[code], []).append(code)
    return found


def _headers(status: int) -> Json:
    found: Json = {
        "X-Request-Id": {"$ref": "#/components/headers/RequestId"},
        "Whyroute-Pack": {"$ref": "#/components/headers/KeptPack"},
    }
    if status == 401:
        found["WWW-Authenticate"] = {"$ref": "#/components/headers/Challenge"}
    if status == 429:
        found["Retry-After"] = {"$ref": "#/components/headers/RetryAfter"}
    return found


def _error(codes: list[str]) -> Json:
    narrowed: Json = {"code": {"enum": codes}}
    if "search-limit" in codes:
        narrowed["details"] = ref("UnsatisfiableBundle")
    elif "capability-unsatisfiable" in codes:
        narrowed["details"] = ref("Unsatisfiable")
    return {
        "allOf": [
            ref("Error"),
            {"type": "object", "properties": {"error": {"type": "object", "properties": narrowed}}},
        ]
    }


def _path_parameter(name: str, description: str) -> Json:
    schema = {"type": "string", "minLength": 1}
    return {"name": name, "in": "path", "required": True, "description": description, "schema": schema}


def _page_parameters(feature: str) -> list[Json]:
    return [
        {
            "name": "limit",
            "in": "query",
            "description": "How many entries a page has.",
            "schema": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
        },
        {
            "name": "cursor",
            "in": "query",
            "description": "Where the page before ended: its `nextCursor`, as it came. It opens for the same list, "
            "filters and caller, within a day; otherwise 400 `bad-input`, and the list starts again without it.",
            "schema": {"type": "string", "minLength": 1},
        },
        {"name": "feature", "in": "query", "description": feature, "schema": {"type": "string"}},
    ]
