"""Phrases about bundles: constraints as a person would name them, and clashes with the candidates that show them."""

from collections.abc import Mapping, Sequence

from ..basics.issues import printable, shown
from ..basics.numbers import ecmascript, wire_number
from ..catalog.candidate import Candidate
from ..documents.phrases import joined
from ..engine.joint import SearchBudget
from ..explanations.words import clash_sentence as slot_clash_sentence, described, few, pair
from ..solving.combining import best
from ..solving.joint import JointConstraint, JointSolved
from ..solving.ordering import costs_of, ranked_of

__all__ = [
    "clash_sentence",
    "clash_slot",
    "further_clash",
    "joint_described",
    "joint_named",
    "picks_phrase",
    "shadow_sentence",
]

_NODES = 20_000
_OWN = 2
_TOLD_IN_FULL = 3  # constraints of a core, with what comes nearest


def joint_named(solved: JointSolved, constraint: JointConstraint) -> str:
    """A constraint as a person would name it, with where it is written."""
    words = joint_described(solved, constraint)
    of_nobody = constraint.tie is not None or constraint.first is None
    return f"{words} ({constraint.id})" if of_nobody or constraint.owner == "caller" else words


def joint_described(solved: JointSolved, constraint: JointConstraint) -> str:
    """A constraint as a person would name it, where its id stands beside it."""
    if constraint.tie is not None or constraint.first is None:
        return constraint.label
    return described(constraint.first, None if solved.policy is None else solved.policy.tenant_id)


def _core_phrase(solved: JointSolved, core: Sequence[JointConstraint]) -> str:
    """The constraints of a core: all by name, or, where slots have many of their own, these by the slots' names."""
    own = [constraint for constraint in core if constraint.tie is None and constraint.owner == "caller"]
    if len(own) <= _OWN:
        return joined([joint_named(solved, constraint) for constraint in core])
    slots = list(dict.fromkeys(solved.names[constraint.slots[0]] for constraint in own))
    names = joined([shown(slot) for slot in slots])
    needed = f"what slot {names} asks for" if len(slots) == 1 else f"what slots {names} ask for"
    return joined(
        [
            needed,
            *(joint_named(solved, constraint) for constraint in core if not any(constraint is each for each in own)),
        ]
    )


def picks_phrase(solved: JointSolved, numbers: Sequence[int], slots: Sequence[int]) -> str:
    """`planner a / b, judge c / d`: the picks of some slots."""
    candidates = [solved.catalog.candidate(numbers[slot]) for slot in slots]
    return few([f"{printable(solved.names[s])} {pair(c)}" for s, c in zip(slots, candidates, strict=True)], 5)


def shadow_sentence(solved: JointSolved) -> str | None:
    """What enforcing the rules in shadow mode would do; None when it would change nothing."""
    shadow = solved.shadow
    if shadow is None or not shadow.by:
        return None
    rules = few([f"rule {shown(name.partition('/')[2])}" for name in shadow.by], 3)
    before = None if solved.best.numbers is None else solved.picks(solved.best.numbers)
    if shadow.picks is None:
        would = "there would be no bundle" if shadow.proved else "the search for a bundle would end at its limit"
    elif before is None:
        would = f"the picks would be {_listed(shadow.picks)}"
    else:
        other = {name: each for name, each in shadow.picks.items() if each.key != before[name].key}
        would = f"the pick would be {_listed(other)}" if len(other) == 1 else f"the picks would be {_listed(other)}"
        if not other:
            would = "fewer would qualify or their order change, and the picks would be the same"
    return f"if {rules} were enforced, {would}"


def _listed(picks: Mapping[str, Candidate]) -> str:
    return few([f"{printable(name)} {pair(candidate)}" for name, candidate in picks.items()], 5)


def clash_slot(solved: JointSolved, core: Sequence[JointConstraint]) -> int | None:
    """The first slot whose candidates a core leaves none of; None where it takes a tie to leave none."""
    if any(constraint.tie is not None for constraint in core):
        return None
    for slot in range(len(solved.names)):
        members = solved.catalog.all()
        for constraint in core:
            members &= constraint.named[slot].admitted if slot in constraint.named else solved.catalog.all()
        if not members:
            return slot
    return None


