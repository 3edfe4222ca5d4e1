"""The grammar of conditions: the fields, what each can be compared with, and what is wrong with a document."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, get_args

from pydantic import ConfigDict, Field

from ..basics.globs import glob
from ..basics.issues import Issue, child, did_you_mean, quoted, shown
from ..basics.numbers import as_double
from ..documents.fields import Names, Number, OrAbsent, WireModel
from ..documents.phrases import in_backticks, wrong
from .features import FEATURES
from .metadata import LABEL_KEY

__all__ = [
    "FIELDS",
    "LABEL_PREFIX",
    "OPERATORS",
    "REQUEST_FIELDS",
    "SOURCES",
    "CandidateFields",
    "FieldType",
    "NumberMatcher",
    "RequestFields",
    "SetMatcher",
    "TextMatch",
    "TextMatcher",
    "condition_issues",
    "when_issues",
]

FieldType = Literal["text", "set", "number"]


def _with_filled_lists(schema: dict[str, Any]) -> None:
    for key in schema["properties"].keys() & {"in", "notIn"}:
        schema["properties"][key] = {**schema["properties"][key], "minItems": 1}


class _Matcher(WireModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(json_schema_extra=_with_filled_lists)

    exists: OrAbsent[bool] = Field(default=None, description="whether the fact is known at all: true or false")


class TextMatcher(_Matcher):
    """What a text is compared with, letter by letter; all that is given must hold."""

    eq: OrAbsent[str] = Field(default=None, description="equal to this")
    ne: OrAbsent[str] = Field(default=None, description="not equal to this")
    in_: OrAbsent[Names] = Field(default=None, alias="in", description="one of these")
    not_in: OrAbsent[Names] = Field(default=None, description="none of these")
    like: OrAbsent[str] = Field(
        default=None,
        description="a glob over the whole value, case-sensitive: `*` is any text, `/` included, `?` one character",
    )


class SetMatcher(_Matcher):
    """What a set is asked for; all that is given must hold."""

    eq: OrAbsent[str] = Field(default=None, description="has this")
    in_: OrAbsent[Names] = Field(default=None, alias="in", description="has one of these")


class NumberMatcher(_Matcher):
    """What a number is compared with; all that is given must hold."""

    eq: OrAbsent[Number] = Field(default=None, description="equal to this")
    ne: OrAbsent[Number] = Field(default=None, description="not equal to this")
    in_: OrAbsent[tuple[Number, ...]] = Field(default=None, alias="in", description="one of these")
    not_in: OrAbsent[tuple[Number, ...]] = Field(default=None, description="none of these")
    lt: OrAbsent[Number] = Field(default=None, description="less than this")
    lte: OrAbsent[Number] = Field(default=None, description="at most this")
    gt: OrAbsent[Number] = Field(default=None, description="more than this")
    gte: OrAbsent[Number] = Field(default=None, description="at least this")


TextMatch = str | tuple[str, ...] | TextMatcher
SetMatch = str | tuple[str, ...] | SetMatcher
NumberMatch = Number | tuple[Number, ...] | NumberMatcher


class CandidateFields(WireModel):
    """What a condition over candidates may look at, beside the provider's labels (`labels.<key>`, which are text)."""

    provider: OrAbsent[TextMatch] = Field(default=None, description="the provider's id")
    model: OrAbsent[TextMatch] = Field(default=None, description="the model's name, without the provider's id")
    region: OrAbsent[TextMatch] = Field(
        default=None, description="the provider's region; the name of a group means its members too"
    )
    kind: OrAbsent[TextMatch] = Field(default=None, description="the provider's kind")
    feature: OrAbsent[SetMatch] = Field(default=None, description="the model's features: has it, or one of them")
    attribute: OrAbsent[SetMatch] = Field(default=None, description="the provider's attributes: has it, or one of them")
    source: OrAbsent[TextMatch] = Field(default=None, description="where the provider comes from: pack or registered")
    context_window: OrAbsent[NumberMatch] = Field(
        default=None, description="how many tokens of prompt and answer it holds"
    )
    max_output_tokens: OrAbsent[NumberMatch] = Field(default=None, description="in tokens; may be unknown")
    prompt_usd_per_1k_tokens: OrAbsent[NumberMatch] = Field(
        default=None, alias="promptUsdPer1kTokens", description="USD per 1,000 prompt tokens"
    )
    completion_usd_per_1k_tokens: OrAbsent[NumberMatch] = Field(
        default=None, alias="completionUsdPer1kTokens", description="USD per 1,000 completion tokens"
    )
    call_usd: OrAbsent[NumberMatch] = Field(
        default=None, description="exact price of the request's tokens in USD; unknown when it names none"
    )
    p95_latency_ms: OrAbsent[NumberMatch] = Field(
        default=None, alias="p95LatencyMs", description="in milliseconds; may be unknown"
    )


