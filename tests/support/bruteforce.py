"""Cores and corrections by trying every subset: slow, and too short to be wrong. The naive twin of the real ones."""

from collections.abc import Callable, Sequence
from itertools import combinations

__all__ = ["admits_someone", "all_cores", "all_corrections", "all_hitting_sets"]

Sets = list[tuple[int, ...]]


def admits_someone(admitted: Sequence[int], size: int, chosen: Sequence[int]) -> bool:
    """Whether any of so many candidates is in all the chosen sets."""
    return any(all(admitted[index] >> candidate & 1 for index in chosen) for candidate in range(size))


def _smallest(count: int, holds: Callable[[tuple[int, ...]], bool]) -> Sets:
    """The inclusion-minimal sets for which it holds; by size, then lexicographically."""
    found: Sets = []
    for length in range(count + 1):
        for chosen in combinations(range(count), length):
            if not any(set(each) <= set(chosen) for each in found) and holds(chosen):
                found.append(chosen)
    return found


def all_cores(count: int, is_satisfiable: Callable[[Sequence[int]], bool]) -> Sets:
    """The minimal unsatisfiable sets among 0 to count - 1."""
    return _smallest(count, lambda chosen: not is_satisfiable(chosen))


def all_corrections(count: int, is_satisfiable: Callable[[Sequence[int]], bool]) -> Sets:
    """The minimal sets whose complement is satisfiable; none where everything is."""
    if is_satisfiable(range(count)):
        return []
    return _smallest(
        count, lambda chosen: is_satisfiable([index for index in range(count) if index not in set(chosen)])
    )


def all_hitting_sets(count: int, edges: Sequence[Sequence[int]]) -> Sets:
    """The minimal sets that share a member with every edge."""
    return _smallest(count, lambda chosen: all(set(chosen) & set(edge) for edge in edges))
