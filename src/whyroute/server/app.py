"""The application: paths and methods to what the service does."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final, TypeVar

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .. import __version__
from ..basics.issues import printable
from ..engine.deadlines import TooLateError, due_within
from ..errors import BundleUnsatisfiableError, CapabilityUnsatisfiableError, UnsatisfiableError, WhyrouteError
from .answers import PiecedAnswer, bounded, error_answer, json_answer, json_text, text_answer
from .envelope import FAULT, STATUSES, ApiError, api_error
from .gateway import CallerGoneError, Gateway, Visit
from .inflight import InFlight
from .limits import ServiceLimits
from .lines import LineWriter
from .memory import GivingBack
from .metrics import CONTENT_TYPE
from .openapi import openapi_document
from .page import PAGE_FILES, page_file, page_policy
from .probes import Probe
from .queries import read_query, read_segment
from .refusals import unsatisfiable_pieces
from .service import Service
from .shares import Shares
from .tokens import Caller
from .turns import Turns, pass_on

__all__ = ["LOOPBACK_HOSTS", "Application", "create_app"]

T = TypeVar("T")
Scope = MutableMapping[str, Any]
Handler = Callable[["Application", Request, Visit], Awaitable[Response]]

LOOPBACK_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_WORKERS: Final = 16
_QUESTION_WORKERS: Final = 16
_OF_ONE_TENANT: Final = 2  # of the workers of either kind
_NO_TENANT: Final = ""  # whose share the requests without a tenant have
_PROBE_SECONDS: Final = 3
_END_SECONDS: Final = 2
_PAGE: Final = ("limit", "cursor", "feature")


class Application:
    """The service as an ASGI application.

    Args:
        service: What it serves.
        limits: Limits of one request.
        log: The log of requests; None for none.

    Attributes:
        at_work: How many answers are being made off the event loop.
    """

    def __init__(self, service: Service, limits: ServiceLimits | None = None, log: LineWriter | None = None) -> None:
        self.service = service
        self.limits = limits or ServiceLimits()
        self.fastapi = FastAPI(title="whyroute", version=__version__, openapi_url=None, docs_url=None, redoc_url=None)
        self.fastapi.router.redirect_slashes = False
        self.fastapi.add_exception_handler(HTTPException, _http_error)
        self.fastapi.add_exception_handler(Exception, _http_error)
        self.fastapi.openapi = openapi_document  # type: ignore[method-assign]  # its manual says so
        endpoints = {path: _Methods(self, path, methods) for path, methods in _ROUTES.items()}
        self.fastapi.router.routes += [Route(path, endpoint) for path, endpoint in endpoints.items()]
        # A path without parameters needs no search, and its endpoint refuses and answers everything by itself.
        self._endpoints = {path: endpoint for path, endpoint in endpoints.items() if "{" not in path}
        self.at_work = 0
        self._counting = threading.Lock()
        self.in_flight = InFlight(self.limits.tenant_requests, self.limits.tenant_bytes)
        self._pool = _Workers("whyroute", _WORKERS)
        self._questions = _Workers("whyroute-question", _QUESTION_WORKERS)
        self._turns = Turns()
        self._memory = GivingBack()
        hosts = LOOPBACK_HOSTS if service.tokens is None else None
        self._gateway = Gateway(self._dispatch, self.limits, service.metrics, log, hosts, service.notes)
        self._database = Probe(service.storage.ping, _PROBE_SECONDS)

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        await self._gateway(scope, receive, send)

    async def _dispatch(self, scope: Scope, receive: Any, send: Any) -> None:
        endpoint = self._endpoints.get(scope["path"]) if scope["type"] == "http" else None
        await (endpoint or self.fastapi)(scope, receive, send)

    async def ask(self, request: Request, visit: Visit, work: Callable[[], T]) -> T:
        """`run` for what may take the processor long: looking something up never waits for it.

        Raises:
            CallerGoneError: The caller hung up; the work ends, too.
        """
        asking = asyncio.ensure_future(self.run(visit, work, self._questions))
        watching = asyncio.ensure_future(_hung_up(request))
        try:
            await asyncio.wait({asking, watching}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                raise CallerGoneError
            return asking.result()
        finally:
            asking.cancel()
            watching.cancel()
            self._memory.soon()

    async def run(self, visit: Visit, work: Callable[[], T], workers: "_Workers | None" = None) -> T:
        """Do something off the event loop, within the time that an answer may take, in the tenant's turn."""
        tenant, seconds, began = visit.tenant or _NO_TENANT, self.limits.answer_seconds, time.monotonic()
        given_up = False

        def between(now: float) -> None:
            if given_up:
                raise TooLateError
            pass_on(now)

        def timely() -> T:
            with self._counting:
                self.at_work += 1
            try:
                left = seconds - (time.monotonic() - began)
                with self._turns.of(tenant), due_within(left, between):
                    return work()
            finally:
                with self._counting:
                    self.at_work -= 1

        try:
            async with asyncio.timeout(seconds) as limit:
                return await (workers or self._pool).run(tenant, timely)
        except TimeoutError:
            if limit.expired():
                raise TooLateError from None
            raise
        finally:
            given_up = True

    def caller(self, request: Request, visit: Visit) -> Caller:
        """Whose request it is."""
        caller = self.service.caller(request.scope["headers"])
        visit.tenant = caller.tenant
        visit.flight = self.in_flight.begin(caller.tenant)
        return caller

    def note_fault(self, error: Exception, visit: Visit) -> None:
        """Put a fault of our own into the log."""
        self._gateway.note_fault(error, visit)

    def unsatisfiable(self, error: UnsatisfiableError[Any], visit: Visit) -> Response:
        """That nothing qualifies, and why, in full; which takes its time, so it is made off the event loop."""
        return self.answer(visit, unsatisfiable_pieces(error, visit.request_id), STATUSES[error.code])

    def answer(self, visit: Visit, texts: Iterable[str], status: int = 200, kind: str = "application/json") -> Response:
        """An answer within its limit, which is held for the tenant until it is sent.

        Raises:
            ApiError: `answer-too-large`, or `too-many-requests`.
        """
        pieces = list(bounded(texts, self.limits.answer, visit.hold))
        if len(pieces) == 1:
            return Response(pieces[0], status, media_type=kind)
        return PiecedAnswer(pieces, status, kind, self.limits.read_seconds, visit.release)

    async def readiness(self) -> tuple[bool, dict[str, Any]]:
        """Whether the server can answer. It takes no worker, and waits for none."""
        return self.service.readiness(await self._database.answers())

    def close(self, seconds: float = _END_SECONDS) -> None:
        """Let the work that was begun come to its end, if it does within so many seconds."""
        for workers in (self._pool, self._questions):
            workers.threads.shutdown(wait=False, cancel_futures=True)
        due = time.monotonic() + seconds
        while self.at_work and time.monotonic() < due:
            time.sleep(0.01)


