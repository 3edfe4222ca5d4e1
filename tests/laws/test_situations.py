"""What a person reads after a route: golden text for a few dozen situations. UPDATE_GOLDEN=1 writes it anew."""

import json
import os
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from paths import ROOT, TESTS
from strategies import requests
from whyroute.explanations import Explanation, Limits
from whyroute.explanations.sentences import hinge_clause, hinges
from whyroute.explanations.ways import ways_out
from whyroute.providers.provider_files import read_providers
from whyroute.render import decision_lines, explanation_lines
from whyroute.render.lines import WIDTH, Line, pair, printable, within
from whyroute.render.prose import _alone_lines
from whyroute.routing.decision import Decision, outcome_of
from whyroute.wire.request import read_request

SITUATIONS = TESTS / "data" / "situations"
NAMES = sorted(path.stem for path in SITUATIONS.glob("*.json"))


def explanation_of(name: str, limits: Limits | None = None) -> Explanation:
    document = json.loads((SITUATIONS / f"{name}.json").read_text(encoding="utf-8"))
    request = read_request(document, now=datetime(2026, 12, 24, tzinfo=UTC))
    return Explanation(request.solve(), request.why_not, limits or Limits())


def text_of(lines: list[Line]) -> str:
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines)


def golden(name: str) -> str:
    explanation = explanation_of(name)
    short = text_of(list(explanation_lines(explanation)))
    everything = Limits(near_misses=None, unknowns=None, ranking=None)
    full = text_of(list(explanation_lines(explanation_of(name, everything), everything=True)))
    message = explanation.user_message or "(nothing: it qualifies)"
    return f"{short}\n---- to the end user ----\n{message}\n\n---- --all ----\n{full}"


@pytest.mark.parametrize("name", NAMES)
def test_a_situation_reads_as_it_should(name: str) -> None:
    path = SITUATIONS / f"{name}.txt"
    found = golden(name)
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(found, encoding="utf-8", newline="\n")
    assert found == path.read_text(encoding="utf-8")


def test_there_are_situations() -> None:
    assert len(NAMES) >= 12


@pytest.mark.parametrize("name", NAMES)
def test_text_is_never_a_wall(name: str) -> None:
    assert len(list(explanation_lines(explanation_of(name)))) <= 25


@pytest.mark.parametrize("name", NAMES)
def test_nothing_from_a_catalog_drives_the_terminal(name: str) -> None:
    for line in golden(name).split("\n"):
        assert line.isprintable()


@pytest.mark.parametrize("name", NAMES)
def test_end_user_message_names_no_internals(name: str) -> None:
    explanation = explanation_of(name)
    message = explanation.user_message
    assert (message is None) == explanation.satisfiable
    if message is None:
        return
    names = {c.metadata.id for c in explanation.catalog.candidates()} | {
        c.model.name for c in explanation.catalog.candidates()
    }
    assert not [each for each in names if re.search(rf"(?<!\w){re.escape(each)}(?!\w)", message) and each != "small"]
    assert "$" not in message
    assert "\n" not in message
    assert not [each.id for each in explanation.constraints if "/" in each.id and each.id in message]


# what the text claims


def provider(name: str, *models: dict[str, Any], region: str = "eu") -> dict[str, Any]:
    cost = {"promptUsdPer1kTokens": 0.25, "completionUsdPer1kTokens": 1}
    plain = {"contextWindow": 8000, "features": [], "cost": cost}
    return {"id": name, "region": region, "models": [{**plain, **model} for model in models]}


def solved(request: dict[str, Any]) -> Explanation:
    parsed = read_request({"at": "2026-12-24", **request})
    return Explanation(parsed.solve(), parsed.why_not)


MORE = re.compile(r"; (\d+) more for (the same reason|similar reasons)(?:, (\d+) for similar ones)?")


