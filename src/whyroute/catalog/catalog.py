"""The catalog: an immutable, indexed sequence of providers and of the candidates they offer."""

from __future__ import annotations  # array is not subscriptable before Python 3.12

import threading
from array import array
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from json.encoder import encode_basestring
from typing import Any, TypeVar, overload

from pydantic import BaseModel

from ..basics import bits
from ..basics.bits import BitSlices
from ..basics.computed import computed
from ..basics.globs import matching
from ..basics.issues import Issue, kind_of
from ..basics.numbers import Number, exact, scaled
from ..errors import DuplicateProviderError, InvalidProviderError, InvalidRequestError
from ..model.features import UNSPECIFIED_REGION
from ..model.metadata import ModelInfo, ProviderMetadata, read_metadata, source_of
from ..model.provider import DeclaredProvider, ModelProvider, metadata_of

__all__ = ["Candidate", "Catalog", "Member"]

T = TypeVar("T")

Member = tuple[ModelProvider, ProviderMetadata]
"""A provider, and its metadata as it was when it was read."""

_DENSE_VALUES = 128  # up to so many distinct values, a column of one set per value takes at most 16 bytes a candidate
_MEMO_VALUES = 64
_JOURNAL_LENGTH = 32
_FOUND_SETS = 256  # how many sets that took a pass over a column's values are kept
_KEPT_VALUES = 4096  # how many values that follow from the candidates are kept at most, such as sets of conditions
_KEPT_BITS = 1 << 29  # and how many candidates they have together
_CALLS = 8  # for how many calls the costs are kept


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Candidate:
    """One model of one provider.

    Attributes:
        provider: The registered provider, to invoke.
        metadata: What the provider says of itself.
        model: The model.
    """

    provider: ModelProvider
    metadata: ProviderMetadata
    model: ModelInfo

    def __init__(self, provider: ModelProvider, metadata: ProviderMetadata, model: ModelInfo) -> None:
        # As the one that would be generated, at half its cost: a decision of many alternates makes many.
        _SET_PROVIDER(self, provider)
        _SET_METADATA(self, metadata)
        _SET_MODEL(self, model)

    @property
    def id(self) -> str:
        """`<providerId>/<modelName>`, for diagnostics: two candidates may read alike."""
        return f"{self.metadata.id}/{self.model.name}"

    @property
    def key(self) -> tuple[str, str]:
        """Provider id and model name: what identifies the candidate in its catalog."""
        return self.metadata.id, self.model.name

    def to_dict(self) -> dict[str, str]:
        """The candidate as it goes over the wire."""
        return {"provider": self.metadata.id, "model": self.model.name}

    def __hash__(self) -> int:
        # A provider of a user's own need not have a hash, and equal candidates have equal keys.
        return hash(self.key)

    def __repr__(self) -> str:
        return f"<Candidate {self.metadata.id!r} {self.model.name!r}>"


_SET_PROVIDER, _SET_METADATA, _SET_MODEL = (
    Candidate.__dict__[name].__set__ for name in ("provider", "metadata", "model")
)


class _Sets(dict[str, int]):
    """The set of candidates of each value; that of a value that nobody has is empty."""

    __slots__ = ()

    __missing__ = ().count
    """Returns 0 for every value, and is no Python function, whose call would cost more than the look-up."""


class _DenseColumn:
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

    def inserted(self, at: int, width: int, chunk: Mapping[str, int]) -> _DenseColumn | None:
        sets = {value: bits.insert(members, at, width, chunk.get(value, 0)) for value, members in self.sets.items()}
        for value, members in chunk.items():
            if value not in sets:
                sets[value] = members << at
        return _DenseColumn(sets) if len(sets) <= 2 * _DENSE_VALUES else None


class _SparseColumn:
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

    def inserted(self, at: int, width: int, chunk: Mapping[str, int]) -> _SparseColumn | None:
        if len(self._journal) >= _JOURNAL_LENGTH:
            return None
        return _SparseColumn(self._postings, self._size, (*self._journal, (at, width, chunk)))


