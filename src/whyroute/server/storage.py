"""The database: registered providers with a version for each tenant, and kept packs. SQLite or PostgreSQL."""

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    delete,
    event,
    insert,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, registry, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from ..basics.issues import printable
from ..errors import DuplicateProviderError, MissingExtraError, WhyrouteError
from ..providers.hydrating import Registration
from .outages import Outage
from .private import Say, make_private, private_opener

__all__ = ["DatabaseFileError", "DatabaseUrlError", "KeptPack", "Storage", "StorageUnavailableError"]

_TABLES: Final = MetaData()
_ID: Final = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows by itself in an INTEGER alone

# Tenants and ids are found by their hashes: they may be of any length and hold characters that a database refuses.
_PROVIDERS: Final = Table(
    "whyroute_providers",
    _TABLES,
    Column("number", _ID, primary_key=True, autoincrement=True),
    Column("tenant", String(64), nullable=False),
    Column("provider", String(64), nullable=False),
    Column("registration", Text, nullable=False),
)
_UNIQUE: Final = "whyroute_providers_unique"
_VERSIONS: Final = Table(
    "whyroute_versions",
    _TABLES,
    Column("tenant", String(64), primary_key=True),
    Column("version", BigInteger, nullable=False),
)
# A table `whyroute_packs`, in which packs were kept by their paths alone, may be there too: nothing reads it.
_PACKS: Final = Table(
    "whyroute_kept_packs",
    _TABLES,
    Column("deployment", String(64), primary_key=True),
    Column("path", String(64), primary_key=True),
    Column("digest", String(80), nullable=False),
    Column("since", String(40), nullable=False),
    Column("files", Text, nullable=False),
)
_ATTEMPTS: Final = 5
_BUSY_SECONDS: Final = 5
_POOL_SECONDS: Final = 2
_PROBE_SECONDS: Final = 6.0
_DIALECT: Final = "postgresql.whyroute"
registry.register(_DIALECT, f"{__package__}.postgresql", "Dialect")


class DatabaseUrlError(WhyrouteError):
    """A database can't be used. The URL may hold a password, so it is not repeated."""

    code: ClassVar[str] = "invalid-database"


class DatabaseFileError(WhyrouteError):
    """The file of a database can't be used.

    Attributes:
        file: The file.
        reason: Why.
    """

    code: ClassVar[str] = "invalid-database"

    def __init__(self, file: str, reason: str) -> None:
        self.file = file
        self.reason = reason
        super().__init__(f"the database `{printable(file)}` can't be opened: {reason}; `--db` names another file")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.file, self.reason)


class StorageUnavailableError(WhyrouteError):
    """The database does not answer."""

    code: ClassVar[str] = "unavailable"

    def __init__(self) -> None:
        super().__init__("the database of registered providers does not answer; try again later")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()


@dataclass(frozen=True, slots=True)
class KeptPack:
    """A pack that was good once.

    Attributes:
        files: The text of each file, by name.
        digest: The digest of the pack.
        since: When it was last seen to be good.
    """

    files: Mapping[str, str]
    digest: str
    since: str


