"""What differs between two packs: as sections of entries, and these as text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..basics.numbers import ecmascript
from ..constraints.named import Origin
from ..documents.json_text import text_of
from ..documents.phrases import counted
from ..packs.diff.comparison import (
    Answer,
    BundleAnswer,
    BundleChange,
    Cause,
    Change,
    Comparison,
    Cut,
    Declared,
    Movement,
    Scope,
    ShadowAnswer,
    ShadowChange,
    TenantVerdict,
)
from ..packs.diff.inventory import FactChange, Later, Named
from ..packs.diff.json_form import Pair
from ..packs.diff.labels import LabelValue, LabelValues
from .lines import Line, printable

__all__ = [
    "INCOMPLETE",
    "NAME",
    "DiffEntry",
    "Section",
    "comparison_lines",
    "headline",
    "sections",
    "tenant_rows",
]

INCOMPLETE: Final = "no difference was found, but not everything was compared"

NAME: Final = "cyan"
"""The style of what somebody named."""

_ENTRIES, _SCOPES, _CANDIDATES, _NAMES, _LIST = 10, 6, 5, 6, 20


@dataclass(frozen=True, slots=True)
class DiffEntry:
    """Something that differs.

    Attributes:
        head: What it is about.
        items: What there is to say of it, each under a heading of one word; an empty one goes on with the one before.
    """

    head: Sequence[Line]
    items: Sequence[tuple[str, Line]] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """Entries of one kind.

    Attributes:
        title: What they are.
        count: How many there are, whether they are listed or not.
        entries: Those that are listed.
    """

    title: str
    count: int
    entries: Sequence[DiffEntry]


def headline(comparison: Comparison) -> str:
    """What was compared, and how much of it differs."""
    changed = sum(each.changed for each in comparison.tenants)
    what = "request" if comparison.of_requests else "route"
    compared = f"{counted(comparison.routes, what)} of {counted(len(comparison.tenants), 'tenant')} compared"
    differ = "none differs" if not changed else f"{changed} {'differs' if changed == 1 else 'differ'}"
    return f"{compared} at {comparison.at}: {differ}"


def tenant_rows(comparison: Comparison, limit: int | None = None) -> tuple[list[tuple[TenantVerdict, str]], int, int]:
    """The tenants for which something differs, each with what; how many more there are; for how many nothing does."""
    changed = [each for each in comparison.tenants if each.changed]
    listed = changed if limit is None else changed[:limit]
    return (
        [(each, _counts(each)) for each in listed],
        len(changed) - len(listed),
        len(comparison.tenants) - len(changed),
    )


def _counts(tenant: TenantVerdict) -> str:
    parts = [
        counted(tenant.broke, "route breaks", "routes break") if tenant.broke else "",
        counted(tenant.appeared, "route appears", "routes appear") if tenant.appeared else "",
        counted(tenant.picks, "other pick") if tenant.picks else "",
        f"{tenant.candidates} with other candidates" if tenant.candidates else "",
    ]
    return ", ".join(part for part in parts if part) + f", of {tenant.routes}"


def sections(comparison: Comparison, *, everything: bool = False) -> Iterator[Section]:
    """All that differs, kind by kind; without `everything` long lists are cut, and say so."""
    telling = _Telling(comparison, everything=everything)
    changes = [
        (title, [each for each in comparison.changes if each.effect.kind == kind], telling.change, _ENTRIES)
        for kind, title in _TITLES.items()
    ]
    found: list[tuple[str, Sequence[Any], Callable[[Any], DiffEntry], int]] = [
        *changes,
        ("shadow rules", comparison.shadows, telling.shadow, _ENTRIES),
        ("bundles", comparison.bundles, telling.bundle, _ENTRIES),
        ("removed", comparison.removed, _named, _LIST),
        ("added", comparison.added, _named, _LIST),
        ("catalog", comparison.facts, lambda fact: DiffEntry([_fact_line(fact)]), _LIST),
        ("later", comparison.later, telling.later, _LIST),
        ("not compared", (*comparison.cuts, *comparison.declared), telling.cut, _LIST),
    ]
    for title, items, told, limit in found:
        if items:
            yield Section(title, len(items), [told(each) for each in telling.first(items, limit)])


_NAMED_ONES: Final = "; --requests FILE compares what you name"
_TITLES: Final = {
    "broke": "routes that break",
    "appeared": "routes that appear",
    "pick": "other picks",
    "candidates": "the same answer from other candidates",
}


class _Telling:
    def __init__(self, comparison: Comparison, *, everything: bool) -> None:
        self.facts = comparison.facts_of
        self.of_provider: dict[str, list[FactChange]] = {}
        for each in comparison.facts:
            if each.model is None:
                self.of_provider.setdefault(each.provider, []).append(each)
        self.everything = everything

    def first(self, items: Sequence[Any], limit: int) -> Sequence[Any]:
        """Those of a list that are told; one more than the limit is not worth a line that says so."""
        return items if self.everything or len(items) <= limit + 1 else items[:limit]

    def change(self, change: Change) -> DiffEntry:
        """An effect on some requests."""
        effect = change.effect
        items: list[tuple[str, Line]] = []
        if effect.old == effect.new:
            items.append(("pick", _answer(effect.new)))
        else:
            items += [("was", _answer(effect.old)), ("now", _answer(effect.new))]
        for word, movements in (("lost", effect.lost), ("gained", effect.gained)):
            for movement in movements:
                items += self._movement(word, movement)
        for word, candidates, why in (
            ("lost", effect.withdrawn, "no longer in the catalog"),
            ("gained", effect.arrived, "new in the catalog"),
        ):
            if candidates:
                items += [(word, self._candidates(candidates)), ("  by", ((why, ""),))]
        if effect.reranked:
            items += self._ranking(effect.ranking, (effect.old.pick, effect.new.pick))
        return DiffEntry(self._heads(change.scopes), items)

    def _heads(self, scopes: Sequence[Scope]) -> list[Line]:
        listed = self.first(scopes, _SCOPES)
        heads = [self._scope(each) for each in listed]
        if len(listed) < len(scopes):
            heads.append(((f"and {len(scopes) - len(listed)} more", "dim"),))
        return heads

    def _scope(self, scope: Scope) -> Line:
        line: list[tuple[str, str]] = []
        if scope.requests:
            names = [str(each.line) if each.id is None else f"{each.line} ({each.id})" for each in scope.requests]
            line += [("line " if len(names) == 1 else "lines ", ""), *self._listed(names, "bold"), (": ", "")]
        line += self._listed(scope.tenants, "bold")
        line.append((": ", ""))
        declared = ["its own declaration" if each is None else each for each in scope.capabilities]
        line += self._listed(declared, "bold")
        for place, case in enumerate(self.first(scope.labels, _SCOPES)):
            for index, (key, values) in enumerate(case):
                line.append((", with " if not place and not index else " and " if index else "; or with ", ""))
                line += self._label(key, values)
        return tuple(line)

    def _label(self, key: str, values: LabelValues) -> list[tuple[str, str]]:
        said = [value.text for value in values if value.text is not None and not value.other]
        line: list[tuple[str, str]] = []
        if said:
            line += [(f"{printable(key)}=", NAME), *self._listed(said, NAME)]
        others = [value for value in values if value.other]
        for value in self.first(others, _SCOPES):
            line += [(" or " if line else "", ""), *self._other(value, "" if line else f" of {printable(key)}")]
        if len(others) > len(self.first(others, _SCOPES)):
            line.append((f" and {len(others) - _SCOPES} more kinds of values", ""))
        if any(value.text is None for value in values):
            line += [(" (or none given)" if line else f"no {printable(key)} given", "")]
        return line

    def _other(self, value: LabelValue, of_key: str) -> Iterator[tuple[str, str]]:
        """Values that no rule mentions."""
        yield f"{'another' if value.other_than or not value.like else 'a'} value{of_key}", ""
        for word, globs, between in ((" like ", value.like, " and "), (" not like ", value.unlike, " or ")):
            if globs:
                yield word, ""
                yield from self._listed(globs, NAME, between)
        if value.like or value.unlike:
            example: tuple[str, str] = (printable(value.text), NAME) if value.text else ("an empty one", "")
            yield from ((" (such as ", ""), example, (")", ""))

    def _listed(self, names: Sequence[str], style: str, between: str = ", ") -> Iterator[tuple[str, str]]:
        listed = self.first(names, _NAMES)
        for place, name in enumerate(listed):
            if place:
                yield between, ""
            yield printable(name), style
        if len(listed) < len(names):
            yield f" and {len(names) - len(listed)} more", ""

    def _candidates(self, candidates: Sequence[Pair]) -> Line:
        return tuple(self._listed([f"{provider} / {model}" for provider, model in candidates], NAME))

    def _movement(self, word: str, movement: Movement) -> Iterator[tuple[str, Line]]:
        yield word, self._candidates(movement.candidates)
        for cause in movement.causes:
            yield from _cause(cause, word)
        if any(cause.change == "same" for cause in movement.causes):
            yield from self._facts(movement.candidates)

    def _facts(self, candidates: Iterable[Pair]) -> Iterator[tuple[str, Line]]:
        found = (
            fact
            for candidate in candidates
            for fact in (*self.of_provider.get(candidate[0], ()), *self.facts.get(candidate, ()))
        )
        facts = list({(each.provider, each.model, each.field): each for each in found}.values())
        listed = self.first(facts, 3)
        for fact in listed:
            yield "  fact", _fact_line(fact)
        if len(listed) < len(facts):
            yield "", ((f"and {len(facts) - len(listed)} more", "dim"),)

    def _ranking(self, causes: Sequence[Cause], picks: tuple[Pair | None, Pair | None]) -> Iterator[tuple[str, Line]]:
        yield "ranked", (("both qualify before and after; the order is another one", ""),)
        for cause in causes:
            yield from _cause(cause, "ranked")
        if not causes:
            yield from self._facts(each for each in picks if each is not None)

    def shadow(self, change: ShadowChange) -> DiffEntry:
        """What shadow rules come to for some requests."""
        return DiffEntry(self._heads(change.scopes), [("was", _shadow(change.old)), ("now", _shadow(change.new))])

    def bundle(self, change: BundleChange) -> DiffEntry:
        """A bundle that is another one, or comes to something else."""
        head: list[tuple[str, str]] = [*self._listed(change.tenants, "bold"), (": ", "")] if change.tenants else []
        head.append((printable(change.bundle), "bold"))
        for place, (key, text) in enumerate(change.labels):
            head.append((" and " if place else ", with labels such as ", ""))
            head.append((f"{printable(key)}={printable(text)}", NAME))
        items: list[tuple[str, Line]] = []
        if change.old is not None and change.new is not None:
            items += [("was", self._bundle_answer(change.old)), ("now", self._bundle_answer(change.new))]
        if change.redefined:
            same = "" if change.tenants else ", with the same picks for every tenant"
            items += [
                ("changed", ((f"its definition{same}", ""),)),
                ("", _places([change.origin])),
                ("", (("was at ", "dim"), *_places([change.counterpart]))),
            ]
        return DiffEntry([tuple(head)], items)

    def _bundle_answer(self, answer: BundleAnswer) -> Line:
        if answer.picks is None:
            return _answer(Answer(None, refused=answer.refused))
        line: list[tuple[str, str]] = []
        listed = self.first(answer.picks, _NAMES)
        for place, (slot, pick) in enumerate(listed):
            line += [(", " if place else "", ""), (f"{printable(slot)} ", ""), (printable(" / ".join(pick)), NAME)]
        if len(listed) < len(answer.picks):
            line.append((f" and {len(answer.picks) - len(listed)} more", ""))
        return tuple(line)

    def cut(self, cut: Cut | Declared) -> DiffEntry:
        """What was left out."""
        line: list[tuple[str, str]] = [(printable(cut.tenant), "bold"), (": ", "")]
        if isinstance(cut, Declared):
            line += [
                (printable(text_of(cut.declaration)), "bold"),
                ("  where a request declares it itself, is answered otherwise; so may others be", ""),
                (_NAMED_ONES, ""),
            ]
            return DiffEntry([tuple(line)])
        line += [("bundle ", "")] * (cut.what == "bundle") + [(printable(cut.capability), "bold")]
        if cut.labels:
            line += [
                (f"  {counted(cut.compared, 'combination')} of labels compared, others not: the globs over ", ""),
                *self._listed(cut.labels, NAME),
                (" tell more values apart than were tried", ""),
            ]
        else:
            line.append((f"  {cut.compared} of {cut.total} combinations of labels were compared", ""))
        if cut.what == "capability":
            line.append((_NAMED_ONES, ""))
        return DiffEntry([tuple(line)])

    def later(self, event: Later) -> DiffEntry:
        """Something that begins or ends."""
        gone = "" if event.pack == "new" else ", in OLD alone"
        line: Line = (
            (event.time, "bold"),
            (f"  {event.what} ", ""),
            (printable(event.name), NAME),
            (f" {event.event}{gone}, for ", ""),
            *self._listed(event.tenants, ""),
        )
        return DiffEntry([line], [("", _places([event.origin]))])


def _answer(answer: Answer) -> Line:
    if answer.refused is not None:
        return (("refused", "red"), (f": {printable(answer.refused)}", ""))
    if answer.pick is None:
        return (("nothing qualifies", "red"),)
    fallback: Line = ((" (only fallbacks qualify)", "yellow"),) if answer.fallback else ()
    return ((printable(" / ".join(answer.pick)), NAME), *fallback)


def _shadow(answer: ShadowAnswer | None) -> Line:
    if answer is None:
        return (("no shadow rule in force", "dim"),)
    what: Line = (
        (("nothing would qualify", "red"),)
        if answer.pick is None
        else (("the pick would be ", ""), (printable(" / ".join(answer.pick)), NAME))
    )
    by = ", ".join(printable(each) for each in answer.by)
    return (*what, (", by ", ""), (by, NAME)) if by else (*what, (", which no shadow rule changes", ""))


_CHANGES: Final = {
    ("lost", "added"): "new",
    ("lost", "changed"): "changed",
    ("lost", "same"): "as before, but the facts changed",
    ("gained", "removed"): "gone",
    ("gained", "changed"): "changed",
    ("gained", "same"): "as before, but the facts changed",
    ("ranked", "added"): "new",
    ("ranked", "removed"): "gone",
    ("ranked", "changed"): "changed",
}


def _cause(cause: Cause, word: str) -> Iterator[tuple[str, Line]]:
    name = printable(cause.constraint)
    if cause.owner == "catalog":
        said = ", which hides it from the tenant" if word == "lost" else ", which hid it from the tenant"
    else:
        said = "" if cause.owner == "rule" or cause.label == cause.constraint else f" {printable(cause.label)}"
    because = f": {printable(cause.because.strip())}" if cause.because else ""
    yield (
        ("  not by" if word == "gained" else "  by"),
        ((name, NAME), (f"{said} ({_CHANGES[word, cause.change]}){because}", "")),
    )
    if cause.waivers:
        names = ", ".join(printable(each) for each in cause.waivers)
        yield (
            "",
            ((f"{'waiver' if len(cause.waivers) == 1 else 'waivers'} ", ""), (names, NAME), (" in one pack alone", "")),
        )
    ask = f"; ask {printable(cause.contact)}" if cause.contact else ""
    if cause.origins or ask:
        yield "", (*_places(cause.origins), (ask if cause.origins else ask[2:], "dim"))
    if cause.counterpart:
        yield "", ((f"{'was' if word == 'lost' else 'now'} at ", "dim"), *_places(cause.counterpart))


def _places(origins: Sequence[Origin]) -> Line:
    return ((", ".join(printable(f"{each.file}:{each.line}:{each.column}") for each in origins), "dim"),)


def _named(named: Named) -> DiffEntry:
    what = {"value": "label value"}.get(named.what, named.what)
    line: Line = ((f"{what:<11}  ", ""), (printable(named.name), NAME))
    if named.origin is not None:
        line = (*line, ("  ", ""), *_places([named.origin]))
    return DiffEntry([line])


def _fact_line(fact: FactChange) -> Line:
    name = fact.provider if fact.model is None else f"{fact.provider} / {fact.model}"
    return (
        (printable(name), NAME),
        (f"  {fact.field}  {_value(fact.old, fact.field)} -> {_value(fact.new, fact.field)}", ""),
    )


def _value(value: Any, field: str) -> str:
    match value:
        case None:
            return "everybody" if field == "onlyTenants" else "none" if field == "defaultModel" else "unknown"
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return ecmascript(value)
        case dict():
            return ", ".join(f"{printable(key)}={printable(each)}" for key, each in value.items()) or "none"
        case list():
            return ", ".join(printable(each) for each in value) or "none"
        case _:
            return printable(str(value))


_VERDICT_STYLES: Final = {"stricter": "yellow", "looser": "bold red", "both": "bold red", "same": "dim"}


def comparison_lines(comparison: Comparison, *, everything: bool = False) -> Iterator[Line]:
    """What differs between two packs, for a terminal."""
    yield (
        (printable(comparison.old), "bold"),
        ("  ->  ", "dim"),
        (printable(comparison.new), "bold"),
    )
    yield ((headline(comparison), ""),)
    if comparison.is_same:
        yield (("no difference in meaning", "bold green"),)
    elif not comparison.differs:
        yield ((INCOMPLETE, "bold yellow"),)
    rows, more, same = tenant_rows(comparison, None if everything else _LIST)
    if rows:
        yield ()
        yield (("tenants", "bold"),)
    width = max((len(printable(each.tenant)) for each, _ in rows), default=0)
    for each, counts in rows:
        yield (
            (f"  {printable(each.tenant).ljust(width)}", ""),
            (f"  {each.verdict:<8}", _VERDICT_STYLES[each.verdict]),
            (f"  {counts}", ""),
        )
    rest = [f"and {more} more"] if more else []
    rest += [f"nothing differs for {counted(same, 'other')}" if rows else ""] if same and rows else []
    if rest:
        yield ((f"  {'; '.join(rest)}", "dim"),)
    for section in sections(comparison, everything=everything):
        yield ()
        yield ((section.title, "bold"),)
        for entry in section.entries:
            yield from _entry_lines(entry)
        if len(section.entries) < section.count:
            yield ((f"  and {section.count - len(section.entries)} more; --all shows them", "dim"),)


def _entry_lines(entry: DiffEntry) -> Iterator[Line]:
    for head in entry.head:
        yield ("  ", ""), *head
    for word, line in entry.items:
        yield (f"    {word:<9}", "dim"), *line
