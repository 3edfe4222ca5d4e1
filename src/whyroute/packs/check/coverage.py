"""Rules and tenants that no test of the pack is about."""

from collections.abc import Iterator
from contextlib import suppress

from ...basics.issues import shown
from ...constraints.rulebook import RequestFacts
from ...errors import WhyrouteError
from ...model.capability import read_capability
from ...model.timestamps import is_within, read_moment
from ..load.models import PackTest
from ..load.pack import Pack, chosen
from .findings import Finding, found
from .survey import Survey

__all__ = ["untested"]


def untested(survey: Survey, explained: frozenset[str]) -> Iterator[Finding]:
    """Tenants that no test names, and rules that apply in none; a pack without tests is told once for each.

    Args:
        survey: The pack.
        explained: The rules that other findings say enough about.
    """
    pack = survey.pack
    tenants: set[str] = set()
    rules: set[str] = set()
    waiting = set(pack.rules)
    group_of = {tenant: number for number, group in enumerate(survey.groups) for tenant in group.tenants}
    rules_of = [frozenset(group.rules) for group in survey.groups]
    for test in pack.tests.values():
        of_test = set(chosen(test.value.tenant, pack.tenants))
        tenants |= of_test
        if waiting and of_test:
            numbers = {group_of[each] for each in of_test}
            held = frozenset(name for number in numbers for name in rules_of[number] & waiting)
            applied = _applied(survey, test.value, held)
            rules |= applied
            waiting -= applied
    if not pack.tests:
        yield from _no_test(survey)
        return
    for name, tenant in pack.tenants.items():
        if name not in tenants:
            yield found("untested-tenant", tenant.piece.value("tenantId"), f"no test is about tenant {shown(name)}")
    for name, rule in pack.rules.items():
        if name not in rules and name not in explained and survey.groups_of_rule[name]:
            yield found("untested-rule", rule.piece.value("name"), f"rule {shown(name)} applies in no test")


def _no_test(survey: Survey) -> Iterator[Finding]:
    pack = survey.pack
    held = [rule for name, rule in pack.rules.items() if survey.groups_of_rule[name]]
    for name, entries, key in (("tenant", list(pack.tenants.values()), "tenantId"), ("rule", held, "name")):
        if entries:
            count = len(entries)
            which = f"its {name} is" if count == 1 else f"its {count} {name}s are"
            yield found(f"untested-{name}", entries[0].piece.value(key), f"the pack has no tests: {which} untested")


def _applied(survey: Survey, test: PackTest, held: frozenset[str]) -> set[str]:
    """Those of some rules that apply to a request of a test."""
    tenant = next(iter(survey.pack.tenants))  # any of them: what a request says of itself doesn't depend on whose it is
    at = survey.now if test.at is None else read_moment(test.at)
    waiting = {name for name in held if is_within(at, survey.entries[name].since, survey.entries[name].until)}
    applied: set[str] = set()
    for facts in _requests(survey.pack, tenant, test):
        applied |= {name for name in waiting - applied if survey.entries[name].applies(facts)}
        if len(applied) == len(waiting):
            break
    return applied


def _requests(pack: Pack, tenant: str, test: PackTest) -> Iterator[RequestFacts]:
    """What a test asks for: each capability, or each slot of its bundle."""
    given, operator = pack.split_labels(test.labels)
    if test.bundle is not None:
        with suppress(WhyrouteError):  # `whyroute test` tells what is wrong with it
            bundle = pack.resolve_bundle(tenant, test.bundle, labels=given, operator_labels=operator)
            for slot in bundle.slots.values():
                asked = read_capability(slot["capability"])
                yield RequestFacts.of(asked, slot.get("capabilityName"), slot.get("labels", {}))
        return
    names = test.capability
    for each in chosen(names, pack.capabilities) if isinstance(names, str | tuple) else (names or {},):
        with suppress(WhyrouteError):
            resolved = pack.resolve(tenant, each, labels=given, operator_labels=operator)
            yield RequestFacts.of(resolved.capability, resolved.name, resolved.labels)
