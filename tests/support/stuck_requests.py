"""Random wire requests that mostly nothing serves: what ways out are held to."""

import random
from typing import Any

Json = dict[str, Any]

REGIONS = ["eu", "us", "ap", "eu-west", "unspecified"]
MODELS = ["m", "n", "o"]
FEATURES = ["vision", "tool-use", "thinking"]
KINDS = ["llm-inference", "embedding", "rerank"]
WINDOWS = [10, 100, 1000]
PRICES = [0, 0.1, 0.2, 0.5, 0.7]
LATENCIES = [0.5, 100, 250.5, 900]
TOTALS = ["promptUsdPer1kTokens", "completionUsdPer1kTokens", "p95LatencyMs"]


class Maker:
    """Makes requests from a seed, the same ones everywhere."""

    def __init__(self, seed: object) -> None:
        self.random = random.Random(str(seed))

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def one(self, pool: list[Any]) -> Any:
        return self.random.choice(pool)

    def some(self, pool: list[Any], least: int = 0, most: int = 2) -> list[Any]:
        """Members of a pool; now and then one of them twice."""
        found = self.random.sample(pool, min(len(pool), self.random.randint(least, most)))
        return [*found, found[0]] if found and self.chance(0.1) else found

    def provider(self, name: str) -> Json:
        found: Json = {"id": name, "region": self.one(REGIONS), "models": [self.model(m) for m in self.some_models()]}
        kind = self.one([None] * 6 + ["embedding", "embedding", "rerank", ""])
        if kind is not None:
            found["capabilityKind"] = kind
        if self.chance(0.2):
            found["fallback"] = True
        return found

    def some_models(self) -> list[str]:
        return self.random.sample(MODELS, self.random.choice([1, 1, 2]))

    def model(self, name: str) -> Json:
        found: Json = {
            "name": name,
            "contextWindow": self.one(WINDOWS),
            "features": self.random.sample(FEATURES, self.random.randint(0, 2)),
            "cost": {"promptUsdPer1kTokens": self.one(PRICES), "completionUsdPer1kTokens": self.one(PRICES)},
        }
        if self.chance(0.7):
            found["p95LatencyMs"] = self.one(LATENCIES)
        return found

    def lists(self, names: list[str]) -> Json:
        found: Json = {}
        if self.chance(0.6):
            found["allow"] = self.some(names)
        if self.chance(0.6) or not found:
            found["deny"] = self.some(names)
        return found

    def need(self, ids: list[str]) -> Json:
        op = self.one([">=", ">", "=", "<=", "<"])
        bounded = {"op": self.one(["<=", "<"]), "value": self.one([0, 1, 100, 250])}
        found: Json = self.one(
            [
                {"feature": self.one(FEATURES)},
                {"contextWindow": {"op": op, "value": self.one(WINDOWS)}},
                {"costPerCall": {"op": op, "usd": self.one(PRICES)}},
                {"region": self.one([*REGIONS, "europe"])},
                {"p95LatencyMs": bounded},
                {"providers": self.lists(ids)},
                {"models": self.lists(MODELS)},
            ]
        )
        return found

    def capability(self, ids: list[str], most: int) -> Json:
        found: Json = {"needs": [self.need(ids) for _ in range(self.random.randint(0, most))]}
        if self.chance(0.2):
            found["kind"] = self.one(KINDS)
        if self.chance(0.4):
            found["prefer"] = [{"feature": self.one(FEATURES), "weight": self.one([1, 2, 0.5])}]
        return found

    def asked(self, ids: list[str], most: int) -> Json:
        """A capability with its hints."""
        found: Json = {"capability": self.capability(ids, most)}
        if self.chance(0.2):
            found["preferredProvider"] = self.one(ids)
        if self.chance(0.1):
            found["preferredModel"] = self.one(MODELS)
        return found

    def policy(self, ids: list[str]) -> Json:
        clauses: dict[str, Any] = {
            "providers": self.lists(ids),
            "models": self.lists(MODELS),
            "regionAllow": self.some([*REGIONS, "europe"]),
            "maxCostPerCallUsd": self.one(PRICES),
            "maxTokensPerCall": self.one(WINDOWS),
        }
        return {"tenantId": "t", **{key: value for key, value in clauses.items() if self.chance(0.4)}}

    def condition(self, ids: list[str]) -> Json:
        found: Json = self.one(
            [
                {"region": self.one([*REGIONS, "europe"])},
                {"provider": self.some(ids, 1)},
                {"model": self.one(MODELS)},
                {"feature": self.one(FEATURES)},
                {"kind": self.one(KINDS)},
                {"contextWindow": {"gte": self.one(WINDOWS)}},
                {"promptUsdPer1kTokens": {"lte": self.one(PRICES)}},
            ]
        )
        return found

    def rule(self, name: str, ids: list[str]) -> Json:
        found: Json = {"name": name, "because": "So it is."}
        if self.chance(0.6):
            found["when"] = self.one(
                [{"kind": self.one(KINDS)}, {"feature": self.one(FEATURES)}, {"not": {"feature": self.one(FEATURES)}}]
            )
        effect = self.one(["require", "require", "forbid", "prefer"])
        found[effect] = self.condition(ids)
        if effect == "prefer":
            found["weight"] = self.one([1, 3])
        elif self.chance(0.5):
            found["waivable"] = True
        if self.chance(0.1):
            found["mode"] = "shadow"
        return found

    def surroundings(self, ids: list[str]) -> Json:
        found: Json = {"providers": [self.provider(name) for name in ids], "at": "2026-12-24T00:00:00Z"}
        if self.chance(0.8):
            found["tenantPolicy"] = self.policy(ids)
        if self.chance(0.3):
            found["regions"] = {"europe": ["eu", "eu-west"], "eu": ["eu-west"]}
        if self.chance(0.4):
            found["rules"] = [self.rule(f"r{place}", ids) for place in range(self.random.randint(1, 2))]
            lifted = [rule["name"] for rule in found["rules"] if rule.get("waivable")]
            if lifted and self.chance(0.5):
                waiver = {"name": "w", "rule": self.one(lifted), "admits": {"provider": self.one(ids)}}
                found["waivers"] = [
                    {**waiver, "because": "So it is.", "owner": "o", "tenant": "t", "until": "2027-01-01"}
                ]
        return found

    def ids(self) -> list[str]:
        return [f"p{place}" for place in range(self.random.randint(2, 5))]

    def route(self) -> Json:
        """A request for one capability."""
        ids = self.ids()
        return {**self.asked(ids, 4), **self.surroundings(ids), "include": ["explanation"]}

    def tie(self, slots: list[str]) -> Json:
        if self.chance(0.5):
            found: Json = {self.one(["same", "different"]): self.one(["provider", "model", "region", "kind"])}
        else:
            op = self.one(["<=", "<=", "<", "=", ">=", ">"])
            found = {self.one(["sum", "max"]): self.one(TOTALS), "op": op, "value": self.one([0, 0.1, 0.3, 1, 500])}
        if self.chance(0.3):
            found["slots"] = self.random.sample(slots, self.random.randint(2, len(slots)))
        return found

    def bundle(self) -> Json:
        """A request for a bundle of two or three slots."""
        ids = self.ids()
        names = ["a", "b/~c", "d"][: self.one([2, 2, 3])]
        return {
            "slots": {name: self.asked(ids, 2) for name in names},
            **self.surroundings(ids),
            "together": [self.tie(names) for _ in range(self.one([0, 0, 1, 2]))],
            "include": ["explanation"],
        }
