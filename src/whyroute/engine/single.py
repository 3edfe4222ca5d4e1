"""The engines: both hand the named constraints to python-constraint2, which enumerates what satisfies them all."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Literal, Protocol, overload

from constraint import BacktrackingSolver, Constraint, Domain, FunctionConstraint, Problem, Solver

from ..basics import bits
from ..catalog.candidate import Candidate
from ..constraints.named import Constraints, NamedConstraint

__all__ = ["ENGINES", "Engine", "EngineError", "EngineName", "engine_named", "intersection"]

EngineName = Literal["bitset", "plain"]

_CANDIDATE: Final = "candidate"  # the one variable of a route


class EngineError(RuntimeError):
    """The constraint library gave no answer, as it does where another package has taken its name."""


class Engine(Protocol):
    """Finds the candidates that satisfy all constraints."""

    def solve(self, constraints: Constraints) -> int:
        """The set of candidates that every constraint admits."""
        ...


class BitSetDomain(Domain):
    """A domain that holds its values as a bit set. The list that it inherits stays empty.

    Attributes:
        members: The set.
    """

    def __init__(self, members: int) -> None:
        self.members = members

    def __deepcopy__(self, memo: Any) -> "BitSetDomain":
        # `Problem` copies every domain that it is given.
        return type(self)(self.members)

    def resetState(self) -> None:  # noqa: N802 (the library's name)
        """Do nothing: no value is hidden in the list."""

    def __bool__(self) -> bool:
        return self.members != 0

    def __len__(self) -> int:
        return self.members.bit_count()

    def __iter__(self) -> Iterator[int]:
        return bits.positions(self.members)


class AdmittedConstraint(Constraint):
    """A named constraint on one variable: preprocessing intersects the domain with what it admits.

    As with the library's own constraints on one variable, the search has nothing left to check.

    Args:
        admitted: The set that it admits.
    """

    def __init__(self, admitted: int) -> None:
        self.admitted = admitted

    def preProcess(  # noqa: N802 (the library's name)
        self, variables: Sequence[Any], domains: dict[Any, Any], constraints: Any, vconstraints: Any
    ) -> None:
        """Intersect the domain of the constraint's variable."""
        domains[variables[0]].members &= self.admitted


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
    """The library's `Problem` over bit sets: one variable, a domain, a library constraint for each named one."""

    def solve(self, constraints: Constraints) -> int:
        """The set of candidates that every constraint admits."""
        return intersection(constraints.catalog.all(), constraints.admitted)


def intersection(everything: int, admitted: Iterable[int]) -> int:
    """The members of a set that each of some sets admits, found by the library.

    Args:
        everything: The set that the variable ranges over.
        admitted: For each constraint, the set that it admits.

    Raises:
        EngineError: The constraint library gave no answer.
    """
    problem = Problem(_BIT_SET_SOLVER)
    if everything:  # the library refuses an empty domain; without a variable it finds nothing
        problem.addVariable(_CANDIDATE, BitSetDomain(everything))
        for each in admitted:
            problem.addConstraint(AdmittedConstraint(each), _VARIABLES)
    found = problem.getSolutions()
    if isinstance(found, Solutions):
        return found.members
    if found == []:
        return 0
    raise EngineError(f"the constraint library gave {type(found).__name__} for its solutions; a list is expected")


_BIT_SET_SOLVER: Final = BitSetSolver()
_VARIABLES: Final = (_CANDIDATE,)


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
