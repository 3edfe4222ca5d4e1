"""whyroute's answers in the form in which they are compared with the published package's."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

import whyroute as wr
from whyroute.basics.numbers import ecmascript

from .work import Picked

__all__ = ["comparable", "picked"]

Outcome = wr.Decision | wr.CapabilityUnsatisfiableError


def comparable(outcome: Outcome) -> list[Any]:
    """Everything that the contract fixes of an answer; what is long as its SHA-256."""
    if isinstance(outcome, wr.Decision):
        pick, alternates = outcome.candidate, outcome.alternates
        ranked = _sha256("\t".join(candidate.key) for candidate in alternates)
        return [*pick.key, len(alternates), ranked, outcome.fallback]
    return [
        [
            reason.requirement,
            len(reason.satisfying_providers),
            _sha256(reason.satisfying_providers),
            len(reason.rejecting_providers),
            _digest(reason.rejecting_providers),
        ]
        for reason in outcome.reasons
    ]


def picked(outcome: Outcome) -> Picked:
    """The pick's provider and model, and how many alternates there are; None when nothing qualifies."""
    if isinstance(outcome, wr.Decision):
        return *outcome.candidate.key, len(outcome.alternates)
    return None


def _digest(rejections: Iterable[Any]) -> str:
    known: dict[int, tuple[Any, str]] = {}  # candidates share their reasons, which are kept so that ids stay theirs
    digest = sha256()
    for rejection in rejections:
        reason = rejection.reason
        told = known.get(id(reason))
        if told is None:
            details = (f"{key}={_canonical(value)}" for key, value in sorted(reason.details.items()))
            told = known[id(reason)] = reason, "\t".join([reason.code, *details])
        digest.update(f"{rejection.id}\t{told[1]}\n".encode())
    return digest.hexdigest()


def _canonical(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return ecmascript(value)
        case str():
            return value
        case _:
            return ",".join(map(_canonical, value))


def _sha256(lines: Iterable[str]) -> str:
    return sha256("\n".join(lines).encode()).hexdigest()
