"""From the sections of a pack to what they define: every entry held to its grammar, and every problem gathered."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from ...basics.issues import Issue, child, did_you_mean, pointer, printable, quoted, shown
from ...documents.fields import WireModel
from ...documents.json_text import plain
from ...documents.model_issues import read_model
from ...documents.phrases import found, in_document_order, missing_keys, unknown_key
from ...errors import InvalidCapabilityError, InvalidInputError
from ...model.capability import Capability, read_capability
from ...model.condition import CHECKED, Condition
from ...model.condition_grammar import FIELDS, condition_issues
from ...model.features import FEATURES
from ...model.provider import ModelCost, ModelInfo, ModelThinking, ProviderMetadata, metadata_problems
from ...model.rule import Rule, Waiver, rule_issues, waiver_issues
from ...model.timestamps import moment_issues
from ..source.nodes import plain_value
from ..source.problems import Problem
from .definitions import Definition
from .models import (
    BundleEntry,
    CapabilityEntry,
    Descriptor,
    Expectation,
    LabelDeclaration,
    PackProvider,
    PackTest,
    PolicyPart,
    Tenant,
)
from .sections import Sections

__all__ = ["EVERY", "Definitions", "bundle_entry"]

EVERY: Final = "all"
"""What stands for every tenant or capability in a test, and can be no name of one."""

M = TypeVar("M", bound=BaseModel)
Read = Callable[[Any], tuple[Any, list[Issue]]]


class Definitions:
    """What the entries of a pack define; those that break the grammar are left out.

    Args:
        sections: The sections.

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
        self.policies: dict[str, Definition[PolicyPart]] = self._read("policies", _part(PolicyPart))
        self.tenants: dict[str, Definition[Tenant]] = self._read("tenants", _tenant)
        self.rules: dict[str, Definition[Rule]] = self._read("rules", self._rule)
        self.waivers: dict[str, Definition[Waiver]] = self._read("waivers", self._waiver)
        self.bundles: dict[str, Definition[BundleEntry]] = self._read("bundles", bundle_entry)
        self.tests: dict[str, Definition[PackTest]] = self._read("tests", self._test)
        self.descriptors: dict[str, Definition[Descriptor]] = self._read("descriptors", _descriptor)

    def names(self, section: str) -> Collection[str]:
        """The names that a section defines, those of broken entries included: who refers to them is not wrong."""
        found_names = self._names.get(section)
        if found_names is None:
            entries = self._sections.entries[section]
            found_names = self._names[section] = {entry.name: None for entry in entries if entry.name}
        return found_names

    def known(self, section: str) -> Collection[str] | None:
        """The names that a section defines; None when there may be more of them, in what could not be read."""
        return None if section in self._sections.unsure else self.names(section)

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
        if not self.declares_labels or self.known("labels") is None:
            return None
        return _Values(
            {name: self.labels[name].value.values if name in self.labels else None for name in self.names("labels")}
        )

    def _condition(self, document: Any) -> tuple[Any, list[Issue]]:
        issues = condition_issues(document, conditions=self.known("conditions"))
        return (None, issues) if issues else (_checked(Condition, document), [])

    def _rule(self, document: Any) -> tuple[Any, list[Issue]]:
        issues = rule_issues(document, conditions=self.known("conditions"), labels=self._label_values)
        return (None, issues) if issues else (_checked(Rule, document), [])

    def _waiver(self, document: Any) -> tuple[Any, list[Issue]]:
        # A waivable rule may be broken otherwise: then it is the rule that is told about.
        rules = self._waivable if self.known("rules") is not None else _Rules(self._waivable)
        issues = waiver_issues(document, rules=rules or None, conditions=self.known("conditions"))
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
            issues += _empty_issues(expect)
            if "every" in expect:
                issues += condition_issues(expect["every"], "/expect/every", conditions=self.known("conditions"))
        told = [issue.path for issue in issues]
        if any(_within(path, "/providers") for path in told):
            document = {key: value for key, value in document.items() if key != "providers"}
        elif isinstance(given, list):
            # They stand for the pack's, and rules may ask.
            document = {**document, "providers": [{**provider, "source": "pack"} for provider in given]}
        value, rest = _model_of(PackTest)(document)
        rest = [_candidate_issue(issue, document) for issue in rest]
        issues += [issue for issue in rest if not any(_within(issue.path, path) for path in told)]
        issues += _asked_issues(document)
        return value, in_document_order(issues, document)


def _candidate_issue(issue: Issue, document: Any) -> Issue:
    """Says how a candidate is written where it stands as `provider/model`."""
    steps = issue.path.split("/")[1:]
    if steps[:1] != ["expect"] or not issue.message.endswith("an object is expected"):
        return issue
    value = document
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value.get(step.replace("~1", "/").replace("~0", "~"))
    if not isinstance(value, str) or "/" not in value:
        return issue
    provider, _, model = value.partition("/")
    written = f"{{provider: {provider}, model: {model}}}" if "/" not in model else "{provider: ..., model: ...}"
    return Issue(issue.path, f"{issue.message}: write {shown(written)}")


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


