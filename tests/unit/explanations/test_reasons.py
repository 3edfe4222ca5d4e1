"""The reasons of a failed answer: made when they are read, and streamed."""

import json
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given

import whyroute.explanations.reasons as reasons_module
from cases import lines
from strategies import requests
from whyroute.basics.numbers import ecmascript, prints_alike
from whyroute.documents.json_text import read_json
from whyroute.errors import CapabilityUnsatisfiableError, Reason, Rejection, RejectionReason, reasons_text
from whyroute.explanations.reasons import reasons_of
from whyroute.routing.decision import outcome_of
from whyroute.solving.request import Solved
from whyroute.wire.request import answer, answer_json, answer_line, read_request

MODEL = {"contextWindow": 8000, "features": [], "cost": {"promptUsdPer1kTokens": 0.25, "completionUsdPer1kTokens": 1}}


def provider(name: str, *models: dict[str, Any], region: str = "r") -> dict[str, Any]:
    return {"id": name, "region": region, "models": [{**MODEL, **model} for model in models]}


def solved_of(request: dict[str, Any]) -> Solved:
    return read_request({"at": "2026-12-24", **request}).solve()


def failed(request: dict[str, Any]) -> CapabilityUnsatisfiableError | None:
    outcome = outcome_of(solved_of(request))
    return outcome if isinstance(outcome, CapabilityUnsatisfiableError) else None


def naive(solved: Solved) -> list[dict[str, Any]]:
    """The reasons by one look at each candidate, without the index."""
    candidates = [solved.catalog.candidate(number) for number in solved.catalog.input_order()]
    found: list[dict[str, Any]] = []
    for constraint in solved.constraints:
        rejected = [
            {"id": each.id, "reason": reason.to_dict()}
            for each in candidates
            if (reason := constraint.rejection(each)) is not None
        ]
        if rejected:
            admitted = [each.id for each in candidates if constraint.admits(each)]
            names = {"requirement": constraint.label, "constraint": constraint.id}
            found.append({**names, "satisfyingProviders": admitted, "rejectingProviders": rejected})
    if solved.setup_failures:
        rejected = [
            {
                "id": failure.provider_id,
                "reason": {
                    "code": "provider-setup-failed",
                    "message": failure.message,
                    "providerId": failure.provider_id,
                },
            }
            for failure in solved.setup_failures
        ]
        everyone = [each.id for each in candidates]
        found.append(
            {"requirement": "provider set up", "satisfyingProviders": everyone, "rejectingProviders": rejected}
        )
    return found


