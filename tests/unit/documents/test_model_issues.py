"""What pydantic finds, as issues."""

import re
from collections.abc import Iterator
from importlib import import_module
from inspect import isabstract
from typing import Any, Literal

import pytest
from hypothesis import given
from pydantic import BaseModel, Field, ValidationError, field_validator

from declaration_strategies import near_valid
from house_style import broken_rules
from whyroute.documents.fields import WireModel
from whyroute.documents.json_text import plain
from whyroute.documents.model_issues import issues_of, read_model
from whyroute.documents.schema_issues import declaration_issues
from whyroute.errors import InvalidInputError
from whyroute.model.capability import Capability
from whyroute.model.policy import TenantPolicy


def found(model: type[BaseModel], document: Any, path: str = "", *, named: bool = True) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(document, by_alias=True, by_name=False)
    issues = issues_of(caught.value, document, path, model=model if named else None)
    return [(issue.path, issue.message) for issue in issues]


class Inner(WireModel):
    first_name: str
    size: int = 0


class Outer(WireModel):
    inner: Inner | None = None
    items: tuple[Inner, ...] = ()
    mode: Literal["fast", "slow"] = "fast"
    word: str = Field(default="x", min_length=1)
    even: int = 0
    ratio: float = 0.0

    @field_validator("even")
    @classmethod
    def _is_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("odd, and an even number was asked for")
        return value


def test_pointers_go_by_wire_names_and_are_escaped() -> None:
    assert found(Outer, {"inner": {"firstName": 1, "a/b": 2}, "items": [{}, {"firstName": "x", "size": "y"}]}) == [
        ("/inner/firstName", "`1`, a number; a string is expected"),
        ("/inner/a~1b", "`a/b` is not a key here; the keys are `firstName`, `size`"),
        ("/items/0", "`firstName` is missing"),
        ("/items/1/size", "`y`, a string; an integer is expected"),
    ]


def test_misspelt_key_is_one_issue_with_suggestion() -> None:
    assert found(Outer, {"items": [{"first_name": "x"}], "Mode": "fast"}, "/request") == [
        ("/request/items/0/first_name", "`first_name` is not a key here; did you mean `firstName`?"),
        ("/request/Mode", "`Mode` is not a key here; did you mean `mode`?"),
    ]
    assert found(Outer, {"items": [{"first_name": "x"}]}, named=False) == [
        ("/items/0", "`firstName` is missing"),
        ("/items/0/first_name", "`first_name` is not a key here"),
    ]


def test_choices_lengths_and_messages_of_validators() -> None:
    assert found(Outer, {"mode": "fats", "word": "", "even": 3, "inner": []}) == [
        ("/mode", "`fats` is not expected here; did you mean `fast`?"),
        ("/word", "empty; a non-empty string is expected"),
        ("/even", "odd, and an even number was asked for"),
        ("/inner", "an empty list; an object is expected"),
    ]
    assert found(Outer, {"mode": 3}) == [("/mode", "`3`, a number; one of `fast`, `slow` is expected")]
    assert found(Outer, 3) == [("", "`3`, a number; an object is expected")]


def test_union_tags_are_not_in_pointers() -> None:
    for document, path in (
        ({"needs": [{"feature": "vison"}]}, "/needs/0/feature"),
        ({"needs": [{"feature": {"feature": "vision"}}]}, "/needs/0/feature"),
        ({"needs": [{"feature": {"feature": {"feature": "vision"}}}]}, "/needs/0/feature"),
        ({"needs": [{"providers": {"deny": ["providers", 1]}}]}, "/needs/0/providers/deny/1"),
        ({"needs": [{"contextWindow": {"op": ">="}}]}, "/needs/0/contextWindow"),
        ({"needs": [{"providers": {"providers": 1}}]}, "/needs/0/providers/providers"),
        ({"needs": [{"feature": "vision", "note": 1}]}, "/needs/0/note"),
        ({"needs": [{}]}, "/needs/0"),
    ):
        assert [at for at, _ in found(Capability, document)] == [path]


@given(near_valid())
def test_finds_something_where_the_schema_does(document: Any) -> None:
    cleaned, _ = plain(document)
    try:
        Capability.model_validate(cleaned, by_alias=True, by_name=False)
    except ValidationError as error:
        issues = issues_of(error, cleaned, model=Capability)
        assert issues
        by_schema = {issue.path for issue in declaration_issues(document, empty_needs=True)}
        for path, message in issues:
            assert message
            # At the place the schema's sentence names, in it, or around it.
            assert any(path.startswith(other) or other.startswith(path) for other in by_schema)


def wire_models(base: type[BaseModel] = WireModel) -> Iterator[type[BaseModel]]:
    for model in base.__subclasses__():
        yield from wire_models(model)
        if not isabstract(model) and model.__module__.startswith("whyroute."):
            yield model


ODD: list[Any] = [
    None,
    "",
    3,
    3.5,
    -1,
    True,
    [],
    {},
    ["x"],
    [3],
    [None],
    {"a": 1},
    {"a": []},
    {"a": {}},
    10**400,
    "xy",
    [[]],
]


def test_no_words_of_pydantics_own_get_through() -> None:
    for name in ("model.calls", "model.rule", "packs.load.models", "providers.adapters", "wire.document"):
        import_module(f"whyroute.{name}")
    models = sorted(set(wire_models()), key=lambda model: model.__qualname__)
    assert len(models) > 40
    for model in models:
        names = [field.alias or name for name, field in model.model_fields.items()]
        documents = [*ODD, *({name: odd} for name in names for odd in ODD)]
        for document in documents:
            try:
                read_model(model, document, error=InvalidInputError)
            except InvalidInputError as error:
                for issue in error.issues:
                    told = (model.__name__, document, issue.message)
                    assert not re.search(r"[Vv]alue error|[Ii]nput should|should be|should have", issue.message), told
                    assert broken_rules(issue.message) == [], told


def test_pydantics_own_error_has_our_words_alone() -> None:
    with pytest.raises(ValidationError) as caught:
        TenantPolicy(tenant_id="t", max_tokens_per_call=0)
    (detail,) = caught.value.errors()
    assert detail["msg"] == "an integer of at least 1 is expected"
