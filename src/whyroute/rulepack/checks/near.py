"""Which known name a name that nothing has is likely meant to be, and what tells them apart."""

import unicodedata
from collections.abc import Iterable

from ...issues import did_you_mean, shown

__all__ = ["Names"]

_SHORTEST_PREFIX = 3
_MOST_COMPARED = 100
"""How many names are compared with all others letter by letter, which takes milliseconds each; the first ones."""


class Names:
    """Names that something has, and a look-up of the one that is near to another.

    Args:
        known: The names.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self.known = tuple(sorted(set(known)))
        self._composed: dict[str, str] = {}
        self._folded: dict[str, str] = {}
        for name in self.known:
            self._composed.setdefault(_composed(name), name)
            self._folded.setdefault(_composed(name).casefold(), name)
        self._compared = 0

    def near(self, name: str) -> str:
        """What to say of the name that is nearest, after a semicolon; empty when none is near."""
        same = self._composed.get(_composed(name))
        if same is not None and same != name:
            return f"; {shown(same)} differs only in its Unicode form"
        same = self._folded.get(_composed(name).casefold())
        if same is not None and same != name:
            return f"; {shown(same)} differs only in case"
        return self._by_prefix(name) or self._by_letters(name)

    def same_but_for_case(self, name: str) -> str:
        """Likewise, for a name that differs only in case or Unicode form; empty when there is none."""
        same = self._folded.get(_composed(name).casefold())
        return "" if same is None or same == name else self.near(name)

    def _by_prefix(self, name: str) -> str:
        if len(name) < _SHORTEST_PREFIX:
            return ""
        longer = next((other for other in self.known if other != name and other.startswith(name)), None)
        if longer is not None:
            return f"; {shown(longer)} begins with it"
        shorter = max(
            (other for other in self.known if len(other) >= _SHORTEST_PREFIX and name.startswith(other)),
            key=len,
            default=None,
        )
        return "" if shorter is None or shorter == name else f"; it begins with {shown(shorter)}"

    def _by_letters(self, name: str) -> str:
        self._compared += 1
        return did_you_mean(name, self.known) if self._compared <= _MOST_COMPARED else ""


def _composed(name: str) -> str:
    return unicodedata.normalize("NFKC", name)
