"""What `whyroute check` prints: text, JSON, SARIF 2.1.0, GitHub's annotations; and its exit statuses."""

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import jsonschema
import pytest

from checkcases import DATA, NOW, base_pack
from whyroute.cli import main
from whyroute.packs import Place
from whyroute.packs.check import KINDS, Finding, check_pack
from whyroute.render.checks import annotation_lines
from whyroute.render.sarif import relative_paths, sarif_log

SCHEMA: dict[str, Any] = json.loads((DATA.parent / "sarif" / "sarif-schema-2.1.0.json").read_text("utf-8"))
GOLDEN = DATA.parent / "golden" / "check.txt"
PACK = """\
whyroute: 1
policies:
  - name: house
    maxCostPerCallUsd: 3  # check: ignore idle-cap: a guard
    providers: {deny: [AZURE-EU], allow: [azure-eu, us-llm]}
    rules: [mid]
everyTenant: [house]
rules:
  - {name: mid, because: "größer, 大", forbid: {contextWindow: {gt: 200000, lt: 100000}}}
tenants:
  - {tenantId: shop, providers: {allow: [us-llm, azure-eu]}, models: {allow: [large, large-2], deny: [large]}}
"""


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "my rules"
    directory.mkdir()
    (directory / "base.yaml").write_text(base_pack(), "utf-8")
    (directory / "house,100%.yaml").write_text(PACK, "utf-8")
    monkeypatch.chdir(tmp_path)
    return directory


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["check", *(str(each) for each in arguments)])
    out, err = capsys.readouterr()
    return status, out, err


def test_text(capsys: pytest.CaptureFixture[str], pack: Path) -> None:
    status, out, err = run(capsys, "my rules", "--at", NOW)
    assert (status, err) == (1, "")
    assert out == GOLDEN.read_text("utf-8")


def test_nothing_found(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(base_pack(), "utf-8")
    assert run(capsys, tmp_path, "--at", NOW) == (0, "nothing found\n", "")


def test_json(capsys: pytest.CaptureFixture[str], pack: Path) -> None:
    status, out, _ = run(capsys, pack, "--at", NOW, "--format", "json")
    document = json.loads(out)
    assert status == 1
    assert (document["errors"], document["warnings"], document["silenced"]) == (2, 4, 1)
    assert document["findings"] == [finding.to_dict() for finding in check_pack(pack, now=NOW)]


def log_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    _, out, err = run(capsys, *arguments, "--format", "sarif")
    assert err == ""
    found: dict[str, Any] = json.loads(out)
    jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER).validate(found)
    return found


