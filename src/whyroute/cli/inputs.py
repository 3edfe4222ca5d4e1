"""Reading what the commands are given."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import InvalidRequestError, WhyrouteError
from ..issues import Issue
from ..jsontext import JsonTextError, read_json
from .output import CommandError, reason_of

__all__ = ["lines_of", "open_input", "read_bytes", "request_document"]

STDIN = "-"


def read_bytes(name: str) -> bytes:
    """All of a file, or of standard input when the name is `-`.

    Raises:
        CommandError: It can't be read.
    """
    if name == STDIN:
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"`{name}` can't be read: {reason_of(error)}") from None


def open_input(name: str) -> BinaryIO:
    """A file opened for reading, or standard input when the name is `-`.

    Raises:
        CommandError: It can't be opened.
    """
    if name == STDIN:
        return sys.stdin.buffer
    try:
        if Path(name).is_dir():
            raise CommandError(f"`{name}` is a directory; a file with one request per line is expected")
        return open(name, "rb")
    except OSError as error:
        raise CommandError(f"`{name}` can't be read: {reason_of(error)}") from None


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a stream, one at a time, without their ends. Only a line feed ends a line."""
    for line in stream:
        yield line.rstrip(b"\n")


def request_document(name: str, providers: str | None) -> dict[str, Any]:
    """A wire request from a file or standard input, with the providers of a catalog file when one is named.

    Raises:
        CommandError: A file can't be read, or is not what it should be.
    """
    shown = "standard input" if name == STDIN else name
    try:
        document = read_json(read_bytes(name))
    except JsonTextError as error:
        raise CommandError(f"{shown}: {error.message}") from None
    if not isinstance(document, dict):
        raise CommandError(InvalidRequestError([Issue("", f"{shown}: a request is a JSON object")]))
    if providers is None:
        return document
    from ..catalogfile import read_providers  # noqa: PLC0415 (brings the YAML reader)

    if "providers" in document:
        raise CommandError(f"{shown} has `providers` of its own; leave them out, or leave out --providers")
    try:
        return {**document, "providers": read_providers(Path(providers))}
    except WhyrouteError as error:
        raise CommandError(error) from None
