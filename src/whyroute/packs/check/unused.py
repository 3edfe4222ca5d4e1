"""Rules and named conditions that nothing has a use for."""

from collections.abc import Iterator

from ...basics.issues import quoted, shown
from ...model.condition import named_in, read_condition
from ..source.problems import Place
from .findings import Finding, found
from .survey import Survey

__all__ = ["unused_conditions", "unused_rules"]


def unused_rules(survey: Survey) -> Iterator[Finding]:
    """Rules that hold for no tenant."""
    naming: dict[str, list[Place]] = {}
    for policy in survey.pack.policies.values():
        for index, name in enumerate(policy.value.rules):
            naming.setdefault(name, []).append(policy.place("rules", index))
    for name, rule in survey.pack.rules.items():
        if not survey.groups_of_rule[name]:
            places = naming.get(name, [])
            what = "only policies that hold for no tenant have it" if places else "no policy and no tenant has it"
            yield found(
                "unused-rule", rule.piece.value("name"), f"rule {shown(name)} holds for no tenant: {what}", places
            )


def unused_conditions(survey: Survey) -> Iterator[Finding]:
    """Named conditions that no rule, no waiver and no test leads to."""
    nodes = survey.nodes
    unused = dict.fromkeys(nodes)
    for name in _asked_for(survey):
        waiting = [name]
        while waiting:
            each = waiting.pop()
            if each in unused:
                del unused[each]
                waiting += named_in(nodes[each])
        if not unused:
            return
    naming: dict[str, list[str]] = {}
    for name in unused:
        for each in named_in(nodes[name]):
            naming.setdefault(each, []).append(name)
    for name in unused:
        others = list(dict.fromkeys(naming.get(name, ())))
        what = "no rule, no waiver and no test asks for it"
        if others:
            one = len(others) == 1
            verbs = ("is", "asks") if one else ("are", "ask")
            what = f"only {quoted(others)}, which {verbs[0]} not used either, {verbs[1]} for it"
        conditions = survey.pack.conditions
        also = [conditions[each].piece.place for each in others]
        yield found(
            "unused-condition", conditions[name].piece.place, f"condition {shown(name)} is not used: {what}", also
        )


def _asked_for(survey: Survey) -> Iterator[str]:
    """The names of conditions that answers depend on, or tests; tests come last, for there may be many."""
    pack = survey.pack
    for rule in pack.rules.values():
        if rule.value.condition is not None:
            yield from named_in(rule.value.condition.node)
    for waiver in pack.waivers.values():
        yield from named_in(waiver.value.admits.node)
    seen: set[str] = set()
    for test in pack.tests.values():
        every = test.value.expect.every
        text = "" if every is None else repr(every)  # many tests say the same
        if every is not None and text not in seen:
            seen.add(text)
            yield from named_in(read_condition(every).node)
