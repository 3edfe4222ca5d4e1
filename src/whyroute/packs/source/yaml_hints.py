"""Slips of people who write YAML: what they meant, from where the parser gave up or what it read instead."""

import re
import warnings
from collections.abc import Sequence
from typing import Final

from ...basics.issues import shown
from .nodes import Position

__all__ = [
    "DASH",
    "FREE_TEXT",
    "comma_in_number",
    "cut_off",
    "indent_problem",
    "missing_space",
    "slip",
    "without_comma",
]

FREE_TEXT: Final = frozenset({"because", "description", "name", "owner"})
"""The keys whose values are sentences, in which a `#` may be meant as one."""

_COMMENT_NEXT: Final = re.compile(r" +(#)(?=[^\s#])")
DASH: Final = "a space is missing after the `-`"
"""What to say of an item of a list whose dash became a part of it."""

_SENTENCES: Final = frozenset({"because", "description"})
_INDENT: Final = re.compile("(?:[ ]|-[ ]*)*([\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000])")
_KEY: Final = re.compile(r"(?P<before> *(?:- +)*)(?P<key>[A-Za-z_][\w.-]*|\"[^\"]*\"|'[^']*'):(?=\s|$)", re.ASCII)
_NO_SPACE: Final = re.compile(r" *(?:- +)*([A-Za-z_][A-Za-z0-9_]*):(?![ \t/:])(?=.)")
_NO_SPACE_AFTER_DASH: Final = re.compile(r"( *(?:- +)*-)[A-Za-z_][\w.-]*:(?=\s)", re.ASCII)
_CUT: Final = re.compile(r"\b(?:because|description): +[^\s\"'#].*? (#)(?=[^\s#])")
_DIGITS: Final = re.compile(r"[-+]?[0-9]+", re.ASCII)
_NUMBER_BEFORE: Final = re.compile(r"(?<![\w.])[-+]?[0-9]+(?:,[0-9]+)*,\Z", re.ASCII)
_MORE_DIGITS: Final = re.compile(r"[0-9]+(?:,[0-9]+)*", re.ASCII)
_THOUSANDS: Final = re.compile(r"[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3})+", re.ASCII)


def slip(text: str, said: str, at: Position, since: Position | None) -> tuple[Position, str] | None:
    """What was meant where the parser gave up, and where; None when nothing is known.

    Args:
        text: The text of the file.
        said: The parser's words.
        at: Where it gave up.
        since: Where what it was reading began.
    """
    lines = text.split("\n")
    if max(at[0], since[0] if since is not None else 0) > len(lines):
        return None  # the parser counts lines otherwise
    before = _line_before(lines, at[0])
    starts = [since[0]] if since is not None and "simple key" in said else []
    for number in sorted({*starts, before, at[0]}):
        if number and (problem := indent_problem(lines[number - 1])) is not None:
            return (number, problem[0]), problem[1]
    return (
        _quotes(text, lines, said, at)
        or _comment(lines, at, since)
        or _colon(lines, said, before, since)
        or _deeper(lines, said, at, before)
        or _bracket(lines, said, at, since)
        or _star(said, since)
    )


def _line_before(lines: Sequence[str], number: int) -> int:
    """The number of the last line before one that holds more than a comment; 0 when there is none."""
    for index in range(min(number - 1, len(lines)) - 1, -1, -1):
        content = lines[index].strip(" ")
        if content and not content.startswith("#"):
            return index + 1
    return 0


def indent_problem(line: str) -> tuple[int, str] | None:
    """The column of a space in the indentation that is none to YAML, and what to say of it."""
    found = None if line.isascii() else _INDENT.match(line)
    if found is None:
        return None
    code = ord(found[1])
    what = "a no-break space" if code == 0xA0 else "a wide or narrow space"
    return found.start(1) + 1, f"{what} (U+{code:04X}) in the indentation, where YAML takes ordinary spaces only"


def _quotes(text: str, lines: Sequence[str], said: str, at: Position) -> tuple[Position, str] | None:
    """A quote that ends the text too early."""
    before = lines[at[0] - 1][: at[1] - 1]
    inside = before.rstrip(" ")
    if not inside.endswith(("'", '"')):
        return None
    start = _opened(text, (at[0], len(inside) + 1))
    if start is None:
        return None
    if start[0] < at[0]:
        return start, f"these quotes are not closed on their line; the next ones, on line {at[0]}, end the text"
    if inside != before and re.search(r"expected ',' or", said):
        return None  # a comma is missing between two texts
    if inside.endswith("'"):
        return at, "the quotes end before this; write `''` for a quote inside single quotes, or use double quotes"
    return at, 'the quotes end before this; write `\\"` for a quote inside double quotes, or use single quotes'


def _opened(text: str, end: Position) -> Position | None:
    """Where the quoted text began that ends at a place."""
    from ruamel.yaml import YAML  # noqa: PLC0415  slow to import
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for token in YAML(typ="safe", pure=True).scan(text):
                mark = token.end_mark
                if getattr(token, "style", None) in ("'", '"') and (mark.line + 1, mark.column + 1) == end:
                    return token.start_mark.line + 1, token.start_mark.column + 1
    except (YAMLError, ValueError, OverflowError, IndexError, AttributeError, TypeError, AssertionError):
        return None  # it gives up where the parser did
    return None


