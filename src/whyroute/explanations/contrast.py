"""Why not this one: a candidate that fails, or that qualifies and is outranked, or that does not exist."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, Literal

from .. import bits
from ..catalog import Candidate, Catalog
from ..numbers import Number, wire_number
from ..ranking import Order, Ranking
from ..solving import Solved
from .failures import Failed, failed_dicts, failures_of

__all__ = ["Contrast", "DecidedBy", "contrast"]

DecidedBy = Literal["fallback", "hint", "score", "order", "provider", "defaultModel", "model"]
"""What puts the pick before a candidate that qualifies too."""

_NEAR = 3


@dataclass(frozen=True, slots=True)
class Contrast:
    """The answer to "why not this one?".

    Attributes:
        provider_id: The provider asked about.
        model_name: The model asked about.
        candidate: The candidate; None when the catalog has no such pair.
        near: When it has none: candidates with names like these.
        failed: The constraints that reject it, each with why; empty when it qualifies.
        rank: Its place among those that qualify, from 1; None when it has none.
        score: The sum of the weights of the preferences and rules that it meets; None when there is no such candidate.
        pick: What is picked instead, or the candidate itself; None when nothing qualifies.
        pick_score: The pick's score.
        decided_by: What puts the pick before it; None when it is the pick or does not qualify.
    """

    provider_id: str
    model_name: str
    candidate: Candidate | None = None
    near: tuple[Candidate, ...] = ()
    failed: tuple[Failed, ...] = ()
    rank: int | None = None
    score: Number | None = None
    pick: Candidate | None = None
    pick_score: Number | None = None
    decided_by: DecidedBy | None = None

    @property
    def known(self) -> bool:
        """Whether the catalog has this candidate."""
        return self.candidate is not None

    @property
    def admitted(self) -> bool:
        """Whether it qualifies."""
        return self.known and not self.failed

    def to_dict(self) -> dict[str, Any]:
        """The contrast as it goes over the wire."""
        found: dict[str, Any] = {
            "candidate": {"provider": self.provider_id, "model": self.model_name},
            "known": self.known,
        }
        if not self.known:
            found["near"] = [candidate.to_dict() for candidate in self.near]
        else:
            found["admitted"] = self.admitted
            if self.failed:
                found["failed"] = failed_dicts(self.failed)
            found |= {key: value for key, value in (("rank", self.rank), ("score", self.score)) if value is not None}
        if self.pick is not None:
            found |= {"pick": self.pick.to_dict(), "pickScore": self.pick_score}
        if self.decided_by is not None:
            found["decidedBy"] = self.decided_by
        return found


def contrast(solved: Solved, provider_id: str, model_name: str) -> Contrast:
    """Why the candidate of this provider and model is not the pick."""
    catalog = solved.catalog
    ranking = solved.ranked(solved.survivors) if solved.survivors else None
    pick = None if ranking is None else catalog.candidate(ranking.best())
    pick_score = None if ranking is None else wire_number(ranking.scores.score(ranking.best()))
    number = catalog.number_of(provider_id, model_name)
    if number is None:
        near = tuple(_near(catalog, provider_id, model_name))
        return Contrast(provider_id, model_name, near=near, pick=pick, pick_score=pick_score)
    candidate = catalog.candidate(number)
    if ranking is None or not solved.survivors >> number & 1:
        score = solved.ranked(catalog.all()).scores.score(number)
        return Contrast(
            provider_id,
            model_name,
            candidate,
            failed=failures_of(solved, number),
            score=wire_number(score),
            pick=pick,
            pick_score=pick_score,
        )
    return Contrast(
        provider_id,
        model_name,
        candidate,
        rank=_rank_of(ranking, number),
        score=wire_number(ranking.scores.score(number)),
        pick=pick,
        pick_score=pick_score,
        decided_by=decided_by(ranking, number),
    )


def decided_by(ranking: Ranking, number: int) -> DecidedBy | None:
    """What puts the pick before a candidate that qualifies too; None when it is the pick."""
    best = ranking.best()
    if number == best:
        return None
    if not ranking.members >> number & 1:
        return "fallback"
    if ranking.hinted and not ranking.hinted >> number & 1:
        return "hint"
    scores: list[Fraction] = [ranking.scores.score(each) for each in (best, number)]
    if scores[0] != scores[1]:
        return "score"
    if any(_tells(order, best, number) for order in ranking.orders):
        return "order"
    pick, other = ranking.catalog.candidate(best), ranking.catalog.candidate(number)
    if pick.metadata.id != other.metadata.id:
        return "provider"
    return "defaultModel" if pick.metadata.default_model == pick.model.name else "model"


def _tells(order: Order, best: int, number: int) -> bool:
    """Whether an order puts one candidate before another."""
    both = 1 << best | 1 << number
    return order.foremost(both) != both


def _rank_of(ranking: Ranking, number: int) -> int | None:
    if not ranking.members >> number & 1:
        return None
    place = 1
    for members in ranking.classes():
        if members >> number & 1:
            return place + (members & bits.full(number)).bit_count()
        place += members.bit_count()
    return None


def _near(catalog: Catalog, provider_id: str, model_name: str) -> Iterator[Candidate]:
    """Candidates with names like these: the same model elsewhere, the same provider's others, then what reads alike."""
    found: dict[int, None] = dict.fromkeys(bits.positions(catalog.of_model(model_name)))
    if len(found) < _NEAR:
        own = [
            number
            for meta in catalog.metadata
            if meta.id == provider_id
            for model in meta.models
            if (number := catalog.number_of(meta.id, model.name)) is not None
        ]
        by_name = {catalog.candidate(number).model.name: number for number in own}
        for name in get_close_matches(model_name, by_name, n=_NEAR, cutoff=0.5):
            found[by_name[name]] = None
    if len(found) < _NEAR:
        texts = {f"{c.metadata.id}/{c.model.name}".casefold(): n for n, c in enumerate(catalog.candidates())}
        for text in get_close_matches(f"{provider_id}/{model_name}".casefold(), texts, n=_NEAR, cutoff=0.6):
            found[texts[text]] = None
    for number in list(found)[:_NEAR]:
        yield catalog.candidate(number)
