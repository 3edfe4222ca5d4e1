"""The service as a process: the published client, hostile bytes on the socket, signals, reloads, and kill -9."""

import json
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from kindgi.client import AuthError, ConflictError, InvalidRequestError, Kindgi, NotFoundError

from serverkit import PACK, Process, provider, registration, serving, token_file
from whyroute.model.features import FEATURES
from whyroute.packs import load_pack
from whyroute.server.registrations import read_registration
from whyroute.server.storage import Storage
from whyroute.wire.request import answer as wire_answer


class Running:
    """A server, its address and tokens for it."""

    def __init__(self, process: Process, directory: Path, tokens: dict[str, str]) -> None:
        self.process = process
        self.directory = directory
        self.url = process.url
        self.tokens = tokens

    def client(self, tenant: str = "alpha") -> httpx.Client:
        return httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {self.tokens[tenant]}"}, timeout=30)

    def kindgi(self, token: str | None = None) -> Kindgi:
        return Kindgi(self.url, token=token or self.tokens["alpha"], max_retries=0)

    def raw(self, data: bytes, seconds: float = 30) -> bytes:
        """What comes back for bytes on a socket, until the other side closes it."""
        host, port = self.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=seconds) as connection:
            connection.sendall(data)
            received = b""
            while chunk := connection.recv(65536):
                received += chunk
            return received


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    directory = tmp_path_factory.mktemp("served")
    tokens = token_file(directory / "tokens.json")
    with serving(directory, "--tokens", "tokens.json") as process:
        yield Running(process, directory, tokens)


# The published client.


def test_the_published_client_lists_capabilities(running: Running) -> None:
    with running.kindgi() as client:
        found: list[Any] = []
        cursor = None
        while True:
            page = client.capabilities.list(limit=4, cursor=cursor)
            found += page.data
            cursor = page.next_cursor
            assert page.has_more is (cursor is not None)
            if cursor is None:
                break
        assert [each.feature for each in found] == [*FEATURES, "vision-plus", "h100-class"]
        vision = client.capabilities.list(feature="vision").data
        assert [each.id for each in vision] == ["feature:vision", "extra:vision-plus"]
        assert vision[0].providers is not None
        assert [each.provider_id for each in vision[0].providers] == ["alpha-only", "azure", "us-llm"]
        one = client.capabilities.get("gpu:h100")
        assert (one.kind, one.params_schema) == (
            "gpu-compute",
            {"type": "object", "properties": {"cards": {"type": "integer", "minimum": 1}}},
        )


def test_the_published_client_registers_providers(running: Running) -> None:
    with running.kindgi() as client:
        assert client.providers.register(registration("by/client")).provider_id == "by/client"
        assert client.providers.get("by/client").region == "eu-west-1"
        with pytest.raises(ConflictError):
            client.providers.register(registration("by/client"))
        names = [each.id for each in client.providers.list(feature="vision").data]
        assert "by/client" in names
        assert client.providers.unregister("by/client").unregistered is True
        with pytest.raises(NotFoundError) as missing:
            client.providers.get("by/client")
        assert (missing.value.kind, missing.value.id) == ("provider", "by/client")


def test_the_published_client_gets_typed_errors(running: Running) -> None:
    with running.kindgi("nonsense") as client, pytest.raises(AuthError) as refused:
        client.capabilities.list()
    assert (refused.value.status, refused.value.reason) == (401, "unauthenticated")
    with running.kindgi() as client:
        with pytest.raises(InvalidRequestError) as invalid:
            client.capabilities.list(limit=101)
        assert (invalid.value.status, invalid.value.server_code) == (400, "bad-input")
        with pytest.raises(InvalidRequestError):
            client.capabilities.list(cursor="junk")
        with pytest.raises(NotFoundError) as missing:
            client.capabilities.get("feature:nothing")
        assert (missing.value.kind, missing.value.id) == ("capability", "feature:nothing")
        assert missing.value.request_id
        with pytest.raises(InvalidRequestError) as broken:
            client.providers.register({"metadata": {**provider("p"), "defaultModel": "other"}, "adapter_id": "a"})
        assert broken.value.server_code == "invalid-provider"
        assert broken.value.details["reason"] == "unknown-default-model"
        with pytest.raises(ConflictError) as read_only:
            client.providers.unregister("azure")
        assert read_only.value.server_code == "registry-read-only"


