"""The published schema, and the sentences about what breaks it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from jsonschema import Draft202012Validator

from declaration_strategies import near_valid
from paths import TESTS
from whyroute.documents.schema_issues import _SENTENCES, capability_schema, declaration_issues
from whyroute.model import features
from whyroute.model.capability import NEED_KEYS, Capability

DATA = TESTS / "data"
CASES = [json.loads(line) for line in (DATA / "declarations.jsonl").read_text("utf-8").splitlines()]
MESSAGES = [json.loads(line) for line in (DATA / "declaration_messages.jsonl").read_text("utf-8").splitlines()]
STOCK: Any = Draft202012Validator(capability_schema())
VISION = {"feature": "vision"}


def messages(document: Any) -> list[tuple[str, str]]:
    return [(issue.path, issue.message) for issue in declaration_issues(document)]


def objects(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if node.get("type") == "object":
            yield node
        for value in node.values():
            yield from objects(value)
    elif isinstance(node, list):
        for value in node:
            yield from objects(value)


def subschemas(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for key in ("properties", "$defs"):
        for value in node.get(key, {}).values():
            yield from subschemas(value)
    for value in node.get("oneOf", []):
        yield from subschemas(value)
    if "items" in node:
        yield from subschemas(node["items"])


def test_schema_is_draft_2020_12_with_published_id() -> None:
    schema = capability_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == "https://kindgi.com/schemas/v1/capability.schema.json"
    assert schema["$comment"] == "schema-version 1.1.0"
    Draft202012Validator.check_schema(schema)


def test_schema_is_closed_with_valid_examples() -> None:
    schema = capability_schema()
    closed = list(objects(schema))
    assert len(closed) == 15
    for shape in closed:
        assert shape["additionalProperties"] is False
    for sub in subschemas(schema):
        validator: Any = Draft202012Validator({**sub, "$defs": schema["$defs"]})
        for value in sub.get("examples", ()):
            assert validator.is_valid(value)


def test_schema_says_something_about_every_property() -> None:
    definitions = capability_schema()["$defs"]
    for shape in objects(capability_schema()):
        for value in shape["properties"].values():
            target = definitions[value["$ref"].rsplit("/", 1)[1]] if "$ref" in value else value
            assert value.get("description") or target.get("description")


def test_schema_lists_known_features_kinds_and_needs() -> None:
    schema = capability_schema()
    assert tuple(schema["$defs"]["FeatureRequirement"]["properties"]["feature"]["enum"]) == features.FEATURES
    assert tuple(schema["properties"]["kind"]["examples"]) == features.BUILT_IN_KINDS
    shapes = [branch["$ref"].rsplit("/", 1)[1] for branch in schema["$defs"]["Requirement"]["oneOf"]]
    assert [schema["$defs"][name]["required"] for name in shapes] == [[key] for key in NEED_KEYS]
    assert all(list(schema["$defs"][name]["properties"]) == schema["$defs"][name]["required"] for name in shapes)


def test_every_keyword_of_the_schema_has_its_sentence() -> None:
    silent = {"$schema", "$id", "$comment", "$defs", "$ref", "title", "description", "default", "examples"}
    applicators = {"properties", "items"}
    used = {key for sub in subschemas(capability_schema()) for key in sub} - silent - applicators
    assert used == set(_SENTENCES)


def test_schema_copy_may_be_changed() -> None:
    capability_schema()["required"].clear()
    assert capability_schema()["required"] == ["needs"]
    assert declaration_issues({})


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_published_cases(case: dict[str, Any]) -> None:
    issues = declaration_issues(case["declaration"])
    assert (not issues) == case["valid"]
    if issues:
        assert any(
            issue.path == path or issue.path.startswith(path + "/") for issue in issues for path in case["paths"]
        )


@pytest.mark.parametrize("case", MESSAGES, ids=[json.dumps(case["declaration"])[:60] for case in MESSAGES])
def test_messages(case: dict[str, Any]) -> None:
    assert [list(issue) for issue in declaration_issues(case["declaration"])] == case["issues"]


@given(near_valid())
@example({"needs": [{}]})
@example({"needs": [{"feature": "vision", "region": "eu"}]})
@example({"needs": [VISION], "budget": {"maxTokens": True}})
def test_finds_fault_exactly_where_the_stock_validator_does(document: Any) -> None:
    assert (not declaration_issues(document)) == STOCK.is_valid(document)


@given(near_valid())
@example({"needs": []})
@example({"needs": [{"context_window": {"op": ">=", "value": 1}}]})
def test_issues_are_sentences_at_places_in_document_order(document: Any) -> None:
    issues = declaration_issues(document)
    assert len(set(issues)) == len(issues)
    for path, message in issues:
        assert path == "" or path.startswith("/")
        assert message
        assert not message.endswith(".")
        assert "schema" not in message.replace("`$schema`", "")
        assert message[0] == "`" or message[0].islower()
    # The other order of keys gives the same issues, in the other order.
    assert sorted(declaration_issues(_backwards(document))) == sorted(_backwards_texts(issues, document))


def _backwards(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _backwards(value[key]) for key in reversed(value)}
    return [_backwards(item) for item in value] if isinstance(value, list) else value


def _backwards_texts(issues: list[Any], document: Any) -> list[Any]:
    """Sentences that list a need's keys list them in the order they are written in."""
    return [
        next((other for other in declaration_issues(_backwards(document)) if other.path == issue.path), issue)
        if "side by side" in issue.message or issue.message.startswith("none of")
        else issue
        for issue in issues
    ]


