"""Packs on the command line, and the law that a resolved request answers as the pack does."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from packcases import DATA, PackCase, cases
from whyroute import answer
from whyroute.cli import main
from whyroute.packs import Pack, load_pack

PACK = (DATA / "example" / "pack.yaml").read_text("utf-8")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("pack")
    (directory / "pack.yaml").write_text(PACK, "utf-8")
    return directory


@pytest.fixture(scope="module")
def pack(path: Path) -> Pack:
    return load_pack(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_route(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    status, out, err = run(capsys, "route", path, "--tenant", "clinic", "--capability", "look", "--format", "json")
    assert (status, err) == (0, "")
    assert json.loads(out)["decision"]["pick"] == {"provider": "azure", "model": "large"}


def test_nothing_qualifies(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    status, out, _ = run(capsys, "route", path, "-t", "clinic", "-c", "huge")
    assert status == 1
    assert "residency" in out


def test_labels_and_time(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    arguments = ("route", path, "-t", "clinic", "-c", "huge", "--format", "json", "--at", "2026-12-24")
    status, out, _ = run(capsys, *arguments, "--label", "data=public")
    assert status == 0
    assert json.loads(out)["at"] == "2026-12-24"
    assert json.loads(out)["decision"]["pick"]["provider"] == "us-llm"


def test_a_waiver_holds_until_its_end(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    arguments = ("route", path, "-t", "shop", "-c", "huge", "--at")
    assert run(capsys, *arguments, "2027-01-01")[0] == 0
    assert run(capsys, *arguments, "2027-01-02")[0] == 1


def test_hints(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    arguments = ("route", path, "-t", "clinic", "-c", "read", "--format", "json")
    _, out, _ = run(capsys, *arguments, "--prefer-provider", "azure", "--prefer-model", "small")
    assert json.loads(out)["decision"]["pick"] == {"provider": "azure", "model": "small"}


def test_a_declaration_in_a_file(capsys: pytest.CaptureFixture[str], path: Path, tmp_path: Path) -> None:
    for name, text in (("c.json", '{"needs": [{"feature": "vision"}]}'), ("c.yaml", "needs: [{feature: vision}]\n")):
        (tmp_path / name).write_text(text, "utf-8")
        assert run(capsys, "route", path, "-t", "bank", "-c", f"@{tmp_path / name}")[0] == 0


def test_explanations_say_where_constraints_are_written(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    _, out, _ = run(capsys, "explain", path, "-t", "clinic", "-c", "huge", "--format", "json")
    constraints = {each["id"]: each for each in json.loads(out)["constraints"]}
    file = (path / "pack.yaml").as_posix()
    lines = PACK.split("\n")
    for name, text in (("policy/regionAllow", "regionAllow"), ("policy/maxCostPerCallUsd", "maxCostPerCallUsd")):
        (origin,) = constraints[name]["origins"]
        assert origin["file"] == file
        assert lines[origin["line"] - 1][origin["column"] - 1 :].startswith(text)
    (origin,) = constraints["rules/residency"]["origins"]
    assert lines[origin["line"] - 1][origin["column"] - 1 :] == "name: residency"
    assert "origins" not in constraints["needs/0"]


@pytest.mark.parametrize("format", ["text", "json"])
def test_what_is_kept_for_others_is_nowhere(capsys: pytest.CaptureFixture[str], path: Path, format: str) -> None:
    for command in ("route", "explain"):
        for capability in ("look", "read", "huge"):
            _, out, err = run(capsys, command, path, "-t", "clinic", "-c", capability, "--format", format, "--all")
            assert "hidden" not in out + err
            assert "secret" not in out + err
    _, out, err = run(capsys, "explain", path, "-t", "clinic", "-c", "look", "--why-not", "hidde/secre")
    assert "hidden" not in out + err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "PACK or --request is missing"),
        (["PACK"], "--tenant and --capability are missing"),
        (["PACK", "-t", "clinic"], "--capability is missing"),
        (["PACK", "-t", "clinik", "-c", "look"], "did you mean `clinic`?"),
        (["PACK", "-t", "clinic", "-c", "lok"], "did you mean `look`?"),
        (["PACK", "-t", "clinic", "-c", "@nowhere.json"], "there is no such file"),
        (["PACK", "-t", "clinic", "-c", "look", "--label", "data"], "write KEY=VALUE"),
        (["PACK", "-t", "clinic", "-c", "look", "--label", "data=a", "--label", "data=b"], "given twice"),
        (["PACK", "-t", "clinic", "-c", "look", "--label", "data=Patient"], "did you mean `patient`?"),
        (["PACK", "-t", "clinic", "-c", "look", "--label", "env=prod"], "set by the operator"),
        (["PACK", "-t", "clinic", "-c", "read", "--label", "data=patient"], "always has `public`"),
        (["PACK", "-t", "clinic", "-c", "look", "--at", "noon"], "is no time"),
        (["PACK", "-t", "clinic", "-c", "look", "--providers", "x.yaml"], "--providers goes with --request"),
        (["PACK", "-t", "clinic", "--request", "-"], "PACK, --tenant beside --request"),
        (["nowhere", "-t", "clinic", "-c", "look"], "there is no such file or directory"),
    ],
)
def test_wrong_usage(capsys: pytest.CaptureFixture[str], path: Path, arguments: list[str], message: str) -> None:
    for command in ("route", "explain"):
        status, out, err = run(capsys, command, *(str(path) if each == "PACK" else each for each in arguments))
        assert (status, out) == (2, "")
        assert message in err


def test_a_pack_that_does_not_load(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = "whyroute: 1\ntenants:\n  - {tenantId: a, regionAlow: [x]}\n  - {tenantId: a}\n"
    (tmp_path / "a.yaml").write_text(text, "utf-8")
    file = (tmp_path / "a.yaml").as_posix()
    for command in (["route", "-c", "x"], ["explain", "-c", "x"], ["show"]):
        status, out, err = run(capsys, command[0], tmp_path, "-t", "a", *command[1:])
        assert (status, out) == (2, "")
        assert err.splitlines() == [
            "error: the pack has 2 problems",
            f"{file}:3:19: `regionAlow` is not a key here; did you mean `regionAllow`?",
            "  3 |   - {tenantId: a, regionAlow: [x]}",
            "    |                   ^",
            f"{file}:4:16: tenant `a` is defined twice; first at {file}:3:16",
            "  4 |   - {tenantId: a}",
            "    |                ^",
            f"  {file}:3:16: here",
            "  3 |   - {tenantId: a, regionAlow: [x]}",
            "    |                ^",
        ]


def test_the_caret_under_wide_characters(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("whyroute: 1\nregions: {東京: [a], 大阪: 3}\n", "utf-8")
    _, _, err = run(capsys, "show", tmp_path, "-t", "a")
    assert err.splitlines()[2:] == ["  2 | regions: {東京: [a], 大阪: 3}", "    | " + " " * 27 + "^"]


def test_show(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    status, out, err = run(capsys, "show", path, "--tenant", "shop", "--at", "2026-12-24")
    assert (status, err) == (0, "")
    file = (path / "pack.yaml").as_posix()
    assert out.replace(file, "pack.yaml").splitlines() == [
        "tenant shop  at 2026-12-24",
        "  combined from  base, its own",
        "clauses",
        "  maxCostPerCallUsd  0.02",
        "      at most this many USD for 1,000 prompt tokens, in spite of its name; the price of a call is callUsd",
        "      pack.yaml:27:64  ask cloud@example.com",
        "  maxTokensPerCall  10000",
        "      a floor, not a cap: the model's context window holds at least this many tokens",
        "      pack.yaml:32:22",
        "rules",
        "  residency  require {is: in-eu}  waivable",
        "      when {labels: {data: patient}}",
        "      Personal data stays in the EU.",
        "      pack.yaml:36:5, pack.yaml:27:52  ask privacy@example.com",
        "waivers",
        "  pilot  of residency for {provider: us-llm}  until 2027-01-01",
        "      Pilot.",
        "      pack.yaml:45:5",
    ]


def test_show_as_json(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    status, out, _ = run(capsys, "show", path, "--tenant", "shop", "--format", "json")
    found = json.loads(out)
    assert status == 0
    assert [part["name"] for part in found["parts"]] == ["base", "shop"]
    assert [clause["constraint"] for clause in found["clauses"]] == [
        "policy/maxCostPerCallUsd",
        "policy/maxTokensPerCall",
    ]
    assert found["rules"][0]["name"] == "residency"
    assert found["waivers"][0]["until"] == "2027-01-01"


def test_show_nobody(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    status, out, err = run(capsys, "show", path, "--tenant", "clinick")
    assert (status, out) == (2, "")
    assert "did you mean `clinic`?" in err


INCLUDED = ("matched", "explanation", "request")


def without_a_pack(own: dict[str, Any]) -> dict[str, Any]:
    """A pack's answer as the wire request gets it that says everything itself."""
    asked = {key: value for key, value in own["asked"].items() if key != "pack"}
    asked["labels"] = {key: {**each, "from": "request"} for key, each in asked["labels"].items()}
    asked["declaration"] = own["request"]["capability"]
    return {**own, "asked": asked, "explanation": {**own["explanation"], "asked": asked}}


