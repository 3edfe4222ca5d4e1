"""Attacks of one tenant on the service, and what another tenant sees of them."""

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from serverkit import Process, provider, serving, token_file

HAD = ["vision", "tool-use", "thinking"]


def large_pack(path: Path, providers: int = 300) -> Path:
    """A pack of so many providers with ten models each, for the tenants `attacker` and `victim`."""
    rng = Random(7)
    made = []
    for number in range(providers):
        given = provider(f"p{number:04}", features=rng.sample(HAD, 2), window=rng.randrange(1000, 10**6))
        model = given["models"][0]
        model["p95LatencyMs"] = rng.randrange(1, 5000)
        model["cost"] = {key: rng.random() / 100 for key in model["cost"]}
        given["region"] = f"r{rng.randrange(40)}"
        made.append({**given, "models": [{**model, "name": f"m{each}"} for each in range(10)]})
    sections = {
        "whyroute": 1,
        "providers": made,
        "capabilities": [{"name": "look", "needs": [{"contextWindow": {"op": ">=", "value": 990_000}}]}],
        "tenants": [{"tenantId": "attacker"}, {"tenantId": "victim"}],
    }
    path.write_text("\n".join(f"{key}: {json.dumps(value)}" for key, value in sections.items()) + "\n", "utf-8")
    return path


@dataclass
class Target:
    """A service that is attacked.

    Attributes:
        process: Its process.
        tokens: A token of each tenant.
        address: Where it listens.
    """

    process: Process
    tokens: dict[str, str]
    address: tuple[str, int] = field(init=False)

    def __post_init__(self) -> None:
        host, _, port = self.process.url.removeprefix("http://").rpartition(":")
        self.address = host, int(port)

    def connect(self, receive_buffer: int | None = None) -> socket.socket:
        """A connection; with a small buffer of received bytes the system takes little off the service."""
        found = socket.socket()
        if receive_buffer is not None:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        found.settimeout(60)
        found.connect(self.address)
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return found

    def request(self, method: str, path: str, tenant: str | None, body: bytes = b"", *, close: bool = False) -> bytes:
        """A request as it goes over the wire."""
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}"]
        if tenant is not None:
            lines.append(f"Authorization: Bearer {self.tokens[tenant]}")
        if close:
            lines.append("Connection: close")
        return "\r\n".join([*lines, "Content-Type: application/json", "", ""]).encode() + body

    def ask(
        self, method: str, path: str, tenant: str | None, document: Any = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Make one request on a connection of its own."""
        body = b"" if document is None else json.dumps(document).encode()
        with self.connect() as connection:
            connection.sendall(self.request(method, path, tenant, body, close=True))
            found = b"".join(iter(lambda: connection.recv(2**20), b""))
        head, _, content = found.partition(b"\r\n\r\n")
        first, *headers = head.decode("latin-1").split("\r\n")
        named = dict(line.lower().split(": ", 1) for line in headers)
        return int(first.split()[1]), named, content

    def resident(self) -> int:
        """How many bytes of memory the service has."""
        fields = Path(f"/proc/{self.process.process.pid}/statm").read_text("ascii").split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")

    def p99(self, seconds: float, body: bytes = b'{"capability": "look"}') -> float:
        """The 99th percentile of how long routes of the victim take, one after the other, in seconds."""
        taken: list[float] = []
        request = self.request("POST", "/v1/route", "victim", body)
        with self.connect() as connection:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                began = time.monotonic()
                connection.sendall(request)
                answer = b""
                while not answer.endswith(b"}"):
                    answer += connection.recv(2**16)
                assert answer.startswith(b"HTTP/1.1 200"), answer[:200]
                taken.append(time.monotonic() - began)
                time.sleep(0.001)
        return sorted(taken)[len(taken) * 99 // 100]


@contextmanager
def attacked(directory: Path, *arguments: str, pack: Path | None = None) -> Iterator[Target]:
    """A service to attack."""
    tokens = token_file(directory / "tokens.json", "attacker", "victim")
    pack = large_pack(directory / "pack.yaml") if pack is None else pack
    with serving(directory, "--tokens", "tokens.json", *arguments, pack=pack) as process:
        yield Target(process, tokens)


@contextmanager
def repeated(target: Target, connections: int, request: bytes) -> Iterator[list[int]]:
    """Make a request again and again, on so many connections at once; gives the statuses of the answers so far."""
    statuses: list[int] = []
    ended = threading.Event()
    open_ones: list[socket.socket] = []

    def again() -> None:
        while not ended.is_set():
            with suppress(OSError, ValueError), target.connect() as connection:
                open_ones.append(connection)
                connection.sendall(request)
                answer = connection.recv(2**16)
                if answer:
                    statuses.append(int(answer.split()[1]))
                    while not ended.is_set() and connection.recv(2**16):
                        pass

    threads = [threading.Thread(target=again, daemon=True) for _ in range(connections)]
    for thread in threads:
        thread.start()
    try:
        yield statuses
    finally:
        ended.set()
        while any(thread.is_alive() for thread in threads):
            for connection in open_ones:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            threads[-1].join(0.05)


@contextmanager
def unread(target: Target, connections: int, request: bytes) -> Iterator[None]:
    """Make a request on so many connections, and read nothing."""
    with ExitStack() as opened:
        for _ in range(connections):
            opened.enter_context(target.connect(4096)).sendall(request)
        yield


def tied_hard(slots: int, ties: int) -> dict[str, Any]:
    """A bundle whose ties pull in many directions."""
    rng = Random(3)
    names = [f"s{number}" for number in range(slots)]
    fields = ["promptUsdPer1kTokens", "p95LatencyMs", "completionUsdPer1kTokens"]
    wanted = {
        name: {
            "capability": {
                "needs": [{"feature": rng.choice(HAD)}],
                "prefer": [{"feature": rng.choice(HAD), "weight": rng.randint(1, 9)}],
            }
        }
        for name in names
    }
    sums = [
        {"sum": rng.choice(fields), "op": "<=", "value": rng.random() / 50, "slots": rng.sample(names, min(6, slots))}
        for _ in range(ties)
    ]
    different = [{"different": "provider", "slots": rng.sample(names, min(6, slots))} for _ in range(ties)]
    return {"slots": wanted, "together": [*sums, *different, {"different": "region"}]}
