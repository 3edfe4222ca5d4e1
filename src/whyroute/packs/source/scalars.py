"""What a plain scalar means: the core schema of YAML 1.2, without what other readers take for something else."""

import math
import re
from typing import Final

from ...basics.issues import shown
from ...basics.numbers import as_double

__all__ = ["Scalar", "scalar"]

Scalar = str | int | float | bool | None

_WORDS: Final[dict[str, Scalar]] = {
    "": None,
    **dict.fromkeys(("~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

_NUMBER: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_INTEGER: Final = re.compile(r"[-+]?[0-9]+", re.ASCII)
_OTHER_BASE: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_LEADING_ZERO: Final = re.compile(r"[-+]?0[0-9]", re.ASCII)
_BASE_60: Final = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?", re.ASCII)
_NOT_FINITE: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", re.ASCII)
_MAYBE_SPECIAL: Final = frozenset("0123456789.+-~nNtTfF")
_MAX_DIGITS: Final = 400  # a double has at most 309 digits before its point


def scalar(text: str) -> tuple[Scalar, str | None]:
    """The value of a plain scalar, and what is wrong with it.

    `no`, `on` and dates are text, as YAML 1.2 says. Numbers that another version of YAML reads as other numbers are
    refused rather than guessed.
    """
    if text and text[0] not in _MAYBE_SPECIAL:
        return text, None
    if text in _WORDS:
        return _WORDS[text], None
    if _NUMBER.fullmatch(text):
        if _LEADING_ZERO.match(text):
            bare = text.lstrip("+-").lstrip("0") or "0"
            return text, f"{shown(text)} starts with a zero; write {shown(bare)}, or put it in quotes when it is text"
        return _number(text)
    if _OTHER_BASE.fullmatch(text):
        return _finite(int(text, 0) if len(text) <= _MAX_DIGITS else math.inf, text)
    if _BASE_60.fullmatch(text):
        return text, f"{shown(text)} is a number to base 60 for some readers; put it in quotes when it is text"
    if _NOT_FINITE.fullmatch(text):
        return text, f"{shown(text)} is no number to compare with; a finite number is expected"
    return text, None


def _number(text: str) -> tuple[Scalar, str | None]:
    if _INTEGER.fullmatch(text):
        return _finite(int(text) if len(text) <= _MAX_DIGITS else math.inf, text)
    return _finite(float(text), text)


def _finite(value: int | float, text: str) -> tuple[Scalar, str | None]:
    if math.isinf(as_double(value)):
        return text, f"{shown(text)} is too large a number; it has no double"
    return value, None
