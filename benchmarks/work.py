"""The work in the form that general-purpose peers take: candidates as rows, requests in parts, and a pick by hand.

Rule engines filter and know nothing of ranks, so that the best of what they let through is found here, in Python.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import whyroute as wr
from whyroute.model.capability import Capability
from whyroute.model.policy import TenantPolicy

__all__ = ["Picked", "Request", "Row", "best_of", "picker", "rows_of"]

Row = dict[str, Any]
"""One candidate: `provider`, `model`, `kind`, `region`, `features`, `contextWindow`, `promptPrice`, and so on."""

Picked = tuple[str, str, int] | None
"""The pick's provider and model, and how many alternates there are; None when nothing qualifies."""


@dataclass(frozen=True)
class Request:
    """A declaration and a policy, as models and in wire form."""

    capability: Capability
    policy: TenantPolicy

    @cached_property
    def prepared(self) -> wr.Prepared:
        """The request, prepared once."""
        return wr.prepare(self.capability, self.policy)

    @cached_property
    def wire(self) -> dict[str, Any]:
        """The request in wire form."""
        policy = self.policy.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return {"capability": self.capability.to_dict(), "tenantPolicy": policy}

    @cached_property
    def parts(self) -> tuple[str, int, float, list[str], list[str]]:
        """What `catalogs.request_of` asks for: feature, context window, price, denied providers, allowed regions."""
        feature, window, price = self.wire["capability"]["needs"]
        policy = self.wire["tenantPolicy"]
        return (
            feature["feature"],
            window["contextWindow"]["value"],
            price["costPerCall"]["usd"],
            policy["providers"]["deny"],
            policy["regionAllow"],
        )

    @cached_property
    def prefer(self) -> list[tuple[str, float]]:
        """The preferences, as features and weights."""
        return [(each["feature"], each["weight"]) for each in self.wire["capability"].get("prefer", ())]


def rows_of(providers: Iterable[Mapping[str, Any]]) -> list[Row]:
    """The candidates of providers given by their metadata in wire form."""
    return [
        {
            "provider": meta["id"],
            "model": model["name"],
            "kind": meta.get("capabilityKind", "llm-inference"),
            "region": meta["region"],
            "attributes": meta.get("attributes", []),
            "fallback": meta.get("fallback", False),
            "default": meta.get("defaultModel") == model["name"],
            "features": model["features"],
            "contextWindow": model["contextWindow"],
            "promptPrice": model["cost"]["promptUsdPer1kTokens"],
            "latency": model.get("p95LatencyMs"),
        }
        for meta in providers
        for model in meta["models"]
    ]


def best_of(rows: Sequence[Row], request: Request) -> Picked:
    """The best of the rows that passed: regular before fallback, then score, then provider, default model, model."""
    regular = [row for row in rows if not row["fallback"]] or rows
    if not regular:
        return None

    def key(row: Row) -> tuple[float, str, bool, str]:
        gained = sum(weight for name, weight in request.prefer if name in row["features"] or name in row["attributes"])
        return -gained, row["provider"], not row["default"], row["model"]

    best = min(regular, key=key)
    return best["provider"], best["model"], len(regular) - 1


def picker(
    rows: Sequence[Row], passing: Callable[[Sequence[Row], Request], Sequence[Row]]
) -> Callable[[Request], Picked]:
    """What routes requests over rows, given what filters them."""
    return lambda request: best_of(passing(rows, request), request)
