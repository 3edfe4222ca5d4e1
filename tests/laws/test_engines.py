"""Laws of routing: the engines agree with each other and with the naive router, whatever the request."""

import copy
import itertools
import sys
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

import naive
import strategies as wire
import whyroute as wr
from whyroute.engine.single import ENGINES
from whyroute.solving.ranking import RankedCandidates

Json = dict[str, Any]
MOMENT = "2026-12-24T09:30:00Z"


def ask(request: Json, **options: Any) -> Json:
    return wr.answer({**request, "at": MOMENT, "include": ["matched"]}, **options)


def matched(request: Json) -> list[Json]:
    answered: list[Json] = ask(request)["matched"]
    return answered


def key(candidate: Json) -> tuple[str, str]:
    return candidate["provider"], candidate["model"]


def pool(request: Json) -> set[tuple[str, str]]:
    return {key(candidate) for candidate in matched(request)}


def ranked(answered: Json) -> list[Json]:
    return [answered["decision"]["pick"], *answered["decision"]["alternates"]] if "decision" in answered else []


def changed(request: Json, **keys: Any) -> Json:
    return {**copy.deepcopy(request), **keys}


def with_needs(request: Json, needs: list[Json]) -> Json:
    return changed(request, capability={**request["capability"], "needs": needs})


@settings(max_examples=200)
@given(wire.requests())
def test_both_engines_answer_as_the_naive_router(request: Json) -> None:
    before = copy.deepcopy(request)
    oracle = naive.answer(request)
    if "decision" in oracle:
        oracle["decision"]["score"] = naive.as_number(oracle["decision"]["score"])
    answers = [ask(request, engine=engine) for engine in ENGINES]
    assert naive.without_messages(answers[0]) == oracle
    assert answers[0] == answers[1]
    assert request == before, "a request is not written to"


@settings(max_examples=80)
@given(wire.requests(), st.randoms(use_true_random=False))
def test_provider_and_model_order_changes_only_lists(request: Json, random: Any) -> None:
    shuffled = copy.deepcopy(request)
    random.shuffle(shuffled["providers"])
    for provider in shuffled["providers"]:
        random.shuffle(provider["models"])
        for model in provider["models"]:
            random.shuffle(model["features"])
        random.shuffle(provider.get("attributes", []))
    answered, again = ask(request), ask(shuffled)
    assert answered.get("decision") == again.get("decision")
    assert pool(request) == pool(shuffled)
    assert sorted(map(key, answered["matched"])) == sorted(map(key, again["matched"]))
    if "error" in answered:
        assert [sorted_reason(reason) for reason in answered["error"]["reasons"]] == [
            sorted_reason(reason) for reason in again["error"]["reasons"]
        ]


def sorted_reason(reason: Json) -> Json:
    return {
        "requirement": reason["requirement"],
        "satisfying": sorted(reason["satisfyingProviders"]),
        "rejecting": sorted(reason["rejectingProviders"], key=repr),
    }


@settings(max_examples=60)
@given(wire.requests(), st.data())
def test_repeated_need_changes_only_the_reasons(request: Json, data: st.DataObject) -> None:
    needs = request["capability"]["needs"]
    if not needs:
        return
    again = data.draw(st.sampled_from(needs))
    at = data.draw(st.integers(0, len(needs)))
    repeated = ask(with_needs(request, [*needs[:at], again, *needs[at:]]))
    answered = ask(request)
    assert repeated["matched"] == answered["matched"]
    assert ranked(repeated) == ranked(answered)
    if "error" in answered:
        label = naive.need_constraint(again)[0]
        counts = [
            sum(reason["requirement"] == label for reason in found["error"]["reasons"])
            for found in (answered, repeated)
        ]
        assert counts[1] == counts[0] + (1 if counts[0] else 0)


@settings(max_examples=60)
@given(wire.requests(), wire.needs, st.integers(0, 3))
def test_one_more_need_adds_no_candidate(request: Json, need: Json, at: int) -> None:
    needs = request["capability"]["needs"]
    assert pool(with_needs(request, [*needs[:at], need, *needs[at:]])) <= pool(request)


