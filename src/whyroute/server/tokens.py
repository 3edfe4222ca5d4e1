"""Bearer tokens: what a file keeps of them, and which caller a token names."""

import base64
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from ..basics.issues import shown
from ..documents.fields import OrAbsent, WireModel
from ..documents.json_text import JsonTextError, read_json
from ..documents.model_issues import read_model
from ..errors import InvalidInputError, WhyrouteError
from ..model.timestamps import moment_issues, moment_of, read_moment, written
from .envelope import ApiError

__all__ = [
    "Caller",
    "InvalidTokensError",
    "KnownTokens",
    "Token",
    "UnknownTokenError",
    "authenticate",
    "issue",
    "read_tokens",
    "revoke",
    "tokens_text",
]

FORMAT_VERSION: Final = 1
_TOKEN: Final = re.compile(r"wr_([a-z2-7]{10})_([A-Za-z0-9_-]{43})", re.ASCII)
_BEARER: Final = re.compile(rb"bearer +([A-Za-z0-9._~+/-]+=*) *", re.IGNORECASE)
_NOBODY: Final = hashlib.sha256(b"").hexdigest()


class InvalidTokensError(WhyrouteError):
    """A file of tokens can't be read.

    Attributes:
        problem: What is wrong with it.
    """

    code = "invalid-tokens"

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"no file of tokens: {problem}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem,)


class UnknownTokenError(WhyrouteError):
    """There is no token of that id.

    Attributes:
        token: The id.
        tenant: Whose it should be.
    """

    code = "unknown-token"

    def __init__(self, token: str, tenant: str) -> None:
        self.token = token
        self.tenant = tenant
        super().__init__(f"{shown(token)} is no token of tenant {shown(tenant)}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.token, self.tenant)


class Token(WireModel):
    """What is kept of a token: never the token itself."""

    id: str
    tenant: str
    sha256: str
    created: str
    expires: OrAbsent[str] = None
    revoked: OrAbsent[str] = None


class _File(WireModel):
    whyroute_tokens: int
    tokens: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request.

    Attributes:
        tenant: The tenant.
        token: The id of the token; empty where the service asks for none.
    """

    tenant: str
    token: str = ""


class KnownTokens:
    """The tokens of a file, by their ids."""

    def __init__(self, tokens: Iterable[Token] = ()) -> None:
        self.by_id: Mapping[str, Token] = {token.id: token for token in tokens}


def issue(tenant: str, *, expires: str | None = None, now: datetime | None = None) -> tuple[str, Token]:
    """A new token: its text, to be shown once, and what is kept of it.

    The text holds 256 random bits, so that a plain hash of it can't be turned back.
    """
    identifier = base64.b32encode(secrets.token_bytes(7)).decode("ascii").lower()[:10]
    secret = secrets.token_urlsafe(32)
    kept = Token(id=identifier, tenant=tenant, sha256=_hash(secret), created=written(now or datetime.now(UTC)))
    if expires is not None:
        kept = kept.model_copy(update={"expires": expires})
    return f"wr_{identifier}_{secret}", kept


def revoke(tokens: Sequence[Token], tenant: str, named: str, *, now: datetime | None = None) -> tuple[Token, ...]:
    """The tokens with one of them revoked; one that is revoked already stays as it is.

    Args:
        named: Its id, or the token itself.

    Raises:
        UnknownTokenError: The tenant has no such token.
    """
    match = _TOKEN.fullmatch(named)
    identifier = match[1] if match else named
    if not any(token.id == identifier and token.tenant == tenant for token in tokens):
        raise UnknownTokenError(identifier, tenant)
    moment = written(now or datetime.now(UTC))
    return tuple(
        token.model_copy(update={"revoked": moment}) if token.id == identifier and token.revoked is None else token
        for token in tokens
    )


def read_tokens(text: bytes) -> tuple[Token, ...]:
    """The tokens that a file keeps.

    Raises:
        InvalidTokensError: It is no such file.
    """
    try:
        file = read_model(_File, read_json(text), error=InvalidInputError)
    except JsonTextError as error:
        raise InvalidTokensError(error.message) from None
    except InvalidInputError as error:
        raise InvalidTokensError(str(error.issues[0])) from None
    if file.whyroute_tokens != FORMAT_VERSION:
        raise InvalidTokensError(f"its version is {file.whyroute_tokens}; {FORMAT_VERSION} is read here")
    for index, token in enumerate(file.tokens):
        for key in ("created", "expires", "revoked"):
            given = getattr(token, key)
            for found in moment_issues(given, f"/tokens/{index}/{key}") if given is not None else ():
                raise InvalidTokensError(str(found))
    return file.tokens


def tokens_text(tokens: Iterable[Token]) -> str:
    """The text of a file that keeps these tokens."""
    kept = [token.model_dump(by_alias=True, exclude_none=True) for token in tokens]
    return json.dumps({"whyrouteTokens": FORMAT_VERSION, "tokens": kept}, indent=2) + "\n"


def authenticate(tokens: KnownTokens, headers: Iterable[tuple[bytes, bytes]], now: datetime) -> Caller:
    """The caller that the `Authorization` header names. How long it takes tells nothing of the hashes that are kept.

    Raises:
        ApiError: `auth-missing`, `auth-expired` or `auth-revoked`.
    """
    given = [value for name, value in headers if name == b"authorization"]
    if not given:
        raise ApiError("auth-missing", "no token; send `Authorization: Bearer <token>`")
    bearer = _BEARER.fullmatch(given[0]) if len(given) == 1 else None
    match = None if bearer is None else _TOKEN.fullmatch(bearer[1].decode("ascii"))
    token = None if match is None else tokens.by_id.get(match[1])
    kept = _NOBODY if token is None else token.sha256
    presented = _hash("" if match is None else match[2])
    if not hmac.compare_digest(kept, presented) or token is None or match is None:
        message = "the token is not recognised" if bearer else "malformed; send `Authorization: Bearer <token>`"
        raise ApiError("auth-missing", message)
    if token.revoked is not None:
        raise ApiError("auth-revoked", "the token was revoked")
    if token.expires is not None and _instant(now) >= read_moment(token.expires).end:
        raise ApiError("auth-expired", "the token has expired")
    return Caller(token.tenant, token.id)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("ascii")).hexdigest()


def _instant(moment: datetime) -> int:
    return moment_of(moment).start
