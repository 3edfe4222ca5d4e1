"""Folding: routes with the same difference as few scopes, each the product of tenants, capabilities and labels."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from .comparison import RequestLine, Scope
from .labels import Combination, Labelling, LabelValues, widened

__all__ = ["LabelCase", "Route", "scopes"]

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class LabelCase(NamedTuple):
    """Labels of a request.

    Attributes:
        labels: The combinations that matter.
        combination: The one it has.
    """

    labels: Labelling
    combination: Combination


@dataclass(frozen=True, slots=True)
class Route:
    """A route that was compared.

    Attributes:
        tenant: The tenant.
        capability: The capability's name; None for a declaration of the request's own.
        case: The labels, or the request of the file.
    """

    tenant: str
    capability: str | None
    case: LabelCase | RequestLine


_Labels = tuple[tuple[tuple[str, LabelValues], ...], ...]
_Cases = tuple[_Labels, tuple[RequestLine, ...]]


def scopes(routes: Iterable[Route]) -> tuple[Scope, ...]:
    """Routes as scopes, in the order of their first tenants and capabilities."""
    cases = _grouped(routes, lambda route: (route.tenant, route.capability))
    of_capability = [(tenant, capability, _cases(found)) for (tenant, capability), found in cases.items()]
    of_tenant = _grouped(of_capability, lambda each: (each[0], each[2]))
    merged = [(tenant, tuple(each[1] for each in found), folded) for (tenant, folded), found in of_tenant.items()]
    of_all = _grouped(merged, lambda each: (each[1], each[2]))
    found = [
        Scope(tuple(each[0] for each in alike), capabilities, labels, requests)
        for (capabilities, (labels, requests)), alike in of_all.items()
    ]
    return tuple(sorted(found, key=lambda scope: scope.order))


def _grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def _cases(routes: Sequence[Route]) -> _Cases:
    """The cases of routes of one tenant and one capability."""
    requests = tuple(route.case for route in routes if isinstance(route.case, RequestLine))
    of_labels = [route.case for route in routes if isinstance(route.case, LabelCase)]
    if not of_labels:
        return (), requests
    labels = of_labels[0].labels
    boxes = [tuple(frozenset((values,)) for values in case.combination) for case in of_labels]
    for place in range(len(labels.keys)):
        alike = _grouped(boxes, lambda box: (*box[:place], *box[place + 1 :]))  # noqa: B023 (called at once)
        boxes = [
            (*rest[:place], frozenset().union(*(box[place] for box in found)), *rest[place:])
            for rest, found in alike.items()
        ]
    return tuple(_told(box, labels) for box in boxes), ()


def _told(box: Sequence[frozenset[LabelValues]], labels: Labelling) -> tuple[tuple[str, LabelValues], ...]:
    """The values of each key of a box, but for keys that may have any value."""
    found: list[tuple[str, LabelValues]] = []
    for key, classes, chosen in zip(labels.keys, labels.values, box, strict=True):
        if len(chosen) < len(classes):
            # What is said comes before what is not, as it is declared or mentioned.
            values = tuple(value for each in classes if each in chosen for value in each)
            if key not in labels.incomplete:
                values = widened(values, tuple(value for each in classes for value in each))
            found.append((key, tuple(sorted(values, key=lambda value: (value.text is None, value.other)))))
    return tuple(found)
