"""Columns of the index: the set of candidates that have a value."""

from __future__ import annotations  # array is not subscriptable before Python 3.12

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from ..basics import bits
from ..basics.numbers import Number
from ..model.metadata import ModelInfo, ProviderMetadata, source_of

__all__ = ["NUMBER_COLUMNS", "Column", "Order", "chunk_of", "column_of", "models_in"]

Order: TypeAlias = "tuple[array[int], array[int]]"
"""For each candidate number, the index of its provider and that of its model."""


_DENSE_VALUES = 128  # up to so many distinct values, a column of one set per value takes at most 16 bytes a candidate
_MEMO_VALUES = 64
_JOURNAL_LENGTH = 32


class _Sets(dict[str, int]):
    """The set of candidates of each value; that of a value that no candidate has is empty."""

    __slots__ = ()

    __missing__ = ().count
    """Returns 0 for every value, and is no Python function, whose call would cost more than the look-up."""


class DenseColumn:
    """A column with few distinct values: the set of candidates of each."""

    __slots__ = ("having", "sets")

    def __init__(self, sets: Mapping[str, int]) -> None:
        self.sets = _Sets(sets)
        self.having: Callable[[str], int] = self.sets.__getitem__

    def having_any(self, values: Iterable[str]) -> int:
        found = 0
        for value in values:
            found |= self.sets.get(value, 0)
        return found

    def values(self) -> Iterable[str]:
        return self.sets

    def inserted(self, at: int, width: int, chunk: Mapping[str, int]) -> DenseColumn | None:
        sets = {value: bits.insert(members, at, width, chunk.get(value, 0)) for value, members in self.sets.items()}
        for value, members in chunk.items():
            if value not in sets:
                sets[value] = members << at
        return DenseColumn(sets) if len(sets) <= 2 * _DENSE_VALUES else None


class SparseColumn:
    """A column with many distinct values: the positions of each, and the insertions made since they were noted."""

    __slots__ = ("_journal", "_memo", "_postings", "_size")

    def __init__(
        self,
        postings: Mapping[str, int | array[int]],
        size: int,
        journal: tuple[tuple[int, int, Mapping[str, int]], ...] = (),
    ) -> None:
        self._postings = postings
        self._size = size
        self._journal = journal
        self._memo: dict[str, int] = {}

    def having(self, value: str) -> int:
        found = self._memo.get(value)
        if found is None:
            noted = self._postings.get(value, ())
            found = 1 << noted if isinstance(noted, int) else bits.from_positions(noted, self._size)
            for at, width, chunk in self._journal:
                found = bits.insert(found, at, width, chunk.get(value, 0))
            if len(self._memo) >= _MEMO_VALUES:
                self._memo.clear()
            self._memo[value] = found
        return found

    def having_any(self, values: Iterable[str]) -> int:
        wanted = tuple(values)
        if len(wanted) <= 2:
            found = 0
            for value in wanted:
                found |= self.having(value)
            return found
        # One set for all of them together: a set for each would take a pass over the candidates each.
        positions: list[int] = []
        for value in wanted:
            noted = self._postings.get(value, ())
            positions += (noted,) if isinstance(noted, int) else noted
        found = bits.from_positions(positions, self._size)
        for at, width, chunk in self._journal:
            inserted = 0
            for value in wanted:
                inserted |= chunk.get(value, 0)
            found = bits.insert(found, at, width, inserted)
        return found

    def values(self) -> Iterable[str]:
        return dict.fromkeys(chain(self._postings, *(chunk for _, _, chunk in self._journal)))

    def inserted(self, at: int, width: int, chunk: Mapping[str, int]) -> SparseColumn | None:
        if len(self._journal) >= _JOURNAL_LENGTH:
            return None
        return SparseColumn(self._postings, self._size, (*self._journal, (at, width, chunk)))


Column = DenseColumn | SparseColumn

_NumberOf = Callable[[ModelInfo], Number | None]

