"""A request that is prepared once and bound anywhere gives the answers of one that is read anew."""

import copy
import gc
import pickle
import traceback
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import rule_strategies as ruled
import whyroute as wr
from whyroute.constraints.rulebook import read_rulebook

Json = dict[str, Any]
PARTS = ("rules", "waivers", "conditions", "regions")
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


def outcome(route: Callable[[], wr.Decision]) -> Any:
    """What a caller can see of a route."""
    try:
        decision = route()
    except wr.CapabilityUnsatisfiableError as error:
        return error.to_dict(), error.explanation.to_dict()
    return decision.to_dict(), decision.explanation.to_dict()


@settings(max_examples=20)
@given(ruled.requests(), st.lists(st.sampled_from(ruled.TIMES), min_size=1, max_size=3))
def test_bound_request_answers_as_route_does(request: Json, times: list[str]) -> None:
    said = {key: request[key] for key in (*PARTS, "labels", "tokens") if key in request}
    policy, providers = request.get("tenantPolicy"), request["providers"]
    prepared = wr.prepare(request["capability"], policy, **said)
    catalog = wr.Catalog(providers)
    for at in times * 2:
        for bound in (prepared.bind(catalog, at), prepared.bind(providers, at)):
            for hints in ({}, {"preferred_provider": "a"}, {}):
                expected = outcome(
                    lambda at=at, hints=hints: wr.route(  # type: ignore[misc]
                        request["capability"], providers, policy=policy, at=at, **said, **hints
                    )
                )
                assert outcome(lambda bound=bound, hints=hints: bound.route(**hints)) == expected  # type: ignore[misc]


@settings(max_examples=30)
@given(ruled.requests(), st.lists(VARIANTS, min_size=2, max_size=4))
def test_used_rulebook_answers_as_a_new_one(request: Json, variants: list[Json]) -> None:
    parts = {key: request.get(key, []) for key in PARTS}
    book, catalog = read_rulebook(**parts), wr.Catalog(request["providers"])
    for variant in (*variants, *variants):
        asked = {"at": request["at"], **variant}
        tenant = asked.pop("tenant", None)
        policy = None if tenant is None else {**request.get("tenantPolicy", {}), "tenantId": tenant}
        used = wr.explain(request["capability"], catalog, policy=policy, rules=book, **asked)
        new = wr.explain(request["capability"], request["providers"], policy=policy, **parts, **asked)
        assert used.to_dict() == new.to_dict()


def price(usd: float) -> Json:
    return {"promptUsdPer1kTokens": usd, "completionUsdPer1kTokens": usd}


def provider(name: str, region: str, usd: float = 1) -> Json:
    model = {"name": "m", "contextWindow": 1000, "features": [], "cost": price(usd)}
    return {"id": name, "region": region, "models": [model]}


PROVIDERS = [provider("a", "eu", 0.001), provider("b", "us", 0.01)]
RULES: list[Json] = [
    {"name": "eu", "because": "x", "waivable": True, "require": {"region": "eu"}},
    {"name": "small", "because": "x", "when": {"labels": {"data": "patient"}}, "forbid": {"contextWindow": {"lt": 9}}},
    {"name": "dated", "because": "x", "from": "2026-12-18", "until": "2026-12-20", "forbid": {"region": "eu"}},
    {
        "name": "elsewhere",
        "because": "x",
        "when": {"kind": "embedding"},
        "from": "2026-12-19",
        "forbid": {"region": "eu"},
    },
]
WAIVERS: list[Json] = [
    {"name": "w", "rule": "eu", "tenant": "t", "admits": {"provider": "b"}, "because": "x", "until": "2026-12-24"},
    {"name": "v", "rule": "eu", "tenant": "u", "admits": {"provider": "b"}, "because": "x", "until": "2026-12-23"},
]


def prepared_of(tenant: str = "t") -> wr.Prepared:
    return wr.prepare({"needs": []}, {"tenantId": tenant}, rules=RULES, waivers=WAIVERS)


@pytest.mark.parametrize(
    ("at", "matched", "until"),
    [
        ("2026-12-17", "ab", "2026-12-18"),
        ("2026-12-17T23:59:59.999999999Z", "ab", "2026-12-18"),
        ("2026-12-18", "b", "2026-12-21"),
        ("2026-12-20T23:59:59.999999999Z", "b", "2026-12-21"),
        ("2026-12-21T00:00:00Z", "ab", "2026-12-25"),
        ("2026-12-24T23:59:59Z", "ab", "2026-12-25"),
        ("2026-12-25", "a", None),
    ],
)
def test_bound_request_holds_until_rules_change(at: str, matched: str, until: str | None) -> None:
    prepared = prepared_of()
    for _ in range(2):
        bound = prepared.bind(PROVIDERS, at)
        assert "".join(candidate.metadata.id for candidate in bound.match()) == matched
        assert bound.until == (None if until is None else datetime.fromisoformat(until).replace(tzinfo=UTC))


def test_bind_defaults_to_the_present() -> None:
    assert prepared_of().bind(PROVIDERS).until is None or datetime.now(UTC) < datetime(2026, 12, 25, tzinfo=UTC)


def test_bound_request_without_dates_holds_forever() -> None:
    bound = wr.prepare({"needs": []}, rules=RULES[:1]).bind(PROVIDERS)
    assert bound.until is None
    assert bound.route() is bound.route()


