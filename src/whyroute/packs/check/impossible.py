"""Conditions that hold for no candidate that there could be."""

from collections.abc import Iterator

from ...basics.issues import shown
from ...model.condition import AllOf, Is
from ..load.definitions import Piece
from .findings import Finding, found
from .leaves import field_tree, tree
from .survey import Survey

__all__ = ["impossible_conditions"]


def impossible_conditions(survey: Survey) -> Iterator[Finding]:
    """Conditions, and parts of them, that no catalog could ever meet; the innermost ones."""
    for name, rule in survey.pack.rules.items():
        if rule.value.condition is not None:
            yield from _within(survey, rule.piece.inner(rule.value.effect), (name,))
    for waiver in survey.pack.waivers.values():
        yield from _within(survey, waiver.piece.inner("admits"), ())
    for condition in survey.pack.conditions.values():
        yield from _within(survey, condition.piece, ())


def _within(survey: Survey, piece: Piece, rules: tuple[str, ...]) -> list[Finding]:
    piece = Piece.of(piece.source, piece.node)
    told: list[Finding] = []
    refers = False
    for key, _, node in piece.node.pairs():
        if key == "not":
            told += _within(survey, Piece.of(piece.source, node), rules)
        elif key in ("any", "all"):
            told += [each for part in node.value for each in _within(survey, Piece.of(piece.source, part), rules)]
        elif key == "is":
            refers = not survey.possible.can_hold(Is(node.value))
        elif not survey.possible.can_hold(AllOf(tuple(field_tree(key, node)))):
            place = piece.source.place(*node.position)
            message = f"nothing can ever have such a {shown(key)}{_unspecified(key, node.value)}"
            told.append(found("impossible-condition", place, message, rules=rules))
    if not told and not refers and not survey.possible.can_hold(tree(piece.node)):
        message = "nothing can ever meet all of this together"
        named = [node.value for key, _, node in piece.node.pairs() if key == "is"]
        also = [survey.pack.conditions[name].piece.place for name in named]
        told.append(found("impossible-condition", piece.place, message, also, rules))
    return told


def _unspecified(field: str, value: object) -> str:
    return (
        "; `unspecified` is an unknown region: write `exists: false`"
        if (field, value) == ("region", "unspecified")
        else ""
    )
