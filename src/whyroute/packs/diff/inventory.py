"""What one of two packs alone has, what differs in the facts of their catalogs, and what is still to come."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ...constraints.named import Origin
from ...model.metadata import ModelInfo, ProviderMetadata
from ...model.timestamps import Moment, read_moment
from ..load.definitions import Definition
from ..load.models import PackProvider
from ..load.pack import Pack
from .json_form import Pair, given, said

__all__ = ["FactChange", "Later", "Named", "fact_changes", "later", "only_in"]


@dataclass(frozen=True, slots=True)
class Named:
    """Something that one of the packs alone has.

    Attributes:
        what: `tenant`, `capability`, `label`, `value` (of a label, as KEY=VALUE), `provider`, `model`, `rule`,
            `waiver` or `bundle`.
        name: Its name; of a model, that of its provider, a space, a slash, a space and its own.
        origin: Where it is written.
        candidate: Of a model, what it is.
        refused: Whether the other pack refuses requests that name it.
    """

    what: str
    name: str
    origin: Origin | None = None
    candidate: Pair | None = None
    refused: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The entry as JSON."""
        named = {"name": self.name} if self.candidate is None else self.candidate.to_dict()
        return {**said(self, "what"), **named, **given(self, "origin")}


@dataclass(frozen=True, slots=True)
class FactChange:
    """A fact of the catalog that is another one in NEW.

    Attributes:
        provider: The provider's id.
        model: The model's name; None for a fact of the provider.
        field: The fact.
        old: What OLD has; None is unknown.
        new: What NEW has.
    """

    provider: str
    model: str | None
    field: str
    old: Any
    new: Any

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON."""
        return {**said(self, "provider"), **given(self, "model"), **said(self, "field", "old", "new")}


@dataclass(frozen=True, slots=True)
class Later:
    """Something that begins or ends by itself after the time of the comparison, in one of the packs alone.

    Attributes:
        pack: Which pack has it: `old` or `new`.
        what: `rule` or `waiver`.
        name: Its name.
        event: `begins` or `ends`.
        time: When, as it is written; what ends on a date does so with that day.
        tenants: The tenants of both packs that it is for.
        origin: Where it is written.
    """

    pack: Literal["old", "new"]
    what: str
    name: str
    event: Literal["begins", "ends"]
    time: str
    tenants: tuple[str, ...]
    origin: Origin

    def to_dict(self) -> dict[str, Any]:
        """The event as JSON."""
        return said(self, "pack", "time", "what", "name", "event", "tenants", "origin")


def only_in(pack: Pack, other: Pack) -> Iterator[Named]:
    """What a pack has under names that another has not, section by section, by name."""
    yield from _names("tenant", pack.tenants, other.tenants, refused=True)
    yield from _names("capability", pack.capabilities, other.capabilities, refused=True)
    yield from _labels(pack, other)
    yield from _freedom(pack, other)
    yield from _names("provider", pack.providers, other.providers)
    for name in sorted(pack.providers.keys() & other.providers.keys()):
        known = {model.name for model in other.providers[name].value.metadata.models}
        provider = pack.providers[name]
        for index, model in enumerate(provider.value.metadata.models):
            if model.name not in known:
                origin = provider.piece.inner("models", index).origin
                yield Named("model", f"{name} / {model.name}", origin, Pair(name, model.name))
    yield from _names("rule", pack.rules, other.rules)
    yield from _names("waiver", pack.waivers, other.waivers)
    yield from _names("bundle", pack.bundles, other.bundles, refused=True)


def _names(
    what: str, mine: Mapping[str, Definition[Any]], others: Mapping[str, Definition[Any]], *, refused: bool = False
) -> Iterator[Named]:
    return (Named(what, name, mine[name].origin, refused=refused) for name in sorted(mine.keys() - others.keys()))


def _labels(pack: Pack, other: Pack) -> Iterator[Named]:
    if pack.labels is None:
        if other.labels is not None:
            yield Named("label", "any that is not declared", refused=True)
        return
    # A pack that declares no labels takes any: it refuses none.
    others, refused = other.labels or {}, other.labels is not None
    for key in sorted(pack.labels):
        mine = pack.labels[key]
        theirs = others.get(key)
        if theirs is None or theirs.value.set_by != mine.value.set_by:
            # Whose it is to say tells labels apart: a request that names the operator's is refused.
            name = f"{key} (set by the operator)" if mine.value.set_by else key
            yield Named("label", name, mine.origin, refused=refused)
            continue
        for value in mine.value.values:
            if value not in theirs.value.values:
                yield Named("value", f"{key}={value}", mine.origin, refused=True)


def _freedom(pack: Pack, other: Pack) -> Iterator[Named]:
    """The label values that a pack takes for a capability of both, and that the other's capability rules out."""
    for name in sorted(pack.capabilities.keys() & other.capabilities.keys()):
        mine, theirs = pack.capabilities[name], other.capabilities[name].value.labels
        for key, value in sorted(theirs.items()):
            own = mine.value.labels.get(key)
            if own is not None and own != value:
                yield Named("value", f"{key}={own} for {name}", mine.origin, refused=True)
            elif own is None and _may_say_otherwise(pack, key, value):
                yield Named("value", f"{key} other than {value} for {name}", mine.origin, refused=True)


