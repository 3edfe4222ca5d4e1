"""The bit-set engine's parts inside the library's own `Problem`, and the engine's use of the library."""

from typing import Any

import pytest
from constraint import BacktrackingSolver, Problem
from hypothesis import given, strategies as st

import strategies as wire
from whyroute.basics.bits import full, positions
from whyroute.engine.single import (
    AdmittedConstraint,
    BitSetDomain,
    BitSetSolver,
    EngineError,
    Solutions,
    engine_named,
    intersection,
)
from whyroute.wire.request import read_request

LIBRARY_SOLVER: Any = BacktrackingSolver  # the library has no types
sets = st.integers(0, 2**70 - 1)


def problem_of(members: int, admitted: list[int]) -> Any:
    problem: Any = Problem(BitSetSolver())
    problem.addVariable("candidate", BitSetDomain(members))
    for each in admitted:
        problem.addConstraint(AdmittedConstraint(each), ["candidate"])
    return problem


@given(sets.filter(bool), st.lists(sets | st.just(full(70)), max_size=3))
def test_bit_set_and_list_problems_have_equal_solutions(members: int, admitted: list[int]) -> None:
    listed: Any = Problem(LIBRARY_SOLVER())
    listed.addVariable("candidate", list(positions(members)))
    for each in admitted:
        listed.addConstraint(lambda number, each=each: bool(each >> number & 1), ["candidate"])
    expected = sorted(listed.getSolutions(), key=lambda solution: solution["candidate"])
    assert list(problem_of(members, admitted).getSolutions()) == expected
    assert list(problem_of(members, admitted).getSolutionIter()) == expected
    assert problem_of(members, admitted).getSolution() == (expected[0] if expected else None)
    again = problem_of(members, admitted)
    assert list(again.getSolutions()) == list(again.getSolutions()) == expected, "a problem may be asked again"


def test_the_library_refuses_an_empty_domain() -> None:
    with pytest.raises(ValueError, match="empty"):
        problem_of(0, [])


@given(sets)
def test_domain_reads_like_its_candidate_list(members: int) -> None:
    domain = BitSetDomain(members)
    assert list(domain) == list(positions(members))
    assert len(domain) == members.bit_count()
    assert bool(domain) == bool(members)


@given(sets, st.data())
def test_solutions_read_like_a_list(members: int, data: st.DataObject) -> None:
    expected = [{"x": number} for number in positions(members)]
    found = Solutions("x", members)
    assert list(found) == expected
    assert len(found) == len(expected)
    cut = data.draw(st.slices(len(expected)))
    assert found[cut] == expected[cut]
    for index in (*range(-len(expected), len(expected), 7),):
        assert found[index] == expected[index]
    with pytest.raises(IndexError):
        found[len(expected)]


@given(wire.requests())
def test_engine_finds_what_its_parts_find(request: dict[str, Any]) -> None:
    constraints = read_request({"at": "2026-12-24", **request}).solve().constraints
    everyone = constraints.catalog.all()
    found = engine_named("bitset").solve(constraints)
    if everyone:
        problem = problem_of(everyone, list(constraints.admitted))
        assert [solution["candidate"] for solution in problem.getSolutionIter()] == list(positions(found))
    else:
        assert found == 0


def test_engine_hands_each_constraint_to_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []
    solutions = BitSetSolver.getSolutions

    def noted(self: BitSetSolver, *arguments: Any) -> Solutions:
        asked.append(arguments)
        return solutions(self, *arguments)

    monkeypatch.setattr(BitSetSolver, "getSolutions", noted)
    assert intersection(0b1111, [0b0111, 0b1110, 0b1111]) == 0b0110
    ((domains, pairs, _),) = asked
    assert isinstance(domains["candidate"], BitSetDomain)
    assert [constraint.admitted for constraint, _ in pairs] == [0b0111, 0b1110, 0b1111]
    assert intersection(0b1111, [0b0011, 0b1100]) == intersection(0, [1]) == 0


def test_engine_refuses_a_library_that_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Problem, "getSolutions", lambda self: None)
    with pytest.raises(EngineError, match="gave NoneType"):
        intersection(1, [1])
