"""The outermost layer: request ids, limits, the log of requests, and an envelope round whatever goes wrong."""

import asyncio
import re
import traceback
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from datetime import UTC, datetime
from ipaddress import ip_address
from time import perf_counter
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

from ..basics.issues import printable
from .answers import error_answer
from .envelope import FAULT, ApiError
from .inflight import Flight
from .limits import ServiceLimits
from .lines import LineWriter
from .metrics import Metrics
from .requestids import request_id_of

__all__ = ["CallerGoneError", "Gateway", "Visit", "told"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Header = tuple[bytes, bytes]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_PATH_SHOWN: Final = 200
_SAFE: Final = "-._~!$&'()*+,;=:@"  # what a path segment holds as it is (RFC 3986)
_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


class CallerGoneError(Exception):
    """The caller has hung up."""


class Visit:
    """What is known of a request while it is answered.

    Attributes:
        request_id: Its id.
        route: The route that it took, as the documentation writes it; `-` for none.
        tenant: The tenant, once it is known.
        flight: The request among those of the tenant, once that is known.
    """

    __slots__ = ("flight", "request_id", "route", "tenant")

    def __init__(self, request_id: str) -> None:
        self.request_id = request_id
        self.route = "-"
        self.tenant: str | None = None
        self.flight: Flight | None = None

    def hold(self, size: int) -> None:
        """Hold so many bytes more for the tenant, if it is known.

        Raises:
            ApiError: `too-many-requests`.
        """
        if self.flight is not None:
            self.flight.hold(size)

    def release(self, size: int) -> None:
        """Hold so many bytes less."""
        if self.flight is not None:
            self.flight.release(size)


class Gateway:
    """Wraps the application.

    Args:
        app: The application.
        limits: Limits of one request.
        metrics: What is counted.
        log: The log of requests; None for none.
        hosts: The names under which the server may be asked, where it asks for no token: a page from elsewhere must
            not reach it through a name of its own. None: any.
        notes: Gives headers that every answer to a request that comes now has.
    """

    def __init__(
        self,
        app: App,
        limits: ServiceLimits,
        metrics: Metrics,
        log: LineWriter | None,
        hosts: frozenset[str] | None,
        notes: Callable[[], Sequence[Header]] = tuple,
    ) -> None:
        self._app = app
        self._limits = limits
        self._metrics = metrics
        self._log = log
        self._hosts = hosts
        self._notes = notes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        headers: list[tuple[bytes, bytes]] = list(scope["headers"])
        given = [value for name, value in headers if name == b"x-request-id"]
        visit = Visit(request_id_of(given[0].decode("latin-1") if len(given) == 1 else None))
        scope["whyroute.visit"] = visit
        answer = _Answer(send, visit, self._notes())
        try:
            self._check(scope, headers)
            scope["path"] = _normal(scope)
            await self._app(scope, _Body(receive, headers, self._limits), answer)
        except ApiError as error:
            await self._fail(scope, receive, answer, error)
        except TimeoutError:
            await self._fail(scope, receive, answer, FAULT)
        except Exception as error:
            self.note_fault(error, visit)
            await self._fail(scope, receive, answer, FAULT)
        finally:
            if visit.flight is not None:
                visit.flight.end()
            seconds = perf_counter() - started
            self._metrics.answered(visit.route, _method(scope["method"]), answer.status, seconds)
            if self._log is not None:
                self._log.put(_line(scope, visit, answer.status, seconds))

    def _check(self, scope: Scope, headers: list[tuple[bytes, bytes]]) -> None:
        limits = self._limits
        if len(scope["raw_path"]) + len(scope["query_string"]) > limits.target:
            raise ApiError("target-too-long", f"path and query have at most {limits.target} bytes together")
        if sum(len(name) + len(value) for name, value in headers) > limits.headers:
            raise ApiError("headers-too-large", f"all headers have at most {limits.headers} bytes together")
        if self._hosts is not None:
            self._check_origin(headers)

    def _check_origin(self, headers: list[tuple[bytes, bytes]]) -> None:
        """Without tokens, nothing but where a request comes from keeps the pages of others from sending it."""
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if len(hosts) != 1 or not self._is_own(_host_name(hosts[0])):
            raise ApiError("foreign-host", "without tokens the service answers on this machine's own names only")
        for name, value in headers:
            if name == b"origin" and value.decode("latin-1").partition("://")[2] != hosts[0]:
                raise ApiError("foreign-origin", "without tokens the service answers no pages of other origins")

    def _is_own(self, host: str) -> bool:
        if host in (self._hosts or ()):
            return True
        try:
            return ip_address(host).is_loopback  # no other tenant's name resolves to an address that is named as such
        except ValueError:
            return False

    async def _fail(self, scope: Scope, receive: Receive, answer: "_Answer", error: ApiError) -> None:
        if answer.started:
            return  # nothing can be taken back; the connection ends where the answer does
        await error_answer(error, answer.visit.request_id)(scope, receive, answer)

    def note_fault(self, error: Exception, visit: Visit) -> None:
        """Put a fault of our own into the log."""
        if self._log is not None:
            self._log.put({"event": "fault", "time": _now(), "requestId": visit.request_id, **told(error)})


def told(error: BaseException) -> dict[str, Any]:
    """A fault for the log: what and where. Its text is left out, for it may hold what was sent."""
    frames = traceback.extract_tb(error.__traceback__)[-12:]
    places = [f"{frame.filename.rpartition('site-packages/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
    return {"fault": type(error).__name__, "at": places}


class _Answer:
    """Sends an answer with the headers that every answer has, and notes its status."""

    __slots__ = ("_notes", "_send", "started", "status", "visit")

    def __init__(self, send: Send, visit: Visit, notes: Sequence[Header]) -> None:
        self._send = send
        self._notes = notes
        self.visit = visit
        self.started = False
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            self.status = message["status"]
            given = list(message.get("headers", ()))
            names = {name for name, _ in given}
            given += [header for header in _HEADERS if header[0] not in names]
            given += self._notes
            given.append((b"x-request-id", self.visit.request_id.encode("ascii")))
            message = {**message, "headers": given}
        await self._send(message)


class _Body:
    """Receives a body within limits."""

    __slots__ = ("_deadline", "_left", "_limits", "_receive", "_whole")

    def __init__(self, receive: Receive, headers: list[tuple[bytes, bytes]], limits: ServiceLimits) -> None:
        self._receive = receive
        self._limits = limits
        self._left = limits.body
        self._deadline: float | None = None
        self._whole = False
        announced = [value for name, value in headers if name == b"content-length"]
        if announced and announced[0].isdigit() and int(announced[0][:20]) > limits.body:
            raise self._too_large()

    def _too_large(self) -> ApiError:
        return ApiError("body-too-large", f"a body has at most {self._limits.body} bytes")

    async def __call__(self) -> Message:
        if self._whole:
            return await self._receive()  # what comes now is that the client hangs up
        now = asyncio.get_running_loop().time()
        if self._deadline is None:
            self._deadline = now + self._limits.receive_seconds
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise ApiError(
                "request-timeout",
                f"the body took longer than {self._limits.receive_seconds:g} seconds to come",
                headers={"Connection": "close"},
            ) from None
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise self._too_large()
        self._whole = not message.get("more_body", False)
        return message


def _normal(scope: Scope) -> str:
    """The path as routes read it: in percent-encoding, so that a `/` within a segment stays there.

    The same path may be encoded in several ways; this one encodes what RFC 3986 has to.
    """
    segments = scope["raw_path"].split(b"/")
    if all(segment.isalnum() for segment in segments if segment):
        return str(scope["raw_path"].decode("ascii"))
    return "/".join(quote(unquote_to_bytes(segment), safe=_SAFE) for segment in segments)


_HOST: Final = re.compile(r"(?:\[([0-9a-fA-F:.]*:[0-9a-fA-F:.]*)\]|([^:\[\]]*))(?::[0-9]*)?", re.ASCII)


def _host_name(host: str) -> str:
    """The name or the address of a Host header (RFC 9110, section 7.2); empty where it is not one and a port alone."""
    match = _HOST.fullmatch(host)
    return "" if match is None else (match[1] or match[2]).lower()


def _method(method: str) -> str:
    return method if method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "other"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _line(scope: Scope, visit: Visit, status: int, seconds: float) -> dict[str, Any]:
    path = scope["raw_path"].decode("latin-1")
    line = {
        "event": "request",
        "time": _now(),
        "requestId": visit.request_id,
        "method": printable(scope["method"][:20]),
        "path": printable(path if len(path) <= _PATH_SHOWN else f"{path[:_PATH_SHOWN]}..."),
        "route": visit.route,
        "status": status,
        "durationMs": round(seconds * 1000, 3),
    }
    if visit.tenant is not None:
        line["tenant"] = visit.tenant
    return line
