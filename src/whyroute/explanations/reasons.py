"""The contract's reasons of a failed answer, made when they are read, or streamed as JSON text."""

from __future__ import annotations  # array is not subscriptable before Python 3.12

from abc import abstractmethod
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import compress
from json import JSONEncoder
from json.encoder import encode_basestring
from typing import Any, TypeVar, overload

from ..basics import bits
from ..basics.computed import computed
from ..basics.numbers import ecmascript, prints_alike
from ..catalog.catalog import Catalog
from ..constraints.named import NamedConstraint
from ..constraints.terms import FeatureTerm, NumberTerm, Term
from ..errors import Reason, Rejection, RejectionReason, WireSequence
from ..model.metadata import ModelInfo, ProviderMetadata
from ..model.provider import SetupFailure

__all__ = ["SET_UP", "reasons_of"]

SET_UP = "provider set up"
"""The requirement under which providers that could not be set up are named."""

_BLOCK = 4096
"""How many candidates make one piece of JSON text: about half a megabyte."""

_MOST = 4_000_000
"""How many characters a piece may have, and how many of the reasons' texts are kept; a reason may hold a long list."""


def reasons_of(
    constraints: Sequence[NamedConstraint], catalog: Catalog, setup_failures: Sequence[SetupFailure] = ()
) -> tuple[Reason, ...]:
    """For each constraint that rejects a candidate, in order: the candidates it admits and those it rejects, with why.

    Candidates stand in input order. Ids and rejections are made when they are read: to read them all takes time and
    space that grow with candidates times constraints.
    """
    roster = _Roster(catalog)
    found: list[Reason] = []
    for constraint in constraints:
        if constraint.rejected:
            split = _Split(roster, constraint.admitted)
            rejections = _Rejections(split, constraint.term)
            found.append(Reason(constraint.label, _Ids(split), rejections, constraint.id))
    if setup_failures:
        rejected = tuple(
            Rejection(
                failure.provider_id,
                RejectionReason("provider-setup-failed", failure.message, {"providerId": failure.provider_id}),
            )
            for failure in setup_failures
        )
        found.append(Reason(SET_UP, _Ids(_Split(roster, catalog.all())), rejected))
    return tuple(found)


