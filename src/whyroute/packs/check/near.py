"""Which known name a name that nothing has is likely meant to be, and what tells them apart."""

import json
import unicodedata
from collections.abc import Iterable

from ...basics.issues import did_you_mean, shown
from .nearglobs import near_glob

__all__ = ["Names"]

_SHORTEST_PREFIX = 3
_MOST_COMPARED = 100
"""How many names are compared with all others letter by letter, which takes milliseconds each; the first ones."""

_TYPOGRAPHIC = "\u201c\u201d\u201e\u2018\u2019\u201a"
_MOST_GLOBS = 20
"""Likewise, how many globs."""


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
        self._globs = 0

    def near(self, name: str) -> str:
        """What to say of the name that is nearest, after a semicolon; empty when none is near."""
        return _typographic(name) or self._near(name)

    def near_glob(self, pattern: str) -> str:
        """What to say of the glob that is nearest and matches a name, likewise."""
        self._globs += 1
        told = _typographic(pattern)
        if told or self._globs > _MOST_GLOBS:
            return told
        near = near_glob(pattern, self.known)
        return "" if near is None else f"; did you mean {shown(near)}?"

    def _near(self, name: str) -> str:
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
        return "" if same is None or same == name else self._near(name)

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


def _typographic(name: str) -> str:
    """What to say of a name with quotes in it that YAML takes for letters; empty when there are none."""
    there = dict.fromkeys(c for c in name if c in _TYPOGRAPHIC)
    if not there:
        return ""
    bare = "".join(c for c in name if c not in _TYPOGRAPHIC)
    are = "is a typographic quote" if len(there) == 1 else "are typographic quotes"
    plain = json.dumps(bare, ensure_ascii=False)
    return f"; {' and '.join(map(shown, there))} {are} and part of the name: write {shown(plain)}"
