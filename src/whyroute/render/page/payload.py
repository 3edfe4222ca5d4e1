"""The matrix of candidates and constraints as compact JSON: columns of indices, each name and reason once."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...basics import bits
from ...basics.numbers import Number, ecmascript
from ...catalog.candidate import Candidate
from ...constraints.named import NamedConstraint
from ...documents.json_text import terminal_safe
from ...engine.deadlines import check_time
from ...errors import RejectionReason
from ...explanations import Explanation
from ...explanations.failures import Failed, near_misses
from ...explanations.sentences import tenant_of
from ...explanations.words import named
from ...model.metadata import ModelInfo
from ..lines import printable

__all__ = ["Matrix", "matrix_of", "payload", "printable_json", "script_json"]

_ROWS = 5000


@dataclass(frozen=True, slots=True)
class Matrix:
    """The rows of a page's matrix.

    Attributes:
        numbers: The candidates in it: fewest failures first, then in rank order.
        failed: What stops each, in the same order.
        rank: The place of each among them in rank order, as if all qualified; from 0.
        omitted_survivors: How many candidates that qualify are not in it.
        omitted_others: How many that don't qualify are not in it.
    """

    numbers: tuple[int, ...]
    failed: tuple[tuple[Failed, ...], ...]
    rank: tuple[int, ...]
    omitted_survivors: int
    omitted_others: int
    _rows: dict[tuple[str, str], int] = field(repr=False)

    def row_of(self, candidate: Candidate) -> int | None:
        """The row of a candidate, from 0; None when it is left out."""
        return self._rows.get(candidate.key)


def matrix_of(explanation: Explanation, limit: int = _ROWS) -> Matrix:
    """The rows that a page can bear: those that qualify and the nearest of the others.

    Args:
        explanation: What to show.
        limit: How many rows at most; candidates that the page names elsewhere come on top.
    """
    solved, catalog = explanation.solved, explanation.catalog
    if not catalog.size:
        return Matrix((), (), (), 0, 0, {})
    ranking = solved.ranked(catalog.all())
    qualifying = explanation.survivors.bit_count()
    others = catalog.size - qualifying
    kept = min(qualifying, max(limit - others, limit // 2))
    rows: dict[int, tuple[Failed, ...]] = {}
    for number in ranking.among(explanation.survivors):
        if len(rows) >= kept:
            break
        rows[number] = ()
    for miss in near_misses(solved, limit - len(rows)):
        rows[_number(explanation, miss.candidate)] = miss.failed
    for candidate in _named_elsewhere(explanation):
        number = _number(explanation, candidate)
        if number not in rows:
            rows[number] = _failures(explanation.constraints, candidate)
    members = bits.from_positions(rows, catalog.size)
    rank = {number: place for place, number in enumerate(ranking.among(members))}
    numbers = sorted(rows, key=lambda number: (len(rows[number]), rank[number]))
    survivors = (members & explanation.survivors).bit_count()
    return Matrix(
        numbers=tuple(numbers),
        failed=tuple(rows[number] for number in numbers),
        rank=tuple(rank[number] for number in numbers),
        omitted_survivors=qualifying - survivors,
        omitted_others=others - (len(rows) - survivors),
        _rows={catalog.candidate(number).key: row for row, number in enumerate(numbers)},
    )


def _named_elsewhere(explanation: Explanation) -> Iterable[Candidate]:
    if not explanation.satisfiable:
        yield from (relaxation.pick for relaxation in explanation.relaxations)
    if explanation.contrast is not None and explanation.contrast.candidate is not None:
        yield explanation.contrast.candidate


def _number(explanation: Explanation, candidate: Candidate) -> int:
    number = explanation.catalog.number_of(*candidate.key)
    if number is None:
        raise RuntimeError(f"{candidate.id} is not in its own catalog")
    return number


def _failures(constraints: Sequence[NamedConstraint], candidate: Candidate) -> tuple[Failed, ...]:
    return tuple((each, why) for each in constraints if (why := each.rejection(candidate)) is not None)


@dataclass(slots=True)
class _Names:
    """Distinct values in the order in which they came, and the place of each."""

    places: dict[Any, int] = field(default_factory=dict)

    def place(self, value: Any) -> int:
        return self.places.setdefault(value, len(self.places))


_FACTS: dict[str, Callable[[ModelInfo], Number | None]] = {
    "window": lambda model: model.context_window,
    "price": lambda model: model.cost.prompt_usd_per_1k_tokens,
    "p95": lambda model: model.p95_latency_ms,
}


def payload(explanation: Explanation, matrix: Matrix) -> dict[str, Any]:
    """What the page's script draws the matrix from. Everything in it is printable."""
    tenant = tenant_of(explanation)
    column = {constraint.id: index for index, constraint in enumerate(explanation.constraints)}
    providers, signatures = _Names(), _Names()
    models = [explanation.catalog.candidate(number).model for number in matrix.numbers]
    rows: dict[str, list[Any]] = {
        "provider": [],
        "model": [printable(model.name) for model in models],
        "signature": [],
        "rank": list(matrix.rank),
        **{name: [read(model) for model in models] for name, read in _FACTS.items()},
    }
    failures: list[list[tuple[int, RejectionReason]]] = [[] for _ in column]
    pick = None
    for row, (number, failed) in enumerate(zip(matrix.numbers, matrix.failed, strict=True)):
        candidate = explanation.catalog.candidate(number)
        meta = candidate.metadata
        rows["provider"].append(providers.place((printable(meta.id), printable(meta.region), int(meta.fallback))))
        rows["signature"].append(signatures.place(tuple(column[constraint.id] for constraint, _ in failed)))
        for constraint, reason in failed:
            failures[column[constraint.id]].append((row, reason))
        if explanation.satisfiable and candidate.key == explanation.ranking[0].candidate.key:
            pick = row
    told = [_Told.of(each, models) for each in failures]
    rows["reasons"] = [
        told[index].places[row]
        for row, failed in enumerate(matrix.failed)
        for index in (column[constraint.id] for constraint, _ in failed)
        if told[index].many
    ]
    found: dict[str, Any] = {
        "size": explanation.catalog.size,
        "qualify": explanation.survivors.bit_count(),
        "columns": [
            {
                "id": printable(constraint.id),
                "label": printable(constraint.label),
                "words": printable(named(constraint, tenant)),
                "owner": constraint.owner,
                "admits": constraint.admitted.bit_count(),
                "where": [f"{printable(origin.file)}:{origin.line}" for origin in constraint.origins],
            }
            for constraint in explanation.constraints
        ],
        "providers": list(providers.places),
        "signatures": list(signatures.places),
        "messages": [each.shapes for each in told],
        "rows": rows,
    }
    if pick is not None:
        found["pick"] = pick
    return found


