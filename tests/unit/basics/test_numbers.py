"""Numbers: doubles that stand for their shortest decimal, printed as ECMAScript does."""

import json
import math
import sys
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

import naive
from whyroute import answer
from whyroute.basics.numbers import as_double, ecmascript, exact, scaled, wire_number

finite = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**25), 10**25)


@given(finite)
@example(1e20)
@example(1e21)
@example(123456789012345680000.0)
@example(1e-6)
@example(1e-7)
@example(1.5e-7)
@example(5e-324)
@example(-0.0)
@example(2**53)
@example(2**53 + 1)
@example(10**20)
@example(100.0)
def test_printing(number: float) -> None:
    assert ecmascript(number) == naive.printed(number)
    assert float(ecmascript(number)) == float(number)


def test_printing_what_is_not_finite() -> None:
    assert [ecmascript(value) for value in (math.nan, math.inf, -math.inf)] == ["NaN", "Infinity", "-Infinity"]
    assert ecmascript(10**400) == "Infinity"


@given(finite)
@example(0.1)
@example(1e300)
@example(1e-300)
def test_the_exact_decimal(number: float) -> None:
    number = as_double(number)
    digits, exponent = scaled(number)
    assert exact(number) == naive.exact(number) == digits * Fraction(10) ** exponent


@pytest.mark.parametrize(
    ("given_number", "expected", "kind"),
    [
        (5, 5, int),
        (5.0, 5, int),
        (-0.0, 0, int),
        (2.0**53, 2**53, int),
        (2**53, 2**53, int),
        (2**53 + 1, 2.0**53, float),
        (2.0**54, 2.0**54, float),
        (0.5, 0.5, float),
        (10**400, math.inf, float),
        (-(10**400), -math.inf, float),
    ],
)
def test_reading_as_a_double(given_number: float, expected: float, kind: type) -> None:
    found = as_double(given_number)
    assert found == expected
    assert type(found) is kind


@pytest.mark.parametrize(
    ("exactly", "expected", "kind"),
    [
        (Fraction(3, 10), 0.3, float),
        (Fraction(3), 3, int),
        (Fraction(-(10**20)), -(10**20), int),
        (Fraction(10**21), 1e21, float),
        (Fraction(10**21 - 1), 10**21 - 1, int),
        (Fraction(1, 3), 1 / 3, float),
        (Fraction(2 * 10**308), sys.float_info.max, float),
    ],
)
def test_a_sum_on_the_wire(exactly: Fraction, expected: float, kind: type) -> None:
    found = wire_number(exactly)
    assert found == expected
    assert type(found) is kind


LARGEST = sys.float_info.max


def test_sum_past_double_range_is_the_largest() -> None:
    assert wire_number(2 * Fraction(LARGEST)) == LARGEST
    assert wire_number(-2 * Fraction(LARGEST)) == -LARGEST
    assert wire_number(Fraction(LARGEST)) == LARGEST
    assert wire_number(Fraction(10**21 - 1)) == 10**21 - 1
    assert ecmascript(wire_number(Fraction(10**400))) == "1.7976931348623157e+308"


def test_weights_whose_sum_is_no_double() -> None:
    cost = {"promptUsdPer1kTokens": 0, "completionUsdPer1kTokens": 0}
    model: dict[str, Any] = {"name": "m", "contextWindow": 1, "features": ["vision"], "cost": cost}
    provider = {"id": "p", "region": "r", "models": [model, {**model, "name": "n", "features": []}]}
    wishes = [{"feature": "vision", "weight": 1.7e308}] * 2
    request = {"capability": {"needs": [], "prefer": wishes}, "providers": [provider], "include": ["explanation"]}
    text = json.dumps(answered := answer(request), allow_nan=False)
    assert answered["decision"]["score"] == LARGEST
    assert "Infinity" not in text
    assert max(map(len, text.split())) < 100
