"""A loaded pack: the policies in force for its tenants, and the requests that it resolves."""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ...basics.issues import Issue, child, did_you_mean, kind_of, quoted, shown
from ...catalog.catalog import Catalog
from ...constraints.named import Origin
from ...constraints.rulebook import Entry, Rulebook, rulebook_with
from ...constraints.three_valued import Call, EvalContext
from ...engine.single import EngineName
from ...errors import InvalidRequestError, WhyrouteError
from ...model.capability import Capability, read_capability
from ...model.condition import Condition, named_in
from ...model.policy import TenantPolicy, combine
from ...model.provider import DeclaredProvider, ProviderMetadata, SetupFailure
from ...model.regions import Regions, regions_of
from ...model.request_facts import label_issues
from ...model.rule import Rule, Waiver
from ...model.timestamps import moment_issues, written
from ...solving.request import RequestTerms
from ...solving.situation import Situation
from ...wire.request import Request
from ..source.problems import Place
from .definitions import Definition
from .models import (
    BundleEntry,
    CapabilityEntry,
    Descriptor,
    LabelDeclaration,
    PackProvider,
    PackTest,
    PolicyPart,
    Tenant,
    Tokens,
)
from .reading import bundle_entry

if TYPE_CHECKING:
    from ...wire.bundles import BundleRequest
    from .compiled import CompiledPack

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
    "metadata_document",
    "sets_clause",
]

Part = Definition[PolicyPart] | Definition[Tenant]


