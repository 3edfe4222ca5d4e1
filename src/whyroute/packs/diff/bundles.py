"""The bundles of two packs: those that both have, compared by what they come to for each tenant."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import BundleUnsatisfiableError, InvalidRequestError, WhyrouteError
from ...model.capability import read_capability
from ...model.condition import Leaf
from ..load.definitions import Definition
from ..load.models import BundleEntry
from ..load.pack import Pack
from ..load.resolved import ResolvedBundle
from .comparison import BundleAnswer, BundleChange, Cut
from .json_form import Pair
from .labels import Labelling, labelling
from .pack_view import PackView, RouteFacts

__all__ = ["Bundles"]


_MOST_SOLVED = 32
"""For how many sets of rules that apply to its slots a bundle is solved, for a tenant and under each pack."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """What a pack knows of a slot."""

    pack: Pack
    labels: Mapping[str, str]


class Bundles:
    """What was found out of the bundles of two packs so far.

    Attributes:
        cuts: Where labels were left out that could make a difference.
    """

    def __init__(self, old: Pack, new: Pack, at: str) -> None:
        self.old, self.new = old, new
        self.at = at
        self.compared = False
        self.cuts: list[Cut] = []
        self._labels: dict[tuple[str, tuple[Leaf, ...]], Labelling] = {}
        self._differing: dict[tuple[str, BundleAnswer, BundleAnswer], dict[str, Mapping[str, str]]] = {}
        self._redefined = {
            name: _defined(bundle) != _defined(new.bundles[name])
            for name, bundle in old.bundles.items()
            if name in new.bundles
        }
        self._same_requests = _requests(old) == _requests(new)

    def compare(self, sides: tuple[PackView, PackView], name: str, leaves: tuple[Leaf, ...], *, alike: bool) -> None:
        """Compare what a bundle comes to for a tenant, with all labels that rules tell apart.

        Costs two solutions of the bundle for each set of rules that applies to its slots, unless nothing that they
        depend on differs.

        Args:
            sides: What holds for the tenant in both packs.
            name: The bundle's name; both packs have it.
            leaves: The comparisons by which the tenant's rules tell requests apart.
            alike: Whether the tenant has the same candidates, clauses and rules in both packs.
        """
        self.compared = True
        if alike and self._same_requests and not self._redefined[name]:
            return
        tenant = sides[0].policy.tenant
        labels = self._labels.get((name, leaves))
        if labels is None:
            labels = self._labels[name, leaves] = labelling(leaves, lambda given: self._slots(tenant, name, given))
        solved: set[tuple[tuple[bool, ...], ...]] = set()
        compared = 0
        for combination in labels.combinations:
            given = labels.given(combination)
            bundles = self._resolved(tenant, name, given)
            applied = tuple(
                side.in_force(asked) for side, each in zip(sides, bundles, strict=True) for asked in _asked(each)
            )
            if applied not in solved and len(solved) < _MOST_SOLVED:
                before, after = map(_answer, bundles)
                if before != after:
                    self._differing.setdefault((name, before, after), {}).setdefault(tenant, given)
                solved.add(applied)
            compared += applied in solved
        if compared < labels.total or labels.incomplete:
            self.cuts.append(Cut(tenant, name, compared, labels.total, labels.incomplete, what="bundle"))

    def _resolved(self, tenant: str, name: str, labels: Mapping[str, str]) -> list[ResolvedBundle]:
        found: list[ResolvedBundle] = []
        for pack in (self.old, self.new):
            given, operator = pack.split_labels(labels)
            found.append(pack.resolve_bundle(tenant, name, labels=given, operator_labels=operator, at=self.at))
        return found

    def _slots(self, tenant: str, name: str, labels: Mapping[str, str]) -> Sequence[_Slot] | None:
        try:
            bundles = self._resolved(tenant, name, labels)
        except InvalidRequestError:
            return None
        return [_Slot(each.pack, slot.get("labels", {})) for each in bundles for slot in each.slots.values()]

    def changes(self) -> tuple[BundleChange, ...]:
        """What differs, by the bundles' names. Where no answer was compared, nothing is said of definitions either."""
        if not self.compared:
            return ()
        found: list[BundleChange] = []
        for name in sorted(self._redefined):
            redefined = self._redefined[name]
            origins = self.new.bundles[name].origin, self.old.bundles[name].origin
            answers = [(key, tenants) for key, tenants in self._differing.items() if key[0] == name]
            for (_, before, after), tenants in answers:
                alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
                for tenant, given in tenants.items():
                    alike.setdefault(tuple(given.items()), []).append(tenant)
                found += (
                    BundleChange(name, redefined, tuple(concerned), before, after, *origins, labels=labels)
                    for labels, concerned in alike.items()
                )
            if redefined and not answers:
                found.append(BundleChange(name, redefined, (), None, None, *origins))
        return tuple(found)


def _requests(pack: Pack) -> tuple[Any, ...]:
    """What the slots of a bundle may depend on, beside the tenant."""
    defaults = None if pack.labels is None else {name: each.value.default for name, each in pack.labels.items()}
    return {name: each.value for name, each in pack.capabilities.items()}, defaults


def _defined(bundle: Definition[BundleEntry]) -> Mapping[str, Any]:
    return bundle.value.model_dump(exclude_unset=True)


def _asked(bundle: ResolvedBundle) -> Iterator[RouteFacts]:
    """What the slots ask for, as far as it decides which rules apply."""
    for slot in bundle.slots.values():
        capability = read_capability(slot["capability"])
        yield RouteFacts(capability, slot.get("capabilityName"), None, slot.get("labels", {}), None, None)


def _answer(bundle: ResolvedBundle) -> BundleAnswer:
    from ...bundles.bundle import Bundle, outcome_of  # noqa: PLC0415 (takes long to load)

    try:
        outcome = outcome_of(bundle.read().solve())
    except WhyrouteError as error:
        return BundleAnswer(None, error.message)
    if isinstance(outcome, Bundle):
        return BundleAnswer(tuple((slot, Pair(*pick.key)) for slot, pick in outcome.picks.items()))
    return BundleAnswer(None, None if isinstance(outcome, BundleUnsatisfiableError) else outcome.message)
