"""What explanations of packs say beside the constraints: the contact, what is only tried out, and what `show` lists."""

import io
import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from paths import ROOT
from whyroute import answer
from whyroute.cli import main
from whyroute.packs import Pack, load_pack

RULES = ROOT / "rules"
AT = "2027-06-01"


@pytest.fixture(scope="module")
def pack() -> Pack:
    return load_pack(RULES)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main([str(each) for each in arguments]) == 0
    return capsys.readouterr().out


def explained(capsys: pytest.CaptureFixture[str], tenant: str, capability: str, *more: str) -> str:
    return run(capsys, "explain", RULES, "-t", tenant, "-c", capability, "--at", AT, *more)


def test_clauses_say_whom_to_ask(capsys: pytest.CaptureFixture[str], pack: Pack) -> None:
    found = json.loads(explained(capsys, "state-records", "search-index", "--format", "json"))
    contacts = {each["id"]: each.get("contact") for each in found["constraints"]}
    assert contacts["policy/providers/deny"] == "platform@example.com"
    assert contacts["policy/providers/allow"] == contacts["policy/regionAllow"] == "procurement@example.com"
    assert contacts["policy/maxTokensPerCall"] is None  # the tenant's own
    assert contacts["needs/0"] is None
    request = pack.resolve("state-records", "search-index", at=AT).request
    again = answer({**request, "include": ["explanation"]})["explanation"]
    assert again["constraints"] == found["constraints"]
    assert again["relaxations"] == found["relaxations"]


@pytest.mark.parametrize("format", ["text", "html"])
def test_ways_out_and_contrasts_say_whom_to_ask(capsys: pytest.CaptureFixture[str], format: str) -> None:
    page = explained(capsys, "state-records", "search-index", "--format", format)
    assert "ask procurement@example.com" in page
    page = explained(capsys, "state-records", "read-scan", "--why-not", "deepseek/deepseek-v4-pro", "--format", format)
    assert "ask platform@example.com" in page


def test_broken_contacts_are_refused() -> None:
    base: dict[str, Any] = {"capability": {"needs": []}, "providers": []}
    for contacts, path in (([], "/contacts"), ({"policy/providers/deny": 1}, "/contacts/policy~1providers~1deny")):
        error = answer({**base, "contacts": contacts})["error"]
        assert error["code"] == "invalid-request"
        assert [issue["path"] for issue in error["issues"]] == [path]
    assert "issues" not in answer({**base, "contacts": {}})["error"]


def test_rules_in_shadow_mode_are_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    told = "if rule `call-price-ceiling` were enforced, nothing would qualify"
    arguments = ("-t", "elbe-clinics", "-c", "whole-archive", "--at", AT)
    assert f"  shadow      {told}\n" in run(capsys, "route", RULES, *arguments)
    assert f"  In shadow mode: {told}\n" in run(capsys, "explain", RULES, *arguments)
    assert "rule, shadow" in run(capsys, "explain", RULES, *arguments, "--all")
    page = run(capsys, "explain", RULES, *arguments, "--format", "html")
    assert "In shadow mode: if rule <code>call-price-ceiling</code> were enforced, nothing would qualify." in page
    assert '<span class="tag">shadow: ' in page
    assert "shadow" not in run(capsys, "route", RULES, "-t", "thames-bank", "-c", "summarise", "--at", AT)


def test_graphs_mark_rules_in_shadow_mode(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("elbe-clinics", "whole-archive", "--format")
    dot = explained(capsys, *arguments, "dot")
    (node,) = [line for line in dot.splitlines() if "rules/call-price-ceiling" in line and "label" in line]
    assert "shadow: would admit 16, reject 173" in node
    assert "dashed" in node
    assert '"shadow:0" ->' not in dot
    assert '-> "shadow:0"' not in dot
    mermaid = explained(capsys, *arguments, "mermaid")
    assert ":::shadow" in mermaid
    assert "classDef shadow" in mermaid
    graphml = explained(capsys, *arguments, "graphml")
    tree = ET.parse(io.StringIO(graphml))
    space = "{http://graphml.graphdrawing.org/xmlns}"
    (key,) = [each.get("id") for each in tree.iter(f"{space}key") if each.get("attr.name") == "shadow"]
    marked = [each.get("id") for each in tree.iter(f"{space}node") if _data(each, str(key)) == "True"]
    assert marked == ["shadow:0"]
    plain = explained(capsys, "thames-bank", "summarise", "--format", "mermaid", "--why-not", "openai/gpt-4o")
    assert ":::shadow" in plain  # it is in force for everyone


def _data(node: ET.Element, key: str) -> str | None:
    return next((each.text for each in node if each.get("key") == key), None)


def test_show_says_what_is_in_force(capsys: pytest.CaptureFixture[str]) -> None:
    def freeze(at: str) -> str:
        lines = run(capsys, "show", RULES, "-t", "thames-bank", "--at", at).splitlines()
        return next(line for line in lines if line.startswith("  year-end-freeze"))

    dates = "  year-end-freeze  forbid {is: bank-approved-this-quarter}  from 2027-12-17  until 2028-01-07"
    assert freeze("2027-12-16") == f"{dates}  not in force yet"
    assert freeze("2027-12-17") == dates
    assert freeze("2028-01-07T23:59:59Z") == dates
    assert freeze("2028-01-08") == f"{dates}  ended"
    for at, holds in (("2028-06-30", True), ("2028-07-01", False)):
        text = run(capsys, "show", RULES, "-t", "elbe-clinics", "--at", at)
        assert ("ended: it does nothing" in text) is not holds
        found = json.loads(run(capsys, "show", RULES, "-t", "elbe-clinics", "--at", at, "--format", "json"))
        assert found["at"] == at
        assert [waiver["inForce"] for waiver in found["waivers"]] == [holds]
        assert all(rule["inForce"] for rule in found["rules"])


def test_show_shows_conditions(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "show", RULES, "-t", "pocket-chef", "--at", AT)
    assert "  cheapest  prefer {lowest: callUsd}\n" in text
    assert "  quality-floor  require {maxOutputTokens: {gte: 8192}}\n      when {kind: llm-inference}\n" in text
    assert '  no-previews  forbid {model: {like: "*-preview*"}}  waivable\n' in text


def test_show_refuses_what_is_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(RULES), "-t", "pocket-chef", "--at", "noon"]) == 2
    assert "--at: `noon` is no time" in capsys.readouterr().err
    sys.stdout.flush()


