"""Noticing that a file of a pack has changed.

By asking: a pack has a few files, and asking for the times of a thousand takes some milliseconds. That works on every
system and on every mounted or shared directory, where notices of changes get lost, and needs no further package.
"""

import os
import time
from collections.abc import Callable, Iterator

from . import pack_files

__all__ = ["changes"]

_EVERY = 0.3
_CALM = 0.1

Snapshot = dict[str, tuple[int, int, int]]


def changes(path: str, *, sleep: Callable[[float], None] = time.sleep) -> Iterator[None]:
    """Yields at once, and then after every change of the files of a pack, without end.

    An editor may take several steps to save a file, and a checkout changes many: it waits until all is calm.

    Args:
        path: The pack.
        sleep: What waits for so many seconds.
    """
    seen: Snapshot | None = None
    while True:
        found = _snapshot(path)
        if found == seen:
            sleep(_EVERY)
            continue
        while seen is not None:
            sleep(_CALM)
            now = _snapshot(path)
            if now == found:
                break
            found = now
        seen = found
        yield


def _snapshot(path: str) -> Snapshot:
    """The files of a pack, each with its time, size and number; those that can't be asked are left out."""
    found: Snapshot = {}
    for file in pack_files(path):
        try:
            status = os.stat(file)
        except (OSError, ValueError):
            continue
        found[str(file)] = status.st_mtime_ns, status.st_size, status.st_ino
    return found
