"""What bundles, their ties and their ways out say in cases that are seldom met."""

import json
from typing import Any

import pytest

import whyroute as wr
from whyroute.render.bundles import bundle_explanation_lines

Json = dict[str, Any]


def provider(name: str, *, latency: float | None = None, region: str = "eu", window: int = 10) -> Json:
    price = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}
    model: Json = {"name": "m", "contextWindow": window, "features": [], "cost": price}
    if latency is not None:
        model["p95LatencyMs"] = latency
    return {"id": name, "region": region, "models": [model]}


def anything() -> Json:
    return {"capability": {"needs": []}}


def refusal(request: Json) -> str:
    return str(wr.answer(request)["error"]["issues"][0]["message"])


@pytest.mark.parametrize(
    ("tie", "message"),
    [
        (
            {"same": "p95LatencyMs", "slots": ["a", "b"]},
            "`p95LatencyMs` goes with `sum`, not with `same`; `same` takes `provider`, `model`, `region` or `kind`",
        ),
        (
            {"sum": "region", "op": "<=", "value": 1},
            "`region` goes with `same`, not with `sum`; `sum` takes `promptUsdPer1kTokens`, `completionUsdPer1kTokens` "
            "or `p95LatencyMs`",
        ),
    ],
)
def test_field_of_other_tie_kind_is_reported(tie: Json, message: str) -> None:
    request = {"slots": {"a": anything(), "b": anything()}, "providers": [provider("p")], "together": [tie]}
    assert refusal(request) == message


@pytest.mark.parametrize("limit", [{"nodes": 0}, {"nodes": -1}, {"nodes": 1.5}, {"seconds": -0.5}, {"seconds": "1"}])
def test_a_limit_of_a_search_is_above_zero(limit: Json) -> None:
    with pytest.raises(wr.InvalidRequestError, match="above 0 is expected"):
        wr.SearchLimit(**limit)


def test_non_text_slot_key_is_reported() -> None:
    request: Any = {"slots": {"a": {**anything(), 7: 1}}, "providers": [provider("p")]}
    error = wr.answer(request)["error"]
    assert error["code"] == "invalid-request"
    assert "7" in error["issues"][0]["message"]


def test_fact_missing_from_one_slot_is_told() -> None:
    tie = {"sum": "p95LatencyMs", "op": "<=", "value": 5, "slots": ["a"]}
    explanation = wr.explain_bundle({"a": anything()}, [provider("p")], together=[tie]).to_dict()
    told = [(each["slot"], each["field"], each["constraint"], each["also"]) for each in explanation["unknowns"]]
    assert told == [("a", "p95LatencyMs", "together/0", [])]
    alone: Json = {"same": "region", "slots": ["a", "b"]}
    both = {"a": anything(), "b": anything()}
    nowhere = wr.explain_bundle(both, [provider("p", region="unspecified")], together=[alone]).to_dict()
    assert [each["slot"] for each in nowhere["unknowns"]] == ["a", "b"]


@pytest.mark.parametrize(("count", "verb"), [(1, "applies"), (2, "apply")])
def test_rules_that_leave_no_way_out_are_counted(count: int, verb: str) -> None:
    regions = ["eu", "us"][:count]
    rules = [
        {"name": f"no-{region}", "because": "b", "when": {"kind": "embedding"}, "forbid": {"region": region}}
        for region in regions
    ]
    given = [{**provider(region, region=region), "capabilityKind": "embedding"} for region in regions]
    (told,) = wr.explain({"needs": []}, given, rules=rules).to_dict()["deadEnds"]
    named = " and ".join(f"`rules/no-{region}`" for region in regions)
    assert told["text"] == f"{named} {verb} to the edited request, and nothing qualifies"


def test_bundle_setup_failures_may_be_any_list() -> None:
    failure = {"providerId": "q", "message": "no key"}
    for failures in ([failure], (failure,), [wr.SetupFailure(provider_id="q", message="no key")]):
        with pytest.raises(wr.BundleUnsatisfiableError, match="provider `q` could not be set up: no key"):
            wr.route_bundle({"a": anything()}, [], setup_failures=failures)


