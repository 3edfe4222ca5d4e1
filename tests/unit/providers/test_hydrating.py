"""The registry over a loader: set up at first use, checked, replaced, unregistered, failures kept."""

import asyncio
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import whyroute as wr


def metadata(name: str, kind: str = "llm-inference", window: int = 8000) -> wr.ProviderMetadata:
    cost = wr.ModelCost(prompt_usd_per_1k_tokens=1, completion_usd_per_1k_tokens=1)
    model = wr.ModelInfo(name="m", context_window=window, features=[], cost=cost)
    return wr.ProviderMetadata(id=name, region="eu", models=[model], capability_kind=kind)


class Database:
    """Registrations by tenant, and how often they were read."""

    def __init__(self, **rows: list[wr.Registration]) -> None:
        self.rows = rows
        self.reads = 0

    async def load(self, tenant: str) -> list[wr.Registration]:
        self.reads += 1
        found = self.rows.get(tenant, [])
        await asyncio.sleep(0)
        return found


class Adapter:
    """An adapter whose providers give their secret, and that counts what it builds."""

    def __init__(self) -> None:
        self.built: list[str] = []
        self.entries = wr.AdapterFactoryRegistry(
            [
                wr.AdapterFactoryEntry(
                    adapter_id="secret", capability_kind="llm-inference", factory=self.build, check_config=self.check
                )
            ]
        )

    def check(self, given: wr.AdapterConfigCheckInput) -> list[wr.AdapterConfigProblem]:
        if given.has_secret_ref:
            return []
        return [wr.AdapterConfigProblem("/secret_ref", "secret_ref must name the API key.")]

    def build(self, given: wr.AdapterFactoryInput) -> wr.ModelProvider:
        for problem in self.check(given.for_check()):
            raise wr.adapter_config_error("secret", given.metadata.id, problem)
        if given.metadata.id == "trips":
            raise RuntimeError("hunter2")
        self.built.append(given.metadata.id)
        provider: Any = wr.EchoProvider(given.metadata)
        provider.key = given.resolve_api_key
        return provider  # type: ignore[no-any-return]


def registered(
    name: str, adapter: str = "secret", key: str | None = "k", kind: str = "llm-inference"
) -> wr.Registration:
    return wr.Registration(metadata(name, kind), adapter, secret_ref=None if key is None else {"name": key})


async def secret(name: Mapping[str, str]) -> str:
    return f"secret {name['name']}"


def ids(registry: wr.HydratingRegistry, tenant: str = "t") -> list[str]:
    return [each.id for each in registry.list(tenant).metadata]


def test_registrations_are_set_up_once_at_first_use() -> None:
    adapter, database = Adapter(), Database(t=[registered("a"), registered("b")], u=[registered("c")])
    registry = wr.HydratingRegistry(database.load, adapter.entries, secrets=secret)
    assert isinstance(registry, wr.Registry)
    assert isinstance(registry, wr.LoadsProviders)
    assert adapter.built == []

    async def use() -> str:
        await asyncio.gather(*(registry.hydrate("t") for _ in range(5)))
        await registry.hydrate("t")
        found: Any = registry.get("t", "b")
        return str(await found.key())

    assert asyncio.run(use()) == "secret k"
    assert (ids(registry), adapter.built) == (["a", "b"], ["a", "b"])
    assert not registry.has("t", "c")
    reads = database.reads
    asyncio.run(registry.hydrate("t"))
    assert database.reads == reads


def test_failures_are_kept_and_others_serve() -> None:
    rows = [registered("good"), registered("keyless", key=None), registered("trips"), registered("old", "gone")]
    rows.append(registered("other", kind="embedding"))
    registry = wr.HydratingRegistry(Database(t=rows).load, Adapter().entries)
    asyncio.run(registry.hydrate("t"))
    assert ids(registry) == ["good"]
    assert [(each.provider_id, each.message) for each in registry.setup_failures("t")] == [
        ("keyless", 'secret: provider "keyless": secret_ref must name the API key.'),
        ("trips", "its adapter failed with `RuntimeError`"),
        ("old", "there is no adapter `gone`"),
        (
            "other",
            "metadata.capabilityKind is `embedding`; the adapter builds providers of the kind `llm-inference`",
        ),
    ]
    assert registry.setup_failures("nobody") == ()


@pytest.mark.parametrize(
    ("registration", "path", "message"),
    [
        (registered("x", "secrte"), "/adapter_id", "there is no adapter `secrte`; did you mean `secret`?"),
        (registered("x", key=None), "/secret_ref", "secret_ref must name the API key."),
        (
            registered("x", kind="embedding"),
            "/metadata/capabilityKind",
            "metadata.capabilityKind is `embedding`; the adapter builds providers of the kind `llm-inference`",
        ),
    ],
)
def test_registrations_are_checked_first(registration: wr.Registration, path: str, message: str) -> None:
    registry = wr.HydratingRegistry(lambda tenant: [], Adapter().entries)
    for add in (registry.register, registry.replace):
        with pytest.raises(wr.AdapterConfigError) as caught:
            add("t", registration)
        assert (caught.value.path, caught.value.problem) == (path, message)
    assert ids(registry) == []


def test_changes_hold_at_once_and_after_loading() -> None:
    adapter, database = Adapter(), Database(t=[registered("a"), registered("b")])
    registry = wr.HydratingRegistry(database.load, adapter.entries)
    live = wr.EchoProvider("live")
    registry.register("t", live)
    asyncio.run(registry.hydrate("t"))
    assert ids(registry) == ["a", "b", "live"]
    registry.register("t", registered("c"))
    with pytest.raises(wr.DuplicateProviderError):
        registry.register("t", registered("a"))
    registry.replace("t", wr.Registration(metadata("a", window=1), "secret", secret_ref={"name": "k"}))
    assert registry.list("t").metadata[0].models[0].context_window == 1
    assert registry.unregister("t", "b")
    assert not registry.unregister("t", "b")
    assert ids(registry) == ["a", "live", "c"]
    assert adapter.built == ["a", "b", "a", "c"]  # each when it is first listed
    registry.invalidate("t")
    assert ids(registry) == ["live"]
    asyncio.run(registry.hydrate("t"))
    assert ids(registry) == ["a", "b", "live"]
    assert registry.get("t", "live") is live


def test_changes_while_loading_are_read_again() -> None:
    database = Database(t=[registered("a")])
    registry = wr.HydratingRegistry(database.load)

    async def use() -> None:
        task = asyncio.create_task(registry.hydrate("t"))
        await asyncio.sleep(0)
        database.rows["t"] = [registered("b")]
        registry.invalidate("t")
        await task

    asyncio.run(use())
    assert ids(registry) == ["b"]


def test_threads_share_a_registry() -> None:
    adapter = Adapter()
    registry = wr.HydratingRegistry(Database(t=[registered(f"p{at}") for at in range(20)]).load, adapter.entries)
    start = threading.Barrier(8)

    def use(_: int) -> list[str]:
        start.wait()
        asyncio.run(registry.hydrate("t"))
        return ids(registry)

    with ThreadPoolExecutor(8) as pool:
        assert {tuple(found) for found in pool.map(use, range(8))} == {tuple(f"p{at}" for at in range(20))}
    assert len(adapter.built) == 20
