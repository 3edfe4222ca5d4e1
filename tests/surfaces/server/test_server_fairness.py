"""Shares, turns, what is in flight, and back-pressure, each by itself."""

import asyncio
import json
import socket
import threading
import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from starlette.responses import Response
from uvicorn import Config
from uvicorn.server import ServerState

from serverkit import make_kit, provider, registration
from whyroute.engine.deadlines import TooLateError, check_time, due_within
from whyroute.server.answers import PiecedAnswer, bounded
from whyroute.server.envelope import ApiError
from whyroute.server.inflight import InFlight
from whyroute.server.limits import ServiceLimits
from whyroute.server.lines import LineWriter
from whyroute.server.protocol import http_protocol
from whyroute.server.registrations import Quota, read_registration
from whyroute.server.shares import Shares
from whyroute.server.turns import Turns, pass_on, stepping_aside

MIB = 2**20


@pytest.mark.parametrize("seed", range(40))
def test_shares_are_kept_whatever_is_asked(seed: int) -> None:
    rng = Random(seed)
    places, most = rng.randint(1, 8), rng.randint(1, 4)
    taken: Counter[str] = Counter()
    done: list[str] = []

    async def work(shares: Shares, tenant: str, patience: float) -> None:
        with_place = False
        try:
            async with asyncio.timeout(patience):
                await shares.take(tenant)
                with_place = True
                taken[tenant] += 1
                assert taken[tenant] <= most
                assert taken.total() <= places
                await asyncio.sleep(rng.random() / 1000)
                done.append(tenant)
        except TimeoutError:
            pass
        finally:
            if with_place:
                taken[tenant] -= 1
                if rng.random() < 0.5:
                    shares.give_back(tenant)
                else:
                    await asyncio.to_thread(shares.give_back, tenant)

    async def all_of_it() -> None:
        shares = Shares(places, most)
        asked = [(rng.choice("abc"), rng.choice([0, 0.001, 60])) for _ in range(100)]
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            for tenant, patience in asked:
                group.create_task(work(shares, tenant, patience))
        assert len(done) >= sum(patience == 60 for _, patience in asked)
        for tenant in "abc":  # nothing got lost: all places can be taken again
            async with asyncio.timeout(30):
                for _ in range(min(most, places)):
                    await shares.take(tenant)
            for _ in range(min(most, places)):
                shares.give_back(tenant)

    asyncio.run(all_of_it())


def test_tenants_that_wait_are_served_in_turn() -> None:
    async def served() -> list[str]:
        shares, order = Shares(1, 1), list[str]()

        async def work(tenant: str) -> None:
            await shares.take(tenant)
            order.append(tenant)
            shares.give_back(tenant)

        await shares.take("a")
        tasks = [asyncio.create_task(work(tenant)) for tenant in "aaaabbc"]
        await asyncio.sleep(0)
        shares.give_back("a")
        await asyncio.gather(*tasks)
        return order

    assert "".join(asyncio.run(served())) == "abcabaa"


def test_place_of_a_closed_loop_is_freed() -> None:
    shares = Shares(1, 1)

    async def take() -> None:
        await shares.take("a")

    asyncio.run(take())
    loop = asyncio.new_event_loop()
    waiting = loop.create_task(shares.take("b"))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    shares.give_back("a")
    asyncio.run(asyncio.wait_for(shares.take("c"), 5))
    del waiting


