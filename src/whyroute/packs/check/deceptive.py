"""Text that reads otherwise than it is: characters that turn the order of others around, that can't be seen, or that
look like those of another script.

What is meant is what a reviewer sees. Characters written as escapes can be seen, so only those that stand in the file
as they are count. See Boucher and Anderson, "Trojan Source: Invisible Vulnerabilities" (2021), and Unicode Technical
Reports 36 and 39.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from ...basics.issues import shown
from ..load.composing import compose
from ..source.nodes import Node, Position
from ..source.problems import Place
from ..source.sources import Source
from .findings import Finding, found

__all__ = ["deceptive_text"]

_TURNING: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Embeddings, overrides and isolates of the bidirectional algorithm, which hold for the text around them."""

_BLANK: Final = "\xa0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000"
_UNSEEN: Final = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2065\u206a-\u206f\u3164"
    "\ufe00-\ufe0f\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Unicode's default ignorable code points, without those of `_TURNING`; and what is annotated between lines."""

_ALIKE: Final = (
    "\u0370-\u052f\u0531-\u0588\u10a0-\u10ff\u13a0-\u13ff\u1c80-\u1c8f\u1c90-\u1cbf\u1d26-\u1d2b\u1d66-\u1d6a\u1f00-\u1fff"
    "\u2c80-\u2cff\u2d00-\u2d2f\u2de0-\u2dff\ua4d0-\ua4ff\ua640-\ua69f\uab65\uab70-\uabbf\ufb13-\ufb17\U00011fb0"
)
"""Scripts with letters like Latin ones: Greek, Cyrillic, Armenian, Georgian, Cherokee, Coptic and Lisu."""

_BLANKS: Final = re.compile(f"[{_BLANK}]")
_UNSEENS: Final = re.compile(f"[{_UNSEEN}]")
_MIXED: Final = re.compile(f"[{_ALIKE}]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_SUSPECT: Final = re.compile(f"[{_BLANK}{_UNSEEN}{_ALIKE}]")

_PROSE: Final = ("because", "description", "title")
"""Keys of text for people, in which such characters have their uses and decide nothing."""

_ESCAPE: Final = 10
"""How many characters of a file stand for one of a value at most."""


def deceptive_text(source: Source) -> Iterator[Finding]:
    """What in a file reads otherwise than it is. A file whose characters are all beyond suspicion is not read again."""
    if source.text.isascii():
        return
    starts = [0, *(match.end() for match in re.finditer("\n", source.text))]
    seen: set[int] = set()
    for match in _TURNING.finditer(source.text):
        line = bisect_right(starts, match.start())
        if line not in seen:
            seen.add(line)
            place = source.place(line, match.start() - starts[line - 1] + 1)
            what = f"the character {_named(match.group())} shows the text around it in another order than it has"
            yield found("deceptive-text", place, f"{what}; {_instead(match.group())}")
    if _SUSPECT.search(source.text):
        yield from _of_names(source, starts)


def _of_names(source: Source, starts: list[int]) -> Iterator[Finding]:
    """A name is told of once, with all the places where it stands."""
    root, _ = compose(source)
    places: dict[tuple[str, str], list[Place]] = {}
    for text, (line, column) in _names(root):
        if not text.isascii():
            start = starts[line - 1] + column - 1
            complaint = _complaint(text, source.text[start : start + _ESCAPE * len(text) + 2])
            if complaint is not None:
                places.setdefault((text, complaint), []).append(source.place(line, column))
    for (_, complaint), (first, *others) in places.items():
        yield found("deceptive-text", first, complaint, others)


def _names(root: Node | None) -> Iterator[tuple[str, Position]]:
    """The keys and the texts of a tree, but for prose."""
    waiting = [] if root is None else [root]
    seen: set[Node] = set()  # what an alias stands for is there more than once
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node.value, str):
            yield node.value, node.position
        elif isinstance(node.value, list):
            waiting += reversed(node.value)
        inner = [(key, place, value) for key, place, value in node.pairs()]
        yield from ((key, place) for key, place, _ in inner)
        waiting += [value for key, _, value in reversed(inner) if key not in _PROSE]


def _complaint(text: str, written: str) -> str | None:
    """What is deceptive about a name, as far as its characters stand as they are in what is written."""
    for pattern, what in ((_UNSEENS, "which can't be seen"), (_BLANKS, "which looks like a space")):
        for match in pattern.finditer(text):
            if match.group() in written:
                return f"{shown(text)} has {_named(match.group())}, {what}; {_instead(match.group())}"
    for word in _WORD.findall(text):
        strange = next((letter for letter in _MIXED.findall(word) if letter in written), None)
        if strange is not None and any(unicodedata.name(letter, "").startswith("LATIN ") for letter in word):
            what = f"{shown(text)} mixes Latin letters with {_named(strange)}, which may look like one"
            return f"{what}; write it in one script, or write {_escape(strange)} inside double quotes"
    return None


def _named(character: str) -> str:
    name = unicodedata.name(character, "").lower()
    return f"U+{ord(character):04X}" + (f" ({name})" if name else "")


def _instead(character: str) -> str:
    return f"leave it out, or write {_escape(character)} inside double quotes"


def _escape(character: str) -> str:
    return shown(f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}")
