"""Rules as terms: what a rule compares, what it admits, and which comparisons decided."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from ..basics.bits import BitSlices, from_positions, positions
from ..basics.issues import shown
from ..basics.numbers import Number
from ..catalog.catalog import Catalog
from ..errors import RejectionReason
from ..model.condition import Is
from ..model.metadata import ModelInfo, ProviderMetadata
from ..model.rule import Rule
from .rulebook import Entry, InForce, Lift
from .three_valued import NO_CONTEXT, Call, Compiled, Deciding, EvalContext, Known, observed_value, shown_value
from .violations import violation

__all__ = ["NO_RULES", "ActiveRules", "Ordering", "RuleConstraint", "RuleSet", "RuleTerm", "Wish"]


@dataclass(frozen=True, slots=True)
class RuleTerm:
    """A candidate certainly meets what a rule requires, or certainly not what it forbids, or a waiver lifts the rule.

    Attributes:
        forbids: Whether the condition must certainly not hold, not hold certainly.
        condition: What it requires or forbids.
        lifted: The conditions of the waivers that are in force.
        fields: Every field that one of these looks at.
        rule: The rule.
        context: What they depend on beside the candidate.
    """

    forbids: bool
    condition: Compiled
    lifted: tuple[Compiled, ...]
    fields: tuple[str, ...]
    rule: Rule = field(compare=False)
    context: EvalContext

    @classmethod
    def of(cls, entry: Entry, condition: Compiled, lifts: Sequence[Lift], context: EvalContext) -> "RuleTerm":
        """The term of a rule that is in force, with the waivers that are."""
        lifted: tuple[Compiled, ...] = ()
        fields = condition.fields
        if lifts:
            lifted = tuple(lift.admits for lift in lifts)
            fields = tuple(dict.fromkeys(name for each in (condition, *lifted) for name in each.fields))
        return cls(entry.rule.effect == "forbid", condition, lifted, fields, entry.rule, context)

    @property
    def id(self) -> str:
        """The id of its constraint."""
        return f"rules/{self.rule.name}"

    @property
    def label(self) -> str:
        return f"rule:{self.rule.name}"

    def admitted(self, catalog: Catalog) -> int:
        known = self.context.known(self.condition, catalog)
        found = known.no if self.forbids else known.yes
        for admits in self.lifted:
            found |= self.context.known(admits, catalog).yes
        return found

    def undecided(self, catalog: Catalog) -> int:
        """The candidates that it rejects for want of a fact."""
        known = self.context.known(self.condition, catalog)
        return catalog.all() & ~(known.yes | known.no | self.admitted(catalog))

    def observe(self, provider: ProviderMetadata, model: ModelInfo) -> Hashable:
        call = self.context.call
        return tuple(observed_value(name, provider, model, call) for name in self.fields)

    def observe_all(self, providers: Iterable[ProviderMetadata], models: Iterable[ModelInfo]) -> Iterator[Hashable]:
        return (self.observe(provider, model) for provider, model in zip(providers, models, strict=True))

    def accepts(self, observed: Any) -> bool:
        values = dict(zip(self.fields, observed, strict=True))
        regions = self.context.regions
        value = self.condition.value(values, regions)
        if value is not None and value is not self.forbids:
            return True
        return any(admits.value(values, regions) is True for admits in self.lifted)

    def deciding(self, observed: Any) -> tuple[tuple[Deciding, Hashable], ...]:
        """The comparisons that decided about a candidate with these values, each with the value it looked at."""
        values = dict(zip(self.fields, observed, strict=True))
        found = self.condition.deciding(values, self.context.regions)
        return tuple((each, values[each.leaf.field]) for each in found)

    def unknown_fields(self, observed: Any) -> tuple[str, ...]:
        """The facts for want of which it rejects a candidate with these values, each once."""
        return tuple(dict.fromkeys(each.leaf.field for each, value in self.deciding(observed) if value is None))

    def lacking(self, catalog: Catalog, members: int) -> Iterator[tuple[str, int]]:
        """The facts for want of which it rejects some of a set, each with the candidates, in order."""
        undecided = members & self.undecided(catalog)
        concerned: dict[str, list[int]] = {}
        for number in positions(undecided):
            candidate = catalog.candidate(number)
            for name in self.unknown_fields(self.observe(candidate.metadata, candidate.model)):
                concerned.setdefault(name, []).append(number)
        return ((name, from_positions(numbers, catalog.size)) for name, numbers in concerned.items())

    def reason(self, observed: Any) -> RejectionReason:
        failed = [
            {
                "field": each.leaf.field,
                "observed": shown_value(value),
                "wanted": {"not": _wire(each)} if each.negated is not self.forbids else _wire(each),
            }
            for each, value in self.deciding(observed)
        ]
        values = dict(zip(self.fields, observed, strict=True))
        why = violation(self.condition, values, self.context.regions, forbidden=self.forbids)
        message = f"rule {shown(self.rule.name)} ({self.rule.because.strip().rstrip('.')}): {why}"
        details: dict[str, Any] = {"rule": self.rule.name, "because": self.rule.because}
        if isinstance(self.condition.node, Is):
            details["condition"] = self.condition.node.name
        return RejectionReason("rule-violated", message, {**details, "failed": failed})


def _wire(deciding: Deciding) -> Any:
    """What a comparison compares with, in the grammar's words."""
    leaf = deciding.leaf
    wanted = list(leaf.wanted) if isinstance(leaf.wanted, tuple) else leaf.wanted
    return wanted if leaf.op in ("eq", "in") else {leaf.op: wanted}


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


