"""Rules: the engines against a naive router, the laws of three-valued logic, and what rules may and may not do."""

import copy
import json
import pickle
from datetime import UTC, datetime
from typing import Any

import jsonpatch
import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

import naive
import naive_rules
import rule_strategies as ruled
import strategies as wire
import whyroute as wr
from house_style import broken_rules
from paths import TESTS
from whyroute.catalog.catalog import Catalog
from whyroute.constraints.named import Origin
from whyroute.constraints.rulebook import Rulebook, read_rulebook
from whyroute.constraints.three_valued import Call, Compiled, EvalContext, Known, compiled, observed_value
from whyroute.engine.single import ENGINES
from whyroute.explanations import Explanation
from whyroute.model.condition import AllOf, AnyOf, Node, Not, read_condition
from whyroute.model.regions import read_regions
from whyroute.model.rule import Rule, Waiver
from whyroute.render.page import explanation_page
from whyroute.render.prose import explanation_lines
from whyroute.wire.request import read_request
from whyroute.wire.schemas import answer_schema, request_schema

Json = dict[str, Any]
DATA = TESTS / "data" / "rules"
REQUEST_SCHEMA = Draft202012Validator(request_schema())
ANSWER_SCHEMA = Draft202012Validator(answer_schema())


def cases(name: str) -> list[Any]:
    """The cases of a file, one per line, each under its name."""
    read = [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]
    return [pytest.param(case, id=case["name"]) for case in read]


def ask(request: Json, **options: Any) -> Json:
    return wr.answer({**request, "include": ["matched", "explanation"]}, **options)


def pool(request: Json) -> set[tuple[str, str]]:
    matched = wr.answer({**request, "include": ["matched"]})["matched"]
    return {(candidate["provider"], candidate["model"]) for candidate in matched}


def bare(answered: Json) -> Json:
    """An answer as the naive router gives it, and without the ids of shadow rules."""
    found = naive.without_messages(answered)
    if "shadow" in answered:
        found["shadow"] = {key: value for key, value in answered["shadow"].items() if key != "by"}
    return found


@settings(max_examples=150)
@given(ruled.requests())
def test_both_engines_answer_as_the_naive_router(request: Json) -> None:
    before = copy.deepcopy(request)
    oracle = naive_rules.answer(request)
    if "decision" in oracle:
        oracle["decision"]["score"] = naive.as_number(oracle["decision"]["score"])
    answers = [ask(request, engine=engine) for engine in ENGINES]
    assert bare(answers[0]) == oracle
    assert answers[0] == answers[1]
    assert request == before, "a request is not written to"
    REQUEST_SCHEMA.validate(request)
    ANSWER_SCHEMA.validate(answers[0])


@settings(max_examples=80)
@given(ruled.requests(), st.data())
def test_a_rule_that_requires_or_forbids_admits_nobody(request: Json, data: st.DataObject) -> None:
    rule = data.draw(ruled.rules("extra", effects=("require", "forbid")))
    at = data.draw(st.integers(0, len(request["rules"])))
    more = [*request["rules"][:at], rule, *request["rules"][at:]]
    assert pool({**request, "rules": more}) <= pool(request)


@settings(max_examples=60)
@given(ruled.requests(), st.data())
def test_preferring_rule_changes_only_the_order(request: Json, data: st.DataObject) -> None:
    rule = data.draw(ruled.rules("extra", effects=("prefer", "order")))
    assert pool({**request, "rules": [*request["rules"], rule]}) == pool(request)


@settings(max_examples=60)
@given(ruled.requests())
def test_shadow_is_what_enforcing_would_give(request: Json) -> None:
    live = [rule for rule in request["rules"] if rule.get("mode") != "shadow"]
    names = {rule["name"] for rule in live}
    waivers = [waiver for waiver in request.get("waivers", []) if waiver["rule"] in names]
    answered = ask(request)
    without = ask({**request, "rules": live, "waivers": waivers})
    assert answered.get("decision") == without.get("decision")
    assert answered.get("error") == without.get("error")
    assert answered["matched"] == without["matched"]
    assert answered["explanation"]["cores"] == without["explanation"]["cores"]
    if "shadow" in answered:
        enforced = wr.answer({**request, "rules": [{**rule, "mode": "enforce"} for rule in request["rules"]]})
        expected = {"pick": enforced["decision"]["pick"]} if "decision" in enforced else {"unsatisfiable": True}
        assert {key: value for key, value in answered["shadow"].items() if key != "by"} == expected
        shadows = {f"rules/{rule['name']}" for rule in request["rules"] if rule.get("mode") == "shadow"}
        assert set(answered["shadow"]["by"]) <= shadows
        if not answered["shadow"]["by"] and "decision" in answered:
            assert answered["shadow"]["pick"] == answered["decision"]["pick"]


