"""`fmt` changes how a pack looks: never what it means, never a comment, and nothing the second time."""

import io
import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from paths import ROOT, TESTS
from whyroute.cli import main
from whyroute.packs import format as formatting
from whyroute.packs.format import UnfaithfulError, formatted
from whyroute.packs.load.composing import compose
from whyroute.packs.source.nodes import Node, plain_value
from whyroute.packs.source.sources import Source, unprintable
from yamltexts import SEEDS, texts

DATA = TESTS / "data" / "formatting.txt"


def tree(text: str) -> Node | None:
    """The tree of a text; None when something is wrong with it."""
    source = Source("a.yaml", text.replace("\r\n", "\n").replace("\r", "\n"))
    if unprintable(source):
        return None
    root, problems = compose(source)
    return None if problems else root


def laid_out(text: str) -> str:
    return formatted(Source("a.yaml", text.replace("\r\n", "\n").replace("\r", "\n")))


GOOD = [text for text in SEEDS if len(text) < 2000 and isinstance(getattr(tree(text), "value", None), dict)]


def check(text: str, comments: list[str] | None = None) -> None:
    root = tree(text)
    if root is None or root.keys is None:
        return
    after = laid_out(text)
    new = tree(after)
    assert new is not None
    assert repr(plain_value(new)) == repr(plain_value(root))
    assert laid_out(after) == after
    if comments is not None:
        places = [after.find(comment) for comment in comments]
        assert -1 not in places
        assert places == sorted(places)
    assert after.endswith("\n")
    assert "\n\n\n" not in after or "|" in after or ">" in after or '"' in after or "'" in after


@settings(max_examples=250)
@given(texts)
def test_any_text_keeps_its_meaning(text: str) -> None:
    check(text)


