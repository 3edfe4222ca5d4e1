"""One of the two packs, made ready to route any request of any of its tenants on sets of candidates."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...basics.bits import positions
from ...basics.computed import remembered
from ...basics.issues import shown
from ...constraints.named import NamedConstraint, Origin, compile_constraints
from ...constraints.rule_terms import Ordering, RuleSet, RuleTerm, Wish
from ...constraints.rulebook import Entry, InForce, RequestFacts
from ...constraints.three_valued import Call, EvalContext
from ...model.capability import Capability, FeatureNeed
from ...model.condition import AllOf, AnyOf, Is, Leaf, Node, Not
from ...model.rule import Rule
from ...model.timestamps import Moment, is_within
from ...solving.ranking import Scores, Weights, rank
from ..load.pack import Pack, PolicyInForce, Resolved

__all__ = ["Asked", "Outcome", "Rejecting", "ShadowOutcome", "Side", "TenantSide", "facts_of"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for, under one of the packs.

    Attributes:
        capability: The declaration.
        name: The capability's name; None for a declaration of the request's own.
        call: The tokens of the call, where they are known.
        labels: What is known of the request.
        preferred_provider: The provider hint.
        preferred_model: The model hint.
    """

    capability: Capability
    name: str | None
    call: Call | None
    labels: Mapping[str, str]
    preferred_provider: str | None
    preferred_model: str | None

    @classmethod
    def of(cls, resolved: Resolved) -> "Asked":
        """What a resolved request asks for."""
        entry = resolved.entry
        tokens = None if entry is None else entry.tokens
        return cls(
            resolved.capability,
            None if entry is None else entry.name,
            None if tokens is None else Call.of(tokens.prompt, tokens.completion),
            resolved.labels,
            resolved.preferred_provider,
            resolved.preferred_model,
        )


@dataclass(frozen=True, slots=True)
class ShadowOutcome:
    """What enforcing the rules that are only tried out would give.

    Attributes:
        pick: The number of the pick; None when nothing would qualify.
        by: The ids of the rules that make the difference.
    """

    pick: int | None
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a request comes to, in the numbers of the side's candidates.

    Attributes:
        admitted: The candidates that qualify, fallbacks among them.
        pick: The pick; None when nothing qualifies.
        fallback: Whether only fallback providers qualify.
        shadow: What shadow rules would give; None when none is in force.
    """

    admitted: int
    pick: int | None
    fallback: bool
    shadow: ShadowOutcome | None


@dataclass(frozen=True, slots=True)
class Rejecting:
    """A constraint of a side, to compare with one of the other.

    Attributes:
        id: Its id; `onlyTenants` stands for providers that are kept for other tenants.
        label: Its text.
        owner: `caller`, `policy`, `rule` or, for `onlyTenants`, `catalog`.
        admitted: The candidates that it admits.
        same: What makes it the same on the other side.
        because: Why there is this rule.
        contact: Whom to ask.
        origins: Where it is written.
        waivers: The waivers that lift it.
    """

    id: str
    label: str
    owner: str
    admitted: int
    same: Any = field(compare=False)
    because: str | None = None
    contact: str | None = None
    origins: tuple[Origin, ...] = ()
    waivers: tuple[str, ...] = ()


_KEPT = 4096
"""For how many requests that rules tell apart, and how many declarations, what was found out is kept."""


@dataclass(slots=True)
class _InForce:
    """Which rules with a `when` apply to requests that they don't tell apart: as far as it was asked."""

    asked: int = 0
    holds: int = 0


