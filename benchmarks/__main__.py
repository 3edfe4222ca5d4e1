"""whyroute measured beside others that do the same work; answers are compared before anything is timed.

All systems take turns within a run. Compare the ratios: absolute times mean little on a shared machine.
"""

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .environment import environment
from .measuring import Case, DisagreementError, measure
from .peers import UnavailableError
from .peers.published import NAME as PUBLISHED
from .peers.published import Published
from .report import tables, targets_table, write_plots
from .suites import SUITES, Bench

__all__ = ["main", "run"]

RESULTS: Final = Path(__file__).with_name("results")
_ROUNDS: Final = 15
_QUICK_ROUNDS: Final = 3


def main() -> int:
    """Run suites, print their tables, and write results, tables and plots."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--suite", action="append", choices=SUITES, help="one suite; may be given again (default: all)")
    parser.add_argument("--quick", action="store_true", help="small sizes and few turns: does all run, and agree?")
    parser.add_argument(
        "--most", type=int, default=1_000_000, help="the most candidates of a catalog (default: 1000000)"
    )
    parser.add_argument("--rounds", type=int, help=f"turns of each system (default: {_ROUNDS})")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="DIRECTORY",
        help="where results go (default: benchmarks/results; with --quick nowhere)",
    )
    parser.add_argument("--report", action="store_true", help="measure nothing: tables and plots from what is there")
    options = parser.parse_args()
    output = options.output or (None if options.quick else RESULTS)
    stderr = Console(stderr=True)
    if not options.report:
        names = options.suite or list(SUITES)
        try:
            results = run(
                names,
                quick=options.quick,
                rounds=options.rounds,
                most=options.most,
                output=output,
                stderr=stderr,
            )
        except DisagreementError as error:
            stderr.print(f"the systems disagree, so nothing is timed: {error}", style="red", markup=False)
            return 1
        for name, result in results.items():
            print(tables(name, result["items"]))
    if output is not None:
        write_report(output, stderr)
    return 0


def run(
    names: list[str],
    *,
    quick: bool = False,
    rounds: int | None = None,
    most: int = 1_000_000,
    output: Path | None = None,
    stderr: Console | None = None,
) -> dict[str, dict[str, Any]]:
    """Measure suites; their results, by name. What is measured is written at once, so that Ctrl-C loses little.

    Args:
        names: The suites.
        quick: Whether small sizes and few turns will do.
        rounds: How many turns each system gets.
        most: The most candidates of a catalog.
        output: The directory of the files.
        stderr: Where progress and notes go.

    Raises:
        DisagreementError: Two systems answer a request differently.
    """
    stderr = stderr or Console(stderr=True, quiet=True)
    rounds = rounds or (_QUICK_ROUNDS if quick else _ROUNDS)
    results: dict[str, dict[str, Any]] = {}
    with ExitStack() as stack:
        bench = Bench(quick, most)
        try:
            bench.published = stack.enter_context(Published())
        except UnavailableError as error:
            bench.skipped[PUBLISHED] = str(error)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        bar = stack.enter_context(Progress(*columns, console=stderr, transient=True))
        task = bar.add_task("", total=len(names))
        for name in names:
            items: list[dict[str, Any]] = []
            where = environment(bench.published)
            bar.update(task, description=name)
            for item in SUITES[name](bench):
                if isinstance(item, Case):
                    bar.update(task, description=escape(f"{name}: {item.task}, {item.candidates:,}"))
                    items.append(measure(item, rounds, turn_seconds=0.002 if quick else 0.02).to_dict())
                else:
                    items.append(item.to_dict())
                results[name] = {**where, "skipped": dict(bench.skipped), "items": items}
                if output is not None:
                    output.mkdir(parents=True, exist_ok=True)
                    text = json.dumps(results[name], indent=1) + "\n"
                    (output / f"{name}.json").write_text(text, encoding="utf-8")
            bar.advance(task)
    for peer, why in bench.skipped.items():
        stderr.print(f"left out: {peer}, since {why} (extra `bench`)", style="yellow", markup=False)
    return results


def write_report(directory: Path, stderr: Console) -> None:
    """Write the tables and plots of the results that stand in a directory."""
    found = {
        name: json.loads(path.read_text("utf-8")) for name in SUITES if (path := directory / f"{name}.json").is_file()
    }
    parts = ["# Results\n"]
    targets = [item for name in ("route", "failed") if name in found for item in found[name]["items"]]
    if targets:
        parts.append(f"Targets: whyroute's time / the published package's, median.\n\n{targets_table(targets)}\n")
    for name, result in found.items():
        machine = result["machine"]
        where = f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, load {machine['load']}"
        versions = ", ".join(f"{package} {number}" for package, number in result["versions"].items())
        parts.append(
            f"{tables(name, result['items'])}\n{result['date']}, commit {result['commit']}, {where}; {versions}\n"
        )
    (directory / "README.md").write_text("\n".join(parts), encoding="utf-8")
    try:
        for name, result in found.items():
            write_plots(name, result["items"], directory)
    except ImportError:
        stderr.print("left out: plots, since matplotlib is not installed (extra `bench`)", style="yellow", markup=False)


if __name__ == "__main__":
    sys.exit(main())