_COMMENT: Final = (
    "a space and `#` begin a comment, which is no part of the text; put the text in quotes, "
    "or a space after the `#` of a comment"
)


def _comment(lines: Sequence[str], at: Position, since: Position | None) -> tuple[Position, str] | None:
    """Text that a `#` cuts off, so that what follows fits nowhere."""
    first = since[0] if since is not None else at[0]
    for number in (at[0] - 1, first):
        found = _CUT.search(lines[number - 1]) if 0 < number < at[0] else None
        if found is not None:
            return (number, found.start(1) + 1), _COMMENT
    return None


def cut_off(key: str | None, value: str, line: str, end: int) -> tuple[int, str] | None:
    """The column of a comment that reads on like the plain text before it, and what to say of it.

    Args:
        key: The key whose value the text is.
        value: The text.
        line: The line on which it ends.
        end: Its length up to there.
    """
    if key not in FREE_TEXT or (key not in _SENTENCES and " " not in value and value):
        return None
    found = _COMMENT_NEXT.match(line, len(line[:end].rstrip(" ")))
    if found is None:
        return None
    return found.start(1) + 1, _COMMENT


def _colon(lines: Sequence[str], said: str, before: int, since: Position | None) -> tuple[Position, str] | None:
    """A key whose colon has no space after it."""
    if "mapping values are not allowed" in said:
        number = before
        dash = _NO_SPACE_AFTER_DASH.match(lines[before - 1]) if before else None
        if dash is not None:
            return (before, dash.end(1) + 1), DASH
    elif "could not find expected ':'" in said and since is not None:
        number = since[0]
    else:
        return None
    found = _NO_SPACE.match(lines[number - 1]) if number else None
    return None if found is None else ((number, found.end(1) + 1), _space_after(found[1]))


def _space_after(key: str) -> str:
    return f"a space is missing after the colon of {shown(key + ':')}"


def missing_space(text: str) -> tuple[str, int, str] | None:
    """The key of a text such as `name:x`, the index of its colon, and what to say of it."""
    found = _NO_SPACE.match(text)
    return None if found is None else (found[1], found.end(1), _space_after(found[1]))


def _deeper(lines: Sequence[str], said: str, at: Position, before: int) -> tuple[Position, str] | None:
    """A key further in than the one above it, which has a value of its own."""
    if not before or not re.search(r"mapping values are not allowed|<block mapping start>", said):
        return None
    here, above = _KEY.match(lines[at[0] - 1]), _KEY.match(lines[before - 1])
    if here is None or above is None or "-" in here["before"] or len(here["before"]) <= len(above["before"]):
        return None
    value = lines[before - 1][above.end() :].strip(" ")
    if not value or value.startswith("#") or ("mapping values" in said and at[1] != here.end()):
        return None  # it is the value of that key, or something else is wrong with it
    message = (
        f"{shown(here['key'])} is indented deeper than {shown(above['key'])} above it; keys of one mapping line up"
    )
    if "mapping values" in said:
        message += ", and text that holds `: ` goes in quotes"
    return (at[0], len(here["before"]) + 1), message


def _bracket(lines: Sequence[str], said: str, at: Position, since: Position | None) -> tuple[Position, str] | None:
    """A list or a mapping in brackets that is still open where the next key or item begins."""
    found = re.search(r"while parsing a flow (sequence|mapping)", said)
    if found is None or since is None or since[0] >= at[0]:
        return None
    line, opening = lines[at[0] - 1], _KEY.match(lines[since[0] - 1])
    if not re.match(r" *- ", line) and _KEY.match(line) is None:
        return None
    if len(line) - len(line.lstrip(" ")) > (0 if opening is None else len(opening["before"])):
        return None
    return since, f"this `{'[' if found[1] == 'sequence' else '{'}` is not closed"


def _star(said: str, since: Position | None) -> tuple[Position, str] | None:
    found = re.search(r"scanning an (alias|anchor).*expected alphabetic", said)
    if found is None or since is None:
        return None
    return since, f"text that begins with `{'*' if found[1] == 'alias' else '&'}` goes in quotes"


def comma_in_number(line: str, column: int, rest: str) -> tuple[int, str] | None:
    """The column where a number with a comma begins, and what to say of it.

    Args:
        line: The line.
        column: Where the digits after the comma begin, from 1.
        rest: Those digits.
    """
    if not _DIGITS.fullmatch(rest):
        return None
    found = _NUMBER_BEFORE.search(line, 0, column - 1)
    if found is None:
        return None
    more = _MORE_DIGITS.match(line, column - 1)
    written = found.group() + (rest if more is None else more.group())
    return (
        found.start() + 1,
        f"a comma ends a value here, and {shown(written)} is more than one; {without_comma(written)}",
    )


def without_comma(written: str, *, whole: bool = False) -> str:
    """How to write a number that was written with commas; `whole`: only an integer can be meant."""
    decimal = shown(written.replace(",", ".")) if written.count(",") == 1 and not whole else ""
    if _THOUSANDS.fullmatch(written):
        return f"write {shown(written.replace(',', ''))}" + (f", or {decimal} for a decimal" if decimal else "")
    return f"a decimal takes a point: {decimal}" if decimal else "a number holds no comma"
