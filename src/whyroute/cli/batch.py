"""Streaming batches: a line in, a line out."""

import os
import stat
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO

from ..jsontext import terminal_safe
from ..solver import EngineName
from ..wire import answer_json
from .inputs import lines_of, one_object_a_line, open_input, source_name
from .output import CommandError, ReaderGoneError, sink
from .progress import Columns, progress_bar

__all__ = ["run_batch"]


def run_batch(name: str, output: Path | None, engine: EngineName, *, progress: bool | None) -> int:
    """Answer the requests of a file or of standard input, and return the exit status.

    Raises:
        CommandError: The input can't be read, the output can't be written, or there is no line at all.
    """
    invalid = False
    number = 0
    with suppress(ReaderGoneError), ExitStack() as stack:
        source = stack.enter_context(open_input(name))
        answers = stack.enter_context(sink(output))
        size = _size(source)
        columns: Columns = () if size is None else ("time",) if size else ("count",)
        text = "{task.fields[answered]} answered"
        update = stack.enter_context(progress_bar(text, wanted=progress, columns=columns, total=size, answered=0))
        for number, line in enumerate(one_object_a_line(name, lines_of(name, source)), start=1):
            valid, pieces = answer_json(line, number, engine=engine)
            invalid = invalid or not valid
            for piece in pieces:
                answers.write(terminal_safe(piece).encode())
            answers.write(b"\n")
            if size is None:
                answers.flush()  # whoever feeds the lines one by one waits for each answer
            if update is not None:
                update(advance=len(line) + 1, answered=number)
        if number == 0:
            raise CommandError(f"{source_name(name)} is empty; one request per line is expected")
    return 1 if invalid else 0


def _size(source: BinaryIO) -> int | None:
    """The number of bytes of a regular file; None for a pipe or a terminal."""
    try:
        status = os.fstat(source.fileno())
    except (OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
