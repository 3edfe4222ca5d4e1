"""Bytes on a connection, however they are cut into pieces."""

import asyncio
import json
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from whyroute.server.limits import Limits
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
def test_a_head_that_is_too_large_is_refused_however_it_comes(data: bytes, piece: int) -> None:
    async def sent() -> bytes:
        config = uvicorn.Config(_nothing, interface="asgi3", log_config=None, ws="none", lifespan="off")
        protocol = http_protocol(Limits())(config, ServerState(), {})
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
def test_the_body_before_a_head_does_not_count_as_part_of_it(cut: int) -> None:
    """The piece that ends the head of one request has its body as well, and the beginning of the next head."""
    first = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n" + b"x" * 60_000
    second = b"GET / HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * 9_000

    async def sent() -> bytes:
        config = uvicorn.Config(_answering, interface="asgi3", log_config=None, ws="none", lifespan="off")
        protocol = http_protocol(Limits())(config, ServerState(), {})
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