@pytest.mark.parametrize(
    ("expires", "reason", "code"),
    [("2020-01-01", "token-expired", "auth-expired"), (None, "unauthenticated", "auth-revoked")],
)
def test_tokens_that_the_command_line_made(
    running: Running, expires: str | None, reason: str, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from whyroute.cli import main  # noqa: PLC0415

    file = str(running.directory / "tokens.json")
    assert main(["token", "alpha", "--tokens", file, *(["--expires", expires] if expires else [])]) == 0
    token = capsys.readouterr().out.strip()
    if expires is None:
        with running.kindgi(token) as client:
            assert client.capabilities.list(limit=1).has_more
        assert main(["token", "alpha", "--tokens", file, "--revoke", token.split("_")[1]]) == 0
    with running.kindgi(token) as client, pytest.raises(AuthError) as refused:
        client.capabilities.list()
    assert (refused.value.reason, refused.value.server_code) == (reason, code)


# Hostile bytes.


def envelope_in(received: bytes) -> tuple[int, str]:
    head, _, body = received.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    error = json.loads(body)["error"]
    assert f"x-request-id: {error['requestId']}".encode() in [line.lower() for line in lines]
    return int(lines[0].split()[1]), error["code"]


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        pytest.param(b"nonsense\r\n\r\n", 400, "bad-request", id="nonsense"),
        pytest.param(b"GET /healthz HTTP/1.1\r\n\r\n", 400, "bad-request", id="no host"),
        pytest.param(b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "bad-request", id="null in the target"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 5 + b"\r\n\r\n", 400, "bad-request", id="TLS"),
        pytest.param(
            b"POST /v1/route HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
            400,
            "bad-request",
            id="two lengths",
        ),
        pytest.param(b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400, "bad-request", id="two hosts"),
        pytest.param(b"NONSENSE /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "bad-request", id="an unknown method"),
        pytest.param(b"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "bad-request", id="a tunnel"),
        pytest.param(b"GET /healthz HTTP/1.1\r\nHost: x\r\n X-A: b\r\n\r\n", 400, "bad-request", id="a folded header"),
        pytest.param(
            b"POST /v1/route HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400,
            "bad-request",
            id="two ends",
        ),
        pytest.param(
            b"POST /v1/route HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer GOOD\r\n"
            b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
            400,
            "bad-request",
            id="a broken chunk",
        ),
        pytest.param(
            b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"X-A: aaaaaaaaaa\r\n" * 40_000,
            431,
            "headers-too-large",
            id="headers without an end",
        ),
        pytest.param(
            b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            414,
            "target-too-long",
            id="a long path",
        ),
        pytest.param(b"GET /" + b"a" * 300_000, 431, "headers-too-large", id="a path without an end"),
        pytest.param(
            b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * 200_000 + b"\r\n\r\n",
            431,
            "headers-too-large",
            id="a header",
        ),
        pytest.param(
            b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"X-A: aaaaaaaaaa\r\n" * 2000 + b"Connection: close\r\n\r\n",
            431,
            "headers-too-large",
            id="many headers",
        ),
        pytest.param(
            b"GET /v1/capabilities HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\xfe\r\nConnection: close\r\n\r\n",
            401,
            "auth-missing",
            id="a token that is not ASCII",
        ),
    ],
)
def test_hostile_requests_get_the_envelope(running: Running, data: bytes, status: int, code: str) -> None:
    data = data.replace(b"GOOD", running.tokens["alpha"].encode())
    assert envelope_in(running.raw(data)) == (status, code)
    assert httpx.get(f"{running.url}/healthz").status_code == 200


def test_hostile_bodies_get_the_envelope(running: Running) -> None:
    with running.client() as client:
        for body, status, code in (
            (b"x" * (20 * 1024 * 1024), 413, "body-too-large"),
            (b"[" * 100_000, 400, "invalid-request"),
            (b"", 400, "invalid-request"),
            (b'{"capability": NaN}', 400, "invalid-request"),
        ):
            for path in ("/v1/route", "/v1/providers", "/v1/explain"):
                answer = client.post(path, content=body)
                assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)

        def chunks() -> Iterator[bytes]:
            for _ in range(64):
                yield b" " * 65536

        answer = client.post("/v1/route", content=chunks())
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body-too-large")
        assert client.get("/healthz").json() == {"status": "ok"}


def test_a_request_that_breaks_off_harms_nobody(running: Running) -> None:
    host, port = running.url.removeprefix("http://").split(":")
    head = f"POST /v1/route HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {running.tokens['alpha']}\r\n"
    head += "Content-Length: 99\r\n\r\n{"
    for _ in range(20):
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(head.encode())
    assert httpx.get(f"{running.url}/healthz").status_code == 200


