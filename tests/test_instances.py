"""Models changed behind pydantic's back, wherever they enter."""

import copy
import gc
import math
import pickle
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any
from weakref import KeyedRef

import pytest

import whyroute as wr
from whyroute.conditions import When, read_condition, read_when
from whyroute.declarations import ContextWindowNeed, CostBound, CostNeed, FeatureNeed, NameLists, read_capability
from whyroute.errors import InvalidInputError
from whyroute.instances import _CHECKED, _forget, is_checked, remember, wire_form
from whyroute.policies import read_policy
from whyroute.providers import DeclaredProvider, ModelInfo, ProviderMetadata
from whyroute.rules import Rule
from whyroute.solver import ENGINES

META = {
    "id": "p",
    "region": "eu",
    "models": [
        {
            "name": "m",
            "contextWindow": 8000,
            "features": ["vision"],
            "cost": {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 2},
            "p95LatencyMs": 100,
        }
    ],
}


def metadata(**more: Any) -> ProviderMetadata:
    return ProviderMetadata.model_validate({**META, **more})


def capability(*needs: Any) -> wr.Capability:
    return read_capability({"needs": list(needs)})


def unchecked(model: type[Any], **values: Any) -> Any:
    """A model as pydantic's `model_construct` makes it, of whatever it is given."""
    return model.model_construct(**values)


class Mine:  # a provider of a user's own
    def __init__(self, meta: Any) -> None:
        self.metadata = meta

    async def invoke(self, call: Any, /) -> Any:
        raise NotImplementedError


POLICY = wr.TenantPolicy.model_validate({"tenantId": "t", "maxCostPerCallUsd": 5})
LISTS = NameLists(allow=("p",))

POLICIES: dict[str, tuple[wr.TenantPolicy, list[str]]] = {
    "a cap that is not a number": (
        POLICY.model_copy(update={"max_cost_per_call_usd": math.nan}),
        ["/maxCostPerCallUsd"],
    ),
    "a name of the wire": (POLICY.model_copy(update={"maxCostPerCallUsd": 0}), ["/maxCostPerCallUsd"]),
    "a name misspelt": (POLICY.model_copy(update={"max_cost": 0}), ["/max_cost"]),
    "a string for a list": (POLICY.model_copy(update={"region_allow": "eu"}), ["/regionAllow"]),
    "a number for a name": (POLICY.model_copy(update={"region_allow": ("eu", 3)}), ["/regionAllow/1"]),
    "lists within": (
        POLICY.model_copy(update={"providers": LISTS.model_copy(update={"allow": "p"})}),
        ["/providers/allow"],
    ),
    "lists within, misspelt": (
        POLICY.model_copy(update={"providers": LISTS.model_copy(update={"denny": ("p",)})}),
        ["/providers/denny"],
    ),
    "another model": (
        POLICY.model_copy(update={"providers": POLICY}),
        ["/providers/tenantId", "/providers/maxCostPerCallUsd"],
    ),
    "constructed": (
        unchecked(wr.TenantPolicy, tenant_id=3, max_tokens_per_call=True),
        ["/tenantId", "/maxTokensPerCall"],
    ),
    "constructed without what it needs": (
        unchecked(wr.TenantPolicy, max_tokens_per_call=0),
        ["", "/maxTokensPerCall"],
    ),
    "set behind its back": (
        unchecked(wr.TenantPolicy, _fields_set=set(), tenant_id="t", max_tokens_per_call=-1),
        ["/maxTokensPerCall"],
    ),
}

CAPABILITIES: dict[str, tuple[wr.Capability, list[str]]] = {
    "an empty kind": (capability().model_copy(update={"kind": ""}), ["/kind"]),
    "an unknown feature": (
        capability().model_copy(update={"needs": (unchecked(FeatureNeed, feature="vison"),)}),
        ["/needs/0/feature"],
    ),
    "a price that is not a number": (
        capability().model_copy(
            update={"needs": (CostNeed(cost_per_call=unchecked(CostBound, op="<=", usd=math.nan)),)}
        ),
        ["/needs/0/costPerCall/usd"],
    ),
    "a need in wire form": (
        capability().model_copy(update={"needs": [{"feature": "vision", "region": "eu"}]}),
        ["/needs/0"],
    ),
    "a name misspelt": (capability().model_copy(update={"need": ()}), ["/need"]),
    "no needs at all": (unchecked(wr.Capability), [""]),
    "a bound misspelt": (
        capability().model_copy(
            update={
                "needs": (
                    ContextWindowNeed.model_validate({"contextWindow": {"op": ">", "value": 3}}).model_copy(
                        update={"contextWindow": {"op": ">", "value": 9000}}
                    ),
                )
            }
        ),
        ["/needs/0/contextWindow"],
    ),
}

