"""A bundle as a page: its slots as columns, what ties them as rows across, what clashes, and the ways out."""

from collections.abc import Iterable, Iterator, Sequence

from ...basics.numbers import Number, ecmascript, wire_number
from ...bundles import BundleExplanation, BundleRelaxation, JointConstraint
from ...bundles.bundle import Bundle, outcome_of
from ...bundles.sentences import core_phrase, joint_described, shadow_sentence
from ...bundles.ties import Tie
from ...catalog.catalog import Candidate
from ...documents.phrases import joined
from ...explanations.words import counted
from ..bundles import not_to_change, ways_by_owner, why_not_words
from . import markup
from .document import data, filled, page_style
from .payload import printable_json

__all__ = ["bundle_page"]

_OPEN_CLASHES = 4


def bundle_page(explanation: BundleExplanation, *, title: str | None = None) -> str:
    """The explanation of a bundle as one HTML file that loads nothing, works offline and reads without its script.

    The same explanation gives the same bytes.

    Args:
        explanation: What to show.
        title: What the page is called, such as the name of the bundle.
    """
    count = len(explanation.solved.names)
    style = f"{page_style()}{data('bundle.css')}:root {{ --slots: {count}; }}\n"
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
        sections="\n".join(part for part in _sections(explanation) if part),
    )


def _headline(explanation: BundleExplanation) -> str:
    count = len(explanation.solved.names)
    if explanation.satisfiable:
        return "The slot has its pick" if count == 1 else f"{'Both' if count == 2 else f'All {count}'} slots have picks"
    return "No bundle qualifies" if explanation.solved.best.proved else "No bundle was found within the limit"


def _verdict(explanation: BundleExplanation, answer: str) -> str:
    solved = explanation.solved
    outcome = outcome_of(solved)
    sign, mark = ("good", "✓") if explanation.satisfiable else ("bad", "✗")
    lede = outcome.reason if isinstance(outcome, Bundle) else _why_none(explanation)
    parts = [counted(len(solved.names), "slot"), counted(len(solved.ties), "tie")]
    if solved.policy is not None:
        parts.append(f"tenant {markup.code(solved.policy.tenant_id)}")
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
    yield _section("slots", "Slots", [_slots(explanation)])
    yield _section("notes", "Beside that", _notes(explanation))
    if explanation.satisfiable:
        yield _section("ranking", "In order", _ranking(explanation))
        return
    if explanation.catalog.size and explanation.solved.best.proved:
        yield _section("clashes", "What can't hold together", _clashes(explanation))
        yield _section("ways", "Ways out", _ways(explanation))


def _section(name: str, title: str, body: Iterable[str]) -> str:
    inner = "\n".join(part for part in body if part)
    head = f'<h2 id="{name}-title">{title}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">\n{head}\n{inner}\n</section>' if inner else ""


def _toggle(explanation: BundleExplanation, name: str, constraints: Sequence[JointConstraint]) -> str:
    """A button that highlights constraints among the slots. It needs the script and is hidden without it."""
    wanted = {constraint.id for constraint in constraints}
    places = [str(place) for place, each in enumerate(explanation.constraints) if each.id in wanted]
    return (
        f'<button type="button" class="toggle scripted" data-name="{name}" data-constraints="{" ".join(places)}"'
        f' aria-pressed="false">Highlight<span class="unseen"> {name[:1].lower()}{name[1:]} among the slots</span>'
        "</button>"
    )


# The slots.


