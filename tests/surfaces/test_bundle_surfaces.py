"""Bundles where people meet them: the library, packs, the command line, schemas; and what is refused."""

import json
import pickle
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import whyroute as wr
from house_style import broken_rules
from paths import ROOT
from whyroute.cli import main
from whyroute.packs import UnknownBundleError, load_pack
from whyroute.wire.schemas import schema_named

Json = dict[str, Any]


def model(name: str, usd: float, p95: float | None = None, features: tuple[str, ...] = ()) -> Json:
    latency = {} if p95 is None else {"p95LatencyMs": p95}
    cost = {"promptUsdPer1kTokens": usd, "completionUsdPer1kTokens": usd}
    return {"name": name, "contextWindow": 8000, "features": list(features), "cost": cost, **latency}


PROVIDERS: list[Json] = [
    {"id": "a", "region": "eu-west-1", "models": [model("big", 0.3, 900, ("vision",)), model("small", 0.1, 100)]},
    {"id": "b", "region": "eu-west-1", "models": [model("big", 0.2, None, ("vision",))]},
    {"id": "c", "region": "us-east-1", "models": [model("free", 0, 50)]},
]
SLOTS: Json = {
    "planner": {"needs": [{"feature": "vision"}]},
    "judge": {"needs": [], "prefer": [{"feature": "vision", "weight": 1}]},
}


def names(bundle: Any) -> dict[str, str]:
    return {slot: candidate.id for slot, candidate in bundle.picks.items()}


def test_the_library_routes_a_bundle() -> None:
    bundle = wr.route_bundle(SLOTS, PROVIDERS, together=[{"different": "provider"}])
    assert names(bundle) == {"planner": "a/big", "judge": "b/big"}
    assert (bundle.score, bundle.fallback, bundle.proved) == (1, False, True)
    assert [names(each) for each in bundle.alternates.first(2)] == [
        {"planner": "b/big", "judge": "a/big"},
        {"planner": "a/big", "judge": "c/free"},
    ]
    assert len(list(bundle.alternates)) == 4
    assert not broken_rules(bundle.reason)


def test_prices_add_up_as_decimals() -> None:
    together: list[Json] = [{"same": "provider"}, {"sum": "promptUsdPer1kTokens", "op": "<=", "value": 0.4}]
    bundle = wr.route_bundle({**SLOTS, "extra": {"needs": []}}, PROVIDERS[:1], together=[*together[:1]])
    assert names(bundle)["planner"] == "a/big"
    exactly = wr.route_bundle(SLOTS, PROVIDERS[:1], together=together)  # 0.3 + 0.1 is 0.4, and no more
    assert names(exactly) == {"planner": "a/big", "judge": "a/small"}


def test_an_unknown_latency_meets_no_sum() -> None:
    bundle = wr.route_bundle(SLOTS, PROVIDERS, together=[{"sum": "p95LatencyMs", "op": ">=", "value": 0}])
    assert "b/big" not in names(bundle).values()


def test_error_names_clashing_slots_and_remedies() -> None:
    together: list[Json] = [{"same": "region"}, {"sum": "promptUsdPer1kTokens", "op": "<=", "value": 0.25}]
    with pytest.raises(wr.BundleUnsatisfiableError) as raised:
        wr.route_bundle(SLOTS, PROVIDERS, together=together)
    error = raised.value
    assert not broken_rules(str(error))
    assert [[each.id for each in core] for core in error.explanation.cores] == [
        ["planner:needs/0", "together/0", "together/1"]
    ]
    assert "the least sum of promptUsdPer1kTokens is 0.3" in error.explanation.clash
    patched = [each.patch for each in error.explanation.relaxations]
    assert [{"op": "replace", "path": "/together/1/value", "value": 0.6}] in [list(each) for each in patched]
    again = pickle.loads(pickle.dumps(error))
    assert again.explanation.to_dict() == error.explanation.to_dict()


def test_search_that_reaches_its_limit_says_so() -> None:
    providers = [{"id": f"p{n}", "region": "r", "models": [model("m", n / 10, n)]} for n in range(9)]
    slots: Json = {f"s{n}": {"needs": []} for n in range(5)}
    together: list[Json] = [
        {"different": "provider"},
        {"sum": "promptUsdPer1kTokens", "op": "=", "value": 2.5},
        {"sum": "p95LatencyMs", "op": "=", "value": 25},
    ]
    with pytest.raises(wr.BundleLimitError, match="within 2 nodes"):
        wr.route_bundle(slots, providers, together=together, limit=wr.SearchLimit(nodes=2))
    assert wr.route_bundle(slots, providers, together=together).proved


