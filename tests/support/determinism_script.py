"""Answers requests, one JSON line each; run by `test_determinism.py` in processes of its own.

Takes the locale to set and the order of providers: `given`, `reversed` or `shuffled`.
"""

import json
import locale
import random
import sys
from typing import Any

from whyroute import ProviderRegistry, answer, route


def requests() -> list[dict[str, Any]]:
    """Thirty requests on names whose order depends on the locale, should anyone ask the locale."""
    rng = random.Random(11)
    names = ["i", "I", "\u0131", "\u0130", "z", "\u00e4", "a", "A", "e\u0301", "\u00e9", "a/b", "a-b", "10", "9"]
    features = ["vision", "tool-use", "streaming", "batch"]
    found = []
    for at in range(30):
        providers = [
            {
                "id": name,
                "region": rng.choice(["eu-west-1", "us-east-1"]),
                "attributes": rng.sample(["local", "lower-cost", "preview"], 2),
                "fallback": rng.random() < 0.2,
                "models": [
                    {
                        "name": model,
                        "contextWindow": rng.choice([8000, 128000]),
                        "features": rng.sample(features, 3),
                        "cost": {"promptUsdPer1kTokens": rng.choice([0.1, 0.2, 0.3]), "completionUsdPer1kTokens": 1},
                    }
                    for model in rng.sample(names, 4)
                ],
            }
            for name in rng.sample(names, 8)
        ]
        request: dict[str, Any] = {
            "capability": {
                "needs": [{"feature": rng.choice(features)}, {"costPerCall": {"op": "<=", "usd": 0.2}}],
                "prefer": [
                    {"feature": name, "weight": weight}
                    for name, weight in zip(["local", "preview", "vision"], [0.1, 0.2, 0.3], strict=True)
                ],
            },
            "providers": providers,
            "at": "2026-12-24",
        }
        if at % 3 == 0:
            request["tenantPolicy"] = {"tenantId": "t", "regionAllow": ["us-east-1"], "models": {"deny": ["I", "z"]}}
        if at % 5 == 0:
            request["preferredModel"] = "i"
        if at % 4 == 0:
            request["tenantPolicy"] = {"tenantId": "t", "maxCostPerCallUsd": 0}
            request["include"] = ["explanation"]
        found.append(request)
    found.append({**found[0], "capability": {"needs": [{"feature": "vison"}, {"x": 1, "region": "r"}], "extra": 1}})
    found.append({**found[0], "providers": [{"id": "", "labels": {"B": 1, "A": 2}}], "tokans": 1, "lables": 2})
    return found


def main(name: str, order: str) -> None:
    """Write the answers to standard output, as UTF-8 whatever the locale says."""
    locale.setlocale(locale.LC_ALL, name)  # fails when there is no such locale: nothing would be tested
    out = sys.stdout.buffer
    for request in requests():
        providers = request["providers"]
        if order == "reversed":
            providers.reverse()
        elif order == "shuffled":
            random.Random(5).shuffle(providers)
        out.write(json.dumps(answer(request), ensure_ascii=False, allow_nan=False).encode() + b"\n")
    registry = ProviderRegistry()
    for provider in requests()[1]["providers"]:
        registry.register("t", _Live(provider))
    decision = route({"needs": []}, registry.list("t"))
    out.write(b'{"decision": ' + decision.to_json().encode() + b"}\n")


class _Live:
    def __init__(self, metadata: Any) -> None:
        self.metadata = metadata

    async def invoke(self, call: Any, /) -> Any:
        raise NotImplementedError


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
