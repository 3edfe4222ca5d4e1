"""Why not this one: a candidate that fails, or that qualifies and is outranked, or that does not exist."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from heapq import nlargest
from itertools import islice
from operator import add
from typing import Any, Literal

from ..basics import bits
from ..basics.numbers import Number, wire_number
from ..catalog.candidate import Candidate
from ..catalog.catalog import Catalog
from ..solving.ranking import Ranking
from ..solving.request import Solved
from .failures import Failed, failed_dicts, failures_of
from .ties import deciding_order

__all__ = ["Contrast", "DecidedBy", "contrast"]

DecidedBy = Literal["fallback", "hint", "score", "order", "provider", "defaultModel", "model"]
"""What puts the pick before a candidate that qualifies too."""

_NEAR = 3
_COMPARED = 100
"""How many texts are compared in full."""
_READ = 200
"""How many characters of a text are read to compare it."""


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
        order: In words, the rule whose order does, where one does.
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
    order: str | None = None

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
    decided = decided_by(ranking, number)
    order = deciding_order(ranking, number) if decided == "order" else None
    return Contrast(
        provider_id,
        model_name,
        candidate,
        rank=_rank_of(ranking, number),
        score=wire_number(ranking.scores.score(number)),
        pick=pick,
        pick_score=pick_score,
        decided_by=decided,
        order=None if order is None else order.told,
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
    if deciding_order(ranking, number) is not None:
        return "order"
    pick, other = ranking.catalog.candidate(best), ranking.catalog.candidate(number)
    if pick.metadata.id != other.metadata.id:
        return "provider"
    return "defaultModel" if pick.metadata.default_model == pick.model.name else "model"


def _rank_of(ranking: Ranking, number: int) -> int | None:
    place = ranking.place_of(number)
    return None if place is None else place + 1


def _near(catalog: Catalog, provider_id: str, model_name: str) -> Iterator[Candidate]:
    """Candidates with names like these: the same model elsewhere, the same provider's others, then what reads alike."""
    found: dict[int, None] = dict.fromkeys(bits.positions(catalog.of_model(model_name)))
    if len(found) < _NEAR:
        own = {catalog.candidate(each).model.name: each for each in bits.positions(catalog.of_provider(provider_id))}
        found |= dict.fromkeys(own[name] for name in _alike(model_name, own, 0.5))
    if len(found) < _NEAR:
        # Two candidates may read alike: ids that differ in case, or with a slash inside.
        texts: dict[str, list[int]] = {}
        for number, candidate in enumerate(catalog.candidates()):
            texts.setdefault(candidate.id.casefold(), []).append(number)
        wanted = f"{provider_id}/{model_name}".casefold()
        found |= dict.fromkeys(number for text in _alike(wanted, texts, 0.6) for number in texts[text])
    for number in islice(found, _NEAR):
        yield catalog.candidate(number)


def _alike(wanted: str, known: Collection[str], cutoff: float) -> list[str]:
    """Those that read most like a text, the best first. Only those that share most with it are compared in full."""
    if len(known) > _COMPARED:
        pairs = _pairs(wanted)
        known = nlargest(_COMPARED, known, key=lambda text: len(pairs & _pairs(text)))
    return get_close_matches(wanted[:_READ], known, n=_NEAR, cutoff=cutoff)


def _pairs(text: str) -> set[str]:
    text = text[:_READ]
    return set(map(add, text, text[1:]))