@pytest.mark.parametrize("tenant", ["clinic", "bank", "shop"])
@pytest.mark.parametrize("capability", ["look", "read", "huge", {"needs": [{"region": "eu"}]}])
def test_a_resolved_request_answers_as_the_pack_does(pack: Pack, tenant: str, capability: Any) -> None:
    for labels in ({}, {"data": "public"}):
        resolved = pack.resolve(tenant, capability, labels=labels, at="2026-12-24", why_not=("us-llm", "huge-preview"))
        own = resolved.answer(include=INCLUDED)
        asked = own["asked"]
        assert asked["pack"] == pack.digest
        assert answer({**resolved.request, "include": list(INCLUDED)}) == without_a_pack(own)
        assert answer({**own["request"], "include": list(INCLUDED)}) == without_a_pack(own)


RESOLVING = [
    (case, json.loads(head.removeprefix("resolve ")))
    for case in cases()
    for head, expected in case.expected.items()
    if head.startswith("resolve") and expected.startswith("{")
]


@settings(max_examples=len(RESOLVING))
@given(st.sampled_from(RESOLVING))
def test_so_do_the_requests_of_all_cases(
    tmp_path_factory: pytest.TempPathFactory, drawn: tuple[PackCase, dict[str, Any]]
) -> None:
    case, arguments = drawn
    directory = tmp_path_factory.mktemp("case")
    case.write(directory)
    resolved = load_pack(directory).resolve(**{"capability": "any", "at": "2026-12-24", **arguments})
    own = resolved.answer(include=INCLUDED)
    assert answer({**resolved.request, "include": list(INCLUDED)}) == without_a_pack(own)
