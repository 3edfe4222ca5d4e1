"""Wire requests for bundles, from the small pools of `strategies` and `rule_strategies`."""

from typing import Any

from hypothesis import strategies as st

import rule_strategies
import strategies as wire

Json = dict[str, Any]

NAMES = ["planner", "judge", "a/b:kind"]
CANDIDATES = 8

_bounds: dict[str, list[float]] = {
    "promptUsdPer1kTokens": [*wire.PRICES, 0.4, 0.6],
    "completionUsdPer1kTokens": [*wire.PRICES, 0.4, 0.6],
    "p95LatencyMs": [0, 0.5, 900, 1800, 1500, 2400],
}


@st.composite
def ties(draw: st.DrawFn, slots: list[str]) -> Json:
    """A tie between some of these slots, or all."""
    kind = draw(st.sampled_from(["same", "different", "sum", "sum", "max"]))
    tie: Json
    if kind in ("same", "different"):
        tie = {kind: draw(st.sampled_from(["provider", "model", "region", "kind"]))}
    else:
        field = draw(st.sampled_from(sorted(_bounds)))
        tie = {
            kind: field,
            "op": draw(st.sampled_from(["<=", "<=", *wire.OPS])),
            "value": draw(st.sampled_from(_bounds[field])),
        }
    least = 2 if kind in ("same", "different") else 1
    if len(slots) >= least and draw(st.booleans()):
        tie["slots"] = draw(st.lists(st.sampled_from(slots), min_size=least, unique=True))
    return tie


@st.composite
def bundles(draw: st.DrawFn, *, ruled: bool = True) -> Json:
    """Valid wire requests for bundles: up to 3 slots, 8 candidates and 3 ties."""
    base: Json = draw(rule_strategies.requests() if ruled else wire.requests())
    request = {
        k: v
        for k, v in base.items()
        if k not in ("capability", "preferredProvider", "preferredModel", "capabilityName")
    }
    left = CANDIDATES
    for provider in request["providers"]:
        provider["models"] = provider["models"][: max(left, 0)]
        left -= len(provider["models"])
        if provider.get("defaultModel") not in [model["name"] for model in provider["models"]]:
            provider.pop("defaultModel", None)
    request["providers"] = [provider for provider in request["providers"] if provider["models"]]
    names = NAMES[: draw(st.sampled_from([2, 3, 2, 1]))]
    slots: Json = {}
    for name in names:
        capability = draw(wire.capabilities)
        capability["needs"] = capability["needs"][:2]
        slot: Json = {"capability": capability}
        optional: dict[str, st.SearchStrategy[Any]] = {
            "preferredProvider": st.sampled_from(wire.IDS),
            "preferredModel": st.sampled_from(wire.NAMES),
        }
        if ruled:
            optional["labels"] = st.dictionaries(st.just("data"), st.sampled_from(["patient", "staff"]), max_size=1)
            optional["tokens"] = st.just({"prompt": 1, "completion": 2})
            optional["capabilityName"] = st.sampled_from(["summarise", "chat"])
        slot |= draw(st.fixed_dictionaries({}, optional=optional))
        slots[name] = slot
    request["slots"] = slots
    request["together"] = draw(st.lists(ties(names), max_size=3))
    return request