@pytest.mark.parametrize("tokens", [None, {"prompt": 1000, "completion": 1}], ids=["no tokens", "tokens"])
@pytest.mark.parametrize("effect", ["lowest", "highest", "prefer", "require", "forbid"])
@pytest.mark.parametrize("field", sorted(ruled.numbers))
def test_every_shadow_rule_appears_in_the_answer(field: str, effect: str, tokens: Json | None) -> None:
    rule: Json = {"name": "r", "because": "b", "mode": "shadow"}
    if effect in ("lowest", "highest"):
        rule["prefer"] = {effect: field}
    else:
        rule |= {effect: {field: {"lt": 0.5}}} | ({"weight": 1} if effect == "prefer" else {})
    models = [
        {"name": name, "contextWindow": window, "features": [], "cost": dict.fromkeys(PRICES, window)}
        for name, window in (("m", 1), ("n", 2))
    ]
    request: Json = {"capability": {"needs": []}, "providers": [{"id": "p", "region": "r", "models": models}]}
    request |= {"rules": [rule], "at": "2026-12-24"} | ({} if tokens is None else {"tokens": tokens})
    answered = wr.answer({**request, "include": ["matched"]})
    assert bare(answered)["shadow"] == naive_rules.answer(request)["shadow"]
    capability = request.pop("capability")
    of_bundle = wr.answer({**request, "slots": {"a": {"capability": capability}}})["shadow"]
    assert of_bundle["by"] == answered["shadow"]["by"]
    assert of_bundle.get("picks", {}).get("a") == answered["shadow"].get("pick")


PRICES = ("promptUsdPer1kTokens", "completionUsdPer1kTokens")


@settings(max_examples=60)
@given(ruled.requests(), st.data())
def test_waiver_lifts_rule_only_for_its_candidates(request: Json, data: st.DataObject) -> None:
    waivable = [rule["name"] for rule in request["rules"] if rule.get("waivable")]
    if not waivable:
        return
    waiver = {"name": "extra", **data.draw(ruled.waivers(waivable))}
    more = {**request, "waivers": [*request.get("waivers", []), waiver]}
    gained = pool(more) - pool(request)
    assert pool(request) <= pool(more)
    described = {
        (provider["id"], model["name"])
        for provider in request["providers"]
        for model in provider["models"]
        if naive_rules.holds(waiver["admits"], provider, model, request) is True
    }
    assert gained <= described
    over = "until" in waiver and naive_rules.instant(request["at"]) >= naive_rules.ending(waiver["until"])
    if over or waiver["tenant"] != "t" or "tenantPolicy" not in request:
        assert not gained
    without = {**request, "rules": [rule for rule in request["rules"] if rule["name"] != waiver["rule"]]}
    without["waivers"] = [each for each in request.get("waivers", []) if each["rule"] != waiver["rule"]]
    assert pool(more) <= pool(without)


@settings(max_examples=60)
@given(ruled.requests())
def test_the_request_that_is_included_answers_the_same(request: Json) -> None:
    asked = {**request, "include": ["matched", "explanation", "request"]}
    answered = wr.answer(asked)
    again = wr.answer({**answered.pop("request"), "include": ["matched", "explanation"]})
    assert again == answered


def patched(request: Json, patch: list[Json]) -> Json:
    found: Json = jsonpatch.apply_patch(request, patch)
    return found


