"""How the benchmarks run: turns, the time they may take, what is resumed, and what is made of the results."""

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks import running, service
from benchmarks.__main__ import main
from benchmarks.bench import fitting
from benchmarks.catalogs import catalog_of
from benchmarks.floor import STAGES, TASK, sets_read
from benchmarks.measuring import OURS, Case, Figure, Part, System, Taken, measure, python_system
from benchmarks.peers import UnavailableError
from benchmarks.peers.json_rules import VARIABLE, JsonRules
from benchmarks.running import run
from benchmarks.targets import OTHERS, others, shares
from benchmarks.writing import PAGE, RESULTS, page_with, results_in
from rich.console import Console

import whyroute as wr
from whyroute.basics.bits import BitSlices


class _Asked:
    """A system that notes which requests it is asked for in a turn, each for so many seconds."""

    def __init__(self, name: str, seconds: float, fails: bool = False, requests: int = 8) -> None:
        self.turns: list[list[int]] = []
        self.system = System(name, self._answer, self._timed)
        self._seconds, self._fails, self._requests = seconds, fails, requests

    def _answer(self, number: int) -> int:
        self.turns.append([number])
        return number

    def _timed(self, first: int, count: int) -> Taken:
        self.turns.append([(first + at) % self._requests for at in range(count)])
        if self._fails and len(self.turns) > 4:
            raise TimeoutError("it took long")
        return Taken(self._seconds * count)


def test_turn_starts_where_the_previous_one_ended() -> None:
    """Else a system that is asked for few requests a turn would be asked for the same ones again, and may keep them."""
    ours, other = _Asked(OURS, 0.01), _Asked("other", 1.0)
    measure(Case("x", 1, [ours.system, other.system], requests=8, compared=0), 5)
    assert ours.turns[-5:] == [[0, 1], [2, 3], [4, 5], [6, 7], [0, 1]]
    assert other.turns[-5:] == [[0], [2], [4], [6], [0]]


@pytest.mark.parametrize("seconds", [0.0001, 0.0005, 0.003, 0.005, 0.009, 0.015, 0.03, 1.0])
@pytest.mark.parametrize("others", [(), (0.0001,), (0.004,), (1.0, 0.003)])
@pytest.mark.parametrize("compared", [0, 2, 8, 64])
def test_first_turn_asks_new_requests(seconds: float, others: tuple[float, ...], compared: int) -> None:
    """Else the only turn that there is, where one takes long, would show what is kept of the last few requests."""
    ours = _Asked(OURS, seconds, requests=64)
    systems = [ours, *(_Asked(f"other {at}", each, requests=64) for at, each in enumerate(others))]
    measure(Case("x", 1, [each.system for each in systems], compared=compared), 1)
    *before, first = ours.turns
    recent: list[int] = []
    for number in (number for turn in before for number in turn):
        recent = [*recent, number][-4:] if number not in recent else recent
    for number in first[:4]:
        assert number not in recent
        recent = [*recent, number][-4:]


def test_all_requests_go_round_within_a_turn() -> None:
    ours, other = _Asked(OURS, 0.0001), _Asked("other", 1.0)
    measure(Case("x", 1, [ours.system, other.system], requests=8, compared=0), 2)
    assert [sorted(set(turn)) for turn in ours.turns[-2:]] == [list(range(8))] * 2
    assert other.turns[-2:] == [[0], [1]]


def test_slow_first_call_alone_is_not_slow() -> None:
    """Else a system that compiles something at first would be asked once a turn, and never be warm."""
    seconds = iter([0.5])
    counts: list[int] = []

    def timed(first: int, count: int) -> Taken:
        counts.append(count)
        return Taken(next(seconds, 0.001) * count)

    measure(Case("x", 1, [System(OURS, None, timed)], requests=8, compared=0), 2)
    assert counts[-2:] == [16, 16]


def test_turns_end_on_time_except_the_first() -> None:
    case = Case("x", 1, [_Asked(OURS, 1.0).system], requests=8, compared=0)
    assert measure(case, 15, until=0.0, least=0).turns == 1
    assert measure(case, 15, until=0.0).turns == 15