CLAUSES = [("providers", "allow"), ("providers", "deny"), ("models", "allow"), ("models", "deny")]


def without_clause(policy: Json, clause: tuple[str, ...]) -> Json:
    found = copy.deepcopy(policy)
    if len(clause) == 2:
        found.get(clause[0], {}).pop(clause[1], None)
    else:
        found.pop(clause[0], None)
    return found


@settings(max_examples=60)
@given(wire.requests(), wire.policies)
def test_each_policy_clause_only_removes_candidates(request: Json, policy: Json) -> None:
    whole = pool(changed(request, tenantPolicy=policy))
    for clause in [*CLAUSES, ("regionAllow",), ("maxCostPerCallUsd",), ("maxTokensPerCall",)]:
        assert whole <= pool(changed(request, tenantPolicy=without_clause(policy, clause))), clause
    bare = {name: value for name, value in request.items() if name != "tenantPolicy"}
    assert whole <= pool(bare)
    assert pool(changed(request, tenantPolicy={"tenantId": "t"})) == pool(bare), "a policy without clauses"


@settings(max_examples=60)
@given(wire.requests())
def test_removing_a_constraint_removes_no_candidate(request: Json) -> None:
    needs = request["capability"]["needs"]
    for at in range(len(needs)):
        assert pool(request) <= pool(with_needs(request, needs[:at] + needs[at + 1 :]))
    if needs:
        assert pool(request) <= pool(with_needs(request, []))


@settings(max_examples=60)
@given(wire.requests())
def test_the_order_of_preferences_changes_nothing(request: Json) -> None:
    preferences = request["capability"].get("prefer", [])
    answers = [
        ask(changed(request, capability={**request["capability"], "prefer": list(order)}))
        for order in itertools.islice(itertools.permutations(preferences), 0, 24, 5)
    ]
    for answered in answers:
        assert ranked(answered) == ranked(answers[0])
        if "decision" in answered:
            assert answered["decision"]["score"] == answers[0]["decision"]["score"]


@settings(max_examples=80)
@given(wire.requests(with_hints=False), st.data())
def test_hints_reorder_and_nothing_else(request: Json, data: st.DataObject) -> None:
    provider = data.draw(st.none() | st.sampled_from([*wire.IDS, ""]))
    model = data.draw(st.none() | st.sampled_from([*wire.NAMES, ""]))
    hints = {"preferredProvider": provider, "preferredModel": model}
    hinted = ask(request | {name: value for name, value in hints.items() if value is not None})
    plain = ask(request)
    assert hinted["matched"] == plain["matched"]
    assert hinted.get("error") == plain.get("error")
    if "decision" in plain:
        assert hinted["decision"]["fallback"] == plain["decision"]["fallback"], "a hint lifts no fallback"
        order = ranked(plain)

        def matches(candidate: Json) -> bool:
            return (
                (provider is not None or model is not None)
                and provider in (None, candidate["provider"])
                and model in (None, candidate["model"])
            )

        assert ranked(hinted) == [c for c in order if matches(c)] + [c for c in order if not matches(c)]


@settings(max_examples=60)
@given(wire.requests())
def test_fallbacks_count_only_alone(request: Json) -> None:
    fallback = {provider["id"] for provider in request["providers"] if provider.get("fallback")}
    answered = ask(request)
    if "decision" in answered:
        among = {candidate["provider"] in fallback for candidate in ranked(answered)}
        assert among == {answered["decision"]["fallback"]}
        if answered["decision"]["fallback"]:
            assert {name for name, _ in pool(request)} <= fallback


def model(name: str, **more: Any) -> Json:
    cost = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}
    return {"name": name, "contextWindow": 1, "features": [], "cost": cost, **more}


