"""Bit sets and bit-sliced columns against a naive scan."""

import operator
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from whyroute.basics import bits
from whyroute.basics.bits import BitSlices

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "=": operator.eq,
    "<=": operator.le,
    "<": operator.lt,
}

Column = list[float | None]
sets = st.sets(st.integers(0, 300))


def as_bits(members: set[int]) -> int:
    return sum(1 << member for member in members)


def as_set(found: int) -> set[int]:
    return {at for at in range(found.bit_length()) if found >> at & 1}


@given(sets)
def test_set_is_read_back_as_written(members: set[int]) -> None:
    found = bits.from_positions(members, 301)
    assert found == as_bits(members)
    assert list(bits.positions(found)) == sorted(members)
    text = bits.flags(found, 301)
    assert len(text) == 301
    assert [at for at, character in enumerate(text) if character == "1"] == sorted(members)
    assert bits.from_flags(text[::-1].encode("ascii")) == found


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 64, 65])
def test_the_full_and_the_empty_set(size: int) -> None:
    assert list(bits.positions(bits.full(size))) == list(range(size))
    assert bits.from_positions(range(size), size) == bits.full(size)
    assert bits.flags(bits.full(size), size) == "1" * size
    assert bits.flags(0, size) == "0" * size
    assert bits.from_positions((), size) == 0
    assert list(bits.positions(0)) == []
    assert bits.from_flags(b"") == 0


@given(sets.filter(bool))
def test_select_and_lowest(members: set[int]) -> None:
    found = as_bits(members)
    assert bits.lowest(found) == min(members)
    assert [bits.select(found, rank) for rank in range(len(members))] == sorted(members)


@given(sets, st.integers(0, 320), st.integers(0, 20), st.data())
def test_insert_makes_room(members: set[int], at: int, width: int, data: st.DataObject) -> None:
    chunk = data.draw(st.sets(st.integers(0, width - 1)) if width else st.just(set()))
    expected = {member if member < at else member + width for member in members} | {at + member for member in chunk}
    assert as_set(bits.insert(as_bits(members), at, width, as_bits(chunk))) == expected


def scan(column: Column, op: str, bound: float) -> set[int]:
    return {at for at, value in enumerate(column) if value is not None and COMPARE[op](value, bound)}


def check(slices: BitSlices, column: Column, bounds: list[float]) -> None:
    assert as_set(slices.known) == {at for at, value in enumerate(column) if value is not None}
    assert list(slices.values) == sorted({value for value in column if value is not None})
    for op in COMPARE:
        for bound in bounds:
            assert as_set(slices.meets(op, bound)) == scan(column, op, bound), (op, bound)


def bounds_of(column: Column) -> list[float]:
    """Below, at, between and above the values."""
    values = sorted({value for value in column if value is not None})
    between = [(low + high) / 2 for low, high in pairwise(values)]
    ends = [values[0] - 1, values[-1] + 1] if values else [0]
    return [*ends, *values, *between]


values = st.none() | st.integers(0, 12) | st.sampled_from([0.1, 0.2, 0.3, 0.30000000000000004, 1e-7, 1e300, 2**53])
columns = st.lists(values, max_size=40)


@settings(max_examples=100)
@given(columns)
@example([])
@example([None, None])
@example([5])
def test_a_column_answers_as_a_scan_does(column: Column) -> None:
    check(BitSlices.build(column), column, bounds_of(column))


@pytest.mark.parametrize("distinct", [1, 2, 3, 4, 5, 127, 128, 255, 256, 257, 511, 513, 1000, 3000])
@pytest.mark.parametrize("unknown", [False, True])
def test_a_column_of_many_values(distinct: int, unknown: bool) -> None:
    rng = random.Random(distinct)
    column: Column = [value * 3 for value in range(distinct)]
    column += [rng.randrange(distinct) * 3 for _ in range(distinct)]
    if unknown:
        column += [None] * 9
    rng.shuffle(column)
    slices = BitSlices.build(column)
    assert len(slices.slices) == (distinct - 1).bit_length()
    ranks = {0, 1, 2, distinct // 2, distinct - 2, distinct - 1, 127, 128, 254, 255, 256, 257, 511, 512, distinct}
    check(slices, column, [rank * 3 + off for rank in sorted(ranks) for off in (-1, 0, 1)])


def test_an_unknown_comparison_is_an_error() -> None:
    with pytest.raises(ValueError, match="`!=` is no comparison"):
        BitSlices.build([1]).meets("!=", 1)


@settings(max_examples=100)
@given(columns, st.lists(st.tuples(st.integers(0, 60), st.lists(values, min_size=1, max_size=4)), max_size=12))
@example([], [(0, [None]), (0, [3]), (0, [2]), (1, [None, 1])])
def test_grown_column_answers_as_a_scan(column: Column, insertions: list[tuple[int, Column]]) -> None:
    slices = BitSlices.build(column)
    for place, inserted in insertions:
        at = min(place, len(column))
        before = (slices.values, slices.slices, slices.known)
        grown = slices.inserted(at, inserted)
        assert (slices.values, slices.slices, slices.known) == before, "the column it came from stays as it was"
        column = [*column[:at], *inserted, *column[at:]]
        slices = grown
        check(slices, column, bounds_of(column))


@pytest.mark.parametrize("order", ["ascending", "descending", "shuffled"])
def test_column_may_grow_past_a_byte(order: str) -> None:
    rng = random.Random(7)
    numbers = list(range(300))
    if order == "descending":
        numbers.reverse()
    elif order == "shuffled":
        rng.shuffle(numbers)
    column: Column = [None]
    slices = BitSlices.build(column)
    for number in numbers:
        at = rng.randrange(len(column) + 1)
        slices = slices.inserted(at, [number, None, number // 2])
        column[at:at] = [number, None, number // 2]
    assert slices.values == tuple(range(300))
    check(slices, column, [-1, 0, 0.5, 1, 127, 128, 129, 254, 255, 256, 257, 298, 299, 300])
