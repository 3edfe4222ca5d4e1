"""The service for tests: in this process without a socket, or as a process of its own."""

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from queue import Empty, Queue
from typing import Any
from urllib.parse import quote

from jsonschema import Draft202012Validator

from paths import ROOT, TESTS
from whyroute.providers.adapters import AdapterFactoryRegistry
from whyroute.server.app import Application, create_app
from whyroute.server.cursors import Cursors
from whyroute.server.limits import ServiceLimits
from whyroute.server.lines import LineWriter
from whyroute.server.metrics import Metrics
from whyroute.server.openapi import openapi_document
from whyroute.server.packs import PackKeeper
from whyroute.server.service import Service
from whyroute.server.storage import Storage
from whyroute.server.stored import StoredRegistry
from whyroute.server.tokenfile import TokenFile, change_tokens
from whyroute.server.tokens import issue

DATA = TESTS / "data" / "server"
PACK = DATA / "pack.yaml"
TENANTS = ("alpha", "beta", "gamma")


@dataclass(frozen=True)
class Answer:
    """What the service answers."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body, which is JSON."""
        assert self.headers["content-type"] == "application/json", self.headers
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of an error, whose envelope is as it should be."""
        error = self.json()["error"]
        assert set(error) - {"details"} == {"code", "message", "requestId"}, error
        assert error["requestId"] == self.headers["x-request-id"]
        assert isinstance(error["message"], str)
        assert error["message"]
        return str(error["code"])


def provider(name: str, **given: Any) -> dict[str, Any]:
    """A provider's metadata with one model."""
    model = {
        "name": given.pop("model", "m"),
        "contextWindow": given.pop("window", 16_000),
        "features": given.pop("features", ["vision"]),
        "cost": {"promptUsdPer1kTokens": 0.001, "completionUsdPer1kTokens": 0.002},
    }
    return {"id": name, "region": "eu-west-1", "models": [model], **given}


def registration(name: str, **given: Any) -> dict[str, Any]:
    """The body that registers it."""
    return {"metadata": provider(name, **given), "adapter_id": "some-adapter"}


@dataclass
class Kit:
    """A service in this process."""

    service: Service
    app: Application
    tokens: dict[str, str] = field(default_factory=dict)

    def call(
        self,
        method: str,
        path: str,
        tenant: str | None = "alpha",
        *,
        json_body: Any = None,
        body: bytes | Sequence[bytes] = b"",
        headers: Sequence[tuple[str, str]] = (),
        query: bytes = b"",
    ) -> Answer:
        """Make one request. The path is given as it goes over the wire."""
        sent = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        if tenant is not None:
            sent.append((b"authorization", f"Bearer {self.tokens[tenant]}".encode()))
        if json_body is not None:
            body = json.dumps(json_body).encode()
            sent.append((b"content-type", b"application/json"))
        if not any(name == b"host" for name, _ in sent):
            sent.append((b"host", b"localhost:8000"))
        chunks = [body] if isinstance(body, bytes) else body
        answer = asyncio.run(called(self.app, method, path, sent, chunks, query))
        check_documented(method, path, answer)
        return answer

    def get(self, path: str, tenant: str | None = "alpha", **given: Any) -> Answer:
        """GET."""
        return self.call("GET", path, tenant, **given)

    def post(self, path: str, json_body: Any = None, tenant: str | None = "alpha", **given: Any) -> Answer:
        """POST."""
        return self.call("POST", path, tenant, json_body=json_body, **given)


def check_documented(method: str, path: str, answer: Answer) -> None:
    """Hold an answer to the description of the service."""
    document = _description()
    for template, operations in document["paths"].items():
        pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template))
        operation = operations.get(method.lower())
        if operation is None or not re.fullmatch(pattern, path.partition("?")[0]):
            continue
        described = operation["responses"].get(str(answer.status))
        assert described is not None, f"{method} {template}: {answer.status} is not described"
        if "$ref" in described:
            described = document["components"]["responses"][described["$ref"].rpartition("/")[2]]
        for header, given in described["headers"].items():
            told = document["components"]["headers"][given["$ref"].rpartition("/")[2]]
            if told.get("required", False) or header.lower() in answer.headers:
                assert header.lower() in answer.headers, f"{method} {template}: no {header}"
                Draft202012Validator(told["schema"]).validate(answer.headers[header.lower()])
        kind = answer.headers["content-type"].partition(";")[0]
        schema = described["content"][kind]["schema"]
        if kind == "application/json":
            _validator(json.dumps(schema)).validate(json.loads(answer.body))
        return


@cache
def _description() -> dict[str, Any]:
    return openapi_document()


