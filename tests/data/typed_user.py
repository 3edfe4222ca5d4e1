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
