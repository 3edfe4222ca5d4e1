"""The files of a pack, and their text."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from ...basics.files import read_file
from ...basics.issues import shown
from ...providers.provider_files import UnreadableFileError
from .problems import Place, Problem

__all__ = ["SUFFIXES", "Source", "pack_files", "read_sources", "source_of", "unprintable"]

SUFFIXES = (".yaml", ".yml")
"""How the names of files of a pack end, whatever their case."""

# YAML's printable characters, without those that some readers take for the end of a line, and without a byte order
# mark past the start. Lines are counted by line feeds alone, as editors count them.
_UNPRINTABLE = re.compile("[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


class Source:
    """A file of a pack.

    Attributes:
        name: Its name, as problems and origins show it: with `/`, whatever the system writes.
        text: What it holds, with line feeds at the ends of its lines and without a byte order mark.
    """

    __slots__ = ("_lines", "name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._lines: list[str] | None = None

    def place(self, line: int, column: int) -> Place:
        """A place in the file; line and column count from 1."""
        return Place(self.name, line, column, self.line(line))

    def line(self, number: int) -> str:
        """The text of a line, counted from 1; empty past the last one."""
        if self._lines is None:
            self._lines = self.text.split("\n")
        return self._lines[number - 1] if number <= len(self._lines) else ""


def read_sources(path: str | os.PathLike[str]) -> tuple[list[Source], list[Problem]]:
    """The files of a pack, by name, and what keeps some of them from being read.

    Args:
        path: A file, or a directory whose `*.yaml` and `*.yml` are read, recursively. Names that start with a dot are
            passed over, as a shell does.

    Raises:
        UnreadableFileError: The path is not there, or empty.
    """
    if path == "":
        # What opens files takes it for the current directory.
        raise UnreadableFileError("", "an empty path; name a rule pack: `.` is the current directory")
    root = Path(path)
    name = root.as_posix()
    try:
        is_directory = root.is_dir()
        present = is_directory or root.exists()
    except (OSError, ValueError):
        present = is_directory = False
    if not present:
        reason = "a link that leads nowhere" if _is_link(root) else "there is no such file or directory"
        raise UnreadableFileError(name, reason)
    problems: list[Problem] = []
    if not is_directory:
        files = [(name, root)]
    else:
        files = sorted(_files(root, (), problems), key=lambda entry: entry[0])
        if not files and not problems:
            problems.append(Problem(Place(name), "no `*.yaml` or `*.yml` in this directory; a pack has at least one"))
    sources = []
    for shown_name, file in files:
        source, problem = _read(shown_name, file)
        if source is not None:
            sources.append(source)
        if problem is not None:
            problems.append(problem)
    return sources, problems


def pack_files(path: str | os.PathLike[str]) -> list[Path]:
    """The files that a pack at a path has now, by name; none where there is nothing."""
    root = Path(path)
    try:
        if root.is_dir():
            return [file for _, file in sorted(_files(root, (), []), key=lambda entry: entry[0])]
        return [root] if root.exists() else []
    except (OSError, ValueError):
        return []


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except (OSError, ValueError):
        return False


def _files(directory: Path, above: tuple[str, ...], problems: list[Problem]) -> Iterator[tuple[str, Path]]:
    """The files of a directory. `above` are the real paths of the directories that lead to it."""
    try:
        real = os.path.realpath(directory)
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError as error:
        problems.append(Problem(Place(directory.as_posix()), f"can't be read: {_reason(error)}"))
        return
    if real in above:
        message = "a link back to a directory that it stands in; its files would be read without end"
        problems.append(Problem(Place(directory.as_posix()), message))
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        inner = directory / entry.name
        if _is_directory(entry):
            yield from _files(inner, (*above, real), problems)
        elif entry.name.lower().endswith(SUFFIXES):
            yield inner.as_posix(), inner


def _is_directory(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself: reading it as a file says so
        return False


def _reason(error: OSError | ValueError) -> str:
    reason = getattr(error, "strerror", None) or str(error)
    return reason[:1].lower() + reason[1:]


def _read(name: str, file: Path) -> tuple[Source | None, Problem | None]:
    try:
        if not file.is_file():
            what = "a link that leads nowhere" if file.is_symlink() and not file.exists() else "not a regular file"
            return None, Problem(Place(name), f"can't be read: {what}")
        data = read_file(file)
    except (OSError, ValueError) as error:
        return None, Problem(Place(name), f"can't be read: {_reason(error)}")
    return source_of(name, data)


def source_of(name: str, data: bytes) -> tuple[Source | None, Problem | None]:
    """A file of a pack from its bytes, and what keeps it from being one.

    Args:
        name: How problems name it.
        data: What it holds.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        source = Source(name, "")
        return None, Problem(source.place(1, 1), "not UTF-8 but UTF-16; save the file as UTF-8")
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        lines = data[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n").decode("utf-8").split("\n")
        rest = data[error.start :].split(b"\n", 1)[0].split(b"\r", 1)[0].decode("utf-8", "replace")
        place = Place(name, len(lines), len(lines[-1]) + 1, lines[-1] + rest)
        return None, Problem(place, f"not UTF-8: the byte 0x{data[error.start]:02x}; save the file as UTF-8")
    source = Source(name, text.replace("\r\n", "\n").replace("\r", "\n"))
    problem = unprintable(source)
    return (source if problem is None else None), problem


def unprintable(source: Source) -> Problem | None:
    """The first character of a file that can't stand in YAML, as a problem."""
    found = _UNPRINTABLE.search(source.text)
    if found is None:
        return None
    before = source.text[: found.start()]
    line = before.count("\n") + 1
    column = found.start() - (before.rfind("\n") + 1) + 1
    character = found.group()
    code = f"U+{ord(character):04X}"
    escape = f"\\u{ord(character):04x}" if ord(character) > 0xFF else f"\\x{ord(character):02x}"
    message = f"the character {code} can't stand here; write {shown(escape)} inside double quotes, or leave it out"
    return Problem(source.place(line, column), message)
