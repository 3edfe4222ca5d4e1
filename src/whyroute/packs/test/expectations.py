"""What a test of a pack expects of a request, held against what the request comes to."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from ...basics.bits import positions
from ...basics.issues import did_you_mean, quoted, shown
from ...constraints.three_valued import Compiled, compiled, observed_value
from ...constraints.violations import violation
from ...documents.phrases import joined
from ...explanations import Explanation
from ...explanations.contrast import contrast
from ...model.condition import condition_order, read_condition
from ...model.timestamps import is_within, read_moment
from ...solving.request import Solved
from ..load.models import Expectation, TestCandidate
from ..load.pack import Pack

__all__ = ["Judge", "Mismatch", "as_wire", "no_candidate"]

_NEAR: Final = 3
_EXAMPLES: Final = 3


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A key of `expect` that does not hold.

    Attributes:
        key: The key; of an item of `rejected`, `rejected/<index>`.
        expected: What the test expects, as the pack has it.
        got: What it is, likewise: a candidate, true or false, candidates, ids of constraints, cores; None where
            nothing qualifies, for `pick` and `fallback`.
        notes: What explains it: names that do not exist, with what is near them, or who breaks a condition and why.
        about: The (provider id, model name) that the explanation compares with the pick.
        asked: Of a bundle, for some slots, the same.
    """

    key: str
    expected: Any
    got: Any
    notes: tuple[str, ...] = ()
    about: tuple[str, str] | None = None
    asked: Mapping[str, tuple[str, str]] | None = None


class Judge:
    """Holds requests of a pack against expectations. What an expectation rests on is read once.

    Args:
        pack: The pack that defines the names.
    """

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._every: dict[str, Compiled] = {}

    def mismatches(self, expect: Expectation, solved: Solved) -> tuple[Mismatch, ...]:
        """The keys that do not hold, in the order in which a pack lists them; only those given are looked at."""
        return tuple(self._mismatches(expect, solved))

    def said_nothing(self, expect: Expectation, solved: Solved) -> bool:
        """Whether `every` held for want of candidates: nothing qualifies."""
        return expect.every is not None and not solved.survivors

    def condition(self, expect: Expectation) -> Compiled | None:
        """The condition of `every`."""
        if expect.every is None:
            return None
        text = repr(expect.every)  # many tests say the same
        found = self._every.get(text)
        if found is None:
            found = self._every[text] = compiled(read_condition(expect.every).node, *self._named)
        return found

    @cached_property
    def _named(self) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        nodes = {name: each.value.node for name, each in self._pack.conditions.items()}
        return nodes, condition_order(nodes)

    def _mismatches(self, expect: Expectation, solved: Solved) -> Iterator[Mismatch]:
        if expect.pick is not None:
            yield from _pick(expect.pick, solved)
        if expect.fallback is not None:
            got = None if not solved.survivors else solved.survivors & ~solved.catalog.fallbacks == 0
            if got is not expect.fallback:
                yield Mismatch("fallback", expect.fallback, got)
        if expect.every is not None:
            yield from self._each_meets(expect, solved)
        if expect.admitted is not None:
            yield from _admitted(expect.admitted, solved)
        for index, rejected in enumerate(expect.rejected or ()):
            yield from self._rejected(f"rejected/{index}", rejected, rejected.by, solved)
        if expect.unsatisfiable is not None and expect.unsatisfiable is (solved.survivors != 0):
            yield Mismatch("unsatisfiable", expect.unsatisfiable, not expect.unsatisfiable)
        if expect.core is not None:
            yield from self._core(expect.core, solved)

    def _each_meets(self, expect: Expectation, solved: Solved) -> Iterator[Mismatch]:
        condition = self.condition(expect)
        assert condition is not None  # `every` was given
        situation = solved.situation
        assert situation is not None  # every request of a pack has one
        known = situation.context.known(condition, solved.catalog)
        failing = solved.survivors & ~known.yes
        if not failing:
            return
        notes: list[str] = []
        for number in _first(failing, _EXAMPLES):
            candidate = solved.catalog.candidate(number)
            values = {name: _observed(name, candidate, situation) for name in condition.fields}
            notes.append(f"{_pair(candidate.key)}: {violation(condition, values, situation.context.regions)}")
        more = failing.bit_count() - _EXAMPLES
        if more > 0:
            notes.append(f"and {more} more")
        got = [solved.catalog.candidate(number).to_dict() for number in positions(failing)]
        first = got[0]["provider"], got[0]["model"]
        yield Mismatch("every", expect.every, got, tuple(notes), first)

    def _rejected(
        self, key: str, wanted: TestCandidate, by: Sequence[str] | None, solved: Solved
    ) -> Iterator[Mismatch]:
        expected: dict[str, Any] = as_wire(wanted)
        number = solved.catalog.number_of(wanted.provider, wanted.model)
        if number is None:
            yield Mismatch(key, expected, None, (no_candidate(wanted, solved),))
            return
        about = wanted.provider, wanted.model
        constraints = solved.constraints
        stopped = [
            name for name, each in zip(constraints.ids, constraints.admitted, strict=True) if not each >> number & 1
        ]
        if not stopped:
            notes = () if by is None else tuple(self._strange(by, solved))
            yield Mismatch(key, expected, [], notes, about)
        elif by is not None and set(by) != set(stopped):
            yield Mismatch(key, expected, stopped, tuple(self._strange(by, solved)), about)

    def _core(self, wanted: Sequence[str], solved: Solved) -> Iterator[Mismatch]:
        admitted = dict(zip(solved.constraints.ids, solved.constraints.admitted, strict=True))
        members = [admitted[name] for name in dict.fromkeys(wanted) if name in admitted]
        known = len(members) == len(set(wanted))
        if known and _is_core(members, solved.catalog.all()):
            return
        got = [[each.id for each in core] for core in Explanation(solved).cores]
        yield Mismatch("core", list(wanted), got, tuple(self._strange(wanted, solved)))

    def _strange(self, names: Iterable[str], solved: Solved) -> Iterator[str]:
        return self.strange(names, solved.constraints.ids, solved)

    def strange(self, names: Iterable[str], known: Sequence[str], solved: Solved) -> Iterator[str]:
        """What is wrong with ids that are no constraints of a request.

        Args:
            names: The ids that a test gives.
            known: The ids that the request has.
            solved: The request; of a bundle, any of its slots.
        """
        for name in dict.fromkeys(names):
            if name not in known:
                rule = name.removeprefix("rules/")
                if rule != name and rule in self._pack.rules:
                    yield f"{shown(name)} rejects no candidate here: {self._idle(rule, solved)}"
                else:
                    near = did_you_mean(name, known) or f"; they are {quoted(known, limit=12)}"
                    yield f"{shown(name)} is no constraint of this request{near}"

    def _idle(self, name: str, solved: Solved) -> str:
        """Why a rule of the pack is no constraint of a request."""
        rule = self._pack.rules[name].value
        tenant = "" if solved.policy is None else solved.policy.tenant_id
        assert solved.at is not None  # every request of a pack has one
        if all(each.rule.name != name for each in self._pack.policy(tenant).rules):
            return f"tenant {shown(tenant)} does not have this rule"
        if rule.effect == "prefer":
            return "it prefers, and that only changes the order"
        since, until = (None if each is None else read_moment(each) for each in (rule.from_, rule.until))
        if not is_within(solved.at, since, until):
            dates = [f"{word} {each}" for word, each in (("from", rule.from_), ("until", rule.until)) if each]
            return f"it holds {' '.join(dates)}, and the request is of another time"
        if rule.shadow:
            return "it is in shadow mode"
        return "its `when` does not hold for this request"


