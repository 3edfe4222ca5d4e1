"""Which labels of requests tell the answers of two packs apart: those values that a rule of one of them tells apart."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import combinations, islice, product
from math import prod
from typing import Any, Protocol

from ...basics.glob_sets import TextClass, text_classes
from ...basics.globs import glob
from ...constraints.rulebook import RequestFacts
from ...constraints.three_valued import Compiled, compiled
from ...errors import InvalidRequestError
from ...model.condition import Leaf
from ..load.pack import Pack
from ..load.resolved import Resolved

__all__ = [
    "MOST_COMBINATIONS",
    "Combination",
    "Goal",
    "LabelValue",
    "LabelValues",
    "Labelling",
    "labelling",
    "resolving",
    "widened",
]

MOST_COMBINATIONS = 256
"""How many combinations of labels are looked at for a tenant and a capability."""

_MOST_STEPS = 2048
_MOST_WIDENED = 32


@dataclass(frozen=True, slots=True)
class LabelValue:
    """What a request says under one key.

    Attributes:
        text: The value; None when it says nothing.
        other_than: When it stands for every value that no rule mentions and globs don't tell from it: the mentioned
            values that globs don't tell from it either.
        like: Then, the globs that such values match.
        unlike: And those that they don't match.
    """

    text: str | None
    other_than: tuple[str, ...] | None = None
    like: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()

    @property
    def other(self) -> bool:
        """Whether it stands for values that no rule mentions."""
        return self.other_than is not None

    def to_dict(self) -> dict[str, Any]:
        """The value as JSON."""
        if self.other_than is not None:
            found: dict[str, Any] = {"otherThan": list(self.other_than)}
            if self.like or self.unlike:
                found |= {"like": list(self.like), "unlike": list(self.unlike), "example": self.text}
            return found
        return {"absent": True} if self.text is None else {"value": self.text}


LabelValues = tuple[LabelValue, ...]
"""Values that no rule tells apart."""

Combination = tuple[LabelValues, ...]
"""Values of each key that matters; any of them may be taken for any key."""


class Said(Protocol):
    """What a pack knows of a request, or of a slot of a bundle."""

    @property
    def pack(self) -> Pack:
        """The pack."""

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels, defaults and what is fixed among them."""


Tried = Callable[[Mapping[str, str]], Sequence[Said] | None]
"""What packs know of a request with some labels, always in the same order; None when one of them refuses it."""

_ABSENT = LabelValue(None)
_PREFIX = "labels."


@dataclass(frozen=True, slots=True)
class Goal:
    """That a rule of a pack applies to a request, or that it doesn't.

    Attributes:
        pack: The number of the pack.
        facts: The request, whatever its labels.
        when: The requests that the rule applies to.
        if_unknown: Whether it applies where that is unknown.
        wanted: Whether it is to apply.
    """

    pack: int
    facts: RequestFacts
    when: Compiled
    if_unknown: bool
    wanted: bool


