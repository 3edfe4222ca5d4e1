"""What a check finds in rule packs: cases as data, the pages of the documentation, and laws."""

import itertools
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from checkcases import FENCE, NOW, PAGES, CheckCase, base_pack, check_cases, outcome
from counting import calls
from house_style import broken_rules
from largepack import write_large_pack
from whyroute.cli import main
from whyroute.packs import load_pack
from whyroute.packs.check import KINDS, Finding, check_pack
from whyroute.providers.provider_files import UnreadableFileError

CASES = check_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: CheckCase, tmp_path: Path) -> None:
    case.write(tmp_path)
    assert outcome(tmp_path, case.at) == case.expected


def test_every_kind_has_a_case() -> None:
    told = {match for case in CASES for match in re.findall(r"^\S+ \S+ (WR\d+) ", case.expected, re.MULTILINE)}
    assert told == {kind.code for kind in KINDS.values()}
    assert len({case.id for case in CASES}) == len(CASES)


def test_findings_follow_style_and_show_lines(tmp_path: Path) -> None:
    for number, case in enumerate(CASES):
        directory = tmp_path / str(number)
        case.write(directory)
        for finding in check_pack(directory, now=case.at):
            assert broken_rules(finding.message) == [], finding
            for place in (finding.place, *finding.also):
                if place.line is not None:
                    assert place.source == Path(place.file).read_text("utf-8").split("\n")[place.line - 1]
                    assert place.column is not None
                    assert 1 <= place.column <= len(place.source)
            assert finding.place not in finding.also


def test_findings_stand_in_order(tmp_path: Path) -> None:
    for number, case in enumerate(CASES):
        directory = tmp_path / str(number)
        case.write(directory)
        places = [finding.place.order for finding in check_pack(directory, now=case.at)]
        assert places == sorted(places)


# Dates.


def test_the_time_is_now_unless_another_is_given(tmp_path: Path) -> None:
    waiver = "{name: w, rule: r, tenant: t, because: x, admits: {provider: p}, until: 2000-01-01}"
    rule = "{name: r, because: x, forbid: {provider: p}, waivable: true}"
    text = f"whyroute: 1\nrules: [{rule}]\nwaivers: [{waiver}]\ntenants: [{{tenantId: t, rules: [r]}}]\n"
    (tmp_path / "a.yaml").write_text(text, "utf-8")
    expired = [finding.name for finding in check_pack(tmp_path)]
    assert "expired-waiver" in expired
    for early in (datetime(1999, 1, 1, tzinfo=UTC), "1999-01-01"):
        assert "expired-waiver" not in [finding.name for finding in check_pack(tmp_path, now=early)]


def test_a_time_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("whyroute: 1\n", "utf-8")
    with pytest.raises(ValueError, match="no time"):
        check_pack(tmp_path, now="yesterday")


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError):
        check_pack(tmp_path / "nowhere")


# Pages.


def examples(name: str) -> tuple[str, str]:
    """The first two examples of a page: what to avoid, and what to prefer."""
    avoid, prefer, *_ = FENCE.findall((PAGES / f"{name}.md").read_text("utf-8"))
    return avoid, prefer


def found_beside_the_base(directory: Path, example: str) -> tuple[Finding, ...]:
    directory.mkdir(exist_ok=True)
    (directory / "base.yaml").write_text(base_pack(), "utf-8")
    (directory / "example.yaml").write_text(example, "utf-8")
    return check_pack(directory, now=NOW)


def test_every_kind_has_a_page() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} == {*KINDS, "README"}


@pytest.mark.parametrize("name", KINDS)
def test_page_says_what_its_kind_says(name: str) -> None:
    kind = KINDS[name]
    text = (PAGES / f"{name}.md").read_text("utf-8")
    assert text.startswith(f"# {kind.code} {name}\n\nLevel: {kind.level}. In short: {kind.summary}.\n")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Avoid", "Prefer", "Why", "Silence one place"]


@pytest.mark.parametrize("name", KINDS)
def test_page_examples_are_found_and_cured(name: str, tmp_path: Path) -> None:
    avoid, prefer = examples(name)
    assert [finding.name for finding in found_beside_the_base(tmp_path, avoid)] == [name]
    assert [str(finding) for finding in found_beside_the_base(tmp_path, prefer) if not finding.silenced] == []


def test_example_pack_has_no_findings(tmp_path: Path) -> None:
    assert found_beside_the_base(tmp_path, "whyroute: 1\n") == ()


def test_the_index_lists_every_kind() -> None:
    rows = re.findall(
        r"^\| (WR\d+) \| \[(.*?)\]\((.*?)\) \| (\w+) \| (.*) \|$",
        (PAGES / "README.md").read_text("utf-8"),
        re.MULTILINE,
    )
    expected = [(kind.code, name, f"{name}.md", kind.level, kind.summary) for name, kind in KINDS.items()]
    assert rows == expected


