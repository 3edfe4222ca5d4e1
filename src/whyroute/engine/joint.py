"""Joint search: one row for each of several variables, tied together, at the least total cost.

A search is one `Problem` of the library: a `Domain` a variable that holds its rows as a bit set, ties as library
constraints that check forward by intersecting such sets, and a `Solver` that branches and bounds.
"""

import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from constraint import Constraint, Problem, Solver

from ..basics import bits
from ..basics.bits import BitSlices
from .deadlines import check_time
from .single import BitSetDomain, EngineError

__all__ = ["AtMost", "Different", "Reaches", "Reduced", "Same", "SearchBudget", "SearchTie", "SpentError", "search"]


class SpentError(Exception):
    """The nodes or the time that a search may take are used up."""


class SearchBudget:
    """What a search may take.

    Attributes:
        nodes: How many more nodes it may visit; None: any number.
    """

    __slots__ = ("_deadline", "_whole", "nodes")

    def __init__(self, nodes: int | None, seconds: float | None = None, whole: "SearchBudget | None" = None) -> None:
        self.nodes = nodes
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._whole = whole

    def part(self, nodes: int) -> "SearchBudget":
        """A budget of so many nodes within this one."""
        return SearchBudget(nodes, whole=self)

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        late = self._deadline is not None and time.monotonic() > self._deadline
        return late or (self.nodes is not None and self.nodes <= 0)

    def spend(self) -> None:
        """Visit a node.

        Raises:
            SpentError: There is none left, or no time.
        """
        check_time()
        if self._whole is not None:
            self._whole.spend()
        if self.nodes is not None:
            if self.nodes <= 0:
                raise SpentError
            self.nodes -= 1
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise SpentError


@dataclass(frozen=True, slots=True)
class SearchTie:
    """What ties variables: something about the values of their rows.

    Attributes:
        variables: The variables.
        values: For each of them, the value of each of its rows.
    """

    variables: tuple[int, ...]
    values: tuple[Sequence[int], ...]

    def with_rows(self, rows: Sequence[Sequence[int]]) -> Self:
        """The same tie where each variable has some of its rows, in another order.

        Args:
            rows: For each variable, by its number, the rows that it has then.
        """
        pairs = zip(self.variables, self.values, strict=True)
        return replace(self, values=tuple([values[row] for row in rows[variable]] for variable, values in pairs))


class Same(SearchTie):
    """The values are equal. It is not searched: each value that all of them have is a search of its own."""

    __slots__ = ()


class Different(SearchTie):
    """The values differ pairwise."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class AtMost(SearchTie):
    """The values add up to a cap at most.

    Attributes:
        cap: The cap.
    """

    cap: int


class Reaches(SearchTie):
    """At least one value is not zero."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Reduced:
    """Costs with what breaking ties would cost: for every assignment that meets the ties,
    `scale * (its cost) >= (sum of its reduced costs) - offset`.

    Attributes:
        costs: For each variable, the reduced cost of each of its rows.
        scale: How much a unit of cost counts.
        offset: What is taken off.
    """

    costs: Sequence[Sequence[int]]
    scale: int
    offset: int

    @property
    def bound(self) -> int:
        """No assignment that meets the ties has less than this as its cost times `scale`."""
        return sum(map(min, self.costs)) - self.offset


class RowDomain(BitSetDomain):
    """A set of rows that a search can go back to."""

    def __init__(self, members: int) -> None:
        super().__init__(members)
        self._saved: list[int] = []

    def pushState(self) -> None:  # noqa: N802 (the library's name)
        """Remember what it holds."""
        self._saved.append(self.members)

    def popState(self) -> None:  # noqa: N802 (the library's name)
        """Hold what was remembered last."""
        self.members = self._saved.pop()


Domains = Mapping[int, RowDomain]
Assignment = Mapping[int, int]


class TieConstraint(Constraint):
    """A tie: preprocessing leaves in the domains what can meet it, or nothing where nothing can."""

    def preProcess(  # noqa: N802 (the library's name)
        self, variables: Sequence[int], domains: dict[int, Any], constraints: Any, vconstraints: Any
    ) -> None:
        """Check the tie forward before the search begins."""
        if not self(variables, domains, {}, True):
            domains[variables[0]].members = 0


