"""What differs between two packs as markdown, for a comment on a review."""

import re
from collections.abc import Iterator

from ..documents.phrases import counted
from ..packs.diff import Comparison
from .diffs import INCOMPLETE, NAME, DiffEntry, headline, sections, tenant_rows
from .lines import Line, printable

__all__ = ["MOST_BYTES", "comparison_markdown"]

MOST_BYTES = 65_536
"""How long a review comment may be; bytes are never fewer than the characters that are counted there."""

_RESERVED = 400  # for what is said of the rest, and the ends of what is open
_ROWS = 40


def comparison_markdown(comparison: Comparison, *, everything: bool = False) -> str:
    """What differs between two packs: a table of verdicts, and a section to unfold for each kind of difference.

    However much there is, the text fits a review comment; what does not is counted.

    Args:
        comparison: What differs.
        everything: Whether lists within the sections are complete.
    """
    title = f"### {_code(comparison.old)} → {_code(comparison.new)}\n\n{_plain(headline(comparison))}.\n"
    if comparison.is_same:
        return f"{title}\n**No difference in meaning.**\n"
    if not comparison.differs:
        title += f"\n**{INCOMPLETE[0].upper()}{INCOMPLETE[1:]}.**\n"
    writer = _Writer(MOST_BYTES - _RESERVED)
    writer.add(title)
    rows, more, same = tenant_rows(comparison, None if everything else _ROWS)
    if rows:
        writer.add("\n| tenant | verdict | what differs |\n| --- | --- | --- |\n")
        left = len(rows) - writer.add_all(
            f"| {_code(each.tenant)} | {_VERDICTS[each.verdict]} | {_plain(counts)} |\n" for each, counts in rows
        )
        if left + more:
            writer.add(f"\n…and {left + more} more tenants.\n")
        if same:
            writer.add(f"\nNothing differs for {counted(same, 'other tenant')}.\n")
    for section in sections(comparison, everything=everything):
        opening = "<details open>" if section.title == "routes that break" else "<details>"
        head = f"\n{opening}\n<summary>{section.title} ({section.count})</summary>\n\n"
        entries = [_entry(each) for each in section.entries]
        if not writer.fits(head + entries[0]):
            writer.leave(section.title, section.count)
            continue
        writer.add(head)
        written = writer.add_all(entries)
        if written < section.count:
            writer.add(f"- …and {section.count - written} more\n")
        writer.add("\n</details>\n")
    return writer.text()


class _Writer:
    """Text up to a number of bytes of UTF-8."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._parts: list[str] = []
        self._left: list[str] = []

    def fits(self, text: str) -> bool:
        """Whether there is room for more, and for the little that closes it."""
        return len(text.encode("utf-8")) + 60 <= self._room

    def add(self, text: str) -> None:
        """Write a text that fits, or is so short that room was kept for it."""
        self._parts.append(text)
        self._room -= len(text.encode("utf-8"))

    def add_all(self, texts: "Iterator[str] | list[str]") -> int:
        """Write texts as long as they fit, and say how many did."""
        count = 0
        for text in texts:
            if not self.fits(text):
                break
            self.add(text)
            count += 1
        return count

    def leave(self, title: str, count: int) -> None:
        """Note a section that there is no room for."""
        self._left.append(f"{title} ({count})")

    def text(self) -> str:
        """What was written, and what was not."""
        tail = f"\nNo room for: {', '.join(self._left)}.\n" if self._left else ""
        return "".join(self._parts) + tail


_VERDICTS = {"stricter": "stricter", "looser": "**looser**", "both": "**both**", "same": "same"}


def _entry(entry: DiffEntry) -> str:
    heads = "<br>".join(_line(head, bold=True) for head in entry.head)
    lines = [f"- {heads}\n"]
    for word, line in entry.items:
        said = _line(line)
        if word.strip():
            lines.append(f"  - {_plain(word.strip())} {said}\n")
        else:
            lines[-1] = lines[-1].removesuffix("\n") + f"<br>{said}\n"
    return "".join(lines)


def _line(line: Line, *, bold: bool = False) -> str:
    return "".join(_span(text, style, bold=bold) for text, style in line)


def _span(text: str, style: str, *, bold: bool) -> str:
    if style == NAME or (style == "bold" and bold):
        return _code(text)
    if style == "dim" and text.strip():
        return f"<sub>{_plain(text)}</sub>"
    return _plain(text)


_SPECIAL = re.compile(r"[&<>`|*_\[\]~\\@#!$\"]|:(?=//)|:(?=[\w+-]+:)|(?<=www)\.", re.IGNORECASE)


def _escaped(text: str) -> str:
    """Text with every character that markdown or HTML may take for its own as a reference to it."""
    return _SPECIAL.sub(lambda found: f"&#{ord(found.group())};", text)


def _code(text: str) -> str:
    """A name: nothing in it is markup, a link or a mention, in a table or outside."""
    return f"<code>{_escaped(printable(text))}</code>"


_MENTIONS = re.compile(r"&#(?:64|35);")


def _plain(text: str) -> str:
    """A sentence. A character of no width after `@` and `#` keeps references to people and issues from being made."""
    return _MENTIONS.sub(lambda found: f"{found.group()}&#8203;", _escaped(text))
