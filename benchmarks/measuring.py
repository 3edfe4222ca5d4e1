"""Measurements: systems that do the same work take turns, and ratios are taken within each turn.

Absolute times mean little on a shared machine: whatever slows it down meets all systems of a turn alike, so that the
ratio of two of them keeps its meaning.
"""

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["OURS", "Case", "DisagreementError", "Figure", "Measured", "Spread", "System", "measure", "python_system"]

OURS = "whyroute"
"""The system that all others are compared with."""


@dataclass(frozen=True, slots=True)
class System:
    """One system doing one task.

    Attributes:
        name: What it is called in tables and plots.
        answer: The answer to the request of a number, in a form in which systems are compared; None: no comparison.
        timed: Does the task for `count` requests from number `first` on, and gives the seconds that took.
        expected: whyroute's answer in the form in which this system gives its own; None: in the form it has.
    """

    name: str
    answer: Callable[[int], Any] | None
    timed: Callable[[int, int], float]
    expected: Callable[[int], Any] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A task at one size.

    Attributes:
        task: What is done.
        candidates: The size of the catalog.
        systems: Who does it, whyroute first.
        requests: How many different requests there are.
        compared: For how many of them the answers are compared before anything is timed.
        once: Whether one operation is all that a turn does, as it changes what it works on; nothing is warmed up.
        rounds: How many turns each system gets, when it is not what the run says.
    """

    task: str
    candidates: int
    systems: Sequence[System]
    requests: int = 64
    compared: int = 64
    once: bool = False
    rounds: int | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that is no time.

    Attributes:
        name: What it is.
        candidates: The size of the catalog; 0 where there is none.
        value: The figure.
        unit: Its unit.
    """

    name: str
    candidates: int
    value: float
    unit: str

    def to_dict(self) -> dict[str, Any]:
        """The figure as it is written to a file."""
        return {"figure": self.name, "candidates": self.candidates, "value": self.value, "unit": self.unit}


@dataclass(frozen=True, slots=True)
class Spread:
    """Figures of several turns.

    Attributes:
        low: The lower quartile.
        median: The median.
        high: The upper quartile.
    """

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> "Spread":
        """The spread of at least one figure."""
        if len(figures) < 2:
            return cls(figures[0], figures[0], figures[0])
        low, median, high = statistics.quantiles(figures, n=4, method="inclusive")
        return cls(low, median, high)

    def to_dict(self) -> dict[str, float]:
        """The spread as it is written to a file."""
        return {"low": self.low, "median": self.median, "high": self.high}


@dataclass(frozen=True, slots=True)
class Measured:
    """What a case came to.

    Attributes:
        case: The case.
        seconds: For each system, the seconds of one operation.
        ratios: For each other system, whyroute's time divided by its time, in the same turn.
        compared: How many answers were compared with those of each other system.
    """

    case: Case
    seconds: Mapping[str, Spread]
    ratios: Mapping[str, Spread]
    compared: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The figures as they are written to a file."""
        return {
            "task": self.case.task,
            "candidates": self.case.candidates,
            "seconds": {name: spread.to_dict() for name, spread in self.seconds.items()},
            "ratios": {name: spread.to_dict() for name, spread in self.ratios.items()},
            "answersCompared": dict(self.compared),
        }


class DisagreementError(Exception):
    """Two systems answer a request differently, so that their times can't be compared.

    Attributes:
        system: The other system.
        case: What was asked.
        number: The number of the request.
    """

    def __init__(self, system: str, case: Case, number: int, ours: Any, theirs: Any) -> None:
        self.system = system
        self.case = case
        self.number = number
        super().__init__(
            f"{case.task}, {case.candidates} candidates, request {number}: "
            f"{OURS} answers {_short(ours)}, {system} answers {_short(theirs)}"
        )


def _short(answer: Any) -> str:
    text = repr(answer)
    return text if len(text) <= 400 else f"{text[:400]} ..."


def python_system(
    name: str,
    run: Callable[[int], Any],
    answer: Callable[[int], Any] | None = None,
    *,
    expected: Callable[[int], Any] | None = None,
    requests: int = 64,
    again: bool = False,
) -> System:
    """A system that runs in this process.

    Args:
        name: What it is called.
        run: Does the task for the request of a number.
        answer: The answer to compare; None: no comparison.
        expected: whyroute's answer in that form.
        requests: How many different requests there are; they are taken in turn.
        again: Whether a turn repeats one request.
    """

    def timed(first: int, count: int) -> float:
        numbers = [(first if again else first + at) % requests for at in range(count)]
        start = time.perf_counter()
        for number in numbers:
            run(number)
        return time.perf_counter() - start

    return System(name, answer, timed, expected)


def measure(case: Case, rounds: int, *, turn_seconds: float = 0.02) -> Measured:
    """Compare the answers of a case, then time it.

    Args:
        case: The case.
        rounds: How many turns each system gets. The one that goes first changes from turn to turn.
        turn_seconds: How long a turn is to be; an operation that takes longer is done once.

    Raises:
        DisagreementError: Two systems answer differently.
    """
    ours = case.systems[0]
    compared = {system.name: _compare(case, ours, system) for system in case.systems[1:]}
    rounds = case.rounds or rounds
    counts = {system.name: 1 if case.once else _count(system, turn_seconds, case.requests) for system in case.systems}
    times: dict[str, list[float]] = {system.name: [] for system in case.systems}
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            order = [*case.systems[turn % len(case.systems) :], *case.systems[: turn % len(case.systems)]]
            for system in order:
                count = counts[system.name]
                times[system.name].append(system.timed(turn % case.requests, count) / count)
            gc.collect(0)
    finally:
        gc.enable()
    ratios = {
        system.name: Spread.of([mine / its for mine, its in zip(times[ours.name], times[system.name], strict=True)])
        for system in case.systems[1:]
    }
    return Measured(case, {name: Spread.of(figures) for name, figures in times.items()}, ratios, compared)


def _compare(case: Case, ours: System, other: System) -> int:
    expected = other.expected or ours.answer
    if expected is None or other.answer is None:
        return 0
    for number in range(case.compared):
        mine, its = expected(number), other.answer(number)
        if mine != its:
            raise DisagreementError(other.name, case, number, mine, its)
    return case.compared


def _count(system: System, turn_seconds: float, requests: int) -> int:
    """How often to repeat an operation in a turn; warms it up on the way.

    A whole number of rounds over all requests where the time allows it, so that all turns do the same.
    """
    once = system.timed(0, 1)
    if once >= turn_seconds:
        return 1
    once = min(once, system.timed(0, 8) / 8)
    if once * requests >= turn_seconds:
        return max(1, int(turn_seconds / once))
    once = min(once, system.timed(0, requests) / requests)
    return requests * max(1, int(turn_seconds / (once * requests)))
