"""Fixtures: databases for the service."""

import glob
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest


def _programs() -> Path | None:
    """Where PostgreSQL's server programs are: on the PATH, or where Debian puts them."""
    on_path = shutil.which("initdb")
    found = [Path(on_path).parent] if on_path else []
    found += [Path(each).parent for each in sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), reverse=True)]
    return found[0] if found else None


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a PostgreSQL server of the tests' own, on loopback."""
    programs = _programs()
    if programs is None:
        if os.environ.get("CI"):
            pytest.fail("no `initdb`; install PostgreSQL (on Debian: apt-get install postgresql)")
        pytest.skip("no `initdb` on the PATH or under /usr/lib/postgresql: PostgreSQL is not tried")
    # The server refuses to run as root; the package brings a user for it.
    become = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = tempfile.mkdtemp(prefix="whyroute-postgresql-")
    try:
        if become:
            shutil.chown(home, "postgres", "postgres")
        data = f"{home}/data"
        initdb = [*become, str(programs / "initdb"), "-D", data, "-U", "whyroute", "-A", "trust", "-E", "UTF8"]
        subprocess.run([*initdb, "--no-sync", "--locale=C"], check=True, capture_output=True, cwd=home)
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
        control = [*become, str(programs / "pg_ctl"), "-D", data, "-w", "-l", f"{home}/log"]
        subprocess.run([*control, "-o", options, "start"], check=True, capture_output=True, cwd=home)
        try:
            yield f"postgresql://whyroute@127.0.0.1:{port}/postgres"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, capture_output=True, cwd=home)
    finally:
        shutil.rmtree(home)


@pytest.fixture
def postgresql_database(postgresql: str) -> str:
    """The URL of an empty database of PostgreSQL."""
    import psycopg  # noqa: PLC0415 (only where there is a server)

    name = f"test_{uuid4().hex}"
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return f"{postgresql.rpartition('/')[0]}/{name}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, of each kind in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'providers.db'}"
    return str(request.getfixturevalue("postgresql_database"))
