"""Hints that the pick doesn't follow, and why not."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import Any, Literal

from ..basics.issues import near_name, quoted, shown
from ..documents.phrases import joined
from ..solving.joint import JointSolved
from ..solving.request import Solved

__all__ = ["HintName", "UnmetHint", "Why", "hint_sentence", "hints_clause", "unmet_hints", "unmet_hints_of_bundle"]

HintName = Literal["preferredProvider", "preferredModel"]
Why = Literal["unknown", "rejected", "fallback", "other hint"]

_CONSTRAINTS_SAID = 3


@dataclass(frozen=True, slots=True)
class UnmetHint:
    """A hint that the pick doesn't follow.

    Attributes:
        hint: Its name on the wire.
        value: The provider's id or the model's name.
        why: `unknown`: no candidate has the name; `rejected`: none of those that have it qualifies; `fallback`: only
            fallbacks among them do, and regular candidates come first; `other hint`: none of them qualifies and matches
            the other hint as well (hints count together), or hints of other slots come first.
        by: The ids of the constraints that reject every candidate that the hint names, or, where none does so alone,
            of those that reject any of them; in constraint order.
        near: Known names that are near one that is unknown.
        slot: The name of the slot; None for a request for one capability.
    """

    hint: HintName
    value: str
    why: Why | None = None
    by: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    slot: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The hint as it goes over the wire."""
        found: dict[str, Any] = {} if self.slot is None else {"slot": self.slot}
        found |= {"hint": self.hint, "value": self.value, "honoured": False, "why": self.why}
        if self.by:
            found["by"] = list(self.by)
        if self.near:
            found["near"] = list(self.near)
        return found


def unmet_hints(solved: Solved) -> tuple[UnmetHint, ...]:
    """The hints that the pick doesn't follow; all of them when nothing qualifies."""
    if solved.preferred_provider is None and solved.preferred_model is None:
        return ()
    return tuple(_unmet(solved, solved.ranked(solved.survivors).best() if solved.survivors else None, None))


def unmet_hints_of_bundle(solved: JointSolved) -> tuple[UnmetHint, ...]:
    """The hints that the picks of a bundle don't follow, slot by slot; all of them when there is no bundle.

    A hint that only other slots stand in the way of costs a few searches.
    """
    if all(slot.preferred_provider is None and slot.preferred_model is None for slot in solved.slots):
        return ()
    numbers = solved.best.numbers or (None,) * len(solved.slots)
    found: list[UnmetHint] = []
    for place, (name, slot, number) in enumerate(zip(solved.names, solved.slots, numbers, strict=True)):
        hints = _unmet(slot, number, name)
        found += [hint if hint.why else _among_slots(solved, place, hint) for hint in hints]
    return tuple(found)


def _unmet(solved: Solved, pick: int | None, slot: str | None) -> Iterator[UnmetHint]:
    """The hints of a request that a pick doesn't follow; of a slot, without a reason where the slot itself has none."""
    catalog = solved.catalog
    given: list[tuple[HintName, str, int]] = []
    if solved.preferred_provider is not None:
        given.append(("preferredProvider", solved.preferred_provider, catalog.of_provider(solved.preferred_provider)))
    if solved.preferred_model is not None:
        given.append(("preferredModel", solved.preferred_model, catalog.of_model(solved.preferred_model)))
    matching = reduce(and_, (members for _, _, members in given), catalog.all())
    for name, value, members in given:
        if pick is None or not members >> pick & 1:
            yield _reason(solved, UnmetHint(name, value, slot=slot), members, matching)


