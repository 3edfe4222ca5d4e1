"""A database that is silent: one request at a time finds out whether it still is, the others are refused at once."""

import threading
from time import monotonic
from typing import Final

__all__ = ["Outage"]

_PAUSE: Final = 1.0


class Outage:
    """Whether a database is known to be silent.

    Without it every worker would wait for the same silence, and who asks next would wait for a worker.

    Args:
        probe_seconds: How long the request that finds out may take; after it another one does.
    """

    def __init__(self, probe_seconds: float) -> None:
        self._probe_seconds = probe_seconds
        self._lock = threading.Lock()
        self._until: float | None = None

    def refuses(self) -> bool:
        """Whether to refuse at once. The one that is not refused during an outage finds out whether it is over."""
        if self._until is None:
            return False
        with self._lock:
            now = monotonic()
            if self._until is None or now < self._until:
                return self._until is not None
            self._until = now + self._probe_seconds
            return False

    def begins(self) -> None:
        """The database was silent."""
        with self._lock:
            self._until = monotonic() + _PAUSE

    def ends(self) -> None:
        """The database answered."""
        if self._until is not None:
            with self._lock:
                self._until = None
