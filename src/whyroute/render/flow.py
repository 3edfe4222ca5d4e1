"""Pieces of documents on one line."""

import json
from typing import Any

from ..basics.numbers import ecmascript
from ..packs.format import is_plain
from .lines import printable

__all__ = ["flow"]


def flow(value: Any) -> str:
    """A piece of a document on one line, as people write it in a pack: quotes stand where YAML needs them."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(key)}: {flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow, value))}]"
    if isinstance(value, str):
        return value if is_plain(value) else printable(json.dumps(value, ensure_ascii=False))
    return json.dumps(value) if isinstance(value, bool) else ecmascript(value)
