"""The guide for policy authors, worked through from an empty folder to the end."""

from pathlib import Path

from guide import worked_through
from paths import ROOT
from volatile import settled

GUIDE = ROOT / "docs" / "guide.md"


def test_the_guide_shows_what_happens(tmp_path: Path) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    assert settled(worked_through(text, tmp_path)) == settled(text)
    assert text.count("\n$ whyroute ") >= 15
