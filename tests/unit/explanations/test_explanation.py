"""Explanations against brute force: what clashes, what to change, who is near, why not another."""

import copy
import itertools
from collections.abc import Iterator
from typing import Any

import jsonpatch
import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator

import rule_strategies
import whyroute as wr
from cases import lines
from naive import answer as naive_answer, constraints as naive_constraints, exact, named
from strategies import provider_lists, requests
from whyroute.explanations import Explanation
from whyroute.wire.request import read_request
from whyroute.wire.schemas import answer_schema, request_schema

REQUEST_SCHEMA = Draft202012Validator(request_schema())
ANSWER_SCHEMA = Draft202012Validator(answer_schema())
FAILING = [case for case in lines("routing.jsonl") if "error" in case["expect"]]


def explanation_of(request: dict[str, Any], **limits: Any) -> Explanation:
    read = read_request(request)
    return Explanation(read.solve(), read.why_not, wr.Limits(**limits))


def signatures(request: dict[str, Any]) -> dict[tuple[str, str], frozenset[int]]:
    """For each candidate, the indices of the constraints that reject it, by the naive router's own checks."""
    checks = naive_constraints(request["capability"], request.get("tenantPolicy"))
    return {
        (provider["id"], model["name"]): frozenset(i for i, (_, check) in enumerate(checks) if check(provider, model))
        for provider in request["providers"]
        for model in provider["models"]
    }


def brute_corrections(request: dict[str, Any]) -> list[list[int]]:
    found = set(signatures(request).values())
    minimal = [each for each in found if not any(other < each for other in found)]
    return sorted((sorted(each) for each in minimal if each), key=lambda each: (len(each), each))


def brute_cores(request: dict[str, Any]) -> list[list[int]]:
    """All minimal subsets that no candidate satisfies, by trying every subset in order of size."""
    rejected = list(signatures(request).values())
    count = len(naive_constraints(request["capability"], request.get("tenantPolicy")))
    found: list[frozenset[int]] = []
    for size in range(count + 1):
        for subset in map(frozenset, itertools.combinations(range(count), size)):
            if not any(core <= subset for core in found) and all(subset & each for each in rejected):
                found.append(subset)
    return [sorted(each) for each in found]


def check_failing(request: dict[str, Any]) -> None:
    """Everything that an explanation of a failing request says, checked from outside."""
    explanation = explanation_of(request)
    ids = [constraint.id for constraint in explanation.constraints]
    told = explanation.to_dict()
    cores = [[ids.index(each) for each in core] for core in told["cores"]]
    corrections = [[ids.index(each) for each in each_set] for each_set in told["corrections"]]
    assert cores == brute_cores(request)[:64]
    assert corrections == (brute_corrections(request)[:64] if signatures(request) else [])
    assert [each["correction"] for each in told["relaxations"]] == told["corrections"][:16]
    for core in explanation.cores:
        assert not admitted_by(core, explanation)
        for left_out in core:
            assert not core or admitted_by([each for each in core if each is not left_out], explanation)
    for relaxation in told["relaxations"]:
        check_relaxation(request, relaxation)
    check_near_misses(request, explanation)


def with_kinds_that_nobody_can_ask_for(request: dict[str, Any]) -> dict[str, Any]:
    """A provider's kind may be empty, as any other text."""
    found = copy.deepcopy(request)
    for provider in found["providers"]:
        if provider.get("capabilityKind") == "embedding":
            provider["capabilityKind"] = ""
    return found


def check_patches(request: dict[str, Any]) -> None:
    """Every patch makes a valid request of the request, which picks what was promised."""
    answer = wr.answer({**request, "include": ["explanation"]})
    assert "issues" not in answer.get("error", {})
    for relaxation in answer["explanation"]["relaxations"]:
        patched = jsonpatch.apply_patch(copy.deepcopy(request), relaxation["patch"])
        assert wr.answer(patched).get("decision", {}).get("pick") == relaxation["pick"], relaxation
        REQUEST_SCHEMA.validate(patched)


