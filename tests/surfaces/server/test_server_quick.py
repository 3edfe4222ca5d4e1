"""What is answered at once, without a thread: the same answers, and only where nothing has to be waited for."""

import json
import sqlite3
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from serverkit import Kit, make_kit, registration
from whyroute.model.timestamps import moment_of
from whyroute.server import routing
from whyroute.server.lines import FileSink, LineWriter
from whyroute.server.registrations import read_registration
from whyroute.server.service import QUICK_BODY
from whyroute.server.storage import Storage

LOOK: dict[str, Any] = {"capability": "look"}
SECRET = {"provider": "alpha-only", "model": "secret-model"}


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    kit = make_kit(tmp_path)
    yield kit
    kit.app.close()
    kit.service.storage.close()


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each route that is made, whether it is made by the thread of the event loop."""
    seen: list[bool] = []
    route = routing.route

    def noted(*arguments: Any, **named: Any) -> routing.Routed:
        seen.append(threading.current_thread() is threading.main_thread())
        return route(*arguments, **named)

    monkeypatch.setattr(routing, "route", noted)
    return seen


def test_bound_route_is_answered_at_once(kit: Kit, threads: list[bool]) -> None:
    kit.post("/v1/route", LOOK)  # it takes its time: all is read
    answers = [kit.post("/v1/route", LOOK) for _ in range(5)]
    assert threads[0] is False
    assert threads[-1] is True
    bodies = [{key: value for key, value in answer.json().items() if key != "at"} for answer in answers]
    assert {answer.status for answer in answers} == {200}
    assert bodies == [bodies[0]] * 5
    assert bodies[0]["decision"]["pick"] == SECRET


def test_new_labels_are_not_answered_at_once(kit: Kit, threads: list[bool]) -> None:
    """The rules that they bring into force have to be compiled first."""
    for _ in range(3):
        kit.post("/v1/route", LOOK)
    assert threads[-1] is True
    kit.post("/v1/route", {**LOOK, "labels": {"team": "x"}})
    assert threads[-1] is False
    kit.post("/v1/route", {**LOOK, "labels": {"team": "x"}})
    assert threads[-1] is True
    assert kit.post("/v1/route", {**LOOK, "labels": {"team": ["x"]}}).status == 400


@pytest.mark.parametrize(
    "change",
    [
        {"labels": {"team": "x"}},
        {"preferredProvider": "azure"},
        {"preferredModel": "large"},
    ],
)
def test_request_labels_count_in_quick_answers(kit: Kit, threads: list[bool], change: dict[str, Any]) -> None:
    first = kit.post("/v1/route", {**LOOK, **change}).json()
    for _ in range(4):
        last = kit.post("/v1/route", {**LOOK, **change}).json()
    assert threads[-1] is True
    assert {**last, "at": None} == {**first, "at": None}
    assert ("preferredProvider" in change or "preferredModel" in change) == (
        last["decision"]["pick"]["provider"] == "azure"
    )


@pytest.mark.parametrize(
    "body",
    [
        {"capability": {"needs": [{"feature": "vision"}]}},
        {"capability": "look", "include": ["explanation"]},
        {"capability": "look", "labels": {"team": "x" * QUICK_BODY}},
    ],
)
def test_what_a_body_makes_slow_never_is(kit: Kit, threads: list[bool], body: dict[str, Any]) -> None:
    for _ in range(5):
        kit.post("/v1/route", LOOK)
    del threads[:]
    for _ in range(5):
        kit.post("/v1/route", body)
    assert True not in threads


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'{"capability": "look", "tenant": "beta"}', 400),
        (b'{"capability": "loook"}', 404),
        (b'{"capability": "look", "labels": {"a": 1}}', 400),
    ],
)
def test_refusals_are_counted_once(kit: Kit, body: bytes, status: int) -> None:
    for _ in range(3):
        kit.post("/v1/route", LOOK)
    assert kit.call("POST", "/v1/route", body=body).status == status
    text = kit.get("/metrics", None).body.decode()
    assert 'whyroute_routes_total{outcome="refused"} 1.0' in text
    assert 'whyroute_routes_total{outcome="picked"} 3.0' in text


def test_a_change_of_another_process_is_seen(kit: Kit, tmp_path: Path, threads: list[bool]) -> None:
    for _ in range(4):
        kit.post("/v1/route", LOOK)
    assert threads[-1] is True
    other = Storage(str(tmp_path / "providers.db"))
    metadata = registration("aaa", region="eu-west-1")
    other.add("alpha", read_registration(metadata))
    answer = kit.post("/v1/route", LOOK).json()
    assert threads[-1] is False  # what the tenant has is read anew
    assert {"provider": "aaa", "model": "m"} in [answer["decision"]["pick"], *answer["decision"]["alternates"]]
    for _ in range(4):
        kit.post("/v1/route", LOOK)
    assert threads[-1] is True
    assert other.remove("alpha", "aaa")
    assert kit.post("/v1/route", LOOK).json()["decision"]["pick"] == SECRET
    other.close()


def test_locked_database_delays_no_quick_answer(kit: Kit, tmp_path: Path, threads: list[bool]) -> None:
    for _ in range(4):
        kit.post("/v1/route", LOOK)
    assert kit.service.storage.version_at_once("alpha") == 0
    alone = sqlite3.connect(tmp_path / "providers.db", isolation_level=None)
    alone.execute("PRAGMA locking_mode=EXCLUSIVE")
    kit.service.storage._quick_asker.close()  # type: ignore[union-attr]
    kit.service.storage._asker.close()  # type: ignore[union-attr]
    kit.service.storage._engine.dispose()
    alone.execute("BEGIN EXCLUSIVE")
    assert kit.service.storage.version_at_once("alpha") is None
    alone.close()
    assert kit.service.storage.version_at_once("alpha") == 0


def test_a_tenant_has_its_own_answers(kit: Kit, threads: list[bool]) -> None:
    for _ in range(4):
        kit.post("/v1/route", LOOK)
        kit.post("/v1/route", LOOK, "beta")
    assert threads[-2:] == [True, True]
    assert "alpha-only" not in kit.post("/v1/route", LOOK, "beta").body.decode()
    assert "alpha-only" in kit.post("/v1/route", LOOK).body.decode()


def test_a_decision_made_at_once_is_written_down(tmp_path: Path, threads: list[bool]) -> None:
    writer = LineWriter(FileSink(tmp_path / "decisions.jsonl"))
    kit = make_kit(tmp_path, decisions=writer)
    answers = [kit.post("/v1/route", LOOK) for _ in range(5)]
    writer.close()
    lines = [json.loads(line) for line in (tmp_path / "decisions.jsonl").read_text("utf-8").splitlines()]
    assert threads[-1] is True
    assert [line["requestId"] for line in lines] == [answer.headers["x-request-id"] for answer in answers]
    assert [line["pick"] for line in lines] == [answer.json()["decision"]["pick"] for answer in answers]
    moving = ("requestId", "time", "at")
    kept = [{key: value for key, value in line.items() if key not in moving} for line in lines]
    assert kept == [kept[0]] * 5


def test_where_nothing_qualifies_a_thread_tells_why(kit: Kit, threads: list[bool]) -> None:
    for _ in range(3):
        answer = kit.post("/v1/route", {"capability": "impossible"})
        assert (answer.status, answer.code) == (422, "capability-unsatisfiable")
    assert threads == [False] * 3
    text = kit.get("/metrics", None).body.decode()
    assert 'whyroute_routes_total{outcome="unsatisfiable"} 3.0' in text


def test_bound_routes_depend_on_providers_and_labels(kit: Kit) -> None:
    kit.post("/v1/route", LOOK)
    now = kit.service.clock()
    holdings = kit.service.registry.refresh("alpha")

    def is_quick(**asked: Any) -> bool:
        return routing.is_quick(holdings, routing.read_asked({**LOOK, **asked}, explaining=False), now)

    assert is_quick()
    assert is_quick(preferredModel="large")
    assert not is_quick(labels={"team": "x"})
    assert not is_quick(labels={"team": []})
    assert not is_quick(capability={"needs": []})
    assert not is_quick(include=["matched"])
    assert not is_quick(capability="loook")
    kit.service.registry.invalidate("alpha")
    holdings = kit.service.registry.refresh("alpha")
    assert not is_quick()


def test_rules_coming_into_force_bind_anew(kit: Kit) -> None:
    kit.post("/v1/route", LOOK)
    holdings = kit.service.registry.refresh("alpha")
    solved = holdings.bound(("look", ()), moment_of(kit.service.clock()))
    assert solved is not None
    solved.terms.changes = (solved.terms.changes or ()) + (moment_of(kit.service.clock()).start + 10**12,)
    assert holdings.bound(("look", ()), moment_of(kit.service.clock())) is solved
    assert holdings.bound(("look", ()), moment_of(kit.service.clock() + timedelta(days=1))) is None


def test_so_much_is_kept_of_what_is_bound(kit: Kit) -> None:
    for number in range(3):
        kit.post("/v1/route", {**LOOK, "labels": {"team": str(number)}})
    holdings = kit.service.registry.refresh("alpha")
    assert len(holdings._bound) == 3
    solved = next(iter(holdings._bound.values()))
    for number in range(5000):
        holdings.keep_bound(("look", (("team", f"{number}"),)), solved)
    assert len(holdings._bound) <= 1000


def test_new_provider_digest_is_not_made_at_once(tmp_path: Path, threads: list[bool]) -> None:
    writer = LineWriter(FileSink(tmp_path / "decisions.jsonl"))
    kit = make_kit(tmp_path, decisions=writer)
    for _ in range(3):
        kit.post("/v1/route", LOOK)
    kit.post("/v1/providers", registration("another"))
    kit.get("/v1/providers/another")
    del threads[:]
    kit.post("/v1/route", LOOK)
    kit.post("/v1/route", LOOK)
    writer.close()
    kit.app.close()
    assert threads == [False, True]


def test_labels_that_change_a_route_are_new(kit: Kit, threads: list[bool]) -> None:
    for _ in range(3):
        kit.post("/v1/route", LOOK)
    del threads[:]
    kit.post("/v1/route", {**LOOK, "labels": {"data": "patient"}})
    assert kit.post("/v1/route", {**LOOK, "labels": {"data": []}}).status == 400
    assert threads == [False, False]


def test_long_labels_are_not_kept(kit: Kit) -> None:
    """A tenant may send any number of them, of up to 256 KiB each."""
    for size, kept in ((900, 1), (1_200, 1), (100_000, 1)):
        assert kit.post("/v1/route", {**LOOK, "labels": {"team": "x" * size}}).status == 200
        assert len(kit.service.registry.refresh("alpha")._bound) == kept
