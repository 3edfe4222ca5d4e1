"""Times on the wire: a date, which covers its whole UTC day, or a date and time with its zone (RFC 3339)."""

import re
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from time import time
from typing import Any, Final, NamedTuple

from ..basics.issues import Issue, shown

__all__ = [
    "MOMENT_PATTERN",
    "Moment",
    "is_within",
    "moment_issues",
    "moment_of",
    "present",
    "read_moment",
    "text_of",
    "to_datetime",
    "written",
]

_NANOSECOND = 1
_SECOND = 1_000_000_000 * _NANOSECOND
_DAY = 86_400 * _SECOND
_EPOCH = date(1970, 1, 1).toordinal() * _DAY

_MOMENT = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.](\d{1,9}))?)?(?:[Zz]|([+-])(\d{2}):(\d{2})))?", re.ASCII
)

_DATE = (
    r"(?!0000)([0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|[0-9]{4}-(0[13-9]|1[0-2])-(29|30)"
    r"|[0-9]{4}-(0[13578]|1[02])-31|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)"
)
_CLOCK = r"([01][0-9]|2[0-3]):[0-5][0-9]"
MOMENT_PATTERN: Final = rf"^{_DATE}([Tt]{_CLOCK}(:[0-5][0-9]([.][0-9]{{1,9}})?)?([Zz]|[+-]{_CLOCK}))?$"
"""The times that there are, as a JSON Schema says it: the days that each month has, leap years, no leap second."""


class Moment(NamedTuple):
    """A time, in nanoseconds since the first day of year 1.

    Attributes:
        start: The instant itself; of a date, the start of its UTC day.
        end: The instant itself; of a date, the start of the next day.
    """

    start: int
    end: int


def read_moment(text: str) -> Moment:
    """Read a date, or a date and time with its zone.

    Raises:
        ValueError: It is neither.
    """
    match = _MOMENT.fullmatch(text)
    if match is None:
        raise ValueError("no time")
    day, hour, minute, second, fraction, sign, offset_hours, offset_minutes = match.groups()
    start = date.fromisoformat(day).toordinal() * _DAY
    if hour is None:
        return Moment(start, start + _DAY)
    parts = [int(part or 0) for part in (hour, minute, second, offset_hours, offset_minutes)]
    if any(part > most for part, most in zip(parts, (23, 59, 59, 23, 59), strict=True)):
        raise ValueError("no time of a day")
    offset = (parts[3] * 3600 + parts[4] * 60) * (-1 if sign == "-" else 1)
    instant = start + (parts[0] * 3600 + parts[1] * 60 + parts[2] - offset) * _SECOND
    instant += int((fraction or "").ljust(9, "0"))
    return Moment(instant, instant)


def moment_of(time: datetime) -> Moment:
    """A time with its zone, to the second: as `written` says it."""
    utc = time.astimezone(UTC)
    seconds = utc.hour * 3600 + utc.minute * 60 + utc.second
    instant = utc.toordinal() * _DAY + seconds * _SECOND
    return Moment(instant, instant)


def present() -> Moment:
    """The present, to the second."""
    instant = _EPOCH + int(time()) * _SECOND
    return Moment(instant, instant)


def to_datetime(instant: int) -> datetime:
    """An instant in nanoseconds since the first day of year 1, as a datetime in UTC, to the microsecond above."""
    start = datetime.min.replace(tzinfo=UTC)
    return start + timedelta(days=-1, microseconds=-(-instant // 1000))


def is_within(at: Moment, since: Moment | None, until: Moment | None) -> bool:
    """Whether a time is in a period: from `since` on, up to the end of the day `until`, or up to that instant.

    A time that is a date counts as the start of its day.
    """
    return (since is None or since.start <= at.start) and (until is None or at.start < until.end)


def moment_issues(value: Any, path: str) -> list[Issue]:
    """What is wrong with a time on the wire."""
    if isinstance(value, str):
        try:
            read_moment(value)
        except ValueError:
            if (message := _near_miss(value)) is not None:
                return [Issue(path, message)]
        else:
            return []
    message = f"{shown(value)} is no time; write `2026-12-24`, or `2026-12-24T09:30:00Z` with its zone"
    return [Issue(path, message, Issue.VALUE, value=value)]


def _near_miss(text: str) -> str | None:
    """What is wrong with a text that is almost a time."""
    if _LOCAL.fullmatch(text) and _is_time(f"{text}Z"):
        return f"{shown(text)} has no zone; write {shown(text + 'Z')} for UTC, or its offset, such as `+01:00`"
    match = _DAY_OF_MONTH.match(text)
    if match is None:
        return None
    year, month, day = (int(part) for part in match.groups())
    if year < 1 or not 1 <= month <= 12 or not 29 <= day <= 31:
        return None
    days = monthrange(year, month)[1]
    if day <= days:
        return None
    return f"{shown(text)} is no time: {_MONTHS[month - 1]} {match[1]} has {days} days"


def _is_time(text: str) -> bool:
    try:
        read_moment(text)
    except ValueError:
        return False
    return True


_LOCAL = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}(?::\d{2}(?:[.]\d{1,9})?)?", re.ASCII)
_DAY_OF_MONTH = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?![0-9])", re.ASCII)
# Not those of the calendar module: they follow the locale.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def given_time(at: datetime | str | None, now: datetime | str | None) -> datetime | str | None:
    """The time among two arguments, of which the second is the older name of the first.

    Raises:
        TypeError: Both are given.
    """
    if at is not None and now is not None:
        raise TypeError("`at` and `now` are one time; give `at`")
    return now if at is None else at


def text_of(moment: Moment) -> str:
    """A time as the wire has it: the date where it is one, else in UTC, with as many digits of a second as it has."""
    days, rest = divmod(moment.start, _DAY)
    if moment.end - moment.start == _DAY:
        return date.fromordinal(days).isoformat()
    zone = "Z"
    if days < 1:  # before the year 1 in UTC, which only a zone east of it can write
        days, rest, zone = _shifted(moment.start + _ZONE, "+")
    elif days > date.max.toordinal():
        days, rest, zone = _shifted(moment.start - _ZONE, "-")
    seconds, fraction = divmod(rest, _SECOND)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    digits = f".{fraction:09}".rstrip("0").rstrip(".")
    return f"{date.fromordinal(days).isoformat()}T{clock}{digits}{zone}"


_ZONE: Final = (23 * 3600 + 59 * 60) * _SECOND


def _shifted(local: int, sign: str) -> tuple[int, int, str]:
    return (*divmod(local, _DAY), f"{sign}23:59")


def written(moment: datetime) -> str:
    """A time as the wire has it, to the second, in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
