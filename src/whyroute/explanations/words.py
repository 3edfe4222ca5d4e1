"""Phrases: constraints, clashes and what comes nearest, in plain words. Built from the data, without markup."""

from collections.abc import Callable, Sequence

from ..basics import bits
from ..basics.issues import printable, shown
from ..basics.numbers import Number, ecmascript
from ..catalog.candidate import Candidate
from ..catalog.catalog import Catalog
from ..constraints.named import NamedConstraint
from ..constraints.terms import (
    ContextWindowTerm,
    FeatureTerm,
    KindTerm,
    LatencyTerm,
    ListTerm,
    PriceTerm,
    RegionListTerm,
    RegionTerm,
)
from ..documents.phrases import joined
from ..model.metadata import ModelInfo
from ..model.provider import SetupFailure
from ..solving.request import Solved

__all__ = [
    "clash_sentence",
    "counted",
    "described",
    "few",
    "named",
    "nearest_sentence",
    "pair",
    "setup_clause",
    "tokens",
    "usd",
]

_NAMES_SHOWN = 4


def counted(count: int, noun: str = "candidate") -> str:
    """`1 candidate`, `14 candidates`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def few(parts: Sequence[str], limit: int | None = _NAMES_SHOWN) -> str:
    """`a, b, c, d and 196 more`: at most `limit` of them, and how many more there are; all when it is None."""
    more = 0 if limit is None else len(parts) - limit
    return joined([*parts[:limit], f"{more} more"]) if more > 0 else joined(parts)


def names(values: Sequence[str]) -> str:
    """A few names, each once, and how many more there are."""
    distinct = list(dict.fromkeys(values))
    return few([*map(shown, distinct[:_NAMES_SHOWN]), *distinct[_NAMES_SHOWN:]])


def pair(candidate: Candidate) -> str:
    """`provider / model`, printable."""
    return f"{printable(candidate.metadata.id)} / {printable(candidate.model.name)}"


def tokens(value: Number) -> str:
    """`200,000 tokens`."""
    return f"{value:,} tokens" if isinstance(value, int) else f"{ecmascript(value)} tokens"


def usd(value: Number) -> str:
    """`$0.003 per 1K tokens`."""
    return f"${ecmascript(value)} per 1K tokens"


def named(constraint: NamedConstraint, tenant: str | None) -> str:
    """A constraint as a person would name it, and where it is written."""
    words = described(constraint, tenant)
    # The kind has no place of its own, and of lists the words name the place.
    by_words = constraint.owner != "caller" or constraint.id == "kind" or isinstance(constraint.term, ListTerm)
    return words if by_words else f"{words} ({constraint.id})"


def described(constraint: NamedConstraint, tenant: str | None) -> str:
    """A constraint as a person would name it, where its id stands beside it."""
    term = constraint.term
    if constraint.owner == "caller":
        if constraint.id != "kind" and isinstance(term, ListTerm):
            return f"the {term.subject[:-1]} lists of {constraint.id} ({_lists(term)})"
        return constraint.label
    if constraint.owner == "rule":
        return f"rule {shown(constraint.id.partition('/')[2])}"
    return f"tenant {shown(tenant or '')}'s {_clause(constraint)}"


def _lists(term: ListTerm) -> str:
    allowed = [] if term.allow is None else [f"allow {names(term.allow) or 'none'}"]
    denied = [f"deny {names(term.deny)}"] if term.deny else []
    return ", ".join([*allowed, *denied]) or "no limit"


def _clause(constraint: NamedConstraint) -> str:
    match constraint.term:
        case ListTerm(subject=subject, clause="deny", deny=deny):
            return f"{subject[:-1]} deny list ({names(deny or ())})"
        case ListTerm(subject=subject, allow=allow):
            return f"{subject[:-1]} allow list ({names(allow or ()) or 'empty'})"
        case RegionListTerm(allow=allow):
            return f"allowed regions ({names(allow) or 'none'})"
        case PriceTerm(wanted=wanted):
            return f"price cap ({usd(wanted)})"
        case ContextWindowTerm(wanted=wanted):
            return f"context window floor ({tokens(wanted)})"
        case _:
            return constraint.label


def setup_clause(failures: Sequence[SetupFailure]) -> str:
    """`; provider ... could not be set up: ...`: the first says why, as it may be the only provider there is."""
    if not failures:
        return ""
    first, more = failures[0], len(failures) - 1
    also = "" if not more else f" (and {more} more could not be set up)"
    return f"; provider {shown(first.provider_id)} could not be set up: {printable(first.message)}{also}"


def clash_sentence(core: Sequence[NamedConstraint], solved: Solved) -> str:
    """A core of up to three constraints, told in full: what can't hold together, and what comes nearest."""
    tenant = None if solved.policy is None else solved.policy.tenant_id
    total = solved.catalog.size
    if not core:
        return "there are no candidates"
    last = next((each for each in reversed(core) if _is_threshold(each)), core[-1])
    others = [each for each in core if each is not last]
    members = solved.catalog.all()
    for other in others:
        members &= other.admitted
    facts = nearest_sentence(last, members)
    if not others:
        plural = (ListTerm,) if last.owner == "caller" else (RegionListTerm,)
        verb = "admit" if isinstance(last.term, plural) else "admits"
        return f"{named(last, tenant)} {verb} none of {counted(total)}: {facts}"
    phrases = joined([named(each, tenant) for each in core])
    held = f"can't {'both' if len(core) == 2 else 'all'} hold"
    count = members.bit_count()
    met = joined([_met(each, count) for each in others])
    return f"{phrases} {held}. Of {counted(total)}, {count} {met}; {facts}"


