"""Streaming batches: a line in, a line out."""

import os
import shutil
import stat
import traceback
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from tempfile import SpooledTemporaryFile
from typing import IO, Annotated, Any, BinaryIO, Final

import typer

from ..basics.issues import Issue, printable
from ..documents.json_text import read_json, terminal_safe, text_of
from ..engine.single import EngineName
from ..errors import InvalidRequestError
from ..wire.request import answer_json, id_of
from .inputs import LINE_LIMIT, STDIN, lines_of, one_object_a_line, open_input, source_name, too_long
from .options import Engine, Output, Progress, as_file
from .output import CommandError, ReaderGoneError, complain, reason_of, remark, sink
from .progress import Columns, progress_bar
from .usage import command as command_of

__all__ = ["command"]

_IN_MEMORY: Final = 4 * 1024 * 1024  # bytes of one answer; what is longer waits in a temporary file
_INVALID: Final = 1
_FAULT: Final = 3
"""Exit statuses."""


@command_of("batch", "whyroute batch requests.jsonl -o answers.jsonl")
def command(
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", help="Requests, one JSON object per line.", callback=as_file)
    ] = STDIN,
    output: Output = None,
    engine: Engine = "bitset",
    progress: Progress = None,
) -> None:
    """Answer one request per line: one answer per line, in order, as they come.

    A line that is no request, or longer than 16 MiB, gets an error answer, and the rest go on: exit status 1. A line
    at which whyroute itself fails gets one with the code `internal`, and the rest go on: exit status 3. Exit status 2
    when there was no line at all.
    """
    batch = _Batch(engine)
    number = 0
    with suppress(ReaderGoneError), ExitStack() as stack:
        source = stack.enter_context(open_input(file))
        answers = stack.enter_context(sink(output))
        size = _size(source)
        columns: Columns = () if size is None else ("time",) if size else ("count",)
        text = "{task.fields[answered]} answered"
        update = stack.enter_context(progress_bar(text, wanted=progress, columns=columns, total=size, answered=0))
        for number, line in enumerate(one_object_a_line(file, lines_of(file, source)), start=1):
            batch.answer(line, number, answers)
            if size is None:
                answers.flush()  # a program that feeds the lines one by one waits for each answer
            if update is not None:
                update(advance=len(line) + 1, answered=number)
        if number == 0:
            raise CommandError(f"{source_name(file)} is empty; one request per line is expected")
    if batch.faults:
        complain(_told(batch.faults))
    raise typer.Exit(batch.status)


class _Batch:
    """Answers lines, and knows what they came to, whether or not their answers could be written.

    Attributes:
        status: The exit status so far.
        faults: The numbers of the lines at which whyroute itself failed.
    """

    def __init__(self, engine: EngineName) -> None:
        self.status = 0
        self.faults: list[int] = []
        self._engine = engine

    def answer(self, line: bytes, number: int, answers: BinaryIO) -> None:
        """Write the answer to a line."""
        if len(line) > LINE_LIMIT:
            self.status = max(self.status, _INVALID)
            error = InvalidRequestError([Issue("", too_long(number))])
            answers.write(_line({"error": error.to_dict()}))
            return
        # An answer that fails halfway must leave nothing behind, so none is written before it is whole.
        with SpooledTemporaryFile(max_size=_IN_MEMORY) as whole:
            try:
                valid, pieces = answer_json(line, number, engine=self._engine)
                for piece in pieces:
                    _write(whole, terminal_safe(piece).encode())
                _write(whole, b"\n")
            except CommandError:
                raise
            except Exception as error:
                self._note_fault(number, error)
                answers.write(_fault(line, error))
                return
            if not valid:
                self.status = max(self.status, _INVALID)
            whole.seek(0)
            shutil.copyfileobj(whole, answers)

    def _note_fault(self, number: int, error: Exception) -> None:
        self.status = _FAULT
        self.faults.append(number)
        if os.environ.get("WHYROUTE_TRACEBACK"):
            for told in "".join(traceback.format_exception(error)).splitlines():
                remark(printable(told))


def _write(file: IO[bytes], octets: bytes) -> None:
    try:
        file.write(octets)
    except OSError as error:
        raise CommandError(f"a temporary file can't be written: {reason_of(error)}") from None


def _fault(line: bytes, error: Exception) -> bytes:
    """The answer to a line at which whyroute itself fails."""
    told = printable(f"{type(error).__name__}: {error}")
    message = f"a fault of whyroute's own: {told}; please report it"
    try:
        given_id = id_of(read_json(line))
    except Exception:  # reading may be what fails
        given_id = {}
    return _line({**given_id, "error": {"code": "internal", "message": message}})


def _line(answer: dict[str, Any]) -> bytes:
    return terminal_safe(text_of(answer)).encode() + b"\n"


def _told(faults: Sequence[int]) -> str:
    """What is said at the end of lines at which whyroute itself failed."""
    lines = f"line {faults[0]}" if len(faults) == 1 else f"{len(faults)} lines, the first of which is line {faults[0]}"
    return (
        f"a fault of whyroute's own at {lines}: see the answers with the code `internal`; please report it. "
        "WHYROUTE_TRACEBACK=1 shows where it happened"
    )


def _size(source: BinaryIO) -> int | None:
    """The number of bytes of a regular file; None for a pipe or a terminal."""
    try:
        status = os.fstat(source.fileno())
    except (OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
