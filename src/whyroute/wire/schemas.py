"""JSON Schemas (draft 2020-12) of what crosses the wire, made from the models that read it."""

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, Final

from pydantic import BaseModel

from ..constraints.terms import COMPARE
from ..documents.schema_issues import capability_schema
from ..model.condition import Condition
from ..model.metadata import ModelCost, ModelInfo, ProviderMetadata
from ..model.policy import TenantPolicy
from ..model.provider import SetupFailure
from ..model.rule import Rule, Waiver
from ..solving.ties import EXACT_FIELDS, NUMBER_FIELDS
from .document import DEFINED, CandidateNames, WireRequest, WrittenAt
from .question_schemas import HINTS, QUESTION_DEFINITIONS

__all__ = [
    "SCHEMAS",
    "answer_schema",
    "bundle_schema",
    "of_model",
    "request_schema",
    "schema_named",
    "tie_schema",
]

SCHEMAS = ("capability", "request", "answer", "bundle")
"""The schemas there are, by name."""

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_CANDIDATE = {
    "type": "object",
    "required": ["provider", "model"],
    "additionalProperties": False,
    "properties": {"provider": {"type": "string"}, "model": {"type": "string"}},
}
_REF_CANDIDATE = {"$ref": "#/$defs/Candidate"}


def schema_named(name: str) -> dict[str, Any]:
    """A fresh copy of one of SCHEMAS.

    Raises:
        ValueError: There is none of that name.
    """
    match name:
        case "capability":
            return capability_schema()
        case "request":
            return request_schema()
        case "answer":
            return answer_schema()
        case "bundle":
            return bundle_schema()
        case _:
            raise ValueError(f"`{name}` is no schema; there are {', '.join(f'`{known}`' for known in SCHEMAS)}")


def request_schema() -> dict[str, Any]:
    """The schema of a wire request. Unlike a declaration on its own, a request may have no needs."""
    capability = capability_schema()
    definitions = capability.pop("$defs")
    for key in ("$schema", "$id", "$comment"):
        capability.pop(key)
    capability["properties"]["needs"].pop("minItems")
    provider = _without_other_names(of_model(ProviderMetadata, definitions), ProviderMetadata)
    provider["properties"]["onlyTenants"] = False  # nothing would keep it to them
    for name, model in (("ModelInfo", ModelInfo), ("ModelCost", ModelCost)):
        definitions[name] = _without_other_names(definitions[name], model)
    own = {model.__name__: of_model(model, definitions) for model in (TenantPolicy, SetupFailure, Rule, Waiver)}
    definitions.setdefault("Condition", of_model(Condition, definitions))
    request = of_model(WireRequest, definitions)
    parts = {model.__name__: definitions.pop(model.__name__) for model in (CandidateNames, WrittenAt)}
    del definitions[SetupFailure.__name__]
    request = _inlined(request, parts)
    return {
        "$schema": _DRAFT,
        "title": "Request",
        **{key: request[key] for key in ("description", "type", "required", "additionalProperties", "properties")},
        "$defs": {**definitions, "Capability": capability, "Provider": provider, **own},
    }


def _inlined(schema: Any, parts: dict[str, Any]) -> Any:
    """The schema with some definitions in the places that refer to them, without what these say of themselves."""
    if isinstance(schema, list):
        return [_inlined(item, parts) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _inlined(value, parts) for key, value in schema.items()}
    if DEFINED in found:
        return {"$ref": f"#/$defs/{found.pop(DEFINED)}", **found}
    part = parts.get(str(found.get("$ref", "")).rsplit("/", 1)[-1])
    if part is None:
        return found
    del found["$ref"]
    return {**{key: value for key, value in part.items() if key != "description"}, **found}