def _is_threshold(constraint: NamedConstraint) -> bool:
    return isinstance(constraint.term, ContextWindowTerm | PriceTerm | LatencyTerm)


def _met(constraint: NamedConstraint, count: int) -> str:
    """What so many candidates that a constraint admits do."""
    one = count == 1
    if constraint.owner == "rule":
        return f"{'is' if one else 'are'} fine with rule {shown(constraint.id.partition('/')[2])}"
    match constraint.term:
        case KindTerm(wanted=wanted):
            return f"{'serves' if one else 'serve'} {shown(wanted)}"
        case FeatureTerm(feature=feature):
            return f"{'has' if one else 'have'} {shown(feature)}"
        case RegionTerm(wanted=wanted):
            return f"{'is' if one else 'are'} in {shown(wanted)}"
        case RegionListTerm():
            return f"{'is' if one else 'are'} in an allowed region"
        case ListTerm(subject=subject, clause=clause):
            whose = "the" if clause is None else "the tenant's"
            which = f"{subject[:-1]} lists" if clause is None else f"{subject[:-1]} {clause} list"
            return f"{'passes' if one else 'pass'} {whose} {which}"
        case _:
            return f"{'meets' if one else 'meet'} {constraint.label}"


def nearest_sentence(constraint: NamedConstraint, members: int) -> str:
    """What the candidates of a set, all of which a constraint rejects, have instead."""
    term, catalog = constraint.term, constraint.catalog
    everyone = members == catalog.all()
    one = members.bit_count() == 1
    them, among = ("", "") if everyone else ("of them ", "among them ")
    if constraint.because is not None:
        return f"{'it does not meet it' if one else f'none {them}meets it'} ({constraint.because.strip().rstrip('.')})"
    match term:
        case FeatureTerm(feature=feature):
            return f"it has no {shown(feature)}" if one else f"none {them}has {shown(feature)}"
        case KindTerm(wanted=wanted):
            return f"it does not serve {shown(wanted)}" if one else f"none {them}serves {shown(wanted)}"
        case RegionTerm() | RegionListTerm():
            regions = _distinct(catalog, members, lambda number: catalog.candidate(number).metadata.region)
            return f"{'it is' if one else 'they are'} in {names(regions)}"
        case ListTerm(clause="deny"):
            return "it is on that list" if one else f"all {them}are on that list"
        case ListTerm(allow=()):
            return "an empty allow list lets none pass"
        case ListTerm(subject=subject):
            present = _distinct(catalog, members, lambda number: _name(catalog, subject, number))
            which = f"its {subject[:-1]} is" if one else f"their {subject[:-1]} is"
            return f"{which if len(present) == 1 else f'their {subject} are'} {names(present)}"
        case ContextWindowTerm(op=op, wanted=wanted):
            window = _nearest(catalog, members, lambda model: model.context_window, op, wanted)
            what = "its" if one else f"the {_most(op, 'largest', 'smallest', 'nearest')}"
            return f"{what} context window {'' if one else among}is {tokens(window or 0)}"
        case PriceTerm(op=op, wanted=wanted):
            price = _nearest(catalog, members, lambda model: model.cost.prompt_usd_per_1k_tokens, op, wanted)
            which = "it" if one else f"the {_most(op, 'dearest', 'cheapest', 'nearest')} {them}".rstrip()
            return f"{which} costs {usd(price or 0)}"
        case LatencyTerm(op=op, wanted=wanted):
            unknown = (members & ~catalog.p95_latency.known).bit_count()
            latency = _nearest(catalog, members, lambda model: model.p95_latency_ms, op, wanted)
            if latency is None:
                return "its p95 latency is not known" if one else f"no p95 latency {among}is known"
            also = f", and {unknown} more {'is' if unknown == 1 else 'are'} not known" if unknown else ""
            return (
                f"{'its' if one else 'the lowest'} p95 latency {'' if one else among}is {ecmascript(latency)} ms{also}"
            )
        case _:
            return f"none {them}passes"


def _name(catalog: Catalog, subject: str, number: int) -> str:
    candidate = catalog.candidate(number)
    return candidate.metadata.id if subject == "providers" else candidate.model.name


def _most(op: str, above: str, below: str, equal: str) -> str:
    return above if op in (">", ">=") else below if op in ("<", "<=") else equal


def _nearest(
    catalog: Catalog, members: int, read: Callable[[ModelInfo], Number | None], op: str, wanted: Number
) -> Number | None:
    """The value that comes nearest to a bound that all of them miss; None when none is known."""
    values = [value for c in catalog.candidates(members) if (value := read(c.model)) is not None]
    if not values:
        return None
    if op in (">", ">="):
        return max(values)
    return min(values) if op in ("<", "<=") else min(values, key=lambda value: (abs(value - wanted), value))


def _distinct(catalog: Catalog, members: int, read: Callable[[int], str]) -> list[str]:
    """Distinct values, the most frequent first, then by name."""
    counts: dict[str, int] = {}
    for number in bits.positions(members):
        value = read(number)
        counts[value] = counts.get(value, 0) + 1
    return sorted(counts, key=lambda value: (-counts[value], value))