def test_turns_give_tenants_equal_time() -> None:
    turns = Turns(0.001)
    spent: Counter[str] = Counter()
    end = time.monotonic() + 1.5

    def work(tenant: str) -> None:
        with turns.of(tenant), due_within(60, between=pass_on):
            while time.monotonic() < end:
                spent[tenant] += 1
                check_time()

    threads = [threading.Thread(target=work, args=(tenant,)) for tenant in "aaaaaab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert spent["b"] > spent["a"] / 3  # without turns, a seventh


def test_a_stuck_thread_loses_its_turn() -> None:
    turns, ended = Turns(0.001, stuck=0.02), threading.Event()

    def stuck() -> None:
        with turns.of("a"), due_within(60, between=pass_on):
            ended.wait(30)
            time.sleep(0.01)
            check_time()

    threads = [threading.Thread(target=stuck) for _ in range(4)]
    for thread in threads:
        thread.start()
    began = time.monotonic()
    with turns.of("b"), due_within(60, between=pass_on), stepping_aside():
        pass
    assert time.monotonic() - began < 10
    ended.set()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def test_what_is_in_flight_is_bounded_by_tenant() -> None:
    held = InFlight(2, 100)
    first, second, other = held.begin("a"), held.begin("a"), held.begin("b")
    with pytest.raises(ApiError) as refused:
        held.begin("a")
    assert (refused.value.kind, refused.value.status, refused.value.headers) == (
        *("too-many-requests", 429),
        {"Retry-After": "1"},
    )
    first.hold(60)
    with pytest.raises(ApiError):
        second.hold(41)
    second.hold(40)
    other.hold(100)
    first.release(30)
    assert held.of("a") == (2, 70)
    first.end()
    first.end()
    assert held.of("a") == (1, 40)
    with pytest.raises(TooLateError):
        first.hold(1)
    first.release(1)
    second.end()
    assert held.of("a") == (0, 0)


@pytest.mark.parametrize("seed", range(30))
def test_an_answer_in_pieces_is_the_whole_text(seed: int) -> None:
    rng = Random(seed)
    texts = ["".join(rng.choices("aä\ud800", k=rng.choice([0, 1, 50_000, 200_000]))) for _ in range(rng.randint(0, 6))]
    held: list[int] = []
    pieces = list(bounded(texts, 10 * MIB, held.append))
    whole = "".join(texts).encode("utf-8", "backslashreplace")
    assert b"".join(pieces) == whole
    assert sum(held) == len(whole)
    assert max(map(len, pieces)) <= 64 * 1024
    if whole:
        with pytest.raises(ApiError) as refused:
            list(bounded(texts, len(whole) - 1, held.append))
        assert refused.value.kind == "answer-too-large"


def test_waiting_lines_are_bounded_by_bytes() -> None:
    class Full:
        def begin(self) -> None:
            raise OSError(28, "No space left on device")

        def write(self, data: memoryview) -> int:
            return len(data)

        def close(self) -> None: ...

    writer = LineWriter(Full(), size=MIB)
    for _ in range(600):
        writer.put({"declaration": "x" * 100_000})
    assert writer.waiting <= 10
    assert writer.dropped >= 590
    writer.close(0.01)
    assert writer.dropped == 600


def test_no_registration_passes_the_quota(tmp_path: Path) -> None:
    quota = Quota(3, 4000)
    small = [read_registration(registration(f"p{number}")) for number in range(4)]
    large = read_registration(registration("large", attributes=["x" * 4000]))
    assert all(each.size == len(each.to_json()) for each in (*small, large))
    quota.check(small[:2], small[2])
    for registered, one_more in ((small[:3], small[3]), ([], large)):
        with pytest.raises(ApiError) as refused:
            quota.check(registered, one_more)
        assert (refused.value.kind, refused.value.status) == ("too-many-providers", 413)


def test_a_page_of_large_providers_ends_early(tmp_path: Path) -> None:
    kit = make_kit(tmp_path)
    for number in range(6):
        assert kit.post("/v1/providers", registration(f"big{number}", attributes=["x" * 10**6])).status == 201
    seen, cursor = [], ""
    for _ in range(20):
        page = kit.get(f"/v1/providers?limit=100{cursor}")
        assert len(page.body) < 5 * MIB
        found = page.json()
        seen += [each["id"] for each in found["data"]]
        if not found["hasMore"]:
            break
        cursor = f"&cursor={found['nextCursor']}"
    assert seen == sorted(set(seen))
    assert {f"big{number}" for number in range(6)} <= set(seen)
    kit.app.close()
    kit.service.storage.close()


@pytest.mark.parametrize("path", ["/v1/providers", "/v1/vocabulary"])
def test_lists_larger_than_an_answer_are_refused(tmp_path: Path, path: str) -> None:
    kit = make_kit(tmp_path, limits=ServiceLimits(answer=MIB // 2))
    assert kit.post("/v1/providers", registration("big", attributes=["x" * 10**6])).status == 201
    answer = kit.get(path)
    assert (answer.status, answer.code) == (422, "answer-too-large")
    kit.app.close()
    kit.service.storage.close()


def test_a_tenant_that_holds_too_much_is_refused(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, limits=ServiceLimits(tenant_bytes=1000))
    answer = kit.post("/v1/route", {"capability": {"needs": [{"region": "x" * 1000}]}})
    assert (answer.status, answer.code, answer.headers["retry-after"]) == (429, "too-many-requests", "1")
    assert kit.post("/v1/route", {"capability": "look"}).status == 200
    assert kit.app.in_flight.of("alpha") == (0, 0)
    kit.app.close()
    kit.service.storage.close()


@pytest.mark.parametrize("pieced", [True, False])
@pytest.mark.parametrize("close", [True, False])
def test_a_client_that_never_reads_is_cut_off(pieced: bool, close: bool) -> None:
    data = b"x" * (16 * MIB)
    held = len(data)

    def sent(size: int) -> None:
        nonlocal held
        held -= size

    async def app(scope, receive, send) -> None:  # type: ignore[no-untyped-def]  # what a server calls
        pieces = [data[start : start + 65536] for start in range(0, len(data), 65536)]
        answer = PiecedAnswer(pieces, 200, "text/plain", 60, sent) if pieced else Response(data)
        await answer(scope, receive, send)

    async def served() -> int:
        config, state = Config(app, lifespan="off", log_config=None), ServerState()
        protocol = http_protocol(ServiceLimits(send_seconds=0.5))
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: protocol(config, state, {}), "127.0.0.1", 0)
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        await loop.sock_connect(client, server.sockets[0].getsockname())
        last = b"Connection: close\r\n" if close else b""
        await loop.sock_sendall(client, b"GET / HTTP/1.1\r\nHost: localhost\r\n" + last + b"\r\n")
        async with asyncio.timeout(20):
            while not state.connections:
                await asyncio.sleep(0.01)
            left = held
            while state.connections:
                left = held
                await asyncio.sleep(0.05)
        client.close()
        server.close()
        return left

    left = asyncio.run(served())
    assert left > 4 * MIB or not pieced  # what was not read was not handed over either


def test_a_slow_reader_is_given_up() -> None:
    async def never(message: object) -> None:
        await asyncio.sleep(60)

    async def sent() -> None:
        await PiecedAnswer([b"a", b"b"], 200, "text/plain", 0.05, lambda size: None)({}, never, never)  # type: ignore[arg-type]

    with pytest.raises(TimeoutError):
        asyncio.run(sent())


def test_a_registered_provider_counts_in_bytes(tmp_path: Path) -> None:
    kit = make_kit(tmp_path)
    kit.post("/v1/providers", registration("mine"))
    held = kit.service.registry.refresh("alpha").registrations
    assert [each.size for each in held] == [len(each.to_json()) for each in held]
    assert provider("mine")["id"] in json.loads(held[0].to_json())["metadata"]["id"]
    kit.app.close()
    kit.service.storage.close()


def test_work_ends_when_the_caller_hangs_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kit = make_kit(tmp_path)

    def explain(*_: object) -> None:
        while True:
            check_time()
            time.sleep(0.001)

    monkeypatch.setattr(type(kit.service), "explain", explain)
    messages = [{"type": "http.request", "body": b'{"capability": "look"}', "more_body": False}]
    answered: list[object] = []

    async def receive() -> dict[str, object]:
        if messages:
            return messages.pop()
        await asyncio.sleep(0.2)
        return {"type": "http.disconnect"}

    async def send(message: object) -> None:
        answered.append(message)

    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {kit.tokens['alpha']}".encode())]
    path = "/v1/explain"
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
        "http_version": "1.1",
        "scheme": "http",
        "root_path": "",
    }
    asyncio.run(kit.app(scope, receive, send))
    assert not answered
    until = time.monotonic() + 10
    while kit.app.at_work:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert kit.app.in_flight.of("alpha") == (0, 0)
    kit.app.close()
    kit.service.storage.close()