def _reason(solved: Solved, hint: UnmetHint, members: int, matching: int) -> UnmetHint:
    """Why candidates that a hint names are not picked.

    Args:
        solved: The request.
        hint: The hint, without a reason.
        members: The candidates that it names.
        matching: Those that all hints name.
    """
    if not members:
        near = near_name(hint.value, _names(solved, hint.hint))
        return replace(hint, why="unknown", near=() if near is None else (near,))
    qualifying, fallbacks = members & solved.survivors, solved.catalog.fallbacks
    if not qualifying:
        return replace(hint, why="rejected", by=_rejecting(solved, members, hint.slot))
    if not qualifying & ~fallbacks and solved.survivors & ~fallbacks:
        return replace(hint, why="fallback")
    if hint.slot is not None and matching & qualifying:
        return hint
    return replace(hint, why="other hint", by=_rejecting(solved, matching, hint.slot))


def _among_slots(solved: JointSolved, place: int, hint: UnmetHint) -> UnmetHint:
    """Why candidates that qualify in their slot are not in the best bundle: bundles with fewer fallbacks come first,
    then those that follow more hints.
    """
    best = solved.best
    if best.numbers is None:
        return replace(hint, why="rejected")
    slot = solved.slots[place]
    ranking = slot.ranked(slot.survivors)
    wanted = replace(slot, survivors=slot.survivors & ranking.matching)
    restricted = replace(solved, slots=(*solved.slots[:place], wanted, *solved.slots[place + 1 :]))
    found = restricted.best
    if found.numbers is None:
        return replace(hint, why="rejected", by=_ties(restricted) if found.proved else ())
    more = solved.fallbacks(found.numbers) > solved.fallbacks(best.numbers)
    return replace(hint, why="fallback" if more else "other hint")


def _ties(solved: JointSolved) -> tuple[str, ...]:
    """A minimal set of ties without which there is a bundle."""
    kept = list(range(len(solved.ties)))
    for tie in range(len(solved.ties)):
        rest = [each for each in kept if each != tie]
        if replace(solved, ties=tuple(solved.ties[each] for each in rest)).best.numbers is None:
            kept = rest
    return tuple(f"together/{tie}" for tie in kept)


def _names(solved: Solved, hint: HintName) -> Iterable[str]:
    metadata = solved.catalog.metadata
    if hint == "preferredProvider":
        return (each.id for each in metadata)
    return dict.fromkeys(model.name for each in metadata for model in each.models)


def _rejecting(solved: Solved, members: int, slot: str | None) -> tuple[str, ...]:
    """The constraints that reject all of some candidates; where none does, those that reject any of them."""
    if not members:
        return ()
    every = [each for each in solved.constraints if not members & each.admitted]
    return tuple(
        each.id if slot is None or each.owner != "caller" else f"{slot}:{each.id}"
        for each in every or [each for each in solved.constraints if members & ~each.admitted]
    )


_WHAT = {"preferredProvider": "provider", "preferredModel": "model"}


def hints_clause(hints: Iterable[UnmetHint]) -> str:
    """Which hints the pick doesn't follow, as the end of a sentence; empty when it follows all."""
    return "".join(f"; {hint_sentence(hint)}" for hint in hints)


def hint_sentence(hint: UnmetHint) -> str:
    """Why a hint is not followed, without a period."""
    where = "" if hint.slot is None else f" of slot {shown(hint.slot)}"
    subject = f"the preferred {_WHAT[hint.hint]}{where}, {shown(hint.value)},"
    match hint.why:
        case "unknown":
            return f"{subject} is unknown{f', did you mean {quoted(hint.near)}?' if hint.near else ''}"
        case "rejected":
            return f"{subject} {f'is rejected by {_constraints(hint.by)}' if hint.by else 'fits in no bundle found'}"
        case "fallback":
            return f"{subject} is a fallback, and regular candidates come first"
        case _ if hint.by:
            return f"{subject} is not followed: {_constraints(hint.by)} rejects what matches both hints"
        case _ if hint.slot is not None:
            return f"{subject} is not followed: the hints of other slots come first"
        case _:
            return f"{subject} is not followed: no candidate matches both hints"


def _constraints(ids: tuple[str, ...]) -> str:
    more = len(ids) - _CONSTRAINTS_SAID
    listed = [shown(each) for each in ids[:_CONSTRAINTS_SAID]]
    return joined([*listed, f"{more} more"] if more > 0 else listed)
