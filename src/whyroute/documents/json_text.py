"""Strict JSON reading, and the checks that hold for every value that came from outside."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Number as AnyNumber
from typing import Any

from ..basics.issues import Issue, child, kind_of, shown
from ..basics.numbers import as_double

__all__ = ["JsonTextError", "Unreadable", "indented", "is_unicode", "plain", "read_json", "terminal_safe", "text_of"]

MAX_DEPTH = 64
"""How deep lists and objects may nest; no format of whyroute goes past a quarter of it."""

_MAX_DIGITS = 400  # a double has at most 309 digits before its point: a longer integer is out of range anyway


class JsonTextError(ValueError):
    """A text is not JSON.

    Attributes:
        message: What is wrong and where: line and column, both from 1.
        in_line: The same, for who names the line: without it, where the column is known.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        self.in_line = message
        self.message = message if line is None else f"line {line}, {message}"
        super().__init__(self.message)


def read_json(text: str | bytes, *, line: int = 1) -> Any:
    """Parse JSON (RFC 8259): no NaN, no Infinity, no key twice in one object, UTF-8.

    Args:
        text: The JSON text. A byte order mark is refused, as the RFC asks of writers.
        line: Number of the text's first line, for the message.

    Raises:
        JsonTextError: The text is empty, not UTF-8 or not JSON.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise JsonTextError(f"not UTF-8: byte {error.start + 1} is 0x{text[error.start]:02x}") from None
    if text.startswith("\ufeff"):
        raise JsonTextError("column 1: a byte order mark; save the text as UTF-8 without one", line)
    if not text.strip(" \t\r\n"):
        raise JsonTextError(f"line {line}: empty; a JSON value is expected")
    try:
        return json.loads(
            text, parse_int=_integer, parse_constant=_no_constant, object_pairs_hook=_object_without_duplicates
        )
    except json.JSONDecodeError as error:
        what = error.msg[:1].lower() + error.msg[1:]
        raise JsonTextError(f"column {error.colno}: not JSON: {what}", line + error.lineno - 1) from None
    except RecursionError:
        raise JsonTextError(f"line {line}: nested too deeply; at most {MAX_DEPTH} levels are read") from None
    except _NotStrictError as error:
        raise JsonTextError(f"line {line}: not JSON: {error}") from None


class _NotStrictError(ValueError):
    pass


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_DIGITS else (-math.inf if digits.startswith("-") else math.inf)


def _no_constant(name: str) -> Any:
    raise _NotStrictError(f"{shown(name)} is not a JSON number")


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _NotStrictError(f"key {shown(key)} stands twice in one object")
            seen.add(key)
    return found


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Where `plain` met a value that no JSON text could hold.

    Attributes:
        why: What is wrong with the value.
    """

    why: str


def plain(value: Any, path: str = "", *, max_depth: int = MAX_DEPTH, marked: bool = False) -> tuple[Any, list[Issue]]:
    """A JSON-like value with its numbers read as doubles, and what in it no JSON text could hold.

    Args:
        value: Dictionaries, lists, tuples, strings, numbers, booleans and None; a model stands
            for its wire form.
        path: JSON pointer of the value, for the issues.
        max_depth: How deep it may nest.
        marked: Put an Unreadable where a value of a foreign type stands, or one that nests too deeply; else None.

    Returns:
        A copy made of dict, list and scalars, and the issues: numbers that are not finite doubles, text that is not
        valid Unicode, keys that are not strings, foreign types, nesting that is too deep.
    """
    try:
        return _sound(value, max_depth), []
    except _UnsoundError:
        issues: list[Issue] = []
        return _plain(value, path, max_depth, issues, [], marked), issues


class _UnsoundError(Exception):
    """Something has no JSON form; `_plain` tells what and where."""


def _sound(value: Any, depth: int) -> Any:
    """A copy of what has no faults: most inputs, for which no pointer need be written."""
    kind = type(value)
    if kind is str:
        if value.isascii() or is_unicode(value):
            return value
    elif value is None or kind is bool:
        return value
    elif kind is int or kind is float:
        number = as_double(value)
        if math.isfinite(number):
            return number
    elif depth <= 0:
        pass  # and so one that holds itself ends here
    elif kind is list or kind is tuple:
        return [_sound(item, depth - 1) for item in value]
    elif kind is dict and all(type(key) is str and (key.isascii() or is_unicode(key)) for key in value):
        return {key: _sound(item, depth - 1) for key, item in value.items()}
    elif hasattr(value, "model_dump"):
        return _sound(_dumped(value), depth)
    raise _UnsoundError


