"""The entries of a pack's sections, each read by itself: what it is, or what is wrong with it."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel

from ...basics.issues import Issue, child, did_you_mean, pointer, printable, quoted, shown
from ...documents.fields import WireModel
from ...documents.model_issues import read_model
from ...documents.phrases import in_document_order, missing, missing_keys, unknown_key, wrong
from ...errors import InvalidCapabilityError, InvalidInputError
from ...model.capability import Capability, read_capability
from ...model.condition_grammar import FIELDS, condition_issues
from ...model.features import FEATURES
from ...model.metadata import ModelCost, ModelInfo, ModelThinking, ProviderMetadata, metadata_problems
from ...model.timestamps import moment_issues
from .models import (
    BundleEntry,
    CapabilityEntry,
    Descriptor,
    Expectation,
    LabelDeclaration,
    PackProvider,
    PackTest,
    Tenant,
)

__all__ = [
    "EVERY",
    "Read",
    "bundle_entry",
    "capability_entry",
    "descriptor",
    "label",
    "pack_test",
    "policy",
    "provider",
    "region",
    "tenant",
]

EVERY: Final = "all"
"""What stands for every tenant or capability in a test, and can be no name of one."""

Read = Callable[[Any], tuple[Any, list[Issue]]]
"""Reads an entry: what it is, and what is wrong with it."""


def _within(path: str, outer: str) -> bool:
    return path == outer or path.startswith(f"{outer}/")


def _model_of(model: type[WireModel]) -> Read:
    def read(document: Any) -> tuple[Any, list[Issue]]:
        try:
            return read_model(model, document, error=InvalidInputError), []
        except InvalidInputError as error:
            return None, list(error.issues)

    return read


def policy(model: type[WireModel]) -> Read:
    """Reads clauses; says more of keys that are no clauses but something else."""
    read_plainly, known = _model_of(model), _keys_of(model)

    def read(document: Any) -> tuple[Any, list[Issue]]:
        value, issues = read_plainly(document)
        if not issues or not isinstance(document, dict):
            return value, issues
        others = {"name": "tenantId"} if "tenantId" in known else {"tenantId": "name"}
        for index, issue in enumerate(issues):
            key = issue.path[1:]
            if issue.code != Issue.KEY or key not in document or key in known or issue.data["near"] is not None:
                continue
            if key in FIELDS:
                clauses = "the clauses that cap are `maxCostPerCallUsd` and `maxTokensPerCall`"
                message = f"{shown(key)} is a field for the conditions of rules; {clauses}"
                issues[index] = Issue(issue.path, message, Issue.KEY)
            else:
                issues[index] = _unknown(issue.path, key, known, document, others)
        told = {to for key, to in others.items() if key in document and to not in document}
        return value, [issue for issue in issues if issue.code != Issue.MISSING or issue.data["key"] not in told]

    return read


def region(document: Any) -> tuple[Any, list[Issue]]:
    """A group of regions."""
    if not isinstance(document, list):
        return None, [wrong("", document, "a group is a list of region names", wants="list")]
    issues = [
        wrong(f"/{index}", member, "a region's name is a non-empty string", wants="string")
        for index, member in enumerate(document)
        if not isinstance(member, str) or not member
    ]
    if not document:
        issues.append(Issue("", "an empty list; a group has at least one region, or it would mean none"))
    return (None, issues) if issues else (tuple(document), [])


def label(document: Any) -> tuple[Any, list[Issue]]:
    """A declared, and the values that it may have."""
    declared, issues = _model_of(LabelDeclaration)(document)
    if declared is None:
        return None, issues
    if not declared.values:
        issues.append(Issue("/values", "an empty list; a label has at least one value"))
    for index, value in enumerate(declared.values):
        if value in declared.values[:index]:
            issues.append(Issue(f"/values/{index}", f"{shown(value)} is listed twice"))
    if declared.default is not None and declared.values and declared.default not in declared.values:
        near = did_you_mean(declared.default, declared.values) or f"; they are {quoted(declared.values)}"
        issues.append(Issue("/default", f"{shown(declared.default)} is none of its values{near}"))
    return declared, issues


_OWN_KEYS: Final = ("onlyTenants",)


def _keys_of(model: type[BaseModel]) -> tuple[str, ...]:
    return tuple(field.alias or name for name, field in model.model_fields.items())


_PROVIDER_KEYS: Final = _keys_of(ProviderMetadata)
_MODEL_KEYS: Final = _keys_of(ModelInfo)
_INNER_KEYS: Final = {"cost": _keys_of(ModelCost), "thinking": _keys_of(ModelThinking)}


def _provider_issues(document: Any, path: str, *, own: Collection[str] = _OWN_KEYS) -> tuple[list[Issue], Any]:
    """What is wrong with a provider, and its metadata when nothing is.

    Unlike on the wire, unknown keys are refused: a slip would open it.
    """
    given = document
    if isinstance(document, dict):
        given = {**{key: value for key, value in document.items() if key not in own}, "source": "pack"}
    problems, metadata = metadata_problems(given, path)
    issues = [issue for _, issue in problems]
    meant: set[str] = set()
    if isinstance(document, dict):
        strange = [*_strange(document, path, (*_PROVIDER_KEYS, *own), meant, {"name": "id"})]
        models = document.get("models")
        for index, model in enumerate(models if isinstance(models, list) else ()):
            if isinstance(model, dict):
                at = child(path, "models", index)
                strange += _strange(model, at, _MODEL_KEYS, meant, {"id": "name"})
                for key, inner in _INNER_KEYS.items():
                    if isinstance(model.get(key), dict):
                        strange += _strange(model[key], child(at, key), inner, meant)
        issues = [issue for issue in issues if issue.path not in meant] + strange
    return in_document_order(issues, document, path), metadata


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
    if not document.keys() - known:
        return ()
    if meant is not None:
        absent = [key for key in known if key not in document]
        found_absent = missing_keys(absent, known, document)
        meant.update(child(path, key) for key in absent if key not in found_absent)
        meant.update(child(path, to) for key, to in (others or {}).items() if key in document and to not in document)
    return [_unknown(child(path, key), key, known, document, others or {}) for key in document if key not in known]


_PER_MILLION: Final = re.compile(r"1m|mil|mtok|perm", re.IGNORECASE)


def _unknown(
    path: str, key: str, known: Collection[str], document: Mapping[str, Any], others: Mapping[str, str]
) -> Issue:
    if key in others and others[key] not in document:
        return Issue(path, f"{shown(key)} is not a key here; did you mean {shown(others[key])}?", Issue.KEY)
    issue = unknown_key(path, key, known, document)
    near = issue.data["near"]
    if "Usd" in key and _PER_MILLION.search(key) and near is not None and near.endswith("1kTokens"):
        hint = f"did you mean {shown(near)}, a thousandth of the price per million?"
        return Issue(path, f"{shown(key)} is not a key here; {hint}", Issue.KEY)
    return issue


def provider(document: Any) -> tuple[Any, list[Issue]]:
    """A provider, and who may see it."""
    issues, metadata = _provider_issues(document, "")
    only = None
    if isinstance(document, dict) and "onlyTenants" in document:
        only = document["onlyTenants"]
        if not isinstance(only, list):
            issues.append(wrong("/onlyTenants", only, "`onlyTenants` is a list of tenants", wants="list"))
        else:
            issues += [
                wrong(f"/onlyTenants/{index}", name, "the name of a tenant is a non-empty string", wants="string")
                for index, name in enumerate(only)
                if not isinstance(name, str) or not name
            ]
    if issues:
        return None, in_document_order(issues, document)
    return PackProvider.model_construct(metadata=metadata, only_tenants=None if only is None else tuple(only)), []


_CAPABILITY_KEYS: Final = _keys_of(Capability)
_ENTRY_KEYS: Final = ("name", *_CAPABILITY_KEYS, "labels", "tokens")


def capability_entry(document: Any) -> tuple[Any, list[Issue]]:
    """A capability."""
    if not isinstance(document, dict):
        return _model_of(CapabilityEntry)(document)
    value, issues = _model_of(CapabilityEntry)(document)
    if issues:
        # The schema of declarations says more about them than the model does.
        issues = [issue for issue in issues if issue.path.split("/")[1:2] in (["name"], ["labels"], ["tokens"])]
        issues += [missing("", key) for key in missing_keys(["name"], _ENTRY_KEYS, document)]
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


def tenant(document: Any) -> tuple[Any, list[Issue]]:
    """A tenant."""
    value, issues = policy(Tenant)(document)
    if value is not None and value.tenant_id == EVERY:
        issues.append(_taken("/tenantId", "tenant"))
    return value, issues


def bundle_entry(document: Any) -> tuple[Any, list[Issue]]:
    """A bundle of a pack, and what is wrong with it; its capabilities may be names, and it may lack one itself."""
    from ...bundles.reading import slots_shape_issues, together_issues  # noqa: PLC0415 (takes long; few have bundles)

    if not isinstance(document, dict):
        return None, [wrong("", document, "a bundle is an object with `name` and `slots`")]
    issues = [missing("", key) for key in missing_keys(["name", "slots"], _BUNDLE_KEYS, document)]
    issues += _strange(document, "", _BUNDLE_KEYS)
    name = document.get("name", "name")
    if not isinstance(name, str) or not name:
        issues.append(wrong("/name", name, "a non-empty string is expected", wants="string"))
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
            issues.append(
                Issue(child(path, key), f"{shown(key)} comes from the capability that the slot names", Issue.KEY)
            )
    capability = slot.get("capability", "")
    if isinstance(capability, str):
        if not capability and "capability" in slot:
            issues.append(Issue(child(path, "capability"), "an empty string; the name of a capability is not empty"))
        return issues
    return issues + _declaration_issues(capability, child(path, "capability"))


def _empty_issues(expect: Mapping[str, Any]) -> Iterable[Issue]:
    """Keys that would hold whatever the request comes to; an empty `admitted`, though, says something."""
    for key, what in (("rejected", "candidate"), ("picks", "slot")):
        if isinstance(expect.get(key), dict | list) and not expect[key]:
            yield wrong(child("/expect", key), expect[key], f"`{key}` names at least one {what}")


_OF_BUNDLES: Final = ("fallback", "unsatisfiable", "core", "picks")


def _asked_issues(test: Mapping[str, Any]) -> list[Issue]:
    """A test is of a capability or of a bundle, and expects what goes with it."""
    if "bundle" in test and "capability" in test:
        return [Issue("/bundle", "`bundle` stands beside `capability`; a test has one of them", Issue.KEY)]
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
    return [Issue(child("/expect", key), f"{shown(key)} is expected of {what}", Issue.KEY) for key in strange]


def descriptor(document: Any) -> tuple[Any, list[Issue]]:
    """A feature or a kind beyond the built-in ones."""
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
            wrong(child(path, index), item, f"the name of a {what} is a non-empty string", wants="string")
            for index, item in enumerate(value)
            if not isinstance(item, str) or not item
        ]
    return [wrong(path, value, f"{expected} is expected")]


def pack_test(document: Any, conditions: Collection[str] | None) -> tuple[Any, list[Issue]]:
    """A test, where there are named conditions; None: which there are is not known."""
    if not isinstance(document, dict):
        return None, [wrong("", document, "a test is an object")]
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
            issues += _provider_issues(provider, f"/providers/{index}", own=())[0]
        issues += _twice(given, "/providers")
    expect = document.get("expect")
    if isinstance(expect, dict):
        if not expect:
            issues.append(Issue("/expect", "empty; a test expects at least one thing"))
        issues += _empty_issues(expect)
        if "every" in expect:
            issues += condition_issues(expect["every"], "/expect/every", conditions=conditions)
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
    if steps[:1] != ["expect"] or issue.data.get("wants") != "object":
        return issue
    value = document
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value.get(step.replace("~1", "/").replace("~0", "~"))
    if not isinstance(value, str) or "/" not in value:
        return issue
    provider, _, model = value.partition("/")
    written = f"{{provider: {provider}, model: {model}}}" if "/" not in model else "{provider: ..., model: ...}"
    return issue.with_more(f": write {shown(written)}")


def _twice(providers: Iterable[Any], path: str) -> Iterable[Issue]:
    """Ids that stand twice in a list of providers."""
    first: dict[str, int] = {}
    for index, provider in enumerate(providers):
        name = provider.get("id") if isinstance(provider, dict) else None
        if isinstance(name, str) and first.setdefault(name, index) != index:
            at = child(path, index, "id")
            yield Issue(at, f"{shown(name)} is the id of {child(path, first[name])} too; ids are unique")
