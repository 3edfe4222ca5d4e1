"""The words of a page: the verdict, what clashes, the ways out, the ranking. They stand without the script."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import count

from ...basics.issues import shown
from ...basics.numbers import Number, ecmascript
from ...constraints.named import NamedConstraint
from ...documents.phrases import joined
from ...explanations import Explanation, Relaxation
from ...explanations.failures import Failed
from ...explanations.sentences import (
    hinge_clause,
    hinges,
    outranked_clause,
    qualifying_clause,
    redundant_clause,
    score_clause,
    shadow_clause,
    tenant_of,
)
from ...explanations.ways import MissingFact, ways_out
from ...explanations.words import clash_sentence, counted, described, few
from . import markup
from .payload import Matrix

__all__ = ["headline", "sections", "verdict"]

_PROSE_CORE = 3
_TABLE_ROWS = 25
_RANKING_ROWS = 50


def headline(explanation: Explanation) -> str:
    """The answer in a few words, as text."""
    if not explanation.satisfiable:
        return "Nothing qualifies"
    pick = explanation.ranking[0].candidate
    return f"{pick.metadata.id} / {pick.model.name} is the pick"


def verdict(explanation: Explanation) -> str:
    """The answer, and why in a sentence."""
    if explanation.satisfiable:
        first = explanation.ranking[0]
        sign = '<span class="sign good" aria-hidden="true">✓</span>'
        head = f"<h1>{sign} {markup.candidate(first.candidate)} is the pick</h1>"
        lede = f"{qualifying_clause(explanation)}."
    else:
        head = '<h1><span class="sign bad" aria-hidden="true">✗</span> Nothing qualifies</h1>'
        lede = _why_none(explanation)
    return f'{head}\n<p class="lede">{markup.prose(lede)}</p>\n<p class="counts">{_counts(explanation)}</p>'


def _why_none(explanation: Explanation) -> str:
    if not explanation.catalog.size:
        return "There are no candidates, since no provider is registered."
    first = explanation.cores[0]
    total = counted(explanation.catalog.size)
    if len(first) <= _PROSE_CORE:
        sentence = clash_sentence(first, explanation.solved)
        return f"{sentence[:1].upper()}{sentence[1:]}." if first[0].owner == "policy" else f"{sentence}."
    return f"{len(first)} constraints can't all hold, for any of {total}."


def _counts(explanation: Explanation) -> str:
    solved = explanation.solved
    parts = [f"Kind {markup.code(solved.capability.kind)}"]
    parts += [counted(explanation.catalog.size), counted(len(explanation.constraints), "constraint")]
    if not explanation.satisfiable and explanation.catalog.size:
        more = "more than " if "cores" in explanation.truncated else ""
        count = len(explanation.cores)
        parts.append(f"{more}{count} clash{'' if count == 1 else 'es'}")
    return '<span class="dot" aria-hidden="true"> · </span>'.join(f"<span>{part}</span>" for part in parts)


def sections(explanation: Explanation, matrix: Matrix) -> str:
    """Everything that is told beside the matrix."""
    parts = [
        _contrast(explanation, matrix),
        *(_qualifying(explanation, matrix) if explanation.satisfiable else _failing(explanation, matrix)),
        _nearest(explanation),
        _constraints(explanation),
    ]
    return "\n".join(part for part in parts if part)


def _toggle(kind: str, name: str, columns: Iterable[int], row: int | None = None) -> str:
    """A button that highlights columns of the matrix, and a row. It needs the script and is hidden without it."""
    place = "" if row is None else f' data-row="{row}"'
    attributes = f'data-kind="{kind}" data-name="{name}" data-columns="{" ".join(map(str, columns))}"{place}'
    return markup.toggle(name, "in the matrix", attributes)


def _columns(explanation: Explanation, constraints: Iterable[NamedConstraint]) -> list[int]:
    wanted = {constraint.id for constraint in constraints}
    return [index for index, constraint in enumerate(explanation.constraints) if constraint.id in wanted]


# When nothing qualifies.


def _failing(explanation: Explanation, matrix: Matrix) -> Iterator[str]:
    setup = [
        f"<li>{markup.code(failure.provider_id)}: {markup.prose(failure.message)}</li>"
        for failure in explanation.setup_failures
    ]
    yield markup.section(
        "setup", "Providers that could not be set up", ["<ul>" + "\n".join(setup) + "</ul>"] if setup else []
    )
    if explanation.catalog.size:
        yield markup.section("clashes", "What can't hold together", _clashes(explanation))
        yield markup.section("ways", "Ways out", _ways(explanation, matrix))
    message = explanation.user_message
    if message is not None:
        yield markup.section(
            "message", "What to tell the end user", [f"<blockquote>{markup.prose(message)}</blockquote>"]
        )


def _clashes(explanation: Explanation) -> Iterator[str]:
    cores = explanation.cores
    yield from markup.clashes(cores, partial(_clash, explanation), partial(_further, explanation))
    if "cores" in explanation.truncated:
        yield f'<p class="note">There are more clashes than the {len(cores)} looked for.</p>'


def _clash(explanation: Explanation, name: str, core: Sequence[NamedConstraint]) -> tuple[str, str]:
    tenant, total = tenant_of(explanation), explanation.catalog.size
    rows = "\n".join(
        f"<li>{_constraint(each, tenant)}"
        f'<span class="share">{markup.bar(admitted, total)} admits {admitted}</span></li>'
        for each in core
        for admitted in (each.admitted.bit_count(),)
    )
    verb = (
        "It admits no candidate"
        if len(core) == 1
        else f"No candidate satisfies {'both' if len(core) == 2 else 'all of them'}"
    )
    inner = f'<ul class="constraints">{rows}</ul>\n<p class="note">{verb}.</p>'
    return _toggle("clash", name, _columns(explanation, core)), inner


def _further(explanation: Explanation, number: int, core: Sequence[NamedConstraint]) -> str:
    """A clash in a line."""
    names = joined([f'<span class="id">{markup.escape(each.id)}</span>' for each in core])
    return f"{names} {_toggle('clash', f'Clash {number}', _columns(explanation, core))}"


def _constraint(constraint: NamedConstraint, tenant: str | None) -> str:
    return markup.constraint(constraint, described(constraint, tenant))


def _ways(explanation: Explanation, matrix: Matrix) -> Iterator[str]:
    ways = ways_out(explanation)
    tenant = tenant_of(explanation)

    def gives(way: Relaxation) -> str:
        return f'<p class="gives">gives {markup.candidate(way.pick)}</p>'

    def button(name: str, way: Relaxation) -> str:
        return _toggle("change", name, _columns(explanation, way.correction), matrix.row_of(way.pick))

    listed = partial(markup.ways, numbers=count(1), gives=gives, button=button)
    yield from listed("Your own bounds", ways.bounds)
    whose = "" if tenant is None else f" of tenant {markup.prose(shown(tenant))}"
    yield from listed(f"The policy{whose}", ways.policy)
    if ways.facts:
        yield '<h3>Unknown facts</h3>\n<ul class="ways">'
        yield from (_fact(fact) for fact in ways.facts)
        yield "</ul>"
    yield from listed("A waiver", ways.waivers)
    yield from listed("Giving something up", ways.dropped)
    if ways.fixed:
        yield '<h3>Not yours to change</h3>\n<ul class="ways">'
        yield from (_fixed(constraint) for constraint in ways.fixed)
        yield "</ul>"
    yield from markup.dead_ends(explanation.dead_ends)
    if "relaxations" in explanation.truncated:
        yield '<p class="note">There are more ways out than were worked out.</p>'


def _fixed(constraint: NamedConstraint) -> str:
    """A rule that can't be waived, with its contact and why it exists."""
    contact = "" if constraint.contact is None else f" (ask {markup.escape(constraint.contact)})"
    because = "" if constraint.because is None else f": {markup.escape(constraint.because)}"
    return f'<li class="block way">{_constraint(constraint, None)}{contact}{because}</li>'


