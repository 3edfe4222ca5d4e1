"""Rankings: places, either way round, and what they cost."""

import random
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from counting import calls, kept
from whyroute import Catalog
from whyroute.model.capability import Preference
from whyroute.solving.ranking import RankedCandidates, Ranking, Scores, Weights

MODEL = {
    "name": "m",
    "contextWindow": 1,
    "features": [],
    "cost": {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1},
}
BITS = 13
PREFER = [Preference.model_validate({"feature": f"bit{k}", "weight": 2**k}) for k in range(BITS)]


def catalog_of(scores: list[int]) -> Catalog:
    """A provider of one model for each score."""
    return Catalog(
        {
            "id": f"{at:05d}",
            "region": "r",
            "models": [MODEL],
            "attributes": [f"bit{k}" for k in range(BITS) if score >> k & 1],
        }
        for at, score in enumerate(scores)
    )


def ranking_of(scores: list[int], hinted: int = 0) -> Ranking:
    catalog = catalog_of(scores)
    return Ranking(catalog, Scores.of(Weights.of(PREFER), catalog), catalog.all(), hinted, fallback=False)


def shuffled(count: int) -> list[int]:
    scores = list(range(count))
    random.Random(count).shuffle(scores)
    return scores


# Classes of one candidate, of some and of nearly all.
mixed = st.lists(st.sampled_from([0, 0, 0, 0, 1, 2, 5, 4095]), min_size=1, max_size=150)


@settings(max_examples=60)
@given(mixed, st.data())
def test_places_are_those_of_a_sorted_list(scores: list[int], data: st.DataObject) -> None:
    hinted = data.draw(st.integers(0, 2 ** len(scores) - 1) | st.just(0))
    expected = sorted(range(len(scores)), key=lambda n: (not hinted >> n & 1, -scores[n], n))
    place = data.draw(st.integers(0, len(scores) - 1))
    assert ranking_of(scores, hinted).at(place) == expected[place]
    assert list(ranking_of(scores, hinted).starting(place)) == expected[place:]
    assert list(ranking_of(scores, hinted).back_from(place)) == expected[place::-1]
    assert ranking_of(scores, hinted).place_of(expected[place]) == place
    ranking = ranking_of(scores, hinted)
    assert list(ranking) == list(ranking) == expected
    assert [ranking.at(each) for each in range(len(scores))] == expected
    assert [ranking.place_of(number) for number in expected] == list(range(len(scores)))
    with pytest.raises(IndexError):
        ranking.at(len(scores))
    assert list(ranking.starting(len(scores))) == []


class Overtaken:
    """In place of the lock of classes: when the main thread comes for the second time, another has done all before."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._lock = threading.Lock()
        self._work = work
        self._times = 0

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._times += 1
            if self._times == 2:
                other = threading.Thread(target=self._work)
                other.start()
                other.join()
        self._lock.acquire()

    def __exit__(self, *_: Any) -> None:
        self._lock.release()


@pytest.mark.parametrize(
    "read",
    [list, lambda ranked: ranked.place_of(1)],
    ids=["iterated", "place"],
)
def test_concurrently_found_class_is_not_lost(
    read: Callable[[Ranking], object],
) -> None:
    scores = [0, 0, 1, 1]
    expected = read(ranking_of(scores))
    shared = ranking_of(scores)
    shared._classes._lock = Overtaken(lambda: list(shared))  # type: ignore[assignment]
    assert read(shared) == expected


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([0.5, 0.5], 1),
        ([0.1, 0.2], 0.3),
        ([2.5], 2.5),
        ([-0.5], -0.5),  # whom nobody escapes: no candidate gains anything over another
        ([-2], -2),
        ([1e308, 1e308, 0.5], sys.float_info.max),
        ([-1e308, -1e308, 0.5], -sys.float_info.max),
        ([10**20], 10**20),
    ],
)
def test_score_is_the_sum_as_json_number(weights: list[float], expected: float) -> None:
    catalog = catalog_of([2 ** len(weights) - 1] * 2)
    prefer = [Preference.model_validate({"feature": f"bit{k}", "weight": weight}) for k, weight in enumerate(weights)]
    found = Scores.of(Weights.of(prefer), catalog).wire_score(0)
    assert found == expected
    assert type(found) is type(expected)


def test_bulk_numbers_equal_single_ones() -> None:
    for hinted in (0, 0b1011, 2**30 - 1):
        assert ranking_of(shuffled(30), hinted).numbers() == list(ranking_of(shuffled(30), hinted))


def test_unranked_candidate_has_no_place() -> None:
    catalog = catalog_of([1, 2, 3])
    ranking = Ranking(catalog, Scores.of(Weights.of(PREFER), catalog), 0b101, 0, fallback=False)
    assert [ranking.place_of(number) for number in range(4)] == [1, None, 0, None]


@pytest.mark.parametrize("hinted", [0, 0b1011])
def test_what_is_kept_grows_with_the_candidates(hinted: int) -> None:
    def memory(count: int) -> int:
        ranking = ranking_of(shuffled(count), hinted)
        return kept(lambda: ranking.at(count - 1))

    small, large = memory(1000), memory(4000)
    assert large < 8 * small  # 16 times as much when a set is kept for each score


READS: dict[str, Callable[[RankedCandidates], object]] = {
    "the last": lambda view: view[-1],
    "every second": lambda view: list(view[::2]),
    "backwards": lambda view: list(view[::-1]),
    "reversed": lambda view: list(reversed(view)),
    "the last ten": lambda view: list(view[-10:]),
    "one by one": lambda view: [view[index] for index in range(len(view))],
}


@pytest.mark.parametrize("name", READS)
def test_reading_again_costs_no_walk_over_all_classes(name: str) -> None:
    """Classes that were found cost a look-up each, however they are read."""
    read = READS[name]

    def cost(count: int) -> int:
        ranking = ranking_of(shuffled(count))
        ranking.at(count - 1)
        return calls(lambda: read(RankedCandidates(ranking, range(1, count))))

    small, large = cost(250), cost(1000)
    assert large < (1.5 if name.startswith("the last") else 6) * small
