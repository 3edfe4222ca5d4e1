"""Reading what the commands are given."""

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

from ..basics.files import FileTooLargeError, read_stream
from ..basics.issues import Issue, printable
from ..documents.json_text import JsonTextError, read_json
from ..errors import InvalidRequestError, WhyrouteError
from ..model.timestamps import moment_issues, written
from .output import CommandError, print_json, reason_of, settled

__all__ = [
    "LINE_LIMIT",
    "STDIN",
    "lines_of",
    "named_pack",
    "nothing_beside",
    "one_object_a_line",
    "open_input",
    "read_bytes",
    "refused",
    "request_document",
    "source_name",
    "time_of",
    "too_long",
]

STDIN = "-"


@contextmanager
def refused(format: str, output: Path | None, *, options: bool) -> Iterator[None]:
    """Tells of an error of the library as the command prints its answer: in JSON, or on stderr.

    Args:
        format: The format of the answer.
        output: The file that the answer goes to; None: standard output.
        options: Whether options say what the request is, and not a document.

    Raises:
        CommandError: There was one.
        typer.Exit: There was one, and is printed in JSON.
    """
    try:
        yield
    except WhyrouteError as error:
        if format == "json":
            with settled(2):
                print_json({"error": error.to_dict()}, output)
        raise CommandError(_in_options(error) if options else error) from None


def _in_options(error: WhyrouteError) -> WhyrouteError:
    """An error that says where an option stands, and not where its value does in the request that it is part of."""
    if not isinstance(error, InvalidRequestError):
        return error
    return InvalidRequestError([Issue(_option(each.path), each.message) for each in error.issues])


def _option(path: str) -> str:
    head, _, key = path.removeprefix("/").partition("/")
    if head == "at":
        return "--at"
    if head == "labels":
        return f"--label {key.replace('~1', '/').replace('~0', '~')}".rstrip()
    return {"preferredProvider": "--prefer-provider", "preferredModel": "--prefer-model"}.get(head, path)


def time_of(text: str | None, option: str = "--at") -> str:
    """The time that an option gives; the present without it.

    Raises:
        CommandError: It is none.
    """
    for issue in [] if text is None else moment_issues(text, ""):
        raise CommandError(f"{option}: {issue.message}")
    return written(datetime.now(UTC)) if text is None else text


def nothing_beside(given: Mapping[str, Any]) -> None:
    """Refuse options that say what the request is beside `--request`.

    Raises:
        CommandError: One has a value.
    """
    beside = [name for name, value in given.items() if value is not None]
    if beside:
        raise CommandError(f"{', '.join(beside)} beside --request: the request says it all itself")


def named_pack(pack: str | None, providers: str | None) -> str:
    """The pack, where no `--request` is given.

    Raises:
        CommandError: There is none, or there are providers beside it.
    """
    if pack is None:
        raise CommandError("PACK or --request is missing: what is to be routed?")
    if providers is not None:
        raise CommandError("--providers goes with --request; a pack has its own providers")
    return pack


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
