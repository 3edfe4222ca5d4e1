"""What pydantic finds wrong with a document, as issues; and reading wire documents into models."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from ..basics.issues import Issue, did_you_mean, few_searches, pointer, quoted, shown
from ..errors import InvalidInputError
from . import fields
from .json_text import plain
from .phrases import in_document_order, missing, missing_keys, null, unknown_key, wrong

__all__ = ["issues_of", "models_in", "read_model"]

M = TypeVar("M", bound=BaseModel)
Token = str | int


def read_model(model: type[M], document: Any, path: str = "", *, error: type[InvalidInputError]) -> M:
    """Read a wire document into a model: by wire names only, unknown keys and nulls as the model says.

    Args:
        model: The model to read into.
        document: A JSON-like value, or an instance of the model, which is returned as it is.
        path: JSON pointer of the document, for the issues.
        error: What to raise; takes the issues.

    Raises:
        InvalidInputError: The document is broken; all its issues, in document order.
    """
    if isinstance(document, model):
        return document
    cleaned, foreign = plain(document, path)
    try:
        value = model.model_validate(cleaned, by_alias=True, by_name=False)
    except ValidationError as problem:
        # A value that no JSON text could hold was reported; what is left of it would be reported again.
        unreadable = {issue.path for issue in foreign}
        with few_searches():
            every = issues_of(problem, cleaned, path, model=model)
        broken = [issue for issue in every if issue.path not in unreadable]
        raise error(in_document_order([*foreign, *broken], cleaned, path)) from None
    if foreign:
        raise error(in_document_order(foreign, cleaned, path))
    return value


def issues_of(
    error: ValidationError, document: Any, path: str = "", *, model: type[BaseModel] | None = None
) -> list[Issue]:
    """The problems that pydantic found, in document order.

    Args:
        error: What `model_validate` raised.
        document: The value it was given.
        path: JSON pointer of the document.
        model: The model it was read into, from which the keys are known that a wrong one may have been meant to be.
    """
    details = error.errors(include_url=False)
    return in_document_order(
        (issue for detail in details for issue in _issues(detail, document, path, model)), document, path
    )


def _issues(detail: Mapping[str, Any], document: Any, path: str, model: type[BaseModel] | None) -> Iterator[Issue]:
    loc: tuple[Token, ...] = detail["loc"]
    value = detail["input"]
    kind = detail["type"]
    if kind == "missing":
        tokens = _place(loc[:-1], document, value)
        known = _known_keys(model, tokens)
        present = value if isinstance(value, Mapping) else {}
        at = path + pointer(tokens)
        for key in missing_keys([str(loc[-1])], known, present) if known else [str(loc[-1])]:
            yield missing(at, key)
        return
    tokens = _place(loc, document, value)
    at = path + pointer(tokens)
    if kind == "extra_forbidden":
        key = str(tokens[-1])
        holder = _value_at(document, tokens[:-1])
        known = _known_keys(model, tokens[:-1])
        yield unknown_key(at, key, known, holder) if known else Issue(at, f"{shown(key)} is not a key here", Issue.KEY)
    else:
        yield _issue(at, kind, value, detail.get("ctx", {}), _choices(model, tokens), str(detail["msg"]))


_EXPECTED = {
    "bool_parsing": ("true or false is expected", "boolean"),
    "bool_type": ("true or false is expected", "boolean"),
    "dict_type": ("an object is expected", "object"),
    "mapping_type": ("an object is expected", "object"),
    "model_attributes_type": ("an object is expected", "object"),
    "model_type": ("an object is expected", "object"),
    "list_type": ("a list is expected", ""),
    "tuple_type": ("a list is expected", ""),
    "string_type": ("a string is expected", "string"),
    "float_parsing": ("a number is expected", "number"),
    "float_type": ("a number is expected", "number"),
    "int_from_float": ("an integer is expected", "integer"),
    "int_parsing": ("an integer is expected", "integer"),
    "int_type": ("an integer is expected", "integer"),
    "union_tag_not_found": ("it has none of the shapes that are expected here", ""),
    "union_tag_invalid": ("it has none of the shapes that are expected here", ""),
}
"""What pydantic's errors about types say is expected, in words and as what the value wants."""