class DifferentConstraint(TieConstraint):
    """`Different`, by sets: a value that is taken leaves the domains of the others."""

    def __init__(self, tie: Different) -> None:
        self._codes = dict(zip(tie.variables, tie.values, strict=True))
        self._having = {variable: _sets(codes) for variable, codes in self._codes.items()}

    def __call__(
        self, variables: Sequence[int], domains: Domains, assignments: Assignment, forwardcheck: Any = False
    ) -> bool:
        taken: set[int] = set()
        for variable in variables:
            row = assignments.get(variable)
            if row is not None:
                code = self._codes[variable][row]
                if code in taken:
                    return False
                taken.add(code)
        if forwardcheck:
            for variable in variables:
                if variable not in assignments:
                    having, domain = self._having[variable], domains[variable]
                    for code in taken:
                        domain.members &= ~having.get(code, 0)
                    if not domain.members:
                        return False
        return True


class AtMostConstraint(TieConstraint):
    """`AtMost`, by sets: what would leave too little for the others goes from a domain."""

    def __init__(self, tie: AtMost) -> None:
        self._values = dict(zip(tie.variables, tie.values, strict=True))
        self._sliced = {variable: BitSlices.build(values) for variable, values in self._values.items()}
        self._cap = tie.cap

    def __call__(
        self, variables: Sequence[int], domains: Domains, assignments: Assignment, forwardcheck: Any = False
    ) -> bool:
        slack = self._cap
        least: list[tuple[int, int]] = []
        for variable in variables:
            row = assignments.get(variable)
            if row is None:
                members = domains[variable].members
                if not members:
                    return False
                row = bits.lowest(self._sliced[variable].foremost(members, highest=False))
                least.append((variable, self._values[variable][row]))
            slack -= self._values[variable][row]
        if slack < 0:
            return False
        if forwardcheck:
            for variable, value in least:
                domains[variable].members &= self._sliced[variable].meets("<=", value + slack)
        return True


class ReachesConstraint(TieConstraint):
    """`Reaches`, by sets: the last variable that can is left nothing else."""

    def __init__(self, tie: Reaches) -> None:
        self._reaching = {
            variable: bits.from_positions((row for row, reaches in enumerate(rows) if reaches), len(rows))
            for variable, rows in zip(tie.variables, tie.values, strict=True)
        }

    def __call__(
        self, variables: Sequence[int], domains: Domains, assignments: Assignment, forwardcheck: Any = False
    ) -> bool:
        able: list[int] = []
        for variable in variables:
            row = assignments.get(variable)
            if row is None:
                if domains[variable].members & self._reaching[variable]:
                    able.append(variable)
            elif self._reaching[variable] >> row & 1:
                return True
        if forwardcheck and len(able) == 1:
            domains[able[0]].members &= self._reaching[able[0]]
        return bool(able)


_CONSTRAINTS: Final[dict[type, Any]] = {
    Different: DifferentConstraint,
    AtMost: AtMostConstraint,
    Reaches: ReachesConstraint,
}


