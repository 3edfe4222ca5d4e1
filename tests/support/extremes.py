"""Wire requests whose numbers lie at the ends of the double range, and close together; drawn from a seed."""

import json
import math
import random
import struct
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import naive

Json = dict[str, Any]

LARGEST = sys.float_info.max
OPS = [">=", ">", "=", "<=", "<"]
FEATURES = ["vision", "tool-use"]
REGIONS = ["eu", "us"]

AMOUNTS: list[float] = [
    *(0, 0.0, -0.0, 5e-324, 1e-323, 2.225073858507201e-308, sys.float_info.min, 1e-300, 1e-162, 1e-7, 1e-6, 0.001),
    *(0.1, 0.2, 0.3, 0.30000000000000004, 0.5, 1, 1.5, 900, 4096, 2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, 2**63),
    *(1e21, 1e22, 1e23, 10**23, 1e154, 1e155, 10**300, 1e308, LARGEST / 2, math.nextafter(LARGEST, 0), LARGEST),
    int(LARGEST),
]
"""Numbers of at least 0."""


class Draw:
    """Draws requests. Each takes its numbers from a few, their sums and their neighbours, so that bounds are met.

    Args:
        seed: Decides everything.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.one: Callable[[list[Any]], Any] = self._random.choice
        self._few: list[float] = [0]

    def chance(self, share: float) -> bool:
        """Whether something comes about that does so with this share."""
        return self._random.random() < share

    def some(self, pool: list[Any], at_most: int, at_least: int = 0) -> list[Any]:
        return [self.one(pool) for _ in range(self._random.randint(at_least, at_most))]

    def amount(self) -> float:
        """A finite number of at least 0."""
        if self.chance(0.15):
            return self._summed()
        value: float = self.one(self._few)
        if self.chance(0.1):
            value = float(value)
        return self._neighbour(value) if self.chance(0.15) else value

    def number(self) -> float:
        """A finite number."""
        sign: int = self.one([1, 1, -1])
        return sign * self.amount()

    def positive(self) -> float:
        """An integer of at least 1, perhaps written as a float."""
        return max(self.count(), 1)

    def count(self) -> float:
        """An integer of at least 0, perhaps written as a float."""
        value = self.amount()
        return value if isinstance(value, int) else float(math.ceil(value))

    def _summed(self) -> float:
        total = sum((naive.exact(each) for each in self.some(self._few, 3, 2)), Fraction(0))
        return naive.as_number(total)

    def _neighbour(self, value: float) -> float:
        return min(abs(math.nextafter(float(value), self.one([-math.inf, math.inf]))), LARGEST)

    def _any_double(self) -> float:
        while True:
            found: float = abs(struct.unpack("<d", self._random.randbytes(8))[0])
            if math.isfinite(found):
                return found

    # Requests.

    def request(self) -> Json:
        """A request for one capability, with rules."""
        self._start()
        found: Json = {"capability": self.capability(), **self._around(self._random.randint(1, 4))}
        if self.chance(0.6):
            found["tokens"] = self.tokens()
        return found

    def bundle(self) -> Json:
        """A request for a bundle of one to three slots."""
        self._start()
        count = self.one([1, 2, 2, 3])
        slots: Json = {}
        for name in ["a", "b", "c"][:count]:
            slots[name] = {"capability": self.capability(1)}
            if self.chance(0.2):
                slots[name]["tokens"] = self.tokens()
        ties = [self.tie(list(slots)) for _ in range(self._random.randint(0, 3))]
        found = {"slots": slots, "together": ties, **self._around(self._random.randint(1, 4 if count < 3 else 3))}
        if self.chance(0.3):
            found["tokens"] = self.tokens()
        return found

    def _start(self) -> None:
        self._few = self.some(AMOUNTS, 4, 2) + [self._any_double() for _ in range(self._random.randint(0, 1))]

    def _around(self, models: int) -> Json:
        found: Json = {"providers": self.providers(models), "at": "2026-12-24T09:30:00Z"}
        if self.chance(0.5):
            found["tenantPolicy"] = {"tenantId": "t", **self.caps()}
        if self.chance(0.6):
            found["rules"] = [self.rule(f"r{at}") for at in range(self._random.randint(1, 3))]
        return found

    def providers(self, models: int) -> list[Json]:
        found: list[Json] = []
        for at in range(models):
            if not found or self.chance(0.6):
                found.append({"id": f"p{at}", "region": self.one(REGIONS), "models": []})
                if self.chance(0.15):
                    found[-1]["fallback"] = True
            found[-1]["models"].append(self.model(f"m{self.one([at, 0]) if not found[-1]['models'] else at}"))
        return found

    def model(self, name: str) -> Json:
        prices = {f"{kind}UsdPer1kTokens": self.amount() for kind in ("prompt", "completion")}
        features = sorted(set(self.some(FEATURES, 2)))
        found = {"name": name, "contextWindow": self.positive(), "features": features, "cost": prices}
        if self.chance(0.7):
            found["p95LatencyMs"] = self.amount()
        if self.chance(0.4):
            found["maxOutputTokens"] = self.positive()
        return found

    def capability(self, needs: int = 2) -> Json:
        found: Json = {"needs": [self.need() for _ in range(self._random.randint(0, needs))]}
        if self.chance(0.6):
            weights = [{"feature": self.one(FEATURES), "weight": self.number()} for _ in range(self.one([1, 2, 3]))]
            found["prefer"] = weights
        if self.chance(0.2):
            found["budget"] = {"maxCostUsd": self.amount(), "maxTokens": self.count(), "maxDurationMs": self.count()}
        return found

    def need(self) -> Json:
        match self.one(["feature", "contextWindow", "costPerCall", "costPerCall", "p95LatencyMs", "region"]):
            case "feature":
                return {"feature": self.one(FEATURES)}
            case "region":
                return {"region": self.one(REGIONS)}
            case "contextWindow":
                return {"contextWindow": {"op": self.one(OPS), "value": self.positive()}}
            case "costPerCall":
                return {"costPerCall": {"op": self.one(OPS), "usd": self.amount()}}
            case _:
                return {"p95LatencyMs": {"op": self.one(["<=", "<"]), "value": self.count()}}

    def caps(self) -> Json:
        found: Json = {}
        if self.chance(0.6):
            found["maxCostPerCallUsd"] = self.amount()
        if self.chance(0.4):
            found["maxTokensPerCall"] = self.positive()
        return found

    def tokens(self) -> Json:
        return {"prompt": self.count(), "completion": self.count()}

    def tie(self, slots: list[str]) -> Json:
        kind = self.one(["same", "different", "sum", "sum", "sum", "max"])
        tie: Json
        if kind in ("same", "different"):
            tie = {kind: self.one(["provider", "model", "region"])}
        else:
            field = self.one(["promptUsdPer1kTokens", "completionUsdPer1kTokens", "p95LatencyMs"])
            tie = {kind: field, "op": self.one(["<=", "<=", *OPS]), "value": self.number()}
        if len(slots) > 1 and self.chance(0.2):
            tie["slots"] = sorted({*self.some(slots, 1, 1), *slots[:2]})
        return tie

    def rule(self, name: str) -> Json:
        found: Json = {"name": name, "because": f"Since {name}."}
        match self.one(["require", "forbid", "prefer", "order"]):
            case "order":
                found["prefer"] = {self.one(["lowest", "highest"]): self.one(FIELDS)}
            case "prefer":
                found |= {"prefer": self.condition(), "weight": self.number()}
            case effect:
                found[effect] = self.condition(negated=effect == "forbid")
        return found

    def condition(self, *, negated: bool = False) -> Json:
        one: Json = {self.one(FIELDS): self.matcher()}
        if not negated and self.chance(0.2):
            return {"not": one}
        return one

    def matcher(self) -> Any:
        match self.one(["eq", "list", "ne", "in", "notIn", "lt", "lte", "gt", "gte"]):
            case "eq":
                return self.number()
            case "list":
                return [self.number() for _ in range(2)]
            case "in" | "notIn" as op:
                return {op: [self.number() for _ in range(2)]}
            case op:
                return {op: self.number()}


FIELDS = [
    *("callUsd", "callUsd", "promptUsdPer1kTokens", "completionUsdPer1kTokens"),
    *("p95LatencyMs", "contextWindow", "maxOutputTokens"),
]


def as_doubles(request: Json) -> Json:
    """The request with each number as the double that the wire means by it."""
    found: Json = json.loads(json.dumps(request), parse_int=float)
    return found