def _fact(fact: MissingFact) -> str:
    them = "it" if fact.count == 1 else "them"
    more = [f"{fact.count - len(fact.candidates)} more"] if fact.count > len(fact.candidates) else []
    names = joined([*map(markup.candidate, fact.candidates), *more])
    return (
        f'<li class="block way">find out {fact.name} of {names}: nothing else stops {them} '
        f'<span class="id">{markup.escape(fact.constraint.id)}</span></li>'
    )


# When something qualifies.


def _qualifying(explanation: Explanation, matrix: Matrix) -> Iterator[str]:
    yield markup.section("why", "Why this one", _why(explanation, matrix))
    yield markup.section("ranking", "Ranking", _ranking(explanation))


def _why(explanation: Explanation, matrix: Matrix) -> Iterator[str]:
    lines: list[str] = []
    if explanation.ranking[0].fallback:
        lines.append("It is a fallback: no regular provider qualifies.")
    scores = score_clause(explanation)
    if scores is not None:
        lines.append(f"It {scores}.")
    elif explanation.survivors.bit_count() > 1:
        lines.append("The others that qualify are fallbacks.")
    hanging_on = hinges(explanation)
    if hanging_on:
        toggle = _toggle("clash", "What the choice hangs on", _columns(explanation, hanging_on))
        words, clause = hinge_clause(explanation)
        lines.append(f"The choice hangs on {markup.prose(words)}: {clause}. {toggle}")
    tried = shadow_clause(explanation.shadow, explanation.ranking[0].candidate.key)
    if tried is not None:
        lines.append(f"In shadow mode: {markup.prose(tried)}.")
    if explanation.redundant:
        names = few([markup.code(constraint.id) for constraint in explanation.redundant])
        toggle = _toggle("clash", "The redundant constraints", _columns(explanation, explanation.redundant))
        lines.append(f"{names} {redundant_clause(explanation)}. {toggle}")
    if not lines:
        return
    yield '<ul class="lines">' + "\n".join(f"<li>{line}</li>" for line in lines) + "</ul>"