@pytest.mark.parametrize(
    ("why_not", "expected"),
    [
        ({"judge": ("x", "y")}, {"known": False, "missing": ["judge"]}),
        ({"planner": ("a", "small")}, {"known": True, "admitted": False}),
        ({"planner": ("b", "big")}, {"admitted": True, "decidedBy": "slot", "slot": "planner"}),
        ({"judge": ("c", "free")}, {"admitted": True, "decidedBy": "score"}),
        ({"planner": ("a", "big"), "judge": ("a", "big")}, {"admitted": False}),
    ],
)
def test_why_not_these(why_not: dict[str, tuple[str, str]], expected: Json) -> None:
    explanation = wr.explain_bundle(SLOTS, PROVIDERS, together=[{"different": "provider"}], why_not=why_not)
    assert explanation.contrast is not None
    found = explanation.contrast.to_dict()
    assert {key: found.get(key) for key in expected} == expected


def test_why_not_one_that_nothing_fits_beside() -> None:
    together: list[Json] = [{"same": "region"}]
    explanation = wr.explain_bundle(SLOTS, PROVIDERS, together=together, why_not={"judge": ("c", "free")})
    assert explanation.contrast is not None
    assert [each.id for each in explanation.contrast.clash] == ["planner:needs/0", "together/0"]


BROKEN: list[tuple[str, Json, str]] = [
    ("no slots", {"slots": {}}, "/slots"),
    ("a nameless slot", {"slots": {"": {"needs": []}}}, "/slots/"),
    ("an unknown field", {"together": [{"same": "colour"}]}, "/together/0/same"),
    ("a number that is compared", {"together": [{"same": "p95LatencyMs"}]}, "/together/0/same"),
    ("no bound", {"together": [{"sum": "p95LatencyMs"}]}, "/together/0"),
    ("an infinite bound", {"together": [{"max": "p95LatencyMs", "op": "<", "value": 10**400}]}, "/together/0/value"),
    ("an unknown op", {"together": [{"max": "p95LatencyMs", "op": "!=", "value": 1}]}, "/together/0/op"),
    ("an unknown slot", {"together": [{"same": "region", "slots": ["planner", "x"]}]}, "/together/0/slots/1"),
    ("a slot twice", {"together": [{"same": "region", "slots": ["judge", "judge"]}]}, "/together/0/slots/1"),
    ("one slot alone", {"together": [{"same": "region", "slots": ["judge"]}]}, "/together/0/slots"),
    ("ties that are none", {"together": ["same"]}, "/together/0"),
    ("a broken declaration", {"slots": {"one": {"capability": {"needs": [{}]}}}}, "/slots/one/capability/needs/0"),
]


@pytest.mark.parametrize(("_", "change", "path"), BROKEN, ids=[name for name, _, _ in BROKEN])
def test_what_is_broken_is_told(_: str, change: Json, path: str) -> None:
    asked = {"slots": SLOTS, "together": [], **change}
    with pytest.raises(wr.InvalidInputError) as raised:
        wr.route_bundle(asked["slots"], PROVIDERS, together=asked["together"])
    assert {issue.path for issue in raised.value.issues} == {path}
    assert not any(broken_rules(issue.message) for issue in raised.value.issues)


def example() -> Json:
    document: Json = json.loads((ROOT / "rules" / "requests" / "bundle.json").read_text("utf-8"))
    return {**document, "providers": PROVIDERS}


def test_the_schema_takes_requests_and_refuses_slips() -> None:
    schema = schema_named("bundle")
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(example())
    assert not validator.is_valid({**example(), "together": [{"same": "colour"}]})
    assert not validator.is_valid({**example(), "together": [{"sum": "p95LatencyMs", "op": "<="}]})
    assert not validator.is_valid({**example(), "slots": {}})


SHADOWS: dict[str, list[Json]] = {
    "others": [{"provider": ["b", "c"]}],
    "none": [{"provider": "a"}],
    "the same": [{"model": "big"}],
    "two of them": [{"provider": ["a", "c"]}, {"p95LatencyMs": {"gte": 60}}],
}


