"""From the text of a file to its tree, with the checks that parsers leave to others."""

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from ...basics.issues import did_you_mean, shown
from ...documents.json_text import is_unicode
from ...documents.yaml_text import other_version, with_whole_characters
from ..source.events import UnreadableError, events, quick_events, written_tag
from ..source.nodes import MAX_DEPTH, Node, Position
from ..source.problems import Problem
from ..source.scalars import scalar
from ..source.sources import Source
from ..source.yaml_hints import FREE_TEXT, comma_in_number, cut_off, indent_problem, missing_space

__all__ = ["compose", "parsed"]

MAX_ALIASED: Final = 100_000
"""How many values the aliases of a file may stand for."""


def compose(source: Source) -> tuple[Node | None, list[Problem]]:
    """The tree of a file's one document, and what is wrong with the file.

    Returns:
        None where there is no document, or none that can be read to its end.
    """
    root, problems = _composed(source, quick_events(source.text))
    if problems or root is None or root.keys is None:
        return parsed(source)  # what it is to say is ruamel.yaml's; so is a document that is no mapping
    return root, problems


def parsed(source: Source) -> tuple[Node | None, list[Problem]]:
    """What `compose` gives, by ruamel.yaml's parser alone."""
    return _composed(source, events(source.text))


def _composed(source: Source, from_events: Iterable[Any]) -> tuple[Node | None, list[Problem]]:
    composer = _Composer(source)
    try:
        root = composer.document(from_events)
    except UnreadableError as error:
        composer.complain(error.position, error.message)
        root = None
    return root, composer.problems


class _Holder:
    """A list or a mapping whose end was not reached yet."""

    __slots__ = ("anchor", "flow", "key", "key_place", "node", "run_on")

    def __init__(self, node: Node, anchor: str | None, *, flow: bool) -> None:
        self.node = node
        self.anchor = anchor
        self.flow = flow  # whether it stands in brackets
        self.run_on = False  # whether a second item of a list began in it
        self.key: str | None = None  # the key whose value comes next
        self.key_place: Position | None = None  # set from a key to its value, also where the key can't be used


