"""Conditions: what rules say of candidates and of requests, as models and as trees to evaluate."""

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final, Self, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ModelWrapValidatorHandler, ValidationInfo, model_validator

from ..basics.issues import Issue, child, kind_of, shown
from ..documents.fields import OrAbsent, WireModel, refused
from ..documents.json_text import plain
from ..documents.model_issues import models_in
from ..documents.toposort import cycles, in_order
from ..errors import InvalidRequestError
from .condition_grammar import (
    FIELDS,
    LABEL_PREFIX,
    REQUEST_FIELDS,
    CandidateFields,
    RequestFields,
    TextMatch,
    TextMatcher,
    condition_issues,
    when_issues,
)

__all__ = [
    "AllOf",
    "AnyOf",
    "Condition",
    "Grammatical",
    "Is",
    "Leaf",
    "Node",
    "Not",
    "When",
    "condition_issues",
    "condition_order",
    "named_condition_issues",
    "named_in",
    "of_checked",
    "read_condition",
    "when_issues",
]

M = TypeVar("M", bound=WireModel)

CHECKED: Final = object()
"""The validation context of documents in which no issue was found."""


class Grammatical(WireModel):
    """A model of a document with a grammar of its own, which says more of what is wrong than types could."""

    @classmethod
    @abstractmethod
    def issues_in(cls, document: Any, path: str = "") -> list[Issue]:
        """What is wrong with a document, as plain JSON with wire names."""

    @model_validator(mode="wrap")
    @classmethod
    def _meets_the_grammar(cls, value: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        if isinstance(value, cls):
            return value
        if info.context is not CHECKED:
            given = _wire_names(cls, value)
            try:
                value = checked(given, "", cls.issues_in)
            except InvalidRequestError as error:
                raise refused(cls, error.issues, given) from None
        return handler(value)


def _with_labels(schema: dict[str, Any]) -> None:
    """Say in a JSON schema that `labels.<key>` is the only open key."""
    names = {"items": {"type": "string"}, "type": "array"}
    matcher = TextMatcher.model_json_schema(by_alias=True)
    # An empty list or matcher says nothing; what is no list or object is not concerned.
    filled = {"minItems": 1, "minProperties": 1}
    schema["properties"] = {key: {**field, **filled} for key, field in schema["properties"].items()}
    schema["patternProperties"] = {r"^labels\.": {"anyOf": [{"type": "string"}, names, matcher], **filled}}
    schema["additionalProperties"] = False
    schema["minProperties"] = 1


class Condition(CandidateFields, Grammatical):
    """A condition over candidates: fields with what they are compared with, all of which must hold.

    `labels.<key>` compares a label of the provider.

    Raises:
        ValidationError: It breaks the grammar; all its issues, in document order.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow", json_schema_extra=_with_labels)

    any_: OrAbsent[tuple["Condition", ...]] = Field(
        default=None, alias="any", description="at least one of these holds"
    )
    all_: OrAbsent[tuple["Condition", ...]] = Field(default=None, alias="all", description="all of these hold")
    not_: OrAbsent["Condition"] = Field(default=None, alias="not", description="this does not hold")
    is_: OrAbsent[str] = Field(default=None, alias="is", description="the named condition of this name holds")

    @classmethod
    def issues_in(cls, document: Any, path: str = "") -> list[Issue]:
        return condition_issues(document, path)

    @property
    def node(self) -> "Node":
        """The condition as a tree to evaluate."""
        parts = list(_leaves(self, FIELDS))
        if self.any_ is not None:
            parts.append(AnyOf(tuple(part.node for part in self.any_)))
        if self.all_ is not None:
            parts.append(AllOf(tuple(part.node for part in self.all_)))
        if self.not_ is not None:
            parts.append(Not(self.not_.node))
        if self.is_ is not None:
            parts.append(Is(self.is_))
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


class When(RequestFields, Grammatical):
    """A condition over the request: fields with what they are compared with, all of which must hold.

    Raises:
        ValidationError: It breaks the grammar; all its issues, in document order.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow", json_schema_extra=_with_labels)

    labels: OrAbsent[Mapping[str, TextMatch]] = Field(default=None, description="what the request says of itself")
    any_: OrAbsent[tuple["When", ...]] = Field(default=None, alias="any", description="at least one of these holds")
    all_: OrAbsent[tuple["When", ...]] = Field(default=None, alias="all", description="all of these hold")
    not_: OrAbsent["When"] = Field(default=None, alias="not", description="this does not hold")

    @classmethod
    def issues_in(cls, document: Any, path: str = "") -> list[Issue]:
        return when_issues(document, path)

    @property
    def node(self) -> "Node":
        """The condition as a tree to evaluate."""
        parts = list(_leaves(self, REQUEST_FIELDS))
        for key, matcher in (self.labels or {}).items():
            parts += _compared(LABEL_PREFIX + key, matcher)
        if self.any_ is not None:
            parts.append(AnyOf(tuple(part.node for part in self.any_)))
        if self.all_ is not None:
            parts.append(AllOf(tuple(part.node for part in self.all_)))
        if self.not_ is not None:
            parts.append(Not(self.not_.node))
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


@dataclass(frozen=True, slots=True)
class Leaf:
    """One comparison of one field.

    Attributes:
        field: The field, as on the wire.
        op: The matcher: `eq`, `ne`, `in`, `notIn`, `like`, `lt`, `lte`, `gt`, `gte` or `exists`.
        wanted: What it is compared with; a tuple for `in` and `notIn`.
    """

    field: str
    op: str
    wanted: Any


@dataclass(frozen=True, slots=True)
class AllOf:
    """All parts hold."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: "Node"


@dataclass(frozen=True, slots=True)
class Is:
    """The condition of this name holds."""

    name: str


Node = Leaf | AllOf | AnyOf | Not | Is


def named_in(node: Node) -> Iterator[str]:
    """The names of the conditions that one refers to, in the order in which they stand."""
    steps = [node]  # conditions may nest deeper than functions may call each other
    while steps:
        match steps.pop():
            case AllOf(parts) | AnyOf(parts):
                steps += reversed(parts)
            case Not(part):
                steps.append(part)
            case Is(name):
                yield name
            case _:
                pass


def condition_order(nodes: Mapping[str, Node]) -> tuple[str, ...]:
    """The names of conditions, each after those it refers to. There must be no circle."""
    return in_order({name: tuple(named_in(node)) for name, node in nodes.items()})


def read_condition(document: Any, path: str = "") -> Condition:
    """Read a condition over candidates from its wire form, whatever named conditions there are.

    Args:
        document: A JSON-like object with wire names, or a Condition, which is returned as it is.
        path: JSON pointer of the document, for the issues.

    Raises:
        InvalidRequestError: It breaks the grammar; all its issues, in document order.
    """
    if isinstance(document, Condition):
        return document
    return of_checked(Condition, checked(document, path, condition_issues))


def of_checked(model: type[M], document: Any) -> M:
    """What a document stands for in which no issue was found, as plain JSON."""
    return model.model_validate(document, context=CHECKED, by_alias=True, by_name=False)


def named_condition_issues(document: Any, path: str = "") -> list[Issue]:
    """What is wrong with named conditions, as plain JSON: an object of conditions; none may refer to itself."""
    if not isinstance(document, dict):
        return [Issue(path, f"{kind_of(document)}; conditions are an object of named conditions")]
    issues = [
        issue
        for name, condition in document.items()
        for issue in condition_issues(condition, child(path, name), conditions=document.keys())
    ]
    if issues:
        return issues
    references = {name: tuple(_names_in(condition)) for name, condition in document.items()}
    return [
        Issue(child(path, circle[0]), f"the condition refers to itself: {' > '.join(map(shown, [*circle, circle[0]]))}")
        for circle in cycles(references)
    ]


def _names_in(document: Mapping[str, Any]) -> Iterator[str]:
    """The named conditions that a condition without issues refers to."""
    for key, value in document.items():
        if key == "is":
            yield value
        elif key == "not":
            yield from _names_in(value)
        elif key in ("any", "all"):
            for part in value:
                yield from _names_in(part)


def checked(document: Any, path: str, issues_of: Any) -> Any:
    """The document as plain JSON with wire names, when it has no issues.

    Raises:
        InvalidRequestError: It has some.
    """
    cleaned, foreign = plain(document, path)
    issues = foreign or issues_of(cleaned, path)
    if issues:
        raise InvalidRequestError(issues)
    return cleaned


def _wire_names(model: type[WireModel], value: Any) -> Any:
    """The arguments of a model with the wire's names for Python's, at every level."""
    return _renamed(value, (model,))


def _renamed(value: Any, models: Collection[type[BaseModel]]) -> Any:
    if isinstance(value, list | tuple):
        return [_renamed(item, models) for item in value]
    if not isinstance(value, Mapping):
        return value
    fields = {name: field for model in models for name, field in model.model_fields.items()}
    wire = {field.alias or name: field for name, field in fields.items()}
    found = {}
    for key, item in value.items():
        field = fields.get(key) or wire.get(key)
        if field is None:
            found[key] = item
            continue
        inner = tuple(models_in(field.annotation))
        keyed = isinstance(item, Mapping) and Mapping in [get_origin(each) for each in get_args(field.annotation)]
        found[field.alias or key] = (
            {name: _renamed(each, inner) for name, each in item.items()} if keyed else _renamed(item, inner)
        )
    return found


@cache
def _python_names(model: type[WireModel]) -> Mapping[str, str]:
    return {field.alias or name: name for name, field in model.model_fields.items()}


def _leaves(condition: Condition | When, fields: Mapping[str, Any]) -> Iterator[Node]:
    names = _python_names(type(condition))
    for field in fields:
        matcher = getattr(condition, names[field])
        if matcher is not None:
            yield from _compared(field, matcher)
    for key, matcher in (condition.model_extra or {}).items():
        yield from _compared(key, matcher)


def _compared(field: str, matcher: Any) -> Iterator[Node]:
    if isinstance(matcher, list | tuple):
        yield Leaf(field, "in", tuple(matcher))
    elif isinstance(matcher, WireModel | Mapping):
        given = matcher if isinstance(matcher, Mapping) else matcher.model_dump(by_alias=True, exclude_unset=True)
        for op, wanted in given.items():
            yield Leaf(field, op, tuple(wanted) if isinstance(wanted, list | tuple) else wanted)
    else:
        yield Leaf(field, "eq", matcher)
