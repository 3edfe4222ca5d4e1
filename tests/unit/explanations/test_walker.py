"""The walker: any satisfiability oracle; against brute force, the one-variable way, and PySAT."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, strategies as st
from pysat.examples.lbx import LBX
from pysat.examples.optux import OptUx
from pysat.formula import WCNF
from pysat.solvers import Solver
from tests.unit.explanations.test_cores import clashes

from bruteforce import admits_someone, all_cores as cores_by_brute_force, all_corrections as corrections_by_brute_force
from whyroute.explanations.cores import conflicts
from whyroute.explanations.found import Conflicts, Found
from whyroute.explanations.walker import one_core, walk

PLENTY = 10**9


@dataclass(eq=False)
class Clause:
    """A constraint without equality or a hash."""

    literals: list[int]

    __hash__ = None  # type: ignore[assignment]  # what the walker must not need


class Asked:
    """An oracle that keeps every question."""

    def __init__(self, answer: Callable[[Sequence[Clause]], bool]) -> None:
        self.questions: list[tuple[int, ...]] = []
        self._answer = answer

    def __call__(self, clauses: Sequence[Clause]) -> bool:
        self.questions.append(tuple(id(clause) for clause in clauses))
        return self._answer(clauses)


def by_pysat(clauses: Sequence[Clause]) -> bool:
    with Solver(bootstrap_with=[clause.literals for clause in clauses]) as solver:
        return bool(solver.solve())


literals = st.integers(1, 4).flatmap(lambda variable: st.sampled_from([variable, -variable]))
formulas = st.lists(st.lists(literals, min_size=1, max_size=3, unique_by=abs).map(Clause), max_size=9)


def positions(found: Found[Clause], clauses: list[Clause]) -> list[tuple[int, ...]]:
    where = {id(clause): position for position, clause in enumerate(clauses)}
    return [tuple(where[id(clause)] for clause in each) for each in found.sets]


@given(formulas)
def test_any_formula_as_by_brute_force(clauses: list[Clause]) -> None:
    def is_satisfiable(chosen: Sequence[int]) -> bool:
        return by_pysat([clauses[index] for index in chosen])

    found = walk(clauses, by_pysat, core_limit=PLENTY, correction_limit=PLENTY)
    assert positions(found.cores, clauses) == cores_by_brute_force(len(clauses), is_satisfiable)
    assert positions(found.corrections, clauses) == corrections_by_brute_force(len(clauses), is_satisfiable)
    assert not found.cores.truncated
    assert not found.corrections.truncated


@given(formulas)
def test_any_formula_as_by_pysat(clauses: list[Clause]) -> None:
    found = walk(clauses, by_pysat, core_limit=PLENTY, correction_limit=PLENTY)
    formula = WCNF()
    for clause in clauses:
        formula.append(clause.literals, weight=1)
    if by_pysat(clauses):
        assert found == Conflicts()
        return
    with OptUx(formula) as optux:
        musses = [tuple(sorted(index - 1 for index in each)) for each in optux.enumerate()]
    cores = positions(found.cores, clauses)
    assert sorted(cores) == sorted(musses)
    assert [len(core) for core in cores] == [len(core) for core in musses]
    lbx = LBX(formula)
    mcses: list[tuple[int, ...]] = []
    for each in lbx.enumerate():
        mcses.append(tuple(sorted(index - 1 for index in each)))
        lbx.block(each)
    lbx.delete()
    assert sorted(positions(found.corrections, clauses)) == sorted(mcses)


@given(clashes(), st.integers(1, 5))
def test_one_candidate_variable_as_its_own_module(clash: tuple[list[int], int], limit: int) -> None:
    admitted, size = clash

    def is_satisfiable(chosen: Sequence[int]) -> bool:
        return admits_someone(admitted, size, chosen)

    for most in (limit, PLENTY):
        found = walk(range(len(admitted)), is_satisfiable, core_limit=most, correction_limit=most)
        assert found == conflicts(admitted, size, core_limit=most, correction_limit=most)


@given(formulas, st.integers(0, 40))
def test_a_budget_cuts_and_says_so(clauses: list[Clause], budget: int) -> None:
    whole = walk(clauses, by_pysat, core_limit=PLENTY, correction_limit=PLENTY)
    cut = walk(clauses, by_pysat, core_limit=PLENTY, correction_limit=PLENTY, budget=budget)
    for part, everything in ((cut.cores, whole.cores), (cut.corrections, whole.corrections)):
        all_sets = positions(everything, clauses)
        some = positions(part, clauses)
        assert part.truncated or some == all_sets
        assert bool(some) == bool(all_sets)
        if part is cut.cores:  # the first ones, then some that share no constraint
            assert some == [each for each in all_sets if each in some]
        else:
            assert some == all_sets[: len(some)] or (len(some) == 1 and some[0] in all_sets)


@given(formulas)
def test_no_question_is_asked_twice(clauses: list[Clause]) -> None:
    oracle = Asked(by_pysat)
    walk(clauses, oracle)
    answers: list[tuple[set[int], bool]] = []
    by_id = {id(clause): clause for clause in clauses}
    for question in oracle.questions:
        asked = set(question)
        for earlier, satisfiable in answers:
            assert not (satisfiable and asked <= earlier)
            assert not (not satisfiable and asked >= earlier)
        answers.append((asked, by_pysat([by_id[each] for each in question])))


@given(formulas)
def test_one_core_is_minimal_and_the_callers_own(clauses: list[Clause]) -> None:
    if by_pysat(clauses):
        with pytest.raises(ValueError, match="there is no core"):
            one_core(clauses, by_pysat)
        return
    core = one_core(clauses, by_pysat)
    assert not by_pysat(core)
    for left_out in core:
        assert by_pysat([clause for clause in core if clause is not left_out])
    where = [next(at for at, clause in enumerate(clauses) if clause is each) for each in core]
    assert where == sorted(where)


class TestEdges:
    def test_nothing_to_satisfy(self) -> None:
        assert walk([], by_pysat) == Conflicts()

    def test_always_refusing_oracle_gives_empty_core(self) -> None:
        for clauses in ([], [Clause([1])], [Clause([1]), Clause([2])]):
            assert walk(clauses, lambda _: False) == Conflicts(cores=Found(((),)))
            assert one_core(clauses, lambda _: False) == ()

    def test_one_constraint_that_clashes_with_itself(self) -> None:
        clause = Clause([])
        found = walk([clause], lambda clauses: not clauses)
        assert found == Conflicts(Found(((clause,),)), Found(((clause,),)))
        assert one_core([clause], lambda clauses: not clauses) == (clause,)


class TestEffort:
    def test_one_core_of_many_takes_few_questions(self) -> None:
        clauses = [Clause([variable]) for variable in range(1, 200)] + [Clause([-50])]
        oracle = Asked(by_pysat)
        core = one_core(clauses, oracle)
        assert [clause.literals for clause in core] == [[50], [-50]]
        assert len(oracle.questions) <= 2 * 2 * 8

    def test_few_clashes_among_many_take_few_questions(self) -> None:
        # Five pairs clash among sixty clauses; each of their 32 corrections is met once on the way.
        clauses = [Clause([variable]) for variable in range(1, 56)] + [Clause([-each]) for each in (3, 9, 27, 31, 50)]
        oracle = Asked(by_pysat)
        found = walk(clauses, oracle)
        assert [[clause.literals[0] for clause in core] for core in found.cores.sets] == [
            [each, -each] for each in (3, 9, 27, 31, 50)
        ]
        assert len(found.corrections.sets) == 32
        assert len(oracle.questions) < 700

    def test_the_budget_holds(self) -> None:
        clauses = [Clause([variable, variable + 1]) for variable in range(1, 30)]
        clauses += [Clause([-variable]) for variable in range(1, 31)]
        oracle = Asked(by_pysat)
        found = walk(clauses, oracle, budget=100)
        assert found.cores.truncated
        assert found.cores.sets
        # Both searches, and what finding one of each beyond the budget takes at most.
        assert len(oracle.questions) <= 2 + 2 * 100 + 2 * 2 * 59


def test_many_disjoint_pairs() -> None:
    """Their corrections are large: those the search for the smallest cores gets to are few."""
    constraints = list(range(200))

    def satisfiable(subset: Sequence[int]) -> bool:
        chosen = set(subset)
        return not any(each ^ 1 in chosen for each in chosen)

    conflicts = walk(constraints, satisfiable)
    assert conflicts.cores.truncated
    assert conflicts.corrections.truncated
    assert len(conflicts.cores.sets) == len(conflicts.corrections.sets) == 64
    assert list(conflicts.cores.sets) == [(2 * pair, 2 * pair + 1) for pair in range(64)]
    for correction in conflicts.corrections.sets:
        assert sorted(each // 2 for each in correction) == list(range(100))
