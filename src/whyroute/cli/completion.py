"""What a shell may complete from the pack that stands on the line already."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from ..packs import Pack

__all__ = ["capabilities", "labels", "tenants"]


def tenants(context: typer.Context, incomplete: str) -> list[str]:
    """The tenants of the pack."""
    pack = _pack(context)
    return [] if pack is None else _beginning(pack.tenants, incomplete)


def capabilities(context: typer.Context, incomplete: str) -> list[str]:
    """The capabilities of the pack."""
    pack = _pack(context)
    return [] if pack is None else _beginning(pack.capabilities, incomplete)


def labels(context: typer.Context, incomplete: str) -> list[str]:
    """The labels that the pack declares, with their values."""
    pack = _pack(context)
    if pack is None or pack.labels is None:
        return []
    pairs = (f"{key}={value}" for key, label in pack.labels.items() for value in label.value.values)
    return _beginning(pairs, incomplete)


def _beginning(names: Iterable[str], start: str) -> list[str]:
    return sorted(name for name in names if name.startswith(start) and name.isprintable())


def _pack(context: typer.Context) -> "Pack | None":
    """The pack, where there is one that loads: a shell that completes has no use for what is wrong with it."""
    from ..errors import WhyrouteError  # noqa: PLC0415
    from ..packs import load_pack  # noqa: PLC0415

    # An option without its value yet keeps the parser from sharing out what it has read.
    path = context.params.get("pack") or next(iter(context.args), None)
    if not isinstance(path, str):
        return None
    try:
        return load_pack(path)
    except WhyrouteError:
        return None
