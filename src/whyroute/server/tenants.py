"""What a tenant has: the pack's providers that it sees, and those registered for it."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from ..catalog.candidate import Member
from ..catalog.catalog import Catalog
from ..model.metadata import ProviderMetadata
from ..model.provider import ModelProvider, SetupFailure
from ..model.timestamps import Moment
from ..packs import Pack
from ..providers.hydrating import Registration
from ..solving.request import Solved

__all__ = ["Holdings", "Route", "holdings_of"]

Route = tuple[str, tuple[tuple[str, str], ...]]
"""A capability of the pack, and the labels that a request gives itself, sorted."""

_BOUND: Final = 1000  # how many bound routes are kept at most
_BOUND_BITS: Final = 1 << 26  # and how many candidates they have together
_UPDATE_AT_MOST = 16  # past so many new providers at once, indexing afresh is cheaper than updating


@dataclass(frozen=True)
class Holdings:
    """A tenant's providers at one time.

    Attributes:
        version: The version of its registrations.
        registrations: What is registered, in order.
        catalog: The candidates: the pack's providers, then those that are registered and set up.
        failures: Those that are registered and can't be set up.
        pack_ids: The ids of the pack's providers that it sees.

    What is bound to these candidates is kept here, and goes with them.
    """

    version: int
    registrations: tuple[Registration, ...]
    catalog: Catalog
    failures: tuple[SetupFailure, ...]
    pack_ids: frozenset[str]
    _members: tuple[Member, ...] = field(default=(), repr=False)
    _bound: dict[Route, Solved] = field(default_factory=dict, repr=False, compare=False)

    def bound(self, route: Route, at: Moment) -> Solved | None:
        """A route to a capability of the pack as it was bound before, where the same rules are in force at a time."""
        found = self._bound.get(route)
        return None if found is None or found.at is None or not found.terms.is_same_period(found.at, at) else found

    def keep_bound(self, route: Route, solved: Solved) -> None:
        """Keep a route that was bound, as long as there is room."""
        if len(self._bound) >= min(_BOUND, _BOUND_BITS // (self.catalog.size + 1) + 1):
            self._bound.clear()
        self._bound[route] = solved

    @cached_property
    def providers(self) -> Mapping[str, ProviderMetadata]:
        """Every provider's metadata by id, in the order of ids; those that can't be set up, too."""
        found = {registration.id: registration.metadata for registration in self.registrations}
        found |= {metadata.id: metadata for metadata in self.catalog.metadata}
        return {name: found[name] for name in sorted(found)}

    @cached_property
    def registered_digest(self) -> str | None:
        """A digest of what is registered: SHA-256 of JSON with sorted keys and no spaces; None where nothing is."""
        if not self.registrations:
            return None
        document = {
            "registered": [metadata.to_dict() for _, metadata in self._members],
            "setupFailures": [failure.model_dump(by_alias=True) for failure in self.failures],
        }
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
        return f"sha256:{hashlib.sha256(text.encode('utf-8')).hexdigest()}"

    @cached_property
    def by_feature(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """For each feature, the providers with a model that has it, in the order of ids, and those models."""
        found: dict[str, dict[str, dict[str, None]]] = {}
        for metadata in sorted(self.catalog.metadata, key=lambda each: each.id):
            for model in metadata.models:
                for feature in model.features:
                    found.setdefault(feature, {}).setdefault(metadata.id, {})[model.name] = None
        return {
            feature: {provider: tuple(models) for provider, models in providers.items()}
            for feature, providers in found.items()
        }

    @cached_property
    def digest(self) -> str:
        """A digest of all candidates' metadata, in order."""
        state = hashlib.sha256()
        for metadata in self.catalog.metadata:
            text = metadata.model_dump_json(by_alias=True, exclude_unset=True).encode("utf-8")
            state.update(f"{len(text)}:".encode("ascii"))
            state.update(text)
        return f"sha256:{state.hexdigest()}"


def holdings_of(
    pack: Pack,
    tenant: str,
    version: int,
    registrations: Sequence[Registration],
    set_up: Callable[[Registration], ModelProvider | SetupFailure],
    before: Holdings | None = None,
) -> Holdings:
    """A tenant's providers.

    Args:
        set_up: Gives the provider of a registration, or why there is none.
        before: What the tenant had under the same pack: what was only added to is updated, not made again.

    Raises:
        UnknownTenantError: The pack doesn't name the tenant.
    """
    pack.policy(tenant)
    own = pack.catalog(tenant)
    given = tuple(registrations)
    pack_ids = frozenset(metadata.id for metadata in own.metadata)
    if before is not None and not before.failures and given[: len(before.registrations)] == before.registrations:
        catalog, members, rest = before.catalog, list(before._members), given[len(before.registrations) :]
    else:
        catalog, members, rest = own, [], given
    failures: list[SetupFailure] = []
    added: list[Member] = []
    for registration in rest:
        outcome = _taken(registration) if registration.id in pack_ids else set_up(registration)
        if isinstance(outcome, SetupFailure):
            failures.append(outcome)
        else:
            added.append((outcome, registration.metadata))
    members += added
    if len(added) <= _UPDATE_AT_MOST:
        for member in added:
            catalog = catalog.with_member(member)
    else:
        catalog = Catalog.of_members([*zip(own, own.metadata, strict=True), *members])
    return Holdings(version, given, catalog, tuple(failures), pack_ids, tuple(members))


def _taken(registration: Registration) -> SetupFailure:
    message = "the rule pack has a provider of this id; unregister one of them"
    return SetupFailure(provider_id=registration.id, message=message)
