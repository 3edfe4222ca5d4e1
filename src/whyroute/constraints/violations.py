"""Why a candidate does not meet a condition, in plain words: a list is told by its name and its nearest entry."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

from ..basics.issues import near_name, shown
from ..basics.numbers import ecmascript
from ..documents.phrases import joined
from ..model.condition import AllOf, AnyOf, Is, Leaf, Node, Not
from ..model.regions import Regions
from .three_valued import Compiled, shown_value

__all__ = ["violation"]

_FEW: Final = 3
"""So many alternatives are told one by one; of more, the nearest."""

_MANY_NAMES: Final = 5
"""A comparison with more names than this is told as a list."""

_DEEP: Final = 4
"""Alternatives within alternatives are told as such to this depth."""

_LISTED: Final = ("provider", "model", "region")
"""The fields that entries of a list have, the one that says most of an entry's nearness last but one."""

_NEARNESS: Final = {"provider": 1, "region": 1, "model": 2}

_VERBS: Final = {
    "eq": "",
    "ne": "not ",
    "in": "one of ",
    "notIn": "none of ",
    "like": "like ",
    "lt": "less than ",
    "lte": "at most ",
    "gt": "more than ",
    "gte": "at least ",
}

Entry = tuple[Leaf, ...]


def violation(condition: Compiled, values: Mapping[str, Any], regions: Regions, *, forbidden: bool = False) -> str:
    """Why a condition does not certainly hold; of a forbidden one, why it does not certainly fail.

    Args:
        condition: The condition, which is not as it must be.
        values: What the candidate has in each of its fields; None is unknown.
        regions: The groups of regions.
        forbidden: Whether it must not hold.
    """
    teller = _Teller(condition, values, regions)
    told = teller.told(condition.node, forbidden)
    if isinstance(condition.node, Is) and not teller.is_list(condition.node.name):
        return f"{shown(condition.node.name)} must {'not ' if forbidden else ''}hold: {told}"
    return told


class _Teller:
    """Tells of one condition and one candidate."""

    def __init__(self, condition: Compiled, values: Mapping[str, Any], regions: Regions) -> None:
        self._named = dict(condition.named)
        self._values = values
        self._value_of: Callable[[Node], bool | None] = condition.evaluator(values, regions)

    def is_list(self, name: str) -> bool:
        """Whether a named condition is a list of names."""
        return _entries(self._named[name], self._named) is not None

    def told(self, node: Node, negated: bool, depth: int = 0) -> str:
        """Why a part of the condition is not as it must be; negated: why it does not certainly fail."""
        return "; ".join(dict.fromkeys(self._sentences(node, negated, depth)))

    def _sentences(self, node: Node, negated: bool, depth: int) -> Iterator[str]:
        seen: set[tuple[str, bool]] = set()
        # Conditions may nest deeper than functions may call each other.
        steps: list[tuple[Node, bool]] = [(node, negated)]
        while steps:
            node, negated = steps.pop()
            match node:
                case Leaf():
                    yield self._leaf(node, negated)
                case Not(part):
                    steps.append((part, not negated))
                case Is(name):
                    entries = _entries(self._named[name], self._named)
                    if entries is not None:
                        yield self._listed(entries, negated, name)
                    elif (name, negated) not in seen:
                        seen.add((name, negated))
                        steps.append((self._named[name], negated))
                case AllOf(parts) | AnyOf(parts):
                    together = self._together(node, negated, depth)
                    if together is not None:
                        yield together
                        continue
                    value = self._value_of(node)
                    steps += [(part, negated) for part in reversed(parts) if self._value_of(part) is value]

    def _together(self, node: AllOf | AnyOf, negated: bool, depth: int) -> str | None:
        """What is told of several parts in one sentence; None where each has one of its own."""
        value = self._value_of(node)
        if isinstance(node, AllOf):
            leaves = _leaves(node)
            if not negated or value is None or leaves is None or len(leaves) < 2:
                return None
            return f"{joined([self._fact(leaf) for leaf in leaves])}, which is forbidden"
        if negated or len(node.parts) < 2 or depth > _DEEP:
            return None
        entries = _entries(node, self._named)
        if entries is not None:
            return self._listed(entries, negated, None)
        parts = [part for part in node.parts if self._value_of(part) is value]
        if len(parts) <= _FEW:
            return "; or ".join(self.told(part, False, depth + 1) for part in parts)
        holds = "holds" if value is False else "certainly holds"
        nearest = self.told(min(parts, key=self._missed), False, depth + 1)
        return f"none of these {len(node.parts)} {holds}; the nearest: {nearest}"

    def _missed(self, node: Node) -> int:
        """How many comparisons of a part do not hold; of one that is more than comparisons, as many as can be."""
        leaves = _leaves(node)
        return sum(not self._holds(leaf) for leaf in leaves) if leaves is not None else len(self._values) + 1

    def _holds(self, leaf: Leaf) -> bool:
        return self._value_of(leaf) is True

    def _fact(self, leaf: Leaf) -> str:
        return f"{shown(leaf.field)} is {_text(self._values[leaf.field])}"

    def _leaf(self, leaf: Leaf, negated: bool) -> str:
        """What a value is, and what it must be; negated: must not be."""
        value: Hashable = self._values[leaf.field]
        if leaf.op == "exists":
            must_be_known = leaf.wanted is not negated
            return f"{shown(leaf.field)} {'is not known; it must be' if must_be_known else 'is known; it must not be'}"
        if leaf.op == "in" and not negated and len(leaf.wanted) > _MANY_NAMES and isinstance(value, str):
            return self._listed([(Leaf(leaf.field, "eq", each),) for each in leaf.wanted], negated, None)
        wanted = ", ".join(map(_text, leaf.wanted if isinstance(leaf.wanted, tuple) else (leaf.wanted,)))
        must = f"must {'not ' if negated else ''}{'have' if isinstance(value, tuple) else 'be'}"
        is_now = "is not known" if value is None else f"is {_text(value)}"
        return f"{shown(leaf.field)} {is_now}; it {must} {_VERBS[leaf.op]}{wanted}"

    def _listed(self, entries: list[Entry], negated: bool, name: str | None) -> str:
        """Whether the candidate is on a list of entries, and which of them comes nearest."""
        fields = [field for field in _LISTED if any(leaf.field == field for entry in entries for leaf in entry)]
        known = [field for field in fields if self._values[field] is not None]
        if len(known) < len(fields) and any(self._value_of(AllOf(entry)) is None for entry in entries):
            lacking = joined([shown(field) for field in fields if field not in known])
            which = f"among these {len(entries)}" if name is None else f"on the list {shown(name)}"
            return f"{lacking} is not known, so it may {'be' if negated else 'not be'} {which}"
        subject = _pair(known, [shown(self._values[field]) for field in known])
        if name is not None:
            told = f"{subject} is {'' if negated else 'not '}on the list {shown(name)}"
        else:
            told = f"{subject} is {'one' if negated else 'none'} of these {len(entries)}"
        near = None if negated else self._nearest(entries)
        return told if near is None else f"{told}; the nearest entry is {near}"

    def _nearest(self, entries: list[Entry]) -> str | None:
        """The entry that has most in common with the candidate; None where none has anything."""

        def shared(entry: Entry) -> int:
            return sum(_NEARNESS[leaf.field] for leaf in entry if self._holds(leaf))

        best = max(entries, key=shared)
        if not shared(best):
            names = {
                each: entry for entry in entries for leaf in entry if leaf.field == "model" for each in _names(leaf)
            }
            model = self._values.get("model")
            near = near_name(model, names) if isinstance(model, str) and names else None
            if near is None:
                return None
            best = names[near]
        by_field = {leaf.field: leaf for leaf in best}
        fields = [field for field in _LISTED if field in by_field]
        return _pair(fields, [self._entry_text(by_field[field]) for field in fields])

    def _entry_text(self, leaf: Leaf) -> str:
        if self._holds(leaf) and leaf.op != "like":
            return shown(self._values[leaf.field])
        names = _names(leaf)
        return shown(names[0]) if len(names) == 1 else f"one of {', '.join(map(shown, names[:_FEW]))}"