class _Workers:
    """Threads, shared fairly between tenants."""

    def __init__(self, name: str, most: int) -> None:
        self.threads = ThreadPoolExecutor(most, thread_name_prefix=name)
        self._shares = Shares(most, _OF_ONE_TENANT)

    async def run(self, tenant: str, work: Callable[[], T]) -> T:
        """Do something in a thread, when it is the tenant's turn. Its place is free again when it is done."""
        await self._shares.take(tenant)
        try:
            future = self.threads.submit(work)
        except RuntimeError:  # the threads were shut down
            self._shares.give_back(tenant)
            raise
        future.add_done_callback(lambda _: self._shares.give_back(tenant))
        return await asyncio.wrap_future(future)


class _Methods:
    """The methods of one path."""

    def __init__(self, app: Application, path: str, methods: Mapping[str, Handler]) -> None:
        self._app = app
        self._path = path
        self._methods = {**methods, **({"HEAD": methods["GET"]} if "GET" in methods else {})}
        self._allow = ", ".join(sorted(self._methods))

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        visit: Visit = scope["whyroute.visit"]
        visit.route = self._path
        handler = self._methods.get(scope["method"])
        answer: Response
        if handler is None:
            message = f"this path takes {self._allow} only"
            answer = error_answer(
                ApiError("method-not-allowed", message, headers={"Allow": self._allow}), visit.request_id
            )
        else:
            try:
                answer = await handler(self._app, Request(scope, receive), visit)
            except WhyrouteError as error:
                answer = error_answer(api_error(error), visit.request_id)
                if not isinstance(error, ApiError) and error.code not in STATUSES:
                    self._app.note_fault(error, visit)
            except CallerGoneError:
                return
            except Exception as error:
                self._app.note_fault(error, visit)
                answer = error_answer(FAULT, visit.request_id)
        await answer(scope, receive, send)


