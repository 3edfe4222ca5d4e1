"""`whyroute serve`: the service on a socket, until a signal ends it."""

import importlib
import os
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from ..errors import MissingExtraError, WhyrouteError
from .output import CommandError, complain_about, remark
from .packs import labels_of

__all__ = ["missing_extra", "run_serve"]

_STUCK_SECONDS: Final = 1
_MIB = 2**20


def run_serve(
    pack: str,
    *,
    host: str,
    port: int,
    tokens: Path | None,
    tenant: str | None,
    database: str,
    labels: Sequence[str],
    decisions: Path | None,
    cursor_keys: Path | None,
    reload: bool,
    adapters: str | None,
    deployment: str | None,
    tenant_providers: int,
    tenant_registered: int,
    tenant_requests: int,
    tenant_memory: int,
) -> int:
    """Serve until a signal says otherwise, and return the exit status.

    The process ends here where a thread is stuck that Python would wait for.

    Raises:
        CommandError: The server can't be started.
    """
    try:
        from ..server.limits import Limits  # noqa: PLC0415
        from ..server.registrations import Quota  # noqa: PLC0415
        from ..server.serving import Settings, serve  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise missing_extra(error, "whyroute serve") from None
    settings = Settings(
        pack=pack,
        host=host,
        port=port,
        tokens=tokens,
        tenant=tenant,
        database=database,
        labels=labels_of(labels),
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
    return status


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


def missing_extra(error: ModuleNotFoundError, purpose: str) -> CommandError:
    """What to say when a library of the extra is not there; anything else that is missing is a fault."""
    if error.name is None or error.name.partition(".")[0] == "whyroute":
        raise error
    return CommandError(MissingExtraError("server", f"`{purpose}`"))


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
