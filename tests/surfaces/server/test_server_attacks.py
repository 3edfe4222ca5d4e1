"""One tenant attacks: the service keeps its memory, its disk and the time of other tenants within bounds."""

import json
import time
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from attackkit import Target, attacked, large_pack, repeated, tied_hard, unread
from serverkit import provider

MIB = 2**20
ROUNDS = 3
SECONDS = 2.0
NOISE = 0.02  # what a busy machine adds to a 99th percentile, in seconds


def failing(needs: int) -> dict[str, Any]:
    """A question whose failed answer has half a MiB for each need."""
    given = [{"contextWindow": {"op": ">=", "value": 10**8 + number}} for number in range(needs)]
    return {"capability": {"needs": given}}


def body_of(document: Any) -> bytes:
    return json.dumps(document).encode()


def longest_wait(target: Target, body: bytes) -> float:
    """How long the longest look at `/healthz` takes while a question is read and answered, in seconds."""
    waits: list[float] = []
    ended = Event()
    look = target.request("GET", "/healthz", None)

    def looking() -> None:
        with target.connect() as connection:
            while not ended.is_set():
                began = time.monotonic()
                connection.sendall(look)
                connection.recv(2**16)
                waits.append(time.monotonic() - began)
                time.sleep(0.002)

    thread = Thread(target=looking)
    thread.start()
    with target.connect() as connection:
        connection.sendall(target.request("POST", "/v1/route", "attacker", body, close=True))
        while connection.recv(2**20):
            pass
    ended.set()
    thread.join()
    return max(waits)


@pytest.mark.slow
def test_hard_bundles_leave_other_tenants_their_time(tmp_path: Path) -> None:
    with attacked(tmp_path) as target:
        target.p99(1)
        hard = target.request("POST", "/v1/bundle", "attacker", body_of(tied_hard(12, 10)), close=True)
        quiet, busy = [], []
        for _ in range(ROUNDS):
            quiet.append(target.p99(SECONDS))
            with repeated(target, 24, hard):
                time.sleep(0.5)
                busy.append(target.p99(SECONDS))
                began = time.monotonic()
                status, _, _ = target.ask("POST", "/v1/explain", "victim", {"capability": "look"})
                assert status == 200
                assert time.monotonic() - began < 2
        assert min(busy) <= 2 * min(quiet) + NOISE, (quiet, busy)


@pytest.mark.slow
def test_unread_answers_are_bounded_and_given_up(tmp_path: Path) -> None:
    with attacked(tmp_path, "--tenant-memory", "64") as target:
        target.p99(1)
        before = target.resident()
        _, _, answer = target.ask("POST", "/v1/route", "attacker", failing(20))
        assert len(answer) > 10 * MIB  # so 60 of them would have more than 600 MiB
        quiet = min(target.p99(SECONDS) for _ in range(ROUNDS))
        most, busy = 0, []
        with unread(target, 60, target.request("POST", "/v1/route", "attacker", body_of(failing(20)))):
            for number in range(ROUNDS):
                busy.append(target.p99(SECONDS))
                most = max(most, target.resident() - before)
                if number == 0:
                    status, headers, refused = target.ask("POST", "/v1/route", "attacker", failing(20))
                    assert (status, json.loads(refused)["error"]["code"]) == (429, "too-many-requests")
                    assert int(headers["retry-after"]) >= 1
            until = time.monotonic() + 60  # a client that reads nothing loses its connection
            while target.ask("POST", "/v1/route", "attacker", failing(20))[0] == 429:
                assert time.monotonic() < until
                time.sleep(0.5)
        assert most < 250 * MIB
        assert min(busy) <= 2 * quiet + NOISE, (quiet, busy)


def test_excess_requests_in_flight_are_refused(tmp_path: Path) -> None:
    with attacked(tmp_path, "--tenant-requests", "5", pack=large_pack(tmp_path / "small.yaml", 20)) as target:
        connections = []
        for _ in range(5):
            connection = target.connect()
            whole = target.request("POST", "/v1/route", "attacker", b'{"capability": "look"}')
            connection.sendall(whole[:-1])  # the body is not complete yet
            connections.append(connection)
        until = time.monotonic() + 20
        while (found := target.ask("GET", "/v1/providers", "attacker"))[0] != 429:
            assert time.monotonic() < until
        assert int(found[1]["retry-after"]) >= 1
        assert target.ask("GET", "/v1/providers", "victim")[0] == 200
        for connection in connections:
            connection.close()
        while target.ask("GET", "/v1/providers", "attacker")[0] == 429:
            assert time.monotonic() < until


