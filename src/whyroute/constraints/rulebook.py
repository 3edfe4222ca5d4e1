"""A rulebook: the rules of a request with everything they refer to, read, checked and made ready to be applied."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..basics.issues import Issue, child, few_searches
from ..documents.json_text import plain
from ..errors import InvalidRequestError
from ..model.capability import Capability, FeatureNeed
from ..model.condition import Condition, condition_order, named_condition_issues, of_checked
from ..model.regions import NO_REGIONS, Regions, region_issues, regions_of
from ..model.rule import Rule, Waiver, rules_issues, rules_of, waivers_issues, waivers_of
from ..model.timestamps import Moment, is_within, read_moment
from .three_valued import Compiled, compiled

__all__ = [
    "Entry",
    "InForce",
    "Lift",
    "RequestFacts",
    "Rulebook",
    "changes_of",
    "in_force",
    "read_rulebook",
    "rulebook_issues",
    "rulebook_of",
    "rulebook_with",
]

SECTIONS = ("regions", "conditions", "rules", "waivers")
"""The keys of a request that a rulebook is made of."""


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """What rules may look at in a request.

    Attributes:
        kind: The kind asked for.
        features: The features among its needs.
        capability: The capability's name; None when it is declared in place.
        labels: What the request says of itself.
        tenant: The tenant; None when there is no policy.
    """

    kind: str
    features: tuple[str, ...]
    capability: str | None
    labels: Mapping[str, str]
    tenant: str | None = None

    @classmethod
    def of(
        cls, capability: Capability, name: str | None, labels: Mapping[str, str], tenant: str | None = None
    ) -> "RequestFacts":
        """Those of a request for a capability."""
        features = tuple(need.feature for need in capability.needs if isinstance(need, FeatureNeed))
        return cls(capability.kind, features, name, labels, tenant)

    def observed(self, fields: Iterable[str]) -> dict[str, Any]:
        """The values of fields; None is an unknown one."""
        return {name: self.value(name) for name in fields}

    def value(self, name: str) -> Any:
        """The value of a field; None when it is unknown."""
        match name:
            case "kind":
                return self.kind
            case "feature":
                return self.features
            case "capability":
                return self.capability
            case _:
                return self.labels.get(name.partition(".")[2])


@dataclass(frozen=True, slots=True)
class Lift:
    """A waiver, ready to be applied.

    Attributes:
        waiver: The waiver.
        admits: Its condition.
        until: When it ends.
    """

    waiver: Waiver
    admits: Compiled
    until: Moment | None

    def is_in_force(self, tenant: str | None, at: Moment) -> bool:
        """Whether a tenant has it at a time."""
        return self.waiver.tenant == tenant and is_within(at, None, self.until)


@dataclass(frozen=True, slots=True)
class Entry:
    """A rule, ready to be applied.

    Attributes:
        rule: The rule.
        condition: Its condition; None when it orders by a field.
        when: The requests that it applies to; None: all.
        since: When it starts.
        until: When it ends.
        lifts: Its waivers.
    """

    rule: Rule
    condition: Compiled | None
    when: Compiled | None
    since: Moment | None
    until: Moment | None
    lifts: tuple[Lift, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of candidates that it looks at, waivers aside."""
        if self.condition is not None:
            return self.condition.fields
        return () if self.rule.order is None else (self.rule.order.field,)

    def of_tenant(self, tenant: str | None) -> "Entry":
        """The rule with the waivers of one tenant alone."""
        if not self.lifts:
            return self
        own = tuple(lift for lift in self.lifts if lift.waiver.tenant == tenant)
        return self if own == self.lifts else replace(self, lifts=own)

    def applies(self, request: RequestFacts) -> bool:
        """Whether it applies to a request, whatever the time. Where that is unknown, a preference does not."""
        if self.when is None:
            return True
        value = self.when.value(request.observed(self.when.fields))
        return value is True or (value is None and self.rule.effect != "prefer")


@dataclass(frozen=True, slots=True)
class InForce:
    """A rule that is in force for a request.

    Attributes:
        place: Its place in the book.
        entry: The rule.
        lifts: Its waivers that are in force.
    """

    place: int
    entry: Entry
    lifts: tuple[Lift, ...]


