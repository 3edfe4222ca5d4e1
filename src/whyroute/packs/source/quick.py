"""A quick reader for the YAML that most files of a pack are written in.

The parser of ruamel.yaml takes half a minute for a catalog of thousands of models. This one reads block mappings and
lists, flow collections on one line, plain and quoted scalars on one line, and comments. At anything else, and at
anything that may be wrong, it gives up, and the parser has the word: there is one judge of what YAML is.
"""

import re
from typing import Any, Final

from .nodes import MAX_DEPTH, Node, Position
from .scalars import scalar
from .yaml_hints import AFTER_TEXT, FREE_TEXT

__all__ = ["quick_tree"]

_KEY: Final = re.compile(
    r"""(?:([A-Za-z_](?:[A-Za-z0-9_./@ -]{0,200}[A-Za-z0-9_./@-])?)|"([^"\\\n]{0,200})"|'([^'\n]{0,200})'):(?= |$)"""
)
_START: Final = r"(?:[A-Za-z0-9_./+~(]|-(?=[0-9.]))"
_PLAIN: Final = re.compile(_START + r"(?:[^:#]|:(?=\S)|(?<=\S)#)*")
_FLOW_PLAIN: Final = re.compile(
    _START + r"(?:[^\s,\[\]{}:#]|:(?=[A-Za-z0-9/])|(?<=\S)#|[ ]+(?=[^\s,\[\]{}:#]))*(?=[ ]*(?:[,\]}:]|$))"
)
_DOUBLE: Final = re.compile(r'"([^"\\]*)"')
_SINGLE: Final = re.compile(r"'([^']*)'(?!')")
_REST: Final = re.compile(r" *$| +#")
_SPACES: Final = re.compile(r" *")
_NOT_ASCII_SPACE: Final = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\t]")
_MARKERS: Final = ("---", "...")


class _GiveUpError(Exception):
    """This needs the parser."""


