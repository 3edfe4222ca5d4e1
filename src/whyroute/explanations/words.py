"""Phrases: constraints, clashes and what comes nearest, in plain words. Built from the data, without markup."""

from collections.abc import Callable, Sequence

from .. import bits
from ..catalog import Catalog
from ..constraints import NamedConstraint
from ..issues import shown
from ..numbers import Number, ecmascript
from ..providers import ModelInfo
from ..solving import Solved
from ..terms import (
    ContextWindowTerm,
    FeatureTerm,
    KindTerm,
    LatencyTerm,
    ListTerm,
    PriceTerm,
    RegionListTerm,
    RegionTerm,
)

__all__ = ["clash_sentence", "counted", "joined", "named", "nearest_sentence", "tokens", "usd"]

_NAMES_SHOWN = 4


def counted(count: int, noun: str = "candidate") -> str:
    """`1 candidate`, `14 candidates`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def joined(parts: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def names(values: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    listed = [shown(value) for value in values[:_NAMES_SHOWN]]
    more = len(values) - len(listed)
    return joined([*listed, f"{more} more"]) if more > 0 else joined(listed)


def tokens(value: Number) -> str:
    """`200000 tokens`."""
    return f"{ecmascript(value)} tokens"


def usd(value: Number) -> str:
    """`$0.003 per 1K tokens`."""
    return f"${ecmascript(value)} per 1K tokens"


def named(constraint: NamedConstraint, tenant: str | None) -> str:
    """A constraint as a person would name it, and where it is written."""
    if constraint.owner == "caller":
        return f"{constraint.label} ({constraint.id})" if constraint.id != "kind" else constraint.label
    return f"{_clause(constraint)} (tenant {shown(tenant or '')})"


def _clause(constraint: NamedConstraint) -> str:
    match constraint.term:
        case ListTerm(subject=subject, clause="deny", deny=deny):
            return f"the {subject[:-1]} deny list: {names(deny or ())}"
        case ListTerm(subject=subject, allow=allow):
            return f"the {subject[:-1]} allow list: {names(allow or ()) or 'empty'}"
        case RegionListTerm(allow=allow):
            return f"the allowed regions: {names(allow) or 'none'}"
        case PriceTerm(wanted=wanted):
            return f"the cap on the prompt price: {usd(wanted)}"
        case ContextWindowTerm(wanted=wanted):
            return f"the floor on the context window: {tokens(wanted)}"
        case _:
            return constraint.label


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
        return f"{named(last, tenant)} admits none of {counted(total)}: {facts}"
    phrases = joined([named(each, tenant) for each in core])
    held = f"can't {'both' if len(core) == 2 else 'all'} hold"
    met = joined([_met(each) for each in others])
    return f"{phrases} {held}. Of {counted(total)}, {members.bit_count()} {met}; {facts}"


def _is_threshold(constraint: NamedConstraint) -> bool:
    return isinstance(constraint.term, ContextWindowTerm | PriceTerm | LatencyTerm)


def _met(constraint: NamedConstraint) -> str:
    """What the candidates that a constraint admits do."""
    match constraint.term:
        case KindTerm(wanted=wanted):
            return f"serve {shown(wanted)}"
        case FeatureTerm(feature=feature):
            return f"have {shown(feature)}"
        case RegionTerm(wanted=wanted):
            return f"are in {shown(wanted)}"
        case RegionListTerm():
            return "are in an allowed region"
        case ListTerm(subject=subject, clause=clause):
            return f"pass the {'' if clause is None else 'tenant' + chr(39) + 's '}{subject[:-1]} list"
        case _:
            return f"meet {constraint.label}"


def nearest_sentence(constraint: NamedConstraint, members: int) -> str:
    """What the candidates of a set, all of which a constraint rejects, have instead."""
    term, catalog = constraint.term, constraint.catalog
    them = "of them " if members != catalog.all() else ""
    match term:
        case FeatureTerm(feature=feature):
            return f"none {them}has {shown(feature)}"
        case KindTerm(wanted=wanted):
            return f"none {them}serves {shown(wanted)}"
        case RegionTerm() | RegionListTerm():
            regions = _distinct(catalog, members, lambda number: catalog.candidate(number).metadata.region)
            return f"they are in {names(regions)}"
        case ListTerm(subject=subject, allow=allow):
            if allow == ():
                return f"the allow list of {subject} is empty"
            return f"none {them}passes it"
        case ContextWindowTerm(op=op):
            value = _extreme(catalog, members, lambda model: model.context_window, op)
            return (
                f"the {_most(op, 'largest', 'smallest', 'nearest')} {them}has {tokens(value)}"
                if value is not None
                else ""
            )
        case PriceTerm(op=op):
            value = _extreme(catalog, members, lambda model: model.cost.prompt_usd_per_1k_tokens, op)
            return (
                f"the {_most(op, 'dearest', 'cheapest', 'nearest')} {them}costs {usd(value)}"
                if value is not None
                else ""
            )
        case LatencyTerm(op=op):
            unknown = (members & ~catalog.p95_latency().known).bit_count()
            value = _extreme(catalog, members, lambda model: model.p95_latency_ms, op)
            if value is None:
                return f"the p95 latency of none {them}is known"
            also = f", and that of {unknown} is not known" if unknown else ""
            return f"the fastest {them}has a p95 latency of {ecmascript(value)} ms{also}"
        case _:
            return f"none {them}passes"


def _most(op: str, above: str, below: str, equal: str) -> str:
    return above if op in (">", ">=") else below if op in ("<", "<=") else equal


def _extreme(catalog: Catalog, members: int, read: Callable[[ModelInfo], Number | None], op: str) -> Number | None:
    values = [value for c in catalog.candidates(members) if (value := read(c.model)) is not None]
    if not values:
        return None
    return max(values) if op in (">", ">=") else min(values)


def _distinct(catalog: Catalog, members: int, read: Callable[[int], str]) -> list[str]:
    """Distinct values, the most frequent first, then by name."""
    counts: dict[str, int] = {}
    for number in bits.positions(members):
        value = read(number)
        counts[value] = counts.get(value, 0) + 1
    return sorted(counts, key=lambda value: (-counts[value], value))
