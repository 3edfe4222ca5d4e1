"""The candidates of two catalogs matched by identity, and sets of one as sets of the other."""

from collections.abc import Callable, Sequence
from operator import itemgetter

from ...basics import bits
from ...basics.computed import remembered
from ...catalog.catalog import Catalog

__all__ = ["Matching"]

_MOST_RUNS = 64  # of more runs than this, taking the bits one by one costs less than shifting each run to its place


class Matching:
    """Which candidates of two catalogs are the same: those of one provider id and one model name.

    Attributes:
        old: One catalog.
        new: The other.
        common_old: The candidates that are in both, as a set of `old`.
        common_new: The same, as a set of `new`.
    """

    __slots__ = ("_kept", "_to_new", "_to_old", "common_new", "common_old", "new", "old")

    def __init__(self, old: Catalog, new: Catalog) -> None:
        self.old = old
        self.new = new
        places = {candidate.key: number for number, candidate in enumerate(new.candidates())}
        pairs = [
            (number, places[candidate.key])
            for number, candidate in enumerate(old.candidates())
            if candidate.key in places
        ]
        self.common_old = bits.from_positions((number for number, _ in pairs), old.size)
        self.common_new = bits.from_positions((number for _, number in pairs), new.size)
        self._to_new = _moving(pairs, old.size, new.size)
        self._to_old = _moving([(after, before) for before, after in sorted(pairs, key=_AFTER)], new.size, old.size)
        self._kept: dict[int, int] = {}

    def to_new(self, members: int) -> int:
        """Those of a set of `old` that are in both catalogs, as a set of `new`.

        Costs a few operations on the set where the catalogs have nearly the same order, else one pass over it.
        Tenants have many sets in common, so what was found is kept.
        """
        return remembered(self._kept, members, _MOST_KEPT, lambda: self._to_new(members & self.common_old))

    def to_old(self, members: int) -> int:
        """Those of a set of `new` that are in both catalogs, as a set of `old`."""
        return self._to_old(members & self.common_new)


_MOST_KEPT = 1024
_AFTER: Callable[[tuple[int, int]], int] = itemgetter(1)


def _moving(pairs: Sequence[tuple[int, int]], before: int, after: int) -> Callable[[int], int]:
    """What turns a set of numbers into the set of their partners. The numbers ascend."""
    runs: list[tuple[int, int, int]] = []  # from, to, length
    for one, other in pairs:
        if runs and one == runs[-1][0] + runs[-1][2] and other == runs[-1][1] + runs[-1][2]:
            runs[-1] = (*runs[-1][:2], runs[-1][2] + 1)
        else:
            runs.append((one, other, 1))
    if all(one == other for one, other, _ in runs):
        return lambda members: members
    if len(runs) <= _MOST_RUNS:
        shifts = [(one, bits.full(length), other) for one, other, length in runs]

        def shifted(members: int) -> int:
            found = 0
            for one, mask, other in shifts:
                found |= ((members >> one) & mask) << other
            return found

        return shifted
    sources = [before] * after  # the place past the end holds a 0
    for one, other in pairs:
        sources[other] = one
    pick = itemgetter(*reversed(sources))
    return lambda members: int("".join(pick(bits.flags(members, before) + "0")), 2)
