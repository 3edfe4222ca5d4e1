"""Why an answer differs: the constraints and preferences that one pack has and the other has not, or has otherwise."""

from collections.abc import Iterator, Mapping
from typing import Literal

from ...model.rule import Rule
from ...solving.request import Solved
from .comparison import Cause
from .pack_view import PackView, Rejecting, capability_of, preferring

__all__ = ["ranking_causes", "rejected_by"]


def rejected_by(
    members: int,
    there: tuple[PackView, Solved],
    here: tuple[PackView, Solved],
    only_there: Literal["added", "removed"],
) -> tuple[tuple[int, tuple[Cause, ...]], ...]:
    """A set of candidates, by what rejects them `there` and does not `here`, where all of them qualify."""
    if not members:
        return ()
    groups: list[tuple[int, tuple[Cause, ...]]] = [(members, ())]
    for constraint in there[0].rejecting(members, there[1]):
        cause = _cause(constraint, here[0].like(constraint, here[1]), only_there)
        split: list[tuple[int, tuple[Cause, ...]]] = []
        for group, causes in groups:
            rejected = group & ~constraint.admitted
            if rejected:
                split.append((rejected, (*causes, cause)))
            if group & constraint.admitted:
                split.append((group & constraint.admitted, causes))
        groups = split
    return tuple(sorted(groups, key=lambda each: each[0] & -each[0]))


def _cause(constraint: Rejecting, other: Rejecting | None, only_there: Literal["added", "removed"]) -> Cause:
    change: Literal["added", "removed", "changed", "same"] = only_there
    if other is not None:
        change = "same" if other.same == constraint.same else "changed"
    differs = change == "changed" and other is not None
    waivers = set(constraint.waivers) ^ set(other.waivers) if other is not None and differs else ()
    return Cause(
        constraint.id,
        constraint.label,
        constraint.owner,
        change,
        constraint.because,
        constraint.contact,
        constraint.origins,
        other.origins if other is not None and differs else (),
        tuple(sorted(waivers)),
    )


def ranking_causes(sides: tuple[PackView, PackView], solved: tuple[Solved, Solved]) -> Iterator[Cause]:
    """The preferences that one of the packs alone has, or that are not the same in both."""
    if solved[0].capability.prefer != solved[1].capability.prefer:
        origins = [
            () if name is None else (side.pack.capabilities[name].piece.inner("prefer").origin,)
            for side, name in zip(sides, map(capability_of, solved), strict=True)
        ]
        yield Cause("prefer", "prefer", "caller", "changed", origins=origins[1], counterpart=origins[0])
    before, after = map(preferring, solved)
    for name in dict.fromkeys((*after, *before)):
        key = f"rules/{name}"
        rule = after.get(name) or before[name]
        places = [side.policy.origins.get(key, ()) for side in sides]
        change: Literal["added", "removed", "changed"]
        if name not in before:
            change = "added"
        elif name not in after:
            change = "removed"
        elif _told(before[name]) != _told(after[name]) or _place(name, before) != _place(name, after):
            change = "changed"
        else:
            continue
        yield Cause(
            key,
            f"rule:{name}",
            "rule",
            change,
            rule.because,
            rule.owner,
            places[0] if change == "removed" else places[1],
            places[0] if change == "changed" else (),
        )


def _told(rule: Rule) -> object:
    return rule.condition, rule.order, rule.weight


def _place(name: str, rules: Mapping[str, Rule]) -> object:
    """Where a rule that orders stands among those that do."""
    if rules[name].order is None:
        return None
    return [each for each, rule in rules.items() if rule.order is not None].index(name)