@pytest.mark.parametrize("upgrade", ["websocket", "h2c"])
def test_upgrade_request_is_answered_in_http_1(running: Running, upgrade: str) -> None:
    head = f"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: upgrade, close\r\nUpgrade: {upgrade}\r\n\r\n"
    assert running.raw(head.encode()).startswith(b"HTTP/1.1 200 ")


def test_requests_may_come_before_their_turn(running: Running) -> None:
    one = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    received = running.raw(one * 20 + last)
    assert received.count(b"HTTP/1.1 200 ") == 21
    assert received.rstrip().endswith(b"}")
    assert b'"digest"' in received.rpartition(b"HTTP/1.1 200 ")[2]


def test_a_good_request_is_answered_though_nonsense_follows(running: Running) -> None:
    body = b'{"capability": "look"}'
    head = f"POST /v1/route HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {running.tokens['alpha']}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    received = running.raw(head.encode() + body + b"nonsense\r\n\r\n")
    assert received.startswith(b"HTTP/1.1 200 ")
    assert b'"decision"' in received
    assert received.count(b"HTTP/1.1 ") == 1


def test_small_answers_wait_for_no_acknowledgement(running: Running) -> None:
    with running.client() as client:
        times = []
        for _ in range(40):
            started = time.perf_counter()
            client.get("/healthz")
            times.append(time.perf_counter() - started)
    assert min(times) < 0.03  # a delayed acknowledgement takes 40 ms, every time


# The log.


def test_log_has_caller_and_duration_only(running: Running) -> None:
    with running.client("beta") as client:
        client.post(
            "/v1/route", json={"capability": "look", "labels": {"data": "hunter2"}}, headers={"X-Request-Id": "find-me"}
        )
        client.get("/v1/providers?feature=hunter2", headers={"X-Request-Id": "find-me-too"})
    lines: dict[str, Any] = {}
    while len(lines) < 2:
        line = running.process.event("request")
        if str(line["requestId"]).startswith("find-me"):
            lines[line["requestId"]] = line
    line = lines["find-me"]
    assert line.pop("durationMs") > 0
    assert line.pop("time").endswith("Z")
    assert line == {
        "event": "request",
        "requestId": "find-me",
        "method": "POST",
        "path": "/v1/route",
        "route": "/v1/route",
        "status": 200,
        "tenant": "beta",
    }
    seen = json.dumps(running.process.seen) + running.process.errors()
    assert "hunter2" not in seen
    assert not any(token.split("_", 2)[2] in seen for token in running.tokens.values())


# Signals, decisions, reloads.


