"""The router: tenants, packs with live providers, fail-over, budgets, records."""

import asyncio
import hashlib
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import rfc8785

import whyroute as wr

PACK = """\
whyroute: 1
labels:
  data: {values: [public, patient], default: patient}
providers:
  - {id: eu, region: eu, models: [{name: m, contextWindow: 8000, features: [vision], cost: {promptUsdPer1kTokens: 1,
     completionUsdPer1kTokens: 1}}]}
  - {id: kept, region: eu, onlyTenants: [other], models: [{name: m, contextWindow: 8000, features: [vision],
     cost: {promptUsdPer1kTokens: 1, completionUsdPer1kTokens: 1}}]}
capabilities:
  - {name: look, needs: [{feature: vision}], budget: {maxTokens: 3}}
policies:
  - {name: p, owner: them@example.com, maxTokensPerCall: 8000, rules: [home]}
everyTenant: [p]
tenants:
  - {tenantId: acme}
  - {tenantId: other}
rules:
  - {name: home, because: It stays here., when: {labels: {data: patient}}, require: {region: eu}, until: 2027-01-01}
"""
LOOK = {"needs": [{"feature": "vision"}]}


def metadata(name: str, region: str = "eu", window: int = 8000) -> wr.ProviderMetadata:
    cost = wr.ModelCost(prompt_usd_per_1k_tokens=1, completion_usd_per_1k_tokens=1)
    model = wr.ModelInfo(name="m", context_window=window, features=["vision"], cost=cost)
    return wr.ProviderMetadata(id=name, region=region, models=[model])


class Flaky(wr.EchoProvider):
    """Raises an error when it is called."""

    def __init__(self, name: str, error: Exception, words: int = 0) -> None:
        super().__init__(metadata(name))
        self.error, self.words = error, words

    async def invoke(self, call: wr.ModelCallInput, /) -> wr.ModelCallResult:
        raise self.error

    async def stream(self, call: wr.ModelCallInput, /) -> Any:
        for _ in range(self.words):
            yield wr.ModelCallDelta(content="x")
        raise self.error


def call(text: str = "hi") -> wr.ModelCallInput:
    return wr.ModelCallInput(model="whatever", messages=[wr.ModelMessage(role="user", content=text)])


def router(*providers: Any, tenant: str = "t") -> wr.Router:
    registry = wr.ProviderRegistry([(tenant, each) for each in providers])
    return wr.Router(policies={tenant: {"tenantId": tenant}}, registry=registry)


@pytest.fixture
def pack(tmp_path: Path) -> wr.Pack:
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")
    return wr.load_pack(tmp_path)


# Tenants.


def test_a_tenant_without_policy_is_refused(pack: wr.Pack) -> None:
    registry = wr.ProviderRegistry([("t", wr.EchoProvider(metadata("a"))), ("nobody", wr.EchoProvider(metadata("a")))])
    for made, message in (
        (wr.Router(pack, registry), "`nobody` is no tenant of the pack; the tenants are `acme`, `other`"),
        (
            wr.Router(policies={"t": {"tenantId": "t"}}, registry=registry),
            "`nobody` is no tenant of the policies; the tenants are `t`",
        ),
    ):
        with pytest.raises(wr.UnknownTenantError, match=re.escape(message)):
            made.route("nobody", LOOK)
        with pytest.raises(wr.UnknownTenantError):
            asyncio.run(made.invoke("nobody", LOOK, call()))


def test_an_unknown_capability_is_refused(pack: wr.Pack) -> None:
    with pytest.raises(wr.UnknownCapabilityError):
        wr.Router(pack).route("acme", "lok")
    with pytest.raises(wr.InvalidRequestError, match="`look` is a name, and no pack defines it"):
        router(wr.EchoProvider(metadata("a"))).route("t", "look")


