"""The schema of packs for editors: it takes what loads, refuses broken shapes, and explains every key."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from packcases import DATA, PackCase, cases
from whyroute.cli import main
from whyroute.packs.load.composing import parsed
from whyroute.packs.load.schema import pack_schema
from whyroute.packs.load.sections import SECTIONS
from whyroute.packs.source.nodes import plain_value
from whyroute.packs.source.sources import Source

SCHEMA = pack_schema()
VALIDATOR: Any = Draft202012Validator(SCHEMA)
LOADING = [
    case
    for case in cases()
    if all(not each or each.startswith(("{", "unknown", "invalid")) for each in case.expected.values())
]


def document(text: str) -> Any:
    root, problems = parsed(Source("a.yaml", text))
    assert problems == []
    assert root is not None
    return plain_value(root)


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert set(SCHEMA["properties"]) == {"whyroute", *SECTIONS}


@pytest.mark.parametrize("case", LOADING, ids=lambda case: case.id)
def test_it_takes_what_loads(case: PackCase) -> None:
    for name, text in case.files.items():
        if not name.startswith("."):
            assert [error.message for error in VALIDATOR.iter_errors(document(text))] == []


@pytest.mark.parametrize(
    "path",
    [DATA / "example" / "pack.yaml", *sorted((DATA.parents[2] / "rules").rglob("*.yaml"))],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_it_takes_the_examples(path: Path) -> None:
    assert VALIDATOR.is_valid(document(path.read_text("utf-8")))


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "whyroute: 2",
        "{whyroute: 1, tenant: []}",
        "{whyroute: 1, tenants: [{tenantId: a, regionAlow: [x]}]}",
        "{whyroute: 1, tenants: [{tenantId: a, maxTokensPerCall: 0}]}",
        "{whyroute: 1, providers: [{id: p, region: r, models: [], onlyTenant: [a]}]}",
        "{whyroute: 1, capabilities: [{needs: []}]}",
        "{whyroute: 1, capabilities: [{name: all, needs: []}]}",
        "{whyroute: 1, regions: {g: []}}",
        "{whyroute: 1, labels: {l: {}}}",
        "{whyroute: 1, rules: [{name: a, because: x}]}",
        "{whyroute: 1, rules: [{name: a, because: x, require: {regoin: r}}]}",
        "{whyroute: 1, conditions: {c: {regoin: r}}}",
        "{whyroute: 1, tests: [{name: a, tenant: all, capability: all, expect: {}}]}",
        "{whyroute: 1, tests: [{name: a, tenant: [], capability: all, expect: {fallback: true}}]}",
    ],
)
def test_it_refuses_broken_shapes(text: str) -> None:
    assert not VALIDATOR.is_valid(document(text))


def _objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            yield schema
        for value in schema.values():
            yield from _objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _objects(value)


def test_every_key_is_explained() -> None:
    seen = 0
    for schema in _objects(SCHEMA):
        for key, value in schema["properties"].items():
            if value is False or not {"type", "enum", "$ref", "anyOf", "oneOf", "description"} & value.keys():
                continue  # not allowed here, or only a limit beside what is said of it elsewhere
            target = SCHEMA["$defs"].get(value.get("$ref", "").rpartition("/")[2], {})
            told = value.get("description") or target.get("description")
            assert told, f"{schema.get('title')}: {key}"
            assert len(told) > 6, f"{schema.get('title')}: {key}: {told}"
            seen += 1
    assert seen > 100


def test_no_explanation_is_that_of_python() -> None:
    # What a class says of itself is for programmers.
    assert "Raises:" not in json.dumps(SCHEMA)
    assert "Attributes:" not in json.dumps(SCHEMA)


def test_the_clauses_say_what_they_compare() -> None:
    for name in ("Tenant", "Policy"):
        clauses = SCHEMA["$defs"][name]["properties"]
        assert "1,000 prompt tokens" in clauses["maxCostPerCallUsd"]["description"]
        assert "floor: the model's context window" in clauses["maxTokensPerCall"]["description"]


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "pack"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA
