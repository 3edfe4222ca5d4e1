"""Wire requests with rules, from the small pools of `strategies`."""

from typing import Any

from hypothesis import strategies as st

import strategies as wire

Json = dict[str, Any]

GROUPS = ["eu", "europe", "anywhere"]
LABELS = ["tier", "zone"]
VALUES = ["gold", "Gold", "", "x"]
NAMED = ["c0", "c1"]
TIMES = ["2026-12-23", "2026-12-24", "2026-12-25", "2026-12-24T12:00:00Z", "2026-12-24T13:00:00+01:00"]
PATTERNS = ["*", "?", "a*", "*b", "a/?", "*-*", "b", "z?", "*\u00e9*", "eu-*"]

texts = {
    "provider": wire.IDS,
    "model": wire.NAMES,
    "region": [*wire.REGIONS, *GROUPS],
    "kind": ["llm-inference", "embedding"],
    "source": ["pack", "registered"],
    "labels.tier": VALUES,
    "labels.zone": VALUES,
}
sets = {"feature": wire.FEATURES, "attribute": wire.ATTRIBUTES}
numbers: dict[str, list[float]] = {
    "contextWindow": wire.WINDOWS,
    "maxOutputTokens": wire.WINDOWS,
    "promptUsdPer1kTokens": wire.PRICES,
    "completionUsdPer1kTokens": wire.PRICES,
    "callUsd": [0, 1e-7, 0.0003, 0.3, 0.6, 2, 1e300],
    "p95LatencyMs": wire.LATENCIES,
}


# In the order in which comparisons of one field are told.
TEXT = ["exists", "eq", "ne", "in", "notIn", "like"]
SET = ["exists", "eq", "in"]
NUMBER = ["exists", "eq", "ne", "in", "notIn", "lt", "lte", "gt", "gte"]


def _matcher(pool: list[Any], ops: list[str]) -> st.SearchStrategy[Any]:
    one = st.sampled_from(pool)
    some = st.lists(one, min_size=1, max_size=3)
    whole = {
        op: st.booleans() if op == "exists" else some if op in ("in", "notIn") else one for op in ops if op != "like"
    }
    if "like" in ops:
        whole["like"] = st.sampled_from(PATTERNS)
    several = st.fixed_dictionaries({}, optional=whole).filter(bool)
    several = several.map(lambda matcher: {op: matcher[op] for op in ops if op in matcher})
    single = st.sampled_from(sorted(whole)).flatmap(lambda op: st.fixed_dictionaries({op: whole[op]}))
    return st.one_of(one, some, single, several)


MATCHERS: dict[str, st.SearchStrategy[Any]] = {
    **{name: _matcher(pool, TEXT) for name, pool in texts.items()},
    **{name: _matcher(pool, SET) for name, pool in sets.items()},
    **{name: _matcher(pool, NUMBER) for name, pool in numbers.items()},
}


@st.composite
def conditions(draw: st.DrawFn, *, negated: bool = False, depth: int = 2, named: tuple[str, ...] = ()) -> Json:
    """A condition over candidates, in the grammar's form."""
    kinds = ["field"] * 4 + (["any", "all", "not"] if depth else []) + (["is"] if named else [])
    count = 1 if negated else draw(st.sampled_from([1, 1, 1, 2]))
    found: Json = {}
    for _ in range(count):
        kind = draw(st.sampled_from(kinds))
        if kind == "field":
            name = draw(st.sampled_from(sorted(MATCHERS)))
            found[name] = draw(MATCHERS[name])
        elif kind == "is":
            found["is"] = draw(st.sampled_from(named))
        elif kind == "not":
            found["not"] = draw(conditions(negated=True, depth=depth - 1, named=named))
        else:
            inner = conditions(negated=negated, depth=depth - 1, named=named)
            found[kind] = draw(st.lists(inner, min_size=1, max_size=2))
    return dict(sorted(found.items(), key=lambda item: ORDER.index(item[0])))


# Comparisons that decided are told in this order, wherever they stand in the document.
ORDER = [
    *("provider", "model", "region", "kind", "feature", "attribute", "source"),
    *("contextWindow", "maxOutputTokens", "promptUsdPer1kTokens", "completionUsdPer1kTokens", "callUsd"),
    *("p95LatencyMs", "labels.tier", "labels.zone", "any", "all", "not", "is"),
]

_REQUEST_MATCHERS: dict[str, st.SearchStrategy[Any]] = {
    "kind": MATCHERS["kind"],
    "feature": MATCHERS["feature"],
    "capability": _matcher(["summarise", "chat"], TEXT),
    "labels.data": _matcher(["patient", "staff"], TEXT),
    "labels": st.fixed_dictionaries({"data": _matcher(["patient", "staff"], ["eq", "in"])}),
}


