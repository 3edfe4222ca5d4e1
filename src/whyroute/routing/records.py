"""The line that a log keeps of a decision."""

import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from ..documents.canonical import digest_of
from ..solving.request import Solved

if TYPE_CHECKING:
    from .decision import Decision

__all__ = ["record_of"]

_VERSION: Final = 2


def record_of(decision: "Decision", solved: Solved, id: str | None, time: datetime | None) -> dict[str, Any]:
    """A decision as a line of a log; see `Decision.to_record`."""
    asked = decision.asked
    declaration = asked.pop("declaration", None)
    written = (time or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    found: dict[str, Any] = {"v": _VERSION, "id": id or uuid.uuid4().hex, "time": written}
    if "tenant" in asked:
        found["tenant"] = asked["tenant"]
    found |= {"at": asked["at"], "asked": asked}
    if "pack" in asked:
        found["pack"] = asked["pack"]
    found["providers"] = digest_of(_providers(solved))
    if declaration is not None:
        found["declaration"] = digest_of(declaration)
    found |= {
        "outcome": "decision",
        "pick": decision.candidate.to_dict(),
        "score": decision.score,
        "fallback": decision.fallback,
    }
    answer: dict[str, Any] = {"decision": decision.to_dict()}
    if decision.hints:
        answer["hints"] = [hint.to_dict() for hint in decision.hints]
    if decision.shadow is not None:
        found["shadow"] = answer["shadow"] = decision.shadow.to_dict()
    return {**found, "answer": digest_of(answer)}


def _providers(solved: Solved) -> dict[str, Any]:
    """What the tenant had."""
    found: dict[str, Any] = {"providers": [metadata.to_dict() for metadata in solved.catalog.metadata]}
    if solved.setup_failures:
        found["setupFailures"] = [failure.to_dict() for failure in solved.setup_failures]
    return found