def _ranking(explanation: Explanation) -> Iterator[str]:
    ranking = explanation.ranking[:_RANKING_ROWS]
    heads = [("Candidate", ""), ("Score", "number")]
    rows = []
    for place, ranked in enumerate(ranking, start=1):
        marks = [text for text, is_so in (("hinted", ranked.hint), ("fallback", ranked.fallback)) if is_so]
        tags = "".join(f' <span class="tag">{mark}</span>' for mark in marks)
        gains = [(markup.code(name), weight) for name, weight in ranked.matched]
        gains += [(f"rule {markup.code(name)}", weight) for name, weight in ranked.rules]
        met = ", ".join(f"{name} {_signed(weight)}" for name, weight in gains)
        name = f'<span class="place">{place}. </span>{markup.candidate(ranked.candidate)}{tags}'
        rows.append([f'{name}<span class="met">{met}</span>', ecmascript(ranked.score)])
    yield markup.scrolling("The ranking", markup.table("The ranking of the candidates that qualify", heads, rows))
    regular = explanation.solved.ranked(explanation.survivors)
    more = len(regular) - len(ranking)
    if more > 0:
        yield f'<p class="note">And {more} more; the matrix has them in order.</p>'


def _signed(weight: Number) -> str:
    return f"{'+' if weight >= 0 else '-'}{ecmascript(abs(weight))}"


# In both cases.


def _contrast(explanation: Explanation, matrix: Matrix) -> str:
    contrast = explanation.contrast
    if contrast is None:
        return ""
    title = f"Why not {markup.pair(contrast.provider_id, contrast.model_name)}?"
    body: list[str] = []
    if contrast.candidate is None:
        near = joined([markup.candidate(candidate) for candidate in contrast.near])
        body.append(f"<p>It is not a candidate{f'; near it are {near}' if near else ''}.</p>")
    elif contrast.failed:
        stopping = len(contrast.failed)
        columns = _columns(explanation, [constraint for constraint, _ in contrast.failed])
        toggle = _toggle("clash", "What stops it", columns, matrix.row_of(contrast.candidate))
        body.append(f"<p>{counted(stopping, 'constraint')} reject{'s' if stopping == 1 else ''} it. {toggle}</p>")
        body.append(f'<ul class="constraints">{_reasons(contrast.failed, tenant_of(explanation))}</ul>')
    else:
        decided = outranked_clause(contrast)
        place = "" if contrast.rank is None else f", in place {contrast.rank}"
        toggle = _toggle("clash", "The one asked about", [], matrix.row_of(contrast.candidate))
        body.append(f"<p>{'It is the pick' if decided is None else f'It qualifies{place}; {decided}'}. {toggle}</p>")
    return markup.section("contrast", title, body)


def _reasons(failed: Sequence[Failed], tenant: str | None) -> str:
    return "\n".join(
        f'<li>{_constraint(constraint, tenant)}<span class="reason">{markup.prose(reason.message)}</span></li>'
        for constraint, reason in failed
    )


def _nearest(explanation: Explanation) -> str:
    """A plain table for paper, and for readers without the script; the matrix takes its place otherwise."""
    misses = explanation.near_misses[:_TABLE_ROWS]
    if not misses:
        return ""
    rows = []
    for miss in misses:
        why = "<br>".join(
            f'<span class="id">{markup.escape(constraint.id)}</span> {markup.prose(reason.message)}'
            for constraint, reason in miss.failed
        )
        rows.append([markup.candidate(miss.candidate), str(len(miss.failed)), why])
    heads = [("Candidate", ""), ("Fails", "number"), ("Why", "")]
    table = markup.table("The candidates that come nearest", heads, rows)
    left = explanation.catalog.size - explanation.survivors.bit_count() - len(misses)
    more = f'<p class="note">And {left} more that do not qualify.</p>' if left else ""
    return markup.section(
        "nearest", "Nearest candidates", [markup.scrolling("Nearest candidates", table), more], ' class="plain"'
    )


def _constraints(explanation: Explanation) -> str:
    tenant, total = tenant_of(explanation), explanation.catalog.size
    rows = []
    for constraint in explanation.solved.listed:
        admitted = constraint.admitted.bit_count()
        marked = ' class="bad"' if total and not admitted and not constraint.shadow else ""
        shadow = (
            ' <span class="tag">shadow: rejects no candidate, would reject as counted</span>'
            if constraint.shadow
            else ""
        )
        contact = constraint.contact
        ask = "" if contact is None else f' <span class="note">(ask {markup.escape(contact)})</span>'
        rows.append(
            [
                _constraint(constraint, tenant) + ask + shadow + markup.because(constraint),
                constraint.owner,
                f"<span{marked}>{admitted}</span>{markup.bar(admitted, total)}",
                str(total - admitted),
            ]
        )
    heads = [("Constraint", ""), ("Owner", ""), ("Admits", "number"), ("Rejects", "number")]
    table = markup.table("Every constraint, and how many candidates it admits", heads, rows)
    return markup.section("constraints", "Constraints", [markup.scrolling("Constraints", table)])