def test_shadow_rule_ordering_nothing_is_not_named() -> None:
    rule = {"name": "r", "because": "b", "prefer": {"lowest": "contextWindow"}, "mode": "shadow"}
    request = {"providers": [provider("p"), provider("q", window=5)], "rules": [rule]}
    needs: list[Json] = [{"region": "us"}]
    assert wr.answer({**request, "capability": {"needs": needs}})["shadow"] == {"unsatisfiable": True, "by": []}
    shadow = wr.answer({**request, "capability": {"needs": []}})["shadow"]
    assert shadow == {"pick": {"provider": "q", "model": "m"}, "by": ["rules/r"]}


@pytest.mark.parametrize("limit", [1, 2, 3, None])
def test_as_many_unknown_facts_are_told_as_asked(limit: int | None) -> None:
    providers = [provider(f"p{each}") for each in range(5)]
    capability = {"needs": [{"p95LatencyMs": {"op": "<=", "value": 1}}]}
    explanation = wr.explain(capability, providers, limits=wr.Limits(unknowns=limit))
    assert len(explanation.unknowns) == (5 if limit is None else limit)


def test_the_limits_are_those_that_are_documented() -> None:
    limits = wr.Limits()
    assert (limits.cores, limits.corrections, limits.relaxations) == (64, 64, 16)


def test_alternates_are_equal_where_all_of_them_are() -> None:
    one = wr.route({"needs": []}, [provider("p"), provider("q"), provider("r")]).alternates
    assert one == wr.route({"needs": []}, [provider("p"), provider("q"), provider("r")]).alternates
    assert one != wr.route({"needs": []}, [provider("p"), provider("q"), provider("s")]).alternates
    assert one != wr.route({"needs": []}, [provider("p"), provider("q")]).alternates


def test_numeric_tie_is_the_one_left_out() -> None:
    apart: Json = {"different": "provider"}
    cap: Json = {"sum": "p95LatencyMs", "op": "<=", "value": 6}
    providers = [provider("p", latency=3), provider("q", latency=4)]
    slots = {"a": anything(), "b": anything()}
    for together in ((apart, cap), (cap, apart)):
        with pytest.raises(wr.BundleUnsatisfiableError) as caught:
            wr.route_bundle(slots, providers, together=together)
        told = "\n".join(
            "".join(text for text, _ in line) for line in bundle_explanation_lines(caught.value.explanation)
        )
        assert "the least sum of p95LatencyMs is 7" in told


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("tokens", [None, {"prompt": 1, "completion": 1}])
def test_call_cost_is_known_with_tokens(exists: bool, tokens: Json | None) -> None:
    rule = {"name": "r", "because": "b", "require": {"callUsd": {"exists": exists}}}
    given: Json = {"capability": {"needs": []}, "providers": [provider("p")], "rules": [rule]}
    if tokens is not None:
        given["tokens"] = tokens
    answered = wr.answer(given)
    assert ("decision" in answered) == (exists == (tokens is not None))
    if "error" in answered:
        told = "is not known; it must be" if exists else "is known; it must not be"
        assert f"`callUsd` {told}" in json.dumps(answered["error"]["reasons"])


def test_a_latency_of_zero_is_one() -> None:
    capability = {"needs": [{"p95LatencyMs": {"op": "<", "value": 0}}]}
    explanation = wr.explain(capability, [provider("p", latency=0)])
    (way,) = explanation.to_dict()["relaxations"]
    values = {edit["path"]: edit["value"] for edit in way["patch"]}
    need = {"op": "<", "value": 0} | {path.rpartition("/")[2]: value for path, value in values.items()}
    assert need in ({"op": "<=", "value": 0}, {"op": "<", "value": 1})


def test_long_reasons_equal_their_text() -> None:
    """Past four million characters of a block's reasons, each is written by itself."""
    names = [f"{each:04}" + "x" * 1_500 for each in range(1_000)]
    rule = {"name": "r", "because": "b", "require": {"provider": names}}
    with pytest.raises(wr.CapabilityUnsatisfiableError) as caught:
        wr.route({"needs": []}, [provider(each) for each in "pqr"], rules=[rule])
    assert json.loads(caught.value.to_json()) == caught.value.to_dict()