def test_candidates_with_equal_joined_ids_stay_two() -> None:
    request: Json = {
        "capability": {"needs": []},
        "providers": [
            {"id": "a/b", "region": "r", "models": [model("c")]},
            {"id": "a", "region": "r", "models": [model("b/c")]},
        ],
    }
    for engine in ENGINES:
        answered = ask(request, engine=engine)
        assert ranked(answered) == [{"provider": "a", "model": "b/c"}, {"provider": "a/b", "model": "c"}]
        assert len(answered["matched"]) == 2
        denied = ask({**request, "tenantPolicy": {"tenantId": "t", "providers": {"deny": ["a"]}}}, engine=engine)
        assert ranked(denied) == [{"provider": "a/b", "model": "c"}]
        nobody = ask({**request, "capability": {"needs": [{"models": {"allow": ["c"], "deny": ["c"]}}]}}, engine=engine)
        reason = nobody["error"]["reasons"][0]
        assert [rejected["id"] for rejected in reason["rejectingProviders"]] == ["a/b/c", "a/b/c"]
        assert [r["reason"]["modelName"] for r in reason["rejectingProviders"]] == ["c", "b/c"]
        hinted = ask({**request, "preferredProvider": "a/b"}, engine=engine)
        assert hinted["decision"]["pick"] == {"provider": "a/b", "model": "c"}


def catalog_of(request: Json) -> wr.Catalog:
    return wr.Catalog(request["providers"])


def decision_of(request: Json) -> wr.Decision | None:
    try:
        return wr.route(
            request["capability"],
            catalog_of(request),
            policy=request.get("tenantPolicy"),
            preferred_provider=request.get("preferredProvider"),
            preferred_model=request.get("preferredModel"),
        )
    except wr.CapabilityUnsatisfiableError:
        return None


bounds = st.none() | st.integers(-9, 9)
cuts = st.builds(slice, bounds, bounds, st.none() | st.integers(-3, 3).filter(bool))


@settings(max_examples=80)
@given(wire.requests(), cuts, cuts)
def test_alternates_are_a_list_in_all_but_name(request: Json, cut: slice, again: slice) -> None:
    decision = decision_of(request)
    if decision is None:
        return
    expected = list(decision.alternates)
    lazy = decision_of(request)
    assert lazy is not None
    view = lazy.alternates
    assert len(view) == len(expected)
    assert bool(view) == bool(expected)
    # Indices first, from the last to the first: nothing was ranked yet.
    for index in range(len(expected) - 1, -1, -1):
        assert view[index].key == expected[index].key
        assert view[index - len(expected)].key == expected[index].key
    for index in (len(expected), -len(expected) - 1):
        with pytest.raises(IndexError):
            view[index]
    part = view[cut]
    assert isinstance(part, RankedCandidates)
    for got, want in ((part, expected[cut]), (part[again], expected[cut][again])):
        assert len(got) == len(want)
        assert [candidate.key for candidate in got] == [candidate.key for candidate in want]
        assert [got[index].key for index in range(len(got))] == [candidate.key for candidate in want]
        assert got == [*got]
        assert [*got] == got
        assert (got == [*got, decision.candidate]) is False
    assert [candidate.key for candidate in reversed(view)] == [candidate.key for candidate in reversed(expected)]
    assert decision.candidate not in decision.alternates
    for candidate in expected:
        assert candidate in decision.alternates
    assert decision.alternates == decision.alternates
    assert decision.alternates == tuple(expected)
    assert (decision.alternates == "") is False
    if len(expected) > 1:
        assert decision.alternates != expected[::-1]


def test_two_iterations_of_a_view_are_independent() -> None:
    providers = [
        {
            "id": name,
            "region": "r",
            "models": [model(f"m{at}", features=["vision"] * (at % 2)) for at in range(4)],
            "attributes": ["local"] * (at % 3),
        }
        for at, name in enumerate("abcd")
    ]
    prefer = [{"feature": "vision", "weight": 2}, {"feature": "local", "weight": 1}]
    decision = wr.route({"needs": [], "prefer": prefer}, providers)
    alone = list(decision.alternates)
    assert len(alone) == 15
    for stop in range(len(alone)):
        view = wr.route({"needs": [], "prefer": prefer}, providers).alternates
        first, second = iter(view), iter(view)
        mixed = [(next(first).key, next(second).key) for _ in range(stop)]
        assert mixed == [(candidate.key, candidate.key) for candidate in alone[:stop]]
        assert [candidate.key for candidate in first] == [candidate.key for candidate in alone[stop:]]


