"""Prices convert exactly: the decimal that was written, moved to 1,000 tokens, rounded once."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from whyroute.providers.importers.amounts import PriceUnit, decimal_of, price_per_1k, token_count
from whyroute.providers.importers.reading import parse

PER_TOKEN, PER_MILLION = PriceUnit.PER_TOKEN, PriceUnit.PER_MILLION_TOKENS


@pytest.mark.parametrize(
    ("written", "unit", "printed"),
    [
        ("2.8e-07", PER_TOKEN, "0.00028"),
        ("1.1e-06", PER_TOKEN, "0.0011"),
        ("7e-8", PER_TOKEN, "7e-05"),
        ("0.0000025", PER_TOKEN, "0.0025"),
        ("0.28", PER_MILLION, "0.00028"),
        ("1.1", PER_MILLION, "0.0011"),
        ("0.049999999999999996", PER_MILLION, "4.9999999999999996e-05"),
        ("3", PER_MILLION, "0.003"),
        ("0", PER_TOKEN, "0"),
        ("-0.0", PER_TOKEN, "0"),
        ("0.001", PER_TOKEN, "1"),
        ("2e-10", PER_TOKEN, "2e-07"),
        ("1e-400", PER_TOKEN, None),
        ("1e-330", PER_TOKEN, None),
        ("1e306", PER_TOKEN, None),
        ("-1", PER_TOKEN, None),
        ("-1e-9", PER_MILLION, None),
    ],
)
def test_price_as_printed(written: str, unit: PriceUnit, printed: str | None) -> None:
    number = decimal_of(Decimal(written))
    price = None if number is None else price_per_1k(number, unit)
    assert (None if price is None else repr(price)) == printed


def test_a_float_stands_for_its_shortest_decimal() -> None:
    number = decimal_of(2.8e-07)
    assert number == Decimal("2.8e-07")
    assert price_per_1k(number, PER_TOKEN) == 0.00028
    assert 2.8e-07 * 1000 != 0.00028  # what floating point makes of it


prices = st.decimals(min_value=0, max_value=10**6, allow_nan=False, allow_infinity=False, places=None)


@given(prices, st.sampled_from(PriceUnit))
def test_result_is_nearest_double_to_exact_price(price: Decimal, unit: PriceUnit) -> None:
    wanted = float(Fraction(price) * Fraction(10) ** unit)
    found = price_per_1k(price, unit)
    if wanted == 0 and price != 0:
        assert found is None
    else:
        assert found == wanted


@given(st.integers(1, 10**15 - 1), st.integers(-14, -1), st.sampled_from(PriceUnit))
def test_fifteen_digit_prices_survive(digits: int, exponent: int, unit: PriceUnit) -> None:
    written = Decimal(digits).scaleb(exponent)
    found = price_per_1k(written, unit)
    assert found is not None
    assert Decimal(repr(found)) == Decimal(digits).scaleb(exponent + unit)


@given(st.floats(0, 1, allow_subnormal=False), st.sampled_from(PriceUnit))
def test_text_and_float_give_one_price(price: float, unit: PriceUnit) -> None:
    exact, parsed = decimal_of(parse(repr(price).encode(), "x")), decimal_of(price)
    assert exact is not None
    assert parsed is not None
    assert price_per_1k(exact, unit) == price_per_1k(parsed, unit)


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        None,
        "1",
        "",
        [],
        {},
        math.nan,
        math.inf,
        -math.inf,
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        Decimal("1e999999"),
        pytest.param(10**5000, id="huge"),
        object(),
    ],
)
def test_what_is_no_number(value: object) -> None:
    assert decimal_of(value) is None
    assert token_count(value) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.0000025", Decimal("0.0000025")),
        ("-1", Decimal(-1)),
        ("1e-7", Decimal("1e-7")),
        ("", None),
        (" 1", None),
        ("1_000", None),
        ("\u0661", None),
        ("nan", None),
        ("Infinity", None),
        ("0x10", None),
        ("1e999999999999", None),
        ("9" * 5000, None),
        ("1,5", None),
    ],
)
def test_decimals_written_as_strings(text: str, number: Decimal | None) -> None:
    assert decimal_of(text, text=True) == number


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (1, 1),
        (200000, 200000),
        (200000.0, 200000),
        (Decimal("2e5"), 200000),
        (0, None),
        (-1, None),
        (1.5, None),
        (Decimal("1.5"), None),
        (2**53, 2**53),
        (2**53 + 1, None),
        (10**400, None),
        (True, None),
        ("128000", None),
    ],
)
def test_token_counts(value: object, count: int | None) -> None:
    assert token_count(value) == count
