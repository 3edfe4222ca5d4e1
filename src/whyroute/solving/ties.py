"""What ties slots together: their wire form, and whether candidates meet them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from ..basics.issues import Issue, child, did_you_mean, shown
from ..basics.numbers import Number, as_double, ecmascript, exact
from ..catalog.candidate import Candidate
from ..constraints.terms import COMPARE
from ..documents.phrases import in_backticks, missing, missing_keys, unknown_key, wrong
from ..model.features import UNSPECIFIED_REGION

__all__ = ["EXACT_FIELDS", "KINDS", "NUMBER_FIELDS", "Tie", "read_tie", "tie_issues"]

KINDS: Final = ("same", "different", "sum", "max")
"""The kinds of ties; a tie has exactly one of these keys."""

EXACT_FIELDS: Final[Mapping[str, Callable[[Candidate], str | None]]] = {
    "provider": lambda candidate: candidate.metadata.id,
    "model": lambda candidate: candidate.model.name,
    # Two unnamed regions may be one or two.
    "region": lambda candidate: (
        None if candidate.metadata.region == UNSPECIFIED_REGION else str(candidate.metadata.region)
    ),
    "kind": lambda candidate: candidate.metadata.capability_kind,
}
"""What `same` and `different` may compare; None is unknown."""

NUMBER_FIELDS: Final[Mapping[str, Callable[[Candidate], Number | None]]] = {
    "promptUsdPer1kTokens": lambda candidate: candidate.model.cost.prompt_usd_per_1k_tokens,
    "completionUsdPer1kTokens": lambda candidate: candidate.model.cost.completion_usd_per_1k_tokens,
    "p95LatencyMs": lambda candidate: candidate.model.p95_latency_ms,
}
"""What `sum` and `max` may bound; None is unknown."""

_COMPARING: Final = ("same", "different")
_OPS: Final = tuple(COMPARE)
_BOUND_KEYS: Final = ("op", "value")


@dataclass(frozen=True, slots=True)
class Tie:
    """A constraint between slots.

    Attributes:
        kind: `same`: one value everywhere; `different`: no two alike; `sum` or `max`: of the values, against a bound.
        field: What is compared.
        slots: The names of the slots that it ties, in the order of the bundle.
        op: Of a sum or maximum: how it is compared with the bound.
        value: The bound.
        everywhere: Whether it ties all slots because it names none.
    """

    kind: str
    field: str
    slots: tuple[str, ...]
    op: str | None = None
    value: Number | None = None
    everywhere: bool = True

    @property
    def label(self) -> str:
        """What it asks for, such as `sum of promptUsdPer1kTokens <= 0.01`."""
        what = f"{self.kind} {self.field}"
        if self.op is not None and self.value is not None:
            what = f"{self.kind} of {self.field} {self.op} {ecmascript(self.value)}"
        return what if self.everywhere else f"{what} [{','.join(self.slots)}]"

    def values(self, candidates: Sequence[Candidate]) -> list[Any]:
        """What the candidates of its slots have in its field; None is unknown."""
        read: Callable[[Candidate], Any] = (EXACT_FIELDS if self.kind in _COMPARING else NUMBER_FIELDS)[self.field]
        return [read(candidate) for candidate in candidates]

    def total(self, candidates: Sequence[Candidate]) -> Fraction | None:
        """The sum or the maximum over the candidates of its slots, exactly; None when one of them is unknown."""
        values = self.values(candidates)
        if any(value is None for value in values):
            return None
        numbers = [exact(value) for value in values]
        return sum(numbers, Fraction(0)) if self.kind == "sum" else max(numbers)

    def holds(self, candidates: Sequence[Candidate]) -> bool:
        """Whether the candidates of its slots, in its order, meet it. Judged by their metadata alone."""
        if self.kind in _COMPARING:
            values = self.values(candidates)
            # Of one slot, too: an unknown value is the same as nothing, and differs from nothing.
            return None not in values and len(set(values)) == (1 if self.kind == "same" else len(values))
        total = self.total(candidates)
        return total is not None and COMPARE[self.op or "<="](total, exact(self.value or 0))

    def to_dict(self) -> dict[str, Any]:
        """The tie as it goes over the wire."""
        given: dict[str, Any] = {self.kind: self.field}
        if self.op is not None:
            given |= {"op": self.op, "value": self.value}
        if not self.everywhere:
            given["slots"] = list(self.slots)
        return given


def read_tie(document: Mapping[str, Any], slots: Sequence[str]) -> Tie:
    """A tie without issues."""
    kind = next(kind for kind in KINDS if kind in document)
    named = document.get("slots")
    value = document.get("value")
    return Tie(
        kind,
        document[kind],
        tuple(slots) if named is None else tuple(slot for slot in slots if slot in named),
        document.get("op"),
        None if value is None else as_double(value),
        named is None,
    )


_SHAPE = "a tie is an object such as {same: region} or {sum: promptUsdPer1kTokens, op: <=, value: 0.01}"


def tie_issues(document: Any, path: str, slots: Sequence[str] | None = None) -> list[Issue]:
    """What is wrong with one tie, as plain JSON.

    Args:
        document: The tie.
        path: JSON pointer of it.
        slots: The slots there are; None: not known.
    """
    if not isinstance(document, dict):
        return [wrong(path, document, _SHAPE)]
    kinds = [kind for kind in KINDS if kind in document]
    bounded = bool(kinds) and kinds[0] not in _COMPARING
    known = (*KINDS, "slots") if kinds and not bounded else (*KINDS, "op", "value", "slots")
    issues: list[Issue] = []
    if len(kinds) > 1:
        issues.append(Issue(child(path, kinds[1]), f"{in_backticks(kinds, 'and')} in one tie; write one each"))
    elif not kinds and not any(did_you_mean(key, KINDS) for key in document if key not in known):
        issues.append(Issue(path, f"none of {in_backticks(KINDS, 'or')}; a tie has exactly one of them"))
    if bounded:
        issues += [
            missing(path, key, f"; a `{kinds[0]}` has `op` and `value`")
            for key in missing_keys(("op", "value"), known, document)
        ]
    for key, value in document.items():
        if key in known or key in _BOUND_KEYS:
            issues += _part_issues(key, value, child(path, key), kinds[0] if kinds else None, slots)
        else:
            issues.append(unknown_key(child(path, key), key, known, document))
    return issues


def _part_issues(key: str, value: Any, path: str, kind: str | None, slots: Sequence[str] | None) -> list[Issue]:
    """What is wrong with the value of one key of a tie."""
    if key in KINDS:
        return _field_issues(key, value, path)
    if key == "slots":
        return _slots_issues(value, path, slots, least=2 if kind in _COMPARING else 1)
    if kind in _COMPARING:
        return [Issue(path, f"{shown(key)} goes with `sum` and `max`, not with {shown(kind)}", Issue.KEY)]
    if key == "op":
        fine = isinstance(value, str) and value in _OPS
        return [] if fine else [wrong(path, value, f"an `op` is {in_backticks(_OPS, 'or')}")]
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(as_double(value))
    return [] if is_number else [wrong(path, value, "a finite number is expected", wants="number")]


def _field_issues(kind: str, field: Any, path: str) -> list[Issue]:
    own, other = (EXACT_FIELDS, NUMBER_FIELDS) if kind in _COMPARING else (NUMBER_FIELDS, EXACT_FIELDS)
    if isinstance(field, str) and field in own:
        return []
    named = f"`{kind}` takes {in_backticks(own, 'or')}"
    if isinstance(field, str) and field in other:
        instead = "sum" if kind in _COMPARING else "same"
        return [Issue(path, f"{shown(field)} goes with `{instead}`, not with `{kind}`; {named}")]
    near = did_you_mean(field, own) if isinstance(field, str) else ""
    return [Issue(path, f"{shown(field)} is no field here{near}") if near else wrong(path, field, named)]


def _slots_issues(value: Any, path: str, slots: Sequence[str] | None, *, least: int) -> list[Issue]:
    if not isinstance(value, list):
        return [wrong(path, value, "a list of names of slots is expected")]
    issues: list[Issue] = []
    seen: set[str] = set()
    for index, name in enumerate(value):
        at = child(path, index)
        if not isinstance(name, str):
            issues.append(wrong(at, name, "the name of a slot is expected"))
        elif slots is not None and name not in slots:
            near = did_you_mean(name, slots) or f"; the slots are {in_backticks(slots, 'and') or 'none'}"
            issues.append(Issue(at, f"{shown(name)} is no slot of the bundle{near}"))
        elif name in seen:
            issues.append(Issue(at, f"{shown(name)} stands here twice"))
        else:
            seen.add(name)
    if not issues and len(value) < least:
        names = "at least two slots" if least == 2 else "at least one slot"
        issues.append(wrong(path, value, f"it names {names}, or is left out, which means all of them"))
    return issues
