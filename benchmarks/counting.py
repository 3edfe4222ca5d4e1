"""Costs as counts of calls, which no machine's speed changes."""

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = ["calls"]


def calls(function: Callable[[], Any]) -> int:
    """How many calls of Python and C functions, and steps of generators, a function takes."""
    count = 0

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1

    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()  # whoever is called when the collector runs would be counted too, now and then
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return count
