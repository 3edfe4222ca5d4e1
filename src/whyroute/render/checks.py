"""What a check found in a rule pack, for people, for programs and for GitHub's annotations."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ..documents.phrases import counted
from ..packs import Place
from ..packs.check import KINDS, Finding
from .lines import Line, Unbroken, printable
from .packs import source_lines

__all__ = ["annotation_lines", "check_document", "check_lines", "counts", "kind_lines"]

_STYLES: Final[Mapping[str, str]] = {"error": "bold red", "warning": "yellow"}


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """How many errors, warnings and silenced findings there are."""
    found = {"error": 0, "warning": 0, "silenced": 0}
    for finding in findings:
        found["silenced" if finding.silenced else finding.level] += 1
    return found


def check_lines(findings: Sequence[Finding]) -> Iterator[Line]:
    """The findings that no comment silences, each with its line and a caret; then how many there are."""
    for finding in findings:
        if not finding.silenced:
            yield from _finding_lines(finding)
            yield ()
    yield ((_summary(counts(findings)), ""),)


def _finding_lines(finding: Finding) -> Iterator[Line]:
    yield (
        (printable(str(finding.place)), "cyan"),
        (": ", ""),
        (finding.level, _STYLES[finding.level]),
        (f" {finding.code} {finding.name}: ", "dim"),
        (printable(finding.message), ""),
    )
    yield from source_lines(finding.place)
    for place in finding.also:
        yield ("  see ", "dim"), (printable(str(place)), "cyan")
        yield from source_lines(place)


def _summary(count: Mapping[str, int]) -> str:
    if not any(count.values()):
        return "nothing found"
    parts = [counted(count[level], level) for level in ("error", "warning") if count[level]]
    silenced = f"{count['silenced']} silenced" if count["silenced"] else ""
    told = ", ".join(parts) or "nothing found"
    return f"{told} ({silenced})" if silenced else told


def check_document(findings: Sequence[Finding]) -> dict[str, Any]:
    """The findings as JSON, silenced ones among them."""
    count = counts(findings)
    return {
        "findings": [finding.to_dict() for finding in findings],
        "errors": count["error"],
        "warnings": count["warning"],
        "silenced": count["silenced"],
    }


def kind_lines() -> Iterator[Line]:
    """Every kind of finding: its code, level, name and meaning."""
    width = max(map(len, KINDS))
    for kind in KINDS.values():
        yield (
            (kind.code, "cyan"),
            (f"  {kind.level.ljust(7)}", _STYLES[kind.level]),
            (f"  {kind.name.ljust(width)}  ", "bold"),
            (kind.summary, ""),
        )


def annotation_lines(findings: Iterable[Finding], relative: Mapping[str, str]) -> Iterator[Line]:
    """The findings that no comment silences as GitHub's workflow commands, which annotate the lines of a change.

    Args:
        findings: The findings.
        relative: For each file, its path from the root of the repository, where it is another one.
    """
    for finding in findings:
        if not finding.silenced:
            properties = [("file", relative.get(finding.place.file, finding.place.file))]
            if finding.place.line is not None:
                properties += [("line", str(finding.place.line)), ("col", str(finding.place.column))]
            properties.append(("title", f"{finding.code} {finding.name}"))
            told = ",".join(f"{key}={_property(value)}" for key, value in properties)
            also = "".join(f"\nalso {_where(place, relative)}" for place in finding.also)
            yield Unbroken(((f"::{finding.level} {told}::{_data(finding.message + also)}", ""),))


def _where(place: Place, relative: Mapping[str, str]) -> str:
    file = printable(relative.get(place.file, place.file))
    return file if place.line is None else f"{file}:{place.line}:{place.column}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    # There are escapes for the ends of lines alone; other control characters would reach the terminal of the log.
    text = "".join(c for c in text if c in "\r\n" or unicodedata.category(c) not in ("Cc", "Cs"))
    return _data(text).replace(":", "%3A").replace(",", "%2C")
