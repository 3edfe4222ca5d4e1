"""Loading rule packs: what is wrong, where exactly, and what a pack resolves."""

import os
import pickle
from pathlib import Path

import pytest

from house_style import broken_rules
from packcases import PackCase, cases, outcome
from whyroute.packs import PackError, Place, load_pack
from whyroute.providers.provider_files import UnreadableFileError

CASES = cases()
MINIMAL = "whyroute: 1\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: PackCase, tmp_path: Path) -> None:
    case.write(tmp_path)
    assert case.expected, "a case expects something"
    for head, expected in case.expected.items():
        assert outcome(case, head, tmp_path) == expected


def test_there_are_cases_and_their_names_differ() -> None:
    assert len(CASES) > 80
    assert len({case.id for case in CASES}) == len(CASES)


def test_every_problem_follows_style_and_shows_line(tmp_path: Path) -> None:
    for number, case in enumerate(CASES):
        directory = tmp_path / str(number)
        case.write(directory)
        try:
            load_pack(directory)
        except PackError as error:
            for problem in error.problems:
                assert broken_rules(problem.message) == [], problem
                for place in (problem.place, *problem.also):
                    _shows_its_line(place)


def _shows_its_line(place: Place) -> None:
    lines = [*Path(place.file).read_text("utf-8").split("\n")]
    assert place.line is not None
    assert place.column is not None
    assert place.source == lines[place.line - 1]
    assert 1 <= place.column <= len(place.source) + 1


def problems(path: Path) -> list[str]:
    with pytest.raises(PackError) as caught:
        load_pack(path)
    return [
        str(problem).replace(f"{path.as_posix()}/", "").replace(path.as_posix(), ".")
        for problem in caught.value.problems
    ]


def written(directory: Path, name: str, data: bytes | str) -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    return path


def test_one_file_is_a_pack(tmp_path: Path) -> None:
    pack = load_pack(written(tmp_path, "policy.yaml", "whyroute: 1\ntenants: [{tenantId: acme}]\n"))
    assert list(pack.tenants) == ["acme"]
    assert pack.files == ((tmp_path / "policy.yaml").as_posix(),)


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match="there is no such file or directory"):
        load_pack(tmp_path / "nowhere")


def test_an_empty_path_is_not_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "policy.yaml", "whyroute: 1\ntenants: [{tenantId: acme}]\n")
    monkeypatch.chdir(tmp_path)
    assert list(load_pack(".").tenants) == list(load_pack(Path()).tenants) == ["acme"]
    with pytest.raises(UnreadableFileError, match=r"^an empty path; name a rule pack: `\.` is the current directory$"):
        load_pack("")


@pytest.mark.parametrize("escape", ["\\UFFFFFFFF", "\\U00110000"])
def test_invalid_escape_is_reported_in_place(tmp_path: Path, escape: str) -> None:
    text = f'whyroute: 1\n# "{escape}"\nregions:\n  "\\U0010FFFFa{escape}": [x]\n'
    written(tmp_path, "a.yaml", text)
    assert problems(tmp_path) == [f"a.yaml:4:15: there is no character `{escape}`; the last one is `\\U0010FFFF`"]


def test_an_empty_directory(tmp_path: Path) -> None:
    written(tmp_path, "README.md", "nothing")
    assert problems(tmp_path) == [".: no `*.yaml` or `*.yml` in this directory; a pack has at least one"]


def test_a_byte_order_mark_and_crlf_change_nothing(tmp_path: Path) -> None:
    written(tmp_path, "a.yaml", b"\xef\xbb\xbfwhyroute: 1\r\ntenants:\r\n  - tenantId: acme\r\n    regionAllow: 3\r\n")
    assert problems(tmp_path) == ["a.yaml:4:18: `3`, a number; a list of strings is expected"]


