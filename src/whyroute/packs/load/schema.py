"""The JSON Schema (draft 2020-12) of a pack's files, for editors: what is written here shows when hovering."""

from typing import Any

from ...documents.schema_issues import capability_schema
from ...model.condition import Condition
from ...model.metadata import ModelCost, ModelInfo, ModelThinking, ProviderMetadata
from ...model.rule import Rule, Waiver
from ...wire.schemas import of_model, tie_schema
from .models import (
    BundleEntry,
    BundleSlot,
    Descriptor,
    Expectation,
    LabelDeclaration,
    PackTest,
    PolicyPart,
    Tenant,
    Tokens,
)

__all__ = ["pack_schema"]

Json = dict[str, Any]


def pack_schema() -> Json:
    """The schema of one file of a pack: a copy of one's own.

    It describes the shapes. What entries say of each other, such as an undefined policy, only loading tells.
    """
    capability = capability_schema()
    definitions: Json = capability.pop("$defs")
    definitions["Capability"] = _capability(capability, definitions)
    definitions["Provider"] = _provider(definitions)
    definitions["Label"] = of_model(LabelDeclaration, definitions)
    definitions["Policy"] = of_model(PolicyPart, definitions)
    definitions["Tenant"] = of_model(Tenant, definitions)
    definitions["Rule"] = of_model(Rule, definitions)
    definitions["Waiver"] = of_model(Waiver, definitions)
    definitions["Bundle"] = _bundle(definitions)
    definitions["Test"] = _test(definitions)
    definitions["Descriptor"] = of_model(Descriptor, definitions)
    definitions.setdefault("Condition", of_model(Condition, definitions))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rule pack",
        "description": "A file of a rule pack. The sections of all files of a directory merge, in any order.",
        "type": "object",
        "required": ["whyroute"],
        "additionalProperties": False,
        "properties": {
            "whyroute": {"const": 1, "description": "The version of the format; the first key of every file."},
            "regions": _mapping(
                {**_names("Regions, and groups of regions."), "minItems": 1},
                "Groups of regions: the name of a group means its members too, in needs, policies and rules. "
                "Groups may name groups, in no circle.",
            ),
            "labels": _mapping(
                _ref("Label"),
                "What a request may say of itself, by key. With this section, no other key or value may be used.",
            ),
            "providers": _list("Provider", "The providers that requests are routed to."),
            "capabilities": _list("Capability", "Declarations with names, for requests, rules and tests to refer to."),
            "policies": _list("Policy", "Parts of policies, for tenants and other parts to extend."),
            "everyTenant": _names("Names of policies that hold for every tenant, whatever it says."),
            "tenants": _list("Tenant", "The tenants, each with its policy. Others can't route."),
            "conditions": _mapping(
                _ref("Condition"), "Named conditions over candidates, which `is` refers to, in no circle."
            ),
            "rules": _list("Rule", "Named conditions. A rule holds where a policy or a tenant names it, once."),
            "waivers": _list("Waiver", "Exceptions from waivable rules, each for one tenant."),
            "bundles": _list("Bundle", "Several capabilities each that are routed together, with what ties them."),
            "tests": _list("Test", "What requests must come to; `whyroute test` runs them."),
            "descriptors": _list("Descriptor", "Features and kinds beyond the built-in ones; the service lists them."),
        },
        "$defs": definitions,
    }


def _ref(name: str) -> Json:
    return {"$ref": f"#/$defs/{name}"}


def _list(name: str, description: str) -> Json:
    return {"type": "array", "items": _ref(name), "description": description}


def _mapping(values: Json, description: str) -> Json:
    return {
        "type": "object",
        "additionalProperties": values,
        "propertyNames": {"minLength": 1},
        "description": description,
    }


def _names(description: str) -> Json:
    return {"type": "array", "items": {"type": "string", "minLength": 1}, "description": description}


def _capability(declaration: Json, definitions: Json) -> Json:
    for key in ("$schema", "$id", "$comment"):
        declaration.pop(key)
    declaration["properties"]["needs"].pop("minItems")
    definitions["Declaration"] = declaration
    return {
        **declaration,
        "description": "A capability declaration with a name.",
        "required": ["name", *declaration["required"]],
        "properties": {
            "name": {
                "type": "string",
                "minLength": 1,
                "not": {"const": "all"},
                "description": "What requests, rules and tests call it; not `all`, which means every one.",
            },
            **declaration["properties"],
            "labels": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "Labels that every request for it has; one that says otherwise is invalid.",
            },
            "tokens": {
                **of_model(Tokens, definitions),
                "description": "What a typical call uses; `callUsd` is its price.",
            },
        },
    }


def _provider(definitions: Json) -> Json:
    """A provider as on the wire, but without unknown keys: there, a slip would go unnoticed."""
    provider = {**of_model(ProviderMetadata, definitions), "additionalProperties": False}
    for model in (ModelInfo, ModelCost, ModelThinking):
        definitions[model.__name__]["additionalProperties"] = False
    provider["properties"] = {
        **provider["properties"],
        "onlyTenants": _names("Only these tenants see it; an empty list hides it from all."),
    }
    return provider


def _bundle(definitions: Json) -> Json:
    bundle = of_model(BundleEntry, definitions)
    slot = definitions[BundleSlot.__name__]
    slot["properties"]["capability"] = {
        "anyOf": [{"type": "string", "minLength": 1}, _ref("Declaration")],
        "description": "The name of a capability of the pack, or a declaration.",
    }
    definitions["Tie"] = tie_schema()
    bundle["properties"]["together"] = {"type": "array", "items": _ref("Tie"), "description": "What ties the slots."}
    return bundle


def _test(definitions: Json) -> Json:
    test = of_model(PackTest, definitions)
    expectation = definitions[Expectation.__name__]
    expectation["minProperties"] = 1
    test["oneOf"] = [{"required": ["capability"]}, {"required": ["bundle"]}]
    expectation["properties"]["every"] = {**_ref("Condition"), "description": "Every admitted candidate meets this."}
    one_or_more = [{"type": "string", "minLength": 1}, {**_names("Several of them."), "minItems": 1}]
    properties = test["properties"]
    properties["tenant"] = {"anyOf": one_or_more, "description": "A tenant, a list of them, or `all`."}
    properties["capability"] = {
        "anyOf": [*one_or_more, _ref("Declaration")],
        "description": "The name of a capability, a list of them, `all`, or a declaration.",
    }
    properties["providers"] = {
        "type": "array",
        "items": _ref("Provider"),
        "description": "This test's own catalog instead of the pack's.",
    }
    return test
