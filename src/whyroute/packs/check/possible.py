"""Whether a condition could hold for any candidate at all, whatever the catalog.

A condition certainly holds where its comparisons do, negations pushed down to them, as Kleene's logic has it; fields
are independent of each other. So it is a search for one way through the `any`s whose comparisons, field by field,
leave a value: an interval and sets for numbers, sets and globs for text. Where that is not decided, the answer is yes.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from ...basics.globs import glob
from ...model.condition import AllOf, AnyOf, Is, Leaf, Node, Not
from ...model.condition_grammar import FIELDS, SOURCES
from ...model.features import UNSPECIFIED_REGION
from ...model.regions import Regions

__all__ = ["Fits", "Literal", "Possible", "can_hold", "text_can_hold"]

_STEPS: Final = 4_000
"""How many steps of one search are made before the answer is taken to be yes."""

_FREE: Final = 64
"""How many of them every search has."""

_SHARED: Final = 40_000
"""How many more all searches of one pack have together: about half a second."""

_WHOLE: Final = ("contextWindow", "maxOutputTokens")
_ALWAYS_KNOWN: Final = ("provider", "model", "kind", "source", "contextWindow", "promptUsdPer1kTokens",
                        "completionUsdPer1kTokens")  # fmt: skip

Literal = tuple[Leaf, bool]
"""A comparison, and whether it must hold or must not."""

Fits = Callable[[str, Sequence[Literal]], bool]
"""Whether a field may have a value with which comparisons come out as they must."""

_Todo = tuple[tuple[Node, bool], ...]
_Assumed = frozenset[tuple[str, bool]]
_Way = tuple[_Todo, dict[str, tuple[Literal, ...]], _Assumed]
"""What is left to look at, the comparisons by field, and the named conditions that were looked at."""


def can_hold(node: Node, named: Mapping[str, Node], regions: Regions) -> bool:
    """Whether a candidate is possible for which a condition certainly holds: `Possible.can_hold`, for one condition.

    Args:
        node: The condition.
        named: The named conditions.
        regions: The groups of regions.
    """
    return Possible(named, (), regions).can_hold(node)


class Possible:
    """Which conditions could hold for a candidate, over the named conditions of one pack.

    Args:
        named: The named conditions.
        order: Names of them, each after those that it refers to: what they come to is found out at once.
        regions: The groups of regions.
    """

    def __init__(self, named: Mapping[str, Node], order: Iterable[str], regions: Regions) -> None:
        self._named = named
        self._regions = regions
        self._left = _SHARED
        self._known: dict[str, bool] = {}
        for name in order:
            self._known[name] = self.can_hold(named[name])

    def can_hold(self, node: Node, fits: Fits | None = None) -> bool:
        """Whether a candidate is possible for which a condition certainly holds.

        With `fits`, whether something else is possible, of whose fields that says which values there are.

        Sound, not complete: False means that there is none. Costs at most a few thousand steps, and few once all
        searches together took long.
        """
        fits = fits or self._fits
        steps = 0
        ways: list[_Way] = [(((node, True),), {}, frozenset())]
        while ways:
            todo, literals, assumed = ways.pop()
            if not todo:
                return True
            steps += 1
            if steps > _FREE:
                self._left -= 1
                if steps > _STEPS or self._left < 0:
                    return True
            (first, wanted), rest = todo[0], todo[1:]
            if isinstance(first, Is):
                if wanted and not rest and not literals and self._known.get(first.name):
                    return True
                ways += self._of_name(first.name, wanted, rest, literals, assumed)
                continue
            ways += self._of_node(first, wanted, rest, literals, assumed, fits)
        return False

    def _fits(self, field: str, literals: Sequence[Literal]) -> bool:
        return _field_can_hold(field, literals, self._regions)

    def _of_name(
        self, name: str, wanted: bool, rest: _Todo, literals: dict[str, tuple[Literal, ...]], assumed: _Assumed
    ) -> list[_Way]:
        """How a search goes on from a named condition: nowhere where it can't hold, or was taken to be the opposite."""
        if (name, wanted) in assumed:
            return [(rest, literals, assumed)]
        if (wanted and self._known.get(name) is False) or (name, not wanted) in assumed:
            return []
        return [(((self._named[name], wanted), *rest), literals, assumed | {(name, wanted)})]

    @staticmethod
    def _of_node(
        node: Node,
        wanted: bool,
        rest: _Todo,
        literals: dict[str, tuple[Literal, ...]],
        assumed: _Assumed,
        fits: Fits,
    ) -> list[_Way]:
        """How a search goes on from a condition that is no name, the way to look at first last."""
        match node:
            case Leaf():
                known = (*literals.get(node.field, ()), (node, wanted))
                return [(rest, {**literals, node.field: known}, assumed)] if fits(node.field, known) else []
            case Not(part):
                return [(((part, not wanted), *rest), literals, assumed)]
            case AllOf(parts) | AnyOf(parts):
                if isinstance(node, AllOf) is not wanted:
                    return [(((part, wanted), *rest), literals, assumed) for part in reversed(parts)]
                # What leaves no choice comes first: it may show at once that no choice helps.
                certain = [(part, wanted) for part in parts if not isinstance(part, AnyOf | Is)]
                choices = [(part, wanted) for part in parts if isinstance(part, AnyOf | Is)]
                return [((*certain, *rest, *choices), literals, assumed)]
        raise AssertionError(node)


