"""YAML 1.2 reading, with the checks that hold for every text that came from outside."""

import re
import warnings
from typing import Any, Final

from ..basics.issues import shown

__all__ = ["YamlTextError", "other_version", "read_yaml", "with_whole_characters"]

MAX_VALUES = 5_000_000
"""How many values a document may hold once its aliases are written out."""

_TAG: Final = "tag:yaml.org,2002:"
_MERGE: Final = f"{_TAG}merge"
_NUMBERS: Final = (f"{_TAG}int", f"{_TAG}float")

# Before the first document: comments, empty lines and other directives.
_VERSION: Final = re.compile(r"\ufeff?(?:(?:[ \t]*(?:#[^\r\n]*)?|%[^\r\n]*)(?:\r\n|\r|\n))*?%YAML[ \t]+([^\s#]+)")
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class YamlTextError(ValueError):
    """A text is not YAML. `message` says what is wrong and, where known, the line and column, both from 1."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


def read_yaml(text: str | bytes) -> Any:
    """Parse one YAML 1.2 document: `no` is a string, a key twice is an error, and so is the merge key `<<`; UTF-8.

    Returns:
        Dictionaries, lists and scalars; None for an empty text. A date or a time without quotes is one, and no string.

    Raises:
        YamlTextError: The text is not UTF-8, not YAML or of another version of it, holds more than one document, merges
            keys, or its aliases lead back to themselves or stand for too many values.
    """
    from ruamel.yaml import YAML  # noqa: PLC0415  the reader is slow to import, and JSON files don't need it
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415

    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise YamlTextError(f"not UTF-8: byte {error.start + 1} is 0x{text[error.start]:02x}") from None
    if (other := other_version(text)) is not None:
        line, what = other
        raise YamlTextError(f"line {line}, column 1: {what}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the reader warns of anchors used twice, which YAML 1.2 allows
            # The reader written in C knows YAML 1.1 only.
            reader = YAML(typ="safe", pure=True)
            root = reader.compose(text)
            if root is None:
                return None
            _check(root, {}, set())
            return reader.constructor.construct_document(root)
    except YamlTextError:
        raise
    except MarkedYAMLError as error:
        raise YamlTextError(_sentence(error)) from None
    except YAMLError as error:
        raise YamlTextError(f"not YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise YamlTextError("nested too deeply") from None
    except (ValueError, OverflowError, LookupError, AssertionError) as error:
        # A date like 2026-13-45, a number of thousands of digits, `!!bool maybe`, `!!int ""`, `%YAML 1.3`.
        raise YamlTextError(f"a value that can't be read: {error}; write text in quotes") from None


def other_version(text: str) -> tuple[int, str] | None:
    """The line, from 1, that says a text is of another version of YAML than 1.2, and what to say of it."""
    found = _VERSION.match(text)
    if found is None or found[1] == "1.2":
        return None
    line = len(text[: found.start(1)].splitlines())
    return line, f"version {shown(found[1])} of YAML is not read here; it is 1.2, and the line can be left out"


def _sentence(error: Any) -> str:
    what = " ".join(str(part) for part in (error.context, error.problem) if part) or "not readable"
    what = what.splitlines()[0]
    what = what[:1].lower() + what[1:]
    mark = error.problem_mark or error.context_mark
    return f"not YAML: {what}" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: not YAML: {what}"


def _check(node: Any, known: dict[Any, int], open_now: set[Any]) -> int:
    """How many values a node stands for. An alias shares its node, so that a short text can stand for a huge one.

    Looks at the graph of nodes, before any value is made: merging keys would write aliases out while values are made.
    """
    if isinstance(node.value, str):
        _settle(node)
        return 1
    if node in known:
        return known[node]
    if node in open_now:
        raise YamlTextError(f"{_place(node)}an alias stands inside the value it names")
    open_now.add(node)
    total = 1
    for item in node.value:
        if isinstance(item, tuple):
            key, value = item
            if key.tag == _MERGE:
                raise YamlTextError(f"{_place(key)}`<<` merges nothing in YAML 1.2; write the keys out")
            total += _check(key, known, open_now) + _check(value, known, open_now)
        else:
            total += _check(item, known, open_now)
        if total > MAX_VALUES:
            raise YamlTextError(f"its aliases stand for more than {shown(MAX_VALUES)} values")
    open_now.discard(node)
    known[node] = total
    return total


def _settle(node: Any) -> None:
    """Make a scalar what the core schema of YAML 1.2 says; the reader still knows some of 1.1."""
    node.value = with_whole_characters(node.value)
    # `=` and `<<` mean nothing there but themselves, and no number is written with `_`.
    if node.tag in (_MERGE, f"{_TAG}value") or (node.tag in _NUMBERS and node.style is None and "_" in node.value):
        node.tag = f"{_TAG}str"


def with_whole_characters(text: str) -> str:
    """Text in which two halves that JSON escapes one by one, as in `\\ud83d\\ude00`, are the character they stand for.

    A half without its other one stays as it is.
    """
    if text.isascii() or _PAIR.search(text) is None:
        return text
    return _PAIR.sub(lambda pair: pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text)


def _place(node: Any) -> str:
    return f"line {node.start_mark.line + 1}, column {node.start_mark.column + 1}: "
