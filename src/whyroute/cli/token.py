"""`whyroute token`: a new token, of which the file keeps a hash; or the end of one."""

from datetime import UTC, datetime
from pathlib import Path

from ..errors import WhyrouteError
from ..model.timestamps import moment_issues, moment_of, read_moment
from .output import CommandError, print_text, remark

__all__ = ["run_token"]


def run_token(tenant: str, file: Path, expires: str | None, revoked: str | None) -> None:
    """Print a new token and keep its hash, or revoke one.

    Raises:
        CommandError: The file can't be read or written, or an option is unusable.
    """
    try:
        from ..server.tokenfile import change_tokens  # noqa: PLC0415
        from ..server.tokens import issue, revoke  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    if not tenant:
        raise CommandError("TENANT is empty; a token is some tenant's")
    if revoked is not None and expires is not None:
        raise CommandError("--expires beside --revoke: a token that is revoked has ended")
    for problem in moment_issues(expires, "") if expires is not None else ():
        raise CommandError(f"--expires: {problem.message}")
    try:
        if revoked is not None:
            change_tokens(file, lambda tokens: revoke(tokens, tenant, revoked))
            remark(f"revoked: no request with this token of tenant `{tenant}` is answered any more")
            return
        text, token = issue(tenant, expires=expires)
        change_tokens(file, lambda tokens: (*tokens, token))
    except WhyrouteError as error:
        raise CommandError(error) from None
    print_text(f"{text}\n")
    until = "" if expires is None else f", which {_expiry(expires)}"
    remark(f"token `{token.id}` of tenant `{tenant}`{until}; it is shown this once, and `{file}` keeps a hash of it")


def _expiry(expires: str) -> str:
    if read_moment(expires).end > moment_of(datetime.now(UTC)).start:
        return f"expires {expires}"
    return f"expired {expires}: no request with it is answered"


def _missing(error: ModuleNotFoundError) -> CommandError:
    from .serve import missing_extra  # noqa: PLC0415

    return missing_extra(error, "whyroute token")
