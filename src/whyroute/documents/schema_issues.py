"""The published schema of capability declarations, and what in a document breaks it, in sentences.

This module loads jsonschema: import it where a document is validated, not at the top of another module.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from ..basics.issues import MAX_ISSUES, Issue, child, did_you_mean, pointer, quoted, shown
from .json_text import plain
from .phrases import in_backticks, in_document_order, missing, missing_keys, null, unknown_key, wrong

__all__ = ["capability_schema", "declaration_issues"]

Json = dict[str, Any]


@cache
def _schema_text() -> str:
    return files("whyroute").joinpath("schemas", "capability.schema.json").read_text("utf-8")


def capability_schema() -> Json:
    """The JSON Schema (draft 2020-12) of capability declarations, schema version 1.1.0: a copy of one's own."""
    schema: Json = json.loads(_schema_text())
    return schema


@cache
def _schema() -> Json:
    return capability_schema()


@cache
def _need_shapes() -> Json:
    """The key of each need, and the schema of its shape."""
    definitions = _schema()["$defs"]
    shapes = (definitions[branch["$ref"].rsplit("/", 1)[1]] for branch in definitions["Requirement"]["oneOf"])
    return {shape["required"][0]: shape for shape in shapes}


@cache
def _optional_keys() -> frozenset[str]:
    def objects(node: Any) -> Iterator[Json]:
        for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            yield from objects(value)
        if isinstance(node, dict) and node.get("type") == "object":
            yield node

    return frozenset(
        key for shape in objects(_schema()) for key in shape["properties"] if key not in shape.get("required", ())
    )


def declaration_issues(document: Any, *, empty_needs: bool = False) -> list[Issue]:
    """Everything that keeps a document from being a capability declaration, in document order.

    Past a thousand faults no more are looked for, and the last issue, which points nowhere, says so.

    Args:
        document: A JSON-like value. Tuples count as lists; a number is read as the double it is on the wire.
        empty_needs: Let `needs` be empty, as the router does.
    """
    cleaned, issues = plain(document)
    unreadable = {issue.path for issue in issues}
    errors: list[tuple[str, ValidationError]] = []
    more: list[Issue] = []
    for error in _validator().iter_errors(cleaned):
        path = pointer(error.path)
        if error.validator == "minItems" and empty_needs:
            continue
        # A value that no JSON text could hold was reported; one that lost its only keys is not empty.
        if path in unreadable and not (isinstance(error.instance, dict) and error.validator != "oneOf"):
            continue
        errors.append((path, error))
        if len(errors) == MAX_ISSUES:
            # The sentences of the others are not read, which take long to find and to make.
            more = [Issue("", "more problems are not looked for; correct these first")]
            break
    for path, error in errors:
        issues.extend(_SENTENCES[str(error.validator)](error, path))
    found = in_document_order(issues, cleaned)
    return [*found[: MAX_ISSUES - 1], *more] if more else found


@cache
def _validator() -> Any:
    extended: Any = extend
    return extended(Draft202012Validator, {"oneOf": _by_key})(_schema())


def _by_key(validator: Any, branches: list[Json], need: Any, schema: Json) -> Iterator[ValidationError]:
    """`oneOf` for needs: the key says which shape is meant, and only that shape's faults are worth telling.

    It accepts what `oneOf` accepts, because each shape takes a single key and no two the same, and it tries one
    branch where `oneOf` tries all seven.
    """
    shapes = _need_shapes()
    meant = [key for key in need if key in shapes] if isinstance(need, dict) else []
    if len(meant) == 1:
        yield from validator.descend(need, shapes[meant[0]])
        return
    yield ValidationError("not exactly one of the shapes")
    for key in meant:
        yield from validator.descend(need[key], shapes[key]["properties"][key], path=key)


Sentences = Iterator[Issue]


