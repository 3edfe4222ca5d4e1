"""One of the two packs: any request of any of its tenants, solved over all its candidates, and what rejects some."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ...constraints.named import NamedConstraint, Origin
from ...constraints.rule_terms import RuleTerm
from ...constraints.rulebook import Entry, RequestFacts, in_force
from ...constraints.three_valued import PRICE_OF_CALL, Call
from ...model.capability import Capability
from ...model.condition import AllOf, AnyOf, Is, Leaf, Node, Not
from ...model.rule import Rule
from ...model.timestamps import Moment
from ...solving.request import RequestTerms, Solved
from ..load.pack import Pack
from ..load.resolved import Resolved

__all__ = ["PackView", "Rejecting", "RouteFacts", "capability_of", "preferring"]


@dataclass(frozen=True, slots=True)
class RouteFacts:
    """What a request asks for, under one of the packs, for any tenant.

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
    def of(cls, resolved: Resolved) -> "RouteFacts":
        """What a resolved request asks for."""
        entry = resolved.entry
        return cls(
            resolved.capability,
            resolved.name,
            None if entry is None else entry.call,
            resolved.labels,
            resolved.preferred_provider,
            resolved.preferred_model,
        )

    @property
    def facts(self) -> RequestFacts:
        """What rules may look at in the request; waivers, which go by the tenant, are no matter of these."""
        return RequestFacts.of(self.capability, self.name, self.labels)


