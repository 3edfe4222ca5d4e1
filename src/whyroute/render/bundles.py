"""A bundle as text: the picks, or what clashes and whose move it is."""

from collections.abc import Iterator, Sequence
from itertools import count

from ..basics.issues import shown
from ..basics.numbers import ecmascript
from ..bundles.bundle import Bundle, outcome_of
from ..bundles.contrast import BundleContrast
from ..bundles.explanation import BundleExplanation
from ..bundles.sentences import further_clash, joint_named, shadow_sentence
from ..catalog.candidate import Candidate
from ..documents.phrases import joined
from ..explanations.relaxations import BundleRelaxation
from ..explanations.ways import WaysOut, ways_out
from ..explanations.words import counted
from ..solving.joint import JointConstraint
from .lines import WIDTH, Line, pair, printable, within
from .prose import dead_ends, way_lines
from .question import hint_lines, question_lines

__all__ = [
    "bundle_explanation_lines",
    "by_owner",
    "why_not_words",
]

_ALTERNATES = 3
_CORES = 3
_WAYS = 6


def bundle_explanation_lines(
    explanation: BundleExplanation, *, everything: bool = False, asked: bool = True
) -> Iterator[Line]:
    """What was asked; why not the picks asked about, if any were; then the bundle, what clashes, or that it is unknown.

    Args:
        explanation: What to tell.
        everything: All clashes and ways out, however many.
        asked: Say first what was asked.
    """
    if asked:
        yield from (within(line, WIDTH) for line in question_lines(explanation.asked))
    yield from _contrast_lines(explanation)
    outcome = outcome_of(explanation.solved)
    if isinstance(outcome, Bundle):
        yield from (within(line, WIDTH) for line in _bundle_lines(outcome))
    elif explanation.solved.best.proved:
        yield from (within(line, WIDTH) for line in _failed_lines(explanation, everything))
    else:
        yield ((printable(str(outcome)), "yellow"),)


def _bundle_lines(bundle: Bundle) -> Iterator[Line]:
    """The pick of each slot, why, and the next best bundles by what they change."""
    width = max(len(printable(name)) for name in bundle.picks)
    chosen = [pair(candidate) for candidate in bundle.picks.values()]
    widest = max(map(len, chosen))
    for (name, candidate), text in zip(bundle.picks.items(), chosen, strict=True):
        yield (
            (printable(name).ljust(width), "bold"),
            (f"  {text}", "bold green"),
            (f"{' ' * (widest - len(text))}  {_facts(candidate)}", "dim"),
        )
    yield ("  why         ", "dim"), (printable(bundle.reason), "")
    if not bundle.proved:
        yield ("  not proved  ", "dim"), ("the search ended at its limit; a better bundle may exist", "yellow")
    tried = shadow_sentence(bundle.explanation.solved)
    if tried is not None:
        yield ("  shadow      ", "dim"), (printable(tried), "yellow")
    for place, other in enumerate(bundle.alternates.first(_ALTERNATES)):
        changes = [
            f"{printable(name)} {pair(candidate)}"
            for name, candidate in other.picks.items()
            if candidate.to_dict() != bundle.picks[name].to_dict()
        ]
        yield (
            ("  next best   " if place == 0 else " " * 14, "dim"),
            (joined(changes), ""),
            (f"  {ecmascript(other.score)}", "green"),
        )


def _facts(candidate: Candidate) -> str:
    meta, model = candidate.metadata, candidate.model
    p95 = "p95 unknown" if model.p95_latency_ms is None else f"p95 {ecmascript(model.p95_latency_ms)} ms"
    return f"{printable(meta.region)}, ${ecmascript(model.cost.prompt_usd_per_1k_tokens)} per 1K prompt tokens, {p95}"