def _wrong_type(error: ValidationError, path: str) -> Sentences:
    value: Any = error.instance
    expected = _expected(error.schema) + _unit(error)
    key = error.path[-1] if error.path else None
    if value is None and key in _optional_keys():
        yield null(path, f"leave it out, or give {expected}")
    elif isinstance(value, float) and error.validator_value == "integer":
        message = f"{shown(value)} is not an integer; {_subject(error)} is {expected}"
        yield Issue(path, message, Issue.VALUE, value=value)
    else:
        yield wrong(path, value, f"{_subject(error)} is {expected}", wants=_wanted(error.schema))


def _too_small(error: ValidationError, path: str) -> Sentences:
    expected = _expected(error.schema) + _unit(error)
    value: Any = error.instance
    message = f"{shown(value)} is below {error.validator_value}; {_subject(error)} is {expected}"
    yield Issue(path, message, Issue.VALUE, value=value)


def _no_needs(error: ValidationError, path: str) -> Sentences:
    yield Issue(path, f"empty; a declaration has at least one need, such as {_example(_need_schema())}")


def _empty_text(error: ValidationError, path: str) -> Sentences:
    default = _as_schema(error.schema)["default"]
    yield Issue(path, f"empty; leave {_subject(error)} out for {shown(default)}, or name a kind")


def _not_listed(error: ValidationError, path: str) -> Sentences:
    value: Any = error.instance
    choices: list[str] = _as_schema(error.schema)["enum"]
    listed = f"; {_subject(error)} is one of {in_backticks(choices, 'or')}"
    if not isinstance(value, str) or not value:
        yield wrong(path, value, listed.removeprefix("; "))
    elif error.path[-1] == "op":
        yield Issue(path, _wrong_operator(value, choices))
    else:
        near = did_you_mean(value, choices) or f"; it is one of {in_backticks(choices, 'or')}"
        yield Issue(path, f"{shown(value)} is not a feature{near}")


_OPERATORS: Final = {
    **dict.fromkeys(("==", "===", "eq", "is", "equals"), "="),
    **dict.fromkeys(("=>", "gte", "ge", "min", "≥", "⩾"), ">="),
    **dict.fromkeys(("=<", "lte", "le", "max", "≤", "⩽"), "<="),
    **dict.fromkeys(("gt", ">>"), ">"),
    **dict.fromkeys(("lt", "<<"), "<"),
}
"""Other spellings of the operators, and what is written here."""


def _wrong_operator(value: str, choices: list[str]) -> str:
    bare = "".join(value.split()).lower()
    meant = _OPERATORS.get(bare, bare)
    if meant in choices:
        return f"{shown(value)} is not an operator; did you mean {shown(meant)}?"
    listed = f"`op` is one of {in_backticks(choices, 'or')}"
    comparison = _schema()["$defs"]["ComparisonOp"]["enum"]
    if meant in comparison:
        return f"{shown(value)} is not available here, where only an upper bound makes sense; {listed}"
    return f"{shown(value)} is not {'available' if bare in ('!=', '<>', '≠', 'ne') else 'an operator'}; {listed}"


def _missing(error: ValidationError, path: str) -> Sentences:
    schema = _as_schema(error.schema)
    properties: Json = schema["properties"]
    value: Any = error.instance
    for key in missing_keys(schema["required"], properties, value):
        yield missing(path, key, f"; it is {_expected(properties[key])}{_unit(error, key)}")


def _unknown_keys(error: ValidationError, path: str) -> Sentences:
    properties: Json = _as_schema(error.schema)["properties"]
    value: Any = error.instance
    for key in value:
        if key not in properties:
            yield unknown_key(child(path, key), key, properties, value)


