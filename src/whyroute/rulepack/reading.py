"""From the sections of a pack to what they define: every entry held to its grammar, and every problem gathered."""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from ..bundles.reading import slot_issues, slots_shape_issues, together_issues
from ..conditionissues import condition_issues
from ..conditions import CHECKED, Condition
from ..declarations import Capability, read_capability
from ..errors import InvalidCapabilityError, InvalidInputError
from ..fields import WireModel
from ..issues import Issue, child, did_you_mean, quoted, shown
from ..jsontext import plain
from ..modelissues import read_model
from ..moments import moment_issues
from ..providers import ModelCost, ModelInfo, ModelThinking, ProviderMetadata, metadata_problems
from ..rules import Rule, Waiver, rule_issues, waiver_issues
from ..wording import found, in_document_order, missing_keys, unknown_key
from .definitions import Definition
from .models import (
    BundleEntry,
    CapabilityEntry,
    Expectation,
    LabelDeclaration,
    PackProvider,
    PackTest,
    PolicyPart,
    Tenant,
)
from .nodes import plain_value
from .problems import Problem
from .sections import Sections

__all__ = ["EVERY", "Definitions", "bundle_entry"]

EVERY: Final = "all"
"""What stands for every tenant or capability in a test, and can be no name of one."""

M = TypeVar("M", bound=BaseModel)
Read = Callable[[Any], tuple[Any, list[Issue]]]


class Definitions:
    """What the entries of a pack define; those that break the grammar are left out.

    Attributes:
        problems: What is wrong with the entries, each by itself.
    """

    def __init__(self, sections: Sections) -> None:
        self._sections = sections
        self._names: dict[str, Collection[str]] = {}
        self.problems: list[Problem] = []
        self.declares_labels = "labels" in sections.present
        self.regions: dict[str, Definition[tuple[str, ...]]] = self._read("regions", _region)
        self.labels: dict[str, Definition[LabelDeclaration]] = self._read("labels", _label)
        self.conditions: dict[str, Definition[Condition]] = self._read("conditions", self._condition)
        self.providers: dict[str, Definition[PackProvider]] = self._read("providers", _provider)
        self.capabilities: dict[str, Definition[CapabilityEntry]] = self._read("capabilities", _capability)
        self.policies: dict[str, Definition[PolicyPart]] = self._read("policies", _model_of(PolicyPart))
        self.tenants: dict[str, Definition[Tenant]] = self._read("tenants", _tenant)
        self.rules: dict[str, Definition[Rule]] = self._read("rules", self._rule)
        self.waivers: dict[str, Definition[Waiver]] = self._read("waivers", self._waiver)
        self.bundles: dict[str, Definition[BundleEntry]] = self._read("bundles", bundle_entry)
        self.tests: dict[str, Definition[PackTest]] = self._read("tests", self._test)

    def names(self, section: str) -> Collection[str]:
        """The names that a section defines, those of broken entries included: who refers to them is not wrong."""
        found_names = self._names.get(section)
        if found_names is None:
            entries = self._sections.entries[section]
            found_names = self._names[section] = {entry.name: None for entry in entries if entry.name}
        return found_names

    def _read(self, section: str, read: Read) -> dict[str, Definition[Any]]:
        found_definitions: dict[str, Definition[Any]] = {}
        for entry in self._sections.entries[section]:
            if entry.piece.node.broken:
                continue
            value, issues = read(plain_value(entry.piece.node))
            if issues:
                self.problems += entry.piece.problems(issues)
            elif entry.name:
                found_definitions[entry.name] = Definition(entry.name, value, entry.piece)
        return found_definitions

    @cached_property
    def _waivable(self) -> Mapping[str, bool]:
        return {name: name not in self.rules or self.rules[name].value.waivable for name in self.names("rules")}

    @cached_property
    def _label_values(self) -> Mapping[str, Collection[str]] | None:
        """The labels that rules may ask for, with their values; None when any may be."""
        if not self.declares_labels:
            return None
        return _Values(
            {name: self.labels[name].value.values if name in self.labels else None for name in self.names("labels")}
        )

    def _condition(self, document: Any) -> tuple[Any, list[Issue]]:
        issues = condition_issues(document, conditions=self.names("conditions"))
        return (None, issues) if issues else (_checked(Condition, document), [])

    def _rule(self, document: Any) -> tuple[Any, list[Issue]]:
        issues = rule_issues(document, conditions=self.names("conditions"), labels=self._label_values)
        return (None, issues) if issues else (_checked(Rule, document), [])

    def _waiver(self, document: Any) -> tuple[Any, list[Issue]]:
        # A waivable rule may be broken otherwise: then it is the rule that is told about.
        issues = waiver_issues(document, rules=self._waivable, conditions=self.names("conditions"))
        return (None, issues) if issues else (_checked(Waiver, document), [])

    def _test(self, document: Any) -> tuple[Any, list[Issue]]:
        if not isinstance(document, dict):
            return None, [Issue("", f"{found(document)}; a test is an object")]
        issues: list[Issue] = []
        for key, what in (("tenant", "tenant"), ("capability", "capability")):
            if key in document:
                issues += _one_or_more(document[key], child("", key), what)
        capability = document.get("capability")
        if isinstance(capability, dict):
            issues += _declaration_issues(capability, "/capability")
        if "at" in document:
            issues += moment_issues(document["at"], "/at")
        given = document.get("providers")
        if isinstance(given, list):
            for index, provider in enumerate(given):
                issues += _provider_issues(provider, f"/providers/{index}", extra=())
            issues += _twice(given, "/providers")
        expect = document.get("expect")
        if isinstance(expect, dict):
            if not expect:
                issues.append(Issue("/expect", "empty; a test expects at least one thing"))
            if "every" in expect:
                issues += condition_issues(expect["every"], "/expect/every", conditions=self.names("conditions"))
        told = [issue.path for issue in issues]
        if any(_within(path, "/providers") for path in told):
            document = {key: value for key, value in document.items() if key != "providers"}
        elif isinstance(given, list):
            # They stand for the pack's, and rules may ask.
            document = {**document, "providers": [{**provider, "source": "pack"} for provider in given]}
        value, rest = _model_of(PackTest)(document)
        issues += [issue for issue in rest if not any(_within(issue.path, path) for path in told)]
        issues += _asked_issues(document)
        return value, in_document_order(issues, document)


