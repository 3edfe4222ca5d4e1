"""Databases that are silent or locked, and threads that never end: every wait has an end, within seconds."""

import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

import httpx
import psycopg
import pytest

from serverkit import PACK, Process, registration, serving
from silence import Proxy, silenceable
from whyroute.model.metadata import read_metadata
from whyroute.providers.hydrating import Registration
from whyroute.server.storage import Storage, StorageUnavailableError

T = TypeVar("T")
LOOK = {"capability": "look"}
HANGING = """
import threading
from whyroute.providers.adapters import AdapterFactoryEntry, AdapterFactoryRegistry

def hang(given):
    threading.Event().wait()

registry = AdapterFactoryRegistry(
    [AdapterFactoryEntry(adapter_id="some-adapter", capability_kind="llm-inference", factory=hang)]
)
"""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    assert took < seconds, f"{took:.1f} s; at most {seconds} s are allowed"


def until(check: Callable[[], bool], seconds: float) -> None:
    due = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < due, f"not within {seconds} s"
        time.sleep(0.1)


def status(method: str, url: str, **given: object) -> int:
    return httpx.request(method, url, timeout=60, **given).status_code  # type: ignore[arg-type]  # of httpx's many


@pytest.fixture
def behind(postgresql_database: str) -> Iterator[tuple[str, Proxy]]:
    with silenceable(postgresql_database) as found:
        yield found


@pytest.fixture
def served(behind: tuple[str, Proxy], tmp_path: Path) -> Iterator[tuple[str, Proxy, Process]]:
    database, proxy = behind
    with serving(tmp_path, "--tenant", "alpha", "--db", database) as process:
        url = process.url
        with ThreadPoolExecutor(8) as many:  # so that several connections are open
            assert set(many.map(lambda _: status("POST", f"{url}/v1/route", json=LOOK), range(16))) == {200}
        yield url, proxy, process


def test_a_silent_database_is_reported_within_seconds(served: tuple[str, Proxy, Process]) -> None:
    url, proxy, _ = served
    proxy.silence()
    with ThreadPoolExecutor(40) as many, within(10):
        routes = [many.submit(status, "POST", f"{url}/v1/route", json=LOOK) for _ in range(40)]
        with within(4):
            assert status("GET", f"{url}/readyz") == 503
        assert {route.result() for route in routes} == {503}
    with within(1):  # it is known by now, or one request finds out
        codes = [status("POST", f"{url}/v1/route", json=LOOK) for _ in range(5)]
    assert set(codes) == {503}
    proxy.recover()
    until(lambda: status("POST", f"{url}/v1/route", json=LOOK) == 200, 10)
    assert status("GET", f"{url}/readyz") == 200


def test_forgotten_connections_are_replaced_within_seconds(served: tuple[str, Proxy, Process]) -> None:
    url, proxy, _ = served
    proxy.forget()
    with ThreadPoolExecutor(8) as many, within(5):
        routes = [many.submit(status, "POST", f"{url}/v1/route", json=LOOK) for _ in range(8)]
        assert status("GET", f"{url}/readyz") == 200
        assert {route.result() for route in routes} == {200}


def test_sigterm_ends_a_server_whose_database_is_silent(served: tuple[str, Proxy, Process]) -> None:
    url, proxy, process = served
    proxy.silence()
    with ThreadPoolExecutor(40) as many:
        routes = [many.submit(status, "POST", f"{url}/v1/route", json=LOOK) for _ in range(40)]
        time.sleep(0.5)
        with within(10):
            process.process.send_signal(signal.SIGTERM)
            assert process.process.wait(60) == 0
        assert {route.result() for route in routes if route.exception() is None} <= {503}