def test_slow_system_is_left_out_with_a_note() -> None:
    ours, other = _Asked(OURS, 1.0), _Asked("other", 1.0, fails=True)
    found = measure(Case("x", 1, [ours.system, other.system], requests=8, compared=0), 6).to_dict()
    assert found["leftOut"] == {"other": "it took long"}
    assert list(found["seconds"]) == [OURS]
    assert found["ratios"] == {}


def test_processor_time_ratios_exist_for_reporting_systems() -> None:
    def timed(first: int, count: int) -> Taken:
        return Taken(1.0, 0.5)

    def silent(first: int, count: int) -> Taken:
        return Taken(1.0)

    systems = [System(OURS, None, timed), System("telling", None, timed), System("silent", None, silent)]
    found = measure(Case("x", 1, systems, compared=0), 3)
    assert found.processor_ratios.keys() == {"telling"}
    assert found.ratios.keys() == {"telling", "silent"}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A suite of two parts in place of all; the names of the parts that were measured."""
    measured: list[str] = []

    def items(name: str) -> Iterator[Figure]:
        measured.append(name)
        yield Figure(name, 0, len(measured), "x")

    def missing(*_: Any) -> Any:
        raise UnavailableError("nobody is here")

    suite = [Part(name, lambda name=name: items(name)) for name in ("one", "two")]  # type: ignore[misc]
    monkeypatch.setattr(running, "SUITES", {"suite": lambda bench: suite})
    monkeypatch.setattr(running, "Published", missing)
    monkeypatch.setattr(running, "JsonRules", missing)
    return measured


def test_parts_of_a_suite_are_resumed(made: list[str], tmp_path: Path) -> None:
    first = run(["suite"], output=tmp_path)
    assert made == ["one", "two"]
    file = tmp_path / "suite.json"
    found = json.loads(file.read_text("utf-8"))
    assert [item["part"] for item in found["items"]] == made
    # As if the run had been ended within its second part.
    del found["parts"]["two"]
    file.write_text(json.dumps(found), "utf-8")
    again = run(["suite"], output=tmp_path, resume=True)
    assert made == ["one", "two", "two"]
    assert [item["value"] for item in again["suite"]["items"]] == [1, 3]
    assert again["suite"]["items"][0] == first["suite"]["items"][0]
    # Other versions, other figures.
    file.write_text(json.dumps({**found, "versions": {}}), "utf-8")
    run(["suite"], output=tmp_path, resume=True)
    assert made[3:] == ["one", "two"]


def test_parts_that_start_too_late_are_left_out(made: list[str], tmp_path: Path) -> None:
    text = io.StringIO()
    stderr = Console(width=200, file=text)
    found = run(["suite"], minutes=0, output=tmp_path, stderr=stderr)
    assert made == []
    assert found["suite"]["leftOut"] == ["one", "two"]
    told = text.getvalue()
    assert "left out: suite, two, since the time is up; --resume takes it up" in told
    assert "left out: json-rules-engine, since nobody is here" in told


def test_missing_npm_package_says_how_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = r"it is not installed: `npm install --prefix benchmarks/peers` brings \d+\.\d+\.\d+, and `--npm`"
    with pytest.raises(UnavailableError, match=told):
        JsonRules(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(UnavailableError, match=told):
        JsonRules()


def test_the_sets_that_are_read_decide_a_route() -> None:
    """With every other set of the index emptied, who qualifies and who is picked stays the same."""
    catalog = catalog_of(200)
    for request in fitting(catalog, 8):
        sets = set(sets_read(catalog, request))
        decision = wr.route(request.capability, catalog, policy=request.policy)
        _, needs = request.parts, request.capability.needs
        assert len(needs) == 3
        for column, op, bound in (
            (catalog.context_window, ">=", request.parts[1]),
            (catalog.prompt_price, "<=", request.parts[2]),
        ):
            emptied = BitSlices(
                column.values, tuple(each if each in sets else 0 for each in column.slices), column.known
            )
            assert emptied.meets(op, bound) == column.meets(op, bound)
            assert column.known in sets
        assert catalog.in_region(decision.provider.metadata.region) in sets


def _spread(median: float) -> dict[str, float]:
    return dict.fromkeys(("low", "median", "high"), median)


def test_other_targets_are_read_from_the_results() -> None:
    def case(task: str, candidates: int, **more: Any) -> dict[str, Any]:
        return {"task": task, "candidates": candidates, "seconds": {}, "ratios": {}, "processorRatios": {}, **more}

    results = {
        "floor": {"items": [case(TASK, 10**6, seconds={OURS: _spread(0.02)}, processorSeconds={OURS: _spread(0.005)})]},
        "solvers": {
            "items": [case("all cores and corrections, by CPMpy", 1_000, ratios={"CPMpy marco": _spread(1 / 2_000)})]
        },
        "memory": {
            "items": [{"figure": "index, bytes a candidate", "candidates": 10_000, "value": 250.0, "unit": "B"}]
        },
        "start": {
            "items": [{"figure": "import whyroute: of x loaded", "candidates": 0, "value": 0, "unit": "packages"}]
        },
    }
    told = [[cell.strip() for cell in line.split("|")[1:-1]] for line in others(results).splitlines()[2:]]
    assert len(told) == len(OTHERS)
    measured = [cells[1:] for cells in told if cells[3] != "not measured"]
    assert measured == [
        ["<= 10.0 ms", "20.0 ms", "not met, by 2.0x"],
        ["<= 10.0 ms", "5.00 ms", "met, by 2.0x"],
        ["<= 200 B", "250 B", "not met, by 1.2x"],
        [">= 1,000 times", "2,000 times", "met, by 2.0x"],
        ["<= 0", "0", "met"],
    ]


def test_shares_of_a_route_add_up() -> None:
    medians = dict(zip([*STAGES, OURS], (0.001, 0.01, 0.1, 0.4, 0.6, 1.0), strict=True))
    item = {"task": TASK, "candidates": 10, "seconds": {name: _spread(value) for name, value in medians.items()}}
    octets = {"figure": "their bytes", "candidates": 10, "value": 14.0, "unit": "B"}
    line = shares({"floor": {"items": [item, octets]}}).splitlines()[-1]
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert cells == ["10", "14", "1.00 ms", "1.00 s", "1,000", "10%", "30%", "20%", "40%"]


def test_service_needs_enough_candidates_to_be_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["service", "--candidates", "500"])
    with pytest.raises(SystemExit) as ended:
        service.main()
    assert ended.value.code == 2
    assert "--candidates: 500 is too few; 1010 is the least" in capsys.readouterr().err


def test_service_that_does_not_start_is_reported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="the server did not start: exit status 2"):
        service.started(tmp_path / "missing.yaml", tmp_path)
    assert "missing.yaml" in capfd.readouterr().err


def test_the_page_shows_the_results_that_are_there() -> None:
    text = PAGE.read_text("utf-8")
    assert page_with(results_in(RESULTS), text) == text, "run `python -m benchmarks --report`"


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="marks"):
        page_with({}, "# Benchmarks\n")


def test_time_in_this_thread_is_told() -> None:
    taken = python_system(OURS, lambda at: sum(range(10_000))).timed(0, 20)
    assert taken.processor is not None
    assert 0 < taken.processor <= taken.seconds * 1.5


def test_the_report_is_made_from_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "memory.json").write_text((RESULTS / "memory.json").read_text("utf-8"), "utf-8")
    monkeypatch.setattr("sys.argv", ["benchmarks", "--report", "-o", str(tmp_path)])
    assert main() == 0
    told = (tmp_path / "README.md").read_text("utf-8")
    assert told.startswith("# Results\n\n## Targets\n")
    assert "## memory" in told
    assert "## route" not in told
    assert capsys.readouterr().out == ""


def test_disagreeing_systems_end_the_run(
    monkeypatch: pytest.MonkeyPatch, made: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    case = Case(
        "add", 3, [python_system(OURS, int, lambda at: at + 1), python_system("other", int, lambda at: at + at)]
    )
    monkeypatch.setattr(running, "SUITES", {"route": lambda bench: [Part("3", lambda: iter([case]))]})
    monkeypatch.setattr("sys.argv", ["benchmarks", "--suite", "route", "--quick"])
    assert main() == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "the systems disagree, so nothing is timed: add, 3 candidates, request 0: whyroute answers 1" in told
