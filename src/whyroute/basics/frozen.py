"""Dicts and lists that refuse changes, for what stands inside frozen values."""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

__all__ = ["FrozenDict", "FrozenList", "frozen", "thawed"]

K = TypeVar("K")
T = TypeVar("T")
V = TypeVar("V")

_SCALARS = frozenset({str, int, float, bool, type(None)})


def _read_only(*mutators: str) -> Callable[[type[T]], type[T]]:
    def refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("this value is read-only; change a copy, such as the one `to_dict` makes")

    def decorate(cls: type[T]) -> type[T]:
        for name in mutators:
            setattr(cls, name, refuse)
        return cls

    return decorate


# True dicts and lists, not a mapping proxy: vendors' clients and the json module want them, and they can be pickled.
@_read_only("__setitem__", "__delitem__", "__ior__", "clear", "pop", "popitem", "setdefault", "update")
class FrozenDict(dict[K, V]):
    """A dict that refuses changes. It has a hash when its values have one."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]  # a dict has none because it changes; this one doesn't
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


@_read_only(
    *("__setitem__", "__delitem__", "__iadd__", "__imul__"),
    *("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"),
)
class FrozenList(list[T]):
    """A list that refuses changes. It has a hash when its items have one."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]  # as above
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenList, (list(self),)


def frozen(value: Any) -> Any:
    """A copy of a value whose mappings and lists refuse changes at every level; what is frozen already stays."""
    if type(value) is dict and _SCALARS.issuperset(map(type, value.values())):
        return FrozenDict(value)
    match value:
        case str() | int() | float() | None | FrozenDict() | FrozenList():
            return value
        case Mapping():
            return FrozenDict({key: frozen(item) for key, item in value.items()})
        case list():
            return FrozenList([frozen(item) for item in value])
        case tuple() if not _has_hash(value):
            return tuple(frozen(item) for item in value)
    return value


def _has_hash(value: tuple[Any, ...]) -> bool:
    """Whether it may stay as it is: lists of names are long, and copied for nothing."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def thawed(value: Any) -> Any:
    """A copy of a value in plain dicts and lists, tuples as lists too."""
    if type(value) in _SCALARS:
        return value
    match value:
        case Mapping():
            return {key: thawed(item) for key, item in value.items()}
        case list() | tuple():
            return [thawed(item) for item in value]
    return value
