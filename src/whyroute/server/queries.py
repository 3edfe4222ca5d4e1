"""Query strings and path segments, read strictly: what is not understood is refused."""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qsl, unquote_to_bytes

from ..basics.issues import did_you_mean, quoted, shown
from .envelope import ApiError

__all__ = ["DEFAULT_LIMIT", "MAX_LIMIT", "read_limit", "read_query", "read_segment"]

DEFAULT_LIMIT: Final = 25
MAX_LIMIT: Final = 100
_INTEGER: Final = re.compile(r"[1-9][0-9]{0,3}", re.ASCII)
_MOST_PARAMETERS: Final = 20


def read_query(query: bytes, known: Sequence[str]) -> dict[str, str]:
    """The parameters of a query string, each at most once.

    Raises:
        ApiError: `bad-input`: a parameter is unknown, given twice or not UTF-8.
    """
    if not query:
        return {}
    try:
        pairs = parse_qsl(
            query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS
        )
    except UnicodeDecodeError:
        raise ApiError("bad-input", "the query is not UTF-8 in percent-encoding") from None
    except ValueError:
        raise ApiError("bad-input", f"more than {_MOST_PARAMETERS} parameters") from None
    found: dict[str, str] = {}
    for name, value in pairs:
        if name not in known:
            listed = f"; the parameters are {quoted(known)}" if known else "; there are none here"
            raise ApiError("bad-input", f"{shown(name)} is no parameter here{did_you_mean(name, known) or listed}")
        if name in found:
            raise ApiError("bad-input", f"{shown(name)} is given twice")
        found[name] = value
    return found


def read_limit(given: str | None) -> int:
    """How many entries a page has.

    Raises:
        ApiError: `bad-input`: it is no integer from 1 to 100 in plain digits.
    """
    if given is None:
        return DEFAULT_LIMIT
    if not _INTEGER.fullmatch(given) or int(given) > MAX_LIMIT:
        raise ApiError("bad-input", f"{shown(given)} is no `limit`; it is an integer from 1 to {MAX_LIMIT}")
    return int(given)


def read_segment(segment: str) -> str:
    """A segment of the path without its percent-encoding.

    Raises:
        ApiError: `bad-input`: it is not UTF-8.
    """
    try:
        return unquote_to_bytes(segment).decode("utf-8")
    except UnicodeDecodeError:
        raise ApiError("bad-input", "the path is not UTF-8 in percent-encoding") from None