class _Roster:
    """The candidates of a catalog in input order, shared by the reasons of one answer; read when it is needed."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    @computed
    def providers(self) -> list[ProviderMetadata]:
        return [meta for meta in self.catalog.metadata for _ in meta.models]

    @computed
    def models(self) -> list[ModelInfo]:
        return [model for meta in self.catalog.metadata for model in meta.models]

    @computed
    def ids(self) -> list[str]:
        return [f"{meta.id}/{model.name}" for meta in self.catalog.metadata for model in meta.models]

    @computed
    def id_texts(self) -> list[str]:
        # JSON escapes character by character, so the text is put together from those of the provider and the model.
        tails = _Made(lambda name: "/" + encode_basestring(name)[1:])
        found: list[str] = []
        for meta in self.catalog.metadata:
            head = encode_basestring(meta.id)[:-1]
            found += [head + tails[model.name] for model in meta.models]
        return found

    @computed
    def _order(self) -> array[int]:
        return self.catalog.input_order()

    def selectors(self, members: int) -> bytes:
        """For each candidate in input order 1 where it is in the set, else 0."""
        numbered = bits.flags(members, self.catalog.size).encode().translate(_DIGITS)
        return bytes(map(numbered.__getitem__, self._order))


_DIGITS = bytes.maketrans(b"01", b"\0\1")
_OTHERS = bytes.maketrans(b"\0\1", b"\1\0")


class _Split:
    """What a constraint admits and rejects: for each candidate in input order 1 where it does, else 0."""

    def __init__(self, roster: _Roster, members: int) -> None:
        self.roster = roster
        self.members = members

    @computed
    def admitting(self) -> bytes:
        return self.roster.selectors(self.members)

    @property
    def rejecting(self) -> bytes:
        return self.admitting.translate(_OTHERS)


T = TypeVar("T")


class _Selection(WireSequence[T]):
    """Something of each candidate of a set, in input order, made when it is read. Equal to a tuple of the same."""

    def __init__(self, split: _Split) -> None:
        self._split = split
        self._roster = split.roster

    @property
    @abstractmethod
    def _selectors(self) -> bytes:
        """For every place in input order, 1 where its candidate is in the set, else 0."""

    @abstractmethod
    def _made(self, places: Sequence[int]) -> Iterator[T]:
        """The items of some places in input order."""

    def _blocks(self) -> Iterator[tuple[slice, bytes]]:
        """Parts of the input order, each with the selectors of those in the set; parts without any are left out."""
        selectors = self._selectors
        for start in range(0, len(selectors), _BLOCK):
            part = slice(start, start + _BLOCK)
            if 1 in selectors[part]:
                yield part, selectors[part]

    @computed
    def _places(self) -> array[int]:
        selectors = self._selectors
        return array("I", compress(range(len(selectors)), selectors))

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...

    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return tuple(self._made(self._places[index]))
        return next(self._made((self._places[index],)))

    def __iter__(self) -> Iterator[T]:
        return self._made(self._places)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple | _Selection):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        # Its receiver has no catalog to read from.
        return tuple, (list(self),)

    def __repr__(self) -> str:
        first = ", ".join(map(repr, self[:3]))
        return f"<{len(self)}: {first}{', ...' if len(self) > 3 else ''}>"


class _Ids(_Selection[str]):
    """The ids of the candidates that a constraint admits."""

    @property
    def _selectors(self) -> bytes:
        return self._split.admitting

    def __len__(self) -> int:
        return self._split.members.bit_count()

    def _made(self, places: Sequence[int]) -> Iterator[str]:
        return map(self._roster.ids.__getitem__, places)

    def to_wire(self) -> list[str]:
        """The ids as a list."""
        return list(compress(self._roster.ids, self._selectors))

    def iter_json(self) -> Iterator[str]:
        """The JSON text of `to_wire`, in pieces."""
        between = "["
        for part, selectors in self._blocks():
            yield between + ", ".join(compress(self._roster.id_texts[part], selectors))
            between = ", "
        yield "]" if between == ", " else "[]"


class _Rejections(_Selection[Rejection]):
    """The candidates that a constraint rejects, each with why."""

    def __init__(self, split: _Split, term: Term) -> None:
        super().__init__(split)
        self._term = term

    @computed
    def _reasons(self) -> _Made[RejectionReason]:
        return _Made(_reason_maker(self._term))

    @property
    def _selectors(self) -> bytes:
        return self._split.rejecting

    def __len__(self) -> int:
        return self._roster.catalog.size - self._split.members.bit_count()

    def _made(self, places: Sequence[int]) -> Iterator[Rejection]:
        roster = self._roster
        providers, models = map(roster.providers.__getitem__, places), map(roster.models.__getitem__, places)
        reasons = map(self._reasons.__getitem__, self._term.observe_all(providers, models))
        keys = (
            (meta.id, model.name)
            for meta, model in zip(
                map(roster.providers.__getitem__, places), map(roster.models.__getitem__, places), strict=True
            )
        )
        return map(Rejection, map(roster.ids.__getitem__, places), reasons, keys)

    def _observed(self, part: slice, selectors: bytes) -> list[Hashable]:
        if isinstance(self._term, FeatureTerm):
            return [False] * selectors.count(1)  # no candidate is rejected for a feature that it has
        providers = compress(self._roster.providers[part], selectors)
        return list(self._term.observe_all(providers, compress(self._roster.models[part], selectors)))

    def to_wire(self) -> list[dict[str, Any]]:
        """The rejections as they go over the wire, each with a dictionary of its own."""
        wired = _Made(lambda observed: self._reasons[observed].to_dict())
        found: list[dict[str, Any]] = []
        for part, selectors in self._blocks():
            ids = compress(self._roster.ids[part], selectors)
            reasons = map(wired.__getitem__, self._observed(part, selectors))
            found += [{"id": name, "reason": reason.copy()} for name, reason in zip(ids, reasons, strict=True)]
        if any(isinstance(value, list) for reason in wired.values() for value in reason.values()):
            for rejection in found:
                reason = rejection["reason"]
                reason.update({key: _copied(value) for key, value in reason.items() if isinstance(value, list)})
        return found

    def iter_json(self) -> Iterator[str]:
        """The JSON text of `to_wire`, in pieces."""
        texts: dict[Hashable, str] = {}
        make = _text_maker(self._term)
        between = f"[{_ID}"
        for part, selectors in self._blocks():
            observed = self._observed(part, selectors)
            ids = compress(self._roster.id_texts[part], selectors)
            if not _all_made(texts, observed, make):
                # Each holds a long list, many times longer than all the rest: one is there at a time.
                for name, each in zip(ids, observed, strict=True):
                    yield f"{between}{name}"
                    yield next(iter(make([each])))[: -len(_NEXT)]
                    between = _NEXT
                continue
            pieces = [""] * (2 * len(observed))
            pieces[::2] = ids
            pieces[1::2] = map(texts.__getitem__, observed)
            pieces[-1] = pieces[-1][: -len(_NEXT)]
            yield between + "".join(pieces)
            between = _NEXT
        yield "]" if between == _NEXT else "[]"


def _all_made(texts: dict[Hashable, str], observed: Sequence[Any], make: _TextMaker) -> bool:
    """Make the texts of a block's observed values that have none yet; those of other blocks are kept as far as they go.

    Returns:
        Whether that is all of them; where they are too long to be kept or to stand in one piece, none is kept.
    """
    if sum(map(len, texts.values())) > _MOST:
        texts.clear()
    fresh = [*set(observed).difference(texts)]
    length = 0
    for each, text in zip(fresh, make(fresh), strict=True):
        texts[each] = text
        length += len(text)
        if length > _MOST:
            break
    else:
        longest = max(map(len, texts.values()))
        if len(observed) * longest <= _MOST or sum(len(texts[each]) for each in observed) <= _MOST:
            return True
    texts.clear()
    return False


def _copied(values: list[Any]) -> list[Any]:
    """A list of its own; lists of names may be long, those of objects are short."""
    return deepcopy(values) if values and isinstance(values[0], dict) else values.copy()


class _Made(dict[Hashable, T]):
    """What is made of each value, once."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make

    def __missing__(self, value: Hashable) -> T:
        found = self[value] = self._make(value)
        return found


