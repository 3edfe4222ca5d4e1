"""Properties that are computed once, and bounded maps."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar, overload

__all__ = ["computed", "remembered"]

K = TypeVar("K")
V = TypeVar("V")


class computed(Generic[V]):  # noqa: N801 (reads like `property`)
    """A property that is computed when it is first read, and a plain attribute from then on.

    `functools.cached_property` takes a lock at every first read before Python 3.12, for more than what is computed
    here mostly costs. Two threads may compute it both; then either result serves.
    """

    def __init__(self, make: Callable[[Any], V]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> "computed[V]": ...

    @overload
    def __get__(self, instance: object, owner: type[Any]) -> V: ...

    def __get__(self, instance: object | None, owner: type[Any]) -> "V | computed[V]":
        if instance is None:
            return self
        made = instance.__dict__[self._name] = self._make(instance)
        return made


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
        while known and len(known) >= most:  # more than one goes where two threads made room by the same one before
            with suppress(RuntimeError, StopIteration):  # another thread is making room
                known.pop(next(iter(known)), None)
        known[key] = found
    result: V = found
    return result
