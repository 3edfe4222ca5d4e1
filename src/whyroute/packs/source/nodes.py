"""A YAML document as a tree that knows where each of its keys and values is written."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ...basics.issues import shown

__all__ = ["MAX_DEPTH", "Node", "Position", "node_at", "plain_value", "same_tree"]

Position = tuple[int, int]
"""Line and column, both from 1."""

MAX_DEPTH: Final = 64
"""How deep mappings and lists may nest."""


class Node:
    """A value with its place.

    Attributes:
        line: Where it starts, from 1.
        column: Likewise.
        value: The scalar; a list of nodes; or a dictionary of nodes.
        text: What is written, where a plain scalar is no string.
        keys: Of a mapping: where each key is written.
        broken: What is wrong with it was told, and its value is none.
        items: How many values it holds, itself included, with its aliases written out.
    """

    __slots__ = ("broken", "column", "items", "keys", "line", "text", "value")

    def __init__(
        self,
        line: int,
        column: int,
        value: Any,
        text: str | None = None,
        keys: dict[str, Position] | None = None,
        *,
        broken: bool = False,
    ) -> None:
        self.line = line
        self.column = column
        self.value = value
        self.text = text
        self.keys = keys
        self.broken = broken
        self.items = 1

    @property
    def position(self) -> Position:
        """Where it starts."""
        return self.line, self.column

    def pairs(self) -> Iterator[tuple[str, Position, "Node"]]:
        """The keys of a mapping, each with its place and its value; none of anything else."""
        if self.keys is not None:
            for key, value in self.value.items():
                yield key, self.keys[key], value

    def written(self) -> str:
        """A scalar as it stands in the file, in backticks."""
        return shown(self.text if self.text is not None else self.value)


def plain_value(node: Node) -> Any:
    """The dictionaries, lists and scalars that a tree stands for."""
    value = node.value
    if type(value) is dict:
        return {key: plain_value(item) for key, item in value.items()}
    if type(value) is list:
        return [plain_value(item) for item in value]
    return value


def same_tree(one: Node | None, other: Node | None, *, places: bool = False) -> bool:
    """Whether two trees hold the same, numbers as they are written and keys in the same order.

    Args:
        one: A tree, or none.
        other: Likewise.
        places: Whether what they hold has to stand at the same places, too.
    """
    waiting = [(one, other)]
    while waiting:
        left, right = waiting.pop()
        if left is None or right is None:
            if left is not right:
                return False
            continue
        mine, theirs = left.value, right.value
        if type(mine) is not type(theirs) or left.text != right.text:
            return False
        if places and (left.position, left.keys) != (right.position, right.keys):
            return False
        if type(mine) is dict and list(mine) == list(theirs):
            waiting += zip(mine.values(), theirs.values(), strict=True)
        elif type(mine) is list and len(mine) == len(theirs):
            waiting += zip(mine, theirs, strict=True)
        elif type(mine) in (dict, list) or mine != theirs:
            return False
    return True


def node_at(node: Node, tokens: Sequence[str | int]) -> tuple[Node, Position, int]:
    """The node that a path leads to, as far as there is one.

    Args:
        node: The root.
        tokens: Keys, and indices as numbers or digits.

    Returns:
        The node, the place of its key (of itself where it has none), and how many of the tokens led there.
    """
    key_place = node.position
    for count, token in enumerate(tokens):
        value = node.value
        if type(value) is dict and token in value:
            assert node.keys is not None  # a mapping has them
            key_place = node.keys[str(token)]
            node = value[token]
        elif type(value) is list and str(token).isdecimal() and int(token) < len(value):
            node = value[int(token)]
            key_place = node.position
        else:
            return node, key_place, count
    return node, key_place, len(tokens)
