"""Globs over whole values: `*` is any text, `?` one character, nothing else is special."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

__all__ = ["glob", "matching"]


def matching(pattern: str, values: Iterable[str]) -> list[str]:
    """Those of many values that match a pattern: what `glob` says of each, without a call for each where it can."""
    text = pattern.strip("*")
    if "*" in text or "?" in text or text == pattern:
        matches = glob(pattern)
        return [value for value in values if matches(value)]
    if not pattern.startswith("*"):
        return [value for value in values if value.startswith(text)]
    if not pattern.endswith("*"):
        return [value for value in values if value.endswith(text)]
    return [value for value in values if text in value]


@lru_cache(maxsize=1024)
def glob(pattern: str) -> Callable[[str], bool]:
    """Whether a value matches a pattern, case and all. Costs at most the product of their lengths."""
    if "*" not in pattern:
        whole = _piece(pattern)
        return lambda value: len(value) == len(pattern) and whole(value, 0) == 0
    # Between two stars the leftmost place for a piece is as good as any other: there is nothing to go back to.
    first, *middle, last = pattern.split("*")
    pieces = [(_piece(piece), len(piece)) for piece in middle if piece]
    start, end = _piece(first), _piece(last)

    def matches(value: str) -> bool:
        stop = len(value) - len(last)
        if stop < len(first) or start(value[: len(first)], 0) != 0 or end(value[stop:], 0) != 0:
            return False
        at = len(first)
        for find, length in pieces:
            at = find(value, at)
            if at < 0 or at + length > stop:
                return False
            at += length
        return True

    return matches


def _piece(text: str) -> Callable[[str, int], int]:
    """Where a text in which `?` is any character is first found, from a place on; -1 when it is not."""
    if "?" not in text:
        return lambda value, at: value.find(text, at)
    search = re.compile("".join("." if character == "?" else re.escape(character) for character in text), re.DOTALL)

    def find(value: str, at: int) -> int:
        match = search.search(value, at)
        return -1 if match is None else match.start()

    return find