def quick_tree(text: str) -> Node | None:
    """The tree of a text, the same as the parser's; None when the text needs the parser."""
    if _NOT_ASCII_SPACE.search(text):
        return None  # what counts as white space differs between here and there
    lines: list[tuple[int, int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        content = line.lstrip(" ")
        if content and content[0] != "#":
            lines.append((number, len(line) - len(content), content))
    if not lines or lines[0][1] != 0:
        return None
    reader = _Reader(lines)
    try:
        root = reader.block(0, 1)
    except _GiveUpError:
        return None
    return root if reader.at == len(lines) else None


class _Reader:
    """Reads lines, each as its number, its indentation and what follows.

    Attributes:
        at: The index of the line that is read next.
    """

    def __init__(self, lines: list[tuple[int, int, str]]) -> None:
        self.lines = lines
        self.at = 0

    def block(self, indent: int, depth: int) -> Node:
        """The mapping or list that begins on the line at hand, at its indentation."""
        if depth > MAX_DEPTH:
            raise _GiveUpError
        content = self.lines[self.at][2]
        if content.startswith("- "):
            return self._list(indent, depth)
        return self._mapping(indent, depth)

    def _list(self, indent: int, depth: int) -> Node:
        node = Node(self.lines[self.at][0], indent + 1, [])
        while self.at < len(self.lines):
            number, found, content = self.lines[self.at]
            if found != indent or not content.startswith("- "):
                break
            inner = content[1:].lstrip(" ")
            column = indent + len(content) - len(inner)
            if not inner:
                raise _GiveUpError
            if inner.startswith("- ") or _KEY.match(inner):
                self.lines[self.at] = (number, column, inner)
                node.value.append(self.block(column, depth + 1))
            else:
                node.value.append(self._inline(inner, 0, number, column, depth))
                self.at += 1
            self._check_next(indent)
        return node

    def _mapping(self, indent: int, depth: int) -> Node:
        entries: dict[str, Node] = {}
        keys: dict[str, Position] = {}
        node = Node(self.lines[self.at][0], indent + 1, entries, keys=keys)
        while self.at < len(self.lines):
            number, found, content = self.lines[self.at]
            if found != indent:
                break
            match = _KEY.match(content)
            if match is None:
                if content.startswith("- "):
                    break  # of a list around this mapping; where there is none, the line is left over
                raise _GiveUpError
            key = _key(match)
            if key in entries:
                raise _GiveUpError
            keys[key] = (number, indent + 1)
            start = _after_spaces(content, match.end())
            if key in FREE_TEXT and AFTER_TEXT.search(content, match.end()):
                raise _GiveUpError  # what is read may not be what was meant
            self.at += 1
            if start == len(content) or content[start] == "#":
                entries[key] = self._below(indent, depth)
            else:
                entries[key] = self._inline(content, start, number, indent, depth)
            self._check_next(indent)
        return node

    def _below(self, indent: int, depth: int) -> Node:
        """The value of a key that stands on the lines after it."""
        if self.at < len(self.lines):
            _, found, content = self.lines[self.at]
            if found > indent or (found == indent and content.startswith("- ")):
                return self.block(found, depth + 1)
        raise _GiveUpError

    def _check_next(self, indent: int) -> None:
        """A line further in goes on with a scalar, or is wrong."""
        if self.at < len(self.lines) and self.lines[self.at][1] > indent:
            raise _GiveUpError

    def _inline(self, content: str, start: int, number: int, offset: int, depth: int) -> Node:
        """A value that is complete on its line. `offset` is the column before the content."""
        first = content[start]
        if first in "[{":
            node, end = _flow(content, start, number, offset, depth + 1)
        elif first in "\"'":
            node, end = _quoted(content, start, number, offset)
        else:
            match = _PLAIN.match(content, start)
            if match is None:
                raise _GiveUpError
            text = match.group().rstrip(" ")
            node = _plain(text, number, offset + start + 1)
            end = start + len(text)
        if not _REST.match(content, end):
            raise _GiveUpError
        return node


def _after_spaces(content: str, at: int) -> int:
    match = _SPACES.match(content, at)
    return at if match is None else match.end()


def _key(match: "re.Match[str]") -> str:
    plain, double, single = match.groups()
    if plain is None:
        quoted: str = double if double is not None else single
        return quoted
    value, problem = scalar(plain)
    if problem is not None or not isinstance(value, str) or plain.startswith(_MARKERS):
        raise _GiveUpError
    return value


def _plain(text: str, line: int, column: int) -> Node:
    value, problem = scalar(text)
    if problem is not None or text.startswith(_MARKERS):
        raise _GiveUpError
    return Node(line, column, value, None if type(value) is str else text)


def _quoted(content: str, start: int, line: int, offset: int) -> tuple[Node, int]:
    match = (_DOUBLE if content[start] == '"' else _SINGLE).match(content, start)
    if match is None:
        raise _GiveUpError
    return Node(line, offset + start + 1, match.group(1)), match.end()


def _flow(content: str, start: int, line: int, offset: int, depth: int) -> tuple[Node, int]:
    """A flow collection and where it ends."""
    if depth > MAX_DEPTH:
        raise _GiveUpError
    closing = "}" if content[start] == "{" else "]"
    node = Node(line, offset + start + 1, {} if closing == "}" else [], keys={} if closing == "}" else None)
    at = _after_spaces(content, start + 1)
    if content[at : at + 1] == closing:
        return node, at + 1
    while True:
        at = _entry(node, content, at, line, offset, depth)
        at = _after_spaces(content, at)
        mark = content[at : at + 1]
        if mark == closing:
            return node, at + 1
        if mark != ",":
            raise _GiveUpError
        at = _after_spaces(content, at + 1)


def _entry(node: Node, content: str, at: int, line: int, offset: int, depth: int) -> int:
    """Read an item or a pair into a flow collection; returns where it ends."""
    if node.keys is None:
        item, end = _flow_value(content, at, line, offset, depth)
        node.value.append(item)
        return end
    key, end = _flow_value(content, at, line, offset, depth)
    if not isinstance(key.value, str) or key.value in node.value or content[end : end + 2] != ": " or end - at > 200:
        raise _GiveUpError
    node.keys[key.value] = key.position
    node.value[key.value], end = _flow_value(content, _after_spaces(content, end + 1), line, offset, depth)
    return end


def _flow_value(content: str, at: int, line: int, offset: int, depth: int) -> tuple[Any, int]:
    first = content[at : at + 1]
    if first in ("[", "{"):
        return _flow(content, at, line, offset, depth + 1)
    if first in ('"', "'"):
        return _quoted(content, at, line, offset)
    match = _FLOW_PLAIN.match(content, at)
    if match is None:
        raise _GiveUpError
    return _plain(match.group(), line, offset + at + 1), match.end()
