"""Cursors: where a page ended, sealed. A cursor opens for the same list, filters and caller, within a day."""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from ..errors import WhyrouteError
from .envelope import ApiError

__all__ = ["Cursors", "InvalidKeyError", "Scope", "read_keys"]

MAX_AGE: Final = 24 * 60 * 60
"""How long a cursor opens, in seconds."""

Scope = tuple[str, ...]
"""What a cursor is for: the list, its filters, the tenant and the caller."""


class InvalidKeyError(WhyrouteError):
    """A key for cursors is none.

    Attributes:
        number: Which of them, from 1.
    """

    code = "invalid-key"

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"cursor key {number} is invalid: expected 32 bytes in URL-safe base64, one key a line")

    def __reduce__(self) -> tuple[type["InvalidKeyError"], tuple[int]]:
        return type(self), (self.number,)


def read_keys(text: str) -> list[str]:
    """The keys in a file: one a line, the first seals, any opens. Empty lines and those with `#` are passed over."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


class Cursors:
    """Seals and opens cursors.

    Args:
        keys: Keys in URL-safe base64; the first seals, any opens. None: one is made, which lives as long as this.

    Raises:
        InvalidKeyError: One of them is no key.
    """

    def __init__(self, keys: Iterable[str] = ()) -> None:
        given = list(keys) or [Fernet.generate_key().decode("ascii")]
        found = []
        for number, key in enumerate(given, start=1):
            try:
                found.append(Fernet(key))
            except (ValueError, TypeError):
                raise InvalidKeyError(number) from None
        self._sealer = MultiFernet(found)

    def seal(self, scope: Scope, after: Sequence[str | int], *, now: int | None = None) -> str:
        """A cursor for what comes after a key of the list.

        Args:
            now: The time in seconds since 1970; the present when absent.
        """
        text = json.dumps([_digest(scope), *after], ensure_ascii=False).encode("utf-8")
        sealed = self._sealer.encrypt(text) if now is None else self._sealer.encrypt_at_time(text, now)
        return sealed.decode("ascii")

    def open(self, scope: Scope, cursor: str, *, now: int | None = None) -> list[str | int]:
        """The key after which the next page begins.

        Raises:
            ApiError: `bad-input`: the cursor is none, too old, or another list's, filter's or caller's.
        """
        refused = ApiError("bad-input", "the cursor does not open here; start the list again without it")
        try:
            sealed = cursor.encode("ascii")
            # The library passes over what is no base64, so that many texts would stand for one cursor.
            if base64.urlsafe_b64encode(base64.urlsafe_b64decode(sealed)) != sealed:
                raise refused
            text = (
                self._sealer.decrypt(sealed, ttl=MAX_AGE)
                if now is None
                else self._sealer.decrypt_at_time(sealed, ttl=MAX_AGE, current_time=now)
            )
        except (UnicodeEncodeError, binascii.Error, InvalidToken):
            raise refused from None
        digest, *after = json.loads(text)
        if digest != _digest(scope):
            raise refused
        return list(after)


def _digest(scope: Scope) -> str:
    return hashlib.sha256(json.dumps(scope).encode("ascii")).hexdigest()
