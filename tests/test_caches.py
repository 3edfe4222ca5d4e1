"""What is kept for the next time: as much as there is room for, whatever threads do meanwhile."""

from whyroute.caches import remembered
from whyroute.catalog import Recent


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
