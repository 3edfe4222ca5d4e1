"""A rulebook: the rules of a request with everything they refer to, read, checked and made ready to be applied."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .caches import LONG, remembered
from .conditions import Condition, condition_order, named_condition_issues, read_condition
from .errors import InvalidRequestError
from .instances import plain_form
from .issues import Issue, child, few_searches
from .kleene import PRICE_OF_CALL, Call, Compiled, Setting, compiled
from .moments import Moment, is_within, read_moment
from .regions import NO_REGIONS, Regions, region_issues, regions_of
from .rules import Rule, Waiver, rules_issues, rules_of, waivers_issues, waivers_of

__all__ = [
    "Entry",
    "InForce",
    "Lift",
    "RequestFacts",
    "Rulebook",
    "read_rulebook",
    "rulebook_issues",
    "rulebook_of",
    "rulebook_with",
]

SECTIONS = ("regions", "conditions", "rules", "waivers")
"""The keys of a request that a rulebook is made of."""

_ASKED = 50_000
"""For how many rules and values of requests it is kept whether the rule applies."""

_CALLS = 8
"""For how many calls what was found out is kept."""

_APPLYING = 128
"""For how many requests, as far as rules tell them apart, the rules that apply are kept."""


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """What rules may look at in a request.

    Attributes:
        kind: The kind asked for.
        features: The features among its needs.
        capability: The capability's name; None when it is declared in place.
        labels: What the request says of itself.
        tenant: The tenant; None when there is no policy.
        at: Its time.
    """

    kind: str
    features: tuple[str, ...]
    capability: str | None
    labels: Mapping[str, str]
    tenant: str | None
    at: Moment

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

    def is_in_force(self, request: RequestFacts) -> bool:
        """Whether the request's tenant has it at the request's time."""
        return self.waiver.tenant == request.tenant and is_within(request.at, None, self.until)


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

    def is_in_force(self, request: RequestFacts) -> bool:
        """Whether it applies to a request. Where that is unknown, a preference does not, and others do."""
        return is_within(request.at, self.since, self.until) and (
            self.when is None or self.asks_for(request, self.when)
        )

    def asks_for(self, request: RequestFacts, when: Compiled) -> bool:
        """Whether its `when` lets it apply to a request, whatever the time."""
        value = when.value(request.observed(when.fields))
        return value is True or (value is None and self.rule.effect != "prefer")


@dataclass(frozen=True, slots=True, eq=False)
class InForce:
    """The rules of a book that apply to a request. Requests that rules do not tell apart share one.

    Attributes:
        places: The places in the book of the rules.
        entries: The rules.
        lifts: By its place, the waivers of a rule that are in force; rules that have none are left out.
        counts_calls: Whether any of them looks at what the call costs.
    """

    places: tuple[int, ...]
    entries: tuple[Entry, ...]
    lifts: Mapping[int, tuple[Lift, ...]]
    counts_calls: bool


@dataclass(frozen=True, slots=True)
class _Looked:
    """What the rules of a book look at in a request.

    Attributes:
        fields: The fields that their `when` looks at.
        dates: The instants at which a rule or a waiver starts or ends, in order.
        of_tenant: Whether any has a waiver, which holds for one tenant.
    """

    fields: tuple[str, ...]
    dates: tuple[int, ...]
    of_tenant: bool

    @classmethod
    def at(cls, entries: Sequence[Entry]) -> "_Looked":
        """What these rules look at."""
        fields: dict[str, None] = {}
        dates: set[int] = set()
        of_tenant = False
        for entry in entries:
            if entry.when is not None:
                fields.update(dict.fromkeys(entry.when.fields))
            if entry.since is not None:
                dates.add(entry.since.start)
            for until in (entry.until, *(lift.until for lift in entry.lifts)):
                if until is not None:
                    dates.add(until.end)
            of_tenant = of_tenant or bool(entry.lifts)
        return cls(tuple(fields), tuple(sorted(dates)), of_tenant)


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
    _settings: dict[Call | None, Setting] = field(default_factory=dict, repr=False, compare=False)
    _asked: dict[tuple[Any, ...], bool] = field(default_factory=dict, repr=False, compare=False)
    _plain: dict[None, Setting] = field(default_factory=dict, repr=False, compare=False)
    _applying: dict[tuple[Any, ...], InForce] = field(default_factory=dict, repr=False, compare=False)
    _looked: list[_Looked] = field(default_factory=list, repr=False, compare=False)

    def setting(self, call: Call | None) -> Setting:
        """What its conditions depend on for a call; one for every call, so that what was found out is used again."""
        plain = remembered(self._plain, None, 1, lambda: Setting(self.regions))
        if call is None:
            return plain
        return remembered(self._settings, call, _CALLS, lambda: Setting(self.regions, call, plain))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, in order."""
        return tuple(entry.rule for entry in self.entries)

    def in_force(self, request: RequestFacts) -> InForce:
        """The rules that apply to a request."""
        if not self._looked:
            self._looked.append(_Looked.at(self.entries))
        looked = self._looked[0]
        values = request.observed(looked.fields)
        tenant = request.tenant if looked.of_tenant else None
        key = *values.values(), tenant, bisect_right(looked.dates, request.at.start)
        found = self._applying.get(key)
        if found is not None:
            return found
        if _is_long((*values.values(), tenant)):
            return self._found(request, values)
        return remembered(self._applying, key, _APPLYING, lambda: self._found(request, values))

    def _found(self, request: RequestFacts, values: dict[str, Any]) -> InForce:
        at = request.at
        places = tuple(
            place
            for place, entry in enumerate(self.entries)
            if ((entry.since is None and entry.until is None) or is_within(at, entry.since, entry.until))
            and (entry.when is None or self.asks_for(entry, request, values))
        )
        entries = tuple(self.entries[place] for place in places)
        lifts: dict[int, tuple[Lift, ...]] = {}
        for place, entry in zip(places, entries, strict=True):
            if entry.lifts:
                lifting = tuple(lift for lift in entry.lifts if lift.is_in_force(request))
                if lifting:
                    lifts[place] = lifting
        counts_calls = any(PRICE_OF_CALL in entry.fields for entry in entries) or any(
            PRICE_OF_CALL in lift.admits.fields for each in lifts.values() for lift in each
        )
        return InForce(places, entries, lifts, counts_calls)

    def asks_for(self, entry: Entry, request: RequestFacts, values: dict[str, Any]) -> bool:
        """Whether the `when` of one of the rules lets it apply to a request, whatever the time.

        The values of the few fields that rules look at come again and again, so what they come to is kept.

        Args:
            entry: The rule.
            request: The request.
            values: The fields of the request that were looked at before; those that are looked at now are added.
        """
        when = entry.when
        if when is None:
            return True
        key: list[Any] = [entry.rule.name]
        for name in when.fields:
            if name not in values:
                values[name] = request.value(name)
            key.append(values[name])
        known = tuple(key)
        found = self._asked.get(known)
        if found is not None:
            return found
        if _is_long(known):
            return entry.asks_for(request, when)
        return remembered(self._asked, known, _ASKED, lambda: entry.asks_for(request, when))

    def of(self, entries: Iterable[Entry], waivers: Iterable[Waiver]) -> "Rulebook":
        """One of some of its rules; what is found out about one of them is known to both."""
        return Rulebook(tuple(entries), tuple(waivers), self.regions, self._settings, self._asked, self._plain)

    def without(self, names: Collection[str]) -> "Rulebook":
        """The same without the rules of these names."""
        return Rulebook(
            tuple(entry for entry in self.entries if entry.rule.name not in names),
            tuple(waiver for waiver in self.waivers if waiver.rule not in names),
            self.regions,
        )


def _is_long(values: Iterable[str | tuple[str, ...] | None]) -> bool:
    """Whether what a request says is too long to be kept."""
    return sum(len(each) if isinstance(each, str) else sum(map(len, each)) for each in values if each) > LONG


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
    cleaned, foreign = plain_form(sections, path)
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
        {name: read_condition(condition) for name, condition in document.get("conditions", {}).items()},
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