def test_bound_constraints_are_named_in_contract_order() -> None:
    bound = wr.prepare({"needs": [{"region": "eu"}]}, {"tenantId": "t", "regionAllow": ["eu"]}, rules=RULES[:1]).bind(
        PROVIDERS, "2026-12-17"
    )
    assert [each.id for each in bound.constraints] == ["kind", "needs/0", "policy/regionAllow", "rules/eu"]
    rule, (first, second) = bound.constraints[3], bound.catalog.candidates()
    assert (len(rule), rule.owner, rule.label) == (1, "rule", "rule:eu")
    assert rule.admits(first)
    assert rule.rejection(first) is None
    assert not rule.admits(second)
    rejection = rule.rejection(second)
    assert rejection is not None
    assert rejection.code == "rule-violated"


def test_constraint_that_admits_nothing_is_still_true() -> None:
    bound = wr.prepare({"needs": [{"region": "nowhere"}]}).bind(PROVIDERS)
    assert len(bound.constraints[1]) == 0
    assert bool(bound.constraints[1])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_prepared_and_bound_survive_copying(copied: Callable[[Any], Any]) -> None:
    prepared = prepared_of()
    bound = prepared.bind(PROVIDERS, "2026-12-24")
    expected = bound.explain(why_not=("b", "m")).to_dict()
    assert copied(bound).explain(why_not=("b", "m")).to_dict() == expected
    assert copied(prepared).bind(PROVIDERS, "2026-12-24").explain(why_not=("b", "m")).to_dict() == expected
    assert copied(bound).until == bound.until


def test_threads_share_prepared_and_bound_requests() -> None:
    catalog = wr.Catalog([provider(f"p{at:03}", "eu" if at % 2 else "us") for at in range(200)])
    prepared = prepared_of()
    times = [f"2026-12-{day}" for day in range(15, 30)] * 8
    expected = {at: outcome(prepared_of().bind(catalog, at).route) for at in set(times)}
    bound = prepared.bind(catalog, "2026-12-16")
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda at: outcome(prepared.bind(catalog, at).route), times)
        again = pool.map(lambda _: outcome(bound.route), times)
        assert list(found) == [expected[at] for at in times]
        assert all(each == expected["2026-12-16"] for each in again)


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"preferred_provider": 1}, "/preferredProvider"),
        ({"preferred_model": ["m"]}, "/preferredModel"),
    ],
)
def test_bound_route_refuses_broken_hints(arguments: Json, path: str) -> None:
    bound = wr.prepare({"needs": []}).bind(PROVIDERS)
    for ask in (bound.route, bound.explain):
        with pytest.raises(wr.InvalidRequestError) as caught:
            ask(**arguments)
        assert [issue.path for issue in caught.value.issues] == [path]


def test_bind_refuses_a_broken_time() -> None:
    with pytest.raises(wr.InvalidRequestError) as caught:
        wr.prepare({"needs": []}).bind(PROVIDERS, "2026-13-01")
    assert [issue.path for issue in caught.value.issues] == ["/at"]


class Provider:
    """A provider whose life can be watched."""

    metadata: wr.ProviderMetadata

    async def invoke(self, call: Any) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize("rules", [(), RULES])
def test_prepared_request_does_not_hold_the_catalog(rules: list[Json]) -> None:
    """Registries make a new catalog for each change: the old one goes at once, without the garbage collector."""
    watched = Provider()
    watched.metadata = wr.ProviderMetadata.model_validate(PROVIDERS[0])
    catalog = wr.Catalog([watched])
    prepared = wr.prepare({"needs": [], "prefer": [{"feature": "vision", "weight": 1}]}, rules=rules)
    for _ in range(3):
        assert prepared.bind(catalog, "2026-12-24").route().reason
    gone = weakref.ref(watched)
    gc.disable()
    try:
        del watched, catalog
        assert gone() is None
    finally:
        gc.enable()


def test_copied_model_is_validated() -> None:
    policy = wr.TenantPolicy.model_validate({"tenantId": "t", "regionAllow": ["eu"]})
    assert policy.model_copy(update={"tenant_id": "u"}).to_dict() == {"tenantId": "u", "regionAllow": ["eu"]}
    with pytest.raises(ValueError, match="at least 0"):
        policy.model_copy(update={"max_cost_per_call_usd": -1})


def test_failing_again_and_again_keeps_nothing() -> None:
    bound = wr.prepare({"needs": [{"contextWindow": {"op": ">=", "value": 10**9}}]}).bind(PROVIDERS)
    raised: list[wr.CapabilityUnsatisfiableError] = []
    for _ in range(3):
        with pytest.raises(wr.CapabilityUnsatisfiableError) as caught:
            bound.route()
        raised.append(caught.value)
    lengths = {len(traceback.extract_tb(error.__traceback__)) for error in raised}
    assert len(lengths) == 1
    assert len(set(map(str, raised))) == 1


def test_prepared_and_bound_requests_refuse_changes() -> None:
    prepared = wr.prepare({"needs": []})
    bound = prepared.bind(PROVIDERS)
    for each, name in ((prepared, "_terms"), (prepared, "x"), (bound, "_solved"), (bound, "x")):
        with pytest.raises((AttributeError, TypeError)):
            setattr(each, name, None)


def test_unknown_feature_switches_no_rule_off() -> None:
    rule = {"name": "r", "because": "b", "when": {"feature": "tool-user"}, "require": {"region": "eu"}}
    with pytest.raises(wr.InvalidRequestError, match=r"/rules/0/when/feature.*did you mean `tool-use`"):
        wr.prepare({"needs": []}, rules=[rule])
