"""What a catalog remembers of the last requests changes no answer, and keeps nothing alive that nobody needs."""

import gc
import json
import weakref
from itertools import product
from typing import Any

import pytest

import whyroute as wr
from whyroute.catalog import Catalog
from whyroute.solving import solve


def _metadata(name: str, **more: Any) -> dict[str, Any]:
    models = [
        {
            "name": f'm"{at}',
            "contextWindow": 1000 * at + 1000,
            "features": ["vision"] * at,
            "cost": {"promptUsdPer1kTokens": 0.1 * at, "completionUsdPer1kTokens": 1},
        }
        for at in range(2)
    ]
    return {"id": name, "region": "eu", "models": models, **more}


CATALOG = [_metadata("p"), _metadata("q", attributes=["local"]), _metadata("ü", fallback=True)]
CAPABILITIES = [
    wr.define_capability({"needs": [{"contextWindow": {"op": ">=", "value": window}}], "prefer": prefer})
    for window in (1, 1500, 9999)
    for prefer in ([], [{"feature": "local", "weight": 0.1}, {"feature": "vision", "weight": 0.2}])
]
POLICIES = [None, wr.TenantPolicy.model_validate({"tenantId": "t", "providers": {"deny": ["p"]}})]
HINTS: list[dict[str, Any]] = [{}, {"preferred_provider": "q"}, {"preferred_model": 'm"0'}]


def _answer(catalog: Catalog, capability: Any, policy: Any, hints: dict[str, Any]) -> Any:
    try:
        decision = wr.route(capability, catalog, policy=policy, **hints)
    except wr.CapabilityUnsatisfiableError as error:
        return error.to_dict(), error.explanation.to_dict()
    return decision.to_dict(), decision.to_json(), decision.explanation.to_dict()


def test_an_answer_is_the_same_the_second_time_whatever_was_asked_in_between() -> None:
    remembering = Catalog(CATALOG)
    asked = list(product(CAPABILITIES, POLICIES, HINTS))
    for order in (asked, asked[::-1], [each for each in asked for _ in range(2)]):
        for capability, policy, hints in order:
            assert _answer(remembering, capability, policy, hints) == _answer(
                Catalog(CATALOG), capability, policy, hints
            )


def test_a_request_made_from_another_has_a_reason_of_its_own() -> None:
    catalog = Catalog(CATALOG)
    first = solve(CAPABILITIES[1], catalog)
    assert first.told(str, "first") == first.told(str, "again") == "first"
    assert first.again(CAPABILITIES[3], None).told(str, "another") == "another"
    assert first.again(CAPABILITIES[1], POLICIES[1]).told(str, "another") == "another"


@pytest.mark.parametrize("routes", [1, 3])
def test_what_is_remembered_does_not_hold_the_catalog(routes: int) -> None:
    """Registries make a new catalog for each change: the old one goes at once, without the garbage collector."""
    providers = [Provider() for _ in range(2)]
    for at, provider in enumerate(providers):
        provider.metadata = wr.ProviderMetadata.model_validate(_metadata(f"p{at}"))
    catalog = Catalog(providers)
    for _ in range(routes):
        assert wr.route(CAPABILITIES[1], catalog).reason
    gone = weakref.ref(providers[0])
    gc.disable()
    try:
        providers.clear()
        del provider, catalog
        assert gone() is None
    finally:
        gc.enable()


class Provider:
    """A provider whose life can be watched."""

    metadata: wr.ProviderMetadata

    async def invoke(self, call: Any) -> Any:
        raise NotImplementedError


def test_few_requests_are_remembered() -> None:
    catalog = Catalog(CATALOG)
    for capability in CAPABILITIES * 3:
        with_answer = _answer(catalog, capability, None, {})
        assert with_answer
    assert len(catalog.recent) == 4


def test_json_is_the_json_of_the_dictionary() -> None:
    for capability in CAPABILITIES[:4]:
        decision = wr.route(capability, CATALOG)
        assert decision.to_json() == json.dumps(decision.to_dict(), ensure_ascii=False)
