"""A time by which a piece of work has to be done, for whoever works for somebody who won't wait any longer.

Work in a thread can't be ended from outside. What may take long asks here, from time to time, whether it still should.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from ..errors import WhyrouteError

__all__ = ["TooLateError", "check_time", "due_within"]


class TooLateError(WhyrouteError):
    """The time that an answer may take is over."""

    code: ClassVar[str] = "answer-timeout"

    def __init__(self) -> None:
        super().__init__("the answer takes too long to make")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()


class _Due(threading.local):
    moment: float | None = None


_DUE = _Due()


@contextmanager
def due_within(seconds: float) -> Iterator[None]:
    """Whatever this thread does meanwhile ends with TooLateError soon after so many seconds."""
    before = _DUE.moment
    _DUE.moment = time.monotonic() + seconds
    try:
        yield
    finally:
        _DUE.moment = before


def check_time() -> None:
    """Go on, if there is time.

    Raises:
        TooLateError: There is none left. Never outside `due_within`.
    """
    if _DUE.moment is not None and time.monotonic() > _DUE.moment:
        raise TooLateError
