"""Measurements: systems that do the same work take turns, and ratios are taken within each turn.

Absolute times mean little on a shared machine: whatever slows it down meets all systems of a turn alike, so that the
ratio of two of them keeps its meaning.
"""

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

__all__ = [
    "OURS",
    "Case",
    "DisagreementError",
    "Figure",
    "Measured",
    "Part",
    "Spread",
    "System",
    "Taken",
    "measure",
    "python_system",
]

OURS = "whyroute"
"""The system that all others are compared with."""


class Taken(NamedTuple):
    """What operations took together.

    Attributes:
        seconds: By the clock.
        processor: Of the processor, in seconds, which other users of the machine hardly disturb; None: unknown.
    """

    seconds: float
    processor: float | None = None


@dataclass(frozen=True, slots=True)
class System:
    """One system doing one task.

    Attributes:
        name: What it is called in tables and plots.
        answer: The answer to the request of a number, in a form in which systems are compared; None: no comparison.
            May raise TimeoutError, which leaves the system out of the case.
        timed: Does the task for `count` requests from number `first` on, and tells what that took; may raise the same.
        expected: whyroute's answer in the form in which this system gives its own; None: in the form it has.
    """

    name: str
    answer: Callable[[int], Any] | None
    timed: Callable[[int, int], Taken]
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
class Part:
    """A part of a suite, such as one size: what is resumed or left out as a whole.

    Attributes:
        name: What it is called within its suite.
        items: Makes what it needs, and yields what is to be measured.
    """

    name: str
    items: Callable[[], Iterator[Case | Figure]]


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
        turns: How many turns each system had.
        processor: As `seconds`, of the processor, for the systems of which that is known.
        processor_ratios: As `ratios`, of the processor's time.
        compared: How many answers were compared with those of each other system.
        left: The systems that were left out, each with why.
    """

    case: Case
    seconds: Mapping[str, Spread]
    ratios: Mapping[str, Spread]
    turns: int
    processor: Mapping[str, Spread] = field(default_factory=dict)
    processor_ratios: Mapping[str, Spread] = field(default_factory=dict)
    compared: Mapping[str, int] = field(default_factory=dict)
    left: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The figures as they are written to a file."""
        return {
            "task": self.case.task,
            "candidates": self.case.candidates,
            "turns": self.turns,
            "seconds": _spreads(self.seconds),
            "ratios": _spreads(self.ratios),
            "processorSeconds": _spreads(self.processor),
            "processorRatios": _spreads(self.processor_ratios),
            "answersCompared": dict(self.compared),
            "leftOut": dict(self.left),
        }


def _spreads(spreads: Mapping[str, Spread]) -> dict[str, dict[str, float]]:
    return {name: spread.to_dict() for name, spread in spreads.items()}


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
    processor: bool = True,
) -> System:
    """A system that runs in this process.

    Args:
        name: What it is called.
        run: Does the task for the request of a number.
        answer: The answer to compare; None: no comparison.
        expected: whyroute's answer in that form.
        requests: How many different requests there are; they are taken in turn.
        again: Whether a turn repeats one request.
        processor: Whether the work is done in this thread, so that the thread's own time tells what it took.
    """

    def timed(first: int, count: int) -> Taken:
        numbers = [(first if again else first + at) % requests for at in range(count)]
        own, start = time.thread_time(), time.perf_counter()
        for number in numbers:
            run(number)
        seconds = time.perf_counter() - start
        return Taken(seconds, time.thread_time() - own if processor else None)

    return System(name, answer, timed, expected)


_Times = dict[str, list[Taken]]


