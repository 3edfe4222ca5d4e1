"""A loaded pack: what its files define, and the requests that it resolves."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...basics.issues import Issue, child, kind_of, shown
from ...catalog.catalog import Catalog
from ...constraints.rulebook import Entry, Rulebook, rulebook_with
from ...documents.canonical import digest_of
from ...errors import InvalidRequestError
from ...model.capability import Capability, read_capability
from ...model.condition import Condition
from ...model.provider import DeclaredProvider
from ...model.regions import Regions, regions_of
from ...model.request_facts import label_issues
from ...model.rule import Rule, Waiver
from ...model.timestamps import moment_issues
from ...solving.asked import LabelSource
from ..source.problems import Place
from ..source.sources import Source
from .definitions import Definition
from .documents import pack_document
from .entries import EVERY, bundle_entry
from .models import (
    BundleEntry,
    CapabilityEntry,
    Descriptor,
    LabelDeclaration,
    PackProvider,
    PackTest,
    PolicyPart,
    Tenant,
    no_label,
    no_value,
)
from .policy import PolicyInForce
from .resolved import Resolved, ResolvedBundle, candidates_document, given as members
from .unknown import UnknownBundleError, UnknownCapabilityError, UnknownTenantError
from .views import TenantView

if TYPE_CHECKING:
    from .compiled import CompiledPack

__all__ = ["Pack", "chosen"]


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
        sources: Its files, as they were read.
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
    sources: tuple[Source, ...] = field(default=(), repr=False, compare=False)
    _catalogs: dict[tuple[str, ...], Catalog] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def groups(self) -> Regions:
        """The groups of regions, each with all that it means."""
        return regions_of(self.region_document)

    @cached_property
    def region_document(self) -> dict[str, list[str]]:
        """The groups of regions, as they go over the wire."""
        return {name: list(group.value) for name, group in self.regions.items()}

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, of what the pack defines but for its tests.

        It is that of canonical JSON (RFC 8785): comments, layout and the names of files don't change it.
        """
        return digest_of(pack_document(self))

    def view(self, tenant: str) -> TenantView:
        """What the pack says for a tenant.

        Raises:
            UnknownTenantError: The pack doesn't name it.
        """
        found = self._views.get(tenant)
        if found is None:
            raise UnknownTenantError(tenant, self.tenants)
        return found

    @cached_property
    def _views(self) -> dict[str, TenantView]:
        return {name: TenantView(self, tenant) for name, tenant in self.tenants.items()}

    def policy(self, tenant: str) -> PolicyInForce:
        """What holds for a tenant; raises as `view` does."""
        return self.view(tenant).policy

    def rulebook(self, tenant: str) -> Rulebook:
        """The rules that hold for a tenant, with everything they refer to, read once; raises as `view` does."""
        return self.view(tenant).rulebook

    def catalog(self, tenant: str) -> Catalog:
        """The candidates that a tenant sees, indexed; tenants that see the same share one. Raises as `view` does."""
        return self.view(tenant).catalog

    @cached_property
    def everything(self) -> Catalog:
        """The candidates of all providers, for all tenants, indexed once."""
        return self.catalog_without(())

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        """All rules by name, with all waivers, for all tenants, read once: tenants share them."""
        book = rulebook_with(
            [each.value for each in self.rules.values()],
            [each.value for each in self.waivers.values()],
            {name: each.value for name, each in self.conditions.items()},
            self.groups,
        )
        return {entry.rule.name: entry for entry in book.entries}

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

    def catalog_without(self, hidden: tuple[str, ...]) -> Catalog:
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
    ) -> Resolved:
        """What a request of a tenant comes to under the pack.

        Args:
            tenant: The tenant.
            capability: The name of a capability of the pack, or a declaration.
            labels: What the request says of itself.
            at: The time of the request: a date, or a date and time with its zone.
            preferred_provider: A hint: candidates of this provider come first.
            preferred_model: A hint: candidates of this model name come first.
            operator_labels: The labels that the operator sets.
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
            pack=self,
            policy=policy,
            entry=entry,
            declaration=declaration,
            sourced_labels=self._sourced(operator_labels or {}, fixed, labels or {}),
            at=at,
            preferred_provider=preferred_provider,
            preferred_model=preferred_model,
            why_not=why_not,
            capability=asked,
            catalog=self.catalog(tenant) if catalog is None else catalog,
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
    ) -> ResolvedBundle:
        """What a tenant's request for a bundle comes to under the pack.

        Args:
            tenant: The tenant.
            bundle: The name of a bundle of the pack, or `slots` and `together` as the pack has them.
            labels: What the request says of itself.
            at: The time of the request: a date, or a date and time with its zone.
            operator_labels: The labels that the operator sets.
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
            if isinstance(slot.capability, str):
                declaration, _ = self.declaration(slot.capability)
                capability = self.capabilities[slot.capability].value
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
            slots[name] = members(
                capability=declaration,
                preferredProvider=slot.preferred_provider,
                preferredModel=slot.preferred_model,
                capabilityName=None if capability is None else capability.name,
                labels=own or None,
                tokens=None if tokens is None else tokens.model_dump(by_alias=True),
            )
        if why_not is not None:
            from ...bundles.reading import why_not_issues  # noqa: PLC0415 (takes long; few packs have bundles)

            issues += why_not_issues(candidates_document(why_not), "/whyNot", slots)
        if issues:
            raise InvalidRequestError(issues)
        return ResolvedBundle(
            pack=self,
            policy=policy,
            bundle=bundle,
            sourced_labels=self._sourced(operator, {}, given),
            slots=slots,
            together=tuple(entry.together),
            at=at,
            why_not=why_not,
            catalog=self.catalog(tenant) if catalog is None else catalog,
        )

    def operator_label_issues(self, labels: Mapping[str, str]) -> list[Issue]:
        """What is wrong with the labels that the operator sets; any may be set where none are declared."""
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

    def _sourced(
        self, operator: Mapping[str, str], fixed: Mapping[str, str], given: Mapping[str, str]
    ) -> dict[str, tuple[str, LabelSource]]:
        """Labels of a request, each with where it comes from: later ones replace earlier ones."""
        sources: tuple[tuple[LabelSource, Mapping[str, str]], ...] = (
            ("default", self._defaults),
            ("operator", operator),
            ("capability", fixed),
            ("request", given),
        )
        return {key: (value, source) for source, labels in sources for key, value in labels.items()}

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


def _value_issues(
    key: str, value: str, declared: Mapping[str, Definition[LabelDeclaration]], path: str
) -> Iterator[Issue]:
    if key not in declared:
        yield Issue(path, no_label(key, declared))
    elif value not in (values := declared[key].value.values):
        yield Issue(path, no_value(key, value, values))


def _fixed_issues(given: Mapping[str, str], fixed: Mapping[str, str], path: str, what: str) -> Iterator[Issue]:
    """Labels of a request that say otherwise than what it asks for."""
    for key, value in fixed.items():
        if given.get(key, value) != value:
            yield Issue(child(path, key), f"{shown(given[key])}, but this {what} always has {shown(value)}")


def _declaration(entry: CapabilityEntry) -> dict[str, Any]:
    return entry.model_dump(by_alias=True, exclude_unset=True, exclude={"name", "labels", "tokens"}, mode="json")


def chosen(names: str | tuple[str, ...], everyone: Iterable[str]) -> tuple[str, ...]:
    """The tenants or capabilities that a test names, each once: one, several, or all of the pack's."""
    if names == EVERY:
        return tuple(everyone)
    return (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
