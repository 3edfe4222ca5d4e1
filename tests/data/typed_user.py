from collections.abc import Mapping

import whyroute as wr

cost = wr.ModelCost(prompt_usd_per_1k_tokens=0.1, completion_usd_per_1k_tokens=0.2)
model = wr.ModelInfo(name="m", context_window=8000, features=("vision",), cost=cost, p95_latency_ms=300)
metadata = wr.ProviderMetadata(id="a", region="eu", models=(model,), attributes=("x",))
need = wr.LatencyNeed(p95_latency_ms=wr.LatencyBound(op="<=", value=100))
window = wr.ContextWindowNeed(context_window=wr.ContextWindowBound(op=">=", value=1))
price = wr.CostNeed(cost_per_call=wr.CostBound(op="<", usd=1))
names = wr.ProvidersNeed(providers=wr.NameLists(allow=("a",)))
capability = wr.Capability(needs=(need, window, price, names), prefer=(wr.Preference(feature="x", weight=1),))
policy = wr.TenantPolicy(tenant_id="t", region_allow=("eu",), models=wr.NameLists(deny=("b",)))

listed = wr.Capability(needs=[need, window], prefer=[wr.Preference(feature="x", weight=1)])
lists = wr.TenantPolicy(tenant_id="t", region_allow=["eu"], providers=wr.NameLists(allow=["a"], deny=[]))
described = wr.ProviderMetadata(
    id="b",
    region="eu",
    models=[wr.ModelInfo(name="m", context_window=8000, features=["vision"], cost=cost)],
    attributes=["x"],
)
call = wr.ModelCallInput(
    model="m",
    messages=[
        wr.ModelMessage(
            role="assistant", content="", tool_calls=[wr.ModelToolCall(id="1", name="t", arguments={"a": [1]})]
        )
    ],
    tools=[wr.ModelToolDefinition(name="t", description="d", input_schema={})],
)


class Mine:
    metadata = metadata

    async def invoke(self, call: wr.ModelCallInput) -> wr.ModelCallResult:
        raise wr.NotInvocableError("a")


registry = wr.ProviderRegistry()
registry.register("t", Mine())


def is_transient(error: Exception) -> bool:
    return isinstance(error, TimeoutError)


async def use() -> str:
    entry = wr.AdapterFactoryEntry(
        adapter_id="echo", capability_kind="llm-inference", factory=lambda given: wr.EchoProvider(given.metadata)
    )

    async def load(tenant: str) -> list[wr.Registration]:
        return [wr.Registration(metadata, "echo", {"base_url": "x"}, {"name": "key"})]

    async def secret(name: Mapping[str, str]) -> str:
        return name["name"]

    held = wr.HydratingRegistry(load, wr.AdapterFactoryRegistry([entry]), secrets=secret)
    router = wr.Router(policies={"t": policy}, registry=held)
    in_memory = wr.Router(policies={"t": {"tenantId": "t"}}, registry=wr.ProviderRegistry())
    packed = wr.Router("pack", held)
    in_memory.route("t", {"needs": []}, at="2026-12-24")
    outcome = await router.invoke("t", capability, call, retry_on=is_transient)
    async for item in packed.stream("t", "summarise", call):
        if isinstance(item, wr.ModelCallDelta):
            print(item.content)
        else:
            print(item.attempts)
    own = wr.Custom("x", "x", lambda candidate: candidate.metadata.labels.get("x") == "y", "It is.")
    wr.prepare(capability, policy, custom=[own])
    record: dict[str, object] = outcome.decision.to_record()
    return outcome.result.message.content + str(record)


explanation = wr.explain(capability, registry.list("t"), policy=policy, why_not=("a", "m"))
try:
    decision = wr.route(capability, registry.list("t"), policy=policy, preferred_provider="a")
    picks: list[wr.Candidate] = list(decision.alternates)
    name: str = decision.model.name
except wr.CapabilityUnsatisfiableError as error:
    first: str = error.reasons[0].rejecting_providers[0].reason.code
    edits: list[str] = [relaxation.text for relaxation in error.explanation.relaxations]
except wr.InvalidInputError as broken:
    places: list[str] = [issue.path for issue in broken.issues]
