"""Conditions as they are written in a file: every comparison with where it stands."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ...model.condition import AllOf, AnyOf, Is, Leaf, Node, Not
from ...model.condition_grammar import LABEL_PREFIX
from ..load.definitions import Piece
from ..source import nodes
from ..source.problems import Place

__all__ = ["Reference", "Written", "comparisons", "mappings", "references", "tree"]

_COMBINE: Final = ("any", "all")
_OPPOSITES: Final = ("ne", "notIn")


@dataclass(frozen=True, slots=True)
class Written:
    """One name or pattern that a field is compared with.

    Attributes:
        field: The field.
        value: The name or the pattern.
        is_glob: Whether it is a pattern.
        negated: Whether it is under an odd number of negations, `ne` and `notIn` included.
        place: Where it stands.
    """

    field: str
    value: str
    is_glob: bool
    negated: bool
    place: Place


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to a named condition.

    Attributes:
        name: Its name.
        negated: Whether it is under an odd number of negations.
    """

    name: str
    negated: bool


def mappings(piece: Piece, negated: bool = False) -> Iterator[tuple[Piece, bool]]:
    """A condition and all conditions in it, the inner ones after the outer, each with whether it is negated."""
    steps = [(piece, negated)]
    while steps:
        piece, negated = steps.pop()
        yield piece, negated
        for key, _, node in reversed(list(piece.node.pairs())):
            if key == "not":
                steps.append((Piece.of(piece.source, node), not negated))
            elif key in _COMBINE:
                steps += [(Piece.of(piece.source, part), negated) for part in reversed(node.value)]


def comparisons(piece: Piece, negated: bool = False) -> Iterator[Written]:
    """The names and patterns in a condition; numbers, and whether a fact is known at all, are left out."""
    for mapping, under in mappings(piece, negated):
        for key, _, node in mapping.node.pairs():
            if key not in (*_COMBINE, "not", "is"):
                yield from _of_field(mapping, key, node, under)


def references(piece: Piece, negated: bool = False) -> Iterator[Reference]:
    """The named conditions that a condition refers to."""
    for mapping, under in mappings(piece, negated):
        for key, _, node in mapping.node.pairs():
            if key == "is":
                yield Reference(node.value, under)


def _of_field(mapping: Piece, field: str, node: nodes.Node, negated: bool) -> Iterator[Written]:
    matchers = [(key, value) for key, _, value in node.pairs()] if node.keys is not None else [("eq", node)]
    for op, value in matchers:
        for each in value.value if type(value.value) is list else [value]:
            if isinstance(each.value, str):
                under = negated is not (op in _OPPOSITES)
                yield Written(field, each.value, op == "like", under, mapping.source.place(*each.position))


def tree(node: nodes.Node) -> Node:
    """A condition, without the grammar's issues, as a tree to evaluate."""
    parts: list[Node] = []
    for key, _, value in node.pairs():
        match key:
            case "any":
                parts.append(AnyOf(tuple(map(tree, value.value))))
            case "all":
                parts.append(AllOf(tuple(map(tree, value.value))))
            case "not":
                parts.append(Not(tree(value)))
            case "is":
                parts.append(Is(value.value))
            case _:
                parts += field_tree(key, value)
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def field_tree(field: str, node: nodes.Node) -> list[Leaf]:
    """The comparisons of one field; `labels`, in a condition over the request, has several in it."""
    if field == "labels":
        return [leaf for key, _, each in node.pairs() for leaf in field_tree(f"{LABEL_PREFIX}{key}", each)]
    value = nodes.plain_value(node)
    if isinstance(value, dict):
        return [Leaf(field, op, tuple(each) if isinstance(each, list) else each) for op, each in value.items()]
    if isinstance(value, list):
        return [Leaf(field, "in", tuple(value))]
    return [Leaf(field, "eq", value)]
