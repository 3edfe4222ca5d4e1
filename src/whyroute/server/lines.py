"""Lines of JSON, written by a thread of their own: no caller waits for a disk or a pipe."""

import json
import os
import stat
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from .private import Say, make_private, private_opener

__all__ = ["FileSink", "LineWriter", "Sink", "StreamSink"]

Line = Mapping[str, Any]
_BATCH: Final = 256 * 1024
_RETRY_SECONDS: Final = 0.5
_GATHER_SECONDS: Final = 0.05
_MOST_LINES: Final = 100_000
_MOST_BYTES: Final = 32 * 1024 * 1024


class Sink(Protocol):
    """Where lines go."""

    def begin(self) -> None:
        """Get ready for whole lines; raises OSError."""
        ...

    def write(self, data: memoryview) -> int:
        """Write some of it, and return how many bytes; raises OSError."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class StreamSink:
    """A stream such as standard output, which stays open."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def begin(self) -> None:
        """Nothing to get ready."""

    def write(self, data: memoryview) -> int:
        """Write all of it."""
        self._stream.write(data)
        self._stream.flush()
        return len(data)

    def close(self) -> None:
        """Nothing to let go of."""


class FileSink:
    """A file that is appended to, and put aside under a name with its time when it is full.

    It may also be moved away from outside: then a new one is begun. Files that were put aside are never deleted. Only
    their owner can read them. A last line without its end, as a crash leaves it, stays a line of its own.

    Args:
        path: The file.
        full: From how many bytes on it is put aside.
        say: Told where the file was not private.

    Raises:
        OSError: It can't be opened.
    """

    def __init__(self, path: Path, full: int = 64 * 1024 * 1024, say: Say = lambda sentence: None) -> None:
        self._path = path
        self._full = full
        self._say = say
        self._torn = False
        self._end = 0
        self._file = self._open()

    def _open(self) -> BinaryIO:
        # Without a buffer, one write is one call: lines of several processes don't mix.
        file = open(self._path, "ab", buffering=0, opener=private_opener)  # noqa: SIM115 (it stays open)
        make_private(self._path, self._say)
        self._look(file)
        return file

    def _look(self, file: BinaryIO) -> None:
        self._torn = _is_torn(self._path, file)
        self._end = os.fstat(file.fileno()).st_size

    def begin(self) -> None:
        """Begin a new file where this one is full or was moved away, and a new line where the last one has no end."""
        try:
            moved = os.stat(self._path).st_ino != os.fstat(self._file.fileno()).st_ino
        except FileNotFoundError:
            moved = True
        full = not moved and self._file.tell() >= self._full
        if full:
            os.rename(self._path, self._aside())
        if moved or full:
            # The old one stays open until there is a new one: what fails is tried again.
            fresh = self._open()
            self._file.close()
            self._file = fresh
        elif os.fstat(self._file.fileno()).st_size != self._end:  # another process writes here, too, and may have died
            self._look(self._file)
        if self._torn:
            self._file.write(b"\n")
            self._torn = False

    def write(self, data: memoryview) -> int:
        """Append."""
        written = self._file.write(data)
        self._end = self._file.tell()
        return written

    def _aside(self) -> Path:
        moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        path = self._path.with_name(f"{self._path.name}.{moment}")
        while path.exists():
            path = path.with_name(f"{path.name}x")
        return path

    def close(self) -> None:
        """Close the file, with everything on disk."""
        os.fsync(self._file.fileno())
        self._file.close()


def _is_torn(path: Path, file: BinaryIO) -> bool:
    """Whether the last line of a file that was opened for appending has no end."""
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode) or not status.st_size:
        return False
    try:
        with open(path, "rb") as whole:
            whole.seek(-1, os.SEEK_END)
            return whole.read(1) != b"\n"
    except OSError:
        return True  # it can't be read; an empty line does less harm than two records in one


class LineWriter:
    """Writes objects as lines of JSON, in the order in which they come, within a moment.

    Args:
        sink: Where they go.
        most: How many lines may wait. Past it new ones are dropped and counted.
        size: How many bytes all lines that wait may have. Past it new ones are dropped and counted, too.
        on_trouble: Told once when writing fails, and once more when it works again.
    """

    def __init__(
        self,
        sink: Sink,
        most: int = _MOST_LINES,
        size: int = _MOST_BYTES,
        on_trouble: Callable[[OSError | None], None] = lambda error: None,
    ) -> None:
        self._sink = sink
        self._most = most
        self._room = size
        self._on_trouble = on_trouble
        self._queue: deque[bytes] = deque()
        self._lock = threading.Lock()
        self._in_hand = 0
        self._patience = 0.0
        self._ending = threading.Event()
        self._closing: float | None = None
        self._closed = False
        self.dropped = 0
        self._thread = threading.Thread(target=self._run, name="whyroute-lines", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many lines wait."""
        return len(self._queue) + self._in_hand

    def put(self, line: Line) -> None:
        """Write a line, soon."""
        text = json.dumps(line, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"
        with self._lock:
            if self._closed or len(self._queue) >= self._most or len(text) > self._room:
                self.dropped += 1
            else:
                self._room -= len(text)
                self._queue.append(text)

    def close(self, seconds: float = 10) -> None:
        """Write what waits, and stop. What can't be written is dropped and counted, after so long without success."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._patience = seconds
        self._closing = time.monotonic() + seconds
        self._ending.set()
        while self._thread.is_alive() and (left := self._closing + 1 - time.monotonic()) > 0:
            self._thread.join(left)
        with self._lock:
            if self._thread.is_alive():  # what it has in hand it may still write
                self.dropped += len(self._queue)
                self._queue.clear()

    def _run(self) -> None:
        ending = False
        while not ending:
            # It looks from time to time: being woken for each line would hold up the caller.
            ending = self._ending.wait(_GATHER_SECONDS)
            while self._queue:
                self._write(self._batch())
        try:
            self._sink.close()
        except OSError as error:
            self._on_trouble(error)

    def _batch(self) -> bytes:
        """Some of the lines that wait: as many as make a good piece, for one alone may be large."""
        found, size = [], 0
        while self._queue and size < _BATCH:
            self._in_hand += 1  # first, so that a line is never counted too few
            text = self._queue.popleft()
            found.append(text)
            size += len(text)
        return b"".join(found)

    def _done(self, data: bytes, *, written: bool) -> None:
        with self._lock:
            if not written:
                self.dropped += self._in_hand
            self._room += len(data)
            self._in_hand = 0

    def _write(self, data: bytes) -> None:
        rest, begun, troubled = memoryview(data), False, False
        while True:
            try:
                if not begun:
                    self._sink.begin()
                    begun = True
                while rest:
                    rest = rest[self._sink.write(rest) :]
                    if self._closing is not None:  # there is time, as long as something is written
                        self._closing = time.monotonic() + self._patience
            except (OSError, ValueError) as error:  # ValueError: the stream was closed
                if not troubled:
                    self._on_trouble(error if isinstance(error, OSError) else OSError("it is closed"))
                troubled = True
                gone = isinstance(error, BrokenPipeError | ValueError)
                if gone or (self._closing is not None and time.monotonic() >= self._closing):
                    self._done(data, written=False)
                    return
                time.sleep(_RETRY_SECONDS)
            else:
                if troubled:
                    self._on_trouble(None)
                self._done(data, written=True)
                return
