"""The fields of a wire request, as a model."""

from whyroute.wire.document import WireRequest, field_issues
from whyroute.wire.schemas import request_schema


def test_the_schema_has_the_fields_of_the_model() -> None:
    names = [field.alias or name for name, field in WireRequest.model_fields.items()]
    assert list(request_schema()["properties"]) == names


def test_strange_keys_come_before_missing_ones() -> None:
    found = field_issues({"whyNot": {"modle": "m"}, "include": ["all"], "preferredModel": None})
    assert {key: [str(issue) for issue in issues] for key, issues in found.items()} == {
        "whyNot": [
            "/whyNot/modle: `modle` is no key here; did you mean `model`?",
            "/whyNot/provider: missing; a candidate is {provider, model}",
            "/whyNot/model: missing; a candidate is {provider, model}",
        ],
        "include": ["/include/0: `all` can't be included; there are `matched`, `explanation`, `request`"],
        "preferredModel": ["/preferredModel: `preferredModel` is null; a string is expected"],
    }


def test_an_origin_is_told_of_as_a_whole() -> None:
    (issue,) = field_issues({"origins": {"kind": [{"file": 1, "line": 0}]}})["origins"]
    assert issue.path == "/origins/kind/0"
