"""What explanations cost, in counts: the same on every machine."""

from typing import Any

import pytest

import whyroute as wr
from counting import calls
from whyroute.catalog.catalog import Catalog
from whyroute.solving.ranking import Gains, Scores, Weights
from whyroute.solving.request import RequestTerms

PREFER = [{"feature": name, "weight": 0.1 * at} for at, name in enumerate(["vision", "streaming", "local", "a", "b"])]
FITTING = {"needs": [{"contextWindow": {"op": ">=", "value": 3000}}, {"feature": "vision"}], "prefer": PREFER}
FAILING = {
    "needs": [
        {"contextWindow": {"op": ">=", "value": 5000}},
        {"region": "r3"},
        {"costPerCall": {"op": "<", "usd": 0.2}},
        {"p95LatencyMs": {"op": "<=", "value": 100}},
        {"feature": "batch"},
        {"models": {"deny": ["m1", "m2"]}},
        {"models": {"allow": ["m0", "m2"]}},
    ],
    "prefer": PREFER,
}


def catalog_of(count: int) -> Catalog:
    """Candidates of the same few kinds, however many."""
    return Catalog(
        {
            "id": f"p{at:05d}",
            "region": f"r{at % 5}",
            "attributes": ["local"] * (at % 2),
            "models": [
                {
                    "name": f"m{at % 3}",
                    "contextWindow": 1000 * (1 + at % 7),
                    "features": ["vision", "streaming"][: at % 3],
                    "cost": {"promptUsdPer1kTokens": 0.1 * (at % 4), "completionUsdPer1kTokens": 1},
                    "p95LatencyMs": 50 * (1 + at % 6),
                }
            ],
        }
        for at in range(count)
    )


@pytest.mark.parametrize("capability", [FITTING, FAILING], ids=["fitting", "failing"])
def test_an_explanation_adds_the_scores_up_once(capability: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    of = Scores.of

    def counted(weights: Weights, catalog: Catalog, wishes: Gains = ()) -> Scores:
        nonlocal asked
        asked += 1
        return of(weights, catalog, wishes)

    monkeypatch.setattr(Scores, "of", counted)
    explanation = wr.explain(capability, catalog_of(300), why_not=("p00007", "m1"))
    told = explanation.to_dict()
    assert bool(told["relaxations"]) == (capability is FAILING)
    assert asked == 1


def test_other_preferences_have_scores_of_their_own() -> None:
    solved = RequestTerms(wr.define_capability(FITTING), None, None).solved(catalog_of(100))
    before = list(solved.ranked(solved.survivors))
    other = solved.capability.model_copy(update={"prefer": solved.capability.prefer[::-2][:1]})
    assert other.prefer != solved.capability.prefer
    again, afresh = solved.again(other, None), RequestTerms(other, None, None).solved(solved.catalog)
    assert list(again.ranked(again.survivors)) == list(afresh.ranked(afresh.survivors)) != before
    assert list(solved.ranked(solved.survivors)) == before


@pytest.mark.parametrize("capability", [FITTING, FAILING], ids=["fitting", "failing"])
def test_an_explanation_costs_hardly_more_over_more_candidates(capability: dict[str, Any]) -> None:
    """Its lists are limited; all the rest are operations on whole sets."""

    def cost(count: int) -> int:
        catalog = catalog_of(count)
        wr.explain(capability, catalog).to_dict()  # builds the index
        return calls(lambda: wr.explain(capability, catalog).to_dict())

    assert cost(2100) < 1.3 * cost(420)