class RequestFields(WireModel):
    """What a condition over the request may look at, beside the request's labels."""

    kind: OrAbsent[TextMatch] = Field(default=None, description="the kind asked for")
    feature: OrAbsent[SetMatch] = Field(
        default=None, description="the features among the needs: has it, or one of them"
    )
    capability: OrAbsent[TextMatch] = Field(default=None, description="the capability's name in the pack")


_MATCHERS: Final[Mapping[FieldType, type[WireModel]]] = {
    "text": TextMatcher,
    "set": SetMatcher,
    "number": NumberMatcher,
}


def _types(fields: type[WireModel]) -> Mapping[str, FieldType]:
    """The fields under their wire names, each with its type."""
    return MappingProxyType(
        {
            field.alias or name: kind
            for name, field in fields.model_fields.items()
            for kind, matcher in _MATCHERS.items()
            if matcher in get_args(field.annotation)
        }
    )


FIELDS: Final = _types(CandidateFields)
"""The fields of candidates."""

REQUEST_FIELDS: Final = _types(RequestFields)
"""The fields of requests."""

OPERATORS: Final[Mapping[FieldType, tuple[str, ...]]] = MappingProxyType(
    {
        kind: (*(field.alias or name for name, field in matcher.model_fields.items() if name != "exists"), "exists")
        for kind, matcher in _MATCHERS.items()
    }
)
"""The matchers that each type of field takes."""

SOURCES: Final = ("pack", "registered")
"""Where a provider comes from."""

LABEL_PREFIX: Final = "labels."

_ALL_OPERATORS = tuple(dict.fromkeys(op for ops in OPERATORS.values() for op in ops))
_LISTS = ("in", "notIn")


def condition_issues(
    document: Any,
    path: str = "",
    *,
    under_negation: bool = False,
    conditions: Collection[str] | None = None,
) -> list[Issue]:
    """What is wrong with a condition over candidates.

    Args:
        document: The condition, as plain JSON: an object with wire names.
        path: JSON pointer of the condition, for the issues.
        under_negation: Whether it stands under `forbid` or `not`, where fields side by side are refused.
        conditions: The named conditions that `is` may refer to; None: they are not known yet.
    """
    return list(_issues(document, path, _Grammar("candidate", conditions, None), negated=under_negation))


def when_issues(
    document: Any,
    path: str = "",
    *,
    labels: Mapping[str, Collection[str]] | None = None,
) -> list[Issue]:
    """What is wrong with a condition over the request.

    Args:
        document: The condition, as plain JSON: an object with wire names.
        path: JSON pointer of the condition, for the issues.
        labels: The label keys that a request may have, each with its values; None: any.
    """
    return list(_issues(document, path, _Grammar("request", None, labels), negated=False))


@dataclass(frozen=True, slots=True)
class _Grammar:
    """Which conditions are meant: over candidates or over the request, and the names they may use."""

    over: Literal["candidate", "request"]
    conditions: Collection[str] | None
    labels: Mapping[str, Collection[str]] | None

    @property
    def fields(self) -> Mapping[str, FieldType]:
        return FIELDS if self.over == "candidate" else REQUEST_FIELDS

    @property
    def combining(self) -> tuple[str, ...]:
        return ("any", "all", "not", "is") if self.over == "candidate" else ("any", "all", "not")

    @property
    def example(self) -> str:
        return "{region: eu-west-1}" if self.over == "candidate" else "{labels: {data: patient}}"