def check_claims(explanation: Explanation) -> int:
    """Every reason that is printed for a set is that of the candidates it is claimed for; returns how many are."""
    ids = {constraint.id: constraint for constraint in explanation.constraints}
    claims = 0
    for constraint, members in explanation.stopped_alone:
        (line,) = _alone_lines(explanation, constraint, members, everything=False)
        (name, _), (reason, _), (where, _), (more, _) = line
        assert ids[where.strip(" ()")] is constraint
        told = [
            printable(rejected.message)
            for c in explanation.catalog.candidates(members)
            if (rejected := constraint.rejection(c))
        ]
        assert len(told) == members.bit_count()
        alike = told.count(reason.strip())
        assert alike >= 1
        assert name.strip() in {pair(candidate) for candidate in explanation.catalog.candidates(members)}
        if not more:
            assert len(told) == 1
            continue
        claims += 1
        count, which, similar = MORE.fullmatch(more).groups()  # type: ignore[union-attr]  # a mismatch fails the test
        if which == "the same reason":
            assert (int(count), int(similar or 0)) == (alike - 1, len(told) - alike)
        else:
            assert (alike, int(count)) == (1, len(told) - 1)
    return claims


@given(request=requests())
def test_reason_is_printed_for_its_candidates(request: dict[str, Any]) -> None:
    explanation = solved(request)
    check_claims(explanation)
    for fact in ways_out(explanation).facts:
        for candidate in fact.candidates:
            assert [each for each in explanation.constraints if not each.admits(candidate)] == [fact.constraint]


def test_reason_is_printed_for_its_real_models() -> None:
    request = json.loads((ROOT / "rules/requests/impossible.json").read_text(encoding="utf-8"))
    assert check_claims(solved({**request, "providers": read_providers(ROOT / "rules" / "catalog.yaml")})) >= 2


def test_every_candidate_that_lacks_a_fact_is_counted() -> None:
    needs = [{"p95LatencyMs": {"op": "<=", "value": 1}}, {"feature": "vision"}]
    models = [{"name": f"m{n:02}", "features": ["vision"]} for n in range(30)]
    (fact,) = ways_out(solved({"capability": {"needs": needs}, "providers": [provider("p", *models)]})).facts
    assert (fact.count, len(fact.candidates), fact.candidates[0].model.name) == (30, 10, "m00")


@given(request=requests())
def test_choice_hangs_on_the_most_selective_constraint(request: dict[str, Any]) -> None:
    explanation = solved(request)
    if not explanation.satisfiable:
        return
    gains = {}
    for constraint in explanation.constraints:
        others = [each for each in explanation.constraints if each is not constraint]
        gains[constraint.id] = sum(
            not constraint.admits(candidate) and all(other.admits(candidate) for other in others)
            for candidate in explanation.catalog.candidates()
        )
    most = max(gains.values())
    found = [constraint.id for constraint in hinges(explanation)]
    assert found == [name for name, gain in gains.items() if gain == most and most]
    assert not {constraint.id for constraint in explanation.redundant} & set(found)
    if found:
        assert hinge_clause(explanation)[1].endswith(f", {most} more would qualify")


def test_tie_is_told_once_without_redundant_hinges() -> None:
    models = [
        {"name": "both", "features": ["vision", "streaming", "batch"]},
        {"name": "one", "features": ["vision", "batch"]},
        {"name": "other", "features": ["streaming"]},
    ]
    needs = [{"feature": "vision"}, {"feature": "streaming"}]
    text = text_of(
        list(explanation_lines(solved({"capability": {"needs": needs}, "providers": [provider("p", *models)]})))
    )
    assert (
        "The choice hangs on feature:vision (needs/0) and feature:streaming (needs/1): "
        "without either of them, 1 more would qualify" in text
    )
    # Equal constraints: each is redundant beside the other, and neither alone is what the choice hangs on.
    twice = solved({"capability": {"needs": [needs[1], needs[1]]}, "providers": [provider("p", *models)]})
    assert "hangs on" not in text_of(list(explanation_lines(twice)))


HOSTILE_NAMES = [f"region-{n:03}-{'x' * 40}" for n in range(500)]


