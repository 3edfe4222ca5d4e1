"""The sections of a pack's files, each as the named entries it holds."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from ...basics.issues import did_you_mean, kind_of, shown
from ...documents.phrases import found, unknown_key
from ...providers.provider_files import FORMAT_VERSION
from ..source.nodes import Node, Position
from ..source.problems import Place, Problem
from ..source.sources import Source
from ..source.yaml_hints import DASH, missing_space
from .definitions import Piece

__all__ = ["SECTIONS", "VERSION_KEY", "SectionEntry", "Sections"]

VERSION_KEY: Final = "whyroute"

LISTS: Final = {
    "providers": "id",
    "capabilities": "name",
    "policies": "name",
    "tenants": "tenantId",
    "rules": "name",
    "waivers": "name",
    "bundles": "name",
    "tests": "name",
    "descriptors": "id",
}
"""The sections that are lists of objects, each with the key that names an entry."""

MAPPINGS: Final = ("regions", "labels", "conditions")
"""The sections whose keys are the names."""

_SINGULAR: Final = {
    "regions": "region group",
    "labels": "label",
    "providers": "provider",
    "capabilities": "capability",
    "policies": "policy",
    "everyTenant": "name of a policy",
    "tenants": "tenant",
    "conditions": "condition",
    "rules": "rule",
    "waivers": "waiver",
    "bundles": "bundle",
    "tests": "test",
    "descriptors": "descriptor",
}
"""What one entry of each section is."""

SECTIONS: Final = tuple(_SINGULAR)
"""All sections."""


@dataclass(frozen=True, slots=True)
class SectionEntry:
    """An entry of a section.

    Attributes:
        name: Its name.
        piece: Where it is written.
    """

    name: str
    piece: Piece


class Sections:
    """The sections of all files of a pack, merged.

    What comes from several files is put in an order of its own, so that the names of the files don't matter; within a
    file, entries stay as they are written.

    Attributes:
        entries: For each section of named entries, its entries.
        unsure: The sections of which more may be defined than could be read: names in them are not looked up.
        every_tenant: The names under `everyTenant`, each with its place.
        present: The sections that any file has.
        problems: What is wrong with the shape of the files.
    """

    def __init__(self, documents: Iterable[tuple[Source, Node | None]], *, complete: bool = True) -> None:
        """Read the sections of files; `complete`: there is no other file, which could not be read."""
        self.problems: list[Problem] = []
        self.unsure: set[str] = set() if complete else set(SECTIONS)
        self.present: set[str] = set()
        found_entries: dict[str, list[list[SectionEntry]]] = {name: [] for name in SECTIONS}
        for source, root in documents:
            if root is None or self._is_unusable(source, root):
                self.unsure |= set(SECTIONS)
                continue
            for key, position, node in root.pairs():
                section = Piece(source, node, position)
                if key in found_entries and node.broken:
                    self.unsure.add(key)
                elif key in found_entries:
                    self.present.add(key)
                    found_entries[key].append(self._read(key, section))
        merged = {name: _in_one_order(lists) for name, lists in found_entries.items()}
        self.every_tenant: list[SectionEntry] = merged.pop("everyTenant")
        self.entries: dict[str, list[SectionEntry]] = {name: self._unique(name, merged[name]) for name in merged}

    def _is_unusable(self, source: Source, root: Node) -> bool:
        """Check what holds for the file as a whole."""

        def complain(position: Position, message: str) -> None:
            self._complain(source.place(*position), message)

        if root.keys is None:
            slip = missing_space(root.value) if type(root.value) is str else None
            if slip is not None:
                complain((root.line, root.column + slip[1]), slip[2])
            elif not root.broken:
                complain(root.position, f"{_found(root)}; a file of a pack is a mapping that begins with `whyroute: 1`")
            return True
        if VERSION_KEY not in root.value and not any(did_you_mean(key, [VERSION_KEY]) for key in root.value):
            complain(root.position, "`whyroute: 1` is missing; it is the first key of every file")
        elif VERSION_KEY in root.value:
            version: Node = root.value[VERSION_KEY]
            if next(iter(root.value)) != VERSION_KEY:
                complain(root.keys[VERSION_KEY], "`whyroute` is not the first key; it opens every file")
            if version.value == str(FORMAT_VERSION):
                complain(version.position, f"{_found(version)}; the format version is a number: take the quotes away")
            elif not version.broken and (type(version.value) is not int or version.value != FORMAT_VERSION):
                complain(
                    version.position,
                    f"{version.written()} is no format version that is read here; it is {FORMAT_VERSION}"
                    if version.keys is None and type(version.value) is not list and version.text != ""
                    else f"{_found(version)}; the format version is {FORMAT_VERSION}",
                )
        for key, position in root.keys.items():
            if key not in SECTIONS and key != VERSION_KEY:
                known = SECTIONS if VERSION_KEY in root.value else (VERSION_KEY, *SECTIONS)
                complain(position, unknown_key("", key, known, root.value).message)
                self.unsure |= {name for name in SECTIONS if did_you_mean(key, [name])}
        return False

    def _read(self, key: str, section: Piece) -> list[SectionEntry]:
        if key in MAPPINGS:
            return self._mapping(key, section)
        items = self._items(key, section)
        if key == "everyTenant":
            return self._names(items)
        return [entry for item in items for entry in self._named(key, item)]

    def _complain(self, place: Place, message: str) -> None:
        self.problems.append(Problem(place, message))

    def _mapping(self, key: str, section: Piece) -> list[SectionEntry]:
        if section.node.keys is None:
            self._complain(
                section.value(), f"{_found(section.node)}; `{key}` is a mapping from names to {_MEANINGS[key]}"
            )
            self.unsure.add(key)
            return []
        entries = []
        for name, position, node in section.node.pairs():
            if name == "":
                self._complain(section.source.place(*position), f"an empty name; a {_SINGULAR[key]} has a name")
            else:
                entries.append(SectionEntry(name, Piece(section.source, node, position)))
        return entries

    def _items(self, key: str, section: Piece) -> list[Piece]:
        if type(section.node.value) is not list:
            what = "the names of policies" if key == "everyTenant" else key
            message = f"{_found(section.node)}; `{key}` is a list of {what}"
            if key == "everyTenant" and type(section.node.value) is str:
                dash = section.node.value.startswith("-")
                message += f"; {DASH}" if dash else f": write {shown(f'[{section.node.value}]')}"
            elif section.node.keys and LISTS.get(key) in section.node.keys and section.node.line > section.at[0]:
                message += f"; a `-` is missing before {shown(next(iter(section.node.keys)))}"
            self._complain(section.value(), message)
            self.unsure.add(key)
            return []
        return [Piece.of(section.source, node) for node in section.node.value]

    def _names(self, items: list[Piece]) -> list[SectionEntry]:
        entries = []
        for item in items:
            if isinstance(item.node.value, str):
                entries.append(SectionEntry(item.node.value, item))
            elif not item.node.broken:
                self._complain(item.value(), f"{_found(item.node)}; the name of a policy is a string")
        return entries

    def _named(self, key: str, item: Piece) -> list[SectionEntry]:
        naming = LISTS[key]
        if item.node.broken or item.node.keys is None:
            self.unsure.add(key)
        if item.node.keys is None:
            if not item.node.broken:
                message = f"{_found(item.node)}; a {_SINGULAR[key]} is a mapping such as `{{{naming}: ...}}`"
                self._complain(item.value(), message)
            return []
        node: Node | None = item.node.value.get(naming)
        # An entry without a name is checked all the same; what is wrong with its name is told with the rest.
        usable = node is not None and not node.broken and isinstance(node.value, str)
        if not usable:
            self.unsure.add(key)
        return [SectionEntry(node.value if usable and node is not None else "", item)]

    def _unique(self, section: str, entries: list[SectionEntry]) -> list[SectionEntry]:
        """The entries, each name once; the first in the order of the files stays."""
        by_name: dict[str, list[SectionEntry]] = {}
        for entry in entries:
            if entry.name:
                by_name.setdefault(entry.name, []).append(entry)
        first: dict[str, SectionEntry] = {}
        for name, same in by_name.items():
            first[name], *others = same if len(same) == 1 else sorted(same, key=lambda each: each.piece.place.order)
            for other in others:
                at, before = self._naming(section, other), self._naming(section, first[name])
                message = f"{_SINGULAR[section]} {shown(name)} is defined twice; first at {before}"
                self.problems.append(Problem(at, message, (before,)))
        return [entry for entry in entries if not entry.name or entry is first[entry.name]]

    @staticmethod
    def _naming(section: str, entry: SectionEntry) -> Any:
        return entry.piece.value(LISTS[section]) if section in LISTS else entry.piece.place


_MEANINGS: Final = {
    "regions": "lists of regions",
    "labels": "what they may be, such as `{data: {values: [public, patient]}}`",
    "conditions": "conditions",
}


def _found(node: Node) -> str:
    if node.keys is not None:
        return "an empty mapping" if not node.value else "a mapping"
    if type(node.value) is list:
        return "an empty list" if not node.value else "a list"
    if node.value is None:
        return "nothing" if node.text == "" else "null"
    return found(node.value) if node.value == "" else f"{node.written()}, {kind_of(node.value)}"


def _in_one_order(lists: list[list[SectionEntry]]) -> list[SectionEntry]:
    """The entries of all files, in an order that depends on their names, not on those of the files."""
    key: Callable[[list[SectionEntry]], list[str]] = lambda entries: [entry.name for entry in entries]  # noqa: E731
    return [entry for entries in sorted(lists, key=key) for entry in entries]