@dataclass(frozen=True, slots=True)
class Labelling:
    """The combinations of labels that matter to a request.

    Attributes:
        keys: The keys, sorted.
        values: For each key, the classes of its values.
        combinations: One class of each key each; those with the fewest labels first.
        total: How many combinations there are, whether they are listed or not.
        bare: The labels of a request that gives none, under each pack.
        known: For each key and each class of its values, what each pack takes it for; None: for nothing.
        incomplete: The keys whose globs are too many or too long to find all classes of values.
    """

    keys: tuple[str, ...]
    values: tuple[tuple[LabelValues, ...], ...]
    combinations: tuple[Combination, ...]
    total: int
    bare: tuple[Mapping[str, str], ...]
    known: Mapping[tuple[str, LabelValues], tuple[str | None, ...]]
    incomplete: tuple[str, ...] = ()

    def given(self, combination: Combination) -> dict[str, str]:
        """What a request of a combination has to say: nothing under keys that may be left out."""
        return {
            key: values[0].text
            for key, values in zip(self.keys, combination, strict=True)
            if values[0].text is not None and _ABSENT not in values
        }

    def labels(self, combination: Combination, pack: int) -> dict[str, str]:
        """What a pack knows of a request with such labels: defaults, and what the capability fixes, among them."""
        found: dict[str, str | None] = dict(self.bare[pack])
        for key, values in zip(self.keys, combination, strict=True):
            found[key] = self.known[key, values][pack]
        return {key: text for key, text in found.items() if text is not None}

    def starting_with(self, first: Iterable[Combination]) -> "Labelling":
        """The same with some combinations before the others, so that these are not cut."""
        chosen = dict.fromkeys((*first, *self.combinations))
        return replace(self, combinations=tuple(islice(chosen, MOST_COMBINATIONS)))

    def meeting(self, goals: Sequence[Goal]) -> Combination | None:
        """The first combination that meets all of some goals, with the first class of every key they leave open.

        Keys are settled one by one, and no further where a goal is out of reach: a conjunction takes as many steps
        as its keys have values. The search ends after a bounded number of steps, as if there were none.
        """
        fields = {name for goal in goals for name in goal.when.fields}
        places = [place for place, key in enumerate(self.keys) if f"{_PREFIX}{key}" in fields]
        first = [classes[0] for classes in self.values]
        steps = _MOST_STEPS
        chosen: list[LabelValues] = []
        waiting = [iter(self.values[place]) for place in places[:1]]
        if not places:
            return tuple(first) if all(self._reached(goal, (), ()) for goal in goals) else None
        while waiting and steps:
            steps -= 1
            values = next(waiting[-1], None)
            if values is None:
                waiting.pop()
                if chosen:
                    chosen.pop()
                continue
            settled = (*chosen, values)
            reached = [self._reached(goal, places, settled) for goal in goals]
            if False in reached:
                continue
            if len(settled) == len(places):
                for place, each in zip(places, settled, strict=True):
                    first[place] = each
                return tuple(first)
            chosen.append(values)
            waiting.append(iter(self.values[places[len(chosen)]]))
        return None

    def _reached(self, goal: Goal, places: Sequence[int], settled: Sequence[LabelValues]) -> bool | None:
        """Whether a goal is met once the labels of some keys are settled; None while that is open."""
        labels: dict[str, str | None] = dict(self.bare[goal.pack])
        labels.update((self.keys[place], None) for place in places)
        for place, values in zip(places, settled, strict=False):
            labels[self.keys[place]] = self.known[self.keys[place], values][goal.pack]
        facts = replace(goal.facts, labels={key: text for key, text in labels.items() if text is not None})
        value = goal.when.value(facts.observed(goal.when.fields))
        if value is None:
            if len(settled) < len(places):
                return None
            value = goal.if_unknown
        return value is goal.wanted


def labelling(leaves: Iterable[Leaf], tried: Tried) -> Labelling:
    """The combinations of labels that some comparisons tell apart.

    Args:
        leaves: The comparisons.
        tried: What a request with some labels comes to under each pack; None when one of them refuses it.
    """
    by_key: dict[str, dict[Leaf, None]] = {}
    for leaf in leaves:
        if leaf.field.startswith(_PREFIX):
            by_key.setdefault(leaf.field[len(_PREFIX) :], {})[leaf] = None
    keys: list[str] = []
    incomplete: list[str] = []
    classes: list[tuple[LabelValues, ...]] = []
    for key in sorted(by_key):
        found, complete = _classes(key, tuple(by_key[key]), tried)
        if not complete:
            incomplete.append(key)
        if len(found) > 1:
            keys.append(key)
            classes.append(found)
    combined = tuple(islice(_combinations(classes), MOST_COMBINATIONS))
    bare = tuple(each.labels for each in tried({}) or ())
    known: dict[tuple[str, LabelValues], tuple[str | None, ...]] = {}
    for key, found in zip(keys, classes, strict=True):
        for values in found:
            text = values[0].text
            known[key, values] = tuple(
                each.labels.get(key) for each in tried({} if text is None else {key: text}) or ()
            )
    total = prod(map(len, classes))
    return Labelling(tuple(keys), tuple(classes), combined, total, bare, known, tuple(incomplete))