def test_the_command_lists_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--list"]) == 0
    rows = [re.split(r"  +", line) for line in capsys.readouterr().out.splitlines()]
    assert rows == [[kind.code, kind.level, name, kind.summary] for name, kind in KINDS.items()]


def test_codes_and_levels() -> None:
    codes = [kind.code for kind in KINDS.values()]
    assert codes == sorted(set(codes))
    assert all((kind.level == "error") is kind.code.startswith("WR1") for kind in KINDS.values())


# Laws.


def _without_places(directory: Path) -> Counter[tuple[str, str, str | None, tuple[str, ...]]]:
    return Counter(
        (finding.code, finding.message, finding.reason, tuple(place.source.strip() for place in finding.also))
        for finding in check_pack(directory, now=NOW)
    )


LOADED = [case for case in CASES if case.at == NOW and "WR101" not in case.expected and "WR30" not in case.expected]


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_file_names_and_sections_change_only_places(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    case = data.draw(st.sampled_from(LOADED))
    first, second = tmp_path_factory.mktemp("pack"), tmp_path_factory.mktemp("pack")
    case.write(first)
    names = data.draw(st.permutations([f"{letter}.yaml" for letter in "abc"[: len(case.files)]]))
    for name, text in zip(names, case.files.values(), strict=True):
        head, *sections = re.split(r"^(?=[A-Za-z])", text, flags=re.MULTILINE)[1:]
        (second / name).write_text("".join([head, *data.draw(st.permutations(sections))]), "utf-8")
    assert _without_places(first) == _without_places(second)


def test_a_reason_silences_every_finding_that_it_can(tmp_path: Path) -> None:
    silenceable = set(KINDS) - {"invalid-pack", "deceptive-text", "broken-ignore", "unused-ignore"}
    seen = set()
    for number, name in enumerate(sorted(silenceable)):
        directory = tmp_path / str(number)
        (finding,) = found_beside_the_base(directory, examples(name)[0])
        assert finding.place.line is not None
        path = Path(finding.place.file)
        lines = path.read_text("utf-8").split("\n")
        beside, above = [*lines], [*lines]
        beside[finding.place.line - 1] += f"  # check: ignore {finding.code}: beside"
        above.insert(finding.place.line - 1, f"  # check: ignore {name}: above")
        for text, reason in ((beside, "beside"), (above, "above")):
            path.write_text("\n".join(text), "utf-8")
            (silenced,) = check_pack(directory, now=NOW)
            assert (silenced.name, silenced.reason, silenced.message) == (name, reason, finding.message)
        seen.add(name)
    assert seen == silenceable


# Costs.


def test_large_pack_checks_faster_than_it_loads(tmp_path: Path) -> None:
    """Calls, which no machine's speed changes, and a tenth of the size, which takes a tenth of the time."""
    write_large_pack(tmp_path, providers=10, rules=100, tenants=20)
    loading = calls(lambda: load_pack(tmp_path))
    checking = calls(lambda: check_pack(tmp_path, now=NOW)) - loading
    assert checking < loading


def test_checking_grows_no_faster_than_the_pack(tmp_path: Path) -> None:
    costs = []
    for size in (1, 2):
        directory = tmp_path / str(size)
        write_large_pack(directory, providers=4 * size, rules=40 * size, tenants=8 * size)
        costs.append(calls(lambda directory=directory: check_pack(directory, now=NOW)))  # type: ignore[misc]
    assert costs[1] < 2.5 * costs[0]


def test_every_finding_has_a_dictionary(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == "comments that silence")
    case.write(tmp_path)
    documents = [finding.to_dict() for finding in check_pack(tmp_path, now=NOW)]
    assert documents[0]["silenced"] == {"reason": "a guard for the next import"}
    assert all(
        {"code", "name", "level", "file", "line", "column", "message", "source"} <= each.keys() for each in documents
    )
    assert list(itertools.chain.from_iterable(each.get("also", ()) for each in documents)) == []


def test_a_pack_is_checked_as_its_files_are(tmp_path: Path) -> None:
    text = "whyroute: 1\nregions:\n  eu: [eu-west-1]\nconditions:\n  unused: {region: eu}\n"
    (tmp_path / "pack.yaml").write_text(text, encoding="utf-8")
    found = check_pack(tmp_path, at=NOW)
    assert found
    pack = load_pack(tmp_path)
    (tmp_path / "pack.yaml").unlink()
    assert check_pack(pack, at=NOW) == found
    assert check_pack(pack, now=NOW) == found
    with pytest.raises(TypeError, match="`at` and `now` are one time"):
        check_pack(pack, at=NOW, now=NOW)
