"""Slips on the command line, and what is said of each."""

import json
import subprocess
from pathlib import Path

import pytest

from whyroute.cli.main import main

CAPABILITIES = """\
whyroute: 1
labels:
  data: {values: [public, patient], default: public}
providers:
  - id: eu
    region: eu-west-1
    models:
      - {name: large, contextWindow: 1000, features: [], cost: {promptUsdPer1kTokens: 1, completionUsdPer1kTokens: 1}}
capabilities: [{name: summarise, needs: []}, {name: other, needs: []}]
tenants: [{tenantId: acme}, {tenantId: shop}]
tests: [{name: served, tenant: all, capability: summarise, expect: {fallback: false}}]
"""
RULES = """\
whyroute: 1
rules: [{name: r, because: x, require: {is: nothing}}]
"""


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pack at `pack`, and the current folder beside it."""
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "main.yaml").write_text(CAPABILITIES, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "pack"


Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--at", "tomorrow"], "--at: `tomorrow` is no time"),
        (["--label", "data=publc"], "--label data: `publc` is no value of label `data`; did you mean `public`?"),
        (["--label", "date=public"], "--label date: `date` is no label of a request; did you mean `data`?"),
    ],
)
def test_options_are_called_what_was_typed(pack: Path, capsys: Captured, options: list[str], told: str) -> None:
    command = ["route", "pack", "-t", "acme", "-c", "summarise", *options]
    assert main(command) == 2
    assert told in capsys.readouterr().err
    # A program reads where in the request it is.
    assert main([*command, "--format", "json"]) == 2
    (issue,) = json.loads(capsys.readouterr().out)["error"]["issues"]
    assert issue["path"].startswith("/")


def test_missing_path_says_where_it_looked(pack: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in (["check", "pakc"], ["test", "pakc"], ["show", "pakc", "-t", "acme"]):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert f"`pakc`: there is no such file or directory in `{pack.parent}`" in said
        assert "write" not in said
    monkeypatch.chdir(pack)
    assert main(["check", "pack"]) == 2
    assert "this folder is a pack itself: write `.`" in capsys.readouterr().err


def test_one_file_of_a_pack_names_the_pack(pack: Path, capsys: Captured) -> None:
    (pack / "rules").mkdir()
    (pack / "rules" / "all.yaml").write_text(RULES, "utf-8")
    assert main(["check", "pack/rules/all.yaml"]) == 1
    assert "is one file of a pack; the pack is the folder: whyroute check pack\n" in capsys.readouterr().err
    assert main(["check", "pack/rules/all.yaml", "--format", "json"]) == 1
    json.loads(capsys.readouterr().out)
    # By itself it is all there is.
    (pack / "main.yaml").unlink()
    assert main(["check", "pack/rules/all.yaml"]) == 1
    assert capsys.readouterr().err == ""


def git(*arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *arguments], check=True, capture_output=True
    )


def test_pack_missing_at_a_revision(pack: Path, capsys: Captured) -> None:
    git("init")
    git("commit", "--allow-empty", "-m", "empty")
    assert main(["diff", "HEAD", "pack"]) == 2
    assert "`HEAD`; it is a revision: did you mean `HEAD:pack`?" in capsys.readouterr().err
    assert main(["diff", "HEAD:pack", "pack"]) == 2
    assert "--allow-missing compares with an empty one" in capsys.readouterr().err
    assert main(["diff", "HEAD:pack", "pack", "--allow-missing", "--fail-on", "looser"]) == 0
    said = capsys.readouterr()
    assert "tenant       acme" in said.out
    assert "compared with an empty pack" in said.err
    # It is for what is old, and for nothing else that may be wrong.
    assert main(["diff", "pack", "HEAD:pack", "--allow-missing"]) == 2
    assert "--allow-missing" not in capsys.readouterr().err
    assert main(["diff", "HAED:pack", "pack", "--allow-missing"]) == 2


DOCUMENT = json.dumps({"tenant": "acme", "capability": "summarise"}, indent=2)


@pytest.mark.parametrize(("text", "what"), [(DOCUMENT, "one object over many lines"), (f"[\n{DOCUMENT}\n]", "a list")])
def test_a_document_where_lines_are_expected(pack: Path, capsys: Captured, text: str, what: str) -> None:
    Path("requests.json").write_text(text, "utf-8")
    for command in (["batch", "requests.json"], ["diff", "pack", "pack", "--requests", "requests.json"]):
        assert main(command) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err == f"error: `requests.json`: one object per line; this looks like {what}\n"


def test_broken_first_line_is_answered_too(pack: Path, capsys: Captured) -> None:
    Path("requests.jsonl").write_text('{\n{"capability": {}}\n', "utf-8")
    assert main(["batch", "requests.jsonl"]) == 1
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_cases_of_a_tenant_or_a_capability(pack: Path, capsys: Captured) -> None:
    for options, told in (
        ([], "1 test, 2 cases: all passed"),
        (["-t", "acme"], "1 test, 1 case: passed"),
        (["-t", "acme", "-c", "summarise"], "1 test, 1 case: passed"),
    ):
        assert main(["test", "pack", *options]) == 0
        assert told in capsys.readouterr().out
    for options, told in (
        (["-t", "acmee"], "`acmee` is no tenant of the pack; did you mean `acme`?"),
        (["-c", "sumarise"], "`sumarise` is no capability of the pack; did you mean `summarise`?"),
        (["-t", "acme", "-c", "other"], "no test is about tenant `acme` and capability `other`"),
    ):
        assert main(["test", "pack", *options]) == 2
        assert told in capsys.readouterr().err


def test_help_has_examples_and_no_python_types(capsys: Captured) -> None:
    for command in (
        *("route", "explain", "show", "test", "check", "diff", "batch", "bundle", "schema", "import", "fmt"),
        *("serve", "token"),
    ):
        assert main([command, "--help"]) == 0
        said = capsys.readouterr().out
        assert f"  whyroute {command} " in said.partition("Example")[2]
        assert not any(f"<{each}>" in said for each in ("str", "path", "text"))
        assert "[[" not in said


def test_waiver_without_end_is_shown_so(pack: Path, capsys: Captured) -> None:
    rules = (
        "whyroute: 1\n"
        "policies: [{name: house, rules: [r]}]\n"
        "everyTenant: [house]\n"
        "rules: [{name: r, because: x, require: {region: eu-west-1}, waivable: true}]\n"
        "waivers: [{name: w, rule: r, tenant: acme, admits: {provider: eu}, because: x, owner: o%s}]\n"
    )
    for until, told in (
        ("", "for {provider: eu}  no end\n"),
        (", until: 2999-01-01", "for {provider: eu}  until 2999-01-01\n"),
    ):
        (pack / "waivers.yaml").write_text(rules % until, "utf-8")
        assert main(["show", "pack", "-t", "acme"]) == 0
        assert told in capsys.readouterr().out
