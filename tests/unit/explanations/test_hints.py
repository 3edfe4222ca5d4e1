"""Hints that an answer doesn't follow, each with why, beside a count by hand."""

from typing import Any

import pytest
from hypothesis import given, settings

import whyroute as wr
from bundle_strategies import bundles
from strategies import requests
from whyroute.explanations.hints import hint_sentence

COST = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}


def provider(name: str, *models: str, **more: Any) -> dict[str, Any]:
    listed = [{"name": each, "contextWindow": 8, "features": [], "cost": COST} for each in models]
    return {"id": name, "region": "eu", "models": listed, **more}


PROVIDERS = [
    provider("openai", "gpt-5", "gpt-4o"),
    provider("azure", "gpt-4o"),
    provider("spare", "small", fallback=True),
]
US = {"tenantId": "t", "providers": {"deny": ["azure"]}}
DEAR = {"name": "no-gpt-5", "because": "x", "forbid": {"model": "gpt-5"}}


def asked(**more: Any) -> dict[str, Any]:
    return wr.answer({"capability": {"needs": []}, "providers": PROVIDERS, "at": "2026-12-24", **more})


@pytest.mark.parametrize(
    ("given", "hints", "clause"),
    [
        (
            {"preferredProvider": "opnai"},
            [{"hint": "preferredProvider", "value": "opnai", "why": "unknown", "near": ["openai"]}],
            "; the preferred provider, `opnai`, is unknown, did you mean `openai`?",
        ),
        (
            {"preferredModel": "nothing-like-it"},
            [{"hint": "preferredModel", "value": "nothing-like-it", "why": "unknown"}],
            "; the preferred model, `nothing-like-it`, is unknown",
        ),
        (
            {"preferredProvider": "azure", "tenantPolicy": US},
            [{"hint": "preferredProvider", "value": "azure", "why": "rejected", "by": ["policy/providers/deny"]}],
            "; the preferred provider, `azure`, is rejected by `policy/providers/deny`",
        ),
        (
            {"preferredModel": "gpt-5", "rules": [DEAR]},
            [{"hint": "preferredModel", "value": "gpt-5", "why": "rejected", "by": ["rules/no-gpt-5"]}],
            "; the preferred model, `gpt-5`, is rejected by `rules/no-gpt-5`",
        ),
        (
            {"preferredProvider": "spare"},
            [{"hint": "preferredProvider", "value": "spare", "why": "fallback"}],
            "; the preferred provider, `spare`, is a fallback, and regular candidates come first",
        ),
        (
            {"preferredProvider": "openai", "preferredModel": "gpt-4"},
            [
                {"hint": "preferredProvider", "value": "openai", "why": "other hint"},
                {"hint": "preferredModel", "value": "gpt-4", "why": "unknown", "near": ["gpt-4o"]},
            ],
            "; the preferred provider, `openai`, is not followed: no candidate matches both hints"
            "; the preferred model, `gpt-4`, is unknown, did you mean `gpt-4o`?",
        ),
        (
            {"preferredProvider": "openai", "preferredModel": "gpt-5", "rules": [DEAR]},
            [
                {"hint": "preferredProvider", "value": "openai", "why": "other hint", "by": ["rules/no-gpt-5"]},
                {"hint": "preferredModel", "value": "gpt-5", "why": "rejected", "by": ["rules/no-gpt-5"]},
            ],
            "; the preferred provider, `openai`, is not followed: `rules/no-gpt-5` rejects what matches both hints"
            "; the preferred model, `gpt-5`, is rejected by `rules/no-gpt-5`",
        ),
    ],
)
def test_a_hint_that_did_nothing_is_told(given: dict[str, Any], hints: list[dict[str, Any]], clause: str) -> None:
    answer = asked(**given, include=["explanation"])
    expected = [{**each, "honoured": False} for each in hints]
    assert answer["hints"] == answer["explanation"]["hints"] == expected
    assert answer["decision"]["reason"].endswith(clause)


def test_a_hint_that_decides_is_not_told() -> None:
    answer = asked(preferredProvider="openai", preferredModel="gpt-5", include=["explanation"])
    assert "hints" not in answer
    assert "hints" not in answer["explanation"]
    assert answer["decision"]["pick"] == {"provider": "openai", "model": "gpt-5"}