class Storage:
    """Keeps registrations. All its methods block, and may be called from several threads and processes at once.

    They block for seconds, not for as long as a database is silent or locked. A change and the tenant's new version are
    one transaction; when a method returns, both are on disk.

    Args:
        url: An SQLAlchemy URL, or the path of an SQLite file.
        say: Told where a file of SQLite's was not private.

    Raises:
        DatabaseUrlError: The URL is none, or of a database that is not supported.
        DatabaseFileError: Its file can't be opened, or is no database.
        MissingExtraError: The driver is not installed.
        StorageUnavailableError: The database does not answer.
    """

    def __init__(self, url: str, say: Say = lambda sentence: None) -> None:
        self._engine = _engine(_url(url))
        self._outage = Outage(_PROBE_SECONDS)
        self._is_postgresql = self._engine.dialect.name == "postgresql"
        mark = "%s" if self._is_postgresql else "?"
        self._version_query = f"SELECT version FROM whyroute_versions WHERE tenant = {mark}"
        in_file = _is_file(self._engine)
        self._asker = _Asker(self._engine, seconds=_BUSY_SECONDS) if in_file else None
        self._quick_asker = _Asker(self._engine, seconds=0) if in_file else None
        if in_file:
            _make_file(self._engine)
        self._create_tables()
        if in_file:
            self._make_files_private(say)

    def _make_files_private(self, say: Say) -> None:
        """What SQLite makes beside its file gets the mode of the file; what is there already may have another."""
        with self._answering(), self._engine.connect() as connection:
            rows = connection.exec_driver_sql("PRAGMA database_list").all()
        for file in (row[2] for row in rows if row[2]):
            for end in ("", "-wal", "-shm", "-journal"):
                make_private(Path(f"{file}{end}"), say)

    def _create_tables(self) -> None:
        for attempt in range(_ATTEMPTS):
            try:
                with self._engine.begin() as connection:
                    _TABLES.create_all(connection)
                    connection.exec_driver_sql(
                        f"CREATE UNIQUE INDEX IF NOT EXISTS {_UNIQUE} ON whyroute_providers (tenant, provider)"
                    )
                return
            except SQLAlchemyError as error:
                reason = _file_reason(error)
                if reason is not None:
                    raise DatabaseFileError(self._engine.url.database or "", reason) from None
                # Another process that starts at the same time may have made them meanwhile.
                if attempt == _ATTEMPTS - 1 or (self._is_postgresql and _is_silence(error)):
                    raise StorageUnavailableError from None
                time.sleep(0.1 * 2**attempt)

    def version(self, tenant: str) -> int:
        """The number of changes to a tenant's registrations so far."""
        # Every request asks this: it goes to the driver as it is.
        if self._asker is not None:
            return self._asker.number(self._version_query, _hash(tenant))
        with self._answering(), self._engine.connect() as connection:
            return connection.exec_driver_sql(self._version_query, (_hash(tenant),)).scalar() or 0

    def version_at_once(self, tenant: str) -> int | None:
        """`version` where the answer takes no waiting for anybody, which is a look into an SQLite file; else None."""
        if self._quick_asker is None:
            return None
        try:
            return self._quick_asker.number(self._version_query, _hash(tenant))
        except StorageUnavailableError:
            return None  # somebody else may be at it: a caller that can wait finds out

    def load(self, tenant: str) -> tuple[int, tuple[Registration, ...]]:
        """A tenant's version and its registrations, in the order they were made.

        The registrations may be newer than the version, never older.
        """
        key = _hash(tenant)
        with self._answering(), self._engine.connect() as connection:
            version = _version(connection, key)
            query = select(_PROVIDERS.c.registration).where(_PROVIDERS.c.tenant == key).order_by(_PROVIDERS.c.number)
            texts = connection.scalars(query).all()
        return version, tuple(map(Registration.of_json, texts))

    def add(self, tenant: str, registration: Registration) -> None:
        """Keep a registration.

        Raises:
            DuplicateProviderError: The tenant has one of that id.
        """
        key = _hash(tenant)
        row = {"tenant": key, "provider": _hash(registration.id), "registration": registration.to_json()}
        try:
            with self._answering(), self._engine.begin() as connection:
                self._advance(connection, key)
                connection.execute(insert(_PROVIDERS).values(row))
        except _TakenError:
            raise DuplicateProviderError(registration.id, tenant) from None

    def replace(self, tenant: str, registration: Registration) -> None:
        """Keep a registration in place of the one of its id, or as a new one where there is none."""
        key, provider = _hash(tenant), _hash(registration.id)
        where = (_PROVIDERS.c.tenant == key) & (_PROVIDERS.c.provider == provider)
        text = registration.to_json()
        with self._answering(), self._engine.begin() as connection:
            self._advance(connection, key)
            if not connection.execute(update(_PROVIDERS).where(where).values(registration=text)).rowcount:
                connection.execute(insert(_PROVIDERS).values(tenant=key, provider=provider, registration=text))

    def remove(self, tenant: str, provider_id: str) -> bool:
        """Forget a registration; False when the tenant has none of that id."""
        key = _hash(tenant)
        where = (_PROVIDERS.c.tenant == key) & (_PROVIDERS.c.provider == _hash(provider_id))
        with self._answering(), self._engine.connect() as connection:
            self._advance(connection, key)
            if not connection.execute(delete(_PROVIDERS).where(where)).rowcount:
                connection.rollback()  # nothing changed, and no reader starts again
                return False
            connection.commit()
            return True

    def _advance(self, connection: Connection, tenant: str) -> None:
        """Raise a tenant's version, first of all in a transaction: a tenant's changes queue up behind each other."""
        upsert = (postgresql if self._is_postgresql else sqlite).insert(_VERSIONS).values(tenant=tenant, version=1)
        connection.execute(
            upsert.on_conflict_do_update(index_elements=["tenant"], set_={"version": _VERSIONS.c.version + 1})
        )

    def keep_pack(self, deployment: str, path: str, kept: KeptPack) -> None:
        """Keep a pack that is good, in place of the one of the same deployment and path."""
        row = {"digest": kept.digest, "since": kept.since, "files": json.dumps(dict(kept.files))}
        keys = {"deployment": _hash(deployment), "path": _hash(path)}
        upsert = (postgresql if self._is_postgresql else sqlite).insert(_PACKS).values(**keys, **row)
        with self._answering(), self._engine.begin() as connection:
            connection.execute(upsert.on_conflict_do_update(index_elements=list(keys), set_=row))

    def kept_pack(self, deployment: str, path: str) -> KeptPack | None:
        """The pack that was kept by a deployment for a path; None when there is none."""
        where = (_PACKS.c.deployment == _hash(deployment)) & (_PACKS.c.path == _hash(path))
        with self._answering(), self._engine.connect() as connection:
            row = connection.execute(select(_PACKS.c.files, _PACKS.c.digest, _PACKS.c.since).where(where)).first()
        return None if row is None else KeptPack(json.loads(row[0]), row[1], row[2])

    def ping(self) -> None:
        """Ask whether the database answers.

        Raises:
            StorageUnavailableError: It does not.
        """
        with self._answering(), self._engine.connect() as connection:
            connection.exec_driver_sql("SELECT 1 FROM whyroute_versions LIMIT 1")  # of the file, too, where it is one

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Something is asked of the database."""
        if self._outage.refuses():
            raise StorageUnavailableError
        try:
            yield
        except IntegrityError:
            self._outage.ends()
            raise _TakenError from None
        except SQLAlchemyError as error:
            if self._is_postgresql and _is_silence(error):
                self._outage.begins()
            # Its text may hold what was written; the operator of the database finds the rest in its log.
            raise StorageUnavailableError from None
        else:
            self._outage.ends()

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()
        for asker in (self._asker, self._quick_asker):
            if asker is not None:
                asker.close()


def _is_file(engine: Engine) -> bool:
    return engine.dialect.name == "sqlite" and engine.url.database not in (None, "", ":memory:")


def _make_file(engine: Engine) -> None:
    """Make the file of a database, private from its first moment on. One that a URI names is left to SQLite.

    Raises:
        DatabaseFileError: It can't be made, or not be written to.
    """
    name = engine.url.database or ""
    if name.startswith("file:"):
        return
    try:
        with open(name, "ab", opener=private_opener):
            pass
    except IsADirectoryError:
        raise DatabaseFileError(name, "it is a directory") from None
    except (OSError, ValueError) as error:
        folder = Path(name).parent
        reason = (getattr(error, "strerror", None) or "no file can have that name").lower()
        if isinstance(error, FileNotFoundError) and not folder.is_dir():
            reason = f"there is no folder `{printable(str(folder))}`"
        raise DatabaseFileError(name, reason) from None


def _file_reason(error: SQLAlchemyError) -> str | None:
    """What is wrong with the file of SQLite's, where it is that; trying again is no help then."""
    name = getattr(error.orig, "sqlite_errorname", "") if isinstance(error, DBAPIError) else ""
    return next((reason for prefix, reason in _FILE_REASONS.items() if name.startswith(prefix)), None)


