"""One problem of an input: where it is and what would be right."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Any, NamedTuple

__all__ = ["Issue", "child", "did_you_mean", "kind_of", "pointer", "printable", "quoted", "shown"]

_SHOWN_LIMIT = 60


class Issue(NamedTuple):
    """A problem found in an input.

    Attributes:
        path: JSON pointer (RFC 6901) to the value at fault; empty for the whole input.
        message: What is wrong and what would be right, in lower case, without a final period.
    """

    path: str
    message: str

    def __str__(self) -> str:
        return f"{printable(self.path)}: {self.message}" if self.path else self.message


def child(parent: str, *tokens: str | int) -> str:
    """Extend the JSON pointer `parent` by `tokens`, escaped as RFC 6901 says."""
    return parent + "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def pointer(tokens: Iterable[str | int]) -> str:
    """The JSON pointer (RFC 6901) made of `tokens`."""
    return child("", *tokens)


def shown(value: object) -> str:
    """What the user typed, in backticks, cut to one short line."""
    text = value if isinstance(value, str) else _literal(value)
    return f"`{printable(text[:_SHOWN_LIMIT])}{'...' if len(text) > _SHOWN_LIMIT else ''}`"


def printable(text: str) -> str:
    """Text on one line, with an escape for each character that a terminal would not show."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _literal(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            # A huge integer has no short decimal form, and printing it takes quadratic time.
            return str(value) if value.bit_length() < 256 else f"an integer of {value.bit_length()} bits"
        case dict():
            return "{}" if not value else "{...}"
        case list() | tuple():
            return "[]" if not value else "[...]"
        case float() | complex():
            return repr(value)
        case _:
            return type(value).__name__


def kind_of(value: object) -> str:
    """The JSON name of a value's type, with its article."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case dict():
            return "an object"
        case list() | tuple():
            return "a list"
        case _:
            return f"a {type(value).__name__}"


def quoted(names: Collection[Any], *, limit: int = 20) -> str:
    """Names in backticks, separated by commas; past `limit`, how many more there are."""
    more = len(names) - limit
    return ", ".join(map(shown, islice(names, limit))) + (f" and {more} more" if more > 0 else "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` when a known name is near `name`, else the empty string."""
    candidates = sorted(set(known))
    if len(name) > 200:
        return ""
    folded: dict[str, str] = {}
    for candidate in candidates:
        folded.setdefault(_folded(candidate), candidate)
    near = folded.get(_folded(name))
    if near is None:
        found = get_close_matches(_folded(name), folded, n=1, cutoff=0.7)
        near = folded[found[0]] if found else None
    return f"; did you mean {shown(near)}?" if near is not None and near != name else ""


def _folded(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")
