"""`whyroute check`: what is wrong in a rule pack, or likely is."""

import os
import shlex
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Annotated, Literal

import typer

from .. import __version__
from ..basics.issues import printable
from ..errors import WhyrouteError
from ..packs.check import Finding, check_pack
from ..render.checks import annotation_lines, check_document, check_lines, counts, kind_lines
from ..render.sarif import relative_paths, sarif_log
from .inputs import time_of
from .options import Output, Pack, text_option
from .output import CommandError, print_json, print_lines, remark, settled
from .packs import not_loaded, whole_pack
from .usage import command as command_of

__all__ = ["command"]


@command_of("check", "whyroute check rules", "whyroute check rules --fail-on warning --format github")
def command(
    pack: Pack = None,
    format: Annotated[
        Literal["text", "json", "sarif", "github"],
        typer.Option("--format", "-f", help="How findings are printed; github annotates the lines of a change."),
    ] = "text",
    fail_on: Annotated[
        Literal["error", "warning"],
        typer.Option("--fail-on", help="The least that makes the exit status 1: errors, or warnings, too."),
    ] = "error",
    at: Annotated[
        str | None, text_option("--at", "TIME", "The time that waivers are held against; default: now.")
    ] = None,
    list_kinds: Annotated[bool, typer.Option("--list", help="Print what there is to find, and exit.")] = False,
    output: Output = None,
) -> None:
    """Look for what is wrong in a rule pack, or likely is: names that nothing has, rules that change nothing.

    A comment on the line, or on a line of its own above, silences a finding:
    `# check: ignore NAME: reason`. Exit status 0 when nothing is found at the level, 1 when something is, a pack that
    can't be loaded included, 2 when it isn't there.
    """
    if list_kinds:
        print_lines(kind_lines(), output)
        return
    if pack is None:
        raise CommandError("PACK is missing: what is to be checked?")
    now = time_of(at)
    try:
        findings = check_pack(pack, at=now)
    except WhyrouteError as error:
        raise not_loaded(error, pack) from None
    if any(finding.name == "invalid-pack" for finding in findings) and (whole := whole_pack(pack)) is not None:
        remark(
            f"`{printable(pack)}` is one file of a pack; the pack is the folder: whyroute check {shlex.quote(whole)}"
        )
    count = counts(findings)
    with settled(int(bool(count["error"] or (fail_on == "warning" and count["warning"])))):
        _print(findings, pack, format, output)


def _print(findings: tuple[Finding, ...], pack: str, format: str, output: Path | None) -> None:
    files = [place.file for finding in findings for place in (finding.place, *finding.also)]
    relative = relative_paths(list(dict.fromkeys(files)), os.getcwd())
    match format:
        case "json":
            print_json(check_document(findings), output)
        case "sarif":
            log = sarif_log(
                findings,
                version=__version__,
                relative=relative,
                pack=Path(pack).as_posix(),
                documentation=_documentation(),
            )
            print_json(log, output)
        case "github":
            print_lines(annotation_lines(findings, relative), output)
        case _:
            print_lines(check_lines(findings), output)


def _documentation() -> str | None:
    """The address under which the package says that its documentation is."""
    try:
        addresses = metadata("whyroute").get_all("Project-URL") or []
    except PackageNotFoundError:
        return None
    named = (address.partition(", ") for address in addresses)
    return next((f"{url.rstrip('/')}/" for name, _, url in named if name == "Documentation"), None)
