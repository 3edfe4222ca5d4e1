"""Lines of styled spans: text with its styles beside it, so that colour can be left out."""

from collections.abc import Iterator

from ..catalog import Candidate
from ..explanations import Explanation
from ..issues import printable

__all__ = ["WIDTH", "Line", "Span", "constraint_lines", "pair", "printable", "within"]

Span = tuple[str, str]
"""A piece of text and its style: a name of rich's, or empty."""

Line = tuple[Span, ...]

WIDTH = 500
"""How many characters a line has at most where not everything is asked for: about six rows of a terminal."""


def pair(candidate: Candidate) -> str:
    """`provider / model`, printable."""
    return f"{printable(candidate.metadata.id)} / {printable(candidate.model.name)}"


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
        nobody = place > 0 and admits == "0"
        yield (
            ("  " + name.ljust(widths[0]), "dim" if place == 0 else "cyan"),
            ("  " + label.ljust(widths[1]), "dim" if place == 0 else ""),
            ("  " + owner.ljust(widths[2]), "dim"),
            ("  " + admits.rjust(widths[3]), "dim" if place == 0 else ("bold red" if nobody else "")),
            ("  " + rejects.rjust(widths[4]), "dim" if place == 0 else ""),
        )