_FILE_REASONS: Final = {
    "SQLITE_NOTADB": "it is not an SQLite database",
    "SQLITE_CORRUPT": "it is damaged",
    "SQLITE_READONLY": "it, or the folder that it is in, is read-only",
    "SQLITE_CANTOPEN": "SQLite can't open it, or can't write beside it in its folder",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk can't be read or written",
}


class _Asker:
    """Asks an SQLite file for single numbers.

    The look-up takes a few microseconds; on its way through an engine it would take some hundred.

    Args:
        engine: The engine of the file.
        seconds: How long to wait while somebody else has the file for itself.
    """

    def __init__(self, engine: Engine, seconds: float) -> None:
        arguments, options = engine.dialect.create_connect_args(engine.url)
        self._arguments: Sequence[Any] = arguments
        self._options: dict[str, Any] = {
            **options,
            "timeout": seconds,
            "check_same_thread": False,
            "isolation_level": None,
        }
        self._idle: list[sqlite3.Connection] = []  # appending and popping are atomic

    def number(self, query: str, key: str) -> int:
        """The first column of the row, 0 when there is none."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connected()
        try:
            # Reading to the end lets go of the state that was read; without a transaction the next look sees the next.
            rows = connection.execute(query, (key,)).fetchall()
        except sqlite3.Error:
            connection.close()
            raise StorageUnavailableError from None
        self._idle.append(connection)
        return int(rows[0][0]) if rows else 0

    def _connected(self) -> sqlite3.Connection:
        try:
            connection: sqlite3.Connection = sqlite3.connect(*self._arguments, **self._options)
        except sqlite3.Error:
            raise StorageUnavailableError from None
        return connection

    def close(self) -> None:
        """Close the connections."""
        while self._idle:
            self._idle.pop().close()


_QUERY_VERSION: Final = select(_VERSIONS.c.version)


def _version(connection: Connection, tenant: str) -> int:
    return connection.scalar(_QUERY_VERSION.where(_VERSIONS.c.tenant == tenant)) or 0


class _TakenError(Exception):
    pass


def _is_silence(error: SQLAlchemyError) -> bool:
    """Whether PostgreSQL can't be reached or gave no sign of life, in contrast to one that says what is wrong."""
    from .postgresql import ConnectionTimeout  # noqa: PLC0415 (only where its driver is)

    return isinstance(error, DBAPIError) and isinstance(error.orig, ConnectionTimeout)


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8")).hexdigest()


