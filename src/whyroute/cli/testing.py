"""`whyroute test`: running the tests of a pack once, or whenever a file of it changes."""

import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from ..errors import WhyrouteError
from ..model.timestamps import written
from ..packs import CaseResult, Results, load_pack, run_tests
from ..packs.watch import changes
from .output import CommandError, ReaderGoneError, complain_about, print_json, print_lines, print_text, remark
from .packs import not_loaded
from .progress import progress_bar

__all__ = ["TestRun", "run_pack_tests"]


@dataclass(frozen=True, slots=True)
class TestRun:
    """What is to be run, and how it is told.

    Attributes:
        pack: The path of the pack.
        format: How the results are printed.
        output: The file to write them to; None: standard output.
        match: The text that the names of the tests have in them.
        tenant: The tenant of the cases to run; None: all.
        capability: Their capability; None: all.
        at: The time of tests that have none; None: the present.
        fail_fast: Whether the first failure ends the run.
        coverage: Whether to tell what the tests reach.
        fail_under: The percentage that they must reach at least.
        everything: Whether to tell everything, however long.
        watch: Whether to run again when a file of the pack changes.
    """

    __test__ = False  # pytest takes classes of this name for its own

    pack: str
    format: Literal["text", "json", "junit"] = "text"
    output: Path | None = None
    match: str | None = None
    tenant: str | None = None
    capability: str | None = None
    at: str | None = None
    fail_fast: bool = False
    coverage: bool = False
    fail_under: float | None = None
    everything: bool = False
    watch: bool = False

    @property
    def command(self) -> str:
        """The words that run the tests of the pack."""
        return f"whyroute test {shlex.quote(self.pack)}"


def run_pack_tests(run: TestRun) -> int:
    """Run the tests of a pack and print what they come to; the exit status.

    Raises:
        CommandError: The pack can't be loaded, there are no tests, or the output can't be written.
        KeyboardInterrupt: Whoever watches has enough.
    """
    if not run.watch:
        return _once(run)
    for _ in changes(run.pack):
        _clear()
        try:
            _once(run)
        except CommandError as failure:
            complain_about(failure)
        except ReaderGoneError:
            return 0
        if sys.stderr is not None:
            remark(f"watching {run.pack}; Ctrl-C ends it")
    return 0


def _once(run: TestRun) -> int:
    try:
        pack = load_pack(run.pack)
        with progress_bar("{task.fields[failed]} failed", columns=("count",), failed=0) as update:
            results = run_tests(
                pack,
                now=run.at if run.at is not None else written(datetime.now(UTC)),
                match=run.match,
                tenant=run.tenant,
                capability=run.capability,
                fail_fast=run.fail_fast,
                coverage=run.coverage,
                told=_telling(update),
            )
    except WhyrouteError as error:
        raise not_loaded(error, run.pack) from None
    status = 0 if results.passed else 1
    # The status stands when whoever reads the answer has enough before its end; one who watches is told of it.
    with suppress(*() if run.watch else (ReaderGoneError,)):
        _print(results, run)
    if run.fail_under is not None and results.coverage is not None and results.coverage.percent < run.fail_under:
        remark(f"coverage is {results.coverage.percent:.1f}%, under {run.fail_under:g}%")
        status = 1
    return status


def _print(results: Results, run: TestRun) -> None:
    from ..render.tests import results_document, results_lines  # noqa: PLC0415

    match run.format:
        case "json":
            print_json(results_document(results, command=run.command), run.output)
        case "junit":
            from ..render.junit import results_junit  # noqa: PLC0415

            print_text(results_junit(results, command=run.command), run.output)
        case "text":
            print_lines(results_lines(results, command=run.command, everything=run.everything), run.output)


def _telling(update: Callable[..., None] | None) -> Callable[[CaseResult, int], None] | None:
    """What moves the bar with each result, and not oftener than somebody could see."""
    if update is None:
        return None
    done = failed = 0

    def told(result: CaseResult, total: int) -> None:
        nonlocal done, failed
        done += 1
        failed += not result.passed
        if done % _STEP == 0 or done == total:
            update(total=total, completed=done, failed=failed)

    return told


_STEP = 64


def _clear() -> None:
    """Clear the screen, where there is one."""
    if sys.stdout is not None and sys.stdout.isatty():
        sys.stdout.write("\x1b[2J\x1b[H")
        sys.stdout.flush()
