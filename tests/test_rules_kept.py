"""What rules come to is kept for the next request, and changes no answer: whom it is shared with, and what it costs."""

import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rule_strategies as ruled
import whyroute as wr
from counting import calls
from whyroute.catalog import Catalog
from whyroute.conditions import read_condition
from whyroute.kleene import Call, Compiled, Setting, compiled
from whyroute.moments import read_moment
from whyroute.rulebook import RequestFacts, Rulebook, read_rulebook
from whyroute.rulepack import load_pack, run_tests
from whyroute.ruleterms import Applied, apply

Json = dict[str, Any]

VARIANTS = st.fixed_dictionaries(
    {},
    optional={
        "labels": st.fixed_dictionaries({"data": st.sampled_from(["patient", "staff"])}),
        "at": st.sampled_from(ruled.TIMES),
        "tokens": st.sampled_from([{"prompt": 1000, "completion": 0}, {"prompt": 1, "completion": 3}]),
        "capability_name": st.sampled_from(["summarise", "chat"]),
        "tenant": st.sampled_from(["t", "somebody-else"]),
    },
)


@settings(max_examples=60)
@given(ruled.requests(), st.lists(VARIANTS, min_size=2, max_size=4))
def test_a_rulebook_that_was_used_before_answers_as_a_new_one(request: Json, variants: list[Json]) -> None:
    parts = {key: request.get(key, []) for key in ("rules", "waivers", "conditions", "regions")}
    book, catalog = read_rulebook(**parts), Catalog(request["providers"])
    for variant in (*variants, *variants):
        asked = {"at": request["at"], **variant}
        tenant = asked.pop("tenant", None)
        policy = None if tenant is None else {**request.get("tenantPolicy", {}), "tenantId": tenant}
        used = wr.explain(request["capability"], catalog, policy=policy, rules=book, **asked)
        new = wr.explain(request["capability"], request["providers"], policy=policy, **parts, **asked)
        assert used.to_dict() == new.to_dict()


# Whom it is shared with.


def price(usd: float) -> Json:
    return {"promptUsdPer1kTokens": usd, "completionUsdPer1kTokens": usd}


def provider(name: str, region: str, usd: float) -> Json:
    model = {"name": "m", "contextWindow": 1000, "features": [], "cost": price(usd)}
    return {"id": name, "region": region, "models": [model]}


PROVIDERS = [provider("a", "eu", 0.001), provider("b", "us", 0.01)]
RULES: list[Json] = [
    {"name": "eu", "because": "x", "waivable": True, "require": {"region": "eu"}},
    {"name": "small", "because": "x", "when": {"labels": {"data": "patient"}}, "forbid": {"contextWindow": {"lt": 9}}},
    {"name": "dated", "because": "x", "from": "2026-12-18", "until": "2026-12-20", "require": {"region": "eu"}},
    {"name": "first", "because": "x", "prefer": {"region": "us"}, "weight": 1},
]
WAIVERS: list[Json] = [
    {"name": "w", "rule": "eu", "tenant": "t", "admits": {"provider": "b"}, "because": "x", "until": "2026-12-24"}
]
CALLS = Call(1000, 0), Call(500_000, 0)


def facts(at: str = "2026-12-24", tenant: str = "t", **labels: str) -> RequestFacts:
    return RequestFacts("llm-inference", (), None, labels, tenant, read_moment(at))


@pytest.fixture
def book() -> Rulebook:
    return read_rulebook(RULES, waivers=WAIVERS)


def names(book: Rulebook, request: RequestFacts) -> list[str]:
    return [entry.rule.name for entry in book.in_force(request).entries]


def test_requests_that_rules_do_not_tell_apart_share_the_rules_that_apply(book: Rulebook) -> None:
    first = book.in_force(facts(data="staff", team="one"))
    assert book.in_force(facts(data="staff", team="two")) is first
    assert book.in_force(facts("2026-12-24T23:59:59Z", data="staff")) is first
    assert book.in_force(facts("2026-12-21", data="staff")) is first
    assert names(book, facts(data="staff")) == ["eu", "first"]
    # An unknown label, unlike another one, applies what requires or forbids.
    assert names(book, facts()) == names(book, facts(data="patient")) == ["eu", "small", "first"]


@pytest.mark.parametrize(
    ("at", "dated"),
    [
        ("2026-12-17", False),
        ("2026-12-17T23:59:59.999999999Z", False),
        ("2026-12-18", True),
        ("2026-12-20T23:59:59.999999999Z", True),
        ("2026-12-21T00:00:00Z", False),
    ],
)
def test_a_rule_with_dates_applies_between_them_whoever_asked_before(book: Rulebook, at: str, dated: bool) -> None:
    for before in ("2026-12-01", "2026-12-19", "2026-12-31"):
        book.in_force(facts(before))
    assert ("dated" in names(book, facts(at))) is dated


def test_a_waiver_holds_for_its_tenant_until_it_ends_whoever_asked_before(book: Rulebook) -> None:
    catalog, setting = Catalog(PROVIDERS), book.setting(None)

    def admitted(request: RequestFacts) -> int:
        return apply(book, request, setting, catalog).admitted[0].bit_count()

    for _ in range(2):
        assert admitted(facts()) == 2
        assert admitted(facts(tenant="u")) == 1
        assert admitted(facts("2026-12-24T23:59:59Z")) == 2
        assert admitted(facts("2026-12-25")) == 1