def in_full(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


@pytest.fixture(params=[1, 2, 4096], autouse=True)
def block(request: pytest.FixtureRequest) -> Iterator[None]:
    """Small blocks, so that small catalogs have several."""
    before = reasons_module._BLOCK
    reasons_module._BLOCK = request.param
    yield
    reasons_module._BLOCK = before


def check(request: dict[str, Any]) -> None:
    solved = solved_of(request)
    outcome = outcome_of(solved)
    expected = naive(solved)
    text = "".join(reasons_text(reasons_of(solved.constraints, solved.catalog, solved.setup_failures)))
    assert text == in_full(expected)
    if isinstance(outcome, CapabilityUnsatisfiableError):
        assert outcome.to_dict()["reasons"] == expected
        assert outcome.to_json() == in_full(outcome.to_dict())
        for reason, wire in zip(outcome.reasons, expected, strict=True):
            assert len(reason.satisfying_providers) == len(wire["satisfyingProviders"])
            assert list(reason.satisfying_providers) == wire["satisfyingProviders"]
            assert len(reason.rejecting_providers) == len(wire["rejectingProviders"])
            assert [rejection.to_dict() for rejection in reason.rejecting_providers] == wire["rejectingProviders"]


@given(request=requests())
def test_reasons_equal_naive_ones_however_read(request: dict[str, Any]) -> None:
    check(request)


def test_recorded_reasons_however_they_are_read() -> None:
    for case in lines("routing.jsonl"):
        if "error" in case["expect"]:
            check(case["input"])


AWKWARD = {
    "capability": {
        "needs": [
            {"contextWindow": {"op": ">", "value": 2**53}},
            {"costPerCall": {"op": "<", "usd": 0}},
            {"p95LatencyMs": {"op": "<", "value": 0}},
            {"models": {"allow": ['say "no"', "new\nline"]}},
            {"region": "\u2028 and \\"},
        ]
    },
    "providers": [
        provider(
            'quote" and \\ and / and \x01',
            {"name": "\u00e9\u2028\U0001f600", "contextWindow": 2**53, "p95LatencyMs": 1e-9},
            {"name": "tab\t", "contextWindow": 1, "p95LatencyMs": 1e21},
            {"name": "plain", "p95LatencyMs": 0.5},
            {"name": "%s {}", "p95LatencyMs": 1e16},
            {"name": "none"},
        ),
        *(
            provider(
                f"price {price}", {"name": "m", "cost": {"promptUsdPer1kTokens": price, "completionUsdPer1kTokens": 0}}
            )
            for price in (0, 1e-7, 0.1, 3, 1.5e300, 0.30000000000000004, 1e15, 1e16, 1e21, 2**53, 0.00001)
        ),
    ],
    "setupFailures": [{"providerId": 'x"', "message": "no\n\\"}],
}


def test_text_is_written_as_json_module_writes() -> None:
    check(AWKWARD)


def test_without_candidates() -> None:
    check({"capability": {"needs": []}, "providers": []})
    check({"capability": {"needs": []}, "providers": [], "setupFailures": AWKWARD["setupFailures"]})


@pytest.fixture
def error() -> CapabilityUnsatisfiableError:
    needs = [{"contextWindow": {"op": ">=", "value": 9000}}, {"providers": {"allow": ["x"]}}, {"feature": "vision"}]
    big = {"name": "c", "contextWindow": 9000}
    found = failed(
        {
            "capability": {"needs": needs},
            "providers": [provider("p", {"name": "b"}, {"name": "a"}), provider("a", big)],
        }
    )
    assert found is not None
    return found


def test_a_reason_reads_like_a_tuple(error: CapabilityUnsatisfiableError) -> None:
    first = error.reasons[0]
    assert first.requirement == "contextWindow>=9000"
    satisfying: Any = first.satisfying_providers
    rejecting = first.rejecting_providers
    same = ("a/c",)
    assert satisfying == same
    assert same == satisfying
    assert satisfying != ("a/b",)
    assert satisfying != ["a/c"]
    assert satisfying[0] == satisfying[-1] == "a/c"
    assert [rejection.id for rejection in rejecting] == ["p/b", "p/a"]
    assert rejecting[1].id == rejecting[-1].id == "p/a"
    assert rejecting[1:] == (rejecting[1],)
    assert rejecting[::-1] == (rejecting[1], rejecting[0])
    assert rejecting[0].reason is rejecting[1].reason  # one observed value, one reason
    assert "a/c" in satisfying
    assert list(reversed(satisfying)) == ["a/c"]
    assert hash(satisfying) == hash(("a/c",))
    assert repr(satisfying) == "<1: 'a/c'>"
    with pytest.raises(IndexError):
        satisfying[1]
    with pytest.raises(IndexError):
        rejecting[-3]
    with pytest.raises(TypeError):
        satisfying[0] = "other"


def test_reasons_travel_without_the_catalog(error: CapabilityUnsatisfiableError) -> None:
    again = pickle.loads(pickle.dumps(error.reasons))
    assert again == error.reasons
    assert all(type(reason.rejecting_providers) is tuple for reason in again)
    assert [reason.to_dict() for reason in again] == [reason.to_dict() for reason in error.reasons]
    assert ["".join(reason.iter_json()) for reason in again] == [in_full(reason.to_dict()) for reason in error.reasons]


def test_what_is_written_by_hand_is_written_alike() -> None:
    rejected = Rejection("p/m", RejectionReason("missing-feature", 'has no "x"', {"feature": "x"}))
    for reason in (Reason("feature:x", ("a/b",), (rejected,)), Reason("feature:x", (), (rejected,), 'needs/"0"')):
        assert "".join(reason.iter_json()) == in_full(reason.to_dict())


def test_reason_names_constraint_by_core_id() -> None:
    request = {
        "capability": {"needs": [{"region": "r"}, {"region": "s"}]},
        "providers": [provider("a", {"name": "b"}), provider("c", {"name": "d"}, region="s")],
        "tenantPolicy": {"tenantId": "t", "models": {"deny": ["b"]}},
        "rules": [{"name": "x", "because": "y", "forbid": {"model": "d"}}],
        "setupFailures": [{"providerId": "e", "message": "no key"}],
        "include": ["explanation"],
    }
    answered = answer(request)
    ids = [reason.get("constraint") for reason in answered["error"]["reasons"]]
    assert ids == ["needs/0", "needs/1", "policy/models/deny", "rules/x", None]
    assert {each for core in answered["explanation"]["cores"] for each in core} <= set(ids)
    assert "constraint" not in answered["error"]["reasons"][-1], "`provider set up` is no constraint"


def test_bundle_names_slot_constraints_by_id() -> None:
    slots = {"one": {"capability": {"needs": [{"feature": "vision"}]}}, "two": {"capability": {"needs": []}}}
    answered = answer(
        {
            "slots": slots,
            "providers": [provider("a", {"name": "b"})],
            "rules": [{"name": "x", "because": "y", "require": {"region": "s"}}],
        }
    )
    found = [(each["requirement"], each["constraint"]) for each in answered["error"]["reasons"]]
    assert found == [("one: feature:vision", "one:needs/0"), ("rule:x", "rules/x")]


def test_dictionaries_are_not_shared(error: CapabilityUnsatisfiableError) -> None:
    untouched = error.to_json()
    for reason in error.to_dict()["reasons"]:
        dictionaries = [rejection["reason"] for rejection in reason["rejectingProviders"]]
        for dictionary in dictionaries:
            dictionary["mark"] = True
            for value in dictionary.values():
                if isinstance(value, list):
                    value.append("mark")
        assert len({id(dictionary) for dictionary in dictionaries}) == len(dictionaries)
    allow = error.to_dict()["reasons"][1]["rejectingProviders"]
    allow[0]["reason"]["allow"].append("mark")
    assert allow[1]["reason"]["allow"] == ["x"]
    assert error.to_json() == untouched


@pytest.mark.parametrize("value", [0, 7, 0.1, 1e-4, 1e-5, 1e15, 1e16, 2.0**53 + 2, 2**60, 1e21, 1e-7, 123456.5])
def test_numbers_that_python_prints_like_ecmascript(value: float) -> None:
    if prints_alike([value], [repr(value)]):
        assert ecmascript(value) == repr(value)
    else:
        assert value < 1e-4 or value > 1e15 - 1


def test_lines_are_answered_in_pieces() -> None:
    requests = [case["input"] for case in lines("routing.jsonl")[:60]]
    requests = [{**request, "at": "2026-12-24", "id": {"number": at}} for at, request in enumerate(requests)]
    requests += [{**requests[0], "include": ["matched", "explanation", "request"]}, AWKWARD | {"at": "2026-12-24"}]
    for number, request in enumerate(requests, start=1):
        line = json.dumps(request)
        valid, pieces = answer_json(line, number)
        assert "".join(pieces) == in_full(answer_line(line, number))
        assert valid == ("issues" not in answer(read_json(line)).get("error", {}))


@pytest.mark.parametrize("line", ["", "[]", "{}", "nonsense", '{"id": 7}', '{"id": "a", "capability": {"needs": 1}}'])
def test_lines_that_are_no_requests(line: str) -> None:
    valid, pieces = answer_json(line, 3)
    assert not valid
    assert "".join(pieces) == in_full(answer_line(line, 3))
