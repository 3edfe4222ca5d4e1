"""What answers say of their question."""

import pickle
from typing import Any

import pytest

import whyroute as wr

PROVIDERS = [
    {
        "id": "p",
        "region": "eu",
        "models": [
            {
                "name": "m",
                "contextWindow": 8,
                "features": [],
                "cost": {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1},
            }
        ],
    }
]
ANY: dict[str, Any] = {"needs": []}


def test_a_library_call_says_what_it_was_given() -> None:
    decision = wr.route(
        ANY,
        PROVIDERS,
        policy={"tenantId": "t"},
        labels={"data": "patient"},
        tokens={"prompt": 5, "completion": 7},
        capability_name="summarise",
        at="2026-12-24T09:30+01:00",
        preferred_provider="p",
        preferred_model="x",
    )
    assert decision.asked == {
        "tenant": "t",
        "capability": "summarise",
        "declaration": ANY,
        "labels": {"data": {"value": "patient", "from": "request"}},
        "preferredProvider": "p",
        "preferredModel": "x",
        "tokens": {"prompt": 5, "completion": 7},
        "at": "2026-12-24T08:30:00Z",
        "whyroute": wr.__version__,
    }
    assert decision.explanation.asked == decision.asked
    assert pickle.loads(pickle.dumps(decision.explanation)).asked == decision.asked


@pytest.mark.parametrize("rules", [(), [{"name": "r", "because": "x", "forbid": {"region": "us"}}]])
def test_a_call_without_a_time_says_the_present(rules: Any) -> None:
    asked = wr.explain(ANY, PROVIDERS, rules=rules).asked
    assert asked.pop("at").startswith("20")
    assert asked == {"declaration": ANY, "labels": {}, "whyroute": wr.__version__}


def test_wire_request_keeps_its_time_text() -> None:
    at = "2026-12-24T09:30+01:00"
    answer = wr.answer({"capability": ANY, "providers": PROVIDERS, "labels": {"a": "b"}, "at": at})
    assert answer["asked"] == {
        "declaration": ANY,
        "labels": {"a": {"value": "b", "from": "request"}},
        "at": at,
        "whyroute": wr.__version__,
    }


def test_a_failed_answer_says_it_too() -> None:
    answer = wr.answer({"capability": {"needs": [{"region": "us"}]}, "providers": PROVIDERS, "at": "2026-12-24"})
    assert answer["error"]["code"] == "capability-unsatisfiable"
    assert answer["asked"]["declaration"] == {"needs": [{"region": "us"}]}


def test_a_bundle_says_its_slots_and_ties() -> None:
    slots = {"a": {"capability": ANY}, "b": {"capability": ANY, "labels": {"k": "v"}}}
    together = [{"same": "region"}]
    request = {"slots": slots, "together": together, "providers": PROVIDERS, "labels": {"x": "y"}, "at": "2026-12-24"}
    answer = wr.answer(request)
    assert answer["asked"] == {
        "declaration": {"slots": slots, "together": together},
        "labels": {"x": {"value": "y", "from": "request"}},
        "at": "2026-12-24",
        "whyroute": wr.__version__,
    }
    capabilities: dict[str, Any] = {"a": wr.define_capability({"needs": [{"region": "eu"}]}), "b": ANY}
    bundle = wr.route_bundle(capabilities, PROVIDERS, together=together, at="2026-12-24", labels={"x": "y"})
    declared = {"slots": {"a": {"capability": {"needs": [{"region": "eu"}]}}, "b": {"capability": ANY}}}
    assert bundle.asked["declaration"] == {**declared, "together": together}
    assert bundle.asked["labels"] == answer["asked"]["labels"]