def _pick(wanted: TestCandidate, solved: Solved) -> Iterator[Mismatch]:
    got = None
    if solved.survivors:
        got = solved.catalog.candidate(solved.ranked(solved.survivors).best())
        if got.key == (wanted.provider, wanted.model):
            return
    found = None if got is None else got.to_dict()
    if solved.catalog.number_of(wanted.provider, wanted.model) is None:
        yield Mismatch("pick", as_wire(wanted), found, (no_candidate(wanted, solved),))
    else:
        yield Mismatch("pick", as_wire(wanted), found, (), (wanted.provider, wanted.model))


def _admitted(wanted: Iterable[TestCandidate], solved: Solved) -> Iterator[Mismatch]:
    members, notes = 0, []
    about: tuple[str, str] | None = None
    for each in wanted:
        number = solved.catalog.number_of(each.provider, each.model)
        if number is None:
            notes.append(no_candidate(each, solved))
        else:
            members |= 1 << number
            if about is None and not solved.survivors >> number & 1:
                about = each.provider, each.model
    if notes or members != solved.survivors:
        got = [solved.catalog.candidate(number).to_dict() for number in positions(solved.survivors)]
        yield Mismatch("admitted", [as_wire(each) for each in wanted], got, tuple(dict.fromkeys(notes)), about)


def as_wire(candidate: TestCandidate) -> dict[str, Any]:
    """A candidate as the pack has it."""
    return candidate.model_dump(by_alias=True, exclude_unset=True, mode="json")


def _is_core(members: list[int], everyone: int) -> bool:
    """Whether no candidate is in all sets, but one would be in all of them without any one."""
    before = [everyone]
    for each in members:
        before.append(before[-1] & each)
    if before[-1]:
        return False
    after = everyone
    for place in reversed(range(len(members))):
        if not before[place] & after:
            return False
        after &= members[place]
    return True


def no_candidate(wanted: TestCandidate, solved: Solved) -> str:
    """That a candidate is none of a request, and those that are near it."""
    near = [_pair(each.key) for each in contrast(solved, wanted.provider, wanted.model).near[:_NEAR]]
    which = f"; did you mean {joined(near, 'or')}?" if near else ""
    return f"{_pair((wanted.provider, wanted.model))} is no candidate here{which}"


def _pair(key: tuple[str, str]) -> str:
    return f"{shown(key[0])} / {shown(key[1])}"


def _observed(name: str, candidate: Any, situation: Any) -> Any:
    return observed_value(name, candidate.metadata, candidate.model, situation.context.call)


def _first(members: int, count: int) -> Iterator[int]:
    for place, number in enumerate(positions(members)):
        if place == count:
            return
        yield number