def clash_sentence(solved: JointSolved, core: Sequence[JointConstraint]) -> str:
    """A core, told: what can't hold together, in which slots, and the candidates that come nearest without a tie."""
    if not core:
        return "there are no candidates"
    slot = clash_slot(solved, core)
    if slot is not None and len(core) <= _TOLD_IN_FULL:
        return _in_slot(solved, slot, slot_clash_sentence([each.named[slot] for each in core], solved.slots[slot]))
    phrases = _core_phrase(solved, core)
    verb = "can't be met" if len(core) == 1 else f"can't {'both' if len(core) == 2 else 'all'} hold"
    nearest = _nearest(solved, core)
    sentence = f"{phrases} {verb}{'' if nearest is None else f': {nearest}'}"
    return sentence if slot is None else _in_slot(solved, slot, sentence)


def further_clash(solved: JointSolved, core: Sequence[JointConstraint]) -> str:
    """A core beside the first, in a line: the constraints by name, and where they leave no candidate."""
    slot, phrase = clash_slot(solved, core), _core_phrase(solved, core)
    if slot is None:
        return f"{phrase} can't {'be met' if len(core) == 1 else 'hold together'}"
    told = f"no candidate meets {phrase}" if len(core) == 1 else f"{phrase} can't hold together"
    return _in_slot(solved, slot, told)


def _in_slot(solved: JointSolved, slot: int, sentence: str) -> str:
    """A sentence that is about one slot."""
    return f"in slot {shown(solved.names[slot])}, {sentence}"


def _nearest(solved: JointSolved, core: Sequence[JointConstraint]) -> str | None:
    """The candidates that meet all of a core but one tie, and by how much they miss that; None when none are found.

    Where every slot has candidates on its own, they are among these.
    """
    ties = [constraint for constraint in core if constraint.tie is not None]
    if not ties:
        return None
    left_out = next((each for each in reversed(ties) if solved.ties[each.tie or 0].op is not None), ties[-1])
    assert left_out.tie is not None  # it is among the ties
    tie = solved.ties[left_out.tie]
    members = [slot.survivors for slot in solved.slots]
    if not all(members):
        members = [solved.catalog.all()] * len(solved.names)
        for constraint in core:
            for slot, named_there in constraint.named.items():
                members[slot] &= named_there.admitted
    compiled = solved.compiled[left_out.tie]
    ranked = [ranked_of(each, one) for each, one in zip(solved.slots, members, strict=True)]
    if tie.op is not None and compiled.passes is not None:
        # One whose value is not known comes near nothing.
        for slot in compiled.slots:
            known = sum(
                1 << number
                for number in ranked[slot].numbers
                if tie.values([solved.catalog.candidate(number)]) != [None]
            )
            ranked[slot] = ranked_of(solved.slots[slot], known)
            if not known:
                return f"no {tie.field} is known of any candidate of slot {shown(solved.names[slot])}"
    if not all(each.numbers for each in ranked):
        return None
    costs = costs_of(ranked)
    pieces = compiled.pieces
    if tie.kind == "sum" and pieces:
        column = pieces[0].column
        floor = min(column)
        costs = [
            [column[number] - floor if slot in compiled.slots else 0 for number in each.numbers]
            for slot, each in enumerate(ranked)
        ]
    others = [solved.compiled[each.tie] for each in ties if each.tie is not None and each is not left_out]
    numbers = best([each.numbers for each in ranked], costs, others, SearchBudget(_NODES)).numbers
    if numbers is None:
        return None
    picks = picks_phrase(solved, numbers, left_out.slots)
    candidates = [solved.catalog.candidate(numbers[slot]) for slot in left_out.slots]
    if tie.op is None:
        values = [str(value) for value in tie.values(candidates)]
        what = joined([f"{shown(n)} has {shown(v)}" for n, v in zip(tie.slots, values, strict=True)])
        return f"the best without {left_out.id} are {picks}, where {what}"
    total = tie.total(candidates)
    if total is None:
        return None
    nearest = "the nearest" if tie.kind == "max" or tie.op == "=" else "the least" if "<" in tie.op else "the most"
    return f"{nearest} {tie.kind} of {tie.field} is {ecmascript(wire_number(total))}, with {picks}"
