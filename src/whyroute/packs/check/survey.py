"""What the checks look at: the pack on one index of all its candidates, and who sees and has what."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ...basics.globs import glob
from ...constraints.rulebook import Entry, RequestFacts
from ...constraints.three_valued import PRICE_OF_CALL, Call, Compiled, EvalContext, Known, compiled
from ...model.condition import Node, condition_order
from ...model.condition_grammar import LABEL_PREFIX
from ...model.features import UNSPECIFIED_REGION
from ...model.metadata import ModelInfo, ProviderMetadata
from ...model.timestamps import Moment
from ..load.definitions import Definition
from ..load.models import CapabilityEntry
from ..load.pack import Pack
from ..load.policy import Part
from ..source.problems import Place
from .near import Names
from .possible import Possible

__all__ = ["Group", "Survey"]


@dataclass(frozen=True, slots=True)
class Group:
    """Tenants for which the same rules hold and who see the same candidates.

    Attributes:
        rules: The names of the rules, in order.
        view: The candidates.
        tenants: The tenants.
    """

    rules: tuple[str, ...]
    view: int
    tenants: tuple[str, ...]


class Survey:
    """A pack, seen as a whole. Everything is found out when it is first asked for.

    Sets of candidates are over one catalog of all providers of the pack; what a tenant sees is one of them.

    Args:
        pack: The pack.
        now: The time of the check.
    """

    def __init__(self, pack: Pack, now: Moment) -> None:
        self.pack = pack
        self.now = now
        self.regions = pack.groups
        self.catalog = pack.everything
        self._names: dict[str, Names] = {}
        self._lines: dict[str, str | None] = {}
        self._loosely: dict[tuple[str, str], tuple[str, ...]] = {}
        self._values: dict[str, tuple[str, ...]] = {}
        self._applies: dict[tuple[str, str], bool | None] = {}

    # Which tenant sees what, and what holds for which.

    @cached_property
    def views(self) -> Mapping[str, int]:
        """The candidates that each tenant sees."""
        private = [each for each in self.pack.providers.values() if each.value.only_tenants is not None]
        shared = self.catalog.all() & ~self.catalog.having("provider", [each.name for each in private])
        found = dict.fromkeys(self.pack.tenants, shared)
        for each in private:
            for tenant in each.value.only_tenants or ():
                found[tenant] |= self.catalog.of_provider(each.name)
        return found

    def seen_by(self, tenants: Iterable[str]) -> int:
        """The candidates that any of the tenants sees."""
        views, seen = self.views, 0
        for view in {views[tenant] for tenant in tenants}:
            seen |= view
        return seen

    @cached_property
    def parts(self) -> Mapping[str, tuple[Part, ...]]:
        """For each tenant, the parts that its policy is combined from, its own last."""
        return {name: self.pack.view(name).parts for name in self.pack.tenants}

    @cached_property
    def all_parts(self) -> tuple[Part, ...]:
        """The policies, and the tenants' own."""
        return (*self.pack.policies.values(), *self.pack.tenants.values())

    @cached_property
    def tenants_of_policy(self) -> Mapping[str, tuple[str, ...]]:
        """For each policy, the tenants for which it holds."""
        found: dict[str, list[str]] = {name: [] for name in self.pack.policies}
        for tenant, parts in self.parts.items():
            for part in parts[:-1]:
                found[part.name].append(tenant)
        return {name: tuple(tenants) for name, tenants in found.items()}

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The tenants, by the rules that hold for them and what they see."""
        found: dict[tuple[tuple[str, ...], int], list[str]] = {}
        of_parts: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[str, ...]] = {}
        for tenant, parts in self.parts.items():
            key = tuple(part.name for part in parts[:-1]), tuple(parts[-1].value.rules)
            rules = of_parts.get(key)
            if rules is None:
                rules = of_parts[key] = tuple(dict.fromkeys(name for part in parts for name in part.value.rules))
            found.setdefault((rules, self.views[tenant]), []).append(tenant)
        return tuple(Group(rules, view, tuple(tenants)) for (rules, view), tenants in found.items())

    @cached_property
    def groups_of_rule(self) -> Mapping[str, tuple[Group, ...]]:
        """For each rule, the groups of tenants for which it holds."""
        found: dict[str, list[Group]] = {name: [] for name in self.pack.rules}
        for group in self.groups:
            for rule in group.rules:
                found[rule].append(group)
        return {name: tuple(groups) for name, groups in found.items()}

    def view_of_rule(self, name: str) -> int:
        """The candidates that the tenants see for which a rule holds; all of them where it holds for none."""
        return self._or_all(group.view for group in self.groups_of_rule[name])

    def view_of_part(self, part: Part) -> int:
        """Likewise, of a policy or a tenant."""
        if part.name in self.pack.policies and self.pack.policies[part.name] is part:
            return self._or_all([self.seen_by(self.tenants_of_policy[part.name])])
        return self.view_of_tenant(part.name)

    def view_of_tenant(self, name: str) -> int:
        """The candidates that a tenant sees; all of them where it sees none."""
        return self._or_all([self.views[name]])

    def view_of_all(self) -> int:
        """The candidates that any tenant sees; all of them where there is no tenant."""
        return self._or_all([self.seen_by(self.pack.tenants)])

    def _or_all(self, views: Iterable[int]) -> int:
        seen = 0
        for view in views:
            seen |= view
        return seen or self.catalog.all()

    # Names.

    def having(self, field: str, name: str) -> int:
        """The candidates that have a name in a field."""
        return self.catalog.having(field, self.regions.meaning(name) if field == "region" else (name,))

    def values(self, field: str) -> tuple[str, ...]:
        """The names that candidates have in a field."""
        found = self._values.get(field)
        if found is None:
            found = self._values[field] = tuple(dict.fromkeys(self._all_values(field)))
        return found

    def _all_values(self, field: str) -> Iterator[str]:
        for meta in self.catalog.metadata:
            match field:
                case "provider":
                    yield meta.id
                case "region" if meta.region != UNSPECIFIED_REGION:
                    yield meta.region
                case "kind":
                    yield meta.capability_kind
                case "attribute":
                    yield from meta.attributes
                case "model":
                    yield from (model.name for model in meta.models)
                case "feature":
                    yield from (feature for model in meta.models for feature in model.features)
                case _:
                    key = field.removeprefix(LABEL_PREFIX)
                    if field.startswith(LABEL_PREFIX) and key in meta.labels:
                        yield meta.labels[key]

    def names(self, field: str) -> Names:
        """The names that candidates have in a field, and of regions the groups, to find the one that is near."""
        found = self._names.get(field)
        if found is None:
            groups = self.pack.regions if field == "region" else ()
            found = self._names[field] = Names([*self.values(field), *groups])
        return found

    def matching_in_any_case(self, field: str, pattern: str) -> tuple[str, ...]:
        """The names in a field that match a glob when case doesn't count; none where the glob has no case."""
        key = (field, pattern)
        found = self._loosely.get(key)
        if found is None:
            values = self.values(field)
            if field not in self._lines:
                self._lines[field] = None if any("\n" in value for value in values) else "\n".join(values)
            found = self._loosely[key] = tuple(_matching_in_any_case(pattern, values, self._lines[field]))
        return found

    def place_of(self, number: int) -> Place:
        """Where a candidate's model is written."""
        candidate = self.catalog.candidate(number)
        definition = self.pack.providers[candidate.metadata.id]
        index = candidate.metadata.models.index(candidate.model)
        return definition.place("models", index)

    # Conditions and rules.

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """The named conditions."""
        return {name: each.value.node for name, each in self.pack.conditions.items()}

    @cached_property
    def _order(self) -> tuple[str, ...]:
        return condition_order(self.nodes)

    @cached_property
    def possible(self) -> Possible:
        """Which conditions could hold for any candidate at all."""
        return Possible(self.nodes, self._order, self.regions)

    def compiled(self, node: Node) -> Compiled:
        """A condition over candidates, with the named ones that it needs."""
        return compiled(node, self.nodes, self._order)

    def known(self, condition: Compiled, call: Call | None = None) -> Known:
        """The candidates for which a condition holds, and those for which it does not."""
        return EvalContext(self.pack.groups, call).known(condition, self.catalog)

    @property
    def entries(self) -> Mapping[str, Entry]:
        """The rules, ready to be applied."""
        return self.pack.entries

    def rejecting(self) -> Iterator[tuple[str, Entry, Compiled]]:
        """The rules that require or forbid, each with its condition."""
        for name, entry in self.entries.items():
            if entry.condition is not None and entry.rule.effect != "prefer":
                yield name, entry, entry.condition

    def admitted(self, entry: Entry, condition: Compiled, call: Call | None = None) -> int:
        """The candidates that a rule admits by itself, without waivers."""
        known = self.known(condition, call)
        return known.no if entry.rule.effect == "forbid" else known.yes

    def preferred(self, entry: Entry, call: Call | None = None) -> int:
        """The candidates that a rule which prefers says anything about."""
        order = entry.rule.order
        if order is None:
            return 0 if entry.condition is None else self.known(entry.condition, call).yes
        if order.field == PRICE_OF_CALL:
            return 0 if call is None else self.catalog.all()
        return self.catalog.numbers(order.field).known

    # Capabilities.

    @cached_property
    def facts(self) -> Mapping[str, RequestFacts]:
        """What a request for each capability of the pack always says of itself."""
        return {
            name: RequestFacts.of(each.value, name, each.value.labels) for name, each in self.pack.capabilities.items()
        }

    def applies(self, rule: str, capability: str) -> bool | None:
        """Whether a rule looks at requests for a capability, at any time; None: that depends on their labels."""
        key = (rule, capability)
        if key not in self._applies:
            when, facts = self.entries[rule].when, self.facts[capability]
            self._applies[key] = True if when is None else when.value(facts.observed(when.fields))
        return self._applies[key]

    def calls_of(self, rule: str, fields: Collection[str]) -> dict[Call | None, list[Definition[CapabilityEntry]]]:
        """The calls that a rule with these fields depends on: those of the capabilities that it may apply to."""
        if PRICE_OF_CALL not in fields:
            return {None: []}
        found: dict[Call | None, list[Definition[CapabilityEntry]]] = {}
        for name, each in self.pack.capabilities.items():
            if self.applies(rule, name) is not False:
                found.setdefault(each.value.call, []).append(each)
        return found or {None: []}

    def candidates(self, members: int, limit: int = 3) -> list[tuple[int, ProviderMetadata, ModelInfo]]:
        """The first candidates of a set, each with its number."""
        found: list[tuple[int, ProviderMetadata, ModelInfo]] = []
        while members and len(found) < limit:
            number = (members & -members).bit_length() - 1
            candidate = self.catalog.candidate(number)
            found.append((number, candidate.metadata, candidate.model))
            members &= members - 1
        return found


def _matching_in_any_case(pattern: str, values: tuple[str, ...], lines: str | None) -> list[str]:
    """The values that match a glob when case doesn't count.

    Args:
        pattern: The glob.
        values: The values.
        lines: All of them, one a line; None where one of them has several.
    """
    if pattern.lower() == pattern.upper():
        return []
    # All values at once, by the regular expressions' own loop; a pattern of many stars could make that slow.
    if pattern.count("*") <= 3 and lines is not None:
        parts = (".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern)
        whole = re.compile(f"^{''.join(parts)}$", re.IGNORECASE | re.MULTILINE)
        matched = set(whole.findall(lines))
        return [value for value in values if value in matched] if matched else []
    matches = glob(pattern.lower())
    return [value for value in values if matches(value.lower())]
