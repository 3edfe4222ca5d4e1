"""The catalog: an immutable, indexed sequence of providers and of the candidates they offer."""

from __future__ import annotations  # array is not subscriptable before Python 3.12

import threading
from array import array
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from json.encoder import encode_basestring
from typing import Any, TypeVar, overload

from pydantic import BaseModel

from ..basics import bits
from ..basics.bits import BitSlices
from ..basics.computed import computed, remembered
from ..basics.globs import matching
from ..basics.issues import Issue, kind_of
from ..errors import DuplicateProviderError, InvalidRequestError
from ..model.features import UNSPECIFIED_REGION
from ..model.metadata import ModelInfo, ProviderMetadata
from ..model.provider import ModelProvider
from .call_costs import Call, CallCosts
from .candidate import Candidate, Member, as_provider, tie_break_order
from .columns import NUMBER_COLUMNS, Column, Order, chunk_of, column_of, models_in

__all__ = ["Catalog"]

T = TypeVar("T")

_KEPT_VALUES = 4096  # how many values that follow from the candidates are kept at most, such as sets of conditions
_KEPT_BITS = 1 << 29  # and how many candidates they have together
_CALLS = 8  # for how many calls the costs are kept


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

    Example:
        >>> import whyroute as wr
        >>> catalog = wr.Catalog([wr.EchoProvider("a"), wr.EchoProvider("b")])
        >>> catalog.size, len(catalog.with_provider(wr.EchoProvider("c")))
        (2, 3)
    """

    def __init__(self, providers: Iterable[Any] = ()) -> None:
        if isinstance(providers, str | bytes | Mapping | BaseModel) or not isinstance(providers, Iterable):
            what = "one provider" if _is_provider(providers) else kind_of(providers)
            message = f"{what}; providers are a list of providers, or what `registry.list(tenant)` gives"
            raise InvalidRequestError([Issue("/providers", message)])
        self._index([as_provider(provider, f"/{index}") for index, provider in enumerate(providers)])

    @classmethod
    def of_members(cls, members: Iterable[Member], tenant: str | None = None) -> Catalog:
        """A catalog of providers with the metadata each had when it was registered.

        Args:
            members: The providers, each with its metadata.
            tenant: The tenant whose providers they are, where it is known.

        Raises:
            DuplicateProviderError: An id stands twice.
        """
        found = cls.__new__(cls)
        found._index(list(members))
        found._tenant = tenant
        return found

    def _index(self, members: list[Member]) -> None:
        metadata = tuple(meta for _, meta in members)
        ids = [meta.id for meta in metadata]
        if len(set(ids)) != len(ids):
            seen: set[str] = set()
            for each in ids:
                if each in seen:
                    raise DuplicateProviderError(each)
                seen.add(each)
        self._fill(
            tuple(provider for provider, _ in members), metadata, ids, sum(len(meta.models) for meta in metadata)
        )

    def _fill(
        self,
        providers: tuple[ModelProvider, ...],
        metadata: tuple[ProviderMetadata, ...],
        ids: list[str],
        size: int,
        order: Order | None = None,
    ) -> None:
        self._tenant: str | None = None
        self._providers = providers
        self._metadata = metadata
        self._ids = ids
        self._size = size
        self._all = bits.full(size)
        self._order = order
        self._columns: dict[str, Column] = {}
        self._numbers: dict[str, BitSlices] = {}
        self._calls: dict[Call, CallCosts] = {}
        self._candidate_texts: list[str] | None = None
        self._kept: dict[Hashable, Any] = {}
        self._lock = threading.Lock()

    @property
    def tenant(self) -> str | None:
        """The tenant whose providers these are; None where that is not known."""
        return self._tenant

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
        return Catalog.of_members, (tuple(zip(self._providers, self._metadata, strict=True)), self._tenant)

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
        return self.kept((column, pattern), lambda: self._having_many(column, matching(pattern, self._values(column))))

    def known(self, column: str) -> int:
        """The candidates of which anything is known in a column of `having`; of a set: that it is not empty."""
        if column == "region":
            return self.all() & ~self.in_region(UNSPECIFIED_REGION)
        if column in ("provider", "model", "kind", "source"):
            return self.all()
        return self.kept((column, None), lambda: self._having_many(column, self._values(column)))

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
                    costs = CallCosts.of(list(self._models()), call)
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
        found: T | None = self._kept.get(key)
        if found is None:
            most = min(_KEPT_VALUES, _KEPT_BITS // (self._size + 1) + 1)
            found = remembered(self._kept, key, most, make)
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
            return Catalog.of_members([*zip(self._providers, self._metadata, strict=True), member], self._tenant)
        provider, meta = member
        at, width = self._range_of(meta.id)
        if width:
            raise DuplicateProviderError(meta.id)
        models = tie_break_order(meta)
        owner, slot = (array("I", column) for column in self._order)
        owner[at:at] = array("I", [len(self._providers)] * len(models))
        slot[at:at] = array("I", models)
        found = Catalog.__new__(Catalog)
        found._fill(
            (*self._providers, provider),
            (*self._metadata, meta),
            [*self._ids, meta.id],
            self._size + len(models),
            (owner, slot),
        )
        found._tenant = self._tenant
        ordered = [meta.models[index] for index in models]
        for name, column in tuple(self._columns.items()):
            updated = column.inserted(at, len(models), chunk_of(name, meta, ordered))
            if updated is not None:
                found._columns[name] = updated
        for name, slices in tuple(self._numbers.items()):
            read = NUMBER_COLUMNS[name]
            found._numbers[name] = slices.inserted(at, [read(model) for model in ordered])
        for call, costs in tuple(self._calls.items()):
            found._calls[call] = costs.inserted(at, ordered, call)
        return found

    # Inside.

    def _numbering(self) -> Order:
        order = self._order
        if order is None:
            metadata = self._metadata
            owner, slot = array("I"), array("I")
            for index in sorted(range(len(metadata)), key=lambda i: metadata[i].id):
                models = tie_break_order(metadata[index])
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

    def _values(self, column: str) -> list[str]:
        return self._ids if column == "provider" else list(self._column(column).values())

    def _having_many(self, column: str, values: Sequence[str]) -> int:
        if column != "provider":
            return self._column(column).having_any(values)
        ranges = map(self._range_of, values)
        return bits.from_positions(
            (number for start, width in ranges for number in range(start, start + width)), self._size
        )

    def _column(self, name: str) -> Column:
        column = self._columns.get(name)
        if column is None:
            with self._lock:
                column = self._columns.get(name)
                if column is None:
                    column = self._columns[name] = column_of(name, self._metadata, self._numbering())
        return column

    def _number_column(self, name: str) -> BitSlices:
        slices = self._numbers.get(name)
        if slices is None:
            with self._lock:
                slices = self._numbers.get(name)
                if slices is None:
                    read = NUMBER_COLUMNS[name]
                    slices = self._numbers[name] = BitSlices.build([read(model) for model in self._models()])
        return slices

    def _models(self) -> Iterator[ModelInfo]:
        return models_in(self._metadata, self._numbering())


def _is_provider(value: Any) -> bool:
    return isinstance(value, ProviderMetadata | Mapping) or hasattr(value, "metadata")
