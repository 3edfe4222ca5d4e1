"""Lines of styled spans: text with its styles beside it, so that colour can be left out."""

from collections.abc import Iterator

from ..basics.issues import printable
from ..explanations import Explanation
from ..explanations.words import pair

__all__ = [
    "WIDTH",
    "Line",
    "Span",
    "Unbroken",
    "constraint_lines",
    "fitted",
    "indent_of",
    "pair",
    "printable",
    "within",
    "wrapped",
]

Span = tuple[str, str]
"""A piece of text and its style: a name of rich's, or empty."""

Line = tuple[Span, ...]


class Unbroken(tuple[Span, ...]):
    """A line that stays in one piece, however wide a terminal is: to be copied, or with a caret under it."""

    __slots__ = ()


WIDTH = 500
"""How many characters a line has at most where not everything is asked for: about six rows of a terminal."""


def within(line: Line, width: int) -> Line:
    """The line cut to a number of characters: its longest spans are, and end in `...` then."""
    if sum(len(text) for text, _ in line) <= width:
        return line
    room, most = width, width
    lengths = sorted(len(text) for text, _ in line)
    for place, length in enumerate(lengths):
        most = room // (len(lengths) - place)
        if length > most:
            break
        room -= length
    return tuple((text if len(text) <= most else f"{text[: max(0, most - 3)]}...", style) for text, style in line)


def constraint_lines(explanation: Explanation) -> Iterator[Line]:
    """Every constraint with how many candidates it admits and rejects, as a table."""
    rows = [("constraint", "label", "owner", "admits", "rejects")]
    total = explanation.catalog.size
    for constraint in explanation.solved.listed:
        admitted = constraint.admitted.bit_count()
        rows.append(
            (
                printable(constraint.id),
                printable(constraint.label),
                f"{constraint.owner}, shadow" if constraint.shadow else constraint.owner,
                str(admitted),
                str(total - admitted),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for place, (name, label, owner, admits, rejects) in enumerate(rows):
        none = place > 0 and admits == "0"
        yield (
            ("  " + name.ljust(widths[0]), "dim" if place == 0 else "cyan"),
            ("  " + label.ljust(widths[1]), "dim" if place == 0 else ""),
            ("  " + owner.ljust(widths[2]), "dim"),
            ("  " + admits.rjust(widths[3]), "dim" if place == 0 else ("bold red" if none else "")),
            ("  " + rejects.rjust(widths[4]), "dim" if place == 0 else ""),
        )


def indent_of(line: Line) -> int:
    """How many spaces a line begins with."""
    text = "".join(text for text, _ in line)
    return len(text) - len(text.lstrip())


def wrapped(line: Line, *, width: int = 80, indent: int = 5) -> Iterator[Line]:
    """A line as several that fit; those that follow are indented. Words longer than a line are cut."""
    row: list[Span] = []
    used = 0
    fresh = True  # nothing but the indent stands in the row
    for text, style in line:
        for word in _words(text):
            rest = word
            while used + len(rest.rstrip()) > width and (not fresh or len(rest) > width - indent):
                if fresh:
                    row.append((rest[: width - used], style))
                    rest = rest[width - used :]
                yield tuple(row)
                row, used, fresh = [(" " * indent, "")], indent, True
                rest = rest.lstrip(" ")
            row.append((rest, style))
            used += len(rest)
            fresh = fresh and not rest.strip()
    yield tuple(row)


def _words(text: str) -> Iterator[str]:
    """The words of a text, each with the spaces after it; spaces at the start stand alone."""
    start = 0
    for place in range(1, len(text)):
        if text[place] != " " and text[place - 1] == " ":
            yield text[start:place]
            start = place
    if text:
        yield text[start:]


_LEAST_WIDTH = 20  # a terminal that is narrower breaks the lines itself


def fitted(line: Line, width: int) -> Iterator[Line]:
    """A line as it stands on a terminal: in several, where it is too long, that hang under what its label is about.

    Args:
        line: The line.
        width: How many columns the terminal has.
    """
    if isinstance(line, Unbroken) or width < _LEAST_WIDTH or sum(len(text) for text, _ in line) <= width:
        yield line
        return
    label = len(line[0][0]) if len(line) > 1 and line[0][0].endswith("  ") else 0
    indent = label or indent_of(line) + 4
    yield from wrapped(line, width=width, indent=min(indent, width // 2))
