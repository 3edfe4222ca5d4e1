"""A run: suites, part by part, each written as soon as it is measured."""

import json
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .bench import Bench
from .environment import environment, load
from .measuring import Case, Part, measure
from .peers import UnavailableError
from .peers.json_rules import NAME as JSON_RULES, JsonRules
from .peers.published import NAME as PUBLISHED, Published
from .suites import SUITES

__all__ = ["ROUNDS", "run"]

ROUNDS: Final = 15
_QUICK_ROUNDS: Final = 3


def run(
    names: list[str],
    *,
    quick: bool = False,
    rounds: int | None = None,
    most: int = 1_000_000,
    minutes: float | None = None,
    resume: bool = False,
    npm: Path | None = None,
    output: Path | None = None,
    stderr: Console | None = None,
) -> dict[str, dict[str, Any]]:
    """Measure suites; their results, by name. What is measured is written at once, so that Ctrl-C loses little.

    Args:
        names: The suites.
        quick: Whether small sizes and few turns will do.
        rounds: How many turns each system gets.
        most: The most candidates of a catalog.
        minutes: How long a suite may take. Each part has its share of what is left; what its turns do not need is for
            the parts after it. Catalogs are made and answers compared whatever that takes.
        resume: Whether parts that were measured at this commit with these versions are kept.
        npm: Where npm packages are.
        output: The directory of the files.
        stderr: Where progress and notes go.

    Raises:
        DisagreementError: Two systems answer a request differently.
    """
    stderr = stderr or Console(stderr=True, quiet=True)
    rounds = rounds or (_QUICK_ROUNDS if quick else ROUNDS)
    results: dict[str, dict[str, Any]] = {}
    with ExitStack() as stack:
        bench = Bench(quick, most)
        try:
            bench.published = stack.enter_context(Published())
        except UnavailableError as error:
            bench.skipped[PUBLISHED] = str(error)
        try:
            bench.json_rules = stack.enter_context(JsonRules(npm))
        except UnavailableError as error:
            bench.skipped[JSON_RULES] = str(error)
        suites = {name: SUITES[name](bench) for name in names}
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        bar = stack.enter_context(Progress(*columns, console=stderr, transient=True))
        task = bar.add_task("", total=sum(map(len, suites.values())))
        for name, parts in suites.items():
            suite = _Suite(name, bench, output, resume)
            until = None if minutes is None else time.perf_counter() + 60 * minutes
            for at, part in enumerate(parts):
                if part.name not in suite.parts:
                    bar.update(task, description=f"{name}: {part.name}")
                    share = None if until is None else _share(until, len(parts) - at)
                    if share is None or share > time.perf_counter():
                        suite.measure(part, rounds, share, lambda told: bar.update(task, description=told))
                    else:
                        suite.result["leftOut"].append(part.name)
                        stderr.print(
                            f"left out: {name}, {part.name}, since the time is up; --resume takes it up",
                            style="yellow",
                            markup=False,
                        )
                bar.advance(task)
            suite.write()
            results[name] = suite.result
    for peer, why in bench.skipped.items():
        hint = "" if peer == JSON_RULES else " (extra `bench`)"
        stderr.print(f"left out: {peer}, since {why}{hint}", style="yellow", markup=False)
    return results


def _share(until: float, parts: int) -> float:
    """When a part has to end, so that as many parts, itself among them, have as much time each."""
    now = time.perf_counter()
    return now + (until - now) / parts


class _Suite:
    """The results of a suite as they come in.

    Attributes:
        result: What its file says.
        parts: What is told of each part that has been measured, by name.
    """

    def __init__(self, name: str, bench: Bench, output: Path | None, resume: bool) -> None:
        self._name, self._bench = name, bench
        self._file = None if output is None else output / f"{name}.json"
        here = environment(bench.published, bench.json_rules)
        before = _before(self._file, here) if resume else {}
        self.parts: dict[str, Any] = before.get("parts", {})
        items = [item for item in before.get("items", ()) if item.get("part") in self.parts]
        self.result: dict[str, Any] = {**here, "skipped": {}, "leftOut": [], "parts": self.parts, "items": items}

    def measure(self, part: Part, rounds: int, until: float | None, told: Any) -> None:
        """Measure a part; what each of its cases came to is written at once."""
        quick, start = self._bench.quick, time.perf_counter()
        for item in part.items():
            if isinstance(item, Case):

                def turns(turn: int, most: int, item: Case = item) -> None:
                    told(f"{self._name}: {item.task}, {item.candidates:,}, turn {turn + 1} of {most}".replace("[", "("))

                told(f"{self._name}: {item.task}, {item.candidates:,}, answers compared")
                measured = measure(item, rounds, turn_seconds=0.002 if quick else 0.02, until=until, told=turns)
                found = measured.to_dict()
            else:
                found = item.to_dict()
            self.result["items"].append({"part": part.name, **found})
            self.write()
        taken = round(time.perf_counter() - start, 1)
        self.parts[part.name] = {"seconds": taken, "load": load()}
        self.write()

    def write(self) -> None:
        """Write the file, if there is to be one."""
        self.result["skipped"] = dict(self._bench.skipped)
        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.write_text(json.dumps(self.result, indent=1) + "\n", encoding="utf-8")


def _before(file: Path | None, here: dict[str, Any]) -> dict[str, Any]:
    """What a file says, when it was written at the same commit with the same versions."""
    if file is None or not file.is_file():
        return {}
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    same = all(found.get(key) == here[key] for key in ("commit", "versions"))
    return found if same and "parts" in found else {}
