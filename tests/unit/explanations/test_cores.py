"""Cores and corrections over one candidate variable."""

import json
import random
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from benchmarks.catalogs import catalog_of, failing_request
from hypothesis import example, given, strategies as st

import whyroute as wr
from bruteforce import admits_someone, all_cores, all_corrections, all_hitting_sets
from paths import TESTS
from whyroute.constraints.named import compile_constraints
from whyroute.explanations import cores as cores_module, hitting
from whyroute.explanations.cores import conflicts
from whyroute.explanations.corrections import folded, in_full, minimal_signatures
from whyroute.explanations.found import Conflicts, Found
from whyroute.wire.request import read_request

ROUTING = TESTS / "data" / "routing.jsonl"
PLENTY = 10**9
SECONDS = 5.0
"""Of the processor: far more than any of these takes; the counters are what guards the effort."""


@st.composite
def clashes(draw: st.DrawFn) -> tuple[list[int], int]:
    """Up to 8 constraints over up to 12 candidates; equal ones are likely."""
    size = draw(st.integers(0, 12))
    pool = draw(st.lists(st.integers(0, (1 << size) - 1), min_size=1, max_size=6))
    return draw(st.lists(st.sampled_from(pool), max_size=8)), size


@pytest.fixture(params=["table", "search", "few corrections listed", "search, few corrections listed"])
def _every_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "search" in request.param:
        monkeypatch.setattr(hitting, "_TABLE", -1)
    if "few" in request.param:
        monkeypatch.setattr(cores_module, "_SIGNATURES", 1)


def corrections(admitted: Sequence[int], size: int, limit: int = 64) -> Found[int]:
    groups = folded(admitted, size)
    return in_full(groups, minimal_signatures(groups, size, limit), limit)


def brute_force(admitted: Sequence[int], size: int) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    def is_satisfiable(chosen: Sequence[int]) -> bool:
        return admits_someone(admitted, size, chosen)

    count = len(admitted)
    return all_cores(count, is_satisfiable), all_corrections(count, is_satisfiable) if size else []


def check(admitted: Sequence[int], size: int) -> None:
    """Both lists, whole and cut, against brute force."""
    expected_cores, expected_corrections = brute_force(admitted, size)
    for limit in (PLENTY, 3, 1):
        cut_cores = Found(tuple(expected_cores[:limit]), len(expected_cores) > limit)
        cut_corrections = Found(tuple(expected_corrections[:limit]), len(expected_corrections) > limit)
        assert corrections(admitted, size, limit) == cut_corrections
        few = conflicts(admitted, size, core_limit=limit, correction_limit=1, work=PLENTY)
        assert few.cores == cut_cores
        both = conflicts(admitted, size, core_limit=limit, correction_limit=limit, work=PLENTY)
        assert both == Conflicts(cut_cores, cut_corrections)


class TestAgainstBruteForce:
    @given(clashes())
    @example(([], 0))
    @example(([], 3))
    @example(([0], 0))
    @example(([0], 1))
    @example(([1], 1))
    @example(([0b01, 0b10], 2))
    @example(([0b01, 0b10, 0b01, 0b10], 2))
    def test_on_any_sets(self, clash: tuple[list[int], int]) -> None:
        check(*clash)

    @pytest.mark.usefixtures("_every_way")
    def test_each_way_to_get_there(self) -> None:
        rng = random.Random(20)
        for _ in range(300):
            size = rng.randrange(1, 13)
            pool = [rng.getrandbits(size) & rng.getrandbits(size) for _ in range(rng.randrange(2, 7))]
            check([rng.choice(pool) for _ in range(rng.randrange(1, 8))], size)

    def test_on_every_failing_case(self) -> None:
        failing = 0
        for solved in failing_cases():
            failing += 1
            check(solved.constraints.admitted, solved.catalog.size)
        assert failing > 200


def failing_cases() -> Iterator[Any]:
    for line in ROUTING.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)["input"]
        solved = read_request(case).solve()
        if not solved.survivors:
            yield solved