def _dumped(model: Any) -> Any:
    """A model as it goes over the wire: what was given, under wire names. Loading pydantic to know one takes long."""
    return model.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)


def _plain(value: Any, path: str, depth: int, issues: list[Issue], holders: list[Any], marked: bool) -> Any:
    """`holders` are the objects and lists that the value stands in."""
    kind = type(value)
    if kind is str:
        if not value.isascii() and not is_unicode(value):
            issues.append(Issue(path, "text with half a surrogate pair; it is not valid Unicode"))
        return value
    if value is None or kind is bool:
        return value
    if isinstance(value, int | float):
        number = as_double(int(value) if isinstance(value, int) else float(value))
        if not math.isfinite(number):
            issues.append(Issue(path, f"{_not_finite(value)}; a finite number is expected"))
        return number
    if hasattr(value, "model_dump"):
        value = _dumped(value)
    if isinstance(value, Mapping | list | tuple):
        if depth <= 0 or any(value is each for each in holders):
            why = "nested too deeply" if depth <= 0 else f"{kind_of(value)} that holds itself"
            return _left_out(why, path, issues, marked)
        return _plain_items(value, path, depth, issues, [*holders, value], marked)
    if isinstance(value, str):
        # The text itself: an enumeration's own `str` may give the member's name.
        return _plain(str.__str__(value), path, depth, issues, holders, marked)
    hint = "; pass a float or an int" if isinstance(value, AnyNumber) else ""
    return _left_out(f"a Python {shown(kind.__name__)} has no JSON form{hint}", path, issues, marked, Issue.FOREIGN)


def _left_out(why: str, path: str, issues: list[Issue], marked: bool, code: str = "") -> Unreadable | None:
    issues.append(Issue(path, why, code))
    return Unreadable(why) if marked else None


def _plain_items(
    value: Mapping[Any, Any] | list[Any] | tuple[Any, ...],
    path: str,
    depth: int,
    issues: list[Issue],
    holders: list[Any],
    marked: bool,
) -> dict[str, Any] | list[Any]:
    if not isinstance(value, Mapping):
        return [_plain(item, f"{path}/{index}", depth - 1, issues, holders, marked) for index, item in enumerate(value)]
    found: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            issues.append(Issue(path, f"key {shown(key)} is not a string", Issue.FOREIGN, key=key))
        elif not key.isascii() and not is_unicode(key):
            issues.append(Issue(path, "a key with half a surrogate pair; it is not valid Unicode"))
        else:
            found[key] = _plain(item, child(path, key), depth - 1, issues, holders, marked)
    return found


def is_unicode(text: str) -> bool:
    """Whether it is text: no half of a surrogate pair stands in it, as of bytes that are no UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _not_finite(value: int | float) -> str:
    if isinstance(value, float) and math.isnan(value):
        return "`NaN` is not a number"
    return "the number is infinite" if isinstance(value, float) else "the integer is too large for a double"


# Writing.


def text_of(value: Any, **layout: Any) -> str:
    """A value as JSON text, characters beyond ASCII as they are; numbers that JSON doesn't have are refused.

    Args:
        value: The value.
        layout: How it is laid out, as `json.dumps` takes it.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, **layout)


def terminal_safe(text: str) -> str:
    """JSON text of the same meaning, with an escape for each character that a terminal would not show or would obey.

    Such characters stand only in strings; line feeds are those between values, and stay.
    """
    if text.isprintable() or (text.isascii() and "\x7f" not in text):
        return text  # in ASCII, the writer escapes all but this one
    return "\n".join(
        line if line.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in line)
        for line in text.split("\n")
    )


def _escape(character: str) -> str:
    return "\\u007f" if character == "\x7f" else json.dumps(character)[1:-1]


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"{}\[\],:]+|[{}\[\],:]')


def indented(pieces: Iterable[str]) -> Iterator[str]:
    """JSON text with two spaces for every level, as `json.dumps` indents it, without ever having the whole.

    Args:
        pieces: The text without line feeds. No piece ends within a string, a number or a word.
    """
    depth = 0
    opened = False  # a list or an object has begun, and whether it is empty is not known yet
    for piece in pieces:
        found: list[str] = []
        for token in _TOKEN.findall(piece):
            if token in ("}", "]"):
                depth -= 1
                found.append(token if opened else f"\n{'  ' * depth}{token}")
                opened = False
                continue
            if opened:
                found.append(f"\n{'  ' * depth}")
                opened = False
            if token in ("{", "["):
                depth += 1
                opened = True
                found.append(token)
            elif token == ",":
                found.append(f",\n{'  ' * depth}")
            else:
                found.append(": " if token == ":" else token)
        yield "".join(found)
