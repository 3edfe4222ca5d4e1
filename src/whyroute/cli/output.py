"""Printing: answers on stdout, everything else on stderr; colour only for people who see it."""

import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TextIO, cast

import typer

from ..basics.issues import printable
from ..documents.json_text import indented, terminal_safe, text_of
from ..errors import WhyrouteError

if TYPE_CHECKING:
    from ..packs import PackError
    from ..render.lines import Line

__all__ = [
    "CommandError",
    "ReaderGoneError",
    "complain",
    "complain_about",
    "print_json",
    "print_json_text",
    "print_lines",
    "print_text",
    "reason_of",
    "remark",
    "replacing",
    "settled",
    "silence",
    "sink",
    "standard_output",
]


class CommandError(Exception):
    """The command can't be carried out.

    Attributes:
        error: What is wrong: an error of the library, or a sentence.
        status: The exit status.
    """

    def __init__(self, error: WhyrouteError | str, status: int = 2) -> None:
        self.error = error
        self.status = status
        super().__init__(str(error))


class ReaderGoneError(Exception):
    """The reader closed standard output."""


@contextmanager
def settled(status: int) -> Iterator[None]:
    """Prints the answer of a command whose exit status is decided, and ends it.

    The status stands, too, when the reader closes standard output before its end.

    Raises:
        typer.Exit: Always, with the status, but for another exception from within.
    """
    with suppress(ReaderGoneError):
        yield
    raise typer.Exit(status)


@contextmanager
def standard_output() -> Iterator[TextIO]:
    """Standard output to write to, flushed at the end. After a failure whatever it still holds is dropped.

    Raises:
        CommandError: It is closed or can't be written.
        ReaderGoneError: The reader closed it.
    """
    if sys.stdout is None:
        raise CommandError("standard output is closed")
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)
        raise ReaderGoneError from None
    except OSError as error:
        silence(sys.stdout)
        raise CommandError(f"standard output can't be written: {reason_of(error)}") from None


def silence(stream: TextIO | None) -> None:
    """Let a stream lead nowhere: Python would complain of what can't be written once more when it flushes at exit."""
    if stream is not None:
        with suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())


def complain_about(failure: CommandError) -> None:
    """Say on stderr what is wrong, all of it."""
    if isinstance(failure.error, str):
        complain(failure.error)
    elif failure.error.code == "invalid-pack":
        from ..render.packs import pack_error_lines  # noqa: PLC0415 (only packs need it)

        # Its code tells it; loading its type would bring all of the packs along with every other error.
        _say(pack_error_lines(cast("PackError", failure.error)))
    else:
        from ..render.text import error_lines  # noqa: PLC0415 (only when something is wrong)

        _say(error_lines(failure.error))


def complain(sentence: str) -> None:
    """Say one sentence on stderr."""
    _say([(("error: ", "bold red"), (sentence, ""))])


def remark(sentence: str) -> None:
    """Say on stderr what is no error."""
    _say([((sentence, ""),)])


def _say(lines: Iterable["Line"]) -> None:
    if sys.stderr is None:
        return
    try:
        _write(lines, sys.stderr)
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr)  # there is nowhere left to say so; the exit status tells


def print_lines(lines: Iterable["Line"], output: Path | None = None) -> None:
    """Print text on stdout, or write it to a file without colour."""
    if output is None:
        with standard_output() as stream:
            _write(lines, stream)
    else:
        write_file(output, "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines))


def print_json(value: Any, output: Path | None = None) -> None:
    """Print a value as `print_json_text` prints its text."""
    print_json_text((text_of(value),), output)


def print_json_text(pieces: Iterable[str], output: Path | None = None) -> None:
    """Print JSON, indented, in UTF-8, on stdout or into a file, piece by piece; the whole may not fit into memory.

    Args:
        pieces: As `jsontext.indented` takes them.
    """
    with sink(output) as file:
        for piece in indented(pieces):
            file.write(terminal_safe(piece).encode("utf-8"))
        file.write(b"\n")


def print_text(text: str, output: Path | None = None) -> None:
    """Print text in UTF-8 as it is on stdout, or write it to a file."""
    with sink(output) as file:
        file.write(text.encode("utf-8"))


@contextmanager
def sink(output: Path | None) -> Iterator[BinaryIO]:
    """Standard output, or the file that takes the place of the one named, to write bytes to.

    Raises:
        CommandError: It can't be written.
        ReaderGoneError: The reader closed it.
    """
    if output is None:
        with standard_output() as stream:
            yield stream.buffer
    else:
        with replacing(output) as file:
            yield file


def write_file(path: Path, text: str) -> None:
    """Write a file in UTF-8.

    Raises:
        CommandError: It can't be written.
    """
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of the one of that name when all of it is written, and not before.

    So a command may write to the file that it reads, and one that fails or is interrupted leaves the old one.
    A device or a pipe is written to as it is.

    Raises:
        CommandError: It can't be written.
        ReaderGoneError: It is a pipe, and its reader closed it.
    """
    try:
        if (stream := _straight(path)) is not None:
            try:
                with stream:
                    yield stream
            except BrokenPipeError:
                raise ReaderGoneError from None
            return
        target = Path(os.path.realpath(path))
        with tempfile.NamedTemporaryFile("wb", dir=target.parent, prefix=".whyroute-", delete=False) as file:
            try:
                yield cast(BinaryIO, file)
                file.close()
                os.chmod(file.name, target.stat().st_mode if target.exists() else 0o666 & ~_umask())
                os.replace(file.name, target)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise CommandError(f"`{printable(os.fspath(path))}` can't be written: {reason_of(error)}") from None


_OPEN_ALREADY: Final = re.compile(r"/dev/(?:(stdout)|(stderr)|fd/([0-9]{1,9}))|/proc/self/fd/([0-9]{1,9})")


def _straight(path: Path) -> BinaryIO | None:
    """What is no file that another one could take the place of, opened to be written as it is; None for a file.

    A stream that is open already goes on where it stands: to open it by its name would start again at its beginning.
    """
    match = _OPEN_ALREADY.fullmatch(os.fspath(path))
    if match:
        number = next((int(digits) for digits in match.groups()[2:] if digits), 1 if match[1] else 2)
        return open(os.dup(number), "wb")
    if path.exists() and not path.is_file():
        return open(path, "wb")
    return None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def reason_of(error: OSError) -> str:
    """The system's reason, in our style."""
    reason = error.strerror or type(error).__name__
    return reason[:1].lower() + reason[1:]


def _write(lines: Iterable["Line"], stream: TextIO) -> None:
    width = _columns(stream)
    if width:
        from ..render.lines import fitted  # noqa: PLC0415 (only a terminal needs it)

        lines = (each for line in lines for each in fitted(line, width))
    if not _coloured(stream):
        stream.writelines("".join(text for text, _ in line).rstrip() + "\n" for line in lines)
        return
    from rich.color import ColorSystem  # noqa: PLC0415 (only when something is coloured)
    from rich.style import Style  # noqa: PLC0415

    def styled(text: str, style: str) -> str:
        return Style.parse(style).render(text, color_system=ColorSystem.STANDARD) if style else text

    stream.writelines("".join(styled(*span) for span in line) + "\n" for line in lines)


def _columns(stream: TextIO) -> int:
    """How many columns the terminal has that a stream leads to; 0 when it leads to none, or to one that doesn't say."""
    if not stream.isatty():
        return 0
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and asked.isascii():
        return int(asked[:6])
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return 0


def _coloured(stream: TextIO) -> bool:
    """Whether a person sees it who has not refused colour; no variable turns it on for anything else."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
