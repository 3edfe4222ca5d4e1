"""One problem of an input: where it is and what would be right."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

__all__ = [
    "MAX_ISSUES",
    "Issue",
    "capped",
    "child",
    "did_you_mean",
    "few_searches",
    "kind_of",
    "near_name",
    "pointer",
    "printable",
    "quoted",
    "shown",
    "tokens_of",
]

_SHOWN_LIMIT = 60


class _PathAndMessage(NamedTuple):
    path: str
    message: str


class Issue(_PathAndMessage):
    """A problem found in an input: a pair of where it is and a sentence. Issues are equal when these are.

    Attributes:
        path: JSON pointer (RFC 6901) to the value at fault; empty for the whole input.
        message: What is wrong and what would be right, in lower case, without a final period.
        code: What kind of problem it is, for code that says more of it: one of the constants below, or empty.
        data: What such code has to know.
    """

    code: str = ""
    data: Mapping[str, Any] = MappingProxyType({})

    KEY: ClassVar = "key"
    """The key at the end of the path is at fault, not its value."""
    VALUE: ClassVar = "value"
    """The sentence begins with the `value` at fault; it `wants` a string, number, integer, boolean or list instead."""
    NULL: ClassVar = "null"
    """The value is null; `right` is the clause that says what would be right."""
    FOREIGN: ClassVar = "foreign"
    """No JSON text could hold the value, or the key of an object."""
    MISSING: ClassVar = "missing"
    """A `key` is missing in the object."""

    def __new__(cls, path: str, message: str, code: str = "", **data: Any) -> Self:
        issue = super().__new__(cls, path, message)
        if code:
            issue.code, issue.data = code, data
        return issue

    def under(self, path: str) -> "Issue":
        """The same problem of a value that stands at `path`."""
        return Issue(path + self.path, self.message, self.code, **self.data)

    def with_more(self, more: str) -> "Issue":
        """The same problem, and what more there is to say of it."""
        return Issue(self.path, self.message + more, self.code, **self.data)

    def __str__(self) -> str:
        return f"{printable(self.path)}: {self.message}" if self.path else self.message


MAX_ISSUES = 1_000
"""How many issues an error keeps."""


def capped(issues: Iterable[Issue]) -> tuple[Issue, ...]:
    """The issues; of more than an error keeps, the first ones, and a last one that says how many more there are."""
    found = tuple(issues)
    if len(found) <= MAX_ISSUES:
        return found
    more = len(found) - (MAX_ISSUES - 1)
    return (*found[: MAX_ISSUES - 1], Issue("", f"{more} more problems are not listed; correct these first"))


def child(parent: str, *tokens: str | int) -> str:
    """Extend the JSON pointer `parent` by `tokens`, escaped as RFC 6901 says.

    Example:
        >>> from whyroute import child
        >>> child("/needs", 0, "a/b")
        '/needs/0/a~1b'
    """
    return parent + "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def pointer(tokens: Iterable[str | int]) -> str:
    """The JSON pointer (RFC 6901) made of `tokens`."""
    return child("", *tokens)


def tokens_of(path: str) -> list[str]:
    """The keys and indices of a JSON pointer, from the outside in."""
    return [token.replace("~1", "/").replace("~0", "~") for token in path.split("/")[1:]]


def shown(value: object) -> str:
    """What the user typed, in backticks, cut to one short line."""
    if type(value) is str and len(value) <= _SHOWN_LIMIT and value.isprintable():
        return f"`{value}`"
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
            name = type(value).__name__
            return f"{'an' if name[:1].lower() in tuple('aeiou') else 'a'} {name}"


def quoted(names: Collection[Any], *, limit: int = 20) -> str:
    """Names in backticks, separated by commas; past `limit`, how many more there are."""
    more = len(names) - limit
    return ", ".join(map(shown, islice(names, limit))) + (f" and {more} more" if more > 0 else "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` when a known name is near `name`, else the empty string.

    The same mistake may stand in an input thousands of times, so what was near is remembered. Within `few_searches`,
    nothing is near any more once so many names were compared that the answers are too many to read.
    """
    near = near_name(name, known)
    return "" if near is None else f"; did you mean {shown(near)}?"


def near_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, as `did_you_mean` finds it."""
    left = _LEFT.get()
    if len(name) > _LONG or (left is not None and left[0] <= 0):
        return None
    names = tuple(known)
    if left is not None:
        left[0] -= 1 + (len(names) if len(names) <= _MANY else _MANY + len(names) // 16)
    near = _nearest(name, names)
    return None if near == name else near


@contextmanager
def few_searches() -> Iterator[None]:
    """Bounds the search for near names while one input is read; it is counted and not timed, so that the same input
    gets the same answer everywhere. Within another one it changes nothing.
    """
    if _LEFT.get() is not None:
        yield
        return
    token = _LEFT.set([_SEARCHED])
    try:
        yield
    finally:
        _LEFT.reset(token)


_SEARCHED = 40_000  # names compared for one input: about half a second
_LEFT: ContextVar[list[int] | None] = ContextVar("names that may still be compared", default=None)
_LONG = 200  # no name that is this long is taken for another
_MANY = 1_000  # of more names than this, only those that begin or end like the name are compared with it
_CUTOFF = 0.7
_PART = 3  # characters that a text has at least which is taken for the beginning or the end of a name


@lru_cache(maxsize=1024)
def _nearest(name: str, known: tuple[str, ...]) -> str | None:
    folded, wanted = _folded_names(known), _folded(name)
    exact = folded.get(wanted)
    if exact is not None:
        return exact
    meant = _MEANT.get(wanted)
    if meant is not None:
        return meant if meant in known else None
    part = _part(wanted, folded)
    if part is not None:
        return folded[part]
    comparable: Iterable[str] = folded
    if len(folded) > _MANY:
        ends = wanted[:3], wanted[-3:]
        comparable = islice((other for other in folded if other.startswith(ends[0]) or other.endswith(ends[1])), _MANY)
    found = get_close_matches(wanted, [other for other in comparable if _may_be_near(wanted, other)], 1, _CUTOFF)
    return folded[found[0]] if found else None


def _part(wanted: str, known: Iterable[str]) -> str | None:
    """The name that a text begins or ends, the shortest; else the longest that the text begins or ends with."""
    if len(wanted) < _PART:
        return None
    whole = [name for name in known if name.startswith(wanted) or name.endswith(wanted)]
    if whole:
        nearest = min(whole, key=lambda name: (len(name), name))
        if len(whole) == 1 or 2 * len(wanted) > len(nearest):  # what begins many names means none of them
            return nearest
    parts = [
        name for name in known if 2 * len(name) > len(wanted) and (wanted.startswith(name) or wanted.endswith(name))
    ]
    return max(parts, key=lambda name: (len(name), name), default=None)


_MEANT = {"callusd": "callUsd", "maxcallusd": "callUsd"}
"""What texts mean whose letters are nearer to another name: a price of calls, not the cap on prices of tokens."""


@lru_cache(maxsize=64)
def _folded_names(known: tuple[str, ...]) -> dict[str, str]:
    folded: dict[str, str] = {}
    for candidate in sorted(set(known)):
        folded.setdefault(_folded(candidate), candidate)
    return folded


def _may_be_near(one: str, other: str) -> bool:
    """Whether two names share so many characters that comparing them in order, which takes long, may pay."""
    length = (_CUTOFF - 0.01) * (len(one) + len(other))  # the comparison itself rounds
    return 2 * min(len(one), len(other)) >= length and 2 * sum(c in other for c in one) >= length


def _folded(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")
