"""Numbers at the ends of the double range: every surface answers as brute force with exact fractions does."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonpatch
import pytest

import naive_rules
import whyroute as wr
from cases import lines
from extremes import Draw, as_doubles
from naive import as_number, without_messages
from naive_bundles import Naive
from serverkit import Kit, make_kit
from whyroute import answer
from whyroute.bundles.bundle import Bundle, outcome_of
from whyroute.bundles.explanation import BundleExplanation
from whyroute.cli.main import main
from whyroute.documents.json_text import read_json
from whyroute.render import decision_lines, explanation_lines
from whyroute.render.bundles import bundle_explanation_lines
from whyroute.render.graphs import to_dot, to_graphml, to_mermaid
from whyroute.render.page import bundle_page, explanation_page
from whyroute.routing.decision import Decision, outcome_of as routed
from whyroute.wire.request import read_bundle_request, read_request

Json = dict[str, Any]
Check = Callable[[Json], None]
Make = Callable[[Draw], Json]

SPANS = [range(start, start + 250) for start in range(0, 1000, 250)]
MANY = [range(start, start + 10_000) for start in range(1_000, 41_000, 10_000)]
EXPLAINED = ["matched", "explanation"]


# The library.


def check_route(request: Json) -> None:
    given = {**request, "include": EXPLAINED}
    found = answer(given)
    json.dumps(found, allow_nan=False)
    assert without_messages(found) == expected_of(request)
    assert answer(given, engine="plain") == found
    for relaxation in found["explanation"].get("relaxations", []):
        patched = jsonpatch.apply_patch(request, relaxation["patch"])
        assert expected_of(patched)["decision"]["pick"] == relaxation["pick"]


def expected_of(request: Json) -> Json:
    """What the naive router answers, in the form of `without_messages`."""
    found: Json = naive_rules.answer(as_doubles(request))
    if "decision" in found:
        found["decision"]["score"] = as_number(found["decision"]["score"])
    return found


def check_bundle(request: Json) -> None:
    expected = Naive(as_doubles(request)).answer()
    solved = read_bundle_request(request).solve()
    outcome = outcome_of(solved)
    found = answer({**request, "include": EXPLAINED})
    json.dumps(found, allow_nan=False)
    if "bundles" in expected:
        assert isinstance(outcome, Bundle)
        ranked = [(outcome.to_dict()["picks"], outcome.score, expected["bundles"][0][2])]
        ranked += [(each.to_dict()["picks"], each.score, each.fallbacks) for each in outcome.alternates.first(20)]
        assert ranked == expected["bundles"][:21]
        assert outcome.proved
        assert found["decision"]["picks"] == ranked[0][0]
        return
    explanation = BundleExplanation(solved)
    clauses = [each.id for each in solved.constraints if each.id.startswith("policy/")]
    for key, sets in (("cores", explanation.cores), ("corrections", explanation.corrections)):
        named = [[_clause(each, clauses) for each in ids] for ids in expected[key]]
        assert [[each.id for each in ids] for ids in sets] == named[:64]
    assert explanation.proved
    for relaxation in found["explanation"]["relaxations"]:
        patched = jsonpatch.apply_patch(request, relaxation["patch"])
        assert Naive(as_doubles(patched)).answer()["bundles"][0][0] == relaxation["picks"]


def _clause(name: str, clauses: list[str]) -> str:
    """The id of a clause, which the naive router knows by its place."""
    kind, _, place = name.partition("/")
    return clauses[int(place)] if kind == "policy" else name


def check_functions(request: Json) -> None:
    """`route` and `route_bundle` answer as `answer` does."""
    around = {"policy": request.get("tenantPolicy"), "rules": request.get("rules", ()), "at": request["at"]}
    expected = answer(request)
    try:
        found: Decision | Bundle
        if "slots" in request:
            around["together"] = request["together"]
            found = wr.route_bundle(request["slots"], request["providers"], tokens=request.get("tokens"), **around)
        else:
            found = wr.route(request["capability"], request["providers"], tokens=request.get("tokens"), **around)
        outcome = {"decision": found.to_dict()}
    except (wr.CapabilityUnsatisfiableError, wr.BundleUnsatisfiableError) as error:
        outcome = {"error": error.to_dict()}
    assert outcome == {key: expected[key] for key in ("decision", "error") if key in expected}


def check_rendering(request: Json) -> None:
    """Text, pages and graphs show no number that JSON does not know."""
    texts = list(_bundle_texts(request) if "slots" in request else _route_texts(request))
    for text in texts:
        assert not {"inf", "-inf", "nan", "Infinity", "NaN"} & set(text.replace("$", " ").split()), text


def _route_texts(request: Json) -> Iterator[str]:
    parsed = read_request(request)
    solved = parsed.solve()
    outcome = routed(solved)
    explanation = parsed.explanation(solved)
    yield str(outcome)
    yield from _words(explanation_lines(explanation, everything=True))
    if isinstance(outcome, Decision):
        yield from _words(decision_lines(outcome))
    yield explanation_page(explanation).partition("<body")[2].partition("<script")[0]
    graph = explanation.to_graph()
    yield from (write(graph) for write in (to_dot, to_mermaid, to_graphml))


def _bundle_texts(request: Json) -> Iterator[str]:
    solved = read_bundle_request(request).solve()
    outcome = outcome_of(solved)
    explanation = BundleExplanation(solved)
    yield str(outcome)
    yield from _words(bundle_explanation_lines(explanation))
    yield bundle_page(explanation).partition("<body")[2].partition("<script")[0]


def _words(rows: Any) -> Iterator[str]:
    return ("".join(text for text, _ in row) for row in rows)


LAWS: dict[str, tuple[Check, Make, Sequence[range]]] = {
    "route": (check_route, Draw.request, SPANS),
    "bundle": (check_bundle, Draw.bundle, SPANS),
    "route, as functions": (check_functions, Draw.request, [range(200)]),
    "bundle, as functions": (check_functions, Draw.bundle, [range(200)]),
    "route, rendered": (check_rendering, Draw.request, [range(150)]),
    "bundle, rendered": (check_rendering, Draw.bundle, [range(150)]),
}


def hold(law: str, seeds: range) -> None:
    check, make, _ = LAWS[law]
    for seed in seeds:
        request = make(Draw(seed))
        try:
            check(request)
        except Exception as error:
            error.add_note(f"seed {seed}: {json.dumps(request)}")
            raise


@pytest.mark.parametrize(
    ("law", "seeds"),
    [pytest.param(law, seeds, id=f"{law}, {seeds}") for law, (_, _, spans) in LAWS.items() for seeds in spans],
)
def test_extreme_numbers_are_answered_exactly(law: str, seeds: range) -> None:
    hold(law, seeds)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [pytest.param(seeds, id=str(seeds)) for seeds in MANY])
@pytest.mark.parametrize("law", ["route", "bundle"])
def test_many_more_extreme_numbers_are_answered_exactly(law: str, seeds: range) -> None:
    hold(law, seeds)


def test_found_extremes_are_answered_as_they_should() -> None:
    prices, far = (case["request"] for case in lines("extreme_numbers.jsonl"))
    found = answer(prices)
    assert found["error"]["code"] == "capability-unsatisfiable"
    assert found["explanation"]["corrections"] == [["together/0"]]
    (way,) = found["explanation"]["relaxations"]
    assert way["patch"] == [{"op": "remove", "path": "/together/0"}]
    assert way["text"].endswith("no double is a bound that the picks meet")
    pick = {"provider": "y", "model": "m"}
    assert answer(far)["decision"]["picks"] == {"a": pick, "b": pick}
    for request in (prices, far):
        check_bundle({key: value for key, value in request.items() if key != "include"})


def test_token_counts_mean_their_decimals() -> None:
    model = {"name": "m", "contextWindow": 1, "features": []}
    model["cost"] = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 0}
    rule = {"name": "r", "because": "b", "require": {"callUsd": 1e20}}
    around: Json = {"providers": [{"id": "p", "region": "r", "models": [model]}], "rules": [rule]}
    tokens = {"prompt": 1e23, "completion": 0}  # whose double is no power of ten
    assert "decision" in answer({**around, "capability": {"needs": []}, "tokens": tokens})
    slots = {"a": {"capability": {"needs": []}, "tokens": tokens}}
    assert "decision" in answer({**around, "slots": slots})


# Numbers that no double holds.


def numeric_places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where numbers stand in a request."""
    if isinstance(value, dict | list):
        for step, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numeric_places(each, (*at, step))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield at


