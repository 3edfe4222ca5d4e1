"""Files that only their owner can read, as files of tokens are."""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["Say", "make_private", "private_opener"]

Say = Callable[[str], None]

_MODE: Final = 0o600


def private_opener(path: str, flags: int) -> int:
    """The `opener` of `open` for files that others must not read."""
    return os.open(path, flags, _MODE)


def make_private(path: Path, say: Say) -> None:
    """Take a file that is there from everyone but its owner, and say so; do nothing where it is private already.

    Args:
        path: The file. What is no regular file, such as a pipe or a device, stays as it is.
        say: Says a sentence to the operator: what was changed, or that it can't be.
    """
    if os.name != "posix":
        return  # access is not in the mode there
    with suppress(FileNotFoundError):
        status = os.stat(path)
        mode = stat.S_IMODE(status.st_mode)
        if not stat.S_ISREG(status.st_mode) or not mode & 0o077:
            return
        try:
            os.chmod(path, mode & 0o700)
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            say(f"others can read or write `{path}` (mode {mode:04o}), and that can't be changed: {reason}")
        else:
            say(f"others could read or write `{path}` (mode {mode:04o}); only its owner can now")
