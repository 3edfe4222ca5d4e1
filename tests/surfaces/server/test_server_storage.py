"""Registrations on SQLite and PostgreSQL: what was kept is there, for everyone, once."""

import pickle
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paths import TESTS
from serverkit import make_kit, provider, registration
from whyroute.errors import AdapterConfigError, DuplicateProviderError, InvalidProviderError
from whyroute.model.metadata import ProviderMetadata, read_metadata
from whyroute.model.provider import DeclaredProvider
from whyroute.packs import load_pack
from whyroute.providers.adapters import (
    AdapterConfigProblem,
    AdapterFactoryEntry,
    AdapterFactoryInput,
    AdapterFactoryRegistry,
    adapter_config_error,
)
from whyroute.providers.hydrating import Registration
from whyroute.providers.registry import Registry
from whyroute.server.registrations import read_registration
from whyroute.server.storage import DatabaseFileError, DatabaseUrlError, KeptPack, Storage, StorageUnavailableError
from whyroute.server.stored import StoredRegistry

STRANGE = ["a", "A", "a/b", "\u0000", "ü", "u\u0308", "x" * 10_000, "'; DROP TABLE whyroute_providers; --", "🦆", " a"]


@pytest.fixture
def storage(database: str) -> Iterator[Storage]:
    storage = Storage(database)
    yield storage
    storage.close()


def metadata(name: str) -> ProviderMetadata:
    return read_metadata(provider(name))


def names(storage: Storage, tenant: str) -> list[str]:
    return [each.id for each in storage.load(tenant)[1]]


def test_registrations_are_kept_in_order_and_apart(storage: Storage) -> None:
    for tenant in ("t", "T", "ü\u0000"):
        for name in STRANGE:
            storage.add(tenant, Registration(metadata(name), "adapter", {"ü\u0000": 1.5, "b": True}, {"envName": "E"}))
    for tenant in ("t", "T", "ü\u0000"):
        version, found = storage.load(tenant)
        assert [each.id for each in found] == STRANGE
        assert version == storage.version(tenant) == len(STRANGE)
        assert found[0].adapter_config == {"ü\u0000": 1.5, "b": True}
    assert storage.load("other") == (0, ())


def test_an_id_is_kept_once(storage: Storage) -> None:
    storage.add("t", Registration(metadata("a"), "x"))
    with pytest.raises(DuplicateProviderError):
        storage.add("t", Registration(metadata("a"), "y"))
    assert [each.adapter_id for each in storage.load("t")[1]] == ["x"]
    assert storage.remove("t", "a")
    assert not storage.remove("t", "a")
    assert not storage.remove("u", "a")
    storage.add("t", Registration(metadata("a"), "y"))
    assert [each.adapter_id for each in storage.load("t")[1]] == ["y"]


def test_every_change_makes_another_version(storage: Storage) -> None:
    versions = [storage.version("t")]
    storage.add("t", Registration(metadata("a")))
    versions.append(storage.version("t"))
    storage.add("u", Registration(metadata("a")))
    assert storage.version("t") == versions[-1]
    storage.remove("t", "a")
    versions.append(storage.version("t"))
    assert versions == sorted(set(versions))


def test_what_changes_nothing_makes_no_other_version(storage: Storage) -> None:
    storage.add("t", Registration(metadata("a")))
    before = storage.version("t")
    assert not storage.remove("t", "b")
    assert storage.version("t") == before
    storage.add("t", Registration(metadata("b")))
    assert storage.version("t") > before


