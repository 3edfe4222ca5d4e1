"""What was found out and is kept for the next time, as much as there is room for."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

__all__ = ["remembered"]

K = TypeVar("K")
V = TypeVar("V")


def remembered(known: dict[K, V], key: K, most: int, make: Callable[[], V]) -> V:
    """What is kept under a key, made where it is not there yet; the oldest goes when there are too many.

    Args:
        known: What is kept, the oldest first. Threads may share it: then something may be made twice.
        key: The key.
        most: How many are kept.
        make: What makes it; never None.
    """
    found: Any = known.get(key)
    if found is None:
        found = make()
        if len(known) >= most:
            with suppress(RuntimeError, StopIteration):  # another thread is making room
                known.pop(next(iter(known)), None)
        known[key] = found
    result: V = found
    return result
