"""Models as they enter: which of them were checked, and the wire form of those that may not have been.

pydantic's `model_copy` and `model_construct` check nothing, so that a frozen model is no proof of anything. Whoever
takes one asks here whether it was checked, which costs a tenth of a microsecond, and reads its wire form otherwise.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from weakref import KeyedRef

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from .issues import Issue, child, did_you_mean, quoted, shown
from .jsontext import plain

__all__ = ["is_checked", "is_same", "kept_for", "plain_form", "remember", "wire_form"]


class _Checked(KeyedRef[int, BaseModel]):
    """A model that was checked, and what others made of it."""

    __slots__ = ("kept",)

    kept: dict[str, Any]


_CHECKED: Final[dict[int, _Checked]] = {}


def is_checked(model: BaseModel) -> bool:
    """Whether this very object, not an equal one, was checked since it was made."""
    known = _CHECKED.get(id(model))
    return known is not None and known() is model


def remember(model: BaseModel) -> None:
    """Note that an object was checked, for as long as it lives. It has to be frozen at every level."""
    key = id(model)
    reference = _Checked(model, _forget, key)
    reference.kept = {}
    _CHECKED[key] = reference


def kept_for(model: BaseModel) -> dict[str, Any] | None:
    """A place for what is made of a checked model and depends on it alone, for as long as the model lives.

    Nothing in it may refer to the model itself, which it would keep alive. None for a model that was not checked.
    """
    known = _CHECKED.get(id(model))
    return known.kept if known is not None and known() is model else None


def _forget(reference: KeyedRef[int, BaseModel]) -> None:
    # Another object may live at the same address by now, and have been checked.
    if _CHECKED.get(reference.key) is reference:
        _CHECKED.pop(reference.key, None)


def wire_form(
    model: BaseModel, path: str = "", *, known_as: type[BaseModel] | None = None
) -> tuple[dict[Any, Any], list[Issue]]:
    """A model that may never have been checked, as it would go over the wire, and what it can't have got by reading.

    Fields that are None for absent are left out, and so are those that were never set and have their default.

    Args:
        model: The model. Models in it are taken for their wire forms too.
        path: JSON pointer of the model, for the issues.
        known_as: The class it is taken for: fields that a subclass adds are left out.

    Returns:
        An object whose values may still be anything, and an issue for each attribute that is no field.
    """
    issues: list[Issue] = []
    found = _form(model, path, issues)
    if known_as is not None and type(model) is not known_as:
        for name, field in type(model).model_fields.items():
            if name not in known_as.model_fields:
                found.pop(field.alias or name, None)
    return found, issues


def plain_form(value: Any, path: str = "") -> tuple[Any, list[Issue]]:
    """`jsontext.plain` of a document that may be a model or have models in it, each taken for its wire form."""
    issues: list[Issue] = []
    wire = _value(value, path, issues)
    cleaned, foreign = plain(wire, path)
    return cleaned, foreign + issues


def _form(model: BaseModel, path: str, issues: list[Issue]) -> dict[Any, Any]:
    fields = type(model).model_fields
    found: dict[Any, Any] = {}
    for name, value in _set_fields(model, fields):
        wire = fields[name].alias or name
        found[wire] = _value(value, child(path, wire), issues)
    names = {field.alias or name: name for name, field in fields.items()}
    issues += [
        Issue(child(path, key), _stray(key, names))
        for key in model.__dict__
        if key not in fields and not hasattr(type(model), key)
    ]
    for key, value in (model.__pydantic_extra__ or {}).items():
        if key in names:
            issues.append(Issue(child(path, key), _stray(key, names)))
        else:
            found[key] = _value(value, child(path, key), issues)
    return found


def _set_fields(model: BaseModel, fields: Mapping[str, FieldInfo]) -> Iterator[tuple[str, Any]]:
    given = model.__pydantic_fields_set__
    held = model.__dict__
    for name, field in fields.items():
        if name not in held:
            continue
        value, default = held[name], field.default
        if value is None and default is None:
            continue
        if name in given or value is not default:
            yield name, value


def _value(value: Any, path: str, issues: list[Issue]) -> Any:
    match value:
        case str():
            return value
        case BaseModel():
            return _form(value, path, issues)
        case list() | tuple():
            return [_value(item, f"{path}/{index}", issues) for index, item in enumerate(value)]
        case Mapping():
            return {key: _value(item, child(path, key), issues) for key, item in value.items()}
        case _:
            return value


def _stray(key: Any, names: Mapping[str, str]) -> str:
    """Why an attribute is refused; `names` are the fields' names in Python by their wire names."""
    if key in names:
        return f"{shown(key)} is the name on the wire; in Python the field is {shown(names[key])}"
    near = did_you_mean(str(key), names.values()) or f"; the fields are {quoted(list(names.values()))}"
    return f"{shown(key)} is not a field here{near}"


def is_same(given: Any, read: Any) -> bool:
    """Whether a value is exactly what reading its wire form gave: equal, of the same types, and as frozen."""
    if isinstance(read, BaseModel):
        if not isinstance(given, type(read)):
            return False
        mine, its = given.__dict__, read.__dict__
        if not all(name in mine and is_same(mine[name], its[name]) for name in type(read).model_fields):
            return False
        # What a user's own subclass adds is no business of ours.
        return type(given) is not type(read) or (given.__pydantic_extra__ or {}) == (read.__pydantic_extra__ or {})
    if type(given) is not type(read):
        return False
    if isinstance(read, tuple):
        return len(given) == len(read) and all(map(is_same, given, read))
    if isinstance(read, Mapping):
        return given.keys() == read.keys() and all(is_same(given[key], read[key]) for key in read)
    return bool(given == read)
