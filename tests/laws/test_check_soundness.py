"""What findings claim holds: of conditions against candidates at random, of rules and tenants against the router."""

import operator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from ruamel.yaml import YAML

from whyroute.basics.globs import glob
from whyroute.model.condition import AllOf, AnyOf, Is, Leaf, Node, Not
from whyroute.model.features import UNSPECIFIED_REGION
from whyroute.model.regions import NO_REGIONS, Regions
from whyroute.packs import Pack, PackError, load_pack
from whyroute.packs.check import check_pack, possible
from whyroute.packs.check.possible import Possible, can_hold

# Conditions: nothing that is called impossible holds for any candidate of a small world that has them all.

GROUPS = Regions({"eu": ("eu", "r1", "r2")})
NAMES = ("a", "b", "ab")
NUMBERS = (0, 1, 2, 2.5, 3)
WORLD: dict[str, list[Any]] = {
    "model": [*NAMES, "c", "abc"],
    "region": [None, "r1", "r2", "r3", "r4", "eu"],
    "feature": [(), ("a",), ("b",), ("a", "b"), ("c",)],
    "contextWindow": [1, 2, 3, 4],
    "p95LatencyMs": [None, 0, 0.5, 1, 1.5, 2, 2.25, 2.5, 2.75, 3, 4],
}

NUMBER_LEAVES = st.builds(
    Leaf,
    st.sampled_from(["contextWindow", "p95LatencyMs"]),
    st.sampled_from(["eq", "ne", "lt", "lte", "gt", "gte"]),
    st.sampled_from(NUMBERS),
) | st.builds(
    Leaf,
    st.sampled_from(["contextWindow", "p95LatencyMs"]),
    st.sampled_from(["in", "notIn"]),
    st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=3).map(tuple),
)
TEXT_LEAVES = (
    st.builds(Leaf, st.just("model"), st.sampled_from(["eq", "ne"]), st.sampled_from(NAMES))
    | st.builds(Leaf, st.just("model"), st.just("like"), st.sampled_from(["a*", "*b", "?", "b*", "*", "??", "a"]))
    | st.builds(
        Leaf,
        st.just("region"),
        st.sampled_from(["in", "notIn"]),
        st.lists(st.sampled_from(["r1", "r3", "eu", UNSPECIFIED_REGION]), min_size=1, max_size=2).map(tuple),
    )
)
SET_LEAVES = st.builds(
    Leaf, st.just("feature"), st.just("in"), st.lists(st.sampled_from(NAMES[:2]), min_size=1, max_size=2).map(tuple)
)
PRESENCE = st.builds(Leaf, st.sampled_from(sorted(WORLD)), st.just("exists"), st.booleans())
LEAVES = NUMBER_LEAVES | TEXT_LEAVES | SET_LEAVES | PRESENCE


