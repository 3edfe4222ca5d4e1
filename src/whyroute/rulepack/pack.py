"""A loaded pack: the policies in force for its tenants, and the requests that it resolves."""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar

from ..catalog import Catalog
from ..conditions import Condition
from ..constraints import Origin
from ..declarations import Capability, read_capability
from ..errors import InvalidRequestError, WhyrouteError
from ..issues import Issue, child, did_you_mean, kind_of, quoted, shown
from ..kleene import Call, Setting
from ..moments import moment_issues, read_moment, written
from ..policies import TenantPolicy, combine
from ..providers import DeclaredProvider, ProviderMetadata, SetupFailure
from ..regions import Regions, regions_of
from ..rulebook import Rulebook, read_rulebook
from ..rules import Rule, Waiver
from ..solver import EngineName
from ..solving import Situation
from ..wire import Request
from .definitions import Definition
from .linking import named_in
from .models import CapabilityEntry, Descriptor, LabelDeclaration, PackProvider, PackTest, PolicyPart, Tenant
from .problems import Place

__all__ = [
    "AttachedRule",
    "Pack",
    "PolicyInForce",
    "Resolved",
    "UnknownCapabilityError",
    "UnknownTenantError",
    "metadata_document",
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
    tests: Mapping[str, Definition[PackTest]]
    descriptors: Mapping[str, Definition[Descriptor]] = field(default_factory=dict)
    _policies_in_force: dict[str, PolicyInForce] = field(default_factory=dict, repr=False, compare=False)
    _rulebooks: dict[str, Rulebook] = field(default_factory=dict, repr=False, compare=False)
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
        found = self._policies_in_force.get(tenant)
        if found is None:
            if tenant not in self.tenants:
                raise UnknownTenantError(tenant, self.tenants)
            found = self._policies_in_force[tenant] = self._combined(self.tenants[tenant])
        return found

    def _combined(self, tenant: Definition[Tenant]) -> PolicyInForce:
        parts = tuple(self._parts(tenant))
        clauses = combine(
            *(_as_policy(part, tenant.name) for part in parts), regions=self.groups if self.regions else None
        )
        origins: dict[str, tuple[Origin, ...]] = {}
        contacts: dict[str, str] = {}
        for constraint, (first, second) in _CLAUSES.items():
            given = [part for part in parts if _clause(part.value, first, second) not in (None, _sets_nothing(second))]
            if given:
                keys = (_WIRE[first], *((second,) if second else ()))
                origins[constraint] = tuple(part.piece.inner(*keys).origin for part in given)
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
        waivers = tuple(
            waiver
            for waiver in self.waivers.values()
            if waiver.value.tenant == tenant.name and waiver.value.rule in attached
        )
        return PolicyInForce(tenant.name, parts, clauses, origins, contacts, rules, waivers)

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
            found = self._rulebooks[tenant] = read_rulebook(
                [each.rule.value for each in policy.rules],
                waivers=[waiver.value for waiver in policy.waivers],
                conditions={name: each.value for name, each in self.conditions.items()},
                regions=self.groups,
            )
        return found

    def visible(self, tenant: str) -> tuple[Definition[PackProvider], ...]:
        """The providers that a tenant sees."""
        return tuple(each for each in self.providers.values() if each.value.visible_to(tenant))

    def catalog(self, tenant: str) -> Catalog:
        """The candidates that a tenant sees, indexed; tenants that see the same share one."""
        visible = self.visible(tenant)
        key = tuple(each.name for each in visible)
        found = self._catalogs.get(key)
        if found is None:
            members = [(DeclaredProvider(each.value.metadata), each.value.metadata) for each in visible]
            found = self._catalogs[key] = Catalog.of_members(members)
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

        Raises:
            UnknownTenantError: The pack doesn't name the tenant.
            UnknownCapabilityError: The pack doesn't name the capability.
            InvalidCapabilityError: The declaration is broken.
            InvalidRequestError: A label or the time is broken, or the request may not say so.
        """
        policy = self.policy(tenant)
        entry: CapabilityEntry | None = None
        if isinstance(capability, str):
            if capability not in self.capabilities:
                raise UnknownCapabilityError(capability, self.capabilities)
            entry = self.capabilities[capability].value
            declaration = _declaration(entry)
        else:
            declaration = capability.to_dict() if isinstance(capability, Capability) else dict(capability)
            read_capability(declaration, "/capability")
        issues: list[Issue] = [] if at is None else moment_issues(at, "/at")
        found = self._labels(entry, dict(labels or {}), dict(operator_labels or {}), issues)
        if issues:
            raise InvalidRequestError(issues)
        return Resolved(self, policy, entry, declaration, found, at, preferred_provider, preferred_model, why_not)

    def operator_label_issues(self, labels: Mapping[str, str]) -> list[Issue]:
        """What is wrong with the labels that whoever runs the service sets; any may be set where none are declared."""
        if self.labels is None:
            return []
        return list(_label_issues(labels, {name: each.value for name, each in self.labels.items()}, by_operator=True))

    def declaration(self, name: str) -> dict[str, Any]:
        """A capability of the pack as a declaration on the wire.

        Raises:
            UnknownCapabilityError: The pack doesn't name it.
        """
        if name not in self.capabilities:
            raise UnknownCapabilityError(name, self.capabilities)
        return _declaration(self.capabilities[name].value)

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
        issues += self.operator_label_issues(operator)
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

    @property
    def tenant(self) -> str:
        """The tenant."""
        return self.policy.tenant

    @property
    def origins(self) -> Mapping[str, tuple[Origin, ...]]:
        """For each constraint of a clause or a rule, by its id, where it is written."""
        return self.policy.origins

    @property
    def catalog(self) -> Catalog:
        """The candidates that the tenant sees."""
        return self.pack.catalog(self.tenant)

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
            "providers": [metadata_document(each.value.metadata) for each in self.pack.visible(self.tenant)],
            "tenantPolicy": self.policy.clauses.to_dict(),
            **self._facts(),
            **_given(
                regions=copy.deepcopy(self.pack.region_document) or None,
                conditions=self._conditions() or None,
                rules=rules or None,
                waivers=waivers or None,
                origins=places or None,
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
        catalog: Catalog | None = None,
        setup_failures: Sequence[SetupFailure] = (),
    ) -> Request:
        """The request, ready to be solved and answered. The candidates are the pack's own, indexed once.

        Args:
            include: What the answer holds beside the decision or the error: `matched`, `explanation`, `request`.
            now: The time of a request that names none; the present when absent.
            catalog: The candidates, where the tenant has more than the pack's.
            setup_failures: Providers that could not be set up, to be named when nothing qualifies.
        """
        document = copy.deepcopy(self.request) if "request" in include else self._facts()
        if "request" in include and catalog is not None:
            document["providers"] = [metadata_document(metadata) for metadata in catalog.metadata]
        if "request" in include and setup_failures:
            document["setupFailures"] = [failure.model_dump(by_alias=True) for failure in setup_failures]
        document.setdefault("at", written(now or datetime.now(UTC)))
        if include:
            document["include"] = list(include)
        tokens = self._tokens()
        book = self.pack.rulebook(self.tenant)
        situation = Situation(
            book,
            Setting(book.regions, None if tokens is None else Call(tokens["prompt"], tokens["completion"])),
            self.labels,
            document.get("capabilityName"),
            read_moment(document["at"]),
            self.origins,
        )
        capability = read_capability(self.declaration)
        candidates = self.catalog if catalog is None else catalog
        return Request(document, capability, candidates, self.policy.clauses, tuple(setup_failures), situation)

    def answer(self, *, include: Sequence[str] = (), engine: EngineName = "bitset") -> dict[str, Any]:
        """The pack's answer, as it goes over the wire."""
        return self.read(include=include).answer(engine)

    def _tokens(self) -> dict[str, Any] | None:
        if self.entry is None or self.entry.tokens is None:
            return None
        return self.entry.tokens.model_dump(by_alias=True)

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


_CLAUSES: Mapping[str, tuple[str, str | None]] = {
    "policy/providers/deny": ("providers", "deny"),
    "policy/providers/allow": ("providers", "allow"),
    "policy/models/deny": ("models", "deny"),
    "policy/models/allow": ("models", "allow"),
    "policy/regionAllow": ("region_allow", None),
    "policy/maxCostPerCallUsd": ("max_cost_per_call_usd", None),
    "policy/maxTokensPerCall": ("max_tokens_per_call", None),
}
"""The clauses, each with the attributes that hold it."""

_WIRE = {name: each.alias or name for name, each in TenantPolicy.model_fields.items()}


def _clause(value: Any, first: str, second: str | None) -> Any:
    found = getattr(value, first)
    return found if second is None or found is None else getattr(found, second)


def _sets_nothing(second: str | None) -> Any:
    return () if second == "deny" else None


def _as_policy(part: Part, tenant: str) -> TenantPolicy:
    value = part.value
    given = {name: getattr(value, name) for name, _ in _CLAUSES.values()}
    return TenantPolicy(tenant_id=tenant, **{name: each for name, each in given.items() if each is not None})


def _declaration(entry: CapabilityEntry) -> dict[str, Any]:
    return entry.model_dump(by_alias=True, exclude_unset=True, exclude={"name", "labels", "tokens"}, mode="json")


def _given(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def metadata_document(metadata: ProviderMetadata) -> dict[str, Any]:
    """Metadata as it goes over the wire: what was given, and nothing filled in."""
    return metadata.model_dump(by_alias=True, exclude_unset=True, mode="json")
