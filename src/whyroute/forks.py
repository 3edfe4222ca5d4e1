"""A lock that a forked process can take, whoever held it when it was forked."""

import os
import threading
from types import TracebackType

__all__ = ["Lock"]


class _Process:
    """What a forked child starts afresh.

    Attributes:
        age: How many forks this process descends from.
        forkers: The threads that forked, one for each; the only ones that the children have, too.
        renewing: Held while a lock of an older process is replaced.
    """

    age = 0
    forkers: tuple[int, ...] = ()
    renewing = threading.Lock()

    @classmethod
    def forked(cls) -> None:
        """Called in a child when it is forked, before anything else runs there."""
        cls.age += 1
        cls.forkers += (threading.get_ident(),)
        cls.renewing = threading.Lock()


if hasattr(os, "register_at_fork"):  # there is no fork elsewhere
    os.register_at_fork(after_in_child=_Process.forked)


class Lock:
    """A `threading.Lock`, to be used as a context manager.

    The thread that held it when the process was forked does not exist in the child, and would never give it back; so
    the child gets a new one, unless it was that thread which forked. What the lock guards has to be sound whenever it
    is held, or be replaced as a whole.
    """

    __slots__ = ("_age", "_holder", "_lock")

    def __init__(self) -> None:
        self._age = _Process.age
        self._holder: int | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if self._age != _Process.age:
            with _Process.renewing:
                if self._age != _Process.age:
                    if any(thread != self._holder for thread in _Process.forkers[self._age :]):
                        self._lock = threading.Lock()
                    self._age = _Process.age
        self._lock.acquire()
        self._holder = threading.get_ident()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._holder = None
        self._lock.release()
