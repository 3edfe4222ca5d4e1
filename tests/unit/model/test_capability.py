"""Capabilities: defining them, reading them as the router does, and the models."""

import json
import pickle
import subprocess
import sys
from collections import OrderedDict
from enum import Enum
from importlib import resources
from types import MappingProxyType
from typing import Any, get_args

import pytest
from hypothesis import example, given
from pydantic import ValidationError

import whyroute as wr
from counting import calls
from declaration_strategies import declarations, near_valid
from naming import named
from paths import TESTS
from whyroute.documents.json_text import plain
from whyroute.documents.schema_issues import declaration_issues
from whyroute.errors import InvalidCapabilityError
from whyroute.model.capability import (
    Capability,
    ContextWindowBound,
    ContextWindowNeed,
    FeatureNeed,
    Preference,
    define_capability,
    read_capability,
)
from whyroute.model.features import FEATURES

DATA = TESTS / "data"
CASES = [json.loads(line) for line in (DATA / "declarations.jsonl").read_text("utf-8").splitlines()]
VISION = {"feature": "vision"}


def refused(spec: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidCapabilityError) as caught:
        define_capability(spec)
    return [(issue.path, issue.message) for issue in caught.value.issues]


def accepts(reader: Any, document: Any) -> bool:
    try:
        reader(document)
    except InvalidCapabilityError:
        return False
    return True


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_published_cases(case: dict[str, Any]) -> None:
    text = json.dumps(case["declaration"])
    for spec in (case["declaration"], text, text.encode()):
        assert accepts(define_capability, spec) == case["valid"]
    assert accepts(read_capability, case["declaration"]) == (case["valid"] or case["declaration"] == {"needs": []})


def test_declaration_becomes_frozen_typed_model() -> None:
    spec = {
        "needs": [VISION, {"contextWindow": {"op": ">=", "value": 200000.0}}],
        "prefer": [{"feature": "lower-cost", "weight": 0.5}],
    }
    capability = define_capability(spec)
    assert capability == Capability(
        needs=(
            FeatureNeed(feature="vision"),
            ContextWindowNeed(context_window=ContextWindowBound(op=">=", value=200000)),
        ),
        prefer=(Preference(feature="lower-cost", weight=0.5),),
    )
    assert capability.kind == "llm-inference"
    assert capability.to_dict() == spec
    with pytest.raises(ValidationError):
        capability.kind = "embedding"  # type: ignore[misc]  # the test is that it can't be assigned
    assert hash(capability) == hash(define_capability(spec))


@given(declarations)
def test_forms_of_one_declaration_give_one_capability(document: dict[str, Any]) -> None:
    capability = define_capability(document)
    assert capability == define_capability(json.dumps(document))
    assert capability == define_capability(json.dumps(document, ensure_ascii=False).encode())
    assert capability == define_capability(capability)
    assert capability == define_capability(MappingProxyType(document))
    assert capability == read_capability(OrderedDict(document))
    assert capability == define_capability(capability.to_dict())
    assert capability.to_dict() == plain(document)[0]
    assert pickle.loads(pickle.dumps(capability)) == capability


@given(near_valid())
@example({"needs": [{"context_window": {"op": ">=", "value": 1}}]})
@example({"needs": [{"feature": {"feature": "vision"}}]})
@example({"needs": [VISION], "budget": {"max_tokens": 1}})
def test_models_and_schema_accept_the_same_documents(document: Any) -> None:
    try:
        Capability.model_validate(plain(document)[0], by_alias=True, by_name=False)
    except ValidationError:
        by_models = False
    else:
        by_models = True
    assert by_models == (not declaration_issues(document, empty_needs=True))
    assert accepts(read_capability, document) == by_models
    no_needs = isinstance(document, dict) and document.get("needs") == []
    assert accepts(define_capability, document) == (by_models and not no_needs)


def test_python_names_are_for_keyword_arguments_only() -> None:
    bound = {"op": ">=", "value": 1}
    assert Capability(needs=[{"context_window": bound}]).to_dict() == {"needs": [{"contextWindow": bound}]}
    expected = [("/needs/0/context_window", "`context_window` is not a need; did you mean `contextWindow`?")]
    assert refused({"needs": [{"context_window": bound}]}) == expected
    with pytest.raises(InvalidCapabilityError) as caught:
        read_capability({"needs": [{"context_window": bound}]})
    assert [tuple(issue) for issue in caught.value.issues] == expected


def test_needs_may_be_empty_for_the_router_only() -> None:
    assert read_capability({"needs": []}).needs == ()
    assert refused({"needs": []}) == refused(Capability(needs=())) == refused('{"needs": []}')
    assert refused({"needs": []})[0][0] == "/needs"


def test_read_capability_prefixes_its_paths() -> None:
    with pytest.raises(InvalidCapabilityError) as caught:
        read_capability({"kind": "", "needs": [{"feature": "vison"}]}, "/requests/3/capability")
    assert [issue.path for issue in caught.value.issues] == [
        "/requests/3/capability/kind",
        "/requests/3/capability/needs/0/feature",
    ]
    with pytest.raises(InvalidCapabilityError) as caught:
        read_capability(None, "/capability")
    assert caught.value.issues[0].path == "/capability"


