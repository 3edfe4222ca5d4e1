"""One thing that a check found in a pack."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..source.problems import Place
from .kinds import KINDS, Kind, Level

__all__ = ["Finding", "found"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a pack that is wrong, or likely is.

    Attributes:
        kind: What kind of thing it is.
        place: Where it is.
        message: What is wrong and what would be right, in lower case, without a final period.
        also: Other places that have a part in it.
        reason: Why it is silenced, as the comment that does so says; None: it isn't.
        rules: The rules that it says something about, where it is about the condition of rules.
    """

    kind: Kind
    place: Place
    message: str
    also: tuple[Place, ...] = ()
    reason: str | None = None
    rules: tuple[str, ...] = field(default=(), compare=False)

    @property
    def code(self) -> str:
        """The short code of its kind."""
        return self.kind.code

    @property
    def name(self) -> str:
        """The name of its kind."""
        return self.kind.name

    @property
    def level(self) -> Level:
        """How bad it is."""
        return self.kind.level

    @property
    def silenced(self) -> bool:
        """Whether a comment silences it."""
        return self.reason is not None

    def __str__(self) -> str:
        return f"{self.place}: {self.level} {self.code} {self.name}: {self.message}"

    @property
    def order(self) -> tuple[tuple[str, int, int], str, str]:
        """Where it sorts: by place, then by code."""
        return self.place.order, self.code, self.message

    def to_dict(self) -> dict[str, Any]:
        """The finding as JSON."""
        found: dict[str, Any] = {
            "code": self.code,
            "name": self.name,
            "level": self.level,
            **self.place.to_dict(),
            "message": self.message,
            "source": self.place.source,
        }
        if self.also:
            found["also"] = [place.to_dict() for place in self.also]
        if self.reason is not None:
            found["silenced"] = {"reason": self.reason}
        return found


def found(name: str, place: Place, message: str, also: Iterable[Place] = (), rules: Iterable[str] = ()) -> Finding:
    """A finding of the kind of this name. Places that are said already are left out of `also`."""
    others = tuple(each for each in dict.fromkeys(also) if each != place)
    return Finding(KINDS[name], place, message, others, rules=tuple(rules))
