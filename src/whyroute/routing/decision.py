"""Decisions: the pick, the alternates, and why, computed when they are read."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from json.encoder import encode_basestring
from typing import Any, Final, Self

from ..basics.computed import computed
from ..basics.issues import quoted, shown
from ..basics.numbers import Number, ecmascript, exact, wire_number
from ..catalog.candidate import Candidate
from ..constraints.named import Constraints
from ..documents.phrases import joined
from ..errors import CapabilityUnsatisfiableError
from ..explanations import Explanation, reasons_of
from ..explanations.hints import UnmetHint, hints_clause, unmet_hints
from ..explanations.ties import tie_clause
from ..explanations.words import setup_clause
from ..model.capability import Capability
from ..model.metadata import ModelInfo
from ..model.policy import TenantPolicy
from ..model.provider import ModelProvider
from ..solving.ranking import RankedCandidates, Ranking
from ..solving.request import RequestTerms, Shadow, Solved
from .records import record_of

__all__ = ["Decision", "decided", "outcome_of", "unsatisfiable"]

_NO_CANDIDATE = "no registered provider satisfies the capability"
_LABELS_SHOWN = 3


@dataclass(frozen=True, eq=False, init=False)
class Decision:
    """The candidate that serves a capability, and why.

    It is immutable, so a copy is the decision itself. Pickled, it leaves its providers behind: where it is loaded, each
    is known by its metadata alone, and `invoke` raises NotInvocableError.

    Attributes:
        candidate: The pick.
        fallback: Whether only fallback providers qualified.

    Example:
        >>> import whyroute as wr
        >>> decision = wr.route({"needs": [{"feature": "vision"}]}, [wr.EchoProvider("echo", features=["vision"])])
        >>> decision.candidate, decision.fallback
        (<Candidate 'echo' 'echo'>, False)
    """

    candidate: Candidate
    fallback: bool
    _ranking: Ranking = field(repr=False)
    _solved: Solved = field(repr=False)

    def __init__(self, candidate: Candidate, fallback: bool, _ranking: Ranking, _solved: Solved) -> None:
        # As the one that would be generated, at less than half its cost.
        fields = self.__dict__
        fields["candidate"] = candidate
        fields["fallback"] = fallback
        fields["_ranking"] = _ranking
        fields["_solved"] = _solved

    def __reduce__(self) -> tuple[Any, ...]:
        # A provider may hold locks and connections.
        return decided, (self._solved.declared(),)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    @property
    def provider(self) -> ModelProvider:
        """The picked provider, to invoke."""
        return self.candidate.provider

    @property
    def model(self) -> ModelInfo:
        """The picked model; pass its name to the provider's `invoke`."""
        return self.candidate.model

    @property
    def alternates(self) -> RankedCandidates:
        """The other candidates that qualify, in rank order; made when they are read."""
        return RankedCandidates(self._ranking, range(1, self._ranking.members.bit_count()))

    @computed
    def score(self) -> Number:
        """The sum of the weights of the preferences and rules that the pick meets."""
        return self._ranking.scores.wire_score(self._ranking.best())

    @computed
    def shadow(self) -> Shadow | None:
        """What enforcing the rules that are only tried out would give; None when none is in force."""
        return self._solved.shadow

    @computed
    def reason(self) -> str:
        """Why this candidate, in plain words."""
        return _reason(self)

    @property
    def asked(self) -> dict[str, Any]:
        """What was asked, of which tenant and under which pack, and when: as it goes over the wire."""
        return self._solved.asked()

    @computed
    def hints(self) -> tuple[UnmetHint, ...]:
        """The hints that the pick doesn't follow."""
        return unmet_hints(self._solved)

    @computed
    def explanation(self) -> Explanation:
        """What each constraint did, and what stands in the way of the other candidates."""
        return Explanation(self._solved)

    @property
    def capability(self) -> Capability:
        """The declaration that it serves."""
        return self._solved.capability

    def to_record(self, *, id: str | None = None, time: datetime | None = None) -> dict[str, Any]:
        """The decision as a line of a log: what was asked and what came out, by digests, without a prompt or a secret.

        The digests are those of canonical JSON (RFC 8785): of the pack, of the providers with those that could not be
        set up, of a declaration of the request's own, and of the answer without its time and its question.

        Args:
            id: The id of the line; a random one when absent.
            time: When it is written; the present when absent.

        Example:
            >>> import whyroute as wr
            >>> record = wr.route({"needs": []}, [wr.EchoProvider("echo")], policy={"tenantId": "acme"}).to_record()
            >>> record["v"], record["tenant"], record["outcome"], record["pick"]
            (2, 'acme', 'decision', {'provider': 'echo', 'model': 'echo'})
        """
        return record_of(self, self._solved, id, time)

    def to_dict(self) -> dict[str, Any]:
        """The decision as it goes over the wire."""
        return {
            "pick": self.candidate.to_dict(),
            "alternates": [candidate.to_dict() for candidate in self.alternates],
            "fallback": self.fallback,
            "reason": self.reason,
            "score": self.score,
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        ranking = self._ranking
        texts = ranking.catalog.candidate_texts()
        pick, *alternates = map(texts.__getitem__, ranking.numbers())
        return (
            f'{{"pick": {pick}, "alternates": [{", ".join(alternates)}], '
            f'"fallback": {"true" if self.fallback else "false"}, '
            f'"reason": {encode_basestring(self.reason)}, "score": {self.score!r}}}'
        )


def outcome_of(solved: Solved) -> Decision | CapabilityUnsatisfiableError:
    """The decision, or the error that says that there is none."""
    return decided(solved) if solved.survivors else unsatisfiable(solved)


def decided(solved: Solved) -> Decision:
    """The decision among candidates that qualify, of which there are some."""
    ranking = solved.ranked(solved.survivors)
    return Decision(solved.catalog.candidate(ranking.best()), ranking.fallback, ranking, solved)


def unsatisfiable(solved: Solved) -> CapabilityUnsatisfiableError:
    """That nothing qualifies. Each raise takes a new one, which keeps where it was raised."""
    return CapabilityUnsatisfiableError(
        lambda: _failed(solved),
        tenant_id=None if solved.policy is None else solved.policy.tenant_id,
        reasons=lambda: reasons_of(solved.constraints, solved.catalog, solved.setup_failures),
        explanation=lambda: Explanation(solved),
    )


def _failed(solved: Solved) -> str:
    """That nothing qualifies, the constraints that admit no candidate, and the providers that could not be set up."""
    way = _stands_in_the_way(solved.constraints)
    return f"{_NO_CANDIDATE}: {way}{setup_clause(solved.setup_failures)}"


def _stands_in_the_way(constraints: Constraints) -> str:
    size = constraints.catalog.size
    if not size:
        return "there are no candidates"
    of_all = "the one candidate" if size == 1 else f"any of {size} candidates"
    alone = [index for index, admitted in enumerate(constraints.admitted) if not admitted]
    if not alone:
        return f"the {len(constraints)} constraints together do not admit {of_all}"
    labels = quoted([constraints[index].label for index in alone[:_LABELS_SHOWN]])
    more = len(alone) - _LABELS_SHOWN
    also = f" and {more} more" if more > 0 else ""
    each = "does not" if len(alone) == 1 else "each do not"
    return f"{labels}{also} {each} admit {of_all}"


def _reason(decision: Decision) -> str:
    solved, ranking, candidate = decision._solved, decision._ranking, decision.candidate
    pick = f"{shown(candidate.metadata.id)} / {shown(candidate.model.name)}"
    rules = 0 if solved.active is None else len(solved.active.rules.constraints)
    met = _met(solved.capability, solved.policy, rules) if rules else _said(solved.terms)[0]
    count = ranking.members.bit_count()
    fallbacks = solved.survivors.bit_count() - count  # of which there are none beside a fallback
    kind = "regular candidate" if fallbacks else "fallback" if decision.fallback else "candidate"
    if count > 1:
        why = f"; of {count} {kind}s that qualify it {_why_first(decision, solved, ranking)}"
    else:
        why = f"; it is the only {kind}{'' if fallbacks else ' that qualifies'}"
    if decision.fallback:
        why = f"; it is a fallback: no regular candidate qualifies{why}"
    elif fallbacks:
        why += f"; {fallbacks} fallback{' qualifies' if fallbacks == 1 else 's qualify'} too"
    if solved.preferred_provider is not None or solved.preferred_model is not None:
        why += hints_clause(decision.hints)
    return f"{pick} {met}{why}"


def _why_first(decision: Decision, solved: Solved, ranking: Ranking) -> str:
    if ranking.hinted and ranking.hinted != ranking.members:
        given = [
            f"{what} {shown(name)}"
            for what, name in (("provider", solved.preferred_provider), ("model", solved.preferred_model))
            if name is not None
        ]
        return f"matches the preferred {' and '.join(given)}"
    best = ranking.tied
    if best == ranking.members:
        scored = solved.capability.prefer or (solved.active is not None and solved.active.wishes)
        tied = f"all score {ecmascript(decision.score)}; " if scored else ""
        return f"comes first: {tied}{tie_clause(ranking)}"
    score = f"has the highest score, {ecmascript(decision.score)}"
    features, attributes = decision.candidate.model.features, decision.candidate.metadata.attributes
    met = [text for name, text in _said(solved.terms)[1] if name in features or name in attributes]
    met += [f"rule {_weighted(name, weight)}" for name, weight in solved.wished(ranking.best())]
    if met:
        score += f" ({', '.join(met)})"
    tied_with = best.bit_count() - 1
    return score if not tied_with else f"{score}, tied with {tied_with} more: {tie_clause(ranking)}"


def _said(terms: RequestTerms) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What the pick of a request without rules meets, and what each preference is called; for any candidate."""
    found = terms.said
    if found is None:
        found = terms.said = _met(terms.capability, terms.policy, 0), tuple(_preferences(terms.capability))
    return found


def _met(capability: Capability, policy: TenantPolicy | None, rules: int) -> str:
    """What every candidate that qualifies meets: the constraints, counted by where they come from."""
    needs = len(capability.needs)
    parts = [] if not needs else [f"all {needs} needs" if needs > 2 else ("the one need", "both needs")[needs - 1]]
    if policy is not None:
        parts.append(f"the policy of tenant {shown(policy.tenant_id)}")
    if rules:
        parts.append(f"{rules} rule{'s' if rules > 1 else ''}")
    return f"meets {joined(parts)}" if parts else f"is of the kind asked for, {shown(capability.kind)}"


def _preferences(capability: Capability) -> Iterator[tuple[str, str]]:
    """Each feature that is preferred, with its weights, added up exactly."""
    sums: dict[str, list[Number]] = {}
    for each in capability.prefer:
        sums.setdefault(each.feature, []).append(each.weight)
    for name, weights in sums.items():
        weight = weights[0] if len(weights) == 1 else wire_number(sum(map(exact, weights), _NOTHING))
        yield name, _weighted(name, weight)


_NOTHING: Final = Fraction(0)


def _weighted(name: str, weight: Number) -> str:
    return f"{shown(name)} {'+' if weight >= 0 else ''}{ecmascript(weight)}"
