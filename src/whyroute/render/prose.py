"""An explanation as a good colleague would tell it: what clashes, who is nearest, whose move it is."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count

from ..basics.issues import shown
from ..basics.numbers import Number, ecmascript
from ..constraints.named import NamedConstraint
from ..documents.phrases import joined
from ..explanations import Explanation, Relaxation
from ..explanations.explained import R
from ..explanations.failures import grouped
from ..explanations.relaxations import DeadEnd
from ..explanations.sentences import (
    hinge_clause,
    hinges,
    outranked_clause,
    qualifying_clause,
    redundant_clause,
    score_clause,
    shadow_clause,
    tenant_of,
)
from ..explanations.ways import MissingFact, ways_out
from ..explanations.words import clash_sentence, counted, described, few, named
from .lines import WIDTH, Line, constraint_lines, pair, printable, within
from .question import hint_lines, question_lines

__all__ = ["dead_ends", "explanation_lines", "way_lines"]

_BUDGET = 25
_RANKED_BESIDE_CONTRAST = 6
_PROSE_CORE = 3
_NAMES_IN_A_LINE = 6


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines that belong together.

    Attributes:
        lines: The lines.
        cut_first: Where room is short, the section with the highest number is cut first.
        at_least: How many lines it keeps, the one that says what was cut among them.
    """

    lines: list[Line]
    cut_first: int
    at_least: int


def explanation_lines(explanation: Explanation, *, everything: bool = False, asked: bool = True) -> Iterator[Line]:
    """Text for a person: at most 25 lines, none of them a wall, or everything.

    Args:
        explanation: What to tell.
        everything: All candidates and constraints, however long that gets.
        asked: Say first what was asked.
    """
    sections = [Paragraph(list(_contrast_lines(explanation)), 2, 4)] if explanation.why_not is not None else []
    tell = _qualifying if explanation.satisfiable else _failing
    sections += tell(explanation, everything)
    if everything:
        sections.append(Paragraph(list(constraint_lines(explanation)), 0, 0))
    head = [*(question_lines(explanation.asked) if asked else ()), *hint_lines(explanation.hints)]
    for line in chain(head, _fitted(sections, None if everything else _BUDGET - len(head))):
        yield line if everything else within(line, WIDTH)


def _fitted(sections: Sequence[Paragraph], budget: int | None) -> Iterator[Line]:
    """The sections with a blank line between them; what matters least is cut first, until all fits."""
    lengths = [len(section.lines) for section in sections]
    room = sum(lengths) if budget is None else budget - (len(sections) - 1)
    for place in sorted(range(len(sections)), key=lambda place: sections[place].cut_first, reverse=True):
        excess = sum(lengths) - room
        if excess > 0 and lengths[place] > sections[place].at_least:
            lengths[place] = max(sections[place].at_least, lengths[place] - excess)
    for place, (section, length) in enumerate(zip(sections, lengths, strict=True)):
        if place:
            yield ()
        if length == len(section.lines):
            yield from section.lines
        else:
            yield from section.lines[: length - 1]
            yield ((f"  ... and {len(section.lines) - length + 1} more lines; --all shows everything", "dim"),)


def _failing(explanation: Explanation, everything: bool) -> list[Paragraph]:
    sections = [Paragraph(_clashes(explanation), 1, 4)]
    setup: list[Line] = [
        (
            ("  provider ", ""),
            (printable(f.provider_id), "bold"),
            (f" could not be set up: {printable(f.message)}", "yellow"),
        )
        for f in explanation.setup_failures
    ]
    if setup:
        sections.append(Paragraph(setup, 2, 2))
    if explanation.cores and (len(explanation.cores[0]) > _PROSE_CORE or everything):
        sections += _nearest(explanation, everything)
    ways = _ways_out(explanation)
    if ways:
        sections.append(Paragraph(ways, 0, 5))
    return sections


def _clashes(explanation: Explanation) -> list[Line]:
    tenant = tenant_of(explanation)
    cores = explanation.cores
    head = ("Nothing qualifies: ", "bold red")
    if not explanation.catalog.size:
        return [(head, ("there are no candidates, since no provider is registered", ""))]
    first = cores[0]
    if len(first) <= _PROSE_CORE:
        lines: list[Line] = [(head, (printable(clash_sentence(first, explanation.solved)), ""))]
    else:
        what = f"{len(first)} constraints can't all hold, for any of {counted(explanation.catalog.size)}"
        lines = [(head, (what, ""))]
        lines.extend((("  " + printable(named(each, tenant)), ""), (_admits(each), "dim")) for each in first)
    for core in cores[1:]:
        together = joined([printable(named(each, tenant)) for each in core])
        verb = "admits no candidate" if len(core) == 1 else "can't hold together"
        lines.append((("Also, ", "dim"), (f"{together} {verb}", "")))
    if "cores" in explanation.truncated:
        lines.append(((f"There are more clashes than the {len(cores)} looked for", "dim"),))
    return lines


