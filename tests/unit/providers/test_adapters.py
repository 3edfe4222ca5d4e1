"""Adapter factories: the registry, identities, server credentials, checks, the error's wording, preparation."""

import asyncio
import dataclasses
import pickle
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from threading import Barrier
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from paths import ROOT
from whyroute.errors import AdapterConfigError, DuplicateAdapterError
from whyroute.model.calls import CalledModel, ModelCallInput, ModelCallResult, ModelMessage, UsageCounters
from whyroute.model.metadata import ProviderMetadata
from whyroute.model.provider import ModelProvider
from whyroute.providers.adapters import (
    AdapterConfigCheckInput,
    AdapterConfigProblem,
    AdapterFactoryEntry,
    AdapterFactoryInput,
    AdapterFactoryRegistry,
    AdapterIdentities,
    AdapterIdentitiesPresent,
    AwsCredentialClient,
    AwsCredentials,
    AzureToken,
    AzureTokenClient,
    PrepareError,
    PrepareEvent,
    PrepareProgress,
    PrepareReady,
    adapter_config_error,
    check_registration,
)

METADATA = ProviderMetadata.model_validate(
    {
        "id": "acme-eu",
        "region": "eu-west-1",
        "models": [
            {
                "name": "acme-large",
                "contextWindow": 200000,
                "features": ["tool-use"],
                "cost": {"promptUsdPer1kTokens": 0.003, "completionUsdPer1kTokens": 0.015},
            }
        ],
    }
)


@dataclasses.dataclass(frozen=True)
class Token:
    token: str


class Azure:
    async def get_token(self, *scopes: str) -> Token:
        return Token("for " + " ".join(scopes))


class Aws:
    async def __call__(self) -> AwsCredentials:
        return AwsCredentials(access_key_id="id", secret_access_key="hidden-key", session_token="hidden-token")


AZURE, AWS = Azure(), Aws()
BOTH = AdapterIdentities(azure=AZURE, aws=AWS)
PRESENT = AdapterIdentitiesPresent


class Provider:
    def __init__(self, given: AdapterFactoryInput) -> None:
        self.metadata = given.metadata
        self.given = given
        self.log: list[str] = []

    async def invoke(self, call: ModelCallInput, /) -> ModelCallResult:
        self.log.append("started")
        try:
            resolve = self.given.resolve_api_key
            key = "none" if resolve is None else await resolve()
        except asyncio.CancelledError:
            self.log.append("cancelled")
            raise
        finally:
            self.log.append("closed")
        return ModelCallResult(
            message=ModelMessage(role="assistant", content=f"{call.messages[-1].content} ({key})"),
            finish_reason="stop",
            usage=UsageCounters(prompt_tokens=1, completion_tokens=1),
            cost_usd=0,
            duration_ms=0,
            provider=CalledModel(id=self.metadata.id, model=call.model),
        )


class Adapter:
    """Records what its factory and its check are given."""

    def __init__(self, adapter_id: str = "acme", problems: Sequence[AdapterConfigProblem] = ()) -> None:
        self.built: list[AdapterFactoryInput] = []
        self.checked: list[AdapterConfigCheckInput] = []
        self.problems = problems
        self.entry = AdapterFactoryEntry(
            adapter_id=adapter_id,
            capability_kind="llm-inference",
            factory=self.build,
            check_config=self.check,
            prepare=prepare,
        )

    def build(self, given: AdapterFactoryInput) -> ModelProvider:
        self.built.append(given)
        return Provider(given)

    def check(self, given: AdapterConfigCheckInput) -> Sequence[AdapterConfigProblem]:
        self.checked.append(given)
        return self.problems


async def prepare(params: Mapping[str, Any] | None = None) -> AsyncIterator[PrepareEvent]:
    model = None if params is None else params.get("model")
    if model is None:
        yield PrepareError(message="`model` is missing; it names the model to load")
        return
    for loaded in (0, 50, 100):
        await asyncio.sleep(0)
        yield PrepareProgress(loaded_bytes=loaded, total_bytes=100, ratio=loaded / 100, file=f"{model}.bin")
    yield PrepareReady()


