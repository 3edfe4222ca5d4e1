"""Names that refer to names, groups of regions, and times."""

import itertools
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st

from whyroute.documents.toposort import cycles, in_order
from whyroute.errors import InvalidRequestError
from whyroute.model.regions import Regions, read_regions
from whyroute.model.timestamps import is_within, moment_issues, moment_of, read_moment, written

graphs = st.dictionaries(
    st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdefg"), max_size=3).map(tuple), max_size=6
)


@given(graphs)
def test_circles_are_found_and_an_order_is_one(graph: dict[str, tuple[str, ...]]) -> None:
    reach = {name: set(following) for name, following in graph.items()}
    for _ in graph:
        for name in graph:
            reach[name] |= set().union(*(reach.get(other, set()) for other in reach[name]))
    circular = {name for name in graph if name in reach[name]}
    found = cycles(graph)
    assert bool(found) == bool(circular)
    for circle in found:
        assert all(other in graph[name] for name, other in itertools.pairwise([*circle, circle[0]]))
        assert len(set(circle)) == len(circle)
    if not found:
        order = in_order(graph)
        assert sorted(order) == sorted(graph)
        assert all(order.index(other) < order.index(name) for name in graph for other in graph[name] if other in graph)
        regions = read_regions({name: list(following) for name, following in graph.items()})
        for name in graph:
            assert regions.meaning(name)[0] == name
            assert set(regions.meaning(name)) == {name} | reach[name]


def test_long_chains_of_names_are_read() -> None:
    chain = {f"g{depth}": [f"g{depth + 1}"] for depth in range(5000)}
    assert in_order(chain)[0] == "g4999"
    assert len(cycles({**chain, "g5000": ["g0"]})) == 1
    assert read_regions({f"g{depth}": [f"g{depth + 1}"] for depth in range(300)}).meaning("g0")[-1] == "g300"


def test_a_name_that_is_no_group_means_itself() -> None:
    assert Regions().meaning("eu") == ("eu",)
    assert read_regions({"a": ["b", "c"], "c": ["b", "d"]}).meanings(["x", "c", "a"]) == ("x", "c", "b", "d", "a")
    with pytest.raises(InvalidRequestError):
        read_regions({"a": ["a"]})


EPOCH = datetime(1, 1, 1, tzinfo=UTC)


@given(st.datetimes(timezones=st.just(UTC)), st.integers(-1439, 1439))
def test_time_is_read_as_the_standard_library(moment: datetime, offset: int) -> None:
    sign = "-" if offset < 0 else "+"
    local = moment.replace(tzinfo=None).isoformat(timespec="microseconds")
    text = f"{local}{sign}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    expected = (moment.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1) - offset * 60_000_000
    first_day = 86_400_000_000
    assert read_moment(text).start == read_moment(text).end == (expected + first_day) * 1000
    assert read_moment(text.replace("T", "t")) == read_moment(text)


@given(st.dates())
def test_a_date_covers_its_whole_day(day: object) -> None:
    whole = read_moment(str(day))
    assert whole.start == read_moment(f"{day}T00:00Z").start
    assert whole.end == read_moment(f"{day}T23:59:59.999999999Z").start + 1
    assert is_within(whole, whole, whole)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-12-24T09:30",
        "2026-12-24 09:30Z",
        "2026-12-24T24:00Z",
        "2026-12-24T09:60Z",
        "2026-12-24T09:30:60Z",
        "2026-12-24T09:30Z ",
        "2026-12-24T09:30+1:00",
        "2026-12-24T09:30+24:00",
        "2026-12-24T09:30:00.Z",
        "2026-12-24T09:30:00.1234567890Z",
        "2026-13-01",
        "0000-01-01",
        "26-12-24",
        "2026-12-24\n",
        "\u0662\u0660\u0662\u0666-12-24",
        20261224,
        None,
    ],
)
def test_what_is_no_time(text: object) -> None:
    assert [issue.path for issue in moment_issues(text, "/at")] == ["/at"]


ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(timezones=ZONES))
def test_moment_of_time_equals_what_is_written(time: datetime) -> None:
    try:
        utc = time.astimezone(UTC)
    except OverflowError:
        return
    if utc.year >= 1000:
        assert moment_of(time) == read_moment(written(time))