def test_registrations_are_bounded_and_never_logged(tmp_path: Path) -> None:
    small = large_pack(tmp_path / "small.yaml", 20)
    with attacked(tmp_path, "--decisions", "decisions.jsonl", pack=small) as target:
        name = "x" * 900_000
        statuses = []
        for number in range(20):
            made = provider(f"mine-{number}", attributes=[name])
            status, _, answer = target.ask(
                "POST", "/v1/providers", "attacker", {"metadata": made, "adapter_id": "some-adapter"}
            )
            statuses.append(status)
        assert statuses == [201] * 4 + [413] * 16
        error = json.loads(answer)["error"]
        assert error["code"] == "too-many-providers"
        assert error["details"]["limit"] == {"providers": 100, "bytes": 4 * MIB}
        assert error["details"]["registered"]["providers"] == 4
        for _ in range(100):
            assert target.ask("POST", "/v1/route", "attacker", {"capability": "look"})[0] == 200
        target.process.stop()
        log = (tmp_path / "decisions.jsonl").read_bytes()
        assert log.count(b"\n") == 100
        assert max(map(len, log.splitlines())) < 2048


@pytest.mark.slow
def test_a_large_question_does_not_hold_the_service(tmp_path: Path) -> None:
    with attacked(tmp_path, pack=large_pack(tmp_path / "pack.yaml", 1000)) as target:
        target.p99(1)
        needs = {"capability": {"needs": [{"region": f"x{number}"} for number in range(12_000)]}}
        for body in (b'{"capability":"look","include":[%s]}' % b",".join([b"1"] * 130_000), body_of(needs)):
            assert 240_000 < len(body) <= 256 * 1024
            assert min(longest_wait(target, body) for _ in range(ROUNDS)) < 0.3


def test_non_request_is_counted_not_written(tmp_path: Path) -> None:
    with attacked(tmp_path, pack=large_pack(tmp_path / "small.yaml", 20)) as target:
        before = target.process.errors()
        for _ in range(300):
            with target.connect() as connection, suppress(ConnectionError):
                connection.sendall(b"\x16\x03\x01 no HTTP at all\r\n\r\n")
                assert connection.recv(2**16).startswith(b"HTTP/1.1 400")
        assert target.process.errors() == before
        text = target.ask("GET", "/metrics", None)[2].decode()
        assert "whyroute_unreadable_requests_total 300.0" in text


def test_pipelined_requests_are_bounded(tmp_path: Path) -> None:
    with attacked(tmp_path, pack=large_pack(tmp_path / "small.yaml", 20)) as target:
        request = target.request("GET", "/healthz", None)
        with target.connect() as connection:
            connection.sendall(request * 50)
            found = b""
            while found.count(b'{"status": "ok"}') < 50:
                found += connection.recv(2**16)
        with target.connect() as connection:
            connection.sendall(target.request("POST", "/v1/route", "victim", b"{}")[:-1] + b"}" + request * 5000)
            found = b""
            with suppress(ConnectionError):
                while piece := connection.recv(2**16):
                    found += piece
        assert found.count(b"HTTP/1.1") < 1000


def test_the_description_is_made_once(tmp_path: Path) -> None:
    with attacked(tmp_path, pack=large_pack(tmp_path / "small.yaml", 20)) as target:

        def seconds(path: str) -> float:
            request, taken = target.request("GET", path, None, close=True), []
            for _ in range(30):
                began = time.monotonic()
                with target.connect() as connection:
                    connection.sendall(request)
                    while connection.recv(2**20):
                        pass
                taken.append(time.monotonic() - began)
            return min(taken)

        assert json.loads(target.ask("GET", "/openapi.json", None)[2])["openapi"] == "3.1.0"
        assert seconds("/openapi.json") < 5 * seconds("/healthz") + 0.001
