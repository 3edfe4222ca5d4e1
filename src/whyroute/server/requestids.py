"""Request ids: the caller's own where it is safe to echo, else a new one."""

import re
from typing import Final
from uuid import uuid4

__all__ = ["request_id_of"]

_SAFE: Final = re.compile(r"[A-Za-z0-9._~:@/+=-]{1,128}", re.ASCII)


def request_id_of(given: str | None) -> str:
    """The id of a request.

    Args:
        given: The request's `X-Request-Id`. It is kept when it is at most 128 characters that mean nothing to a header,
            a log or a page.
    """
    return given if given is not None and _SAFE.fullmatch(given) else uuid4().hex
