"""Every way out, of one capability and of bundles, leads where it says, and a correction without one says why."""

import copy
import json
from pathlib import Path
from typing import Any

import jsonpatch
import pytest

import whyroute as wr
from cases import lines
from stuck_requests import Maker
from whyroute.cli import main
from whyroute.render.bundles import bundle_explanation_lines
from whyroute.render.page import bundle_page

Json = dict[str, Any]


def faults_of(request: Json) -> list[tuple[str, Any]]:
    """What is wrong with the ways out of a request: patches that give something else, corrections without a word."""
    answered = wr.answer(copy.deepcopy(request))
    if "decision" in answered:
        return []
    explanation = answered["explanation"]
    found: list[tuple[str, Any]] = []
    for relaxation in explanation["relaxations"]:
        patched = jsonpatch.apply_patch(copy.deepcopy(request), relaxation["patch"])
        decision = wr.answer(patched).get("decision", {})
        if any(decision.get(key) != relaxation.get(key) for key in ("pick", "picks")):
            found.append(("patch", relaxation))
    ways = [*explanation["relaxations"], *explanation.get("deadEnds", [])]
    told = [each["correction"] for each in ways]
    found += [("silent", each) for each in explanation["corrections"][:16] if each not in told]
    return found


def held(make: str, seeds: range) -> dict[str, int]:
    """How many ways out of random requests that nothing serves were looked at; none of them has a fault."""
    seen = {"patches": 0, "deadEnds": 0}
    for seed in seeds:
        request = getattr(Maker(seed), make)()
        assert faults_of(request) == [], f"seed {seed}"
        explanation = wr.answer(request)["explanation"]
        seen["patches"] += len(explanation["relaxations"] if not explanation["satisfiable"] else ())
        seen["deadEnds"] += len(explanation.get("deadEnds", ()))
    return seen


@pytest.mark.parametrize("make", ["route", "bundle"])
def test_ways_out_lead_where_they_say(make: str) -> None:
    seen = held(make, range(1_500))
    assert seen["patches"] > 1_000
    assert seen["deadEnds"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("make", ["route", "bundle"])
def test_ways_out_hold_in_a_long_run(make: str) -> None:
    held(make, range(1_500, 16_500))


def test_two_regions_are_allowed_in_one_way_out() -> None:
    request = next(each["request"] for each in lines("found.jsonl") if each["id"] == "found-01")
    explanation = wr.answer(request)["explanation"]
    (way,) = explanation["relaxations"]
    assert way["patch"] == [
        {"op": "add", "path": "/tenantPolicy/regionAllow/-", "value": region} for region in ("us", "ap")
    ]
    assert {slot: pick["provider"] for slot, pick in way["picks"].items()} == {"a": "p-us", "b": "p-ap"}
    assert way["text"] == "allow regions `us` and `ap` for tenant `t`"


def provider(name: str, kind: str, window: int = 10) -> Json:
    price = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}
    model = {"name": "m", "contextWindow": window, "features": [], "cost": price}
    return {"id": name, "region": "eu", "capabilityKind": kind, "models": [model]}


RULED: Json = {
    "capability": {"needs": []},
    "providers": [provider("e", "embedding")],
    "rules": [
        {
            "name": "no-embeddings",
            "because": "They are not reviewed.",
            "when": {"kind": "embedding"},
            "forbid": {"kind": "embedding"},
        }
    ],
    "at": "2026-12-24",
    "include": ["explanation"],
}
NAMELESS: Json = {**RULED, "providers": [provider("e", "")], "rules": []}


@pytest.mark.parametrize(
    ("request_", "why", "text"),
    [
        (
            RULED,
            {"why": "rules", "by": ["rules/no-embeddings"]},
            "`rules/no-embeddings` applies to the edited request, and nothing qualifies",
        ),
        (
            NAMELESS,
            {"why": "kind"},
            "only candidates of a kind without a name would qualify, and a request can't ask for that kind",
        ),
    ],
    ids=["rules", "kind"],
)
@pytest.mark.parametrize("bundled", [False, True])
def test_correction_without_a_way_out_says_why(request_: Json, why: Json, text: str, bundled: bool) -> None:
    request = copy.deepcopy(request_)
    correction = ["kind"]
    if bundled:
        request["slots"] = {"one": {"capability": request.pop("capability")}}
        correction = ["one:kind"]
    explanation = wr.answer(request)["explanation"]
    assert explanation["relaxations"] == []
    assert explanation["deadEnds"] == [{"correction": correction, **why, "text": text}]


def test_dead_ends_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = {key: value for key, value in RULED.items() if key != "include"}
    file = tmp_path / "request.json"
    file.write_text(json.dumps(request), "utf-8")
    assert main(["explain", "--request", str(file)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "No way out by changing `kind`: `rules/no-embeddings` applies to the edited request" in told
    assert main(["explain", "--request", str(file), "--format", "html"]) == 0
    page = capsys.readouterr().out
    assert "By changing <code>kind</code>: <code>rules/no-embeddings</code> applies" in page


def test_dead_ends_of_bundles_are_shown() -> None:
    explanation = wr.explain_bundle(
        {"one": RULED["capability"]}, RULED["providers"], rules=RULED["rules"], at=RULED["at"]
    )
    told = "\n".join("".join(text for text, _ in line) for line in bundle_explanation_lines(explanation))
    assert "No way out by changing `one:kind`: `rules/no-embeddings` applies to the edited request" in told
    page = bundle_page(explanation)
    assert "By changing <code>one:kind</code>: <code>rules/no-embeddings</code> applies" in page


@pytest.mark.parametrize(("kind", "region", "served"), [("same", "unspecified", False), ("same", "eu", True)])
def test_tie_of_one_slot_refuses_what_is_unknown(kind: str, region: str, served: bool) -> None:
    request = {
        "slots": {"one": {"capability": {"needs": []}}},
        "providers": [{**provider("p", "llm-inference"), "region": region}],
        "together": [{kind: "region"}],
    }
    assert ("decision" in wr.answer(request)) is served
