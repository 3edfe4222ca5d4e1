"""Costs as counts of calls and as bytes, which no machine's speed changes."""

import tracemalloc
from collections.abc import Callable
from typing import Any

from benchmarks.counting import calls

__all__ = ["calls", "kept", "most_in_use"]


def kept(function: Callable[[], Any]) -> int:
    """The bytes that are in use after a function and were not before; what it returns counts."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        result = function()
        after, _ = tracemalloc.get_traced_memory()
        del result
    finally:
        tracemalloc.stop()
    return after - before


def most_in_use(function: Callable[[], Any]) -> int:
    """The most bytes that were in use at once within a function and were not before."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        function()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak - before
