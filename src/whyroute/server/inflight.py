"""What each tenant has in flight: requests that are being answered, and the bytes held for them."""

import threading
from dataclasses import dataclass
from typing import Final

from ..engine.deadlines import TooLateError
from .envelope import ApiError

__all__ = ["Flight", "InFlight"]

_RETRY: Final = {"Retry-After": "1"}


@dataclass(slots=True)
class _Held:
    requests: int = 0
    size: int = 0


class InFlight:
    """Bounds what a tenant has in flight, so that no tenant can fill the memory.

    Args:
        requests: How many requests of a tenant may be in flight.
        size: How many bytes of bodies and unsent answers may be held for a tenant.
    """

    def __init__(self, requests: int, size: int) -> None:
        self._requests = requests
        self._size = size
        self._lock = threading.Lock()
        self._held: dict[str, _Held] = {}  # of each tenant that has a request in flight

    def begin(self, tenant: str) -> "Flight":
        """Begin a request of a tenant. `Flight.end` must follow.

        Raises:
            ApiError: `too-many-requests`.
        """
        with self._lock:
            held = self._held.setdefault(tenant, _Held())
            if held.requests >= self._requests:
                message = f"the tenant has {held.requests} requests in flight, which is the limit; try again later"
                raise ApiError("too-many-requests", message, headers=_RETRY)
            held.requests += 1
        return Flight(self, tenant)

    def of(self, tenant: str) -> tuple[int, int]:
        """How many requests and bytes a tenant has in flight."""
        held = self._held.get(tenant, _Held())
        return held.requests, held.size

    def _hold(self, flight: "Flight", size: int) -> None:
        with self._lock:
            if flight.ended:
                raise TooLateError
            held = self._held[flight.tenant]
            if held.size + size > self._size:
                message = (
                    f"{self._size // 2**20} MiB of requests and unread answers may be in flight for a tenant; "
                    "read the answers to other requests first"
                )
                raise ApiError("too-many-requests", message, headers=_RETRY)
            held.size += size
            flight.size += size

    def _release(self, flight: "Flight", size: int) -> None:
        with self._lock:
            if not flight.ended:
                self._held[flight.tenant].size -= size
                flight.size -= size

    def _end(self, flight: "Flight") -> None:
        with self._lock:
            if flight.ended:
                return
            flight.ended = True
            held = self._held[flight.tenant]
            held.size -= flight.size  # read here: a worker may have held more a moment ago
            flight.size = 0
            held.requests -= 1
            if not held.requests:
                del self._held[flight.tenant]


class Flight:
    """One request in flight.

    Attributes:
        tenant: Whose it is.
        size: How many bytes are held for it.
        ended: Whether its answer was sent or given up.
    """

    __slots__ = ("_all", "ended", "size", "tenant")

    def __init__(self, all_of_them: InFlight, tenant: str) -> None:
        self._all = all_of_them
        self.tenant = tenant
        self.size = 0
        self.ended = False

    def hold(self, size: int) -> None:
        """Hold so many bytes more.

        Raises:
            ApiError: `too-many-requests`: there is no room for them.
            TooLateError: The request has ended.
        """
        self._all._hold(self, size)

    def release(self, size: int) -> None:
        """Hold so many bytes less."""
        self._all._release(self, size)

    def end(self) -> None:
        """The answer was sent or given up: hold nothing for it."""
        self._all._end(self)
