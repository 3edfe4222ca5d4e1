"""Comparing two packs: reading them, progress, and what is printed."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

import typer

from ..basics.issues import printable, shown
from ..errors import WhyrouteError
from ..packs import Pack
from ..packs.diff import Comparison, PackRequest, compare_packs, read_requests
from ..packs.source.revisions import MissingAtRevisionError, empty_pack, load_pack_at, revision_hint
from .inputs import LINE_LIMIT, lines_of, one_object_a_line, open_input, source_name, time_of, too_long
from .options import At, Output, Progress, as_pack, file_option
from .output import CommandError, complain, complain_about, print_json, print_lines, print_text, remark, settled
from .progress import progress_bar
from .usage import command as command_of

__all__ = ["command"]


_Difference = Literal["looser", "broken", "any"]


@command_of(
    "diff", "whyroute diff HEAD:rules rules", "whyroute diff main:rules rules --fail-on looser --format markdown"
)
def command(
    old: Annotated[
        str,
        typer.Argument(metavar="OLD", help="A rule pack: a path, or REV:PATH at a git revision.", callback=as_pack),
    ],
    new: Annotated[
        str, typer.Argument(metavar="NEW", help="The rule pack to compare it with; likewise.", callback=as_pack)
    ],
    requests: Annotated[
        str | None,
        file_option("--requests", "FILE|-", "Compare these requests, one JSON object per line, not all routes."),
    ] = None,
    fail_on: Annotated[
        _Difference | None,
        typer.Option(
            "--fail-on", help="Exit with 1 when a tenant's policy is looser, a route broke, or anything differs."
        ),
    ] = None,
    format: Annotated[
        Literal["text", "json", "markdown"],
        typer.Option("--format", "-f", help="How it is printed; markdown is for a review comment."),
    ] = "text",
    at: At = None,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Where OLD is not in its revision, compare with an empty pack.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="All of every list, however long; markdown still fits a comment.")
    ] = False,
    output: Output = None,
    progress: Progress = None,
) -> None:
    """Compare what two rule packs answer: which routes break or appear, which picks and candidates change, and why.

    Exit status 0, or 1 when there is what --fail-on names; 2 when a pack doesn't load.
    """
    moment = time_of(at)
    before, after = _packs(old, new, allow_missing=allow_missing)
    wanted = None if requests is None else _requests(requests, before, after)
    with progress_bar("comparing", wanted=progress, columns=("count", "time")) as update:
        comparison = compare_packs(
            before,
            after,
            at=moment,
            requests=wanted,
            progress=None if update is None else lambda done, total: update(completed=done, total=total),
        )
    if fail_on is not None and not comparison.is_complete:
        remark(
            f"--fail-on {fail_on}: not everything was compared, so that what it names can't be ruled out; "
            'see "not compared"'
        )
    with settled(1 if _fails(comparison, fail_on) else 0):
        if format == "json":
            print_json(comparison.to_dict(), output)
        elif format == "markdown":
            from ..render.diffmarkdown import comparison_markdown  # noqa: PLC0415

            print_text(comparison_markdown(comparison, everything=everything), output)
        else:
            from ..render.diffs import comparison_lines  # noqa: PLC0415

            print_lines(comparison_lines(comparison, everything=everything), output)


def _packs(old: str, new: str, *, allow_missing: bool) -> tuple[Pack, Pack]:
    """Both packs; when one can't be loaded, what is wrong with the other is told, too."""
    packs: list[Pack] = []
    failures: list[tuple[str, CommandError]] = []
    for role, spec in (("OLD", old), ("NEW", new)):
        try:
            packs.append(load_pack_at(spec))
        except MissingAtRevisionError as error:
            if role == "OLD" and allow_missing:
                packs.append(empty_pack(spec))
                remark(f"{error}: compared with an empty pack")
                continue
            hint = "; where the pack is new since then, --allow-missing compares with an empty one"
            told = CommandError(f"{error}{hint}" if role == "OLD" else error)
            failures.append((f"{role}, `{printable(spec)}`, can't be compared", told))
        except WhyrouteError as error:
            hint = revision_hint(spec, new if role == "OLD" else old)
            told = CommandError(f"there is no file {shown(spec)}{hint}" if hint else error)
            failures.append((f"{role}, `{printable(spec)}`, can't be compared", told))
    if failures:
        for sentence, each in failures[:-1]:
            complain(sentence)
            complain_about(each)
        complain(failures[-1][0])
        raise failures[-1][1]
    return packs[0], packs[1]


def _requests(name: str, old: Pack, new: Pack) -> list[PackRequest]:
    with open_input(name) as stream:
        try:
            return read_requests(_short_lines(name, one_object_a_line(name, lines_of(name, stream))), old, new)
        except WhyrouteError as error:
            raise CommandError(error) from None


def _short_lines(name: str, lines: Iterable[bytes]) -> Iterator[bytes]:
    for number, line in enumerate(lines, start=1):
        if len(line) > LINE_LIMIT:
            raise CommandError(f"{source_name(name)}, {too_long(number)}")
        yield line


def _fails(comparison: Comparison, fail_on: _Difference | None) -> bool:
    """Whether there is what the caller fears; what was not compared may hold it."""
    if fail_on is not None and not comparison.is_complete:
        return True
    match fail_on:
        case "looser":
            return comparison.is_looser
        case "broken":
            return comparison.is_broken
        case "any":
            return not comparison.is_same
        case _:
            return False