@cache
def _validator(schema: str) -> Draft202012Validator:
    components = {"components": _description()["components"]}
    return Draft202012Validator({**components, **json.loads(schema)})


async def called(
    app: Application,
    method: str,
    path: str,
    headers: list[tuple[bytes, bytes]],
    chunks: Sequence[bytes],
    query: bytes = b"",
) -> Answer:
    """Make one request of an application; several may be under way."""
    raw, _, inner_query = path.encode("ascii").partition(b"?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": raw.decode("ascii"),
        "raw_path": raw,
        "query_string": query or inner_query,
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 8000),
        "state": {},
    }
    waiting = list(chunks)
    started: dict[str, Any] = {}
    sent = bytearray()

    async def receive() -> dict[str, Any]:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}
        await asyncio.sleep(3600)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            assert not started
            started.update(message)
        else:
            sent.extend(message.get("body", b""))

    await app(scope, receive, send)
    found = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in started["headers"]}
    return Answer(started["status"], found, bytes(sent))


def make_kit(
    directory: Path,
    *,
    pack: Path = PACK,
    database: str | None = None,
    tenant: str | None = None,
    labels: Mapping[str, str] | None = None,
    keys: Sequence[str] = (),
    adapters: AdapterFactoryRegistry | None = None,
    decisions: LineWriter | None = None,
    log: LineWriter | None = None,
    limits: ServiceLimits | None = None,
    clock: Any = None,
    deployment: str | None = None,
) -> Kit:
    """A service in this process; with `tenant` one without tokens."""
    storage = Storage(database or str(directory / "providers.db"))
    packs = PackKeeper(str(pack), storage, deployment=deployment, operator_labels=labels, tenant=tenant)
    packs.open()
    tokens, file = {}, None
    if tenant is None:
        path = directory / "tokens.json"
        for name in TENANTS:
            text, kept = issue(name)
            tokens[name] = text
            change_tokens(path, lambda before, kept=kept: (*before, kept))  # type: ignore[misc]  # mypy infers no lambda with defaults
        file = TokenFile(path)
    service = Service(
        packs=packs,
        storage=storage,
        registry=StoredRegistry(storage, lambda: packs.current.pack, adapters),
        cursors=Cursors(keys),
        metrics=Metrics(),
        tokens=file,
        tenant=tenant,
        decisions=decisions,
        clock=clock or (lambda: datetime.now(UTC)),
    )
    return Kit(service, create_app(service, limits, log), tokens)


def segment(text: str) -> str:
    """Text as one segment of a path."""
    return quote(text, safe="")


class Process:
    """`whyroute serve` as a process of its own."""

    def __init__(self, arguments: Sequence[str], directory: Path, path: Path | None = None) -> None:
        self.lines: Queue[dict[str, Any]] = Queue()
        self.seen: list[dict[str, Any]] = []
        self._errors = open(directory / f"stderr-{id(self)}.txt", "w+b")  # noqa: SIM115 (closed with the process)
        source = ROOT / "src"
        paths = os.pathsep.join(map(str, [source, *([path] if path else [])]))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "whyroute", "serve", *arguments],
            cwd=directory,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "PYTHONPATH": paths, "NO_COLOR": "1"},
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.process.stdout.close()

    def event(self, name: str, seconds: float = 60) -> dict[str, Any]:
        """Wait for an event in the log."""
        while True:
            try:
                line = self.lines.get(timeout=seconds)
            except Empty:
                raise AssertionError(f"no {name}; stderr: {self.errors()}") from None
            self.seen.append(line)
            if line["event"] == name:
                return line

    @property
    def url(self) -> str:
        """Where it listens."""
        return str(self.event("listening")["url"])

    def errors(self) -> str:
        """What it said on stderr so far."""
        self._errors.flush()
        return Path(self._errors.name).read_text("utf-8")

    def stop(self, seconds: float = 30) -> int:
        """Ask it to end, and wait."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(seconds)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self._errors.close()


@contextmanager
def serving(directory: Path, *arguments: str, pack: Path = PACK, path: Path | None = None) -> Iterator[Process]:
    """The service as a process, on a port of its own. `path` is where Python looks for modules, too."""
    process = Process([str(pack), "--port", "0", *arguments], directory, path)
    try:
        yield process
    finally:
        process.stop()


def token_file(path: Path, *tenants: str) -> dict[str, str]:
    """A file of tokens, one for each tenant."""
    found = {}
    for name in tenants or TENANTS:
        text, kept = issue(name)
        found[name] = text
        change_tokens(path, lambda before, kept=kept: (*before, kept))  # type: ignore[misc]  # mypy infers no lambda with defaults
    return found
