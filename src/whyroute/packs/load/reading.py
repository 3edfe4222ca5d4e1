"""From the sections of a pack to what they define: every entry held to its grammar, and every problem gathered."""

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

from ...basics.issues import Issue
from ...documents.json_text import plain
from ...model.condition import Condition, of_checked
from ...model.condition_grammar import condition_issues
from ...model.rule import Rule, Waiver, rule_issues, waiver_issues
from ..source.nodes import plain_value
from ..source.problems import Problem
from .definitions import Definition
from .entries import (
    Read,
    bundle_entry,
    capability_entry,
    descriptor,
    label,
    pack_test,
    policy,
    provider,
    region,
    tenant,
)
from .models import (
    BundleEntry,
    CapabilityEntry,
    Descriptor,
    LabelDeclaration,
    PackProvider,
    PackTest,
    PolicyPart,
    Tenant,
)
from .sections import Sections

__all__ = ["Definitions"]


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
        self.regions: dict[str, Definition[tuple[str, ...]]] = self._read("regions", region)
        self.labels: dict[str, Definition[LabelDeclaration]] = self._read("labels", label)
        self.conditions: dict[str, Definition[Condition]] = self._read("conditions", self._condition)
        self.providers: dict[str, Definition[PackProvider]] = self._read("providers", provider)
        self.capabilities: dict[str, Definition[CapabilityEntry]] = self._read("capabilities", capability_entry)
        self.policies: dict[str, Definition[PolicyPart]] = self._read("policies", policy(PolicyPart))
        self.tenants: dict[str, Definition[Tenant]] = self._read("tenants", tenant)
        self.rules: dict[str, Definition[Rule]] = self._read("rules", self._rule)
        self.waivers: dict[str, Definition[Waiver]] = self._read("waivers", self._waiver)
        self.bundles: dict[str, Definition[BundleEntry]] = self._read("bundles", bundle_entry)
        self.tests: dict[str, Definition[PackTest]] = self._read("tests", self._test)
        self.descriptors: dict[str, Definition[Descriptor]] = self._read("descriptors", descriptor)

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
        return (None, issues) if issues else (of_checked(Condition, plain(document)[0]), [])

    def _rule(self, document: Any) -> tuple[Any, list[Issue]]:
        issues = rule_issues(document, conditions=self.known("conditions"), labels=self._label_values)
        return (None, issues) if issues else (of_checked(Rule, plain(document)[0]), [])

    def _waiver(self, document: Any) -> tuple[Any, list[Issue]]:
        # A waivable rule may be broken otherwise: then it is the rule that is told about.
        rules = self._waivable if self.known("rules") is not None else _Rules(self._waivable)
        issues = waiver_issues(document, rules=rules or None, conditions=self.known("conditions"))
        return (None, issues) if issues else (of_checked(Waiver, plain(document)[0]), [])

    def _test(self, document: Any) -> tuple[Any, list[Issue]]:
        return pack_test(document, self.known("conditions"))


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
