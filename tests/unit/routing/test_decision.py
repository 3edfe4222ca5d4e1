"""Decisions: copies, and what is left of them elsewhere."""

import asyncio
import copy
import pickle
import threading
from typing import Any

import pytest

import whyroute as wr


class Locked:
    """A provider that can be neither pickled nor copied."""

    def __init__(self, provider_id: str) -> None:
        cost = wr.ModelCost(prompt_usd_per_1k_tokens=1, completion_usd_per_1k_tokens=1)
        model = wr.ModelInfo(name="m", context_window=8000, features=["vision"], cost=cost)
        self.metadata = wr.ProviderMetadata(id=provider_id, region="eu", models=[model])
        self._lock = threading.Lock()

    async def invoke(self, call: Any, /) -> Any:
        raise AssertionError("called")


@pytest.fixture
def decision() -> wr.Decision:
    rule = {"name": "r", "because": "It is.", "prefer": {"provider": "b"}, "weight": 1}
    return wr.route(
        {"needs": [{"feature": "vision"}]},
        [Locked("a"), Locked("b"), Locked("c")],
        policy={"tenantId": "t"},
        rules=[rule],
        preferred_provider="c",
        at="2026-12-24",
    )


def test_a_pickled_decision_knows_providers_by_their_metadata(decision: wr.Decision) -> None:
    again = pickle.loads(pickle.dumps(decision))
    assert again.to_dict() == decision.to_dict()
    assert again.asked == decision.asked
    assert again.explanation.to_dict() == decision.explanation.to_dict()
    assert again.provider == wr.DeclaredProvider(decision.candidate.metadata)
    with pytest.raises(wr.NotInvocableError):
        asyncio.run(again.provider.invoke(wr.ModelCallInput(model="m", messages=[])))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copied_decision_keeps_its_provider(decision: wr.Decision, copied: Any) -> None:
    assert copied({"decision": decision})["decision"].provider is decision.provider


def test_a_rejection_has_its_candidate() -> None:
    with pytest.raises(wr.CapabilityUnsatisfiableError) as caught:
        wr.route(
            {"needs": [{"region": "us"}]}, [Locked("a/b")], setup_failures=[{"providerId": "x", "message": "no key"}]
        )
    found = {each.id: each.candidate for reason in caught.value.reasons for each in reason.rejecting_providers}
    assert found == {"a/b/m": ("a/b", "m"), "x": None}
    assert all(
        "candidate" not in each for reason in caught.value.to_dict()["reasons"] for each in reason["rejectingProviders"]
    )
