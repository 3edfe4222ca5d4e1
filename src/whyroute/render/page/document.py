"""The whole document: the template with the words, the data, the style and the script, and nothing from elsewhere."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from string import Template

from ...explanations import Explanation
from . import markup, sections
from .payload import matrix_of, payload, script_json

__all__ = ["colours", "data", "explanation_page", "filled", "page_sources", "page_style"]


def explanation_page(explanation: Explanation, *, title: str | None = None) -> str:
    """An explanation as one HTML file that loads nothing, works offline and reads without its script.

    The same explanation gives the same bytes. A catalog of more than some thousand candidates is shown in part: the
    best that qualify and the nearest of the others; the page says how many it leaves out.

    Args:
        explanation: What to show.
        title: What the page is called, such as the name of the request's file.
    """
    matrix = matrix_of(explanation)
    return filled(
        "page.html",
        *_style_and_script(),
        sections.headline(explanation),
        title,
        satisfiable=explanation.satisfiable,
        verdict=sections.verdict(explanation),
        question=markup.question(explanation.asked, explanation.hints),
        sections=sections.sections(explanation, matrix),
        omitted=_omitted(matrix.omitted_survivors, matrix.omitted_others, len(matrix.numbers)),
        data=script_json(payload(explanation, matrix)),
    )


def filled(
    template: str, style: str, script: str, answer: str, title: str | None, *, satisfiable: bool, **parts: str
) -> str:
    """A page from its template.

    Args:
        template: The name of the template.
        style: Its style sheet.
        script: Its script.
        answer: What it says first.
        title: What it is called.
        satisfiable: Whether the answer is a good one.
        parts: What else the template has places for.
    """
    return Template(data(template)).substitute(
        policy=_content_policy(style, script),
        title=markup.escape(answer if title is None else f"{title}: {answer}"),
        name="" if title is None else f'<p class="name">{markup.escape(title)}</p>',
        style=style,
        script=script,
        state="good" if satisfiable else "bad",
        **parts,
    )


@cache
def page_sources() -> tuple[str, str]:
    """What a Content Security Policy has to admit for a page: the source expressions of its style and its script."""
    style, script = _style_and_script()
    return _hash(style), _hash(script)


@cache
def _style_and_script() -> tuple[str, str]:
    return page_style(), data("frame.js") + data("page.js")


def _omitted(survivors: int, others: int, shown: int) -> str:
    """What the matrix leaves out, in words."""
    if not survivors and not others:
        return ""
    total = shown + survivors + others
    parts = [
        f"{count:,} {'that qualifies' if count == 1 else 'that qualify'}"
        if kind == "in"
        else f"{count:,} that {'does' if count == 1 else 'do'} not"
        for kind, count in (("in", survivors), ("out", others))
        if count
    ]
    return (
        f'<p class="note" id="omitted">The matrix shows {shown:,} of {total:,} candidates, the best and the nearest. '
        f"Left out: {' and '.join(parts)}.</p>"
    )


def _content_policy(style: str, script: str) -> str:
    """The Content Security Policy that admits exactly this style and this script, and nothing from elsewhere."""
    sources = f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    return f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    """A source expression of the Content Security Policy that admits exactly this text."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def page_style() -> str:
    """The style sheet that all pages have in common."""
    return colours() + data("page.css")


def colours() -> str:
    """The colours in the light and in the dark, and the type of what is code, as a style sheet."""
    return data("colours.css")


@cache
def data(name: str) -> str:
    """The text of a file of the page."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
