"""Prices and counts of published catalogs, converted in decimal so that nothing is rounded on the way.

A price of 2.8e-07 USD a token is 0.00028 USD per 1,000 tokens, exactly; in binary floating point the product is
0.00027999999999999998. So numbers are read as the decimal they are written as, the decimal point moves, and the result
becomes the nearest double once, at the end.
"""

import math
import re
from decimal import Decimal
from enum import IntEnum

from ...basics.numbers import Number, as_double

__all__ = ["PriceUnit", "decimal_of", "price_per_1k", "token_count"]

_MAX_COUNT = 2**53  # past it, a double is no longer a certain integer
_MAX_EXPONENT = 400  # past any double, and small enough for the arithmetic
_DECIMAL_TEXT = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class PriceUnit(IntEnum):
    """How many tokens a source's price is for, as the power of ten that leads to 1,000 tokens."""

    PER_TOKEN = 3
    PER_MILLION_TOKENS = -3


def decimal_of(value: object, *, text: bool = False) -> Decimal | None:
    """The finite decimal that a JSON number is written as.

    Args:
        value: An int, a Decimal, or a float, which stands for its shortest decimal. A boolean is no number.
        text: Whether a string that holds a decimal counts, in a source that writes its numbers so.

    Returns:
        None when it is no finite number, or one that no double comes near.
    """
    number: Decimal
    match value:
        case bool():
            return None
        case int():
            if value.bit_length() > 1100:
                return None
            number = Decimal(value)
        case float():
            if not math.isfinite(value):
                return None
            number = Decimal(repr(value))
        case Decimal():
            number = value
        case str() if text and len(value) <= _MAX_EXPONENT and _DECIMAL_TEXT.fullmatch(value):
            exponent = re.split("[eE]", value)[1:]
            if exponent and len(exponent[0]) > 6:
                return None
            number = Decimal(value)
        case _:
            return None
    if not number.is_finite() or (number and abs(number.adjusted()) > _MAX_EXPONENT):
        return None
    return number


def price_per_1k(price: Decimal, unit: PriceUnit) -> Number | None:
    """A price in USD per 1,000 tokens, as the double nearest to the exact value.

    Args:
        price: The source's price in USD, for as many tokens as `unit` says.

    Returns:
        None when the price is negative, or is not 0 and the nearest double is, or lies beyond all doubles.
    """
    if price < 0:
        return None
    sign, digits, exponent = price.as_tuple()
    if not isinstance(exponent, int):
        return None
    result = float(Decimal((sign, digits, exponent + unit)))
    if math.isinf(result) or (result == 0 and price != 0):
        return None
    return as_double(result)


def token_count(value: object) -> int | None:
    """A positive integer of tokens; 200000.0 is one. None when the value is anything else."""
    number = decimal_of(value)
    if number is None or not 1 <= number <= _MAX_COUNT or number != number.to_integral_value():
        return None
    return int(number)
