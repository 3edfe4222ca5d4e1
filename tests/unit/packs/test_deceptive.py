"""Text that reads otherwise than it is, by the properties that Unicode gives characters."""

import sys
import unicodedata
from pathlib import Path

import pytest

from checkcases import NOW, base_pack
from whyroute.cli import main
from whyroute.packs.check import check_pack
from whyroute.packs.check.deceptive import deceptive_text
from whyroute.packs.source.sources import Source, unprintable

TURNING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
SHOWN = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Format characters that are seen: they stand before or above the digits that they go with."""

CHARACTERS = [c for c in map(chr, range(0x80, sys.maxunicode + 1)) if unprintable(Source("a", c)) is None]
PACK = """\
whyroute: 1
policies:
  - name: house # a comment
    rules: [cheap]
everyTenant: [house]
rules:
  - {name: cheap, because: It costs less, require: {model: {like: "*"}}}
"""


def told(text: str) -> list[str]:
    return [finding.message for finding in deceptive_text(Source("a.yaml", text))]


def test_characters_that_turn_others_are_found_anywhere() -> None:
    turning = [c for c in CHARACTERS if unicodedata.bidirectional(c) in TURNING]
    assert len(turning) == len(TURNING)
    for character in turning:
        for text in (f"a: 1 # {character}", f"because: x{character}", f"{character}a: 1", f'a: "{character}"'):
            (message,) = told(text)
            assert message.startswith(
                f"the character U+{ord(character):04X} ({unicodedata.name(character).lower()}) shows"
            )


def test_format_characters_and_blanks_are_found_in_names() -> None:
    for character in CHARACTERS:
        hidden = unicodedata.category(character) == "Cf" and character not in SHOWN
        if (hidden or unicodedata.category(character) == "Zs") and unicodedata.bidirectional(character) not in TURNING:
            for text in (f"model: us{character}llm", f"us{character}llm: 1", f"- ['us{character}llm']"):
                (message,) = told(text)
                assert f"U+{ord(character):04X}" in message
            assert told(f"because: us{character}llm # {character}") == []
            escape = f"\\U{ord(character):08x}"
            assert told(f'model: "us{escape}llm" # é') == []


@pytest.mark.parametrize("script", ["CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"])
def test_similar_script_letters_in_latin_words_are_found(script: str) -> None:
    letters = [c for c in CHARACTERS if unicodedata.name(c, "").startswith(f"{script} ") and c.isalpha()]
    assert letters
    for character in letters:
        assert len(told(f"model: l{character}rge")) == 1
        assert told(f"model: {character}{character}-large") == []


def test_letters_of_other_languages_are_fine() -> None:
    for text in ("größe", "Ångström", "東京gpt", "модель-eu", "عربى", "한국어-llm", "µ-law", "naïve café"):
        assert told(f"model: {text}") == []


def test_no_place_hides_turned_text(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(base_pack(), "utf-8")
    for at in range(0, len(PACK), 3):
        (tmp_path / "a.yaml").write_text(PACK[:at] + "\u202e" + PACK[at:], "utf-8")
        names = {finding.name for finding in check_pack(tmp_path, now=NOW) if not finding.silenced}
        assert names & {"deceptive-text", "invalid-pack"}


@pytest.mark.parametrize("format", ["text", "json", "sarif", "github"])
def test_no_format_prints_characters_that_deceive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str
) -> None:
    (tmp_path / "a.yaml").write_text(PACK.replace("comment", "com\u202ement").replace("cheap", "ch\u200beap"), "utf-8")
    assert main(["check", str(tmp_path), "--format", format]) == 1
    out = capsys.readouterr().out
    assert out.count("WR106") >= 2
    assert not set(out) & {"\u202e", "\u200b"}
