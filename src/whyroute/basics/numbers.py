"""Numbers as the wire means them: doubles that stand for their shortest decimal."""

import math
import sys
from collections.abc import Collection, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

__all__ = ["Number", "as_double", "ecmascript", "exact", "prints_alike", "scaled", "whole", "wire_number"]

Number = int | float

_EXACT_INTEGERS = 2**53


def as_double(value: Number) -> Number:
    """Read `value` as the double it is on the wire: integral ones as int where that is exact.

    Returns:
        An int when the double is an integer of at most 2**53, else a float; an integer too large for a double
        becomes an infinity.
    """
    if isinstance(value, int):
        if -_EXACT_INTEGERS <= value <= _EXACT_INTEGERS:
            return value
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return int(value) if value.is_integer() and -_EXACT_INTEGERS <= value <= _EXACT_INTEGERS else value


@lru_cache(maxsize=4096)
def scaled(value: Number) -> tuple[int, int]:
    """A finite double as `(digits, exponent)`: the decimal it is written as is digits * 10**exponent, exactly."""
    if isinstance(value, int):
        return value, 0
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    return int("".join(map(str, digits))) * (-1 if sign else 1), int(exponent)


def exact(value: Number) -> Fraction:
    """The decimal that a finite double is written as, exactly: 0.1 is 1/10."""
    return Fraction(value) if isinstance(value, int) else Fraction(Decimal(repr(value)))


def whole(value: Number) -> int:
    """The integer that a finite double without a fraction is written as: that of 1e23 has 24 digits, 23 of them 0."""
    value = as_double(value)
    return value if isinstance(value, int) else int(Decimal(repr(value)))


def wire_number(value: Fraction | int) -> Number:
    """An exact sum as a JSON number: an int where it is one and short, else the nearest double that is finite."""
    if value.denominator == 1 and abs(value.numerator) < 10**21:
        return value.numerator
    try:
        return float(value)
    except OverflowError:
        return sys.float_info.max if value > 0 else -sys.float_info.max


def ecmascript(value: Number) -> str:
    """Print a finite number as ECMAScript's Number::toString does (ECMA-262, 6.1.6.1.20)."""
    value = as_double(value)
    if isinstance(value, int):
        return str(value)
    text = repr(value)
    if "e" not in text and "n" not in text:
        # Positional, and neither inf nor nan: both print the same shortest digits.
        return text.removesuffix(".0")
    sign, digits, exponent = Decimal(text).as_tuple()
    if not isinstance(exponent, int):
        return {"n": "NaN", "N": "NaN", "F": "-Infinity" if sign else "Infinity"}[exponent]
    text = "".join(map(str, digits))
    stripped = text.rstrip("0") or "0"
    exponent += len(text) - len(stripped)
    text = stripped
    count = len(text)
    point = count + exponent  # the value is 0.text * 10**point
    if count <= point <= 21:
        body = text + "0" * (point - count)
    elif 0 < point <= 21:
        body = f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        body = "0." + "0" * -point + text
    else:
        power = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
        body = (text[0] + "." + text[1:] if count > 1 else text) + power
    return ("-" if sign else "") + body


def prints_alike(values: Collection[Number], printed: Sequence[str]) -> bool:
    """Whether `ecmascript` prints each value as Python does; it may say no where it does.

    Args:
        values: Finite numbers.
        printed: The `repr` of each.
    """
    text = " ".join(printed) + " "
    return "e" not in text and ".0 " not in text and max(map(abs, values), default=0) <= _EXACT_INTEGERS
