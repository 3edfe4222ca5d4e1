"""Rules held against the pack's candidates: which they reject, and whether that makes a difference."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ...basics.issues import quoted, shown
from ...constraints.rulebook import Entry
from ...constraints.three_valued import Compiled, observed_value
from .findings import Finding, found
from .survey import Group, Survey

__all__ = ["Verdict", "idle_and_blanket_rules", "redundant_rules", "unknown_facts", "verdicts"]

_NAMED_AT_MOST: Final = 3
_LOOKED_AT: Final = 32

Guard = tuple[object, ...]
"""When a rule applies; rules of the same guard apply to the same requests."""

_ALWAYS: Final[Guard] = (None, None, None)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rule rejects of the candidates that its tenants see, whatever the call costs.

    Attributes:
        never: It rejects no candidate, whatever the call.
        always: It rejects everybody, whatever the call and the tenant.
    """

    never: bool
    always: bool


def verdicts(survey: Survey) -> dict[str, Verdict]:
    """Of every rule that requires or forbids and holds for a tenant that sees anything: what it rejects."""
    found_verdicts: dict[str, Verdict] = {}
    for name, entry, condition in survey.rejecting():
        views = [group.view for group in survey.groups_of_rule[name] if group.view]
        if views:
            admitted = [survey.admitted(entry, condition, call) for call in survey.calls_of(name, condition.fields)]
            found_verdicts[name] = Verdict(
                all(not view & ~each for each in admitted for view in views),
                not any(view & each for each in admitted for view in views),
            )
    return found_verdicts


def idle_and_blanket_rules(
    survey: Survey, judged: Mapping[str, Verdict], explained: frozenset[str]
) -> Iterator[Finding]:
    """Rules that reject no candidate, and rules that reject all.

    Args:
        survey: The pack.
        judged: What the rules reject.
        explained: The rules that other findings say enough about.
    """
    for name, verdict in judged.items():
        if name in explained:
            continue
        rule = survey.pack.rules[name]
        place = rule.place(rule.value.effect)
        if verdict.never:
            yield found("idle-rule", place, f"rule {shown(name)} rejects none of the candidates that its tenants see")
        elif verdict.always:
            yield found("blanket-rule", place, f"rule {shown(name)} rejects every candidate that its tenants see")


def unknown_facts(survey: Survey) -> Iterator[Finding]:
    """Candidates that a rule rejects only because a fact about them is unknown."""
    for name, entry, condition in survey.rejecting():
        view = survey.view_of_rule(name) if survey.groups_of_rule[name] else 0
        lifted = _lifted(survey, entry)
        for call, capabilities in survey.calls_of(name, condition.fields).items():
            known = survey.known(condition, call)
            undecided = view & ~(known.yes | known.no | lifted)
            if not undecided:
                continue
            rule = survey.pack.rules[name]
            place = rule.place(rule.value.effect)
            if call is None and "callUsd" in condition.fields:
                names = [each.name for each in capabilities]
                without = f"; {quoted(names, limit=_NAMED_AT_MOST)} has no `tokens`" if names else ""
                message = f"rule {shown(name)} rejects candidates because the price of a call is not known{without}"
                yield found(
                    "rejected-unknown", place, message, [each.place() for each in capabilities[:_NAMED_AT_MOST]]
                )
                continue
            lacking = _lacking(survey, condition, undecided)
            count = undecided.bit_count()
            who = "a candidate" if count == 1 else f"{count} candidates"
            whose = "its" if count == 1 else "their"
            message = f"rule {shown(name)} rejects {who} only because {whose} {quoted(lacking)} is unknown"
            also = [survey.place_of(number) for number, _, _ in survey.candidates(undecided, _NAMED_AT_MOST)]
            yield found("rejected-unknown", place, message, also)


def _lifted(survey: Survey, entry: Entry) -> int:
    members = 0
    for lift in entry.lifts:
        members |= survey.known(lift.admits).yes
    return members


def _lacking(survey: Survey, condition: Compiled, undecided: int) -> list[str]:
    """The fields that are unknown, and decide, of the first of some candidates."""
    lacking: dict[str, None] = {}
    for _, meta, model in survey.candidates(undecided, _LOOKED_AT):
        observed = {name: observed_value(name, meta, model, None) for name in condition.fields}
        for each in condition.deciding(observed, survey.regions):
            if observed[each.leaf.field] is None:
                lacking[each.leaf.field] = None
    return list(lacking)


