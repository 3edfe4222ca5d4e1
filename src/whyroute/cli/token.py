"""`whyroute token`: a new token, of which the file keeps a hash; or the end of one."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from ..errors import WhyrouteError
from ..model.timestamps import moment_of, read_moment
from .inputs import time_of
from .options import as_text, path_option, text_option
from .output import CommandError, print_text, remark
from .serve import needing_server
from .usage import command as command_of

__all__ = ["command"]


@command_of("token", "whyroute token elbe-clinics --tokens tokens.json --expires 2027-06-30")
def command(
    tenant: Annotated[str, typer.Argument(metavar="TENANT", help="Whose requests the token makes.", callback=as_text)],
    tokens: Annotated[Path, path_option("--tokens", "FILE", "The file that keeps its hash; made if need be.")],
    expires: Annotated[
        str | None, text_option("--expires", "TIME", "A date, to its end, or a date and time with its zone.")
    ] = None,
    revoke: Annotated[
        str | None, text_option("--revoke", "ID", "Revoke this token instead: its id, which is its middle part.")
    ] = None,
) -> None:
    """Print a new token for the service, this once, and keep its hash; or revoke one."""
    with needing_server("whyroute token"):
        from ..server import tokenfile, tokens as made  # noqa: PLC0415 (an extra brings what they need)
    if not tenant:
        raise CommandError("TENANT is empty; a token is some tenant's")
    if revoke is not None and expires is not None:
        raise CommandError("--expires beside --revoke: a token that is revoked has ended")
    time_of(expires, "--expires")
    try:
        if revoke is not None:
            tokenfile.change_tokens(tokens, lambda known: made.revoke(known, tenant, revoke))
            remark(f"revoked: no request with this token of tenant `{tenant}` is answered any more")
            return
        text, token = made.issue(tenant, expires=expires)
        tokenfile.change_tokens(tokens, lambda known: (*known, token))
    except WhyrouteError as error:
        raise CommandError(error) from None
    print_text(f"{text}\n")
    until = "" if expires is None else f", which {_expiry(expires)}"
    remark(f"token `{token.id}` of tenant `{tenant}`{until}; it is shown this once, and `{tokens}` keeps a hash of it")


def _expiry(expires: str) -> str:
    if read_moment(expires).end > moment_of(datetime.now(UTC)).start:
        return f"expires {expires}"
    return f"expired {expires}: no request with it is answered"