def test_the_policy_of_another_tenant_is_refused() -> None:
    with pytest.raises(wr.InvalidPolicyError) as caught:
        wr.Router(policies={"a": {"tenantId": "b"}, "c": {"tenantId": "c", "x": 1}}, registry=wr.ProviderRegistry())
    assert [issue.path for issue in caught.value.issues] == ["/a/tenantId", "/c/x"]
    registry = wr.ProviderRegistry([("a", wr.EchoProvider(metadata("p")))])
    with pytest.raises(wr.InvalidPolicyError, match="policy of tenant `b`, and the providers are those of tenant `a`"):
        wr.route(LOOK, registry.list("a"), policy={"tenantId": "b"})
    with pytest.raises(wr.InvalidPolicyError):
        wr.route(LOOK, registry.list("nobody"), policy={"tenantId": "b"})
    with pytest.raises(wr.InvalidPolicyError):
        wr.route_bundle({"x": LOOK, "y": LOOK}, registry.list("a"), policy={"tenantId": "b"})
    assert wr.route(LOOK, list(registry.list("a")), policy={"tenantId": "b"}).candidate.key == ("p", "m")
    assert wr.route(LOOK, registry.list("a"), policy={"tenantId": "a"}).candidate.key == ("p", "m")


@pytest.mark.parametrize("given", [{}, {"pack": "x", "policies": {}}])
def test_a_router_takes_a_pack_or_policies(given: Any) -> None:
    with pytest.raises(TypeError, match="exactly one of them"):
        wr.Router(**given)


# Packs with live providers.


def test_live_providers_bind_to_pack_metadata(pack: wr.Pack) -> None:
    live = wr.EchoProvider(metadata("eu", region="us", window=1))
    registry = wr.ProviderRegistry([("acme", live), ("acme", wr.EchoProvider(metadata("own")))])
    made = wr.Router(pack, registry)
    decision = made.route("acme", "look", at="2026-12-24")
    assert decision.provider is live
    assert (decision.candidate.metadata.region, decision.model.context_window) == ("eu", 8000)
    assert [each.key for each in decision.alternates] == [("own", "m")]
    assert (decision.asked["tenant"], decision.asked["capability"], decision.asked["pack"]) == (
        "acme",
        "look",
        pack.digest,
    )
    registry.register("acme", wr.EchoProvider(metadata("more")))
    decision = made.route("acme", "look", at=datetime(2026, 12, 24, tzinfo=UTC))
    assert [each.key for each in decision.alternates] == [("more", "m"), ("own", "m")]


def test_providers_hidden_by_a_pack_stay_hidden(pack: wr.Pack) -> None:
    registry = wr.ProviderRegistry([(name, wr.EchoProvider(metadata("kept"))) for name in ("acme", "other")])
    made = wr.Router(pack, registry)
    assert ("kept", "m") not in [each.key for each in made.route("acme", "look").alternates]
    assert made.route("other", "look", preferred_provider="kept").provider is registry.get("other", "kept")


def test_contacts_of_clauses_are_kept(pack: wr.Pack) -> None:
    with pytest.raises(wr.CapabilityUnsatisfiableError) as caught:
        wr.Router(pack).route("acme", {"needs": [{"feature": "batch"}]})
    contacts = {each.id: each.contact for each in caught.value.explanation.constraints}
    assert contacts["policy/maxTokensPerCall"] == "them@example.com"


def test_labels_and_time_decide_about_rules(pack: wr.Pack) -> None:
    registry = wr.ProviderRegistry([("acme", wr.EchoProvider(metadata("a-us", region="us")))])
    made = wr.Router(pack, registry)
    assert made.route("acme", "look", at="2026-12-24").candidate.metadata.id == "eu"
    assert made.route("acme", "look", labels={"data": "public"}, at="2026-12-24").candidate.metadata.id == "a-us"
    assert made.route("acme", "look", at="2027-01-02").candidate.metadata.id == "a-us"


def test_registrations_are_loaded_before_a_call() -> None:
    registration = wr.Registration(metadata("a"), "echo")
    entry = wr.AdapterFactoryEntry(
        adapter_id="echo", capability_kind="llm-inference", factory=lambda given: wr.EchoProvider(given.metadata)
    )
    rows = [registration, wr.Registration(metadata("b"), "gone")]
    registry = wr.HydratingRegistry(lambda tenant: rows, wr.AdapterFactoryRegistry([entry]))
    made = wr.Router(policies={"t": {"tenantId": "t"}}, registry=registry)
    assert asyncio.run(made.invoke("t", LOOK, call("hello"))).result.message.content == "hello"
    with pytest.raises(wr.CapabilityUnsatisfiableError) as caught:
        made.route("t", {"needs": [{"feature": "batch"}]})
    assert caught.value.reasons[-1].rejecting_providers[0].id == "b"


