"""Which glob that matches something a glob that matches nothing is likely meant to be."""

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from ...basics.globs import glob

__all__ = ["near_glob"]

_SHORTEST = 3
"""How many letters the text of a glob has at least that is held against names."""

_MOST_NAMES = 200
"""How many names are cut into pieces that are compared letter by letter; the first ones that share a part."""


def near_glob(pattern: str, values: Collection[str]) -> str | None:
    """The glob that matches one of some values and differs from a pattern least; None when none is near.

    One of the texts between the stars is replaced, by one that a few letters tell apart: one for every four.

    Args:
        pattern: A glob that matches none of the values.
        values: The names that there are.
    """
    texts = re.split(r"([*?])", pattern)
    best: tuple[int, int, str] | None = None
    for place, text in enumerate(texts):
        if len(text) < _SHORTEST or place % 2:
            continue
        for distance, other in _near(text, values, at_start=place == 0, at_end=place == len(texts) - 1):
            changed = "".join((*texts[:place], other, *texts[place + 1 :]))
            found = (distance, len(changed), changed)  # of two that are as near, the shorter one
            if (best is None or found < best) and any(map(glob(changed), values)):
                best = found
    return None if best is None else best[2]


def _near(text: str, values: Iterable[str], *, at_start: bool, at_end: bool) -> Iterator[tuple[int, str]]:
    most = max(1, len(text) // 4)
    parts = _parts(text, most)
    sharing = (value for value in values if any(map(value.casefold().__contains__, parts)))
    pieces = {
        piece
        for value in islice(sharing, _MOST_NAMES)
        for piece in _pieces(value, len(text) - most, len(text) + most, at_start=at_start, at_end=at_end)
    }
    digits = _digits(text)
    for piece in sorted(pieces):
        if _digits(piece) != digits:
            continue  # another version is another model, and no slip
        distance = _distance(text.casefold(), piece.casefold(), most)
        if distance is not None:
            yield distance, piece


def _digits(text: str) -> str:
    return "" if text.isalpha() else "".join(filter(str.isdigit, text))


def _parts(text: str, edits: int) -> list[str]:
    """The parts of a text, one more than there are edits, of which that many edits leave one whole.

    An exchange of two neighbours across a border of parts may break two of them, so there is one part more.
    """
    parts = edits + 2
    step = max(1, len(text) // parts)
    return [text[start : start + step].casefold() for start in range(0, step * parts, step)]


def _pieces(value: str, shortest: int, longest: int, *, at_start: bool, at_end: bool) -> Iterator[str]:
    """The texts in a value of some lengths, where they begin or end it those that a glob could have there."""
    for length in range(max(2, shortest), min(longest, len(value)) + 1):
        starts = range(len(value) - length + 1)
        for start in starts:
            if (not at_start or start == 0) and (not at_end or start == len(value) - length):
                yield value[start : start + length]


def _distance(one: str, other: str, most: int) -> int | None:
    """How many letters are put in, left out, replaced or exchanged with their neighbour; None for more than `most`."""
    if abs(len(one) - len(other)) > most:
        return None
    # What both begin and end with tells nothing apart; most of two near texts is.
    one, other = _without_common_start(one, other)
    one, other = _without_common_start(one[::-1], other[::-1])
    if max(len(one), len(other)) > most and len(set(one) ^ set(other)) > 2 * most:
        return None
    before: list[int] = []
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, start=1):
        current = [row]
        for column, against in enumerate(other, start=1):
            cost = min(above[column] + 1, current[-1] + 1, above[column - 1] + (letter != against))
            exchanged = row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == against
            current.append(min(cost, before[column - 2] + 1) if exchanged else cost)
        if min(current) > most:
            return None
        before, above = above, current
    return above[-1] if above[-1] <= most else None


def _without_common_start(one: str, other: str) -> tuple[str, str]:
    same = next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return one[same:], other[same:]