def _not_one_need(error: ValidationError, path: str) -> Sentences:
    need: Any = error.instance
    shapes = _need_shapes()
    listed = in_backticks(tuple(shapes), "or")
    if not isinstance(need, dict):
        features = shapes["feature"]["properties"]["feature"]["enum"]
        example: Any = {"feature": need} if need in features else _need_schema()["examples"][0]
        yield wrong(path, need, f"a need is an object such as {_json(example)}")
        return
    if not need:
        yield Issue(path, f"empty; a need has exactly one of {listed}")
        return
    meant = [key for key in need if key in shapes]
    strange = [key for key in need if key not in shapes]
    if meant:
        split = "split it in two" if len(meant) == 2 else "split it up"
        yield Issue(path, f"{in_backticks(meant, 'and')} side by side; one need has one of them: {split}")
    near = {key: did_you_mean(key, shapes) for key in strange}
    if not meant and not any(near.values()):
        if len(strange) == 1:
            message = f"{shown(strange[0])} is not a need; a need has exactly one of {listed}"
            yield Issue(child(path, strange[0]), message, Issue.KEY)
        else:
            yield Issue(path, f"none of {quoted(strange, limit=5)} is a need; a need has exactly one of {listed}")
        return
    for key in strange:
        yield Issue(child(path, key), f"{shown(key)} is not a need{near[key]}", Issue.KEY)


_SENTENCES: Final[Mapping[str, Callable[[ValidationError, str], Sentences]]] = {
    "additionalProperties": _unknown_keys,
    "enum": _not_listed,
    "minItems": _no_needs,
    "minLength": _empty_text,
    "minimum": _too_small,
    "oneOf": _not_one_need,
    "required": _missing,
    "type": _wrong_type,
}
"""For each keyword that the schema uses, what to say when it fails."""

_ITEMS: Final = {"prefer": "a preference", "allow": "a name", "deny": "a name"}

_UNITS: Final = {
    ("contextWindow", "value"): ", in tokens",
    ("costPerCall", "usd"): ", in USD per 1,000 prompt tokens",
    ("p95LatencyMs", "value"): ", in milliseconds",
    ("budget", "maxCostUsd"): ", in USD",
    ("budget", "maxDurationMs"): ", in milliseconds",
}


def _unit(error: ValidationError, key: str | None = None) -> str:
    tokens = [*error.path, *([] if key is None else [key])]
    return _UNITS.get((str(tokens[-2]), str(tokens[-1])), "") if len(tokens) > 1 else ""


def _subject(error: ValidationError) -> str:
    if not error.path:
        return "a declaration"
    last = error.path[-1]
    return shown(last) if isinstance(last, str) else _ITEMS[str(error.path[-2])]


def _expected(schema: Any) -> str:
    """What a schema asks for, as the end of a sentence."""
    if "$ref" in schema:
        return _expected(_schema()["$defs"][schema["$ref"].rsplit("/", 1)[1]])
    if "enum" in schema:
        return f"one of {in_backticks(schema['enum'], 'or')}"
    match schema["type"]:
        case "object":
            return f"an object such as {_example(schema)}"
        case "array":
            return f"a list such as {_example(schema)}" if "examples" in schema else "a list of strings"
        case "string":
            return "a non-empty string" if "minLength" in schema else "a string"
        case kind:
            article = "an" if kind == "integer" else "a"
            return f"{article} {kind}" + (f" of at least {schema['minimum']}" if "minimum" in schema else "")


def _wanted(schema: Any) -> str:
    """The type that a schema asks for, where text in quotes may be meant to be of it."""
    match _as_schema(schema):
        case {"type": "array"} if "examples" not in schema:
            return "list"
        case {"type": "string" | "number" | "integer" as kind}:
            return str(kind)
    return ""


def _as_schema(schema: Any) -> Json:
    found_schema: Json = schema
    return found_schema


def _need_schema() -> Json:
    return _as_schema(_schema()["$defs"]["Requirement"])


def _example(schema: Json) -> str:
    return _json(schema["examples"][0])


def _json(value: Any) -> str:
    return f"`{json.dumps(value, ensure_ascii=False)}`"
