"""Work in threads that nothing has to wait for, neither a request nor the end of the process."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

__all__ = ["Probe", "aside"]

T = TypeVar("T")


def aside(work: Callable[[], T]) -> Future[T]:
    """Do something in a thread of its own, which ends with the process at the latest."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="whyroute-aside", daemon=True).start()
    return future


class Probe:
    """Asks whether something works, once at a time, and waits for the answer only so long.

    Args:
        check: Raises an exception where it does not work. It blocks.
        seconds: How long it may take.
    """

    def __init__(self, check: Callable[[], object], seconds: float) -> None:
        self._check = check
        self._seconds = seconds
        self._under_way: Future[object] | None = None

    async def answers(self) -> bool:
        """Whether it works. One that hangs is not asked again before it ends."""
        if self._under_way is None or self._under_way.done():
            self._under_way = aside(self._check)
        answer = self._under_way
        waiting = asyncio.wrap_future(answer)
        waiting.add_done_callback(
            lambda done: done.cancelled() or done.exception()
        )  # an error that comes late is no news
        await asyncio.wait({waiting}, timeout=self._seconds)
        return answer.done() and answer.exception() is None
