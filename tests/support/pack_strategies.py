"""Small random packs as JSON documents, which are YAML too, from pools so small that everything clashes."""

import json
from typing import Any

from hypothesis import strategies as st

from whyroute.packs import Pack
from whyroute.packs.load.loading import pack_of
from whyroute.packs.source.sources import Source

Json = dict[str, Any]

TENANTS = ["acme", "bank"]
PROVIDERS = ["a", "a/b", "c"]
MODELS = ["m", "n", "b/m"]
REGIONS = ["eu-1", "us-1", "unspecified"]
FEATURES = ["vision", "json"]
DATA = ["public", "staff", "patient"]
RULES = ["r0", "r1", "r2", "r3"]
PARTS = ["p0", "p1"]
CAPABILITIES = ["look", "read"]
WINDOWS = [1000, 8000]
PRICES = [0, 0.01, 0.02]
TIMES = ["2026-12-23", "2026-12-24", "2026-12-25"]
AT = "2026-12-24"


def loaded(document: Json, name: str = "pack.yaml") -> Pack:
    """The pack of a document, without a file."""
    return pack_of(name, [Source(name, text(document))])


def text(document: Json) -> str:
    """The file of a pack, an entry a line."""
    lines = ["whyroute: 1"]
    for key, value in document.items():
        if isinstance(value, list) and value:
            lines += [f"{key}:", *(f"  - {json.dumps(each)}" for each in value)]
        elif isinstance(value, dict) and value:
            lines += [f"{key}:", *(f"  {name}: {json.dumps(each)}" for name, each in value.items())]
        else:
            lines.append(f"{key}: {json.dumps(value)}")
    return "\n".join(lines) + "\n"


_prices = st.sampled_from(PRICES)
_models = st.fixed_dictionaries(
    {
        "contextWindow": st.sampled_from(WINDOWS),
        "features": st.lists(st.sampled_from(FEATURES), unique=True),
        "cost": st.fixed_dictionaries({"promptUsdPer1kTokens": _prices, "completionUsdPer1kTokens": _prices}),
    },
    optional={"p95LatencyMs": st.sampled_from([100, 500])},
)


@st.composite
def providers(draw: st.DrawFn) -> list[Json]:
    """Up to three providers."""
    found: list[Json] = []
    for name in draw(st.lists(st.sampled_from(PROVIDERS), unique=True, min_size=1)):
        names = draw(st.lists(st.sampled_from(MODELS), unique=True, min_size=1))
        provider = {
            "id": name,
            "region": draw(st.sampled_from(REGIONS)),
            "models": [{"name": model, **draw(_models)} for model in names],
        }
        optional: dict[str, st.SearchStrategy[Any]] = {
            "defaultModel": st.sampled_from(names),
            "fallback": st.booleans(),
            "attributes": st.just(["fast"]),
            "onlyTenants": st.sampled_from([["acme"], ["bank"], []]),
        }
        found.append(provider | draw(st.fixed_dictionaries({}, optional=optional)))
    return found


_names = {
    "provider": st.sampled_from(PROVIDERS),
    "model": st.sampled_from(MODELS),
    "region": st.sampled_from(["eu-1", "us-1", "eu"]),
    "feature": st.sampled_from(FEATURES),
    "promptUsdPer1kTokens": st.sampled_from([{"lte": 0.01}, {"gt": 0}]),
    "callUsd": st.sampled_from([{"lte": 0.01}, {"gt": 0.01}]),
    "p95LatencyMs": st.sampled_from([{"lt": 500}, {"exists": True}]),
}
conditions = st.sampled_from(sorted(_names)).flatmap(lambda key: st.fixed_dictionaries({key: _names[key]}))
whens = st.one_of(
    st.fixed_dictionaries({"labels": st.fixed_dictionaries({"data": st.sampled_from([*DATA, ["public", "staff"]])})}),
    st.fixed_dictionaries({"labels.env": st.sampled_from(["prod", {"ne": "prod"}, {"like": "p*"}])}),
    st.fixed_dictionaries({"capability": st.sampled_from(CAPABILITIES)}),
    st.just({"not": {"labels": {"data": "public"}}}),
)


_dates = st.sampled_from(
    [
        {},
        {},
        {},
        {},
        {"from": TIMES[2]},
        {"until": TIMES[1]},
        {"until": TIMES[0]},
        {"from": TIMES[0], "until": TIMES[2]},
    ]
)


