"""Bytes on a connection, however they are cut into pieces."""

import asyncio
import json
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from whyroute.server.limits import ServiceLimits
from whyroute.server.protocol import http_protocol

HEADERS = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * 200_000 + b"\r\n\r\n"
PATH = b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"


class Wire(asyncio.Transport):
    """A connection of which nothing but what is written is of interest."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def can_write_eof(self) -> bool:
        return False

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def close(self) -> None:
        pass


async def _nothing(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError("no request gets through")


async def _answering(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})


@pytest.mark.parametrize("data", [HEADERS, PATH], ids=["headers", "path"])
@pytest.mark.parametrize("piece", [1_000_000, 70_000, 1000])
def test_large_head_is_refused_however_sent(data: bytes, piece: int) -> None:
    async def sent() -> bytes:
        config = uvicorn.Config(_nothing, interface="asgi3", log_config=None, ws="none", lifespan="off")
        protocol = http_protocol(ServiceLimits())(config, ServerState(), {})
        wire = Wire()
        protocol.connection_made(wire)
        for start in range(0, len(data), piece):
            protocol.data_received(data[start : start + piece])
        protocol.connection_lost(None)
        return wire.written

    head, _, body = asyncio.run(sent()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 ")
    assert b"connection: close" in head
    assert json.loads(body)["error"]["code"] == "headers-too-large"


@pytest.mark.parametrize("cut", [0, 20])
def test_body_before_a_head_is_not_counted(cut: int) -> None:
    """The piece that ends the head of one request has its body as well, and the beginning of the next head."""
    first = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n" + b"x" * 60_000
    second = b"GET / HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * 9_000

    async def sent() -> bytes:
        config = uvicorn.Config(_answering, interface="asgi3", log_config=None, ws="none", lifespan="off")
        protocol = http_protocol(ServiceLimits())(config, ServerState(), {})
        wire = Wire()
        protocol.connection_made(wire)
        whole = first + second
        for piece in (whole[:cut], whole[cut:], b"\r\n\r\n"):
            if piece:
                protocol.data_received(piece)
        for _ in range(20):
            await asyncio.sleep(0)
        protocol.connection_lost(None)
        return wire.written

    assert asyncio.run(sent()).count(b"HTTP/1.1 200 OK") == 2


HEAD = b"POST /v1/route HTTP/1.1\r\nHost: x\r\n"
UPGRADE = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"


async def _mirror(scope: Any, receive: Any, send: Any) -> None:
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    names = b",".join(name for name, _ in scope["headers"])
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-names", names)]})
    await send({"type": "http.response.body", "body": b"<" + body + b">"})


async def mirrored(data: bytes, piece: int) -> bytes:
    config = uvicorn.Config(_mirror, interface="asgi3", log_config=None, ws="none", lifespan="off")
    config.load()
    protocol = http_protocol(ServiceLimits())(config, ServerState(), {})
    wire = Wire()
    protocol.connection_made(wire)
    for start in range(0, len(data), piece):
        protocol.data_received(data[start : start + piece])
    for _ in range(50):
        await asyncio.sleep(0)
    protocol.connection_lost(None)
    return wire.written


@pytest.mark.parametrize("piece", [1_000_000, 7, 1])
def test_upgrade_request_is_answered_in_this_protocol(piece: int) -> None:
    whole = HEAD + UPGRADE + b"Content-Length: 3\r\n\r\none"
    chunked = HEAD + UPGRADE + b"Transfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n"
    data = whole + chunked + b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + UPGRADE + b"\r\n" + HEAD + b"\r\n"
    written = asyncio.run(mirrored(data, piece))
    assert [part.partition(b">")[0] for part in written.split(b"<")[1:]] == [b"one", b"two", b"", b""]
    assert written.count(b"HTTP/1.1 200 ") == 4


def test_many_wishes_for_another_protocol_at_once() -> None:
    written = asyncio.run(
        mirrored((b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n") * 3000, 10**6)
    )
    assert written.startswith(b"HTTP/1.1 200 ")


def test_what_comes_behind_the_body_is_no_header() -> None:
    data = HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\nAuthorization: Bearer x\r\n\r\n"
    written = asyncio.run(mirrored(data, 10**6))
    assert b"<one>" in written
    assert b"x-names: host,transfer-encoding\r\n" in written


@pytest.mark.parametrize("behind", [b"A: b\r\n" * 50_000, b"A: " + b"b" * 300_000], ids=["many", "long"])
def test_what_comes_behind_the_body_has_a_limit(behind: bytes) -> None:
    data = HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n" + behind
    written = asyncio.run(mirrored(data, 10_000))
    assert written.startswith(b"HTTP/1.1 431 ")
    assert b"headers-too-large" in written
