"""Candidates with names like one that does not exist."""

from typing import Any

import pytest

import whyroute as wr
from counting import calls
from whyroute import Catalog

COST = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}


def provider(provider_id: str, *names: str) -> dict[str, Any]:
    models = [{"name": name, "contextWindow": 1, "features": [], "cost": COST} for name in names]
    return {"id": provider_id, "region": "r", "models": models}


def near(catalog: Catalog, provider_id: str, model: str) -> list[tuple[str, str]]:
    contrast = wr.explain({"needs": []}, catalog, why_not=(provider_id, model)).contrast
    assert contrast is not None
    assert not contrast.known
    return [candidate.key for candidate in contrast.near]


def test_candidates_with_equal_joined_names_are_near() -> None:
    catalog = Catalog([provider("Azure", "GPT"), provider("azure", "gpt"), provider("a", "b/c"), provider("a/b", "c")])
    assert near(catalog, "azure", "Gpt") == [("azure", "gpt"), ("Azure", "GPT")]
    assert sorted(near(catalog, "A", "B/C")) == [("a", "b/c"), ("a/b", "c")]


@pytest.mark.parametrize("providers", [1, 3, 500])
def test_a_slip_is_found_among_very_many(providers: int) -> None:
    names = [f"model-{at:05d}" for at in range(1500 // providers)]
    catalog = Catalog(
        [*(provider(f"provider-{at:03d}", *names) for at in range(providers)), provider("x", "gpt-4o-mini")]
    )
    assert near(catalog, "x", "gpt4o-mini")[0] == ("x", "gpt-4o-mini")
    assert near(catalog, "y", "gpt4o-mini")[0] == ("x", "gpt-4o-mini")


def test_the_same_model_elsewhere_comes_first() -> None:
    catalog = Catalog([provider("p", "m", "n"), provider("q", "m"), provider("r", "mm")])
    assert near(catalog, "r", "m") == [("p", "m"), ("q", "m"), ("r", "mm")]


def test_look_up_cost_ignores_model_count() -> None:
    def cost(count: int) -> int:
        catalog = Catalog([provider("p", *(f"m{at}" for at in range(count)))])
        catalog.number_of("p", "m0")
        return calls(lambda: [catalog.number_of("p", name) for name in ("m0", "m1", f"m{count - 1}", "?")])

    assert cost(1600) < 2 * cost(100)


@pytest.mark.parametrize("shape", ["one provider of many models", "many providers"])
def test_cost_grows_at_most_linearly(shape: str) -> None:
    def cost(count: int) -> int:
        names = [f"model-{at:05d}" for at in range(count)]
        catalog = Catalog(
            [provider("p", *names)] if shape.startswith("one") else [provider(name, "m") for name in names]
        )
        catalog.number_of("p", "m")
        return calls(lambda: near(catalog, "p", "modal-00000"))

    small, large = cost(400), cost(1600)
    assert large < 4 * small
    assert large < 40 * 1600  # comparing each text in full takes hundreds of calls
