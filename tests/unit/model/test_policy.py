"""Tenant policies: reading them, and the laws of combining them."""

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from pydantic import ValidationError

from whyroute import answer
from whyroute.errors import InvalidPolicyError
from whyroute.model.capability import NameLists
from whyroute.model.policy import TenantPolicy, combine, read_policy


@dataclass(frozen=True)
class Facts:
    """What the clauses look at."""

    provider: str
    model: str
    region: str
    prompt_usd: float
    context_window: int


def admits(policy: TenantPolicy, candidate: Facts) -> bool:
    """The contract's table of clauses, read off line by line."""
    for lists, name in ((policy.providers, candidate.provider), (policy.models, candidate.model)):
        if lists is not None and lists.deny is not None and name in lists.deny:
            return False
        if lists is not None and lists.allow is not None and name not in lists.allow:
            return False
    if policy.region_allow is not None and candidate.region not in policy.region_allow:
        return False
    if policy.max_cost_per_call_usd is not None and not candidate.prompt_usd <= policy.max_cost_per_call_usd:
        return False
    return policy.max_tokens_per_call is None or candidate.context_window >= policy.max_tokens_per_call


NAMES = ("a", "b", "c")
PRICES = (0, 0.1, 0.3, 1)
WINDOWS = (1, 2, 3)
CANDIDATES = [
    Facts(provider, model, region, price, window)
    for provider in NAMES
    for model in NAMES
    for region in NAMES
    for price in PRICES
    for window in WINDOWS
]

_names = st.lists(st.sampled_from(NAMES), max_size=4)
_lists = st.fixed_dictionaries({}, optional={"allow": _names, "deny": _names})
policies = st.fixed_dictionaries(
    {"tenantId": st.sampled_from(["t", "u"])},
    optional={
        "providers": _lists,
        "models": _lists,
        "regionAllow": _names,
        "maxCostPerCallUsd": st.sampled_from(PRICES),
        "maxTokensPerCall": st.sampled_from(WINDOWS),
    },
).map(read_policy)


def admitted(policy: TenantPolicy) -> list[Facts]:
    return [candidate for candidate in CANDIDATES if admits(policy, candidate)]


def policy(**clauses: Any) -> TenantPolicy:
    return read_policy({"tenantId": "t", **clauses})


@given(st.lists(policies, min_size=1, max_size=4))
def test_a_combination_admits_what_every_part_admits(parts: list[TenantPolicy]) -> None:
    assert admitted(combine(*parts)) == [c for c in CANDIDATES if all(admits(part, c) for part in parts)]


@given(policies, policies, policies)
def test_grouping_does_not_matter(a: TenantPolicy, b: TenantPolicy, c: TenantPolicy) -> None:
    assert combine(combine(a, b), c) == combine(a, combine(b, c)) == combine(a, b, c)


@given(policies)
def test_a_policy_with_itself_means_the_same(part: TenantPolicy) -> None:
    assert combine(part) is part
    assert admitted(combine(part, part)) == admitted(part)
    assert combine(part, part).to_dict().keys() == part.to_dict().keys()


@given(st.lists(policies, min_size=2, max_size=3))
def test_order_changes_no_answer(parts: list[TenantPolicy]) -> None:
    assert len({tuple(admitted(combine(*order))) for order in permutations(parts)}) == 1


@given(st.lists(policies, min_size=1, max_size=3))
@example([policy(), policy()])
@example([policy(providers={"deny": []}), policy(models={})])
def test_clause_is_set_where_a_part_sets_it(parts: list[TenantPolicy]) -> None:
    keys = combine(*parts).to_dict().keys()
    assert keys == {key for part in parts for key in part.to_dict()}


def test_members_come_in_order_of_first_appearance() -> None:
    one = policy(providers={"allow": ["c", "a", "b", "a"], "deny": ["z", "y", "z"]}, regionAllow=["eu", "us", "eu"])
    two = policy(
        providers={"allow": ["a", "c", "d"], "deny": ["x", "y"]}, regionAllow=["us", "eu"], models={"deny": ["m"]}
    )
    assert combine(one, two).to_dict() == {
        "tenantId": "t",
        "providers": {"allow": ["c", "a"], "deny": ["z", "y", "x"]},
        "models": {"deny": ["m"]},
        "regionAllow": ["eu", "us"],
    }


