"""PostgreSQL connections on which nothing waits for long, even where the network swallows every byte.

A firewall that forgets a connection, or a server that hangs, resets nothing: to a client it looks like an answer that
takes its time. Keep-alives notice a peer that is gone, and not one behind a proxy that acknowledges everything.
"""

from collections.abc import Callable, Generator
from time import monotonic
from typing import Any, Final

import psycopg
from psycopg.errors import ConnectionTimeout
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

__all__ = ["CONNECT_SECONDS", "PING_SECONDS", "SILENT_SECONDS", "ConnectionTimeout", "Dialect", "LimitedConnection"]

CONNECT_SECONDS: Final = 3
"""How long connecting may take, signing in included."""

PING_SECONDS: Final = 1.0
"""How long a connection that was idle may take to show that it still works."""

STATEMENT_SECONDS: Final = 4
"""How long the server works on a statement."""

SILENT_SECONDS: Final = 5.0
"""How long nothing may come from the server: longer than a statement takes, so that its own limit comes first."""

_DEFAULTS: Final = {
    "connect_timeout": CONNECT_SECONDS,
    "tcp_user_timeout": int(SILENT_SECONDS * 1000),
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
}


class LimitedConnection(psycopg.Connection[Any]):
    """A connection that is closed as soon as the server has been silent for too long.

    Attributes:
        patience: How many seconds that is.
    """

    patience: float = SILENT_SECONDS

    def wait(self, gen: Any, *given: Any, **named: Any) -> Any:
        """Wait for the server's answer.

        Raises:
            ConnectionTimeout: The server is silent.
        """
        return super().wait(self._limited(gen), *given, **named)

    def _limited(self, gen: Any) -> Generator[Any, Any, Any]:
        try:
            wanted = next(gen)
            while True:
                due = monotonic() + self.patience
                while not (ready := (yield wanted)):  # asked every tenth of a second while nothing comes
                    if monotonic() >= due:
                        self.pgconn.finish()  # no cancelling, no rolling back: each would wait as long again
                        raise ConnectionTimeout(f"the server was silent for {self.patience:g} seconds")
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value


class Dialect(PGDialect_psycopg):
    """SQLAlchemy's dialect on such connections; what the URL says of time limits for sockets comes first."""

    supports_statement_cache = True

    def connect(self, *given: Any, **named: Any) -> Any:
        """Connect."""
        connection = LimitedConnection.connect(*given, **{**_DEFAULTS, **named})
        try:
            # Not among the options of the connection, which some poolers in between refuse.
            connection.autocommit = True
            connection.execute(f"SET statement_timeout = {STATEMENT_SECONDS * 1000}".encode())
            connection.autocommit = False
        except BaseException:
            connection.close()
            raise
        return connection

    def do_ping(self, dbapi_connection: Any) -> bool:
        """Ask whether a connection still works."""
        ping: Callable[[Any], bool] = super().do_ping
        dbapi_connection.patience = PING_SECONDS
        try:
            return ping(dbapi_connection)
        finally:
            dbapi_connection.patience = SILENT_SECONDS