def test_an_answer_that_nothing_qualifies_tells_its_hints() -> None:
    answer = asked(capability={"needs": [{"feature": "vision"}]}, preferredProvider="azure", preferredModel="gpt-9")
    assert answer["hints"] == [
        {"hint": "preferredProvider", "value": "azure", "honoured": False, "why": "rejected", "by": ["needs/0"]},
        {"hint": "preferredModel", "value": "gpt-9", "honoured": False, "why": "unknown", "near": ["gpt-5"]},
    ]


SLOTS: dict[str, dict[str, Any]] = {"a": {"capability": {"needs": []}}, "b": {"capability": {"needs": []}}}


@pytest.mark.parametrize(
    ("slot", "more", "hint"),
    [
        (
            {"preferredProvider": "opnai"},
            {},
            {"hint": "preferredProvider", "value": "opnai", "why": "unknown", "near": ["openai"]},
        ),
        (
            {"preferredModel": "gpt-5", "capability": {"needs": [{"models": {"deny": ["gpt-5"]}}]}},
            {},
            {"hint": "preferredModel", "value": "gpt-5", "why": "rejected", "by": ["a:needs/0"]},
        ),
        (
            {"preferredModel": "gpt-5"},
            {"together": [{"same": "region"}, {"same": "model"}, {"same": "provider"}], "only": "gpt-4o"},
            {"hint": "preferredModel", "value": "gpt-5", "why": "rejected", "by": ["together/1"]},
        ),
        (
            {"preferredModel": "gpt-5"},
            {"together": [{"same": "model"}], "hint": "gpt-4o"},
            {"hint": "preferredModel", "value": "gpt-5", "why": "other hint"},
        ),
    ],
)
def test_a_slots_hint_that_did_nothing_is_told(
    slot: dict[str, Any], more: dict[str, Any], hint: dict[str, Any]
) -> None:
    slots = {"a": {**SLOTS["a"], **slot}, "b": dict(SLOTS["b"])}
    if "only" in more:
        slots["b"]["capability"] = {"needs": [{"models": {"allow": [more["only"]]}}]}
    if "hint" in more:
        slots["b"]["preferredModel"] = more["hint"]
        slots["c"] = dict(slots["b"])
    together = more.get("together", [])
    answer = wr.answer({"slots": slots, "providers": PROVIDERS, "together": together, "at": "2026-12-24"})
    assert answer["hints"] == [{"slot": "a", "honoured": False, **hint}]
    explanation = wr.explain_bundle(slots, PROVIDERS, together=together)
    assert [each.to_dict() for each in explanation.hints] == answer["hints"]
    assert answer["decision"]["reason"].endswith(f"; {hint_sentence(explanation.hints[0])}")


@settings(max_examples=300)
@given(requests())
def test_hints_are_told_where_pick_differs(request: dict[str, Any]) -> None:
    answer = wr.answer({**request, "include": ["matched"]})
    names = {"preferredProvider": "provider", "preferredModel": "model"}
    given = {hint: request[hint] for hint in names if hint in request}
    pick = answer["decision"]["pick"] if "decision" in answer else {}
    told = {each["hint"]: each for each in answer.get("hints", [])}
    if answer.get("error", {}).get("code", "capability-unsatisfiable") != "capability-unsatisfiable":
        assert not told
        return
    assert set(told) == {hint for hint, value in given.items() if pick.get(names[hint]) != value}
    ids = [(each["id"], model["name"]) for each in request["providers"] for model in each["models"]]
    for hint, each in told.items():
        place = 0 if hint == "preferredProvider" else 1
        named = [pair for pair in ids if pair[place] == each["value"]]
        matched = [m for m in answer["matched"] if m[names[hint]] == each["value"]]
        assert (each["why"] == "unknown") == (not named)
        assert (each["why"] == "rejected") == (bool(named) and not matched)
        assert bool(each.get("by")) >= (each["why"] == "rejected")


@settings(max_examples=100)
@given(bundles())
def test_so_they_are_for_slots(request: dict[str, Any]) -> None:
    answer = wr.answer(request)
    if answer.get("error", {}).get("code", "capability-unsatisfiable") != "capability-unsatisfiable":
        return
    picks = answer["decision"]["picks"] if "decision" in answer else {}
    names = {"preferredProvider": "provider", "preferredModel": "model"}
    expected = [
        (name, hint)
        for name, slot in request["slots"].items()
        for hint in names
        if hint in slot and picks.get(name, {}).get(names[hint]) != slot[hint]
    ]
    assert [(each["slot"], each["hint"]) for each in answer.get("hints", [])] == expected