@st.composite
def commented(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A text with comments put in at the ends of lines, between lines and inside flow collections."""
    lines = draw(st.sampled_from(GOOD)).split("\n")
    found: list[str] = []
    count = 0
    for line in lines:
        kind = draw(st.sampled_from(["none", "none", "end", "before", "flow", "blank", "bare"]))
        mark = f"# c{count:03d}."
        count += 1
        if kind == "end" and line.strip():
            found.append(f"{line}{' ' * draw(st.integers(1, 3))}{mark}")
        elif kind == "before":
            found += [" " * draw(st.integers(0, 8)) + mark, line]
        elif kind == "flow" and (line.count(", ") or line.count("[")):
            at = draw(st.sampled_from([i + 1 for i, c in enumerate(line) if c in ",[{" and i + 1 < len(line)] or [0]))
            if not at:
                found.append(line)
                continue
            found += [f"{line[:at]} {mark}", " " * draw(st.integers(9, 14)) + line[at:]]
        elif kind == "blank":
            found += ["", line]
        elif kind == "bare" and line.endswith(":"):
            found += [f"{line} {mark}"]
        else:
            found.append(line)
    text = "\n".join(found)
    return text, [f"# c{number:03d}." for number in range(count) if f"# c{number:03d}." in text]


@settings(max_examples=120)
@given(commented())
def test_comments_stay_in_order(case: tuple[str, list[str]]) -> None:
    check(*case)


CASES = ("\n" + DATA.read_text("utf-8")).split("\n=== ")[1:]


@pytest.mark.parametrize("case", CASES, ids=[case.partition("\n")[0] for case in CASES])
def test_case(case: str) -> None:
    head, _, after = case.partition("\n--- after\n")
    _, how, before = head.split("\n", 2)
    text = f"{before}\n" if how == "--- before" else before
    expected = after if after.endswith("\n") else f"{after}\n"
    assert laid_out(text) == expected
    check(text)


@pytest.mark.parametrize(
    ("flow", "block"),
    [
        ("[-, # c\n    a]", "    - '-' # c\n    - a\n"),
        ("[a, # c\n    -, b]", "    - a # c\n    - '-'\n    - b\n"),
        ("[:, # c\n    a]", "    - ':' # c\n    - a\n"),
        ("[&x -, # c\n    *x ]", "    - &x '-' # c\n    - *x\n"),
        ("{a: -, # c\n    b: [:, -]}", "    a: '-' # c\n    b: [:, -]\n"),
        ("{-: a, # c\n    b: -}", "    -: a # c\n    b: '-'\n"),
        ("[-a, # c\n    :b, --]", "    - -a # c\n    - :b\n    - --\n"),
    ],
)
def test_sign_like_text_gets_quotes_in_blocks(flow: str, block: str) -> None:
    text = f"whyroute: 1\nregions:\n  g: {flow}\n"
    assert laid_out(text) == f"whyroute: 1\nregions:\n  g:\n{block}"
    check(text)


def test_a_text_that_would_change_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    original = formatting._Printer.text
    for change in (("eu-west-1", "eu-west-2"), ("[1.0]", "[1.00]"), (" # why", "")):
        monkeypatch.setattr(formatting._Printer, "text", lambda self, change=change: original(self).replace(*change))
        with pytest.raises(UnfaithfulError):
            laid_out("whyroute: 1\nregions: {eu: [eu-west-1], n: [1.0]} # why\n")


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "tidy.yaml").write_text("whyroute: 1\nregions: {eu: [eu-west-1]}\n", "utf-8")
    untidy = b"\xef\xbb\xbfwhyroute:  1\r\ntenants: # all\r\n- {tenantId: 'a'}"
    (tmp_path / "pack" / "untidy.yaml").write_bytes(untidy)
    return tmp_path / "pack"


AFTER = "whyroute: 1\ntenants: # all\n  - {tenantId: a}\n"


def run(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["fmt", *(str(each) for each in arguments)])
    sys.stdout.flush()
    out, err = capfd.readouterr()
    return status, out, err


def test_in_place(pack: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file, tidy = pack / "untidy.yaml", pack / "tidy.yaml"
    os.chmod(file, 0o640)
    os.utime(tidy, ns=(1, 1))
    status, out, err = run(capfd, pack)
    assert (status, out) == (0, "")
    assert err == f"{file}: formatted\n1 file changed, 1 left as they are\n"
    assert file.read_bytes() == AFTER.encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert tidy.stat().st_mtime_ns == 1
    assert run(capfd, pack, "--check") == (0, "", "0 files would change, 2 would not\n")


def test_a_link_stays_one(pack: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (pack / "untidy.yaml").rename(tmp_path / "elsewhere.txt")
    (pack / "untidy.yaml").symlink_to(tmp_path / "elsewhere.txt")
    assert run(capfd, pack)[0] == 0
    assert (pack / "untidy.yaml").is_symlink()
    assert (tmp_path / "elsewhere.txt").read_text("utf-8") == AFTER


def test_check_and_diff_write_nothing(pack: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = pack / "untidy.yaml"
    before = file.read_bytes()
    assert run(capfd, pack, "--check")[:2] == (1, f"{file}\n")
    status, out, _ = run(capfd, pack, "--check", "--diff")
    assert status == 1
    assert out.startswith(f"--- {file}\n+++ {file} (formatted)\n")
    assert "\n-- {tenantId: 'a'}\n\\ No newline at end of file\n" in out
    assert "\n+  - {tenantId: a}\n" in out
    assert run(capfd, pack, "--diff")[:2] == (0, out)
    assert file.read_bytes() == before


def test_broken_pack_is_left_unformatted(pack: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (pack / "broken.yaml").write_text("whyroute:  1\nregoins: {}\n", "utf-8")
    before = {path: path.read_bytes() for path in pack.iterdir()}
    status, out, err = run(capfd, pack)
    assert (status, out) == (2, "")
    assert "`regions`" in err
    assert {path: path.read_bytes() for path in pack.iterdir()} == before
    assert run(capfd, pack / "nowhere")[0] == 2


@pytest.mark.parametrize(
    ("data", "arguments", "status", "shown"),
    [
        (b"whyroute:  1\r\n", (), 0, "whyroute: 1\n"),
        (b"whyroute: 1\n", (), 0, "whyroute: 1\n"),
        (b"whyroute: 1\n", ("--check",), 0, ""),
        (b"whyroute:  1\n", ("--check",), 1, "standard input\n"),
        (b"whyroute: [\n", (), 2, ""),
        (b"whyroute", (), 2, ""),
        (b"", (), 2, ""),
        (b"\xff\xfe", (), 2, ""),
    ],
)
def test_standard_input(
    data: bytes,
    arguments: tuple[str, ...],
    status: int,
    shown: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert run(capfd, "-", *arguments)[:2] == (status, shown)


def test_the_example_pack_is_formatted(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(capfd, ROOT / "rules", "--check")[:2] == (0, "")
