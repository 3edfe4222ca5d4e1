"""What is frozen refuses changes inside too, has a hash, and survives copies and pickles."""

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

import whyroute as wr
from whyroute.basics.frozen import FrozenDict, frozen, thawed

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_frozen_values_equal_what_they_were_made_from(value: Any) -> None:
    made = frozen(value)
    assert made == value
    assert json.dumps(made) == json.dumps(value)
    assert hash(made) == hash(frozen(copy.deepcopy(value)))
    assert frozen(made) is made or made == ()
    assert thawed(made) == value
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert again == made
        assert type(again) is type(made)


def test_tuples_are_lists_on_the_wire() -> None:
    assert thawed(frozen({"a": ("b", {"c": [1]})})) == {"a": ["b", {"c": [1]}]}
    assert isinstance(hash(frozen({"a": ("b", {"c": [1]})})), int)


def test_a_long_list_of_names_is_not_copied() -> None:
    names = tuple(map(str, range(100)))
    assert frozen({"allow": names})["allow"] is names
    reason = wr.RejectionReason("code", "message", {"allow": names})
    assert reason.details["allow"] is names
    assert reason.to_dict()["allow"] == list(names)


def request() -> dict[str, Any]:
    cost = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}
    model = {"name": "m", "contextWindow": 1000, "features": [], "cost": cost}
    return {
        "capability": {"needs": [{"models": {"allow": ["x"]}}, {"feature": "vision"}]},
        "providers": [{"id": "p", "region": "r", "models": [model], "labels": {"team": "a"}}],
    }


def explanation() -> wr.Explanation:
    asked = request()
    return wr.explain(asked["capability"], asked["providers"])


def failed() -> wr.CapabilityUnsatisfiableError:
    asked = request()
    with pytest.raises(wr.CapabilityUnsatisfiableError) as caught:
        wr.route(asked["capability"], asked["providers"])
    return caught.value


VALUES: dict[str, Callable[[], Any]] = {
    "candidate": lambda: explanation().near_misses[0].candidate,
    "metadata": lambda: wr.ProviderMetadata.model_validate(request()["providers"][0]),
    "metadata without labels": lambda: wr.ProviderMetadata.model_validate(
        {key: value for key, value in request()["providers"][0].items() if key != "labels"}
    ),
    "declared provider": lambda: wr.DeclaredProvider(wr.ProviderMetadata.model_validate(request()["providers"][0])),
    "rejection reason": lambda: failed().reasons[0].rejecting_providers[0].reason,
    "rejection reason by hand": lambda: wr.RejectionReason("code", "message", {"list": ["a"], "more": {"b": [1]}}),
    "rejection reason without details": lambda: wr.RejectionReason("code", "message"),
    "reason": lambda: failed().reasons[0],
    "reason by hand": lambda: wr.Reason("label", ["a"], [wr.Rejection("b", wr.RejectionReason("c", "d"))]),
}


@pytest.mark.parametrize("name", VALUES)
def test_equal_values_have_equal_hashes(name: str) -> None:
    one, other = VALUES[name](), VALUES[name]()
    assert one == other
    assert hash(one) == hash(other)
    assert len({one, other}) == 1
    for again in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert again == one
        assert hash(again) == hash(one)


def test_a_relaxation_has_a_hash() -> None:
    told = explanation()
    assert len({*told.relaxations, *told.relaxations}) == len(told.relaxations) == 1
    assert [hash(miss) for miss in told.near_misses] == [hash(miss) for miss in told.near_misses]


def test_nothing_inside_changes() -> None:
    relaxation = explanation().relaxations[0]
    insides: list[Any] = [
        VALUES["metadata"]().labels,
        VALUES["metadata without labels"]().labels,
        VALUES["rejection reason"]().details,
        VALUES["rejection reason by hand"]().details["more"],
        VALUES["rejection reason without details"]().details,
        relaxation.patch[0],
    ]
    for inside in insides:
        with pytest.raises(TypeError, match="read-only"):
            inside["team"] = "b"
    with pytest.raises(TypeError, match="read-only"):
        VALUES["rejection reason by hand"]().details["list"].append("b")
    with pytest.raises(AttributeError):
        VALUES["declared provider"]().metadata = None
    for lists in (VALUES["reason by hand"](), VALUES["reason"]()):
        with pytest.raises((AttributeError, TypeError)):
            lists.satisfying_providers.append("b")


def test_what_it_was_made_from_may_change() -> None:
    details, labels = {"list": ["a"]}, {"team": "a"}
    reason = wr.RejectionReason("code", "message", details)
    metadata = wr.ProviderMetadata.model_validate({**request()["providers"][0], "labels": labels})
    details["list"].append("b")
    labels["team"] = "b"
    assert reason.details == {"list": ["a"]}
    assert metadata.labels == {"team": "a"}
    wire = reason.to_dict()
    wire["list"].append("b")
    assert type(wire["list"]) is list
    assert reason.to_dict()["list"] == ["a"]
    patch = explanation().relaxations[0].to_dict()["patch"]
    patch[0]["op"] = "test"
    assert [type(operation) for operation in patch] == [dict, dict]


def test_metadata_with_other_models_is_not_equal() -> None:
    first, second = request()["providers"][0], request()["providers"][0]
    second["models"][0]["contextWindow"] = 2000
    one, other = (wr.DeclaredProvider(wr.ProviderMetadata.model_validate(each)) for each in (first, second))
    assert one != other
    assert one.metadata != other.metadata
    assert one != one.metadata
    assert one.metadata.model_dump(by_alias=True)["labels"] == {"team": "a"}
    assert type(one.metadata.labels) is FrozenDict


def test_one_request_has_equal_answers() -> None:
    providers = request()["providers"]
    first, second = (wr.route({"needs": []}, copy.deepcopy(providers)) for _ in range(2))
    assert first.candidate == second.candidate
    assert first.provider == second.provider
    assert {first.candidate: 1}[second.candidate] == 1


class Live:
    """A provider that has no hash."""

    __hash__ = None  # type: ignore[assignment]  # on purpose

    def __init__(self, metadata: Any) -> None:
        self.metadata = metadata

    def __eq__(self, other: object) -> bool:
        return self is other


def test_candidate_has_hash_when_provider_has_none() -> None:
    decision = wr.route({"needs": []}, [Live(request()["providers"][0])])
    assert {decision.candidate: 1}[decision.candidate] == 1


def test_a_candidate_of_many_models_reads_short() -> None:
    provider = request()["providers"][0]
    provider["models"] = [{**provider["models"][0], "name": f"m{at}"} for at in range(500)]
    decision = wr.route({"needs": []}, [provider], preferred_model="m7")
    assert repr(decision.candidate) == "<Candidate 'p' 'm7'>"
    assert repr(decision) == "Decision(candidate=<Candidate 'p' 'm7'>, fallback=False)"
    assert len(repr(decision.explanation.ranking[0])) < 200
