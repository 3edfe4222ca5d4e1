"""Places for work, shared fairly between tenants."""

import asyncio
import threading
from collections import Counter, deque

__all__ = ["Shares"]


class _Waiter:
    """Somebody who waits for a place."""

    __slots__ = ("future", "has_place", "loop")

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.future = self.loop.create_future()
        self.has_place = False

    def wake(self) -> None:
        if not self.future.done():
            self.future.set_result(None)


class Shares:
    """A number of places. A tenant has some of them at most, and tenants that wait are served in turn.

    Args:
        places: How many places there are.
        most: How many of them one tenant may have.
    """

    def __init__(self, places: int, most: int) -> None:
        self._free = places
        self._most = most
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()
        self._waiting: dict[str, deque[_Waiter]] = {}  # whose turn is next stands first

    async def take(self, tenant: str) -> None:
        """Wait for a place, and take it. `give_back` must follow, once."""
        waiter = _Waiter()
        with self._lock:
            self._waiting.setdefault(tenant, deque()).append(waiter)
            self._assign()
            if waiter.has_place:
                return
        try:
            await waiter.future
        except asyncio.CancelledError:
            with self._lock:
                if not waiter.has_place:
                    self._waiting[tenant].remove(waiter)
                    raise
            self.give_back(tenant)
            raise

    def give_back(self, tenant: str) -> None:
        """Give a place back, from any thread."""
        with self._lock:
            self._return(tenant)
            self._assign()

    def _return(self, tenant: str) -> None:
        self._free += 1
        self._taken[tenant] -= 1
        if not self._taken[tenant]:
            del self._taken[tenant]

    def _assign(self) -> None:
        served = True
        while served and self._free:
            served = False
            for tenant in list(self._waiting):
                if not self._free or self._taken[tenant] >= self._most:
                    continue
                queue = self._waiting.pop(tenant)
                if queue:
                    self._hand_over(tenant, queue.popleft())
                    served = True
                if queue:
                    self._waiting[tenant] = queue  # behind all others

    def _hand_over(self, tenant: str, waiter: _Waiter) -> None:
        self._free -= 1
        self._taken[tenant] += 1
        waiter.has_place = True
        try:
            waiter.loop.call_soon_threadsafe(waiter.wake)
        except RuntimeError:  # its event loop was closed
            self._return(tenant)
