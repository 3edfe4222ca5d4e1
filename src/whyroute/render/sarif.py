"""Findings as SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), which code hosts and editors read."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from ..packs import Place
from ..packs.check import KINDS, Finding, Kind

__all__ = ["SCHEMA", "relative_paths", "sarif_log"]

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
"""The schema of what `sarif_log` gives."""

_PACK: Final = "PACK"


def relative_paths(files: Sequence[str], directory: str) -> dict[str, str]:
    """For each file that is in a directory, its path from there; others are left out.

    Args:
        files: Names of files; those that are not absolute are taken as they are.
        directory: An absolute path.
    """
    found: dict[str, str] = {}
    for file in files:
        path = PurePath(file)
        if not path.is_absolute():
            if ".." not in path.parts:
                found[file] = path.as_posix()
        elif path.is_relative_to(directory):
            found[file] = path.relative_to(directory).as_posix()
    return found


def sarif_log(
    findings: Sequence[Finding],
    *,
    version: str,
    relative: Mapping[str, str],
    pack: str,
    documentation: str | None = None,
) -> dict[str, Any]:
    """The findings as a SARIF log of one run; those that a comment silences have it as a suppression.

    Args:
        findings: The findings.
        version: The version of whyroute.
        relative: For each file, its path from the root of the repository; a file that is not there is named from
            the pack on.
        pack: The pack, as it was named.
        documentation: The address of the project's files, with `/` at its end; None where it has none.
    """
    kinds = list(KINDS.values())
    number = {kind.name: index for index, kind in enumerate(kinds)}
    seen: dict[str, int] = {}
    results = [_result(finding, number[finding.name], relative, pack, seen) for finding in findings]
    driver: dict[str, Any] = {
        "name": "whyroute",
        "semanticVersion": version,
        "rules": [_rule(kind, documentation) for kind in kinds],
    }
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {_PACK: {"description": {"text": "The directory of the rule pack."}}},
                "results": results,
            }
        ],
    }


def _rule(kind: Kind, documentation: str | None) -> dict[str, Any]:
    sentence = f"{kind.summary[0].upper()}{kind.summary[1:]}."
    found: dict[str, Any] = {
        "id": kind.code,
        "name": kind.name,
        "shortDescription": {"text": sentence},
        "help": {"text": f"{sentence} See {kind.page}."},
        "defaultConfiguration": {"level": kind.level},
    }
    if documentation is not None:
        found["helpUri"] = documentation + kind.page
    return found


def _result(
    finding: Finding, number: int, relative: Mapping[str, str], pack: str, seen: dict[str, int]
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": number,
        "level": finding.level,
        "message": {"text": finding.message},
        "locations": [_location(finding.place, relative, pack)],
        "partialFingerprints": {"whyroute/v1": _fingerprint(finding, relative, pack, seen)},
    }
    if finding.also:
        found["relatedLocations"] = [
            {"id": index, **_location(place, relative, pack)} for index, place in enumerate(finding.also, 1)
        ]
    if finding.reason is not None:
        found["suppressions"] = [{"kind": "inSource", "status": "accepted", "justification": finding.reason}]
    return found


def _location(place: Place, relative: Mapping[str, str], pack: str) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(place.file, relative, pack)}
    if place.line is not None:
        physical["region"] = {"startLine": place.line, "startColumn": place.column}
        if place.source:
            physical["region"]["snippet"] = {"text": place.source}
    return {"physicalLocation": physical}


def _artifact(file: str, relative: Mapping[str, str], pack: str) -> dict[str, str]:
    # A name of bytes that are no UTF-8 is those bytes in an address, too.
    if file in relative:
        return {"uri": quote(relative[file], errors="surrogateescape")}
    return {"uri": quote(_from_pack(file, pack), errors="surrogateescape"), "uriBaseId": _PACK}


def _from_pack(file: str, pack: str) -> str:
    """The path of a file from the pack on; a pack of one file is that file."""
    path = PurePath(file)
    if file != pack and path.is_relative_to(pack):
        return path.relative_to(pack).as_posix()
    return path.name or "."


def _fingerprint(finding: Finding, relative: Mapping[str, str], pack: str, seen: dict[str, int]) -> str:
    """What stays the same when lines are added elsewhere: the kind, the file and the text of the line.

    The second finding of the same is told from the first by its number.
    """
    place = finding.place
    parts = (finding.code, relative.get(place.file, _from_pack(place.file, pack)), place.source.strip())
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    seen[digest] = count = seen.get(digest, 0) + 1
    return f"{digest}:{count}"