def told(
    registry: AdapterFactoryRegistry, adapter: Adapter, **own: Any
) -> tuple[AdapterIdentities | None, AdapterIdentitiesPresent | None, tuple[bool | None, bool | None]]:
    """What factory and check of a registered adapter learn about identities and server credentials."""
    entry = registry.get("acme")
    assert entry is not None
    assert entry.check_config is not None
    entry.factory(AdapterFactoryInput(metadata=METADATA, **own))
    if "identities" in own:
        own["identities"] = PRESENT.of(own["identities"])
    entry.check_config(AdapterConfigCheckInput(metadata=METADATA, has_secret_ref=False, **own))
    built, checked = adapter.built[-1], adapter.checked[-1]
    return built.identities, checked.identities, (built.server_credentials, checked.server_credentials)


# The registry


def test_registry_keeps_entries_in_order() -> None:
    adapters = [Adapter(name) for name in ("zeta", "alpha", "mid/dle")]
    registry = AdapterFactoryRegistry([adapters[0].entry, adapters[1].entry])
    registry.register(adapters[2].entry)
    assert [entry.adapter_id for entry in registry.list()] == ["zeta", "alpha", "mid/dle"]
    assert registry.get("alpha") is adapters[1].entry
    assert registry.has("mid/dle")
    assert registry.get("Alpha") is None
    assert not registry.has("mid")
    assert AdapterFactoryRegistry().list() == ()


def test_a_list_is_a_snapshot() -> None:
    registry = AdapterFactoryRegistry([Adapter("a").entry])
    before = registry.list()
    registry.register(Adapter("b").entry)
    assert len(before) == 1
    assert len(registry.list()) == 2


@pytest.mark.parametrize("options", [{}, {"identities": BOTH}, {"server_credentials": False}])
def test_an_id_is_registered_once(options: dict[str, Any]) -> None:
    first, second = Adapter(), Adapter()
    registry = AdapterFactoryRegistry([first.entry], **options)
    with pytest.raises(DuplicateAdapterError) as raised:
        registry.register(second.entry)
    assert raised.value.adapter_id == "acme"
    assert len(registry.list()) == 1
    told(registry, first)
    assert not second.built
    with pytest.raises(DuplicateAdapterError):
        AdapterFactoryRegistry([first.entry, first.entry], **options)


class SlowId(str):
    """Lets other threads run whenever it is looked up, so that a race is certain to be lost."""

    __slots__ = ()

    def __hash__(self) -> int:
        time.sleep(0.001)
        return super().__hash__()


def test_one_thread_wins_a_shared_id() -> None:
    threads, rounds = 4, 5
    registry = AdapterFactoryRegistry()
    barrier = Barrier(threads, timeout=20)

    def work(worker: int) -> int:
        refused = 0
        for number in range(rounds):
            barrier.wait()
            try:
                registry.register(Adapter(SlowId(f"shared-{number}")).entry)
            except DuplicateAdapterError:
                refused += 1
            registry.register(Adapter(SlowId(f"own-{worker}-{number}")).entry)
            registry.list()
        return refused

    with ThreadPoolExecutor(threads) as pool:
        refused = sum(pool.map(work, range(threads)))
    assert refused == rounds * (threads - 1)
    assert len(registry.list()) == rounds * (threads + 1)


def test_entry_is_frozen_with_id_and_kind() -> None:
    entry = Adapter().entry
    with pytest.raises(dataclasses.FrozenInstanceError):
        entry.adapter_id = "other"  # type: ignore[misc]  # what is tested: it is read-only
    with pytest.raises(ValueError, match="`adapter_id` is empty"):
        dataclasses.replace(entry, adapter_id="")
    with pytest.raises(ValueError, match="`capability_kind` is empty"):
        dataclasses.replace(entry, capability_kind="")


# Identities


def test_without_identities_nothing_is_said_of_them() -> None:
    adapter = Adapter()
    registry = AdapterFactoryRegistry([adapter.entry])
    assert told(registry, adapter) == (None, None, (None, None))


@pytest.mark.parametrize(
    ("identities", "present"),
    [
        (BOTH, {"azure": True, "aws": True}),
        (AdapterIdentities(azure=AZURE), {"azure": True, "aws": False}),
        (AdapterIdentities(aws=AWS), {"azure": False, "aws": True}),
        (AdapterIdentities(), {"azure": False, "aws": False}),
    ],
)
def test_factories_and_checks_get_registry_identities(identities: AdapterIdentities, present: dict[str, bool]) -> None:
    seeded, later = Adapter(), Adapter("later")
    registry = AdapterFactoryRegistry([seeded.entry], identities=identities)
    registry.register(later.entry)
    given, learnt, credentials = told(registry, seeded)
    assert given is identities
    assert learnt is not None
    assert learnt.to_dict() == present
    assert credentials == (None, None)
    for entry in registry.list():
        entry.factory(AdapterFactoryInput(metadata=METADATA))
    assert later.built[0].identities is identities