class BranchAndBoundSolver(Solver):
    """Finds assignments of ever less cost, the last of which is the best.

    Rows stand in the order of their reduced costs, so that the least reduced cost of a domain is that of its lowest
    row, and a row that no better assignment can have is one past a place in this order.

    Args:
        costs: For each variable, the cost of each row.
        reduced: Reduced costs; those of each variable ascend.
        below: Only assignments that cost less are wanted; None: any.
        budget: What the search may take.
    """

    def __init__(
        self, costs: Sequence[Sequence[int]], reduced: Reduced, below: int | None, budget: SearchBudget
    ) -> None:
        self._costs = costs
        self._reduced = reduced
        self._below = below
        self._budget = budget

    def getSolutionIter(  # noqa: N802 (the library's name)
        self, domains: Any, constraints: Any, vconstraints: Any
    ) -> Iterator[dict[int, int]]:
        """Assignments, each of less cost than the one before; raises SpentError when the budget is used up."""
        return self._search(domains, vconstraints, {}, 0)

    def getSolution(  # noqa: N802 (the library's name)
        self, domains: Any, constraints: Any, vconstraints: Any
    ) -> dict[int, int] | None:
        """The assignment of the least cost; None when there is none."""
        return next(reversed(self.getSolutions(domains, constraints, vconstraints)), None)

    def getSolutions(  # noqa: N802 (the library's name)
        self, domains: Any, constraints: Any, vconstraints: Any
    ) -> list[dict[int, int]]:
        """All that are found on the way to the best, which is the last."""
        return list(self.getSolutionIter(domains, constraints, vconstraints))

    def _room(self) -> int | None:
        """What the reduced costs of a better assignment may add up to; None: anything."""
        if self._below is None:
            return None
        return self._reduced.scale * (self._below - 1) + self._reduced.offset

    def _search(
        self, domains: Domains, vconstraints: Any, assigned: dict[int, int], spent: int
    ) -> Iterator[dict[int, int]]:
        self._budget.spend()
        free = [variable for variable in domains if variable not in assigned]
        if not free:
            cost = sum(self._costs[variable][row] for variable, row in assigned.items())
            if self._below is None or cost < self._below:
                self._below = cost
                yield dict(assigned)
            return
        reduced = self._reduced.costs
        least = {variable: reduced[variable][bits.lowest(domains[variable].members)] for variable in free}
        bound = spent + sum(least.values())
        room = self._room()
        if room is not None:
            if bound > room:
                return
            for variable in free:
                within = bisect_right(reduced[variable], least[variable] + room - bound)
                domains[variable].members &= bits.full(within)
        chosen = min(free, key=lambda variable: (domains[variable].members.bit_count(), variable))
        others = [domains[variable] for variable in free if variable != chosen]
        for row in bits.positions(domains[chosen].members):
            cost = reduced[chosen][row]
            room = self._room()
            if room is not None and bound - least[chosen] + cost > room:
                break
            assigned[chosen] = row
            for domain in others:
                domain.pushState()
            if all(constraint(variables, domains, assigned, others) for constraint, variables in vconstraints[chosen]):
                yield from self._search(domains, vconstraints, assigned, spent + cost)
            for domain in others:
                domain.popState()
            del assigned[chosen]


def search(
    costs: Sequence[Sequence[int]], reduced: Reduced, ties: Sequence[SearchTie], below: int | None, budget: SearchBudget
) -> Iterator[tuple[int, ...]]:
    """Assignments that meet the ties, as one row for each variable, each of less cost than the one before.

    Args:
        costs: For each variable, the cost of each of its rows; there is at least one of each.
        reduced: Reduced costs.
        ties: What ties the variables.
        below: Only assignments that cost less are wanted; None: any.
        budget: What the search may take.

    Raises:
        SpentError: The budget is used up; what was found so far is met, and may not be the best.
    """
    orders = [sorted(range(len(rows)), key=rows.__getitem__) for rows in reduced.costs]
    sorted_costs = [[rows[at] for at in order] for rows, order in zip(costs, orders, strict=True)]
    sorted_reduced = Reduced(
        [[rows[at] for at in order] for rows, order in zip(reduced.costs, orders, strict=True)],
        reduced.scale,
        reduced.offset,
    )
    problem = Problem(BranchAndBoundSolver(sorted_costs, sorted_reduced, below, budget))
    for variable, rows in enumerate(costs):
        problem.addVariable(variable, RowDomain(bits.full(len(rows))))
    for tie in ties:
        problem.addConstraint(_CONSTRAINTS[type(tie)](tie.with_rows(orders)), tie.variables)
    found = problem.getSolutionIter()
    if found is None:
        raise EngineError("the constraint library gave no solutions to iterate over")
    for solution in found:
        yield tuple(order[solution[variable]] for variable, order in enumerate(orders))


def _sets(codes: Sequence[int]) -> dict[int, int]:
    """For each value, the rows that have it."""
    rows: dict[int, list[int]] = {}
    for row, code in enumerate(codes):
        rows.setdefault(code, []).append(row)
    return {code: bits.from_positions(found, len(codes)) for code, found in rows.items()}
