"""Why a rule rejects a candidate: a list is told by its name and its nearest entry, alternatives in one sentence."""

from typing import Any

import pytest

import whyroute as wr

Json = dict[str, Any]

COST = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}
PAIRS = [{"provider": f"host{i}", "model": f"other{i}"} for i in range(12)]
PAIRS += [{"provider": "azure-uk", "model": "gpt-4o"}, {"provider": "azure-uk", "model": "gpt-5-mini"}]
CONDITIONS: Json = {
    "approved": {"any": PAIRS},
    "this-quarter": {"provider": "azure-uk", "model": "gpt-5-mini"},
    "bank": {"any": [*PAIRS[:2], {"is": "this-quarter"}, {"provider": "own-host"}]},
    "places": {"region": ["us-1", "us-2"]},
    "cheap": {"callUsd": {"lte": 1}},
    "previews": {"model": {"like": "*preview*"}},
}


def rejected(rule: Json, provider: str = "azure-de", model: str = "gpt-4o", region: str = "eu") -> Json:
    """The reason for which a rule rejects a candidate."""
    known = {name: CONDITIONS[name] for name in CONDITIONS if name in str(rule) or "bank" in str(rule)}
    metadata = {
        "id": provider,
        "region": region,
        "models": [{"name": model, "contextWindow": 1, "features": [], "cost": COST}],
    }
    request: Json = {"capability": {"needs": []}, "providers": [metadata], "conditions": known}
    request["rules"] = [{"name": "r", "because": "b", **rule}]
    (reason,) = wr.answer(request)["error"]["reasons"]
    found: Json = reason["rejectingProviders"][0]["reason"]
    return found


UK = {"provider": "azure-uk", "model": "gpt-5-mini"}


@pytest.mark.parametrize(
    ("rule", "candidate", "told"),
    [
        (
            {"require": {"is": "approved"}},
            {},
            "`azure-de` / `gpt-4o` is not on the list `approved`; the nearest entry is `azure-uk` / `gpt-4o`",
        ),
        (
            {"require": {"is": "approved"}},
            {"provider": "azure-uk", "model": "o9"},
            "`azure-uk` / `o9` is not on the list `approved`; the nearest entry is `azure-uk` / `gpt-4o`",
        ),
        (
            {"require": {"is": "approved"}},
            {"model": "gpt-5-minni"},
            "`azure-de` / `gpt-5-minni` is not on the list `approved`; the nearest entry is `azure-uk` / `gpt-5-mini`",
        ),
        ({"require": {"is": "approved"}}, {"model": "x"}, "`azure-de` / `x` is not on the list `approved`"),
        ({"forbid": {"is": "approved"}}, UK, "`azure-uk` / `gpt-5-mini` is on the list `approved`"),
        ({"forbid": {"is": "this-quarter"}}, UK, "`azure-uk` / `gpt-5-mini` is on the list `this-quarter`"),
        ({"require": {"not": {"is": "approved"}}}, UK, "`azure-uk` / `gpt-5-mini` is on the list `approved`"),
        (
            {"require": {"is": "bank"}},
            {"model": "gpt-5-mini"},
            "`azure-de` / `gpt-5-mini` is not on the list `bank`; the nearest entry is `azure-uk` / `gpt-5-mini`",
        ),
        ({"forbid": {"is": "bank"}}, UK, "`azure-uk` / `gpt-5-mini` is on the list `bank`"),
        ({"require": {"is": "places"}}, {}, "region `eu` is not on the list `places`"),
        (
            {"require": {"is": "places"}},
            {"region": "unspecified"},
            "`region` is not known, so it may not be on the list `places`",
        ),
        (
            {"forbid": {"is": "places"}},
            {"region": "unspecified"},
            "`region` is not known, so it may be on the list `places`",
        ),
        ({"require": {"is": "cheap"}}, {}, "`cheap` must hold: `callUsd` is not known; it must be at most 1"),
        (
            {"forbid": {"is": "previews"}},
            {"model": "a-preview"},
            "`previews` must not hold: `model` is `a-preview`; it must not be like `*preview*`",
        ),
        (
            {"require": {"any": PAIRS}},
            {},
            "`azure-de` / `gpt-4o` is none of these 14; the nearest entry is `azure-uk` / `gpt-4o`",
        ),
        ({"require": {"model": [f"m{i}" for i in range(6)]}}, {}, "model `gpt-4o` is none of these 6"),
        ({"require": {"model": ["a", "b"]}}, {}, "`model` is `gpt-4o`; it must be one of `a`, `b`"),
        (
            {"forbid": {"all": [{"provider": "azure-uk"}, {"model": "gpt-5-mini"}]}},
            UK,
            "`provider` is `azure-uk` and `model` is `gpt-5-mini`, which is forbidden",
        ),
        (
            {"require": {"any": [{"region": "us"}, {"contextWindow": {"gte": 9}}]}},
            {},
            "`region` is `eu`; it must be `us`; or `contextWindow` is 1; it must be at least 9",
        ),
        (
            {"require": {"any": [{"region": "us"}, {"callUsd": {"lt": 3}}, {"is": "approved"}]}},
            {"region": "unspecified"},
            "`region` is not known; it must be `us`; or `callUsd` is not known; it must be less than 3",
        ),
        (
            {"require": {"any": [{"region": "us"}, {"contextWindow": {"gte": 9}}, {"attribute": "own"}]}},
            {},
            "`region` is `eu`; it must be `us`; or `contextWindow` is 1; it must be at least 9; "
            "or `attribute` is empty; it must have `own`",
        ),
        (
            {"require": {"any": [*({"provider": p, "contextWindow": 9} for p in "abc"), {"contextWindow": 8}]}},
            {},
            "none of these 4 holds; the nearest: `contextWindow` is 1; it must be 8",
        ),
        (
            {"require": {"any": [{"provider": "p", "contextWindow": {"gte": n}} for n in (2, 3, 4, 5)]}},
            {},
            "none of these 4 holds; the nearest: `provider` is `azure-de`; it must be `p`; `contextWindow` is 1; "
            "it must be at least 2",
        ),
    ],
)
def test_a_rejection_tells_what_the_condition_is(rule: Json, candidate: Json, told: str) -> None:
    assert rejected(rule, **candidate)["message"] == f"rule `r` (b): {told}"


def test_rejection_names_its_whole_condition() -> None:
    assert rejected({"require": {"is": "approved"}})["condition"] == "approved"
    assert rejected({"forbid": {"is": "approved"}}, **UK)["condition"] == "approved"
    assert "condition" not in rejected({"require": {"not": {"is": "approved"}}}, **UK)
    assert "condition" not in rejected({"require": {"any": PAIRS}})


def test_a_rejection_keeps_all_comparisons_as_data() -> None:
    assert len(rejected({"require": {"is": "approved"}})["failed"]) == 26, "of 28, one holds and one stands twice"


def test_chains_of_alternatives_are_told_however_long() -> None:
    conditions: Json = {"c0": {"region": "us"}}
    for place in range(1, 300):
        conditions[f"c{place}"] = {"any": [{"is": f"c{place - 1}"}, {"attribute": f"a{place}"}]}
    metadata = {"id": "p", "region": "eu", "models": [{"name": "m", "contextWindow": 1, "features": [], "cost": COST}]}
    request: Json = {"capability": {"needs": []}, "providers": [metadata], "conditions": conditions}
    request["rules"] = [{"name": "r", "because": "b", "require": {"is": "c299"}}]
    message = wr.answer(request)["error"]["reasons"][0]["rejectingProviders"][0]["reason"]["message"]
    assert message.startswith("rule `r` (b): `c299` must hold: ")
