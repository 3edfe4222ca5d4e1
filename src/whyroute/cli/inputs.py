"""Reading what the commands are given."""

import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from ..basics.files import FileTooLargeError, read_stream
from ..basics.issues import Issue, printable
from ..documents.json_text import JsonTextError, read_json
from ..errors import InvalidRequestError, WhyrouteError
from .output import CommandError, reason_of

__all__ = [
    "LINE_LIMIT",
    "STDIN",
    "lines_of",
    "one_object_a_line",
    "open_input",
    "read_bytes",
    "request_document",
    "source_name",
    "too_long",
]

STDIN = "-"


def read_bytes(name: str) -> bytes:
    """All of a file, or of standard input when the name is `-`.

    Raises:
        CommandError: It can't be read, or is too large.
    """
    with open_input(name) as source, reading(name):
        try:
            return read_stream(source)
        except FileTooLargeError as error:
            raise CommandError(f"{source_name(name)} can't be read: {error}") from None


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turns a failure to read from a file, or from standard input when the name is `-`, into a `CommandError`."""
    try:
        yield
    except OSError as error:
        raise CommandError(f"{source_name(name)} can't be read: {reason_of(error)}") from None


def source_name(name: str) -> str:
    """An input as messages name it."""
    return "standard input" if name == STDIN else f"`{printable(name)}`"


@contextmanager
def open_input(name: str) -> Iterator[BinaryIO]:
    """A file opened for reading, or standard input when the name is `-`.

    Raises:
        CommandError: It can't be opened.
    """
    if name == STDIN:
        if sys.stdin is None:
            raise CommandError("standard input is closed")
        yield sys.stdin.buffer
        return
    with ExitStack() as stack:
        with reading(name):
            source = stack.enter_context(open(name, "rb"))
        yield source


LINE_LIMIT: Final = 16 * 1024 * 1024
"""How many bytes a line may have, its end aside."""

_SKIPPED: Final = 64 * 1024  # bytes read at once of what is left of a line that is too long


def lines_of(name: str, stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a stream, one at a time, without their ends. Only a line feed ends a line.

    A line longer than `LINE_LIMIT` is cut off one byte past it; the rest of it is read and dropped.

    Raises:
        CommandError: The rest of it can't be read.
    """
    while True:
        with reading(name):
            line = stream.readline(LINE_LIMIT + 1)
            if len(line) > LINE_LIMIT and not line.endswith(b"\n"):
                while (rest := stream.readline(_SKIPPED)) and not rest.endswith(b"\n"):
                    pass
        if not line:
            return
        yield line.rstrip(b"\n")


def too_long(number: int) -> str:
    """What is said of a line that `lines_of` cut off; lines are numbered from 1."""
    return f"line {number}: longer than {LINE_LIMIT >> 20} MiB, the limit of a line"


_KEY = re.compile(rb'\s*"(?:[^"\\]|\\.)*"\s*:')


def one_object_a_line(name: str, lines: Iterator[bytes]) -> Iterator[bytes]:
    """The lines, unless they begin as a JSON document does that is laid out over many.

    Only lines that a document may begin with wait for the next one.

    Raises:
        CommandError: It is such a document; one sentence says more than an error for each of its lines.
    """
    first = next(lines, None)
    if first is None:
        return
    if first.strip() in (b"{", b"["):
        second = next(lines, None)
        if second is not None:
            within = second.strip()
            if (first.strip() == b"{" and _KEY.match(second)) or (first.strip() == b"[" and within[:1] == b"{"):
                what = "one object over many lines" if first.strip() == b"{" else "a list"
                raise CommandError(f"{source_name(name)}: one object per line; this looks like {what}")
        yield first
        if second is not None:
            yield second
    else:
        yield first
    yield from lines


def request_document(name: str, providers: str | None) -> dict[str, Any]:
    """A wire request from a file or standard input, with the providers of a catalog file when one is named.

    Raises:
        InvalidRequestError: It is not JSON, or no object.
        CommandError: A file can't be read, or there are no providers in it.
    """
    shown = "standard input" if name == STDIN else printable(name)
    try:
        document = read_json(read_bytes(name))
    except JsonTextError as error:
        raise InvalidRequestError([Issue("", f"{shown}: {error.message}")]) from None
    if not isinstance(document, dict):
        raise InvalidRequestError([Issue("", f"{shown}: a request is a JSON object")])
    if providers is None:
        return document
    from ..providers.provider_files import read_providers  # noqa: PLC0415 (brings the YAML reader)

    if "providers" in document:
        raise CommandError(f"{shown} has `providers` of its own; leave them out, or leave out --providers")
    try:
        return {**document, "providers": read_providers(Path(providers))}
    except WhyrouteError as error:
        raise CommandError(error) from None
