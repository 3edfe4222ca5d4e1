"""Requests of a tenant under a pack: for a capability, or for a bundle of several."""

import copy
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ...basics.issues import child
from ...catalog.catalog import Catalog
from ...constraints.named import Origin
from ...engine.single import EngineName
from ...model.capability import Capability, read_capability
from ...model.condition import named_in
from ...model.provider import SetupFailure
from ...model.timestamps import written
from ...solving.asked import LabelSource, Provenance
from ...solving.request import RequestTerms
from ...wire.request import Request
from .models import CapabilityEntry, Tokens
from .policy import PolicyInForce

if TYPE_CHECKING:
    from ...wire.bundles import BundleRequest
    from .pack import Pack

__all__ = ["Resolved", "ResolvedBundle", "candidates_document", "given"]

R = TypeVar("R", "Request", "BundleRequest")


@dataclass(frozen=True, kw_only=True)
class _OfTenant(Generic[R]):
    """What requests for a capability and for a bundle have in common.

    Attributes:
        pack: The pack.
        policy: What holds for the tenant.
        at: Its time, if it has one of its own.
        catalog: The candidates.
    """

    pack: "Pack" = field(repr=False)
    policy: PolicyInForce = field(repr=False)
    at: str | None
    catalog: Catalog = field(repr=False)

    @property
    def tenant(self) -> str:
        """The tenant."""
        return self.policy.tenant

    @cached_property
    @abstractmethod
    def request(self) -> dict[str, Any]:
        """The wire request: `answer` gives it the pack's answer, without the pack."""

    @abstractmethod
    def _facts(self) -> dict[str, Any]:
        """What the request says beside what it asks for and under which policy."""

    def _provenance(
        self, document: Mapping[str, Any], labels: Mapping[str, tuple[str, LabelSource]], **more: Any
    ) -> Provenance:
        return Provenance(labels=labels, pack=self.pack.digest, at=document["at"], **more)

    @abstractmethod
    def _read(self, document: dict[str, Any], failures: tuple[SetupFailure, ...]) -> R: ...

    def read(
        self,
        *,
        include: Sequence[str] = (),
        now: datetime | None = None,
        setup_failures: Sequence[SetupFailure] = (),
    ) -> R:
        """The request, ready to be solved and answered. The candidates are the pack's own, indexed once.

        Args:
            include: What the answer holds beside the decision or the error: `matched`, `explanation`, `request`.
            now: The time of a request that names none; the present when absent.
            setup_failures: Providers that could not be set up, to be named when nothing qualifies.
        """
        document = copy.deepcopy(self.request) if "request" in include else self._facts()
        if "request" in include and setup_failures:
            document["setupFailures"] = [failure.model_dump(by_alias=True) for failure in setup_failures]
        if "at" not in document:
            document["at"] = written(now or datetime.now(UTC))
        if include:
            document["include"] = list(include)
        return self._read(document, tuple(setup_failures))

    def answer(self, *, include: Sequence[str] = (), engine: EngineName = "bitset") -> dict[str, Any]:
        """The pack's answer, as it goes over the wire."""
        return self.read(include=include).answer(engine)

    def _under(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """A wire request but for what it asks for: the candidates, the policy and some facts, the rules."""
        policy, places = self.policy, self.policy.origins.items()
        return {
            "providers": [each.to_dict() for each in self.catalog.metadata],
            "tenantPolicy": policy.clauses.to_dict(),
            **facts,
            **given(
                regions=copy.deepcopy(self.pack.region_document) or None,
                conditions=self._conditions() or None,
                rules=[each.rule.value.to_dict() for each in policy.rules] or None,
                waivers=[waiver.value.to_dict() for waiver in policy.waivers] or None,
                origins={name: [each.to_dict() for each in origins] for name, origins in places} or None,
                contacts=dict(policy.contacts) or None,
            ),
        }

    def _conditions(self) -> dict[str, Any]:
        """The named conditions that the tenant's rules and waivers lead to; others may name what it must not see."""
        documents = [each.rule.value.condition for each in self.policy.rules]
        documents += [waiver.value.admits for waiver in self.policy.waivers]
        waiting = [name for each in documents if each is not None for name in named_in(each.node)]
        reached: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += named_in(self.pack.conditions[name].value.node)
        return {
            name: each.value.model_dump(by_alias=True, exclude_unset=True, mode="json")
            for name, each in self.pack.conditions.items()
            if name in reached
        }


@dataclass(frozen=True, kw_only=True)
class Resolved(_OfTenant[Request]):
    """A request of a tenant under a pack.

    Attributes:
        entry: The capability of the pack that is asked for; None for a declaration of the request's own.
        declaration: The capability, as it goes over the wire.
        sourced_labels: What is known of the request, each label with where it comes from.
        preferred_provider: The provider hint.
        preferred_model: The model hint.
        why_not: A (provider id, model name) to compare with the pick.
        capability: The capability, as it is read.
    """

    entry: CapabilityEntry | None
    declaration: dict[str, Any]
    sourced_labels: Mapping[str, tuple[str, LabelSource]]
    preferred_provider: str | None
    preferred_model: str | None
    why_not: tuple[str, str] | None
    capability: Capability = field(repr=False)

    @cached_property
    def labels(self) -> dict[str, str]:
        """What is known of the request."""
        return {key: value for key, (value, _) in self.sourced_labels.items()}

    @property
    def name(self) -> str | None:
        """The name of the capability; None for a declaration of the request's own."""
        return None if self.entry is None else self.entry.name

    @property
    def origins(self) -> Mapping[str, tuple[Origin, ...]]:
        """For each constraint of a clause or a rule, by its id, where it is written."""
        return self.policy.origins

    @cached_property
    def request(self) -> dict[str, Any]:
        """The wire request: `answer` gives it the pack's answer, without the pack."""
        return {"capability": copy.deepcopy(self.declaration), **self._under(self._facts())}

    def _facts(self) -> dict[str, Any]:
        asked = None if self.why_not is None else dict(zip(("provider", "model"), self.why_not, strict=True))
        tokens = None if self.entry is None else self.entry.tokens
        return given(
            capabilityName=self.name,
            preferredProvider=self.preferred_provider,
            preferredModel=self.preferred_model,
            labels=dict(self.labels) or None,
            at=self.at,
            tokens=None if tokens is None else tokens.model_dump(by_alias=True),
            whyNot=asked,
        )

    @property
    def terms(self) -> RequestTerms:
        """The request, prepared: that for a capability of the pack once for all its requests with the same labels."""
        view = self.pack.view(self.tenant)
        if self.entry is not None:
            return view.terms(self.entry.name, self.labels)
        return RequestTerms(self.capability, self.policy.clauses, view.situation(self.labels, None, None))

    def _read(self, document: dict[str, Any], failures: tuple[SetupFailure, ...]) -> Request:
        return Request(document, self.terms, self.catalog, failures, self._provenance(document, self.sourced_labels))


@dataclass(frozen=True, kw_only=True)
class ResolvedBundle(_OfTenant["BundleRequest"]):
    """A tenant's request for a bundle under a pack.

    Attributes:
        bundle: The name of the bundle, or its slots and ties as they were given.
        sourced_labels: What is known of the request, each label with where it comes from; a slot may have its own.
        slots: The slots, as they go over the wire.
        together: What ties them, as it goes over the wire.
        why_not: For some slots, a (provider id, model name) to compare with the pick.
    """

    bundle: str | Mapping[str, Any]
    sourced_labels: Mapping[str, tuple[str, LabelSource]]
    slots: dict[str, dict[str, Any]]
    together: tuple[dict[str, Any], ...]
    why_not: Mapping[str, tuple[str, str]] | None

    @cached_property
    def request(self) -> dict[str, Any]:
        """The wire request: `answer` gives it the pack's answer, without the pack."""
        return {
            "slots": copy.deepcopy(self.slots),
            "together": copy.deepcopy(list(self.together)),
            **self._under(given(at=self.at)),
            **self._facts(),
        }

    def _facts(self) -> dict[str, Any]:
        return given(at=self.at, whyNot=None if self.why_not is None else candidates_document(self.why_not))

    def _read(self, document: dict[str, Any], failures: tuple[SetupFailure, ...]) -> "BundleRequest":
        # They take long to load, and few packs have bundles.
        from ...bundles.reading import read_together  # noqa: PLC0415
        from ...solving.joint import Slot  # noqa: PLC0415
        from ...wire.bundles import BundleRequest  # noqa: PLC0415

        view = self.pack.view(self.tenant)
        slots = []
        for name, slot in self.slots.items():
            tokens = slot.get("tokens")
            call = None if tokens is None else Tokens(**tokens).call
            own = view.situation(slot.get("labels", {}), call, slot.get("capabilityName"))
            asked = read_capability(slot["capability"], child("/slots", name, "capability"))
            slots.append(Slot(name, asked, slot.get("preferredProvider"), slot.get("preferredModel"), own))
        ties = read_together(self.together, self.slots)
        named = isinstance(self.bundle, str)
        provenance = self._provenance(
            document, self.sourced_labels, **{"bundle" if named else "declaration": self.bundle}
        )
        return BundleRequest(document, slots, ties, self.catalog, self.policy.clauses, failures, provenance)


def given(**values: Any) -> dict[str, Any]:
    """The members of an object that have a value."""
    return {key: value for key, value in values.items() if value is not None}


def candidates_document(candidates: Mapping[str, tuple[str, str]]) -> dict[str, dict[str, str]]:
    """A candidate for each of some slots, as they go over the wire."""
    return {slot: {"provider": provider, "model": model} for slot, (provider, model) in candidates.items()}