@st.composite
def rules(draw: st.DrawFn, name: str) -> Json:
    """A rule of that name."""
    effect = draw(st.sampled_from(["require", "forbid", "forbid", "prefer", "order"]))
    rule: Json = {"name": name, "because": f"Since {name}."}
    if effect == "order":
        rule["prefer"] = draw(st.sampled_from([{"lowest": "promptUsdPer1kTokens"}, {"highest": "contextWindow"}]))
    else:
        rule[effect] = draw(conditions)
        if effect == "prefer":
            rule["weight"] = draw(st.sampled_from([1, 2, -1]))
        else:
            rule["waivable"] = True
    optional: dict[str, st.SearchStrategy[Any]] = {
        "when": whens,
        "mode": st.sampled_from(["enforce", "shadow"]),
        "owner": st.just("them@example.com"),
    }
    rule |= draw(st.fixed_dictionaries({}, optional=optional))
    return rule | draw(_dates)


clauses: dict[str, st.SearchStrategy[Any]] = {
    "providers": st.fixed_dictionaries({"deny": st.lists(st.sampled_from(PROVIDERS), max_size=1)}),
    "models": st.fixed_dictionaries({"allow": st.lists(st.sampled_from(MODELS), min_size=1, unique=True)}),
    "regionAllow": st.sampled_from([["eu"], ["eu", "us-1"], ["us-1"]]),
    "maxCostPerCallUsd": st.sampled_from(PRICES),
    "maxTokensPerCall": st.sampled_from([1000, 8000]),
}


@st.composite
def documents(draw: st.DrawFn) -> Json:
    """A pack."""
    names = draw(st.lists(st.sampled_from(RULES), unique=True))
    some = st.lists(st.sampled_from(names), unique=True) if names else st.just([])
    declared = draw(st.sampled_from([None, DATA, DATA[1:]]))
    document: Json = {
        "regions": {"eu": draw(st.sampled_from([["eu-1"], ["eu-1", "us-1"]]))},
        "providers": draw(providers()),
        "rules": [draw(rules(name)) for name in names],
        "policies": [
            {"name": name, "rules": draw(some), **draw(st.fixed_dictionaries({}, optional=clauses))} for name in PARTS
        ],
        "tenants": [
            {
                "tenantId": name,
                "extends": draw(st.lists(st.sampled_from(PARTS), unique=True)),
                "rules": draw(some),
                **draw(st.fixed_dictionaries({}, optional=clauses)),
            }
            for name in TENANTS
        ],
    }
    if declared is not None:
        values = {"values": declared}
        default = draw(st.sampled_from([None, "staff"]))
        data = values if default is None else {**values, "default": default}
        document["labels"] = {"data": data, "env": {"values": ["dev", "prod"], "from": "operator"}}
        for rule in document["rules"]:
            if _mentions(rule.get("when"), "public") and "public" not in declared:
                del rule["when"]
            elif isinstance(rule.get("when", {}).get("labels.env"), dict) and "like" in rule["when"]["labels.env"]:
                rule["when"] = {"labels.env": "prod"}
    needs = st.lists(
        st.sampled_from([{"feature": "vision"}, {"region": "eu"}, {"contextWindow": {"op": ">=", "value": 8000}}]),
        max_size=1,
    )
    optional: dict[str, st.SearchStrategy[Any]] = {
        "prefer": st.sampled_from([[{"feature": "json", "weight": 1}], [{"feature": "fast", "weight": 2}]]),
        "tokens": st.just({"prompt": 1000, "completion": 100}),
        "labels": st.just({"data": "patient"}),
    }
    document["capabilities"] = [
        {"name": name, "needs": draw(needs), **draw(st.fixed_dictionaries({}, optional=optional))}
        for name in CAPABILITIES
    ]
    waivable = [rule["name"] for rule in document["rules"] if rule.get("waivable")]
    if waivable:
        document["waivers"] = [
            {
                "name": f"w{index}",
                "rule": draw(st.sampled_from(waivable)),
                "tenant": draw(st.sampled_from(TENANTS)),
                "admits": draw(conditions),
                "because": "A pilot.",
                "until": draw(st.sampled_from(TIMES)),
            }
            for index in range(draw(st.integers(0, 1)))
        ]
    return document


def _mentions(value: Any, name: str) -> bool:
    return name in json.dumps(value)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Json, Json]:
    """Two packs; the second is the first with some of its sections replaced, or another one altogether."""
    old, other = draw(documents()), draw(documents())
    sections = draw(st.sets(st.sampled_from(["providers", "tenants", "policies", "rules", "capabilities"]), min_size=1))
    if "rules" in sections:
        return old, other
    new = {**old, **{key: other[key] for key in sections}}
    known = {rule["name"] for rule in new["rules"]}
    for key in ("tenants", "policies"):
        new[key] = [{**each, "rules": [name for name in each["rules"] if name in known]} for each in new[key]]
    if "labels" not in new or "labels" not in other:
        new["capabilities"] = old["capabilities"]
    return old, new
