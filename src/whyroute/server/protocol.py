"""HTTP on a connection, as the framework reads it, but with our envelope for what it can't read, and with limits."""

import asyncio
import json
import logging
import sys
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .envelope import ApiError, envelope
from .limits import ServiceLimits
from .requestids import request_id_of

__all__ = ["http_protocol"]

_HEADER_BYTES: Final = 64 * 1024
_HEADER_SECONDS: Final = 20
_LINGER_SECONDS: Final = 2
_PIPELINED: Final = 100


# The framework warns of each request that can't be read, and anybody may send any number of them.
_SILENT: Final = logging.getLogger("whyroute.server.silent")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False


def http_protocol(limits: ServiceLimits, unreadable: Callable[[], None] = lambda: None) -> type[HttpToolsProtocol]:
    """The protocol of a server's connections.

    Args:
        limits: Limits of one request; the error for headers past what is read at all names the one for headers.
        unreadable: Called for each request that can't be read.
    """

    too_large = ApiError("headers-too-large", f"all headers have at most {limits.headers} bytes together")

    class Protocol(HttpToolsProtocol):
        _waiting: asyncio.TimerHandle | None = None
        _refused = False
        _oversized = False
        _head: int | None = None  # how many bytes of a request's head have come; None: no head has begun
        _heads = 0  # how many have begun
        _after_head = 0  # how many bytes have come since the body last grew: chunks' sizes and what stands behind them
        _grew = False
        _upgrading: bytes | None = None  # the head of a request for another protocol, without that wish
        _rest: memoryview | None = None  # what came behind it
        _unsent: asyncio.TimerHandle | None = None  # when the connection ends if the client reads nothing

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn has it so, too
            super().connection_made(transport)
            self.logger = _SILENT
            self._waiting = self.loop.call_later(_HEADER_SECONDS, self._give_up)

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            if self._unsent is not None:
                self._unsent.cancel()
            super().connection_lost(exc)

        def pause_writing(self) -> None:
            super().pause_writing()
            self._watch_reader()

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._unsent is not None and not self.transport.is_closing():
                self._unsent.cancel()
                self._unsent = None

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.transport.is_closing():
                self._watch_reader()  # what is not sent yet keeps it open

        def timeout_keep_alive_handler(self) -> None:
            if self.transport.get_write_buffer_size():
                self.transport.abort()
            else:
                super().timeout_keep_alive_handler()

        def _watch_reader(self) -> None:
            if self._unsent is None:
                self._unsent = self.loop.call_later(limits.send_seconds, self.transport.abort)

        def data_received(self, data: bytes) -> None:
            if self._refused:
                return  # what still comes is read, or the system would take our answer back
            before, begun = self.cycle, self._heads if self._head is not None else 0
            self._grew = False
            self._read(data)
            if self._refused:
                return
            self._after_head = 0 if self._grew or self._head is not None else self._after_head + len(data)
            if self._after_head > _HEADER_BYTES:
                self._refuse(too_large)
                return
            if self._head is not None and begun == self._heads:
                # All of it belongs to this head: it neither began nor ended in there.
                self._head += len(data)
                if self._head > _HEADER_BYTES:
                    self._refuse(too_large)
                    return
            if self.cycle is not before:
                self._stop_waiting()
            elif self._waiting is None and self._is_idle():
                # Headers have begun to come.
                self._waiting = self.loop.call_later(_HEADER_SECONDS, self._give_up)

        def _read(self, data: bytes) -> None:
            rest: memoryview | None = memoryview(data)
            while rest is not None:
                self._data, self._rest = rest, None
                super().data_received(cast(bytes, rest))
                rest = self._rest
                if rest is not None and self._upgrading is not None:
                    # Behind a wish for another protocol the parser reads nothing more, not even the body.
                    head, self._upgrading = self._upgrading, None
                    self.parser = httptools.HttpRequestParser(self)
                    self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
                    super().data_received(head)

        def on_message_begin(self) -> None:
            self._head = 0
            self._heads += 1
            self._grew = True
            super().on_message_begin()

        def on_header(self, name: bytes, value: bytes) -> None:
            if self._head is not None:  # behind the body nothing is a header of the request (RFC 9110, section 6.5.1)
                super().on_header(name, value)

        def on_body(self, body: bytes) -> None:
            self._grew = True
            super().on_body(body)

        def on_message_complete(self) -> None:
            self._grew = True
            if self._upgrading is None:
                super().on_message_complete()

        def on_headers_complete(self) -> None:
            self._head = None
            if len(self.pipeline) >= _PIPELINED:
                raise ValueError("too many requests at once")
            if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > _HEADER_BYTES:
                self._oversized = True  # all of it came at once
                raise ValueError(too_large.message)
            hosts = sum(name == b"host" for name, _ in self.headers)
            if hosts > 1 or (not hosts and self.parser.get_http_version() == "1.1"):
                raise ValueError("a request names its host once (RFC 9112, section 3.2)")
            if self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT":
                lines = [b"%s: %s\r\n" % header for header in self.headers if header[0] != b"upgrade"]
                version = self.parser.get_http_version().encode("ascii")
                first = b"%s %s HTTP/%s\r\n" % (self.parser.get_method(), self.url, version)
                self._upgrading = b"".join((first, *lines, b"\r\n"))
            else:
                super().on_headers_complete()

        def _is_idle(self) -> bool:
            return self.cycle is None or self.cycle.response_complete

        def _stop_waiting(self) -> None:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

        def _give_up(self) -> None:
            self._waiting = None
            if self._is_idle() and not self.transport.is_closing():
                self.transport.close()

        def _unsupported_upgrade_warning(self) -> None:
            """A request may ask for another protocol; it is answered in this one."""
            error = sys.exc_info()[1]
            if isinstance(error, httptools.HttpParserUpgrade):
                self._rest = self._data[error.args[0] :]

        def send_400_response(self, msg: str) -> None:
            self._refuse(too_large if self._oversized else ApiError("bad-request", "this is no HTTP request"))

        def _refuse(self, error: ApiError) -> None:
            """Answer what can't be read, and hear nothing more."""
            unreadable()
            self._stop_waiting()
            self._refused = True
            if self._after_head > _HEADER_BYTES and self._is_idle():
                self.transport.close()  # the request was answered before all of it came
                return
            if not self._is_idle():
                self.cycle.keep_alive = False
                if self.cycle.response_started or not self.cycle.more_body:
                    return  # a good request came first; the connection ends with its answer
                # The body of the request can't be read: this is its answer.
                self.cycle.disconnected = True
                self.cycle.message_event.set()
            request_id = request_id_of(None)
            body = json.dumps(envelope(error, request_id)).encode("ascii")
            head = (
                f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\n"
                "content-type: application/json\r\n"
                f"content-length: {len(body)}\r\n"
                f"x-request-id: {request_id}\r\n"
                "connection: close\r\n\r\n"
            )
            self.transport.write(head.encode("ascii") + body)
            if self.transport.can_write_eof():
                self.transport.write_eof()
            self.loop.call_later(_LINGER_SECONDS, self.transport.close)

        def eof_received(self) -> None:
            if self._refused:
                self.transport.close()

        def shutdown(self) -> None:
            if self._refused and self._is_idle():
                self.transport.close()
            else:
                super().shutdown()

    return Protocol