def replaced(request: Json, at: tuple[Any, ...], number: Any) -> Json:
    found = deepcopy(request)
    holder: Any = found
    for step in at[:-1]:
        holder = holder[step]
    holder[at[-1]] = number
    return found


@pytest.mark.parametrize("make", [Draw.request, Draw.bundle], ids=["route", "bundle"])
def test_numbers_past_all_doubles_are_issues_everywhere(make: Make) -> None:
    for seed in range(25):
        request = make(Draw(seed))
        for at in numeric_places(request):
            for number in (10**400, -(10**400), 10**5000, math.inf, -math.inf, math.nan):
                found = answer(replaced(request, at, number))
                json.dumps(found, allow_nan=False)
                path = "/" + "/".join(map(str, at))
                assert path in [issue["path"] for issue in found["error"]["issues"]], (path, number)


@pytest.mark.parametrize("literal", ["1e400", "-1e400", "1" + "0" * 400, "1" + "0" * 100_000, "-" + "9" * 5_000])
def test_json_numbers_past_all_doubles_are_issues(literal: str) -> None:
    request = Draw(3).bundle()
    for at in numeric_places(request):
        text = json.dumps(replaced(request, at, "HERE")).replace('"HERE"', literal)
        path = "/" + "/".join(map(str, at))
        assert path in [issue["path"] for issue in answer(read_json(text))["error"]["issues"]]


