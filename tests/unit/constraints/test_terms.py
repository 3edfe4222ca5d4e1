"""Terms: long lists are looked up, not read, and are named in part."""

import copy
import pickle
from typing import Any

import pytest

from whyroute.constraints.terms import ListTerm, RegionListTerm


class Name(str):
    """Text that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)


NAMES = tuple(Name(f"region-{number}") for number in range(2_000))


@pytest.mark.parametrize(
    "term",
    [
        ListTerm("providers", NAMES, None),
        ListTerm("models", None, NAMES),
        ListTerm("models", NAMES[:1000], NAMES[1000:], "allow"),
        RegionListTerm(NAMES),
    ],
    ids=["allow", "deny", "both", "regions"],
)
def test_a_long_list_is_looked_up(term: Any) -> None:
    Name.compared = 0
    term.accepts(Name("elsewhere"))
    for name in NAMES[::100]:
        term.accepts(Name(name))
        term.reason(Name(name))
    assert Name.compared < 500


def test_what_a_list_lets_pass() -> None:
    both = ListTerm("models", ("a", "b"), ("b", "c"))
    assert [both.accepts(name) for name in "abcd"] == [True, False, False, False]
    assert [RegionListTerm(allow).accepts("a") for allow in ((), ("a",), ("A",))] == [False, True, False]
    assert [ListTerm("models", allow, None).accepts("a") for allow in (None, (), ("a",))] == [True, False, True]
    assert [ListTerm("models", None, deny).accepts("a") for deny in (None, (), ("a",))] == [True, True, False]


@pytest.mark.parametrize("term", [ListTerm("models", ("a",), ("b",)), RegionListTerm(("a",))], ids=["list", "regions"])
def test_looked_up_values_are_no_part_of_terms(term: Any) -> None:
    fresh = copy.deepcopy(term)
    term.accepts("a")
    assert (term, hash(term), repr(term)) == (fresh, hash(fresh), repr(fresh))
    assert pickle.loads(pickle.dumps(term)) == fresh
    assert pickle.loads(pickle.dumps(term)).accepts("a")


def test_message_cuts_long_lists_and_details_do_not() -> None:
    reason = RegionListTerm(NAMES).reason("elsewhere")
    assert reason.message == (
        "is in `elsewhere`; the tenant allows `region-0`, `region-1`, `region-2`, `region-3`, `region-4` and 1995 more"
    )
    assert reason.to_dict()["allow"] == list(NAMES)
    assert RegionListTerm(("eu", "us")).reason("x").message == "is in `x`; the tenant allows `eu`, `us`"
    assert RegionListTerm(()).reason("x").message == "is in `x`; the tenant allows no region"
