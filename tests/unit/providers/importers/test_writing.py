"""What is written reads back as exactly the same data, under YAML 1.1 and 1.2."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, strategies as st
from ruamel.yaml import YAML

from whyroute.basics.numbers import as_double
from whyroute.documents.yaml_text import read_yaml
from whyroute.providers.importers import to_json, to_yaml

JSON = dict[str, Any]


def provider(**changes: Any) -> JSON:
    return {
        "id": "acme",
        "region": "eu-west-1",
        "attributes": ["eu-hosted", "lower-cost"],
        "models": [
            {
                "name": "gpt-4o-2024-08-06",
                "contextWindow": 128000,
                "features": ["vision", "tool-use"],
                "cost": {"promptUsdPer1kTokens": 0.00028, "completionUsdPer1kTokens": 1e-07},
                "sampling": False,
                "p95LatencyMs": 900,
            }
        ],
        **changes,
    }


def yaml_1_1(text: str) -> Any:
    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 1)
    return reader.load(text)


def same(left: Any, right: Any) -> bool:
    """Equal, with the same types: 1 is not True, and 1.0 is not 1."""
    return repr(left) == repr(right)


def test_yaml_as_it_is_read_by_people() -> None:
    assert to_yaml([provider(), {"id": "b", "region": "no", "models": []}], header="Made by hand.\n\nOn a day.") == (
        "# Made by hand.\n"
        "#\n"
        "# On a day.\n"
        "whyroute: 1\n"
        "providers:\n"
        "  - id: acme\n"
        "    region: eu-west-1\n"
        "    attributes: [eu-hosted, lower-cost]\n"
        "    models:\n"
        "      - name: gpt-4o-2024-08-06\n"
        "        contextWindow: 128000\n"
        "        features: [vision, tool-use]\n"
        "        cost: {promptUsdPer1kTokens: 0.00028, completionUsdPer1kTokens: 0.0000001}\n"
        "        sampling: false\n"
        "        p95LatencyMs: 900\n"
        "  - id: b\n"
        '    region: "no"\n'
        "    models: []\n"
    )


def test_no_providers() -> None:
    assert read_yaml(to_yaml([])) == {"whyroute": 1, "providers": []}
    assert json.loads(to_json([])) == {"whyroute": 1, "providers": []}


@pytest.mark.parametrize(
    "text",
    [
        "no", "No", "YES", "on", "y", "N", "true", "null", "~", "", " ", " a", "a ", "4.10", "1e3", "0x10",
        "0o7", "1_000", "12:30:45", "2024-08-06", "2024-08-06T10:00:00Z", ".inf", ".nan", "-", "- a",
        "@default", "`a`", "%a", "&a", "*a", "!a", "|", ">", "#a", "a #b", "a: b", "a:", ":a", "a:b", "v1:0",
        "{a}", "[a]", "a,b", "'a'", '"a"', "a\\b", "a\nb", "a\tb", "\u2028", "\ufeff", "\x7f", "\x00", "\x85",
        "é", "日本", "😀", "<<", "=", "?", "? a", "---", "...", "claude-opus-4@20250514", "amazon.nova-lite-v1:0",
        "accounts/fireworks/models/x", "Vertex (Anthropic)",
    ],
)  # fmt: skip
def test_text_stays_text(text: str) -> None:
    document = {
        "whyroute": 1,
        "providers": [{"id": text, "attributes": [text], "labels": {text: text}, text: [{"a": text}]}],
    }
    written = to_yaml(document["providers"])  # type: ignore[arg-type]  # the values differ in type
    assert same(read_yaml(written), document)
    assert same(yaml_1_1(written), document)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.text("nyo: -#'\"\\@{[0123.e\n", max_size=6)
numbers = st.floats(allow_nan=False, allow_infinity=False).map(as_double) | st.integers(-(2**53), 2**53)
scalars = texts | numbers | st.booleans() | st.none()
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(texts | st.sampled_from(["features", "cost", "attributes"]), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(
    st.lists(st.dictionaries(texts | st.sampled_from(["features", "cost", "models"]), values, max_size=4), max_size=3)
)
def test_any_data_reads_back_as_itself(providers: list[JSON]) -> None:
    document = {"whyroute": 1, "providers": providers}
    written = to_yaml(providers)
    assert same(read_yaml(written), document)
    assert same(yaml_1_1(written), document)
    assert same(json.loads(to_json(providers)), document)


@pytest.mark.parametrize(
    "value", [2.8e-07, 0.00028, 1e-7, 5e-324, 1.7976931348623157e308, 1e22, 1e17, 0.1, 4.9999999999999996e-05]
)
def test_doubles_come_back_as_the_same_doubles(value: float) -> None:
    written = to_yaml([{"cost": {"promptUsdPer1kTokens": value}}])
    for read in (read_yaml, yaml_1_1):
        assert same(read(written)["providers"][0]["cost"]["promptUsdPer1kTokens"], value)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_numbers_that_are_not_finite_are_never_written(value: float) -> None:
    for write in (to_yaml, to_json):
        with pytest.raises(ValueError, match=r"finite|compliant"):
            write([{"contextWindow": value}])


def test_foreign_types_are_never_written() -> None:
    with pytest.raises(TypeError, match="object"):
        to_yaml([{"id": object()}])


@given(st.text())
def test_a_header_never_leaves_the_comment(header: str) -> None:
    assert read_yaml(to_yaml([], header=header)) == {"whyroute": 1, "providers": []}
