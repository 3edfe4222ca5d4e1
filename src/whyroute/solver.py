"""The engines: both hand the named constraints to python-constraint2, which enumerates what satisfies them all.

This is the only module that imports `constraint`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal, Protocol

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


class CandidateDomain(Domain):
    """A domain that holds its candidates as a bit set. The list it inherits stays empty."""

    def __init__(self, members: int) -> None:
        super().__init__(())
        self.members = members


class AdmittedConstraint(Constraint):
    """A named constraint on one variable, for the library: preprocessing intersects the domain with what it admits."""

    def __init__(self, admitted: int) -> None:
        self.admitted = admitted

    def preProcess(  # noqa: N802 (the library's name)
        self, variables: Sequence[Any], domains: dict[Any, Any], constraints: Any, vconstraints: Any
    ) -> None:
        """Intersect the domain of the constraint's variable."""
        domains[variables[0]].members &= self.admitted

    def __call__(
        self, variables: Sequence[Any], domains: Any, assignments: dict[Any, int], forwardcheck: Any = False, *_: Any
    ) -> bool:
        """Whether the assigned candidate is admitted."""
        return bool(self.admitted >> assignments[variables[0]] & 1)


class BitSetSolver(Solver):
    """Enumerates a variable's bit-set domain in tie-break order, once the constraints have been preprocessed."""

    def getSolutionIter(  # noqa: N802 (the library's name)
        self, domains: dict[Any, Any], constraints: Any, vconstraints: Any
    ) -> Iterator[dict[Any, int]]:
        """One solution after the other, lazily."""
        ((variable, domain),) = domains.items()
        for number in bits.positions(self.prune(domain, constraints)):
            yield {variable: number}

    def getSolutions(  # noqa: N802 (the library's name)
        self, domains: dict[Any, Any], constraints: Any, vconstraints: Any
    ) -> list[dict[Any, int]]:
        """All solutions."""
        return list(self.getSolutionIter(domains, constraints, vconstraints))

    def getSolution(  # noqa: N802 (the library's name)
        self, domains: dict[Any, Any], constraints: Any, vconstraints: Any
    ) -> dict[Any, int] | None:
        """The first solution in tie-break order."""
        return next(self.getSolutionIter(domains, constraints, vconstraints), None)

    @staticmethod
    def prune(domain: CandidateDomain, constraints: list[tuple[Any, ...]]) -> int:
        """Preprocess every constraint; with one variable, what is left of its domain are the solutions, as a set."""
        domains = {_CANDIDATE: domain}
        for constraint, variables in constraints:
            constraint.preProcess(variables, domains, constraints, {})
        return domain.members


class BitSetEngine:
    """The library's Solver interface on bit sets. `Problem` is left out: it costs more than the whole solve."""

    def solve(self, constraints: Constraints) -> int:
        """The set of candidates that every constraint admits, by intersecting what each admits."""
        variables = (_CANDIDATE,)
        return BitSetSolver.prune(
            CandidateDomain(constraints.catalog.all()),
            [(AdmittedConstraint(admitted), variables) for admitted in constraints.admitted],
        )


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
    engine = _ENGINES.get(name)
    if engine is not None:
        return engine
    raise ValueError(f"`{name}` is no engine; the engines are {', '.join(f'`{known}`' for known in ENGINES)}")
