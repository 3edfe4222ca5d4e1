"""Waivers that have ended, soon will, or never do."""

from collections.abc import Iterator
from typing import Final

from ...basics.issues import shown
from ...documents.phrases import counted
from ...model.timestamps import is_within, read_moment
from .findings import Finding, found
from .survey import Survey

__all__ = ["ending_waivers"]

_DAY: Final = 86_400_000_000_000
"""Nanoseconds."""

SOON: Final = 30
"""Days."""


def ending_waivers(survey: Survey) -> Iterator[Finding]:
    """Waivers that do nothing any more, those that will do nothing in a month, and those that say no end."""
    for waiver in survey.pack.waivers.values():
        name, rule = shown(waiver.value.name), shown(waiver.value.rule)
        if waiver.value.until is None:
            message = f"waiver {name} has no `until`: {rule} is lifted for {shown(waiver.value.tenant)} for good"
            yield found("endless-waiver", waiver.piece.value("name"), message)
            continue
        until = read_moment(waiver.value.until)
        place = waiver.piece.value("until")
        if not is_within(survey.now, None, until):
            message = (
                f"waiver {name} has ended: {rule} holds for {shown(waiver.value.tenant)} again; take it out or renew it"
            )
            yield found("expired-waiver", place, message)
        elif until.end - survey.now.start <= SOON * _DAY:
            days = (until.end - survey.now.start) // _DAY
            left = "in less than a day" if days == 0 else f"in {counted(days, 'day')}"
            message = f"waiver {name} ends {left}; from then on {rule} holds for {shown(waiver.value.tenant)}"
            yield found("expiring-waiver", place, message)