def bundle_schema() -> dict[str, Any]:
    """The schema of a wire request for a bundle: several capabilities routed together."""
    schema = request_schema()
    own = schema["properties"]
    text = {"type": "string"}
    slot = _object(
        {"capability": {"$ref": "#/$defs/Capability"}},
        {key: own.pop(key) for key in ("preferredProvider", "preferredModel", "capabilityName")}
        | {key: own[key] for key in ("labels", "tokens")},
    )
    own.pop("capability")
    slots = {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"minLength": 1},
        "additionalProperties": {"$ref": "#/$defs/Slot"},
        "description": "The capabilities, by the names of their slots, in order.",
    }
    together = {"type": "array", "items": {"$ref": "#/$defs/Tie"}, "description": "What ties the slots."}
    own["whyNot"] = {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": deepcopy(_CANDIDATE),
        "propertyNames": text,
        "description": "For some slots, a candidate to compare with the pick.",
    }
    schema["properties"] = {"slots": slots, "together": together, **own}
    schema["$defs"] |= {"Slot": slot, "Tie": tie_schema()}
    return {
        **schema,
        "title": "Bundle",
        "description": "A request for several capabilities that are routed together.",
        "required": ["slots", "providers"],
    }


_TIES: Final = {
    "same": "the picks of the slots have the same value here; an unknown one never does",
    "different": "no two picks of the slots have the same value here; an unknown one never passes",
    "sum": "the sum over the slots' picks, exact; an unknown one never passes",
    "max": "the largest among the slots' picks; an unknown one never passes",
}


def tie_schema() -> dict[str, Any]:
    """The schema of a tie between slots."""

    def tie(kind: str, fields: Iterable[str], least: int, bound: dict[str, Any]) -> dict[str, Any]:
        slots = {
            "type": "array",
            "items": {"type": "string"},
            "minItems": least,
            "uniqueItems": True,
            "description": "The slots that it ties; all of them when absent.",
        }
        compared = {"enum": list(fields), "description": _TIES[kind]}
        return _object({kind: compared, **bound}, {"slots": slots})

    bound = {
        "op": {"enum": list(COMPARE), "description": "how it is compared with `value`"},
        "value": {"type": "number", "description": "what it is compared with, in the unit of the field"},
    }
    return {
        "oneOf": [
            *(tie(kind, EXACT_FIELDS, 2, {}) for kind in ("same", "different")),
            *(tie(kind, NUMBER_FIELDS, 1, bound) for kind in ("sum", "max")),
        ],
        "description": "A constraint between slots. An unknown value meets none.",
    }


