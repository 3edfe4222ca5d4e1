"""Loading a pack: every file read, every problem of every file told at once."""

import os
from collections.abc import Iterable
from pathlib import Path

from ...basics.issues import few_searches
from ..source.problems import PackError, Problem
from ..source.sources import Source, read_sources
from .composing import compose
from .linking import link_problems
from .pack import Pack
from .reading import Definitions
from .sections import Sections

__all__ = ["load_pack", "pack_of"]


def load_pack(path: str | os.PathLike[str]) -> Pack:
    """Load a rule pack.

    Args:
        path: A file, or a directory whose `*.yaml` and `*.yml` are read, recursively; names that start with a dot are
            passed over. Sections merge across files, in any order.

    Raises:
        UnreadableFileError: The path is not there.
        PackError: The pack is broken; all problems of all files.
    """
    sources, problems = read_sources(path)
    return pack_of(Path(path).as_posix(), sources, problems)


def pack_of(name: str, sources: Iterable[Source], problems: Iterable[Problem] = ()) -> Pack:
    """The pack that files make, wherever they come from.

    Args:
        name: What it is called.
        sources: Its files.
        problems: What keeps more of its files from being read.

    Raises:
        PackError: The pack is broken; all problems of all files.
    """
    with few_searches():
        return _pack_of(name, tuple(sources), list(problems))


def _pack_of(name: str, sources: tuple[Source, ...], problems: list[Problem]) -> Pack:
    documents = []
    unread = bool(problems)
    for source in sources:
        root, found = compose(source)
        problems += found
        if root is not None and root.text == "":
            root = None
        if root is None and not found:
            problems.append(Problem(source.place(1, 1), "empty; `whyroute: 1` is the first key of every file"))
        unread |= root is None
        documents.append((source, root))
    sections = Sections(documents, complete=not unread)
    definitions = Definitions(sections)
    problems += [*sections.problems, *definitions.problems]
    problems += link_problems(definitions, sections.every_tenant)
    if problems:
        raise PackError(problems)
    return Pack(
        path=name,
        files=tuple(source.name for source in sources),
        regions=definitions.regions,
        labels=definitions.labels if definitions.declares_labels else None,
        providers=definitions.providers,
        capabilities=definitions.capabilities,
        policies=definitions.policies,
        every_tenant=tuple((entry.name, entry.piece.place) for entry in sections.every_tenant),
        tenants=definitions.tenants,
        conditions=definitions.conditions,
        rules=definitions.rules,
        waivers=definitions.waivers,
        bundles=definitions.bundles,
        tests=definitions.tests,
        descriptors=definitions.descriptors,
        sources=sources,
    )