_ValuesOf = Callable[[ProviderMetadata, ModelInfo], Iterable[str]]
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
    "feature": lambda model: model.features,
    "model": lambda model: (model.name,),
}
_NUMBER_COLUMNS: dict[str, _NumberOf] = {
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


Call = tuple[int, int]
"""The tokens of a call: of the prompt and of the completion."""


@dataclass(frozen=True, slots=True)
class CallCosts:
    """What a call costs at each candidate, exactly.

    Attributes:
        costs: The costs, as integers.
        exponent: A cost in USD is its integer times 10 to this power.
    """

    costs: BitSlices
    exponent: int

    def meets(self, op: str, usd: Number) -> int:
        """The candidates whose cost meets a bound."""
        bound = exact(usd) / Fraction(10) ** self.exponent
        return self.costs.meets(op, bound.numerator if bound.denominator == 1 else bound)

    def inserted(self, at: int, models: Sequence[ModelInfo], call: Call) -> CallCosts:
        """The costs with those of new candidates at `at`."""
        exponent = min(self.exponent, *(_exponent(model) for model in models))
        factor = 10 ** (self.exponent - exponent)
        costs = self.costs
        if factor != 1:
            costs = BitSlices(tuple(value * factor for value in costs.values), costs.slices, costs.known)
        return CallCosts(costs.inserted(at, _costs(models, call, exponent)), exponent)


def _exponent(model: ModelInfo) -> int:
    cost = model.cost
    return min(scaled(cost.prompt_usd_per_1k_tokens)[1], scaled(cost.completion_usd_per_1k_tokens)[1], 0) - 3


def _costs(models: Iterable[ModelInfo], call: Call, exponent: int) -> list[Number | None]:
    """What a call costs at each of the models, in units of 10 to the power of `exponent`."""
    known: dict[tuple[Number, Number], int] = {}
    found: list[Number | None] = []
    for model in models:
        prices = (model.cost.prompt_usd_per_1k_tokens, model.cost.completion_usd_per_1k_tokens)
        cost = known.get(prices)
        if cost is None:
            parts = zip(call, map(scaled, prices), strict=True)
            # Prices are for 1,000 tokens.
            cost = sum(count * digits * 10 ** (power - 3 - exponent) for count, (digits, power) in parts)
            known[prices] = cost
        found.append(cost)
    return found


class Catalog(Sequence[ModelProvider]):
    """An immutable sequence of providers, in the order they were given, with an index over their candidates.

    Candidates are numbered in tie-break order: by provider id, then the provider's default model before its others,
    then by model name, ids and names by code point. So the best of equally scored candidates is the lowest member
    of their set. Columns of the index are built when they are first asked for; `with_provider` updates those that
    exist. Indexing everything takes about a second for 100,000 candidates, an update a few milliseconds.

    Args:
        providers: Providers, or their metadata. Ids are unique.

    Raises:
        DuplicateProviderError: An id stands twice.
        InvalidProviderError: A provider's metadata breaks a rule.
        InvalidRequestError: What is given is no list of providers.
    """

    def __init__(self, providers: Iterable[Any] = ()) -> None:
        if isinstance(providers, str | bytes | Mapping | BaseModel) or not isinstance(providers, Iterable):
            what = "one provider" if _is_provider(providers) else kind_of(providers)
            message = f"{what}; providers are a list of providers, or what `registry.list(tenant)` gives"
            raise InvalidRequestError([Issue("/providers", message)])
        self._fill([as_provider(provider, f"/{index}") for index, provider in enumerate(providers)])

    @classmethod
    def of_members(cls, members: Iterable[Member]) -> Catalog:
        """A catalog of providers with the metadata each had when it was registered.

        Raises:
            DuplicateProviderError: An id stands twice.
        """
        found = cls.__new__(cls)
        found._fill(list(members))
        return found

    def _fill(self, members: list[Member]) -> None:
        metadata = [meta for _, meta in members]
        if len({meta.id for meta in metadata}) != len(metadata):
            seen: set[str] = set()
            for meta in metadata:
                if meta.id in seen:
                    raise DuplicateProviderError(meta.id)
                seen.add(meta.id)
        self._providers: tuple[ModelProvider, ...] = tuple(provider for provider, _ in members)
        self._metadata: tuple[ProviderMetadata, ...] = tuple(metadata)
        self._ids: list[str] = [meta.id for meta in metadata]
        self._size = sum(len(meta.models) for meta in metadata)
        self._all = bits.full(self._size)
        self._order: tuple[array[int], array[int]] | None = None
        self._columns: dict[str, _DenseColumn | _SparseColumn] = {}
        self._numbers: dict[str, BitSlices] = {}
        self._calls: dict[Call, CallCosts] = {}
        self._found: dict[tuple[str, str | None], int] = {}
        self._candidate_texts: list[str] | None = None
        self._kept_values: dict[Hashable, Any] = {}
        self._lock = threading.Lock()

    # The sequence of providers.

    def __len__(self) -> int:
        return len(self._providers)

    @overload
    def __getitem__(self, index: int) -> ModelProvider: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[ModelProvider, ...]: ...

    def __getitem__(self, index: int | slice) -> ModelProvider | tuple[ModelProvider, ...]:
        return self._providers[index]

    def __iter__(self) -> Iterator[ModelProvider]:
        return iter(self._providers)

    def __reduce__(self) -> tuple[Any, ...]:
        # The index is made again where it is asked for; its lock can't travel.
        return Catalog.of_members, (tuple(zip(self._providers, self._metadata, strict=True)),)

    def __repr__(self) -> str:
        return f"Catalog({len(self._providers)} providers, {self._size} candidates)"

    # The candidates.

    @property
    def size(self) -> int:
        """How many candidates there are."""
        return self._size

    @property
    def metadata(self) -> tuple[ProviderMetadata, ...]:
        """The metadata of each provider, in the order of the sequence."""
        return self._metadata

    def candidate(self, number: int) -> Candidate:
        """The candidate with a number from 0 to size - 1."""
        owner, slot = self._order or self._numbering()
        index = owner[number]
        meta = self._metadata[index]
        return Candidate(self._providers[index], meta, meta.models[slot[number]])

    def metadata_of(self, number: int) -> ProviderMetadata:
        """The metadata of the provider of the candidate with a number."""
        return self._metadata[(self._order or self._numbering())[0][number]]

    def candidate_texts(self) -> Sequence[str]:
        """Each candidate by its number as JSON text of its wire form; made once, for some 100 bytes a candidate."""
        texts = self._candidate_texts
        if texts is None:
            owner, slot = self._numbering()
            heads = [f'{{"provider": {encode_basestring(meta.id)}, "model": ' for meta in self._metadata]
            metadata = self._metadata
            texts = self._candidate_texts = [
                f"{heads[index]}{encode_basestring(metadata[index].models[at].name)}}}"
                for index, at in zip(owner, slot, strict=True)
            ]
        return texts

    def candidates(self, members: int | None = None) -> Iterator[Candidate]:
        """The candidates of a set (all of them when it is absent), in tie-break order."""
        for number in range(self._size) if members is None else bits.positions(members):
            yield self.candidate(number)

    def input_order(self) -> array[int]:
        """The number of each candidate, in the order of the providers and of their models."""
        owner, slot = self._numbering()
        starts = array("I", bytes(4 * len(self._providers)))
        at = 0
        for index, meta in enumerate(self._metadata):
            starts[index] = at
            at += len(meta.models)
        found = array("I", bytes(4 * self._size))
        for number in range(self._size):
            found[starts[owner[number]] + slot[number]] = number
        return found

    def number_of(self, provider_id: str, model_name: str) -> int | None:
        """The number of the candidate, or None when the catalog has no such pair."""
        low, width = self._range_of(provider_id)
        if not width:
            return None
        high = low + width
        owner, slot = self._numbering()
        meta = self._metadata[owner[low]]
        first = meta.models[slot[low]].name
        if first == model_name:
            return low
        if first == meta.default_model:
            low += 1  # the others are in the order of their names
        at = bisect_left(range(low, high), model_name, key=lambda number: meta.models[slot[number]].name) + low
        return at if at < high and meta.models[slot[at]].name == model_name else None

    # The index: sets of candidates. What asks it for one value is a column's own function, found once and called as a
    # method is: a call costs more than what it finds.

    def all(self) -> int:
        """Every candidate."""
        return self._all

    @computed
    def with_feature(self) -> Callable[[str], int]:
        """The candidates whose model has a feature, by its name."""
        return self._column("feature").having

    @computed
    def with_attribute(self) -> Callable[[str], int]:
        """The candidates whose provider has an attribute, by its name."""
        return self._column("attribute").having

    @computed
    def in_region(self) -> Callable[[str], int]:
        """The candidates whose provider is in exactly a region, by its name."""
        return self._column("region").having

    def in_any_region(self, regions: Iterable[str]) -> int:
        """The candidates whose provider is in one of these regions."""
        having = self.in_region
        found = 0
        for region in regions:
            found |= having(region)
        return found

    @computed
    def of_kind(self) -> Callable[[str], int]:
        """The candidates whose provider is of a kind, by its name."""
        return self._column("kind").having

    def of_provider(self, provider_id: str) -> int:
        """The candidates of a provider."""
        start, width = self._range_of(provider_id)
        return ((1 << width) - 1) << start

    @computed
    def of_model(self) -> Callable[[str], int]:
        """The candidates whose model has a name, at any provider."""
        return self._column("model").having

    @computed
    def fallbacks(self) -> int:
        """The candidates of fallback providers."""
        return self._column("fallback").having("yes")

    @computed
    def context_window(self) -> BitSlices:
        """Context windows, in tokens."""
        return self._number_column("contextWindow")

    @computed
    def prompt_price(self) -> BitSlices:
        """Prompt prices, in USD per 1,000 tokens."""
        return self._number_column("promptUsdPer1kTokens")

    @computed
    def p95_latency(self) -> BitSlices:
        """95th percentile latencies, in milliseconds; unknown where a model reports none."""
        return self._number_column("p95LatencyMs")

    def having(self, column: str, values: Iterable[str]) -> int:
        """The candidates that have one of these values.

        Args:
            column: `provider`, `model`, `region`, `kind`, `source`, `feature`, `attribute` or `labels.<key>`.
            values: The values.
        """
        if column != "provider":
            return self._column(column).having_any(values)
        found = 0
        for value in values:
            found |= self.of_provider(value)
        return found

    def matching(self, column: str, pattern: str) -> int:
        """The candidates with a value that matches a glob; the columns are those of `having`.

        Each distinct value is looked at once.
        """
        return self._kept(column, pattern)

    def known(self, column: str) -> int:
        """The candidates of which anything is known in a column of `having`; of a set: that it is not empty."""
        if column == "region":
            return self.all() & ~self.in_region(UNSPECIFIED_REGION)
        if column in ("provider", "model", "kind", "source"):
            return self.all()
        return self._kept(column, None)

    def numbers(self, column: str) -> BitSlices:
        """A numeric column.

        Args:
            column: `contextWindow`, `maxOutputTokens`, `promptUsdPer1kTokens`, `completionUsdPer1kTokens` or
                `p95LatencyMs`.
        """
        return self._number_column(column)

    def call_costs(self, prompt: int, completion: int) -> CallCosts:
        """What a call of so many tokens costs at each candidate, exactly."""
        call = (prompt, completion)
        costs = self._calls.get(call)
        if costs is None:
            with self._lock:
                costs = self._calls.get(call)
                if costs is None:
                    exponent = min(map(_exponent, self._models()), default=0)
                    costs = CallCosts(BitSlices.build(_costs(self._models(), call, exponent)), exponent)
                    if len(self._calls) >= _CALLS:
                        self._calls.pop(next(iter(self._calls)))
                    self._calls[call] = costs
        return costs

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """What follows from the candidates and a key, computed when first asked for.

        The oldest values go when there are too many. Two threads may compute one value both.

        Args:
            key: What it is found by, with a hash that costs little. Equal keys have equal values.
            make: Computes the value, which is immutable and takes about as much memory as a set or two.
        """
        kept = self._kept_values
        found: T | None = kept.get(key)
        if found is None:
            found = make()
            while len(kept) >= min(_KEPT_VALUES, _KEPT_BITS // (self._size + 1) + 1):
                with suppress(RuntimeError, StopIteration):  # another thread is making room
                    kept.pop(next(iter(kept)), None)
            kept[key] = found
        return found

    # Updates.

    def with_provider(self, provider: Any) -> Catalog:
        """A catalog with one more provider, at the end of the sequence. Columns that exist are updated, not rebuilt.

        Raises:
            DuplicateProviderError: The id is taken.
        """
        return self.with_member(as_provider(provider))

    def with_member(self, member: Member) -> Catalog:
        """`with_provider`, with the metadata that the provider had when it was registered."""
        if self._order is None:
            return Catalog.of_members([*zip(self._providers, self._metadata, strict=True), member])
        provider, meta = member
        at, width = self._range_of(meta.id)
        if width:
            raise DuplicateProviderError(meta.id)
        found = Catalog.__new__(Catalog)
        found._providers = (*self._providers, provider)
        found._metadata = (*self._metadata, meta)
        found._ids = [*self._ids, meta.id]
        found._size = self._size + len(meta.models)
        found._all = bits.full(found._size)
        found._columns = {}
        found._numbers = {}
        found._calls = {}
        found._found = {}
        found._candidate_texts = None
        found._kept_values = {}
        found._lock = threading.Lock()
        models = _tie_break_order(meta)
        owner, slot = (array("I", column) for column in self._order)
        owner[at:at] = array("I", [len(self._providers)] * len(models))
        slot[at:at] = array("I", models)
        found._order = owner, slot
        ordered = [meta.models[index] for index in models]
        for name, column in tuple(self._columns.items()):
            updated = column.inserted(at, len(models), _chunk(name, meta, ordered))
            if updated is not None:
                found._columns[name] = updated
        for name, slices in tuple(self._numbers.items()):
            read = _NUMBER_COLUMNS[name]
            found._numbers[name] = slices.inserted(at, [read(model) for model in ordered])
        for call, costs in tuple(self._calls.items()):
            found._calls[call] = costs.inserted(at, ordered, call)
        return found

    # Inside.

    def _numbering(self) -> tuple[array[int], array[int]]:
        """For each candidate number, the index of its provider and that of its model."""
        order = self._order
        if order is None:
            metadata = self._metadata
            owner, slot = array("I"), array("I")
            for index in sorted(range(len(metadata)), key=lambda i: metadata[i].id):
                models = _tie_break_order(metadata[index])
                owner.extend([index] * len(models))
                slot.extend(models)
            order = self._order = owner, slot
        return order

    def _range_of(self, provider_id: str) -> tuple[int, int]:
        """Where a provider's candidates start and how many there are; none: where they would start, and 0."""
        owner, _ = self._order or self._numbering()
        low = bisect_left(owner, provider_id, key=self._ids.__getitem__)
        if low < self._size and (meta := self._metadata[owner[low]]).id == provider_id:
            return low, len(meta.models)
        return low, 0

    def _kept(self, column: str, pattern: str | None) -> int:
        """The candidates with a value that matches a glob, or with any value at all."""
        found = self._found.get((column, pattern))
        if found is None:
            values = [meta.id for meta in self._metadata] if column == "provider" else self._column(column).values()
            found = self._having_many(column, list(values) if pattern is None else matching(pattern, values))
            if len(self._found) >= _FOUND_SETS:
                self._found.clear()
            self._found[column, pattern] = found
        return found

    def _having_many(self, column: str, values: Sequence[str]) -> int:
        if column != "provider":
            return self._column(column).having_any(values)
        ranges = map(self._range_of, values)
        return bits.from_positions(
            (number for start, width in ranges for number in range(start, start + width)), self._size
        )

    def _column(self, name: str) -> _DenseColumn | _SparseColumn:
        column = self._columns.get(name)
        if column is None:
            with self._lock:
                column = self._columns.get(name)
                if column is None:
                    column = self._columns[name] = self._build(name)
        return column

    def _number_column(self, name: str) -> BitSlices:
        slices = self._numbers.get(name)
        if slices is None:
            with self._lock:
                slices = self._numbers.get(name)
                if slices is None:
                    read = _NUMBER_COLUMNS[name]
                    slices = self._numbers[name] = BitSlices.build([read(model) for model in self._models()])
        return slices

    def _models(self) -> Iterator[ModelInfo]:
        owner, slot = self._numbering()
        metadata = self._metadata
        for index, at in zip(owner, slot, strict=True):
            yield metadata[index].models[at]

    def _build(self, name: str) -> _DenseColumn | _SparseColumn:
        read = _read_from_provider(name)
        postings = self._model_postings(name) if read is None else self._provider_postings(read)
        size = self._size
        if name != "model" and len(postings) <= _DENSE_VALUES:
            return _DenseColumn({value: bits.from_positions(found, size) for value, found in postings.items()})
        return _SparseColumn(
            {value: found[0] if len(found) == 1 else array("I", found) for value, found in postings.items()}, size
        )

    def _provider_postings(self, read: Callable[[ProviderMetadata], Iterable[str]]) -> dict[str, list[int]]:
        owner, _ = self._numbering()
        postings: dict[str, list[int]] = {}
        number = 0
        while number < self._size:
            meta = self._metadata[owner[number]]
            end = number + len(meta.models)
            for value in dict.fromkeys(read(meta)):
                postings.setdefault(value, []).extend(range(number, end))
            number = end
        return postings

    def _model_postings(self, name: str) -> dict[str, list[int]]:
        read = _MODEL_COLUMNS[name]
        # Models mostly share a few combinations of values: gather those first.
        combined: dict[tuple[str, ...], list[int]] = {}
        for number, model in enumerate(self._models()):
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


def as_provider(value: Any, path: str = "") -> Member:
    """A provider and its metadata, from a provider, a ProviderMetadata or metadata in wire form.

    Args:
        value: The provider.
        path: JSON pointer of its metadata, for the issues.

    Raises:
        InvalidProviderError: The metadata breaks a rule.
    """
    if isinstance(value, ProviderMetadata | Mapping):
        metadata = read_metadata(value, path)
        return DeclaredProvider(metadata), metadata
    metadata = metadata_of(value)
    if metadata is None:
        message = f"{kind_of(value)} without `metadata`; a provider has `metadata` and an async `invoke`"
        raise InvalidProviderError("empty-id", [Issue(path, message)])
    return value, read_metadata(metadata, path)


def _is_provider(value: Any) -> bool:
    return isinstance(value, ProviderMetadata | Mapping) or hasattr(value, "metadata")


def _tie_break_order(meta: ProviderMetadata) -> list[int]:
    models = meta.models
    default = meta.default_model
    return sorted(range(len(models)), key=lambda index: (models[index].name != default, models[index].name))


def _chunk(name: str, meta: ProviderMetadata, models: Sequence[ModelInfo]) -> dict[str, int]:
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