def test_sarif(capsys: pytest.CaptureFixture[str], pack: Path) -> None:
    log = log_of(capsys, pack, "--at", NOW)
    (only,) = log["runs"]
    rules = only["tool"]["driver"]["rules"]
    assert [(rule["id"], rule["name"]) for rule in rules] == [(kind.code, name) for name, kind in KINDS.items()]
    assert only["columnKind"] == "unicodeCodePoints"
    findings = check_pack(pack, now=NOW)
    assert len(only["results"]) == len(findings)
    for result, finding in zip(only["results"], findings, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding.code
        physical = result["locations"][0]["physicalLocation"]
        assert physical["artifactLocation"] == {"uri": "my%20rules/house%2C100%25.yaml"}
        region = physical["region"]
        assert (region["startLine"], region["startColumn"]) == (finding.place.line, finding.place.column)
        assert ("suppressions" in result) is finding.silenced
    assert [result["suppressions"][0]["justification"] for result in only["results"] if "suppressions" in result] == [
        "a guard"
    ]
    assert [len(result.get("relatedLocations", ())) for result in only["results"]] == [
        len(each.also) for each in findings
    ]


def test_sarif_works_for_any_pack(
    capsys: pytest.CaptureFixture[str], pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    result = log_of(capsys, pack, "--at", NOW)["runs"][0]["results"][0]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "house%2C100%25.yaml", "uriBaseId": "PACK"}
    (elsewhere / "empty").mkdir()
    (broken,) = log_of(capsys, "empty")["runs"][0]["results"]
    assert broken["ruleId"] == "WR101"
    assert "region" not in broken["locations"][0]["physicalLocation"]
    (elsewhere / "a.yaml").write_text(base_pack(), "utf-8")
    assert log_of(capsys, "a.yaml", "--at", NOW)["runs"][0]["results"] == []


def fingerprints(log: dict[str, Any]) -> list[str]:
    return [result["partialFingerprints"]["whyroute/v1"] for result in log["runs"][0]["results"]]


def test_fingerprints_stay_when_lines_are_added_and_differ(capsys: pytest.CaptureFixture[str], pack: Path) -> None:
    before = fingerprints(log_of(capsys, pack, "--at", NOW))
    assert len(set(before)) == len(before)
    file = pack / "house,100%.yaml"
    file.write_text("# a comment\n\n" + file.read_text("utf-8"), "utf-8")
    assert fingerprints(log_of(capsys, pack, "--at", NOW)) == before


def test_the_same_line_twice_has_two_fingerprints() -> None:
    findings = [Finding(KINDS["idle-rule"], Place("a.yaml", line, 1, "  same"), "x") for line in (1, 2)]
    one, other = fingerprints(sarif_log(findings, version="1", relative={}, pack="."))
    assert one != other
    assert one.rpartition(":")[0] == other.rpartition(":")[0]


def test_pages_have_addresses_where_the_documentation_has_one() -> None:
    log = sarif_log((), version="1.2.3", relative={}, pack="p", documentation="https://docs.example/")
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert rules[0]["helpUri"] == "https://docs.example/docs/checks/invalid-pack.md"
    jsonschema.Draft4Validator(SCHEMA).validate(log)


def test_relative_paths() -> None:
    files = ["a/b.yaml", "/here/rules/c.yaml", "/elsewhere/d.yaml", "../e.yaml"]
    assert relative_paths(files, "/here") == {"a/b.yaml": "a/b.yaml", "/here/rules/c.yaml": "rules/c.yaml"}


def test_github(capsys: pytest.CaptureFixture[str], pack: Path) -> None:
    status, out, _ = run(capsys, pack, "--at", NOW, "--format", "github")
    assert status == 1
    lines = out.splitlines()
    assert len(lines) == 6
    assert lines[0] == (
        "::error file=my rules/house%2C100%25.yaml,line=5,col=24,title=WR102 unmatched-negative::"
        "nothing has provider `AZURE-EU`, so this rejects no candidate; `azure-eu` differs only in case"
    )
    assert any("%0Aalso my rules/house,100%25.yaml:" in line for line in lines)


def test_file_name_brings_no_control_characters() -> None:
    place = Place("a\tb\x1b[31m\x9b\udcff大.yaml", 1, 2, "x")
    ((line, _),) = next(annotation_lines([Finding(KINDS["idle-cap"], place, "x", (place,))], {}))
    assert line == (
        "::warning file=ab[31m大.yaml,line=1,col=2,title=WR206 idle-cap::x%0Aalso a\\tb\\x1b[31m\\x9b\\udcff大.yaml:1:2"
    )


def test_workflow_commands_are_escaped() -> None:
    place = Place("a:b,c%\r\n.yaml", 1, 2, "x")
    finding = Finding(KINDS["idle-cap"], place, "50% ::warning::x\ny\rz", (Place("d"),))
    ((line, _),) = next(annotation_lines([finding], {}))
    assert line == (
        "::warning file=a%3Ab%2Cc%25%0D%0A.yaml,line=1,col=2,title=WR206 idle-cap::50%25 ::warning::x%0Ay%0Dz%0Aalso d"
    )


@pytest.mark.parametrize(("fail_on", "status"), [("error", 0), ("warning", 1)])
def test_warnings_fail_where_they_are_to(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, fail_on: str, status: int
) -> None:
    (tmp_path / "a.yaml").write_text("whyroute: 1\ntenants: [{tenantId: t}]\n", "utf-8")
    assert run(capsys, tmp_path, "--fail-on", fail_on)[0] == status


def test_silenced_findings_fail_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = "whyroute: 1\ntenants: [{tenantId: t}]  # check: ignore untested-tenant: tests come later\n"
    (tmp_path / "a.yaml").write_text(text, "utf-8")
    status, out, _ = run(capsys, tmp_path, "--fail-on", "warning")
    assert (status, out) == (0, "nothing found (1 silenced)\n")


def test_a_pack_that_can_not_be_loaded(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("whyroute: 1\ntenant: []\n", "utf-8")
    status, out, err = run(capsys, tmp_path)
    assert (status, err) == (1, "")
    assert "a.yaml:2:1: error WR101 invalid-pack: `tenant` is not a key here; did you mean `tenants`?" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "there is no such file or directory"),
        ((), "PACK is missing"),
        ((".", "--at", "yesterday"), "--at: `yesterday` is no time"),
    ],
)
def test_wrong_usage(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_output_to_a_file(capsys: pytest.CaptureFixture[str], pack: Path) -> None:
    status, out, _ = run(capsys, "my rules", "--at", NOW, "-o", "found.txt")
    assert (status, out) == (1, "")
    assert (pack.parent / "found.txt").read_text("utf-8") == GOLDEN.read_text("utf-8")


@pytest.mark.parametrize("format", ["text", "json", "sarif", "github"])
@pytest.mark.parametrize("broken", [False, True], ids=["loads", "broken"])
def test_names_of_files_may_be_any_bytes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, broken: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    names = (b"p\xff", b"a\xfe\xf0%.yaml")
    directory = Path(os.fsdecode(names[0]))
    directory.mkdir()
    text = base_pack() + PACK.partition("\n")[2]
    (directory / os.fsdecode(names[1])).write_text(text.replace("forbid", "forbit") if broken else text, "utf-8")
    for pack in (directory, directory / os.fsdecode(names[1]), tmp_path / directory):
        if format != "sarif":
            assert run(capsys, pack, "--at", NOW, "--format", format)[0] == 1
            continue
        _, out, _ = run(capsys, pack, "--at", NOW, "--format", format)
        for result in json.loads(out)["runs"][0]["results"]:
            address = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            assert unquote_to_bytes(address) == b"/".join(names)
            assert address.isascii()