@dataclass(slots=True)
class _Counter:
    """How many rules reject each candidate, as bit slices: slice k is the set of candidates whose count has bit k."""

    slices: list[int] = field(default_factory=list)

    def add(self, members: int) -> None:
        """One more for each of a set."""
        k = 0
        while members:
            if k == len(self.slices):
                self.slices.append(0)
            self.slices[k], members = self.slices[k] ^ members, self.slices[k] & members
            k += 1

    def remove(self, members: int) -> None:
        """One less for each of a set that was added."""
        k = 0
        while members:
            self.slices[k] ^= members
            members &= self.slices[k]
            k += 1

    def any(self) -> int:
        """Those with at least one."""
        found = 0
        for members in self.slices:
            found |= members
        return found


def redundant_rules(survey: Survey, judged: Mapping[str, Verdict]) -> Iterator[Finding]:
    """Rules whose every rejection another rule makes as well, whenever they apply and for whomever they hold.

    Of rules that make each other redundant, the last ones are told. Rules that reject no candidate or all are left
    out, on either side, and so are those that depend on what a call costs. Costs a few set operations per rule and
    group of tenants.
    """
    rejected: dict[str, int] = {}
    surely: dict[str, int] = {}
    guards: dict[str, Guard] = {}
    for name, entry, condition in survey.rejecting():
        verdict = judged.get(name)
        if verdict is None or verdict.never or verdict.always or "callUsd" in condition.fields:
            continue
        rejected[name] = survey.catalog.all() & ~survey.admitted(entry, condition)
        surely[name] = rejected[name] & ~_lifted(survey, entry)
        guards[name] = (entry.when and entry.when.node, entry.since, entry.until)
    counters: dict[tuple[tuple[str, ...], int], dict[Guard, _Counter]] = {}
    for group in survey.groups:
        of_group: dict[Guard, _Counter] = {}
        for name in group.rules:
            if name in surely and not survey.entries[name].rule.shadow:
                of_group.setdefault(guards[name], _Counter()).add(surely[name])
        counters[group.rules, group.view] = of_group
    dropped: set[str] = set()
    for name in reversed(list(rejected)):
        groups = survey.groups_of_rule[name]
        mine = [(group, counters[group.rules, group.view]) for group in groups]
        _take(mine, name, guards, surely, survey, back=False)
        if all(_covers(each, guards[name], rejected[name] & group.view) for group, each in mine):
            dropped.add(name)
        else:
            _take(mine, name, guards, surely, survey, back=True)
    for name in rejected:
        if name in dropped:
            yield _redundant(survey, name, rejected, surely, guards, dropped)


def _take(
    groups: list[tuple[Group, dict[Guard, _Counter]]],
    name: str,
    guards: Mapping[str, Guard],
    surely: Mapping[str, int],
    survey: Survey,
    *,
    back: bool,
) -> None:
    if survey.entries[name].rule.shadow:
        return
    for _, counters in groups:
        counter = counters[guards[name]]
        if back:
            counter.add(surely[name])
        else:
            counter.remove(surely[name])


def _covers(counters: Mapping[Guard, _Counter], guard: Guard, members: int) -> bool:
    """Whether rules that apply whenever those of a guard do reject all of a set."""
    for each in dict.fromkeys((_ALWAYS, guard)):
        if each in counters:
            members &= ~counters[each].any()
    return not members


def _redundant(
    survey: Survey,
    name: str,
    rejected: Mapping[str, int],
    surely: Mapping[str, int],
    guards: Mapping[str, Guard],
    dropped: set[str],
) -> Finding:
    """Tells which rules reject them all, by itself one of them if there is such a one."""
    rule = survey.pack.rules[name]
    groups = survey.groups_of_rule[name]
    view = survey.view_of_rule(name)
    members = rejected[name] & view
    common = [
        other
        for other in groups[0].rules
        if other in surely
        and other not in dropped
        and not survey.entries[other].rule.shadow
        and guards[other] in (_ALWAYS, guards[name])
    ]
    one = next(
        (
            other
            for other in common
            if not members & ~surely[other] and all(other in set(group.rules) for group in groups)
        ),
        None,
    )
    others = [one] if one is not None else [other for other in common if members & surely[other]]
    message = (
        f"rule {shown(name)} rejects no candidate that {quoted(others, limit=_NAMED_AT_MOST)} would not reject as well"
    )
    also = [survey.pack.rules[other].place(survey.pack.rules[other].value.effect) for other in others[:_NAMED_AT_MOST]]
    return found("redundant-rule", rule.place(rule.value.effect), message, also)