@settings(max_examples=100)
@given(ruled.requests())
def test_what_explanations_say_of_rules_holds(request: Json) -> None:
    answered = ask(request)
    explanation = answered["explanation"]
    live = [rule for rule in request["rules"] if naive_rules.in_force(rule, request)]
    checks = naive_rules.constraints(request, [rule for rule in live if rule.get("mode") != "shadow"])
    listed = [each for each in explanation["constraints"] if "shadow" not in each]
    assert [each["label"] for each in listed] == [label for label, _ in checks]
    everyone = [(provider, model) for provider in request["providers"] for model in provider["models"]]
    for each, (_, check) in zip(listed, checks, strict=True):
        assert each["rejected"] == sum(check(*pair) is not None for pair in everyone)
    in_order = [each["id"] for each in explanation["constraints"] if each["owner"] == "rule"]
    assert in_order == [f"rules/{rule['name']}" for rule in live if "prefer" not in rule]
    by_name = {f"rules/{rule['name']}": rule for rule in request["rules"]}
    for each in explanation["constraints"]:
        if each["owner"] == "rule":
            rule = by_name[each["id"]]
            assert each["because"] == rule["because"]
            assert each.get("contact") == rule.get("owner")
            assert each.get("shadow", False) == (rule.get("mode") == "shadow")
    for relaxation in explanation["relaxations"]:
        better = wr.answer(patched(request, relaxation["patch"]))
        assert better["decision"]["pick"] == relaxation["pick"]
        fixed = [name for name in relaxation["correction"] if name in by_name and not by_name[name].get("waivable")]
        assert relaxation["offered"] == (not fixed)
    for unknown in explanation["unknowns"]:
        if unknown["constraint"] in by_name:
            provider = next(each for each in request["providers"] if each["id"] == unknown["candidate"]["provider"])
            model = next(each for each in provider["models"] if each["name"] == unknown["candidate"]["model"])
            assert naive_rules.observe(unknown["field"], provider, model, request) is None


@settings(max_examples=40)
@given(ruled.requests())
def test_messages_follow_style_in_every_rendering(request: Json) -> None:
    read = read_request({**request, "whyNot": {"provider": "a", "model": "c"}})
    explanation = Explanation(read.solve(), read.why_not)
    for constraint in explanation.constraints:
        for _, reason in constraint.rejections():
            assert not broken_rules(reason.message), reason.message
    text = "\n".join("".join(span for span, _ in line) for line in explanation_lines(explanation, everything=True))
    fixed = {
        constraint
        for relaxation in explanation.relaxations
        for constraint in relaxation.correction
        if constraint.owner == "rule" and not constraint.waivable
    }
    if fixed:
        assert "Not yours to change" in text
        for constraint in fixed:
            assert str(constraint.because) in text
    assert explanation_page(explanation)
    assert explanation.to_graph() is not None
    assert pickle.loads(pickle.dumps(explanation)).to_dict() == explanation.to_dict()


# Kleene's logic.


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Catalog, EvalContext, list[Node]]:
    request = draw(ruled.requests())
    groups = read_regions(request["regions"])
    tokens = request.get("tokens")
    call = None if tokens is None else Call(tokens["prompt"], tokens["completion"])
    nodes = [read_condition(draw(ruled.conditions())).node for _ in range(3)]
    return Catalog(request["providers"]), EvalContext(groups, call), nodes


def known(node: Node, catalog: Catalog, setting: EvalContext) -> Known:
    return setting.known(compiled(node, {}, ()), catalog)


@settings(max_examples=100)
@given(worlds())
def test_kleene_laws_hold_on_index_and_candidates(
    world: tuple[Catalog, EvalContext, list[Node]],
) -> None:
    catalog, setting, (a, b, c) = world
    everyone = catalog.all()

    def of(node: Node) -> Known:
        return known(node, catalog, setting)

    for node in (a, b, c):
        assert of(node).yes & of(node).no == 0
        assert of(Not(Not(node))) == of(node)
        assert of(AllOf((node, node))) == of(node) == of(AnyOf((node, node)))
    assert of(Not(AllOf((a, b)))) == of(AnyOf((Not(a), Not(b))))
    assert of(Not(AnyOf((a, b)))) == of(AllOf((Not(a), Not(b))))
    assert of(AllOf((a, b))) == of(AllOf((b, a)))
    assert of(AllOf((a, AnyOf((b, c))))) == of(AnyOf((AllOf((a, b)), AllOf((a, c)))))
    assert of(AnyOf((a, AllOf((a, b))))) == of(a)
    # Not a law of three values: a or not a. It is certain exactly where a is.
    assert of(AnyOf((a, Not(a)))) == Known(of(a).yes | of(a).no, 0)
    whole = compiled(AllOf((a, Not(b))), {}, ())
    sets = setting.known(whole, catalog)
    for number, candidate in enumerate(catalog.candidates()):
        values = {
            name: observed_value(name, candidate.metadata, candidate.model, setting.call) for name in whole.fields
        }
        expected = True if sets.yes >> number & 1 else False if sets.no >> number & 1 else None
        assert whole.value(values, setting.regions) is expected
        told = whole.deciding(values, setting.regions)
        for each in told:
            leaf = Compiled(each.leaf, (), (each.leaf.field,)).value(values, setting.regions)
            if expected is None:
                assert leaf is None
            else:
                assert leaf is (expected is not each.negated)
    assert sets.yes | sets.no | everyone == everyone


