"""Metadata of providers: read the same however it comes, and told of in the contract's order."""

import asyncio
from copy import deepcopy
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import ValidationError

from whyroute import InvalidProviderError, ProviderMetadata
from whyroute.model.metadata import metadata_problems, read_metadata, source_of
from whyroute.model.rule import Rule

DOCUMENT: dict[str, Any] = {
    "id": "acme",
    "region": "eu-west-1",
    "models": [
        {
            "name": "m1",
            "contextWindow": 200_000.0,
            "features": ["vision"],
            "cost": {"promptUsdPer1kTokens": 1.0, "completionUsdPer1kTokens": 0.5},
            "p95LatencyMs": 900,
        }
    ],
    "defaultModel": "m1",
    "labels": {"team": "a"},
}


def test_tuples_read_as_lists_do() -> None:
    document = deepcopy(DOCUMENT)
    document["models"][0]["features"] = ("vision",)
    document["models"] = tuple(document["models"])
    assert read_metadata(document) == read_metadata(DOCUMENT)


def test_integral_doubles_are_integers() -> None:
    (model,) = read_metadata(DOCUMENT).models
    assert repr((model.context_window, model.cost.prompt_usd_per_1k_tokens)) == "(200000, 1)"


def test_names_in_python_give_the_same_metadata() -> None:
    (model,) = DOCUMENT["models"]
    renamed = {**model, "context_window": model["contextWindow"], "max_output_tokens": None}
    del renamed["contextWindow"]
    made = ProviderMetadata(id="acme", region="eu-west-1", models=[renamed], default_model="m1", labels={"team": "a"})
    assert made == read_metadata(DOCUMENT)


def test_keys_of_adapters_are_kept() -> None:
    found = read_metadata({**DOCUMENT, "source": "pack", "endpoint": {"port": 1.0}})
    assert found.model_extra == {"source": "pack", "endpoint": {"port": 1}}
    assert source_of(found) == "pack"


@pytest.mark.parametrize("key", ["contextWindow", "p95LatencyMs", "maxOutputTokens", "sampling", "thinking"])
def test_null_is_never_absent_on_the_wire(key: str) -> None:
    document = deepcopy(DOCUMENT)
    document["models"][0][key] = None
    with pytest.raises(InvalidProviderError) as caught:
        read_metadata(document)
    assert [issue.path for issue in caught.value.issues] == [f"/models/0/{key}"]


def test_problems_come_in_the_order_of_the_contract() -> None:
    document = deepcopy(DOCUMENT)
    document["models"].append({"name": "m1", "features": "vision", "cost": {}})
    problems, _ = metadata_problems({**document, "region": "", "fallback": 1})
    assert [(reason, issue.path) for reason, issue in problems] == [
        ("empty-region", "/region"),
        ("duplicate-model-name", "/models/1/name"),
        ("invalid-context-window", "/models/1/contextWindow"),
        ("invalid-cost", "/models/1/cost/promptUsdPer1kTokens"),
        ("invalid-cost", "/models/1/cost/completionUsdPer1kTokens"),
        ("invalid-features", "/models/1/features"),
        ("invalid-fallback", "/fallback"),
    ]


def test_broken_metadata_is_a_422_of_fastapi() -> None:
    app = FastAPI()

    @app.post("/providers")
    def register(body: ProviderMetadata) -> ProviderMetadata:
        return body

    def post(body: Any) -> httpx.Response:
        async def send() -> httpx.Response:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://t") as client:
                return await client.post("/providers", json=body)

        return asyncio.run(send())

    broken = deepcopy(DOCUMENT)
    broken["models"][0]["cost"] = {"promptUsdPer1kTokens": -1}
    answer = post({**broken, "region": ""})
    assert answer.status_code == 422
    assert [(each["loc"], each["msg"]) for each in answer.json()["detail"]] == [
        (["body", "region"], "empty; `region` is a non-empty string"),
        (
            ["body", "models", 0, "cost", "promptUsdPer1kTokens"],
            "`-1`, a number; `promptUsdPer1kTokens` is a number of at least 0, in USD per 1,000 tokens",
        ),
        (
            ["body", "models", 0, "cost", "completionUsdPer1kTokens"],
            "missing; `completionUsdPer1kTokens` is a number of at least 0, in USD per 1,000 tokens",
        ),
    ]
    others: list[Any] = [None, [], "x", 1]
    assert [post(body).status_code for body in others] == [422] * 4
    answer = post(DOCUMENT)
    assert answer.status_code == 200
    assert read_metadata(answer.json()) == read_metadata(DOCUMENT)
    assert "maxOutputTokens" not in answer.json()["models"][0]


def test_broken_rules_are_validation_errors() -> None:
    with pytest.raises(ValidationError) as caught:
        Rule.model_validate({"name": "r", "because": "b", "require": {"any": [{"regoin": "eu"}]}})
    assert [each["loc"] for each in caught.value.errors()] == [("require", "any", 0, "regoin")]


def test_metadata_goes_over_the_wire_as_it_came() -> None:
    assert read_metadata(DOCUMENT).to_dict() == DOCUMENT