def _twice(providers: Iterable[Any], path: str) -> Iterable[Issue]:
    """Ids that stand twice in a list of providers."""
    first: dict[str, int] = {}
    for index, provider in enumerate(providers):
        name = provider.get("id") if isinstance(provider, dict) else None
        if isinstance(name, str) and first.setdefault(name, index) != index:
            at = child(path, index, "id")
            yield Issue(at, f"{shown(name)} is the id of {child(path, first[name])} too; ids are unique")


class _Values(dict[str, Any]):
    """The values of labels; those of a broken declaration are not known, and any may be meant."""

    def __getitem__(self, key: str) -> Collection[str]:
        values: Collection[str] | None = super().__getitem__(key)
        return _Anything() if values is None else values


class _Anything(tuple[str, ...]):
    def __contains__(self, value: object) -> bool:
        return True


def _within(path: str, outer: str) -> bool:
    return path == outer or path.startswith(f"{outer}/")


def _checked(model: type[M], document: Any) -> M:
    return model.model_validate(plain(document)[0], context=CHECKED, by_alias=True, by_name=False)


def _model_of(model: type[WireModel]) -> Read:
    def read(document: Any) -> tuple[Any, list[Issue]]:
        try:
            return read_model(model, document, error=InvalidInputError), []
        except InvalidInputError as error:
            return None, list(error.issues)

    return read


def _region(document: Any) -> tuple[Any, list[Issue]]:
    if not isinstance(document, list):
        return None, [Issue("", f"{found(document)}; a group is a list of region names")]
    issues = [
        Issue(f"/{index}", f"{found(member)}; a region's name is a non-empty string")
        for index, member in enumerate(document)
        if not isinstance(member, str) or not member
    ]
    if not document:
        issues.append(Issue("", "an empty list; a group has at least one region, or it would mean none"))
    return (None, issues) if issues else (tuple(document), [])


