"""Types of fields: what lists take, and errors of a model's own reader."""

from collections import UserList, deque
from typing import Any

import pytest
from pydantic import ValidationError

from whyroute import Capability, ModelCallInput, ModelMessage, NameLists, RegionNeed, TenantPolicy
from whyroute.basics.issues import Issue
from whyroute.documents.fields import refused


@pytest.mark.parametrize("made", [list, tuple, deque, UserList])
def test_lists_take_any_sequence(made: Any) -> None:
    assert Capability(needs=made([RegionNeed(region="eu")])).needs == (RegionNeed(region="eu"),)
    assert NameLists(allow=made(["a"])).allow == ("a",)
    message = ModelMessage(role="user", content="x")
    assert ModelCallInput(model="m", messages=made([message])).messages == (message,)


@pytest.mark.parametrize("given", ["eu", b"eu", {"eu"}, {"eu": 1}, 1])
def test_name_lists_take_no_text_or_set(given: Any) -> None:
    with pytest.raises(ValidationError, match="a list of strings is expected"):
        TenantPolicy(tenant_id="t", region_allow=given)


def test_a_list_is_an_array_in_the_schema() -> None:
    schema = Capability.model_json_schema()["properties"]["prefer"]
    assert (schema["type"], schema["items"]) == ("array", {"$ref": "#/$defs/Preference"})


def test_issues_of_a_reader_keep_their_places() -> None:
    document = {"a/b": [{"1": 2}], "x": {"0": True}}
    issues = [Issue("/a~1b/0/1", "one"), Issue("/x/0", "two"), Issue("/x/missing/deep", "three"), Issue("", "{four}")]
    error = refused(TenantPolicy, issues, document)
    assert [(each["loc"], each["msg"], each["input"]) for each in error.errors()] == [
        (("a/b", 0, "1"), "one", 2),
        (("x", "0"), "two", True),
        (("x", "missing", "deep"), "three", None),
        ((), "{four}", document),
    ]
