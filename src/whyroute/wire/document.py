"""The document of a request: its fields in a model, which is their schema, and what is wrong with those of no other."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import Field, Strict, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails

from ..basics.issues import Issue, did_you_mean, kind_of, pointer, quoted, shown
from ..documents.fields import OrAbsent, Text, WireModel
from ..model.provider import SetupFailure
from ..model.request_facts import not_text
from ..model.timestamps import MOMENT_PATTERN

__all__ = ["DEFINED", "CandidateNames", "WireRequest", "WrittenAt", "field_issues"]

Include = Literal["matched", "explanation", "request"]
_Line = Annotated[int, Strict(), Field(ge=1)]
DEFINED: Final = "defined"
"""Stands for `$ref` in schemas: pydantic would look for the definition among its own."""

_COUNT: Final = {"type": "integer", "minimum": 0}


class CandidateNames(WireModel):
    """A candidate by its names."""

    provider: Text
    model: Text


class WrittenAt(WireModel):
    """Where something is written."""

    file: Text
    line: _Line
    column: _Line


def _schema(schema: dict[str, Any]) -> WithJsonSchema:
    """The schema of a field that is read, and judged, by another module."""
    return WithJsonSchema(schema)


def _defined(name: str) -> WithJsonSchema:
    return _schema({DEFINED: name})


def _list_of(name: str) -> WithJsonSchema:
    return _schema({"type": "array", "items": {DEFINED: name}})


class WireRequest(WireModel):
    """One routing request: what is needed, who could serve it, and under which policy."""

    id: Any = Field(default=None, description="Anything; the answer echoes it.")
    capability: Annotated[Any, _defined("Capability")]
    providers: Annotated[Any, _list_of("Provider")] = Field(
        description="Metadata of the tenant's providers. Ids are unique."
    )
    tenant_policy: Annotated[Any, _defined("TenantPolicy")] = None
    preferred_provider: OrAbsent[Text] = Field(
        default=None, description="A hint: this provider's candidates come first."
    )
    preferred_model: OrAbsent[Text] = Field(
        default=None, description="A hint: candidates of this model name come first."
    )
    setup_failures: OrAbsent[tuple[SetupFailure, ...]] = Field(
        default=None, description="Providers that could not be set up, to be named when nothing qualifies."
    )
    labels: OrAbsent[Mapping[str, str]] = Field(
        default=None, description="What the request says of itself; rules may look at it."
    )
    at: Annotated[Any, _schema({"type": "string", "pattern": MOMENT_PATTERN})] = Field(
        default=None, description="The time of the request: a date, or a date and time with its zone. Default: now."
    )
    tokens: Annotated[
        Any,
        _schema(
            {
                "type": "object",
                "required": ["prompt", "completion"],
                "additionalProperties": False,
                "properties": {"prompt": _COUNT, "completion": _COUNT},
            }
        ),
    ] = Field(default=None, description="What the call uses; without it the price of the call is unknown.")
    regions: OrAbsent[Mapping[str, tuple[str, ...]]] = Field(
        default=None,
        description="Groups of regions: the name of a group means its members too. Groups may name groups.",
    )
    conditions: Annotated[Any, _schema({"type": "object", "additionalProperties": {DEFINED: "Condition"}})] = Field(
        default=None, description="Named conditions, which rules and waivers refer to by `is`."
    )
    rules: Annotated[Any, _list_of("Rule")] = Field(
        default=None, description="What policy authors require, forbid and prefer, in order. Names are unique."
    )
    waivers: Annotated[Any, _list_of("Waiver")] = Field(
        default=None, description="Exceptions from waivable rules. Names are unique."
    )
    capability_name: OrAbsent[Text] = Field(default=None, description="The capability's name; rules may look at it.")
    origins: OrAbsent[Mapping[str, tuple[WrittenAt, ...]]] = Field(
        default=None, description="Where constraints are written, by their ids."
    )
    contacts: OrAbsent[Mapping[str, Text]] = Field(
        default=None, description="The contact for the clauses of the policy, by the ids of their constraints."
    )
    why_not: OrAbsent[CandidateNames] = Field(default=None, description="A candidate to compare with the pick.")
    include: OrAbsent[tuple[Annotated[Include, _schema({"enum": list(get_args(Include))})], ...]] = Field(
        default=None, description="What the answer holds beside the decision or the error."
    )


_SHAPES: Final[Mapping[str, tuple[str, ...]]] = {
    "preferredProvider": (),
    "preferredModel": (),
    "setupFailures": (
        "setup failures are a list of {providerId, message}",
        "a setup failure is {providerId, message}",
    ),
    "capabilityName": (),
    "origins": (
        "origins are an object of lists, by the ids of constraints",
        "origins are a list of {file, line, column}",
    ),
    "contacts": ("contacts are an object of strings, by the ids of constraints",),
    "whyNot": ("a candidate is {provider, model}",),
    "include": ("`include` is a list",),
}
"""The fields that are judged here, each with what it is and what is in it, and so on."""

Place = tuple[str | int, ...]


def field_issues(document: Mapping[str, Any]) -> dict[str, list[Issue]]:
    """What is wrong with those fields of a request that no other module judges, by field.

    Args:
        document: Fields of the request as plain JSON, other ones among them.
    """
    given = {key: value for key, value in document.items() if key in _SHAPES}
    if not given:
        return {}
    try:
        WireRequest.model_validate({"capability": None, "providers": None, **given}, by_alias=True, by_name=False)
    except ValidationError as error:
        found: dict[str, dict[Place, Issue]] = {}
        # Of one object, strange keys come before those that are missing or wrong.
        for detail in sorted(error.errors(include_url=False), key=_order):
            place = detail["loc"]
            if place[0] == "origins":
                place = place[:3]
            found.setdefault(str(place[0]), {})[place] = _issue(place, detail["type"], document)
        return {key: list(issues.values()) for key, issues in found.items()}
    return {}


def _order(detail: ErrorDetails) -> tuple[str | int, bool]:
    place = detail["loc"]
    return place[1] if len(place) > 1 and isinstance(place[1], int) else 0, detail["type"] != "extra_forbidden"


_KEYS: Final = {
    name: tuple(field.alias or field_name for field_name, field in model.model_fields.items())
    for name, model in (("setupFailures", SetupFailure), ("whyNot", CandidateNames))
}


def _issue(place: Place, kind: str, document: Mapping[str, Any]) -> Issue:
    at, name = pointer(place), str(place[0])
    shapes = _SHAPES[name]
    if kind == "missing" and name in _KEYS:
        return Issue(at, f"missing; {shapes[-1]}")
    value: Any = document
    for token in place:
        value = value[token]
    match name, kind:
        case (("setupFailures" | "whyNot"), "extra_forbidden"):
            key = str(place[-1])
            return Issue(at, f"{shown(key)} is no key here{did_you_mean(key, _KEYS[name]) or '; ' + shapes[-1]}")
        case "origins", _ if len(place) > len(shapes):
            return Issue(at, f"{shown(value)} is no origin; an origin is {{file, line, column}}, from line 1 on")
        case "include", _ if len(place) > len(shapes):
            known = get_args(Include)
            near = did_you_mean(value, known) if isinstance(value, str) else ""
            return Issue(at, f"{shown(value)} can't be included{near or f'; there are {quoted(known)}'}")
        case _, kind if kind == "string_type" or not shapes:
            return not_text(at, value)
        case _:
            return Issue(at, f"{kind_of(value)}; {shapes[len(place) - 1]}")
