"""Canonical JSON (RFC 8785), and the digests that name documents."""

import hashlib
from collections.abc import Mapping
from typing import Any

from ..basics.numbers import as_double

__all__ = ["digest_of"]


def digest_of(document: Mapping[str, Any]) -> str:
    """SHA-256, in hexadecimal, of a document as canonical JSON (RFC 8785)."""
    import rfc8785  # noqa: PLC0415 (few answers are made without a pack, and none of those needs it)

    return hashlib.sha256(rfc8785.dumps(_doubles(document))).hexdigest()


def _doubles(value: Any) -> Any:
    """The same with its numbers as doubles: canonical JSON has no others."""
    match value:
        case Mapping():
            return {key: _doubles(each) for key, each in value.items()}
        case list() | tuple():
            return [_doubles(each) for each in value]
        case int() if not isinstance(value, bool):
            return float(as_double(value))
        case _:
            return value
