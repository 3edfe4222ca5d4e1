"""Numbers: sums that are too large for a double."""

import json
import sys
from fractions import Fraction
from typing import Any

from whyroute import answer
from whyroute.numbers import ecmascript, wire_number

LARGEST = sys.float_info.max


def test_a_sum_past_the_range_of_doubles_is_the_largest_one() -> None:
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
