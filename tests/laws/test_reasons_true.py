"""The reason of a decision is true of all constraints: what it counts is what each constraint admits, one by one."""

import re
from typing import Any

from hypothesis import given, settings

import bundle_strategies
import rule_strategies
import strategies
import whyroute as wr
from whyroute.bundles.bundle import Bundle
from whyroute.wire.request import read_bundle_request, read_request

Json = dict[str, Any]

NUMBERS = {"the one": 1, "both": 2}
MET = re.compile(
    r"^`[^`]*` / `[^`]*` (?:meets (?P<met>.*?)|is of the kind asked for, `[^`]*`)"
    r"(?P<falls>; it is a fallback: no regular candidate qualifies)?"
    r"; (?:it is the only (?P<only>candidate that qualifies|fallback that qualifies|regular candidate)"
    r"|of (?P<count>\d+) (?P<kind>candidates|fallbacks|regular candidates) that qualify it )"
)
ALSO = re.compile(r"; (?P<count>\d+) fallbacks? (?:qualifies|qualify) too")
NEEDS = re.compile(r"(?:all (?P<many>\d+)|(?P<few>the one|both)) needs?")
RULES = re.compile(r"(?P<count>\d+) rules?$")


def counted(part: str, pattern: re.Pattern[str]) -> int:
    """The number that a part of a reason says; 0 where it says none."""
    found = pattern.search(part)
    if found is None:
        return 0
    number = found.groupdict()
    return NUMBERS[number["few"]] if number.get("few") else int(number.get("many") or number["count"])


def check(request: Json) -> None:
    solved = read_request(request).solve()
    candidates = list(solved.catalog.candidates())
    qualify = [each for each in candidates if all(one.admits(each) for one in solved.constraints)]
    regular = [each for each in qualify if not each.metadata.fallback]
    try:
        decision = wr.answer(request)["decision"]
    except KeyError:
        assert not qualify
        return
    reason: str = decision["reason"]
    told = MET.match(reason)
    assert told is not None, reason
    met = told["met"] or ""
    assert counted(met, NEEDS) == len(request["capability"].get("needs", []))
    assert ("the policy of tenant" in met) == ("tenantPolicy" in request)
    assert counted(met, RULES) == sum(each.owner == "rule" for each in solved.constraints)
    assert (told["falls"] is not None) == decision["fallback"] == (not regular)
    among = regular or qualify
    assert int(told["count"] or 1) == len(among)
    kind = (told["kind"] or told["only"]).removesuffix(" that qualifies").removesuffix("s")
    also = ALSO.search(reason)
    left_over = len(qualify) - len(regular) if regular else 0
    assert kind == ("fallback" if not regular else "regular candidate" if left_over else "candidate")
    assert (0 if also is None else int(also["count"])) == left_over


@settings(max_examples=300)
@given(rule_strategies.requests())
def test_reasons_count_constraints_and_candidates_under_rules(request: Json) -> None:
    check(request)


@settings(max_examples=200)
@given(strategies.requests())
def test_reasons_count_constraints_and_candidates(request: Json) -> None:
    check(request)


@settings(max_examples=200)
@given(bundle_strategies.bundles())
def test_reasons_of_bundles_count_constraints(request: Json) -> None:
    read = read_bundle_request(request)
    solved = read.solve()
    outcome = read.outcome(solved)
    if not isinstance(outcome, Bundle):
        return
    told = re.match(
        r"the picks meet what (?:the one slot asks|(?P<few>both) slots ask|all (?P<many>\d+) slots ask) for"
        r"(?P<policy>,? ?(?:and )?the policy of tenant `[^`]*`)?(?:(?:,| and) (?P<rules>\d+) rules?)?"
        r"(?:(?:,| and) (?P<ties>the tie|both ties|all \d+ ties) between them)?;",
        outcome.reason,
    )
    assert told is not None, outcome.reason
    assert int(told["many"] or (2 if told["few"] else 1)) == len(request["slots"])
    assert (told["policy"] is not None) == ("tenantPolicy" in request)
    rules = {each.id for slot in solved.slots for each in slot.constraints if each.owner == "rule"}
    assert int(told["rules"] or 0) == len(rules)
    ties = {None: 0, "the tie": 1, "both ties": 2}
    assert ties.get(told["ties"], 3) == len(request["together"])
    for slot, pick in zip(solved.slots, outcome.picks.values(), strict=True):
        assert all(each.admits(pick) for each in slot.constraints)


PROVIDER = {"id": "p", "region": "eu", "transport": "native", "displayName": "p", "capabilityKind": "llm-inference"}
COST = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}


def providers(*given: tuple[str, bool]) -> list[Json]:
    """Providers by id, each a fallback or not, with one model."""
    model = {"name": "m", "contextWindow": 1, "features": ["vision"], "cost": COST}
    return [{**PROVIDER, "id": name, "fallback": fallback, "models": [model]} for name, fallback in given]


RULE = {"name": "not-b", "because": "contract", "forbid": {"provider": "b"}}


def reason(**request: Any) -> str:
    asked = {"capability": {"needs": [{"feature": "vision"}]}, "tenantPolicy": {"tenantId": "X"}, **request}
    found: str = wr.answer(asked)["decision"]["reason"]
    return found


def test_reason_names_rules_that_leave_one_candidate() -> None:
    rules = [RULE, {**RULE, "name": "not-c", "forbid": {"provider": "c"}}]
    assert reason(providers=providers(("a", False), ("b", False)), rules=rules) == (
        "`a` / `m` meets the one need, the policy of tenant `X` and 2 rules; it is the only candidate that qualifies"
    )


def test_a_reason_counts_the_fallbacks_that_qualify_too() -> None:
    assert reason(providers=providers(("a", False), ("f", True))) == (
        "`a` / `m` meets the one need and the policy of tenant `X`; "
        "it is the only regular candidate; 1 fallback qualifies too"
    )
    assert reason(providers=providers(("a", False), ("b", False), ("f", True), ("g", True))) == (
        "`a` / `m` meets the one need and the policy of tenant `X`; of 2 regular candidates that qualify it comes "
        "first: provider ids are compared to break the tie; 2 fallbacks qualify too"
    )


def test_reason_says_when_only_fallback_is_left() -> None:
    assert reason(providers=providers(("b", False), ("f", True)), rules=[RULE]) == (
        "`f` / `m` meets the one need, the policy of tenant `X` and 1 rule; it is a fallback: no regular candidate "
        "qualifies; it is the only fallback that qualifies"
    )