def measure(
    case: Case,
    rounds: int,
    *,
    turn_seconds: float = 0.02,
    until: float | None = None,
    least: float = 2.0,
    told: Callable[[int, int], object] = lambda turn, turns: None,
) -> Measured:
    """Compare the answers of a case, then time it.

    Turns go on with the requests where the turn before ended, and the first one where neither comparing nor warming up
    has ended, so that no system is asked again what it was asked a moment ago, however few requests a turn has.

    Args:
        case: The case.
        rounds: How many turns each system gets. The one that goes first changes from turn to turn.
        turn_seconds: How long a turn is to be; an operation that takes longer is done once.
        until: When to end, by `time.perf_counter`: turns that would begin later are left out, but for the first.
        least: How many seconds of turns there may be in any case, so that what is quick is measured well, however long
            a catalog took to make.
        told: Is told which turn begins, and of how many.

    Raises:
        DisagreementError: Two systems answer differently.
    """
    ours = case.systems[0]
    compared: dict[str, int] = {}
    left: dict[str, str] = {}
    counts: dict[str, int] = {}
    for system in case.systems:
        try:
            if system is not ours:
                compared[system.name] = _compare(case, ours, system)
            counts[system.name] = 1 if case.once else _count(system, turn_seconds, case.requests)
        except TimeoutError as error:
            compared.pop(system.name, None)
            left[system.name] = str(error)
    systems = [system for system in case.systems if system.name in counts]
    # A whole number of rounds over all requests begins anew; else the next turn goes on after the longest.
    step = max((count % case.requests for count in counts.values()), default=0) or 1
    asked = [number for number in (*counts.values(), *compared.values()) if number < case.requests]
    start = 0 if case.once else max([_TRIED, *asked])
    rounds = case.rounds or rounds
    times: _Times = {system.name: [] for system in systems}
    gc.collect()
    until = None if until is None else max(until, time.perf_counter() + least)
    gc.disable()
    try:
        for turn in range(rounds):
            if turn and until is not None and time.perf_counter() >= until:
                break
            told(turn, rounds)
            for system in [*systems[turn % len(systems) :], *systems[: turn % len(systems)]]:
                if system.name in times:
                    try:
                        taken = _of_one(system, (start + turn * step) % case.requests, counts[system.name])
                    except TimeoutError as error:
                        del times[system.name]
                        left[system.name] = str(error)
                    else:
                        times[system.name].append(taken)
            gc.collect(0)
    finally:
        gc.enable()
    seconds = {name: [each.seconds for each in turns] for name, turns in times.items()}
    processor = {
        name: [each.processor for each in turns if each.processor is not None]
        for name, turns in times.items()
        if all(each.processor is not None for each in turns)
    }
    return Measured(
        case,
        {name: Spread.of(each) for name, each in seconds.items()},
        _ratios(seconds, ours.name),
        len(seconds[ours.name]),
        {name: Spread.of(each) for name, each in processor.items()},
        _ratios(processor, ours.name),
        compared,
        left,
    )


def _of_one(system: System, first: int, count: int) -> Taken:
    taken = system.timed(first, count)
    return Taken(taken.seconds / count, None if taken.processor is None else taken.processor / count)


def _ratios(times: Mapping[str, Sequence[float]], ours: str) -> dict[str, Spread]:
    """Within each turn; where a time is too short to be told, there is no ratio."""
    return {
        name: Spread.of([mine / its for mine, its in zip(times[ours], each, strict=True)])
        for name, each in times.items()
        if name != ours and ours in times and all(each)
    }


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
    once = system.timed(0, 1).seconds
    if turn_seconds <= once < _COLD * turn_seconds:
        once = system.timed(1 % requests, 1).seconds  # the first may have loaded or compiled something
    if once >= turn_seconds:
        return 1
    once = min(once, system.timed(0, _TRIED).seconds / _TRIED)
    if once * requests < turn_seconds:
        once = min(once, system.timed(0, requests).seconds / requests)
    # A turn is tried out: what is compiled while it runs is faster at its end.
    tried = _fitting(once, turn_seconds, requests)
    return _fitting(min(once, system.timed(0, tried).seconds / tried), turn_seconds, requests)


_TRIED: Final = 8
"""How many operations, from the first request on, tell how long one takes."""

_COLD: Final = 100
"""How many times as long as a turn a first operation may take that is done again; what takes longer is slow itself."""


def _fitting(once: float, turn_seconds: float, requests: int) -> int:
    """How many operations fit into a turn: whole rounds over all requests, or, where none fits, what does."""
    rounds = int(turn_seconds / (once * requests))
    return requests * rounds or max(1, int(turn_seconds / once))