@pytest.mark.parametrize("own", [AdapterIdentities(aws=AWS), AdapterIdentities()])
def test_an_inputs_own_identities_win(own: AdapterIdentities) -> None:
    adapter = Adapter()
    registry = AdapterFactoryRegistry([adapter.entry], identities=AdapterIdentities(azure=AZURE))
    given, learnt, _ = told(registry, adapter, identities=own)
    assert given is own
    assert learnt == PRESENT.of(own)


@pytest.mark.parametrize("allowed", [True, False, None])
def test_identities_leave_an_inputs_server_credentials_alone(allowed: bool | None) -> None:
    adapter = Adapter()
    registry = AdapterFactoryRegistry([adapter.entry], identities=BOTH)
    assert told(registry, adapter, server_credentials=allowed)[2] == (allowed, allowed)


def test_other_input_fields_arrive_unchanged() -> None:
    async def key() -> str:
        return "k"

    @asynccontextmanager
    async def client() -> AsyncIterator[str]:
        yield "a client"

    for options in ({}, {"identities": BOTH}, {"server_credentials": False}):
        adapter = Adapter()
        registry = AdapterFactoryRegistry([adapter.entry], **options)
        entry = registry.list()[0]
        assert entry.check_config is not None
        assert (entry.adapter_id, entry.capability_kind, entry.prepare) == ("acme", "llm-inference", prepare)
        entry.factory(
            AdapterFactoryInput(metadata=METADATA, config={"api": "v1"}, resolve_api_key=key, http_client=client)
        )
        built = adapter.built[0]
        assert built.metadata is METADATA
        assert (built.config, built.resolve_api_key, built.http_client) == ({"api": "v1"}, key, client)
        entry.check_config(AdapterConfigCheckInput(metadata=METADATA, has_secret_ref=True, config={}))
        checked = adapter.checked[0]
        assert (checked.metadata, checked.has_secret_ref, checked.config) == (METADATA, True, {})


@pytest.mark.parametrize("options", [{"identities": BOTH}, {"server_credentials": False}])
def test_adapter_without_check_has_none_anywhere(options: dict[str, Any]) -> None:
    entry = dataclasses.replace(Adapter().entry, check_config=None)
    found = AdapterFactoryRegistry([entry], **options).get("acme")
    assert found is not None
    assert found.check_config is None
    given = AdapterConfigCheckInput(metadata=METADATA, has_secret_ref=False, config={"any": "thing"})
    assert check_registration(found, given) == ()


# Server credentials


@pytest.mark.parametrize("identities", [None, BOTH])
@pytest.mark.parametrize(
    "own", [{}, {"identities": BOTH}, {"server_credentials": True}, {"identities": BOTH, "server_credentials": True}]
)
def test_without_server_credentials_no_input_gets_them_back(
    identities: AdapterIdentities | None, own: dict[str, Any]
) -> None:
    adapter = Adapter()
    registry = AdapterFactoryRegistry([adapter.entry], identities=identities, server_credentials=False)
    none = PRESENT(azure=False, aws=False)
    assert told(registry, adapter, **own) == (None, none, (False, False))
    assert not adapter.built[-1].may_use_server_credentials
    assert not adapter.checked[-1].may_use_server_credentials


def test_foreign_entries_do_not_bring_identities() -> None:
    adapter = Adapter()
    shared = AdapterFactoryRegistry([adapter.entry], identities=BOTH)
    again = AdapterFactoryRegistry(shared.list(), identities=AdapterIdentities(aws=AWS))
    for source in (shared, again):
        locked = AdapterFactoryRegistry(source.list(), server_credentials=False)
        assert told(locked, adapter) == (None, PRESENT(azure=False, aws=False), (False, False))
        reopened = AdapterFactoryRegistry(locked.list(), identities=BOTH)
        assert told(reopened, adapter) == (None, PRESENT(azure=False, aws=False), (False, False))


@pytest.mark.parametrize("value", [True, 0, 1, "", "false"])
def test_registry_takes_only_false_for_server_credentials(value: Any) -> None:
    with pytest.raises(TypeError, match="`server_credentials` is False, or left out"):
        AdapterFactoryRegistry(server_credentials=value)


