"""Sentences about broken documents, the same whichever validator found the fault, and their order."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ..basics.issues import Issue, did_you_mean, kind_of, near_name, quoted, shown

__all__ = [
    "counted",
    "found",
    "in_backticks",
    "in_document_order",
    "joined",
    "missing",
    "missing_keys",
    "null",
    "unknown_key",
    "wrong",
]


def found(value: object) -> str:
    """What stands in the document, for the head of a sentence: the value where it is short, and its type."""
    match value:
        case None:
            return "`null`"
        case "":
            return "an empty string"
        case Mapping():
            return "an object" if value else "an empty object"
        case list() | tuple():
            return "a list" if value else "an empty list"
        case _:
            return f"{shown(value)}, {kind_of(value)}"


def counted(count: int, one: str, many: str = "") -> str:
    """`1 case`, `14 cases`."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def wrong(path: str, value: object, right: str, *, wants: str = "") -> Issue:
    """The issue about a value that is wrong.

    Args:
        path: JSON pointer of the value.
        value: The value.
        right: What would be right, as a clause.
        wants: The type that would be right, where a value of another type may be meant to be of it.
    """
    if value is None:
        return null(path, right)
    return Issue(path, f"{found(value)}; {right}", Issue.VALUE, value=value, wants=wants)


def null(path: str, right: str) -> Issue:
    """The issue about a null.

    Args:
        path: JSON pointer of the null.
        right: What would be right, as a clause.
    """
    token = path.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
    what = "null" if not token else f"item {token} is null" if token.isdecimal() else f"{shown(token)} is null"
    return Issue(path, f"{what}; {right}", Issue.NULL, right=right)


def missing(path: str, key: str, more: str = "") -> Issue:
    """The issue about a key that an object lacks."""
    return Issue(path, f"{shown(key)} is missing{more}", Issue.MISSING, key=key)


def joined(parts: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def in_backticks(names: Iterable[str], last: str) -> str:
    """Names in backticks, with `last` before the last one."""
    return joined([*map(shown, names)], last)


def unknown_key(path: str, key: str, known: Collection[str], present: Collection[str]) -> Issue:
    """The issue about a key that an object can't have; `near` is the one that it was meant to be, where there is one.

    Args:
        path: JSON pointer of the key's value.
        key: The key at fault.
        known: The keys that the object may have.
        present: The keys that it has; none of them is suggested.
    """
    near = near_name(key, [name for name in known if name not in present])
    hint = f"; did you mean {shown(near)}?" if near is not None else f"; the keys are {quoted(known)}"
    if near is None and len(known) == 1:
        hint = f"; the only key is {quoted(known)}"
    message = f"{shown(key) if key else 'the empty string'} is not a key here{hint}"
    return Issue(path, message, Issue.KEY, near=near)


def missing_keys(required: Iterable[str], known: Collection[str], present: Collection[str]) -> list[str]:
    """The required keys that an object lacks, but for those that one of its unknown keys was meant to be."""
    missing = [name for name in required if name not in present]
    if missing:
        unknown = [key for key in present if key not in known]
        missing = [name for name in missing if not any(did_you_mean(key, [name]) for key in unknown)]
    return missing


def in_document_order(issues: Iterable[Issue], document: Any, path: str = "") -> list[Issue]:
    """Issues by where they stand in the document: an object before what is in it, each one once.

    Args:
        issues: Issues whose pointers start with `path`; those of one place keep their order.
        document: The value that `path` points to.
    """
    places: dict[tuple[str, ...], dict[Any, int]] = {}  # of the keys of each object, by its pointer

    def position(issue: Issue) -> tuple[int, ...]:
        value = document
        steps: list[int] = []
        tokens = tuple(issue.path[len(path) :].split("/")[1:])
        for depth, token in enumerate(tokens):
            if isinstance(value, Mapping):
                key = token.replace("~1", "/").replace("~0", "~")
                here = tokens[:depth]
                if here not in places:
                    places[here] = {name: index for index, name in enumerate(value)}
                steps.append(places[here].get(key, len(value)))
                value = value.get(key)
            elif isinstance(value, list | tuple) and token.isdecimal() and int(token) < len(value):
                steps.append(int(token))
                value = value[int(token)]
            else:
                break
        return tuple(steps)

    return sorted(dict.fromkeys(issues), key=position)
