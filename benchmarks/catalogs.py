"""Synthetic catalogs and requests: seeded, so that every run measures the same."""

import random
from typing import Any

from whyroute.catalog import Catalog
from whyroute.declarations import Capability
from whyroute.features import FEATURES
from whyroute.policies import TenantPolicy
from whyroute.providers import ProviderMetadata

__all__ = ["catalog_of", "failing_request", "metadata_of", "request_of"]

REGIONS = (
    "eu-west-1",
    "eu-central-1",
    "eu-north-1",
    "us-east-1",
    "us-west-2",
    "ap-south-1",
    "ap-east-1",
    "unspecified",
)
WINDOWS = (8_192, 16_384, 32_768, 65_536, 128_000, 131_072, 200_000, 256_000, 400_000, 1_000_000, 1_048_576, 2_000_000)
ATTRIBUTES = ("lower-cost", "lower-latency", "higher-accuracy", "local", "preview", "open-weights")
MODELS_EACH = 10


def metadata_of(index: int, models: int, rng: random.Random) -> ProviderMetadata:
    """One provider with so many models."""
    return ProviderMetadata.model_validate(
        {
            "id": f"provider-{index:06d}",
            "region": rng.choice(REGIONS),
            "attributes": rng.sample(ATTRIBUTES, rng.randrange(3)),
            "fallback": rng.random() < 0.02,
            "models": [_model(at, rng) for at in range(models)],
        }
    )


def _model(at: int, rng: random.Random) -> dict[str, Any]:
    prompt = round(rng.lognormvariate(-7, 1.5), 6)
    model: dict[str, Any] = {
        "name": f"model-{rng.randrange(40):02d}-{at:02d}",
        "contextWindow": rng.choice(WINDOWS),
        "features": rng.sample(FEATURES, rng.randrange(2, 10)),
        "cost": {"promptUsdPer1kTokens": prompt, "completionUsdPer1kTokens": prompt * 4},
    }
    if rng.random() < 0.8:
        model["p95LatencyMs"] = rng.randrange(200, 8_000)
    return model


def catalog_of(candidates: int, seed: int = 7) -> Catalog:
    """A catalog of so many candidates, ten to a provider."""
    rng = random.Random(seed)
    each = min(MODELS_EACH, candidates)
    return Catalog(metadata_of(index, each, rng) for index in range(candidates // each))


def request_of(seed: int) -> tuple[Capability, TenantPolicy]:
    """A request that a catalog of some size satisfies: needs, a policy and preferences, different for every seed."""
    rng = random.Random(seed)
    capability = Capability.model_validate(
        {
            "needs": [
                {"feature": rng.choice(FEATURES)},
                {"contextWindow": {"op": ">=", "value": rng.randrange(8_000, 64_000)}},
                {"costPerCall": {"op": "<=", "usd": rng.uniform(0.001, 0.01)}},
            ],
            "prefer": [{"feature": name, "weight": rng.choice([0.5, 1, 2, 2.5])} for name in rng.sample(ATTRIBUTES, 2)],
        }
    )
    policy = TenantPolicy.model_validate(
        {
            "tenantId": "acme",
            "providers": {"deny": [f"provider-{rng.randrange(1000):06d}"]},
            "regionAllow": rng.sample(REGIONS, 6),
        }
    )
    return capability, policy


def failing_request(seed: int) -> tuple[Capability, TenantPolicy]:
    """A request of nine constraints that no candidate satisfies, whatever the catalog's size."""
    rng = random.Random(seed)
    first, second = rng.sample(FEATURES, 2)
    capability = Capability.model_validate(
        {
            "needs": [
                {"feature": first},
                {"feature": second},
                {"contextWindow": {"op": ">=", "value": rng.randrange(100_000, 400_000)}},
                {"costPerCall": {"op": "<=", "usd": rng.uniform(0.0002, 0.002)}},
                {"p95LatencyMs": {"op": "<=", "value": rng.randrange(300, 2_000)}},
                {"region": rng.choice(REGIONS[:4])},
            ],
        }
    )
    policy = TenantPolicy.model_validate(
        {
            "tenantId": "acme",
            "regionAllow": list(REGIONS[4:7]),
            "maxCostPerCallUsd": rng.uniform(0.001, 0.01),
        }
    )
    return capability, policy
