"""A loaded pack: the policies in force for its tenants, and the requests that it resolves."""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar, Final

from ..bundles.wire import BundleRequest
from ..catalog import Catalog
from ..conditions import Condition
from ..constraints import Origin
from ..declarations import Capability, read_capability
from ..errors import InvalidRequestError, WhyrouteError
from ..issues import Issue, child, did_you_mean, kind_of, quoted, shown
from ..kleene import Call, Setting
from ..moments import moment_issues, read_moment, written
from ..policies import TenantPolicy, combine
from ..providers import DeclaredProvider, ProviderMetadata
from ..regions import Regions, regions_of
from ..rulebook import Entry, Rulebook, rulebook_with
from ..rules import Rule, Waiver
from ..solver import EngineName
from ..solving import Situation
from ..wire import Request, read_bundle_request
from .definitions import Definition
from .linking import named_in
from .models import BundleEntry, CapabilityEntry, LabelDeclaration, PackProvider, PackTest, PolicyPart, Tenant
from .problems import Place
from .reading import bundle_entry

__all__ = [
    "CLAUSES",
    "AttachedRule",
    "Pack",
    "Part",
    "PolicyInForce",
    "Resolved",
    "ResolvedBundle",
    "UnknownBundleError",
    "UnknownCapabilityError",
    "UnknownTenantError",
    "as_policy",
    "clause_origin",
    "sets_clause",
]

Part = Definition[PolicyPart] | Definition[Tenant]