class _UnknownNameError(WhyrouteError):
    """A name that the pack doesn't have."""

    what: ClassVar[str]
    plural: ClassVar[str]
    without: ClassVar[str] = "it defines none"

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        self._name = name
        self.known = tuple(known)
        listed = f"; the {self.plural} are {quoted(self.known, limit=8)}" if self.known else f"; {self.without}"
        super().__init__(f"{shown(name)} is no {self.what} of the pack{did_you_mean(name, self.known) or listed}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._name, self.known)


class UnknownTenantError(_UnknownNameError):
    """A tenant that the pack doesn't name.

    Attributes:
        known: The tenants that it names.
    """

    code: ClassVar[str] = "unknown-tenant"
    what, plural, without = "tenant", "tenants", "it names none"

    @property
    def tenant(self) -> str:
        """Its name, as it was given."""
        return self._name


class UnknownCapabilityError(_UnknownNameError):
    """A capability that the pack doesn't name.

    Attributes:
        known: The capabilities that it names.
    """

    code: ClassVar[str] = "unknown-capability"
    what, plural = "capability", "capabilities"

    @property
    def capability(self) -> str:
        """Its name, as it was given."""
        return self._name


class UnknownBundleError(_UnknownNameError):
    """A bundle that the pack doesn't name.

    Attributes:
        known: The bundles that it names.
    """

    code: ClassVar[str] = "unknown-bundle"
    what, plural = "bundle", "bundles"

    @property
    def bundle(self) -> str:
        """Its name, as it was given."""
        return self._name


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


@dataclass(frozen=True, slots=True)
class _Brought:
    """What a part of a policy brings in.

    Attributes:
        clauses: The clauses that it sets, as the ids of their constraints, each with where it does.
        owner: Whom to ask about it.
        rules: The rules that it attaches, by name, each with where it does.
    """

    clauses: tuple[tuple[str, Origin], ...]
    owner: str | None
    rules: Mapping[str, AttachedRule]


@dataclass(frozen=True, eq=False)
class Pack:
    """A rule pack: everything its files define. Entries come in an order that the names of the files don't change.

    A pack is equal only to itself.

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
        descriptors: Features and kinds beyond the built-in ones, by id.
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
    descriptors: Mapping[str, Definition[Descriptor]] = field(default_factory=dict)
    _catalogs: dict[tuple[str, ...], Catalog] = field(default_factory=dict, repr=False, compare=False)

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
        return self._view(tenant).policy

    def _view(self, tenant: str) -> "_TenantView":
        found = self._views.get(tenant)
        if found is None:
            raise UnknownTenantError(tenant, self.tenants)
        return found

    @cached_property
    def _views(self) -> dict[str, "_TenantView"]:
        return {name: _TenantView(self, tenant) for name, tenant in self.tenants.items()}

    def _combined(self, tenant: Definition[Tenant]) -> PolicyInForce:
        parts = tuple(self._parts(tenant))
        clauses = self._clauses(parts)
        set_by: dict[str, list[Origin]] = {}
        owners: dict[str, dict[str, None]] = {}
        attached: dict[str, AttachedRule] = {}
        for part in parts:
            brought = self._brought_by(part)
            for constraint, place in brought.clauses:
                set_by.setdefault(constraint, []).append(place)
                if brought.owner:
                    owners.setdefault(constraint, {})[brought.owner] = None
            for name, each in brought.rules.items():
                before = attached.get(name)
                attached[name] = each if before is None else replace(each, attached=before.attached + each.attached)
        origins = {constraint: tuple(set_by[constraint]) for constraint in CLAUSES if constraint in set_by}
        contacts = {constraint: ", ".join(owners[constraint]) for constraint in CLAUSES if constraint in owners}
        rules = tuple(attached.values())
        written = self._rule_origins
        for each in rules:
            origins[f"rules/{each.rule.name}"] = written[each.rule.name]
        waivers = tuple(each for each in self._waivers_of.get(tenant.name, ()) if each.value.rule in attached)
        return PolicyInForce(tenant.name, parts, clauses, origins, contacts, rules, waivers)

    def clauses(self, tenant: str) -> TenantPolicy:
        """The clauses that hold for a tenant, combined; `policy` without the places and the rules.

        Raises:
            UnknownTenantError: The pack doesn't name it.
        """
        return self._clauses(self.parts(tenant))

    def _clauses(self, parts: Iterable[Part]) -> TenantPolicy:
        return combine(*map(self._as_policy, parts), regions=self.groups if self.regions else None)

    def _as_policy(self, part: Part) -> TenantPolicy:
        """The clauses of a part, which has its own name for a tenant's."""
        return as_policy(part, part.name) if isinstance(part.value, Tenant) else self._part_policies[part.name]

    @cached_property
    def _part_policies(self) -> dict[str, TenantPolicy]:
        return {name: as_policy(part, name) for name, part in self.policies.items()}

    def _brought_by(self, part: Part) -> "_Brought":
        return self._brought_in(part) if isinstance(part.value, Tenant) else self._brought[part.name]

    @cached_property
    def _brought(self) -> dict[str, "_Brought"]:
        return {name: self._brought_in(part) for name, part in self.policies.items()}

    def _brought_in(self, part: Part) -> "_Brought":
        clauses = tuple((each, clause_origin(part, each)) for each in CLAUSES if sets_clause(part, each))
        attached: dict[str, list[Origin]] = {}
        for index, name in enumerate(part.value.rules):
            attached.setdefault(name, []).append(part.piece.inner("rules", index).origin)
        rules = {name: AttachedRule(self.rules[name], tuple(places)) for name, places in attached.items()}
        return _Brought(clauses, getattr(part.value, "owner", None), rules)

    @cached_property
    def _rule_origins(self) -> Mapping[str, tuple[Origin, ...]]:
        """Where each rule is written."""
        return {name: (rule.origin,) for name, rule in self.rules.items()}

    def parts(self, tenant: str) -> tuple[Part, ...]:
        """The policies that a tenant's is combined from, each once, in the order in which they combine; its own last.

        Raises:
            UnknownTenantError: The pack doesn't name it.
        """
        return tuple(self._parts(self._view(tenant).tenant))

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
        return self._view(tenant).rulebook

    @cached_property
    def _waivers_of(self) -> dict[str, list[Definition[Waiver]]]:
        found: dict[str, list[Definition[Waiver]]] = {}
        for waiver in self.waivers.values():
            found.setdefault(waiver.value.tenant, []).append(waiver)
        return found

    @cached_property
    def everything(self) -> Catalog:
        """The candidates of all providers, whoever sees them, indexed once."""
        return self._catalog_without(())

    @cached_property
    def book(self) -> Rulebook:
        """All rules and waivers, whoever they hold for, read once: tenants share them."""
        return rulebook_with(
            [each.value for each in self.rules.values()],
            [each.value for each in self.waivers.values()],
            {name: each.value for name, each in self.conditions.items()},
            self.groups,
        )

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        """The rules of the book, by name."""
        return {entry.rule.name: entry for entry in self.book.entries}

    def declaration(self, capability: str) -> tuple[dict[str, Any], Capability]:
        """The declaration of a capability, as it goes over the wire and as it is read; not to be changed.

        Raises:
            UnknownCapabilityError: The pack doesn't name it.
        """
        found = self._declarations.get(capability)
        if found is None:
            raise UnknownCapabilityError(capability, self.capabilities)
        return found

    @cached_property
    def _declarations(self) -> dict[str, tuple[dict[str, Any], Capability]]:
        documents = {name: _declaration(each.value) for name, each in self.capabilities.items()}
        return {name: (document, read_capability(document)) for name, document in documents.items()}

    def visible(self, tenant: str) -> tuple[Definition[PackProvider], ...]:
        """The providers that a tenant sees."""
        return tuple(each for each in self.providers.values() if each.value.visible_to(tenant))

    def catalog(self, tenant: str) -> Catalog:
        """The candidates that a tenant sees, indexed; tenants that see the same share one."""
        return self._view(tenant).catalog

    @cached_property
    def _restricted(self) -> tuple[Definition[PackProvider], ...]:
        """The providers that not every tenant sees."""
        return tuple(each for each in self.providers.values() if each.value.only_tenants is not None)

    def _catalog_without(self, hidden: tuple[str, ...]) -> Catalog:
        """The candidates of all providers but some, given in order."""
        found = self._catalogs.get(hidden)
        if found is None:
            left_out = frozenset(hidden)
            providers = [each for name, each in self.providers.items() if name not in left_out]
            members = [(DeclaredProvider(each.value.metadata), each.value.metadata) for each in providers]
            found = self._catalogs[hidden] = Catalog.of_members(members)
        return found

    def compile(self) -> "CompiledPack":
        """The prepared requests of each tenant and capability."""
        from .compiled import CompiledPack  # noqa: PLC0415 (it knows the pack)

        return CompiledPack(self)

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
        elif isinstance(capability, Mapping):
            declaration = dict(capability)
            asked = read_capability(declaration, "/capability")
        else:
            expected = f"{kind_of(capability)}; the name of a capability or a declaration is expected"
            raise InvalidRequestError([Issue("/capability", expected)])
        issues: list[Issue] = [] if at is None else moment_issues(at, "/at")
        issues += self._said_issues(labels, operator_labels)
        fixed = {} if entry is None else entry.labels
        if not issues:
            issues += _fixed_issues(labels or {}, fixed, "/labels", "capability")
        if issues:
            raise InvalidRequestError(issues)
        return Resolved(
            self,
            policy,
            entry,
            declaration,
            {**self._defaults, **(operator_labels or {}), **fixed, **(labels or {})},
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
        catalog: Catalog | None = None,
    ) -> "ResolvedBundle":
        """What a tenant's request for a bundle comes to under the pack.

        Args:
            tenant: The tenant.
            bundle: The name of a bundle of the pack, or `slots` and `together` as the pack has them.
            labels: What the request says of itself.
            at: The time of the request: a date, or a date and time with its zone.
            operator_labels: The labels that whoever runs the service sets.
            why_not: For some slots, a (provider id, model name) to compare with the pick.
            catalog: Candidates to route among instead of those that the tenant sees.

        Raises:
            UnknownTenantError: The pack doesn't name the tenant.
            UnknownBundleError: The pack doesn't name the bundle.
            UnknownCapabilityError: The pack doesn't name a capability of the bundle.
            InvalidRequestError: The bundle, a label or the time is broken, or the request may not say so.
        """
        policy = self.policy(tenant)
        entry: BundleEntry
        if isinstance(bundle, str):
            if bundle not in self.bundles:
                raise UnknownBundleError(bundle, self.bundles)
            entry = self.bundles[bundle].value
        elif isinstance(bundle, Mapping):
            entry, issues = bundle_entry({"name": "bundle", **bundle})
            if issues:
                raise InvalidRequestError(issues)
        else:
            expected = f"{kind_of(bundle)}; the name of a bundle or an object with `slots` is expected"
            raise InvalidRequestError([Issue("/bundle", expected)])
        issues = [] if at is None else moment_issues(at, "/at")
        broken = self._said_issues(labels, operator_labels)
        issues += broken
        slots: dict[str, dict[str, Any]] = {}
        given, operator = ({}, {}) if broken else (dict(labels or {}), dict(operator_labels or {}))
        for name, slot in entry.slots.items():
            capability: CapabilityEntry | None = None
            declaration = slot.capability
            if isinstance(declaration, str):
                if declaration not in self.capabilities:
                    raise UnknownCapabilityError(declaration, self.capabilities)
                capability = self.capabilities[declaration].value
                declaration, _ = self.declaration(declaration)
            path = child("/slots", name, "labels")
            if isinstance(bundle, str):
                issues += _fixed_issues(given, slot.labels, path, "slot")
            else:
                # The request's own slots: what one says for itself counts there, as on the wire.
                issues += self._label_issues(slot.labels, operator, path)
            fixed = {} if capability is None else capability.labels
            said = {**given, **slot.labels}
            issues += _fixed_issues(said, fixed, path, "capability")
            own = {**self._defaults, **operator, **fixed, **said}
            tokens = None if capability is None or capability.tokens is None else capability.tokens
            slots[name] = _given(
                capability=declaration,
                preferredProvider=slot.preferred_provider,
                preferredModel=slot.preferred_model,
                capabilityName=None if capability is None else capability.name,
                labels=own or None,
                tokens=None if tokens is None else tokens.model_dump(by_alias=True),
            )
        if why_not is not None:
            from ...bundles.reading import why_not_issues  # noqa: PLC0415 (takes long; few packs have bundles)

            issues += why_not_issues(_candidates_document(why_not), "/whyNot", slots)
        if issues:
            raise InvalidRequestError(issues)
        candidates = self.catalog(tenant) if catalog is None else catalog
        return ResolvedBundle(self, policy, slots, tuple(entry.together), at, why_not, candidates)

    def operator_label_issues(self, labels: Mapping[str, str]) -> list[Issue]:
        """What is wrong with the labels that whoever runs the service sets; any may be set where none are declared."""
        issues: list[Issue] = []
        for key, value in labels.items():
            if self.labels is not None:
                issues += _value_issues(key, value, self.labels, child("/labels", key))
                if key in self.labels and self.labels[key].value.set_by is None:
                    message = f"{shown(key)} is not the operator's to set; a request names it"
                    issues.append(Issue(child("/labels", key), message))
        return issues

    def split_labels(self, labels: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """Labels as `resolve` takes them: those that a request names, and those that the operator sets.

        Args:
            labels: Labels of somebody who stands for both, as a test does.
        """
        given: dict[str, str] = {}
        operator: dict[str, str] = {}
        for key, value in labels.items():
            (operator if self._is_operators(key) else given)[key] = value
        return given, operator

    def _is_operators(self, key: str) -> bool:
        return self.labels is not None and key in self.labels and self.labels[key].value.set_by == "operator"

    @cached_property
    def _defaults(self) -> dict[str, str]:
        declared = {name: each.value.default for name, each in (self.labels or {}).items()}
        return {name: default for name, default in declared.items() if default is not None}

    def _said_issues(self, labels: Any, operator: Any) -> list[Issue]:
        """What is wrong with the labels that a request names and those that the operator sets."""
        issues = [*label_issues(labels or {}, "/labels"), *label_issues(operator or {}, "/labels")]
        if issues:
            return issues
        issues += self._label_issues(labels or {}, operator or {}, "/labels")
        return issues + self.operator_label_issues(operator or {})

    def _label_issues(self, given: Mapping[str, str], operator: Mapping[str, str], path: str) -> Iterator[Issue]:
        """What is wrong with the labels that a request names."""
        for key, value in given.items():
            at = child(path, key)
            if self._is_operators(key) or (self.labels is None and key in operator):
                yield Issue(at, f"{shown(key)} is set by the operator; a request does not name it")
            elif self.labels is not None:
                yield from _value_issues(key, value, self.labels, at)


_PREPARED: Final = 4096
"""How many prepared requests of a tenant are kept: labels that a pack declares have many combinations."""


class _TenantView:
    """What a pack says for one tenant, each part made when it is first asked for.

    Attributes:
        tenant: The tenant.
    """

    def __init__(self, pack: Pack, tenant: Definition[Tenant]) -> None:
        self._pack = pack
        self.tenant = tenant
        self._prepared: dict[tuple[str, tuple[tuple[str, str], ...]], RequestTerms] = {}

    @cached_property
    def policy(self) -> PolicyInForce:
        """What holds for the tenant."""
        return self._pack._combined(self.tenant)

    @cached_property
    def rulebook(self) -> Rulebook:
        """The rules that hold for the tenant, with everything that they refer to."""
        entries, policy = self._pack.entries, self.policy
        return Rulebook(
            tuple(_of_tenant(entries[each.rule.name], self.tenant.name) for each in policy.rules),
            tuple(each.value for each in policy.waivers),
            self._pack.groups,
        )

    @cached_property
    def catalog(self) -> Catalog:
        """The candidates that the tenant sees; tenants that see the same share one."""
        name = self.tenant.name
        return self._pack._catalog_without(
            tuple(each.name for each in self._pack._restricted if not each.value.visible_to(name))
        )

    def situation(self, labels: Mapping[str, str], tokens: Tokens | None, capability: str | None) -> Situation:
        """The tenant's rules, and what they depend on for a request."""
        call = None if tokens is None else Call.of(tokens.prompt, tokens.completion)
        context = EvalContext(self._pack.groups, call)
        return Situation(self.rulebook, context, labels, capability, self.policy.origins, self.policy.contacts)

    def terms(self, capability: str, labels: Mapping[str, str]) -> RequestTerms:
        """The request for a capability of the pack, prepared; kept for the next with the same labels.

        Args:
            capability: The name of the capability.
            labels: What is known of the request.
        """
        key = capability, tuple(sorted(labels.items()))
        found = self._prepared.get(key)
        if found is None:
            _, asked = self._pack.declaration(capability)
            tokens = self._pack.capabilities[capability].value.tokens
            found = RequestTerms(asked, self.policy.clauses, self.situation(labels, tokens, capability))
            # Where the pack declares no labels, a caller may give any: those are not kept.
            if self._pack.labels is not None or not labels:
                if len(self._prepared) >= _PREPARED:
                    self._prepared = {}
                self._prepared[key] = found
        return found


def _value_issues(
    key: str, value: str, declared: Mapping[str, Definition[LabelDeclaration]], path: str
) -> Iterator[Issue]:
    if key not in declared:
        listed = f"; the labels are {quoted(declared)}" if declared else "; the pack declares none"
        yield Issue(path, f"{shown(key)} is no label of a request{did_you_mean(key, declared) or listed}")
    elif value not in (values := declared[key].value.values):
        near = did_you_mean(value, values) or f"; its values are {quoted(values)}"
        yield Issue(path, f"{shown(value)} is no value of label {shown(key)}{near}")


def _fixed_issues(given: Mapping[str, str], fixed: Mapping[str, str], path: str, what: str) -> Iterator[Issue]:
    """Labels of a request that say otherwise than what it asks for."""
    for key, value in fixed.items():
        if given.get(key, value) != value:
            yield Issue(child(path, key), f"{shown(given[key])}, but this {what} always has {shown(value)}")


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
            "providers": [metadata_document(each) for each in self.catalog.metadata],
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

    def read(
        self,
        *,
        include: Sequence[str] = (),
        now: datetime | None = None,
        setup_failures: Sequence[SetupFailure] = (),
    ) -> Request:
        """The request, ready to be solved and answered. The candidates are the pack's own, indexed once.

        Args:
            include: What the answer holds beside the decision or the error: `matched`, `explanation`, `request`.
            now: The time of a request that names none; the present when absent.
            setup_failures: Providers that could not be set up, to be named when nothing qualifies.
        """
        document = copy.deepcopy(self.request) if "request" in include else self._facts()
        if "request" in include and setup_failures:
            document["setupFailures"] = [failure.model_dump(by_alias=True) for failure in setup_failures]
        if "at" not in document:
            document["at"] = written(now or datetime.now(UTC))
        if include:
            document["include"] = list(include)
        return Request(document, self.terms, self.catalog, tuple(setup_failures))

    @property
    def terms(self) -> RequestTerms:
        """The request, prepared: that for a capability of the pack once for all its requests with the same labels."""
        view = self.pack._view(self.tenant)
        if self.entry is not None:
            return view.terms(self.entry.name, self.labels)
        return RequestTerms(self.capability, self.policy.clauses, view.situation(self.labels, None, None))

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
        waiting = [name for each in documents if each is not None for name in named_in(each.node)]
        reached: dict[str, None] = {}
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached[name] = None
                waiting += named_in(self.pack.conditions[name].value.node)
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
        catalog: The candidates.
    """

    pack: Pack = field(repr=False)
    policy: PolicyInForce = field(repr=False)
    slots: dict[str, dict[str, Any]]
    together: tuple[dict[str, Any], ...]
    at: str | None
    why_not: Mapping[str, tuple[str, str]] | None
    catalog: Catalog = field(repr=False)

    @cached_property
    def request(self) -> dict[str, Any]:
        """The wire request: `answer` gives it the pack's answer, without the pack."""
        alone = self.pack.resolve(self.policy.tenant, {"needs": []}, at=self.at, catalog=self.catalog).request
        kept = {key: value for key, value in alone.items() if key not in ("capability", "labels")}
        return {
            "slots": copy.deepcopy(self.slots),
            "together": copy.deepcopy(list(self.together)),
            **kept,
            **self._facts(),
        }

    def _facts(self) -> dict[str, Any]:
        """What the request says beside what it asks for and under which policy."""
        asked = None if self.why_not is None else _candidates_document(self.why_not)
        return _given(at=self.at, whyNot=asked)

    def read(
        self,
        *,
        include: Sequence[str] = (),
        now: datetime | None = None,
        setup_failures: Sequence[SetupFailure] = (),
    ) -> "BundleRequest":
        """The request, ready to be solved and answered. The candidates are the pack's own, indexed once.

        Args:
            include: What the answer holds beside the decision or the error: `matched`, `explanation`, `request`.
            now: The time of a request that names none; the present when absent.
            setup_failures: Providers that could not be set up, to be named when nothing qualifies.
        """
        # They take long to load, and few packs have bundles.
        from ...bundles.reading import read_together  # noqa: PLC0415
        from ...solving.joint import Slot  # noqa: PLC0415
        from ...wire.bundles import BundleRequest  # noqa: PLC0415

        document = copy.deepcopy(self.request) if "request" in include else self._facts()
        if "request" in include and setup_failures:
            document["setupFailures"] = [failure.model_dump(by_alias=True) for failure in setup_failures]
        if "at" not in document:
            document["at"] = written(now or datetime.now(UTC))
        if include:
            document["include"] = list(include)
        view = self.pack._view(self.policy.tenant)
        slots = []
        for name, slot in self.slots.items():
            labels, tokens = slot.get("labels", {}), slot.get("tokens")
            own = view.situation(labels, None if tokens is None else Tokens(**tokens), slot.get("capabilityName"))
            asked = read_capability(slot["capability"], child("/slots", name, "capability"))
            slots.append(Slot(name, asked, slot.get("preferredProvider"), slot.get("preferredModel"), own))
        ties = read_together(self.together, self.slots)
        return BundleRequest(document, slots, ties, self.catalog, self.policy.clauses, tuple(setup_failures))

    def answer(self, *, include: Sequence[str] = ()) -> dict[str, Any]:
        """The pack's answer, as it goes over the wire."""
        return self.read(include=include).answer()


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


def _candidates_document(candidates: Mapping[str, tuple[str, str]]) -> dict[str, dict[str, str]]:
    return {slot: {"provider": provider, "model": model} for slot, (provider, model) in candidates.items()}


def _of_tenant(entry: Entry, tenant: str) -> Entry:
    """A rule with the waivers of one tenant alone."""
    if not entry.lifts:
        return entry
    own = tuple(lift for lift in entry.lifts if lift.waiver.tenant == tenant)
    return entry if own == entry.lifts else replace(entry, lifts=own)


def metadata_document(metadata: ProviderMetadata) -> dict[str, Any]:
    """Metadata as it goes over the wire: what was given, and nothing filled in."""
    return metadata.model_dump(by_alias=True, exclude_unset=True, mode="json")
