"""Reading published catalogs: JSON with exact decimals, keys that stand twice, and gzip."""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from io import BytesIO
from os import PathLike, fspath
from typing import Any

from ..provider_files import UnreadableFileError, read_bytes

__all__ = ["Repeated", "entries", "parse", "read_catalog"]

_GZIP_MAGIC = b"\x1f\x8b"
_MAX_BYTES = 256 * 1024 * 1024  # the largest published catalog is below 4 MB
_MAX_INT_DIGITS = 400


@dataclass(frozen=True, slots=True)
class Repeated:
    """The values of a key that stands more than once in one JSON object, in order."""

    values: tuple[Any, ...]


def entries(mapping: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Keys and values; a key that stands twice comes twice."""
    for key, value in mapping.items():
        if isinstance(value, Repeated):
            for item in value.values:
                yield key, item
        else:
            yield key, value


def read_catalog(path: str | PathLike[str]) -> Any:
    """The JSON document of a file, plain or compressed with gzip.

    Raises:
        UnreadableFileError: The file can't be read, is not what its name says, or is not JSON.
    """
    data = read_bytes(path)
    if not data:
        raise UnreadableFileError(fspath(path), "the file is empty; a JSON document is expected")
    if not data.startswith(_GZIP_MAGIC) and fspath(path).lower().endswith(".gz"):
        raise UnreadableFileError(fspath(path), "its name ends in `.gz`, but it is not compressed with gzip")
    return parse(data, fspath(path))


def parse(data: bytes, path: str) -> Any:
    """Parse a published catalog: numbers with a fraction as Decimal, keys that stand twice as Repeated.

    NaN and Infinity, which some writers of JSON let through, become a Decimal that is no number.

    Args:
        data: JSON text in UTF-8, plain or compressed with gzip.
        path: What to call it in the error.

    Raises:
        UnreadableFileError: It is not JSON.
    """
    if data.startswith(_GZIP_MAGIC):
        data = _unpacked(data, path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableFileError(path, f"not UTF-8: byte {error.start + 1} is 0x{data[error.start]:02x}") from None
    if not text.strip():
        raise UnreadableFileError(path, "empty; a JSON document is expected")
    try:
        return json.loads(
            text,
            parse_float=_decimal,
            parse_int=lambda digits: int(digits) if len(digits) <= _MAX_INT_DIGITS else _decimal(digits),
            parse_constant=lambda _: Decimal("NaN"),
            object_pairs_hook=_object,
        )
    except json.JSONDecodeError as error:
        what = error.msg[:1].lower() + error.msg[1:]
        raise UnreadableFileError(path, f"line {error.lineno}, column {error.colno}: not JSON: {what}") from None
    except RecursionError:
        raise UnreadableFileError(path, "nested too deeply for a catalog") from None


def _unpacked(data: bytes, path: str) -> bytes:
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as stream:
            unpacked = stream.read(_MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableFileError(path, f"damaged gzip data: {str(error).lower()}") from None
    if len(unpacked) > _MAX_BYTES:
        raise UnreadableFileError(path, f"more than {_MAX_BYTES >> 20} MB when unpacked; that is no catalog")
    return unpacked


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent past what Decimal holds
        return Decimal("NaN")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        values: dict[str, list[Any]] = {}
        for key, value in pairs:
            values.setdefault(key, []).append(value)
        for key, items in values.items():
            if len(items) > 1:
                found[key] = Repeated(tuple(items))
    return found
