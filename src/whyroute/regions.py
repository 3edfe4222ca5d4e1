"""Groups of regions: names that mean other names as well."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .errors import InvalidRequestError
from .issues import Issue, child, kind_of, shown
from .jsontext import plain
from .references import cycles, in_order

__all__ = ["NO_REGIONS", "Regions", "read_regions", "region_issues"]


@dataclass(frozen=True, slots=True)
class Regions:
    """What region names mean.

    Attributes:
        groups: For each group, its own name and those of all its members, groups among them; each once.
    """

    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

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
    groups: dict[str, tuple[str, ...]] = {}
    for name in in_order(document):
        members = (each for member in document[name] for each in groups.get(member, (member,)))
        groups[name] = tuple(dict.fromkeys([name, *members]))
    return Regions(groups)


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
