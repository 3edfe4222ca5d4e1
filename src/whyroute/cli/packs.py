"""Packs on the command line: loading them, and the requests that the options make of them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..catalogfile import read_document
from ..errors import WhyrouteError
from ..issues import printable, shown
from ..moments import moment_issues, written
from ..rulepack import Pack, load_pack
from ..wire import Request
from .output import CommandError

__all__ = ["labels_of", "opened", "request_of", "time_of"]


def opened(path: str) -> Pack:
    """The pack at a path.

    Raises:
        CommandError: It can't be loaded.
    """
    try:
        return load_pack(path)
    except WhyrouteError as error:
        raise CommandError(error) from None


def request_of(
    path: str,
    *,
    tenant: str | None,
    capability: str | None,
    labels: Sequence[str],
    at: str | None,
    preferred_provider: str | None,
    preferred_model: str | None,
) -> Request:
    """The request that the options describe, under the pack at a path.

    Args:
        capability: The name of a capability, or `@` and the name of a file with a declaration.
        labels: Texts such as `data=patient`.

    Raises:
        CommandError: An option is missing or unusable, or the pack can't be loaded.
        WhyrouteError: The pack doesn't know the tenant or the capability, or the request is broken.
    """
    if tenant is None or capability is None:
        missing = " and ".join(
            name for name, value in (("--tenant", tenant), ("--capability", capability)) if value is None
        )
        raise CommandError(f"{missing} {'is' if missing.count('--') == 1 else 'are'} missing; a pack is asked for both")
    resolved = opened(path).resolve(
        tenant,
        _declaration(capability[1:]) if capability.startswith("@") else capability,
        labels=labels_of(labels),
        at=at,
        preferred_provider=preferred_provider,
        preferred_model=preferred_model,
    )
    return resolved.read()


def _declaration(path: str) -> Mapping[str, Any]:
    document = read_document(path)
    if not isinstance(document, dict):
        raise CommandError(f"`{printable(path)}`: a capability declaration is an object")
    return document


def time_of(text: str | None) -> str:
    """The time that `--at` gives; the present without it.

    Raises:
        CommandError: It is none.
    """
    issues = [] if text is None else moment_issues(text, "--at")
    if issues:
        raise CommandError(f"--at: {issues[0].message}")
    return written(datetime.now(UTC)) if text is None else text


def labels_of(texts: Sequence[str]) -> dict[str, str]:
    """The labels that texts such as `data=patient` give.

    Raises:
        CommandError: A text is no label, or a key is given twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise CommandError(f"{shown(text)} is no label; write KEY=VALUE")
        if key in found:
            raise CommandError(f"label {shown(key)} is given twice")
        found[key] = value
    return found