# The surfaces.


def test_batch_answers_extreme_numbers_as_the_library(tmp_path: Path) -> None:
    makes = (Draw.request, Draw.bundle)
    requests = [{**make(Draw(seed)), "id": seed, "include": EXPLAINED} for seed in range(300) for make in makes]
    path, answers = tmp_path / "requests.jsonl", tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, requests)), encoding="utf-8")
    assert main(["batch", str(path), "-o", str(answers)]) == 0
    found = [json.loads(line) for line in answers.read_text("utf-8").splitlines()]
    assert found == [answer(request) for request in requests]


def test_the_service_answers_extreme_numbers_as_the_library(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    for seed in range(40):
        draw = Draw(seed)
        request, bundle = draw.request(), draw.bundle()
        clauses = {"tenantId": "alpha", **draw.caps()}
        pack.write_text(f"whyroute: 1\ntenants:\n  - {json.dumps(clauses)}\n", encoding="utf-8")
        folder = tmp_path / str(seed)
        folder.mkdir()
        check_service(make_kit(folder, pack=pack), clauses, request, bundle)


def check_service(kit: Kit, clauses: Json, request: Json, bundle: Json) -> None:
    providers = request["providers"]
    for metadata in providers:
        registered = kit.post("/v1/providers", {"metadata": metadata, "adapter_id": "some-adapter"})
        assert registered.status == 201, registered.body
    around = {"providers": providers, "tenantPolicy": clauses}
    asked = {"capability": request["capability"]}
    expected = answer({**around, **asked, "include": EXPLAINED})
    agree(kit.post("/v1/route", {**asked, "include": EXPLAINED}).json(), expected)
    explained = kit.post("/v1/explain", asked).json()
    for key in ("cores", "corrections", "ranking"):
        assert explained.get(key) == expected["explanation"].get(key)
    slots = {name: {"capability": slot["capability"]} for name, slot in bundle["slots"].items()}
    body = {"slots": slots, "together": bundle["together"], "include": EXPLAINED}
    agree(kit.post("/v1/bundle", body).json(), answer({**around, **body}))


def agree(found: Json, expected: Json) -> None:
    """The service knows where clauses are written, and its errors have an envelope; all else is the same."""
    if "decision" in expected:
        assert found["decision"] == expected["decision"]
    else:
        assert found["error"]["code"] == expected["error"]["code"] == "capability-unsatisfiable"
        assert found["error"]["details"]["reasons"] == expected["error"]["reasons"]
