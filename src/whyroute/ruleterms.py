"""Rules as terms: what a rule compares, whom it admits, and which comparisons decided."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .bits import BitSlices, from_positions, positions
from .catalog import Catalog
from .errors import RejectionReason
from .issues import shown
from .kleene import Call, Compiled, Deciding, Setting, observed_value, shown_value
from .numbers import Number, ecmascript
from .providers import ModelInfo, ProviderMetadata
from .rulebook import Entry, Lift, RequestFacts, Rulebook
from .rules import Rule

__all__ = ["Applied", "Ordering", "RuleTerm", "Wish", "apply", "told"]


@dataclass(frozen=True, slots=True)
class RuleTerm:
    """A candidate certainly meets what a rule requires, or certainly not what it forbids, or a waiver lifts the rule.

    Attributes:
        forbids: Whether the condition must certainly not hold, not hold certainly.
        condition: What it requires or forbids.
        lifted: The conditions of the waivers that are in force.
        fields: Every field that one of these looks at.
        rule: The rule.
        setting: What they depend on beside the candidate.
    """

    forbids: bool
    condition: Compiled
    lifted: tuple[Compiled, ...]
    fields: tuple[str, ...]
    rule: Rule = field(compare=False)
    setting: Setting = field(compare=False)

    @classmethod
    def of(cls, entry: Entry, condition: Compiled, lifts: Sequence[Lift], setting: Setting) -> "RuleTerm":
        """The term of a rule that is in force, with the waivers that are."""
        lifted = tuple(lift.admits for lift in lifts)
        fields = tuple(dict.fromkeys(name for each in (condition, *lifted) for name in each.fields))
        return cls(entry.rule.effect == "forbid", condition, lifted, fields, entry.rule, setting)

    @property
    def label(self) -> str:
        return f"rule:{self.rule.name}"

    def admitted(self, catalog: Catalog) -> int:
        known = self.setting.known(self.condition, catalog)
        found = known.no if self.forbids else known.yes
        for admits in self.lifted:
            found |= self.setting.known(admits, catalog).yes
        return found

    def undecided(self, catalog: Catalog) -> int:
        """The candidates that it rejects for want of a fact."""
        known = self.setting.known(self.condition, catalog)
        return catalog.all() & ~(known.yes | known.no | self.admitted(catalog))

    def observe(self, provider: ProviderMetadata, model: ModelInfo) -> Hashable:
        call = self.setting.call
        return tuple(observed_value(name, provider, model, call) for name in self.fields)

    def observe_all(self, providers: Iterable[ProviderMetadata], models: Iterable[ModelInfo]) -> Iterator[Hashable]:
        return (self.observe(provider, model) for provider, model in zip(providers, models, strict=True))

    def accepts(self, observed: Any) -> bool:
        values = dict(zip(self.fields, observed, strict=True))
        regions = self.setting.regions
        value = self.condition.value(values, regions)
        if value is not None and value is not self.forbids:
            return True
        return any(admits.value(values, regions) is True for admits in self.lifted)

    def deciding(self, observed: Any) -> tuple[tuple[Deciding, Hashable], ...]:
        """The comparisons that decided about a candidate with these values, each with the value it looked at."""
        values = dict(zip(self.fields, observed, strict=True))
        found = self.condition.deciding(values, self.setting.regions)
        return tuple((each, values[each.leaf.field]) for each in found)

    def unknown_fields(self, observed: Any) -> tuple[str, ...]:
        """The facts for want of which it rejects a candidate with these values, each once."""
        return tuple(dict.fromkeys(each.leaf.field for each, value in self.deciding(observed) if value is None))

    def lacking(self, catalog: Catalog, members: int) -> Iterator[tuple[str, int]]:
        """The facts for want of which it rejects some of a set, each with whom, in the order they are looked at."""
        undecided = members & self.undecided(catalog)
        concerned: dict[str, list[int]] = {}
        for number in positions(undecided):
            candidate = catalog.candidate(number)
            for name in self.unknown_fields(self.observe(candidate.metadata, candidate.model)):
                concerned.setdefault(name, []).append(number)
        return ((name, from_positions(numbers, catalog.size)) for name, numbers in concerned.items())

    def reason(self, observed: Any) -> RejectionReason:
        failed: list[dict[str, Any]] = []
        sentences: list[str] = []
        for each, value in self.deciding(observed):
            negated = each.negated is not self.forbids
            wanted = _wire(each)
            failed.append(
                {
                    "field": each.leaf.field,
                    "observed": shown_value(value),
                    "wanted": {"not": wanted} if negated else wanted,
                }
            )
            sentences.append(told(each, value, negated=negated))
        because = self.rule.because.strip().rstrip(".")
        message = f"rule {shown(self.rule.name)} ({because}): {'; '.join(sentences)}"
        details = {"rule": self.rule.name, "because": self.rule.because, "failed": failed}
        return RejectionReason("rule-violated", message, details)


def _wire(deciding: Deciding) -> Any:
    """What a comparison compares with, in the grammar's words."""
    leaf = deciding.leaf
    wanted = list(leaf.wanted) if isinstance(leaf.wanted, tuple) else leaf.wanted
    return wanted if leaf.op in ("eq", "in") else {leaf.op: wanted}


