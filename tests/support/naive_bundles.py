"""A naive router of bundles, written from the formats alone: every combination of candidates, one after the other."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import bruteforce
import naive
import naive_rules
from naive import COMPARE, Model, Provider, exact

Json = dict[str, Any]
Pair = tuple[Provider, Model]

READ: dict[str, Any] = {
    "provider": lambda pair: pair[0]["id"],
    "model": lambda pair: pair[1]["name"],
    "region": lambda pair: None if pair[0]["region"] == "unspecified" else pair[0]["region"],
    "kind": lambda pair: pair[0].get("capabilityKind", "llm-inference"),
    "promptUsdPer1kTokens": lambda pair: pair[1]["cost"]["promptUsdPer1kTokens"],
    "completionUsdPer1kTokens": lambda pair: pair[1]["cost"]["completionUsdPer1kTokens"],
    "p95LatencyMs": lambda pair: pair[1].get("p95LatencyMs"),
}


def of_slot(request: Json, slot: Json) -> Json:
    """The request for one slot on its own."""
    kept = {key: value for key, value in request.items() if key not in ("slots", "together")}
    return {**kept, **slot, "labels": {**request.get("labels", {}), **slot.get("labels", {})}}


def holds(tie: Json, pairs: Sequence[Pair]) -> bool:
    """Whether the candidates of the slots that a tie names meet it."""
    for kind in ("same", "different"):
        if kind in tie:
            values = [READ[tie[kind]](pair) for pair in pairs]
            return None not in values and len(set(values)) == (1 if kind == "same" else len(values))
    kind = "sum" if "sum" in tie else "max"
    numbers = [READ[tie[kind]](pair) for pair in pairs]
    if None in numbers:
        return False
    fractions = [exact(number) for number in numbers]
    total = sum(fractions, Fraction(0)) if kind == "sum" else max(fractions)
    return COMPARE[tie["op"]](total, exact(tie["value"]))


class Naive:
    """Everything about a request for a bundle, by looking at every combination."""

    def __init__(self, request: Json) -> None:
        self.request = request
        self.names = list(request["slots"])
        self.everyone: list[Pair] = [(p, m) for p in request["providers"] for m in p["models"]]
        self.slots = [of_slot(request, slot) for slot in request["slots"].values()]
        self.ties: list[Json] = request.get("together", [])
        self.ids: list[str] = []
        checks: dict[str, list[Any]] = {}
        shared: list[tuple[int, int, str]] = []
        for index, (name, slot) in enumerate(zip(self.names, self.slots, strict=True)):
            rules = [r for r in slot.get("rules", []) if naive_rules.in_force(r, slot) and r.get("mode") != "shadow"]
            found = naive_rules.constraints(slot, rules)
            clauses = len(naive.policy_constraints(slot.get("tenantPolicy", {})))
            own = 1 + len(slot["capability"]["needs"])
            names = [r["name"] for r in rules if "require" in r or "forbid" in r]
            for place, (_, check) in enumerate(found):
                if place < own:
                    key = f"{name}:{'kind' if place == 0 else f'needs/{place - 1}'}"
                    self.ids.append(key)
                elif place < own + clauses:
                    key = f"policy/{place - own}"
                    shared.append((0, place, key))
                else:
                    key = f"rules/{names[place - own - clauses]}"
                    order = [r["name"] for r in slot["rules"]]
                    shared.append((1, order.index(names[place - own - clauses]), key))
                checks.setdefault(key, [None] * len(self.names))[index] = check
        self.ids += [f"together/{index}" for index in range(len(self.ties))]
        self.ids += list(dict.fromkeys(key for _, _, key in sorted(shared, key=lambda each: each[:2])))
        self.checks = checks
        self.places = [self._places(slot) for slot in self.slots]

    def _places(self, slot: Json) -> dict[int, int]:
        """The place of each candidate in the slot's rank order, regular before fallback."""
        rules = [r for r in slot.get("rules", []) if naive_rules.in_force(r, slot) and r.get("mode") != "shadow"]
        order: list[Json] = []
        for fallback in (False, True):
            part = [pair for pair in self.everyone if pair[0].get("fallback", False) is fallback]
            if part:
                decided = naive_rules.decide(slot, part, rules)
                order += [decided["pick"], *decided["alternates"]]
        names = [naive.named(pair) for pair in self.everyone]
        return {names.index(name): place for place, name in enumerate(order)}

    def _score(self, slot: Json, pair: Pair) -> Fraction:
        rules = [r for r in slot.get("rules", []) if naive_rules.in_force(r, slot) and r.get("mode") != "shadow"]
        score: Fraction = naive_rules.decide(slot, [pair], rules)["score"]
        return score

    def failed(self, numbers: Sequence[int]) -> frozenset[int]:
        """The constraints that a combination fails, by their places in `ids`."""
        found = set()
        for place, key in enumerate(self.ids):
            if key.startswith("together/") and key not in self.checks:
                tie = self.ties[int(key.partition("/")[2])]
                members = [i for i, name in enumerate(self.names) if name in tie.get("slots", self.names)]
                if not holds(tie, [self.everyone[numbers[i]] for i in members]):
                    found.add(place)
            elif any(
                check is not None and check(*self.everyone[number]) is not None
                for check, number in zip(self.checks[key], numbers, strict=True)
            ):
                found.add(place)
        return frozenset(found)

    def combinations(self) -> list[tuple[int, ...]]:
        return list(product(range(len(self.everyone)), repeat=len(self.names)))

    def order(self, numbers: Sequence[int]) -> tuple[Any, ...]:
        pairs = [self.everyone[number] for number in numbers]
        hints = 0
        for slot, (provider, model) in zip(self.slots, pairs, strict=True):
            given = [
                slot[key] == name
                for key, name in (("preferredProvider", provider["id"]), ("preferredModel", model["name"]))
                if key in slot
            ]
            hints += bool(given) and all(given)
        fallbacks = sum(pair[0].get("fallback", False) for pair in pairs)
        total = sum((self._score(slot, pair) for slot, pair in zip(self.slots, pairs, strict=True)), Fraction(0))
        places = [place[number] for place, number in zip(self.places, numbers, strict=True)]
        return (fallbacks, -hints, -total, places)

    def answer(self) -> Json:
        """`bundles`: all that count, best first, as (picks, score, fallbacks); or `cores` and `corrections`."""
        fails = {numbers: self.failed(numbers) for numbers in self.combinations()}
        fitting = [numbers for numbers, failed in fails.items() if not failed]
        if fitting:
            keys = {numbers: self.order(numbers) for numbers in fitting}
            regular = [numbers for numbers in fitting if keys[numbers][0] == 0]
            ranked = sorted(regular or fitting, key=keys.__getitem__)
            return {"bundles": [(self.picks(n), naive.as_number(-keys[n][2]), keys[n][0]) for n in ranked]}
        distinct = set(fails.values())
        corrections = [each for each in distinct if not any(other < each for other in distinct)]
        within = sorted({place for each in corrections for place in each})
        edges = [[within.index(place) for place in each] for each in corrections]
        cores = bruteforce.all_hitting_sets(len(within), edges) if fails else [()]
        told = sorted((sorted(each) for each in corrections), key=lambda each: (len(each), each))
        return {
            "cores": [[self.ids[within[place]] for place in core] for core in cores],
            "corrections": [[self.ids[place] for place in each] for each in told],
        }

    def picks(self, numbers: Sequence[int]) -> Json:
        return {name: naive.named(self.everyone[n]) for name, n in zip(self.names, numbers, strict=True)}