class UnknownTenantError(WhyrouteError):
    """A tenant that the pack doesn't name.

    Attributes:
        tenant: Its name, as it was given.
        known: The tenants that it names.
    """

    code: ClassVar[str] = "unknown-tenant"

    def __init__(self, tenant: str, known: Iterable[str] = ()) -> None:
        self.tenant = tenant
        self.known = tuple(known)
        listed = f"; the tenants are {quoted(self.known, limit=8)}" if self.known else "; it names none"
        super().__init__(f"{shown(tenant)} is no tenant of the pack{did_you_mean(tenant, self.known) or listed}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.tenant, self.known)


class UnknownCapabilityError(WhyrouteError):
    """A capability that the pack doesn't name.

    Attributes:
        capability: Its name, as it was given.
        known: The capabilities that it names.
    """

    code: ClassVar[str] = "unknown-capability"

    def __init__(self, capability: str, known: Iterable[str] = ()) -> None:
        self.capability = capability
        self.known = tuple(known)
        listed = f"; the capabilities are {quoted(self.known, limit=8)}" if self.known else "; it defines none"
        near = did_you_mean(capability, self.known) or listed
        super().__init__(f"{shown(capability)} is no capability of the pack{near}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.capability, self.known)


class UnknownBundleError(WhyrouteError):
    """A bundle that the pack doesn't name.

    Attributes:
        bundle: Its name, as it was given.
        known: The bundles that it names.
    """

    code: ClassVar[str] = "unknown-bundle"

    def __init__(self, bundle: str, known: Iterable[str] = ()) -> None:
        self.bundle = bundle
        self.known = tuple(known)
        listed = f"; the bundles are {quoted(self.known, limit=8)}" if self.known else "; it defines none"
        super().__init__(f"{shown(bundle)} is no bundle of the pack{did_you_mean(bundle, self.known) or listed}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.bundle, self.known)


@dataclass(frozen=True, slots=True)
class AttachedRule:
    """A rule that holds for a tenant.

    Attributes:
        rule: The rule.
        attached: Where policies and the tenant name it.
    """

    rule: Definition[Rule]
    attached: tuple[Origin, ...]


@dataclass(frozen=True, slots=True)
class PolicyInForce:
    """What holds for a tenant, everything with where it comes from.

    Attributes:
        tenant: The tenant.
        parts: The policies that it is combined from, in the order in which they combine; the tenant itself last.
        clauses: The combination.
        origins: For each constraint of a clause or a rule, by its id, where it is written.
        contacts: For each constraint of a clause, whom to ask, where the policies say so.
        rules: The rules, each once.
        waivers: The tenant's waivers of these rules.
    """

    tenant: str
    parts: tuple[Part, ...]
    clauses: TenantPolicy
    origins: Mapping[str, tuple[Origin, ...]]
    contacts: Mapping[str, str]
    rules: tuple[AttachedRule, ...]
    waivers: tuple[Definition[Waiver], ...]


@dataclass(frozen=True)
class Pack:
    """A rule pack: everything its files define. Entries come in an order that the names of the files don't change.

    Attributes:
        path: What was loaded, as it was named.
        files: The names of its files.
        regions: Groups of regions.
        labels: What a request may say of itself; None when the pack has no such section, and any label may be given.
        providers: The candidates, by provider id.
        capabilities: Declarations, by name.
        policies: Parts of policies, by name.
        every_tenant: The policies that hold for every tenant, each with where it says so.
        tenants: The tenants, by id.
        conditions: Named conditions.
        rules: Rules, by name.
        waivers: Waivers, by name.
        bundles: Several capabilities each that are routed together, by name.
        tests: Tests, by name.
    """

    path: str
    files: tuple[str, ...]
    regions: Mapping[str, Definition[tuple[str, ...]]]
    labels: Mapping[str, Definition[LabelDeclaration]] | None
    providers: Mapping[str, Definition[PackProvider]]
    capabilities: Mapping[str, Definition[CapabilityEntry]]
    policies: Mapping[str, Definition[PolicyPart]]
    every_tenant: tuple[tuple[str, Place], ...]
    tenants: Mapping[str, Definition[Tenant]]
    conditions: Mapping[str, Definition[Condition]]
    rules: Mapping[str, Definition[Rule]]
    waivers: Mapping[str, Definition[Waiver]]
    bundles: Mapping[str, Definition[BundleEntry]]
    tests: Mapping[str, Definition[PackTest]]
    _policies_in_force: dict[str, PolicyInForce] = field(default_factory=dict, repr=False, compare=False)
    _rulebooks: dict[str, Rulebook] = field(default_factory=dict, repr=False, compare=False)
    _catalogs: dict[tuple[str, ...], Catalog] = field(default_factory=dict, repr=False, compare=False)
    _seen: dict[str, Catalog] = field(default_factory=dict, repr=False, compare=False)
    _settings: dict[tuple[int, Call | None], tuple[Catalog, Setting]] = field(
        default_factory=dict, repr=False, compare=False
    )
    _declared: dict[str, tuple[dict[str, Any], Capability]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def groups(self) -> Regions:
        """The groups of regions, each with all that it means."""
        return regions_of(self.region_document)

    @cached_property
    def region_document(self) -> dict[str, list[str]]:
        """The groups of regions, as they go over the wire."""
        return {name: list(group.value) for name, group in self.regions.items()}

    def policy(self, tenant: str) -> PolicyInForce:
        """What holds for a tenant.

        Raises:
            UnknownTenantError: The pack doesn't name it.
        """
        found = self._policies_in_force.get(tenant)
        if found is None:
            if tenant not in self.tenants:
                raise UnknownTenantError(tenant, self.tenants)
            found = self._policies_in_force[tenant] = self._combined(self.tenants[tenant])
        return found

    def _combined(self, tenant: Definition[Tenant]) -> PolicyInForce:
        parts = tuple(self._parts(tenant))
        clauses = self._clauses(tenant.name, parts)
        origins: dict[str, tuple[Origin, ...]] = {}
        contacts: dict[str, str] = {}
        for constraint in CLAUSES:
            given = [part for part in parts if sets_clause(part, constraint)]
            if given:
                origins[constraint] = tuple(clause_origin(part, constraint) for part in given)
                owners = dict.fromkeys(owner for part in given if (owner := getattr(part.value, "owner", None)))
                if owners:
                    contacts[constraint] = ", ".join(owners)
        attached: dict[str, list[Origin]] = {}
        for part in parts:
            for index, name in enumerate(part.value.rules):
                attached.setdefault(name, []).append(part.piece.inner("rules", index).origin)
        rules = tuple(AttachedRule(self.rules[name], tuple(places)) for name, places in attached.items())
        for each in rules:
            origins[f"rules/{each.rule.name}"] = (each.rule.origin,)
        waivers = tuple(each for each in self._waivers_of.get(tenant.name, ()) if each.value.rule in attached)
        return PolicyInForce(tenant.name, parts, clauses, origins, contacts, rules, waivers)

    def clauses(self, tenant: str) -> TenantPolicy:
        """The clauses that hold for a tenant, combined; `policy` without the places and the rules.

        Raises:
            UnknownTenantError: The pack doesn't name it.
        """
        return self._clauses(tenant, self.parts(tenant))

    def _clauses(self, tenant: str, parts: Iterable[Part]) -> TenantPolicy:
        return combine(*(as_policy(part, tenant) for part in parts), regions=self.groups if self.regions else None)

    def parts(self, tenant: str) -> tuple[Part, ...]:
        """The policies that a tenant's is combined from, each once, in the order in which they combine; its own last.

        Raises:
            UnknownTenantError: The pack doesn't name it.
        """
        if tenant not in self.tenants:
            raise UnknownTenantError(tenant, self.tenants)
        return tuple(self._parts(self.tenants[tenant]))

    def _parts(self, tenant: Definition[Tenant]) -> Iterator[Part]:
        """The parts of a tenant's policy, each once: of `everyTenant`, then of `extends`, depth first; its own last."""
        done: set[str] = set()
        for first in (*(name for name, _ in self.every_tenant), *tenant.value.extends):
            # An explicit stack: the chain may be longer than Python lets functions call each other.
            stack = [(first, iter(self.policies[first].value.extends))] if first not in done else []
            while stack:
                name, following = stack[-1]
                inner = next((each for each in following if each not in done), None)
                if inner is None:
                    stack.pop()
                    done.add(name)
                    yield self.policies[name]
                else:
                    stack.append((inner, iter(self.policies[inner].value.extends)))
        yield tenant

    def rulebook(self, tenant: str) -> Rulebook:
        """The rules that hold for a tenant, with everything they refer to, read once.

        Raises:
            UnknownTenantError: The pack doesn't name it.
        """
        found = self._rulebooks.get(tenant)
        if found is None:
            policy = self.policy(tenant)
            entries = self._entries
            found = self._rulebooks[tenant] = self._book.of(
                (_of_tenant(entries[each.rule.name], tenant) for each in policy.rules),
                (each.value for each in policy.waivers),
            )
        return found

    @cached_property
    def _waivers_of(self) -> dict[str, list[Definition[Waiver]]]:
        found: dict[str, list[Definition[Waiver]]] = {}
        for waiver in self.waivers.values():
            found.setdefault(waiver.value.tenant, []).append(waiver)
        return found

    @cached_property
    def _book(self) -> Rulebook:
        """All rules, read once: tenants share them."""
        return rulebook_with(
            [each.value for each in self.rules.values()],
            [each.value for each in self.waivers.values()],
            {name: each.value for name, each in self.conditions.items()},
            self.groups,
        )

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        return {entry.rule.name: entry for entry in self._book.entries}

    def setting(self, catalog: Catalog, call: Call | None) -> Setting:
        """What conditions depend on for a catalog and a call.

        All tenants have one together, so that what a condition comes to on a catalog is found out once.
        """
        key = id(catalog), call
        kept = self._settings.get(key)
        if kept is None:
            if len(self._settings) >= _SETTINGS:
                self._settings.clear()
            # The catalog is kept with it, or its id could become another one's.
            kept = self._settings[key] = catalog, Setting(self.groups, call)
        return kept[1]

    def declaration(self, capability: str) -> tuple[dict[str, Any], Capability]:
        """The declaration of a capability, as it goes over the wire and as it is read; not to be changed.

        Raises:
            UnknownCapabilityError: The pack doesn't name it.
        """
        found = self._declared.get(capability)
        if found is None:
            if capability not in self.capabilities:
                raise UnknownCapabilityError(capability, self.capabilities)
            document = _declaration(self.capabilities[capability].value)
            found = self._declared[capability] = document, read_capability(document)
        return found

    def visible(self, tenant: str) -> tuple[Definition[PackProvider], ...]:
        """The providers that a tenant sees."""
        return tuple(each for each in self.providers.values() if each.value.visible_to(tenant))

    def catalog(self, tenant: str) -> Catalog:
        """The candidates that a tenant sees, indexed; tenants that see the same share one."""
        seen = self._seen.get(tenant)
        if seen is not None:
            return seen
        visible = self.visible(tenant)
        key = tuple(each.name for each in visible)
        found = self._catalogs.get(key)
        if found is None:
            members = [(DeclaredProvider(each.value.metadata), each.value.metadata) for each in visible]
            found = self._catalogs[key] = Catalog.of_members(members)
        self._seen[tenant] = found
        return found

    def resolve(
        self,
        tenant: str,
        capability: str | Mapping[str, Any] | Capability,
        *,
        labels: Mapping[str, str] | None = None,
        at: str | None = None,
        preferred_provider: str | None = None,
        preferred_model: str | None = None,
        operator_labels: Mapping[str, str] | None = None,
        why_not: tuple[str, str] | None = None,
        catalog: Catalog | None = None,
    ) -> "Resolved":
        """What a request of a tenant comes to under the pack.

        Args:
            tenant: The tenant.
            capability: The name of a capability of the pack, or a declaration.
            labels: What the request says of itself.
            at: The time of the request: a date, or a date and time with its zone.
            preferred_provider: A hint: candidates of this provider come first.
            preferred_model: A hint: candidates of this model name come first.
            operator_labels: The labels that whoever runs the service sets.
            why_not: A (provider id, model name) to compare with the pick.
            catalog: Candidates to route among instead of those that the tenant sees.

        Raises:
            UnknownTenantError: The pack doesn't name the tenant.
            UnknownCapabilityError: The pack doesn't name the capability.
            InvalidCapabilityError: The declaration is broken.
            InvalidRequestError: A label or the time is broken, or the request may not say so.
        """
        policy = self.policy(tenant)
        entry: CapabilityEntry | None = None
        if isinstance(capability, str):
            declaration, asked = self.declaration(capability)
            entry = self.capabilities[capability].value
        elif isinstance(capability, Capability):
            declaration, asked = capability.to_dict(), capability
        else:
            declaration = dict(capability)
            asked = read_capability(declaration, "/capability")
        issues: list[Issue] = [] if at is None else moment_issues(at, "/at")
        found = self._labels(entry, dict(labels or {}), dict(operator_labels or {}), issues)
        if issues:
            raise InvalidRequestError(issues)
        return Resolved(
            self,
            policy,
            entry,
            declaration,
            found,
            at,
            preferred_provider,
            preferred_model,
            why_not,
            asked,
            self.catalog(tenant) if catalog is None else catalog,
        )

    def resolve_bundle(
        self,
        tenant: str,
        bundle: str | Mapping[str, Any],
        *,
        labels: Mapping[str, str] | None = None,
        at: str | None = None,
        operator_labels: Mapping[str, str] | None = None,
        why_not: Mapping[str, tuple[str, str]] | None = None,
    ) -> "ResolvedBundle":
        """What a tenant's request for a bundle comes to under the pack.

        Args:
            tenant: The tenant.
            bundle: The name of a bundle of the pack, or `slots` and `together` as the pack has them.
            labels: What the request says of itself.
            at: The time of the request: a date, or a date and time with its zone.
            operator_labels: The labels that whoever runs the service sets.
            why_not: For some slots, a (provider id, model name) to compare with the pick.

        Raises:
            UnknownTenantError: The pack doesn't name the tenant.
            UnknownBundleError: The pack doesn't name the bundle.
            UnknownCapabilityError: The pack doesn't name a capability of the bundle.
            InvalidRequestError: The bundle, a label or the time is broken, or the request may not say so.
        """
        policy = self.policy(tenant)
        if isinstance(bundle, str):
            if bundle not in self.bundles:
                raise UnknownBundleError(bundle, self.bundles)
            entry = self.bundles[bundle].value
        else:
            read, issues = bundle_entry({"name": "bundle", **bundle})
            if issues:
                raise InvalidRequestError(issues)
            entry = read
        issues = [] if at is None else moment_issues(at, "/at")
        slots: dict[str, dict[str, Any]] = {}
        given, operator = dict(labels or {}), dict(operator_labels or {})
        for name, slot in entry.slots.items():
            capability: CapabilityEntry | None = None
            declaration = slot.capability
            if isinstance(declaration, str):
                if declaration not in self.capabilities:
                    raise UnknownCapabilityError(declaration, self.capabilities)
                capability = self.capabilities[declaration].value
                declaration = _declaration(capability)
            found: list[Issue] = []
            own = self._labels(capability, {**given, **slot.labels}, operator, found)
            issues += [issue for issue in found if issue not in issues]
            tokens = None if capability is None or capability.tokens is None else capability.tokens
            slots[name] = _given(
                capability=declaration,
                preferredProvider=slot.preferred_provider,
                preferredModel=slot.preferred_model,
                capabilityName=None if capability is None else capability.name,
                labels=own or None,
                tokens=None if tokens is None else tokens.model_dump(by_alias=True),
            )
        if issues:
            raise InvalidRequestError(issues)
        return ResolvedBundle(self, policy, slots, tuple(entry.together), at, why_not)

    def _labels(
        self, entry: CapabilityEntry | None, given: dict[str, Any], operator: dict[str, Any], issues: list[Issue]
    ) -> dict[str, str]:
        """The labels of a request: defaults, then the operator's, then the capability's, then its own."""
        for key, value in given.items():
            if not isinstance(value, str):
                issues.append(Issue(child("/labels", key), f"{shown(value)} is {kind_of(value)}; a string is expected"))
        if issues:
            return {}
        declared = None if self.labels is None else {name: each.value for name, each in self.labels.items()}
        if declared is not None:
            issues += _label_issues(given, declared, by_operator=False)
            issues += _label_issues(operator, declared, by_operator=True)
        found = {name: each.default for name, each in (declared or {}).items() if each.default is not None}
        fixed = {} if entry is None else dict(entry.labels)
        for key, value in fixed.items():
            if given.get(key, value) != value:
                message = f"{shown(given[key])}, but this capability always has {shown(value)}"
                issues.append(Issue(child("/labels", key), message))
        found |= operator | fixed | given
        return found


def _label_issues(
    given: Mapping[str, str], declared: Mapping[str, LabelDeclaration], *, by_operator: bool
) -> Iterator[Issue]:
    for key, value in given.items():
        at = child("/labels", key)
        if key not in declared:
            listed = f"; the labels are {quoted(declared)}" if declared else "; the pack declares none"
            yield Issue(at, f"{shown(key)} is no label of a request{did_you_mean(key, declared) or listed}")
            continue
        label = declared[key]
        if label.set_by == "operator" and not by_operator:
            yield Issue(at, f"{shown(key)} is set by the operator; a request does not name it")
        elif value not in label.values:
            near = did_you_mean(value, label.values) or f"; its values are {quoted(label.values)}"
            yield Issue(at, f"{shown(value)} is no value of label {shown(key)}{near}")
        elif by_operator and label.set_by is None:
            yield Issue(at, f"{shown(key)} is not the operator's to set; a request names it")


@dataclass(frozen=True)
class Resolved:
    """A request of a tenant under a pack.

    Attributes:
        pack: The pack.
        policy: What holds for the tenant.
        entry: The capability of the pack that is asked for; None for a declaration of the request's own.
        declaration: The capability, as it goes over the wire.
        labels: What is known of the request.
        at: Its time, if it has one of its own.
        preferred_provider: The provider hint.
        preferred_model: The model hint.
        why_not: A (provider id, model name) to compare with the pick.
        capability: The capability, as it is read.
        catalog: The candidates.
    """

    pack: Pack = field(repr=False)
    policy: PolicyInForce = field(repr=False)
    entry: CapabilityEntry | None
    declaration: dict[str, Any]
    labels: dict[str, str]
    at: str | None
    preferred_provider: str | None
    preferred_model: str | None
    why_not: tuple[str, str] | None
    capability: Capability = field(repr=False)
    catalog: Catalog = field(repr=False)

    @property
    def tenant(self) -> str:
        """The tenant."""
        return self.policy.tenant

    @property
    def origins(self) -> Mapping[str, tuple[Origin, ...]]:
        """For each constraint of a clause or a rule, by its id, where it is written."""
        return self.policy.origins

    @cached_property
    def request(self) -> dict[str, Any]:
        """The wire request: `answer` gives it the pack's answer, without the pack."""
        rules = [each.rule.value.to_dict() for each in self.policy.rules]
        waivers = [waiver.value.to_dict() for waiver in self.policy.waivers]
        places = {
            name: [{"file": each.file, "line": each.line, "column": each.column} for each in origins]
            for name, origins in self.origins.items()
        }
        return {
            "capability": copy.deepcopy(self.declaration),
            "providers": [_provider_document(each) for each in self.catalog.metadata],
            "tenantPolicy": self.policy.clauses.to_dict(),
            **self._facts(),
            **_given(
                regions=copy.deepcopy(self.pack.region_document) or None,
                conditions=self._conditions() or None,
                rules=rules or None,
                waivers=waivers or None,
                origins=places or None,
                contacts=dict(self.policy.contacts) or None,
            ),
        }

    def _facts(self) -> dict[str, Any]:
        """What the request says beside what it asks for and under which policy."""
        asked = None if self.why_not is None else dict(zip(("provider", "model"), self.why_not, strict=True))
        return _given(
            capabilityName=None if self.entry is None else self.entry.name,
            preferredProvider=self.preferred_provider,
            preferredModel=self.preferred_model,
            labels=dict(self.labels) or None,
            at=self.at,
            tokens=self._tokens(),
            whyNot=asked,
        )

    def read(self, *, include: Sequence[str] = (), now: datetime | None = None) -> Request:
        """The request, ready to be solved and answered. The candidates are the pack's own, indexed once.

        Args:
            include: What the answer holds beside the decision or the error: `matched`, `explanation`, `request`.
            now: The time of a request that names none; the present when absent.
        """
        document = copy.deepcopy(self.request) if "request" in include else self._facts()
        if "at" not in document:
            document["at"] = written(now or datetime.now(UTC))
        if include:
            document["include"] = list(include)
        tokens = self._tokens()
        book = self.pack.rulebook(self.tenant)
        situation = Situation(
            book,
            self.pack.setting(self.catalog, None if tokens is None else Call(tokens["prompt"], tokens["completion"])),
            self.labels,
            document.get("capabilityName"),
            read_moment(document["at"]),
            self.origins,
            self.policy.contacts,
        )
        return Request(document, self.capability, self.catalog, self.policy.clauses, (), situation)

    def answer(self, *, include: Sequence[str] = (), engine: EngineName = "bitset") -> dict[str, Any]:
        """The pack's answer, as it goes over the wire."""
        return self.read(include=include).answer(engine)

    def _tokens(self) -> dict[str, Any] | None:
        if self.entry is None or self.entry.tokens is None:
            return None
        return {"prompt": self.entry.tokens.prompt, "completion": self.entry.tokens.completion}

    def _conditions(self) -> dict[str, Any]:
        """The named conditions that the tenant's rules and waivers lead to; others may name what it must not see."""
        documents = [each.rule.value.condition for each in self.policy.rules]
        documents += [waiver.value.admits for waiver in self.policy.waivers]
        waiting = [name for each in documents if each is not None for name in named_in(each)]
        reached: dict[str, None] = {}
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached[name] = None
                waiting += named_in(self.pack.conditions[name].value)
        return {
            name: each.value.model_dump(by_alias=True, exclude_unset=True, mode="json")
            for name, each in self.pack.conditions.items()
            if name in reached
        }


@dataclass(frozen=True)
class ResolvedBundle:
    """A tenant's request for a bundle under a pack.

    Attributes:
        pack: The pack.
        policy: What holds for the tenant.
        slots: The slots, as they go over the wire.
        together: What ties them, as it goes over the wire.
        at: Its time, if it has one of its own.
        why_not: For some slots, a (provider id, model name) to compare with the pick.
    """

    pack: Pack = field(repr=False)
    policy: PolicyInForce = field(repr=False)
    slots: dict[str, dict[str, Any]]
    together: tuple[dict[str, Any], ...]
    at: str | None
    why_not: Mapping[str, tuple[str, str]] | None

    @cached_property
    def request(self) -> dict[str, Any]:
        """The wire request: `answer` gives it the pack's answer, without the pack."""
        alone = self.pack.resolve(self.policy.tenant, {"needs": []}, at=self.at).request
        kept = {key: value for key, value in alone.items() if key not in ("capability", "labels")}
        asked = None
        if self.why_not is not None:
            asked = {slot: {"provider": pair[0], "model": pair[1]} for slot, pair in self.why_not.items()}
        return {
            "slots": copy.deepcopy(self.slots),
            "together": copy.deepcopy(list(self.together)),
            **kept,
            **_given(whyNot=asked),
        }

    def read(self, *, include: Sequence[str] = (), now: datetime | None = None) -> BundleRequest:
        """The request, ready to be solved and answered.

        Args:
            include: What the answer holds beside the decision or the error: `matched`, `explanation`, `request`.
            now: The time of a request that names none; the present when absent.
        """
        request = {**self.request, **({"include": list(include)} if include else {})}
        return read_bundle_request(request, now=now)

    def answer(self, *, include: Sequence[str] = ()) -> dict[str, Any]:
        """The pack's answer, as it goes over the wire."""
        return self.read(include=include).answer()


_SETTINGS: Final = 64
"""For how many catalogs and calls what was found out is kept."""

_CLAUSES: Final[Mapping[str, tuple[str, str | None]]] = {
    "policy/providers/deny": ("providers", "deny"),
    "policy/providers/allow": ("providers", "allow"),
    "policy/models/deny": ("models", "deny"),
    "policy/models/allow": ("models", "allow"),
    "policy/regionAllow": ("region_allow", None),
    "policy/maxCostPerCallUsd": ("max_cost_per_call_usd", None),
    "policy/maxTokensPerCall": ("max_tokens_per_call", None),
}
"""The clauses, each with the attributes that hold it."""

CLAUSES: Final = tuple(_CLAUSES)
"""The ids of the constraints that clauses come to, in their order."""

_WIRE = {name: each.alias or name for name, each in TenantPolicy.model_fields.items()}


def _clause(value: Any, first: str, second: str | None) -> Any:
    found = getattr(value, first)
    return found if second is None or found is None else getattr(found, second)


def _sets_nothing(second: str | None) -> Any:
    return () if second == "deny" else None


def sets_clause(part: Part, constraint: str) -> bool:
    """Whether a part of a policy sets a clause, which is named by its constraint's id."""
    first, second = _CLAUSES[constraint]
    return _clause(part.value, first, second) not in (None, _sets_nothing(second))


def clause_origin(part: Part, constraint: str) -> Origin:
    """Where a part of a policy sets a clause."""
    first, second = _CLAUSES[constraint]
    return part.piece.inner(_WIRE[first], *((second,) if second else ())).origin


def as_policy(part: Part, tenant: str) -> TenantPolicy:
    """The clauses of one part of a tenant's policy, by themselves."""
    value = part.value
    given = {name: getattr(value, name) for name, _ in _CLAUSES.values()}
    return TenantPolicy(tenant_id=tenant, **{name: each for name, each in given.items() if each is not None})


def _declaration(entry: CapabilityEntry) -> dict[str, Any]:
    return entry.model_dump(by_alias=True, exclude_unset=True, exclude={"name", "labels", "tokens"}, mode="json")


def _given(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _of_tenant(entry: Entry, tenant: str) -> Entry:
    """A rule with the waivers of one tenant alone."""
    own = tuple(lift for lift in entry.lifts if lift.waiver.tenant == tenant)
    return entry if own == entry.lifts else replace(entry, lifts=own)


def _provider_document(metadata: ProviderMetadata) -> dict[str, Any]:
    return metadata.model_dump(by_alias=True, exclude_unset=True, mode="json")