# Calls.


def transient(error: Exception) -> bool:
    return isinstance(error, TimeoutError)


def test_alternates_are_called_where_errors_are_transient() -> None:
    made = router(
        Flaky("a", TimeoutError()), Flaky("b", TimeoutError()), wr.EchoProvider(metadata("c")), Flaky("d", OSError())
    )
    outcome = asyncio.run(made.invoke("t", LOOK, call("hello"), retry_on=transient))
    assert outcome.result.provider == wr.CalledModel(id="c", model="m")
    assert outcome.decision.candidate.metadata.id == "a"
    assert [(each.candidate.metadata.id, type(each.error)) for each in outcome.attempts] == [
        ("a", TimeoutError),
        ("b", TimeoutError),
        ("c", type(None)),
    ]
    assert outcome.attempts[0].to_dict().keys() == {"provider", "model", "durationMs", "error"}


@pytest.mark.parametrize(
    ("errors", "retry_on", "called"),
    [
        ([OSError("secret"), TimeoutError()], transient, ["a"]),
        ([TimeoutError(), OSError("secret")], transient, ["a", "b"]),
        ([TimeoutError(), TimeoutError()], transient, ["a", "b"]),
        ([TimeoutError(), TimeoutError()], None, ["a"]),
    ],
)
def test_every_attempt_is_told_when_none_answers(errors: list[Exception], retry_on: Any, called: list[str]) -> None:
    made = router(*(Flaky(name, error) for name, error in zip("ab", errors, strict=True)))
    with pytest.raises(wr.InvocationError) as caught:
        asyncio.run(made.invoke("t", LOOK, call(), retry_on=retry_on))
    error = caught.value
    assert [each.candidate.metadata.id for each in error.attempts] == called
    assert error.__cause__ is error.attempts[-1].error is errors[len(called) - 1]
    assert error.decision.candidate.metadata.id == "a"
    assert "secret" not in str(error) + json.dumps(error.to_dict())
    assert error.code == "invocation-failed"


def test_a_cancelled_call_is_not_retried() -> None:
    made = router(Flaky("a", asyncio.CancelledError()), wr.EchoProvider(metadata("b")))  # type: ignore[arg-type]
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(made.invoke("t", LOOK, call(), retry_on=lambda error: True))


def test_pack_only_provider_is_not_invocable(pack: wr.Pack) -> None:
    with pytest.raises(wr.InvocationError) as caught:
        asyncio.run(wr.Router(pack).invoke("acme", "look", call()))
    assert isinstance(caught.value.__cause__, wr.NotInvocableError)


@pytest.mark.parametrize(
    ("budget", "text", "limit"),
    [
        ({"maxTokens": 4}, "one two", None),
        ({"maxTokens": 3}, "one two", ("tokens", 3, 4)),
        ({"maxCostUsd": 0.004}, "one two", None),
        ({"maxCostUsd": 0.0039}, "one two", ("cost", 0.0039, 0.004)),
        ({"maxCostUsd": 0, "maxTokens": 0}, "", None),
        ({"maxTokens": 0}, "one", ("tokens", 0, 2)),
    ],
)
def test_the_budget_is_checked(budget: Any, text: str, limit: Any) -> None:
    made = router(wr.EchoProvider(metadata("a")))
    asked = made.invoke("t", {**LOOK, "budget": budget}, call(text))
    if limit is None:
        assert asyncio.run(asked).result.message.content == text
        return
    with pytest.raises(wr.BudgetExceededError) as caught:
        asyncio.run(asked)
    assert (caught.value.limit.kind, caught.value.limit.value, caught.value.actual) == limit
    assert caught.value.outcome is not None
    assert caught.value.outcome.result.message.content == text


def test_the_budget_of_a_packs_capability_is_checked(pack: wr.Pack) -> None:
    made = wr.Router(pack, wr.ProviderRegistry([("acme", wr.EchoProvider(metadata("eu")))]))
    with pytest.raises(wr.BudgetExceededError):
        asyncio.run(made.invoke("acme", "look", call("one two")))


# Streams.


