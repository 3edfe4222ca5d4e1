"""`whyroute serve`: the service on a socket, until a signal ends it."""

import importlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ..errors import MissingExtraError, WhyrouteError
from .options import RequiredPack, as_text, path_option, text_option
from .output import CommandError, complain_about, remark
from .packs import labels_of
from .usage import command as command_of

__all__ = ["command", "needing_server"]

_STUCK_SECONDS: Final = 1
_MIB = 2**20


def _name(value: Any) -> Any:
    """Refuse what is no text, or empty."""
    if value == "":
        raise typer.BadParameter("an empty name")
    return as_text(value)


@command_of(
    "serve",
    "whyroute serve rules --tenant elbe-clinics",
    "whyroute serve rules --tokens tokens.json --host 0.0.0.0",
)
def command(
    pack: RequiredPack,
    host: Annotated[str, text_option("--host", "H", "The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="P", min=0, max=65535, help="The port; 0 takes any that is free.")
    ] = 8000,
    tokens: Annotated[
        Path | None, path_option("--tokens", "FILE", "The file of tokens that `whyroute token` makes.")
    ] = None,
    tenant: Annotated[
        str | None, text_option("--tenant -t", "T", "Without --tokens: the one tenant that is served, here alone.")
    ] = None,
    database: Annotated[
        str,
        text_option(
            "--db",
            "URL",
            "Where registered providers are kept: an SQLite file, or the URL of a PostgreSQL database.",
            envvar="WHYROUTE_DB",
        ),
    ] = "whyroute.db",
    label: Annotated[
        list[str] | None,
        text_option("--label", "KEY=VALUE", "A label of every request, the operator's; may be repeated."),
    ] = None,
    decisions: Annotated[
        Path | None, path_option("--decisions", "FILE", "Write one line of JSON for every route.")
    ] = None,
    cursor_keys: Annotated[
        Path | None, path_option("--cursor-keys", "FILE", "Keys for cursors, one a line; the first seals, any opens.")
    ] = None,
    reload: Annotated[
        bool, typer.Option("--reload", help="Watch the pack; SIGHUP loads it again in any case.")
    ] = False,
    adapters: Annotated[
        str | None, text_option("--adapters", "MODULE:NAME", "A registry of adapters that set up what is registered.")
    ] = None,
    deployment: Annotated[
        str | None,
        typer.Option(
            "--deployment",
            metavar="NAME",
            help="Keep the last good pack under this name, and start with it where the pack is broken.",
            callback=_name,
        ),
    ] = None,
    tenant_providers: Annotated[
        int, typer.Option("--tenant-providers", metavar="N", min=0, help="How many providers a tenant may register.")
    ] = 100,
    tenant_registered: Annotated[
        int,
        typer.Option("--tenant-registered", metavar="MIB", min=0, help="How many MiB a tenant may register in all."),
    ] = 4,
    tenant_requests: Annotated[
        int,
        typer.Option("--tenant-requests", metavar="N", min=1, help="How many requests of a tenant may be in flight."),
    ] = 64,
    tenant_memory: Annotated[
        int,
        typer.Option(
            "--tenant-memory",
            metavar="MIB",
            min=1,
            help="How many MiB of bodies and unread answers are held for a tenant.",
        ),
    ] = 128,
) -> None:
    """Serve capabilities, providers and routing over HTTP. It needs the extra `server`.

    The log of requests goes to standard output as lines of JSON. SIGTERM lets what was begun come to its end.
    """
    with needing_server("whyroute serve"):
        from ..server.limits import Limits  # noqa: PLC0415 (an extra brings what they need)
        from ..server.registrations import Quota  # noqa: PLC0415
        from ..server.serving import Settings, serve  # noqa: PLC0415
    settings = Settings(
        pack=pack,
        host=host,
        port=port,
        tokens=tokens,
        tenant=tenant,
        database=database,
        labels=labels_of(label or []),
        decisions=decisions,
        cursor_keys=cursor_keys,
        reload=reload,
        adapters=None if adapters is None else _adapters(adapters),
        deployment=deployment,
        limits=Limits(tenant_requests=tenant_requests, tenant_bytes=tenant_memory * _MIB),
        quota=Quota(tenant_providers, tenant_registered * _MIB),
    )
    try:
        status = serve(settings, remark=remark, refuse=lambda error: complain_about(CommandError(error)))
    except WhyrouteError as error:
        raise CommandError(error) from None
    _end_if_stuck(status)
    raise typer.Exit(status)


def _end_if_stuck(status: int) -> None:
    due = time.monotonic() + _STUCK_SECONDS
    for thread in threading.enumerate():
        if thread.daemon or not thread.name.startswith("whyroute"):
            continue
        thread.join(max(0, due - time.monotonic()))
        if thread.is_alive():
            remark("some of what was begun does not end; it is given up")
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError, AttributeError):
                    stream.flush()
            os._exit(status)


@contextmanager
def needing_server(purpose: str) -> Iterator[None]:
    """Imports that need the extra `server`; anything else that is missing is a fault.

    Raises:
        CommandError: The extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "whyroute":
            raise
        raise CommandError(MissingExtraError("server", f"`{purpose}`")) from None


def _adapters(named: str) -> Any:
    from ..providers.adapters import AdapterFactoryRegistry  # noqa: PLC0415

    module, colon, name = named.partition(":")
    if not colon or not module or not name:
        raise CommandError("--adapters names a registry of adapters as MODULE:NAME")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        raise CommandError(f"--adapters: there is no module `{error.name}`") from None
    except AttributeError:
        raise CommandError(f"--adapters: module `{module}` has no `{name}`") from None
    if not isinstance(found, AdapterFactoryRegistry):
        raise CommandError(f"--adapters: `{named}` is no AdapterFactoryRegistry")
    return found
