"""Sets of small integers as Python integers, and numeric columns sliced into such sets.

Bit i of a set is 1 when i is in it. `&`, `|` and `^` then work on whole sets at memory speed.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .numbers import Number

__all__ = [
    "BitSlices",
    "add_weight",
    "flags",
    "from_flags",
    "from_positions",
    "full",
    "insert",
    "lowest",
    "positions",
    "select",
]


def full(size: int) -> int:
    """The set of 0 to size - 1."""
    return (1 << size) - 1


def from_positions(members: Iterable[int], size: int) -> int:
    """The set of `members`, all below `size`."""
    octets = bytearray((size + 7) >> 3)
    for member in members:
        octets[member >> 3] |= 1 << (member & 7)
    return int.from_bytes(octets, "little")


def from_flags(characters: bytes | bytearray) -> int:
    """The set written as ASCII digits 0 and 1, the highest member first. Linear, unlike decimal digits."""
    return int(characters, 2) if characters else 0


def flags(members: int, size: int) -> str:
    """The set as `size` characters 0 and 1, member 0 first."""
    return format(members, f"0{size}b")[::-1] if size else ""


def positions(members: int) -> Iterator[int]:
    """The members in ascending order. Costs one pass over the set's words, whatever their number."""
    text = format(members, "b")[::-1]
    find = text.find
    at = find("1")
    while at >= 0:
        yield at
        at = find("1", at + 1)


def lowest(members: int) -> int:
    """The lowest member of a set that is not empty."""
    return (members & -members).bit_length() - 1


def select(members: int, rank: int) -> int:
    """The member that has exactly `rank` lower ones; the set has more than `rank` members.

    Halves the range at every step, so the cost is about two passes over the set's words.
    """
    low = 0
    width = members.bit_length()
    while width > 1:
        half = width >> 1
        lower = members & ((1 << half) - 1)
        count = lower.bit_count()
        if rank < count:
            members, width = lower, half
        else:
            rank -= count
            members >>= half
            low += half
            width -= half
    return low


def add_weight(slices: list[int], members: int, weight: int) -> None:
    """Add a weight of at least 0 to the number of every member, where bit k of a number is its place in slice k.

    A ripple-carry addition for all of them at once; `slices` grows as it needs to.
    """
    at = 0
    while weight:
        if weight & 1:
            carry, k = members, at
            while carry:
                if k >= len(slices):
                    slices.extend([0] * (k + 1 - len(slices)))
                slices[k], carry = slices[k] ^ carry, slices[k] & carry
                k += 1
        weight >>= 1
        at += 1


def insert(members: int, at: int, width: int, chunk: int = 0) -> int:
    """Make room for `width` new positions at `at`, and put the set `chunk` there."""
    return ((members >> at) << (at + width)) | (chunk << at) | (members & ((1 << at) - 1))


@dataclass(frozen=True, slots=True)
class BitSlices:
    """A numeric column: a threshold costs about log2(distinct values) set operations, whatever the threshold.

    Every position holds the rank of its value among the distinct values; slice k is the set of positions whose rank
    has bit k (O'Neil and Quass, "Improved query performance with variant indexes", SIGMOD 1997).

    Attributes:
        values: The distinct values, ascending.
        slices: The bits of the ranks, the lowest first.
        known: The positions that have a value at all; no other position meets any bound.
    """

    values: tuple[Number, ...]
    slices: tuple[int, ...]
    known: int

    @classmethod
    def build(cls, column: Sequence[Number | None]) -> "BitSlices":
        """Index a column; None is unknown. Takes about 20 ms for 100,000 positions."""
        present = set(column)
        has_unknown = None in present
        present.discard(None)
        values: list[Number] = sorted(present)  # type: ignore[arg-type]  # None was discarded
        rank_of: dict[Number | None, int] = {value: rank for rank, value in enumerate(values)}
        rank_of[None] = 0
        ranks = [rank_of[value] for value in reversed(column)]
        slices: list[int] = []
        for low in range(0, max(len(values) - 1, 0).bit_length(), 8):
            plane = bytes([rank >> low & 255 for rank in ranks])
            kept = min(8, (len(values) - 1).bit_length() - low)
            slices += [from_flags(plane.translate(table)) for table in _BIT_OF_BYTE[:kept]]
        if has_unknown:
            known = from_flags(bytes([48 if value is None else 49 for value in reversed(column)]))
        else:
            known = full(len(column))
        return cls(tuple(values), tuple(slices), known)

    def meets(self, op: str, bound: Number | Fraction) -> int:
        """The positions whose value meets `op` (one of >=, >, =, <=, <) against `bound`."""
        values = self.values
        if op == "<=":
            return self.known & ~self._from_rank(bisect_right(values, bound))
        if op == ">=":
            return self._from_rank(bisect_left(values, bound))
        if op == "<":
            return self.known & ~self._from_rank(bisect_left(values, bound))
        if op == ">":
            return self._from_rank(bisect_right(values, bound))
        if op != "=":
            raise ValueError(f"`{op}` is no comparison")
        rank = bisect_left(values, bound)
        return self._at_rank(rank) if rank < len(values) and values[rank] == bound else 0

    def foremost(self, members: int, *, highest: bool) -> int:
        """Those of a set that is not empty with the lowest or the highest value; all of it when none is known."""
        found = members & self.known
        if not found:
            return members
        for plane in reversed(self.slices):
            found = (found & plane if highest else found & ~plane) or found
        return found

    def _from_rank(self, rank: int) -> int:
        if rank == 0:
            return self.known
        if rank >= len(self.values):
            return 0
        # From the low bits up: a 1 in the rank asks for a 1 in the slice, a 0 is exceeded by a 1 in the slice.
        at = (rank & -rank).bit_length() - 1
        found = self.slices[at]
        for k in range(at + 1, len(self.slices)):
            found = found & self.slices[k] if rank >> k & 1 else found | self.slices[k]
        return found & self.known

    def _at_rank(self, rank: int) -> int:
        found = self.known
        for k, members in enumerate(self.slices):
            found &= members if rank >> k & 1 else ~members
        return found

    def inserted(self, at: int, column: Sequence[Number | None]) -> "BitSlices":
        """The index with new positions at `at`. Costs a few set operations per slice and new distinct value."""
        values = list(self.values)
        slices = list(self.slices)
        known = self.known
        for value in sorted({value for value in column if value is not None}):
            rank = bisect_left(values, value)
            if rank < len(values) and values[rank] == value:
                continue
            # Ranks from here on move up by one: a ripple-carry increment over the slices.
            carry = BitSlices(tuple(values), tuple(slices), known)._from_rank(rank)
            values.insert(rank, value)
            for k, members in enumerate(slices):
                if not carry:
                    break
                slices[k] = members ^ carry
                carry &= members
            if carry:
                slices.append(carry)
        while len(slices) < (len(values) - 1).bit_length():
            slices.append(0)
        ranks = [0 if value is None else bisect_left(values, value) for value in column]
        width = len(column)
        chunk_known = sum(1 << i for i, value in enumerate(column) if value is not None)
        for k, members in enumerate(slices):
            slices[k] = insert(members, at, width, sum((rank >> k & 1) << i for i, rank in enumerate(ranks)))
        return BitSlices(tuple(values), tuple(slices), insert(known, at, width, chunk_known))


_BIT_OF_BYTE = [bytes(48 + (byte >> bit & 1) for byte in range(256)) for bit in range(8)]