def test_no_server_starts_on_a_silent_database(
    behind: tuple[str, Proxy], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from whyroute.cli import main  # noqa: PLC0415

    database, proxy = behind
    proxy.silence()
    monkeypatch.chdir(tmp_path)
    with within(8):
        assert main(["serve", str(PACK), "--tenant", "alpha", "--db", database, "--port", "0"]) == 2
    assert capsys.readouterr().err == "error: the database of registered providers does not answer; try again later\n"


def test_every_method_of_storage_gives_up_on_silence(behind: tuple[str, Proxy]) -> None:
    database, proxy = behind
    storage = Storage(database)
    entry = Registration(read_metadata(registration("a")["metadata"]))
    asked: list[Callable[[], object]] = [
        lambda: storage.version("t"),
        lambda: storage.load("t"),
        lambda: storage.add("t", entry),
        lambda: storage.remove("t", "a"),
        storage.ping,
    ]
    proxy.silence()
    with ThreadPoolExecutor(len(asked)) as many, within(7):
        errors = [many.submit(ask).exception for ask in asked]
        assert {type(error()) for error in errors} == {StorageUnavailableError}
    for ask in asked:
        with within(0.5), pytest.raises(StorageUnavailableError):  # it is known now: no one waits
            ask()
    proxy.recover()
    until(lambda: answers(storage), 10)
    proxy.silence()
    with within(1):
        storage.close()


def answers(storage: Storage) -> bool:
    try:
        storage.ping()
    except StorageUnavailableError:
        return False
    return True


def test_silent_connection_in_transaction_is_dropped(behind: tuple[str, Proxy]) -> None:
    database, proxy = behind
    storage = Storage(database)

    def change() -> None:
        with storage._answering(), storage._engine.begin() as connection:
            connection.exec_driver_sql("SELECT 1")
            proxy.silence()
            connection.exec_driver_sql("SELECT 2")

    with within(7), pytest.raises(StorageUnavailableError):
        change()
    storage.close()


def test_one_request_at_a_time_probes_silent_database(behind: tuple[str, Proxy]) -> None:
    database, proxy = behind
    storage = Storage(database)
    proxy.silence()
    assert not answers(storage)
    time.sleep(1.1)
    took: list[float] = []

    def ask() -> None:
        began = time.monotonic()
        assert not answers(storage)
        took.append(time.monotonic() - began)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([seconds for seconds in took if seconds > 1]) == 1
    storage.close()


def test_locked_rows_are_waited_for_only_so_long(postgresql_database: str) -> None:
    storage = Storage(postgresql_database)
    with psycopg.connect(postgresql_database) as other:
        other.execute("LOCK TABLE whyroute_providers IN ACCESS EXCLUSIVE MODE")
        with within(7), pytest.raises(StorageUnavailableError):
            storage.load("t")
        with within(1):
            assert storage.version("t") == 0  # it answers: what is locked is no outage
        other.rollback()
    assert storage.load("t") == (0, ())
    storage.close()


def test_limits_of_the_url_come_first(postgresql_database: str) -> None:
    storage = Storage(f"{postgresql_database}?tcp_user_timeout=1234")
    with storage._engine.connect() as connection:
        driver = connection.connection.dbapi_connection
        assert isinstance(driver, psycopg.Connection)
        found = driver.info.get_parameters()
        assert (found["tcp_user_timeout"], found["keepalives_idle"], found["connect_timeout"]) == ("1234", "10", "3")
        assert connection.exec_driver_sql("SHOW statement_timeout").scalar() == "4s"
    storage.close()


def test_locked_file_is_waited_for_briefly(tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    with serving(tmp_path, "--tenant", "alpha", "--db", str(path)) as process, closing(sqlite3.connect(path)) as other:
        url = process.url
        assert status("POST", f"{url}/v1/route", json=LOOK) == 200
        other.execute("BEGIN IMMEDIATE")
        with within(8):
            assert status("POST", f"{url}/v1/providers", json=registration("a")) == 503
        with within(2):  # who reads does not wait for who writes
            assert status("POST", f"{url}/v1/route", json=LOOK) == 200
            assert status("GET", f"{url}/readyz") == 200
        other.rollback()
        assert status("POST", f"{url}/v1/providers", json=registration("a")) == 201


def test_a_file_that_another_holds_alone_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    storage = Storage(str(path))
    storage.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with within(8), pytest.raises(StorageUnavailableError):
            storage.version("t")
        with within(8), pytest.raises(StorageUnavailableError):
            storage.ping()
    assert storage.version("t") == 0
    storage.close()


def test_sigterm_waits_for_no_thread_that_hangs(tmp_path: Path) -> None:
    (tmp_path / "hanging.py").write_text(HANGING)
    arguments = ("--tenant", "alpha", "--adapters", "hanging:registry")
    with serving(tmp_path, *arguments, path=tmp_path) as process:
        url = process.url
        assert status("POST", f"{url}/v1/providers", json=registration("a")) == 201
        with ThreadPoolExecutor(24) as many:
            routes = [many.submit(status, "POST", f"{url}/v1/route", json=LOOK) for _ in range(24)]
            time.sleep(0.5)
            with within(4):
                assert status("GET", f"{url}/readyz") == 200  # no worker is left, and it needs none
            with within(18):
                process.process.send_signal(signal.SIGTERM)
                assert process.process.wait(60) == 0
            assert all(route.exception() or route.result() != 200 for route in routes)
        assert "some of what was begun does not end; it is given up" in process.errors()