def test_read_capability_does_not_parse_text() -> None:
    with pytest.raises(InvalidCapabilityError):
        read_capability('{"needs": []}')


def test_faults_of_the_text_say_line_and_column() -> None:
    (path, message), *more = refused('{"needs": [\n  {"feature": "vision"} "region"]}')
    assert (path, more) == ("", [])
    assert message.startswith("line 2, column 25: not JSON: ")
    assert refused("") == [("", "line 1: empty; a JSON value is expected")]
    assert refused('{"needs": [], "needs": []}') == [("", "line 1: not JSON: key `needs` stands twice in one object")]
    assert refused('{"needs": [{"costPerCall": {"op": "<", "usd": NaN}}]}')[0][0] == ""
    assert refused(b"\xff") == [("", "not UTF-8: byte 1 is 0xff")]
    assert refused('"vision"')[0][1].startswith("`vision`, a string; a declaration is an object")


def test_every_issue_is_in_the_error() -> None:
    with pytest.raises(InvalidCapabilityError) as caught:
        define_capability({"needs": [{"feature": "vison"}, {"region": 1}], "kind": ""})
    error = caught.value
    assert error.code == "invalid-capability"
    assert error.message == (
        "the declaration is invalid: /needs/0/feature: `vison` is not a feature; did you mean `vision`? "
        "(and 2 more problems)"
    )
    assert [issue["path"] for issue in error.to_dict()["issues"]] == ["/needs/0/feature", "/needs/1/region", "/kind"]


class Feature(str, Enum):  # noqa: UP042 - the kind whose `str` is not its text
    VISION = "vision"


def test_python_values_with_a_json_form() -> None:
    plain_one = define_capability({"needs": [VISION]})
    assert define_capability({"needs": (VISION,)}) == plain_one
    assert define_capability({"needs": [MappingProxyType(VISION)]}) == plain_one
    read = define_capability({"needs": [{"feature": Feature.VISION}]})
    assert read == plain_one
    assert type(read.needs[0].feature) is str  # type: ignore[union-attr]  # it is a feature need


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"needs": {"vision"}}, "/needs"),
        ({"needs": (need for need in [VISION])}, "/needs"),
        ({"needs": [{"providers": {"allow": {"a"}}}]}, "/needs/0/providers/allow"),
        ({"needs": [{"providers": {"allow": None}}]}, "/needs/0/providers/allow"),
        ({"needs": [VISION], "prefer": None}, "/prefer"),
        ({"needs": [{"region": b"eu"}]}, "/needs/0/region"),
        ({"needs": [{"contextWindow": {"op": ">=", "value": True}}]}, "/needs/0/contextWindow/value"),
        ({"needs": [{"costPerCall": {"op": "<", "usd": float("nan")}}]}, "/needs/0/costPerCall/usd"),
        ({"needs": [VISION], "prefer": [{"feature": "x", "weight": float("inf")}]}, "/prefer/0/weight"),
        ({"needs": [VISION], "prefer": [{"feature": "x", "weight": 10**400}]}, "/prefer/0/weight"),
        ({"needs": [{"region": "\udc00"}]}, "/needs/0/region"),
        (object(), ""),
    ],
    ids=named,
)
def test_values_of_wrong_or_no_json_type(document: Any, path: str) -> None:
    assert [at for at, _ in refused(document)] == [path]
    with pytest.raises(InvalidCapabilityError) as caught:
        read_capability(document)
    assert [issue.path for issue in caught.value.issues] == [path]


def test_nested_models_stand_for_their_wire_form() -> None:
    assert define_capability({"needs": [FeatureNeed(feature="vision")]}) == define_capability({"needs": [VISION]})


def test_features_of_the_model_are_the_closed_set() -> None:
    for feature in FEATURES:
        assert accepts(define_capability, {"needs": [{"feature": feature}]})


def test_long_declarations_take_effort_in_proportion() -> None:
    good = [VISION, {"contextWindow": {"op": ">=", "value": 1}}, {"providers": {"deny": ["a"]}}, {"region": "x"}]
    bad = [{"feature": "vison"}, {"Feature": 1, "note": 1}, {"feature": 1, "region": 2}, 3]

    def effort(times: int) -> int:
        def read() -> None:
            define_capability({"needs": good * times})
            assert len(refused({"needs": bad * times})) == 1_000, "an error keeps no more"
            assert len(refused({f"key{index}": 1 for index in range(4 * times)})) == 1_000

        return calls(read)

    assert effort(900) < 4 * effort(300)


def test_importing_and_reading_load_no_jsonschema() -> None:
    script = (
        "import sys, whyroute.model.capability as d, whyroute.model.policy\n"
        "d.read_capability({'needs': [{'feature': 'vision'}]})\n"
        "print(sorted({'jsonschema', 'whyroute.documents.schema_issues'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_schemas_names_are_there() -> None:
    text = (resources.files("whyroute") / "schemas" / "capability.schema.json").read_text(encoding="utf-8")
    assert json.loads(text)["$id"] == wr.CAPABILITY_SCHEMA_URI
    assert get_args(wr.Feature) == wr.FEATURES
    assert set(get_args(wr.UpperBoundOp)) < set(get_args(wr.ComparisonOp))
    assert wr.Requirement is wr.Need
    assert wr.ProviderSetupFailure is wr.SetupFailure