def answer_schema() -> dict[str, Any]:
    """The schema of a wire answer: a decision, or an error."""
    reason = {
        "type": "object",
        "required": ["code", "message"],
        "properties": {
            "code": {"type": "string"},
            "message": {"type": "string"},
            "condition": {
                "type": "string",
                "description": "Of `rule-violated`: the named condition that is all that the rule requires or forbids.",
            },
        },
    }
    issue = {
        "type": "object",
        "required": ["path", "message"],
        "additionalProperties": False,
        "properties": {
            "path": {"type": "string", "description": "JSON pointer into the request."},
            "message": {"type": "string"},
        },
    }
    identifiers = {"type": "array", "items": {"type": "string"}}
    candidates = {"type": "array", "items": _REF_CANDIDATE}
    return {
        "$schema": _DRAFT,
        "title": "Answer",
        "description": "The answer to one routing request.",
        "type": "object",
        "oneOf": [{"required": ["decision", "at", "asked"]}, {"required": ["error"]}],
        "additionalProperties": False,
        "properties": {
            "id": {"description": "The request's own."},
            "decision": {"$ref": "#/$defs/Decision"},
            "error": {"$ref": "#/$defs/Error"},
            "at": {"type": "string", "description": "The time of the request."},
            "asked": {"$ref": "#/$defs/Asked"},
            "hints": deepcopy(HINTS),
            "shadow": {
                "type": "object",
                "required": ["by"],
                "additionalProperties": False,
                "properties": {
                    "pick": _REF_CANDIDATE,
                    "unsatisfiable": {"const": True},
                    "by": {**identifiers, "description": "Those rules that would reject or reorder candidates."},
                },
                "description": "What enforcing the rules that are only tried out would give.",
            },
            "matched": {**candidates, "description": "The candidates that qualify, in input order."},
            "explanation": {"$ref": "#/$defs/Explanation"},
            "request": {"type": "object", "description": "The request, with what was left out filled in."},
        },
        "$defs": {
            "Candidate": deepcopy(_CANDIDATE),
            "Reason": reason,
            **deepcopy(QUESTION_DEFINITIONS),
            "Decision": {
                "type": "object",
                "required": ["pick", "alternates", "fallback", "reason", "score"],
                "additionalProperties": False,
                "properties": {
                    "pick": _REF_CANDIDATE,
                    "alternates": {**candidates, "description": "The others that qualify, in rank order."},
                    "fallback": {"type": "boolean", "description": "Only fallback providers qualify."},
                    "reason": {"type": "string"},
                    "score": {"type": "number", "description": "Sum of the weights of the preferences that it meets."},
                },
            },
            "Error": {
                "type": "object",
                "required": ["code", "message"],
                "additionalProperties": False,
                "properties": {
                    "code": {
                        "enum": [
                            "capability-unsatisfiable",
                            "invalid-request",
                            "invalid-capability",
                            "invalid-policy",
                            "invalid-provider",
                            "duplicate-provider",
                        ]
                    },
                    "message": {"type": "string"},
                    "tenantId": {"type": "string"},
                    "reason": {"type": "string", "description": "Of an invalid provider: the first rule it breaks."},
                    "providerId": {"type": "string"},
                    "issues": {"type": "array", "items": issue},
                    "reasons": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["requirement", "satisfyingProviders", "rejectingProviders"],
                            "additionalProperties": False,
                            "properties": {
                                "requirement": {"type": "string", "description": "The constraint's label."},
                                "constraint": {
                                    "type": "string",
                                    "description": "Its id, as in the cores; absent for `provider set up`.",
                                },
                                "satisfyingProviders": identifiers,
                                "rejectingProviders": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "required": ["id", "reason"],
                                        "additionalProperties": False,
                                        "properties": {"id": {"type": "string"}, "reason": {"$ref": "#/$defs/Reason"}},
                                    },
                                },
                            },
                        },
                    },
                },
            },
            "Explanation": _explanation_schema(),
        },
    }