def test_an_allow_list_without_common_members_allows_nothing() -> None:
    combined = combine(
        policy(regionAllow=["eu"], models={"allow": ["a"]}), policy(regionAllow=["us"], models={"allow": []})
    )
    assert combined.region_allow == ()
    assert combined.models == NameLists(allow=())
    assert admitted(combined) == []


def test_smaller_price_cap_and_larger_floor_win() -> None:
    one = policy(maxCostPerCallUsd=0, maxTokensPerCall=8000)
    two = policy(maxCostPerCallUsd=0.01, maxTokensPerCall=200000)
    for combined in (combine(one, two), combine(two, one)):
        assert combined.max_cost_per_call_usd == 0
        assert combined.max_tokens_per_call == 200000


def test_the_last_part_names_the_tenant() -> None:
    assert combine(TenantPolicy(tenant_id="everyone"), TenantPolicy(tenant_id="acme")).tenant_id == "acme"


def test_no_parts_are_an_error() -> None:
    with pytest.raises(ValueError, match="nothing to combine"):
        combine()


def test_policies_are_frozen_and_go_over_the_wire() -> None:
    wire = {
        "tenantId": "acme",
        "providers": {"allow": [], "deny": ["x"]},
        "regionAllow": ["eu"],
        "maxCostPerCallUsd": 0.003,
        "maxTokensPerCall": 200000.0,
    }
    read = read_policy(wire)
    assert read.to_dict() == wire
    assert read == TenantPolicy.model_validate(wire)
    assert read == TenantPolicy(
        tenant_id="acme",
        providers=NameLists(allow=(), deny=("x",)),
        region_allow=("eu",),
        max_cost_per_call_usd=0.003,
        max_tokens_per_call=200000,
    )
    assert read_policy(read) is read
    with pytest.raises(ValidationError):
        read.tenant_id = "other"  # type: ignore[misc]  # the test is that it can't be assigned


BROKEN: list[tuple[Any, list[tuple[str, str]]]] = [
    ("acme", [("", "`acme`, a string; an object is expected")]),
    ([], [("", "an empty list; an object is expected")]),
    ({}, [("", "`tenantId` is missing")]),
    ({"tenant_id": "t"}, [("/tenant_id", "`tenant_id` is not a key here; did you mean `tenantId`?")]),
    ({"tenantId": None}, [("/tenantId", "`tenantId` is null; a string is expected")]),
    (
        {"tenantId": "t", "regionallow": [], "limits": 1},
        [
            ("/regionallow", "`regionallow` is not a key here; did you mean `regionAllow`?"),
            (
                "/limits",
                "`limits` is not a key here; the keys are `tenantId`, `providers`, `models`, `regionAllow`, "
                "`maxCostPerCallUsd`, `maxTokensPerCall`",
            ),
        ],
    ),
    (
        {
            "maxTokensPerCall": 0,
            "tenantId": 3,
            "maxCostPerCallUsd": -0.5,
            "providers": {"allow": None, "Deny": [], "deny": ["a", 1]},
            "models": ["m"],
            "regionAllow": "eu",
        },
        [
            ("/maxTokensPerCall", "`0`; an integer of at least 1 is expected"),
            ("/tenantId", "`3`, a number; a string is expected"),
            ("/maxCostPerCallUsd", "`-0.5`; a number of at least 0 is expected"),
            ("/providers/allow", "`allow` is null; leave it out"),
            ("/providers/Deny", "`Deny` is not a key here; the keys are `allow`, `deny`"),
            ("/providers/deny/1", "`1`, a number; a string is expected"),
            ("/models", "a list; an object is expected"),
            ("/regionAllow", "`eu`, a string; a list of strings is expected"),
        ],
    ),
    (
        {"tenantId": "t", "maxTokensPerCall": 1.5, "maxCostPerCallUsd": None, "providers": {"denny": ["a"]}},
        [
            ("/maxTokensPerCall", "`1.5`; an integer of at least 1 is expected"),
            ("/maxCostPerCallUsd", "`maxCostPerCallUsd` is null; leave it out"),
            ("/providers/denny", "`denny` is not a key here; did you mean `deny`?"),
        ],
    ),
    (
        {"tenantId": "t", "maxTokensPerCall": True, "maxCostPerCallUsd": float("nan"), "regionAllow": {"eu"}},
        [
            ("/maxTokensPerCall", "`true`, a boolean; an integer of at least 1 is expected"),
            ("/maxCostPerCallUsd", "`NaN` is not a number; a finite number is expected"),
            ("/regionAllow", "a Python `set` has no JSON form"),
        ],
    ),
    (
        {"tenantId": "t", "maxTokensPerCall": 10**400, 1: 2},
        [
            ("", "key `1` is not a string"),
            ("/maxTokensPerCall", "the integer is too large for a double; a finite number is expected"),
        ],
    ),
]