class _Composer:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.anchors: dict[str, Node | None] = {}  # None: its value is not complete yet
        self.aliased = 0
        self.holders: list[_Holder] = []
        self.documents = 0
        self.root: Node | None = None

    def complain(self, position: Position, message: str, *also: Position) -> None:
        """Note a problem."""
        place = self.source.place
        self.problems.append(Problem(place(*position), message, tuple(place(*each) for each in also)))

    def document(self, from_events: Iterable[Any]) -> Node | None:
        """Read the text to its end."""
        if (other := other_version(self.source.text)) is not None:
            raise UnreadableError((other[0], 1), other[1])
        skipped = 0  # how deep inside a key that is no text
        for event in from_events:
            kind = type(event).__name__
            if skipped:
                skipped += (kind in _STARTS) - (kind in _ENDS)
                continue
            position = (event.start_mark.line + 1, event.start_mark.column + 1)
            holder = self.holders[-1] if self.holders else None
            wants_key = holder is not None and holder.node.keys is not None and holder.key_place is None
            if kind == "ScalarEvent":
                if holder is not None and wants_key:
                    self._take_key(holder, event, position)
                else:
                    self._put(self._scalar(event, position))
            elif kind in _ENDS:
                self._close()
            elif kind == "DocumentStartEvent":
                self._begin(position)
            elif holder is not None and wants_key and kind in _VALUES:
                self.complain(position, "a key is text; this is none")
                holder.key_place = position
                skipped = int(kind in _STARTS)
            elif kind in _STARTS:
                self._open(event, position, mapping=kind == "MappingStartEvent")
            elif kind == "AliasEvent":
                self._put(self._alias(event, position))
        return self.root

    def _begin(self, position: Position) -> None:
        self.documents += 1
        if self.documents > 1:
            raise UnreadableError(position, "a second document; a file holds one")

    def _open(self, event: Any, position: Position, *, mapping: bool) -> None:
        if len(self.holders) >= MAX_DEPTH:
            raise UnreadableError(position, f"nested too deeply; at most {MAX_DEPTH} levels are read")
        if event.anchor is not None:
            self.anchors[str(event.anchor)] = None
        node = Node(*position, {} if mapping else [], keys={} if mapping else None)
        node.broken = not self._check_tag(event, position)
        self.holders.append(_Holder(node, event.anchor, flow=bool(event.flow_style)))

    def _close(self) -> None:
        holder = self.holders.pop()
        if holder.anchor is not None:
            self.anchors[str(holder.anchor)] = holder.node
        self._put(holder.node)

    def _check_tag(self, event: Any, position: Position) -> bool:
        if event.tag is None or (written := written_tag(event)) is None:
            return True
        self.complain(position, f"{shown(written)} is a tag, and none are read; write the value alone, text in quotes")
        return False

    def _take_key(self, holder: _Holder, event: Any, position: Position) -> None:
        holder.key, holder.key_place = None, position
        if not self._check_tag(event, position):
            return
        key = with_whole_characters(event.value)
        keys = holder.node.keys
        assert keys is not None  # `document` found it to be a mapping
        if not is_unicode(key):
            self.complain(position, f"a key with {_HALF}")
            return
        if not event.style:
            self._check_indent(position)
            value, problem = scalar(key)
            if problem is None and not isinstance(value, str):
                what = "an empty key" if key == "" else f"{shown(key)} is no text"
                problem = f"{what}; a key is text: put it in quotes"
            elif key == "<<":
                problem = "`<<` merges nothing in YAML 1.2; write the keys out, or use `extends`"
            if problem is not None:
                if not self._is_comma(holder, position, key):
                    self.complain(position, problem)
                return
        if key in keys:
            self._twice(holder, key, position)
            return
        if event.anchor is not None:
            self.anchors[str(event.anchor)] = Node(*position, key)
        holder.key = key

    def _twice(self, holder: _Holder, key: str, position: Position) -> None:
        keys = holder.node.keys or {}
        in_list = len(self.holders) > 1 and self.holders[-2].node.keys is None
        if holder.run_on:
            return
        message = f"{shown(key)} stands twice in this mapping"
        if in_list and not holder.flow and key == next(iter(keys)):
            holder.run_on = holder.node.broken = True
            message += "; where a new item of the list begins, a `-` is missing before it"
        self.complain(position, message, keys[key])

    def _check_indent(self, position: Position) -> None:
        """The parser takes a no-break space for text, and so the line for one that is not indented."""
        problem = indent_problem(self.source.line(position[0]))
        if problem is not None and position[1] <= problem[0]:
            raise UnreadableError((position[0], problem[0]), problem[1])

    def _is_comma(self, holder: _Holder, position: Position, text: str) -> bool:
        """Complain of a comma inside a number, which ends a value in brackets."""
        problem = comma_in_number(self.source.line(position[0]), position[1], text) if holder.flow else None
        if problem is None:
            return False
        values = holder.node.value if holder.node.keys is None else list(holder.node.value.values())
        for value in values[-1:]:
            value.broken = True
        place = self.source.place(position[0], problem[0])
        if not self.problems or self.problems[-1].place != place:  # 1,000,000 has two
            self.complain((position[0], problem[0]), problem[1])
        return True

    def _scalar(self, event: Any, position: Position) -> Node:
        if event.value == "" and not event.style and self.holders and self.holders[-1].key_place is not None:
            # The parser puts a value that is left out wherever the next one begins.
            position = self.holders[-1].key_place
        node = Node(*position, with_whole_characters(event.value))
        if not self._check_tag(event, position):
            node.broken = True
        elif not is_unicode(node.value):
            self.complain(position, f"text with {_HALF}")
            node.value = _HALF_PAIR.sub("\ufffd", node.value)  # what checks it next takes no halves
            node.broken = True
        elif not event.style:
            node.value, problem = scalar(event.value)
            if problem is not None:
                if not (self.holders and self._is_comma(self.holders[-1], position, event.value)):
                    self.complain(position, problem)
                node.broken = True
            elif self._is_cut_off(event):
                node.broken = True
            elif type(node.value) is not str:
                node.text = event.value
        if event.anchor is not None:
            self.anchors[str(event.anchor)] = node
        return node

    def _is_cut_off(self, event: Any) -> bool:
        """Complain of a `#` inside plain text: what follows it is lost."""
        key = self.holders[-1].key if self.holders and self.holders[-1].node.keys is not None else None
        if key not in FREE_TEXT:
            return False
        line, end = event.end_mark.line + 1, event.end_mark.column
        if event.value == "":  # the parser puts it wherever the next one begins
            line, column = self.holders[-1].key_place or (line, 1)
            end = self.source.line(line).find(":", column - 1) + 1
        problem = cut_off(key, event.value, self.source.line(line), end)
        if problem is None:
            return False
        self.complain((line, problem[0]), problem[1])
        return True

    def _alias(self, event: Any, position: Position) -> Node:
        name = str(event.anchor)
        if name not in self.anchors:
            if _ANCHOR.search(self.source.text) is None or not name.isidentifier():
                message = (
                    f"text that begins with `*` goes in quotes: {shown(json.dumps('*' + name, ensure_ascii=False))}"
                )
            else:
                near = did_you_mean(name, self.anchors)
                message = f"{shown('*' + name)} stands for nothing; no `&{name}` comes before it{near}"
            self.complain(position, message)
            return Node(*position, None, broken=True)
        node = self.anchors[name]
        if node is None:
            self.complain(position, f"{shown('*' + name)} stands inside the value that it names")
            return Node(*position, None, broken=True)
        self.aliased += node.items
        if self.aliased > MAX_ALIASED:
            raise UnreadableError(position, f"the aliases up to here stand for more than {MAX_ALIASED} values")
        return node

    def _put(self, node: Node) -> None:
        """Hand a complete value to its holder."""
        if not self.holders:
            self.root = node
            return
        holder = self.holders[-1]
        if holder.node.keys is None:
            holder.node.value.append(node)
        else:
            if holder.flow and node.text == "" and holder.key is not None and holder.key_place is not None:
                self._check_colon(holder, node, holder.key, holder.key_place)
            if holder.key is not None and holder.key_place is not None:
                holder.node.value[holder.key] = node
                holder.node.keys[holder.key] = holder.key_place
            holder.key = holder.key_place = None
        holder.node.items += node.items

    def _check_colon(self, holder: _Holder, node: Node, key: str, place: Position) -> None:
        """Complain of a key in braces that swallowed its value for want of a space."""
        problem = missing_space(key) if self.source.line(place[0]).startswith(key, place[1] - 1) else None
        if problem is not None and problem[0] not in holder.node.value:
            holder.key, at, message = problem
            node.broken = True
            self.complain((place[0], place[1] + at), message)


_ANCHOR: Final = re.compile(r"(?<!\S)&\w|[\[{,]&\w")
_HALF: Final = "half a surrogate pair; it is not valid Unicode"
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")
_STARTS: Final = frozenset({"MappingStartEvent", "SequenceStartEvent"})
_ENDS: Final = frozenset({"MappingEndEvent", "SequenceEndEvent"})
_VALUES: Final = frozenset({"AliasEvent", *_STARTS})
