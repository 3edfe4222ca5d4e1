"""A bundle as a page: its slots as columns, what ties them as rows across, what clashes, and the ways out."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count

from ...basics.numbers import Number, ecmascript, wire_number
from ...bundles.bundle import Bundle, outcome_of
from ...bundles.explanation import BundleExplanation
from ...bundles.sentences import further_clash, joint_described, shadow_sentence
from ...catalog.candidate import Candidate
from ...documents.phrases import joined
from ...explanations.relaxations import BundleRelaxation
from ...explanations.ways import ways_out
from ...explanations.words import counted
from ...solving.joint import JointConstraint
from ...solving.ties import Tie
from ..bundles import by_owner, why_not_words
from . import markup
from .document import data, filled, page_style

__all__ = ["bundle_page"]


def bundle_page(explanation: BundleExplanation, *, title: str | None = None) -> str:
    """The explanation of a bundle as one HTML file that loads nothing, works offline and reads without its script.

    The same explanation gives the same bytes.

    Args:
        explanation: What to show.
        title: What the page is called, such as the name of the bundle.
    """
    slots = len(explanation.solved.names)
    style = f"{page_style()}{data('bundle.css')}:root {{ --slots: {slots}; }}\n"
    script = data("frame.js") + data("bundle.js")
    answer = _headline(explanation)
    return filled(
        "bundle.html",
        style,
        script,
        answer,
        title,
        satisfiable=explanation.satisfiable,
        verdict=_verdict(explanation, answer),
        question=markup.question(explanation.asked, explanation.hints),
        sections="\n".join(part for part in _sections(explanation) if part),
    )


def _headline(explanation: BundleExplanation) -> str:
    slots = len(explanation.solved.names)
    if explanation.satisfiable:
        return "The slot has its pick" if slots == 1 else f"{'Both' if slots == 2 else f'All {slots}'} slots have picks"
    return "No bundle qualifies" if explanation.solved.best.proved else "No bundle was found within the limit"


def _verdict(explanation: BundleExplanation, answer: str) -> str:
    solved = explanation.solved
    outcome = outcome_of(solved)
    sign, mark = ("good", "✓") if explanation.satisfiable else ("bad", "✗")
    lede = outcome.reason if isinstance(outcome, Bundle) else _why_none(explanation)
    parts = [counted(len(solved.names), "slot"), counted(len(solved.ties), "tie")]
    parts.append(counted(solved.catalog.size))
    counts = '<span class="dot" aria-hidden="true"> · </span>'.join(f"<span>{part}</span>" for part in parts)
    return (
        f'<h1><span class="sign {sign}" aria-hidden="true">{mark}</span> {answer}</h1>\n'
        f'<p class="lede">{markup.prose(_sentence(lede))}</p>\n<p class="counts">{counts}</p>'
    )


def _why_none(explanation: BundleExplanation) -> str:
    if not explanation.solved.best.proved:
        return str(outcome_of(explanation.solved))
    return explanation.clash


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _sections(explanation: BundleExplanation) -> Iterator[str]:
    yield _contrast(explanation)
    yield markup.section("slots", "Slots", [_slots(explanation)])
    yield markup.section("notes", "Beside that", _notes(explanation))
    if explanation.satisfiable:
        yield markup.section("ranking", "In order", _ranking(explanation))
        return
    if explanation.catalog.size and explanation.solved.best.proved:
        yield markup.section("clashes", "What can't hold together", _clashes(explanation))
        yield markup.section("ways", "Ways out", _ways(explanation))


def _toggle(explanation: BundleExplanation, name: str, constraints: Sequence[JointConstraint]) -> str:
    """A button that highlights constraints among the slots. It needs the script and is hidden without it."""
    wanted = {constraint.id for constraint in constraints}
    places = [str(place) for place, each in enumerate(explanation.constraints) if each.id in wanted]
    return markup.toggle(name, "among the slots", f'data-name="{name}" data-constraints="{" ".join(places)}"')


# The slots.


def _slots(explanation: BundleExplanation) -> str:
    solved = explanation.solved
    heads = "".join(f'<th scope="col">{markup.code(name)}</th>' for name in solved.names)
    rows = "\n".join(_rows(explanation))
    name = "The slots, and what ties them"
    return markup.scrolling(
        name,
        f'<table><caption class="unseen">{name}</caption>\n'
        f'<thead><tr><td><span class="unseen">Constraint</span></td>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>'
        "</table>",
    )


def _rows(explanation: BundleExplanation) -> Iterator[str]:
    solved = explanation.solved
    numbers = solved.best.numbers
    picks = None if numbers is None else list(solved.picks(numbers).values())
    if picks is not None:
        cells = [f"<td>{markup.candidate(each)}{_facts(each)}</td>" for each in picks]
        yield f'<tr class="pick"><th scope="row">Pick</th>{"".join(cells)}</tr>'
    slots = range(len(solved.names))
    asked: list[list[str]] = [[] for _ in slots]
    shared: list[str] = []
    between: list[str] = []
    for place, constraint in enumerate(explanation.constraints):
        if constraint.tie is not None:
            between.append(_tie_row(explanation, place, constraint, picks))
        elif constraint.owner == "caller":
            slot = constraint.slots[0]
            own = _share(explanation, constraint, slot)
            asked[slot].append(f'<li data-constraint="{place}">{_words(explanation, constraint)}{own}</li>')
        else:
            held = "".join(
                f"<td>{_share(explanation, constraint, slot) if slot in constraint.named else _NOT_HERE}</td>"
                for slot in slots
            )
            shared.append(
                f'<tr data-constraint="{place}"><th scope="row">{_words(explanation, constraint)}</th>{held}</tr>'
            )
    lists = "".join(f"<td><ul>{''.join(each)}</ul></td>" for each in asked)
    yield f'<tr><th scope="row">Asks for</th>{lists}</tr>'
    yield from shared
    total = solved.catalog.size
    left = [each.survivors.bit_count() for each in solved.slots]
    alone = "".join(f"<td>{_counted(each, total, 'qualifies' if each == 1 else 'qualify')}</td>" for each in left)
    yield f'<tr class="alone"><th scope="row">Alone</th>{alone}</tr>'
    yield from between


_NOT_HERE = '<span class="none">not here</span>'


def _facts(candidate: Candidate) -> str:
    model = candidate.model
    p95 = "p95 unknown" if model.p95_latency_ms is None else f"p95 {ecmascript(model.p95_latency_ms)} ms"
    price = f"${ecmascript(model.cost.prompt_usd_per_1k_tokens)} per 1K prompt tokens"
    return f'<span class="facts">{markup.escape(str(candidate.metadata.region))}, {price}, {p95}</span>'


def _share(explanation: BundleExplanation, constraint: JointConstraint, slot: int) -> str:
    return _counted(constraint.named[slot].admitted.bit_count(), explanation.catalog.size, "pass")


def _counted(part: int, whole: int, verb: str) -> str:
    number = f'<span class="bad">{part}</span>' if whole and not part else str(part)
    rest = "" if verb != "pass" else f", {whole - part} fail"
    return f'<span class="share">{markup.bar(part, whole)} {number} {verb}{rest}</span>'


def _words(explanation: BundleExplanation, constraint: JointConstraint) -> str:
    """A constraint in words, with its id, and for a rule why it exists, where it is written and its contact."""
    words = joint_described(explanation.solved, constraint)
    ask = "" if constraint.contact is None else f", ask {constraint.contact}"
    return markup.constraint(constraint, words, ask=ask) + markup.because(constraint)


def _tie_row(
    explanation: BundleExplanation, place: int, constraint: JointConstraint, picks: Sequence[Candidate] | None
) -> str:
    solved = explanation.solved
    assert constraint.tie is not None  # it is a tie's row
    tie = solved.ties[constraint.tie]
    cells = []
    for slot, each in enumerate(solved.slots):
        if slot not in constraint.slots:
            cells.append(f'<td class="apart">{_NOT_HERE}</td>')
        elif picks is not None:
            cells.append(f"<td>{_value(tie, picks[slot])}</td>")
        else:
            cells.append(f"<td>{_spread(tie, list(solved.catalog.candidates(each.survivors)))}</td>")
    total = ""
    if picks is not None and tie.op is not None:
        found = tie.total([picks[slot] for slot in constraint.slots])
        total = "" if found is None else f'<span class="value">{tie.kind}: {ecmascript(wire_number(found))}</span>'
    head = f'<th scope="row">{_words(explanation, constraint)}{total}</th>'
    return f'<tr class="between" data-constraint="{place}">{head}{"".join(cells)}</tr>'


def _value(tie: Tie, candidate: Candidate) -> str:
    value = tie.values([candidate])[0]
    return '<span class="none">unknown</span>' if value is None else _plain(value)


def _plain(value: str | Number) -> str:
    return markup.code(value) if isinstance(value, str) else ecmascript(value)


def _spread(tie: Tie, candidates: list[Candidate]) -> str:
    """What those that qualify alone have in the tie's field: the values, or from where to where they go."""
    values = tie.values(candidates)
    known = sorted({value for value in values if value is not None})
    unknown = sum(value is None for value in values)
    parts = []
    if tie.op is not None and len(known) > 1:
        parts.append(f"{_plain(known[0])} to {_plain(known[-1])}")
    else:
        more = [f"{len(known) - _VALUES} more"] if len(known) > _VALUES else []
        parts += [joined([*map(_plain, known[:_VALUES]), *more])] if known else []
    if unknown:
        parts.append(f"unknown of {unknown}")
    return "; ".join(parts) or '<span class="none">none</span>'


