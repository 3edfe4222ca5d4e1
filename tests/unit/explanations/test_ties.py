"""What decides between candidates that score the same is told alike by a decision and by its explanation."""

from typing import Any

import pytest

import whyroute as wr
from whyroute.explanations import Explanation
from whyroute.render import explanation_lines
from whyroute.wire.request import read_request


def provider(id: str, price: float, region: str = "eu-west-1") -> dict[str, Any]:
    cost = {"promptUsdPer1kTokens": price, "completionUsdPer1kTokens": price}
    model = {"name": "m", "contextWindow": 1000, "features": [], "cost": cost}
    return {
        "id": id,
        "displayName": id,
        "transport": "native",
        "region": region,
        "models": [model],
        "defaultModel": "m",
        "capabilityKind": "llm-inference",
    }


CHEAPEST = {"name": "cheapest", "because": "Cost.", "prefer": {"lowest": "callUsd"}}
FIRST = "rule `cheapest` puts the lowest `callUsd` first"


@pytest.mark.parametrize(
    ("prices", "told"),
    [
        ((3, 1, 2), FIRST),
        ((3, 1, 1), f"{FIRST}; 2 still tie, and provider ids are compared to break the tie"),
        ((1, 1, 1), "provider ids are compared to break the tie"),
    ],
)
def test_the_rule_that_orders_is_named(prices: tuple[float, ...], told: str) -> None:
    request = {
        "capability": {"needs": []},
        "tokens": {"prompt": 1000, "completion": 0},
        "rules": [CHEAPEST],
        "providers": [provider(id, price) for id, price in zip("abc", prices, strict=True)],
        "include": ["explanation"],
    }
    reason = wr.answer(request)["decision"]["reason"]
    assert reason.endswith(told)
    assert f"tied with the next one; {told}\n" in _text(request)


def test_why_not_names_the_rule_that_orders() -> None:
    request = {
        "capability": {"needs": []},
        "tokens": {"prompt": 1000, "completion": 0},
        "rules": [CHEAPEST],
        "providers": [provider("a", 3), provider("b", 1)],
        "whyNot": {"provider": "a", "model": "m"},
    }
    assert f"It qualifies, in place 2; the scores tie, and {FIRST}" in _text(request)


def _text(request: dict[str, Any]) -> str:
    parsed = read_request(request)
    explanation = Explanation(parsed.solve("bitset"), parsed.why_not)
    return "\n".join("".join(text for text, _ in line) for line in explanation_lines(explanation))