def _reason_maker(term: Term) -> Callable[[Any], RejectionReason]:
    reason: Callable[[Any], RejectionReason] = term.reason
    if not isinstance(term, NumberTerm):
        return reason
    about = term.number_reason().about
    return lambda observed: reason(None) if observed is None else about(observed)


_TextMaker = Callable[[Sequence[Any]], Iterable[str]]


def _text_maker(term: Term) -> _TextMaker:
    """For observed values: what stands between the id that is rejected for one and the next id."""
    lists: list[tuple[Any, str]] = []  # long ones: the reasons of a term share the few that there are

    def encoded(value: Any) -> str:
        kind = type(value)
        if kind is str:
            return encode_basestring(value)
        if kind is int or kind is float:
            return repr(value)  # all are finite
        if kind is not tuple:
            return _ENCODE(value)
        for known, text in lists:
            if known is value:
                return text
        text = _ENCODE(value)
        if len(text) > _LONG_LIST and len(lists) < _LONG_LISTS:
            lists.append((value, text))
        return text

    def told(details: Mapping[str, Any]) -> str:
        return "".join([f", {encode_basestring(key)}: {encoded(value)}" for key, value in details.items()])

    def text_of(reason: RejectionReason) -> str:
        code, message = encode_basestring(reason.code), encode_basestring(reason.message)
        return f'"code": {code}, "message": {message}{told(reason.details)}'

    def in_full(observed: Sequence[Any]) -> Iterator[str]:
        return (f', "reason": {{{text_of(term.reason(each))}}}}}{_NEXT}' for each in observed)

    if not isinstance(term, NumberTerm):
        return in_full
    # Nearly every candidate may have a number of its own: all but the number is written once.
    reason = term.number_reason()
    start = (
        f', "reason": {{"code": {encode_basestring(reason.code)}, "message": {encode_basestring(reason.before)[:-1]}'
    )
    middle = f"{encode_basestring(reason.after)[1:]}, {encode_basestring(reason.field)}: "
    end = f"{told(reason.details)}}}}}{_NEXT}"

    def filled_in(observed: Sequence[Any]) -> Iterable[str]:
        numbers = [each for each in observed if each is not None]
        printed = list(map(repr, numbers))
        shown = printed if prints_alike(numbers, printed) else map(ecmascript, numbers)
        texts = [f"{start}{text}{middle}{number}{end}" for text, number in zip(shown, printed, strict=True)]
        if len(numbers) < len(observed):  # the values are distinct: one of them is None
            texts[(at := observed.index(None)) : at] = in_full([None])
        return texts

    return filled_in


_ENCODE = JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_LONG_LIST = 1000  # in characters
_LONG_LISTS = 8
_ID = '{"id": '
_NEXT = f", {_ID}"
