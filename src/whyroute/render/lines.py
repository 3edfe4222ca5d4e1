"""Lines of styled spans: text with its styles beside it, so that colour can be left out."""

from collections.abc import Iterator

from ..catalog import Candidate
from ..explanations import Explanation

__all__ = ["Line", "Span", "constraint_lines", "pair", "printable"]

Span = tuple[str, str]
"""A piece of text and its style: a name of rich's, or empty."""

Line = tuple[Span, ...]


def pair(candidate: Candidate) -> str:
    """`provider / model`, printable."""
    return f"{printable(candidate.metadata.id)} / {printable(candidate.model.name)}"


def printable(text: str) -> str:
    """The text with control and other unprintable characters escaped: nothing from a catalog drives a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def constraint_lines(explanation: Explanation) -> Iterator[Line]:
    """Every constraint with how many candidates it admits and rejects, as a table."""
    rows = [("constraint", "label", "owner", "admits", "rejects")]
    total = explanation.catalog.size
    for constraint in explanation.constraints:
        admitted = constraint.admitted.bit_count()
        rows.append(
            (
                printable(constraint.id),
                printable(constraint.label),
                constraint.owner,
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
