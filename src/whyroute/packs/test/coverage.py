"""What the tests of a pack reach: which rules and clauses reject somebody in some test, and which never do."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from ...catalog.catalog import Catalog
from ...constraints.named import Origin, compile_constraints
from ...constraints.rule_terms import RuleTerm
from ...constraints.three_valued import Compiled
from ...model.capability import Capability
from ...solving.request import Solved
from ..load.models import Tenant
from ..load.pack import Pack
from ..load.policy import CLAUSES, Part, as_policy, clause_origin, sets_clause

__all__ = ["Coverage", "Covered", "Gatherer", "Subject"]

Subject = Literal["rule", "clause", "waiver", "condition"]
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Covered:
    """A rule, a clause of a part of a policy, a waiver or a named condition, and how many cases reach it.

    Attributes:
        subject: Which of these it is.
        name: The rule's, waiver's or condition's name; of a clause, that of the policy or tenant.
        origin: Where it is written.
        cases: In how many cases a rule that requires or forbids, or a clause, rejects somebody; a rule that prefers
            gives a qualifying candidate its weight, or orders those that qualify; a waiver admits a candidate that its
            rule rejects; a condition that a rule, a waiver or the test asks for certainly holds for somebody, or
            certainly does not.
        clause: The id of the constraint that the clause comes to; empty for what is no clause.
        part: Whether the clause is a policy's or a tenant's own; empty for what is no clause.
        effect: What a rule does: `require`, `forbid` or `prefer`; empty for what is no rule.
        shadow: Whether it is a rule in shadow mode, which is counted by what it would do.
    """

    subject: Subject
    name: str
    origin: Origin
    cases: int
    clause: str = ""
    part: Literal["policy", "tenant", ""] = ""
    effect: str = ""
    shadow: bool = False

    @property
    def reached(self) -> bool:
        """Whether any case reaches it."""
        return self.cases > 0


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the cases of a run reach.

    Attributes:
        items: Rules, then clauses, waivers and conditions, each in the order of the pack.
    """

    items: tuple[Covered, ...]

    def of(self, subject: Subject) -> tuple[Covered, ...]:
        """Those of one kind."""
        return tuple(each for each in self.items if each.subject == subject)

    @property
    def reached(self) -> int:
        """How many are reached."""
        return sum(each.reached for each in self.items)

    @property
    def percent(self) -> float:
        """How many of a hundred are reached; 100 when there is nothing to reach."""
        return percent(self.reached, len(self.items))

    @staticmethod
    def percent_of(items: Iterable[Covered]) -> float:
        """The same of some of them."""
        listed = list(items)
        return percent(sum(each.reached for each in listed), len(listed))


def percent(part: int, whole: int) -> float:
    """A share in percent, to one decimal, never rounded up to all."""
    return 100.0 if part == whole else int(1000 * part / whole) / 10


class Gatherer:
    """Gathers what cases reach. The same request is looked at once, however many cases have it."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._counts: Counter[Key] = Counter()

    def count(self, reached: Iterable[Key]) -> None:
        """Add a case that reaches this."""
        self._counts.update(reached)

    def decided(self, condition: Compiled, solved: Solved) -> frozenset[Key]:
        """The named conditions that a condition asks for and that are certain for somebody."""
        assert solved.situation is not None  # a condition is asked for
        context, found = solved.situation.context, set()
        for at, (name, node) in enumerate(condition.named):
            known = context.known(Compiled(node, condition.named[:at], condition.fields), solved.catalog)
            if known.yes | known.no:
                found.add(("condition", name))
        return frozenset(found)

    def reached(self, solved: Solved) -> frozenset[Key]:
        """What a request reaches."""
        found: set[Key] = set()
        tenant = "" if solved.policy is None else solved.policy.tenant_id
        for part in self._pack.policy(tenant).parts:
            found.update(("clause", *_identity(part), clause) for clause in self._rejecting(part, solved.catalog))
        if solved.active is None:  # a slot of a bundle, where the tenant has no rules
            return frozenset(found)
        found.update(("rule", name) for name in _telling(solved))
        for condition in self._asked(solved, tenant, found):
            if condition.named:
                found |= self.decided(condition, solved)
        return frozenset(found)

    def _asked(self, solved: Solved, tenant: str, found: set[Key]) -> Iterator[Compiled]:
        """The conditions of the rules and waivers that are in force; waivers that are of use are added to `found`."""
        active, situation = solved.active, solved.situation
        assert active is not None  # every request of a pack has them
        assert situation is not None
        assert solved.at is not None
        named = set(active.rules.names)
        for entry in situation.book.entries:
            if entry.rule.name not in named or entry.condition is None:
                continue
            yield entry.condition
            for lift in entry.lifts:
                if lift.is_in_force(tenant, solved.at):
                    yield lift.admits
                    plain = RuleTerm.of(entry, entry.condition, (), situation.context)
                    admits = situation.context.known(lift.admits, solved.catalog).yes
                    if admits & ~plain.admitted(solved.catalog):
                        found.add(("waiver", lift.waiver.name))

    def coverage(self) -> Coverage:
        """What was gathered."""
        return Coverage(tuple(self._items()))

    def _items(self) -> Iterator[Covered]:
        pack, counts = self._pack, self._counts
        for rule in pack.rules.values():
            count = counts["rule", rule.name]
            yield Covered("rule", rule.name, rule.origin, count, effect=rule.value.effect, shadow=rule.value.shadow)
        parts: list[Part] = [*pack.policies.values(), *pack.tenants.values()]
        for part in parts:
            for clause in CLAUSES:
                if sets_clause(part, clause):
                    count = counts["clause", *_identity(part), clause]
                    yield Covered("clause", part.name, clause_origin(part, clause), count, clause, _identity(part)[0])
        for waiver in pack.waivers.values():
            yield Covered("waiver", waiver.name, waiver.origin, counts["waiver", waiver.name])
        for condition in pack.conditions.values():
            yield Covered("condition", condition.name, condition.origin, counts["condition", condition.name])

    def _rejecting(self, part: Part, catalog: Catalog) -> frozenset[str]:
        """The clauses of one part that reject somebody by themselves, whatever is asked for."""
        constraints = compile_constraints(_ANYTHING, as_policy(part), catalog, regions=self._pack.groups)
        each = zip(constraints.ids, constraints.admitted, strict=True)
        return frozenset(name for name, admitted in each if name != "kind" and admitted != catalog.all())


def _telling(solved: Solved) -> Iterator[str]:
    """The rules that reject somebody, or would if they were not only tried out, and those that change the order."""
    applied, everyone = solved.active, solved.catalog.all()
    assert applied is not None  # every request of a pack has it
    for term in (*applied.rules.terms, *applied.rules.shadow_terms):
        if term.admitted(solved.catalog) != everyone:
            yield term.rule.name
    for wish in applied.all_wishes:
        if wish.members & solved.survivors:
            yield wish.rule.name
    for order in applied.all_orderings:
        if order.tells(solved.survivors):
            yield order.rule.name


_ANYTHING: Final = Capability.model_construct(needs=(), kind="llm-inference", prefer=())


def _identity(part: Part) -> tuple[Literal["policy", "tenant"], str]:
    return "tenant" if isinstance(part.value, Tenant) else "policy", part.name