def _issue(path: str, kind: str, value: Any, context: Mapping[str, Any], choices: list[str], otherwise: str) -> Issue:
    if kind in _EXPECTED:
        expected, wants = _EXPECTED[kind]
        return wrong(path, value, expected, wants=wants)
    match kind:
        case "value_error":
            return Issue(path, str(context["error"]))
        case fields.BROKEN:
            if value is None or "wants" not in context:
                is_null = context.get("code") == Issue.NULL
                return null(path, context["message"]) if is_null else Issue(path, context["message"])
            if isinstance(value, int | float) and not isinstance(value, bool) and context["wants"] != "list":
                return Issue(path, f"{shown(value)}; {context['message']}", Issue.VALUE, value=value)
            return wrong(path, value, context["message"], wants=context["wants"])
        case "too_short":
            least = context["min_length"]
            return wrong(path, value, f"a list of at least {least} {'item' if least == 1 else 'items'} is expected")
        case "greater_than_equal":
            return wrong(path, value, f"at least {context['ge']} is expected")
        case "string_too_short":
            return Issue(path, "empty; a non-empty string is expected")
        case "literal_error" | "enum":
            near = did_you_mean(value, choices) if isinstance(value, str) else ""
            if near:
                return Issue(path, f"{shown(value)} is not expected here{near}")
            return wrong(path, value, f"one of {quoted(choices)} is expected")
        case "greater_than_equal":
            return Issue(
                path, f"{shown(value)}; a number of at least {context['ge']} is expected", Issue.VALUE, value=value
            )
        case _:
            return wrong(path, value, f"{otherwise[:1].lower()}{otherwise[1:]}")


def _place(loc: tuple[Token, ...], document: Any, value: Any) -> tuple[Token, ...]:
    """The keys and indices among `loc`: pydantic puts the tags of unions between them.

    The path that leads to `value` is the right one; a tag may read like a key that is there.
    """

    def paths(index: int, here: Any) -> Iterator[tuple[tuple[Token, ...], Any]]:
        if index == len(loc):
            yield (), here
            return
        token = loc[index]
        if _has(here, token):
            yield from (((token, *rest), end) for rest, end in paths(index + 1, here[token]))
        if isinstance(token, str):
            yield from paths(index + 1, here)

    first: tuple[Token, ...] | None = None
    for tokens, end in paths(0, document):
        if end is value:
            return tokens
        first = tokens if first is None else first
    return first or ()


def _has(value: Any, token: Token) -> bool:
    if isinstance(value, Mapping):
        return token in value
    return isinstance(value, list | tuple) and isinstance(token, int) and token < len(value)


def _value_at(document: Any, tokens: tuple[Token, ...]) -> Any:
    for token in tokens:
        document = document[token]
    return document


def _known_keys(model: type[BaseModel] | None, tokens: tuple[Token, ...]) -> list[str]:
    """The wire names that an object at `tokens` may have, of every model that can stand there."""
    return list(dict.fromkeys(name for each in _models_at(model, tokens) for name in _wire_fields(each)))


def _choices(model: type[BaseModel] | None, tokens: tuple[Token, ...]) -> list[str]:
    """The values that are listed for the field at `tokens`."""
    name = tokens[-1] if tokens else ""
    fields = (_wire_fields(each).get(str(name)) for each in _models_at(model, tokens[:-1]))
    return [choice for field in fields if field is not None for choice in _listed_in(field.annotation)]


def _models_at(model: type[BaseModel] | None, tokens: tuple[Token, ...]) -> list[type[BaseModel]]:
    models = [] if model is None else [model]
    for token in tokens:
        if isinstance(token, str):
            fields = (_wire_fields(each).get(token) for each in models)
            models = [inner for field in fields if field is not None for inner in models_in(field.annotation)]
    return models


def _wire_fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a type names, at any depth."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from models_in(argument)


def _listed_in(annotation: Any) -> Iterator[str]:
    for argument in get_args(annotation):
        if get_origin(annotation) is Literal:
            yield argument
        else:
            yield from _listed_in(argument)