def _field_can_hold(field: str, literals: Sequence[Literal], regions: Regions) -> bool:
    presence = {leaf.wanted is wanted for leaf, wanted in literals if leaf.op == "exists"}
    compared = [each for each in literals if each[0].op != "exists"]
    kind = FIELDS.get(field, "text")
    if len(presence) == 2:
        return False
    if presence == {False} and (field in _ALWAYS_KNOWN or (kind != "set" and compared)):
        return False
    if kind == "set":
        return _set_can_hold(compared, empty=presence == {False})
    if not compared:
        return True
    return _number_can_hold(field, compared) if kind == "number" else text_can_hold(field, compared, regions)


def _set_can_hold(literals: Iterable[Literal], *, empty: bool) -> bool:
    """Every name may be there or not, whatever the others."""
    clauses = [(_wanted(leaf), wanted) for leaf, wanted in literals]
    missing = {name for names, wanted in clauses if not wanted for name in names}
    return all(not empty and any(name not in missing for name in names) for names, wanted in clauses if wanted)


def _wanted(leaf: Leaf) -> tuple[Any, ...]:
    return leaf.wanted if leaf.op in ("in", "notIn") else (leaf.wanted,)


_OPPOSITE: Final = {
    "lt": "gte",
    "lte": "gt",
    "gt": "lte",
    "gte": "lt",
    "eq": "ne",
    "ne": "eq",
    "in": "notIn",
    "notIn": "in",
}


def _number_can_hold(field: str, literals: Iterable[Literal]) -> bool:
    low, high = (1 if field in _WHOLE else 0), math.inf
    low_open = high_open = False
    among: set[Any] | None = None
    without: set[Any] = set()
    for leaf, wanted in literals:
        op = leaf.op if wanted else _OPPOSITE[leaf.op]
        match op:
            case "eq" | "in":
                among = set(_wanted(leaf)) if among is None else among & set(_wanted(leaf))
            case "ne" | "notIn":
                without |= set(_wanted(leaf))
            case "gt" | "gte":
                if leaf.wanted > low or (leaf.wanted == low and op == "gt"):
                    low, low_open = leaf.wanted, op == "gt"
            case _:
                if leaf.wanted < high or (leaf.wanted == high and op == "lt"):
                    high, high_open = leaf.wanted, op == "lt"

    def fits(value: Any) -> bool:
        above = value > low or (value == low and not low_open)
        below = value < high or (value == high and not high_open)
        return above and below and value not in without and (field not in _WHOLE or value == math.floor(value))

    if among is not None:
        return any(map(fits, among))
    if field in _WHOLE and high != math.inf:
        first = math.floor(low) + 1 if low_open or low != math.floor(low) else math.floor(low)
        last = math.ceil(high) - 1 if high_open or high != math.ceil(high) else math.ceil(high)
        if last - first >= len(without):
            return True
        return any(map(fits, range(first, last + 1)))
    return fits(low) if low == high else low < high


