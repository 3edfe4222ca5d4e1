"""What wire requests for one capability and for bundles have in common: from a request that was read to its answer."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..catalog.catalog import Catalog
from ..documents.json_text import plain
from ..engine.single import EngineName
from ..errors import UnsatisfiableError, WhyrouteError
from ..explanations.hints import UnmetHint
from ..model.provider import SetupFailure
from ..solving.asked import Provenance

if TYPE_CHECKING:
    from ..bundles.bundle import Bundle
    from ..routing.decision import Decision
    from ..solving.joint import JointSolved
    from ..solving.request import Solved

__all__ = ["Answerable"]

S = TypeVar("S", bound="Solved | JointSolved")
A = TypeVar("A", bound="Decision | Bundle | WhyrouteError")
W = TypeVar("W")


class Answerable(ABC, Generic[S, A, W]):
    """A wire request, read and checked.

    Attributes:
        document: The request as it was given, with its time filled in.
        catalog: The providers.
        setup_failures: Providers that could not be set up.
        why_not: What is asked about; None when nothing is.
        include: What the answer has beside the decision or the error.
        at: The time of the request, as it was written.
        provenance: Where the request comes from.
    """

    def __init__(
        self,
        document: dict[str, Any],
        catalog: Catalog,
        setup_failures: tuple[SetupFailure, ...],
        why_not: W | None,
        provenance: Provenance,
    ) -> None:
        self.document = document
        self.catalog = catalog
        self.setup_failures = setup_failures
        self.why_not = why_not
        self.include: tuple[str, ...] = tuple(document.get("include", ()))
        self.at: str = document["at"]
        self.provenance = provenance

    @abstractmethod
    def solve(self, *, engine: EngineName) -> S:
        """The request, compiled and solved."""

    @abstractmethod
    def outcome(self, solved: S) -> A:
        """What the solved request comes to: a decision, or the error that says that there is none."""

    @abstractmethod
    def hints(self, solved: S) -> tuple[UnmetHint, ...]:
        """The hints that the answer doesn't follow."""

    @abstractmethod
    def explanation(self, solved: S) -> Any:
        """Why the request comes out as it does."""

    def answer(self, engine: EngineName = "bitset") -> dict[str, Any]:
        """The wire answer."""
        solved = self.solve(engine=engine)
        return self.answered(solved, self.outcome(solved))

    def answered(self, solved: S, outcome: A) -> dict[str, Any]:
        """The wire answer of a request that was solved already, and what it came to."""
        return {_kind_of(outcome): outcome.to_dict(), **self._beside(solved, outcome)}

    def answer_json(self, engine: EngineName = "bitset", *, head: str = "{") -> tuple[bool, Iterator[str]]:
        """Whether something qualifies, and `answer` as JSON text in pieces, which end between values.

        Args:
            engine: The engine, as for `route`.
            head: What the text begins with: a brace, and members that stand before those of the answer.
        """
        solved = self.solve(engine=engine)
        outcome = self.outcome(solved)
        return not isinstance(outcome, WhyrouteError), self.answered_json(solved, outcome, head=head)

    def answered_json(self, solved: S, outcome: A, *, head: str = "{") -> Iterator[str]:
        """`answered` as JSON text in pieces, as `answer_json` gives them."""
        return chain((head,), self._members(solved, outcome))

    def _members(self, solved: S, outcome: A) -> Iterator[str]:
        beside = json.dumps(self._beside(solved, outcome), ensure_ascii=False, allow_nan=False)
        yield f'"{_kind_of(outcome)}": '
        if isinstance(outcome, UnsatisfiableError):
            yield from outcome.iter_json()
        else:
            yield outcome.to_json()
        yield f", {beside[1:]}"

    def _beside(self, solved: S, outcome: A) -> dict[str, Any]:
        """What an answer has beside its decision or error."""
        found: dict[str, Any] = {"at": self.at, "asked": solved.asked()}
        if hints := self.hints(solved):
            found["hints"] = [hint.to_dict() for hint in hints]
        if (shadow := solved.shadow) is not None:
            found["shadow"] = shadow.to_dict()
        if "matched" in self.include:
            found["matched"] = _dicts(solved.matched())
        is_known = isinstance(outcome, UnsatisfiableError) or not isinstance(outcome, WhyrouteError)
        if "explanation" in self.include and is_known:
            found["explanation"] = self.explanation(solved).to_dict()
        if "request" in self.include:
            kept = {key: value for key, value in self.document.items() if key not in ("include", "id")}
            found["request"] = plain(kept)[0]
        return found


def _kind_of(outcome: Any) -> str:
    return "error" if isinstance(outcome, WhyrouteError) else "decision"


def _dicts(matched: Any) -> Any:
    """Candidates, or those of each slot, as they go over the wire."""
    if isinstance(matched, dict):
        return {name: _dicts(candidates) for name, candidates in matched.items()}
    return [candidate.to_dict() for candidate in matched]