def _label(document: Any) -> tuple[Any, list[Issue]]:
    label, issues = _model_of(LabelDeclaration)(document)
    if label is None:
        return None, issues
    if not label.values:
        issues.append(Issue("/values", "an empty list; a label has at least one value"))
    for index, value in enumerate(label.values):
        if value in label.values[:index]:
            issues.append(Issue(f"/values/{index}", f"{shown(value)} is listed twice"))
    if label.default is not None and label.values and label.default not in label.values:
        issues.append(Issue("/default", f"{shown(label.default)} is none of its values{_near(label.default, label)}"))
    return label, issues


def _near(value: str, label: LabelDeclaration) -> str:
    return did_you_mean(value, label.values) or f"; they are {quoted(label.values)}"


_OWN_KEYS: Final = ("onlyTenants",)
_PROVIDER_KEYS: Final = tuple(field.alias or name for name, field in ProviderMetadata.model_fields.items())


def _keys_of(model: type[BaseModel]) -> tuple[str, ...]:
    return tuple(field.alias or name for name, field in model.model_fields.items())


def _provider_issues(document: Any, path: str, *, extra: Collection[str] = _OWN_KEYS) -> list[Issue]:
    """What is wrong with a provider. Unlike on the wire, keys that nobody knows are refused: a slip would open it."""
    problems, _ = metadata_problems(document, path)
    issues = [issue for _, issue in problems]
    if isinstance(document, dict):
        issues += _strange(document, path, (*_PROVIDER_KEYS, *extra))
        models = document.get("models")
        for index, model in enumerate(models if isinstance(models, list) else ()):
            if isinstance(model, dict):
                at = child(path, "models", index)
                issues += _strange(model, at, _keys_of(ModelInfo))
                for key, inner in (("cost", ModelCost), ("thinking", ModelThinking)):
                    if isinstance(model.get(key), dict):
                        issues += _strange(model[key], child(at, key), _keys_of(inner))
    return in_document_order(issues, document, path)


def _strange(document: Mapping[str, Any], path: str, known: Collection[str]) -> Iterable[Issue]:
    if document.keys() <= set(known):
        return ()
    return [Issue(child(path, key), unknown_key(key, known, document)) for key in document if key not in known]


def _provider(document: Any) -> tuple[Any, list[Issue]]:
    issues = _provider_issues(document, "")
    only = None
    if isinstance(document, dict) and "onlyTenants" in document:
        only = document["onlyTenants"]
        if not isinstance(only, list):
            issues.append(Issue("/onlyTenants", f"{found(only)}; `onlyTenants` is a list of tenants"))
        else:
            issues += [
                Issue(f"/onlyTenants/{index}", f"{found(name)}; the name of a tenant is a non-empty string")
                for index, name in enumerate(only)
                if not isinstance(name, str) or not name
            ]
    if issues:
        return None, in_document_order(issues, document)
    wire = plain({key: value for key, value in document.items() if key != "onlyTenants"})[0]
    metadata = ProviderMetadata.of_checked({**wire, "source": "pack"})
    return PackProvider.model_construct(metadata=metadata, only_tenants=None if only is None else tuple(only)), []


_CAPABILITY_KEYS: Final = _keys_of(Capability)
_ENTRY_KEYS: Final = ("name", *_CAPABILITY_KEYS, "labels", "tokens")


def _capability(document: Any) -> tuple[Any, list[Issue]]:
    if not isinstance(document, dict):
        return _model_of(CapabilityEntry)(document)
    value, issues = _model_of(CapabilityEntry)(document)
    if issues:
        # The schema of declarations says more about them than the model does.
        issues = [issue for issue in issues if issue.path.split("/")[1:2] in (["name"], ["labels"], ["tokens"])]
        issues += [Issue("", f"`{key}` is missing") for key in missing_keys(["name"], _ENTRY_KEYS, document)]
        issues += _strange(document, "", _ENTRY_KEYS)
        declaration = {key: each for key, each in document.items() if key in _CAPABILITY_KEYS}
        if "needs" not in document and not missing_keys(["needs"], _ENTRY_KEYS, document):
            declaration["needs"] = []  # another key was meant to be it, and is told about
        issues += _declaration_issues(declaration, "")
        return None, in_document_order(issues, document)
    if value.name == EVERY:
        issues.append(_taken("/name", "capability"))
    return value, issues


