"""Rules as terms: what a rule compares, whom it admits, and which comparisons decided."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .bits import BitSlices, from_positions, positions
from .caches import remembered
from .catalog import Catalog
from .errors import RejectionReason
from .issues import shown
from .kleene import Call, Compiled, Deciding, Setting, observed_value, shown_value
from .numbers import Number, ecmascript
from .providers import ModelInfo, ProviderMetadata
from .rulebook import Entry, InForce, Lift, RequestFacts, Rulebook
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
    def id(self) -> str:
        """The id of its constraint."""
        return f"rules/{self.rule.name}"

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


_RuleConstraint = tuple[str, Literal["rule"], RuleTerm]


@dataclass(frozen=True, slots=True)
class Applied:
    """The rules that are in force for a request, over a catalog.

    Attributes:
        names: Their names, in order.
        constraints: Those that require or forbid, as constraints before they meet a catalog.
        places: The place of each of them among the rules.
        admitted: For each of them, the candidates that it admits.
        shadow_terms: Those that would, but are only tried out.
        wishes: Those that prefer with a weight; shadows are left out.
        orderings: Those that order; shadows are left out.
        all_wishes: `wishes` with the shadows.
        all_orderings: `orderings` with the shadows.
    """

    names: tuple[str, ...] = ()
    constraints: tuple[_RuleConstraint, ...] = ()
    places: tuple[int, ...] = ()
    admitted: tuple[int, ...] = ()
    shadow_terms: tuple[RuleTerm, ...] = ()
    wishes: tuple[Wish, ...] = ()
    orderings: tuple[Ordering, ...] = ()
    all_wishes: tuple[Wish, ...] = ()
    all_orderings: tuple[Ordering, ...] = ()

    @property
    def terms(self) -> tuple[RuleTerm, ...]:
        """What each of `constraints` compares."""
        return tuple(term for _, _, term in self.constraints)

    @property
    def has_shadows(self) -> bool:
        """Whether any rule in force is only tried out."""
        return bool(
            self.shadow_terms
            or len(self.wishes) < len(self.all_wishes)
            or len(self.orderings) < len(self.all_orderings)
        )


_APPLIED = 1024
"""For how many requests, as far as rules tell them apart, what the rules come to over a catalog is kept."""


def apply(book: Rulebook, request: RequestFacts, setting: Setting, catalog: Catalog) -> Applied:
    """The rules of a book that are in force for a request, over a catalog.

    What they come to is kept for the next request to which the same apply: for all calls together, where no rule looks
    at what the call costs.
    """
    in_force = book.in_force(request)
    if setting.base is not None and not in_force.counts_calls:
        setting = setting.base
    applied: dict[int, tuple[InForce, Applied]] = setting.over(catalog).applied
    key = id(in_force)
    return remembered(applied, key, _APPLIED, lambda: (in_force, _applied(in_force, setting, catalog)))[1]


def _applied(in_force: InForce, setting: Setting, catalog: Catalog) -> Applied:
    constraints: list[_RuleConstraint] = []
    places: list[int] = []
    admitted: list[int] = []
    shadow_terms: list[RuleTerm] = []
    wishes: list[Wish] = []
    orderings: list[Ordering] = []
    kept = setting.over(catalog).rules
    lifted = in_force.lifts
    for place, entry in zip(in_force.places, in_force.entries, strict=True):
        effect: _Effect
        if place in lifted:
            effect = _effect_of(entry, lifted[place], setting, catalog)
        else:
            known = kept.get(id(entry))
            effect = known[1] if known is not None else _effect(entry, setting, catalog)
        match effect:
            case constraint, members:
                constraints.append(constraint)
                places.append(place)
                admitted.append(members)
            case Wish():
                wishes.append(effect)
            case Ordering():
                orderings.append(effect)
            case RuleTerm():
                shadow_terms.append(effect)
            case None:
                pass
    return Applied(
        tuple(entry.rule.name for entry in in_force.entries),
        tuple(constraints),
        tuple(places),
        tuple(admitted),
        tuple(shadow_terms),
        tuple(wish for wish in wishes if not wish.rule.shadow),
        tuple(ordering for ordering in orderings if not ordering.rule.shadow),
        tuple(wishes),
        tuple(orderings),
    )


_Effect = tuple[_RuleConstraint, int] | RuleTerm | Wish | Ordering | None
"""What a rule comes to: a constraint with whom it admits, what it would compare where it is only tried out, or what it
prefers; None: it has no condition."""


def _effect(entry: Entry, setting: Setting, catalog: Catalog) -> _Effect:
    """What a rule comes to where no waiver is in force, the same for all rulebooks that have it."""
    setting = setting.of(entry.fields)
    kept = setting.over(catalog).rules
    found = kept.get(id(entry))
    if found is None:
        found = kept[id(entry)] = entry, _effect_of(entry, (), setting, catalog)
    effect: _Effect = found[1]
    return effect


def _effect_of(entry: Entry, lifts: Sequence[Lift], setting: Setting, catalog: Catalog) -> _Effect:
    rule, order = entry.rule, entry.rule.order
    if order is not None:
        return Ordering(rule, _values(order.field, setting.call, catalog), order.highest is not None)
    if entry.condition is None:
        return None
    if rule.effect == "prefer":
        return Wish(rule, setting.known(entry.condition, catalog).yes)
    term = RuleTerm.of(entry, entry.condition, lifts, setting)
    return term if rule.shadow else ((term.id, "rule", term), term.admitted(catalog))


def _values(name: str, call: Call | None, catalog: Catalog) -> BitSlices:
    """The numbers of a field; without a call, what it costs is known of no candidate."""
    if name != "callUsd":
        return catalog.numbers(name)
    return _UNKNOWN if call is None else catalog.call_costs(call.prompt, call.completion).costs


_UNKNOWN = BitSlices((), (), 0)