def test_shared_named_conditions_cost_linear_time() -> None:
    chain: Json = {"c0": {"region": "r"}}
    for depth in range(1, 1500):
        chain[f"c{depth}"] = {"all": [{"is": f"c{depth - 1}"}, {"is": f"c{depth - 1}"}]}
    rule = {"name": "deep", "because": "Since.", "require": {"is": "c1499"}}
    metadata = {"id": "p", "region": "r", "models": [model("m")]}
    elsewhere = {"id": "q", "region": "s", "models": [model("m")]}
    for engine in ENGINES:
        request = {
            "capability": {"needs": []},
            "providers": [metadata, elsewhere],
            "conditions": chain,
            "rules": [rule],
        }
        answered = ask(request, engine=engine)
        assert answered["matched"] == [{"provider": "p", "model": "m"}]
        ((failed,),) = [miss["failed"] for miss in answered["explanation"]["nearMisses"]]
        assert failed["reason"]["failed"] == [{"field": "region", "observed": "s", "wanted": "r"}]


# The grammar, and small answers, as data.


@pytest.mark.parametrize("case", cases("grammar.jsonl"))
def test_wrong_rules_are_reported_in_place(case: Json) -> None:
    request = {"capability": {"needs": []}, "providers": [], "at": "2026-12-24", **case["request"]}
    answered = wr.answer(request)
    if not case["issues"]:
        assert "issues" not in answered.get("error", {}), answered
        REQUEST_SCHEMA.validate(request)
        return
    assert answered["error"]["code"] == "invalid-request"
    found = [(issue["path"], issue["message"]) for issue in answered["error"]["issues"]]
    assert [path for path, _ in found] == [path for path, _ in case["issues"]], found
    for (_, message), (_, said) in zip(found, case["issues"], strict=True):
        assert said in message
        assert not broken_rules(message)


def model(name: str, **more: Any) -> Json:
    cost = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}
    return {"name": name, "contextWindow": 1000, "features": [], "cost": cost, **more}


PROVIDERS: list[Json] = [
    {
        "id": "eu",
        "region": "eu-west-1",
        "labels": {"tier": "gold"},
        "models": [
            model("large", features=["vision", "tool-use"], p95LatencyMs=900, maxOutputTokens=100),
            model("small-preview", cost={"promptUsdPer1kTokens": 0.1, "completionUsdPer1kTokens": 0.2}),
        ],
    },
    {
        "id": "us",
        "region": "us-east-1",
        "attributes": ["local"],
        "source": "pack",
        "models": [model("large", contextWindow=2000, cost={"promptUsdPer1kTokens": 2, "completionUsdPer1kTokens": 0})],
    },
    {"id": "anywhere", "region": "unspecified", "capabilityKind": "llm-inference", "models": [model("tiny")]},
]


@pytest.mark.parametrize("case", cases("answers.jsonl"))
def test_small_requests_with_rules(case: Json) -> None:
    request = {
        "capability": {"needs": []},
        "providers": PROVIDERS,
        "tenantPolicy": {"tenantId": "acme"},
        "at": "2026-12-24T12:00:00Z",
        **case["request"],
    }
    for engine in ENGINES:
        answered = wr.answer({**request, "include": ["matched", "explanation"]}, engine=engine)
        assert "issues" not in answered.get("error", {}), answered
        expect = case["expect"]
        if "matched" in expect:
            assert [f"{each['provider']}/{each['model']}" for each in answered["matched"]] == expect["matched"]
        if "ranked" in expect:
            decision = answered["decision"]
            ranked = [decision["pick"], *decision["alternates"]]
            assert [f"{each['provider']}/{each['model']}" for each in ranked] == expect["ranked"]
        for key in ("score", "reason"):
            if key in expect:
                assert answered["decision"][key] == expect[key]
        if "shadow" in expect:
            assert answered.get("shadow") == expect["shadow"]
        if "failed" in expect:
            found = {
                f"{miss['candidate']['provider']}/{miss['candidate']['model']}": [
                    one for each in miss["failed"] for one in each["reason"].get("failed", [])
                ]
                for miss in answered["explanation"]["nearMisses"]
            }
            assert found == expect["failed"]
        if "unknowns" in expect:
            unknowns = [[f"{u['candidate']['provider']}", u["field"]] for u in answered["explanation"]["unknowns"]]
            assert unknowns == expect["unknowns"]
        if "relaxations" in expect:
            told = [{key: each[key] for key in ("patch", "offered")} for each in answered["explanation"]["relaxations"]]
            assert told == expect["relaxations"]


