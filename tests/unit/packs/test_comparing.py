"""`whyroute diff`: cases as data with what is printed, exit statuses, requests of a file, and limits."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from pack_strategies import loaded, text as pack_text
from paths import TESTS
from whyroute.basics.bits import from_positions, positions
from whyroute.catalog.catalog import Catalog
from whyroute.cli import main
from whyroute.packs.diff import Comparison, compare_packs
from whyroute.packs.diff.matching import Matching
from whyroute.render.diffmarkdown import MOST_BYTES, comparison_markdown
from whyroute.render.diffs import comparison_lines

DATA = TESTS / "data" / "diffs"
AT = "2026-12-24"


def cases() -> dict[str, dict[str, str]]:
    """The files of each case, by its name."""
    found: dict[str, dict[str, str]] = {}
    lines: list[str] = []
    for line in (DATA / "cases.txt").read_text("utf-8").splitlines():
        if line.startswith("=== "):
            case = found[line[4:]] = {}
        elif line.startswith("--- "):
            lines = []
            head = line[4:]
            case[head] = ""
        elif found and not line.startswith("#!"):
            lines.append(line)
            case[head] = "\n".join(lines).strip("\n") + "\n"
    return found


CASES = cases()


def write(case: dict[str, str], directory: Path) -> None:
    """Write the packs of a case as `old` and `new`."""
    for name, text in case.items():
        if name != "edits":
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(text, "utf-8")
    if "edits" in case:
        text = case["old/a.yaml"]
        for line in case["edits"].splitlines():
            before, after = line.split(" => ")
            start = "  - " if before.startswith("  - ") and not after.startswith("- ") else ""
            indent = "      " if before.startswith("      ") else ""
            assert text.count(before) == 1, before
            text = text.replace(before, indent + start + after)
        (directory / "new").mkdir()
        (directory / "new" / "a.yaml").write_text(text, "utf-8")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["diff", *arguments, "--at", AT])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize("format", ["text", "json", "markdown"])
@pytest.mark.parametrize("name", CASES)
def test_case(
    name: str, format: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(CASES[name], tmp_path)
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, "old", "new", "--format", format)
    assert (status, err) == (0, "")
    golden = (
        DATA / f"{name.replace(' ', '-').replace(',', '')}.{ {'text': 'txt', 'markdown': 'md'}.get(format, format) }"
    )
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(out, "utf-8")
    assert out == golden.read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "failing"),
    [
        ("a rule that breaks a route", ["broken", "any"]),
        ("a price rise and a withdrawn model", ["broken", "any"]),
        ("a preference, a shadow rule and what is still to come", ["any"]),
        ("the same in other words", []),
        ("a tenant, a capability, a label value and a hidden provider", ["broken", "any"]),
    ],
)
def test_exit_statuses(
    name: str, failing: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(CASES[name], tmp_path)
    monkeypatch.chdir(tmp_path)
    found = [each for each in ("looser", "broken", "any") if run(capsys, "old", "new", "--fail-on", each)[0]]
    assert found == failing
    backwards = {"broken", "looser"} & {
        each for each in ("looser", "broken") if run(capsys, "new", "old", "--fail-on", each)[0]
    }
    assert ("looser" in backwards) == (name.startswith(("a rule", "a price", "a tenant")))


def requests(directory: Path, *lines: Any) -> str:
    path = directory / "requests.jsonl"
    path.write_text("".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in lines), "utf-8")
    return str(path)


@pytest.fixture
def packs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(CASES["a rule that breaks a route"], tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_requests_of_a_file(capsys: pytest.CaptureFixture[str], packs: Path) -> None:
    file = requests(
        packs,
        {"tenant": "acme", "capability": "long", "labels": {"data": "public"}},
        "",
        {"id": "r3", "tenant": "acme", "capability": "long"},
        {"tenant": "acme", "capability": {"needs": [{"region": "us-east-1"}]}, "at": "2026-01-01"},
        {"tenant": "bank", "capability": "short", "preferredProvider": "us"},
    )
    status, out, err = run(capsys, "old", "new", "--requests", file, "--fail-on", "broken")
    assert (status, err) == (1, "")
    assert "4 requests of 2 tenants compared at 2026-12-24: 3 differ" in out
    assert "line 3 (r3): acme: long\n" in out
    assert "line 4: acme: its own declaration\n" in out
    assert "line 5: bank: short\n    was      us / big\n    now      eu / small\n" in out


def test_a_request_that_one_pack_refuses(capsys: pytest.CaptureFixture[str], packs: Path) -> None:
    text = (packs / "new" / "a.yaml").read_text("utf-8").replace("  - {tenantId: bank}\n", "")
    (packs / "new" / "a.yaml").write_text(text, "utf-8")
    file = requests(packs, {"tenant": "bank", "capability": "short"})
    status, out, _ = run(capsys, "old", "new", "--requests", file, "--fail-on", "broken", "--format", "json")
    (change,) = json.loads(out)["changes"]
    assert status == 1
    assert change["kind"] == "broke"
    assert change["new"] == {"refused": "`bank` is no tenant of the pack; the tenants are `acme`"}


def test_broken_lines_are_all_told(capsys: pytest.CaptureFixture[str], packs: Path) -> None:
    file = requests(
        packs,
        "{",
        {"tenant": "acme"},
        {"tenant": "acmee", "capability": "short"},
        {"tenant": "acme", "capability": "short", "label": {}, "at": "noon"},
        {"tenant": "acme", "capability": "short", "labels": {"data": "Public"}},
        {"tenant": "acme", "capability": {"needs": 3}},
        [],
    )
    status, out, err = run(capsys, "old", "new", "--requests", file)
    assert (status, out) == (2, "")
    for number in range(1, 8):
        assert re.search(rf"^  line {number}[: ]", err, re.MULTILINE)
    assert "did you mean `acme`?" in err
    assert "did you mean `labels`?" in err
    assert "did you mean `public`?" in err
    assert run(capsys, "old", "new", "--requests", requests(packs))[0] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["old", "nowhere"], "there is no such file or directory"),
        (["old", "new", "--requests", "nowhere"], "can't be read"),
        (["old"], "error: NEW is missing"),
        (["old", "new", "--fail-on", "all"], "--fail-on: `all` is not one of"),
    ],
)
def test_wrong_usage(capsys: pytest.CaptureFixture[str], packs: Path, arguments: list[str], message: str) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_an_output_file_and_a_progress_bar(capsys: pytest.CaptureFixture[str], packs: Path) -> None:
    status, out, err = run(capsys, "old", "new", "-o", "found.txt", "--progress")
    assert (status, out) == (0, "")
    assert "comparing" in err
    assert (packs / "found.txt").read_text("utf-8").startswith("old  ->  new\n")


def model(name: str) -> dict[str, Any]:
    cost = {"promptUsdPer1kTokens": 0, "completionUsdPer1kTokens": 0}
    return {"name": name, "contextWindow": 1, "features": [], "cost": cost}


NASTY = ["a|b", "`x`", "<b>", "@octocat", "#12", "[x](http://y)", "a*b*", "www.example.com", ":smile:", "\\", "&amp;"]


def test_markdown_is_escaped() -> None:
    old: dict[str, Any] = {
        "providers": [{"id": name, "region": "eu", "models": [model("m")]} for name in NASTY],
        "capabilities": [{"name": name, "needs": []} for name in NASTY],
        "tenants": [{"tenantId": name, "rules": ["r"]} for name in NASTY],
        "rules": [{"name": "r", "because": " ".join(NASTY), "owner": "@octocat", "forbid": {"provider": "none"}}],
    }
    new = {**old, "rules": [{**old["rules"][0], "require": {"region": "us"}}]}
    del new["rules"][0]["forbid"]
    text = comparison_markdown(compare_packs(loaded(old), loaded(new), at=AT), everything=True)
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    inline = [each for token in tokens for each in (token.children or [])]
    assert {each.content for each in inline if each.type == "html_inline"} <= {
        *("<code>", "</code>", "<sub>", "</sub>", "<br>")
    }
    assert not {each.type for each in inline} & {"link_open", "em_open", "code_inline", "image", "s_open"}
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(NASTY)
    assert {line.count("|") for line in rows} == {4}
    shown = "".join(each.content for each in inline if each.type == "text")
    for name in NASTY:
        assert name in shown
    assert "@" not in re.sub(r"&#64;", "", text)
    assert "&#64;&#8203;octocat" in text


def test_what_is_long_is_cut_and_says_so() -> None:
    count = 400
    old: dict[str, Any] = {
        "providers": [{"id": f"p{number}", "region": "eu", "models": [model("m")]} for number in range(40)],
        "capabilities": [{"name": "c", "needs": []}],
        "tenants": [{"tenantId": f"{'long-name-' * 5}{number}"} for number in range(count)],
    }
    new = {**old, "tenants": [{**each, "providers": {"deny": [f"p{n % 40}"]}} for n, each in enumerate(old["tenants"])]}
    found = compare_packs(loaded(old), loaded(new), at=AT)
    text = ["".join(part for part, _ in line) for line in comparison_lines(found)]
    assert len(text) < 200
    assert f"  and {count - 20} more" in text
    assert any("more; --all shows them" in line for line in text)
    whole = ["".join(part for part, _ in line) for line in comparison_lines(found, everything=True)]
    assert not any("more; --all" in line for line in whole)
    for everything in (False, True):
        markdown = comparison_markdown(found, everything=everything)
        assert len(markdown.encode()) <= MOST_BYTES
        assert markdown.count("<details") == markdown.count("</details>")
    assert "No room for" in markdown or "more" in markdown


def test_too_many_labels_are_cut_and_told() -> None:
    keys = [f"k{number}" for number in range(12)]
    document: dict[str, Any] = {
        "providers": [{"id": "p", "region": "eu", "models": [model("m")]}],
        "capabilities": [{"name": "c", "needs": []}],
        "tenants": [{"tenantId": "t", "rules": keys}],
        "rules": [
            {"name": key, "because": "x", "when": {"labels": {key: "v"}}, "forbid": {"provider": "q"}} for key in keys
        ],
    }
    assert compare_packs(loaded(document), loaded(document), at=AT).is_same  # nothing that is cut could differ
    new = {**document, "rules": [*document["rules"][1:], {**document["rules"][0], "forbid": {"provider": "r"}}]}
    found = compare_packs(loaded(document), loaded(new), at=AT)
    (cut,) = found.cuts
    assert (cut.compared, cut.total) == (256, 3**12)
    assert (found.differs, found.is_same, found.to_dict()["same"], found.to_dict()["complete"]) == (False,) * 4
    text = ["".join(part for part, _ in line) for line in comparison_lines(found)]
    assert "no difference was found, but not everything was compared" in text
    assert "not compared" in text
    markdown = comparison_markdown(found)
    assert "**No difference was found, but not everything was compared.**" in markdown
    assert "not compared (1)" in markdown


KEYS = [f"k{number}" for number in range(9)]


def conjunction(forbidden: str) -> str:
    """A pack whose last rule applies to one of 512 combinations of labels."""
    document: dict[str, Any] = {
        "labels": {key: {"values": ["a", "b", "c"], "default": "a"} for key in KEYS},
        "providers": [{"id": "p", "region": "eu", "models": [model("m")]}],
        "capabilities": [{"name": "c", "needs": []}],
        "tenants": [{"tenantId": "t", "rules": [*KEYS, "last"]}],
        "rules": [
            *(
                {"name": key, "because": "x", "when": {f"labels.{key}": "b"}, "forbid": {"region": "us"}}
                for key in KEYS
            ),
            {
                "name": "last",
                "because": "x",
                "when": {f"labels.{key}": "b" for key in KEYS},
                "forbid": {"region": forbidden},
            },
        ],
    }
    return pack_text(document)


@pytest.mark.parametrize("level", ["looser", "broken", "any"])
def test_changed_rule_applicability_is_not_cut(capsys: pytest.CaptureFixture[str], tmp_path: Path, level: str) -> None:
    for name, forbidden in (("old", "us"), ("new", "eu")):
        (tmp_path / f"{name}.yaml").write_text(conjunction(forbidden), "utf-8")
    old, new = str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml")
    status, out, err = run(capsys, old, new, "--fail-on", level, "--format", "json")
    found = json.loads(out)
    assert (status, found["same"], found["complete"], found["broken"]) == (1, False, False, True)
    assert f"--fail-on {level}: not everything was compared" in err
    (change,) = found["changes"]
    assert change["scopes"][0]["labels"] == [{key: [{"value": "b"}] for key in KEYS}]
    assert run(capsys, old, old, "--fail-on", level)[::2] == (0, "")
    assert run(capsys, old, new)[::2] == (0, "")


SMALL: dict[str, Any] = {
    "labels": {"data": {"values": ["a", "b"]}},
    "providers": [{"id": name, "region": name, "models": [model("m")]} for name in ("eu", "us")],
    "capabilities": [{"name": "c", "needs": []}],
    "tenants": [{"tenantId": "t"}],
    "bundles": [{"name": "b", "slots": {"one": {"capability": {"needs": [{"region": "eu"}]}}}}],
}


def differing(**sections: Any) -> Comparison:
    old = {key: value for key, value in SMALL.items() if sections.get(key, 0) is not None}
    new = {**SMALL, **{key: value for key, value in sections.items() if value is not None}}
    return (
        compare_packs(loaded(new), loaded(old), at=AT)
        if None in sections.values()
        else compare_packs(loaded(old), loaded(new), at=AT)
    )


def test_a_pack_without_labels_refuses_none() -> None:
    found = differing(labels=None)
    assert [(each.what, each.name) for each in found.removed] == [("label", "data")]
    assert (found.is_broken, found.is_same) == (False, False)
    fewer = differing(labels={"data": {"values": ["a"]}})
    assert ([each.name for each in fewer.removed], fewer.is_broken) == (["data=b"], True)


@pytest.mark.parametrize(
    ("labels", "old", "new", "removed", "added"),
    [
        (None, {}, {"data": "a"}, ["data other than a for c"], []),
        (None, {"data": "a"}, {}, [], ["data other than a for c"]),
        (None, {"data": "a"}, {"data": "b"}, ["data=a for c"], ["data=b for c"]),
        ({"data": {"values": ["a", "b"]}}, {}, {"data": "a"}, ["data other than a for c"], []),
        ({"data": {"values": ["a"]}}, {}, {"data": "a"}, [], []),
    ],
)
def test_label_values_that_a_capability_rules_out(
    labels: Any, old: Any, new: Any, removed: list[str], added: list[str]
) -> None:
    documents = [
        {key: value for key, value in {**SMALL, "labels": labels}.items() if value is not None and key != "bundles"}
        | {"capabilities": [{"name": "c", "needs": [], "labels": fixed}]}
        for fixed in (old, new)
    ]
    found = compare_packs(*map(loaded, documents), at=AT)
    assert [each.name for each in found.removed] == removed
    assert [each.name for each in found.added] == added
    assert found.is_broken == bool(removed)
    assert found.is_same == (not removed and not added)


def test_removed_bundle_breaks_its_users() -> None:
    found = differing(bundles=None)
    assert [(each.what, each.name) for each in found.removed] == [("bundle", "b")]
    assert found.is_broken


def test_a_bundle_with_another_slot() -> None:
    slots = {**SMALL["bundles"][0]["slots"], "two": {"capability": "c"}}
    found = differing(bundles=[{"name": "b", "slots": slots}])
    (change,) = found.bundles
    assert (change.redefined, change.tenants, found.is_same, found.is_broken) == (True, ("t",), False, False)
    assert change.new is not None
    assert change.new.picks == (("one", ("eu", "m")), ("two", ("eu", "m")))


def test_a_bundle_that_is_only_written_otherwise() -> None:
    slots = {"one": {**SMALL["bundles"][0]["slots"]["one"], "preferredProvider": "eu"}}
    found = differing(bundles=[{"name": "b", "slots": slots}])
    assert [(each.bundle, each.tenants) for each in found.bundles] == [("b", ())]
    assert not found.is_same


def test_a_bundle_that_breaks() -> None:
    found = differing(tenants=[{"tenantId": "t", "regionAllow": ["us"]}])
    (change,) = found.bundles
    assert (change.redefined, change.tenants, change.is_broken) == (False, ("t",), True)
    assert change.to_dict()["new"] == {"unsatisfiable": True}
    assert found.is_broken
    text = ["".join(part for part, _ in line) for line in comparison_lines(found)]
    assert "  t: b" in text


def test_a_tenant_that_loses_and_gains_is_looser() -> None:
    old = {**SMALL, "tenants": [{"tenantId": "t", "regionAllow": ["eu"]}]}
    new = {**SMALL, "tenants": [{"tenantId": "t", "regionAllow": ["us"]}]}
    found = compare_packs(loaded(old), loaded(new), at=AT)
    assert [each.verdict for each in found.tenants] == ["both"]
    assert found.is_looser


def test_removed_label_breaks_only_its_users(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    other = {"labels": {"team": {"values": ["x"]}}}
    (tmp_path / "old.yaml").write_text(pack_text(SMALL), "utf-8")
    (tmp_path / "new.yaml").write_text(pack_text({**SMALL, **other}), "utf-8")
    old, new = str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml")
    file = requests(tmp_path, {"tenant": "t", "capability": "c"})
    assert run(capsys, old, new, "--fail-on", "broken")[0] == 1
    assert run(capsys, old, new, "--fail-on", "broken", "--requests", file)[0] == 0


@pytest.mark.parametrize("left_out", [set(), {3}, set(range(0, 400, 3))])
def test_sets_convert_between_catalogs(left_out: set[int]) -> None:
    names = [f"m{number:03}" for number in range(400)]
    default = {"defaultModel": "m200"} if left_out else {}
    old = Catalog([{"id": "p", "region": "eu", "models": [model(name) for name in names]}])
    kept = [model(name) for number, name in enumerate(names) if number not in left_out]
    new = Catalog(
        [{"id": "a", "region": "eu", "models": kept[:1]}, {"id": "p", "region": "eu", "models": kept, **default}]
    )
    matching = Matching(old, new)
    for members in (0, old.all(), from_positions(range(0, 400, 7), 400), from_positions([3, 199, 200, 399], 400)):
        keys = {old.candidate(number).key for number in positions(members)}
        moved = matching.to_new(members)
        assert {new.candidate(number).key for number in positions(moved)} == {
            key for key in keys if new.number_of(*key) is not None
        }
        assert matching.to_old(moved) == members & matching.common_old


def test_labels_that_two_globs_match_are_compared() -> None:
    metadata = {"contextWindow": 1, "features": [], "cost": {"promptUsdPer1kTokens": 0, "completionUsdPer1kTokens": 0}}
    starting = {"labels.team": {"like": "a*"}}
    rule = {"name": "r", "because": "x", "when": starting, "require": {"region": "r1"}}
    old = {
        "providers": [
            {"id": name, "region": region, "models": [{"name": "m", **metadata}]}
            for name, region in (("p", "r1"), ("q", "r2"))
        ],
        "capabilities": [{"name": "c", "needs": []}],
        "tenants": [{"tenantId": "t", "rules": ["r"]}],
        "rules": [rule],
    }  # fmt: skip
    less = {"all": [starting, {"not": {"labels.team": {"like": "*z"}}}]}
    found = compare_packs(loaded(old), loaded({**old, "rules": [{**rule, "when": less}]}), at=AT)
    assert found.is_looser
