"""Rules that prefer, held against the pack's candidates: whether anybody is preferred."""

from collections.abc import Iterator

from ...basics.issues import quoted, shown
from ...constraints.three_valued import PRICE_OF_CALL
from .findings import Finding, found
from .survey import Survey

__all__ = ["idle_preferences"]

_NAMED_AT_MOST = 3


def idle_preferences(survey: Survey, explained: frozenset[str]) -> Iterator[Finding]:
    """Rules that prefer none of the candidates that their tenants see, whatever the call.

    Args:
        survey: The pack.
        explained: The rules that other findings say enough about.
    """
    for name, entry in survey.entries.items():
        if entry.rule.effect != "prefer" or name in explained:
            continue
        view = 0
        for group in survey.groups_of_rule[name]:
            view |= group.view
        calls = survey.calls_of(name, entry.fields)
        if not view or any(view & survey.preferred(entry, call) for call in calls):
            continue
        rule = survey.pack.rules[name]
        if PRICE_OF_CALL in entry.fields and list(calls) == [None]:
            without = [each.name for each in calls[None]]
            why = f"; {quoted(without, limit=_NAMED_AT_MOST)} has no `tokens`" if without else ""
            message = f"rule {shown(name)} prefers no candidate, because the price of a call is not known{why}"
        elif entry.rule.order is not None:
            field = shown(entry.rule.order.field)
            message = f"rule {shown(name)} orders by {field}, which none of the candidates that its tenants see has"
        else:
            message = f"rule {shown(name)} prefers none of the candidates that its tenants see"
        yield found("idle-preference", rule.place("prefer"), message)
