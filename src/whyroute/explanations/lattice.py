"""All minimal hitting sets at once, over the table of all subsets of a few vertices.

A table says of every subset whether it belongs to a family: bit s of an integer for the subset with the number s, so
that a step over thousands of subsets is one operation. No family of edges makes this slow; only the number of vertices
does. Large tables are cut into chunks that stay in the processor's cache: a subset's number is its chunk's, then its
own within the chunk.

Bit b of a number stands for vertex n - 1 - b: of two subsets of one size, the lexicographically first one has the
higher number.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from ..basics import bits

__all__ = ["minimal_hitting_sets"]

_CHUNK: Final = 14
"""How many of the vertices, the last ones, are told apart within a chunk."""


def minimal_hitting_sets(vertices: int, edges: Iterable[int]) -> Iterator[int]:
    """The minimal hitting sets, the smallest first, then lexicographically; each as a subset's number.

    Args:
        vertices: How many there are. Time and memory double with each: a millisecond at 18, some 50 and 5 MB at 24.
        edges: The sets to hit, as subset numbers.
    """
    low = min(vertices, _CHUNK)
    high = vertices - low
    minimal = _minimal(_hitting(high, low, edges), high, low)
    sizes = _of_size(low)
    for size in range(vertices + 1):
        for chunk in reversed(range(1 << high)):
            within = size - chunk.bit_count()
            if 0 <= within <= low:
                for number in _descending(minimal[chunk] & sizes[within]):
                    yield chunk << low | number


def _hitting(high: int, low: int, edges: Iterable[int]) -> list[int]:
    """The subsets that hit all edges."""
    # A subset misses an edge exactly when it lies within its complement.
    everything = bits.full(high + low)
    complements: list[list[int]] = [[] for _ in range(1 << high)]
    for edge in edges:
        complement = everything ^ edge
        complements[complement >> low].append(complement & bits.full(low))
    missing = [bits.from_positions(each, 1 << low) for each in complements]
    for bit in range(high):
        for chunk in range(1 << high):
            if not chunk >> bit & 1:
                missing[chunk] |= missing[chunk | 1 << bit]
    without = _without(low)
    full = bits.full(1 << low)
    for chunk, each in enumerate(missing):
        found = each
        for bit, lacking in enumerate(without):
            found |= found >> (1 << bit) & lacking
        missing[chunk] = full ^ found
    return missing


def _minimal(hitting: list[int], high: int, low: int) -> list[int]:
    """Those of an upward closed family that no other one lies within."""
    without = _without(low)
    minimal: list[int] = []
    for chunk, each in enumerate(hitting):
        found = each
        for bit in range(high):
            if found and chunk >> bit & 1:
                found ^= found & hitting[chunk ^ 1 << bit]
        if found:
            above = 0
            for bit, lacking in enumerate(without):
                above |= (each & lacking) << (1 << bit)
            found ^= found & above
        minimal.append(found)
    return minimal


def _descending(members: int) -> Iterator[int]:
    """The members, the highest first."""
    octets = members.to_bytes((members.bit_length() + 7) >> 3, "big")
    for match in _NOT_ZERO.finditer(octets):
        base = (len(octets) - 1 - match.start()) << 3
        octet = octets[match.start()]
        for bit in (7, 6, 5, 4, 3, 2, 1, 0):
            if octet >> bit & 1:
                yield base + bit


_NOT_ZERO = re.compile(rb"[^\0]")


@cache
def _without(vertices: int) -> tuple[int, ...]:
    """For each bit, the subsets that don't have it."""
    found: list[int] = []
    for bit in range(vertices):
        # What holds for the lower bits holds with and without this one.
        found = [each | each << (1 << bit) for each in found]
        found.append(bits.full(1 << bit))
    return tuple(found)


@cache
def _of_size(vertices: int) -> tuple[int, ...]:
    """For each size, the subsets that have it."""
    found = [1]
    for vertex in range(vertices):
        width = 1 << vertex
        found = [same | smaller << width for same, smaller in zip([*found, 0], [0, *found], strict=True)]
    return tuple(found)
