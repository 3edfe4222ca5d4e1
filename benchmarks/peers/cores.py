"""Cores and corrections by solvers made for them: PySAT, CPMpy and Z3, on one instance that all share.

The instance: one candidate has to be chosen; constraint i, when it is in force, bars those that it does not admit. The
solvers' models are made before anything is timed, where their interface allows that.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from . import UnavailableError

__all__ = ["ALL", "CORE_PEERS", "Core", "Instance", "agrees"]

Core = tuple[int, ...]
"""The numbers of constraints, ascending."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A failed request without names.

    Attributes:
        size: How many candidates there are.
        admitted: For each constraint, which candidates it admits.
    """

    size: int
    admitted: tuple[frozenset[int], ...]

    def is_core(self, core: Core) -> bool:
        """Whether constraints clash, and no longer do when any one of them is left out."""
        return not self._left(core) and all(self._left([other for other in core if other != each]) for each in core)

    def _left(self, constraints: Iterable[int]) -> frozenset[int] | set[int]:
        left: frozenset[int] | set[int] = frozenset(range(self.size))
        for each in constraints:
            left = left & self.admitted[each]
        return left


def _imported(name: str, package: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise UnavailableError(f"{package} is not installed") from None


def _formula(instance: Instance) -> Any:
    """The instance as a weighted formula: variable c + 1 chooses candidate c, and the constraints follow."""
    formula = _imported("pysat.formula", "python-sat").WCNF()
    formula.append(list(range(1, instance.size + 1)))
    for number, admitted in enumerate(instance.admitted):
        selector = instance.size + number + 1
        for candidate in range(instance.size):
            if candidate not in admitted:
                formula.append([-selector, -(candidate + 1)])
    for number in range(len(instance.admitted)):
        formula.append([instance.size + number + 1], weight=1)
    return formula


def _musx(instance: Instance) -> Callable[[], Any]:
    formula, musx = _formula(instance), _imported("pysat.examples.musx", "python-sat").MUSX

    def one_core() -> list[Core]:
        with musx(formula, verbosity=0) as search:
            return [tuple(sorted(each - 1 for each in search.compute()))]

    return one_core


def _optux(instance: Instance) -> Callable[[], Any]:
    formula, optux = _formula(instance), _imported("pysat.examples.optux", "python-sat").OptUx

    def smallest_core() -> list[Core]:
        with optux(formula) as search:
            return [tuple(sorted(each - 1 for each in search.compute()))]

    return smallest_core


def _rc2(instance: Instance) -> Callable[[], Any]:
    formula, rc2 = _formula(instance), _imported("pysat.examples.rc2", "python-sat").RC2

    def smallest_correction() -> int:
        with rc2(formula) as search:
            search.compute()
            return int(search.cost)

    return smallest_correction


def _cpmpy(instance: Instance) -> tuple[Any, list[Any]]:
    cp = _imported("cpmpy", "cpmpy")
    chosen = cp.intvar(0, instance.size - 1, name="candidate")
    return cp, [cp.InDomain(chosen, sorted(admitted) or [instance.size]) for admitted in instance.admitted]


def _by_cpmpy(name: str) -> Callable[[Instance], Callable[[], Any]]:
    def prepare(instance: Instance) -> Callable[[], Any]:
        _, soft = _cpmpy(instance)
        search = getattr(_imported("cpmpy.tools.explain", "cpmpy"), name)
        numbers = {id(constraint): number for number, constraint in enumerate(soft)}

        def numbered(constraints: Iterable[Any]) -> Core:
            return tuple(sorted(numbers[id(constraint)] for constraint in constraints))

        if name == "marco":
            return lambda: sorted(
                (kind.lower(), numbered(constraints)) for kind, constraints in search(soft, [], solver="ortools")
            )
        return lambda: [numbered(search(soft, [], solver="ortools"))]

    return prepare


def _z3(instance: Instance) -> Callable[[], Any]:
    z3 = _imported("z3", "z3-solver")
    variables = [z3.Bool(f"c{at}") for at in range(instance.size)]
    solver = z3.Solver()
    solver.set("core.minimize", True)
    solver.add(z3.Or(variables))
    selectors = [z3.Bool(f"s{number}") for number in range(len(instance.admitted))]
    for selector, admitted in zip(selectors, instance.admitted, strict=True):
        barred = [z3.Not(variables[at]) for at in range(instance.size) if at not in admitted]
        if barred:
            solver.add(z3.Implies(selector, z3.And(barred)))

    def one_core() -> list[Core]:
        solver.check(selectors)
        return [tuple(sorted(int(str(each)[1:]) for each in solver.unsat_core()))]

    return one_core


ONE, SMALLEST, CORRECTION, ALL = "one core", "smallest core", "smallest correction", "all cores and corrections"

CORE_PEERS: Final[dict[str, tuple[str, Callable[[Instance], Callable[[], Any]]]]] = {
    "PySAT MUSX": (ONE, _musx),
    "Z3 unsat core": (ONE, _z3),
    "CPMpy mus": (ONE, _by_cpmpy("mus")),
    "PySAT OptUx": (SMALLEST, _optux),
    "CPMpy smus": (SMALLEST, _by_cpmpy("smus")),
    "PySAT RC2": (CORRECTION, _rc2),
    "CPMpy marco": (ALL, _by_cpmpy("marco")),
}
"""By name: what it finds, and what prepares it for an instance."""


def agrees(found: Any, task: str, instance: Instance, cores: Sequence[Core], corrections: Sequence[Core]) -> bool:
    """Whether what a peer found is right, given every core and every correction."""
    match task:
        case "one core":
            return all(core in cores for core in found)
        case "smallest core":
            return all(core in cores and len(core) == len(cores[0]) for core in found)
        case "smallest correction":
            return bool(found == len(corrections[0]))
        case _:
            ours = [("mus", core) for core in cores] + [("mcs", correction) for correction in corrections]
            return bool(found == sorted(ours))