def streamed(made: wr.Router, text: str = "one two") -> list[Any]:
    async def run() -> list[Any]:
        return [item async for item in made.stream("t", LOOK, call(text), retry_on=transient)]

    return asyncio.run(run())


def test_a_stream_ends_with_its_outcome() -> None:
    *deltas, outcome = streamed(router(Flaky("a", TimeoutError()), wr.EchoProvider(metadata("b"))))
    assert "".join(each.content for each in deltas) == outcome.result.message.content == "one two"
    assert [each.candidate.metadata.id for each in outcome.attempts] == ["a", "b"]


def test_a_stream_that_has_begun_is_not_retried() -> None:
    with pytest.raises(wr.InvocationError) as caught:
        streamed(router(Flaky("a", TimeoutError(), words=1), wr.EchoProvider(metadata("b"))))
    assert [each.candidate.metadata.id for each in caught.value.attempts] == ["a"]


def test_without_stream_a_provider_is_invoked() -> None:
    class Plain:
        metadata = metadata("a")

        async def invoke(self, call: wr.ModelCallInput, /) -> wr.ModelCallResult:
            return await wr.EchoProvider(self.metadata).invoke(call)

    (outcome,) = streamed(router(Plain()))
    assert outcome.result.message.content == "one two"


# Records.


def digest(document: Any) -> str:
    return hashlib.sha256(rfc8785.dumps(json.loads(json.dumps(document), parse_int=float))).hexdigest()


def test_a_record_names_its_objects_by_digest(pack: wr.Pack) -> None:
    registry = wr.ProviderRegistry([("acme", wr.EchoProvider(metadata("own")))])
    made = wr.Router(pack, registry)
    decision = made.route("acme", "look", at="2026-12-24", preferred_model="x")
    record = decision.to_record(id="1", time=datetime(2026, 12, 24, 1, 2, 3, 4567, tzinfo=UTC))
    merged = [pack.providers["eu"].value.metadata.to_dict(), metadata("own").to_dict()]
    answer = {"decision": decision.to_dict(), "hints": [each.to_dict() for each in decision.hints]}
    assert record == {
        "v": 2,
        "id": "1",
        "time": "2026-12-24T01:02:03.004Z",
        "tenant": "acme",
        "at": "2026-12-24",
        "asked": decision.asked,
        "pack": pack.digest,
        "providers": digest({"providers": merged}),
        "outcome": "decision",
        "pick": {"provider": "eu", "model": "m"},
        "score": 0,
        "fallback": False,
        "answer": digest(answer),
    }
    again = made.route("acme", "look", at="2026-12-25", preferred_model="x").to_record()
    assert again["answer"] == record["answer"]
    assert again["id"] != made.route("acme", "look").to_record()["id"]


def test_a_record_names_a_declaration_by_digest() -> None:
    decision = router(wr.EchoProvider(metadata("a"))).route("t", LOOK)
    record = decision.to_record()
    assert record["declaration"] == digest(LOOK)
    assert "declaration" not in record["asked"]
    assert "declaration" in decision.asked
    json.dumps(record)


# Threads and event loops.


@pytest.mark.parametrize("seconds", [0.5, pytest.param(60, marks=pytest.mark.slow)])
def test_threads_and_loops_share_a_router(pack: wr.Pack, seconds: float) -> None:
    registry = wr.ProviderRegistry([("acme", wr.EchoProvider(metadata(name))) for name in ("eu", "own")])
    made = wr.Router(pack, registry)
    end = time.monotonic() + seconds

    def expected() -> str:
        return made.route("acme", "look", at="2026-12-24").to_json()

    async def calls() -> set[str]:
        found: set[str] = set()
        while time.monotonic() < end:
            outcomes = await asyncio.gather(*(made.invoke("acme", LOOK, call("x"), at="2026-12-24") for _ in range(9)))
            found.update(each.result.to_dict()["provider"]["id"] for each in outcomes)
        return found

    def routes(_: int) -> set[str]:
        found: set[str] = set()
        while time.monotonic() < end:
            found.add(expected())
        return found

    first = expected()
    with ThreadPoolExecutor(6) as pool:
        loops = [pool.submit(asyncio.run, calls()) for _ in range(2)]
        assert all(found == {first} for found in pool.map(routes, range(4)))
        assert [loop.result() for loop in loops] == [{"eu"}, {"eu"}]