def _pair(fields: Sequence[str], texts: Sequence[str]) -> str:
    """Values as a person would name them together: a candidate by its provider and model."""
    if tuple(fields[:2]) == ("provider", "model"):
        pair = f"{texts[0]} / {texts[1]}"
        return pair if len(fields) == 2 else f"{pair} in {texts[2]}"
    return " in ".join(f"{field} {text}" for field, text in zip(fields, texts, strict=True))


def _names(leaf: Leaf) -> tuple[str, ...]:
    names: tuple[str, ...] = leaf.wanted if leaf.op == "in" else (leaf.wanted,)
    return names


def _entries(node: Node, named: Mapping[str, Node], depth: int = 0) -> list[Entry] | None:
    """The entries of a condition that is a list of names, those of lists within it included; None of any other."""
    if isinstance(node, Leaf):
        listed = node.op == "in" and _entry(node) is not None
        return [(Leaf(node.field, "eq", each),) for each in node.wanted] if listed else None
    if isinstance(node, AllOf):  # a pair, which is a list of one entry
        entry = _entry(node)
        return None if entry is None or len(entry) < 2 else [entry]
    if not isinstance(node, AnyOf):
        return None
    entries: list[Entry] = []
    for part in node.parts:
        inner = named[part.name] if isinstance(part, Is) else part
        one = _entry(inner)
        within = _entries(inner, named, depth + 1) if one is None and isinstance(part, Is) and depth < _DEEP else None
        if one is None and within is None:
            return None
        entries += within or ([] if one is None else [one])
    return entries


def _entry(node: Node) -> Entry | None:
    leaves = _leaves(node)
    if leaves is None or len({leaf.field for leaf in leaves}) < len(leaves):
        return None
    return leaves if all(leaf.field in _LISTED and leaf.op in ("eq", "in", "like") for leaf in leaves) else None


def _leaves(node: Node) -> Entry | None:
    """The comparisons of which all must hold; None of a condition that is more than that."""
    if isinstance(node, Leaf):
        return (node,)
    if isinstance(node, AllOf):
        leaves = tuple(part for part in node.parts if isinstance(part, Leaf))
        return leaves if len(leaves) == len(node.parts) else None
    return None


def _text(value: Any) -> str:
    value = shown_value(value)
    if isinstance(value, list):
        return ", ".join(map(shown, value)) or "empty"
    return ecmascript(value) if isinstance(value, int | float) and not isinstance(value, bool) else shown(value)
