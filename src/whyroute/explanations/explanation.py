"""Why a route came out as it did: everything a person may want to know after it, computed when it is read."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..basics.computed import computed
from ..basics.issues import Issue, shown
from ..basics.numbers import Number, exact, wire_number
from ..catalog.candidate import Candidate
from ..constraints.named import Constraints, NamedConstraint
from ..errors import InvalidRequestError
from ..solving.request import Solved
from .contrast import Contrast, DecidedBy, contrast, decided_by
from .cores import conflicts
from .explained import Explained, constraint_dict
from .failures import NearMiss, ReasonGroup, Unknown, grouped, near_misses, unknowns
from .found import Conflicts
from .graph import graph_of
from .hints import UnmetHint, unmet_hints
from .relaxations import Relaxation
from .usermessage import user_message

if TYPE_CHECKING:
    import networkx as nx

    from ..solving.joint import JointSolved

__all__ = ["Explanation", "Ranked"]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate that qualifies, and what its place rests on.

    Attributes:
        candidate: The candidate.
        score: The sum of the weights of the preferences and rules that it meets.
        matched: Those preferences, as (feature or attribute, weight); one that is written twice stands twice.
        hint: Whether it matches every hint that was given.
        fallback: Whether its provider is a fallback.
        rules: Those rules, as (name, weight), in rule order.
    """

    candidate: Candidate
    score: Number
    matched: tuple[tuple[str, Number], ...]
    hint: bool
    fallback: bool
    rules: tuple[tuple[str, Number], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The ranked candidate as it goes over the wire."""
        return {
            "candidate": self.candidate.to_dict(),
            "score": self.score,
            "matched": [
                *({"feature": feature, "weight": weight} for feature, weight in self.matched),
                *({"rule": rule, "weight": weight} for rule, weight in self.rules),
            ],
            "hint": self.hint,
            "fallback": self.fallback,
        }


@dataclass(frozen=True)
class Explanation(Explained[Solved, tuple[str, str], NamedConstraint, Relaxation]):
    """Why a route came out as it did: what `Explained` says, and more. Asked about is a (provider id, model name).

    Raises:
        InvalidRequestError: What is asked about is no pair of strings.
    """

    def __post_init__(self) -> None:
        asked = self.why_not
        if asked is None:
            return
        # A text of two letters could be taken for a pair.
        if not isinstance(asked, tuple | list) or len(asked) != 2 or not all(isinstance(each, str) for each in asked):
            expected = "a pair of strings is expected, a provider's id and a model's name"
            raise InvalidRequestError([Issue("/whyNot", f"{shown(asked)}; {expected}")])

    @property
    def constraints(self) -> Constraints:
        """Every constraint, in the contract's order."""
        return self.solved.constraints

    @property
    def shadows(self) -> tuple[NamedConstraint, ...]:
        """The rules that are only tried out; they reject no candidate, and their counts say what they would do."""
        return self.solved.shadows

    @computed
    def hints(self) -> tuple[UnmetHint, ...]:
        """The hints that the pick doesn't follow; all of them when nothing qualifies."""
        return unmet_hints(self.solved)

    @property
    def survivors(self) -> int:
        """The set of candidates that all constraints admit."""
        return self.solved.survivors

    @property
    def satisfiable(self) -> bool:
        """Whether any candidate qualifies."""
        return self.survivors != 0

    # When nothing qualifies.

    @computed
    def _conflicts(self) -> Conflicts[int]:
        return conflicts(
            self.constraints.admitted,
            self.catalog.size,
            core_limit=self.limits.cores,
            correction_limit=self.limits.corrections,
        )

    @computed
    def _joint(self) -> "JointSolved":
        from ..solving.joint import JointSolved  # noqa: PLC0415 (takes long to load, and most routes succeed)

        return JointSolved.of_one(self.solved)

    @computed
    def unknowns(self) -> tuple[Unknown, ...]:
        """Unknown facts that stand in the way, those with the fewest other failures first."""
        return tuple(unknowns(self.solved, self.limits.unknowns))

    @computed
    def user_message(self) -> str | None:
        """One paragraph for the end user of a product built on this; None when something qualifies.

        It says what can't be done and what to do next, without a name of a provider, a price or a rule.
        """
        if self.satisfiable:
            return None
        return user_message(self.cores, setup_failed=bool(self.setup_failures))

    # Always.

    @computed
    def near_misses(self) -> tuple[NearMiss, ...]:
        """The candidates that don't qualify, fewest failures first, then in rank order."""
        return tuple(near_misses(self.solved, self.limits.near_misses))

    @computed
    def stopped_alone(self) -> tuple[tuple[NamedConstraint, int], ...]:
        """Each constraint that alone stops some candidates, with these candidates as a set, in constraint order."""
        return tuple(
            (self.constraints[index], members)
            for index, others in enumerate(self._admitted_by_others())
            if (members := others & ~self.constraints.admitted[index])
        )

    def _admitted_by_others(self) -> list[int]:
        """For each constraint, the candidates that all others admit."""
        admitted = self.constraints.admitted
        found = [self.catalog.all()] * len(admitted)
        before = after = self.catalog.all()
        for index, members in enumerate(admitted):
            found[index] = before
            before &= members
        for index in range(len(admitted) - 1, -1, -1):
            found[index] &= after
            after &= admitted[index]
        return found

    def rejections(self, constraint: NamedConstraint) -> tuple[ReasonGroup, ...]:
        """The candidates that a constraint rejects, grouped by reason, the largest group first."""
        return grouped(constraint)

    @computed
    def contrast(self) -> Contrast | None:
        """Why the candidate of `why_not` is not the pick; None when none was asked about."""
        return None if self.why_not is None else contrast(self.solved, *self.why_not)

    # When something qualifies.

    @computed
    def ranking(self) -> tuple[Ranked, ...]:
        """The candidates that qualify, best first, with the preferences that each meets; empty when none does."""
        return tuple(self._ranked(self.limits.ranking))

    def _ranked(self, limit: int | None) -> list[Ranked]:
        if not self.satisfiable:
            return []
        ranking = self.solved.ranked(self.survivors)
        prefer = self.solved.capability.prefer
        found: list[Ranked] = []
        for number in ranking:
            if limit is not None and len(found) >= limit:
                break
            candidate = self.catalog.candidate(number)
            features, attributes = candidate.model.features, candidate.metadata.attributes
            matched = tuple((p.feature, p.weight) for p in prefer if p.feature in features or p.feature in attributes)
            rules = self.solved.wished(number)
            score = sum((exact(weight) for _, weight in (*matched, *rules)), exact(0))
            hint = bool(ranking.hinted >> number & 1)
            found.append(Ranked(candidate, wire_number(score), matched, hint, candidate.metadata.fallback, rules))
        return found

    @computed
    def margin(self) -> Number | None:
        """By how much the pick's score exceeds the next one's; None when there is no next one."""
        if self.survivors.bit_count() < 2:
            return None
        ranking = self.solved.ranked(self.survivors)
        if len(ranking) < 2:
            return None
        first, second = (ranking.scores.score(ranking.at(place)) for place in (0, 1))
        return wire_number(first - second)

    @computed
    def decided_by(self) -> DecidedBy | None:
        """What puts the pick before the next in rank order; None when there is no next one."""
        if self.margin is None:
            return None
        ranking = self.solved.ranked(self.survivors)
        return decided_by(ranking, ranking.at(1))

    @computed
    def tightest(self) -> NamedConstraint | None:
        """The constraint that admits fewest, the first of equals: what the choice hangs on; None when none rejects."""
        admitted = self.solved.constraints.admitted
        counts = [members.bit_count() for members in admitted]
        least = min(counts)
        return None if least == self.catalog.size else self.constraints[counts.index(least)]

    @computed
    def redundant(self) -> tuple[NamedConstraint, ...]:
        """The constraints that make no difference: the others reject the same candidates."""
        return tuple(
            constraint
            for constraint, others in zip(self.constraints, self._admitted_by_others(), strict=True)
            if others & ~constraint.admitted == 0
        )

    # Out.

    def _first_members(self) -> Iterator[tuple[str, Any]]:
        yield "constraints", [_constraint(constraint) for constraint in self.solved.listed]

    def _last_members(self) -> Iterator[tuple[str, Any]]:
        yield "unknowns", (unknown.to_dict() for unknown in self.unknowns)
        if self.user_message is not None:
            yield "userMessage", self.user_message
        yield "nearMisses", (miss.to_dict() for miss in self.near_misses)
        if self.satisfiable:
            yield "ranking", (ranked.to_dict() for ranked in self.ranking)
            if self.margin is not None:
                yield "margin", self.margin
        if self.tightest is not None:
            yield "tightest", self.tightest.id
        yield "redundant", [constraint.id for constraint in self.redundant]
        if self.contrast is not None:
            yield "contrast", self.contrast.to_dict()

    def to_graph(self, limit: int | None = None) -> "nx.DiGraph[str]":
        """The explanation as a graph, whose nodes are strings without meaning and tell by their `kind` what they are.

        - `constraint`: id, label, owner, how many it admitted and rejected, cores: the numbers of those it is in, and
          shadow: whether it is a rule that is only tried out; then no edge leads to it, and its counts say what it
          would reject.
        - `candidate`: provider, model, whether it admits (qualifies) and is the pick. An edge of kind `rejected`, with
          code and message, leads to every constraint that rejects it.
        - `core`: number, from 1, and size. Edges of kind `contains` lead to its constraints.
        - `relaxation`: number, from 1, text, owners, and whether it is offered. Edges of kind `changes`, with text,
          lead to the constraints that it changes, and one of kind `leads-to` to its pick.

        Nodes and edges always come in the same order.

        Args:
            limit: How many candidates: those that qualify in rank order, then those that are nearest to it. The picks
                of relaxations are there in any case. None: all of them.
        """
        return graph_of(self, limit)


def _constraint(constraint: NamedConstraint) -> dict[str, Any]:
    admitted = constraint.admitted.bit_count()
    found = {
        **constraint_dict(constraint),
        "admitted": admitted,
        "rejected": constraint.catalog.size - admitted,
    }
    return {**found, "shadow": True} if constraint.shadow else found
