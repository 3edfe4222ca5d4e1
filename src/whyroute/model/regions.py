"""Groups of regions: names that mean other names as well."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..basics.issues import Issue, child, kind_of, shown
from ..documents.json_text import plain
from ..documents.toposort import cycles
from ..errors import InvalidRequestError

__all__ = ["NO_REGIONS", "Regions", "read_regions", "region_issues"]


_KEPT: Final = 1_000_000
"""How many names the meanings hold that are kept."""


class _Meanings(Mapping[str, tuple[str, ...]]):
    """For each group all that it means, found out when it is asked for: a chain of groups holds all of its rest."""

    __slots__ = ("_found", "_held", "_members")

    def __init__(self, members: Mapping[str, Sequence[str]]) -> None:
        self._members = members
        self._found: dict[str, tuple[str, ...]] = {}
        self._held = 0

    def __getitem__(self, name: str) -> tuple[str, ...]:
        found = self._found.get(name)
        if found is None:
            found = self._all(name)
            self._held += len(found)
            if self._held > _KEPT:
                self._found, self._held = {}, len(found)
            self._found[name] = found
        return found

    def _all(self, name: str) -> tuple[str, ...]:
        seen: dict[str, None] = {name: None}
        # An explicit stack: the chain may be longer than Python lets functions call each other.
        steps = [iter(self._members[name])]
        while steps:
            member = next((each for each in steps[-1] if each not in seen), None)
            if member is None:
                steps.pop()
                continue
            seen[member] = None
            if member in self._members:
                steps.append(iter(self._members[member]))
        return tuple(seen)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __eq__(self, other: object) -> bool:
        # By what is written: writing out the meanings of a long chain takes quadratic time.
        return self._members == other._members if isinstance(other, _Meanings) else super().__eq__(other)

    def __hash__(self) -> int:
        return hash(tuple(self._members.items()))


@dataclass(frozen=True, slots=True)
class Regions:
    """What region names mean.

    Attributes:
        groups: For each group, its own name and those of all its members, groups among them; each once.
    """

    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Computed once: a catalog finds what a condition admits by the condition and the groups.
        written = self.groups if isinstance(self.groups, _Meanings) else tuple(self.groups.items())
        object.__setattr__(self, "_hash", hash(written))

    def __hash__(self) -> int:
        return self._hash

    def meaning(self, name: str) -> tuple[str, ...]:
        """The names that a name stands for, itself first: it alone when it is no group."""
        return self.groups.get(name, (name,))

    def meanings(self, names: Iterable[str]) -> tuple[str, ...]:
        """The names that several names stand for, in order, each once."""
        if not self.groups:
            return tuple(dict.fromkeys(names))
        return tuple(dict.fromkeys(each for name in names for each in self.meaning(name)))


NO_REGIONS: Final = Regions()
"""No groups: every name means itself."""


def read_regions(document: Any, path: str = "") -> Regions:
    """Read groups of regions: an object of lists of names; Regions are returned as they are.

    Raises:
        InvalidRequestError: It is broken, or groups hold each other.
    """
    if isinstance(document, Regions):
        return document
    cleaned, foreign = plain(document, path)
    issues = foreign or region_issues(cleaned, path)
    if issues:
        raise InvalidRequestError(issues)
    return regions_of(cleaned)


def regions_of(document: Mapping[str, Sequence[str]]) -> Regions:
    """The groups of a document without issues."""
    return Regions(_Meanings({name: tuple(members) for name, members in document.items()}))


def region_issues(document: Any, path: str = "") -> list[Issue]:
    """What is wrong with groups of regions, as plain JSON."""
    if not isinstance(document, dict):
        return [Issue(path, f"{kind_of(document)}; regions are an object of groups, each a list of region names")]
    issues: list[Issue] = []
    for name, members in document.items():
        at = child(path, name)
        if not isinstance(members, list):
            issues.append(Issue(at, f"{kind_of(members)}; a group is a list of region names"))
            continue
        issues += [
            Issue(child(at, index), f"{shown(member)} is {kind_of(member)}; a region's name is a string")
            for index, member in enumerate(members)
            if not isinstance(member, str)
        ]
    if issues:
        return issues
    return [
        Issue(child(path, circle[0]), f"the group holds itself: {' > '.join(map(shown, [*circle, circle[0]]))}")
        for circle in cycles(document)
    ]