@pytest.mark.parametrize("conditions", SHADOWS.values(), ids=SHADOWS)
def test_shadow_rules_say_what_they_would_give(conditions: list[Json]) -> None:
    rules = [{"name": f"r{n}", "because": "x", "mode": "shadow", "require": each} for n, each in enumerate(conditions)]
    request: Json = {
        "slots": {name: {"capability": each} for name, each in SLOTS.items()},
        "together": [{"different": "provider"}],
        "providers": PROVIDERS,
    }
    found = wr.answer({**request, "rules": rules})
    enforced = wr.answer({**request, "rules": [{**rule, "mode": "enforce"} for rule in rules]})
    assert found["decision"]["picks"] == wr.answer(request)["decision"]["picks"]
    if "decision" in enforced:
        assert found["shadow"]["picks"] == enforced["decision"]["picks"]
    else:
        assert found["shadow"]["unsatisfiable"] is True
        assert "picks" not in found["shadow"]
    assert "rules/r0" in found["shadow"]["by"]


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ({"model": "big"}, "if rule `r` were enforced, fewer would qualify or their order change"),
        ({"provider": "a"}, "if rule `r` were enforced, there would be no bundle"),
        ({"provider": ["a", "c"]}, "if rule `r` were enforced, the pick would be judge c / free"),
        ({"provider": ["b", "c"]}, "if rule `r` were enforced, the picks would be planner b / big and judge c / free"),
    ],
)
def test_the_text_says_what_shadow_mode_holds_back(
    condition: Json, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request = {
        "slots": {name: {"capability": each} for name, each in SLOTS.items()},
        "together": [{"different": "provider"}],
        "providers": PROVIDERS,
        "rules": [{"name": "r", "because": "x", "mode": "shadow", "require": condition}],
    }
    file = tmp_path / "request.json"
    file.write_text(json.dumps(request), "utf-8")
    assert main(["bundle", "--request", str(file)]) == 0
    assert f"  shadow      {told}" in capsys.readouterr().out


PACK = """whyroute: 1
labels: {data: {values: [public, patient], default: patient}}
providers:
  - id: eu-llm
    region: eu-west-1
    models: [{name: m, contextWindow: 8000, features: [], cost: {promptUsdPer1kTokens: 1, completionUsdPer1kTokens: 1}}]
  - id: a-us-llm
    region: us-east-1
    models: [{name: m, contextWindow: 8000, features: [], cost: {promptUsdPer1kTokens: 1, completionUsdPer1kTokens: 1}}]
capabilities:
  - {name: read, needs: [], labels: {data: public}}
  - {name: treat, needs: []}
rules:
  - {name: residency, because: Law., when: {labels.data: patient}, require: {region: eu-west-1}}
tenants: [{tenantId: clinic, rules: [residency]}]
bundles:
  - name: both
    slots: {reader: {capability: read}, doctor: {capability: treat}}
    together: [{different: provider}]
tests:
  - {name: apart, tenant: clinic, bundle: both, expect: {picks: {doctor: {provider: eu-llm, model: m}}}}
"""


def test_a_pack_answers_its_bundles(tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_text(PACK, "utf-8")
    pack = load_pack(tmp_path)
    resolved = pack.resolve_bundle("clinic", "both")
    answer = resolved.answer(include=["request"])
    assert {slot: pick["provider"] for slot, pick in answer["decision"]["picks"].items()} == {
        "reader": "a-us-llm",
        "doctor": "eu-llm",
    }
    again = wr.answer(answer["request"])
    assert again["decision"] == answer["decision"]
    assert jsonschema.Draft202012Validator(schema_named("bundle")).is_valid(answer["request"])
    expected = pack.tests["apart"].value.expect.picks
    assert expected is not None
    assert expected["doctor"].provider == "eu-llm"
    with pytest.raises(UnknownBundleError, match="did you mean `both`"):
        pack.resolve_bundle("clinic", "boths")
    inline = {
        "slots": {"doctor": {"capability": "treat"}, "other": {"capability": "treat"}},
        "together": [{"different": "provider"}],
    }
    failed = pack.resolve_bundle("clinic", inline).answer(include=["explanation"])
    assert failed["explanation"]["cores"] == [["together/0", "rules/residency"]]
    (rule,) = [each for each in failed["explanation"]["constraints"] if each["id"] == "rules/residency"]
    assert rule["origins"][0]["file"].endswith("pack.yaml")


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text(PACK, "utf-8")
    bundle = tmp_path / "bundle.yaml"
    bundle.write_text("tenant: clinic\nslots: {x: {capability: treat}, y: {capability: read}}\n", "utf-8")
    assert main(["bundle", str(pack), str(bundle)]) == 0
    assert "x  eu-llm / m" in capsys.readouterr().out
    assert main(["bundle", str(pack), "--tenant", "clinic", "--name", "both", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["decision"]["proved"] is True
    bundle.write_text(
        "slots: {x: {capability: treat}, y: {capability: treat}}\ntogether: [{different: provider}]\n", "utf-8"
    )
    assert main(["bundle", str(pack), str(bundle), "--tenant", "clinic"]) == 1
    told = capsys.readouterr().out
    assert "No bundle qualifies: " in told
    assert "Not yours to change: rule `residency`" in told
    assert main(["bundle", str(pack), str(bundle)]) == 2
    assert "--tenant is missing" in capsys.readouterr().err
    assert main(["bundle", str(pack), "--tenant", "clinic"]) == 2
    assert main(["bundle", str(pack), "--tenant", "clinic", "--name", "bth"]) == 2
    assert "did you mean `both`" in capsys.readouterr().err


def test_batch_answers_bundles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = tmp_path / "requests.jsonl"
    lines.write_text(json.dumps({**example(), "id": 7}) + "\n", "utf-8")
    assert main(["batch", str(lines)]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["id"] == 7
    assert answer["error"]["code"] == "capability-unsatisfiable"