@given(requests().map(with_kinds_that_nobody_can_ask_for))
def test_no_patch_makes_a_request_invalid(request: dict[str, Any]) -> None:
    check_patches(request)


@given(rule_strategies.requests().map(with_kinds_that_nobody_can_ask_for))
def test_no_patch_makes_a_request_with_rules_invalid(request: dict[str, Any]) -> None:
    check_patches(request)


def test_an_empty_kind_is_no_way_out() -> None:
    model = {
        "name": "m",
        "contextWindow": 9,
        "features": [],
        "cost": {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1},
    }
    nameless = {"id": "a", "region": "r", "capabilityKind": "", "models": [model]}
    other = {"id": "b", "region": "r", "capabilityKind": "embedding", "models": [model]}
    alone = wr.explain({"needs": []}, [nameless]).to_dict()
    assert alone["corrections"] == [["kind"]]
    assert alone["relaxations"] == []
    (relaxation,) = wr.explain({"needs": []}, [nameless, other]).to_dict()["relaxations"]
    assert relaxation["pick"] == {"provider": "b", "model": "m"}


def admitted_by(constraints: Any, explanation: Explanation) -> int:
    members = explanation.catalog.all()
    for constraint in constraints:
        members &= constraint.admitted
    return members


def check_relaxation(request: dict[str, Any], relaxation: dict[str, Any]) -> None:
    """The patched request is valid, the naive router and ours pick what was promised, and fewer edits would not do."""
    patched = jsonpatch.apply_patch(copy.deepcopy(request), relaxation["patch"])
    REQUEST_SCHEMA.validate(patched)
    assert wr.answer(patched)["decision"]["pick"] == relaxation["pick"]
    assert naive_answer(patched)["decision"]["pick"] == relaxation["pick"]
    pick = (relaxation["pick"]["provider"], relaxation["pick"]["model"])
    ids = constraint_ids(request)
    assert {ids[index] for index in signatures(request)[pick]} == set(relaxation["correction"])
    assert relaxation["offered"] is True
    assert relaxation["owners"] == list(
        dict.fromkeys("policy" if each.startswith("policy/") else "caller" for each in relaxation["correction"])
    )
    for operation in relaxation["patch"]:
        rest = [each for each in relaxation["patch"] if each is not operation]
        if not any(each["path"] == operation["path"] for each in rest):
            try:
                smaller = jsonpatch.apply_patch(copy.deepcopy(request), rest)
            except jsonpatch.JsonPatchException:
                continue
            # What one operation fewer leads to is never this pick, but for an operator that stays as it was.
            if not operation["path"].endswith("/op") and REQUEST_SCHEMA.is_valid(smaller):
                assert wr.answer(smaller).get("decision", {}).get("pick") != relaxation["pick"]


def constraint_ids(request: dict[str, Any]) -> list[str]:
    return [constraint.id for constraint in explanation_of(request).constraints]


def check_near_misses(request: dict[str, Any], explanation: Explanation) -> None:
    everyone = explanation_of(request, near_misses=None, unknowns=None).near_misses
    told = signatures(request)
    ids = [constraint.id for constraint in explanation.constraints]
    assert len(everyone) == sum(1 for failed in told.values() if failed)
    counts = [len(miss.failed) for miss in everyone]
    assert counts == sorted(counts)
    for miss in everyone:
        assert [ids.index(constraint.id) for constraint, _ in miss.failed] == sorted(told[miss.candidate.key])
    # Within one count they stand in the order in which they would be ranked if they were admitted.
    for count in set(counts):
        level = [miss.candidate.key for miss in everyone if len(miss.failed) == count]
        assert level == as_if_admitted(request, level)
    assert [miss.to_dict() for miss in explanation.near_misses] == [miss.to_dict() for miss in everyone[:10]]


