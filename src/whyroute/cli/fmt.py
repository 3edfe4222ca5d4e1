"""`whyroute fmt`: the files of a pack laid out in one way."""

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ..documents.phrases import counted
from ..packs import PackError, Problem
from ..packs.format import formatted
from ..packs.load.composing import compose
from ..packs.source.sources import Source, read_sources, source_of
from .inputs import STDIN, read_bytes, source_name
from .options import as_pack
from .output import CommandError, print_text, remark, replacing
from .packs import opened
from .usage import command as command_of

__all__ = ["command"]


@command_of("fmt", "whyroute fmt rules", "whyroute fmt rules --check")
def command(
    pack: Annotated[
        str,
        typer.Argument(
            metavar="PACK|-",
            help="A rule pack; - formats one file from standard input to standard output.",
            callback=as_pack,
        ),
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; list the files that would change, and exit with 1 if any.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Change nothing; show what would change.")] = False,
) -> None:
    """Lay out the files of a pack in one way. Comments stay, and so does what every value means.

    A pack that doesn't load is left alone: exit status 2.
    """
    changed, total = _stdin() if pack == STDIN else _files(pack)
    if diff:
        print_text("".join(line for each in changed for line in each.diff()))
    if pack == STDIN and not (check or diff):
        print_text(changed[0].after if changed else total[0].text)
        return
    if check or diff:
        if not diff:
            print_text("".join(f"{each.source.name}\n" for each in changed))
        remark(f"{counted(len(changed), 'file')} would change, {len(total) - len(changed)} would not")
        raise typer.Exit(int(check and bool(changed)))
    for each in changed:
        with replacing(Path(each.source.name)) as file:
            file.write(each.after.encode("utf-8"))
        remark(f"{each.source.name}: formatted")
    remark(f"{counted(len(changed), 'file')} changed, {len(total) - len(changed)} left as they are")


class _Change:
    """A file that is not laid out yet.

    Attributes:
        source: The file.
        before: What it holds.
        after: What it is to hold.
    """

    def __init__(self, source: Source, before: bytes, after: str) -> None:
        self.source = source
        self.before = before.decode("utf-8")
        self.after = after

    def diff(self) -> Iterator[str]:
        """What changes, as a unified diff."""
        name = self.source.name
        before, after = (text.splitlines(keepends=True) for text in (self.before, self.after))
        for line in difflib.unified_diff(before, after, name, f"{name} (formatted)"):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _files(path: str) -> tuple[list[_Change], list[Source]]:
    opened(path)
    sources, problems = read_sources(path)
    if problems:
        raise CommandError(PackError(problems))
    found = (_change(source, read_bytes(source.name)) for source in sources)
    return [each for each in found if each is not None], sources


def _stdin() -> tuple[list[_Change], list[Source]]:
    data = read_bytes(STDIN)
    source, problem = source_of(source_name(STDIN), data)
    if source is None or problem is not None:
        raise CommandError(PackError([] if problem is None else [problem]))
    root, problems = compose(source)
    if not problems and (root is None or root.keys is None):
        problems = [Problem(source.place(1, 1), "no mapping; a file of a pack is one, and begins with `whyroute: 1`")]
    if problems:
        raise CommandError(PackError(problems))
    change = _change(source, data)
    return [] if change is None else [change], [source]


def _change(source: Source, data: bytes) -> _Change | None:
    after = formatted(source)
    return None if after.encode("utf-8") == data else _Change(source, data, after)
