"""What is said of a bundle that nothing serves is true of the table it stands over."""

import re
from typing import Any

import pytest
from hypothesis import given, settings

import bundle_strategies
from whyroute.bundles.explanation import BundleExplanation
from whyroute.bundles.sentences import further_clash
from whyroute.errors import BundleUnsatisfiableError
from whyroute.solving.joint import JointConstraint
from whyroute.wire.request import read_bundle_request

Json = dict[str, Any]

IN_SLOT = re.compile(r"in slot `(?P<slot>[^`]*)`, ")
ADMITS_NONE = re.compile(r"admits? none of (?:the (?P<one>one) candidate|(?P<count>\d+) candidates)")


def explained(request: Json) -> BundleExplanation | None:
    """The explanation of a bundle that nothing serves; None of one that something does."""
    read = read_bundle_request(request)
    solved = read.solve()
    outcome = read.outcome(solved)
    return read.explanation(solved) if isinstance(outcome, BundleUnsatisfiableError) else None


def admitted(explanation: BundleExplanation, core: tuple[JointConstraint, ...], slot: str) -> list[str]:
    """The candidates that every constraint of a core admits in a slot, asked one by one."""
    place = explanation.solved.names.index(slot)
    named = [constraint.named[place] for constraint in core if place in constraint.named]
    return [each.id for each in explanation.catalog.candidates() if all(one.admits(each) for one in named)]


def check(explanation: BundleExplanation, core: tuple[JointConstraint, ...], sentence: str) -> None:
    """A sentence names a slot exactly where no tie is needed for the clash, and leaves no candidate there."""
    found = IN_SLOT.match(sentence)
    if any(constraint.tie is not None for constraint in core):
        assert found is None
        return
    assert found is not None, sentence
    assert admitted(explanation, core, found["slot"]) == []
    for other in explanation.solved.names[: explanation.solved.names.index(found["slot"])]:
        assert admitted(explanation, core, other) != [], "an earlier slot has none either, and comes first"
    if (none := ADMITS_NONE.search(sentence)) is not None:
        assert int(none["count"] or 1) == explanation.catalog.size
        assert len(core) == 1


@settings(max_examples=300)
@given(bundle_strategies.bundles())
def test_headlines_name_the_slot_that_has_no_candidate(request: Json) -> None:
    explanation = explained(request)
    if explanation is None or not explanation.core:
        return
    check(explanation, explanation.core, explanation.clash)
    for core in explanation.cores:
        check(explanation, core, further_clash(explanation.solved, core))


RULE = {"name": "ceiling", "because": "budget", "require": {"callUsd": {"lte": 0.05}}}
COST = {"promptUsdPer1kTokens": 0.001, "completionUsdPer1kTokens": 0.001}
MODEL = {"name": "m", "contextWindow": 1000, "features": [], "cost": COST}
PLANNER = {"capability": {"needs": []}, "tokens": {"prompt": 1, "completion": 1}}
JUDGE: Json = {"capability": {"needs": []}}


@pytest.mark.parametrize("slots", [{"planner": PLANNER, "judge": JUDGE}, {"judge": JUDGE, "planner": PLANNER}])
def test_rule_that_stops_one_slot_names_it(slots: Json) -> None:
    providers = [{"id": "p", "region": "r", "models": [MODEL]}]
    explanation = explained({"slots": slots, "providers": providers, "rules": [RULE]})
    assert explanation is not None
    assert explanation.clash.startswith("in slot `judge`, rule `ceiling` admits none of ")
