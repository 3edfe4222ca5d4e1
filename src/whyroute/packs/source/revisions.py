"""Packs at revisions of a git repository: read from its objects, with nothing checked out."""

import os
import posixpath
import re
import subprocess
from collections.abc import Iterator, Sequence
from typing import ClassVar, Final, NamedTuple

from ...basics.files import FILE_LIMIT, FileTooLargeError
from ...basics.issues import shown
from ...errors import WhyrouteError
from ..load.loading import load_pack, pack_of
from ..load.pack import Pack
from .problems import Place, Problem
from .sources import SUFFIXES, Source, source_of

__all__ = ["MissingAtRevisionError", "UnreadableRevisionError", "empty_pack", "load_pack_at", "revision_hint"]


class UnreadableRevisionError(WhyrouteError):
    """A pack can't be read at a revision; the message says why."""

    code: ClassVar[str] = "unreadable-revision"


class MissingAtRevisionError(UnreadableRevisionError):
    """The revision is there, and nothing at the path in it."""


def load_pack_at(spec: str) -> Pack:
    """The pack at a path, or at `REV:PATH`; a path that is there is a path, whatever colons are in it.

    Args:
        spec: The path, or a revision, a colon and a path: from the root of the repository, or from the working
            directory when it starts with `./` or `../`.

    Raises:
        UnreadableFileError: The path is not there.
        UnreadableRevisionError: There is no such revision or path, or git is not there to read it.
        PackError: The pack is broken; all problems of all files.
    """
    split = _SPEC.fullmatch(spec)
    if split is None or os.path.lexists(spec):
        return load_pack(spec)
    return _at_revision(spec, *split.groups())


# A time in `@{...}` and a search in `^{/...}` may hold colons of their own.
_SPEC: Final = re.compile(r"((?:[@^]\{[^}]*\}|[^:])*+):(.*)", re.DOTALL)


def empty_pack(name: str) -> Pack:
    """A pack that has nothing in it, to compare with."""
    return pack_of(name, [Source(name, "whyroute: 1\n")])


def revision_hint(spec: str, path: str) -> str:
    """What to say of a path that isn't there but is a revision; empty when it is none.

    Args:
        spec: What was written.
        path: The path that it is to be compared with.
    """
    if ":" in spec or spec.startswith("-") or os.path.lexists(spec) or ":" in path or os.path.isabs(path):
        return ""
    try:
        if _git("rev-parse", "--verify", "--quiet", f"{spec}^{{tree}}") is None:
            return ""
        below = _git("rev-parse", "--show-prefix") not in (b"", b"\n")
    except UnreadableRevisionError:
        return ""
    relative = path in (".", "..") or path.startswith(("./", "../"))
    inside = f"./{path}" if below and not relative else path
    return f"; it is a revision: did you mean {shown(f'{spec}:{inside}')}?"


class _TreeEntry(NamedTuple):
    """A file of a tree.

    Attributes:
        mode: `100644`, `100755`, `120000` for a link, `160000` for a submodule, `040000` for a directory.
        kind: `blob`, `tree` or `commit`.
        object: The object's name.
        path: Its path in the tree.
    """

    mode: str
    kind: str
    object: str
    path: str


_LINK = "120000"


