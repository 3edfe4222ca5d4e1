"""Declarations for property tests: valid ones, and near-valid ones made from them by mutation."""

import copy
from typing import Any

from hypothesis import strategies as st

from whyroute.model.features import FEATURES

Json = Any

_names = st.sampled_from(["a", "b", "a/b", "", "Ünïcode"])
_integers = st.integers(0, 10**6) | st.sampled_from([1.0, 200000.0, 2.0**60, 1e300, 10**25])
_amounts = st.floats(0, 1e308) | st.integers(0, 10)
_operators = st.sampled_from([">=", ">", "=", "<=", "<"])
_lists = st.fixed_dictionaries({}, optional={"allow": st.lists(_names), "deny": st.lists(_names)})

needs: st.SearchStrategy[dict[str, Json]] = st.one_of(
    st.fixed_dictionaries({"feature": st.sampled_from(FEATURES)}),
    st.fixed_dictionaries(
        {"contextWindow": st.fixed_dictionaries({"op": _operators, "value": _integers.filter(lambda n: n >= 1)})}
    ),
    st.fixed_dictionaries({"costPerCall": st.fixed_dictionaries({"op": _operators, "usd": _amounts})}),
    st.fixed_dictionaries({"region": _names}),
    st.fixed_dictionaries(
        {"p95LatencyMs": st.fixed_dictionaries({"op": st.sampled_from(["<=", "<"]), "value": _integers})}
    ),
    st.fixed_dictionaries({"providers": _lists}),
    st.fixed_dictionaries({"models": _lists}),
)

_preferences = st.fixed_dictionaries(
    {"feature": _names | st.sampled_from(FEATURES), "weight": st.floats(allow_nan=False, allow_infinity=False)}
)
_budgets = st.fixed_dictionaries(
    {}, optional={"maxCostUsd": _amounts, "maxTokens": _integers, "maxDurationMs": _integers}
)

declarations: st.SearchStrategy[dict[str, Json]] = st.fixed_dictionaries(
    {"needs": st.lists(needs, min_size=1, max_size=4)},
    optional={
        "kind": st.sampled_from(["llm-inference", "embedding", " ", "acme:custom"]),
        "prefer": st.lists(_preferences, max_size=3),
        "budget": _budgets,
    },
)

_KEYS = [
    *("kind", "needs", "prefer", "budget", "feature", "contextWindow", "costPerCall", "region", "p95LatencyMs"),
    *("providers", "models", "allow", "deny", "op", "value", "usd", "weight", "maxCostUsd", "maxTokens"),
    *(
        "context_window",
        "cost_per_call",
        "p95_latency_ms",
        "max_tokens",
        "Needs",
        "Feature",
        "OP",
        "$schema",
        "",
        "a/b~",
    ),
]
_VALUES: st.SearchStrategy[Json] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([0.5, -0.0, 1.5, 1e300, 10**25, -1e-9]),
    st.sampled_from(["", "vision", "vison", "==", "=>", "!=", ">=", "128000"]),
    st.builds(list),
    st.builds(dict),
    st.lists(st.sampled_from(["a", 1, None]), max_size=2),
    needs,
)


def _places(value: Json, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [place]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += _places(item, (*place, key))
    return found


def _at(value: Json, place: tuple[Any, ...]) -> Json:
    for key in place:
        value = value[key]
    return value


@st.composite
def near_valid(draw: st.DrawFn) -> Json:
    """A valid declaration with up to three things changed: most are broken in one or two places, some not at all."""
    document = copy.deepcopy(draw(declarations))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.sampled_from(_places(document)))
        value = _at(document, place)
        action = draw(st.sampled_from(["replace", "remove", "rename", "add"]))
        if action == "add" and isinstance(value, dict):
            value[draw(st.sampled_from(_KEYS))] = draw(_VALUES)
        elif action == "add" and isinstance(value, list):
            value.append(draw(_VALUES))
        elif place:
            holder, key = _at(document, place[:-1]), place[-1]
            if action == "remove":
                del holder[key]
            elif action == "rename" and isinstance(holder, dict):
                moved = holder.pop(key)
                holder[draw(st.sampled_from(_KEYS))] = moved
            else:
                holder[key] = draw(_VALUES)
    return document
