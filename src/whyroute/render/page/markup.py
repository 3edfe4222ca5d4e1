"""Pieces of HTML. Whatever comes from a catalog, a policy or a request passes through `escape`."""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from ...catalog.candidate import Candidate
from ...constraints.named import NamedConstraint
from ...explanations.explained import R
from ...explanations.hints import UnmetHint, hint_sentence
from ...explanations.relaxations import DeadEnd
from ...solving.joint import JointConstraint
from ..lines import printable
from ..question import question_facts, subject_of
from .payload import printable_json

__all__ = [
    "bar",
    "because",
    "candidate",
    "clashes",
    "code",
    "constraint",
    "dead_ends",
    "escape",
    "prose",
    "question",
    "scrolling",
    "section",
    "table",
    "toggle",
    "ways",
]

C = TypeVar("C")

_OPEN_CLASHES: Final = 4
"""How many clashes stand in full."""

_OPEN_LINES: Final = 40
"""A declaration of more lines is folded."""

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


def section(name: str, title: str, body: Iterable[str], extra: str = "") -> str:
    """A section with its title; nothing when the body is empty."""
    inner = "\n".join(part for part in body if part)
    head = f'<h2 id="{name}-title">{title}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title"{extra}>\n{head}\n{inner}\n</section>' if inner else ""


def toggle(name: str, where: str, attributes: str) -> str:
    """A button that highlights something somewhere, by attributes for the script; it is hidden without that."""
    return (
        f'<button type="button" class="toggle scripted" {attributes} aria-pressed="false">'
        f'Highlight<span class="unseen"> {name[:1].lower()}{name[1:]} {where}</span></button>'
    )


def scrolling(name: str, inner: str) -> str:
    """A table that scrolls by itself where there is no room for it."""
    return f'<div class="scrolling" role="group" aria-label="{name}, table" tabindex="0">{inner}</div>'


def constraint(of: NamedConstraint | JointConstraint, words: str, *, ask: str = "") -> str:
    """A constraint in words, with its id and the place where it is written."""
    told = code(words) if words == of.label else prose(words)
    where = "".join(f", {origin.file}:{origin.line}" for origin in of.origins[:1])
    return f'<span class="words">{told}</span> <span class="id">{escape(f"{of.id}{where}{ask}")}</span>'


def _sentence(hint: UnmetHint) -> str:
    said = hint_sentence(hint)
    return f"Hint: {prose(said)}{'' if said.endswith('?') else '.'}"


def because(of: NamedConstraint | JointConstraint) -> str:
    """Why there is a rule; nothing for another constraint."""
    return "" if of.because is None else f'<span class="because">{prose(of.because)}</span>'


def clashes(
    cores: Sequence[C], whole: Callable[[str, C], tuple[str, str]], line: Callable[[int, C], str]
) -> Iterator[str]:
    """The first few clashes by name, each as a button and what is in it; then the others by number, in a line each."""
    for number, core in enumerate(cores[:_OPEN_CLASHES], start=1):
        name = f"Clash {number}"
        button, inner = whole(name, core)
        yield (
            f'<div class="block clash" role="group" aria-label="{name}">\n'
            f'<div class="bar-line"><h3>{name}</h3>{button}</div>\n{inner}</div>'
        )
    rest = cores[_OPEN_CLASHES:]
    if rest:
        yield f"<details><summary>{len(rest)} more clash{'' if len(rest) == 1 else 'es'}</summary>\n<ul>"
        for number, core in enumerate(rest, start=_OPEN_CLASHES + 1):
            yield f'<li class="block bar-line">{number}. {line(number, core)}</li>'
        yield "</ul></details>"


def ways(
    title: str, found: Sequence[R], numbers: Iterator[int], gives: Callable[[R], str], button: Callable[[str, R], str]
) -> Iterator[str]:
    """Ways out that are somebody's moves, numbered through the page; nothing when there are none."""
    for place, way in enumerate(found):
        number = next(numbers)
        if not place:
            yield f'<h3>{title}</h3>\n<ol class="ways" start="{number}">'
        edits = [prose(text) for text in way.texts]
        told = edits[0] if len(edits) == 1 else "<ul>" + "".join(f"<li>{edit}</li>" for edit in edits) + "</ul>"
        patch = printable_json([dict(operation) for operation in way.patch]).split("\n")
        whose = f'<span class="unseen"> the JSON Patch of way out {number}</span>'
        yield (
            f'<li class="block way"><div class="edits">{told}</div>\n{gives(way)}\n'
            f'<div class="bar-line">{button(f"Way out {number}", way)}'
            f'<details class="patch"><summary>JSON Patch<span class="unseen"> of way out {number}</span></summary>\n'
            f'<pre tabindex="0" aria-label="JSON Patch of way out {number}">'
            f"<code>{chr(10).join(map(escape, patch))}</code></pre>\n"
            f'<button type="button" class="copy scripted">Copy{whose}</button></details></div></li>'
        )
    if found:
        yield "</ol>"


def dead_ends(found: Sequence[DeadEnd]) -> Iterator[str]:
    """The corrections without a way out, each with why."""
    if not found:
        return
    yield '<h3>No way out</h3>\n<ul class="ways">'
    for each in found:
        ids = ", ".join(map(code, each.ids))
        yield f'<li class="block way">By changing {ids}: {prose(each.text)}</li>'
    yield "</ul>"


def question(asked: Mapping[str, Any], hints: Iterable[UnmetHint]) -> str:
    """What was asked, of which tenant and under which pack, and when; and the hints that the answer doesn't follow."""
    facts = "".join(
        f"<div><dt>{name[:1].upper()}{name[1:]}</dt><dd>{escape(value)}</dd></div>"
        for name, value in question_facts(asked)
    )
    found = f'<dl class="question"><div><dt>Asked</dt><dd>{prose(subject_of(asked))}</dd></div>{facts}</dl>'
    if "declaration" in asked:
        lines = printable_json(asked["declaration"]).split("\n")
        is_open = " open" if len(lines) <= _OPEN_LINES else ""
        text = "\n".join(map(escape, lines))
        found += (
            f'\n<details class="declaration"{is_open}><summary>The declaration</summary>'
            f'<pre tabindex="0" aria-label="The declaration"><code>{text}</code></pre></details>'
        )
    unmet = "".join(f"<li>{_sentence(hint)}</li>" for hint in hints)
    return found + (f'\n<ul class="lines hints">{unmet}</ul>' if unmet else "")


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
