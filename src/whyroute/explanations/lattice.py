"""All minimal hitting sets at once, over the table of all subsets of a few vertices.

Bit s of a table says whether the subset with the number s belongs to a family, so that a family of 2^n subsets is one
integer and a step over all of them a handful of operations on it. No family of edges makes this slow; only n does.

Bit b of a subset's number stands for vertex n - 1 - b: of two subsets of one size, the lexicographically first one has
the higher number.
"""

import re
from collections.abc import Iterable, Iterator

from .. import bits

__all__ = ["descending", "lightest", "minimal_hitting_sets"]


def minimal_hitting_sets(vertices: int, edges: Iterable[int]) -> Iterator[int]:
    """The minimal hitting sets, the smallest first, then lexicographically; each as a subset's number.

    Args:
        vertices: How many there are. Takes time and memory with 2^vertices: half a millisecond for 16, 60 for 24.
        edges: The sets to hit, as subset numbers.
    """
    top = bits.full(vertices)
    subsets = 1 << vertices
    # A subset misses an edge exactly when it lies within its complement.
    missing = bits.from_positions((top ^ edge for edge in edges), subsets)
    for bit, without in _without(vertices):
        missing |= missing >> (1 << bit) & without
    hitting = bits.full(subsets) ^ missing
    above = 0
    for bit, without in _without(vertices):
        above |= (hitting & without) << (1 << bit)
    minimal = hitting ^ (hitting & above)
    if minimal.bit_count() <= _FEW:
        yield from sorted(descending(minimal), key=int.bit_count)
        return
    sizes = _sizes(vertices)
    while minimal:
        smallest = lightest(minimal, sizes)
        minimal ^= smallest
        yield from descending(smallest)


def lightest(members: int, weights: list[int]) -> int:
    """The members of least weight; slice k of the weights holds those whose weight has bit k."""
    for plane in reversed(weights):
        heavier = members & plane
        if heavier != members:
            members ^= heavier
    return members


def descending(members: int) -> Iterator[int]:
    """The members, the highest first."""
    octets = members.to_bytes((members.bit_length() + 7) >> 3, "big")
    for match in _NOT_ZERO.finditer(octets):
        base = (len(octets) - 1 - match.start()) << 3
        octet = octets[match.start()]
        for bit in (7, 6, 5, 4, 3, 2, 1, 0):
            if octet >> bit & 1:
                yield base + bit


_FEW = 4096
"""So many are sorted at once; of more, each size is looked for when it is come to."""

_NOT_ZERO = re.compile(rb"[^\0]")


def _without(vertices: int) -> Iterator[tuple[int, int]]:
    """For each bit, from the highest: the subsets that don't have it."""
    found = bits.full(1 << vertices)
    for bit in reversed(range(vertices)):
        width = 1 << bit
        # Alternating runs of twice the width become runs of the width; the first step halves the full table.
        found = found >> width if bit == vertices - 1 else found ^ found << width
        yield bit, found


def _sizes(vertices: int) -> list[int]:
    """The sizes of all subsets, bit-sliced: a subset with one more vertex is one larger."""
    slices: list[int] = []
    for vertex in range(vertices):
        width = 1 << vertex
        carry = bits.full(width)
        for k, plane in enumerate(slices):
            slices[k] = plane | (plane ^ carry) << width
            carry &= plane
        if carry:
            slices.append(carry << width)
    return slices