def _admits(constraint: NamedConstraint) -> str:
    return f"  admits {constraint.admitted.bit_count()}"


def _nearest(explanation: Explanation, everything: bool) -> list[Paragraph]:
    """Candidates that one constraint alone stops, then those stopped by several."""
    alone: list[Line] = []
    for constraint, members in explanation.stopped_alone:
        alone += _alone_lines(explanation, constraint, members, everything=everything)
    if alone:
        alone.insert(0, (("One constraint alone stops", "bold"),))
    several: list[Line] = []
    for miss in explanation.near_misses:
        if len(miss.failed) < 2:
            continue
        if everything:
            several.append(((f"  {pair(miss.candidate)}", ""),))
            several += [
                ((f"      {constraint.id}", "cyan"), (f"  {printable(reason.message)}", "yellow"))
                for constraint, reason in miss.failed
            ]
        else:
            failed = few([constraint.id for constraint, _ in miss.failed], _NAMES_IN_A_LINE)
            several.append(((f"  {pair(miss.candidate)}", ""), (f"  {failed}", "cyan")))
    if several:
        several.insert(0, (("Several stop", "bold"),))
    return [Paragraph(lines, cut, least) for lines, cut, least in ((alone, 3, 3), (several, 4, 2)) if lines]


def _alone_lines(
    explanation: Explanation, constraint: NamedConstraint, members: int, *, everything: bool
) -> Iterator[Line]:
    """The candidates that one constraint alone stops, each with why and where that is written; or the best of them."""
    where = "".join(f", {origin.file}:{origin.line}" for origin in constraint.origins[:1])
    for number in explanation.solved.ranked(members).among(members):
        candidate = explanation.catalog.candidate(number)
        reason = constraint.rejection(candidate)
        yield (
            (f"  {pair(candidate)}", ""),
            (f"  {printable(reason.message if reason else '')}", "yellow"),
            (f"  ({constraint.id}{printable(where)})", "cyan"),
            (_others(constraint, members, number) if not everything else "", "dim"),
        )
        if not everything:
            return


def _others(constraint: NamedConstraint, members: int, told: int) -> str:
    """How many more of a set a constraint rejects, apart from the one that is told, and whether for the same reason."""
    more = members.bit_count() - 1
    if not more:
        return ""
    counts: Counter[str] = Counter()
    mine = ""
    for group in grouped(constraint, members):
        counts[group.reason.message] += group.count
        if group.members >> told & 1:
            mine = group.reason.message
    alike = counts[mine] - 1
    if not alike:
        return f"; {more} more for similar reasons"
    rest = f", {more - alike} for similar ones" if more > alike else ""
    return f"; {alike} more for the same reason{rest}"


def _ways_out(explanation: Explanation) -> list[Line]:
    tenant = tenant_of(explanation)
    ways = ways_out(explanation)
    lines: list[Line] = []
    numbers = count(1)

    def tell(title: str, relaxations: Sequence[Relaxation]) -> None:
        lines.extend(way_lines(title, relaxations, numbers, lambda way: pair(way.pick)))

    tell("your own bounds", ways.bounds)
    tell(f"the policy{'' if tenant is None else f' of tenant {printable(shown(tenant))}'}", ways.policy)
    if ways.facts:
        lines.append((("Ways out: unknown facts", "bold"),))
        lines += [_measure(fact) for fact in ways.facts]
    tell("a waiver", ways.waivers)
    tell("giving something up", ways.dropped)
    if ways.fixed:
        lines.append((("Not yours to change", "bold"),))
        lines += [_fixed(constraint) for constraint in ways.fixed]
    lines += dead_ends(explanation.dead_ends)
    if "relaxations" in explanation.truncated:
        lines.append((("There are more ways out than were worked out", "dim"),))
    return lines


def way_lines(
    title: str, found: Sequence[R], numbers: Iterator[int], gives: Callable[[R], str], *, most: int | None = None
) -> Iterator[Line]:
    """Ways out that are somebody's moves, numbered through all of them; nothing when there are none."""
    if found:
        yield ((f"Ways out: {title}", "bold"),)
    for way in found[:most]:
        yield (
            (f"  {next(numbers)}. ", "bold"),
            (printable(way.text), ""),
            ("  gives ", "dim"),
            (gives(way), "green"),
        )
    if most is not None and len(found) > most:
        yield ((f"      and {len(found) - most} more; --all tells them", "dim"),)


def dead_ends(found: Sequence[DeadEnd], *, everything: bool = False) -> Iterator[Line]:
    """The corrections without a way out, each with why: the first one, and how many more there are, or all."""
    for place, each in enumerate(found if everything else found[:1]):
        more = "" if everything or len(found) == 1 or place else f"; {len(found) - 1} more corrections have none"
        ids = joined([f"`{printable(name)}`" for name in each.ids])
        yield ("No way out by changing ", "bold"), (ids, "cyan"), (f": {printable(each.text)}{more}", "")