RuleConstraint = tuple[str, Literal["rule"], RuleTerm]
"""A rule that requires or forbids, before it meets a catalog: its constraint's id, its owner, what it compares."""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules that are in force for a request, before they meet a catalog.

    Attributes:
        names: Their names, in order.
        constraints: Those that require or forbid, as constraints.
        places: The place of each of them in the book.
        shadow_terms: Those that would, but are only tried out.
        preferring: Those that prefer with a weight, each with its condition, shadows included.
        ordering: Those that order equal scores, shadows included.
        context: What their conditions depend on beside the candidates.
    """

    names: tuple[str, ...] = ()
    constraints: tuple[RuleConstraint, ...] = ()
    places: tuple[int, ...] = ()
    shadow_terms: tuple[RuleTerm, ...] = ()
    preferring: tuple[tuple[Rule, Compiled], ...] = ()
    ordering: tuple[Rule, ...] = ()
    context: EvalContext = NO_CONTEXT

    @classmethod
    def of(cls, rules: Iterable[InForce], context: EvalContext) -> "RuleSet":
        """What some rules that are in force come to."""
        names: list[str] = []
        constraints: list[RuleConstraint] = []
        places: list[int] = []
        shadow_terms: list[RuleTerm] = []
        preferring: list[tuple[Rule, Compiled]] = []
        ordering: list[Rule] = []
        for each in rules:
            rule, condition = each.entry.rule, each.entry.condition
            names.append(rule.name)
            if condition is None:
                ordering.append(rule)
            elif rule.effect == "prefer":
                preferring.append((rule, condition))
            else:
                term = RuleTerm.of(each.entry, condition, each.lifts, context)
                if rule.shadow:
                    shadow_terms.append(term)
                else:
                    constraints.append((term.id, "rule", term))
                    places.append(each.place)
        return cls(
            tuple(names),
            tuple(constraints),
            tuple(places),
            tuple(shadow_terms),
            tuple(preferring),
            tuple(ordering),
            context,
        )

    @property
    def terms(self) -> tuple[RuleTerm, ...]:
        """What each of `constraints` compares."""
        return tuple(term for _, _, term in self.constraints)

    @property
    def weights(self) -> tuple[Number, ...]:
        """What candidates gain that meet the rules that prefer, shadows aside, in order."""
        return tuple(rule.weight or 0 for rule, _ in self.preferring if not rule.shadow)

    def over(self, catalog: Catalog) -> "ActiveRules":
        """The rules over a catalog."""
        named: dict[str, Known] = {}
        wishes = [Wish(rule, self.context.known(each, catalog, named).yes) for rule, each in self.preferring]
        orderings = [
            Ordering(rule, _values(rule.order.field, self.context.call, catalog), rule.order.highest is not None)
            for rule in self.ordering
            if rule.order is not None
        ]
        return ActiveRules(
            self,
            tuple(wish for wish in wishes if not wish.rule.shadow),
            tuple(ordering for ordering in orderings if not ordering.rule.shadow),
            tuple(wishes),
            tuple(orderings),
        )


NO_RULES: Final = RuleSet()


@dataclass(frozen=True, slots=True)
class ActiveRules:
    """The rules that are in force for a request, over a catalog.

    Attributes:
        rules: The rules.
        wishes: Those that prefer with a weight; shadows are left out.
        orderings: Those that order; shadows are left out.
        all_wishes: `wishes` with the shadows.
        all_orderings: `orderings` with the shadows.
    """

    rules: RuleSet = NO_RULES
    wishes: tuple[Wish, ...] = ()
    orderings: tuple[Ordering, ...] = ()
    all_wishes: tuple[Wish, ...] = ()
    all_orderings: tuple[Ordering, ...] = ()

    @property
    def has_shadows(self) -> bool:
        """Whether any rule in force is only tried out."""
        return bool(
            self.rules.shadow_terms
            or len(self.wishes) < len(self.all_wishes)
            or len(self.orderings) < len(self.all_orderings)
        )

    def enforced(self) -> "ActiveRules":
        """The same with the preferences and orders that are only tried out, and without those tried out to reject."""
        rules = replace(self.rules, shadow_terms=())
        return ActiveRules(rules, self.all_wishes, self.all_orderings, self.all_wishes, self.all_orderings)


def _values(name: str, call: Call | None, catalog: Catalog) -> BitSlices:
    """The numbers of a field; without a call, what it costs is known of no candidate."""
    if name != "callUsd":
        return catalog.numbers(name)
    return _UNKNOWN if call is None else catalog.call_costs(call.prompt, call.completion).costs


_UNKNOWN = BitSlices((), (), 0)
