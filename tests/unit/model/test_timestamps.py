"""Times as the wire writes them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st

from whyroute.model.timestamps import Moment, moment_of, present, read_moment, text_of


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-12-24", "2026-12-24"),
        ("2026-12-24T09:30Z", "2026-12-24T09:30:00Z"),
        ("2026-12-24T09:30:00.500+01:00", "2026-12-24T08:30:00.5Z"),
        ("2026-12-24T00:00:00.000000001Z", "2026-12-24T00:00:00.000000001Z"),
        ("0001-01-01T00:00:00+01:00", "0001-01-01T22:59:00+23:59"),
        ("9999-12-31T23:30:00-01:00", "9999-12-31T00:31:00-23:59"),
    ],
)
def test_a_time_is_written_in_one_way(text: str, written: str) -> None:
    assert text_of(read_moment(text)) == written
    assert read_moment(written) == read_moment(text)


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))])))
def test_what_is_written_reads_back(time: datetime) -> None:
    moment = read_moment(time.isoformat())
    assert read_moment(text_of(moment)) == moment


@given(st.dates())
def test_a_date_stays_a_date(day: object) -> None:
    assert text_of(read_moment(str(day))) == str(day)


def test_the_present_is_now() -> None:
    before, now, after = moment_of(datetime.now(UTC)), present(), moment_of(datetime.now(UTC))
    assert before <= now <= after
    assert isinstance(now, Moment)
