"""Pieces of HTML. Whatever comes from a catalog, a policy or a request passes through `escape`."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from ...catalog.candidate import Candidate
from ...explanations.relaxations import DeadEnd
from ..lines import printable

__all__ = ["bar", "candidate", "code", "dead_ends", "escape", "prose", "table"]

_CODE = re.compile(r"`([^`]*)`")


def escape(text: str) -> str:
    """The text as HTML, with unprintable characters escaped as they are in a terminal."""
    return html.escape(printable(text), quote=True)


def prose(text: str) -> str:
    """A sentence as HTML: what stands between backticks becomes code."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def code(text: str) -> str:
    """A name that somebody wrote somewhere."""
    return f"<code>{escape(text)}</code>"


def candidate(of: Candidate) -> str:
    """`provider / model`, each kept apart from the direction of the text around it."""
    return pair(of.metadata.id, of.model.name)


def pair(provider: str, model: str) -> str:
    """`provider / model` of names."""
    return f'<span class="candidate"><bdi>{escape(provider)}</bdi> / <bdi class="model">{escape(model)}</bdi></span>'


def dead_ends(found: Sequence[DeadEnd]) -> Iterator[str]:
    """The corrections without a way out, each with why."""
    if not found:
        return
    yield '<h3>No way out</h3>\n<ul class="ways">'
    for each in found:
        ids = ", ".join(map(code, each.ids))
        yield f'<li class="block way">By changing {ids}: {prose(each.text)}</li>'
    yield "</ul>"


def bar(part: int, whole: int) -> str:
    """How much of a whole a part is, drawn; the numbers stand beside it in words."""
    width = f"{100 * part / whole:.4g}" if whole else "0"
    return (
        '<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="track" width="100" height="4"/><rect class="part" width="{width}" height="4"/></svg>'
    )


def table(caption: str, heads: Iterable[tuple[str, str]], rows: Iterable[Iterable[str]]) -> str:
    """A table; the first cell of each row names it.

    Args:
        caption: What it lists, as HTML; read out, not shown.
        heads: For each column its name and class.
        rows: Cells as HTML.
    """
    columns = list(heads)
    head = "".join(f'<th scope="col"{_class(name)}>{text}</th>' for text, name in columns)
    body = "".join(
        "<tr>"
        + "".join(
            f'<th scope="row"{_class(name)}>{cell}</th>' if place == 0 else f"<td{_class(name)}>{cell}</td>"
            for place, (cell, (_, name)) in enumerate(zip(row, columns, strict=True))
        )
        + "</tr>\n"
        for row in rows
    )
    named = f'<caption class="unseen">{caption}</caption>'
    return f"<table>{named}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table>"


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""