def _failed_lines(explanation: BundleExplanation, everything: bool) -> Iterator[Line]:
    """What clashes between which slots, and the ways out, by whose move they are."""
    solved = explanation.solved
    yield ("No bundle qualifies: ", "bold red"), (printable(explanation.clash), "")
    told = further_clash(solved, explanation.core)
    others = [each for core in explanation.cores if (each := further_clash(solved, core)) != told]
    others = list(dict.fromkeys(others))
    listed = others[: None if everything else _CORES - 1]
    for sentence in listed:
        yield ("Also, ", "dim"), (printable(sentence), "")
    if len(others) > len(listed):
        yield ((f"{len(others) - len(listed)} more clashes; --all tells them", "dim"),)
    yield from hint_lines(explanation.hints)
    for failure in explanation.setup_failures:
        yield ("Not set up: ", "yellow"), (f"{printable(failure.provider_id)}: {printable(failure.message)}", "")
    ways, numbers = ways_out(explanation), count(1)
    for title, found in by_owner(ways):
        yield from way_lines(title, found, numbers, _gives, most=None if everything else _WAYS)
    yield from dead_ends(explanation.dead_ends, everything=everything)
    fixed = [printable(joint_named(solved, constraint)) for constraint in ways.fixed]
    if fixed:
        yield ("Not yours to change: ", "bold"), (joined(fixed), "cyan")
    if explanation.truncated:
        yield ((f"There are more {joined(explanation.truncated)} than were worked out", "dim"),)
    if not explanation.proved:
        yield (("Some of it was too hard to prove within the limit", "yellow"),)


def by_owner(ways: WaysOut[JointConstraint, BundleRelaxation]) -> list[tuple[str, Sequence[BundleRelaxation]]]:
    """The ways out, by whose moves they are."""
    return [("the request's own", ways.bounds), ("the policy", ways.policy), ("a waiver", ways.waivers)]


def _gives(way: BundleRelaxation) -> str:
    return joined([f"{printable(name)} {pair(each)}" for name, each in way.picks.items()])


def _contrast_lines(explanation: BundleExplanation) -> Iterator[Line]:
    """Why the candidates that were asked about are not the picks; nothing when none were."""
    contrast = explanation.contrast
    if contrast is None:
        return
    asked = joined([f"{printable(s)} {printable(p)} / {printable(m)}" for s, (p, m) in contrast.asked.items()])
    yield (("Why not ", "bold"), (asked, "yellow"), (f"? {why_not_words(contrast, explanation)}", ""))
    for constraint, slot, reason in contrast.failed:
        where = "" if slot is None else f"in slot {shown(slot)}: "
        yield (f"  {printable(constraint.id)}", "cyan"), (f"  {printable(where + reason.message)}", "yellow")


def why_not_words(contrast: BundleContrast, explanation: BundleExplanation) -> str:
    """Why the candidates that were asked about are not the picks, in a sentence without its period."""
    if contrast.missing:
        return f"No such candidate for {joined([shown(slot) for slot in contrast.missing])}"
    if contrast.failed:
        stopping = len(contrast.failed)
        return f"{counted(stopping, 'constraint')} stop{'s' if stopping == 1 else ''} it"
    if contrast.picks is None:
        names = [printable(joint_named(explanation.solved, constraint)) for constraint in contrast.clash]
        verb = "can't be met" if len(names) == 1 else f"can't {'both' if len(names) == 2 else 'all'} hold"
        return f"No candidates of the other slots fit beside it: {joined(names)} {verb} then"
    match contrast.decided_by:
        case "fallback":
            return "It qualifies, with more fallbacks than the best bundle"
        case "hint":
            return "It qualifies; the best bundle honours more hints"
        case "score":
            scores = ecmascript(contrast.pick_score or 0), ecmascript(contrast.score or 0)
            return f"It qualifies; the best bundle scores more, {scores[0]} against {scores[1]}"
        case "slot":
            return f"It qualifies; the scores tie, and slot {shown(contrast.slot or '')} has a better ranked pick"
        case None:
            return "It is in the best bundle"
