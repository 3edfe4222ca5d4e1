"""Request ids: the caller's own where it is safe to echo, else a new one."""

import re
from random import Random
from typing import Final

__all__ = ["request_id_of"]

# An id tells requests apart and keeps no secret: one look at the system's random numbers is enough for all.
_RANDOM: Final = Random()
_SAFE: Final = re.compile(r"[A-Za-z0-9._~:@/+=-]{1,128}", re.ASCII)


def request_id_of(given: str | None) -> str:
    """The id of a request.

    Args:
        given: The request's `X-Request-Id`. It is kept when it is at most 128 characters that mean nothing to a header,
            a log or a page.
    """
    return given if given is not None and _SAFE.fullmatch(given) else f"{_RANDOM.getrandbits(128):032x}"
