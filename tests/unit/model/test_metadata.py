"""Metadata of providers: read the same however it comes, and told of in the contract's order."""

from copy import deepcopy
from typing import Any

import pytest

from whyroute import InvalidProviderError, ProviderMetadata
from whyroute.model.metadata import metadata_problems, read_metadata, source_of

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
