"""The engines: both hand the named constraints to python-constraint2, which enumerates what satisfies them all.

This is the only module that imports `constraint`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, overload

from constraint import BacktrackingSolver, Constraint, Domain, FunctionConstraint, Problem, Solver

from . import bits
from .catalog import Candidate
from .constraints import Constraints, NamedConstraint

__all__ = ["ENGINES", "Engine", "EngineName", "engine_named"]

EngineName = Literal["bitset", "plain"]

_CANDIDATE: Final = "candidate"  # the one variable of a route


class Engine(Protocol):
    """Finds the candidates that satisfy all constraints."""

    def solve(self, constraints: Constraints) -> int:
        """The set of candidates that every constraint admits."""
        ...


class BitSetDomain(Domain):
    """A domain that holds its values as a bit set. The list it inherits stays empty, and so needs no states."""

    def __init__(self, members: int) -> None:
        self.members = members

    def resetState(self) -> None:  # noqa: N802 (the library's name)
        """Nothing was hidden in the list: there is nothing to be brought back."""

    def __bool__(self) -> bool:
        return self.members != 0

    def __len__(self) -> int:
        return self.members.bit_count()

    def __iter__(self) -> Iterator[int]:
        return bits.positions(self.members)


class AdmittedConstraint(Constraint):
    """Named constraints on one variable: preprocessing leaves in its domain what all of them admit.

    As with the library's own constraints on one variable, nothing is left to be checked by the search. They are one
    constraint to the library, since an object for each would cost more than what it does.

    Args:
        admitted: The set that each of them admits.
    """

    def __init__(self, admitted: Sequence[int]) -> None:
        self.admitted = admitted

    def preProcess(  # noqa: N802 (the library's name)
        self, variables: Sequence[Any], domains: dict[Any, Any], constraints: Any, vconstraints: Any
    ) -> None:
        """Intersect the domain of the constraints' variable."""
        domain = domains[variables[0]]
        members = domain.members
        for admitted in self.admitted:
            members &= admitted
        domain.members = members


class Solutions(Sequence[dict[Any, int]]):
    """What `BitSetSolver` finds: a solution for every candidate of a set, made when it is read.

    Attributes:
        members: The set.
    """

    __slots__ = ("_variable", "members")

    def __init__(self, variable: Any, members: int) -> None:
        self._variable = variable
        self.members = members

    def __len__(self) -> int:
        return self.members.bit_count()

    @overload
    def __getitem__(self, index: int) -> dict[Any, int]: ...

    @overload
    def __getitem__(self, index: slice) -> list[dict[Any, int]]: ...

    def __getitem__(self, index: int | slice) -> dict[Any, int] | list[dict[Any, int]]:
        places = range(len(self))[index]
        if isinstance(places, range):
            return [self[place] for place in places]
        return {self._variable: bits.select(self.members, places)}

    def __iter__(self) -> Iterator[dict[Any, int]]:
        return ({self._variable: number} for number in bits.positions(self.members))


class BitSetSolver(Solver):
    """Enumerates the bit-set domain of one variable in tie-break order.

    The constraints have been preprocessed, as `Problem` does before it asks its solver; with one variable, what is
    left of its domain are the solutions.
    """

    def getSolutions(  # noqa: N802 (the library's name)
        self, domains: dict[Any, Any], constraints: Any, vconstraints: Any
    ) -> Solutions:
        """All solutions."""
        ((variable, domain),) = domains.items()
        return Solutions(variable, domain.members)

    def getSolutionIter(  # noqa: N802 (the library's name)
        self, domains: dict[Any, Any], constraints: Any, vconstraints: Any
    ) -> Iterator[dict[Any, int]]:
        """One solution after the other, lazily."""
        return iter(self.getSolutions(domains, constraints, vconstraints))

    def getSolution(  # noqa: N802 (the library's name)
        self, domains: dict[Any, Any], constraints: Any, vconstraints: Any
    ) -> dict[Any, int] | None:
        """The first solution in tie-break order."""
        return next(self.getSolutionIter(domains, constraints, vconstraints), None)


class BitSetEngine:
    """The library's domains, constraints and solver, on bit sets.

    It preprocesses and asks the solver as `Problem` does, which is left out because it costs more than the whole solve:
    it copies domains deeply and lists the constraints of every variable.
    """

    def solve(self, constraints: Constraints) -> int:
        """The set of candidates that every constraint admits, by intersecting what each admits."""
        domains = {_CANDIDATE: BitSetDomain(constraints.catalog.all())}
        constraint = AdmittedConstraint(constraints.admitted)
        pairs = [(constraint, _VARIABLES)]
        constraint.preProcess(_VARIABLES, domains, pairs, _NOTHING_LEFT)
        return _BIT_SET_SOLVER.getSolutions(domains, pairs, _NOTHING_LEFT).members


_BIT_SET_SOLVER: Final = BitSetSolver()
_VARIABLES: Final = (_CANDIDATE,)
_NOTHING_LEFT: Final[Mapping[Any, Any]] = MappingProxyType({})
"""The constraints of each variable that the search would have to check."""


class PlainEngine:
    """The library used as its manual shows: function constraints over a list of candidates, backtracking search.

    It asks each constraint about each candidate and never looks at the index, which makes it the oracle of the other.
    """

    def solve(self, constraints: Constraints) -> int:
        """The set of candidates that every constraint admits, one candidate after the other."""
        catalog = constraints.catalog
        if catalog.size == 0:
            return 0  # the library refuses an empty domain
        problem = Problem(BacktrackingSolver())
        candidates = list(catalog.candidates())
        problem.addVariable(_CANDIDATE, range(catalog.size))
        for named in constraints:
            problem.addConstraint(FunctionConstraint(_admits(named, candidates)), [_CANDIDATE])
        found = [solution[_CANDIDATE] for solution in problem.getSolutionIter()]
        return bits.from_positions(found, catalog.size)


def _admits(named: NamedConstraint, candidates: Sequence[Candidate]) -> Callable[[int], bool]:
    return lambda number: named.admits(candidates[number])


_ENGINES: Final[dict[str, Engine]] = {"bitset": BitSetEngine(), "plain": PlainEngine()}

ENGINES: Final[tuple[EngineName, ...]] = ("bitset", "plain")
"""The engines' names; `bitset` is the default."""


def engine_named(name: str) -> Engine:
    """The engine of that name.

    Raises:
        ValueError: There is none.
    """
    engine = _ENGINES.get(name) if isinstance(name, str) else None
    if engine is not None:
        return engine
    raise ValueError(f"`{name}` is no engine; the engines are {', '.join(f'`{known}`' for known in ENGINES)}")