_VALUES = 4


# What is told beside them.


def _contrast(explanation: BundleExplanation) -> str:
    contrast = explanation.contrast
    if contrast is None:
        return ""
    asked = joined([f"{markup.code(slot)} {markup.pair(*each)}" for slot, each in contrast.asked.items()])
    stopping = [constraint for constraint, _, _ in contrast.failed] or list(contrast.clash)
    toggle = _toggle(explanation, "What stops it", stopping) if stopping else ""
    body = [f"<p>{markup.prose(_sentence(why_not_words(contrast, explanation)))} {toggle}</p>"]
    if contrast.failed:
        rows = "\n".join(
            f"<li>{_words(explanation, constraint)}"
            f'<span class="reason">{"" if slot is None else f"in slot {markup.code(slot)}: "}'
            f"{markup.prose(reason.message)}</span></li>"
            for constraint, slot, reason in contrast.failed
        )
        body.append(f'<ul class="constraints">{rows}</ul>')
    return markup.section("contrast", f"Why not {asked}?", body)


def _notes(explanation: BundleExplanation) -> Iterator[str]:
    lines = []
    tried = shadow_sentence(explanation.solved)
    if tried is not None:
        lines.append(f"In shadow mode: {markup.prose(tried)}.")
    lines += [
        f"Not set up: {markup.code(failure.provider_id)}: {markup.prose(failure.message)}"
        for failure in explanation.setup_failures
    ]
    if lines:
        yield '<ul class="lines">' + "\n".join(f"<li>{line}</li>" for line in lines) + "</ul>"


