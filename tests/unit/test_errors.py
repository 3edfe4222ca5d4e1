"""Exceptions carry their data, read well, and survive being copied and sent to another process."""

import copy
import json
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest

import whyroute as wr
from house_style import broken_rules
from whyroute import errors
from whyroute.errors import InvalidInputError, UnsatisfiableError

Json = dict[str, Any]
ISSUES = (wr.Issue("/needs/0", "empty; a need has one key"), wr.Issue("/a~1b/\n", "`x` is not a key"))


def unsatisfiable(**more: Any) -> wr.CapabilityUnsatisfiableError:
    cost = {"promptUsdPer1kTokens": 0.25, "completionUsdPer1kTokens": 1}
    models: list[Json] = [{"name": name, "contextWindow": 8000, "features": [], "cost": cost} for name in "mn"]
    provider = {"id": "p", "region": "r", "models": models, "defaultModel": "n"}
    with pytest.raises(wr.CapabilityUnsatisfiableError) as caught:
        wr.route(
            {"needs": [{"feature": "vision"}, {"p95LatencyMs": {"op": "<", "value": 5}}, {"providers": {"allow": []}}]},
            [provider],
            policy={"tenantId": "t", "maxCostPerCallUsd": 0, "regionAllow": ["s"]},
            setup_failures=[{"providerId": "q", "message": "no key"}],
            **more,
        )
    return caught.value


def unsatisfiable_bundle() -> wr.BundleUnsatisfiableError:
    cost = {"promptUsdPer1kTokens": 0.25, "completionUsdPer1kTokens": 1}
    models = [{"name": "m", "contextWindow": 9, "features": [], "cost": cost}]
    provider = {"id": "p", "region": "r", "models": models, "defaultModel": "m"}
    with pytest.raises(wr.BundleUnsatisfiableError) as caught:
        wr.route_bundle({"a": {"needs": [{"feature": "vision"}]}}, [provider], policy={"tenantId": "t"})
    return caught.value


MAKERS: dict[str, tuple[Callable[[], wr.WhyrouteError], str, Json]] = {
    "WhyrouteError": (lambda: wr.WhyrouteError("something is off"), "error", {}),
    "InvalidInputError": (lambda: InvalidInputError(ISSUES), "invalid-request", {"issues": ISSUES}),
    "InvalidRequestError": (lambda: wr.InvalidRequestError(ISSUES), "invalid-request", {"issues": ISSUES}),
    "InvalidCapabilityError": (lambda: wr.InvalidCapabilityError(ISSUES), "invalid-capability", {"issues": ISSUES}),
    "InvalidPolicyError": (lambda: wr.InvalidPolicyError(iter(ISSUES)), "invalid-policy", {"issues": ISSUES}),
    "InvalidProviderError": (
        lambda: wr.InvalidProviderError("invalid-cost", ISSUES[:1], "p"),
        "invalid-provider",
        {"reason": "invalid-cost", "provider_id": "p", "issues": ISSUES[:1]},
    ),
    "DuplicateProviderError": (
        lambda: wr.DuplicateProviderError("p", "t"),
        "duplicate-provider",
        {"provider_id": "p", "tenant_id": "t", "issues": ()},
    ),
    "UnsatisfiableError": (
        lambda: UnsatisfiableError("nothing qualifies", tenant_id="t", reasons=tuple, explanation=list),
        "capability-unsatisfiable",
        {"tenant_id": "t", "reasons": (), "explanation": []},
    ),
    "CapabilityUnsatisfiableError": (unsatisfiable, "capability-unsatisfiable", {"tenant_id": "t"}),
    "BundleUnsatisfiableError": (unsatisfiable_bundle, "capability-unsatisfiable", {"tenant_id": "t"}),
    "BudgetExceededError": (
        lambda: wr.BudgetExceededError(wr.BudgetLimit("cost", 0.1), 0.30000000000000004),
        "budget-exceeded",
        {"limit": wr.BudgetLimit("cost", 0.1), "actual": 0.30000000000000004},
    ),
    "DuplicateAdapterError": (lambda: wr.DuplicateAdapterError("a"), "duplicate-adapter", {"adapter_id": "a"}),
    "NotInvocableError": (lambda: wr.NotInvocableError("p"), "not-invocable", {"provider_id": "p"}),
    "MissingExtraError": (
        lambda: wr.MissingExtraError("server", "the service"),
        "missing-extra",
        {"extra": "server", "purpose": "the service"},
    ),
    "AdapterConfigError": (
        lambda: wr.AdapterConfigError("a", "p", "/secret_ref", "no such secret"),
        "adapter-config",
        {"adapter_id": "a", "provider_id": "p", "path": "/secret_ref", "problem": "no such secret"},
    ),
}

each = pytest.mark.parametrize("name", MAKERS)