class TestLaws:
    @given(clashes())
    def test_core_is_minimal_and_unsatisfiable(self, clash: tuple[list[int], int]) -> None:
        admitted, size = clash
        for core in conflicts(admitted, size, core_limit=PLENTY).cores.sets:
            assert not admits_someone(admitted, size, core)
            for left_out in core:
                assert admits_someone(admitted, size, [index for index in core if index != left_out]) or not size

    @given(clashes())
    def test_correction_is_minimal_and_sufficient(self, clash: tuple[list[int], int]) -> None:
        admitted, size = clash
        for correction in corrections(admitted, size, PLENTY).sets:
            others = [index for index in range(len(admitted)) if index not in correction]
            assert admits_someone(admitted, size, others)
            for kept in correction:
                assert not admits_someone(admitted, size, [*others, kept])

    @given(clashes().filter(lambda clash: clash[1] > 0))
    def test_cores_and_corrections_are_dual(self, clash: tuple[list[int], int]) -> None:
        admitted, size = clash
        both = conflicts(admitted, size, core_limit=PLENTY, correction_limit=PLENTY)
        if both.cores.sets:
            assert list(both.cores.sets) == all_hitting_sets(len(admitted), both.corrections.sets)
            assert list(both.corrections.sets) == all_hitting_sets(len(admitted), both.cores.sets)
        else:
            assert admits_someone(admitted, size, range(len(admitted)))

    @given(clashes(), st.integers(1, 10))
    def test_a_limit_cuts_and_says_so(self, clash: tuple[list[int], int], limit: int) -> None:
        whole = conflicts(*clash, core_limit=PLENTY, correction_limit=PLENTY)
        cut = conflicts(*clash, core_limit=limit, correction_limit=limit)
        assert cut.cores == Found(whole.cores.sets[:limit], len(whole.cores.sets) > limit)
        assert cut.corrections == Found(whole.corrections.sets[:limit], len(whole.corrections.sets) > limit)


class TestEdges:
    def test_satisfiable_has_neither(self) -> None:
        assert conflicts([0b110, 0b010], 3) == Conflicts()

    def test_no_constraints_and_a_candidate_has_neither(self) -> None:
        assert conflicts([], 1) == Conflicts()

    def test_no_candidates_give_the_empty_core(self) -> None:
        assert conflicts([0, 0], 0) == Conflicts(cores=Found(((),)))
        assert corrections([0, 0], 0) == Found()

    def test_a_constraint_that_rejects_everyone(self) -> None:
        assert conflicts([0b11, 0, 0b01], 2) == Conflicts(Found(((1,),)), Found(((1,),)))

    def test_repeated_constraint_folds_and_clashes_alone(self) -> None:
        found = conflicts([0b01, 0b10, 0b01], 2)
        assert found.corrections.sets == ((1,), (0, 2))
        assert found.cores.sets == ((0, 1), (1, 2))


class Counted(int):
    """A set that counts the operations on it."""

    operations = 0

    def _counted(self, value: int) -> "Counted":
        Counted.operations += 1
        return Counted(value)

    def __and__(self, other: int) -> "Counted":
        return self._counted(int(self) & int(other))

    def __xor__(self, other: int) -> "Counted":
        return self._counted(int(self) ^ int(other))

    __rand__ = __and__
    __rxor__ = __xor__


def counted_corrections(admitted: Sequence[int], size: int) -> tuple[Found[int], int]:
    Counted.operations = 0
    return corrections([Counted(each) for each in admitted], size), Counted.operations


def timely(admitted: Sequence[int], size: int) -> Conflicts[int]:
    start = time.process_time()
    found = conflicts(admitted, size)
    assert time.process_time() - start < SECONDS
    return found


def random_sets(count: int, size: int, seed: int = 3) -> list[int]:
    rng = random.Random(seed)
    return [rng.getrandbits(size) for _ in range(count)]


