"""The recorded cases, through every way in and on both engines."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

import naive
from cases import expected, lines
from house_style import broken_rules
from whyroute import (
    Capability,
    CapabilityUnsatisfiableError,
    Catalog,
    Decision,
    ProviderMetadata,
    TenantPolicy,
    answer,
    match,
    route,
)
from whyroute.engine.single import ENGINES, EngineName

T = TypeVar("T")
ROUTING = lines("routing.jsonl")
REPORTED = lines("reported.jsonl")

both_engines = pytest.mark.parametrize("engine", ENGINES)


def _with_matched(request: dict[str, Any]) -> dict[str, Any]:
    return {**request, "include": ["matched"]}


def _comparable(answered: dict[str, Any]) -> dict[str, Any]:
    """The contract's part of an answer, without the score, which the recorded answers lack."""
    found = naive.without_messages(answered)
    if "decision" in found:
        del found["decision"]["score"]
    return found


@both_engines
def test_answer(engine: EngineName) -> None:
    for case in ROUTING:
        answered = answer(_with_matched(case["input"]), engine=engine)
        assert _comparable(answered) == expected(case), case["id"]
        for reason in answered.get("error", {}).get("reasons", ()):
            for rejected in reason["rejectingProviders"]:
                message = rejected["reason"]["message"]
                # That of a set-up failure is written by whoever sets providers up.
                if rejected["reason"]["code"] != "provider-setup-failed":
                    assert broken_rules(message) == [], (case["id"], message)
        text = json.dumps(answered, allow_nan=False)
        assert json.loads(text) == answered, case["id"]


@both_engines
def test_the_score_is_the_naive_one(engine: EngineName) -> None:
    for case in ROUTING:
        decision = answer(case["input"], engine=engine).get("decision")
        if decision is not None:
            score = naive.answer(case["input"])["decision"]["score"]
            assert decision["score"] == naive.as_number(score), case["id"]
            assert broken_rules(decision["reason"]) == [], case["id"]


def _hints(request: dict[str, Any]) -> dict[str, Any]:
    names = {"preferredProvider": "preferred_provider", "preferredModel": "preferred_model"}
    return {names[key]: request[key] for key in names if key in request}


def _outcome(ask: Callable[..., T], *arguments: Any, **options: Any) -> T | CapabilityUnsatisfiableError:
    try:
        return ask(*arguments, **options)
    except CapabilityUnsatisfiableError as error:
        return error


@both_engines
def test_route_and_match(engine: EngineName) -> None:
    for case in ROUTING:
        request, wanted = case["input"], expected(case)
        capability = Capability.model_validate(request["capability"])
        policy = TenantPolicy.model_validate(request["tenantPolicy"]) if "tenantPolicy" in request else None
        catalog = Catalog(ProviderMetadata.model_validate(metadata) for metadata in request["providers"])
        options = {"policy": policy, "setup_failures": request.get("setupFailures", ()), "engine": engine}
        outcome = _outcome(route, capability, catalog, **options, **_hints(request))
        filtered = _outcome(match, capability, catalog, **options)
        matched: list[dict[str, str]] = []
        if isinstance(filtered, CapabilityUnsatisfiableError):
            assert filtered.to_dict() == outcome.to_dict(), case["id"]
        else:
            matched = [candidate.to_dict() for candidate in filtered]
        found = {"matched": matched, ("decision" if isinstance(outcome, Decision) else "error"): outcome.to_dict()}
        assert _comparable(found) == wanted, case["id"]
        assert json.loads(outcome.to_json()) == outcome.to_dict(), case["id"]
        if isinstance(outcome, Decision):
            assert outcome.provider.metadata.id == wanted["decision"]["pick"]["provider"], case["id"]
            assert outcome.model.name == wanted["decision"]["pick"]["model"], case["id"]
        else:
            assert outcome.tenant_id == wanted["error"].get("tenantId"), case["id"]


_LABELS = {
    "region": "region=",
    "vision": "feature:vision",
    "contextWindow": "contextWindow",
    "tenantPolicy.models.allow": "tenant.models.allow[",
    "tenantPolicy.providers.allow": "tenant.providers.allow[",
    "tenantPolicy.regionAllow": "tenant.regionAllow[",
}
"""How the label of the constraint starts that a reported case is about."""


@both_engines
@pytest.mark.parametrize("case", REPORTED, ids=lambda case: case["id"])
def test_reported_faults(case: dict[str, Any], engine: EngineName) -> None:
    answered = answer(_with_matched(case["request"]), engine=engine)
    expect = case["expect"]
    if "pick" in expect:
        decision = answered["decision"]
        assert decision["pick"] == expect["pick"]
        assert decision["alternates"] == expect["alternates"]
        assert decision["fallback"] == expect.get("fallback", decision["fallback"])
    else:
        assert answered["error"]["code"] == expect["code"]
        if "rejections" in expect:
            found = {
                (rejected["id"], reason["requirement"])
                for reason in answered["error"]["reasons"]
                for rejected in reason["rejectingProviders"]
            }
            wanted = [(f"{r['provider']}/{r['model']}", _LABELS[r["about"]]) for r in expect["rejections"]]
            for candidate, label in wanted:
                assert any(name == candidate and text.startswith(label) for name, text in found), (candidate, label)
            assert len(found) == len(wanted), "nothing else is rejected"
    if answered.get("error", {}).get("code", "capability-unsatisfiable") == "capability-unsatisfiable":
        oracle = naive.answer(case["request"])
        if "decision" in oracle:
            oracle["decision"]["score"] = naive.as_number(oracle["decision"]["score"])
        assert naive.without_messages(answered) == oracle


def test_every_case_is_there() -> None:
    assert (len(ROUTING), len(REPORTED)) == (600, 19)
    assert sum("error" in case["expect"] for case in ROUTING) == 300