@pytest.mark.parametrize(("count", "named"), [(1, 1), (3, 3), (4, 3), (6, 3)])
def test_three_shadow_rules_are_named_and_others_counted(
    count: int, named: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model: dict[str, Any] = {"name": "m", "contextWindow": 1, "features": []}
    model["cost"] = {"promptUsdPer1kTokens": 0, "completionUsdPer1kTokens": 0}
    rule = {"because": "Soon.", "forbid": {"provider": "p"}, "mode": "shadow"}
    request = {
        "capability": {"needs": []},
        "providers": [{"id": "p", "region": "r", "models": [model]}],
        "rules": [{"name": f"rule-{at}", **rule} for at in range(count)],
    }
    file = tmp_path / "request.json"
    file.write_text(json.dumps(request), encoding="utf-8")
    text = run(capsys, "route", "--request", file)
    assert [f"`rule-{at}`" in text for at in range(count)] == [at < named for at in range(count)]
    assert (f"{count - named} more" in text) == (count > named)


def test_facts_that_a_rule_lacks_are_ways_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model: dict[str, Any] = {"name": "m", "contextWindow": 1, "features": []}
    model["cost"] = {"promptUsdPer1kTokens": 0, "completionUsdPer1kTokens": 0}
    providers = [
        {"id": "neither", "region": "r", "models": [model]},
        {"id": "slow", "region": "r", "labels": {"zone": "x"}, "models": [{**model, "p95LatencyMs": 900}]},
        {"id": "labelled", "region": "r", "labels": {"zone": "x"}, "models": [model]},
    ]
    quick = {"all": [{"p95LatencyMs": {"lte": 500}}, {"labels.zone": "x"}]}
    rules = [{"name": "quick", "because": "Since.", "require": quick}]
    request = {"capability": {"needs": []}, "providers": providers, "rules": rules}
    file = tmp_path / "request.json"
    file.write_text(json.dumps(request), encoding="utf-8")
    text = run(capsys, "explain", "--request", file)
    (latency,) = [line for line in text.splitlines() if "p95 latency" in line]
    assert "labelled / m and 1 more" in latency
    (zone,) = [line for line in text.splitlines() if "`labels.zone`" in line]
    assert "neither / m" in zone
    assert "labelled / m" not in zone
    assert "slow / m" not in latency + zone


@pytest.mark.parametrize(
    ("op", "values", "nearest"),
    [
        ("=", (150, 450), "nearest context window is 150"),
        ("=", (250, 390), "nearest context window is 250"),
        (">=", (120, 150), "largest context window is 150"),
        (">", (120, 200), "largest context window is 200"),
        ("<=", (450, 250), "smallest context window is 250"),
    ],
)
def test_bounds_tell_the_nearest_and_replace_what_differs(
    op: str, values: tuple[int, int], nearest: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cost = {"promptUsdPer1kTokens": 0, "completionUsdPer1kTokens": 0}
    models = [{"name": f"m{value}", "contextWindow": value, "features": [], "cost": cost} for value in values]
    asked = {"op": op, "value": 200}
    request: dict[str, Any] = {
        "capability": {"needs": [{"contextWindow": asked}]},
        "providers": [{"id": "p", "region": "r", "attributes": [], "models": models}],
    }
    file = tmp_path / "request.json"
    file.write_text(json.dumps(request), encoding="utf-8")
    assert nearest in run(capsys, "explain", "--request", file)
    relaxations = answer({**request, "include": ["explanation"]})["explanation"]["relaxations"]
    for operation in (operation for relaxation in relaxations for operation in relaxation["patch"]):
        assert operation["op"] == "replace"
        assert operation["value"] != asked[operation["path"].rpartition("/")[2]]
