"""What is found of cores and corrections."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, TypeVar

__all__ = ["Conflicts", "Found"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """Some sets of constraints, the smallest first, then by constraint order.

    Attributes:
        sets: The sets; the members of each stand in constraint order.
        truncated: Whether there are more than a limit let through.
    """

    sets: tuple[tuple[T, ...], ...] = ()
    truncated: bool = False

    @classmethod
    def first(cls, limit: int, sets: Iterable[tuple[T, ...]]) -> "Found[T]":
        """The first `limit` of the sets, which come in order."""
        taken = tuple(islice(sets, limit + 1))
        return cls(taken[:limit], len(taken) > limit)


@dataclass(frozen=True, slots=True)
class Conflicts(Generic[T]):
    """Both views of one clash.

    Attributes:
        cores: The minimal sets of constraints that nothing satisfies together.
        corrections: The minimal sets of constraints without which the others can be satisfied.
    """

    cores: Found[T] = field(default_factory=Found)
    corrections: Found[T] = field(default_factory=Found)

    def truncated(self, relaxations: int) -> tuple[str, ...]:
        """Which of cores, corrections and relaxations a limit cut short.

        Args:
            relaxations: How many corrections are made relaxations of.
        """
        cut = {
            "cores": self.cores.truncated,
            "corrections": self.corrections.truncated,
            "relaxations": self.corrections.truncated or len(self.corrections.sets) > relaxations,
        }
        return tuple(name for name, is_cut in cut.items() if is_cut)