def _url(text: str) -> URL:
    if not text:
        raise DatabaseUrlError("`--db` is empty; name a file, or write `sqlite://` for a database in memory")
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise DatabaseUrlError(
            "the database's URL can't be read; write `sqlite:///FILE` or `postgresql://...`"
        ) from None
    name = url.get_backend_name()
    if name not in ("sqlite", "postgresql", "postgres"):
        raise DatabaseUrlError(f"`{name}` is no database that is supported; there are `sqlite` and `postgresql`")
    return url if name == "sqlite" else url.set(drivername=_DIALECT.replace(".", "+"))


def _engine(url: URL) -> Engine:
    common: dict[str, Any] = {"hide_parameters": True, "pool_pre_ping": True}
    try:
        if url.get_backend_name() == "sqlite":
            options: dict[str, Any] = {"connect_args": {"timeout": _BUSY_SECONDS, "check_same_thread": False}}
            if url.database in (None, "", ":memory:"):
                options["poolclass"] = StaticPool
            else:
                common["pool_pre_ping"] = False
            engine = create_engine(url, **common, **options)
            event.listen(engine, "connect", _set_up_sqlite)
            return engine
        return create_engine(url, **common, pool_size=8, max_overflow=32, pool_timeout=_POOL_SECONDS)
    except ModuleNotFoundError:
        raise MissingExtraError("server", "PostgreSQL") from None
    except (ArgumentError, NoSuchModuleError, TypeError):
        raise DatabaseUrlError(
            "the database's URL can't be used; write `sqlite:///FILE` or `postgresql://...`"
        ) from None


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")  # who reads does not wait for who writes
    cursor.execute("PRAGMA synchronous=FULL")  # what was committed survives the machine, too
    cursor.close()
