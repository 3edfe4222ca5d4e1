"""`whyroute test`: running the tests of a pack once, or whenever a file of it changes."""

import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..errors import WhyrouteError
from ..packs import CaseResult, Results, load_pack, run_tests
from ..packs.watch import changes
from ..render.tests import results_document, results_lines
from .completion import capabilities, tenants
from .options import Output, RequiredPack, text_option
from .output import CommandError, ReaderGoneError, complain_about, print_json, print_lines, print_text, remark
from .packs import not_loaded
from .progress import progress_bar
from .usage import command as command_of

__all__ = ["command"]


@command_of("test", "whyroute test rules", "whyroute test rules --match patient --fail-fast")
def command(
    pack: RequiredPack,
    match: Annotated[
        str | None, text_option("--match -k", "TEXT", "Run the tests that have this in their name; case aside.")
    ] = None,
    tenant: Annotated[
        str | None, text_option("--tenant -t", "T", "Run the cases of this tenant.", autocompletion=tenants)
    ] = None,
    capability: Annotated[
        str | None,
        text_option("--capability -c", "NAME", "Run the cases of this capability.", autocompletion=capabilities),
    ] = None,
    at: Annotated[
        str | None, text_option("--at", "TIME", "The time of tests that have none of their own; default: now.")
    ] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", "-x", help="Stop at the first case that fails.")] = False,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Tell which rules, clauses, waivers and conditions no test reaches.")
    ] = False,
    fail_under: Annotated[
        float | None,
        typer.Option(
            "--fail-under",
            metavar="PERCENT",
            min=0,
            max=100,
            help="Exit with 1 when the tests reach less; brings --coverage.",
        ),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Run again whenever a file of the pack changes.")] = False,
    format: Annotated[
        Literal["text", "json", "junit"],
        typer.Option("--format", "-f", help="How the results are printed; junit is XML for CI servers."),
    ] = "text",
    everything: Annotated[
        bool, typer.Option("--all", help="Every failed case in full; otherwise three of a test, and twenty in all.")
    ] = False,
    output: Output = None,
) -> None:
    """Run the tests of a rule pack: each combination of tenant and capability is a case.

    Exit status 0 when all pass, 1 when one fails, 2 when the pack doesn't load or has no such test.
    """

    def once() -> int:
        try:
            loaded = load_pack(pack)
            with progress_bar("{task.fields[failed]} failed", columns=("count",), failed=0) as update:
                results = run_tests(
                    loaded,
                    at=at,
                    match=match,
                    tenant=tenant,
                    capability=capability,
                    fail_fast=fail_fast,
                    coverage=coverage or fail_under is not None,
                    told=_telling(update),
                )
        except WhyrouteError as error:
            raise not_loaded(error, pack) from None
        # The status stands when the reader closes the answer before its end; one who watches is told of it.
        with suppress(*() if watch else (ReaderGoneError,)):
            _print(results, format, output, f"whyroute test {shlex.quote(pack)}", everything=everything)
        if fail_under is not None and results.coverage is not None and results.coverage.percent < fail_under:
            remark(f"coverage is {results.coverage.percent:.1f}%, under {fail_under:g}%")
            return 1
        return 0 if results.passed else 1

    if not watch:
        raise typer.Exit(once())
    for _ in changes(pack):
        _clear()
        try:
            once()
        except CommandError as failure:
            complain_about(failure)
        except ReaderGoneError:
            return
        if sys.stderr is not None:
            remark(f"watching {pack}; Ctrl-C ends it")


def _print(results: Results, format: str, output: Path | None, command: str, *, everything: bool) -> None:
    match format:
        case "json":
            print_json(results_document(results, command=command), output)
        case "junit":
            from ..render.junit import results_junit  # noqa: PLC0415 (only CI servers ask for it)

            print_text(results_junit(results, command=command), output)
        case _:
            print_lines(results_lines(results, command=command, everything=everything), output)


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