_VERBS = {
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


def told(deciding: Deciding, value: Hashable, *, negated: bool) -> str:
    """A comparison that decided, in plain words: what the value is, and what it must be; negated: must not be."""
    leaf = deciding.leaf
    if leaf.op == "exists":
        must_be_known = leaf.wanted is not negated
        return f"{shown(leaf.field)} {'is not known; it must be' if must_be_known else 'is known; it must not be'}"
    wanted = ", ".join(map(_text, leaf.wanted if isinstance(leaf.wanted, tuple) else (leaf.wanted,)))
    must = f"must {'not ' if negated else ''}{'have' if isinstance(value, tuple) else 'be'}"
    is_now = "is not known" if value is None else f"is {_text(value)}"
    return f"{shown(leaf.field)} {is_now}; it {must} {_VERBS[leaf.op]}{wanted}"


def _text(value: Any) -> str:
    value = shown_value(value)
    if isinstance(value, list):
        return ", ".join(map(shown, value)) or "empty"
    return ecmascript(value) if isinstance(value, int | float) and not isinstance(value, bool) else shown(value)


@dataclass(frozen=True, slots=True)
class Wish:
    """A rule that prefers, for some candidates.

    Attributes:
        rule: The rule.
        members: The candidates that certainly meet it, as a set.
    """

    rule: Rule
    members: int

    @property
    def weight(self) -> Number:
        """What they gain."""
        return self.rule.weight or 0


@dataclass(frozen=True, slots=True)
class Ordering:
    """A rule that orders candidates of equal score by a number.

    Attributes:
        rule: The rule.
        values: The number of each candidate.
        highest: Whether the highest comes first, not the lowest.
    """

    rule: Rule
    values: BitSlices
    highest: bool

    @property
    def told(self) -> str:
        """What it puts first, in plain words."""
        field = "" if self.rule.order is None else self.rule.order.field
        which = "highest" if self.highest else "lowest"
        return f"rule {shown(self.rule.name)} puts the {which} {shown(field)} first"

    def foremost(self, members: int) -> int:
        """Those of a set that is not empty that come first."""
        return self.values.foremost(members, highest=self.highest)

    def tells(self, members: int) -> bool:
        """Whether it tells some of a set from others."""
        return members != 0 and self.foremost(members) != members


@dataclass(frozen=True, slots=True)
class Applied:
    """The rules that are in force for a request, over a catalog.

    Attributes:
        names: Their names, in order.
        terms: Those that require or forbid, each with its place among the rules.
        shadow_terms: Those of them that are only tried out.
        wishes: Those that prefer with a weight; shadows are left out.
        orderings: Those that order; shadows are left out.
        all_wishes: `wishes` with the shadows.
        all_orderings: `orderings` with the shadows.
    """

    names: tuple[str, ...] = ()
    terms: tuple[tuple[int, RuleTerm], ...] = ()
    shadow_terms: tuple[tuple[int, RuleTerm], ...] = ()
    wishes: tuple[Wish, ...] = ()
    orderings: tuple[Ordering, ...] = ()
    all_wishes: tuple[Wish, ...] = ()
    all_orderings: tuple[Ordering, ...] = ()

    @property
    def has_shadows(self) -> bool:
        """Whether any rule in force is only tried out."""
        return bool(
            self.shadow_terms
            or len(self.wishes) < len(self.all_wishes)
            or len(self.orderings) < len(self.all_orderings)
        )


@dataclass(frozen=True, slots=True)
class _Ready:
    """A rule, taken up under a setting before.

    Attributes:
        shadow: Whether it is only tried out.
        order: The field that it orders by, and whether the highest comes first; None when it does not order.
        prefers: Whether it prefers with a weight.
        term: What it compares where no waiver is in force; None when it prefers.
    """

    shadow: bool
    order: tuple[str, bool] | None
    prefers: bool
    term: RuleTerm | None


def _ready(entry: Entry, setting: Setting) -> _Ready:
    kept = setting.kept.get(id(entry))
    if kept is None:
        rule, order = entry.rule, entry.rule.order
        prefers = rule.effect == "prefer"
        term = None
        if entry.condition is not None and not prefers:
            term = RuleTerm.of(entry, entry.condition, (), setting)
        by = None if order is None else (order.field, order.highest is not None)
        kept = setting.kept[id(entry)] = entry, _Ready(rule.shadow, by, prefers, term)
    ready: _Ready = kept[1]
    return ready


def apply(book: Rulebook, request: RequestFacts, setting: Setting, catalog: Catalog) -> Applied:
    """The rules of a book that are in force for a request, over a catalog."""
    terms: list[tuple[int, RuleTerm]] = []
    shadow_terms: list[tuple[int, RuleTerm]] = []
    wishes: list[tuple[bool, Wish]] = []
    orderings: list[tuple[bool, Ordering]] = []
    names: list[str] = []
    for place, entry in book.in_force(request):
        ready = _ready(entry, setting)
        names.append(entry.rule.name)
        if ready.order is not None:
            field, highest = ready.order
            values = _values(field, setting.call, catalog)
            if values is not None:
                orderings.append((ready.shadow, Ordering(entry.rule, values, highest)))
        elif ready.prefers and entry.condition is not None:
            wishes.append((ready.shadow, Wish(entry.rule, setting.known(entry.condition, catalog).yes)))
        elif ready.term is not None:
            term = ready.term
            if entry.lifts:
                lifts = [lift for lift in entry.lifts if lift.is_in_force(request)]
                if lifts:
                    term = RuleTerm.of(entry, term.condition, lifts, setting)
            (shadow_terms if ready.shadow else terms).append((place, term))
    return Applied(
        tuple(names),
        tuple(terms),
        tuple(shadow_terms),
        tuple(wish for shadow, wish in wishes if not shadow),
        tuple(ordering for shadow, ordering in orderings if not shadow),
        tuple(wish for _, wish in wishes),
        tuple(ordering for _, ordering in orderings),
    )


def _values(name: str, call: Call | None, catalog: Catalog) -> BitSlices | None:
    """The numbers of a field; None when none is known."""
    if name != "callUsd":
        return catalog.numbers(name)
    return None if call is None else catalog.call_costs(call.prompt, call.completion).costs