@dataclass(frozen=True, slots=True)
class Rejecting:
    """A constraint of a pack, to compare with one of the other.

    Attributes:
        id: Its id; `onlyTenants` stands for providers that are kept for other tenants.
        label: Its text.
        owner: `caller`, `policy`, `rule` or, for `onlyTenants`, `catalog`.
        admitted: The candidates that it admits.
        same: What makes it the same in the other pack.
        because: Why there is this rule.
        contact: The contact.
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


class PackView:
    """A pack as it is for one tenant at a time.

    All candidates of the pack are numbered together: their order does not depend on who else is there, so a tenant that
    sees some of them has the same picks.

    Attributes:
        pack: The pack.
        catalog: All its candidates.
        policy: What holds.
        at: The time.
        attached: The tenant's rules whose dates cover the time, in order, each with the waivers that do.
        visible: The candidates that it sees.

    Raises:
        UnknownTenantError: The pack doesn't name it.
    """

    def __init__(self, pack: Pack, tenant: str, at: Moment) -> None:
        self.pack = pack
        self.catalog = pack.everything
        self.policy = pack.policy(tenant)
        self.at = at
        self.attached = in_force(enumerate(pack.rulebook(tenant).entries), at)
        hidden = [each.name for each in pack.providers.values() if not each.value.visible_to(tenant)]
        self.visible = self.catalog.all() & ~self.catalog.having("provider", hidden)

    def likeness(self) -> tuple[Any, ...]:
        """What its answers come of, beside the catalog and the request: equal in packs whose answers are, too."""
        return self.pack.groups, self.visible, self.policy.clauses, tuple(self.rules.items())

    @cached_property
    def rules(self) -> dict[str, tuple[Any, ...]]:
        """What each of its rules says that answers depend on, by its name and in order."""
        found: dict[str, tuple[Any, ...]] = {}
        for each in self.attached:
            entry, rule = each.entry, each.entry.rule
            lifts = tuple((lift.waiver.name, lift.admits) for lift in each.lifts)
            what = rule.effect, rule.shadow, rule.weight, rule.order
            found[rule.name] = *what, entry.condition, entry.when, lifts
        return found

    def when_leaves(self) -> Iterator[Leaf]:
        """The comparisons by which its rules tell requests apart."""
        for entry in self._conditional:
            if entry.when is not None:
                yield from _leaves(entry.when.node)

    @cached_property
    def _conditional(self) -> tuple[Entry, ...]:
        return tuple(each.entry for each in self.attached if each.entry.when is not None)

    def in_force(self, asked: RouteFacts) -> tuple[bool, ...]:
        """Which of the rules that have a `when` apply to a request: with the same ones it comes to the same."""
        if not self._conditional:
            return ()
        facts = asked.facts
        return tuple(entry.applies(facts) for entry in self._conditional)

    def solved(self, asked: RouteFacts) -> Solved:
        """A request, solved: those that the tenant sees are left of the candidates."""
        situation = self.pack.view(self.policy.tenant).situation(asked.labels, asked.call, asked.name)
        found = RequestTerms(asked.capability, self.policy.clauses, situation).solved(
            self.catalog,
            self.at,
            preferred_provider=asked.preferred_provider,
            preferred_model=asked.preferred_model,
        )
        return replace(found, survivors=found.survivors & self.visible)

    def rejecting(self, members: int, solved: Solved) -> Iterator[Rejecting]:
        """The constraints that reject some of a set, in the contract's order; before them, what hides some."""
        hidden = members & ~self.visible
        if hidden:
            for provider in self.pack.providers.values():
                of_provider = self.catalog.of_provider(provider.name)
                if hidden & of_provider:
                    origin = provider.piece.inner("onlyTenants").origin
                    yield Rejecting("onlyTenants", "onlyTenants", "catalog", ~of_provider, None, origins=(origin,))
        for number, admitted in enumerate(solved.constraints.admitted):
            if members & ~admitted:
                yield self._compared(solved.constraints[number], solved)

    def like(self, constraint: Rejecting, solved: Solved) -> Rejecting | None:
        """The constraint of this pack that stands for one of the other; None where it has none.

        A need is known by what it says, since its place may be another; everything else by its id.
        """
        ids = solved.constraints.ids
        place = solved.constraints[ids.index(constraint.id)] if constraint.id in ids else None
        if constraint.id.startswith("needs/"):
            needs = [each for each in solved.constraints if each.id.startswith("needs/")]
            place = next((each for each in needs if each.term == constraint.same), place)
            if place is not None and type(place.term) is not type(constraint.same):
                return None
        return None if place is None else self._compared(place, solved)

    def _compared(self, constraint: NamedConstraint, solved: Solved) -> Rejecting:
        term = constraint.term
        same: Any = term
        origins, waivers = constraint.origins, tuple[str, ...]()
        if isinstance(term, RuleTerm):
            # What a comparison of costs means depends on the call, and one of regions on the groups.
            call = term.context.call if PRICE_OF_CALL in term.fields else None
            same = term.forbids, term.condition, term.lifted, term.context.regions, call
            waivers = self._waivers[term.rule.name]
        elif constraint.owner == "caller" and (name := capability_of(solved)) is not None:
            kind, _, place = constraint.id.partition("/")
            tokens: tuple[str | int, ...] = (kind, int(place)) if place else (kind,)
            origins = (self.pack.capabilities[name].piece.inner(*tokens).origin,)
        return Rejecting(
            constraint.id,
            constraint.label,
            constraint.owner,
            constraint.admitted,
            same,
            constraint.because,
            constraint.contact,
            origins,
            waivers,
        )

    @cached_property
    def _waivers(self) -> dict[str, tuple[str, ...]]:
        """The waivers that lift each rule."""
        return {each.entry.rule.name: tuple(lift.waiver.name for lift in each.lifts) for each in self.attached}


def capability_of(solved: Solved) -> str | None:
    """The name of the capability that a request is for; None for a declaration of its own."""
    assert solved.situation is not None  # every request of a pack has one
    return solved.situation.capability


def preferring(solved: Solved) -> dict[str, Rule]:
    """The rules that prefer and apply to a request, by name and in order, without those that are only tried out."""
    assert solved.active is not None  # every request of a pack has rules
    rules = solved.active.rules
    found = {rule.name: rule for rule in (*(rule for rule, _ in rules.preferring), *rules.ordering) if not rule.shadow}
    return {name: found[name] for name in rules.names if name in found}


def _leaves(node: Node) -> Iterator[Leaf]:
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
