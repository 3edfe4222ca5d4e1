"""Slots that are tied together: the best candidates for all of them at once, and whether there are any."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Final

from ..engine.bounds import reduced
from ..engine.joint import AtMost, Reduced, Same, SearchBudget, SearchTie, SpentError, search
from .tie_columns import CompiledTie

__all__ = ["Best", "best", "feasible"]

_NODES: Final = 150
"""How many nodes a case is searched for before it is split."""

Rows = Sequence[int]
"""Candidate numbers."""


@dataclass(frozen=True, slots=True)
class Best:
    """What a search came to.

    Attributes:
        numbers: The candidate of each slot; None when none were found.
        proved: Whether nothing better exists, or nothing at all when none were found.
        cost: The sum of their costs.
    """

    numbers: tuple[int, ...] | None
    proved: bool
    cost: int = 0


@dataclass(frozen=True, slots=True)
class _Part:
    """Slots that some ties connect, and those ties; the slots are numbered anew from 0.

    Attributes:
        slots: The slots' own numbers.
        numbers: For each, its candidates.
        costs: For each, what they cost.
        ties: The ties.
    """

    slots: tuple[int, ...]
    numbers: tuple[list[int], ...]
    costs: tuple[list[int], ...]
    ties: tuple[SearchTie, ...]


def best(
    rows: Sequence[Rows], costs: Sequence[Sequence[int]], ties: Sequence[CompiledTie], budget: SearchBudget
) -> Best:
    """The candidates of the least cost, one for each slot, that meet all ties.

    Args:
        rows: For each slot, its candidates; those of equal cost in the order in which they are to be taken.
        costs: For each slot, what each of them costs.
        ties: What ties the slots.
        budget: What the search may take. When it is used up, what was found so far is the answer, not proved.
    """
    parts = _parts(rows, costs, ties)
    if parts is None:
        return Best(None, True)
    found: dict[int, int] = {}
    proved, total, missing = True, 0, False
    for part in parts:
        each = _solve(part, None, budget)
        if each.numbers is None:
            if each.proved:
                return Best(None, True)
            missing = True
        else:
            found |= zip(part.slots, each.numbers, strict=True)
            total += each.cost
        proved &= each.proved
    if missing:
        return Best(None, False)
    return Best(tuple(found[slot] for slot in range(len(rows))), proved, total)


def feasible(rows: Sequence[Rows], ties: Sequence[CompiledTie], budget: SearchBudget) -> bool | None:
    """Whether any candidates, one for each slot, meet all ties; None when the budget did not do to find out."""
    if not all(rows):
        return False
    parts = _parts(rows, [[0] * len(each) for each in rows], ties)
    if parts is None:
        return False
    known = True
    for part in parts:
        each = _solve(*_asked(part), budget, first=True)
        if each.numbers is None:
            if each.proved:
                return False
            known = False
    return True if known else None


def _asked(part: _Part) -> tuple[_Part, int | None]:
    """A part whose first cap is what its candidates cost, too, and what they must cost less than.

    What costs nothing gives no direction to search in.
    """
    for tie in part.ties:
        if isinstance(tie, AtMost):
            least = [min(values) for values in tie.values]
            costs = list(part.costs)
            for variable, values, low in zip(tie.variables, tie.values, least, strict=True):
                costs[variable] = [value - low for value in values]
            return _Part(part.slots, part.numbers, tuple(costs), part.ties), tie.cap - sum(least) + 1
    return part, 1


# One part.


def _solve(part: _Part, below: int | None, budget: SearchBudget, *, first: bool = False) -> Best:
    """The least costly candidates of a part, or any when the first found will do.

    Cases wait in the order of their bounds. One whose search takes long is split in two, and priced anew.
    """
    found: tuple[int, ...] | None = None
    least = 0
    waiting: list[tuple[int | Fraction, int, tuple[list[int], ...]]] = [
        (sum(part.costs[v][each[0]] for v, each in enumerate(rows)), place, rows)
        for place, rows in enumerate(_cases(part))
    ]
    heapify(waiting)
    count = len(waiting)
    while waiting:
        bound, _, rows = heappop(waiting)
        if below is not None and bound > below - 1:
            break
        case, kept = _restricted(part, rows)
        ties = [tie for tie in case.ties if not isinstance(tie, Same)]
        bounds = reduced(case.costs, ties, below)
        if bounds is None:
            continue
        try:
            budget.spend()
            for solution in search(case.costs, bounds, ties, below, budget.part(_NODES)):
                below = least = sum(case.costs[v][row] for v, row in enumerate(solution))
                found = tuple(case.numbers[v][row] for v, row in enumerate(solution))
                if first:
                    return Best(found, True, least)
        except SpentError:
            if budget.is_spent:
                return Best(found, False, least)
            if _is_hopeless(case, ties):
                continue
            for half in _halves(case, kept, bounds, below):
                heappush(waiting, (Fraction(bounds.bound, bounds.scale), -count, half))
                count += 1
    return Best(found, True, least)


def _is_hopeless(case: _Part, ties: Sequence[SearchTie]) -> bool:
    """Whether prices alone show that nothing meets several caps at once: what it costs does not matter then."""
    several = sum(isinstance(tie, AtMost) for tie in ties) > 1
    return several and reduced([[0] * len(costs) for costs in case.costs], ties, 1) is None


def _halves(
    case: _Part, rows: Sequence[list[int]], bounds: Reduced, below: int | None
) -> Iterator[tuple[list[int], ...]]:
    """A case as two: the slot whose candidates differ most in what they take of a cap has less there, or more.

    Rows that nothing below the bound can have are left out.
    """
    left = list(rows)
    within = [list(range(len(each))) for each in rows]
    if below is not None:
        room = bounds.scale * (below - 1) - bounds.bound
        for variable, costs in enumerate(bounds.costs):
            least = min(costs)
            within[variable] = [at for at, cost in enumerate(costs) if cost - least <= room]
            left[variable] = [rows[variable][at] for at in within[variable]]
    widest, variable, values = Fraction(-1), -1, list[int]()
    for tie in case.ties:
        if isinstance(tie, AtMost):
            whole = sum(max(each) - min(each) for each in tie.values) or 1
            for each, taken in zip(tie.variables, tie.values, strict=True):
                own = [taken[at] for at in within[each]]
                spread = Fraction(max(own) - min(own), whole)
                if spread > widest and len(own) > 1:
                    widest, variable, values = spread, each, own
    if widest <= 0:
        variable = max(range(len(left)), key=lambda each: (len(left[each]), -each))
        values = list(range(len(left[variable])))
    middle = sorted(set(values))[: len(set(values)) // 2]
    low = set(middle)
    for kept in (True, False):
        half = [row for row, value in zip(left[variable], values, strict=True) if (value in low) is kept]
        yield (*left[:variable], half, *left[variable + 1 :])


def _cases(part: _Part) -> list[tuple[list[int], ...]]:
    """The rows that are left when the values that must be the same are chosen, in each way there is.

    The rows of each slot come in the order of their costs.
    """
    cases = [tuple(sorted(range(len(costs)), key=costs.__getitem__) for costs in part.costs)]
    for tie in part.ties:
        if not isinstance(tie, Same):
            continue
        split: list[tuple[list[int], ...]] = []
        for case in cases:
            by_code: list[dict[int, list[int]]] = []
            for variable, codes in zip(tie.variables, tie.values, strict=True):
                having: dict[int, list[int]] = {}
                for row in case[variable]:
                    having.setdefault(codes[row], []).append(row)
                by_code.append(having)
            for code in by_code[0]:
                if all(code in having for having in by_code):
                    chosen = list(case)
                    for variable, having in zip(tie.variables, by_code, strict=True):
                        chosen[variable] = having[code]
                    split.append(tuple(chosen))
        cases = split
    return cases


def _restricted(part: _Part, rows: Sequence[Sequence[int]]) -> tuple[_Part, list[list[int]]]:
    """A part with some of its rows, in the order in which they are given, without those that another makes needless.

    Beside it, the rows.
    """
    at: list[list[tuple[SearchTie, Sequence[int]]]] = [[] for _ in rows]
    for tie in part.ties:
        for variable, values in zip(tie.variables, tie.values, strict=True):
            at[variable].append((tie, values))
    kept = [_undominated(each, around) for each, around in zip(rows, at, strict=True)]
    restricted = _Part(
        part.slots,
        tuple([part.numbers[v][row] for row in each] for v, each in enumerate(kept)),
        tuple([part.costs[v][row] for row in each] for v, each in enumerate(kept)),
        tuple(tie.with_rows(kept) for tie in part.ties),
    )
    return restricted, kept


def _undominated(rows: Sequence[int], around: Sequence[tuple[SearchTie, Sequence[int]]]) -> list[int]:
    """Those for which no earlier row is alike in everything that must be equal or differ, and takes no more of a cap.

    In any assignment, the earlier row can stand for the later one: it costs no more.
    """
    exact = [values for tie, values in around if not isinstance(tie, AtMost)]
    caps = [values for tie, values in around if isinstance(tie, AtMost)]
    groups: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    kept: list[int] = []
    for row in rows:
        fronts = groups.setdefault(tuple(values[row] for values in exact), [])
        taken = tuple(values[row] for values in caps)
        if any(all(mine <= other for mine, other in zip(front, taken, strict=True)) for front in fronts):
            continue
        fronts.append(taken)
        kept.append(row)
    return kept


# Splitting.


def _parts(rows: Sequence[Rows], costs: Sequence[Sequence[int]], ties: Sequence[CompiledTie]) -> list[_Part] | None:
    """The parts that no tie connects; None when a slot has no candidate that its ties can see."""
    numbers: list[Rows] = []
    kept_costs: list[Sequence[int]] = []
    for slot, each in enumerate(rows):
        passing = [tie.passes for tie in ties if slot in tie.slots and tie.passes is not None]
        if passing:
            places = [at for at, number in enumerate(each) if all(known[number] for known in passing)]
            numbers.append([each[at] for at in places])
            kept_costs.append([costs[slot][at] for at in places])
        else:
            numbers.append(each)
            kept_costs.append(costs[slot])
        if not numbers[-1]:
            return None
    tying = [each for tie in ties for each in tie.pieces]
    found = []
    for slots in _connected(len(rows), [each.slots for each in tying]):
        place = {slot: at for at, slot in enumerate(slots)}
        own = tuple(
            each.tie([place[slot] for slot in each.slots], [numbers[slot] for slot in each.slots])
            for each in tying
            if each.slots[0] in place
        )
        found.append(
            _Part(slots, tuple(list(numbers[s]) for s in slots), tuple(list(kept_costs[s]) for s in slots), own)
        )
    return found


def _connected(count: int, groups: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Slots that some ties connect, directly or through others."""
    if not groups:
        return [(slot,) for slot in range(count)]
    import networkx as nx  # noqa: PLC0415 (takes longer to load than a bundle takes)

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(count))
    for group in groups:
        graph.add_edges_from(pairwise(group))
    return sorted(tuple(sorted(each)) for each in nx.connected_components(graph))
