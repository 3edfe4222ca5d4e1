"""What of a bundle clashes: cores and corrections over all constraints of all slots and ties, by the general walker."""

from collections.abc import Sequence
from typing import Any, Final

from ..basics import bits
from ..engine.deadlines import check_time
from ..engine.joint import Different, Reaches, Same, SearchBudget
from ..engine.single import intersection
from ..explanations.found import Conflicts
from ..explanations.walker import one_core, walk
from ..solving.combining import feasible
from ..solving.joint import JointSolved
from ..solving.tie_columns import CompiledTie

__all__ = ["Clashes"]

_NODES: Final = 5_000
"""How many nodes a question may take."""

_QUESTIONS: Final = 400
"""How many questions each of the two enumerations may ask."""

_COMPARED: Final = 64
"""With how many rows a row is compared."""


class Clashes:
    """Answers which constraints can be satisfied together, and finds the sets that can't.

    Candidates of a slot that fail the same constraints and are alike for all ties are one; those that fail more and are
    no better for any tie are left out, since whatever they satisfy another does, too.

    Args:
        solved: A request for a bundle.
        fixed: For some slots, the one candidate that they may have.

    Attributes:
        undecided: Whether some question was too hard: it then counted as satisfiable.
    """

    def __init__(self, solved: JointSolved, fixed: dict[int, int] | None = None) -> None:
        self._solved = solved
        self._fixed = fixed or {}
        self._ties: tuple[CompiledTie, ...] = solved.compiled
        self._tie_of = {index: each.tie for index, each in enumerate(solved.constraints) if each.tie is not None}
        self._rows = [self._rows_of(slot) for slot in range(len(solved.names))]
        everyone = solved.catalog.all()
        self._active = [
            index
            for index, each in enumerate(solved.constraints)
            if each.tie is not None or any(named.admitted != everyone for named in each.named.values())
        ]
        self.undecided = False

    def satisfiable(self, chosen: Sequence[int]) -> bool:
        """Whether some constraints, by their indices, can be satisfied together."""
        named = [self._solved.constraints[index].named for index in chosen]
        rows = [
            intersection(members, [each[slot].admitted for each in named if slot in each])
            for slot, members in enumerate(self._rows)
        ]
        if not all(rows):
            return False
        ties = [self._ties[self._tie_of[index]] for index in chosen if index in self._tie_of]
        if not ties:
            return True
        found = feasible([list(bits.positions(each)) for each in rows], ties, SearchBudget(_NODES))
        if found is None:
            self.undecided = True
        return found is not False

    def conflicts(self, core_limit: int, correction_limit: int) -> Conflicts[int]:
        """The minimal sets that clash, and the minimal sets without which the others don't."""
        return walk(
            self._active,
            self.satisfiable,
            core_limit=core_limit,
            correction_limit=correction_limit,
            budget=_QUESTIONS,
        )

    def one_core(self) -> tuple[int, ...]:
        """One minimal set that clashes; there is one."""
        return one_core(self._active, self.satisfiable)

    def _rows_of(self, slot: int) -> int:
        """The candidates of a slot without those that are needless, as a set."""
        solved = self._solved
        size = solved.catalog.size
        failed = [0] * size
        for index, each in enumerate(solved.constraints):
            if slot in each.named:
                check_time()
                for number in bits.positions(each.named[slot].rejected):
                    failed[number] |= 1 << index
        exact, worse = self._columns(slot)
        groups: dict[tuple[Any, ...], list[tuple[int, int, tuple[Any, ...]]]] = {}
        numbers = [self._fixed[slot]] if slot in self._fixed else list(range(size))
        seen: set[tuple[Any, ...]] = set()
        rows = []
        for number in numbers:
            key = tuple(column[number] for column in exact)
            taken = tuple(column[number] for column in worse)
            if (failed[number], key, taken) not in seen:
                seen.add((failed[number], key, taken))
                rows.append((failed[number].bit_count(), taken, number, failed[number], key))
        for _, taken, number, fails, key in sorted(rows):
            kept = groups.setdefault(key, [])
            if not any(
                not theirs & ~fails and all(one <= other for one, other in zip(less, taken, strict=True))
                for theirs, _, less in kept[:_COMPARED]
            ):
                kept.append((fails, number, taken))
        return bits.from_positions((number for each in groups.values() for _, number, _ in each), size)

    def _columns(self, slot: int) -> tuple[list[Sequence[Any]], list[Sequence[Any]]]:
        """What ties see of the candidates of a slot: what must be equal or differ, and of what less is better."""
        exact: list[Sequence[Any]] = []
        worse: list[Sequence[Any]] = []
        for tie in self._ties:
            if slot not in tie.slots:
                continue
            if tie.passes is not None:
                worse.append([not passes for passes in tie.passes])
            for piece in tie.pieces:
                if piece.make in (Same, Different):
                    exact.append(piece.column)
                else:
                    worse.append([not reaches for reaches in piece.column] if piece.make is Reaches else piece.column)
        return exact, worse