# The library.


GDPR = {"name": "gdpr", "because": "It stays here.", "require": {"region": "europe"}, "waivable": True}
EUROPE = {"europe": ["eu-west-1"]}


def test_facade_takes_rules_in_every_form() -> None:
    capability = wr.define_capability({"needs": [{"contextWindow": {"op": ">=", "value": 1}}]})
    as_wire = wr.match(capability, PROVIDERS, rules=[GDPR], regions=EUROPE)
    rule = Rule(name="gdpr", because="It stays here.", require={"region": "europe"}, waivable=True)
    assert rule.to_dict() == GDPR
    as_models = wr.match(capability, PROVIDERS, rules=[rule], regions=read_regions(EUROPE))
    book = read_rulebook([GDPR], regions=EUROPE)
    assert book.rules == (rule,)
    as_book = wr.match(capability, PROVIDERS, rules=book)
    assert {each.id for each in as_wire} == {"eu/large", "eu/small-preview"}
    assert [each.key for each in as_wire] == [each.key for each in as_models] == [each.key for each in as_book]
    with pytest.raises(ValueError, match="give it alone"):
        wr.match(capability, PROVIDERS, rules=book, regions=EUROPE)
    assert pickle.loads(pickle.dumps(book)) == book


def test_decisions_carry_what_rules_say() -> None:
    origins = {"rules/gdpr": (Origin("eu.yaml", 3, 5),)}
    shadow = {"name": "later", "because": "Soon.", "owner": "o", "forbid": {"provider": "eu"}, "mode": "shadow"}
    options: Json = {"rules": [GDPR, shadow], "regions": EUROPE, "origins": origins}
    explanation = wr.explain({"needs": []}, PROVIDERS, **options)
    (gdpr,) = [each for each in explanation.constraints if each.owner == "rule"]
    assert (gdpr.id, gdpr.because, gdpr.contact, gdpr.waivable, gdpr.shadow) == (
        "rules/gdpr",
        "It stays here.",
        None,
        True,
        False,
    )
    assert gdpr.origins == origins["rules/gdpr"]
    (later,) = explanation.shadows
    assert (later.id, later.contact, later.shadow, later.admitted.bit_count()) == ("rules/later", "o", True, 2)
    assert explanation.to_dict()["constraints"][1]["origins"] == [{"file": "eu.yaml", "line": 3, "column": 5}]
    decision = wr.route({"needs": []}, PROVIDERS, **options)
    assert decision.shadow is not None
    assert decision.shadow.to_dict() == {"unsatisfiable": True, "by": ["rules/later"]}
    assert wr.route({"needs": []}, PROVIDERS).shadow is None


def test_origins_go_over_the_wire() -> None:
    origins = {"rules/gdpr": [{"file": "eu.yaml", "line": 3, "column": 5}], "kind": []}
    request = {"capability": {"needs": []}, "providers": PROVIDERS, "rules": [GDPR], "origins": origins}
    listed = ask(request)["explanation"]["constraints"]
    assert [each.get("origins") for each in listed] == [None, origins["rules/gdpr"]]
    for broken, path in [
        ([], "/origins"),
        ({"kind": {}}, "/origins/kind"),
        ({"a/b": [{"file": "f", "line": 0, "column": 1}]}, "/origins/a~1b/0"),
        ({"kind": [{"file": "f", "line": 1}]}, "/origins/kind/0"),
        ({"kind": [{"file": 1, "line": 1, "column": True}]}, "/origins/kind/0"),
    ]:
        error = ask({**request, "origins": broken})["error"]
        assert [issue["path"] for issue in error["issues"]] == [path]