def test_every_exception_is_made_here() -> None:
    classes = {
        name
        for name in {*errors.__all__, *wr.__all__}
        if isinstance(value := getattr(errors, name, None), type) and issubclass(value, Exception)
    }
    assert classes == set(MAKERS)


@each
def test_it_carries_its_data(name: str) -> None:
    make, code, data = MAKERS[name]
    error = make()
    assert isinstance(error, wr.WhyrouteError)
    assert error.code == code
    for attribute, value in data.items():
        assert getattr(error, attribute) == value, attribute
    found = error.to_dict()
    assert found["code"] == error.code
    assert found["message"] == error.message == str(error)
    assert json.loads(error.to_json()) == found
    json.dumps(found, allow_nan=False)
    if data.get("issues"):
        assert found["issues"] == [{"path": issue.path, "message": issue.message} for issue in data["issues"]]


@each
def test_sentence_follows_the_style(name: str) -> None:
    assert broken_rules(MAKERS[name][0]().message) == []


@each
@pytest.mark.parametrize("read_first", [False, True])
def test_it_survives_copies_and_pickles(name: str, read_first: bool) -> None:
    make, _, data = MAKERS[name]
    error = make()
    expected = make().to_dict()
    if read_first:
        error.to_dict()
    for again in (
        copy.copy(error),
        copy.deepcopy(error),
        *(pickle.loads(pickle.dumps(error, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)),
    ):
        assert type(again) is type(error)
        assert again.to_dict() == expected
        assert str(again) == str(error)
        for attribute, value in data.items():
            assert getattr(again, attribute) == value, attribute


def test_failed_answer_keeps_explanation_when_sent() -> None:
    error = unsatisfiable()
    near = [miss.to_dict() for miss in error.explanation.near_misses]
    assert [miss["candidate"]["model"] for miss in near] == ["n", "m"]
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error)), pickle.loads(pickle.dumps(unsatisfiable()))):
        assert again.explanation.to_dict() == error.explanation.to_dict()
        assert [miss.to_dict() for miss in again.explanation.near_misses] == near
        assert again.reasons == error.reasons
        assert [constraint.label for constraint in again.explanation.constraints] == [
            constraint.label for constraint in error.explanation.constraints
        ]


class Live:
    """A provider that holds what can't be sent away."""

    def __init__(self, metadata: Any) -> None:
        self.metadata = metadata
        self.lock = threading.Lock()

    async def invoke(self, call: Any, /) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize("read_first", [False, True])
def test_failed_answer_of_live_providers_can_travel(read_first: bool) -> None:
    cost = {"promptUsdPer1kTokens": 0.25, "completionUsdPer1kTokens": 1}
    models = [{"name": name, "contextWindow": 8000, "features": [], "cost": cost} for name in "mn"]
    live = [Live({"id": name, "region": "r", "models": models}) for name in "qp"]
    arguments: Json = {"policy": {"tenantId": "t", "regionAllow": ["s"]}, "preferred_model": "n"}
    with pytest.raises(wr.CapabilityUnsatisfiableError) as caught:
        wr.route({"needs": [{"feature": "vision"}]}, live, **arguments)
    error = caught.value
    expected = wr.explain({"needs": [{"feature": "vision"}]}, live, **arguments).to_dict()
    if read_first:
        assert error.explanation.to_dict() == expected
        assert len(list(error.explanation.rejections(error.explanation.constraints[1]))) == 1
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert again.to_dict() == error.to_dict()
        assert again.explanation.to_dict() == expected
        for constraint in again.explanation.constraints:
            assert constraint.catalog is again.explanation.catalog
    sent = pickle.loads(pickle.dumps(error)).explanation
    assert [type(provider) for provider in sent.catalog] == [wr.DeclaredProvider] * 2
    assert type(error.explanation.near_misses[0].candidate.provider) is Live
    assert type(copy.copy(error).explanation.near_misses[0].candidate.provider) is Live


def test_a_decision_survives_copies_and_pickles() -> None:
    cost = {"promptUsdPer1kTokens": 0.25, "completionUsdPer1kTokens": 1}
    models = [{"name": name, "contextWindow": 8000, "features": [], "cost": cost} for name in "xyz"]
    decision = wr.route({"needs": []}, [{"id": "p", "region": "r", "models": models}], preferred_model="y")
    iterator = iter(decision.alternates)
    next(iterator)
    for again in (copy.copy(decision), pickle.loads(pickle.dumps(decision))):
        assert again.to_dict() == decision.to_dict()
        assert [candidate.key for candidate in again.alternates[::-1]] == [("p", "z"), ("p", "x")]


