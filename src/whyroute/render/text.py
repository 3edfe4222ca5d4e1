"""Text for a terminal or a file: lines of styled spans, so that colour can be left out."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from ..basics.issues import Issue
from ..basics.numbers import ecmascript
from ..errors import WhyrouteError
from ..explanations.sentences import shadow_clause
from ..routing.decision import Decision
from ..solving.ranking import RankedCandidates
from .lines import WIDTH, Line, pair, printable, within
from .question import question_lines

__all__ = ["decision_lines", "error_lines"]

_ALTERNATES_SHOWN = 5


def decision_lines(decision: Decision) -> Iterator[Line]:
    """What was asked, the pick, why, and the first alternates."""
    lines = chain(question_lines(decision.asked), _decision_lines(decision))
    return (within(line, WIDTH) for line in lines)


def _decision_lines(decision: Decision) -> Iterator[Line]:
    meta, model = decision.candidate.metadata, decision.model
    yield (printable(meta.id), "bold green"), (" / ", "dim"), (printable(model.name), "bold green")
    yield ("  why         ", "dim"), (printable(decision.reason), "")
    facts = [meta.region, f"{ecmascript(model.context_window)} tokens"]
    prices = (model.cost.prompt_usd_per_1k_tokens, model.cost.completion_usd_per_1k_tokens)
    facts.append("${} + ${} per 1K tokens".format(*map(ecmascript, prices)))
    facts.append("p95 unknown" if model.p95_latency_ms is None else f"p95 {ecmascript(model.p95_latency_ms)} ms")
    yield ("  model       ", "dim"), (printable(", ".join(facts)), "")
    tried = shadow_clause(decision.shadow, decision.candidate.key)
    if tried is not None:
        yield ("  shadow      ", "dim"), (printable(tried), "yellow")
    if decision.fallback:
        yield ("  fallback    ", "dim"), ("only fallback providers qualify", "yellow")
    yield from _alternate_lines(decision.alternates)


def _alternate_lines(alternates: RankedCandidates) -> Iterator[Line]:
    if not alternates:
        yield ("  alternates  ", "dim"), ("none", "")
        return
    for place, candidate in enumerate(alternates[:_ALTERNATES_SHOWN]):
        yield (
            ("  alternates  " if place == 0 else " " * 14, "dim"),
            (pair(candidate), ""),
        )
    more = len(alternates) - _ALTERNATES_SHOWN
    if more > 0:
        yield (" " * 14, "dim"), (f"and {more} more", "dim")


def error_lines(error: WhyrouteError) -> Iterator[Line]:
    """An error as the person who gets it reads it: all its problems, each with where it is."""
    issues: Sequence[Issue] = getattr(error, "issues", ())
    if len(issues) <= 1:
        yield (("error: ", "bold red"), (printable(str(error)), ""))
        return
    subject = getattr(error, "subject", "the input")
    yield (("error: ", "bold red"), (f"{subject} has {len(issues)} problems", ""))
    yield from _issue_lines(issues)


def _issue_lines(issues: Iterable[Issue]) -> Iterator[Line]:
    for issue in issues:
        yield ((f"  {printable(issue.path) or '(whole input)'}", "cyan"), (f": {printable(issue.message)}", ""))