class Side:
    """A pack with all candidates of all its tenants in one catalog, and all its rules in one book.

    The order of candidates does not depend on who else is there: a tenant that sees some of them has the same picks.

    Attributes:
        pack: The pack.
        catalog: All its candidates.
    """

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        self.catalog = pack.everything
        book = pack.book
        self.regions = book.regions
        self.entries = book.entries
        self.numbers = {entry.rule.name: number for number, entry in enumerate(book.entries)}
        self.of_call = frozenset(number for number, entry in enumerate(book.entries) if _prices_calls(entry))
        self._dated: dict[Moment, tuple[int, int]] = {}
        self._looked_at = tuple(
            dict.fromkeys(
                name.partition(".")[2]
                for entry in book.entries
                if entry.when is not None
                for name in entry.when.fields
                if name.startswith("labels.")
            )
        )
        self._in_force: dict[tuple[Any, ...], _InForce] = {}
        self._callers: dict[Capability, tuple[NamedConstraint, ...]] = {}
        self._terms: dict[tuple[int, Call | None, tuple[str, ...]], tuple[RuleTerm, int]] = {}
        self._preferences: dict[tuple[int, Call | None], Wish | Ordering | None] = {}
        self._tenants: dict[tuple[str, Moment], TenantSide] = {}

    def context(self, call: Call | None) -> EvalContext:
        """What conditions depend on for a call."""
        return EvalContext(self.regions, call)

    def dated(self, at: Moment) -> tuple[int, int]:
        """The rules whose dates cover a time: those that apply to every request, and those that have a `when`."""
        found = self._dated.get(at)
        if found is None:
            always = conditional = 0
            for number, entry in enumerate(self.entries):
                if is_within(at, entry.since, entry.until):
                    if entry.when is None:
                        always |= 1 << number
                    else:
                        conditional |= 1 << number
            found = self._dated[at] = always, conditional
        return found

    def applying(self, asked: Asked, rules: int, at: Moment) -> int:
        """Those of some rules with a `when`, whose dates cover the time, that apply to a request."""
        if not rules:
            return 0
        facts = facts_of(asked)
        labels = tuple(map(asked.labels.get, self._looked_at))
        key = facts.kind, facts.features, facts.capability, labels
        known = remembered(self._in_force, key, _KEPT, _InForce)
        missing = rules & ~known.asked
        if missing:
            for number in positions(missing):
                if self.entries[number].applies(facts):
                    known.holds |= 1 << number
            known.asked |= missing
        return known.holds & rules

    def callers(self, capability: Capability) -> tuple[NamedConstraint, ...]:
        """The kind check and the needs of a declaration."""
        return remembered(
            self._callers,
            capability,
            _KEPT,
            lambda: tuple(compile_constraints(capability, None, self.catalog, regions=self.regions)),
        )

    def clauses(self, policy: PolicyInForce) -> tuple[NamedConstraint, ...]:
        """The clauses of a policy."""
        constraints = compile_constraints(
            _NOTHING_ASKED, policy.clauses, self.catalog, regions=self.regions, origins=policy.origins
        )
        return tuple(constraints)[1:]

    def term(self, number: int, call: Call | None, lifts: tuple[str, ...]) -> tuple[RuleTerm, int]:
        """What a rule that requires or forbids compares when some of its waivers hold, and whom it admits."""
        if number not in self.of_call:
            call = None
        key = number, call, lifts
        found = self._terms.get(key)
        if found is None:
            entry = self.entries[number]
            if entry.condition is None:
                raise ValueError(f"{shown(entry.rule.name)} orders, and rejects nobody")
            lifting = [lift for lift in entry.lifts if lift.waiver.name in lifts]
            term = RuleTerm.of(entry, entry.condition, lifting, self.context(call))
            found = self._terms[key] = term, term.admitted(self.catalog)
        return found

    def preference(self, number: int, call: Call | None) -> Wish | Ordering | None:
        """What a rule that prefers adds to the ranking; None when nothing is known of what it orders by."""
        if number not in self.of_call:
            call = None
        key = number, call
        if key not in self._preferences:
            alone = RuleSet.of([InForce(number, self.entries[number], ())], self.context(call))
            active = alone.over(self.catalog)
            found: list[Wish | Ordering] = [*active.all_wishes, *active.all_orderings]
            self._preferences[key] = found[0] if found else None
        return self._preferences[key]

    def tenant(self, name: str, at: Moment) -> "TenantSide":
        """The tenant's policy, ready to be applied to requests of a time.

        Raises:
            UnknownTenantError: The pack doesn't name it.
        """
        key = name, at
        found = self._tenants.get(key)
        if found is None:
            found = self._tenants[key] = TenantSide(self, self.pack.policy(name), at)
        return found