@st.composite
def whens(draw: st.DrawFn, depth: int = 1) -> Json:
    """A condition over the request."""
    kind = draw(st.sampled_from(["field"] * 3 + (["any", "all", "not"] if depth else [])))
    if kind == "field":
        name = draw(st.sampled_from(sorted(_REQUEST_MATCHERS)))
        return {name: draw(_REQUEST_MATCHERS[name])}
    inner = whens(depth=depth - 1)
    return {kind: draw(inner if kind == "not" else st.lists(inner, min_size=1, max_size=2))}


def rules(name: str, *, effects: tuple[str, ...] = ("require", "forbid", "prefer", "order")) -> st.SearchStrategy[Json]:
    """A rule of that name."""
    return _rules(name, effects)


@st.composite
def _rules(draw: st.DrawFn, name: str, effects: tuple[str, ...]) -> Json:
    effect = draw(st.sampled_from(effects))
    found: Json = {"name": name, "because": f"Since {name}."}
    if effect == "order":
        field = st.sampled_from(sorted(numbers))
        direction = draw(st.sampled_from(["lowest", "highest"]))
        found["prefer"] = {direction: draw(field)}
    else:
        found[effect] = draw(conditions(negated=effect == "forbid", named=tuple(NAMED)))
    if effect == "prefer":
        found["weight"] = draw(st.sampled_from(wire.WEIGHTS))
    elif effect != "order":
        found["waivable"] = draw(st.booleans())
    optional: dict[str, st.SearchStrategy[Any]] = {
        "when": whens(),
        "mode": st.sampled_from(["enforce", "shadow"]),
        "owner": st.just("them@example.com"),
    }
    found |= draw(st.fixed_dictionaries({}, optional=optional))
    if draw(st.booleans()):
        since, until = sorted(draw(st.lists(st.sampled_from(TIMES[:3]), min_size=2, max_size=2)))
        found |= draw(st.sampled_from([{"from": since}, {"until": until}, {"from": since, "until": until}]))
    return found


@st.composite
def requests(draw: st.DrawFn) -> Json:
    """Valid wire requests with rules."""
    request: Json = draw(wire.requests())
    for provider in request["providers"]:
        more: dict[str, st.SearchStrategy[Any]] = {
            "labels": st.dictionaries(st.sampled_from(LABELS), st.sampled_from(VALUES), max_size=2),
            "source": st.sampled_from(["pack", "registered", "elsewhere"]),
        }
        provider.update(draw(st.fixed_dictionaries({}, optional=more)))
    request["at"] = draw(st.sampled_from(TIMES))
    request["regions"] = draw(
        st.sampled_from(
            [
                {},
                {"eu": ["eu-west-1"], "europe": ["eu", "EU-WEST-1"]},
                {"anywhere": ["europe", "us-east-1", "unspecified"], "europe": ["eu-west-1"], "eu": []},
            ]
        )
    )
    request["conditions"] = {
        "c0": draw(conditions(depth=1)),
        "c1": draw(conditions(depth=1, named=("c0",))),
    }
    count = draw(st.integers(0, 4))
    request["rules"] = [draw(rules(f"r{index}")) for index in range(count)]
    waivable = [rule["name"] for rule in request["rules"] if rule.get("waivable")]
    if waivable:
        request["waivers"] = [
            {"name": f"w{index}", **draw(waivers(waivable))} for index in range(draw(st.integers(0, 2)))
        ]
    optional: dict[str, st.SearchStrategy[Any]] = {
        "labels": st.dictionaries(st.just("data"), st.sampled_from(["patient", "staff", "Patient"]), max_size=1),
        "tokens": st.sampled_from([{"prompt": 1000, "completion": 0}, {"prompt": 1, "completion": 3}]),
        "capabilityName": st.sampled_from(["summarise", "chat"]),
    }
    request |= draw(st.fixed_dictionaries({}, optional=optional))
    return request


def waivers(waivable: list[str]) -> st.SearchStrategy[Json]:
    """A waiver of one of some rules, but for its name."""
    return st.fixed_dictionaries(
        {
            "rule": st.sampled_from(waivable),
            "tenant": st.sampled_from(["t", "t", "t", "somebody-else"]),
            "admits": conditions(depth=1, named=tuple(NAMED)),
            "because": st.just("A pilot."),
        },
        optional={"until": st.sampled_from(TIMES), "owner": st.just("them@example.com")},
    )