@pytest.mark.parametrize("length", [10, 5000])
@pytest.mark.parametrize("feature", ["tool-use", "web-search"])
@pytest.mark.parametrize("why_not", [None, ("p0", "m0"), ("stranger", "m"), ("other", "n")])
@pytest.mark.parametrize("needs", [1, 200])
def test_text_is_never_a_wall_whatever_is_asked(
    length: int, feature: str, why_not: tuple[str, str] | None, needs: int
) -> None:
    tail = "z" * length
    models = [{"name": f"m{n}{tail if n else ''}", "features": ["tool-use", "vision"]} for n in range(30)]
    request: dict[str, Any] = {
        "capability": {
            "needs": [
                *[{"feature": feature}] * needs,
                *[{"contextWindow": {"op": ">=", "value": 8000 - n % 2}} for n in range(needs)],
                {"models": {"deny": HOSTILE_NAMES}},
            ],
            "prefer": [{"feature": "vision", "weight": 0.1}] * 200,
        },
        "providers": [
            *(provider(f"p{n}{tail if n else ''}", *models, region=HOSTILE_NAMES[0]) for n in range(20)),
            provider("other", {"name": "n"}),
        ],
        "tenantPolicy": {"tenantId": tail, "regionAllow": HOSTILE_NAMES, "providers": {"deny": HOSTILE_NAMES}},
        "setupFailures": [{"providerId": f"f{n}", "message": tail} for n in range(40)],
    }
    if why_not is not None:
        request["whyNot"] = dict(zip(("provider", "model"), why_not, strict=True))
    lines = ["".join(text for text, _ in line) for line in explanation_lines(solved(request))]
    assert len(lines) <= 25
    assert max(map(len, lines)) <= WIDTH
    outcome = outcome_of(solved(request).solved)
    if isinstance(outcome, Decision):
        assert max(len("".join(text for text, _ in line)) for line in decision_lines(outcome)) <= WIDTH


@given(lengths=st.lists(st.integers(0, 30), max_size=6), width=st.integers(0, 60))
def test_a_line_is_cut_where_it_is_longest(lengths: list[int], width: int) -> None:
    line: Line = tuple(("x" * length, str(place)) for place, length in enumerate(lengths))
    cut = within(line, width)
    assert sum(len(text) for text, _ in cut) <= max(width, 3 * len(lengths))
    assert [style for _, style in cut] == [style for _, style in line]
    assert cut == line or sum(lengths) > width
    kept = [len(text) for (text, _), (before, _) in zip(cut, line, strict=True) if text != before]
    assert all(len(text) <= max(kept) for text, _ in cut) if kept else True


def message_for(*needs: dict[str, Any]) -> str:
    message = solved({"capability": {"needs": list(needs)}, "providers": [provider("p", {"name": "m"})]}).user_message
    assert message is not None
    return message


@pytest.mark.parametrize(
    ("need", "can", "shorter"),
    [
        ({"contextWindow": {"op": ">=", "value": 9000}}, "take in that much text", True),
        ({"contextWindow": {"op": ">", "value": 9000}}, "take in that much text", True),
        ({"contextWindow": {"op": "<", "value": 10}}, "be of the size that this task asks for", False),
        ({"contextWindow": {"op": "<=", "value": 10}}, "be of the size that this task asks for", False),
        ({"contextWindow": {"op": "=", "value": 10}}, "be of the size that this task asks for", False),
        ({"costPerCall": {"op": "<=", "usd": 0.1}}, "stay within the spending limit", False),
        ({"costPerCall": {"op": ">", "usd": 10}}, "be in the price range that is asked for", False),
        ({"costPerCall": {"op": "=", "usd": 10}}, "be in the price range that is asked for", False),
    ],
)
def test_the_message_follows_the_direction_of_a_bound(need: dict[str, Any], can: str, shorter: bool) -> None:
    message = message_for(need)
    assert f"no service you may use can {can}. " in message
    assert ("try a shorter text" in message) == shorter
