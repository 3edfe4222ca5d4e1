"""Allow and deny lists that contradict themselves or each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ...basics.issues import quoted, shown
from ...model.capability import NameLists
from ..load.definitions import Piece
from ..load.policy import Part
from ..source.problems import Place
from .findings import Finding, found
from .survey import Survey

__all__ = ["empty_lists", "overlapping_lists"]

_ALLOWING: Final = ("providers.allow", "models.allow", "regionAllow")
_TENANTS_AT_MOST: Final = 3


@dataclass(frozen=True, slots=True)
class _List:
    """A list as it is written.

    Attributes:
        key: `providers.allow`, `providers.deny`, `models.allow`, `models.deny` or `regionAllow`.
        names: Its members.
        piece: The list.
    """

    key: str
    names: Sequence[str]
    piece: Piece

    def place(self, name: str | None = None) -> Place:
        """Where it stands, or a member of it."""
        return self.piece.value() if name is None else self.piece.value(self.names.index(name))


def _of_part(part: Part) -> Iterator[_List]:
    for subject, lists in (("providers", part.value.providers), ("models", part.value.models)):
        if lists is not None:
            yield from _both(subject, lists, part.piece.inner(subject))
    if part.value.region_allow is not None:
        yield _List("regionAllow", part.value.region_allow, part.piece.inner("regionAllow"))


def _both(subject: str, lists: NameLists, piece: Piece) -> Iterator[_List]:
    if lists.allow is not None:
        yield _List(f"{subject}.allow", lists.allow, piece.inner("allow"))
    if lists.deny is not None:
        yield _List(f"{subject}.deny", lists.deny, piece.inner("deny"))


def _of_needs(survey: Survey) -> Iterator[tuple[_List, ...]]:
    """The lists of each need for providers or models."""
    for capability in survey.pack.capabilities.values():
        for index, need in enumerate(capability.value.needs):
            for subject in ("providers", "models"):
                lists = getattr(need, subject, None)
                if lists is not None:
                    yield tuple(_both(subject, lists, capability.piece.inner("needs", index, subject)))


def overlapping_lists(survey: Survey) -> Iterator[Finding]:
    """Names that a policy allows although it, or what it adds to, denies them.

    That a later one denies what an earlier one allows is what policies are combined for.
    """
    of_part = {part.origin: tuple(_of_part(part)) for part in survey.all_parts}
    chains = dict.fromkeys(tuple(of_part[part.origin] for part in parts) for parts in survey.parts.values())
    alone = [(lists,) for lists in of_part.values()]
    needs = [(lists,) for lists in _of_needs(survey)]
    seen: set[tuple[Place, Place]] = set()
    for chain in (*alone, *chains, *needs):
        for subject in ("provider", "model"):
            for pair in _allowed_and_denied(chain, subject):
                name, allowed, denied = pair
                if (allowed, denied) not in seen:
                    seen.add((allowed, denied))
                    message = f"{subject} {shown(name)} is allowed here and denied, too; deny wins"
                    yield found("allow-deny-overlap", allowed, message, [denied])


def _allowed_and_denied(chain: Sequence[Sequence[_List]], subject: str) -> Iterator[tuple[str, Place, Place]]:
    denied: dict[str, Place] = {}
    for lists in chain:
        for each in lists:
            if each.key == f"{subject}s.deny":
                for name in each.names:
                    denied.setdefault(name, each.place(name))
        for each in lists if denied else ():
            if each.key == f"{subject}s.allow":
                for name in each.names:
                    if name in denied:
                        yield name, each.place(name), denied[name]


def empty_lists(survey: Survey) -> Iterator[Finding]:
    """Allow lists with no member, and those that have none in common with the others that they are combined with."""
    of_parts = [tuple(_of_part(part)) for part in survey.all_parts]
    for lists in (*of_parts, *_of_needs(survey)):
        for each in lists:
            if each.key in _ALLOWING and not each.names:
                yield found("empty-allow", each.place(), f"an empty `{each.key}` allows nothing; leave it out")
    yield from _intersected(survey)


def _intersected(survey: Survey) -> Iterator[Finding]:
    told: dict[tuple[str, Place, tuple[Place, ...]], list[str]] = {}
    for tenant, parts in survey.parts.items():
        lists = [each for part in parts for each in _of_part(part)]
        for key in _ALLOWING:
            given = [each for each in lists if each.key == key]
            sets = [frozenset(_meanings(survey, each)) for each in given]
            if len(given) > 1 and all(sets) and not frozenset.intersection(*sets):
                at = _first_to_empty(sets)
                # One that has nothing in common with it says it best; otherwise all up to here.
                other = next((index for index in range(at) if not sets[index] & sets[at]), None)
                places = tuple(given[index].place() for index in (range(at) if other is None else (other,)))
                told.setdefault((key, given[at].place(), places), []).append(tenant)
    for (key, place, places), tenants in told.items():
        plural = "" if len(tenants) == 1 else "s"
        who = f"tenant{plural} {quoted(tenants, limit=_TENANTS_AT_MOST)}"
        message = f"`{key}` allows nothing for {who}: this and what it is combined with have no member in common"
        yield found("empty-allow", place, message, places)


def _meanings(survey: Survey, each: _List) -> Sequence[str]:
    return survey.regions.meanings(each.names) if each.key == "regionAllow" else each.names


def _first_to_empty(sets: Sequence[frozenset[str]]) -> int:
    """The first set that leaves nothing of those before it; there is one."""
    left = sets[0]
    for index, each in enumerate(sets[1:], 1):
        left &= each
        if not left:
            return index
    return len(sets) - 1
