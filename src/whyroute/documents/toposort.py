"""Names that refer to other names: an order in which none comes before those it refers to, and the cycles."""

from collections.abc import Mapping, Sequence

__all__ = ["cycles", "in_order"]


def in_order(references: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The names, each after all those it refers to; otherwise as they are written. There must be no cycle.

    Args:
        references: For each name, those it refers to; names that are not keys refer to nothing and are left out.
    """
    return _walked(references)[0]


def cycles(references: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """The circles in which names refer to each other, each from its first name on; none when there is none.

    Every name that is part of a circle is part of one of those listed, or shares names with one.
    """
    return _walked(references)[1]


def _walked(references: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    done: dict[str, None] = {}
    circles: dict[tuple[str, ...], None] = {}
    for first in references:
        path: dict[str, int] = {}
        steps = [first] if first not in done else []
        while steps:
            name = steps[-1]
            if name in done:
                steps.pop()
                continue
            at = path.setdefault(name, 0)
            following = references[name]
            if at == len(following):
                done[name] = None
                del path[name]
                steps.pop()
                continue
            path[name] = at + 1
            other = following[at]
            if other in path:
                way = list(path)
                circles[tuple(way[way.index(other) :])] = None
            elif other in references and other not in done:
                steps.append(other)
    return tuple(done), tuple(circles)
