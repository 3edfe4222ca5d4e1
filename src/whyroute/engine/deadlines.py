"""A time by which a piece of work has to be done, for work whose caller won't wait any longer.

Work in a thread can't be ended from outside. What may take long asks here, from time to time, whether it still should.
"""

import threading
import time
from collections.abc import Callable, Iterator
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
    between: Callable[[float], None] | None = None


_DUE = _Due()


@contextmanager
def due_within(seconds: float, between: Callable[[float], None] | None = None) -> Iterator[None]:
    """Whatever this thread does meanwhile ends with TooLateError soon after so many seconds.

    Args:
        seconds: How long it may take.
        between: Called with the time by the monotonic clock whenever the work asks whether it should go on.
    """
    before = _DUE.moment, _DUE.between
    _DUE.moment, _DUE.between = time.monotonic() + seconds, between
    try:
        yield
    finally:
        _DUE.moment, _DUE.between = before


def check_time() -> None:
    """Go on, if there is time.

    Raises:
        TooLateError: There is none left. Never outside `due_within`.
    """
    if _DUE.moment is not None:
        now = time.monotonic()
        if now > _DUE.moment:
            raise TooLateError
        if _DUE.between is not None:
            _DUE.between(now)