def _ranking(explanation: BundleExplanation) -> Iterator[str]:
    names = explanation.solved.names
    heads = [("Score", "number"), *((markup.code(name), "") for name in names)]
    rows = [
        [ecmascript(ranked.score), *(markup.candidate(each) for each in ranked.picks.values())]
        for ranked in explanation.ranking
    ]
    table = markup.table("The best bundles, in order", heads, rows)
    yield markup.scrolling("The best bundles", table)


# When there is none.


def _clashes(explanation: BundleExplanation) -> Iterator[str]:
    cores = explanation.cores
    yield from markup.clashes(cores, partial(_clash, explanation), partial(_further, explanation))
    if "cores" in explanation.truncated:
        yield f'<p class="note">There are more clashes than the {len(cores)} that were worked out.</p>'
    if not explanation.proved:
        yield '<p class="note">Some of it was too hard to prove within the limit.</p>'


def _clash(explanation: BundleExplanation, name: str, core: Sequence[JointConstraint]) -> tuple[str, str]:
    rows = "\n".join(
        f'<li>{_words(explanation, each)}<span class="share">{markup.escape(_where(explanation, each))}</span></li>'
        for each in core
    )
    return _toggle(explanation, name, core), f'<ul class="constraints">{rows}</ul>'


def _further(explanation: BundleExplanation, number: int, core: Sequence[JointConstraint]) -> str:
    """A clash in a line."""
    phrase = markup.prose(_sentence(further_clash(explanation.solved, core)))
    return f"{phrase} {_toggle(explanation, f'Clash {number}', core)}"


def _where(explanation: BundleExplanation, constraint: JointConstraint) -> str:
    """In which slots a constraint holds."""
    names = explanation.solved.names
    if len(constraint.slots) == len(names):
        return "all slots" if len(names) > 1 else ""
    return joined([names[slot] for slot in constraint.slots])


def _ways(explanation: BundleExplanation) -> Iterator[str]:
    def button(name: str, way: BundleRelaxation) -> str:
        return _toggle(explanation, name, way.correction)

    ways, numbers = ways_out(explanation), count(1)
    for title, found in by_owner(ways):
        yield from markup.ways(f"{title[:1].upper()}{title[1:]}", found, numbers, _gives, button)
    if ways.fixed:
        rows = [f'<li class="block way">{_words(explanation, each)}{_because(each)}</li>' for each in ways.fixed]
        yield f'<h3>Not yours to change</h3>\n<ul class="ways">{"".join(rows)}</ul>'
    yield from markup.dead_ends(explanation.dead_ends)
    if "relaxations" in explanation.truncated:
        yield '<p class="note">There are more ways out than were worked out.</p>'


def _gives(way: BundleRelaxation) -> str:
    picks = "".join(
        f"<dt>{markup.code(slot)}</dt><dd>{markup.candidate(each)}</dd>" for slot, each in way.picks.items()
    )
    return f'<div class="gives">gives <dl>{picks}</dl></div>'


def _because(constraint: JointConstraint) -> str:
    return "" if constraint.because is None else f": {markup.escape(constraint.because)}"