def _slots(explanation: BundleExplanation) -> str:
    solved = explanation.solved
    heads = "".join(f'<th scope="col">{markup.code(name)}</th>' for name in solved.names)
    rows = "\n".join(_rows(explanation))
    name = "The slots, and what ties them"
    return (
        f'<div class="scrolling" role="group" aria-label="{name}, table" tabindex="0">'
        f'<table><caption class="unseen">{name}</caption>\n'
        f'<thead><tr><td><span class="unseen">Constraint</span></td>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>'
        "</table></div>"
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
    count = f'<span class="bad">{part}</span>' if whole and not part else str(part)
    rest = "" if verb != "pass" else f", {whole - part} fail"
    return f'<span class="share">{markup.bar(part, whole)} {count} {verb}{rest}</span>'


def _words(explanation: BundleExplanation, constraint: JointConstraint) -> str:
    """A constraint in words, with its id, and for a rule where it is written and whom to ask."""
    words = joint_described(explanation.solved, constraint)
    told = markup.code(words) if words == constraint.label else markup.prose(words)
    where = "".join(f", {origin.file}:{origin.line}" for origin in constraint.origins[:1])
    ask = "" if constraint.contact is None else f", ask {constraint.contact}"
    return f'<span class="words">{told}</span> <span class="id">{markup.escape(f"{constraint.id}{where}{ask}")}</span>'


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
    return "; ".join(parts) or '<span class="none">nobody</span>'


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
    return _section("contrast", f"Why not {asked}?", body)


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
    yield f'<div class="scrolling" role="group" aria-label="The best bundles, table" tabindex="0">{table}</div>'


# When there is none.


def _clashes(explanation: BundleExplanation) -> Iterator[str]:
    cores = explanation.cores
    for number, core in enumerate(cores[:_OPEN_CLASHES], start=1):
        name = f"Clash {number}"
        rows = "\n".join(
            f'<li>{_words(explanation, each)}<span class="share">{markup.escape(_where(explanation, each))}</span></li>'
            for each in core
        )
        yield (
            f'<div class="block clash" role="group" aria-label="{name}">\n<div class="bar-line"><h3>{name}</h3>'
            f'{_toggle(explanation, name, core)}</div>\n<ul class="constraints">{rows}</ul></div>'
        )
    rest = cores[_OPEN_CLASHES:]
    if rest:
        yield f"<details><summary>{len(rest)} more clash{'' if len(rest) == 1 else 'es'}</summary>\n<ul>"
        for number, core in enumerate(rest, start=_OPEN_CLASHES + 1):
            phrase = core_phrase(explanation.solved, core)
            toggle = _toggle(explanation, f"Clash {number}", core)
            yield f'<li class="block bar-line">{number}. {markup.prose(phrase)} {toggle}</li>'
        yield "</ul></details>"
    if "cores" in explanation.truncated:
        yield f'<p class="note">There are more clashes than the {len(cores)} that were worked out.</p>'
    if not explanation.proved:
        yield '<p class="note">Some of it was too hard to prove within the limit.</p>'


def _where(explanation: BundleExplanation, constraint: JointConstraint) -> str:
    """In which slots a constraint holds."""
    names = explanation.solved.names
    if len(constraint.slots) == len(names):
        return "all slots" if len(names) > 1 else ""
    return joined([names[slot] for slot in constraint.slots])


def _ways(explanation: BundleExplanation) -> Iterator[str]:
    number = 0
    for title, ways in ways_by_owner(explanation.relaxations):
        yield f'<h3>{title[:1].upper()}{title[1:]}</h3>\n<ol class="ways" start="{number + 1}">'
        for way in ways:
            number += 1
            yield _way(explanation, number, way)
        yield "</ol>"
    fixed = not_to_change(explanation)
    if fixed:
        rows = [f'<li class="block way">{_words(explanation, each)}{_because(each)}</li>' for each in fixed]
        yield f'<h3>Not yours to change</h3>\n<ul class="ways">{"".join(rows)}</ul>'
    yield from markup.dead_ends(explanation.dead_ends)
    if "relaxations" in explanation.truncated:
        yield '<p class="note">There are more ways out than were worked out.</p>'


def _because(constraint: JointConstraint) -> str:
    return "" if constraint.because is None else f": {markup.escape(constraint.because)}"


def _way(explanation: BundleExplanation, number: int, way: BundleRelaxation) -> str:
    name = f"Way out {number}"
    edits = [markup.prose(text) for text in way.texts]
    told = edits[0] if len(edits) == 1 else "<ul>" + "".join(f"<li>{edit}</li>" for edit in edits) + "</ul>"
    picks = "".join(
        f"<dt>{markup.code(slot)}</dt><dd>{markup.candidate(each)}</dd>" for slot, each in way.picks.items()
    )
    patch = "\n".join(
        markup.escape(line) for line in printable_json([dict(operation) for operation in way.patch]).split("\n")
    )
    whose = f'<span class="unseen"> the JSON Patch of way out {number}</span>'
    return (
        f'<li class="block way"><div class="edits">{told}</div>\n<div class="gives">gives <dl>{picks}</dl></div>\n'
        f'<div class="bar-line">{_toggle(explanation, name, way.correction)}'
        f'<details class="patch"><summary>JSON Patch<span class="unseen"> of way out {number}</span></summary>\n'
        f'<pre tabindex="0" aria-label="JSON Patch of way out {number}"><code>{patch}</code></pre>\n'
        f'<button type="button" class="copy scripted">Copy{whose}</button></details></div></li>'
    )