def _inner(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    several = st.lists(parts, min_size=1, max_size=3).map(tuple)
    return several.map(AllOf) | several.map(AnyOf) | parts.map(Not) | st.just(Is("named"))


NODES: st.SearchStrategy[Node] = st.recursive(LEAVES, _inner, max_leaves=8)


def _leaf(leaf: Leaf, value: Any) -> bool | None:
    """A comparison, written down once more."""
    if leaf.op == "exists":
        return (value is not None and value != ()) is leaf.wanted
    if value is None:
        return None
    if leaf.op == "like":
        return glob(leaf.wanted)(value)
    if leaf.op in ("lt", "lte", "gt", "gte"):
        compare = {"lt": operator.lt, "lte": operator.le, "gt": operator.gt, "gte": operator.ge}[leaf.op]
        return bool(compare(value, leaf.wanted))
    wanted = leaf.wanted if isinstance(leaf.wanted, tuple) else (leaf.wanted,)
    if leaf.field == "region":
        wanted = tuple(each for name in wanted for each in GROUPS.meaning(name))
    has = any(each in wanted for each in value) if isinstance(value, tuple) else value in wanted
    return has is (leaf.op in ("eq", "in"))


def _value(node: Node, named: Node, values: dict[str, Any]) -> bool | None:
    match node:
        case Leaf():
            return _leaf(node, values[node.field])
        case Not(part):
            inner = _value(part, named, values)
            return None if inner is None else not inner
        case Is():
            return _value(named, named, values)
        case AllOf(parts):
            found = [_value(part, named, values) for part in parts]
            return False if False in found else None if None in found else True
        case AnyOf(parts):
            found = [_value(part, named, values) for part in parts]
            return True if True in found else None if None in found else False


def _holds_somewhere(node: Node, named: Node) -> bool:
    """Whether it holds for a candidate of the world; fields are independent, so those it doesn't name don't matter."""
    fields = sorted(_fields(node) | _fields(named))
    worlds: list[dict[str, Any]] = [{}]
    for field in fields:
        worlds = [{**world, field: value} for world in worlds for value in WORLD[field]]
    return any(_value(node, named, world) is True for world in worlds)


def _fields(node: Node) -> set[str]:
    match node:
        case Leaf(field=field):
            return {field}
        case AllOf(parts) | AnyOf(parts):
            return {field for part in parts for field in _fields(part)}
        case Not(part):
            return _fields(part)
        case Is():
            return set()


@given(NODES, LEAVES)
@settings(max_examples=300, deadline=None)
def test_conditions_that_nothing_can_meet_are_told_exactly(node: Node, named: Node) -> None:
    """Where no glob is compared, this world has a value for whatever is left, and all impossible ones are told."""
    told, holds = can_hold(node, {"named": named}, GROUPS), _holds_somewhere(node, named)
    assert told or not holds
    assert told == holds or "like" in repr((node, named))


def test_a_search_without_end_is_given_up() -> None:
    parts = tuple(AnyOf((Leaf(f"labels.{n}", "eq", "a"), Leaf(f"labels.{n}", "eq", "b"))) for n in range(40))
    never = AllOf((Leaf("kind", "eq", "a"), Leaf("kind", "eq", "b")))
    assert can_hold(AllOf((*parts, AnyOf((never, never)))), {}, GROUPS)
    assert not can_hold(AllOf((*parts, never)), {}, GROUPS), "what leaves no choice is looked at first"


# Rules and tenants, against the router.

CONDITIONS: list[dict[str, Any]] = [
    {"region": "r1"},
    {"model": "m1"},
    {"model": ["m1", "m2"]},
    {"provider": {"ne": "p2"}},
    {"provider": {"like": "p*"}},
    {"p95LatencyMs": {"lte": 500}},
    {"contextWindow": {"gte": 2000}},
    {"any": [{"model": "m3"}, {"region": "r2"}]},
    {"callUsd": {"lte": 0.5}},
]
EFFECTS = st.sampled_from(["require", "forbid"])
RULES = st.fixed_dictionaries(
    {"because": st.just("x"), "waivable": st.booleans()},
    optional={
        "when": st.sampled_from([{"labels": {"data": "a"}}, {"labels": {"data": "b"}}, {"capability": "c1"}]),
        "mode": st.just("shadow"),
        "from": st.just("2027-01-01"),
    },
)


@st.composite
def packs(draw: st.DrawFn) -> dict[str, Any]:
    """A small pack in which rules often say the same."""
    providers = [
        {
            "id": f"p{number}",
            "region": draw(st.sampled_from(["r1", "r2", "unspecified"])),
            **({"onlyTenants": ["t1"]} if draw(st.integers(0, 4)) == 0 else {}),
            "models": [
                {
                    "name": name,
                    "contextWindow": draw(st.sampled_from([1000, 3000])),
                    "features": [],
                    "cost": {"promptUsdPer1kTokens": draw(st.sampled_from([0.1, 0.9])), "completionUsdPer1kTokens": 0},
                    **({"p95LatencyMs": draw(st.sampled_from([100, 900]))} if draw(st.booleans()) else {}),
                }
                for name in draw(st.lists(st.sampled_from(["m1", "m2", "m3"]), min_size=1, max_size=2, unique=True))
            ],
        }
        for number in range(1, 4)
    ]
    rules = [
        {
            "name": f"r{number}",
            **draw(RULES),
            draw(st.sampled_from(["require", "forbid"])): draw(st.sampled_from(CONDITIONS)),
        }
        for number in range(draw(st.integers(1, 6)))
    ]
    names = [each["name"] for each in rules]
    waivable = [each["name"] for each in rules if each["waivable"]]
    waivers: list[dict[str, Any]] = []
    if draw(st.booleans()) and waivable:
        waiver = {"name": "w", "tenant": "t1", "admits": {"model": "m1"}, "because": "x"}
        waivers.append({**waiver, "rule": draw(st.sampled_from(waivable))})
    return {
        "whyroute": 1,
        "labels": {"data": {"values": ["a", "b"], "default": "a"}},
        "providers": providers,
        "capabilities": [
            {"name": "c1", "needs": [], "tokens": {"prompt": 1000, "completion": 0}},
            {"name": "c2", "needs": []},
        ],
        "tenants": [
            {"tenantId": name, "rules": draw(st.lists(st.sampled_from(names), unique=True)) if names else []}
            for name in ("t1", "t2")
        ],
        "rules": rules,
        "waivers": waivers,
    }


REQUESTS = [
    (tenant, capability, label, at)
    for tenant in ("t1", "t2")
    for capability in ("c1", "c2")
    for label in ("a", "b")
    for at in ("2026-12-20", "2027-02-01")
]


def _admitted(pack: Pack) -> dict[tuple[str, ...], tuple[Any, ...]]:
    found: dict[tuple[str, ...], tuple[Any, ...]] = {}
    for tenant, capability, label, at in REQUESTS:
        request = pack.resolve(tenant, capability, labels={"data": label}, at=at).read()
        solved = request.solve("bitset")
        found[tenant, capability, label, at] = tuple(each.key for each in solved.matched())
    return found


def _written(directory: Path, document: dict[str, Any]) -> Path:
    with open(directory / "a.yaml", "w", encoding="utf-8") as file:
        YAML(typ="safe").dump({"whyroute": 1, **document}, file)
    # The writer sorts keys; the format's first one is the version.
    text = (directory / "a.yaml").read_text("utf-8").replace("whyroute: 1\n", "")
    (directory / "a.yaml").write_text("whyroute: 1\n" + text, "utf-8")
    return directory


def _without(document: dict[str, Any], names: set[str]) -> dict[str, Any]:
    tenants = [{**each, "rules": [name for name in each["rules"] if name not in names]} for each in document["tenants"]]
    return {
        **document,
        "tenants": tenants,
        "rules": [each for each in document["rules"] if each["name"] not in names],
        "waivers": [each for each in document["waivers"] if each["rule"] not in names],
    }


@given(packs())
@settings(max_examples=30, deadline=None)
def test_findings_about_rules_match_the_router(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any]
) -> None:
    directory = _written(tmp_path_factory.mktemp("pack"), document)
    findings = check_pack(directory, now="2026-12-20")
    pack = load_pack(directory)
    before = _admitted(pack)
    rules = {name: each.piece.inner(each.value.effect).at for name, each in pack.rules.items()}

    def named(kind: str) -> set[str]:
        places = {(each.place.line, each.place.column) for each in findings if each.name == kind}
        return {name for name, at in rules.items() if at in places}

    without = _written(
        tmp_path_factory.mktemp("pack"), _without(document, named("redundant-rule") | named("idle-rule"))
    )
    assert _admitted(load_pack(without)) == before
    for name in named("blanket-rule"):
        rule = pack.rules[name].value
        if rule.when is None and not rule.shadow and rule.from_ is None and not document["waivers"]:
            held = [tenant["tenantId"] for tenant in document["tenants"] if name in tenant["rules"]]
            assert all(not admitted for (tenant, *_), admitted in before.items() if tenant in held)
    places = {each.place.line for each in findings if each.name == "unroutable-tenant"}
    for tenant, definition in pack.tenants.items():
        if definition.piece.value("tenantId").line in places:
            now = [admitted for key, admitted in before.items() if key[0] == tenant and key[3] == "2026-12-20"]
            assert not any(now)