def _may_say_otherwise(pack: Pack, key: str, value: str) -> bool:
    """Whether a request may give a label another value."""
    if pack.labels is None:
        return True
    declared = None if key not in pack.labels else pack.labels[key].value
    return declared is not None and any(each != value for each in declared.values)


_OF_PROVIDER: Final[Mapping[str, Callable[[ProviderMetadata], Any]]] = {
    "region": lambda meta: meta.region,
    "capabilityKind": lambda meta: meta.capability_kind,
    "attributes": lambda meta: sorted(set(meta.attributes)),
    "labels": lambda meta: dict(sorted(meta.labels.items())),
    "fallback": lambda meta: meta.fallback,
    "defaultModel": lambda meta: meta.default_model,
}
_OF_MODEL: Final[Mapping[str, Callable[[ModelInfo], Any]]] = {
    "features": lambda model: sorted(set(model.features)),
    "contextWindow": lambda model: model.context_window,
    "maxOutputTokens": lambda model: model.max_output_tokens,
    "promptUsdPer1kTokens": lambda model: model.cost.prompt_usd_per_1k_tokens,
    "completionUsdPer1kTokens": lambda model: model.cost.completion_usd_per_1k_tokens,
    "p95LatencyMs": lambda model: model.p95_latency_ms,
}


def fact_changes(old: Pack, new: Pack) -> Iterator[FactChange]:
    """The facts of providers and models of both packs that differ, as far as routes depend on them."""
    for name in sorted(old.providers.keys() & new.providers.keys()):
        yield from _of_provider(name, old.providers[name].value, new.providers[name].value)


def _of_provider(name: str, old: PackProvider, new: PackProvider) -> Iterator[FactChange]:
    before, after = (None if each.only_tenants is None else sorted(set(each.only_tenants)) for each in (old, new))
    if before != after:
        yield FactChange(name, None, "onlyTenants", before, after)
    if old.metadata is new.metadata:
        return
    for field, read in _OF_PROVIDER.items():
        was, now = read(old.metadata), read(new.metadata)
        if was != now:
            yield FactChange(name, None, field, was, now)
    models = {model.name: model for model in old.metadata.models}
    for model in sorted(new.metadata.models, key=lambda each: each.name):
        if model.name in models:
            for field, read_model in _OF_MODEL.items():
                was, now = read_model(models[model.name]), read_model(model)
                if was != now:
                    yield FactChange(name, model.name, field, was, now)


def later(old: Pack, new: Pack, at: Moment) -> tuple[Later, ...]:
    """What begins or ends after a time in one of the packs alone, for a tenant of both; by time."""
    tenants = sorted(old.tenants.keys() & new.tenants.keys())
    mine = {_told(each): (place, each) for place, each in _to_come("old", old, tenants, at)}
    theirs = {_told(each): (place, each) for place, each in _to_come("new", new, tenants, at)}
    found = [theirs[key] for key in theirs if key not in mine] + [mine[key] for key in mine if key not in theirs]
    return tuple(each for _, each in sorted(found, key=lambda pair: (pair[0], _told(pair[1]), pair[1].pack)))


def _told(each: Later) -> tuple[str, ...]:
    return each.what, each.name, each.event, each.time, *each.tenants


def _to_come(pack: Literal["old", "new"], source: Pack, tenants: list[str], at: Moment) -> Iterator[tuple[int, Later]]:
    attached: dict[str, list[str]] = {}
    for tenant in tenants:
        for rule in source.policy(tenant).rules:
            attached.setdefault(rule.rule.name, []).append(tenant)
    for name, concerned in attached.items():
        rule_definition = source.rules[name]
        dates = rule_definition.value.from_, rule_definition.value.until
        yield from _events(pack, "rule", rule_definition, dates, tuple(concerned), at)
    for waiver in source.waivers.values():
        if waiver.value.tenant in attached.get(waiver.value.rule, ()):
            yield from _events(pack, "waiver", waiver, (None, waiver.value.until), (waiver.value.tenant,), at)


def _events(
    pack: Literal["old", "new"],
    what: str,
    definition: Definition[Any],
    dates: tuple[str | None, str | None],
    tenants: tuple[str, ...],
    at: Moment,
) -> Iterator[tuple[int, Later]]:
    since, until = dates
    if since is not None and (start := read_moment(since).start) > at.start:
        yield start, Later(pack, what, definition.name, "begins", since, tenants, definition.piece.inner("from").origin)
    if until is not None and (end := read_moment(until).end) > at.start:
        yield end, Later(pack, what, definition.name, "ends", until, tenants, definition.piece.inner("until").origin)
