"""The OpenAPI 3.1 description of the service, made from the models that read what crosses the wire."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from functools import cache
from typing import Any, Final

from .. import __version__
from ..model.features import BUILT_IN_KINDS, FEATURES
from ..wire.schemas import answer_schema, request_schema, tie_schema
from .bundling import MAX_SLOTS, MAX_TIES
from .envelope import STATUSES
from .queries import DEFAULT_LIMIT, MAX_LIMIT
from .registrations import MAX_ID_LENGTH

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
            {"name": "operations", "description": "For whoever runs the service."},
        ],
        "paths": paths,
        "components": {
            "responses": _refusals(paths),
            "schemas": _schemas(),
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
                answers={200: ("A page of descriptors.", _ref("CapabilityPage"))},
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
                answers={200: ("The descriptor.", _ref("CapabilityDescriptor"))},
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
                answers={200: ("A page of providers.", _ref("ProviderPage"))},
                errors=_LISTED,
            ),
            "post": _operation(
                "providers.register",
                "providers",
                "Register a provider",
                "It is on disk when this is answered. A secret is named, never sent.",
                body=_ref("Registration"),
                answers={201: ("It is registered.", _object({"providerId": _TEXT}))},
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
                answers={200: ("The metadata.", _ref("Provider"))},
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
                answers={200: ("It is unregistered.", _object({"providerId": _TEXT, "unregistered": {"const": True}}))},
                errors=(*_OF_TENANT, "provider-not-found", "registry-read-only"),
            )
        },
        "/v1/vocabulary": {
            "get": _operation(
                "vocabulary.get",
                "capabilities",
                "What a request may name",
                "The rule pack's capabilities, and features, kinds, regions, names and labels, for completion.",
                answers={200: ("The words.", _ref("Vocabulary"))},
                errors=_LISTED,
            )
        },
        "/v1/route": {
            "post": _operation(
                "route",
                "routing",
                "Route a capability",
                "The candidate that serves it. Nothing qualifies: 422, with the reasons and the explanation.",
                body=_ref("RouteRequest"),
                answers={200: ("The decision.", _ref("RouteAnswer"))},
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
                body=_ref("ExplainRequest"),
                answers={200: ("The explanation.", _ref("Explanation"))},
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
                body=_ref("BundleRequest"),
                answers={200: ("The decision.", _ref("BundleAnswer"))},
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
                answers={200: ("It runs.", _object({"status": {"const": "ok"}}))},
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
                    200: ("It can.", _ref("Readiness")),
                    503: ("It can't: the database or the file of tokens can't be read.", _ref("Readiness")),
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
        content: Json = {kind: {"schema": schema if schema is not None else _TEXT}}
        if html:
            content["text/html"] = {"schema": _TEXT}
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
        narrowed["details"] = _ref("UnsatisfiableBundle")
    elif "capability-unsatisfiable" in codes:
        narrowed["details"] = _ref("Unsatisfiable")
    return {
        "allOf": [
            _ref("Error"),
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


_TEXT: Final[Json] = {"type": "string"}
_TEXTS: Final[Json] = {"type": "array", "items": {"type": "string"}}


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: Json, optional: Json | None = None, description: str | None = None) -> Json:
    found = {
        "type": "object",
        "required": list(required),
        "additionalProperties": False,
        "properties": {**required, **(optional or {})},
    }
    return found if description is None else {"description": description, **found}


def _list_of(item: Json, description: str | None = None) -> Json:
    found = {"type": "array", "items": item}
    return found if description is None else {**found, "description": description}


def _page_of(item: Json, optional: Json | None = None) -> Json:
    """A page; the last one has no cursor, and all others have one."""
    cursor = {"type": "string", "minLength": 1, "description": "Absent on the last page."}
    page = _object({"data": _list_of(item), "hasMore": {"type": "boolean"}}, {"nextCursor": cursor, **(optional or {})})
    more: Json = {"properties": {"hasMore": {"const": True}}}
    return {**page, "if": more, "then": {"required": ["nextCursor"]}, "else": {"properties": {"nextCursor": False}}}


def _schemas() -> Json:
    request, answer = request_schema(), answer_schema()
    shared: Json = {**request["$defs"], **answer["$defs"]}
    for name in ("TenantPolicy", "Rule", "Waiver", "Condition", "When", "Error"):
        shared.pop(name, None)
    used = ("Capability", "Provider", "SetupFailure", "Candidate", "Decision", "Explanation", "Reason")
    schemas = {name: _refs_of(shared[name]) for name in _reached(used, shared)}
    schemas["Provider"] = _provider(schemas["Provider"])
    schemas["ModelThinking"]["properties"]["lowest"]["minLength"] = 1
    schemas["ModelThinking"]["additionalProperties"] = False
    candidate, hints = _ref("Candidate"), _hints()
    capability = {
        "oneOf": [
            {"type": "string", "minLength": 1, "description": "The name of a capability of the rule pack."},
            _ref("Capability"),
        ]
    }
    shadow = _refs_of(answer["properties"]["shadow"])
    schemas |= {
        "Error": _object(
            {
                "error": _object(
                    {
                        "code": {"enum": sorted(STATUSES), "description": "Stable, for programs."},
                        "message": {"type": "string", "description": "For people."},
                        "requestId": {"type": "string", "description": "As in `X-Request-Id`."},
                    },
                    {"details": {"type": "object", "description": "What depends on the code."}},
                )
            }
        ),
        "Unsatisfiable": _object(
            {
                "reasons": _refs_of(answer["$defs"]["Error"]["properties"]["reasons"]),
                "explanation": _ref("Explanation"),
            },
            {"tenantId": _TEXT},
            "Why nothing qualifies.",
        ),
        "CapabilityDescriptor": _descriptor(),
        "CapabilityPage": _page_of(_ref("CapabilityDescriptor")),
        "ProviderPage": _page_of(
            _ref("Provider"),
            {
                "setupFailures": _list_of(
                    _ref("SetupFailure"), "All of the tenant's that can't be set up, and so are no candidates."
                )
            },
        ),
        "Registration": _registration(),
        "RouteRequest": _object(
            {"capability": capability},
            {
                **hints,
                "include": _included(),
            },
        ),
        "ExplainRequest": _object(
            {"capability": capability},
            {**hints, "whyNot": {"allOf": [candidate], "description": "A candidate to compare with the pick."}},
        ),
        "RouteAnswer": _object(
            {"decision": _ref("Decision"), "at": {"type": "string", "description": "The time of the request."}},
            {
                "shadow": shadow,
                "matched": _list_of(candidate, "The candidates that qualify, in input order."),
                "explanation": _ref("Explanation"),
            },
        ),
        **_bundle_schemas(capability, _refs_of(answer["$defs"]["Error"]["properties"]["reasons"])),
        "Vocabulary": _vocabulary(),
        "Readiness": _readiness(),
    }
    return dict(sorted(schemas.items()))


def _bundle_schemas(capability: Json, reasons: Json) -> Json:
    candidate, hints = _ref("Candidate"), _hints()
    picks = {"type": "object", "additionalProperties": candidate, "description": "The candidate of each slot."}
    slots: Json = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": MAX_SLOTS,
        "propertyNames": {"minLength": 1},
        "additionalProperties": _object({"capability": capability}, hints),
        "description": "The capabilities, by the names of their slots, in order.",
    }
    own: Json = {
        "bundle": {"type": "string", "description": "The name of a bundle of the rule pack."},
        "slots": slots,
        "together": {**_list_of(_ref("Tie"), "What ties the slots."), "maxItems": MAX_TIES},
    }
    asked = {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": candidate,
        "description": "For some slots, a candidate to compare with the pick; the explanation is there and answers it.",
    }
    request = _object({}, {**own, "labels": hints["labels"], "include": _included(), "whyNot": asked})
    sets = _list_of(_TEXTS)
    return {
        "Tie": tie_schema(),
        "BundleRequest": {
            **request,
            "oneOf": [
                {"required": ["bundle"], "properties": {"slots": False, "together": False}},
                {"required": ["slots"], "properties": {"bundle": False}},
            ],
        },
        "BundleAnswer": _object(
            {"decision": _ref("BundleDecision"), "at": {"type": "string", "description": "The time of the request."}},
            {
                "shadow": _object(
                    {"by": {**_TEXTS, "description": "Those rules that would reject or reorder candidates."}},
                    {"picks": picks, "unsatisfiable": {"const": True}, "proved": {"const": False}},
                    "What enforcing the rules that are only tried out would give.",
                ),
                "matched": {
                    "type": "object",
                    "additionalProperties": _list_of(candidate),
                    "description": "For each slot, the candidates that qualify for it on its own, in input order.",
                },
                "explanation": _ref("BundleExplanation"),
            },
        ),
        "BundleDecision": _object(
            {
                "picks": picks,
                "score": {"type": "number", "description": "Sum of the weights of the preferences that they meet."},
                "fallback": {"type": "boolean", "description": "Fallback providers had to be counted in."},
                "proved": {"type": "boolean", "description": "Whether no better bundle exists."},
                "reason": _TEXT,
            }
        ),
        "BundleExplanation": {
            "description": "Why a bundle came out as it did. Ids of a slot's own constraints begin with its name.",
            **_object(
                {
                    "satisfiable": {"type": "boolean"},
                    "proved": {"type": "boolean", "description": "Whether all that is said was proved."},
                    "constraints": _list_of({"type": "object", "required": ["id", "label", "owner", "slots"]}),
                    "cores": sets,
                    "corrections": sets,
                    "relaxations": _list_of({"type": "object"}),
                    "unknowns": _list_of({"type": "object"}),
                    "nearMisses": _list_of({"type": "object"}),
                },
                {
                    "truncated": _TEXTS,
                    "deadEnds": _list_of({"type": "object"}),
                    "ranking": _list_of({"type": "object"}),
                    "clash": {"type": "string", "description": "The first core in plain words."},
                    "contrast": {"type": "object", "description": "Answers `whyNot`."},
                },
            ),
        },
        "UnsatisfiableBundle": _object(
            {}, {"tenantId": _TEXT, "reasons": reasons, "explanation": _ref("BundleExplanation")}, "Why there is none."
        ),
    }


def _included() -> Json:
    return _list_of({"enum": ["matched", "explanation"]}, "What the answer holds beside the decision.")


def _hints() -> Json:
    return {
        "labels": {
            "type": "object",
            "additionalProperties": _TEXT,
            "description": "What the request says of itself; rules may look at it.",
        },
        "preferredProvider": {"type": "string", "description": "A hint: this provider's candidates come first."},
        "preferredModel": {"type": "string", "description": "A hint: candidates of this model name come first."},
    }


def _descriptor() -> Json:
    holders = _object({"providerId": _TEXT, "models": {**_TEXTS, "description": "Its models that have the feature."}})
    return _object(
        {
            "id": {"type": "string", "description": "`feature:<feature>` for built-in ones."},
            "feature": {"type": "string", "examples": list(FEATURES)},
            "description": _TEXT,
            "providers": _list_of(holders, "The tenant's providers with a model that has it; empty when none has."),
        },
        {
            "kind": {
                "type": "string",
                "minLength": 1,
                "examples": list(BUILT_IN_KINDS),
                "description": "Absent: llm-inference.",
            },
            "paramsSchema": {
                "type": "object",
                "description": "A JSON Schema of the parameters that go with the feature.",
            },
        },
    )


def _provider(schema: Json) -> Json:
    properties = schema["properties"]
    properties["labels"] |= {
        "maxProperties": 32,
        "propertyNames": {"pattern": "^[a-z0-9]([a-z0-9._/-]{0,61}[a-z0-9])?$"},
        "additionalProperties": {"type": "string", "maxLength": 256},
    }
    properties["source"] = {"description": "`pack` for the rule pack's own."}
    return schema


def _registration() -> Json:
    own: Json = {
        "allOf": [
            _ref("Provider"),
            {
                "type": "object",
                "properties": {"id": {"maxLength": MAX_ID_LENGTH}, "source": {"not": {"const": "pack"}}},
            },
        ]
    }
    name = {"type": "string", "minLength": 1}
    return _object(
        {"metadata": own, "adapter_id": {**name, "description": "The adapter that calls it."}},
        {
            "adapter_config": {
                "type": "object",
                "additionalProperties": {"type": ["string", "number", "boolean"]},
                "description": "Settings of the adapter, flat and without secrets.",
            },
            "secret_ref": _object(
                {"envName": name, "name": name}, description="The name of its secret, never the secret."
            ),
            "send_traceparent": {"type": "boolean", "description": "Read, and of no consequence: no model is called."},
        },
    )


def _vocabulary() -> Json:
    return _object(
        {
            "tenant": _TEXT,
            "capabilities": _list_of(
                _object(
                    {"name": _TEXT, "declaration": _ref("Capability")},
                    {"labels": {"type": "object", "additionalProperties": _TEXT}},
                )
            ),
            "features": _TEXTS,
            "kinds": _TEXTS,
            "regions": _TEXTS,
            "attributes": _TEXTS,
            "providers": _list_of(_object({"id": _TEXT, "models": _TEXTS})),
            "labels": {
                "type": "object",
                "additionalProperties": _object({"values": _TEXTS}, {"default": _TEXT}),
            },
        }
    )


def _readiness() -> Json:
    return _object(
        {
            "status": {"enum": ["ready", "not-ready"]},
            "pack": _object(
                {
                    "digest": _TEXT,
                    "since": {"type": "string", "description": "Since when it is in force."},
                    "kept": {
                        "type": "boolean",
                        "description": "Whether it is one that was kept, for the pack was broken at the start.",
                    },
                },
                {
                    "keptSince": {"type": "string", "description": "When the kept pack was last seen to be good."},
                    "refusedSince": {"type": "string", "description": "Since when what stands at its path is broken."},
                },
            ),
            "database": {"enum": ["ok", "unavailable"]},
            "tokens": {"enum": ["ok", "unreadable", "none"]},
        }
    )


def _refs_of(schema: Any) -> Any:
    """A copy with its references led to the components."""
    if isinstance(schema, list):
        return [_refs_of(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value.replace("#/$defs/", "#/components/schemas/") if key == "$ref" else _refs_of(value)
        for key, value in schema.items()
    }


def _reached(names: Iterable[str], definitions: Mapping[str, Any]) -> list[str]:
    """The definitions that some lead to, those included."""
    found: dict[str, None] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = None
            waiting += _named(definitions[name])
    return list(found)


def _named(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for item in schema for name in _named(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"].removeprefix("#/$defs/")] if "$ref" in schema else []
    return own + [name for value in schema.values() for name in _named(value)]