async def _http_error(request: Request, error: Exception) -> Response:
    """What the framework refuses by itself."""
    if not isinstance(error, HTTPException):
        return error_answer(FAULT, request.scope["whyroute.visit"].request_id)
    code, message = {
        404: ("not-found", "there is nothing at this path"),
        405: ("method-not-allowed", "this path does not take this method"),
    }.get(error.status_code, ("bad-request", "the request can't be read"))
    return error_answer(ApiError(code, message), request.scope["whyroute.visit"].request_id)


async def _question(app: "Application", request: Request, visit: Visit) -> bytes:
    """The body of a request that asks where to route."""
    body = await _body(request, visit)
    if len(body) > app.limits.question:
        raise ApiError("body-too-large", f"a body has at most {app.limits.question} bytes here")
    return body


async def _body(request: Request, visit: Visit) -> bytes:
    """The body of a request, which has to be JSON."""
    kind = request.headers.get("content-type")
    if kind is not None:
        named = kind.partition(";")[0].strip().lower()
        if named != "application/json" and not (named.startswith("application/") and named.endswith("+json")):
            raise ApiError("unsupported-media-type", "a body is JSON; send `Content-Type: application/json`")
    coding = request.headers.get("content-encoding", "identity").strip()
    if coding.lower() not in ("", "identity"):
        told = f"`Content-Encoding: {printable(coding)}` is not supported; send the body as it is, without that header"
        raise ApiError("unsupported-media-type", told)
    chunks = []
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise CallerGoneError
        visit.hold(len(message.get("body", b"")))
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(chunks)


