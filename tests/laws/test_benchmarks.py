"""The benchmarks run and their systems agree; what a route costs, in counts and in ratios of own operations."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.bench import build_index, fitting
from benchmarks.catalogs import catalog_of, failing_request
from benchmarks.measuring import OURS, Case, DisagreementError, System, Taken, measure, python_system
from benchmarks.report import ratio_text, tables, time_text
from benchmarks.running import run
from benchmarks.suites import SUITES
from benchmarks.targets import BESIDE_PUBLISHED, beside_published
from benchmarks.writing import write_report
from rich.console import Console

import whyroute as wr
from counting import calls
from whyroute.catalog.catalog import Catalog


@pytest.mark.parametrize(
    "suite", [pytest.param(suite, marks=[] if suite == "route" else [pytest.mark.slow]) for suite in SUITES]
)
def test_every_suite_runs_and_its_systems_agree(suite: str, tmp_path: Path) -> None:
    """Every system that is installed answers as whyroute does, or nothing is timed."""
    results = run([suite], quick=True, rounds=1, output=tmp_path)
    items = results[suite]["items"]
    assert items
    for item in items:
        if "task" in item:
            assert all(spread["median"] > 0 for spread in item["seconds"].values())
            assert item["ratios"].keys() == item["seconds"].keys() - {OURS}
            assert not item["leftOut"]
    assert json.loads((tmp_path / f"{suite}.json").read_text("utf-8")) == results[suite]
    write_report(tmp_path, Console(quiet=True))
    assert f"## {suite}" in (tmp_path / "README.md").read_text("utf-8")


def test_suite_without_measurements_says_so() -> None:
    assert tables("solvers", []) == "## solvers\n\nNothing was measured.\n"


def _case(theirs: Callable[[int], Any]) -> Case:
    ours = python_system(OURS, lambda at: at, lambda at: at * 2)
    return Case("double", 1, [ours, python_system("other", theirs, theirs)], compared=4)


def test_systems_that_disagree_are_not_timed() -> None:
    with pytest.raises(DisagreementError, match="double, 1 candidates, request 3: whyroute answers 6, other answers 9"):
        measure(_case(lambda at: at * 2 if at < 3 else at * 3), 1)


def test_a_ratio_is_taken_within_each_turn() -> None:
    seconds = iter([1.0, 2.0, 10.0, 40.0, 100.0, 800.0])

    def timed(first: int, count: int) -> Taken:
        return Taken(next(seconds))

    ours = python_system(OURS, int)
    case = Case("x", 1, [_timed(ours.name, timed), _timed("other", timed)], once=True)
    found = measure(case, 3)
    # Turns: 1 and 2; the other first, 10 and 40; 100 and 800.
    assert found.ratios["other"].median == 0.5
    assert found.compared == {"other": 0}


def _timed(name: str, timed: Callable[[int, int], Taken]) -> System:
    return System(name, None, timed)


def test_an_empty_cell_is_not_a_zero() -> None:
    spread = {"low": 0.001, "median": 0.001, "high": 0.001}
    items = [
        {"task": "t", "candidates": 10, "seconds": {OURS: spread, "other": spread}, "ratios": {"other": spread}},
        {"task": "t", "candidates": 1_000, "seconds": {OURS: spread}, "ratios": {}},
    ]
    lines = tables("s", items).splitlines()
    assert lines[-1].replace(" ", "") == "|1,000|1.00ms|||"


def test_targets_are_said_to_be_met_or_not() -> None:
    def results(ratio: float) -> dict[str, Any]:
        spread = dict.fromkeys(("low", "median", "high"), ratio)
        item = {"task": "route", "candidates": 10, "seconds": {}, "ratios": {"published package": spread}}
        return {"route": {"items": [item]}}

    assert "2.5 (<= 2.5: met)" in beside_published(results(2.5))
    assert "1.2 (<= 2.5: met, by 2.1x)" in beside_published(results(1.2))
    assert "5.0 (<= 2.5: not met, by 2.0x)" in beside_published(results(5))
    assert "(<= 0.5: not measured)" in beside_published(results(5))
    assert "(<= 2.5: not measured)" in beside_published(results(5), "processorRatios")
    assert all(set(by_size) == {10, 100, 1_000, 10_000, 100_000} for by_size in BESIDE_PUBLISHED.values())


@pytest.mark.parametrize(
    ("given", "told"), [(1.23456e-6, "1.23 us"), (0.0123, "12.3 ms"), (0.999, "999 ms"), (0.9996, "1.00 s")]
)
def test_times_are_told_to_three_figures(given: float, told: str) -> None:
    assert time_text(given) == told


@pytest.mark.parametrize(("given", "told"), [(0.000123, "0.00012"), (0.25, "0.25"), (2.54, "2.5"), (29.7, "30")])
def test_ratios_are_told_to_two_figures(given: float, told: str) -> None:
    assert ratio_text(given) == told


@pytest.fixture(scope="module")
def catalogs() -> dict[int, Catalog]:
    found = {size: catalog_of(size) for size in (100, 10_000)}
    for catalog in found.values():
        build_index(catalog)
    return found


def test_route_call_count_ignores_candidate_count(catalogs: dict[int, Catalog]) -> None:
    """A guard against work for each candidate: no machine changes the count."""

    def cost(catalog: Catalog) -> int:
        requests = fitting(catalog, 8)
        for request in requests:
            wr.route(request.capability, catalog, policy=request.policy)

        def routes() -> None:
            for request in requests:
                decision = wr.route(request.capability, catalog, policy=request.policy)
                assert decision.candidate

        return calls(routes)

    small, large = cost(catalogs[100]), cost(catalogs[10_000])
    assert large < 1.2 * small


def test_the_index_is_faster_than_asking_each_candidate() -> None:
    """A ratio of two operations of our own, taken in the same turns: about a thousandth."""
    catalog = catalog_of(1_000)
    requests = fitting(catalog, 4)

    def routed(engine: Any) -> Callable[[int], object]:
        return lambda at: wr.route(requests[at].capability, catalog, policy=requests[at].policy, engine=engine)

    case = Case(
        "route",
        catalog.size,
        [python_system(OURS, routed("bitset"), requests=4), python_system("plain", routed("plain"), requests=4)],
        requests=4,
        compared=0,
    )
    assert measure(case, 3).ratios["plain"].median < 0.2


def test_failing_requests_have_nine_or_ten_constraints(catalogs: dict[int, Catalog]) -> None:
    for floor, count in ((False, 9), (True, 10)):
        capability, policy = failing_request(3, floor=floor)
        with pytest.raises(wr.CapabilityUnsatisfiableError) as caught:
            wr.route(capability, catalogs[100], policy=policy)
        assert len(caught.value.explanation.constraints) == count