def test_reasons_are_made_once_and_only_when_read() -> None:
    made: list[str] = []

    def reasons() -> tuple[wr.Reason, ...]:
        made.append("reasons")
        return ()

    def explanation() -> Any:
        made.append("explanation")
        return object()

    error = wr.CapabilityUnsatisfiableError("nothing", reasons=reasons, explanation=explanation)
    assert str(error) == "nothing"
    assert error.tenant_id is None
    assert made == []
    assert error.reasons is error.reasons
    assert error.explanation is error.explanation
    assert made == ["reasons", "explanation"]
    assert "tenantId" not in error.to_dict()


def test_an_error_of_many_problems_says_how_many() -> None:
    one, two, three = (wr.InvalidPolicyError(ISSUES[:1] * count).message for count in (1, 2, 3))
    assert one == "the policy is invalid: /needs/0: empty; a need has one key"
    assert two == f"{one} (and 1 more problem)"
    assert three == f"{one} (and 2 more problems)"
    assert wr.InvalidRequestError([]).message == "the request is invalid"
    assert wr.InvalidProviderError("empty-id", ISSUES[:1]).message.startswith("the provider is invalid: ")
    assert wr.InvalidProviderError("empty-id", ISSUES[:1], "the provider").message.startswith(
        "provider `the provider` is invalid: "
    )


@pytest.mark.parametrize(
    ("kind", "value", "actual", "sentence"),
    [
        ("cost", 0.1, 0.1 + 0.2, "the cost budget is 0.1 USD, the call used 0.30000000000000004 USD"),
        ("tokens", 1000, 1001.0, "the tokens budget is 1000 tokens, the call used 1001 tokens"),
        ("duration", 0, 1e-7, "the duration budget is 0 ms, the call used 1e-7 ms"),
    ],
)
def test_a_budget_that_was_exceeded(kind: str, value: float, actual: float, sentence: str) -> None:
    error = wr.BudgetExceededError(wr.BudgetLimit(kind, value), actual)
    assert error.message == sentence
    assert error.to_dict() == {
        "code": "budget-exceeded",
        "message": sentence,
        "limit": {"kind": kind, "value": value},
        "actual": actual,
    }


def test_reasons_are_data() -> None:
    error = unsatisfiable()
    assert [reason.requirement for reason in error.reasons] == [
        "feature:vision",
        "p95LatencyMs<5",
        "providers{allow:[]deny:[]}",
        "tenant.regionAllow[s]",
        "tenant.maxCostPerCallUsd<=0",
        "provider set up",
    ]
    for reason in error.reasons:
        assert [rejected.to_dict() for rejected in reason.rejecting_providers] == reason.to_dict()["rejectingProviders"]
        for rejected in reason.rejecting_providers:
            assert broken_rules(rejected.reason.message) == []
    allow = error.reasons[2].rejecting_providers[0].reason
    assert allow.details["allow"] == ()
    assert allow.to_dict()["allow"] == []
    with pytest.raises(AttributeError):
        allow.code = "other"  # type: ignore[misc]  # it is frozen


def failed(needs: list[Json], *providers: str, **more: Any) -> str:
    cost = {"promptUsdPer1kTokens": 0, "completionUsdPer1kTokens": 0}
    model = {"name": "m", "contextWindow": 8000, "features": ["vision"], "cost": cost}
    with pytest.raises(wr.CapabilityUnsatisfiableError) as caught:
        wr.route({"needs": needs}, [{"id": name, "region": name, "models": [model]} for name in providers], **more)
    assert broken_rules(str(caught.value)) == []
    return str(caught.value)


def test_failed_answer_names_its_obstacles() -> None:
    nothing = "no registered provider satisfies the capability: "
    assert failed([]) == f"{nothing}there are no candidates"
    assert failed([{"region": "x"}], "a", "b") == f"{nothing}`region=x` does not admit any of 2 candidates"
    assert failed([{"region": "x"}], "a") == f"{nothing}`region=x` does not admit the one candidate"
    many = [{"region": name} for name in "vwxyz"]
    assert failed(many, "a", "b") == (
        f"{nothing}`region=v`, `region=w`, `region=x` and 2 more each do not admit any of 2 candidates"
    )
    together = [{"region": "a"}, {"region": "b"}]
    assert failed(together, "a", "b") == f"{nothing}the 3 constraints together do not admit any of 2 candidates"


def test_provider_failure_stands_on_one_line() -> None:
    failures = [{"providerId": "z", "message": "no\x1b[31m\nkey"}]
    assert failed([], setup_failures=failures).endswith("; provider `z` could not be set up: no\\x1b[31m\\nkey")


def test_failure_message_is_made_once_on_reading() -> None:
    made: list[str] = []

    def message() -> str:
        made.append("message")
        return "nothing qualifies"

    error = wr.CapabilityUnsatisfiableError(message, reasons=tuple, explanation=lambda: unsatisfiable().explanation)
    assert made == []
    assert (str(error), error.message, repr(error)) == (
        "nothing qualifies",
        "nothing qualifies",
        "CapabilityUnsatisfiableError('nothing qualifies')",
    )
    assert made == ["message"]
