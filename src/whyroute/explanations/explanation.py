"""What each constraint did, and what stands in the way of each candidate."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .. import bits
from ..catalog import Candidate, Catalog
from ..constraints import NamedConstraint
from ..errors import RejectionReason
from ..providers import SetupFailure
from ..ranking import Ranking
from ..solving import Solved

__all__ = ["Explanation", "NearMiss"]


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A candidate that does not qualify, and everything that stands in its way.

    Attributes:
        candidate: The candidate.
        failed: Every constraint that rejects it, in constraint order, each with why.
    """

    candidate: Candidate
    failed: tuple[tuple[NamedConstraint, RejectionReason], ...]

    def to_dict(self) -> dict[str, Any]:
        """The near miss as it goes over the wire."""
        failed = [{"constraint": constraint.id, "reason": reason.to_dict()} for constraint, reason in self.failed]
        return {"candidate": self.candidate.to_dict(), "failed": failed}


@dataclass(frozen=True)
class Explanation:
    """Why a route came out as it did.

    Attributes:
        solved: The request, compiled and solved.
    """

    solved: Solved

    @property
    def catalog(self) -> Catalog:
        """The candidates."""
        return self.solved.catalog

    @property
    def constraints(self) -> Sequence[NamedConstraint]:
        """Every constraint, in the contract's order."""
        return self.solved.constraints

    @property
    def survivors(self) -> int:
        """The set of candidates that all constraints admit."""
        return self.solved.survivors

    @property
    def setup_failures(self) -> tuple[SetupFailure, ...]:
        """Registered providers that were no candidates because they could not be set up."""
        return self.solved.setup_failures

    @property
    def satisfiable(self) -> bool:
        """Whether any candidate qualifies."""
        return self.survivors != 0

    @property
    def order(self) -> tuple[Ranking, ...]:
        """All candidates ranked as if admitted: regular before fallback, hints, score, ties."""
        everyone = self.catalog.all()
        fallbacks = self.catalog.fallbacks()
        return tuple(self.solved.ranked(part) for part in (everyone & ~fallbacks, fallbacks) if part)

    @cached_property
    def near_misses(self) -> tuple[NearMiss, ...]:
        """Every candidate that does not qualify, fewest failures first, then by rank."""
        return tuple(self._near_misses())

    def _near_misses(self) -> Iterator[NearMiss]:
        size = self.catalog.size
        counts = [0] * size
        for constraint in self.constraints:
            for number in bits.positions(constraint.rejected):
                counts[number] += 1
        ranked = [number for ranking in self.order for number in ranking if counts[number]]
        ranked.sort(key=counts.__getitem__)
        shared: dict[tuple[str, Any], RejectionReason] = {}
        for number in ranked:
            yield NearMiss(self.catalog.candidate(number), tuple(self._failures(number, shared)))

    def _failures(
        self, number: int, shared: dict[tuple[str, Any], RejectionReason]
    ) -> Iterator[tuple[NamedConstraint, RejectionReason]]:
        candidate = self.catalog.candidate(number)
        for constraint in self.constraints:
            if constraint.admitted >> number & 1:
                continue
            observed = constraint.term.observe(candidate.metadata, candidate.model)
            reason = shared.get((constraint.id, observed))
            if reason is None:
                reason = shared[constraint.id, observed] = constraint.term.reason(observed)
            yield constraint, reason

    def to_dict(self, *, limit: int | None = None) -> dict[str, Any]:
        """The explanation as it goes over the wire.

        Args:
            limit: How many near misses at most; absent: all.
        """
        return {
            "satisfiable": self.satisfiable,
            "constraints": [_constraint(constraint) for constraint in self.constraints],
            "nearMisses": [miss.to_dict() for miss in self.near_misses[:limit]],
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)


def _constraint(constraint: NamedConstraint) -> dict[str, Any]:
    admitted = constraint.admitted.bit_count()
    found: dict[str, Any] = {"id": constraint.id, "label": constraint.label, "owner": constraint.owner}
    if constraint.origins:
        found["origins"] = [{"file": o.file, "line": o.line, "column": o.column} for o in constraint.origins]
    return {**found, "admitted": admitted, "rejected": constraint.catalog.size - admitted}