def _classes(key: str, leaves: Sequence[Leaf], tried: Tried) -> tuple[tuple[LabelValues, ...], bool]:
    """The values of a key, those that no comparison tells apart together, and whether these are all.

    The class of what is absent comes first.
    """
    tests = [(leaf.field, compiled(leaf, {}, ())) for leaf in leaves]

    @cache
    def judged(text: str | None) -> tuple[bool | None, ...]:
        return tuple(test.value({field: text}) for field, test in tests)

    found: dict[tuple[Any, ...], list[LabelValue]] = {}
    bare = tried({})
    mentioned: list[str] = []
    for pack in bare or ():
        mentioned += _declared(pack.pack, key)
        if key in pack.labels:
            mentioned.append(pack.labels[key])  # the one value that a request may name where a capability fixes it
    globs: list[str] = []
    for leaf in leaves:
        match leaf.op:
            case "like" if "*" in leaf.wanted or "?" in leaf.wanted:
                globs.append(leaf.wanted)
            case "eq" | "ne" | "like":
                mentioned.append(leaf.wanted)
            case "in" | "notIn":
                mentioned += leaf.wanted
            case _:
                pass
    mentioned = list(dict.fromkeys(mentioned))
    values = [_ABSENT, *map(LabelValue, mentioned)]
    other = "x"
    while other in mentioned:
        other += "x"
    complete = True
    if tried({key: other}) is not None:  # a pack that declares labels takes its own values alone
        there = text_classes(globs, mentioned)
        constants = [each for each in there.classes if each.constant]
        values += [_of_class(each, constants) for each in there.classes if not each.constant]
        complete = there.complete
    for value in values:
        resolved = tried({} if value.text is None else {key: value.text})
        if resolved is None:
            continue
        seen = tuple(judged(each.labels.get(key)) for each in resolved)
        found.setdefault(seen, []).append(value)
    # A request that names a value tells more than one that leaves it to the default.
    classes = (tuple(sorted(each, key=lambda value: value.text is None)) for each in found.values())
    return tuple(classes), complete


def _of_class(texts: TextClass, constants: Iterable[TextClass]) -> LabelValue:
    """What stands for the texts of a class that no comparison mentions."""
    alike = tuple(each.example for each in constants if each.like == texts.like)
    return LabelValue(texts.example, alike, texts.like, texts.unlike)


@lru_cache(maxsize=1024)
def widened(values: LabelValues, everything: LabelValues) -> LabelValues:
    """Some values of a key in fewer words: a glob is left out where what it tells apart is there on both its sides.

    Where there are many kinds of values, they stay as they are.

    Args:
        values: The values.
        everything: All values that the key may have, those that stand for others among them.
    """
    kinds = [frozenset(value.like) for value in everything if value.other]
    if len(kinds) > _MOST_WIDENED:
        return values
    wanted = {frozenset(value.like) for value in values if value.other}
    mentioned = [value.text for value in everything if value.text is not None and not value.other]
    found: dict[LabelValue, None] = {}
    covered: set[frozenset[str]] = set()
    for value in values:
        if not value.other:
            found[value] = None
            continue
        if frozenset(value.like) in covered:
            continue
        like, unlike = list(value.like), list(value.unlike)
        for side in (unlike, like):
            for each in tuple(side):
                side.remove(each)
                if not wanted.issuperset(_fitting(kinds, like, unlike)):
                    side.append(each)
        covered.update(_fitting(kinds, like, unlike))
        but = tuple(
            text
            for text in mentioned
            if all(glob(each)(text) for each in like) and not any(glob(each)(text) for each in unlike)
        )
        found[LabelValue(value.text, but, tuple(like), tuple(unlike))] = None
    return tuple(found)


def _fitting(kinds: Iterable[frozenset[str]], like: Sequence[str], unlike: Sequence[str]) -> list[frozenset[str]]:
    """Those of some sets of globs that have all of some and none of others."""
    return [kind for kind in kinds if kind.issuperset(like) and kind.isdisjoint(unlike)]


def _declared(pack: Pack, key: str) -> Iterable[str]:
    return () if pack.labels is None or key not in pack.labels else pack.labels[key].value.values


def _combinations(classes: Sequence[Sequence[LabelValues]]) -> Iterator[Combination]:
    """One class of each key each: first the first ones, then what differs from these under one key, and so on."""
    first = [each[0] for each in classes]
    for count in range(len(classes) + 1):
        for places in combinations(range(len(classes)), count):
            for chosen in product(*(classes[place][1:] for place in places)):
                combination = list(first)
                for place, values in zip(places, chosen, strict=True):
                    combination[place] = values
                yield tuple(combination)


def resolving(
    packs: Sequence[Pack], tenant: str, capability: str | Mapping[str, Any]
) -> Callable[[Mapping[str, str]], Sequence[Resolved] | None]:
    """What requests of a tenant for a capability come to under each pack; None when one of them refuses the labels.

    What the operator sets is set in his place.
    """

    def tried(labels: Mapping[str, str]) -> Sequence[Resolved] | None:
        found: list[Resolved] = []
        for pack in packs:
            given, operator = pack.split_labels(labels)
            try:
                found.append(pack.resolve(tenant, capability, labels=given, operator_labels=operator))
            except InvalidRequestError:
                return None
        return found

    return tried
