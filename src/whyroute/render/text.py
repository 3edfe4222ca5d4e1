"""Text for a terminal or a file: lines of styled spans, so that colour can be left out."""

from collections.abc import Iterable, Iterator, Sequence

from ..decisions import Decision
from ..errors import CapabilityUnsatisfiableError, WhyrouteError
from ..explanations import Explanation
from ..issues import Issue
from ..numbers import ecmascript
from ..ranking import RankedCandidates

__all__ = ["Line", "Span", "decision_lines", "error_lines", "explanation_lines", "failure_lines"]

Span = tuple[str, str]
"""A piece of text and its style: a name of rich's, or empty."""

Line = tuple[Span, ...]

_ALTERNATES_SHOWN = 5


def decision_lines(decision: Decision) -> Iterator[Line]:
    """The pick, why, and the first alternates."""
    meta, model = decision.candidate.metadata, decision.model
    yield (printable(meta.id), "bold green"), (" / ", "dim"), (printable(model.name), "bold green")
    yield ("  why         ", "dim"), (printable(decision.reason), "")
    facts = [meta.region, f"{ecmascript(model.context_window)} tokens"]
    prices = (model.cost.prompt_usd_per_1k_tokens, model.cost.completion_usd_per_1k_tokens)
    facts.append("${} + ${} per 1K tokens".format(*map(ecmascript, prices)))
    facts.append("p95 unknown" if model.p95_latency_ms is None else f"p95 {ecmascript(model.p95_latency_ms)} ms")
    yield ("  model       ", "dim"), (printable(", ".join(facts)), "")
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
            (_named(candidate.metadata.id, candidate.model.name), ""),
        )
    more = len(alternates) - _ALTERNATES_SHOWN
    if more > 0:
        yield (" " * 14, "dim"), (f"and {more} more", "dim")


def failure_lines(error: CapabilityUnsatisfiableError) -> Iterator[Line]:
    """That nothing qualifies, and what each constraint does."""
    yield from _headline(error.explanation)
    yield from _setup_lines(error.explanation)
    yield ()
    yield from _constraint_lines(error.explanation)


def explanation_lines(explanation: Explanation) -> Iterator[Line]:
    """What each constraint admits and rejects, and everything that stands in the way of each candidate."""
    yield from _headline(explanation)
    yield from _setup_lines(explanation)
    yield ()
    yield from _constraint_lines(explanation)
    misses = explanation.near_misses
    if not misses:
        return
    yield ()
    yield (("Candidates that don't qualify, fewest failures first", "bold"),)
    for miss in misses:
        yield (("  " + _named(miss.candidate.metadata.id, miss.candidate.model.name), "bold"),)
        rows = [(constraint.id, constraint.label, reason.message) for constraint, reason in miss.failed]
        widths = [max(len(printable(row[column])) for row in rows) for column in (0, 1)]
        for name, label, message in rows:
            yield (
                ("      " + printable(name).ljust(widths[0]), "cyan"),
                ("  " + printable(label).ljust(widths[1]), ""),
                ("  " + printable(message), "yellow"),
            )


def _headline(explanation: Explanation) -> Iterator[Line]:
    total = explanation.catalog.size
    candidates = f"{total} candidate{'' if total == 1 else 's'}"
    if not explanation.satisfiable:
        text = (
            f"Nothing qualifies: none of the {candidates} meets every constraint"
            if total > 1
            else (
                "Nothing qualifies: the one candidate does not meet every constraint"
                if total
                else "Nothing qualifies: there are no candidates"
            )
        )
        yield ((text, "bold red"),)
        return
    count = explanation.survivors.bit_count()
    yield ((f"{count} of {candidates} qualif{'ies' if count == 1 else 'y'}", "bold green"),)


def _setup_lines(explanation: Explanation) -> Iterator[Line]:
    for failure in explanation.setup_failures:
        yield (
            ("  provider ", ""),
            (printable(failure.provider_id), "bold"),
            (" could not be set up: ", ""),
            (printable(failure.message), "yellow"),
        )


def _constraint_lines(explanation: Explanation) -> Iterator[Line]:
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


def _named(provider_id: str, model_name: str) -> str:
    return f"{printable(provider_id)} / {printable(model_name)}"


def printable(text: str) -> str:
    """The text with control and other unprintable characters escaped: nothing from a catalog drives a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