def _issues(document: Any, path: str, grammar: _Grammar, *, negated: bool) -> Iterator[Issue]:
    if not isinstance(document, dict):
        yield wrong(path, document, f"a condition is an object such as `{grammar.example}`")
        return
    if not document:
        yield Issue(path, f"empty; a condition says something, such as `{grammar.example}`")
        return
    if negated and len(document) > 1:
        yield _side_by_side(document, path)
    for key, value in document.items():
        at = child(path, key)
        if key in ("any", "all"):
            yield from _parts(key, value, at, grammar, negated=negated)
        elif key == "not":
            yield from _issues(value, at, grammar, negated=True)
        elif key == "is" and grammar.over == "candidate":
            yield from _reference(value, at, grammar.conditions)
        elif key == "labels" and grammar.over == "request":
            yield from _labels(value, at, grammar, negated=negated)
        elif key in grammar.fields:
            broken = list(_matcher(value, at, key, grammar.fields[key]))
            yield from broken
            if key == "feature" and grammar.over == "request" and not broken:
                yield from _features(value, at)
        elif key.startswith(LABEL_PREFIX):
            yield from _label(value, at, key[len(LABEL_PREFIX) :], grammar)
        else:
            yield Issue(at, _unknown_field(key, value, grammar), Issue.KEY)


def _side_by_side(document: Mapping[str, Any], path: str) -> Issue:
    names = in_backticks(tuple(document), "and")
    message = f"{names} side by side under `forbid` or `not`, where each further line lets more through"
    return Issue(path, f"{message}; write `any` to mean one of them, `all` to mean all of them")


def _parts(key: str, value: Any, path: str, grammar: _Grammar, *, negated: bool) -> Iterator[Issue]:
    if not isinstance(value, list) or not value:
        yield wrong(path, value, f"`{key}` is a list of at least one condition")
        return
    for index, part in enumerate(value):
        yield from _issues(part, child(path, index), grammar, negated=negated)


def _reference(value: Any, path: str, conditions: Collection[str] | None) -> Iterator[Issue]:
    if not isinstance(value, str):
        yield wrong(path, value, "`is` takes the name of a condition")
    elif conditions is not None and value not in conditions:
        listed = f"; there are {quoted(conditions)}" if conditions else "; there are none"
        yield Issue(path, f"{shown(value)} is no named condition{did_you_mean(value, conditions) or listed}")


def _labels(value: Any, path: str, grammar: _Grammar, *, negated: bool) -> Iterator[Issue]:
    if not isinstance(value, dict) or not value:
        yield wrong(path, value, "`labels` is an object of label keys such as `{data: patient}`")
        return
    if negated and len(value) > 1:
        yield _side_by_side(value, path)
    for key, matcher in value.items():
        yield from _label(matcher, child(path, key), key, grammar, Issue.KEY)


def _label(value: Any, path: str, key: str, grammar: _Grammar, code: str = "") -> Iterator[Issue]:
    if grammar.over == "candidate":
        if not LABEL_KEY.fullmatch(key):
            yield Issue(path, f"{shown(key)} is no label key that a provider could have: they are lower case")
            return
    elif not key:
        yield Issue(path, "a label key is missing after `labels.`")
        return
    elif grammar.labels is not None and key not in grammar.labels:
        near = did_you_mean(key, grammar.labels) or f"; the labels are {quoted(grammar.labels) or 'none'}"
        yield Issue(path, f"{shown(key)} is no label of a request{near}", code)
        return
    broken = list(_matcher(value, path, key, "text"))
    yield from broken
    if grammar.labels is not None and not broken:
        for at, named in _values(value, path):
            if named not in grammar.labels[key]:
                near = did_you_mean(named, grammar.labels[key]) or f"; its values are {quoted(grammar.labels[key])}"
                yield Issue(at, f"{shown(named)} is no value of label {shown(key)}{near}")
        pattern = value.get("like") if isinstance(value, dict) else None
        # A set of values that are not known has every value in it.
        if pattern is not None and pattern not in grammar.labels[key]:
            matches = glob(pattern)
            if not any(map(matches, grammar.labels[key])):
                values = f"; its values are {quoted(grammar.labels[key])}"
                yield Issue(child(path, "like"), f"{shown(pattern)} matches no value of label {shown(key)}{values}")


def _features(matcher: Any, path: str) -> Iterator[Issue]:
    """A need asks for features that there are: a condition on others would switch its rule off."""
    for at, named in _values(matcher, path):
        if named not in FEATURES:
            near = did_you_mean(named, FEATURES) or f"; a need can ask for {quoted(FEATURES)}"
            yield Issue(at, f"{shown(named)} is not a feature{near}")


