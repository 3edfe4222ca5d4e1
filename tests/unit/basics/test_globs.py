"""Globs against a translation into regular expressions: all short ones, and random ones with odd characters."""

import itertools
import random
import re
from collections.abc import Sequence

import pytest

from whyroute.basics.globs import glob, matching

ODD = ["a", "b", "c", "\n", "[", "]", "\\", ".", "^", "$", "\0", "é", "\U0001f600", "\ud800"]
"""What regular expressions or other globs take for something special, and what takes more than one byte or unit."""


def expression(pattern: str) -> re.Pattern[str]:
    """The pattern as a regular expression; a run of stars is as good as one, and takes no exponential time."""
    wild = {"*": "[\\s\\S]*", "?": "[\\s\\S]"}
    return re.compile("".join(wild.get(each, re.escape(each)) for each in re.sub("[*]+", "*", pattern)))


def check(pattern: str, texts: Sequence[str]) -> int:
    """Hold a pattern to its regular expression, and say how many texts it matches."""
    fullmatch = expression(pattern).fullmatch
    expected = [text for text in texts if fullmatch(text) is not None]
    matches = glob(pattern)
    assert [text for text in texts if matches(text)] == expected, pattern
    assert matching(pattern, texts) == expected, pattern
    return len(expected)


def all_texts(alphabet: str, longest: int) -> list[str]:
    return ["".join(each) for size in range(longest + 1) for each in itertools.product(alphabet, repeat=size)]


def test_all_short_globs_match_as_regular_expressions() -> None:
    texts = all_texts("ab", 6)
    for pattern in all_texts("ab*?", 5):
        check(pattern, texts)


def test_wildcards_in_texts_are_plain_characters() -> None:
    texts = all_texts("a*?\n", 4)
    for pattern in all_texts("a*?\n", 4):
        check(pattern, texts)


class Drawing:
    """Random patterns, each with texts of which about half match."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self, longest: int) -> str:
        return "".join(self.random.choices(self.alphabet, k=self.random.randint(0, longest)))

    def pattern(self) -> str:
        self.alphabet = self.random.choice([ODD[:2], ODD[:3], ODD])
        pieces = [self.text(4) for _ in range(self.random.randint(1, 5))]
        stars = self.random.choice([1, 1, 2, 300])
        wild = "".join(piece + self.random.choice(["*" * stars, "*", "?", "?*", ""]) for piece in pieces)
        return self.random.choice(["", "", "*"]) + wild

    def texts(self, pattern: str) -> list[str]:
        made = [
            "".join(
                self.text(3) if each == "*" else self.text(1) or "a" if each == "?" else each
                for each in re.sub("[*]+", "*", pattern)
            )
            for _ in range(8)
        ]
        broken = []
        for text in made:
            at = self.random.randint(0, len(text))
            broken.append(text[:at] + self.random.choice(["", self.text(1)]) + text[at + 1 :])
        return [*made, *broken, self.text(6), ""]


def check_many(seed: int, cases: int) -> None:
    drawing = Drawing(seed)
    matched = tried = 0
    for _ in range(cases):
        pattern = drawing.pattern()
        texts = drawing.texts(pattern)
        matched += check(pattern, texts)
        tried += len(texts)
    assert 0.4 < matched / tried < 0.8


def test_random_globs_match_as_regular_expressions() -> None:
    check_many(1, 5_000)


@pytest.mark.slow
def test_so_do_very_many_globs() -> None:
    check_many(2, 50_000)


def test_many_stars_take_no_longer() -> None:
    assert not glob("*a" * 200 + "*b")("a" * 5000)
    assert not glob("*?a" * 200 + "*b")("a" * 5000)
    assert glob("*" * 100_000 + "a")("b" * 5000 + "a")