def test_python_time_is_zoned_datetime_or_text() -> None:
    rule = {"name": "freeze", "because": "Change freeze.", "forbid": {"provider": "eu"}, "from": "2026-12-24"}
    before = datetime(2026, 12, 23, 23, 59, 59, 999999, UTC)
    for at, there in ((before, True), ("2026-12-23", True), (datetime(2026, 12, 24, tzinfo=UTC), False)):
        matched = wr.match({"needs": []}, PROVIDERS, rules=[rule], at=at)
        assert any(each.metadata.id == "eu" for each in matched) == there
    with pytest.raises(wr.InvalidRequestError) as caught:
        wr.match({"needs": []}, PROVIDERS, rules=[rule], at=datetime(2026, 12, 24))
    assert caught.value.issues[0].path == "/at"
    with pytest.raises(wr.InvalidRequestError) as caught:
        wr.match({"needs": []}, PROVIDERS, labels={"a": 1}, tokens={"prompt": -1})  # type: ignore[dict-item]
    assert [issue.path for issue in caught.value.issues] == ["/labels/a", "/tokens/prompt", "/tokens/completion"]
    # Without a time it is now, and that is past this rule's end.
    over = {**rule, "from": "2001-01-01", "until": "2001-01-02"}
    assert len(wr.match({"needs": []}, PROVIDERS, rules=[over])) == 4


def test_models_refuse_what_the_grammar_refuses() -> None:
    with pytest.raises(ValidationError) as caught:
        Rule(name="a", because="b", forbid={"region": "x", "model": "y"})
    assert [each["loc"] for each in caught.value.errors()] == [("forbid",)]
    with pytest.raises(ValidationError):
        Waiver.model_validate({"name": "a"})
    with pytest.raises(wr.InvalidRequestError):
        read_condition({"any": [{"nothing": 1}]})
    rule = Rule(name="a", because="b", from_="2026-01-01", prefer=read_condition({"any": [{"region": "x"}]}), weight=1)
    assert rule.to_dict()["prefer"] == {"any": [{"region": "x"}]}
    assert rule.is_in_force("2026-01-01")
    assert not rule.is_in_force("2025-12-31T23:59:59Z")
    assert Rulebook().rules == ()


def test_combined_policies_keep_all_region_meanings() -> None:
    regions = {"eu": ["eu-west-1", "eu-central-1"], "nearby": ["eu-central-1", "ch-1"]}
    one = wr.TenantPolicy(tenant_id="a", region_allow=("eu",))
    two = wr.TenantPolicy(tenant_id="b", region_allow=("nearby", "eu-west-1"))
    assert wr.combine(one, two, regions=regions).region_allow == ("eu-west-1", "eu-central-1")
    assert wr.combine(one, two).region_allow == ()
    assert wr.combine(one, wr.TenantPolicy(tenant_id="c"), regions=regions).region_allow == ("eu",)
    with pytest.raises(wr.InvalidRequestError):
        wr.combine(one, two, regions={"eu": ["eu"]})


@settings(max_examples=60)
@given(wire.policies, wire.policies, wire.requests(), st.data())
def test_combined_regions_are_never_looser_than_a_part(a: Json, b: Json, request: Json, data: st.DataObject) -> None:
    regions = {"eu": ["eu-west-1"], "west": ["eu", "us-east-1"], "all": ["west", "EU-WEST-1", "unspecified"]}
    for policy in (a, b):
        policy["regionAllow"] = data.draw(st.lists(st.sampled_from([*wire.REGIONS, *regions]), max_size=3))
    parts = [wr.TenantPolicy.model_validate(policy) for policy in (a, b)]
    whole = wr.combine(*parts, regions=regions).to_dict()
    pools = [pool({**request, "regions": regions, "tenantPolicy": policy}) for policy in (whole, a, b)]
    assert pools[0] == pools[1] & pools[2]


def test_group_chain_means_its_rest_without_copies() -> None:
    count = 20_000
    regions = read_regions({f"g{at}": [f"g{at + 1}"] for at in range(count)})
    assert regions.meaning(f"g{count - 2}") == (f"g{count - 2}", f"g{count - 1}", f"g{count}")
    assert len(regions.meaning("g0")) == count + 1
    both = read_regions({"a": ["b", "x", "c"], "b": ["y", "c", "x"], "c": ["z", "y"]})
    assert dict(both.groups) == {
        "a": ("a", "b", "y", "c", "z", "x"),
        "b": ("b", "y", "c", "z", "x"),
        "c": ("c", "z", "y"),
    }
