"""Reading files whole, unless they are too large to be."""

import os
from pathlib import Path
from typing import IO, Final

__all__ = ["FILE_LIMIT", "FileTooLargeError", "read_file", "read_stream"]

FILE_LIMIT: Final = 32 * 1024 * 1024
"""How many bytes a file may have: reading a YAML file takes some fifty times as much memory."""


class FileTooLargeError(ValueError):
    """A file is larger than `FILE_LIMIT`."""

    def __init__(self) -> None:
        super().__init__(f"larger than {FILE_LIMIT >> 20} MiB, the limit of a file")


def read_file(path: Path) -> bytes:
    """What a file holds; one that is too large is not read.

    Raises:
        FileTooLargeError: It is too large.
        OSError: It is not there or can't be read.
        ValueError: No file can have that name.
    """
    with open(path, "rb") as stream:
        return read_stream(stream)


def read_stream(stream: IO[bytes]) -> bytes:
    """What a file or a pipe holds, as `read_file` reads it. No more is read of a pipe than a file may have."""
    try:
        size = os.fstat(stream.fileno()).st_size
    except OSError:  # it is no file of the system's
        size = 0
    data = stream.read(FILE_LIMIT + 1) if size <= FILE_LIMIT else b""
    if max(size, len(data)) > FILE_LIMIT:
        raise FileTooLargeError
    return data
