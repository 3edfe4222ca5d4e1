"""Named constraints: which there are, whose they are, and what each says of a candidate."""

from typing import Any

import pytest
from hypothesis import given, settings

import naive
import strategies as wire
from whyroute import Candidate, Capability, Catalog, TenantPolicy, explain
from whyroute.basics.bits import positions
from whyroute.constraints.named import Constraints, compile_constraints

Json = dict[str, Any]


def model(name: str, **more: Any) -> Json:
    cost = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}
    return {"name": name, "contextWindow": 8000, "features": [], "cost": cost, **more}


PROVIDERS = [
    {"id": "a", "region": "r", "models": [model("x", p95LatencyMs=5), model("y")]},
    {"id": "b", "region": "s", "models": [model("x"), model("z", features=["vision"])]},
]


def compiled(needs: list[Json], policy: Json | None = None) -> Constraints:
    return compile_constraints(
        Capability.model_validate({"needs": needs}),
        None if policy is None else TenantPolicy.model_validate({"tenantId": "t", **policy}),
        Catalog(PROVIDERS),
    )


def test_ids_labels_and_owners_follow_contract_order() -> None:
    policy = {
        "maxTokensPerCall": 1000.0,
        "maxCostPerCallUsd": 1e-7,
        "regionAllow": ["r", "s"],
        "models": {"allow": [], "deny": ["x"]},
        "providers": {"allow": ["b", "a"], "deny": ["c"]},
    }
    found = compiled([{"region": "r"}, {"feature": "vision"}, {"region": "r"}], policy)
    assert [(one.id, one.owner, one.label) for one in found] == [
        ("kind", "caller", "capability.kind = llm-inference"),
        ("needs/0", "caller", "region=r"),
        ("needs/1", "caller", "feature:vision"),
        ("needs/2", "caller", "region=r"),
        ("policy/providers/deny", "policy", "tenant.providers.deny[c]"),
        ("policy/providers/allow", "policy", "tenant.providers.allow[b,a]"),
        ("policy/models/deny", "policy", "tenant.models.deny[x]"),
        ("policy/models/allow", "policy", "tenant.models.allow[]"),
        ("policy/regionAllow", "policy", "tenant.regionAllow[r,s]"),
        ("policy/maxCostPerCallUsd", "policy", "tenant.maxCostPerCallUsd<=1e-7"),
        ("policy/maxTokensPerCall", "policy", "tenant.maxTokensPerCall<=1000"),
    ]
    assert len(found) == len(found.admitted) == 11
    assert found[-1].id == "policy/maxTokensPerCall"
    assert [one.id for one in found[:2]] == ["kind", "needs/0"]
    with pytest.raises(IndexError):
        found[11]


@pytest.mark.parametrize(
    ("policy", "ids"),
    [
        ({}, []),
        ({"providers": {}}, []),
        ({"providers": {"deny": []}, "models": {"deny": []}}, []),
        ({"providers": {"allow": []}}, ["policy/providers/allow"]),
        ({"models": {"allow": []}}, ["policy/models/allow"]),
        ({"regionAllow": []}, ["policy/regionAllow"]),
        ({"maxCostPerCallUsd": 0}, ["policy/maxCostPerCallUsd"]),
        ({"maxTokensPerCall": 1}, ["policy/maxTokensPerCall"]),
    ],
    ids=repr,
)
def test_a_clause_that_sets_nothing_is_no_constraint(policy: Json, ids: list[str]) -> None:
    assert [one.id for one in compiled([], policy)] == ["kind", *ids]
    explanation = explain({"needs": []}, PROVIDERS, policy={"tenantId": "t", **policy})
    assert [one.id for one in explanation.constraints] == ["kind", *ids]


@settings(max_examples=80)
@given(wire.requests())
def test_constraints_agree_by_index_candidate_and_naive_router(request: Json) -> None:
    catalog = Catalog(request["providers"])
    policy = request.get("tenantPolicy")
    found = compile_constraints(
        Capability.model_validate(request["capability"]),
        None if policy is None else TenantPolicy.model_validate(policy),
        catalog,
    )
    pairs = {
        (provider["id"], one["name"]): (provider, one)
        for provider in request["providers"]
        for one in provider["models"]
    }
    checks = naive.constraints(request["capability"], policy)
    assert [one.label for one in found] == [label for label, _ in checks]
    for constraint, (_, check) in zip(found, checks, strict=True):
        assert constraint.admitted | constraint.rejected == catalog.all()
        assert constraint.admitted & constraint.rejected == 0
        rejected: list[Candidate] = []
        for number, candidate in enumerate(catalog.candidates()):
            expected = check(*pairs[candidate.key])
            assert constraint.admits(candidate) == (expected is None) == bool(constraint.admitted >> number & 1)
            reason = constraint.rejection(candidate)
            if expected is None:
                assert reason is None
            else:
                assert reason is not None
                told = {key: value for key, value in reason.to_dict().items() if key != "message"}
                assert told == expected
                rejected.append(candidate)
        rejections = list(constraint.rejections())
        assert [candidate for candidate, _ in rejections] == rejected
        assert [reason for _, reason in rejections] == [constraint.rejection(candidate) for candidate in rejected]


def test_candidates_with_the_same_value_share_the_reason() -> None:
    _, _, latency, region = compiled(
        [{"feature": "vision"}, {"p95LatencyMs": {"op": "<", "value": 5}}, {"region": "s"}]
    )
    reasons = {candidate.key: reason for candidate, reason in latency.rejections()}
    assert reasons["a", "y"] is reasons["b", "x"] is reasons["b", "z"]
    assert reasons["a", "y"].code == "p95-latency-unknown"
    assert reasons["a", "x"].code == "p95-latency-exceeds"
    (first, second) = (reason for _, reason in region.rejections())
    assert first is second


def test_how_a_constraint_shows_itself() -> None:
    kind, need = compiled([{"region": "r"}])
    assert repr(need) == "<NamedConstraint needs/0 'region=r' admits 2 of 4>"
    assert list(positions(kind.admitted)) == [0, 1, 2, 3]