def test_what_rules_come_to_is_made_once_for_all_calls(book: Rulebook) -> None:
    catalog = Catalog(PROVIDERS)
    found = [apply(book, facts(), book.setting(call), catalog) for call in (None, *CALLS)]
    assert found[0] is found[1] is found[2]
    elsewhere = apply(book, facts(), book.setting(None), Catalog(PROVIDERS[:1]))
    assert elsewhere is not found[0]
    assert elsewhere.admitted[0].bit_count() == 1


@pytest.mark.parametrize(
    "rule",
    [
        {"require": {"callUsd": {"lt": 1}}},
        {"forbid": {"not": {"is": "cheap"}}},
        {"prefer": {"is": "cheap"}, "weight": 1},
        {"prefer": {"lowest": "callUsd"}},
        {"require": {"region": "nowhere"}, "waivable": True},
    ],
)
def test_what_depends_on_the_call_is_made_for_each(rule: Json) -> None:
    waiver = {"name": "w", "rule": "r", "tenant": "t", "admits": {"is": "cheap"}, "because": "x"}
    book = read_rulebook(
        [{"name": "r", "because": "x", **rule}, RULES[3]],
        waivers=[waiver] if "waivable" in rule else [],
        conditions={"cheap": {"callUsd": {"lt": 1}}},
    )
    catalog = Catalog(PROVIDERS)

    def told(applied: Applied) -> Any:
        return (
            applied.admitted,
            [wish.members for wish in applied.wishes],
            [order.values.values for order in applied.orderings],
        )

    first = [apply(book, facts(), book.setting(call), catalog) for call in (None, *CALLS)]
    again = [apply(book, facts(), book.setting(call), catalog) for call in (None, *CALLS)]
    assert all(one is other for one, other in zip(first, again, strict=True))
    assert len({repr(told(each)) for each in first}) == 3


def test_conditions_share_what_they_come_to_unless_they_look_at_what_the_call_costs() -> None:
    catalog = Catalog(PROVIDERS)
    base = Setting()
    settings_of_calls = [Setting(base.regions, call, base) for call in CALLS]
    nodes = {"cheap": read_condition({"callUsd": {"lt": 1}}).node, "eu": read_condition({"region": "eu"}).node}

    def of(document: Json) -> Compiled:
        return compiled(read_condition(document).node, nodes, tuple(nodes))

    for document, shared in (({"is": "eu"}, True), ({"region": "us"}, True), ({"is": "cheap"}, False)):
        condition = of(document)
        one, other = (each.known(condition, catalog) for each in settings_of_calls)
        assert (one is other is base.known(condition, catalog)) is shared
        assert (one == other) is shared
        assert all((each.of(condition.fields) is base) is shared for each in settings_of_calls)
    assert base.known(of({"is": "cheap"}), catalog) == (0, 0)
    alone = Setting(base.regions, CALLS[0])
    assert alone.known(of({"is": "cheap"}), catalog) == settings_of_calls[0].known(of({"is": "cheap"}), catalog)


def test_a_rulebook_that_was_used_can_be_sent_to_another_process(book: Rulebook) -> None:
    first = wr.explain({"needs": []}, PROVIDERS, rules=book, policy={"tenantId": "t"}, at="2026-12-24")
    sent = pickle.loads(pickle.dumps(book))
    again = wr.explain({"needs": []}, PROVIDERS, rules=sent, policy={"tenantId": "t"}, at="2026-12-24")
    assert again.to_dict() == first.to_dict()


# What it costs.


def cost_of_tests(directory: Path, *, rules: int, capabilities: int) -> int:
    """The calls that running the tests of a pack takes: one tenant, and a test for each capability."""
    directory.mkdir()
    of_rule = "because: x, forbid: {contextWindow: {lt: 9}}"
    lines = [
        "whyroute: 1",
        "providers:",
        "  - {id: p, region: r, models: [{name: m, contextWindow: 9, features: [], cost: "
        "{promptUsdPer1kTokens: 1, completionUsdPer1kTokens: 1}}]}",
        "rules:",
        *(f"  - {{name: r{at}, when: {{labels: {{data: x}}}}, {of_rule}}}" for at in range(rules)),
        f"tenants: [{{tenantId: t, rules: [{', '.join(f'r{at}' for at in range(rules))}]}}]",
        "capabilities:",
        *(f"  - {{name: c{at}, needs: [], tokens: {{prompt: {at}, completion: 1}}}}" for at in range(capabilities)),
        "tests: [{name: all, tenant: all, capability: all, labels: {data: x}, expect: {unsatisfiable: false}}]",
    ]
    (directory / "pack.yaml").write_text("\n".join(lines) + "\n", "utf-8")
    pack = load_pack(directory)
    return calls(lambda: run_tests(pack, now="2026-12-24"))


def test_a_test_more_costs_little_of_what_the_rules_cost(tmp_path: Path) -> None:
    few, many = (cost_of_tests(tmp_path / str(count), rules=100, capabilities=count) for count in (10, 110))
    without = cost_of_tests(tmp_path / "without", rules=1, capabilities=110) - cost_of_tests(
        tmp_path / "one", rules=1, capabilities=10
    )
    # Each rule is a constraint, which the engine is told of: two calls, and one to list it.
    assert ((many - few) - without) / 100 / 99 < 5
