"""Cores and corrections of any constraints, when all that is known is how to ask whether some of them can be satisfied.

The oracle answers for a subset of the constraints, and a subset of a satisfiable one has to be satisfiable too. Asking
is taken to be dear: answers are kept, and what follows from earlier ones is not asked.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Generic, TypeVar

from ..basics import bits
from ..engine.deadlines import check_time
from .found import Conflicts, Found
from .hitting import WORK, hitting_sets, transposed
from .search import HittingSets, Work

__all__ = ["BUDGET", "one_core", "walk"]

T = TypeVar("T")

BUDGET: Final = 2_000
"""How many questions an enumeration may ask."""


def one_core(constraints: Sequence[T], is_satisfiable: Callable[[Sequence[T]], bool]) -> tuple[T, ...]:
    """One minimal set of constraints that can't be satisfied together, by QuickXplain.

    For a core of k out of n constraints it asks in the order of k log(n / k) questions (Junker, "QuickXplain: Preferred
    explanations and relaxations for over-constrained problems", AAAI 2004).

    Args:
        constraints: The constraints; they are told apart by position, and need neither equality nor a hash.
        is_satisfiable: Whether some of them, given in their order, can be satisfied together.

    Returns:
        The constraints given, in their order; none when not even no constraint at all can be satisfied.

    Raises:
        ValueError: All of them together can be satisfied, so that there is no core.
    """
    oracle = _Oracle(constraints, is_satisfiable)
    if oracle.satisfiable(oracle.everything):
        raise ValueError("the constraints can be satisfied together: there is no core")
    return oracle.named(bits.positions(oracle.core_within(oracle.everything)))


def walk(
    constraints: Sequence[T],
    is_satisfiable: Callable[[Sequence[T]], bool],
    *,
    core_limit: int = 64,
    correction_limit: int = 64,
    budget: int = BUDGET,
    work: int = WORK,
) -> Conflicts[T]:
    """Cores and corrections together; none of either when all constraints can be satisfied together.

    As MARCO does (Liffiton, Previti, Malik and Marques-Silva, "Fast, flexible MUS enumeration", Constraints 21, 2016),
    it goes from one unexplored subset to the next: one that is satisfiable is grown until its complement is a
    correction. The next subset is the smallest that hits every correction known so far, so that an unsatisfiable one
    is a core without being shrunk, and the smallest come first (Ignatiev, Previti, Liffiton and Marques-Silva,
    "Smallest MUS extraction with minimal hitting set dualization", CP 2015). When all cores are known, the corrections
    follow without a question; else they are sought the same way, with the parts of cores and corrections exchanged.

    Args:
        constraints: The constraints; they are told apart by position, and need neither equality nor a hash.
        is_satisfiable: Whether some of them, given in their order, can be satisfied together. No constraint is lost by
            adding others: a subset of a satisfiable set is satisfiable.
        core_limit: How many cores at most, at least 1.
        correction_limit: How many corrections at most, at least 1.
        budget: How many questions each of the two searches may ask. When they are used up, the list is said to be
            truncated: what was found so far is the beginning of the full list. As many questions again are then spent
            on cores that share no constraint, which follow by size, though others in between may be missing; of
            corrections, one is found beyond the budget when there is none, and it may not be the smallest.
        work: How many set operations each of the two searches may take between the questions.
    """
    oracle = _Oracle(constraints, is_satisfiable)
    trivial = _trivial(oracle)
    if trivial:
        return trivial
    cores = _cores(oracle, core_limit, budget, work)
    corrections = _corrections(oracle, cores, correction_limit, budget, work)
    # More cores than are asked for may be known by now, and help with the corrections.
    shown = Found(cores.sets[:core_limit], cores.truncated)
    return Conflicts(oracle.found(shown), oracle.found(corrections))


class _SpentError(Exception):
    """The questions are used up."""


class _Oracle(Generic[T]):
    """Asks about sets of constraints by index, and remembers.

    Attributes:
        everything: The set of all indices.
        left: How many more questions may be asked; None: any number.
    """

    def __init__(self, constraints: Sequence[T], is_satisfiable: Callable[[Sequence[T]], bool]) -> None:
        self.everything = bits.full(len(constraints))
        self.left: int | None = None
        self._constraints = constraints
        self._ask = is_satisfiable
        self._satisfiable: list[int] = []
        self._unsatisfiable: list[int] = []

    def satisfiable(self, members: int) -> bool:
        """Whether these constraints can be satisfied together."""
        if any(members & known == members for known in self._satisfiable):
            return True
        if any(members & known == known for known in self._unsatisfiable):
            return False
        if self.left is not None:
            if self.left <= 0:
                raise _SpentError
            self.left -= 1
        check_time()
        answer = self._ask(self.named(bits.positions(members)))
        (self._satisfiable if answer else self._unsatisfiable).append(members)
        return answer

    def core_within(self, members: int) -> int:
        """One core within an unsatisfiable set."""
        return _minimal(lambda part: not self.satisfiable(part), members)

    def correction_within(self, members: int) -> int:
        """One correction within a set without which the others are satisfiable."""
        return _minimal(lambda part: self.satisfiable(self.everything ^ part), members)

    def named(self, indices: Iterable[int]) -> tuple[T, ...]:
        """The constraints at these indices."""
        return tuple(self._constraints[index] for index in indices)

    def found(self, sets: Found[int]) -> Found[T]:
        """What was found, in the caller's own constraints."""
        return Found(tuple(map(self.named, sets.sets)), sets.truncated)


def _minimal(holds: Callable[[int], bool], members: int) -> int:
    """A minimal part of `members` for which `holds`, which holds for them, and for whatever holds it within."""

    def needed(given: int, grew: bool, part: list[int]) -> int:
        if grew and holds(given):
            return 0
        if len(part) == 1:
            return 1 << part[0]
        first, second = part[: len(part) // 2], part[len(part) // 2 :]
        of_second = needed(given | sum(1 << index for index in first), True, second)
        of_first = needed(given | of_second, of_second != 0, first)
        return of_first | of_second

    return 0 if holds(0) else needed(0, False, list(bits.positions(members)))


def _trivial(oracle: _Oracle[T]) -> Conflicts[T] | None:
    """The answer where everything is satisfiable, or nothing is, not even no constraint at all."""
    if oracle.satisfiable(oracle.everything):
        return Conflicts()
    return None if oracle.satisfiable(0) else Conflicts(cores=Found(((),)))


def _cores(oracle: _Oracle[T], limit: int, budget: int, work: int) -> Found[int]:
    def missed(members: int) -> int | None:
        return oracle.correction_within(oracle.everything ^ members) if oracle.satisfiable(members) else None

    found = _smallest_first(oracle, [], missed, limit, budget, work)
    if not found.truncated or len(found.sets) >= limit:
        return found
    known = set(found.sets)
    more = sorted((len(core), core) for core in _disjoint(oracle, budget) if core not in known)
    return Found((*found.sets, *(core for _, core in more)), truncated=True)


def _disjoint(oracle: _Oracle[T], budget: int) -> list[tuple[int, ...]]:
    """Cores that share no constraint, at least one, until what is left can be satisfied or the questions are used up.

    Where constraints clash in many small groups, the corrections are large and dear, while each core takes few
    questions.
    """
    cores = [oracle.core_within(oracle.everything)]
    oracle.left = budget
    rest = oracle.everything ^ cores[0]
    try:
        while not oracle.satisfiable(rest):
            cores.append(oracle.core_within(rest))
            rest ^= cores[-1]
    except _SpentError:
        pass
    oracle.left = None
    return [tuple(bits.positions(core)) for core in cores]


def _corrections(oracle: _Oracle[T], cores: Found[int], limit: int, budget: int, work: int) -> Found[int]:
    count = oracle.everything.bit_count()
    hits = transposed(cores.sets, count)
    if not cores.truncated:
        within = [index for index, hit in enumerate(hits) if hit]
        return hitting_sets([hits[index] for index in within], [(index,) for index in within], limit, work)

    def missed(members: int) -> int | None:
        others = oracle.everything ^ members
        return None if oracle.satisfiable(others) else oracle.core_within(others)

    found = _smallest_first(oracle, hits, missed, limit, budget, work)
    return found if found.sets else _only(oracle.correction_within(oracle.everything))


def _smallest_first(
    oracle: _Oracle[T], hits: Sequence[int], missed: Callable[[int], int | None], limit: int, budget: int, work: int
) -> Found[int]:
    count = oracle.everything.bit_count()
    bound = Work(work)
    search = HittingSets(hits or [0] * count, bound)
    oracle.left = budget
    found: list[tuple[int, ...]] = []
    cut = False
    try:
        for each in search.enumerate(lambda indices: missed(bits.from_positions(indices, count))):
            found.append(each)
            if len(found) > limit:
                break
    except _SpentError:
        cut = True
    oracle.left = None
    return Found(tuple(found[:limit]), cut or bound.spent or len(found) > limit)


def _only(members: int) -> Found[int]:
    return Found((tuple(bits.positions(members)),), truncated=True)
