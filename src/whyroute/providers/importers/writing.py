"""Providers as a file: YAML that is small, readable, and means the same to readers of YAML 1.1 and 1.2; and JSON."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from ...documents.json_text import terminal_safe
from ..provider_files import FORMAT_VERSION

__all__ = ["to_json", "to_yaml"]

_ON_ONE_LINE = frozenset({"attributes", "cost", "features", "labels", "thinking"})
# Words joined by one space or colon each, none of which starts like a number, an indicator or a comment.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.@/+()-]*(?:[ :][A-Za-z0-9_.@/+()-]+)*")
_PLAIN_ON_ONE_LINE = re.compile(r"[A-Za-z][A-Za-z0-9_./+-]*")
_NOT_TEXT = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
"""What some reader of YAML takes for a boolean or null."""

_MOST_ZEROS = 9  # prices per 1,000 tokens go down to about 0.000001, and read better without an exponent


def to_yaml(providers: Iterable[Mapping[str, Any]], *, header: str = "") -> str:
    """A YAML document with the providers under `providers`, that reads back as exactly the same data.

    Args:
        providers: In wire form.
        header: Lines to put above it as comments.
    """
    lines = [f"# {_comment(line)}".rstrip() for line in header.splitlines()]
    lines.append(f"whyroute: {FORMAT_VERSION}")
    items = list(providers)
    if not items:
        lines.append("providers: []")
    else:
        lines.append("providers:")
        for provider in items:
            lines += _item(provider, "  ")
    return "\n".join(lines) + "\n"


def to_json(providers: Iterable[Mapping[str, Any]]) -> str:
    """The same document as JSON text, indented by two."""
    document = {"whyroute": FORMAT_VERSION, "providers": list(providers)}
    return terminal_safe(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)) + "\n"


def _comment(line: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in line)


def _item(value: Any, indent: str) -> list[str]:
    """An item of a block list: its first line starts with the dash."""
    if isinstance(value, Mapping) and value:
        lines = _mapping(value, indent + "  ")
        return [f"{indent}- {lines[0].lstrip(' ')}", *lines[1:]]
    return [f"{indent}- {_on_one_line(value)}"]


def _mapping(value: Mapping[str, Any], indent: str) -> list[str]:
    lines: list[str] = []
    for key, item in value.items():
        start = f"{indent}{_text(key, _PLAIN)}:"
        if key in _ON_ONE_LINE or not isinstance(item, Mapping | list | tuple) or not item:
            lines.append(f"{start} {_on_one_line(item, _PLAIN)}")
        elif isinstance(item, Mapping):
            lines += [start, *_mapping(item, indent + "  ")]
        else:
            lines.append(start)
            for element in item:
                lines += _item(element, indent + "  ")
    return lines


def _on_one_line(value: Any, plain: re.Pattern[str] = _PLAIN_ON_ONE_LINE) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _float(value)
        case str():
            return _text(value, plain)
        case Mapping():
            pairs = (f"{_text(key, _PLAIN_ON_ONE_LINE)}: {_on_one_line(item)}" for key, item in value.items())
            return "{" + ", ".join(pairs) + "}"
        case list() | tuple():
            return "[" + ", ".join(_on_one_line(item) for item in value) + "]"
        case _:
            raise TypeError(f"a {type(value).__name__} has no place in wire metadata")


def _float(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError("a number that is not finite has no place in wire metadata")
    mantissa, e, exponent = repr(value).partition("e")
    if not e:
        return mantissa
    if -_MOST_ZEROS <= int(exponent) < 0:
        return format(Decimal(repr(value)), "f")
    # Without a point in the mantissa, YAML 1.1 takes 1e+17 for text.
    return repr(value) if "." in mantissa else f"{mantissa}.0e{exponent}"


def _text(value: str, plain: re.Pattern[str]) -> str:
    if plain.fullmatch(value) and value.casefold() not in _NOT_TEXT:
        return value
    escaped = (
        {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}.get(character)
        or (character if character.isprintable() else f"\\U{ord(character):08x}")
        for character in value
    )
    return '"' + "".join(escaped) + '"'
