"""The bodies of requests and answers, as OpenAPI describes them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ..model.features import BUILT_IN_KINDS, FEATURES
from ..wire.question_schemas import HINTS
from ..wire.schemas import answer_schema, request_schema, tie_schema
from .bundling import MAX_SLOTS, MAX_TIES
from .envelope import STATUSES
from .registrations import MAX_ID_LENGTH

__all__ = ["TEXT", "object_of", "ref", "schemas"]

Json = dict[str, Any]

TEXT: Final[Json] = {"type": "string"}
_TEXTS: Final[Json] = {"type": "array", "items": {"type": "string"}}


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def object_of(required: Json, optional: Json | None = None, description: str | None = None) -> Json:
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
    page = object_of(
        {"data": _list_of(item), "hasMore": {"type": "boolean"}}, {"nextCursor": cursor, **(optional or {})}
    )
    more: Json = {"properties": {"hasMore": {"const": True}}}
    return {**page, "if": more, "then": {"required": ["nextCursor"]}, "else": {"properties": {"nextCursor": False}}}


def schemas() -> Json:
    request, answer = request_schema(), answer_schema()
    shared: Json = {**request["$defs"], **answer["$defs"]}
    for name in ("TenantPolicy", "Rule", "Waiver", "Condition", "When", "Error"):
        shared.pop(name, None)
    used = (
        "Capability",
        "Provider",
        "SetupFailure",
        "Candidate",
        "Decision",
        "Explanation",
        "Reason",
        "Asked",
        "UnmetHint",
    )
    schemas = {name: _refs_of(shared[name]) for name in _reached(used, shared)}
    schemas["Provider"] = _provider(schemas["Provider"])
    schemas["ModelThinking"]["properties"]["lowest"]["minLength"] = 1
    schemas["ModelThinking"]["additionalProperties"] = False
    candidate, hints = ref("Candidate"), _hints()
    capability = {
        "oneOf": [
            {"type": "string", "minLength": 1, "description": "The name of a capability of the rule pack."},
            ref("Capability"),
        ]
    }
    shadow = _refs_of(answer["properties"]["shadow"])
    schemas |= {
        "Error": object_of(
            {
                "error": object_of(
                    {
                        "code": {"enum": sorted(STATUSES), "description": "Stable, for programs."},
                        "message": {"type": "string", "description": "For people."},
                        "requestId": {"type": "string", "description": "As in `X-Request-Id`."},
                    },
                    {"details": {"type": "object", "description": "What depends on the code."}},
                )
            }
        ),
        "Unsatisfiable": object_of(
            {
                "asked": ref("Asked"),
                "reasons": _refs_of(answer["$defs"]["Error"]["properties"]["reasons"]),
                "explanation": ref("Explanation"),
            },
            {"tenantId": TEXT, "hints": _refs_of(HINTS)},
            "Why nothing qualifies.",
        ),
        "CapabilityDescriptor": _descriptor(),
        "CapabilityPage": _page_of(ref("CapabilityDescriptor")),
        "ProviderPage": _page_of(
            ref("Provider"),
            {
                "setupFailures": _list_of(
                    ref("SetupFailure"), "All of the tenant's that can't be set up, and so are no candidates."
                )
            },
        ),
        "Registration": _registration(),
        "RouteRequest": object_of(
            {"capability": capability},
            {
                **hints,
                "include": _included(),
            },
        ),
        "ExplainRequest": object_of(
            {"capability": capability},
            {**hints, "whyNot": {"allOf": [candidate], "description": "A candidate to compare with the pick."}},
        ),
        "RouteAnswer": object_of(
            {
                "decision": ref("Decision"),
                "at": {"type": "string", "description": "The time of the request."},
                "asked": ref("Asked"),
            },
            {
                "hints": _refs_of(HINTS),
                "shadow": shadow,
                "matched": _list_of(candidate, "The candidates that qualify, in input order."),
                "explanation": ref("Explanation"),
            },
        ),
        **_bundle_schemas(capability, _refs_of(answer["$defs"]["Error"]["properties"]["reasons"])),
        "Vocabulary": _vocabulary(),
        "Readiness": _readiness(),
    }
    return dict(sorted(schemas.items()))


def _bundle_schemas(capability: Json, reasons: Json) -> Json:
    candidate, hints = ref("Candidate"), _hints()
    picks = {"type": "object", "additionalProperties": candidate, "description": "The candidate of each slot."}
    slots: Json = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": MAX_SLOTS,
        "propertyNames": {"minLength": 1},
        "additionalProperties": object_of({"capability": capability}, hints),
        "description": "The capabilities, by the names of their slots, in order.",
    }
    own: Json = {
        "bundle": {"type": "string", "description": "The name of a bundle of the rule pack."},
        "slots": slots,
        "together": {**_list_of(ref("Tie"), "What ties the slots."), "maxItems": MAX_TIES},
    }
    asked = {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": candidate,
        "description": "For some slots, a candidate to compare with the pick; the explanation is there and answers it.",
    }
    request = object_of({}, {**own, "labels": hints["labels"], "include": _included(), "whyNot": asked})
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
        "BundleAnswer": object_of(
            {
                "decision": ref("BundleDecision"),
                "at": {"type": "string", "description": "The time of the request."},
                "asked": ref("Asked"),
            },
            {
                "hints": _refs_of(HINTS),
                "shadow": object_of(
                    {"by": {**_TEXTS, "description": "Those rules that would reject or reorder candidates."}},
                    {"picks": picks, "unsatisfiable": {"const": True}, "proved": {"const": False}},
                    "What enforcing the rules that are only tried out would give.",
                ),
                "matched": {
                    "type": "object",
                    "additionalProperties": _list_of(candidate),
                    "description": "For each slot, the candidates that qualify for it on its own, in input order.",
                },
                "explanation": ref("BundleExplanation"),
            },
        ),
        "BundleDecision": object_of(
            {
                "picks": picks,
                "score": {"type": "number", "description": "Sum of the weights of the preferences that they meet."},
                "fallback": {"type": "boolean", "description": "Fallback providers had to be counted in."},
                "proved": {"type": "boolean", "description": "Whether no better bundle exists."},
                "reason": TEXT,
            }
        ),
        "BundleExplanation": {
            "description": "Why a bundle came out as it did. Ids of a slot's own constraints begin with its name.",
            **object_of(
                {
                    "satisfiable": {"type": "boolean"},
                    "asked": ref("Asked"),
                    "proved": {"type": "boolean", "description": "Whether all that is said was proved."},
                    "constraints": _list_of({"type": "object", "required": ["id", "label", "owner", "slots"]}),
                    "cores": sets,
                    "corrections": sets,
                    "relaxations": _list_of({"type": "object"}),
                    "unknowns": _list_of({"type": "object"}),
                    "nearMisses": _list_of({"type": "object"}),
                },
                {
                    "hints": _refs_of(HINTS),
                    "truncated": _TEXTS,
                    "deadEnds": _list_of({"type": "object"}),
                    "ranking": _list_of({"type": "object"}),
                    "clash": {"type": "string", "description": "The first core in plain words."},
                    "contrast": {"type": "object", "description": "Answers `whyNot`."},
                },
            ),
        },
        "UnsatisfiableBundle": object_of(
            {},
            {
                "tenantId": TEXT,
                "asked": ref("Asked"),
                "hints": _refs_of(HINTS),
                "reasons": reasons,
                "explanation": ref("BundleExplanation"),
            },
            "Why there is none.",
        ),
    }


def _included() -> Json:
    return _list_of({"enum": ["matched", "explanation"]}, "What the answer holds beside the decision.")


def _hints() -> Json:
    return {
        "labels": {
            "type": "object",
            "additionalProperties": TEXT,
            "description": "What the request says of itself; rules may look at it.",
        },
        "preferredProvider": {"type": "string", "description": "A hint: this provider's candidates come first."},
        "preferredModel": {"type": "string", "description": "A hint: candidates of this model name come first."},
    }


def _descriptor() -> Json:
    holders = object_of({"providerId": TEXT, "models": {**_TEXTS, "description": "Its models that have the feature."}})
    return object_of(
        {
            "id": {"type": "string", "description": "`feature:<feature>` for built-in ones."},
            "feature": {"type": "string", "examples": list(FEATURES)},
            "description": TEXT,
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
            ref("Provider"),
            {
                "type": "object",
                "properties": {"id": {"maxLength": MAX_ID_LENGTH}, "source": {"not": {"const": "pack"}}},
            },
        ]
    }
    name = {"type": "string", "minLength": 1}
    return object_of(
        {"metadata": own, "adapter_id": {**name, "description": "The adapter that calls it."}},
        {
            "adapter_config": {
                "type": "object",
                "additionalProperties": {"type": ["string", "number", "boolean"]},
                "description": "Settings of the adapter, flat and without secrets.",
            },
            "secret_ref": object_of(
                {"envName": name, "name": name}, description="The name of its secret, never the secret."
            ),
            "send_traceparent": {"type": "boolean", "description": "Read, and of no consequence: no model is called."},
        },
    )


def _vocabulary() -> Json:
    return object_of(
        {
            "tenant": TEXT,
            "capabilities": _list_of(
                object_of(
                    {"name": TEXT, "declaration": ref("Capability")},
                    {"labels": {"type": "object", "additionalProperties": TEXT}},
                )
            ),
            "features": _TEXTS,
            "kinds": _TEXTS,
            "regions": _TEXTS,
            "attributes": _TEXTS,
            "providers": _list_of(object_of({"id": TEXT, "models": _TEXTS})),
            "labels": {
                "type": "object",
                "additionalProperties": object_of({"values": _TEXTS}, {"default": TEXT}),
            },
        }
    )


def _readiness() -> Json:
    return object_of(
        {
            "status": {"enum": ["ready", "not-ready"]},
            "pack": object_of(
                {
                    "digest": TEXT,
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