# Columns read from the provider alone (all its models share the value), and columns read from each model.
_PROVIDER_COLUMNS: dict[str, Callable[[ProviderMetadata], Iterable[str]]] = {
    "region": lambda meta: (meta.region,),
    "kind": lambda meta: (meta.capability_kind,),
    "attribute": lambda meta: meta.attributes,
    "fallback": lambda meta: ("yes",) if meta.fallback else (),
    "source": lambda meta: (source_of(meta),),
}
_LABELS = "labels."
_MODEL_COLUMNS: dict[str, Callable[[ModelInfo], tuple[str, ...]]] = {
    "feature": lambda model: tuple(model.features),
    "model": lambda model: (model.name,),
}
NUMBER_COLUMNS: dict[str, _NumberOf] = {
    "contextWindow": lambda model: model.context_window,
    "maxOutputTokens": lambda model: model.max_output_tokens,
    "promptUsdPer1kTokens": lambda model: model.cost.prompt_usd_per_1k_tokens,
    "completionUsdPer1kTokens": lambda model: model.cost.completion_usd_per_1k_tokens,
    "p95LatencyMs": lambda model: model.p95_latency_ms,
}


def _read_from_provider(name: str) -> Callable[[ProviderMetadata], Iterable[str]] | None:
    """How a column's values are read, if the provider alone has them."""
    if not name.startswith(_LABELS):
        return _PROVIDER_COLUMNS.get(name)
    key = name[len(_LABELS) :]
    return lambda meta: (meta.labels[key],) if key in meta.labels else ()


def models_in(metadata: Sequence[ProviderMetadata], order: Order) -> Iterator[ModelInfo]:
    """The models in the order of their numbers."""
    for index, at in zip(*order, strict=True):
        yield metadata[index].models[at]


def column_of(name: str, metadata: Sequence[ProviderMetadata], order: Order) -> Column:
    """A column of all candidates.

    Args:
        name: `model`, `region`, `kind`, `source`, `feature`, `attribute`, `fallback` or `labels.<key>`.
        metadata: What each provider says of itself.
        order: How candidates are numbered.
    """
    read = _read_from_provider(name)
    postings = _of_models(name, models_in(metadata, order)) if read is None else _of_providers(read, metadata, order[0])
    size = len(order[0])
    if name != "model" and len(postings) <= _DENSE_VALUES:
        return DenseColumn({value: bits.from_positions(found, size) for value, found in postings.items()})
    return SparseColumn(
        {value: found[0] if len(found) == 1 else array("I", found) for value, found in postings.items()}, size
    )


def _of_providers(
    read: Callable[[ProviderMetadata], Iterable[str]], metadata: Sequence[ProviderMetadata], owner: array[int]
) -> dict[str, list[int]]:
    postings: dict[str, list[int]] = {}
    number = 0
    while number < len(owner):
        meta = metadata[owner[number]]
        end = number + len(meta.models)
        for value in dict.fromkeys(read(meta)):
            postings.setdefault(value, []).extend(range(number, end))
        number = end
    return postings


def _of_models(name: str, models: Iterable[ModelInfo]) -> dict[str, list[int]]:
    read = _MODEL_COLUMNS[name]
    # Models mostly share a few combinations of values: gather those first.
    combined: dict[tuple[str, ...], list[int]] = {}
    for number, model in enumerate(models):
        values = read(model)
        found = combined.get(values)
        if found is None:
            combined[values] = [number]
        else:
            found.append(number)
    if name == "model":
        return {values[0]: found for values, found in combined.items()}
    postings: dict[str, list[int]] = {}
    for values, found in combined.items():
        for value in dict.fromkeys(values):
            postings.setdefault(value, []).extend(found)
    return postings


def chunk_of(name: str, meta: ProviderMetadata, models: Sequence[ModelInfo]) -> dict[str, int]:
    """The sets of one provider's candidates, by value, counted from its first."""
    of_provider = _read_from_provider(name)
    if of_provider is not None:
        return dict.fromkeys(of_provider(meta), bits.full(len(models)))
    read = _MODEL_COLUMNS[name]
    found: dict[str, int] = {}
    for at, model in enumerate(models):
        for value in read(model):
            found[value] = found.get(value, 0) | 1 << at
    return found
