"""What an answer says of its question, in words: a line of text, or names with values for a page."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..basics.issues import shown
from ..basics.numbers import ecmascript
from ..documents.phrases import counted
from ..explanations.hints import UnmetHint, hint_sentence
from .lines import Line, printable

__all__ = ["hint_lines", "question_facts", "question_lines", "subject_of"]

_DIGITS = 12  # of a pack's digest, in text: enough to tell packs apart


def subject_of(asked: Mapping[str, Any]) -> str:
    """What is asked for: a name of the pack, or a declaration of the request's own."""
    if "capability" in asked:
        return shown(asked["capability"])
    if "bundle" in asked:
        return f"bundle {shown(asked['bundle'])}"
    slots = asked.get("declaration", {}).get("slots")
    return "a declaration of its own" if slots is None else f"a bundle of {counted(len(slots), 'slot')}"


def question_lines(asked: Mapping[str, Any]) -> Iterator[Line]:
    """The question as a line of text."""
    parts = [subject_of(asked)]
    if "tenant" in asked:
        parts[0] += f" for tenant {shown(asked['tenant'])}"
    parts += [f"{name} {value}" for name, value in _said(asked)]
    parts.append(f"at {asked['at']}")
    if "pack" in asked:
        parts.append(f"pack {asked['pack'][:_DIGITS]}")
    parts.append(f"whyroute {asked['whyroute']}")
    yield ("Asked: ", "dim"), (printable("; ".join(parts)), "dim")


def question_facts(asked: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What a question says beside what it asks for, each fact with its name."""
    if "tenant" in asked:
        yield "tenant", asked["tenant"]
    yield from _said(asked)
    yield "time", asked["at"]
    if "pack" in asked:
        yield "pack", asked["pack"]
    yield "answered by", f"whyroute {asked['whyroute']}"


def _said(asked: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The labels, tokens and hints of a question."""
    if asked["labels"]:
        yield "labels", ", ".join(f"{key}={each['value']} ({each['from']})" for key, each in asked["labels"].items())
    if "tokens" in asked:
        yield "tokens", ", ".join(f"{ecmascript(count)} {name}" for name, count in asked["tokens"].items())
    for key, name in (("preferredProvider", "preferred provider"), ("preferredModel", "preferred model")):
        if key in asked:
            yield name, asked[key]


def hint_lines(hints: Iterable[UnmetHint]) -> Iterator[Line]:
    """The hints that an answer doesn't follow, a line each."""
    for hint in hints:
        yield ("Hint: ", "yellow"), (printable(hint_sentence(hint)), "")
