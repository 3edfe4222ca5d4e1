"""Arguments of a wrong type are refused at once, all of them, with where they stand and what would be right."""

from collections.abc import Callable
from typing import Any

import pytest

import whyroute as wr
from house_style import broken_rules

PROVIDERS = [
    {
        "id": name,
        "region": "r",
        "models": [
            {
                "name": "m",
                "contextWindow": 1,
                "features": [],
                "cost": {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1},
            }
        ],
    }
    for name in "pq"
]

CASES: list[tuple[dict[str, Any], list[str]]] = [
    ({"setup_failures": [{"providerId": 1}]}, ["/setupFailures/0", "/setupFailures/0/providerId"]),
    ({"setup_failures": [{"providerId": "p", "message": "no key"}, 5]}, ["/setupFailures/1"]),
    ({"setup_failures": [{"providerId": "p", "message": "m", "other": 1}]}, ["/setupFailures/0/other"]),
    ({"setup_failures": {"providerId": "p", "message": "no key"}}, ["/setupFailures"]),
    ({"setup_failures": "p"}, ["/setupFailures"]),
    ({"setup_failures": 5}, ["/setupFailures"]),
    ({"setup_failures": None}, ["/setupFailures"]),
    ({"preferred_provider": 3}, ["/preferredProvider"]),
    ({"preferred_model": ["m"]}, ["/preferredModel"]),
    (
        {"preferred_provider": 3, "preferred_model": b"m", "setup_failures": [None]},
        ["/preferredProvider", "/preferredModel", "/setupFailures/0"],
    ),
]


@pytest.mark.parametrize(("arguments", "paths"), CASES, ids=[repr(arguments) for arguments, _ in CASES])
@pytest.mark.parametrize("function", [wr.route, wr.explain])
def test_arguments_are_checked(function: Callable[..., Any], arguments: dict[str, Any], paths: list[str]) -> None:
    with pytest.raises(wr.InvalidRequestError) as caught:
        function({"needs": []}, PROVIDERS, **arguments)
    assert [issue.path for issue in caught.value.issues] == paths
    assert [broken_rules(issue.message) for issue in caught.value.issues] == [[]] * len(paths)


@pytest.mark.parametrize("asked", ["p/m", "pm", ("p",), ("p", "m", "x"), ("p", 3), {"p": 1, "m": 2}, 7, b"pm", ()])
def test_who_is_asked_about_is_checked_before_anything_is_read(asked: Any) -> None:
    with pytest.raises(wr.InvalidRequestError) as caught:
        wr.explain({"needs": []}, PROVIDERS, why_not=asked)
    assert [issue.path for issue in caught.value.issues] == ["/whyNot"]
    assert broken_rules(caught.value.message) == []


@pytest.mark.parametrize("asked", [("q", "m"), ["q", "m"]])
def test_a_pair_is_taken_as_a_list_too(asked: Any) -> None:
    contrast = wr.explain({"needs": []}, PROVIDERS, why_not=asked).contrast
    assert contrast is not None
    assert contrast.rank == 2


@pytest.mark.parametrize("name", ["cores", "corrections", "relaxations", "near_misses", "unknowns", "ranking"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "3", True])
def test_limits_are_at_least_one(name: str, value: Any) -> None:
    with pytest.raises(wr.InvalidRequestError) as caught:
        wr.Limits(**{name: value})
    assert [issue.path for issue in caught.value.issues] == [f"/limits/{name}"]
    assert broken_rules(caught.value.message) == []


def test_only_lists_that_do_not_explode_come_without_a_limit() -> None:
    assert wr.Limits(near_misses=None, unknowns=None, ranking=None).ranking is None
    with pytest.raises(wr.InvalidRequestError) as caught:
        wr.Limits(cores=None, corrections=None, relaxations=None)  # type: ignore[arg-type]  # wrong on purpose
    assert [issue.path for issue in caught.value.issues] == [
        "/limits/cores",
        "/limits/corrections",
        "/limits/relaxations",
    ]