class _Rules(dict[str, bool]):
    """The rules, of which there may be more: another one may be meant, and be waivable."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> bool:
        return True


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


def _part(model: type[WireModel]) -> Read:
    """Reads clauses; says more of keys that are no clauses but something else."""
    read_plainly, known = _model_of(model), _keys_of(model)

    def read(document: Any) -> tuple[Any, list[Issue]]:
        value, issues = read_plainly(document)
        if not issues or not isinstance(document, dict):
            return value, issues
        others = {"name": "tenantId"} if "tenantId" in known else {"tenantId": "name"}
        for index, issue in enumerate(issues):
            key = issue.path[1:]
            if key not in document or key in known or "did you mean" in issue.message:
                continue
            if key in FIELDS:
                clauses = "the clauses that cap are `maxCostPerCallUsd` and `maxTokensPerCall`"
                issues[index] = Issue(issue.path, f"{shown(key)} is a field for the conditions of rules; {clauses}")
            else:
                issues[index] = Issue(issue.path, _unknown(key, known, document, others))
        told = {f"`{to}` is missing" for key, to in others.items() if key in document and to not in document}
        return value, [issue for issue in issues if issue.path or issue.message not in told]

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
    meant: set[str] = set()
    if isinstance(document, dict):
        strange = [*_strange(document, path, (*_PROVIDER_KEYS, *extra), meant, {"name": "id"})]
        models = document.get("models")
        for index, model in enumerate(models if isinstance(models, list) else ()):
            if isinstance(model, dict):
                at = child(path, "models", index)
                strange += _strange(model, at, _keys_of(ModelInfo), meant, {"id": "name"})
                for key, inner in (("cost", ModelCost), ("thinking", ModelThinking)):
                    if isinstance(model.get(key), dict):
                        strange += _strange(model[key], child(at, key), _keys_of(inner), meant)
        issues = [issue for issue in issues if issue.path not in meant] + strange
    return in_document_order(issues, document, path)


def _strange(
    document: Mapping[str, Any],
    path: str,
    known: Collection[str],
    meant: set[str] | None = None,
    others: Mapping[str, str] | None = None,
) -> Iterable[Issue]:
    """Keys that an object can't have.

    Args:
        document: The object.
        path: Its pointer.
        known: The keys that it can have.
        meant: Takes the pointers of the keys that are there under another name, and so not missing.
        others: Names that other kinds of entries have for a key of this one.
    """
    if document.keys() <= set(known):
        return ()
    if meant is not None:
        absent = [key for key in known if key not in document]
        found_absent = missing_keys(absent, known, document)
        meant.update(child(path, key) for key in absent if key not in found_absent)
        meant.update(child(path, to) for key, to in (others or {}).items() if key in document and to not in document)
    return [
        Issue(child(path, key), _unknown(key, known, document, others or {})) for key in document if key not in known
    ]


_PER_MILLION: Final = re.compile(r"1m|mil|mtok|perm", re.IGNORECASE)


def _unknown(key: str, known: Collection[str], document: Mapping[str, Any], others: Mapping[str, str]) -> str:
    if key in others and others[key] not in document:
        return f"{shown(key)} is not a key here; did you mean {shown(others[key])}?"
    message = unknown_key(key, known, document)
    if "Usd" in key and _PER_MILLION.search(key) and message.endswith("1kTokens`?"):
        return f"{message[:-1]}, a thousandth of the price per million?"
    return message


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
    value, issues = _part(Tenant)(document)
    if value is not None and value.tenant_id == EVERY:
        issues.append(_taken("/tenantId", "tenant"))
    return value, issues


def bundle_entry(document: Any) -> tuple[Any, list[Issue]]:
    """A bundle of a pack, and what is wrong with it; its capabilities may be names, and it may lack one itself."""
    from ...bundles.reading import slots_shape_issues, together_issues  # noqa: PLC0415 (takes long; few have bundles)

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
    from ...bundles.reading import slot_issues  # noqa: PLC0415 (takes long to load, and few packs have bundles)

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


def _empty_issues(expect: Mapping[str, Any]) -> Iterable[Issue]:
    """Keys that would hold whatever the request comes to; nobody `admitted`, though, says something."""
    for key, what in (("rejected", "candidate"), ("picks", "slot")):
        if isinstance(expect.get(key), dict | list) and not expect[key]:
            yield Issue(child("/expect", key), f"{found(expect[key])}; `{key}` names at least one {what}")


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


def _descriptor(document: Any) -> tuple[Any, list[Issue]]:
    value, issues = _model_of(Descriptor)(document)
    if value is None:
        return None, issues
    if value.id in _BUILT_IN_IDS:
        issues.append(Issue("/id", f"{shown(value.id)} is built in; a pack describes what goes beyond"))
    if value.params_schema is not None:
        from jsonschema import Draft202012Validator  # noqa: PLC0415 (takes long to load, and few packs have such)

        for error in Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(document["paramsSchema"]):
            at = "/paramsSchema" + pointer(error.absolute_path)
            issues.append(Issue(at, f"no JSON Schema (draft 2020-12): {printable(error.message)}"))
    return value, in_document_order(issues, document)


_BUILT_IN_IDS: Final = frozenset(f"feature:{feature}" for feature in FEATURES)


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