@pytest.mark.parametrize(("document", "expected"), BROKEN)
def test_a_broken_policy_lists_all_its_issues(document: Any, expected: list[tuple[str, str]]) -> None:
    with pytest.raises(InvalidPolicyError) as caught:
        read_policy(document)
    assert [tuple(issue) for issue in caught.value.issues] == expected
    with pytest.raises(InvalidPolicyError) as caught:
        read_policy(document, "/tenantPolicy")
    assert [tuple(issue) for issue in caught.value.issues] == [("/tenantPolicy" + at, text) for at, text in expected]


def test_the_descriptions_say_what_the_misnamed_caps_compare() -> None:
    fields = TenantPolicy.model_fields
    assert "1,000 prompt tokens" in str(fields["max_cost_per_call_usd"].description)
    assert "context window" in str(fields["max_tokens_per_call"].description)
    assert all(field.description for field in fields.values())


def test_parts_in_wire_form_are_read() -> None:
    own = {"tenantId": "t", "regionAllow": ["eu"]}
    assert combine({"tenantId": "base", "regionAllow": ["us", "eu"]}, own) == read_policy(own)
    assert combine(own) == read_policy(own)
    cases: list[tuple[Any, str]] = [({"tenantId": 5}, "/1/tenantId"), ("t", "/1")]
    for broken, path in cases:
        with pytest.raises(InvalidPolicyError) as caught:
            combine(own, broken)
        assert [issue.path for issue in caught.value.issues] == [path]


@pytest.mark.parametrize("subject", ["providers", "models"])
@pytest.mark.parametrize(
    ("lists", "told"), [({"deny": ["x"]}, "deny list"), ({"allow": ["y"]}, "allow list"), ({"allow": []}, "allow list")]
)
@pytest.mark.parametrize("owner", ["caller", "tenant"])
def test_messages_about_lists_name_their_owner(
    subject: str, lists: dict[str, list[str]], told: str, owner: str
) -> None:
    model: dict[str, Any] = {"name": "x", "contextWindow": 1, "features": []}
    model["cost"] = {"promptUsdPer1kTokens": 0, "completionUsdPer1kTokens": 0}
    request = {
        "capability": {"needs": [{subject: lists}] if owner == "caller" else []},
        "providers": [{"id": "x", "region": "r", "models": [model]}],
        "tenantPolicy": {"tenantId": "t", **({subject: lists} if owner == "tenant" else {})},
    }
    ((reason,),) = [
        [each["reason"] for each in found["rejectingProviders"]] for found in answer(request)["error"]["reasons"]
    ]
    assert told in reason["message"]
    assert ("tenant" in reason["message"]) == (owner == "tenant")


def test_a_policy_that_is_null_is_named() -> None:
    for path, told in (("", "null; an object is expected"), ("/p", "`p` is null; an object is expected")):
        with pytest.raises(InvalidPolicyError) as caught:
            read_policy(None, path)
        assert caught.value.issues == ((path, told),)