@dataclass(frozen=True, slots=True)
class Rulebook:
    """Rules with everything they refer to. Made once, it can be used for any number of requests.

    Attributes:
        entries: The rules, in order.
        waivers: All waivers, in order.
        regions: The groups of regions.
    """

    entries: tuple[Entry, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    regions: Regions = NO_REGIONS

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, in order."""
        return tuple(entry.rule for entry in self.entries)

    def asked(self, request: RequestFacts) -> tuple[tuple[int, Entry], ...]:
        """The rules that apply to a request whatever its time, each with its place and the tenant's waivers alone."""
        return tuple(
            (place, entry.of_tenant(request.tenant))
            for place, entry in enumerate(self.entries)
            if entry.applies(request)
        )

    def without(self, names: Collection[str]) -> "Rulebook":
        """The same without the rules of these names."""
        return Rulebook(
            tuple(entry for entry in self.entries if entry.rule.name not in names),
            tuple(waiver for waiver in self.waivers if waiver.rule not in names),
            self.regions,
        )


def in_force(asked: Iterable[tuple[int, Entry]], at: Moment) -> tuple[InForce, ...]:
    """Those of some rules that are in force at a time, each with the waivers that are."""
    return tuple(
        InForce(place, entry, entry.lifts and tuple(lift for lift in entry.lifts if is_within(at, None, lift.until)))
        for place, entry in asked
        if is_within(at, entry.since, entry.until)
    )


def changes_of(asked: Iterable[tuple[int, Entry]]) -> tuple[int, ...]:
    """The instants at which other rules or waivers may be in force than a moment before, in order."""
    found: set[int] = set()
    for _, entry in asked:
        if entry.since is not None:
            found.add(entry.since.start)
        found.update(until.end for until in (entry.until, *(lift.until for lift in entry.lifts)) if until is not None)
    return tuple(sorted(found))


def read_rulebook(
    rules: "Rulebook | Iterable[Rule | Mapping[str, Any]]" = (),
    *,
    waivers: Iterable[Waiver | Mapping[str, Any]] = (),
    conditions: Mapping[str, Any] | None = None,
    regions: Regions | Mapping[str, Sequence[str]] | None = None,
    path: str = "",
) -> Rulebook:
    """Read rules with everything they refer to.

    Args:
        rules: The rules, as models or in wire form; a Rulebook is returned as it is.
        waivers: Exceptions from waivable rules.
        conditions: Named conditions, which `is` refers to.
        regions: Groups of regions.
        path: JSON pointer of the object that holds all of them, for the issues.

    Raises:
        InvalidRequestError: Something is broken; all issues.
        ValueError: A Rulebook was given together with other parts of one.
    """
    if isinstance(rules, Rulebook):
        if waivers or conditions or regions:
            raise ValueError("a rulebook has its waivers, conditions and regions already; give it alone")
        return rules
    sections = {
        "regions": {} if isinstance(regions, Regions) else regions or {},
        "conditions": conditions or {},
        "rules": _listed(rules),
        "waivers": _listed(waivers),
    }
    cleaned, foreign = plain(sections, path)
    with few_searches():
        issues = foreign or rulebook_issues(cleaned, path)
    if issues:
        raise InvalidRequestError(issues)
    return rulebook_of(cleaned, regions if isinstance(regions, Regions) else None)


def _listed(given: Any) -> Any:
    """What is given for a list: what is none stays as it is, to be told of."""
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping) else given


def rulebook_issues(document: Mapping[str, Any], path: str = "") -> list[Issue]:
    """What is wrong with the parts of a rulebook in an object, as plain JSON; keys that it lacks are empty."""
    issues: list[Issue] = []
    if "regions" in document:
        issues += region_issues(document["regions"], child(path, "regions"))
    conditions = document.get("conditions", {})
    if "conditions" in document:
        issues += named_condition_issues(conditions, child(path, "conditions"))
    names = conditions.keys() if isinstance(conditions, dict) else None
    rules = document.get("rules", [])
    if "rules" in document:
        issues += rules_issues(rules, child(path, "rules"), conditions=names)
    if "waivers" in document:
        issues += waivers_issues(document["waivers"], child(path, "waivers"), rules=_waivable(rules), conditions=names)
    return issues


def _waivable(rules: Any) -> dict[str, bool]:
    """The names of rules, whatever else is wrong with them, and whether each is waivable."""
    named = [rule for rule in rules if isinstance(rule, dict)] if isinstance(rules, list) else []
    return {rule["name"]: rule.get("waivable") is True for rule in named if isinstance(rule.get("name"), str)}


def rulebook_of(document: Mapping[str, Any], regions: Regions | None = None) -> Rulebook:
    """The rulebook of an object whose parts have no issues."""
    return rulebook_with(
        rules_of(document.get("rules", ())),
        waivers_of(document.get("waivers", ())),
        {name: of_checked(Condition, condition) for name, condition in document.get("conditions", {}).items()},
        regions_of(document.get("regions", {})) if regions is None else regions,
    )


def rulebook_with(
    rules: Iterable[Rule], waivers: Iterable[Waiver], conditions: Mapping[str, Condition], regions: Regions
) -> Rulebook:
    """The rulebook of parts that were held to the grammar together, each referring to what is there alone.

    Args:
        rules: The rules, in order.
        waivers: The waivers, in order.
        conditions: The named conditions.
        regions: The groups of regions.
    """
    nodes = {name: condition.node for name, condition in conditions.items()}
    order = condition_order(nodes)
    lifts: dict[str, list[Lift]] = {}
    waivers = tuple(waivers)
    for waiver in waivers:
        admits = compiled(waiver.admits.node, nodes, order)
        lifts.setdefault(waiver.rule, []).append(Lift(waiver, admits, _moment(waiver.until)))
    entries: list[Entry] = []
    for rule in rules:
        condition = None if rule.condition is None else compiled(rule.condition.node, nodes, order)
        when = None if rule.when is None else compiled(rule.when.node, {}, ())
        dates = _moment(rule.from_), _moment(rule.until)
        entries.append(Entry(rule, condition, when, *dates, tuple(lifts.get(rule.name, ()))))
    return Rulebook(tuple(entries), waivers, regions)


def _moment(text: str | None) -> Moment | None:
    return None if text is None else read_moment(text)
