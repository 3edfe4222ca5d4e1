"""Wire requests from small pools that collide on purpose."""

from typing import Any

from hypothesis import strategies as st

# Ids and names that read alike when joined, that differ in case or Unicode form alone, and that sort differently by
# code point than by locale.
IDS = ["a", "a/b", "A", "b", "caf\u00e9", "cafe\u0301", "z", "\u00e4", "\u0130", "a-b"]
NAMES = ["c", "b/c", "a", "B", "b", "\u00e9", "e\u0301", "z", "I", "\u0131"]
REGIONS = ["eu-west-1", "EU-WEST-1", "us-east-1", "unspecified"]
FEATURES = ["vision", "tool-use", "streaming", "batch"]
ATTRIBUTES = ["lower-cost", "local", "vision"]  # an attribute may read like a feature
PRICES: list[float] = [0, 1e-7, 0.1, 0.2, 0.3, 0.30000000000000004, 1, 1e300]
WINDOWS: list[float] = [1, 4096, 8000, 8001, 128000, 128000.0, 2**53]
LATENCIES: list[float] = [0, 0.5, 900, 900.0, 1500]
WEIGHTS: list[float] = [0, 0.0, 0.1, 0.2, 0.3, 0.30000000000000004, 1, 2, -1, -0.1, -0.3, 1e300, 1e-300, -1e300]
OPS = [">=", ">", "=", "<=", "<"]


kinds = st.sampled_from(["llm-inference"] * 5 + ["embedding"])


def _some(pool: list[Any], at_most: int = 3, at_least: int = 0) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(pool), min_size=at_least, max_size=at_most)


models: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "name": st.sampled_from(NAMES),
        "contextWindow": st.sampled_from(WINDOWS),
        "features": _some(FEATURES),
        "cost": st.fixed_dictionaries(
            {"promptUsdPer1kTokens": st.sampled_from(PRICES), "completionUsdPer1kTokens": st.sampled_from(PRICES)}
        ),
    },
    optional={"p95LatencyMs": st.sampled_from(LATENCIES), "maxOutputTokens": st.sampled_from(WINDOWS)},
)


@st.composite
def _providers(draw: st.DrawFn, provider_id: str) -> dict[str, Any]:
    offered = draw(st.lists(models, min_size=1, max_size=4, unique_by=lambda model: str(model["name"])))
    found: dict[str, Any] = {"id": provider_id, "region": draw(st.sampled_from(REGIONS)), "models": offered}
    optional: dict[str, st.SearchStrategy[Any]] = {
        "attributes": _some(ATTRIBUTES),
        "capabilityKind": kinds,
        "fallback": st.booleans(),
        "defaultModel": st.sampled_from([model["name"] for model in offered]),
    }
    found |= draw(st.fixed_dictionaries({}, optional=optional))
    return found


@st.composite
def provider_lists(draw: st.DrawFn, at_most: int = 5) -> list[dict[str, Any]]:
    """Metadata of none to some providers, in any order."""
    count = draw(st.sampled_from([min(3, at_most), *range(at_most, -1, -1)]))  # now and then none; mostly some
    ids = draw(st.lists(st.sampled_from(IDS), min_size=count, max_size=count, unique=True))
    return [draw(_providers(provider_id)) for provider_id in ids]


def _lists(pool: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={"allow": _some(pool, 9), "deny": _some(pool, 2)})


needs: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries({"feature": st.sampled_from(FEATURES)}),
    st.fixed_dictionaries(
        {
            "contextWindow": st.fixed_dictionaries(
                {"op": st.sampled_from(OPS), "value": st.sampled_from([*WINDOWS, 5000])}
            )
        }
    ),
    st.fixed_dictionaries(
        {"costPerCall": st.fixed_dictionaries({"op": st.sampled_from(OPS), "usd": st.sampled_from([*PRICES, 0.15])})}
    ),
    st.fixed_dictionaries({"region": st.sampled_from(REGIONS)}),
    st.fixed_dictionaries(
        {
            "p95LatencyMs": st.fixed_dictionaries(
                {"op": st.sampled_from(["<=", "<"]), "value": st.sampled_from([0, 900, 900.0, 1000, 1500])}
            )
        }
    ),
    st.fixed_dictionaries({"providers": _lists(IDS)}),
    st.fixed_dictionaries({"models": _lists(NAMES)}),
)

preferences: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.fixed_dictionaries(
        {"feature": st.sampled_from([*FEATURES, *ATTRIBUTES, "unheard-of"]), "weight": st.sampled_from(WEIGHTS)}
    ),
    max_size=5,
)

capabilities: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"needs": st.lists(needs, max_size=3)},
    optional={"kind": kinds, "prefer": preferences},
)

policies: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"tenantId": st.just("t")},
    optional={
        "providers": _lists(IDS),
        "models": _lists(NAMES),
        "regionAllow": _some(REGIONS, 6),
        "maxCostPerCallUsd": st.sampled_from([*PRICES, 1, 1, 1]),
        "maxTokensPerCall": st.sampled_from([1, 1, *WINDOWS]),
    },
)

setup_failures: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.fixed_dictionaries({"providerId": st.sampled_from(IDS), "message": st.just("no credentials")}), max_size=2
)


def requests(*, with_hints: bool = True) -> st.SearchStrategy[dict[str, Any]]:
    """Valid wire requests, most of them small."""
    optional: dict[str, st.SearchStrategy[Any]] = {"tenantPolicy": policies, "setupFailures": setup_failures}
    if with_hints:
        optional["preferredProvider"] = st.sampled_from(IDS)
        optional["preferredModel"] = st.sampled_from(NAMES)
    return st.fixed_dictionaries({"capability": capabilities, "providers": provider_lists()}, optional=optional)