preferences = st.lists(
    st.fixed_dictionaries({"feature": st.sampled_from(["a", "b", "c"]), "weight": st.sampled_from(wire.WEIGHTS)}),
    max_size=6,
)
decimals = st.decimals(-1000, 1000, places=3, allow_nan=False, allow_infinity=False).map(float)


@settings(max_examples=80)
@given(
    preferences
    | st.lists(st.fixed_dictionaries({"feature": st.sampled_from(["a", "b", "c"]), "weight": decimals}), max_size=6),
    st.lists(st.lists(st.sampled_from(["a", "b", "c"])), min_size=1, max_size=4),
)
@example(
    [{"feature": "a", "weight": 0.1}, {"feature": "b", "weight": 0.2}, {"feature": "c", "weight": 0.3}],
    [["a", "b"], ["c"]],
)
@example([{"feature": "a", "weight": 1e300}, {"feature": "b", "weight": 1e-300}], [["a"], ["a", "b"], ["b"], []])
@example([{"feature": "a", "weight": 1e308}, {"feature": "a", "weight": 1e308}], [["a"], []])
def test_scores_are_exact_sums_of_decimals(prefer: list[Json], attributes: list[list[str]]) -> None:
    names = [f"p{at}" for at in range(len(attributes))]
    providers = [
        {"id": name, "region": "r", "models": [model("m")], "attributes": having}
        for name, having in zip(names, attributes, strict=True)
    ]
    sums = {
        name: sum((naive.exact(p["weight"]) for p in prefer if p["feature"] in having), Fraction(0))
        for name, having in zip(names, attributes, strict=True)
    }
    decision = wr.route({"needs": [], "prefer": prefer}, providers)
    order = [decision.candidate, *decision.alternates]
    assert [candidate.metadata.id for candidate in order] == sorted(names, key=lambda name: (-sums[name], name))
    scores = decision.alternates._ranking.scores
    for number, candidate in enumerate(decision.alternates._ranking.catalog.candidates()):
        assert scores.score(number) == sums[candidate.metadata.id]
    best = sums[decision.candidate.metadata.id]
    if best.denominator == 1 and abs(best) < 10**21:
        assert decision.score == best
        assert isinstance(decision.score, int)
    elif abs(best) < Fraction(10) ** 308:
        assert decision.score == float(best)
    else:  # past the range of doubles the wire has no number for it; the order above is exact all the same
        assert decision.score == (sys.float_info.max if best > 0 else -sys.float_info.max)


def test_preference_counts_once_for_feature_and_attribute() -> None:
    provider = {"id": "p", "region": "r", "models": [model("m", features=["vision"])], "attributes": ["vision"]}
    prefer = [{"feature": "vision", "weight": 0.1}]
    assert wr.route({"needs": [], "prefer": prefer}, [provider]).score == 0.1
    assert wr.route({"needs": [], "prefer": prefer * 3}, [provider]).score == 0.3


def test_no_candidates_give_only_setup_failure_reasons() -> None:
    request: Json = {"capability": {"needs": [{"feature": "vision"}]}, "providers": []}
    for engine in ENGINES:
        assert ask(request, engine=engine)["error"]["reasons"] == []
        failures = [{"providerId": "p", "message": "no key"}, {"providerId": "q", "message": "no disk"}]
        error = ask({**request, "setupFailures": failures}, engine=engine)["error"]
        assert error["reasons"] == [
            {
                "requirement": "provider set up",
                "satisfyingProviders": [],
                "rejectingProviders": [
                    {
                        "id": f["providerId"],
                        "reason": {"code": "provider-setup-failed", "message": f["message"]}
                        | {"providerId": f["providerId"]},
                    }
                    for f in failures
                ],
            }
        ]
        assert "no key" in error["message"]
        assert "1 more" in error["message"]


def test_an_engine_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="`fast` is no engine; the engines are `bitset`, `plain`"):
        wr.route({"needs": []}, [], engine="fast")  # type: ignore[arg-type]  # the name is wrong on purpose
