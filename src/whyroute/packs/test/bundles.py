"""What a test of a pack expects of a bundle, held against what the bundle comes to."""

from collections.abc import Iterator, Sequence

from ...bundles.clashes import Clashes
from ...bundles.explanation import BundleExplanation
from ...solving.joint import JointSolved
from ..load.models import Expectation, TestCandidate
from .expectations import Judge, Mismatch, as_wire, no_candidate

__all__ = ["bundle_mismatches"]

_UNPROVED = "the search ended at its limit before this was proved"


def bundle_mismatches(expect: Expectation, solved: JointSolved, judge: Judge) -> tuple[Mismatch, ...]:
    """The keys that do not hold, in the order in which a pack lists them; only those given are looked at.

    What the search could not prove within its limit does not hold.

    Args:
        expect: What the test expects.
        solved: The request for the bundle.
        judge: What reads the names of the pack.
    """
    return tuple(_mismatches(expect, solved, judge))


def _mismatches(expect: Expectation, solved: JointSolved, judge: Judge) -> Iterator[Mismatch]:
    best = solved.best
    unproved = () if best.proved else (_UNPROVED,)
    if expect.picks is not None:
        yield from _picks(expect.picks, solved, unproved)
    if expect.fallback is not None:
        got = None if best.numbers is None else solved.fallbacks(best.numbers) > 0
        if got is not expect.fallback or unproved:
            yield Mismatch("fallback", expect.fallback, got, unproved)
    if expect.unsatisfiable is not None:
        # A bundle that was found is one, whether or not it is the best.
        nothing = None if best.numbers is None and unproved else best.numbers is None
        if nothing is not expect.unsatisfiable:
            yield Mismatch("unsatisfiable", expect.unsatisfiable, nothing, unproved if nothing is None else ())
    if expect.core is not None:
        yield from _core(expect.core, solved, judge)


def _picks(wanted: dict[str, TestCandidate], solved: JointSolved, unproved: tuple[str, ...]) -> Iterator[Mismatch]:
    numbers = solved.best.numbers
    picks = None if numbers is None else solved.picks(numbers)
    asked: dict[str, tuple[str, str]] = {}
    notes = list(unproved)
    for slot, each in wanted.items():
        key = each.provider, each.model
        if picks is not None and picks[slot].key == key:
            continue
        if solved.catalog.number_of(*key) is None:
            notes.append(no_candidate(each, solved.slots[solved.names.index(slot)]))
        else:
            asked[slot] = key
    if asked or notes:
        got = None if picks is None else {slot: pick.to_dict() for slot, pick in picks.items()}
        expected = {slot: as_wire(each) for slot, each in wanted.items()}
        yield Mismatch("picks", expected, got, tuple(dict.fromkeys(notes)), None, asked or None)


def _core(wanted: Sequence[str], solved: JointSolved, judge: Judge) -> Iterator[Mismatch]:
    places = {constraint.id: index for index, constraint in enumerate(solved.constraints)}
    chosen = [places[name] for name in dict.fromkeys(wanted) if name in places]
    clashes = Clashes(solved)
    if len(chosen) == len(set(wanted)) and _is_core(clashes, chosen) and not clashes.undecided:
        return
    notes = list(judge.strange(wanted, tuple(places), solved.slots[0]))
    if clashes.undecided:
        notes.append(_UNPROVED)
    got = [[each.id for each in core] for core in BundleExplanation(solved).cores]
    yield Mismatch("core", list(wanted), got, tuple(notes))


def _is_core(clashes: Clashes, members: list[int]) -> bool:
    """Whether no bundle satisfies all of them, but some bundle all of them without any one."""
    return not clashes.satisfiable(members) and all(
        clashes.satisfiable([each for each in members if each != left_out]) for left_out in members
    )