def _explanation_schema() -> dict[str, Any]:
    failed = {
        "type": "array",
        "items": _object({"constraint": {"type": "string"}, "reason": {"$ref": "#/$defs/Reason"}}),
    }
    count = {"type": "integer", "minimum": 0}
    number = {"type": "number"}
    identifiers = {"type": "array", "items": {"type": "string"}}
    place = _object({"file": {"type": "string"}, "line": count, "column": count})
    constraint = _object(
        {
            "id": {"type": "string"},
            "label": {"type": "string"},
            "owner": {"enum": ["caller", "policy", "rule"]},
            "admitted": count,
            "rejected": count,
        },
        {
            "contact": {"type": "string"},
            "because": {"type": "string"},
            "origins": {"type": "array", "items": place},
            "shadow": {"const": True},
        },
    )
    relaxation = _object(
        {
            "correction": identifiers,
            "patch": {
                "type": "array",
                "items": _object({"op": {"type": "string"}, "path": {"type": "string"}}, {"value": True}),
            },
            "owners": {"type": "array", "items": {"enum": ["caller", "policy", "rule"]}},
            "offered": {"type": "boolean", "description": "Whether it may be proposed to a person."},
            "pick": _REF_CANDIDATE,
            "text": {"type": "string"},
        }
    )
    dead_end = _object(
        {
            "correction": identifiers,
            "why": {"enum": ["kind", "rules", "search-limit"]},
            "text": {"type": "string"},
        },
        {"by": {**identifiers, "description": "The rules that apply to the edited request."}},
    )
    unknown = _object(
        {
            "candidate": _REF_CANDIDATE,
            "field": {"type": "string"},
            "constraint": {"type": "string"},
            "also": identifiers,
        }
    )
    matched = {
        "type": "object",
        "required": ["weight"],
        "additionalProperties": False,
        "properties": {"feature": {"type": "string"}, "rule": {"type": "string"}, "weight": number},
    }
    ranked = _object(
        {
            "candidate": _REF_CANDIDATE,
            "score": number,
            "matched": {"type": "array", "items": matched},
            "hint": {"type": "boolean"},
            "fallback": {"type": "boolean"},
        }
    )
    contrast = _object(
        {"candidate": _REF_CANDIDATE, "known": {"type": "boolean"}},
        {
            "near": {"type": "array", "items": _REF_CANDIDATE},
            "admitted": {"type": "boolean"},
            "failed": failed,
            "rank": {"type": "integer", "minimum": 1},
            "score": number,
            "pick": _REF_CANDIDATE,
            "pickScore": number,
            "decidedBy": {"enum": ["fallback", "hint", "score", "order", "provider", "defaultModel", "model"]},
        },
    )
    return _object(
        {
            "satisfiable": {"type": "boolean"},
            "asked": {"$ref": "#/$defs/Asked"},
            "constraints": {"type": "array", "items": constraint},
            "cores": {"type": "array", "items": identifiers, "description": "Minimal sets that clash, smallest first."},
            "corrections": {"type": "array", "items": identifiers, "description": "Minimal sets to drop, likewise."},
            "relaxations": {"type": "array", "items": relaxation},
            "unknowns": {"type": "array", "items": unknown},
            "nearMisses": {
                "type": "array",
                "items": _object({"candidate": _REF_CANDIDATE, "failed": failed}),
                "description": "Fewest failures first, then in rank order.",
            },
            "redundant": {
                **identifiers,
                "description": "Constraints that make no difference: the others reject the same candidates.",
            },
        },
        {
            "hints": deepcopy(HINTS),
            "truncated": {"type": "array", "items": {"enum": ["cores", "corrections", "relaxations"]}},
            "deadEnds": {
                "type": "array",
                "items": dead_end,
                "description": "Corrections without a relaxation, each with why.",
            },
            "ranking": {"type": "array", "items": ranked},
            "margin": {**number, "description": "By how much the pick's score leads."},
            "tightest": {"type": "string", "description": "The constraint that admits fewest."},
            "userMessage": {"type": "string", "description": "For the end user; names nothing."},
            "contrast": contrast,
        },
    )


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """The schema of an object with these members and no others."""
    return {
        "type": "object",
        "required": list(required),
        "additionalProperties": False,
        "properties": {**required, **(optional or {})},
    }


def of_model(model: type[BaseModel], definitions: dict[str, Any]) -> dict[str, Any]:
    """A model's schema as the wire has it; its definitions join the others."""
    schema = model.model_json_schema(by_alias=True)
    for name, definition in schema.pop("$defs", {}).items():
        definitions[name] = _on_the_wire(definition)
    return dict(_on_the_wire(schema))


def _without_other_names(schema: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Metadata takes unknown keys, but not the names in Python of those that it has."""
    names = {name: False for name, field in model.model_fields.items() if (field.alias or name) != name}
    return {**schema, "properties": {**schema["properties"], **names}}


def _on_the_wire(schema: Any) -> Any:
    """Without what is Python's alone: None for absent, made-up titles, docstrings past their first paragraph."""
    if isinstance(schema, list):
        return [_on_the_wire(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {
        key: _on_the_wire(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str)) and not (key == "default" and value is None)
    }
    if isinstance(found.get("description"), str):
        found["description"] = " ".join(found["description"].split("\n\n")[0].split())
    kinds = [kind for kind in found.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) == 1:
        del found["anyOf"]
        found = {**kinds[0], **found}
    return found