def _declaration_issues(document: Any, path: str) -> list[Issue]:
    try:
        read_capability(document, path)
    except InvalidCapabilityError as error:
        return list(error.issues)
    return []


def _taken(path: str, what: str) -> Issue:
    return Issue(path, f"`{EVERY}` means every {what}; it can't be the name of one")


def _tenant(document: Any) -> tuple[Any, list[Issue]]:
    value, issues = _model_of(Tenant)(document)
    if value is not None and value.tenant_id == EVERY:
        issues.append(_taken("/tenantId", "tenant"))
    return value, issues


def bundle_entry(document: Any) -> tuple[Any, list[Issue]]:
    """A bundle of a pack, and what is wrong with it; its capabilities may be names, and it may lack one itself."""
    if not isinstance(document, dict):
        return None, [Issue("", f"{found(document)}; a bundle is an object with `name` and `slots`")]
    issues = [Issue("", f"`{key}` is missing") for key in missing_keys(["name", "slots"], _BUNDLE_KEYS, document)]
    issues += _strange(document, "", _BUNDLE_KEYS)
    name = document.get("name", "name")
    if not isinstance(name, str) or not name:
        issues.append(Issue("/name", f"{found(name)}; a non-empty string is expected"))
    slots = document.get("slots")
    if "slots" in document:
        issues += slots_shape_issues(slots, "/slots")
    for slot, value in slots.items() if isinstance(slots, dict) else ():
        issues += _slot_entry_issues(value, child("/slots", slot))
    if "together" in document:
        issues += together_issues(document["together"], "/together", slots)
    if issues:
        return None, in_document_order(issues, document)
    return _model_of(BundleEntry)(document)


_BUNDLE_KEYS: Final = _keys_of(BundleEntry)
_OF_THE_WIRE: Final = ("capabilityName", "tokens")


def _slot_entry_issues(slot: Any, path: str) -> list[Issue]:
    issues = slot_issues(slot, path, named=True)
    if not isinstance(slot, dict):
        return issues
    for key in _OF_THE_WIRE:
        if key in slot:
            issues.append(Issue(child(path, key), f"{shown(key)} comes from the capability that the slot names"))
    capability = slot.get("capability", "")
    if isinstance(capability, str):
        if not capability and "capability" in slot:
            issues.append(Issue(child(path, "capability"), "an empty string; the name of a capability is not empty"))
        return issues
    return issues + _declaration_issues(capability, child(path, "capability"))


_OF_BUNDLES: Final = ("fallback", "unsatisfiable", "core", "picks")


def _asked_issues(test: Mapping[str, Any]) -> list[Issue]:
    """A test is of a capability or of a bundle, and expects what goes with it."""
    if "bundle" in test and "capability" in test:
        return [Issue("/bundle", "`bundle` stands beside `capability`; a test has one of them")]
    if "bundle" not in test and missing_keys(["capability"], _keys_of(PackTest), test) and "capability" not in test:
        return [Issue("", "`capability` is missing, or `bundle`")]
    expect = test.get("expect")
    keys = expect if isinstance(expect, dict) else ()
    if "bundle" in test:
        strange = [key for key in keys if key in _keys_of(Expectation) and key not in _OF_BUNDLES]
        what = "a capability"
    else:
        strange = [key for key in keys if key == "picks"]
        what = "a bundle"
    return [Issue(child("/expect", key), f"{shown(key)} is expected of {what}") for key in strange]


def _one_or_more(value: Any, path: str, what: str) -> list[Issue]:
    expected = f"a {what}, a list of them, {'a declaration ' if what == 'capability' else ''}or `{EVERY}`"
    if isinstance(value, str) and value:
        return []
    if isinstance(value, dict) and what == "capability":
        return []
    if isinstance(value, list) and value:
        return [
            Issue(child(path, index), f"{found(item)}; the name of a {what} is a non-empty string")
            for index, item in enumerate(value)
            if not isinstance(item, str) or not item
        ]
    return [Issue(path, f"{found(value)}; {expected} is expected")]
