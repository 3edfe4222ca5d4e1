"""The bundles of two packs: those that both have, compared by what they come to for each tenant."""

from collections.abc import Mapping
from typing import Any

from ...errors import WhyrouteError
from ..definitions import Definition
from ..models import BundleEntry
from ..pack import Pack
from .comparison import BundleAnswer, BundleChange

__all__ = ["Bundles"]


class Bundles:
    """What was found out of the bundles of two packs so far."""

    def __init__(self, old: Pack, new: Pack, at: str) -> None:
        self.old, self.new = old, new
        self.at = at
        self.compared = False
        self._differing: dict[tuple[str, BundleAnswer, BundleAnswer], list[str]] = {}
        self._redefined: dict[str, bool] = {}
        self._same_requests = _requests(old) == _requests(new)

    def compare(self, tenant: str, name: str, *, alike: bool) -> None:
        """Compare what a bundle comes to for a tenant that gives no labels.

        Costs two solutions of the bundle, unless nothing that they depend on differs.

        Args:
            tenant: The tenant.
            name: The bundle's name; both packs have it.
            alike: Whether the tenant has the same candidates, clauses and rules in both packs.
        """
        self.compared = True
        if alike and self._same_requests and not self._is_redefined(name):
            return
        before, after = (_answer(pack, tenant, name, self.at) for pack in (self.old, self.new))
        if before != after:
            self._differing.setdefault((name, before, after), []).append(tenant)

    def _is_redefined(self, name: str) -> bool:
        found = self._redefined.get(name)
        if found is None:
            found = self._redefined[name] = _defined(self.old.bundles[name]) != _defined(self.new.bundles[name])
        return found

    def changes(self) -> tuple[BundleChange, ...]:
        """What differs, by the bundles' names. Where no answer was compared, nothing is said of definitions either."""
        if not self.compared:
            return ()
        found: list[BundleChange] = []
        for name in sorted(self.old.bundles.keys() & self.new.bundles.keys()):
            redefined = self._is_redefined(name)
            origins = self.new.bundles[name].origin, self.old.bundles[name].origin
            answers = [(key, tenants) for key, tenants in self._differing.items() if key[0] == name]
            for (_, before, after), tenants in answers:
                found.append(BundleChange(name, redefined, tuple(tenants), before, after, *origins))
            if redefined and not answers:
                found.append(BundleChange(name, redefined, (), None, None, *origins))
        return tuple(found)


def _requests(pack: Pack) -> tuple[Any, ...]:
    """What the slots of a bundle may depend on, beside the tenant."""
    defaults = None if pack.labels is None else {name: each.value.default for name, each in pack.labels.items()}
    return {name: each.value for name, each in pack.capabilities.items()}, defaults


def _defined(bundle: Definition[BundleEntry]) -> Mapping[str, Any]:
    return bundle.value.model_dump(exclude_unset=True)


def _answer(pack: Pack, tenant: str, name: str, at: str) -> BundleAnswer:
    try:
        answer = pack.resolve_bundle(tenant, name, at=at).answer()
    except WhyrouteError as error:
        return BundleAnswer(None, error.message)
    if "decision" in answer:
        picks = answer["decision"]["picks"]
        return BundleAnswer(tuple((slot, (each["provider"], each["model"])) for slot, each in picks.items()))
    told = answer["error"]
    return BundleAnswer(None, None if told["code"] == "capability-unsatisfiable" else told["message"])