def _fixed(constraint: NamedConstraint) -> Line:
    """A rule that can't be waived, with its contact and why it exists."""
    contact = "" if constraint.contact is None else f" (ask {printable(constraint.contact)})"
    because = "" if constraint.because is None else f": {printable(constraint.because)}"
    return ("  -  ", "bold"), (printable(named(constraint, None)), "cyan"), (contact, "dim"), (because, "")


def _measure(fact: MissingFact) -> Line:
    """One line for a fact and a constraint, for all candidates that lack it."""
    more = f" and {fact.count - 1} more" if fact.count > 1 else ""
    return (
        ("  -  ", "bold"),
        (f"find out {fact.name} of ", ""),
        (f"{pair(fact.candidates[0])}{more}", "green"),
        (f": nothing else stops {'it' if not more else 'them'} ({fact.constraint.id})", "dim"),
    )


def _qualifying(explanation: Explanation, everything: bool) -> list[Paragraph]:
    ranking = explanation.ranking
    qualifying = explanation.survivors.bit_count()
    first = ranking[0]
    head: list[Line] = [
        ((pair(first.candidate), "bold green"), (f" is the pick: {qualifying_clause(explanation)}", ""))
    ]
    if first.fallback:
        head.append((("  It is a fallback: no regular provider qualifies", "yellow"),))
    scores = score_clause(explanation)
    if scores is not None:
        head.append(((f"  It {scores}", ""),))
    if hinges(explanation):
        names, clause = hinge_clause(explanation)
        head.append((("  The choice hangs on ", ""), (printable(names), "cyan"), (f": {clause}", "")))
    tried = shadow_clause(explanation.shadow, first.candidate.key)
    if tried is not None:
        head.append(((f"  In shadow mode: {printable(tried)}", "yellow"),))
    redundant = [shown(constraint.id) for constraint in explanation.redundant]
    if redundant:
        names = few(redundant, None if everything else _NAMES_IN_A_LINE)
        head.append(((f"  {names} {redundant_clause(explanation)}", "dim"),))
    order: list[Line] = [(("Ranking", "bold"),)]
    for place, ranked in enumerate(ranking, start=1):
        gains = [*ranked.matched, *((f"rule {name}", weight) for name, weight in ranked.rules)]
        preferences = [f"{printable(name)} {_signed(weight)}" for name, weight in gains]
        more = 0 if everything else len(preferences) - _NAMES_IN_A_LINE
        met = ", ".join(preferences if more <= 0 else [*preferences[:_NAMES_IN_A_LINE], f"{more} more"])
        marks = "".join([", hinted" if ranked.hint else "", ", fallback" if ranked.fallback else ""])
        order.append(
            (
                (f"  {place:>2}. ", "bold"),
                (pair(ranked.candidate), ""),
                (f"  {ecmascript(ranked.score)}", "green"),
                (f"  {met}" if met else "", "dim"),
                (marks, "yellow"),
            )
        )
    if qualifying > len(ranking):
        order.append(((f"      and {qualifying - len(ranking)} more", "dim"),))
    if explanation.why_not is not None and not everything:
        del order[_RANKED_BESIDE_CONTRAST:]
    sections = [Paragraph(head, 0, 7), Paragraph(order, 1, 4)]
    if everything:
        sections += _nearest(explanation, everything)
    return sections


def _signed(weight: Number) -> str:
    return f"{'+' if weight >= 0 else ''}{ecmascript(weight)}"


def _contrast_lines(explanation: Explanation) -> Iterator[Line]:
    contrast = explanation.contrast
    if contrast is None:
        return
    why: Line = (
        ("Why not ", "bold"),
        (f"{printable(contrast.provider_id)} / {printable(contrast.model_name)}", "yellow"),
    )
    if not contrast.known:
        near = "" if not contrast.near else f"; near it are {joined([pair(candidate) for candidate in contrast.near])}"
        yield (*why, (f"? It is not a candidate{near}", ""))
        return
    if contrast.failed:
        stopping = len(contrast.failed)
        yield (*why, (f"? {counted(stopping, 'constraint')} reject{'s' if stopping == 1 else ''} it", ""))
        for constraint, reason in contrast.failed:
            # The reason of a rule begins with the rule.
            what = "" if constraint.owner == "rule" else f"  {printable(described(constraint, tenant_of(explanation)))}"
            yield (
                (f"  {constraint.id}", "cyan"),
                (what, ""),
                (f"  {printable(reason.message)}", "yellow"),
                (f"  ask {printable(constraint.contact)}" if constraint.contact else "", "dim"),
            )
        return
    decided = outranked_clause(contrast)
    if decided is None:
        yield (*why, ("? It is the pick", ""))
        return
    place = "" if contrast.rank is None else f", in place {contrast.rank}"
    yield (*why, (f"? It qualifies{place}; {decided}", ""))
