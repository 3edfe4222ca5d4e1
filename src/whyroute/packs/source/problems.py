"""What is wrong with a pack: every problem with its file, line and column."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from ...errors import WhyrouteError

__all__ = ["PackError", "Place", "Problem"]


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file of a pack.

    Attributes:
        file: Name of the file.
        line: The line, from 1; None for a file or a directory as a whole.
        column: The column, from 1, in characters.
        source: The text of that line.
    """

    file: str
    line: int | None = None
    column: int | None = None
    source: str = ""

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}:{self.column}"

    @property
    def order(self) -> tuple[str, int, int]:
        """Where it sorts: by file, then by line and column."""
        return self.file, self.line or 0, self.column or 0

    def to_dict(self) -> dict[str, Any]:
        """The place as JSON."""
        if self.line is None:
            return {"file": self.file}
        return {"file": self.file, "line": self.line, "column": self.column}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that keeps a pack from being loaded.

    Attributes:
        place: Where it is.
        message: What is wrong and what would be right, in lower case, without a final period.
        also: Other places that have a part in it: where a name is defined first, the rest of a cycle.
    """

    place: Place
    message: str
    also: tuple[Place, ...] = ()

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"

    @property
    def order(self) -> tuple[tuple[str, int, int], str]:
        """Where it sorts."""
        return self.place.order, self.message

    def to_dict(self) -> dict[str, Any]:
        """The problem as JSON."""
        found = {**self.place.to_dict(), "message": self.message, "source": self.place.source}
        if self.also:
            found["also"] = [place.to_dict() for place in self.also]
        return found


class PackError(WhyrouteError):
    """A pack can't be loaded.

    Attributes:
        problems: All that is wrong with all of its files, by file, line and column.
    """

    code: ClassVar[str] = "invalid-pack"

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(dict.fromkeys(problems), key=lambda each: each.order))
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        if not self.problems:
            return "the pack is invalid"
        more = len(self.problems) - 1
        tail = f" (and {more} more {'problem' if more == 1 else 'problems'})" if more else ""
        return f"the pack is invalid: {self.problems[0]}{tail}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems,)

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "problems": [problem.to_dict() for problem in self.problems]}
