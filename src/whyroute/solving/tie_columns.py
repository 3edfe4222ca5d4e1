"""Ties compiled against a catalog: what they see of each candidate, as integers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..basics.numbers import Number, scaled
from ..catalog.catalog import Catalog
from ..engine.joint import AtMost, Different, Reaches, Same, SearchTie
from .ties import EXACT_FIELDS, NUMBER_FIELDS, Tie

__all__ = ["CompiledTie", "Compiler", "TiePiece"]


@dataclass(frozen=True, slots=True)
class TiePiece:
    """A part of a tie that several slots have to do with.

    Attributes:
        slots: Their numbers.
        make: What makes a tie of variables of the values of their rows.
        column: The value of each candidate.
    """

    slots: tuple[int, ...]
    make: Callable[[tuple[int, ...], tuple[list[Any], ...]], SearchTie]
    column: Sequence[Any]

    def tie(self, variables: Sequence[int], numbers: Sequence[Sequence[int]]) -> SearchTie:
        """The tie of some variables whose rows are these candidates."""
        column = self.column
        return self.make(tuple(variables), tuple([column[number] for number in each] for each in numbers))


@dataclass(frozen=True, slots=True)
class CompiledTie:
    """A tie as integers.

    Attributes:
        slots: The numbers of the slots that it ties.
        passes: For each candidate, whether it can meet the tie whatever stands beside it; None: all can.
        pieces: What is left to be met between slots.
    """

    slots: tuple[int, ...]
    passes: Sequence[bool] | None = None
    pieces: tuple[TiePiece, ...] = ()


class Compiler:
    """Compiles the ties of a bundle over one catalog. A field is read once, however many ties look at it.

    Args:
        catalog: The candidates.
        slots: The names of the slots.
    """

    def __init__(self, catalog: Catalog, slots: Sequence[str]) -> None:
        self._catalog = catalog
        self._slots = tuple(slots)
        self._columns: dict[str, list[Any]] = {}

    def compiled(self, tie: Tie) -> CompiledTie:
        """The tie as integers. Costs a pass over the candidates."""
        slots = tuple(self._slots.index(name) for name in tie.slots)
        if tie.kind in ("same", "different"):
            return self._comparing(tie, slots)
        return self._bounding(tie, slots)

    def _column(self, field: str) -> list[Any]:
        found = self._columns.get(field)
        if found is None:
            read: Callable[[Any], Any] = {**EXACT_FIELDS, **NUMBER_FIELDS}[field]
            found = self._columns[field] = [read(candidate) for candidate in self._catalog.candidates()]
        return found

    def _comparing(self, tie: Tie, slots: tuple[int, ...]) -> CompiledTie:
        values = self._column(tie.field)
        numbered: dict[Any, int] = {}
        codes = [numbered.setdefault(value, len(numbered)) for value in values]
        passes = None if None not in numbered else [value is not None for value in values]
        if len(slots) < 2:
            return CompiledTie(slots, passes)
        return CompiledTie(slots, passes, (TiePiece(slots, Same if tie.kind == "same" else Different, codes),))

    def _bounding(self, tie: Tie, slots: tuple[int, ...]) -> CompiledTie:
        given = self._column(tie.field)
        bound_digits, bound_power = scaled(tie.value or 0)
        known: dict[Number, tuple[int, int]] = {value: scaled(value) for value in set(given) if value is not None}
        power = min([bound_power, *(power for _, power in known.values())])
        whole = {value: digits * 10 ** (at - power) for value, (digits, at) in known.items()}
        column = [None if value is None else whole[value] for value in given]
        bound = bound_digits * 10 ** (bound_power - power)
        lowest, highest = _range(tie.op or "<=", bound)
        if tie.kind == "sum" and len(slots) > 1:
            pieces = []
            if highest is not None:
                pieces.append(TiePiece(slots, _capped(highest), [value or 0 for value in column]))
            if lowest is not None:
                pieces.append(TiePiece(slots, _capped(-lowest), [-(value or 0) for value in column]))
            return CompiledTie(slots, [value is not None for value in column], tuple(pieces))
        under = [value is not None and (highest is None or value <= highest) for value in column]
        if lowest is None:
            return CompiledTie(slots, under)
        over = [value is not None and value >= lowest for value in column]
        if len(slots) == 1:
            return CompiledTie(slots, [one and other for one, other in zip(under, over, strict=True)])
        return CompiledTie(slots, under, (TiePiece(slots, Reaches, over),))


def _capped(cap: int) -> Callable[[tuple[int, ...], tuple[list[Any], ...]], AtMost]:
    return lambda variables, values: AtMost(variables, values, cap)


def _range(op: str, bound: int) -> tuple[int | None, int | None]:
    """The least and the greatest integer that meet a bound; None where there is none."""
    match op:
        case "<=":
            return None, bound
        case "<":
            return None, bound - 1
        case ">=":
            return bound, None
        case ">":
            return bound + 1, None
        case _:
            return bound, bound
