"""Streaming batches: a line in, a line out."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ..solver import EngineName
from ..wire import answer_json
from .inputs import STDIN, lines_of, open_input
from .output import CommandError, reason_of

__all__ = ["run_batch"]


def run_batch(name: str, output: Path | None, engine: EngineName, *, progress: bool | None) -> int:
    """Answer the requests of a file or of standard input, and return the exit status.

    Raises:
        CommandError: The input can't be read, the output can't be written, or there is no line at all.
    """
    shown = "standard input" if name == STDIN else f"`{name}`"
    with ExitStack() as stack:
        source = open_input(name)
        if name != STDIN:
            stack.callback(source.close)
        sink = _sink(output, stack)
        size = _size(source)
        advance = stack.enter_context(_progress(size, wanted=progress))
        invalid = False
        number = 0
        for number, line in enumerate(lines_of(source), start=1):
            valid, pieces = answer_json(line, number, engine=engine)
            for piece in pieces:
                sink.write(piece.encode())
            sink.write(b"\n")
            if size is None:
                sink.flush()  # whoever feeds the lines one by one waits for each answer
            invalid = invalid or not valid
            advance(len(line) + 1)
        sink.flush()
    if number == 0:
        raise CommandError(f"{shown} is empty; one request per line is expected")
    return 1 if invalid else 0


def _sink(output: Path | None, stack: ExitStack) -> BinaryIO:
    if output is None:
        return sys.stdout.buffer
    try:
        return stack.enter_context(open(output, "wb"))
    except OSError as error:
        raise CommandError(f"`{output}` can't be written: {reason_of(error)}") from None


def _size(source: BinaryIO) -> int | None:
    """The number of bytes of a regular file; None for a pipe or a terminal."""
    try:
        status = os.fstat(source.fileno())
    except (OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


@contextmanager
def _progress(size: int | None, *, wanted: bool | None) -> Iterator[Any]:
    """A progress bar on stderr over the bytes read; what it yields is told how many more were."""
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield lambda count: None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    answered = 0
    columns = (
        TextColumn("{task.fields[answered]} answered"),
        BarColumn(),
        *((TimeRemainingColumn(),) if size else (MofNCompleteColumn(),) if size is not None else ()),
    )
    with Progress(*columns, console=Console(stderr=True, force_terminal=wanted), transient=True) as bar:
        task = bar.add_task("batch", total=size, answered=0)

        def advance(count: int) -> None:
            nonlocal answered
            answered += 1
            bar.update(task, advance=count, answered=answered)

        yield advance
