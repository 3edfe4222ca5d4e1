"""Turns at the processor, for threads that compute on behalf of different tenants.

Python computes in one thread at a time and gives each thread the same share: a tenant with four busy threads gets four
times as much as a tenant with one, and the event loop competes with all of them. With turns, one thread computes at a
time, and each tenant gets the same share.
"""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["Turns", "pass_on", "stepping_aside"]

_TURN_SECONDS: Final = 0.002
_STUCK_SECONDS: Final = 0.05


class _Worker:
    """A thread that computes or waits to."""

    __slots__ = ("ends", "tenant", "turns", "wake")

    def __init__(self, turns: "Turns", tenant: str) -> None:
        self.turns = turns
        self.tenant = tenant
        self.wake = threading.Event()
        self.ends = 0.0


class _Own(threading.local):
    worker: _Worker | None = None


_OWN = _Own()


class Turns:
    """Lets one thread compute at a time, and tenants in turn.

    A thread keeps its turn until it calls `pass_on` after the turn's end. A thread that does not call it for a while
    (it is in a long call, or waits for a disk) loses its turn, so no thread can hold up the others.

    Args:
        seconds: How long a turn is.
        stuck: How long a turn may last while others wait.
    """

    def __init__(self, seconds: float = _TURN_SECONDS, stuck: float = _STUCK_SECONDS) -> None:
        self._seconds = seconds
        self._stuck = stuck
        self._lock = threading.Lock()
        self._current: _Worker | None = None
        self._waiting: dict[str, deque[_Worker]] = {}  # whose turn is next stands first

    @contextmanager
    def of(self, tenant: str) -> Iterator[None]:
        """Compute on behalf of a tenant, in turns."""
        worker = _OWN.worker = _Worker(self, tenant)
        self._wait(worker)
        try:
            yield
        finally:
            _OWN.worker = None
            self._leave(worker)

    def _wait(self, worker: _Worker) -> None:
        """Let others compute, if any wait, until it is this thread's turn again."""
        with self._lock:
            mine = self._current is worker
            if not self._waiting and (mine or self._current is None):
                self._begin(worker)
                return
            worker.wake.clear()
            self._waiting.setdefault(worker.tenant, deque()).append(worker)
            if mine or self._current is None:
                self._next()
        while not worker.wake.wait(self._stuck):
            with self._lock:
                current = self._current
                if current is None or time.monotonic() > current.ends + self._stuck:
                    self._next()

    def _leave(self, worker: _Worker) -> None:
        with self._lock:
            if self._current is worker:
                self._next()

    def _next(self) -> None:
        """Give the turn to the next tenant."""
        self._current = None
        if self._waiting:
            tenant = next(iter(self._waiting))
            queue = self._waiting.pop(tenant)
            worker = queue.popleft()
            if queue:
                self._waiting[tenant] = queue  # behind all others
            self._begin(worker)
            worker.wake.set()

    def _begin(self, worker: _Worker) -> None:
        self._current = worker
        worker.ends = time.monotonic() + self._seconds


def pass_on(now: float) -> None:
    """Let other threads compute, if this one takes turns and its turn is over.

    Args:
        now: The time by the monotonic clock.
    """
    worker = _OWN.worker
    if worker is not None and now > worker.ends:
        worker.turns._wait(worker)


@contextmanager
def stepping_aside() -> Iterator[None]:
    """Wait for a disk or a network meanwhile: this thread needs no turn."""
    worker = _OWN.worker
    if worker is None:
        yield
        return
    worker.turns._leave(worker)
    try:
        yield
    finally:
        worker.turns._wait(worker)
