"""The facade refuses broken arguments at once, all of them together, and says which."""

from collections.abc import Callable
from typing import Any

import pytest

import whyroute as wr
from house_style import broken_rules
from naming import named
from whyroute import InvalidRequestError, SetupFailure, WhyrouteError, explain, match, route

CAPABILITY: dict[str, Any] = {"needs": []}
COST = {"promptUsdPer1kTokens": 0, "completionUsdPer1kTokens": 0}
PROVIDERS = [
    {"id": name, "region": "r", "models": [{"name": "m", "contextWindow": 1, "features": [], "cost": COST}]}
    for name in ("p", "q")
]
ANY: list[Callable[..., Any]] = [route, match, explain]
HINTED: list[Callable[..., Any]] = [route, explain]


def refused(ask: Callable[..., Any], **given: Any) -> list[str]:
    with pytest.raises(InvalidRequestError) as caught:
        ask(CAPABILITY, PROVIDERS, **given)
    for issue in caught.value.issues:
        assert broken_rules(issue.message) == [], issue
    return [issue.path for issue in caught.value.issues]


@pytest.mark.parametrize("ask", ANY)
@pytest.mark.parametrize(
    ("failures", "paths"),
    [
        ([{"providerId": 1}], ["/setupFailures/0", "/setupFailures/0/providerId"]),
        ([{"providerId": "z", "message": "x"}, 5], ["/setupFailures/1"]),
        ([{"provider_id": "z", "message": "x"}], ["/setupFailures/0/provider_id"]),
        ("z", ["/setupFailures"]),
        ({"providerId": "z", "message": "x"}, ["/setupFailures"]),
        (5, ["/setupFailures"]),
    ],
    ids=["type", "no object", "snake case", "text", "one of them", "number"],
)
def test_setup_failures(ask: Callable[..., Any], failures: Any, paths: list[str]) -> None:
    assert refused(ask, setup_failures=failures) == paths


@pytest.mark.parametrize("ask", ANY)
def test_setup_failures_that_are_fine(ask: Callable[..., Any]) -> None:
    for failures in ((), [{"providerId": "z", "message": "x"}], [SetupFailure(provider_id="z", message="x")]):
        ask(CAPABILITY, PROVIDERS, setup_failures=failures)


@pytest.mark.parametrize("ask", HINTED)
def test_hints(ask: Callable[..., Any]) -> None:
    assert refused(ask, preferred_provider=3) == ["/preferredProvider"]
    assert refused(ask, preferred_provider=["p"], preferred_model=b"m") == ["/preferredProvider", "/preferredModel"]
    ask(CAPABILITY, PROVIDERS, preferred_provider="p", preferred_model="")


@pytest.mark.parametrize("why_not", ["p/m", "pm", ("p",), ("p", "m", "n"), ("p", 5), {"p", "m"}, 5], ids=named)
def test_what_to_compare_the_pick_with(why_not: Any) -> None:
    assert refused(explain, why_not=why_not) == ["/whyNot"]


def test_contrast_candidate_may_be_a_list() -> None:
    names: Any = ["q", "m"]
    contrast = explain(CAPABILITY, PROVIDERS, why_not=names).to_dict()["contrast"]
    assert contrast == explain(CAPABILITY, PROVIDERS, why_not=("q", "m")).to_dict()["contrast"]
    assert contrast["candidate"] == {"provider": "q", "model": "m"}


def test_no_error_of_another_library_comes_through() -> None:
    cases: list[dict[str, Any]] = [
        {"setup_failures": [None]},
        {"preferred_model": object()},
        {"policy": 5},
        {"policy": {"tenantId": 1}},
    ]
    for given in cases:
        with pytest.raises(WhyrouteError):
            route(CAPABILITY, PROVIDERS, **given)


@pytest.mark.parametrize("function", [wr.route, wr.match, wr.explain, wr.route_bundle, wr.explain_bundle])
@pytest.mark.parametrize(("name", "near"), [("label", "labels"), ("polcy", "policy")])
def test_misspelt_argument_gets_a_suggestion(function: Any, name: str, near: str) -> None:
    with pytest.raises(TypeError) as caught:
        function({"needs": []}, [], **{name: {}})
    assert str(caught.value) == f"`{name}` is no argument here; did you mean `{near}`?"