async def _hung_up(request: Request) -> None:
    """Wait until the caller hangs up."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _query(request: Request, *known: str) -> dict[str, str]:
    return read_query(request.scope["query_string"], known)


async def _looked_up(app: Application, visit: Visit, look: Callable[[], Any]) -> Response:
    return await app.run(visit, lambda: app.answer(visit, [json_text(look())]))


async def _list_capabilities(app: Application, request: Request, visit: Visit) -> Response:
    caller, query = app.caller(request, visit), _query(request, *_PAGE)
    return await _looked_up(app, visit, lambda: app.service.list_capabilities(caller, query))


async def _get_capability(app: Application, request: Request, visit: Visit) -> Response:
    caller = app.caller(request, visit)
    _query(request)
    name = read_segment(request.path_params["capabilityId"])
    return await _looked_up(app, visit, lambda: app.service.get_capability(caller, name))


async def _list_providers(app: Application, request: Request, visit: Visit) -> Response:
    caller, query = app.caller(request, visit), _query(request, *_PAGE)
    return await _looked_up(app, visit, lambda: app.service.list_providers(caller, query))


async def _get_provider(app: Application, request: Request, visit: Visit) -> Response:
    caller = app.caller(request, visit)
    _query(request)
    name = read_segment(request.path_params["providerId"])
    return await _looked_up(app, visit, lambda: app.service.get_provider(caller, name))


async def _register(app: Application, request: Request, visit: Visit) -> Response:
    caller = app.caller(request, visit)
    _query(request)
    body = await _body(request, visit)
    return await app.run(visit, lambda: json_answer(app.service.register(caller, body), 201))


async def _unregister(app: Application, request: Request, visit: Visit) -> Response:
    caller = app.caller(request, visit)
    _query(request)
    name = read_segment(request.path_params["providerId"])
    return await app.run(visit, lambda: json_answer(app.service.unregister(caller, name)))


async def _vocabulary(app: Application, request: Request, visit: Visit) -> Response:
    caller = app.caller(request, visit)
    _query(request)
    return await _looked_up(app, visit, lambda: app.service.vocabulary(caller))


async def _route(app: Application, request: Request, visit: Visit) -> Response:
    caller = app.caller(request, visit)
    _query(request)
    body = await _question(app, request, visit)
    question = app.service.quick(caller, body)
    if question is not None:
        return text_answer(app.service.route(caller, body, visit.request_id, question))

    def routed() -> Response:
        try:
            return app.answer(visit, [app.service.route(caller, body, visit.request_id)])
        except CapabilityUnsatisfiableError as error:
            return app.unsatisfiable(error, visit)

    return await app.ask(request, visit, routed)


async def _bundle(app: Application, request: Request, visit: Visit) -> Response:
    caller = app.caller(request, visit)
    _query(request)
    body = await _question(app, request, visit)

    def routed() -> Response:
        try:
            return app.answer(visit, [app.service.bundle(caller, body, visit.request_id)])
        except BundleUnsatisfiableError as error:
            return app.unsatisfiable(error, visit)

    return await app.ask(request, visit, routed)


async def _explain(app: Application, request: Request, visit: Visit) -> Response:
    caller = app.caller(request, visit)
    _query(request)
    body = await _question(app, request, visit)
    page = "text/html" in request.headers.get("accept", "")

    def explained() -> Response:
        explanation = app.service.explain(caller, body)
        if not page:
            return app.answer(visit, explanation.iter_json())
        from ..render.page import explanation_page  # noqa: PLC0415 (only the page needs it)

        return app.answer(visit, [explanation_page(explanation)], kind="text/html")

    return await app.ask(request, visit, explained)


async def _health(app: Application, request: Request, visit: Visit) -> Response:
    return json_answer({"status": "ok"})


async def _ready(app: Application, request: Request, visit: Visit) -> Response:
    ready, state = await app.readiness()
    return json_answer(state, 200 if ready else 503)


async def _metrics(app: Application, request: Request, visit: Visit) -> Response:
    return Response(await app.run(visit, app.service.metrics_text), media_type=CONTENT_TYPE)


async def _page(app: Application, request: Request, visit: Visit) -> Response:
    headers = {"Content-Security-Policy": page_policy()}
    return Response(page_file("index.html"), headers=headers, media_type="text/html")


async def _page_file(app: Application, request: Request, visit: Visit) -> Response:
    name = request.path_params["name"]
    if name not in PAGE_FILES:
        raise ApiError("not-found", "there is nothing at this path")
    return Response(page_file(name), media_type=PAGE_FILES[name])


@cache
def _openapi_text() -> bytes:
    return json_text(openapi_document()).encode("utf-8")


async def _openapi(app: Application, request: Request, visit: Visit) -> Response:
    return Response(_openapi_text(), media_type="application/json")


_ROUTES: Final[Mapping[str, Mapping[str, Handler]]] = {
    "/v1/route": {"POST": _route},
    "/v1/bundle": {"POST": _bundle},
    "/v1/explain": {"POST": _explain},
    "/v1/capabilities": {"GET": _list_capabilities},
    "/v1/capabilities/{capabilityId}": {"GET": _get_capability},
    "/v1/providers": {"GET": _list_providers, "POST": _register},
    "/v1/providers/{providerId}": {"GET": _get_provider},
    "/v1/providers/{providerId}/unregister": {"POST": _unregister},
    "/v1/vocabulary": {"GET": _vocabulary},
    "/healthz": {"GET": _health},
    "/readyz": {"GET": _ready},
    "/metrics": {"GET": _metrics},
    "/openapi.json": {"GET": _openapi},
    "/": {"GET": _page},
    "/page/{name}": {"GET": _page_file},
}


def create_app(service: Service, limits: ServiceLimits | None = None, log: LineWriter | None = None) -> Application:
    """The service as an ASGI application."""
    return Application(service, limits, log)