PREFERENCES: list[dict[str, Any]] = [
    *({"prefer": each, "weight": 1} for each in CONDITIONS),
    {"prefer": {"contextWindow": {"gte": 9000}}, "weight": 2},
    {"prefer": {"maxOutputTokens": {"exists": True}}, "weight": -1},
    {"prefer": {"is": "named"}, "weight": 1},
    {"prefer": {"lowest": "p95LatencyMs"}},
    {"prefer": {"lowest": "callUsd"}},
    {"prefer": {"highest": "maxOutputTokens"}},
]
REFERENCES: list[dict[str, Any]] = [{"region": "r1"}, {"is": "one"}, {"not": {"is": "other"}}, {"callUsd": {"lt": 1}}]


@st.composite
def preferring(draw: st.DrawFn) -> dict[str, Any]:
    """Such a pack with rules that prefer, and conditions that refer to each other."""
    document = draw(packs())
    rules = [{"name": f"s{number}", **draw(RULES), **draw(st.sampled_from(PREFERENCES))} for number in range(3)]
    for rule in rules:
        del rule["waivable"]
    conditions = {
        "named": draw(st.sampled_from(REFERENCES)),
        "one": draw(st.sampled_from([REFERENCES[0], REFERENCES[2]])),
        "other": REFERENCES[0],
    }
    tenants = [{**each, "rules": [*each["rules"], "s0", "s1", "s2"]} for each in document["tenants"]]
    return {**document, "rules": [*document["rules"], *rules], "tenants": tenants, "conditions": conditions}


