"""What picks fail: the constraints of each slot, and the ties between them, each with why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..basics.issues import shown
from ..basics.numbers import Number, ecmascript, wire_number
from ..catalog.candidate import Candidate
from ..documents.phrases import joined
from ..errors import RejectionReason
from ..solving.joint import JointConstraint, JointSolved
from ..solving.ties import Tie

__all__ = ["Failed", "NearBundle", "failed_dicts", "failures_of"]

Failed = tuple[JointConstraint, str | None, RejectionReason]
"""A constraint, the name of the slot where it is failed, or None for a tie, and why."""


@dataclass(frozen=True, slots=True)
class NearBundle:
    """Picks that do not qualify together, and everything that stands in their way.

    Attributes:
        picks: The candidate of each slot, by its name.
        failed: What they fail: the constraint, the name of the slot where it is failed, or None for a tie, and why.
    """

    picks: Mapping[str, Candidate]
    failed: tuple[Failed, ...]

    def to_dict(self) -> dict[str, Any]:
        """The near miss as it goes over the wire."""
        return {
            "picks": {name: candidate.to_dict() for name, candidate in self.picks.items()},
            "failed": failed_dicts(self.failed),
        }


def failed_dicts(failed: Sequence[Failed]) -> list[dict[str, Any]]:
    """Failures as they go over the wire."""
    return [
        {"constraint": constraint.id, **({} if slot is None else {"slot": slot}), "reason": reason.to_dict()}
        for constraint, slot, reason in failed
    ]


def failures_of(solved: JointSolved, numbers: Mapping[int, int]) -> Iterator[Failed]:
    """What picks fail, in constraint order, each with the slot where it is failed.

    Args:
        solved: The request.
        numbers: For some slots, the candidate. A tie counts when all of its slots have one.
    """
    for constraint in solved.constraints:
        if constraint.tie is not None:
            if all(slot in numbers for slot in constraint.slots):
                tie = solved.ties[constraint.tie]
                candidates = [solved.catalog.candidate(numbers[slot]) for slot in constraint.slots]
                if not tie.holds(candidates):
                    yield constraint, None, _tie_reason(tie, candidates)
            continue
        for slot, named in constraint.named.items():
            if slot in numbers and not named.admitted >> numbers[slot] & 1:
                reason = named.rejection(solved.catalog.candidate(numbers[slot]))
                assert reason is not None  # it does not admit the candidate
                yield constraint, solved.names[slot], reason


def _tie_reason(tie: Tie, candidates: Sequence[Candidate]) -> RejectionReason:
    """Why the candidates of a tie's slots do not meet it."""
    values = tie.values(candidates)
    details: dict[str, Any] = {
        "field": tie.field,
        "observed": dict(zip(tie.slots, values, strict=True)),
        "wanted": {"op": tie.op, "value": tie.value} if tie.op is not None else tie.kind,
    }
    unknown = [slot for slot, value in zip(tie.slots, values, strict=True) if value is None]
    if unknown:
        message = f"{shown(tie.field)} is not known in {'slot' if len(unknown) == 1 else 'slots'} {_names(unknown)}"
        return RejectionReason("tie-unknown", message, details)
    if tie.op is None:
        pairs = joined([f"{shown(slot)} has {shown(value)}" for slot, value in zip(tie.slots, values, strict=True)])
        verb = "must be the same" if tie.kind == "same" else "must differ"
        return RejectionReason("tie-violated", f"{shown(tie.field)} {verb}, but {pairs}", details)
    total = tie.total(candidates)
    assert total is not None  # nothing is unknown
    number: Number = wire_number(total)
    details["total"] = number
    message = (
        f"the {tie.kind} of {shown(tie.field)} is {ecmascript(number)}; {tie.op} {ecmascript(tie.value or 0)} is asked"
    )
    return RejectionReason("tie-violated", message, details)


def _names(slots: Sequence[str]) -> str:
    return joined([shown(slot) for slot in slots])
