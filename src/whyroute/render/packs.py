"""Text about rule packs: what keeps one from being loaded, and the policy in force for a tenant."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..basics.numbers import ecmascript
from ..constraints.named import Origin
from ..documents.phrases import counted
from ..model.timestamps import read_moment
from ..packs import PackError, Place, PolicyInForce, Problem
from .flow import flow
from .lines import Line, Unbroken, printable

__all__ = ["pack_error_lines", "policy_document", "policy_lines", "source_lines"]

_WIDTH = 100  # of a source line that is shown


def pack_error_lines(error: PackError) -> Iterator[Line]:
    """All problems of a pack: where each is, what is wrong, and the line with a caret under the place."""
    yield (("error: ", "bold red"), (f"the pack has {counted(len(error.problems), 'problem')}", ""))
    for problem in error.problems:
        yield from _problem_lines(problem)


def _problem_lines(problem: Problem) -> Iterator[Line]:
    yield ((printable(str(problem.place)), "cyan"), (f": {printable(problem.message)}", ""))
    yield from source_lines(problem.place)
    for place in problem.also:
        yield ((f"  {printable(str(place))}", "cyan"), (": here", "dim"))
        yield from source_lines(place)


def source_lines(place: Place, indent: str = "  ") -> Iterator[Line]:
    """The line of a place, with a caret under it; nothing where there is no line, or an empty one."""
    if place.line is None or place.column is None or not place.source.strip():
        return
    source = place.source.replace("\t", " ")
    start = max(0, place.column - 1 - _WIDTH * 2 // 3) if len(source) > _WIDTH else 0
    shown = source[start : start + _WIDTH]
    before = printable(shown[: place.column - 1 - start])
    dots = "..." if start else ""
    end = "..." if start + _WIDTH < len(source) else ""
    gutter = f"{indent}{place.line} | "
    yield Unbroken(((gutter, "dim"), (dots + printable(shown) + end, "")))
    yield Unbroken(((" " * (len(gutter) - 2) + "| ", "dim"), (" " * (len(dots) + _cells(before)) + "^", "bold red")))


def _cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)


_CLAUSES: Mapping[str, tuple[str, str]] = {
    "policy/providers/deny": ("providers.deny", "provider ids that may not serve"),
    "policy/providers/allow": ("providers.allow", "only these provider ids may serve"),
    "policy/models/deny": ("models.deny", "model names that may not serve"),
    "policy/models/allow": ("models.allow", "only these model names may serve"),
    "policy/regionAllow": ("regionAllow", "the provider's region is one of these"),
    "policy/maxCostPerCallUsd": (
        "maxCostPerCallUsd",
        "at most this many USD for 1,000 prompt tokens, in spite of its name; the price of a call is callUsd",
    ),
    "policy/maxTokensPerCall": (
        "maxTokensPerCall",
        "a floor, not a cap: the model's context window holds at least this many tokens",
    ),
}
"""Each clause as it is written, and what it compares."""


def policy_document(policy: PolicyInForce, at: str) -> dict[str, Any]:
    """The policy of a tenant as JSON, everything with where it comes from.

    Args:
        policy: The policy.
        at: A time as on the wire, which decides about rules and waivers with dates.
    """
    values = _clause_values(policy)
    return {
        "tenantId": policy.tenant,
        "at": at,
        "parts": [{"name": part.name, **part.origin.to_dict()} for part in policy.parts],
        "tenantPolicy": policy.clauses.to_dict(),
        "clauses": [
            {
                "constraint": constraint,
                "value": values[constraint],
                "compares": meaning,
                **({"contact": policy.contacts[constraint]} if constraint in policy.contacts else {}),
                "origins": [each.to_dict() for each in policy.origins[constraint]],
            }
            for constraint, (_, meaning) in _CLAUSES.items()
            if constraint in policy.origins
        ],
        "rules": [
            {
                **each.rule.value.to_dict(),
                "inForce": each.rule.value.is_in_force(at),
                "origins": [each.rule.origin.to_dict()],
                "attached": [origin.to_dict() for origin in each.attached],
            }
            for each in policy.rules
        ],
        "waivers": [
            {
                **waiver.value.to_dict(),
                "inForce": waiver.value.is_in_force(at),
                "origins": [waiver.origin.to_dict()],
            }
            for waiver in policy.waivers
        ],
    }


def policy_lines(policy: PolicyInForce, at: str) -> Iterator[Line]:
    """The policy of a tenant, everything with where it comes from, and what of it is in force.

    Args:
        policy: The policy.
        at: A time as on the wire, which decides about rules and waivers with dates.
    """
    yield ("tenant ", "dim"), (printable(policy.tenant), "bold"), (f"  at {at}", "dim")
    parts = [printable(part.name) for part in policy.parts[:-1]]
    yield ("  combined from  ", "dim"), (", ".join([*parts, "its own"]), "")
    yield (("clauses", "bold"),)
    values = _clause_values(policy)
    for constraint, (written, meaning) in _CLAUSES.items():
        if constraint in policy.origins:
            yield (f"  {written}", "cyan"), (f"  {_shown(values[constraint])}", "")
            yield ((f"      {meaning}", "dim"),)
            yield from _from(policy.origins[constraint], policy.contacts.get(constraint))
    if not any(constraint in policy.origins for constraint in _CLAUSES):
        yield (("  none", ""),)
    yield (("rules", "bold"),)
    for each in policy.rules:
        rule = each.rule.value
        document = rule.to_dict()
        marks = "".join(
            f"  {mark}"
            for mark, given in (
                (_period(rule.from_, rule.until, at), not rule.is_in_force(at)),
                ("shadow: it rejects no candidate", rule.shadow),
                ("waivable", rule.waivable),
            )
            if given
        )
        yield (
            (f"  {printable(rule.name)}", "cyan"),
            (f"  {rule.effect} {flow(document[rule.effect])}", ""),
            (f"  weight {ecmascript(rule.weight)}" if rule.weight is not None else "", ""),
            (_dates(rule.from_, rule.until), ""),
            (marks, "yellow"),
        )
        if "when" in document:
            yield ((f"      when {flow(document['when'])}", ""),)
        yield ((f"      {printable(rule.because)}", ""),)
        yield from _from([each.rule.origin, *each.attached], rule.owner)
    if not policy.rules:
        yield (("  none", ""),)
    if policy.waivers:
        yield (("waivers", "bold"),)
    for waiver in policy.waivers:
        value = waiver.value
        yield (
            (f"  {printable(value.name)}", "cyan"),
            (f"  of {printable(value.rule)} for {flow(value.to_dict()['admits'])}{_dates(None, value.until)}", ""),
            ("" if value.is_in_force(at) else "  ended: it does nothing", "yellow"),
            ("  no end" if value.until is None else "", "yellow"),
        )
        yield ((f"      {printable(value.because)}", ""),)
        yield from _from([waiver.origin], value.owner)


def _clause_values(policy: PolicyInForce) -> dict[str, Any]:
    document = policy.clauses.to_dict()
    found: dict[str, Any] = {}
    for constraint in _CLAUSES:
        value: Any = document
        for key in constraint.split("/")[1:]:
            value = value.get(key) if isinstance(value, dict) else None
        found[constraint] = value
    return found


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(printable(name) for name in value) or "none"
    return ecmascript(value)


def _period(since: str | None, until: str | None, at: str) -> str:
    """Why a rule with dates is not in force at a time."""
    if since is not None and read_moment(at).start < read_moment(since).start:
        return "not in force yet"
    return "ended" if until is not None else ""


def _dates(since: str | None, until: str | None) -> str:
    return (f"  from {since}" if since else "") + (f"  until {until}" if until else "")


def _from(origins: Iterable[Origin], contact: str | None) -> Iterator[Line]:
    places = [f"{each.file}:{each.line}:{each.column}" for each in origins]
    ask = f"  ask {printable(contact)}" if contact else ""
    yield (("      " + printable(", ".join(places)) + ask, "dim"),)
