"""What a pack defines, each with where it is written."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ...basics.issues import Issue, shown
from ...constraints.named import Origin
from ..source.nodes import Node, Position, node_at
from ..source.problems import Place, Problem
from ..source.scalars import scalar
from ..source.sources import Source
from ..source.yaml_hints import DASH, without_comma

__all__ = ["Definition", "Piece"]

T = TypeVar("T")
Token = str | int


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file: a value and all that is in it.

    Attributes:
        source: The file.
        node: The value.
        at: Where it starts; for the value of a key, where the key does.
    """

    source: Source = field(repr=False)
    node: Node = field(repr=False)
    at: Position

    @classmethod
    def of(cls, source: Source, node: Node) -> "Piece":
        """A value that starts where it stands."""
        return cls(source, node, node.position)

    @property
    def place(self) -> Place:
        """Where it starts."""
        return self.source.place(*self.at)

    @property
    def origin(self) -> Origin:
        """Where it starts, for constraints."""
        return Origin(self.source.name, *self.at)

    def inner(self, *tokens: Token) -> "Piece":
        """What stands under a path of keys and indices, as far as there is something; a key's value from its key on."""
        node, key, _ = node_at(self.node, tokens)
        return Piece(self.source, node, key if tokens else self.at)

    def value(self, *tokens: Token) -> Place:
        """Where the value under a path of keys and indices starts, as far as there is one."""
        node, _, _ = node_at(self.node, tokens)
        return self.source.place(*node.position)

    def problems(self, issues: Iterable[Issue]) -> list[Problem]:
        """Issues found in the value, each with its place in the file; those of a broken scalar were told already."""
        found = (self._problem(issue) for issue in issues)
        return [problem for problem in found if problem is not None]

    def _problem(self, issue: Issue) -> Problem | None:
        tokens = [token.replace("~1", "/").replace("~0", "~") for token in issue.path.split("/")[1:]]
        node, key, count = node_at(self.node, tokens)
        if node.broken:
            return None
        on_key = issue.code == Issue.KEY and bool(tokens) and count == len(tokens)
        position = key if on_key else node.position
        return Problem(self.source.place(*position), issue.message if on_key else _as_written(issue, node))


def _as_written(issue: Issue, node: Node) -> str:
    """The message with a scalar as it stands in the file: 4.10, not 4.1."""
    message, wants = issue.message, issue.data.get("wants")
    if node.text is None:
        return message + _remedy(issue, node.value) if type(node.value) is str else message
    head = shown(node.value)
    told = issue.code == Issue.VALUE and shown(issue.data["value"]) == head
    if node.value is None:
        what = "nothing" if node.text == "" else "null"
        return f"{what}; {issue.data.get('right', message)}"
    if told:
        message = node.written() + message[len(head) :]
    if wants == "string":
        message += f"; text that reads like one goes in quotes: {shown(repr(node.text))}"
    return message


_WITH_COMMA = re.compile(r"[-+]?[0-9]+(?:,[0-9]+)+", re.ASCII)
_TRUTHS = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}


def _remedy(issue: Issue, text: str) -> str:
    """How to write what text stands for where something else is expected."""
    match issue.data.get("wants"):
        case "boolean":
            meant = text.lower() if text.lower() in ("true", "false") else _TRUTHS.get(text.lower())
            if meant is None:
                return ""
            return "; take the quotes away" if meant == text.lower() else f": write `{meant}`"
        case "list" if text:
            return f"; {DASH}" if text.startswith("-") else f": write {shown(f'[{text}]')}"
        case "number" | "integer" as kind:
            if _WITH_COMMA.fullmatch(text):
                return f"; {without_comma(text, whole=kind == 'integer')}"
            value, problem = scalar(text)
            if problem is None and isinstance(value, int | float) and not isinstance(value, bool):
                return "; take the quotes away"
    return ""


@dataclass(frozen=True, slots=True)
class Definition(Generic[T]):
    """Something a pack defines under a name.

    Attributes:
        name: The name.
        value: What it is.
        piece: Where it is written.
    """

    name: str
    value: T
    piece: Piece

    @property
    def origin(self) -> Origin:
        """Where it is written."""
        return self.piece.origin

    def place(self, *tokens: Any) -> Place:
        """Where a part of it is written: a key from its start, an item of a list, or itself."""
        return self.piece.inner(*tokens).place
