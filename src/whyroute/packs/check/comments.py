"""Comments that silence findings: `# check: ignore NAME: reason`, on the line of the finding or on lines of its own
right above.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...basics.issues import did_you_mean, quoted, shown
from ..load.composing import compose
from ..source.nodes import Node, same_tree
from ..source.problems import Place
from ..source.sources import Source
from .findings import Finding, found
from .kinds import KINDS, Kind, kind_named

__all__ = ["Ignore", "ignores_in", "silenced"]

_CANDIDATE: Final = re.compile(r"(?:^|(?<=[ \t]))#[ \t]*check:.*$", re.MULTILINE)
_IGNORE: Final = re.compile(r"#[ \t]*check:[ \t]*ignore[ \t]+([^:]*?)[ \t]*(?::[ \t]*(.*?)[ \t]*)?$")
_LOUD: Final = frozenset({"invalid-pack", "deceptive-text", "broken-ignore", "unused-ignore"})
_FORM: Final = "write `# check: ignore NAME: reason`"


@dataclass(frozen=True, slots=True)
class Ignore:
    """A comment that silences findings of one kind on one line.

    Attributes:
        place: Where the comment is.
        kind: The kind.
        line: The line of the findings, from 1.
        reason: Why.
    """

    place: Place
    kind: Kind
    line: int
    reason: str


def ignores_in(source: Source) -> tuple[list[Ignore], list[Finding]]:
    """The comments of a file that silence findings, and what is wrong with those that are meant to.

    Costs a second reading of a file that has such comments, and nothing otherwise.
    """
    ignores: list[Ignore] = []
    findings: list[Finding] = []
    for start, text in _comments(source):
        line = source.text.count("\n", 0, start) + 1
        place = source.place(line, start - source.text.rfind("\n", 0, start))
        kinds, reason, complaint = _read(text)
        if complaint is not None:
            findings.append(found("broken-ignore", place, complaint))
        else:
            ignores += [Ignore(place, kind, _target(source, place), reason) for kind in kinds]
    return ignores, findings


def silenced(findings: Iterable[Finding], ignores: Sequence[Ignore]) -> list[Finding]:
    """The findings, those that a comment silences with its reason; and comments that silence nothing."""
    by_place: dict[tuple[str, int | None, str], Ignore] = {}
    for each in ignores:
        by_place.setdefault((each.place.file, each.line, each.kind.name), each)
    used: set[Ignore] = set()
    told: list[Finding] = []
    for finding in findings:
        ignore = by_place.get((finding.place.file, finding.place.line, finding.name))
        if ignore is None:
            told.append(finding)
        else:
            used.add(ignore)
            told.append(replace(finding, reason=ignore.reason))
    for each in ignores:
        if each not in used:
            where = "on this line" if each.line == each.place.line else "on the line below"
            message = f"nothing {where} is `{each.kind.name}`; take the comment out"
            told.append(found("unused-ignore", each.place, message))
    return told


def _read(text: str) -> tuple[tuple[Kind, ...], str, str | None]:
    """The kinds and the reason of a comment, or what is wrong with it."""
    match = _IGNORE.match(text)
    if match is None:
        return (), "", f"this comment silences nothing; {_FORM}"
    names = [name.strip() for name in match.group(1).split(",")]
    kinds: list[Kind] = []
    for name in names:
        kind = kind_named(name)
        if kind is None:
            what = f"{shown(name)} is no kind of finding" if name else "the kind of finding is missing"
            listed = f"; they are {quoted(KINDS, limit=4)}" if name else f"; {_FORM}"
            return (), "", f"{what}{did_you_mean(name, KINDS) or listed}"
        if kind.name in _LOUD:
            return (), "", f"{shown(kind.name)} can't be silenced; put it right"
        kinds.append(kind)
    if not match.group(2):
        return (), "", f"no reason; {_FORM}, and the finding stays until there is one"
    return tuple(dict.fromkeys(kinds)), match.group(2), None


def _target(source: Source, place: Place) -> int:
    """The line that a comment is about: its own, or the first below that is no comment."""
    line = place.line or 1
    lines = source.text.split("\n")
    if lines[line - 1].lstrip(" \t").startswith("#"):
        while line < len(lines) and lines[line - 1].lstrip(" \t").startswith("#"):
            line += 1
    return line


def _comments(source: Source) -> Iterator[tuple[int, str]]:
    """The comments that may silence something, each with where it starts in the text."""
    if "check:" not in source.text:
        return
    candidates = [(match.start(), match.end()) for match in _CANDIDATE.finditer(source.text)]
    if candidates:
        root, _ = compose(source)
        for start, end in _true_comments(source, root, candidates):
            yield start, source.text[start:end]


def _true_comments(source: Source, root: Node | None, candidates: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Those of the candidates that are comments and no text in quotes or in a block: without a comment, a file says
    what it says with it. Halves the candidates where some are not, so that a reading is spent on few of them.
    """
    if same_tree(root, compose(Source(source.name, _without(source.text, candidates)))[0], places=True):
        yield from candidates
    elif len(candidates) > 1:
        middle = len(candidates) // 2
        yield from _true_comments(source, root, candidates[:middle])
        yield from _true_comments(source, root, candidates[middle:])


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts.append(text[at:start])
        at = end
    return "".join([*parts, text[at:]])