def facts_of(asked: Asked) -> RequestFacts:
    """What rules may look at in a request; waivers, which go by the tenant, are no matter of these."""
    features = tuple(need.feature for need in asked.capability.needs if isinstance(need, FeatureNeed))
    return RequestFacts(asked.capability.kind, features, asked.name, asked.labels, None)


_NOTHING_ASKED = Capability.model_construct(needs=())


@dataclass(frozen=True, slots=True)
class _Plan:
    """A tenant's rules for calls of one size, each with what it does.

    Attributes:
        within: The candidates that clauses and the rules for every request admit.
        enforced: The rules that reject, in order: their numbers, each with whom it admits.
        conditional: Those of them that are not for every request.
        shadows: Likewise, those that are only tried out, whether for every request or not.
        preferring: The rules that prefer.
    """

    within: int
    enforced: tuple[tuple[int, int], ...]
    conditional: tuple[tuple[int, int], ...]
    shadows: tuple[tuple[int, int], ...]
    preferring: tuple[tuple[int, Wish | Ordering], ...]


class TenantSide:
    """What holds for a tenant of a side at a time.

    Attributes:
        side: The side.
        policy: What holds.
        at: The time.
        attached: Its rules whose dates cover the time, in order, as numbers of the side's entries.
        clauses: The constraints of its clauses.
        visible: The candidates that it sees.
    """

    def __init__(self, side: Side, policy: PolicyInForce, at: Moment) -> None:
        self.side = side
        self.policy = policy
        self.at = at
        always, conditional = side.dated(at)
        numbers = [side.numbers[each.rule.name] for each in policy.rules]
        self.attached = tuple(number for number in numbers if (always | conditional) >> number & 1)
        mask = 0
        for number in self.attached:
            mask |= 1 << number
        self._always, self._conditional = always & mask, conditional & mask
        self._lifts = {
            number: tuple(
                lift.waiver.name for lift in side.entries[number].lifts if lift.is_in_force(policy.tenant, at)
            )
            for number in self.attached
            if side.entries[number].lifts
        }
        self.clauses = side.clauses(policy)
        self.visible = side.catalog.all()
        for provider in side.pack.providers.values():
            if not provider.value.visible_to(policy.tenant):
                self.visible &= ~side.catalog.of_provider(provider.name)
        self._counts_calls = any(number in side.of_call for number in self.attached)
        self._plans: dict[Call | None, _Plan] = {}
        self._rules: dict[tuple[int, Call | None], Rejecting] = {}

    def likeness(self) -> tuple[Any, ...]:
        """What its answers come of, beside the catalog and the request: equal on two sides whose answers are, too."""
        return self.side.regions, self.visible, self.policy.clauses, tuple(self.rules().items())

    def rules(self) -> dict[str, tuple[Any, ...]]:
        """What each of its rules says that answers depend on, by its name and in order."""
        found: dict[str, tuple[Any, ...]] = {}
        for number in self.attached:
            entry = self.side.entries[number]
            rule, lifting = entry.rule, self._lifts.get(number, ())
            lifts = tuple((lift.waiver.name, lift.admits) for lift in entry.lifts if lift.waiver.name in lifting)
            what = rule.effect, rule.shadow, rule.weight, rule.order
            found[rule.name] = *what, entry.condition, entry.when, lifts
        return found

    def when_leaves(self) -> Iterator[Leaf]:
        """The comparisons by which its rules tell requests apart."""
        for number in self.attached:
            when = self.side.entries[number].when
            if when is not None:
                yield from leaves(when.node)

    def _plan(self, call: Call | None) -> _Plan:
        if not self._counts_calls:
            call = None
        found = self._plans.get(call)
        if found is None:
            within = self.visible
            for clause in self.clauses:
                within &= clause.admitted
            enforced: list[tuple[int, int]] = []
            shadows: list[tuple[int, int]] = []
            preferring: list[tuple[int, Wish | Ordering]] = []
            for number in self.attached:
                rule = self.side.entries[number].rule
                if rule.effect == "prefer":
                    preference = self.side.preference(number, call)
                    if preference is not None:
                        preferring.append((number, preference))
                    continue
                _, admitted = self.side.term(number, call, self._lifts.get(number, ()))
                if rule.shadow:
                    shadows.append((number, admitted))
                    continue
                enforced.append((number, admitted))
                if self._always >> number & 1:
                    within &= admitted
            conditional = tuple(each for each in enforced if not self._always >> each[0] & 1)
            found = _Plan(within, tuple(enforced), conditional, tuple(shadows), tuple(preferring))
            self._plans[call] = found
        return found

    def in_force(self, asked: Asked) -> int:
        """The rules that apply to a request, as a set of numbers of the side's entries."""
        return self._always | self.side.applying(asked, self._conditional, self.at)

    def outcome(self, asked: Asked, in_force: int) -> Outcome:
        """What a request comes to under the rules that apply to it."""
        plan = self._plan(asked.call)
        left = plan.within
        for constraint in self.side.callers(asked.capability):
            left &= constraint.admitted
        for number, admitted in plan.conditional:
            if in_force >> number & 1:
                left &= admitted
        shadows = [each for each in plan.shadows if in_force >> each[0] & 1]
        preferring = [each for number, each in plan.preferring if in_force >> number & 1]
        enforced = [each for each in preferring if not each.rule.shadow]
        pick, fallback = self._pick(left, asked, enforced)
        if not shadows and len(enforced) == len(preferring):
            return Outcome(left, pick, fallback, None)
        return Outcome(left, pick, fallback, self._shadow(left, asked, shadows, preferring))

    def _pick(self, members: int, asked: Asked, preferring: Iterable[Wish | Ordering]) -> tuple[int | None, bool]:
        if not members:
            return None, False
        preferring = list(preferring)
        wishes = [each for each in preferring if isinstance(each, Wish)]
        weights = Weights.of(asked.capability.prefer, [wish.weight for wish in wishes])
        ranking = rank(
            members,
            self.side.catalog,
            Scores.of(weights, self.side.catalog, wishes),
            asked.preferred_provider,
            asked.preferred_model,
            orders=[each for each in preferring if isinstance(each, Ordering)],
        )
        return ranking.best(), ranking.fallback

    def _shadow(
        self, survivors: int, asked: Asked, shadows: Iterable[tuple[int, int]], preferring: Iterable[Wish | Ordering]
    ) -> ShadowOutcome:
        left = survivors
        named: set[str] = set()
        for number, admitted in shadows:
            left &= admitted
            if survivors & ~admitted:
                named.add(self.side.entries[number].rule.name)
        for each in preferring:
            tells = each.members & survivors if isinstance(each, Wish) else each.tells(survivors)
            if each.rule.shadow and tells:
                named.add(each.rule.name)
        pick, _ = self._pick(left, asked, preferring)
        rules = (self.side.entries[number].rule.name for number in self.attached)
        return ShadowOutcome(pick, tuple(f"rules/{name}" for name in rules if name in named))

    def preferring(self, asked: Asked, in_force: int) -> tuple[Rule, ...]:
        """The rules that prefer and apply to a request, in order; those that are only tried out are left out."""
        rules = [(number, self.side.entries[number].rule) for number in self.attached]
        return tuple(
            rule for number, rule in rules if rule.effect == "prefer" and not rule.shadow and in_force >> number & 1
        )

    def rejecting(self, members: int, asked: Asked, in_force: int) -> Iterator[Rejecting]:
        """The constraints that reject some of a set, in the contract's order; before them, what hides some."""
        for constraint in self._constraints(asked, in_force, members):
            if members & ~constraint.admitted:
                yield constraint

    def like(self, constraint: Rejecting, asked: Asked, in_force: int) -> Rejecting | None:
        """The constraint of this side that stands for one of the other; None where it has none.

        A need is known by what it says, since its place may be another; everything else by its id.
        """
        name = constraint.id
        if name.startswith("rules/"):
            number = self.side.numbers.get(name.removeprefix("rules/"))
            if number is None or not in_force >> number & 1:
                return None
            rule = self.side.entries[number].rule
            return None if rule.shadow or rule.effect == "prefer" else self._rule(number, asked)
        others = [*self._callers(asked), *self._clauses()]
        if name.startswith("needs/"):
            needs = [each for each in others if each.id.startswith("needs/")]
            same = next((each for each in needs if each.same == constraint.same), None)
            place = next((each for each in needs if each.id == name), None)
            return same or (place if place is not None and type(place.same) is type(constraint.same) else None)
        if name == "onlyTenants":
            return None
        return next((each for each in others if each.id == name), None)

    def _constraints(self, asked: Asked, in_force: int, members: int) -> Iterator[Rejecting]:
        hidden = members & ~self.visible
        if hidden:
            for provider in self.side.pack.providers.values():
                of_provider = self.side.catalog.of_provider(provider.name)
                if hidden & of_provider:
                    origin = provider.piece.inner("onlyTenants").origin
                    yield Rejecting("onlyTenants", "onlyTenants", "catalog", ~of_provider, None, origins=(origin,))
        yield from self._callers(asked)
        yield from self._clauses()
        for number, admitted in self._plan(asked.call).enforced:
            if members & ~admitted and in_force >> number & 1:
                yield self._rule(number, asked)

    def _callers(self, asked: Asked) -> Iterator[Rejecting]:
        entry = None if asked.name is None else self.side.pack.capabilities[asked.name]
        for index, constraint in enumerate(self.side.callers(asked.capability)):
            origins: tuple[Origin, ...] = ()
            if entry is not None:
                tokens: tuple[str | int, ...] = ("needs", index - 1) if index else ("kind",)
                origins = (entry.piece.inner(*tokens).origin,)
            yield Rejecting(
                constraint.id, constraint.label, "caller", constraint.admitted, constraint.term, origins=origins
            )

    def _clauses(self) -> Iterator[Rejecting]:
        for constraint in self.clauses:
            yield Rejecting(
                constraint.id,
                constraint.label,
                "policy",
                constraint.admitted,
                constraint.term,
                contact=self.policy.contacts.get(constraint.id),
                origins=constraint.origins,
            )

    def _rule(self, number: int, asked: Asked) -> Rejecting:
        # What a comparison of costs means depends on the call, and one of regions on the groups.
        call = asked.call if number in self.side.of_call else None
        found = self._rules.get((number, call))
        if found is not None:
            return found
        lifts = self._lifts.get(number, ())
        term, admitted = self.side.term(number, call, lifts)
        rule = term.rule
        groups = self.side.regions if "region" in term.fields else None
        name = f"rules/{rule.name}"
        found = self._rules[number, call] = Rejecting(
            name,
            term.label,
            "rule",
            admitted,
            (term, groups, call if "callUsd" in term.fields else None),
            because=rule.because,
            contact=rule.owner,
            origins=tuple(self.policy.origins.get(name, ())),
            waivers=lifts,
        )
        return found


def _prices_calls(entry: Entry) -> bool:
    """Whether what a rule comes to may depend on the call."""
    conditions = [lift.admits for lift in entry.lifts]
    if entry.condition is not None:
        conditions.append(entry.condition)
    ordering = entry.rule.order is not None and entry.rule.order.field == "callUsd"
    return ordering or any("callUsd" in each.fields for each in conditions)


def leaves(node: Node) -> Iterator[Leaf]:
    """The comparisons of a condition that names no other."""
    steps = [node]
    while steps:
        match steps.pop():
            case Leaf() as leaf:
                yield leaf
            case AllOf(parts) | AnyOf(parts):
                steps += reversed(parts)
            case Not(part):
                steps.append(part)
            case Is():
                pass