def test_old_line_ends(tmp_path: Path) -> None:
    written(tmp_path, "a.yaml", b"whyroute: 1\rtenants:\r  - tenantId: acme\r    regionAllow: 3\r")
    assert problems(tmp_path) == ["a.yaml:4:18: `3`, a number; a list of strings is expected"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"whyroute: 1\nregions:\n  gr\xfc\xdfe: [a]\n", "3:5: not UTF-8: the byte 0xfc; save the file as UTF-8"),
        (MINIMAL.encode("utf-16"), "1:1: not UTF-8 but UTF-16; save the file as UTF-8"),
        (b"whyroute: 1\nregions: {g: ['a\x00']}\n", "2:17: the character U+0000 can't stand here"),
        (b"whyroute: 1\nregions: {g: ['a\x07']}\n", "2:17: the character U+0007 can't stand here"),
        ("whyroute: 1\nregions: {g: ['a\u2028']}\n".encode(), "2:17: the character U+2028 can't stand here"),
        ("whyroute: 1\nregions: {g: ['a\x85']}\n".encode(), "2:17: the character U+0085 can't stand here"),
        ("whyroute: 1\nregions: {g: ['a\ufeff']}\n".encode(), "2:17: the character U+FEFF can't stand here"),
    ],
)
def test_text_that_is_none(tmp_path: Path, data: bytes, message: str) -> None:
    written(tmp_path, "a.yaml", data)
    assert problems(tmp_path)[0].startswith(f"a.yaml:{message}")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    written(tmp_path, "a.yaml", MINIMAL).chmod(0)
    assert problems(tmp_path) == ["a.yaml: can't be read: permission denied"]


def test_links(tmp_path: Path) -> None:
    written(tmp_path, "real/a.yaml", "whyroute: 1\ntenants: [{tenantId: a}]\n")
    pack = tmp_path / "pack"
    written(pack, "b.yaml", MINIMAL)
    (pack / "linked").symlink_to(tmp_path / "real", target_is_directory=True)
    assert list(load_pack(pack).tenants) == ["a"]
    (pack / "linked" / "back").symlink_to(pack, target_is_directory=True)
    (pack / "self.yaml").symlink_to(pack / "self.yaml")
    (pack / "gone.yaml").symlink_to(pack / "nowhere.yaml")
    (pack / "dir.yaml").mkdir()
    found = problems(pack)
    assert found[0] == "gone.yaml: can't be read: a link that leads nowhere"
    assert found[1].startswith("linked/back: a link back to a directory that it stands in")
    assert found[2].startswith("self.yaml: can't be read")
    assert len(found) == 3


def test_nesting_without_end(tmp_path: Path) -> None:
    written(tmp_path, "a.yaml", "whyroute: 1\nregions: " + "[" * 5000)
    written(tmp_path, "b.yaml", "whyroute: 1\nconditions:\n  c: " + "{not: " * 5000 + "{region: x}" + "}" * 5000 + "\n")
    written(tmp_path, "c.yaml", "whyroute: 1\nregions:\n" + "".join(" " * n + "- \n" for n in range(1, 300)))
    assert problems(tmp_path) == [
        "a.yaml:2:73: nested too deeply; at most 64 levels are read",
        "b.yaml:3:378: nested too deeply; at most 64 levels are read",
        "c.yaml:66:65: nested too deeply; at most 64 levels are read",
    ]


def test_aliases_that_stand_for_millions_of_values(tmp_path: Path) -> None:
    lines = ["whyroute: 1", "regions:", "  a0: &a0 [" + ", ".join("x" * 10) + "]"]
    lines += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    written(tmp_path, "a.yaml", "\n".join(lines))
    assert problems(tmp_path) == ["a.yaml:7:47: the aliases up to here stand for more than 100000 values"]


def test_a_chain_longer_than_the_stack(tmp_path: Path) -> None:
    count = 3000
    policies = "".join(f"  - {{name: p{n}, extends: [p{n + 1}]}}\n" for n in range(count))
    groups = "".join(f"  g{n}: [g{n + 1}]\n" for n in range(1000))
    text = f"whyroute: 1\nregions:\n{groups}policies:\n{policies}  - {{name: p{count}, regionAllow: [g0]}}\n"
    written(tmp_path, "a.yaml", text + "tenants: [{tenantId: t, extends: [p0], regionAllow: [g1000]}]\n")
    policy = load_pack(tmp_path).policy("t")
    assert len(policy.parts) == count + 2
    assert policy.clauses.region_allow == ("g1000",)


def test_errors_are_data(tmp_path: Path) -> None:
    written(tmp_path, "a.yaml", "whyroute: 1\nregions: {g: [a], g: [b]}\n")
    with pytest.raises(PackError) as caught:
        load_pack(tmp_path)
    error = caught.value
    assert error.to_dict()["problems"] == [
        {
            "file": (tmp_path / "a.yaml").as_posix(),
            "line": 2,
            "column": 19,
            "message": "`g` stands twice in this mapping",
            "source": "regions: {g: [a], g: [b]}",
            "also": [{"file": (tmp_path / "a.yaml").as_posix(), "line": 2, "column": 11}],
        }
    ]
    assert pickle.loads(pickle.dumps(error)).problems == error.problems
    assert error.code == "invalid-pack"