def _values(matcher: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The values that a matcher without issues compares with for equality, each with its place."""
    if isinstance(matcher, dict):
        for op, value in matcher.items():
            if op in ("eq", "ne", *_LISTS):
                yield from _values(value, child(path, op))
    elif isinstance(matcher, list):
        yield from ((child(path, index), value) for index, value in enumerate(matcher))
    else:
        yield path, matcher


def _matcher(value: Any, path: str, field: str, kind: FieldType) -> Iterator[Issue]:
    if isinstance(value, list):
        yield from _list(value, path, field, kind)
    elif not isinstance(value, dict):
        yield from _scalar(value, path, field, kind)
    elif not value:
        yield Issue(path, f"empty; a matcher has at least one of {in_backticks(OPERATORS[kind], 'or')}")
    else:
        for op, wanted in value.items():
            at = child(path, op)
            if op not in OPERATORS[kind]:
                yield Issue(at, _unknown_operator(op, field, kind), Issue.KEY)
            elif op in _LISTS and not isinstance(wanted, list):
                yield wrong(at, wanted, f"`{op}` takes a list")
            elif op in _LISTS:
                yield from _list(wanted, at, field, kind)
            elif op == "exists":
                if not isinstance(wanted, bool):
                    yield wrong(at, wanted, "`exists` is true or false")
            elif op == "like" and isinstance(wanted, str):
                continue  # any text is a pattern
            else:
                yield from _scalar(wanted, at, field, kind)


def _list(value: list[Any], path: str, field: str, kind: FieldType) -> Iterator[Issue]:
    if not value:
        yield Issue(path, "an empty list, which nothing is one of; name at least one value")
    for index, item in enumerate(value):
        yield from _scalar(item, child(path, index), field, kind)


def _scalar(value: Any, path: str, field: str, kind: FieldType) -> Iterator[Issue]:
    if kind == "number":
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield wrong(path, value, f"{shown(field)} is compared with a number", wants="number")
        elif not math.isfinite(as_double(value)):
            message = f"{shown(value)}; {shown(field)} is compared with a finite number"
            yield Issue(path, message, Issue.VALUE, value=value)
    elif not isinstance(value, str):
        quotes = "; a name that reads like one stands in quotes" if isinstance(value, bool | int | float) else ""
        yield wrong(path, value, f"{shown(field)} is compared with a string{quotes}")
    elif field == "source" and value not in SOURCES:
        near = did_you_mean(value, SOURCES) or f"; a source is {in_backticks(SOURCES, 'or')}"
        yield Issue(path, f"{shown(value)} is no source{near}")


def _unknown_operator(op: str, field: str, kind: FieldType) -> str:
    takes = f"; {shown(field)} takes {in_backticks(OPERATORS[kind], 'or')}"
    if op in _ALL_OPERATORS:
        what = {"set": "a set", "text": "text", "number": "a number"}[kind]
        return f"{shown(op)} is refused on {shown(field)}, which is {what}{takes}"
    near = did_you_mean(op, OPERATORS[kind])
    return f"{shown(op)} is no matcher{near or _SPELLINGS.get(op, '') or takes}"


_SPELLINGS = {
    spelling: f"; did you mean `{meant}`?"
    for meant, spellings in {
        "eq": ("=", "==", "equals", "is"),
        "ne": ("!=", "<>", "neq", "not"),
        "lt": ("<",),
        "lte": ("<=", "le", "max"),
        "gt": (">",),
        "gte": (">=", "ge", "min"),
        "in": ("oneOf", "anyOf"),
        "notIn": ("nin", "noneOf"),
        "like": ("glob", "match", "matches", "regex"),
    }.items()
    for spelling in spellings
}


def _unknown_field(key: str, value: Any, grammar: _Grammar) -> str:
    if grammar.over == "candidate" and key == "labels":
        return "`labels` takes its key with it here: write `labels.<key>`"
    if grammar.over == "candidate" and key == "capability":
        return "`capability` is a field of the request, not of a candidate; write it under `when`"
    if grammar.over == "request" and key == "is":
        return "`is` names a condition over candidates; `when` looks at the request"
    if grammar.over == "request" and key in FIELDS:
        return (
            f"{shown(key)} is a field of a candidate; `when` looks at the request: {quoted(REQUEST_FIELDS)}, `labels`"
        )
    if grammar.over == "request" and grammar.labels is not None and key in grammar.labels:
        written = f"labels: {{{key}: {value if isinstance(value, str) else '...'}}}"
        return f"{shown(key)} is not a field but a label: write {shown(written)}"
    known = [*grammar.fields, *grammar.combining, *(("labels",) if grammar.over == "request" else ())]
    near = did_you_mean(key, known) or f"; the fields are {quoted(grammar.fields)}, `labels.<key>`"
    return f"{shown(key) if key else 'the empty string'} is not a field{near}"