@pytest.mark.parametrize("value", [0, 1, "", "false"])
def test_input_takes_no_boolean_look_alike(value: Any) -> None:
    with pytest.raises(TypeError, match="it is True, False or None"):
        AdapterFactoryInput(metadata=METADATA, server_credentials=value)
    with pytest.raises(TypeError, match="it is True, False or None"):
        AdapterConfigCheckInput(metadata=METADATA, has_secret_ref=False, server_credentials=value)


@pytest.mark.parametrize(("value", "may"), [(None, True), (True, True), (False, False)])
def test_absent_server_credentials_are_allowed(value: bool | None, may: bool) -> None:
    given = AdapterFactoryInput(metadata=METADATA, server_credentials=value)
    assert given.may_use_server_credentials is may
    assert given.for_check().may_use_server_credentials is may


# Checks and errors


def test_a_configuration_is_copied_and_read_only() -> None:
    config: dict[str, str | int | float | bool] = {"api": "v1"}
    for given in (
        AdapterFactoryInput(metadata=METADATA, config=config),
        AdapterConfigCheckInput(metadata=METADATA, has_secret_ref=False, config=config),
    ):
        config["api"] = "v2"
        assert given.config == {"api": "v1"}
        with pytest.raises(TypeError):
            given.config["api"] = "v3"  # type: ignore[index]  # what is tested: it is read-only
        config["api"] = "v1"


def test_an_absent_configuration_is_not_an_empty_one() -> None:
    assert AdapterFactoryInput(metadata=METADATA).config is None
    assert AdapterFactoryInput(metadata=METADATA, config={}).config == {}


def test_a_check_sees_what_the_factory_would() -> None:
    async def key() -> str:
        raise AssertionError("a check never reads the secret")

    given = AdapterFactoryInput(
        metadata=METADATA,
        config={"auth": "entra"},
        resolve_api_key=key,
        identities=AdapterIdentities(azure=AZURE),
        server_credentials=False,
    )
    assert given.for_check() == AdapterConfigCheckInput(
        metadata=METADATA,
        config={"auth": "entra"},
        has_secret_ref=True,
        identities=PRESENT(azure=True, aws=False),
        server_credentials=False,
    )
    bare = AdapterFactoryInput(metadata=METADATA).for_check()
    assert (bare.config, bare.has_secret_ref, bare.identities) == (None, False, PRESENT(azure=False, aws=False))


def test_problems_come_in_the_adapters_order() -> None:
    problems = [
        AdapterConfigProblem("/secret_ref", "secret_ref is missing"),
        AdapterConfigProblem("/adapter_config/api", "adapter_config.api is `v0`; it is `v1` or `v2`"),
    ]
    adapter = Adapter(problems=problems)
    given = AdapterConfigCheckInput(metadata=METADATA, has_secret_ref=False)
    assert check_registration(adapter.entry, given) == tuple(problems)
    assert problems[0].to_dict() == {"path": "/secret_ref", "message": "secret_ref is missing"}


@pytest.mark.parametrize(
    "path",
    [
        "/adapter_config",
        "/adapter_config/base_url",
        "/adapter_config/a~1b~0c",
        "/adapter_config/",
        "/secret_ref",
        "/secret_ref/name",
        "/metadata/region",
        "/metadata/models/0/name",
    ],
)
def test_a_problem_points_into_the_registration(path: str) -> None:
    assert AdapterConfigProblem(path, "m").path == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "adapter_config/api",
        "/adapter_configs",
        "/config/api",
        "#/metadata",
        "/metadata~2",
        "/metadata/a~",
        "/adapter_id",
    ],
)
def test_problem_elsewhere_is_an_adapter_fault(path: str) -> None:
    with pytest.raises(ValueError, match="is no JSON pointer into a registration"):
        AdapterConfigProblem(path, "m")


def test_a_problem_says_something() -> None:
    with pytest.raises(ValueError, match="has no message"):
        AdapterConfigProblem("/secret_ref", "")