def test_concurrent_adds_keep_each_once(database: str) -> None:
    storages = [Storage(database) for _ in range(3)]
    kept: list[str] = []
    refused: list[str] = []

    def work(storage: Storage, own: int) -> None:
        for number in range(8):
            storage.add("t", Registration(metadata(f"own-{own}-{number}")))
            try:
                storage.add("t", Registration(metadata(f"shared-{number}")))
                kept.append(f"shared-{number}")
            except DuplicateProviderError as error:
                refused.append(error.provider_id)

    threads = [threading.Thread(target=work, args=(storages[own % 3], own)) for own in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(kept) == [f"shared-{number}" for number in range(8)]
    assert len(refused) == 5 * 8
    assert len(names(storages[0], "t")) == 6 * 8 + 8
    for storage in storages:
        storage.close()


def test_packs_are_kept_by_deployment_and_path(storage: Storage) -> None:
    packs = [KeptPack({"x.yaml": text, "ü.yaml": "\u2028"}, text, "2026-01-01") for text in ("1", "2", "3", "4")]
    assert storage.kept_pack("one", "/a") is None
    for kept, key in zip(packs, (("one", "/a"), ("two", "/a"), ("one", "/b"), ("one", "/a")), strict=True):
        storage.keep_pack(*key, kept)
    assert storage.kept_pack("one", "/a") == packs[3]
    assert storage.kept_pack("two", "/a") == packs[1]
    assert storage.kept_pack("one", "/b") == packs[2]
    assert storage.kept_pack("two", "/b") is None


def test_several_registries_see_each_others_changes(database: str, tmp_path: Path) -> None:
    first, second = (make_kit(tmp_path / name, database=database) for name in _directories(tmp_path, "one", "two"))
    second.tokens = first.tokens
    (tmp_path / "two" / "tokens.json").write_bytes((tmp_path / "one" / "tokens.json").read_bytes())
    look = {"capability": {"needs": [{"feature": "batch"}]}}
    assert second.post("/v1/route", look).status == 422
    assert first.post("/v1/providers", registration("mine", features=["batch"])).status == 201
    assert second.post("/v1/route", look).json()["decision"]["pick"] == {"provider": "mine", "model": "m"}
    assert second.post("/v1/providers", registration("mine")).code == "duplicate-provider"
    assert second.post("/v1/providers/mine/unregister").status == 200
    assert first.post("/v1/route", look).status == 422
    assert first.get("/v1/providers/mine").code == "provider-not-found"
    for kit in (first, second):
        kit.app.close()
        kit.service.storage.close()


def _directories(parent: Path, *names: str) -> list[str]:
    for name in names:
        (parent / name).mkdir()
    return list(names)


def test_a_database_that_is_gone_is_told_of(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kit = make_kit(tmp_path, database=database)

    def gone(*_: Any) -> Any:
        from sqlalchemy.exc import OperationalError  # noqa: PLC0415

        raise OperationalError("SELECT secret", {"password": "hunter2"}, Exception("hunter2"))

    monkeypatch.setattr(type(kit.service.storage._engine), "connect", gone)
    for answer in (kit.get("/v1/providers"), kit.post("/v1/route", {"capability": "look"})):
        assert (answer.status, answer.code) == (503, "unavailable")
        assert b"hunter2" not in answer.body
    ready = kit.get("/readyz", None)
    assert (ready.status, ready.json()["database"]) == (503, "unavailable")
    monkeypatch.undo()
    assert kit.get("/v1/providers").status == 200
    kit.app.close()
    kit.service.storage.close()


def test_versions_past_the_engine_fail_alike(tmp_path: Path) -> None:
    path = tmp_path / "providers.db"
    storage = Storage(str(path))
    other = Storage(str(path))
    assert storage.version("t") == 0
    other.add("t", read_registration(registration("a")))
    assert storage.version("t") == 1
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE whyroute_versions RENAME TO elsewhere")
    with pytest.raises(StorageUnavailableError):
        storage.version("t")
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE elsewhere RENAME TO whyroute_versions")
    connection.close()
    assert storage.version("t") == 1
    storage.close()
    other.close()


@pytest.mark.parametrize(
    "url",
    [
        "mysql://user:hunter2@localhost/x",
        "postgresql://user:hunter2@localhost:port/x",
        "://",
        "nonsense://x",
        "sqlite://h/x",
    ],
)
def test_urls_that_are_none(url: str) -> None:
    with pytest.raises((DatabaseUrlError, StorageUnavailableError)) as error:
        Storage(url)
    assert "hunter2" not in str(error.value)


def test_what_sqlite_commits_survives(tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    storage = Storage(str(path))
    storage.add("t", Registration(metadata("a")))
    with storage._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT count(*) FROM whyroute_providers").fetchone() == (1,)
    other.close()
    storage.close()


# The registry.


def test_it_keeps_the_registries_protocol(tmp_path: Path) -> None:
    import asyncio  # noqa: PLC0415

    storage = Storage(str(tmp_path / "p.db"))
    pack = load_pack(TESTS / "data" / "server" / "pack.yaml")
    one, two = (StoredRegistry(storage, lambda: pack) for _ in range(2))
    assert isinstance(one, Registry)
    assert len(one.list("beta")) == 0
    asyncio.run(one.hydrate("beta"))
    assert [each.metadata.id for each in one.list("beta")] == ["azure", "us-llm"]
    two.register("beta", DeclaredProvider(metadata("mine")))
    assert not one.has("beta", "mine")
    asyncio.run(one.hydrate("beta"))
    assert one.has("beta", "mine")
    assert one.get("beta", "mine") == DeclaredProvider(metadata("mine"))
    assert one.get("beta", "alpha-only") is None
    assert one.setup_failures("beta") == ()
    one.invalidate("beta")
    assert len(one.list("beta")) == 0
    with pytest.raises(DuplicateProviderError):
        one.register("beta", DeclaredProvider(metadata("mine")))
    with pytest.raises(DuplicateProviderError):
        one.register("beta", DeclaredProvider(metadata("azure")))
    with pytest.raises(InvalidProviderError):
        one.register("beta", object())  # type: ignore[arg-type]
    storage.close()


def test_restored_database_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage, empty = Storage(str(tmp_path / "p.db")), Storage(str(tmp_path / "q.db"))
    pack = load_pack(TESTS / "data" / "server" / "pack.yaml")
    registry = StoredRegistry(storage, lambda: pack)
    for name in ("a", "b"):
        registry.register("beta", DeclaredProvider(metadata(name)))
    before = {each.metadata.id for each in registry.refresh("beta").catalog}
    monkeypatch.setattr(registry, "_storage", empty)
    assert before - {each.metadata.id for each in registry.refresh("beta").catalog} == {"a", "b"}
    storage.close()
    empty.close()


def test_the_catalog_is_updated_and_made_again_alike(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path / "p.db"))
    pack = load_pack(TESTS / "data" / "server" / "pack.yaml")
    steady = StoredRegistry(storage, lambda: pack)
    for step in range(30):
        if step % 7 == 6:
            storage.remove("beta", f"p{step - 3:02}")
        for extra in range(20 if step == 10 else 1):
            storage.add("beta", Registration(metadata(f"p{step:02}" + "x" * extra)))
        found = steady.refresh("beta")
        fresh = StoredRegistry(storage, lambda: pack).refresh("beta")
        assert found.catalog.metadata == fresh.catalog.metadata
        assert found.digest == fresh.digest
        assert found.by_feature == fresh.by_feature
        assert [each.to_dict() for each in found.catalog.candidates()] == [
            each.to_dict() for each in fresh.catalog.candidates()
        ]
    storage.close()


# Adapters.


def adapters() -> AdapterFactoryRegistry:
    def check(given: Any) -> list[AdapterConfigProblem]:
        if (given.config or {}).get("url"):
            return []
        return [AdapterConfigProblem("/adapter_config/url", "`url` is missing")]

    def strict(given: AdapterFactoryInput) -> Any:
        for problem in check(given.for_check()):
            raise adapter_config_error("strict", given.metadata.id, problem)
        return DeclaredProvider(given.metadata)

    def secretive(given: AdapterFactoryInput) -> Any:
        raise RuntimeError("hunter2")

    entry = AdapterFactoryEntry
    return AdapterFactoryRegistry(
        [
            entry(adapter_id="strict", capability_kind="llm-inference", factory=strict, check_config=check),
            entry(adapter_id="unchecked", capability_kind="llm-inference", factory=strict),
            entry(adapter_id="secretive", capability_kind="llm-inference", factory=secretive),
        ]
    )


def test_registry_on_storage_replaces_and_unregisters(tmp_path: Path) -> None:
    registry = make_kit(tmp_path, adapters=adapters()).service.registry
    for url in ("x", "y"):
        registry.replace("alpha", Registration(metadata("own"), "strict", {"url": url}))
        (held,) = registry.refresh("alpha").registrations
        assert held.adapter_config == {"url": url}
    with pytest.raises(AdapterConfigError):
        registry.replace("alpha", Registration(metadata("own"), "strict"))
    assert registry.refresh("alpha").registrations == (held,)
    assert registry.unregister("alpha", "own")
    assert not registry.unregister("alpha", "own")
    assert registry.refresh("alpha").registrations == ()


def test_what_cannot_be_set_up_is_named(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, adapters=adapters())
    body = {**registration("good", features=["batch"]), "adapter_id": "strict"}
    answer = kit.post("/v1/providers", body)
    assert (answer.status, answer.code) == (422, "provider-config-invalid")
    assert answer.json()["error"]["message"] == 'strict: provider "good": `url` is missing'
    assert answer.json()["error"]["details"]["issues"] == [
        {"path": "/adapter_config/url", "message": "`url` is missing"}
    ]
    assert kit.post("/v1/providers", {**body, "adapter_config": {"url": "x"}}).status == 201
    for adapter in ("unchecked", "secretive"):
        body = {**registration(adapter, features=["audio-input"]), "adapter_id": adapter}
        assert kit.post("/v1/providers", body).status == 201
    body = {**registration("unheard-of", features=["audio-input"]), "adapter_id": "strikt"}
    answer = kit.post("/v1/providers", body)
    assert (answer.status, answer.code) == (422, "provider-config-invalid")
    assert answer.json()["error"]["details"]["issues"] == [
        {"path": "/adapter_id", "message": "there is no adapter `strikt`; did you mean `strict`?"}
    ]
    # It may be there from a time when there was such an adapter.
    kit.service.storage.add("alpha", Registration(read_metadata(body["metadata"]), "unheard-of"))
    page = kit.get("/v1/providers").json()
    assert {each["id"] for each in page["data"]} >= {"good", "unchecked", "secretive", "unheard-of"}
    assert page["setupFailures"] == [
        {"providerId": "unchecked", "message": 'strict: provider "unchecked": `url` is missing'},
        {"providerId": "secretive", "message": "its adapter failed with `RuntimeError`"},
        {"providerId": "unheard-of", "message": "there is no adapter `unheard-of`"},
    ]
    assert kit.get("/v1/capabilities/feature:audio-input").json()["providers"] == []
    assert kit.get("/v1/capabilities/feature:batch").json()["providers"] == [{"providerId": "good", "models": ["m"]}]
    answer = kit.post("/v1/route", {"capability": {"needs": [{"feature": "audio-input"}]}})
    last = answer.json()["error"]["details"]["reasons"][-1]
    assert last["requirement"] == "provider set up"
    assert [each["id"] for each in last["rejectingProviders"]] == ["unchecked", "secretive", "unheard-of"]
    assert b"hunter2" not in answer.body
    assert kit.post("/v1/providers/secretive/unregister").status == 200
    assert len(kit.get("/v1/providers").json()["setupFailures"]) == 2


def test_pack_provider_precedes_registered_id(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    text = (TESTS / "data" / "server" / "pack.yaml").read_text("utf-8")
    pack.write_text(text.replace("id: us-llm", "id: other"))
    kit = make_kit(tmp_path, pack=pack)
    assert kit.post("/v1/providers", registration("us-llm")).status == 201
    pack.write_text(text)
    assert kit.service.packs.reload()
    page = kit.get("/v1/providers").json()
    assert [each["providerId"] for each in page["setupFailures"]] == ["us-llm"]
    assert kit.get("/v1/providers/us-llm").json()["region"] == "us-east-1"
    assert kit.post("/v1/providers/us-llm/unregister").status == 200
    assert "setupFailures" not in kit.get("/v1/providers").json()
    assert kit.post("/v1/providers/us-llm/unregister").code == "registry-read-only"


def test_a_registration_reads_back(tmp_path: Path) -> None:
    body = {
        **registration("x", extra={"deep": [1, 2.5, None]}),
        "adapter_config": {"a": 1},
        "secret_ref": {"envName": "E", "name": "n"},
    }
    found = read_registration(body)
    assert Registration.of_json(found.to_json()) == found


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".", "it is a directory"),
        ("missing/x.db", "there is no folder `{0}/missing`"),
        ("text.db", "it is not an SQLite database"),
        ("x.db\0", "no file can have that name"),
    ],
)
def test_unusable_database_file_is_named(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "text.db").write_text("no database, and long enough to be looked at. " * 20, "utf-8")
    path = f"{tmp_path}/{name}"
    with pytest.raises(DatabaseFileError) as caught:
        Storage(path)
    assert caught.value.file == path
    assert caught.value.reason == reason.format(tmp_path)
    assert caught.value.message.endswith(f" can't be opened: {caught.value.reason}; `--db` names another file")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.file, again.reason) == (caught.value.file, caught.value.reason)


def test_read_only_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    sqlite3.connect(path).close()
    with pytest.raises(DatabaseFileError, match=r"it, or the folder that it is in, is read-only; `--db` names"):
        Storage(f"sqlite:///file:{path}?mode=ro&uri=true")


def test_unwritable_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("whyroute.server.storage.open", denied, raising=False)
    with pytest.raises(DatabaseFileError, match=r"/x.db` can't be opened: permission denied; `--db` names"):
        Storage(str(tmp_path / "x.db"))


def test_an_empty_database_name_is_refused() -> None:
    with pytest.raises(DatabaseUrlError, match="`--db` is empty; name a file"):
        Storage("")
