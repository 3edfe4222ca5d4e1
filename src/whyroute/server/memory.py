"""Memory that was freed, given back to the system."""

import ctypes
import threading
from typing import Final

__all__ = ["GivingBack"]

_SECONDS: Final = 1.0


class GivingBack:
    """Gives freed memory back soon after it is asked to, once for all that ask meanwhile.

    glibc keeps what one thread freed, in case it is needed again: a few large answers, each made by another thread,
    would hold hundreds of megabytes for as long as the process lives. With another C library nothing is done.
    """

    def __init__(self) -> None:
        self._trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        self._lock = threading.Lock()
        self._pending = False

    def soon(self) -> None:
        """Give it back within a second or so. It returns at once."""
        with self._lock:
            if self._pending or self._trim is None:
                return
            self._pending = True
        timer = threading.Timer(_SECONDS, self._now)
        timer.daemon = True
        timer.start()

    def _now(self) -> None:
        with self._lock:
            self._pending = False
        if self._trim is not None:
            self._trim(0)
