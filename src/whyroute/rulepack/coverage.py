"""What the tests of a pack reach: which rules and clauses reject somebody in some test, and which never do."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from ..catalog import Catalog
from ..constraints import Origin, compile_with_rules
from ..declarations import Capability
from ..kleene import Compiled, Setting
from ..rulebook import RequestFacts
from ..ruleterms import RuleTerm
from ..solving import Solved
from .models import Tenant
from .pack import CLAUSES, Pack, Part, as_policy, clause_origin, sets_clause

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
            gives a qualifying candidate its weight, or orders those that qualify; a waiver admits somebody whom its
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
        self._clauses: dict[tuple[int, str, str], tuple[Catalog, frozenset[str]]] = {}
        self._decided: dict[tuple[int, str], tuple[Setting, bool]] = {}

    def count(self, reached: Iterable[Key]) -> None:
        """Add a case that reaches this."""
        self._counts.update(reached)

    def decided(self, condition: Compiled, solved: Solved) -> frozenset[Key]:
        """The named conditions that a condition asks for and that are certain for somebody."""
        assert solved.situation is not None  # a condition is asked for
        setting = solved.situation.setting
        return frozenset(
            ("condition", name)
            for name, _ in condition.named
            if self._is_decided(name, condition, setting, solved.catalog)
        )

    def reached(self, solved: Solved) -> frozenset[Key]:
        """What a request reaches."""
        found: set[Key] = set()
        tenant = "" if solved.policy is None else solved.policy.tenant_id
        for part in self._pack.policy(tenant).parts:
            found.update(
                ("clause", *_identity(part), clause) for clause in self._rejecting(part, tenant, solved.catalog)
            )
        if solved.applied is None:  # a slot of a bundle, where the tenant has no rules
            return frozenset(found)
        found.update(("rule", name) for name in _telling(solved))
        for condition in self._asked(solved, tenant, found):
            if condition.named:
                found |= self.decided(condition, solved)
        return frozenset(found)

    def _asked(self, solved: Solved, tenant: str, found: set[Key]) -> Iterator[Compiled]:
        """The conditions of the rules and waivers that are in force; waivers that are of use are added to `found`."""
        applied, situation = solved.applied, solved.situation
        assert applied is not None  # every request of a pack has both
        assert situation is not None
        named = set(applied.names)
        request = RequestFacts("", (), None, {}, tenant, situation.at)
        for entry in situation.book.entries:
            if entry.rule.name not in named or entry.condition is None:
                continue
            yield entry.condition
            for lift in entry.lifts:
                if lift.is_in_force(request):
                    yield lift.admits
                    plain = RuleTerm.of(entry, entry.condition, (), situation.setting)
                    admits = situation.setting.known(lift.admits, solved.catalog).yes
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

    def _rejecting(self, part: Part, tenant: str, catalog: Catalog) -> frozenset[str]:
        """The clauses of one part that reject somebody by themselves, whatever is asked for."""
        key = id(catalog), *_identity(part)
        kept = self._clauses.get(key)
        if kept is None:
            constraints = compile_with_rules(_ANYTHING, as_policy(part, tenant), catalog, regions=self._pack.groups)
            everyone = catalog.all()
            each = zip(constraints.ids, constraints.admitted, strict=True)
            rejecting = frozenset(name for name, admitted in each if name != "kind" and admitted != everyone)
            kept = self._clauses[key] = catalog, rejecting  # the catalog is kept, or its id could become another's
        return kept[1]

    def _is_decided(self, name: str, condition: Compiled, setting: Setting, catalog: Catalog) -> bool:
        key = id(setting), name
        kept = self._decided.get(key)
        if kept is None:
            at = [each for each, _ in condition.named].index(name)
            node = condition.named[at][1]
            known = setting.known(Compiled(node, condition.named[:at], condition.fields), catalog)
            kept = self._decided[key] = setting, (known.yes | known.no) != 0
        return kept[1]


def _telling(solved: Solved) -> Iterator[str]:
    """The rules that reject somebody, or would if they were not only tried out, and those that change the order."""
    applied, everyone = solved.applied, solved.catalog.all()
    assert applied is not None  # every request of a pack has it
    for term, admitted in zip(applied.terms, applied.admitted, strict=True):
        if admitted != everyone:
            yield term.rule.name
    for term in applied.shadow_terms:
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