def _decided(pack: Pack) -> list[dict[str, Any] | None]:
    """The picks and alternates, in order, with their score; None where nothing qualifies."""
    found: list[dict[str, Any] | None] = []
    for tenant, capability, label, at in REQUESTS:
        answer = pack.resolve(tenant, capability, labels={"data": label}, at=at).answer()
        decision, shadow = answer.get("decision"), answer.get("shadow")
        if shadow is not None and not shadow["by"]:
            shadow = None  # shadow rules that would change nothing are as none
        found.append(None if decision is None else {**decision, "reason": "", "shadow": shadow})
    return found


@given(preferring())
@settings(max_examples=40, deadline=None)
def test_findings_about_preferences_match_the_router(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any]
) -> None:
    directory = _written(tmp_path_factory.mktemp("pack"), document)
    findings = check_pack(directory, now="2026-12-20")
    pack = load_pack(directory)

    def told(kind: str) -> set[int | None]:
        return {each.place.line for each in findings if each.name == kind}

    idle = {name for name, each in pack.rules.items() if each.place("prefer").line in told("idle-preference")}
    unused = {name for name, each in pack.conditions.items() if each.place().line in told("unused-condition")}
    assert len(idle) == sum(each.name == "idle-preference" for each in findings)
    without = _without(document, {name for name in idle if name.startswith("s")})
    without["conditions"] = {name: each for name, each in document["conditions"].items() if name not in unused}
    assert _decided(load_pack(_written(tmp_path_factory.mktemp("pack"), without))) == _decided(pack)
    for name in set(pack.conditions) - unused:
        missing = {**without, "conditions": {each: it for each, it in without["conditions"].items() if each != name}}
        with pytest.raises(PackError):
            load_pack(_written(tmp_path_factory.mktemp("pack"), missing))


@pytest.mark.parametrize("width", [1, 2])
def test_shared_named_conditions_cost_little(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0
    original = possible._field_can_hold

    def counted(*arguments: Any) -> bool:
        nonlocal looked
        looked += 1
        return original(*arguments)

    monkeypatch.setattr(possible, "_field_can_hold", counted)
    for base, expected in ((Leaf("model", "eq", "m"), True), (Leaf("region", "eq", "unspecified"), False)):
        named: dict[str, Node] = {"c0": base}
        named |= {f"c{at}": AllOf((Is(f"c{at - 1}"),) * width) for at in range(1, 300)}
        found = Possible(named, tuple(named), NO_REGIONS)
        assert found.can_hold(named["c299"]) is expected
    assert looked < 1_000