def test_good_pack_is_swapped_broken_pack_is_not(tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    pack.mkdir()
    good = PACK.read_text("utf-8")
    (pack / "a.yaml").write_text(good, "utf-8")
    tokens = token_file(tmp_path / "tokens.json")
    arguments = ("--tokens", "tokens.json", "--db", "p.db", "--reload", "--deployment", "one")
    with serving(tmp_path, *arguments, pack=pack) as process:
        server = Running(process, tmp_path, tokens)
        first = httpx.get(f"{server.url}/readyz").json()["pack"]["digest"]
        (pack / "a.yaml").write_text(good.replace("look", "look-closer"), "utf-8")
        assert process.event("pack-swapped")["digest"] != first
        with server.client() as client:
            assert client.post("/v1/route", json={"capability": "look-closer"}).status_code == 200
            assert client.post("/v1/route", json={"capability": "look"}).status_code == 404
            (pack / "a.yaml").write_text(good.replace("feature: vision}]", "feature: vsion}]"), "utf-8")
            (pack / "b.yaml").write_text("whyroute: 2\n")
            problems = process.event("pack-refused")["problems"]
            while len(problems) < 2:
                problems = process.event("pack-refused")["problems"]
            assert any("b.yaml:1:11" in problem for problem in problems)
            assert client.post("/v1/route", json={"capability": "look-closer"}).status_code == 200
            state = client.get("/readyz").json()["pack"]
            assert "refusedSince" in state
        assert "b.yaml:1:11" in process.errors()
    # After a start with the broken pack, the last good one is served; SIGHUP takes the mended one.
    with serving(tmp_path, *(each for each in arguments if each != "--reload"), pack=pack) as process:
        server = Running(process, tmp_path, tokens)
        with server.client() as client:
            assert client.get("/readyz").json()["pack"]["digest"] == state["digest"]
            assert client.post("/v1/route", json={"capability": "look-closer"}).status_code == 200
            (pack / "b.yaml").unlink()
            (pack / "a.yaml").write_text(good, "utf-8")
            process.process.send_signal(signal.SIGHUP)
            assert process.event("pack-swapped")["digest"] == first
            assert client.get("/readyz").json()["pack"].keys() == {"digest", "since", "kept"}
            assert client.post("/v1/route", json={"capability": "look"}).status_code == 200


def test_replaced_pack_directory_is_still_watched(tmp_path: Path) -> None:
    good = PACK.read_text("utf-8")
    for name, text in (("one", good), ("two", good.replace("look", "look-at")), ("three", good.replace("look", "see"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.yaml").write_text(text, "utf-8")
    pack = tmp_path / "pack"
    pack.symlink_to("one")
    token_file(tmp_path / "tokens.json")
    digests = set()
    with serving(tmp_path, "--tokens", "tokens.json", "--reload", pack=pack) as process:
        digests.add(httpx.get(f"{process.url}/readyz").json()["pack"]["digest"])
        (tmp_path / "new").symlink_to("two")
        (tmp_path / "new").replace(pack)
        digests.add(process.event("pack-swapped", 10)["digest"])
        pack.unlink()
        (tmp_path / "three").rename(pack)
        digests.add(process.event("pack-swapped", 10)["digest"])
        (pack / "a.yaml").write_text(good.replace("look", "glance"), "utf-8")
        digests.add(process.event("pack-swapped", 10)["digest"])
    assert len(digests) == 4


def test_hang_up_during_start_does_not_end_server(tmp_path: Path) -> None:
    token_file(tmp_path / "tokens.json")
    # What is read in the middle of the start sends the signal.
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, threading\n"
        "from whyroute.server import packs\n"
        "read = packs.read_sources\n"
        "def once(path):\n"
        "    packs.read_sources = read\n"
        "    os.kill(os.getpid(), signal.SIGHUP)\n"
        "    return read(path)\n"
        "packs.read_sources = once\n"
    )
    with serving(tmp_path, "--tokens", "tokens.json", path=tmp_path) as process:
        assert process.event("listening")
        assert process.event("pack-unchanged")


def test_no_decision_is_lost_at_shutdown(tmp_path: Path) -> None:
    tokens = token_file(tmp_path / "tokens.json")
    answered: list[tuple[str, int, Any]] = []
    with serving(tmp_path, "--tokens", "tokens.json", "--decisions", "decisions.jsonl") as process:
        server = Running(process, tmp_path, tokens)
        with server.client() as client:
            assert client.post("/v1/providers", json=registration("mine", features=["batch"])).status_code == 201

        def ask(own: int) -> None:
            with server.client() as client:
                for number in range(1000):
                    name = f"r-{own}-{number}"
                    body = {"capability": ["look", "impossible", {"needs": [{"feature": "batch"}]}][number % 3]}
                    try:
                        found = client.post("/v1/route", json=body, headers={"X-Request-Id": name})
                    except httpx.HTTPError:
                        return
                    answered.append((name, found.status_code, found.json()))

        threads = [threading.Thread(target=ask, args=(own,)) for own in range(4)]
        for thread in threads:
            thread.start()
        while len(answered) < 40:
            time.sleep(0.01)
        assert process.stop() == 0
        for thread in threads:
            thread.join()
    lines = [json.loads(line) for line in (tmp_path / "decisions.jsonl").read_bytes().splitlines()]
    records = {line["requestId"]: line for line in lines}
    assert len(records) == len(lines)
    assert {name for name, _, _ in answered} <= set(records)
    pack = load_pack(PACK)
    for name, status, found in answered[:60]:
        record = records[name]
        assert record["tenant"] == "alpha"
        # The record and the pack are enough to come to the same answer.
        request = pack.resolve("alpha", record["capability"], labels=record["labels"], at=record["at"]).request
        registered = registration("mine", features=["batch"])["metadata"]
        again = wire_answer({**request, "providers": [*request["providers"], registered]})
        if status == 200:
            assert again["decision"]["pick"] == record["pick"] == found["decision"]["pick"]
            assert again["decision"]["score"] == record["score"]
            assert again["shadow"] == record["shadow"]
        else:
            assert again["error"]["reasons"] == found["error"]["details"]["reasons"]
            assert record["cores"] == found["error"]["details"]["explanation"]["cores"]


def test_what_was_answered_survives_kill_9(database: str, tmp_path: Path) -> None:
    tokens = token_file(tmp_path / "tokens.json")
    arguments = ("--tokens", "tokens.json", "--db", database)
    answered: list[str] = []
    with serving(tmp_path, *arguments) as process:
        server = Running(process, tmp_path, tokens)

        def register(own: int) -> None:
            with server.client() as client:
                for number in range(1000):
                    name = f"p-{own}-{number}"
                    try:
                        if client.post("/v1/providers", json=registration(name)).status_code == 201:
                            answered.append(name)
                    except httpx.HTTPError:
                        return

        threads = [threading.Thread(target=register, args=(own,)) for own in range(3)]
        for thread in threads:
            thread.start()
        while len(answered) < 25:
            time.sleep(0.005)
        process.process.kill()
        for thread in threads:
            thread.join()
    storage = Storage(database)
    assert set(answered) <= {each.id for each in storage.load("alpha")[1]}
    storage.add("alpha", read_registration(registration("after")))
    storage.close()


# Starting.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "either --tokens, or --tenant"),
        (["--tenant", "alpha", "--tokens", "x"], "--tenant beside --tokens"),
        (["--tenant", "alpha", "--host", "0.0.0.0"], "listens on this machine alone"),
        (["--tenant", "nobody"], "`nobody` is no tenant of the pack"),
        (["--tokens", "absent.json"], "no such file or directory; `whyroute token TENANT --tokens FILE` makes it"),
        (["--tenant", "alpha", "--db", "mysql://u:hunter2@h/d"], "`mysql` is no database that is supported"),
        (["--tenant", "alpha", "--label", "x"], "`x` is no label; write KEY=VALUE"),
        (["--tenant", "alpha", "--cursor-keys", "absent"], "`absent`: can't be read: no such file or directory"),
        (["--tenant", "alpha", "--decisions", "absent/file"], "`absent/file`: can't be written"),
        (["--tenant", "alpha", "--adapters", "nowhere:x"], "there is no module `nowhere`"),
        (["--tenant", "alpha", "--adapters", "nowhere"], "MODULE:NAME"),
        (["--tenant", "alpha", "--host", "127.0.0.1.nowhere.invalid"], "can't be listened on"),
    ],
)
def test_what_a_server_is_not_started_with(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from whyroute.cli import main  # noqa: PLC0415

    monkeypatch.chdir(tmp_path)
    assert main(["serve", str(PACK), *arguments]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.err.startswith("error: ")
    assert "hunter2" not in told.err


def test_a_port_that_is_none_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    from whyroute.cli import main  # noqa: PLC0415

    assert main(["serve", "absent", "--tenant", "alpha", "--port", "99999"]) == 2
    assert "error: --port: input should be less than or equal to 65535\n" in capsys.readouterr().err


def test_pack_broken_from_the_start_is_not_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from whyroute.cli import main  # noqa: PLC0415

    monkeypatch.chdir(tmp_path)
    Path("pack.yaml").write_text("whyroute: 1\nrules: 5\n")
    assert main(["serve", "pack.yaml", "--tenant", "alpha"]) == 2
    assert "pack.yaml:2:8" in capsys.readouterr().err


def test_without_tokens_it_says_so(tmp_path: Path) -> None:
    with serving(tmp_path, "--tenant", "beta", "--label", "team=x") as process:
        url = process.url
        assert httpx.get(f"{url}/v1/vocabulary").json()["tenant"] == "beta"
        refused = httpx.post(f"{url}/v1/route", json={"capability": "look", "labels": {"team": "y"}})
        assert refused.json()["error"]["details"]["issues"][0]["path"] == "/labels/team"
        assert httpx.get(f"{url}/healthz", headers={"Host": "evil.example"}).status_code == 421
        # An answer that is under way is finished before the end.
        host, port = url.removeprefix("http://").split(":")
        body = json.dumps({"capability": "look"}).encode()
        head = f"POST /v1/route HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            connection.sendall(head.encode() + body[:5])
            assert httpx.get(f"{url}/healthz").status_code == 200  # the head has come by now
            process.process.send_signal(signal.SIGINT)
            time.sleep(0.5)
            connection.sendall(body[5:])
            received = b""
            while chunk := connection.recv(65536):
                received += chunk
        assert received.startswith(b"HTTP/1.1 200")
        assert process.process.wait(30) == 130
        said = process.errors()
    assert said == f"serving tenant `beta` on {url}, on this machine alone: no tokens are asked for\n"
