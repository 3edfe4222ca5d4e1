"""`whyroute check`: what is wrong in a rule pack, or likely is."""

import os
import shlex
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from .. import __version__
from ..basics.issues import printable
from ..errors import WhyrouteError
from ..model.timestamps import moment_issues
from ..packs.check import Finding, check_pack
from ..render.checks import annotation_lines, check_document, check_lines, counts, kind_lines
from ..render.sarif import relative_paths, sarif_log
from .output import CommandError, print_json, print_lines, remark, settled
from .packs import not_loaded, whole_pack

__all__ = ["run_check"]


def run_check(
    pack: str | None, format: str, fail_on: str, at: str | None, output: Path | None, *, list_kinds: bool
) -> None:
    """Check a pack and print what was found.

    Args:
        pack: The pack's path.
        format: `text`, `json`, `sarif` or `github`.
        fail_on: `error` or `warning`.
        at: The time that dates are held against; the present when absent.
        output: Where to write it; standard output when absent.
        list_kinds: Print the kinds of findings instead.

    Raises:
        CommandError: The path isn't there, or the time is none.
        typer.Exit: With the status.
    """
    if list_kinds:
        print_lines(kind_lines(), output)
        return
    if pack is None:
        raise CommandError("PACK is missing: what is to be checked?")
    for issue in [] if at is None else moment_issues(at, ""):
        raise CommandError(f"--at: {issue.message}")
    try:
        findings = check_pack(pack, now=at)
    except WhyrouteError as error:
        raise not_loaded(error, pack) from None
    if any(finding.name == "invalid-pack" for finding in findings) and (whole := whole_pack(pack)) is not None:
        remark(
            f"`{printable(pack)}` is one file of a pack; the pack is the folder: whyroute check {shlex.quote(whole)}"
        )
    with settled(_status(findings, fail_on)):
        _print(findings, pack, format, output)


def _status(findings: tuple[Finding, ...], fail_on: str) -> int:
    count = counts(findings)
    return int(bool(count["error"] or (fail_on == "warning" and count["warning"])))


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
