"""Logs and databases: only their owner reads them, and a torn line stays by itself."""

import json
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from serverkit import registration, serving
from whyroute.server.lines import FileSink, LineWriter
from whyroute.server.registrations import read_registration
from whyroute.server.storage import Storage

pytestmark = pytest.mark.skipif(os.name != "posix", reason="access is in the mode of a file on POSIX systems only")

LOOK = {"capability": "look"}
CRASHING = """
import sys
from pathlib import Path
from whyroute.server.lines import FileSink
sink = FileSink(Path(sys.argv[1]))
sink.begin()
sink.write(memoryview(sys.argv[2].encode()))
import os; os._exit(9)
"""


@contextmanager
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    try:
        yield
    finally:
        os.umask(before)


def modes(directory: Path, pattern: str) -> dict[str, str]:
    return {file.name: f"{stat.S_IMODE(file.stat().st_mode):04o}" for file in directory.glob(pattern)}


def written(path: Path, *lines: dict[str, int], full: int = 1000, said: list[str] | None = None) -> None:
    sink = FileSink(path, full, (said if said is not None else []).append)
    for line in lines:  # one batch each
        sink.begin()
        sink.write(memoryview(f"{json.dumps(line)}\n".encode()))
    sink.close()


@pytest.mark.parametrize("form", ["path", "url", "uri"])
def test_new_databases_are_private_with_all_their_files(form: str, tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    said: list[str] = []
    url = {"path": str(path), "url": f"sqlite:///{path}", "uri": f"sqlite:///file:{path}?uri=true"}[form]
    with open_umask():
        storage = Storage(url, said.append)
        storage.add("t", read_registration(registration("a")))
        assert storage.version("t") == 1
        found = modes(tmp_path, "p.db*")
        storage.close()
    assert set(found) >= {"p.db", "p.db-wal", "p.db-shm"}
    assert set(found.values()) == {"0600"}
    assert (said == []) == (form != "uri")  # SQLite makes one that a URI names by itself; it is closed at once


def test_readable_databases_are_closed_to_others(tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    with open_umask(), closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("CREATE TABLE t (x)")
        other.commit()
        assert modes(tmp_path, "p.db*") == dict.fromkeys(("p.db", "p.db-wal", "p.db-shm"), "0644")
        said: list[str] = []
        Storage(str(path), said.append).close()
        assert set(modes(tmp_path, "p.db*").values()) == {"0600"}
    assert f"others could read or write `{path}` (mode 0644); only its owner can now" in said
    assert {sentence.rpartition(" (")[0].rpartition("/")[2] for sentence in said} == {"p.db`", "p.db-wal`", "p.db-shm`"}
    said.clear()
    Storage(str(path), said.append).close()
    assert said == []


def test_logs_are_private_from_the_start(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    said: list[str] = []
    with open_umask():
        written(path, *({"n": number} for number in range(20)), full=40, said=said)
        path.rename(tmp_path / "d.jsonl.moved")
        written(path, {"n": 20}, said=said)
    found = modes(tmp_path, "d.jsonl*")
    assert len(found) > 3
    assert set(found.values()) == {"0600"}
    assert said == []


def test_readable_logs_are_closed_to_others(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    said: list[str] = []
    for mode, closed in ((0o644, "0600"), (0o640, "0600"), (0o622, "0600"), (0o700, "0700")):
        path.touch()
        path.chmod(mode)
        written(path, {"n": 1}, said=said)
        assert modes(tmp_path, "d.jsonl") == {"d.jsonl": closed}
    assert said == [
        f"others could read or write `{path}` (mode {mode}); only its owner can now"
        for mode in ("0644", "0640", "0622")
    ]


def test_unchangeable_mode_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "d.jsonl"
    path.touch(0o644)
    path.chmod(0o644)

    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chmod", refused)
    said: list[str] = []
    written(path, {"n": 1}, said=said)
    assert said == [
        f"others can read or write `{path}` (mode 0644), and that can't be changed: operation not permitted"
    ]
    assert path.read_text() == '{"n": 1}\n'


def test_what_is_no_regular_file_keeps_its_mode(tmp_path: Path) -> None:
    said: list[str] = []
    before = os.stat(os.devnull).st_mode
    sink = FileSink(Path(os.devnull), say=said.append)
    sink.begin()
    sink._file.close()
    assert (os.stat(os.devnull).st_mode, said) == (before, [])


def test_the_server_makes_nothing_that_others_can_read(tmp_path: Path) -> None:
    with open_umask(), serving(tmp_path, "--tenant", "alpha", "--decisions", "d.jsonl") as process:
        url = process.url
        assert httpx.post(f"{url}/v1/providers", json=registration("a")).status_code == 201
        assert httpx.post(f"{url}/v1/route", json=LOOK).status_code == 200
        found = modes(tmp_path, "*.db*") | modes(tmp_path, "d.jsonl*")
    assert set(found) >= {"whyroute.db", "whyroute.db-wal", "d.jsonl"}
    assert set(found.values()) == {"0600"}


def test_torn_line_loses_no_later_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Crashes at every kind of place in a line, two thousand of them: what is written after each is read whole."""
    monkeypatch.setattr(os, "fsync", lambda number: None)  # the disk is not what is tried
    draw = random.Random(7)
    path = tmp_path / "d.jsonl"
    whole: list[dict[str, int]] = []
    for number in range(2000):
        text = json.dumps({"n": number, "text": draw.choice(["", "ü\u2028", "x" * 50])})
        with open(path, "ab") as file:  # what a crash leaves of a line: nothing, some, or all of it with or without end
            data = f"{text}\n".encode()
            file.write(data[: draw.choice([0, 1, draw.randrange(len(data) + 1), len(data) - 1, len(data)])])
        whole.append({"whole": number})
        written(path, whole[-1], full=10**9)
    lines = path.read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert b"" not in lines
    found = [json.loads(line) for line in lines if line.startswith(b'{"whole"')]
    assert found == whole


def test_process_dying_in_a_line_glues_nothing(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    for torn in ('{"a": 1}\n{"b": ', '{"c": 1}'):
        done = subprocess.run([sys.executable, "-c", CRASHING, str(path), torn], check=False)
        assert done.returncode == 9
    writer = LineWriter(FileSink(path))
    writer.put({"d": 1})
    writer.close()
    assert path.read_text() == '{"a": 1}\n{"b": \n{"c": 1}\n{"d": 1}\n'


def test_opening_a_torn_log_writes_nothing_yet(tmp_path: Path) -> None:
    """A full disk must not keep a server from starting."""
    path = tmp_path / "d.jsonl"
    path.write_text('{"torn')
    sink = FileSink(path)
    assert path.read_text() == '{"torn'
    writer = LineWriter(sink)
    writer.put({"a": 1})
    writer.close()
    assert path.read_text() == '{"torn\n{"a": 1}\n'


def test_killed_server_leaves_a_usable_log(tmp_path: Path) -> None:
    for _ in range(2):
        with serving(tmp_path, "--tenant", "alpha", "--decisions", "d.jsonl") as process:
            url = process.url
            assert httpx.post(f"{url}/v1/route", json=LOOK).status_code == 200
            due = time.monotonic() + 10
            while not (tmp_path / "d.jsonl").stat().st_size and time.monotonic() < due:
                time.sleep(0.02)
            time.sleep(0.3)
            process.process.send_signal(signal.SIGKILL)
            process.process.wait(10)
        with open(tmp_path / "d.jsonl", "rb+") as file:
            file.truncate(file.seek(0, os.SEEK_END) - 5)
    with serving(tmp_path, "--tenant", "alpha", "--decisions", "d.jsonl") as process:
        assert httpx.post(f"{process.url}/v1/route", json=LOOK).status_code == 200
    lines = (tmp_path / "d.jsonl").read_text().splitlines()
    assert len(lines) == 3
    assert json.loads(lines[-1])["capability"] == "look"
