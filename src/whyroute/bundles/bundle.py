"""Bundles: the picks of all slots, the next best ones, and why, computed when they are read."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..basics.computed import computed
from ..basics.issues import quoted, shown
from ..basics.numbers import Number, ecmascript
from ..catalog.candidate import Candidate
from ..documents.phrases import joined
from ..errors import BundleUnsatisfiableError, WhyrouteError
from ..explanations.hints import UnmetHint, hints_clause
from ..explanations.words import setup_clause
from ..solving.joint import JointSolved
from ..solving.request import Shadow
from .explanation import BundleExplanation, reasons_of_bundle
from .ranking import Alternates, ranked_bundle

__all__ = ["Bundle", "BundleLimitError", "outcome_of"]


@dataclass(frozen=True, eq=False)
class Bundle:
    """The candidates that serve several capabilities together, and why.

    Attributes:
        picks: The candidate of each slot, by its name, in the order of the slots.
        score: The sum of the weights of the preferences and rules that the picks meet.
        fallback: Whether fallback providers had to be counted in.
        proved: Whether no better bundle exists; no when the search ended at its limit.
    """

    picks: Mapping[str, Candidate]
    score: Number
    fallback: bool
    proved: bool
    _solved: JointSolved = field(repr=False)

    @computed
    def alternates(self) -> Alternates:
        """The other bundles, best first; found when they are read."""
        return Alternates(self._solved)

    @computed
    def explanation(self) -> BundleExplanation:
        """What each constraint did, and what would change the picks."""
        return BundleExplanation(self._solved)

    @property
    def asked(self) -> dict[str, Any]:
        """What was asked, of which tenant and under which pack, and when: as it goes over the wire."""
        return self._solved.asked()

    @property
    def hints(self) -> tuple[UnmetHint, ...]:
        """The hints that the picks don't follow, slot by slot."""
        return self.explanation.hints

    @property
    def shadow(self) -> Shadow | None:
        """What enforcing the rules that are only tried out would give; None when none is in force."""
        return self._solved.shadow

    @computed
    def reason(self) -> str:
        """Why these candidates, in plain words."""
        return _reason(self, self._solved)

    def to_dict(self) -> dict[str, Any]:
        """The bundle as it goes over the wire."""
        return {
            "picks": {name: candidate.to_dict() for name, candidate in self.picks.items()},
            "score": self.score,
            "fallback": self.fallback,
            "proved": self.proved,
            "reason": self.reason,
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)


class BundleLimitError(WhyrouteError):
    """A search for a bundle ended at its limit before it found any; there may be one, or none.

    Attributes:
        nodes: How many nodes the search was allowed; None: any number.
        seconds: How many seconds; None: any number.
    """

    code: ClassVar[str] = "search-limit"

    def __init__(self, nodes: int | None, seconds: float | None) -> None:
        self.nodes = nodes
        self.seconds = seconds
        limits = [f"{nodes} nodes"] if nodes is not None else []
        limits += [f"{ecmascript(seconds)} s"] if seconds is not None else []
        super().__init__(
            f"no bundle was found within {joined(limits, 'or')}, and that there is none is not proved; allow more"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.nodes, self.seconds)


def outcome_of(solved: JointSolved) -> Bundle | BundleUnsatisfiableError | BundleLimitError:
    """The best bundle, or the error that says that there is none, or that it is not known."""
    found = solved.best
    if found.numbers is not None:
        best = ranked_bundle(solved, found.numbers, found.proved)
        return Bundle(best.picks, best.score, best.fallbacks > 0, best.proved, solved)
    if not found.proved:
        return BundleLimitError(solved.limit.nodes, solved.limit.seconds)
    return BundleUnsatisfiableError(
        lambda: _failed(solved),
        tenant_id=None if solved.policy is None else solved.policy.tenant_id,
        reasons=lambda: reasons_of_bundle(solved),
        explanation=lambda: BundleExplanation(solved),
    )


def _failed(solved: JointSolved) -> str:
    """That nothing qualifies, and the slots that have no candidate even on their own."""
    alone = [name for name, slot in zip(solved.names, solved.slots, strict=True) if not slot.survivors]
    if not solved.catalog.size:
        why = "there are no candidates"
    elif alone:
        slots = "slot" if len(alone) == 1 else "slots"
        why = f"{slots} {quoted(alone, limit=3)} {'has' if len(alone) == 1 else 'have'} none even alone"
    else:
        counts = joined([f"{s.survivors.bit_count()} for {shown(n)}" for n, s in _few(solved)])
        more = len(solved.names) - 4
        why = f"each slot alone has candidates ({counts}{f' and so on for {more} more' if more > 0 else ''})"
        why += ", but no combination meets what ties them"
    setup = setup_clause(solved.setup_failures)
    return f"no candidates satisfy all {len(solved.names)} slots together: {why}{setup}"


def _few(solved: JointSolved) -> list[tuple[str, Any]]:
    return list(zip(solved.names, solved.slots, strict=True))[:4]


def _reason(bundle: Bundle, solved: JointSolved) -> str:
    """Why these picks: what was asked, out of how many, and what made them the best."""
    met = [f"what {_slots(len(solved.names))} ask{'s' if len(solved.names) == 1 else ''} for"]
    if solved.policy is not None:
        met.append(f"the policy of tenant {shown(solved.policy.tenant_id)}")
    if rules := sum(constraint.owner == "rule" for constraint in solved.constraints):
        met.append(f"{rules} rule{'s' if rules > 1 else ''}")
    if ties := len(solved.ties):
        met.append(f"{ {1: 'the tie', 2: 'both ties'}.get(ties, f'all {ties} ties') } between them")
    parts = [f"the picks meet {joined(met)}"]
    if bundle.fallback:
        count = solved.fallbacks(_numbers(bundle, solved))
        parts.append(f"fallbacks among them: {count}, since no bundle of regular candidates exists")
    hints = sum(s.preferred_provider is not None or s.preferred_model is not None for s in solved.slots)
    if hints:
        honoured = solved.hints(_numbers(bundle, solved))
        parts.append(f"they honour the hints of {honoured} of {hints} slots that gave some")
    best = "the best total score" if bundle.proved else "the best total score found"
    parts.append(f"they have {best}, {ecmascript(bundle.score)}")
    if not bundle.proved:
        parts.append("the search ended at its limit, so a better bundle may exist")
    return "; ".join(parts) + hints_clause(bundle.hints)


def _slots(count: int) -> str:
    return {1: "the one slot", 2: "both slots"}.get(count, f"all {count} slots")


def _numbers(bundle: Bundle, solved: JointSolved) -> tuple[int, ...]:
    assert solved.best.numbers is not None  # a bundle was made of it
    return solved.best.numbers
