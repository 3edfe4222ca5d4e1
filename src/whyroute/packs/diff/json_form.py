"""How what differs goes into JSON: attributes under their names, in order."""

from typing import Any, NamedTuple

__all__ = ["Pair", "as_json", "given", "said"]


class Pair(NamedTuple):
    """A candidate, by its provider's id and its model's name."""

    provider: str
    model: str

    def to_dict(self) -> dict[str, str]:
        """The candidate as JSON."""
        return self._asdict()


def as_json(value: Any) -> Any:
    """A value as JSON: what knows its own form in that, tuples as lists, everything else as it is."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return [as_json(each) for each in value] if isinstance(value, tuple) else value


def said(value: object, *names: str) -> dict[str, Any]:
    """Some attributes of an object."""
    return {name: as_json(getattr(value, name)) for name in names}


def given(value: object, *names: str) -> dict[str, Any]:
    """Those of some attributes of an object that are neither None nor empty."""
    return {name: found for name, found in said(value, *names).items() if found not in (None, [])}