def test_problem_error_follows_the_contract() -> None:
    problem = AdapterConfigProblem("/adapter_config/api", "adapter_config.api must be one of v1, v2.")
    error = adapter_config_error("acme", 'quo"ted', problem)
    assert isinstance(error, AdapterConfigError)
    assert str(error) == 'acme: provider "quo"ted": adapter_config.api must be one of v1, v2.'
    assert (error.adapter_id, error.provider_id, error.path) == ("acme", 'quo"ted', "/adapter_config/api")
    assert error.problem == problem.message
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_factory_refuses_what_its_check_reports() -> None:
    def check(given: AdapterConfigCheckInput) -> Sequence[AdapterConfigProblem]:
        if not given.may_use_server_credentials:
            return [AdapterConfigProblem("/adapter_config/auth", "adapter_config.auth must be key here.")]
        if given.identities is not None and not given.identities.azure:
            return [AdapterConfigProblem("/adapter_config/auth", "adapter_config.auth needs an Azure identity.")]
        return []

    def factory(given: AdapterFactoryInput) -> ModelProvider:
        for problem in check(given.for_check()):
            raise adapter_config_error("acme", given.metadata.id, problem)
        return Provider(given)

    entry = AdapterFactoryEntry(adapter_id="acme", capability_kind="llm-inference", factory=factory, check_config=check)
    locked = {"server_credentials": False}
    cases: list[tuple[dict[str, Any], str | None]] = [
        ({"identities": BOTH}, None),
        ({"identities": AdapterIdentities(aws=AWS)}, "adapter_config.auth needs an Azure identity."),
        (locked, "adapter_config.auth must be key here."),
        ({"identities": BOTH, **locked}, "adapter_config.auth must be key here."),
    ]
    for options, message in cases:
        found = AdapterFactoryRegistry([entry], **options).get("acme")
        assert found is not None
        problems = check_registration(found, AdapterConfigCheckInput(metadata=METADATA, has_secret_ref=False))
        assert [problem.message for problem in problems] == ([] if message is None else [message])
        if message is None:
            found.factory(AdapterFactoryInput(metadata=METADATA))
        else:
            with pytest.raises(AdapterConfigError) as raised:
                found.factory(AdapterFactoryInput(metadata=METADATA))
            assert raised.value.message == f'acme: provider "acme-eu": {message}'


# Identity clients


def test_identity_clients_are_asked_when_they_are_needed() -> None:
    async def ask() -> tuple[str, str]:
        azure: AzureTokenClient = AZURE
        aws: AwsCredentialClient = AWS
        token: AzureToken = await azure.get_token("scope/.default")
        return token.token, (await aws()).access_key_id

    assert asyncio.run(ask()) == ("for scope/.default", "id")
    assert isinstance(AZURE, AzureTokenClient)
    assert not isinstance(object(), AzureTokenClient)


def test_credentials_do_not_show_their_secrets() -> None:
    shown = repr(asyncio.run(AWS()))
    assert "id" in shown
    assert "hidden" not in shown


# Preparation


