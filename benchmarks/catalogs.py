"""Synthetic catalogs and requests: seeded, so that every run measures the same."""

import random
from collections.abc import Iterator
from typing import Any

from whyroute.catalog.catalog import Catalog
from whyroute.model.capability import Capability
from whyroute.model.features import FEATURES
from whyroute.model.metadata import ProviderMetadata
from whyroute.model.policy import TenantPolicy

__all__ = [
    "ATTRIBUTES",
    "REGIONS",
    "catalog_of",
    "failing_request",
    "metadata_of",
    "provider_of",
    "providers_of",
    "request_of",
]

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


def provider_of(index: int, models: int, rng: random.Random) -> dict[str, Any]:
    """The metadata of one provider with so many models, in wire form."""
    return {
        "id": f"provider-{index:06d}",
        "region": rng.choice(REGIONS),
        "attributes": rng.sample(ATTRIBUTES, rng.randrange(3)),
        "fallback": rng.random() < 0.02,
        "models": [_model(at, rng) for at in range(models)],
    }


def metadata_of(index: int, models: int, rng: random.Random) -> ProviderMetadata:
    """One provider with so many models."""
    return ProviderMetadata.model_validate(provider_of(index, models, rng))


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


def providers_of(candidates: int, seed: int = 7) -> Iterator[dict[str, Any]]:
    """The metadata of providers with so many candidates together, ten to a provider, in wire form."""
    rng = random.Random(seed)
    each = min(MODELS_EACH, candidates)
    return (provider_of(index, each, rng) for index in range(candidates // each))


def catalog_of(candidates: int, seed: int = 7) -> Catalog:
    """A catalog of so many candidates, ten to a provider."""
    return Catalog(map(ProviderMetadata.model_validate, providers_of(candidates, seed)))


def request_of(seed: int, preferences: int = 2) -> tuple[Capability, TenantPolicy]:
    """A request that a catalog of some size satisfies: needs, a policy and preferences, different for every seed.

    Args:
        seed: Of the random numbers.
        preferences: How many preferences; past the attributes and features that there are, they repeat.
    """
    rng = random.Random(seed)
    capability = Capability.model_validate(
        {
            "needs": [
                {"feature": rng.choice(FEATURES)},
                {"contextWindow": {"op": ">=", "value": rng.randrange(8_000, 64_000)}},
                {"costPerCall": {"op": "<=", "usd": rng.uniform(0.001, 0.01)}},
            ],
            "prefer": [{"feature": name, "weight": rng.choice([0.5, 1, 2, 2.5])} for name in _liked(preferences, rng)],
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


def _liked(count: int, rng: random.Random) -> list[str]:
    if count <= len(ATTRIBUTES):
        return rng.sample(ATTRIBUTES, count)
    return rng.choices([*ATTRIBUTES, *FEATURES], k=count)


def failing_request(seed: int, *, floor: bool = False) -> tuple[Capability, TenantPolicy]:
    """A request of nine constraints that no candidate satisfies, whatever the catalog's size.

    Args:
        seed: Of the random numbers.
        floor: Whether the policy has a tenth: the least context window.
    """
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
            **({"maxTokensPerCall": rng.randrange(30_000, 150_000)} if floor else {}),
        }
    )
    return capability, policy
