"""What is kept for the next time: as much as there is room for, whatever threads do meanwhile."""

import gc
from collections.abc import Callable

import pytest

import whyroute as wr
from counting import kept
from whyroute.caches import remembered
from whyroute.catalog import Recent
from whyroute.rulebook import read_rulebook


def test_more_than_there_is_room_for_does_not_stay() -> None:
    known = dict.fromkeys(range(12), "before")  # as threads leave it that made room by the same one
    assert remembered(known, 12, 8, lambda: "made") == "made"
    assert list(known) == [*range(5, 12), 12]


def test_a_place_for_nothing_keeps_the_last() -> None:
    known = {1: "before"}
    assert remembered(known, 2, 0, lambda: "made") == "made"
    assert known == {2: "made"}


def test_more_requests_than_there_is_room_for_do_not_stay() -> None:
    recent = Recent({(number, number): "before" for number in range(9)})
    capability, policy = object(), object()
    recent.keep(capability, policy, "made")
    assert list(recent) == [(6, 6), (7, 7), (8, 8), (id(capability), id(policy))]


PROVIDER = {
    "id": "p",
    "region": "eu",
    "models": [
        {
            "name": name,
            "contextWindow": 1,
            "features": features,
            "cost": {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1},
        }
        for name, features in (("m", ["vision"]), ("n", []))
    ],
}


def _preferring(catalog: wr.Catalog, number: int) -> None:
    wishes = [{"feature": "vision", "weight": 1}, {"feature": f"{number}{'x' * 50_000}", "weight": 1}]
    assert "vision" in wr.route({"needs": [], "prefer": wishes}, catalog).reason


def _of_kind(catalog: wr.Catalog, number: int) -> None:
    with pytest.raises(wr.CapabilityUnsatisfiableError):
        wr.route({"kind": f"{number}{'x' * 50_000}", "needs": []}, catalog, rules=BY_KIND)


def _with_labels(catalog: wr.Catalog, number: int) -> None:
    wr.route({"needs": []}, catalog, rules=BY_LABEL, labels={"data": f"{number}{'x' * 50_000}"})


BY_KIND = read_rulebook([{"name": "r", "because": "x", "when": {"kind": "other"}, "forbid": {"region": "us"}}])
BY_LABEL = read_rulebook(
    [{"name": "r", "because": "x", "when": {"labels": {"data": "patient"}}, "forbid": {"region": "us"}}]
)


@pytest.mark.parametrize("ask", [_preferring, _of_kind, _with_labels])
def test_long_names_are_not_kept_however_many_requests_have_them(ask: Callable[[wr.Catalog, int], None]) -> None:
    """Whoever sends requests may send any number of them, each with names of its own."""
    catalog = wr.Catalog([PROVIDER])

    def asked() -> None:
        for number in range(10, 60):
            ask(catalog, number)
        gc.collect()

    for number in range(10):
        ask(catalog, number)
    assert kept(asked) < 500_000  # one name of each would be 2.5 MB