async def events(entry: AdapterFactoryEntry, params: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    assert entry.prepare is not None
    stream = entry.prepare() if params is None else entry.prepare(params)
    return [event.to_dict() async for event in stream]


@pytest.mark.parametrize("options", [{}, {"identities": BOTH}, {"server_credentials": False}])
def test_a_preparation_streams_events(options: dict[str, Any]) -> None:
    entry = AdapterFactoryRegistry([Adapter().entry], **options).list()[0]
    assert asyncio.run(events(entry, {"model": "tiny"})) == [
        {"kind": "progress", "loadedBytes": 0, "totalBytes": 100, "ratio": 0, "file": "tiny.bin"},
        {"kind": "progress", "loadedBytes": 50, "totalBytes": 100, "ratio": 0.5, "file": "tiny.bin"},
        {"kind": "progress", "loadedBytes": 100, "totalBytes": 100, "ratio": 1, "file": "tiny.bin"},
        {"kind": "ready"},
    ]
    assert asyncio.run(events(entry)) == [
        {"kind": "error", "message": "`model` is missing; it names the model to load"}
    ]


def test_parameters_of_a_preparation_arrive_unchanged() -> None:
    seen: list[Mapping[str, Any] | None] = []

    async def record(params: Mapping[str, Any] | None = None) -> AsyncIterator[PrepareEvent]:
        seen.append(params)
        yield PrepareReady(message="warm")

    params = {"model": "tiny", "nested": {"n": [None]}}
    for options in ({}, {"identities": BOTH}, {"server_credentials": False}):
        entry = dataclasses.replace(Adapter().entry, prepare=record)
        registry = AdapterFactoryRegistry([entry], **options)
        assert asyncio.run(events(registry.list()[0], params)) == [{"kind": "ready", "message": "warm"}]
        assert seen.pop() is params


def test_a_preparation_can_be_left_early() -> None:
    closed = []

    async def endless(params: Mapping[str, Any] | None = None) -> AsyncIterator[PrepareEvent]:
        try:
            while True:
                await asyncio.sleep(0)
                yield PrepareProgress()
        finally:
            closed.append(True)

    async def watch() -> None:
        async with asyncio.timeout(0.02):
            async for event in endless():
                assert event.to_dict() == {"kind": "progress"}

    with pytest.raises(TimeoutError):
        asyncio.run(watch())
    assert closed == [True]


EVENTS: list[tuple[dict[str, Any], type[Any]]] = [
    ({"kind": "progress"}, PrepareProgress),
    (
        {"kind": "progress", "message": "m", "ratio": 0.25, "loadedBytes": 0, "totalBytes": 9, "file": "f"},
        PrepareProgress,
    ),
    ({"kind": "ready"}, PrepareReady),
    ({"kind": "ready", "message": "m"}, PrepareReady),
    ({"kind": "error", "message": "m"}, PrepareError),
]


@pytest.mark.parametrize(("wire", "kind"), EVENTS)
def test_events_go_over_the_wire(wire: dict[str, Any], kind: type[Any]) -> None:
    event = TypeAdapter[PrepareEvent](PrepareEvent).validate_python(wire)
    assert type(event) is kind
    assert event.to_dict() == wire


@pytest.mark.parametrize(
    "wire",
    [
        {"kind": "done"},
        {"kind": "error"},
        {"kind": "error", "message": "m", "ratio": 1},
        {"kind": "ready", "ratio": 1},
        {"kind": "progress", "ratio": 1.01},
        {"kind": "progress", "ratio": -0.01},
        {"kind": "progress", "ratio": float("nan")},
        {"kind": "progress", "ratio": True},
        {"kind": "progress", "loadedBytes": -1},
        {"kind": "progress", "totalBytes": 0.5},
        {"kind": "progress", "percent": 50},
    ],
)
def test_an_event_of_another_shape_is_refused(wire: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter[PrepareEvent](PrepareEvent).validate_python(wire)


# Calling what a factory built


def built(**given: Any) -> Provider:
    entry = AdapterFactoryRegistry([Adapter().entry], identities=BOTH).get("acme")
    assert entry is not None
    provider = entry.factory(AdapterFactoryInput(metadata=METADATA, **given))
    assert isinstance(provider, ModelProvider)
    assert isinstance(provider, Provider)
    return provider


CALL = ModelCallInput(model="acme-large", messages=(ModelMessage(role="user", content="hello"),))


def test_key_is_read_at_call_time() -> None:
    reads = []

    async def key() -> str:
        reads.append(True)
        return f"key {len(reads)}"

    provider = built(resolve_api_key=key)
    assert not reads

    async def twice() -> list[str]:
        return [(await provider.invoke(CALL)).message.content for _ in range(2)]

    assert asyncio.run(twice()) == ["hello (key 1)", "hello (key 2)"]


def test_cancelling_a_task_cancels_its_call() -> None:
    async def never() -> str:
        await asyncio.Event().wait()
        return "never"

    async def cancel(provider: Provider) -> None:
        task = asyncio.create_task(provider.invoke(CALL))
        await asyncio.sleep(0)
        assert provider.log == ["started"]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def run_out_of_time(provider: Provider) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await provider.invoke(CALL)

    for way in (cancel, run_out_of_time):
        provider = built(resolve_api_key=never)
        asyncio.run(way(provider))
        assert provider.log == ["started", "cancelled", "closed"]


# The guide

GUIDE = ROOT / "docs" / "adapters.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_guide_runs_and_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    namespace: dict[str, Any] = {"__name__": "guide"}
    printed: str | None = None
    kinds = []
    for block in FENCE.finditer(text):
        kind, body = block.groups()
        kinds.append(kind)
        if kind == "text":
            assert printed == body
            printed = None
            continue
        assert not printed, f"the page leaves out what it prints: {printed}"
        # The blank lines give errors the line numbers of the page.
        exec(compile("\n" * text[: block.start(2)].count("\n") + body, str(GUIDE), "exec"), namespace)
        printed = capsys.readouterr().out
    assert not printed
    assert kinds.count("python") == text.count("```python")
    assert kinds.count("text") >= 5