class TestEffort:
    @pytest.mark.parametrize(("count", "size"), [(9, 100_000), (20, 10_000), (60, 10_000)])
    def test_corrections_cost_operations_by_limit_and_constraints_only(self, count: int, size: int) -> None:
        found, operations = counted_corrections(random_sets(count, size), size)
        assert operations <= (len(found.sets) + 4) * (2 * count + 8)

    def test_a_realistic_failure_takes_few_operations(self) -> None:
        size = 10_000
        admitted = compile_constraints(*failing_request(1), catalog_of(size)).admitted
        found, operations = counted_corrections(admitted, size)
        assert found.sets
        assert operations < 100
        assert not conflicts(admitted, size, correction_limit=1).cores.truncated

    def test_six_needs_written_ten_times_each(self) -> None:
        # Six candidates, each stopped by another need alone: one core, in 10^6 ways.
        admitted = [0b111111 ^ 1 << need for need in range(6)] * 10
        found = timely(admitted, 6)
        assert found.cores.truncated
        assert found.cores.sets[:2] == ((0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 4, 11))
        assert len(found.cores.sets) == 64
        assert found.corrections == Found(tuple(tuple(range(need, 60, 6)) for need in range(6)))

    def test_twenty_four_needs_that_fall_in_pairs(self) -> None:
        # Twelve corrections of two needs each: 2^12 cores.
        admitted = [0xFFF ^ 1 << pair for pair in range(12) for _ in range(2)]
        found = timely(admitted, 12)
        assert found.corrections == Found(tuple((2 * pair, 2 * pair + 1) for pair in range(12)))
        assert found.cores.truncated
        assert len(found.cores.sets) == 64
        assert found.cores.sets[0] == tuple(range(0, 24, 2))
        assert found.cores.sets[1] == (*range(0, 22, 2), 23)

    def test_twenty_four_needs_that_clash_in_pairs(self) -> None:
        # A candidate for each way to give up one of every two: 2^12 corrections, twelve cores.
        size = 1 << 12
        admitted: list[int] = []
        for pair in range(12):
            one = sum(1 << candidate for candidate in range(size) if candidate >> pair & 1)
            admitted += [one, one ^ (1 << size) - 1]
        found = timely(admitted, size)
        assert found.cores == Found(tuple((2 * pair, 2 * pair + 1) for pair in range(12)))
        assert found.corrections.truncated
        assert found.corrections.sets[:2] == (tuple(range(0, 24, 2)), (*range(0, 22, 2), 23))

    @pytest.mark.parametrize(("count", "size"), [(20, 10_000), (24, 10_000), (20, 100_000)])
    def test_up_to_twenty_four_constraints_are_exact(self, count: int, size: int) -> None:
        admitted = random_sets(count, size)
        found = timely(admitted, size)
        check_honest(admitted, size, found)
        assert len(found.cores.sets) == 64
        assert [len(core) for core in found.cores.sets] == sorted(len(core) for core in found.cores.sets)

    @pytest.mark.parametrize("size", [10_000, 100_000])
    def test_sixty_random_needs_answer_honestly(self, size: int) -> None:
        admitted = random_sets(60, size)
        found = timely(admitted, size)
        check_honest(admitted, size, found)
        assert found.cores.sets
        assert found.cores.truncated
        assert len(found.corrections.sets) == 64

    def test_sixty_thresholds_are_exact(self) -> None:
        rng = random.Random(5)
        size = 3_000
        pairs = [(rng.random(), rng.random()) for _ in range(size)]
        fit = [(left, right) if left + right < 1 else (0.0, right) for left, right in pairs]
        admitted = [
            sum(1 << at for at, pair in enumerate(fit) if pair[side] >= i / 30) for side in (0, 1) for i in range(30)
        ]
        found = timely(admitted, size)
        expected = [
            (left, right) for left in range(60) for right in range(left + 1, 60) if not admitted[left] & admitted[right]
        ]
        alone = [index for index in range(60) if not admitted[index]]
        assert not alone
        assert list(found.cores.sets) == expected[:64]
        check_honest(admitted, size, found)


def test_no_more_cores_are_made_than_asked_for() -> None:
    """Five providers that lack twelve attributes each: 12 to the 5th cores, of which 64 are asked for."""
    lacking = [[f"{group}-{each}" for each in range(12)] for group in range(5)]
    every = [attribute for group in lacking for attribute in group]
    price = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}
    models = [{"name": "m", "contextWindow": 1, "features": [], "cost": price}]
    providers = [
        {"id": f"p{group}", "region": "eu", "models": models, "attributes": [a for a in every if a not in lacks]}
        for group, lacks in enumerate(lacking)
    ]
    rules = [{"name": name, "because": "b", "require": {"attribute": name}} for name in every]
    explanation = wr.explain({"needs": []}, providers, rules=rules)
    tracemalloc.start()
    try:
        found = [[each.id for each in core] for core in explanation.cores]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    firsts = [f"rules/{group}-0" for group in range(3)]
    expected = [[*firsts, f"rules/3-{a}", f"rules/4-{b}"] for a in range(12) for b in range(12)]
    assert found == expected[:64]
    assert peak < 1 << 20


def check_honest(admitted: Sequence[int], size: int, found: Conflicts[int]) -> None:
    """Whatever is reported is a minimal core or correction, in order."""

    def together(chosen: Sequence[int]) -> int:
        left = (1 << size) - 1
        for index in chosen:
            left &= admitted[index]
        return left

    for sets in (found.cores.sets, found.corrections.sets):
        assert list(sets) == sorted(set(sets), key=lambda each: (len(each), each))
    for core in found.cores.sets:
        assert not together(core)
        for left_out in core:
            assert together([index for index in core if index != left_out])
    for correction in found.corrections.sets:
        others = [index for index in range(len(admitted)) if index not in correction]
        assert together(others)
        for kept in correction:
            assert not together([*others, kept])
