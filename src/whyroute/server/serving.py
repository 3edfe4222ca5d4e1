"""Running the server: sockets, signals, the logs, and the watch over the pack."""

import asyncio
import gc
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import uvicorn

from ..errors import WhyrouteError
from ..packs.watch import changes
from ..providers.adapters import AdapterFactoryRegistry
from ..providers.provider_files import UnreadableFileError
from .app import Application, create_app
from .cursors import Cursors, read_keys
from .gateway import told
from .limits import ServiceLimits
from .lines import FileSink, LineWriter, StreamSink
from .metrics import Metrics
from .packs import BrokenPackError, PackKeeper
from .probes import aside
from .protocol import http_protocol
from .registrations import Quota
from .service import Service
from .storage import Storage
from .stored import StoredRegistry
from .tokenfile import TokenFile, reason_of

__all__ = ["ServeError", "Settings", "serve"]

_IDLE_SECONDS: Final = 75
_DRAIN_SECONDS: Final = 10
_COLLECTOR: Final = (700, 10, 10)
_SWITCH_SECONDS: Final = 0.0002  # how long the event loop waits for a thread that computes

Remark = Callable[[str], None]
Refuse = Callable[[WhyrouteError], None]


class ServeError(WhyrouteError):
    """The server can't be started as it was asked to."""

    code = "cannot-serve"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a server is started with.

    Attributes:
        pack: The rule pack.
        host: The address to listen on.
        port: The port; 0 for any that is free.
        tokens: The file of tokens; None: none are asked for, on loopback alone.
        tenant: The one tenant that is served without tokens.
        database: An SQLAlchemy URL, or the path of an SQLite file.
        labels: Labels of every request that the operator sets.
        decisions: The log of decisions; None for none.
        cursor_keys: The file of keys for cursors; None: one is made at the start.
        reload: Whether the pack is watched.
        adapters: The adapters of the deployment; None where it only routes.
        deployment: The name under which the last good pack is kept; None: none is kept.
        limits: Limits of one request, and of what one tenant may have at once.
        quota: How much one tenant may register.
    """

    pack: str
    host: str = "127.0.0.1"
    port: int = 8000
    tokens: Path | None = None
    tenant: str | None = None
    database: str = "whyroute.db"
    labels: Mapping[str, str] = field(default_factory=dict)
    decisions: Path | None = None
    cursor_keys: Path | None = None
    reload: bool = False
    adapters: AdapterFactoryRegistry | None = None
    deployment: str | None = None
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    quota: Quota = field(default_factory=Quota)


def serve(settings: Settings, *, remark: Remark, refuse: Refuse) -> int:
    """Serve until a signal says otherwise. The log of requests goes to standard output as lines of JSON.

    Args:
        settings: What to serve, and how.
        remark: Says a sentence to the operator.
        refuse: Says what is wrong with something that was to be loaded.

    Returns:
        The exit status: 0 after SIGTERM, 130 after an interrupt.

    Raises:
        WhyrouteError: It can't be started.
    """
    _check(settings)
    listening = _socket(settings)
    try:
        return _Running(settings, listening, remark, refuse).run()
    finally:
        listening.close()


def _check(settings: Settings) -> None:
    if (settings.tokens is None) == (settings.tenant is None):
        raise ServeError(
            "either --tokens, or --tenant for the one tenant that is served without tokens"
            if settings.tokens is None
            else "--tenant beside --tokens: the token says whose request it is"
        )
    if settings.tokens is None and not _is_loopback(settings.host):
        raise ServeError(f"without --tokens the service listens on this machine alone, not on `{settings.host}`")


def _is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def _socket(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named in full: the event loop lets small writes wait for no acknowledgement only where it knows that it is TCP.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((settings.host, settings.port))
        found.setblocking(False)
    except (OSError, OverflowError) as error:
        found.close()
        reason = getattr(error, "strerror", None) or str(error)
        where = f"`{settings.host}` port {settings.port}"
        raise ServeError(f"{where} can't be listened on: {reason[:1].lower()}{reason[1:]}") from None
    return found


class _Running:
    """A server with all its parts."""

    def __init__(self, settings: Settings, listening: socket.socket, remark: Remark, refuse: Refuse) -> None:
        self.settings = settings
        self.listening = listening
        self.remark = remark
        self.refuse = refuse
        self.log = LineWriter(
            FileSink(Path(os.devnull)) if sys.stdout is None else StreamSink(sys.stdout.buffer), most=10_000
        )
        self.status = 0
        self.hung_up = False
        self.ended = False
        self.watch: Iterator[None] | None = None
        self.tasks: set[asyncio.Task[None]] = set()

    def run(self) -> int:
        storage = decisions = None
        if hasattr(signal, "SIGHUP"):
            with suppress(ValueError):  # not the main thread
                # One that comes while the pack is read for the first time means: read it again.
                signal.signal(signal.SIGHUP, lambda number, frame: self._hang_up())
        if self.settings.reload:
            # By asking, not by notices of the system: those end when the directory is replaced, or a link to it. It
            # begins before the pack is read, so that no change is missed.
            self.watch = changes(self.settings.pack, sleep=self._sleep)
            next(self.watch)
        try:
            storage = Storage(self.settings.database, self.remark)
            decisions = self._decisions()
            service = self._service(storage, decisions)
            app = create_app(service, self.settings.limits, self.log)
            # The command line's collector is in no hurry; what answers leave behind would pile up while a server runs.
            gc.set_threshold(*_COLLECTOR)
            sys.setswitchinterval(_SWITCH_SECONDS)
            gc.freeze()  # or each full collection would walk through the pack, and all would wait
            try:
                with asyncio.Runner(loop_factory=_loop_factory()) as runner:
                    runner.run(self._serve(app, service))
            finally:
                app.close()
        finally:
            if decisions is not None:
                decisions.close()
                if decisions.dropped:
                    self.remark(f"{decisions.dropped} lines of the decisions could not be written")
            self.log.close(2)
            if storage is not None:
                storage.close()
        return self.status

    def _hang_up(self) -> None:
        self.hung_up = True

    def _sleep(self, seconds: float) -> None:
        time.sleep(seconds)
        if self.ended:
            raise _EndedError

    def _decisions(self) -> LineWriter | None:
        path = self.settings.decisions
        if path is None:
            return None

        def trouble(error: OSError | None) -> None:
            if error is None:
                self._tell("decisions-written", f"`{path}` can be written again")
            else:
                self._tell(
                    "decisions-waiting", f"`{path}` can't be written: {error.strerror or error}; it is tried again"
                )

        try:
            return LineWriter(FileSink(path, say=self.remark), on_trouble=trouble)
        except OSError as error:
            raise UnreadableFileError(path.as_posix(), f"can't be written: {error.strerror}") from None

    def _service(self, storage: Storage, decisions: LineWriter | None) -> Service:
        settings = self.settings
        packs = PackKeeper(
            settings.pack,
            storage,
            deployment=settings.deployment,
            operator_labels=settings.labels,
            tenant=settings.tenant,
        )
        try:
            broken = packs.open()
        except BrokenPackError as error:
            self.refuse(error.cause)
            raise
        if broken is not None:
            since = packs.current.kept_since
            self.refuse(broken)
            self._event("pack-refused", message=broken.message)
            self._event("pack-kept", digest=packs.current.digest, since=since)
            self.remark(f"the pack can't be loaded: the one that was kept at {since} is served until it can")
        self._say_not_kept(packs)
        metrics = Metrics()
        tokens = None if settings.tokens is None else TokenFile(settings.tokens, self._refused_tokens)
        registry = StoredRegistry(storage, lambda: packs.current.pack, settings.adapters, settings.quota)
        return Service(
            packs=packs,
            storage=storage,
            registry=registry,
            cursors=Cursors(self._keys()),
            metrics=metrics,
            tokens=tokens,
            tenant=settings.tenant,
            decisions=decisions,
        )

    def _say_not_kept(self, packs: PackKeeper) -> None:
        if packs.not_kept is not None:
            self._tell("pack-not-kept", f"the pack could not be kept, SIGHUP tries it again: {packs.not_kept.message}")

    def _keys(self) -> list[str]:
        path = self.settings.cursor_keys
        if path is None:
            return []
        try:
            keys = read_keys(path.read_text(encoding="ascii"))
        except (OSError, UnicodeDecodeError) as error:
            reason = reason_of(error) if isinstance(error, OSError) else "not ASCII"
            raise UnreadableFileError(path.as_posix(), f"can't be read: {reason}") from None
        if not keys:
            raise UnreadableFileError(path.as_posix(), "no keys in it; it has one a line")
        return keys

    def _refused_tokens(self, error: WhyrouteError) -> None:
        self._tell("tokens-refused", f"no token is accepted: {error.message}")

    def _tell(self, event: str, sentence: str) -> None:
        self.remark(sentence)
        self._event(event, message=sentence)

    def _event(self, event: str, **details: Any) -> None:
        self.log.put({"event": event, **details})

    async def _serve(self, app: Application, service: Service) -> None:
        config = uvicorn.Config(
            app,
            http=http_protocol(self.settings.limits, service.metrics.unreadable),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_IDLE_SECONDS,
            timeout_graceful_shutdown=_DRAIN_SECONDS,
        )
        server = _Server(config)
        loop = asyncio.get_running_loop()

        def stop(status: int) -> None:
            self.status = status
            server.should_exit = self.ended = True

        handlers = {signal.SIGTERM: lambda: stop(0), signal.SIGINT: lambda: stop(130)}
        if hasattr(signal, "SIGHUP"):
            handlers[signal.SIGHUP] = lambda: self._spawn(self._reload(service))
        for number, handler in handlers.items():
            with suppress(NotImplementedError):  # where the system has no such signals
                loop.add_signal_handler(number, handler)
        if self.settings.reload:
            self._spawn(self._watch(service))
        self.listening.listen(config.backlog)  # who reads where it listens may come at once
        self._say_where()
        if self.hung_up:
            self._spawn(self._reload(service))
        await server.serve([self.listening])
        self.ended = True
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=5)

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def _say_where(self) -> None:
        host, port = self.listening.getsockname()[:2]
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        self._event("listening", url=url)
        if self.settings.tokens is None:
            tenant = self.settings.tenant
            self.remark(f"serving tenant `{tenant}` on {url}, on this machine alone: no tokens are asked for")
        else:
            self.remark(f"serving on {url}")

    async def _reload(self, service: Service) -> None:
        try:
            swapped = await asyncio.wrap_future(aside(service.packs.reload))
        except WhyrouteError as error:
            service.metrics.reloaded("refused")
            self.refuse(error)
            self._event("pack-refused", **_refusal(error))
            self.remark("the pack is refused; the one in force stays")
            return
        except Exception as error:  # a fault of our own ends neither the server nor the watch
            service.metrics.reloaded("refused")
            self._event("fault", **told(error))
            self.remark("the pack could not be loaded; the one in force stays")
            return
        outcome = "swapped" if swapped else "unchanged"
        if swapped:
            await asyncio.to_thread(_frozen)
        service.metrics.reloaded(outcome)
        self._event(f"pack-{outcome}", digest=service.packs.current.digest)
        self._say_not_kept(service.packs)
        if swapped:
            self.remark(f"the pack was loaded again: {service.packs.current.digest}")

    async def _watch(self, service: Service) -> None:
        watch = self.watch
        assert watch is not None
        with suppress(_EndedError):
            while True:
                await asyncio.wrap_future(aside(lambda: next(watch)))
                await self._reload(service)


class _EndedError(Exception):
    """The server ends."""


def _frozen() -> None:
    """Let the collector forget the old pack, and spare the new one."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """What makes the event loop: the faster library where there is one for the system, else Python's own."""
    try:
        import uvloop  # noqa: PLC0415 (not everywhere)
    except ImportError:
        return None
    return uvloop.new_event_loop


def _refusal(error: WhyrouteError) -> dict[str, Any]:
    found: dict[str, Any] = {"message": error.message}
    problems = getattr(error, "problems", None)
    if problems:
        found["problems"] = [str(problem) for problem in problems[:50]]
    return found


class _Server(uvicorn.Server):
    """Leaves signals to us: it would end the process by them once more when it is done."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