def _at_revision(spec: str, revision: str, path: str) -> Pack:
    if not revision:
        raise UnreadableRevisionError("the revision is missing before the colon; write REV:PATH, such as HEAD:rules")
    if revision.startswith("-"):
        raise UnreadableRevisionError(f"{shown(revision)} is no revision")
    inside = _git("rev-parse", "--show-prefix")
    if inside is None:
        raise UnreadableRevisionError(
            f"there is no file {shown(spec)}, and no git repository here to have the revision {shown(revision)}"
        )
    prefix = os.fsdecode(inside).removesuffix("\n")
    tree = _git("rev-parse", "--verify", "--quiet", f"{revision}^{{tree}}")
    if tree is None or not re.fullmatch(rb"[0-9a-f]+\n", tree):
        if _git("rev-parse", "--is-shallow-repository") == b"true\n":
            raise UnreadableRevisionError(
                f"{shown(revision)} is no revision of this git repository, which is a shallow clone: "
                "`git fetch --unshallow` brings the rest of its history"
            )
        raise UnreadableRevisionError(
            f"{shown(revision)} is no revision of this git repository, and no such file is there either"
        )
    root = tree.decode("ascii").strip()
    wanted = _from_root(path, prefix)
    entry = _entry(root, wanted)
    name = f"{revision}:{wanted}"
    if entry is None:
        inner = posixpath.join(prefix, wanted) if prefix else ""
        hint = f"; did you mean {shown(f'{revision}:./{path}')}?" if inner and _entry(root, inner) else ""
        raise MissingAtRevisionError(
            f"there is no {shown(wanted)} at {shown(revision)}; paths are from the root of the repository{hint}"
        )
    if entry.mode == _LINK:
        entry = _target(root, wanted, entry)
        if entry is None or entry.kind == "outside":
            where = "nothing" if entry is None else "somewhere outside of the repository"
            raise UnreadableRevisionError(f"{shown(wanted)} is a link that leads to {where} at {shown(revision)}")
    if entry.kind == "commit":
        raise UnreadableRevisionError(
            f"{shown(wanted)} is a submodule at {shown(revision)}; name a revision of its own repository"
        )
    if entry.kind == "blob" and path.endswith(("/", "/.")):
        raise UnreadableRevisionError(
            f"{shown(wanted)} is a file at {shown(revision)}; leave out what follows its name"
        )
    sources, problems = _sources(root, name, wanted, entry)
    return pack_of(name, sources, problems)


def _from_root(path: str, prefix: str) -> str:
    """A path from the root of the repository, without a slash at its ends; empty for the root itself."""
    if path.startswith("/"):
        raise UnreadableRevisionError(
            f"{shown(path)} is absolute; write the path from the root of the repository, or `./` and the rest"
        )
    relative = path in (".", "..") or path.startswith(("./", "../"))
    found = posixpath.normpath(posixpath.join(prefix, path) if relative else path)
    if found == ".." or found.startswith("../"):
        raise UnreadableRevisionError(f"{shown(path)} leads out of the repository")
    return "" if found == "." else found


def _entry(root: str, path: str) -> _TreeEntry | None:
    """What stands at a path of a tree; None when nothing does."""
    if not path:
        return _TreeEntry("040000", "tree", root, "")
    above, _, name = path.rpartition("/")
    holder = root
    if above:
        found = _entry(root, above)
        if found is None or found.kind != "tree":
            return None
        holder = found.object
    return next((each for each in _listed(holder, recursive=False) if each.path == name), None)


def _listed(tree: str, *, recursive: bool) -> Iterator[_TreeEntry]:
    output = _git("ls-tree", "-z", "--full-tree", *(("-r",) if recursive else ()), tree)
    for line in os.fsdecode(output or b"").split("\0"):
        if line:
            facts, _, path = line.partition("\t")
            mode, kind, name = facts.split()
            yield _TreeEntry(mode, kind, name, path)


def _target(root: str, path: str, link: _TreeEntry) -> _TreeEntry | None:
    """What a link leads to, through other links; None when that is nothing. Of kind `outside` when not in the tree."""
    done, waiting = posixpath.dirname(path), _linked(link)
    found: _TreeEntry | None = _entry(root, done)
    links = 1
    while waiting:
        part = waiting.pop(0)
        if part in ("", "."):
            continue
        if part == "/" or (part == ".." and not done):
            return _TreeEntry("", "outside", "", "")
        done = posixpath.dirname(done) if part == ".." else posixpath.join(done, part)
        found = _entry(root, done)
        if found is None:
            return None
        if found.mode == _LINK:
            links += 1
            if links > _MOST_LINKS:
                return None
            done, waiting = posixpath.dirname(done), _linked(found) + waiting
    return found


def _linked(link: _TreeEntry) -> list[str]:
    """The parts of the path that a link holds; a first `/` where it is absolute."""
    (target,) = _contents([link.object])
    path = os.fsdecode(target)
    return [*(["/"] if path.startswith("/") else []), *path.split("/")]


_MOST_LINKS = 40