def test_issues_come_in_document_order() -> None:
    document = {
        "zeta": 1,
        "needs": [{"region": 1}] * 11,
        "budget": {"maxTokens": None, "x": 1, "maxCostUsd": -1},
        "alpha": 2,
    }
    paths = [path for path, _ in messages(document)]
    needs = [f"/needs/{index}/region" for index in range(11)]
    assert paths == ["/zeta", *needs, "/budget/maxTokens", "/budget/x", "/budget/maxCostUsd", "/alpha"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "`NaN` is not a number; a finite number is expected"),
        (float("inf"), "the number is infinite; a finite number is expected"),
        (10**400, "the integer is too large for a double; a finite number is expected"),
        ({1, 2}, "a Python `set` has no JSON form"),
        (b"1", "a Python `bytes` has no JSON form"),
        ("\ud800", "text with half a surrogate pair; it is not valid Unicode"),
    ],
    ids=["nan", "infinity", "giant", "set", "bytes", "surrogate"],
)
def test_what_no_json_text_holds_is_told_once(value: Any, message: str) -> None:
    for need in (
        {"costPerCall": {"op": "<=", "usd": value}},
        {"contextWindow": {"op": ">=", "value": value}},
        {"feature": value},
    ):
        key = next(iter(need))
        path = "/needs/1/feature" if key == "feature" else f"/needs/1/{key}/{list(need[key])[1]}"
        assert messages({"needs": [VISION, need]}) == [(path, message)]
    assert messages(value)[0] == ("", message)


def test_foreign_values_do_not_hide_other_issues() -> None:
    found = messages({"needs": {1}, 5: 1, "kind": "", "prefer": [{"feature": "x", "weight": float("nan")}, 1]})
    assert [path for path, _ in found] == ["", "/needs", "/kind", "/prefer/0/weight", "/prefer/1"]
    assert messages({"needs": [{1: "x"}]}) == [("/needs/0", "key `1` is not a string")]
    assert messages({1: "x"}) == [
        ("", "key `1` is not a string"),
        ("", '`needs` is missing; it is a list such as `[{"feature": "vision"}]`'),
    ]


def test_deep_nesting_is_an_issue() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    assert messages({"needs": [VISION], "extra": deep})[0][0] == "/extra"
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    assert messages({"needs": cyclic})


def test_numbers_are_read_as_doubles() -> None:
    for value in (200000.0, 1e300, 10**25, 2**53 + 1):
        assert messages({"needs": [{"contextWindow": {"op": ">=", "value": value}}]}) == []
    assert messages({"needs": [{"contextWindow": {"op": ">=", "value": 1.0000000000000001}}]}) == []
    assert messages({"needs": [{"costPerCall": {"op": ">=", "usd": -0.0}}]}) == []


def test_only_empty_needs_can_be_let_through() -> None:
    assert declaration_issues({"needs": []}, empty_needs=True) == []
    assert messages({"needs": []}) == [
        ("/needs", 'empty; a declaration has at least one need, such as `{"feature": "vision"}`')
    ]
    assert [issue.path for issue in declaration_issues({"needs": [], "kind": ""}, empty_needs=True)] == ["/kind"]


@given(st.sampled_from(CASES))
def test_models_and_schema_agree_on_the_published_cases(case: dict[str, Any]) -> None:
    if case["valid"]:
        dumped = Capability.model_validate(case["declaration"]).to_dict()
        assert dumped == case["declaration"]
        assert declaration_issues(dumped) == []
