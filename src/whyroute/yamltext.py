"""YAML 1.2 reading, with the checks that hold for every text that came from outside."""

import warnings
from typing import Any

from .issues import shown

__all__ = ["YamlTextError", "read_yaml"]

MAX_VALUES = 5_000_000
"""How many values a document may hold once its aliases are written out."""

_MERGE = "tag:yaml.org,2002:merge"


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
        YamlTextError: The text is not UTF-8, not YAML, holds more than one document, merges keys, or its aliases
            lead back to themselves or stand for too many values.
    """
    from ruamel.yaml import YAML  # noqa: PLC0415  the reader is slow to import, and JSON files don't need it
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415

    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise YamlTextError(f"not UTF-8: byte {error.start + 1} is 0x{text[error.start]:02x}") from None
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


def _sentence(error: Any) -> str:
    what = " ".join(str(part) for part in (error.context, error.problem) if part) or "not readable"
    what = what.splitlines()[0]
    what = what[:1].lower() + what[1:]
    mark = error.problem_mark or error.context_mark
    return f"not YAML: {what}" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: not YAML: {what}"


def _check(node: Any, known: dict[int, int], open_now: set[int]) -> int:
    """How many values a node stands for. An alias shares its node, so that a short text can stand for a huge one.

    Looks at the graph of nodes, before any value is made: merging keys would write aliases out while values are made.
    """
    if isinstance(node.value, str):
        return 1
    at = id(node)
    if at in known:
        return known[at]
    if at in open_now:
        raise YamlTextError(f"{_place(node)}an alias stands inside the value it names")
    open_now.add(at)
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
    open_now.discard(at)
    known[at] = total
    return total


def _place(node: Any) -> str:
    return f"line {node.start_mark.line + 1}, column {node.start_mark.column + 1}: "
