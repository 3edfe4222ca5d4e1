"""The file of tokens: read again when it changes, and changed by one process at a time."""

import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import WhyrouteError
from ..providers.provider_files import UnreadableFileError
from .tokens import KnownTokens, Token, read_tokens, tokens_text

__all__ = ["TokenFile", "change_tokens", "reason_of"]

_Stamp = tuple[int, int, int]


class TokenFile:
    """The tokens of a file, as they are now.

    While the file is gone or broken no token is accepted: what it last said may be what was to be taken back.

    Args:
        path: The file.
        on_trouble: Told what is wrong with it, once, whenever that changes.

    Raises:
        UnreadableFileError: It can't be read.
        InvalidTokensError: It is no file of tokens.
    """

    def __init__(self, path: Path, on_trouble: Callable[[WhyrouteError], None] = lambda error: None) -> None:
        self._path = path
        self._on_trouble = on_trouble
        self._lock = threading.Lock()
        self.trouble: WhyrouteError | None = None
        self._stamp = self._look()
        self._tokens = KnownTokens(read_tokens(_read(path)))

    def current(self) -> KnownTokens:
        """The tokens. It costs one look at the file's times when nothing changed."""
        stamp = self._look()
        if stamp == self._stamp and self.trouble is None:
            return self._tokens
        with self._lock:
            if stamp != self._stamp or self.trouble is not None:
                self._again(stamp)
            return self._tokens

    def _again(self, stamp: _Stamp | None) -> None:
        before = self.trouble
        try:
            self._tokens, self.trouble = KnownTokens(read_tokens(_read(self._path))), None
        except WhyrouteError as error:
            self._tokens, self.trouble = KnownTokens(), error
            if before is None or str(before) != str(error):
                self._on_trouble(error)
        self._stamp = stamp

    def _look(self) -> _Stamp | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def change_tokens(path: Path, change: Callable[[Sequence[Token]], Sequence[Token]]) -> None:
    """Change a file of tokens as a whole: a reader sees the old one or the new one. It is made if need be.

    Raises:
        UnreadableFileError: It can't be read or written.
        InvalidTokensError: It is no file of tokens; it stays as it is.
    """
    target = Path(os.path.realpath(path))
    try:
        with _alone(target.parent / f".{target.name}.lock"):
            before = read_tokens(_read(target)) if target.exists() else ()
            text = tokens_text(change(before))
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", newline="\n", dir=target.parent, prefix=".whyroute-", delete=False
            ) as file:
                try:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                    file.close()
                    os.chmod(file.name, target.stat().st_mode & 0o777 if target.exists() else 0o600)
                    os.replace(file.name, target)
                except BaseException:
                    with suppress(OSError):
                        os.unlink(file.name)
                    raise
    except OSError as error:
        raise UnreadableFileError(path.as_posix(), f"can't be written: {reason_of(error)}") from None


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Keeps other processes from changing the same file, where the system can."""
    try:
        import fcntl  # noqa: PLC0415 (not everywhere)
    except ImportError:
        yield
        return
    with open(lock, "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        problem = f"can't be read: {reason_of(error)}; `whyroute token TENANT --tokens FILE` makes it"
        raise UnreadableFileError(path.as_posix(), problem) from None
    except OSError as error:
        raise UnreadableFileError(path.as_posix(), f"can't be read: {reason_of(error)}") from None


def reason_of(error: OSError) -> str:
    """What the system says, to go on within a sentence."""
    reason = error.strerror or type(error).__name__
    return reason[:1].lower() + reason[1:]