def text_can_hold(field: str, literals: Sequence[Literal], regions: Regions) -> bool:
    among: set[str] | None = set(SOURCES) if field == "source" else None
    without: set[str] = {UNSPECIFIED_REGION} if field == "region" else set()
    like: list[str] = []
    unlike: list[str] = []
    for leaf, wanted in literals:
        if leaf.op == "like":
            (like if wanted else unlike).append(leaf.wanted)
            continue
        names = set(_wanted(leaf))
        if field == "region":
            names = set(regions.meanings(sorted(names)))
        if wanted is (leaf.op in ("eq", "in")):
            among = names if among is None else among & names
        else:
            without |= names
    for pattern in like:
        if "*" not in pattern and "?" not in pattern:
            among = {pattern} if among is None else among & {pattern}
    if among is not None:
        matches = [glob(pattern) for pattern in like]
        misses = [glob(pattern) for pattern in unlike]
        return any(
            name not in without and all(match(name) for match in matches) and not any(miss(name) for miss in misses)
            for name in among
        )
    return _some_text([*like], [*unlike], without)


_STAR, _ONE = 0, 1
"""`*` and `?` of a pattern, beside its characters."""

_STATES: Final = 500
"""How many states of one search for a text are looked at before the answer is taken to be yes."""


def _some_text(like: Sequence[str], unlike: Sequence[str], without: Collection[str]) -> bool:
    """Whether a text matches all of some patterns and none of others, and is none of some names.

    A likely text is tried first. Then the patterns are read side by side as automata, with the characters that they
    name and one that they don't.
    """
    others = (*like, *unlike, *without)
    other = next(each for each in map(chr, range(0xE000, 0x110000)) if not any(each in text for text in others))
    if len(like) <= 1:
        text = like[0].replace("*", other).replace("?", other) if like else other
        if text not in without and not any(glob(pattern)(text) for pattern in unlike):
            return True
    read = [[{"*": _STAR, "?": _ONE}.get(each, each) for each in pattern] for pattern in (*like, *unlike)]
    read += [list(name) for name in without]
    characters = {each for tokens in read for each in tokens if isinstance(each, str)}
    start = tuple(_reached(tokens, [0]) for tokens in read)
    seen, waiting = {start}, [start]
    while waiting:
        state = waiting.pop()
        ends = [len(tokens) in places for tokens, places in zip(read, state, strict=True)]
        if all(ends[: len(like)]) and not any(ends[len(like) :]):
            return True
        if len(seen) > _STATES:
            return True
        for character in (*sorted(characters), other):
            after = tuple(_after(tokens, places, character) for tokens, places in zip(read, state, strict=True))
            if all(after[: len(like)]) and after not in seen:
                seen.add(after)
                waiting.append(after)
    return False


def _reached(tokens: Sequence[str | int], places: Iterable[int]) -> frozenset[int]:
    """Some places in a pattern, and those past the stars that stand there."""
    reached: set[int] = set()
    for place in places:
        past = place
        while past < len(tokens) and tokens[past] == _STAR:
            past += 1
        reached.update(range(place, past + 1))
    return frozenset(reached)


def _after(tokens: Sequence[str | int], places: Iterable[int], character: str) -> frozenset[int]:
    """Where a pattern is read on from after a character."""
    there = [place for place in places if place < len(tokens)]
    stay = [place for place in there if tokens[place] == _STAR]
    on = [place + 1 for place in there if tokens[place] in (_ONE, character)]
    return _reached(tokens, [*stay, *on])