PROVIDERS: dict[str, tuple[ProviderMetadata, str, list[str]]] = {
    "an empty region": (metadata().model_copy(update={"region": ""}), "empty-region", ["/region"]),
    "a name of the wire": (
        metadata().model_copy(update={"capabilityKind": "embedding"}),
        "invalid-metadata",
        ["/capabilityKind"],
    ),
    "features in a string": (
        metadata().model_copy(update={"models": (metadata().models[0].model_copy(update={"features": "vision"}),)}),
        "invalid-features",
        ["/models/0/features"],
    ),
    "a name of the wire in a model": (
        metadata().model_copy(update={"models": (metadata().models[0].model_copy(update={"contextWindow": 1}),)}),
        "invalid-metadata",
        ["/models/0/contextWindow"],
    ),
    "no price": (
        metadata().model_copy(update={"models": (unchecked(ModelInfo, name="m", context_window=1, features=()),)}),
        "invalid-cost",
        ["/models/0/cost"],
    ),
    "a latency that is not a number": (
        metadata().model_copy(
            update={"models": (metadata().models[0].model_copy(update={"p95_latency_ms": math.nan}),)}
        ),
        "invalid-p95-latency",
        ["/models/0/p95LatencyMs"],
    ),
}


def ids(cases: dict[str, Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", [*cases.values()], ids=[*cases])


def refused(error: type[InvalidInputError], call: Callable[[], Any], paths: list[str], under: str = "") -> Any:
    with pytest.raises(error) as caught:
        call()
    assert [issue.path for issue in caught.value.issues] == [under + path for path in paths]
    assert all(issue.message[:1] == "`" or issue.message[:1].islower() for issue in caught.value.issues)
    return caught.value


@ids(POLICIES)
def test_a_policy_that_was_never_checked(case: tuple[wr.TenantPolicy, list[str]]) -> None:
    policy, paths = case
    for run, engine in product((wr.route, wr.match, wr.explain), ENGINES):
        refused(wr.InvalidPolicyError, partial(run, capability(), [META], policy=policy, engine=engine), paths)
    refused(wr.InvalidPolicyError, lambda: wr.combine(POLICY, policy), paths, "/1")
    refused(wr.InvalidPolicyError, lambda: wr.combine(policy), paths, "/0")


@ids(CAPABILITIES)
def test_a_declaration_that_was_never_checked(case: tuple[wr.Capability, list[str]]) -> None:
    broken, paths = case
    for run in (wr.route, wr.match, wr.explain):
        refused(wr.InvalidCapabilityError, partial(run, broken, [META]), paths)
    with pytest.raises(wr.InvalidCapabilityError):
        wr.define_capability(broken)


@ids(PROVIDERS)
def test_metadata_that_was_never_checked(case: tuple[ProviderMetadata, str, list[str]]) -> None:
    broken, reason, paths = case
    for given in (broken, Mine(broken), DeclaredProvider(broken)):
        for run in (wr.route, wr.match, wr.explain):
            error = refused(wr.InvalidProviderError, partial(run, capability(), [given]), paths, "/0")
            assert error.reason == reason
    error = refused(wr.InvalidProviderError, lambda: wr.ProviderRegistry().register("t", Mine(broken)), paths)
    assert error.reason == reason


def test_what_is_sound_but_not_as_reading_would_make_it_is_read() -> None:
    """Lists for tuples can be changed later, and have no hash to share reasons by."""
    model = metadata().models[0].model_copy(update={"features": ["vision"]})
    listed = metadata().model_copy(update={"models": [model], "attributes": ["fast"]})
    need = FeatureNeed(feature="vision")
    policy = POLICY.model_copy(update={"region_allow": ["eu"]})
    decision = wr.route(unchecked(wr.Capability, needs=[need]), [listed], policy=policy)
    assert decision.candidate.model.features == ("vision",)
    assert decision.candidate.metadata.attributes == ("fast",)
    assert wr.combine(policy) == POLICY.model_copy(update={"region_allow": ("eu",)})
    with pytest.raises(wr.CapabilityUnsatisfiableError) as caught:
        wr.route(capability({"feature": "batch"}), [listed])
    assert caught.value.to_dict()["reasons"]


def test_sound_models_stay_the_objects_they_are() -> None:
    made = wr.TenantPolicy(tenant_id="t", providers=NameLists(allow=("p",)))
    copied = POLICY.model_copy(update={"max_cost_per_call_usd": 3, "region_allow": None})
    for policy in (made, copied, copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert not is_checked(policy)
        assert read_policy(policy) is policy
        assert is_checked(policy)
    assert wr.route(capability(), [META], policy=copied).model.name == "m"
    meta = metadata().model_copy(update={"region": "us", "default_model": "m"})
    assert not is_checked(meta)
    assert wr.route(capability(), [meta]).candidate.metadata is meta
    assert is_checked(meta)
    declared = wr.Capability(needs=(FeatureNeed(feature="vision"),))
    assert read_capability(declared) is declared
    assert is_checked(declared)


def test_a_copy_is_checked_on_its_own() -> None:
    policy = read_policy(POLICY)
    assert is_checked(policy)
    changed = policy.model_copy(update={"max_cost_per_call_usd": math.nan})
    assert not is_checked(changed)
    assert not is_checked(policy.model_copy())


def test_a_subclass_of_a_users_own() -> None:
    class Noted(wr.TenantPolicy):
        note: str = "x"

    class Priced(ProviderMetadata):
        contract: str = "none"

    noted = Noted(tenant_id="t", note="y")
    assert read_policy(noted) is noted
    refused(
        wr.InvalidPolicyError,
        lambda: read_policy(noted.model_copy(update={"max_tokens_per_call": 0})),
        ["/maxTokensPerCall"],
    )
    priced = Priced.model_validate({**META, "contract": "c"})
    copied = priced.model_copy(update={"region": "us"})
    assert wr.route(capability(), [copied]).candidate.metadata is copied


def test_nothing_is_kept_of_objects_that_are_gone() -> None:
    gc.collect()
    before = len(_CHECKED)
    policies = [read_policy({"tenantId": str(index)}) for index in range(50)]
    assert len(_CHECKED) == before + 50
    del policies
    gc.collect()
    assert len(_CHECKED) == before


def test_wire_form_is_what_goes_over_the_wire() -> None:
    policy = wr.TenantPolicy.model_validate({"tenantId": "t", "providers": {"deny": []}, "maxTokensPerCall": 3})
    assert wire_form(policy) == (policy.to_dict(), [])
    declared = capability({"feature": "vision"})
    assert wire_form(declared) == (declared.to_dict(), [])


RULE = Rule.model_validate({"name": "r", "because": "b", "require": {"contextWindow": {"gte": 1000}}})
CONDITION = read_condition({"contextWindow": {"gte": 1000}})

RULES: dict[str, tuple[Any, list[str]]] = {
    "a rule without a name": (RULE.model_copy(update={"name": ""}), ["/name"]),
    "a rule with a name of the wire": (RULE.model_copy(update={"from": "2026-01-01"}), ["/from"]),
    "a rule with two effects": (RULE.model_copy(update={"forbid": CONDITION}), ["/forbid"]),
    "a condition with a name of the wire": (
        RULE.model_copy(update={"require": CONDITION.model_copy(update={"contextWindow": 9})}),
        ["/require/contextWindow"],
    ),
    "a condition that compares with no number": (
        RULE.model_copy(update={"require": CONDITION.model_copy(update={"context_window": math.nan})}),
        ["/require/contextWindow"],
    ),
}


@ids(RULES)
def test_a_rule_that_was_never_checked(case: tuple[Any, list[str]]) -> None:
    broken, paths = case
    refused(wr.InvalidRequestError, lambda: wr.route(capability(), [META], rules=[broken]), paths, "/rules/0")


def test_a_condition_that_was_never_checked() -> None:
    assert read_condition(CONDITION) is CONDITION
    refused(wr.InvalidRequestError, lambda: read_condition(CONDITION.model_copy(update={"regoin": 3})), ["/regoin"])
    refused(wr.InvalidRequestError, lambda: read_when(When(kind="k").model_copy(update={"kind": 3})), ["/kind"])


def test_an_address_that_is_used_again_proves_nothing() -> None:
    old, new = metadata(), metadata().model_copy()
    remember(old)
    reference = _CHECKED.pop(id(old))
    _CHECKED[id(new)] = reference  # as if the new object stood where the old one did
    assert not is_checked(new)
    remember(new)
    _forget(KeyedRef(old, _forget, id(new)))  # the old one goes, later than the new one came
    assert is_checked(new)