def as_if_admitted(request: dict[str, Any], keys: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The naive router's order of some candidates, when nothing rejects them: regular ones, then fallbacks."""
    found: list[tuple[str, str]] = []
    for fallback in (False, True):
        providers = []
        for provider in request["providers"]:
            kept = [model for model in provider["models"] if (provider["id"], model["name"]) in keys]
            if kept and provider.get("fallback", False) is fallback:
                entry = {**provider, "models": kept, "capabilityKind": "any"}
                if entry.get("defaultModel") not in [model["name"] for model in kept]:
                    entry.pop("defaultModel", None)
                providers.append(entry)
        if providers:
            capability = {"kind": "any", "needs": [], "prefer": request["capability"].get("prefer", [])}
            hints: dict[str, Any] = {k: request[k] for k in ("preferredProvider", "preferredModel") if k in request}
            decision = naive_answer({"capability": capability, "providers": providers, **hints})["decision"]
            found += [(each["provider"], each["model"]) for each in (decision["pick"], *decision["alternates"])]
    return found


@pytest.mark.parametrize("part", range(6))
def test_every_recorded_failing_case(part: int) -> None:
    assert len(FAILING) == 300
    for case in FAILING[part::6]:
        check_failing({key: value for key, value in case["input"].items() if key != "setupFailures"})


@given(requests())
@settings(max_examples=150)
def test_random_requests(request: dict[str, Any]) -> None:
    request.pop("setupFailures", None)
    told = explanation_of(request).to_dict()
    assert told["satisfiable"] == ("decision" in naive_answer(request))
    if told["satisfiable"]:
        assert told["cores"] == told["corrections"] == told["relaxations"] == []
        check_satisfied(request)
    else:
        check_failing(request)


def check_satisfied(request: dict[str, Any]) -> None:
    explanation = explanation_of(request, near_misses=None, ranking=None)
    decision = naive_answer(request)["decision"]
    ranked = [ranked.candidate.to_dict() for ranked in explanation.ranking]
    assert ranked == [decision["pick"], *decision["alternates"]]
    weights = request["capability"].get("prefer", [])
    for each in explanation.ranking:
        reach = {*each.candidate.model.features, *each.candidate.metadata.attributes}
        assert [feature for feature, _ in each.matched] == [w["feature"] for w in weights if w["feature"] in reach]
    told = signatures(request)
    ids = [constraint.id for constraint in explanation.constraints]
    admitted = [sum(1 for failed in told.values() if index not in failed) for index in range(len(ids))]
    tightest = None if min(admitted) == len(told) else ids[admitted.index(min(admitted))]
    assert (explanation.tightest.id if explanation.tightest else None) == tightest
    redundant = [ids[i] for i in range(len(ids)) if not any(failed == {i} for failed in told.values())]
    assert [constraint.id for constraint in explanation.redundant] == redundant
    assert len(explanation.near_misses) == sum(1 for failed in told.values() if failed)


def all_candidates(request: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for provider in request["providers"]:
        for model in provider["models"]:
            yield provider["id"], model["name"]


@given(requests())
@settings(max_examples=100)
def test_why_not_each_candidate(request: dict[str, Any]) -> None:
    request.pop("setupFailures", None)
    expected = naive_answer(request)
    told = signatures(request)
    by_key = {(p["id"], m["name"]): (p, m) for p in request["providers"] for m in p["models"]}
    for key in all_candidates(request):
        contrast = explanation_of({**request, "whyNot": {"provider": key[0], "model": key[1]}}).contrast
        assert contrast is not None
        assert contrast.known
        assert contrast.admitted == (not told[key])
        assert [c.id for c, _ in contrast.failed] == [constraint_ids(request)[i] for i in sorted(told[key])]
        if "decision" not in expected:
            assert contrast.pick is None
            continue
        decision = expected["decision"]
        order = [decision["pick"], *decision["alternates"]]
        assert contrast.pick is not None
        assert contrast.pick.to_dict() == decision["pick"]
        me = named(by_key[key])
        assert contrast.rank == (order.index(me) + 1 if me in order else None)
        if contrast.admitted:
            check_decided_by(request, contrast, me, order)
        else:
            assert contrast.decided_by is None


def check_decided_by(request: dict[str, Any], contrast: wr.Contrast, me: dict[str, str], order: list[Any]) -> None:
    """Take away what is said to decide, and the next thing decides."""
    pick = order[0]
    if me == pick:
        assert contrast.decided_by is None
        return
    hinted = {k: request[k] for k in ("preferredProvider", "preferredModel") if k in request}

    def matches(each: dict[str, str]) -> bool:
        return bool(hinted) and (
            hinted.get("preferredProvider", each["provider"]) == each["provider"]
            and hinted.get("preferredModel", each["model"]) == each["model"]
        )

    scores = [score_of(request, each) for each in (pick, me)]
    if me not in order:
        expected = "fallback"
    elif matches(pick) and not matches(me):
        expected = "hint"
    elif scores[0] != scores[1]:
        expected = "score"
    elif pick["provider"] != me["provider"]:
        expected = "provider"
    else:
        provider = next(p for p in request["providers"] if p["id"] == pick["provider"])
        expected = "defaultModel" if provider.get("defaultModel") == pick["model"] else "model"
    assert contrast.decided_by == expected


def score_of(request: dict[str, Any], each: dict[str, str]) -> Any:
    provider = next(p for p in request["providers"] if p["id"] == each["provider"])
    model = next(m for m in provider["models"] if m["name"] == each["model"])
    reach = {*model["features"], *provider.get("attributes", [])}
    return sum(exact(w["weight"]) for w in request["capability"].get("prefer", []) if w["feature"] in reach)


@given(provider_lists(), st.text(max_size=5), st.text(max_size=5))
@settings(max_examples=50)
def test_a_stranger_is_said_to_be_one(providers: list[dict[str, Any]], provider: str, model: str) -> None:
    request = {"capability": {"needs": []}, "providers": providers, "whyNot": {"provider": provider, "model": model}}
    if (provider, model) in set(all_candidates(request)):
        return
    told = explanation_of(request).to_dict()["contrast"]
    assert told["known"] is False
    assert len(told["near"]) <= 3
    assert all((each["provider"], each["model"]) in set(all_candidates(request)) for each in told["near"])


def test_unknown_facts_come_with_other_obstacles() -> None:
    def provider(name: str, region: str, latency: float | None, window: int) -> dict[str, Any]:
        cost = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}
        model: dict[str, Any] = {"name": "m", "contextWindow": window, "features": [], "cost": cost}
        if latency is not None:
            model["p95LatencyMs"] = latency
        return {"id": name, "region": region, "models": [model]}

    request = {
        "capability": {
            "needs": [{"p95LatencyMs": {"op": "<=", "value": 100}}, {"contextWindow": {"op": ">=", "value": 10}}]
        },
        "tenantPolicy": {"tenantId": "t", "regionAllow": ["eu"]},
        "providers": [
            provider("slow", "eu", 200, 10),
            provider("unmeasured-small", "eu", None, 5),
            provider("unmeasured", "eu", None, 10),
            provider("nowhere", "unspecified", 50, 10),
            provider("lost", "unspecified", None, 10),
        ],
    }
    told = explanation_of(request).to_dict()
    short = [(u["candidate"]["provider"], u["field"], u["constraint"], u["also"]) for u in told["unknowns"]]
    assert short == [
        ("nowhere", "region", "policy/regionAllow", []),
        ("unmeasured", "p95LatencyMs", "needs/0", []),
        ("lost", "p95LatencyMs", "needs/0", ["policy/regionAllow"]),
        ("lost", "region", "policy/regionAllow", ["needs/0"]),
        ("unmeasured-small", "p95LatencyMs", "needs/0", ["needs/1"]),
    ]


def test_reasons_are_grouped_with_counts() -> None:
    case = FAILING[0]["input"]
    explanation = explanation_of(case)
    for constraint in explanation.constraints:
        groups = explanation.rejections(constraint)
        assert sum(group.count for group in groups) == constraint.rejected.bit_count()
        assert [group.count for group in groups] == sorted((group.count for group in groups), reverse=True)
        assert len({str(group.reason) for group in groups}) == len(groups)
        for group in groups:
            for candidate in explanation.catalog.candidates(group.members):
                assert constraint.rejection(candidate) == group.reason


def test_empty_catalog_has_only_the_empty_core() -> None:
    told = explanation_of({"capability": {"needs": [{"feature": "vision"}]}, "providers": []}).to_dict()
    assert (told["cores"], told["corrections"], told["relaxations"]) == ([[]], [], [])


def providers_of(count: int) -> list[dict[str, Any]]:
    """Candidates with mixed facts, so that many constraints cut differently."""
    cost = [{"promptUsdPer1kTokens": i * 0.001, "completionUsdPer1kTokens": 1} for i in range(count)]
    return [
        {
            "id": f"p{i:03d}",
            "region": f"r{i % 7}",
            "models": [
                {
                    "name": f"m{i}",
                    "contextWindow": 1000 + (i * 37) % count,
                    "features": [f for b, f in enumerate(wr.FEATURES) if (i * 2654435761) >> b & 1],
                    "cost": cost[i],
                }
            ],
        }
        for i in range(count)
    ]


ADVERSARIAL: dict[str, list[dict[str, Any]]] = {
    "six needs written ten times each": [{"models": {"deny": [f"m{j}" for j in range(i, 60, 6)]}} for i in range(6)]
    * 10,
    "24 needs in pairs": [
        {"models": {"deny": [f"m{j}" for j in range(60) if j % 12 == i // 2 and (j // 12 + i) % 2 == 0]}}
        for i in range(24)
    ]
    + [{"models": {"allow": [f"m{j}" for j in range(60)]}}],
    "60 needs": [
        {"models": {"deny": [f"m{j}" for j in range(60) if (j * i + j // 7) % 11 < 5 or j == i - 1]}}
        for i in range(1, 61)
    ],
}


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_an_adversarial_request_is_answered_within_the_limits(name: str) -> None:
    request = {"capability": {"needs": ADVERSARIAL[name]}, "providers": providers_of(60), "include": ["explanation"]}
    found = wr.answer(request)
    if "decision" in found:
        pytest.fail("the request is meant to fail")
    told = found["explanation"]
    assert len(told["cores"]) <= 64
    assert len(told["corrections"]) <= 64
    assert len(told["relaxations"]) <= 16
    for kind, limit in (("cores", 64), ("corrections", 64)):
        assert (kind in told.get("truncated", [])) <= (len(told[kind]) == limit or kind == "cores")
    sizes = [len(core) for core in told["cores"]]
    assert sizes == sorted(sizes)
    ANSWER_SCHEMA.validate(found)
    for relaxation in told["relaxations"]:
        patched = jsonpatch.apply_patch(copy.deepcopy(request), relaxation["patch"])
        assert wr.answer(patched)["decision"]["pick"] == relaxation["pick"]


@given(requests())
@settings(max_examples=60)
def test_wire_answers_with_explanations_meet_their_schema(request: dict[str, Any]) -> None:
    providers = list(all_candidates(request)) or [("a", "b")]
    asked = {"provider": providers[0][0], "model": providers[0][1]}
    found = wr.answer({**request, "include": ["matched", "explanation", "request"], "whyNot": asked})
    ANSWER_SCHEMA.validate(found)
    again = wr.answer({**found["request"], "include": ["matched", "explanation", "request"]})
    assert again == found


@pytest.mark.parametrize(
    ("key", "value"),
    [("cores", "nonsense"), ("relaxations", [{}]), ("contrast", {"known": True}), ("surprise", 1), ("ranking", [{}])],
)
def test_the_answer_schema_is_no_rubber_stamp(key: str, value: Any) -> None:
    found = wr.answer({**FAILING[0]["input"], "include": ["explanation"]})
    ANSWER_SCHEMA.validate(found)
    found["explanation"][key] = value
    assert not ANSWER_SCHEMA.is_valid(found)