def _sources(root: str, name: str, path: str, entry: _TreeEntry) -> tuple[list[Source], list[Problem]]:
    """The files of a pack in a tree, and what keeps some of them from being read: as for a directory."""
    files, problems = ([(name, entry.object)], []) if entry.kind == "blob" else _files(root, name, path, entry.object)
    files.sort()
    sizes = _sizes([each for _, each in files])
    large = {file for (file, _), size in zip(files, sizes, strict=True) if size > FILE_LIMIT}
    problems += [Problem(Place(file), f"can't be read: {FileTooLargeError()}") for file, _ in files if file in large]
    files = [each for each in files if each[0] not in large]
    sources: list[Source] = []
    for (file, _), data in zip(files, _contents([each for _, each in files]), strict=True):
        source, problem = source_of(file, data)
        if source is not None:
            sources.append(source)
        if problem is not None:
            problems.append(problem)
    return sources, problems


def _files(root: str, name: str, path: str, tree: str) -> tuple[list[tuple[str, str]], list[Problem]]:
    """The files of a directory that belong to a pack, each with its object; names that start with a dot are not."""
    files: list[tuple[str, str]] = []
    problems: list[Problem] = []
    above = name if name.endswith(":") else f"{name}/"
    for each in _listed(tree, recursive=True):
        if any(part.startswith(".") for part in each.path.split("/")):
            continue
        place = Place(f"{above}{each.path}")
        found = _target(root, posixpath.join(path, each.path), each) if each.mode == _LINK else each
        is_yaml = each.path.lower().endswith(SUFFIXES)
        if found is not None and found.kind == "commit":
            problems.append(Problem(place, "a submodule; its files are not in this revision"))
        elif found is not None and found.kind == "tree":
            problems.append(Problem(place, "a link to a directory; these are not followed in a revision"))
        elif found is not None and found.kind == "outside":
            problems.append(Problem(place, "a link that leads out of the repository; what it means is in no revision"))
        elif is_yaml and found is None:
            problems.append(Problem(place, "can't be read: a link that leads to nothing in this revision"))
        elif is_yaml and found is not None:
            files.append((str(place), found.object))
    if not files and not problems:
        problems.append(Problem(Place(name), "no `*.yaml` or `*.yml` in this directory; a pack has at least one"))
    return files, problems


def _sizes(objects: Sequence[str]) -> list[int]:
    """How many bytes blobs have; 0 of one that is not there."""
    if not objects:
        return []
    given = "".join(f"{each}\n" for each in objects).encode("ascii")
    lines = (_git("cat-file", "--batch-check", given=given) or b"").splitlines()
    found = [re.fullmatch(rb"[0-9a-f]+ blob (\d+)", line) for line in lines]
    return [int(each.group(1)) if each else 0 for each in found] or [0] * len(objects)


def _contents(objects: Sequence[str]) -> list[bytes]:
    """What blobs hold."""
    if not objects:
        return []
    output = _git("cat-file", "--batch", given="".join(f"{each}\n" for each in objects).encode("ascii"))
    found: list[bytes] = []
    at = 0
    for name in objects:
        end = (output or b"").find(b"\n", at)
        header = re.fullmatch(rb"[0-9a-f]+ blob (\d+)", (output or b"")[at:end])
        if output is None or header is None:
            raise UnreadableRevisionError(f"git has no object {name}; is this a partial clone?")
        size = int(header.group(1))
        found.append(output[end + 1 : end + 1 + size])
        at = end + 1 + size + 1
    return found


def _git(*arguments: str, given: bytes = b"") -> bytes | None:
    """What git prints; None when it says no."""
    try:
        done = subprocess.run(
            ["git", "--no-pager", "--no-replace-objects", *arguments],
            input=given,
            capture_output=True,
            check=False,
            env={**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"},
        )
    except FileNotFoundError:
        raise UnreadableRevisionError("git is not installed, or not on the PATH; revisions are read with it") from None
    except (OSError, ValueError) as error:
        raise UnreadableRevisionError(f"git can't be run: {error}") from None
    if done.returncode == 0:
        return done.stdout
    said = done.stderr.decode("utf-8", "replace").strip()
    if "dubious ownership" in said or "safe.directory" in said:
        raise UnreadableRevisionError(
            "git does not trust this repository, which belongs to another user; see `safe.directory` of git"
        )
    return None
