"""whyroute measured beside others that do the same work; answers are compared before anything is timed.

All systems take turns within a run. Compare the ratios: absolute times mean little on a shared machine.
"""

import argparse
import sys
from pathlib import Path
from typing import Final

from rich.console import Console

from .measuring import DisagreementError
from .peers.json_rules import VARIABLE
from .report import tables
from .running import ROUNDS, run
from .suites import SUITES
from .writing import PAGE, RESULTS, write_page, write_report

__all__ = ["main"]

_MOST: Final = 1_000_000


def main() -> int:
    """Run suites, print their tables, and write results, tables and plots."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--suite", action="append", choices=SUITES, help="one suite; may be given again (default: all)")
    parser.add_argument("--quick", action="store_true", help="small sizes and few turns: does all run, and agree?")
    parser.add_argument("--most", type=int, default=_MOST, help=f"the most candidates of a catalog (default: {_MOST})")
    parser.add_argument("--rounds", type=int, help=f"turns of each system (default: {ROUNDS})")
    parser.add_argument(
        "--minutes",
        type=float,
        help="how long a suite may take: turns are cut short, and parts that would begin later left out, with a word",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="keep the parts of a suite that were measured at this commit with these versions; measure the others",
    )
    parser.add_argument(
        "--npm",
        type=Path,
        metavar="DIRECTORY",
        help=f"where `npm install --prefix` put json-rules-engine (default: {VARIABLE}, or benchmarks/peers)",
    )
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
                minutes=options.minutes,
                resume=options.resume,
                npm=options.npm,
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
        if output == RESULTS and PAGE.is_file():
            write_page(output, PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
