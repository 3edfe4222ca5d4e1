"""Bundles against brute force: picks, alternates in order, cores, corrections, and the picks that patches promise."""

from collections.abc import Callable
from typing import Any

import jsonpatch
import pytest
from hypothesis import given, settings

import naive
from bundle_strategies import bundles
from naive_bundles import Naive
from whyroute import answer
from whyroute.bundles.bundle import Bundle, outcome_of
from whyroute.bundles.explanation import BundleExplanation
from whyroute.wire.request import read_bundle_request

Json = dict[str, Any]

FEW = 12
"""How many examples each law has where time is short; `test_many_more_bundles` has the others."""


def clause_numbers(request: Json) -> dict[str, str]:
    """The ids of the policy's clauses by their places, as the naive router knows them."""
    policy = request.get("tenantPolicy", {})
    found = []
    for subject in ("providers", "models"):
        lists = policy.get(subject, {})
        found += [f"policy/{subject}/deny"] * bool(lists.get("deny"))
        found += [f"policy/{subject}/allow"] * ("allow" in lists)
    found += [f"policy/{key}" for key in ("regionAllow", "maxCostPerCallUsd", "maxTokensPerCall") if key in policy]
    return dict(zip((f"policy/{place}" for place in range(len(found))), found, strict=True))


def check_against_brute_force(request: Json) -> None:
    expected = Naive(request).answer()
    solved = read_bundle_request(request).solve()
    outcome = outcome_of(solved)
    if "bundles" in expected:
        assert isinstance(outcome, Bundle)
        ranked = [(outcome.to_dict()["picks"], outcome.score, expected["bundles"][0][2])]
        ranked += [(each.to_dict()["picks"], each.score, each.fallbacks) for each in outcome.alternates.first(40)]
        assert ranked == expected["bundles"][:41]
        assert outcome.proved
        assert outcome.fallback is (expected["bundles"][0][2] > 0)
        return
    assert not isinstance(outcome, Bundle)
    explanation = BundleExplanation(solved)
    names = clause_numbers(request)
    cores = [[names.get(each, each) for each in core] for core in expected["cores"]]
    corrections = [[names.get(each, each) for each in correction] for correction in expected["corrections"]]
    assert [[each.id for each in core] for core in explanation.cores] == cores[:64]
    assert [[each.id for each in correction] for correction in explanation.corrections] == corrections[:64]
    assert explanation.proved
    if cores != [[]]:
        assert [each.id for each in explanation.core] in cores
        assert explanation.clash


def check_patches(request: Json) -> None:
    found = answer({**request, "include": ["explanation"]})
    for relaxation in found["explanation"]["relaxations"]:
        patched = jsonpatch.apply_patch(request, relaxation["patch"])
        assert answer(patched)["decision"]["picks"] == relaxation["picks"]
        assert Naive(patched).answer()["bundles"][0][0] == relaxation["picks"]


def check_one_slot(request: Json) -> None:
    (name, slot), *_ = request["slots"].items()
    alone = {**request, "slots": {name: slot}, "together": [], "include": ["explanation"]}
    single = {key: value for key, value in {**alone, **slot}.items() if key not in ("slots", "together")}
    bundle, route = answer(alone), answer(single)
    if "shadow" in route:
        by_route = dict(route["shadow"])
        if "pick" in by_route:
            by_route["picks"] = {name: by_route.pop("pick")}
        assert bundle["shadow"] == by_route
    else:
        assert "shadow" not in bundle
    if "decision" in route:
        assert bundle["decision"]["picks"] == {name: route["decision"]["pick"]}
        assert bundle["decision"]["score"] == route["decision"]["score"]
        assert bundle["decision"]["fallback"] == route["decision"]["fallback"]
        return
    for key in ("cores", "corrections"):
        own = [[each.removeprefix(f"{name}:") for each in ids] for ids in bundle["explanation"][key]]
        assert own == route["explanation"][key]
    picks = [each["picks"][name] for each in bundle["explanation"]["relaxations"]]
    assert picks == [each["pick"] for each in route["explanation"]["relaxations"]]
    patches = [
        [{**each, "path": each["path"].removeprefix(f"/slots/{name}")} for each in relaxation["patch"]]
        for relaxation in bundle["explanation"]["relaxations"]
    ]
    assert patches == [each["patch"] for each in route["explanation"]["relaxations"]]
    dead = [each["why"] for each in bundle["explanation"].get("deadEnds", ())]
    assert dead == [each["why"] for each in route["explanation"].get("deadEnds", ())]


def check_shadow(request: Json) -> None:
    found = answer(request)
    live = [{key: value for key, value in rule.items() if key != "mode"} for rule in request.get("rules", [])]
    enforced = Naive({**request, "rules": live}).answer()
    if "shadow" not in found:
        now = Naive(request).answer()
        assert now.get("bundles") == enforced.get("bundles")
    elif "bundles" in enforced:
        assert found["shadow"]["picks"] == enforced["bundles"][0][0]
    else:
        assert found["shadow"]["unsatisfiable"] is True
    if "shadow" in found and not found["shadow"]["by"] and "decision" in found:
        assert found["shadow"]["picks"] == found["decision"]["picks"]


@given(bundles(ruled=False))
@settings(max_examples=FEW)
def test_bundles_are_those_of_brute_force(request: Json) -> None:
    check_against_brute_force(request)


@given(bundles())
@settings(max_examples=FEW)
def test_bundles_with_rules_are_those_of_brute_force(request: Json) -> None:
    check_against_brute_force(request)


@given(bundles())
@settings(max_examples=FEW)
def test_a_patched_request_picks_what_its_relaxation_says(request: Json) -> None:
    check_patches(request)


@given(bundles())
@settings(max_examples=FEW)
def test_one_slot_without_ties_is_a_route(request: Json) -> None:
    check_one_slot(request)


@given(bundles())
@settings(max_examples=FEW)
def test_enforcing_shadow_rules_gives_what_was_told(request: Json) -> None:
    check_shadow(request)


CHECKS = [check_against_brute_force, check_patches, check_one_slot, check_shadow]


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=[each.__name__ for each in CHECKS])
def test_many_more_bundles(check: Callable[[Json], None]) -> None:
    for ruled in (False, True):

        @given(bundles(ruled=ruled))
        @settings(max_examples=100)
        def every(request: Json) -> None:
            check(request)

        every()


def test_the_naive_router_knows_whom_a_tie_stops() -> None:
    model = {
        "name": "m",
        "contextWindow": 1,
        "features": [],
        "cost": {"promptUsdPer1kTokens": 0.1, "completionUsdPer1kTokens": 0},
    }
    request = {
        "slots": {name: {"capability": {"needs": []}} for name in ("one", "other")},
        "providers": [{"id": each, "region": "r", "models": [model]} for each in ("a", "b")],
        "together": [{"different": "provider"}, {"sum": "promptUsdPer1kTokens", "op": "<=", "value": 0.2}],
    }
    found = Naive(request).answer()["bundles"]
    assert [[pick["provider"] for pick in picks.values()] for picks, _, _ in found] == [["a", "b"], ["b", "a"]]
    assert naive.as_number(naive.exact(0.1) * 2) == 0.2