@dataclass(frozen=True, slots=True)
class _Told:
    """The reasons of one constraint, folded.

    Attributes:
        shapes: What messages of one code begin and end with, and what stands between: a list of texts, or the name
            of the row's fact that does.
        places: For each row that the constraint rejects the place of its reason, counted through all shapes; a shape
            with a fact counts as one.
        many: Whether there is more than one place.
    """

    shapes: list[Any]
    places: dict[int, int]
    many: bool

    @classmethod
    def of(cls, failures: Sequence[tuple[int, RejectionReason]], models: Sequence[ModelInfo]) -> "_Told":
        check_time()
        by_code: dict[str, dict[int, str]] = {}
        for row, reason in failures:
            by_code.setdefault(reason.code, {})[row] = printable(reason.message)
        shapes: list[Any] = []
        places: dict[int, int] = {}
        start = 0
        for messages in by_code.values():
            head, tail = _around(list(dict.fromkeys(messages.values())))
            between = {row: message[len(head) : len(message) - len(tail)] for row, message in messages.items()}
            fact = _fact_between(head, tail, messages, models)
            if fact is not None:
                shapes.append(fact)
                places |= dict.fromkeys(messages, start)
                start += 1
                continue
            texts = _Names()
            places |= {row: start + texts.place(text) for row, text in between.items()}
            shapes.append([head, tail, list(texts.places)])
            start += len(texts.places)
        return cls(shapes, places, start > 1)


def _around(messages: Sequence[str]) -> tuple[str, str]:
    """What all messages begin with, and what they end with."""
    if len(messages) < 2:
        return "", ""
    head = _shared(messages)
    return head, _shared([message[len(head) :][::-1] for message in messages])[::-1]


def _shared(texts: Sequence[str]) -> str:
    """What all texts begin with; the first and the last in order differ earliest."""
    first, last = min(texts), max(texts)
    same = next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:same]


def _fact_between(head: str, tail: str, messages: dict[int, str], models: Sequence[ModelInfo]) -> list[str] | None:
    """The shape of messages that differ by a fact of the row alone; None when they are not of that kind."""
    if not head:
        return None
    # Numbers that begin or end with the same digits would lose them to the head or the tail.
    head, tail = head.rstrip("0123456789."), tail.lstrip("0123456789.e-+")
    for name, read in _FACTS.items():
        facts = {row: read(models[row]) for row in messages}
        if all(
            value is not None and messages[row] == f"{head}{ecmascript(value)}{tail}" for row, value in facts.items()
        ):
            return [head, tail, name]
    return None


def printable_json(value: Any) -> str:
    """Indented JSON to read and to copy, every unprintable character escaped as JSON does it."""
    return terminal_safe(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2))


def script_json(value: Any) -> str:
    """JSON that may stand in a script element: no markup, no character that ends a line, nothing unprintable."""
    text = terminal_safe(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
