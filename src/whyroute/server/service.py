"""What the server holds, and what its endpoints do with it.

What blocks runs off the event loop: all but `caller`, `quick`, and `route` with what `quick` gives.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from ..basics.issues import Issue
from ..documents.json_text import JsonTextError, read_json
from ..errors import AdapterConfigError, InvalidRequestError, WhyrouteError
from ..explanations import Explanation
from ..providers.hydrating import Registration
from . import bundling, listing, routing
from .cursors import Cursors
from .envelope import ApiError
from .lines import LineWriter
from .metrics import Metrics
from .packs import PackInForce, PackKeeper
from .records import bundle_record, decision_record
from .registrations import read_registration
from .storage import Storage
from .stored import StoredRegistry
from .tenants import Holdings
from .tokenfile import TokenFile
from .tokens import Caller, authenticate
from .vocabulary import vocabulary

__all__ = ["Service"]

Headers = Sequence[tuple[bytes, bytes]]

PACK_HEADER: Final = b"whyroute-pack"
"""The header of answers under a pack that was kept from before."""

Query = Mapping[str, str]

Question = tuple[routing.Asked, PackInForce, Holdings]
"""What is asked, under which pack, and what the tenant has under it."""

QUICK_BODY: Final = 1024
"""How many bytes of a body may be read on the event loop."""


@dataclass(frozen=True)
class Service:
    """A server's parts.

    Attributes:
        packs: The pack.
        storage: The database.
        registry: The providers.
        cursors: What seals cursors.
        metrics: What is counted.
        tokens: The tokens; None where the service asks for none.
        tenant: The one tenant that is served without tokens.
        decisions: The log of decisions; None for none.
        clock: What time it is.
    """

    packs: PackKeeper
    storage: Storage
    registry: StoredRegistry
    cursors: Cursors
    metrics: Metrics
    tokens: TokenFile | None = None
    tenant: str | None = None
    decisions: LineWriter | None = None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def caller(self, headers: Headers) -> Caller:
        """Whose request it is.

        Raises:
            ApiError: The token is not accepted.
        """
        if self.tokens is None:
            return Caller(self.tenant or "")
        return authenticate(self.tokens.current(), headers, self.clock())

    def _held(self, caller: Caller) -> tuple[PackInForce, Holdings]:
        """The pack in force and what the tenant has under it."""
        while True:
            pack = self.packs.current
            holdings = self.registry.refresh(caller.tenant)
            if self.packs.current is pack:
                return pack, holdings

    # Capabilities.

    def list_capabilities(self, caller: Caller, query: Query) -> dict[str, Any]:
        """A page of descriptors."""
        pack, holdings = self._held(caller)
        return listing.capability_page(pack.pack, holdings, query, caller, self.cursors)

    def get_capability(self, caller: Caller, capability_id: str) -> dict[str, Any]:
        """One descriptor."""
        pack, holdings = self._held(caller)
        return listing.capability_of(pack.pack, holdings, capability_id)

    def vocabulary(self, caller: Caller) -> dict[str, Any]:
        """What a request may name."""
        pack, holdings = self._held(caller)
        return vocabulary(pack.pack, caller.tenant, holdings)

    # Providers.

    def list_providers(self, caller: Caller, query: Query) -> dict[str, Any]:
        """A page of providers."""
        _, holdings = self._held(caller)
        return listing.provider_page(holdings, query, caller, self.cursors)

    def get_provider(self, caller: Caller, provider_id: str) -> dict[str, Any]:
        """One provider's metadata."""
        _, holdings = self._held(caller)
        return listing.provider_of(holdings, provider_id)

    def register(self, caller: Caller, body: bytes) -> dict[str, Any]:
        """Register a provider; when this returns it is on disk."""
        registration = read_registration(_parsed(body))
        self._check_adapter(registration)
        self.registry.add(caller.tenant, registration)
        return {"providerId": registration.id}

    def _check_adapter(self, registration: Registration) -> None:
        problems = self.registry.problems(registration)
        if problems:
            error = AdapterConfigError(registration.adapter_id or "", registration.id, *problems[0])
            issues = [{"path": problem.path, "message": problem.message} for problem in problems]
            raise ApiError("provider-config-invalid", error.message, {"issues": issues})

    def unregister(self, caller: Caller, provider_id: str) -> dict[str, Any]:
        """Unregister a provider."""
        _, holdings = self._held(caller)
        details = {"providerId": provider_id}
        registered = any(registration.id == provider_id for registration in holdings.registrations)
        if not registered and provider_id in holdings.pack_ids:
            raise ApiError("registry-read-only", "the rule pack provides it; it can't be unregistered", details)
        if not self.registry.unregister(caller.tenant, provider_id):
            raise ApiError("provider-not-found", "there is no provider of this id", details)
        return {"providerId": provider_id, "unregistered": True}

    # Routing.

    def quick(self, caller: Caller, body: bytes) -> Question | None:
        """What a body asks for, where `route` takes next to no time; else None.

        It runs on the event loop, so it waits neither for a database nor for an index that is being made.
        """
        if len(body) > QUICK_BODY:
            return None
        try:
            asked = routing.read_asked(_parsed(body), explaining=False)
            pack, holdings = self.packs.current, self.registry.at_once(caller.tenant)
        except WhyrouteError:
            return None  # a worker reports it
        if holdings is None or self.packs.current is not pack or not routing.is_quick(holdings, asked, self.clock()):
            return None
        return asked, pack, holdings

    def route(self, caller: Caller, body: bytes, request_id: str, question: Question | None = None) -> str:
        """Route, and note the decision.

        Args:
            caller: Whose request it is.
            body: What it asks for.
            request_id: Its id.
            question: The body as it was read already.

        Returns:
            The answer as JSON text.

        Raises:
            CapabilityUnsatisfiableError: Nothing qualifies.
        """
        now = self.clock()
        try:
            if question is None:
                asked = routing.read_asked(_parsed(body), explaining=False)
                pack, holdings = self._held(caller)
            else:
                asked, pack, holdings = question
            routed = routing.route(pack.pack, caller.tenant, holdings, asked, self.packs.operator_labels, now)
        except WhyrouteError:
            self.metrics.refused()
            raise
        self.metrics.routed(routed)
        if self.decisions is not None:
            self.decisions.put(
                decision_record(
                    routed, asked, request_id=request_id, caller=caller, pack=pack, holdings=holdings, now=now
                )
            )
        return _answer_of(routed)

    def bundle(self, caller: Caller, body: bytes, request_id: str) -> str:
        """Route several capabilities together, and note the decision.

        Returns:
            The answer as JSON text.

        Raises:
            BundleUnsatisfiableError: No candidates satisfy all slots together.
            BundleLimitError: The search ended before it found any.
        """
        now = self.clock()
        try:
            asked = bundling.read_bundle_asked(_parsed(body))
            pack, holdings = self._held(caller)
            routed = bundling.route_bundle(pack.pack, caller.tenant, holdings, asked, self.packs.operator_labels, now)
        except WhyrouteError:
            self.metrics.bundle_refused()
            raise
        self.metrics.bundled(routed)
        if self.decisions is not None:
            self.decisions.put(
                bundle_record(
                    routed, asked, request_id=request_id, caller=caller, pack=pack, holdings=holdings, now=now
                )
            )
        return _answer_of(routed)

    def explain(self, caller: Caller, body: bytes) -> Explanation:
        """Explain a route that is not made."""
        asked = routing.read_asked(_parsed(body), explaining=True)
        pack, holdings = self._held(caller)
        return routing.explain(pack.pack, caller.tenant, holdings, asked, self.packs.operator_labels, self.clock())

    # Operations.

    def notes(self) -> Headers:
        """Headers of every answer: none, but where a kept pack is in force, that and since when it is kept."""
        since = self.packs.current.kept_since
        return () if since is None else ((PACK_HEADER, f'kept; since="{since}"'.encode("ascii")),)

    def readiness(self, database_answers: bool) -> tuple[bool, dict[str, Any]]:
        """Whether the server can answer, and which pack is in force."""
        pack = self.packs.current
        database, tokens = "ok" if database_answers else "unavailable", "ok"
        if self.tokens is not None:
            self.tokens.current()
            tokens = "ok" if self.tokens.trouble is None else "unreadable"
        ready = database == tokens == "ok"
        state: dict[str, Any] = {"digest": pack.digest, "since": pack.since, "kept": pack.kept_since is not None}
        if pack.kept_since is not None:
            state["keptSince"] = pack.kept_since
        if self.packs.refused_since is not None:
            state["refusedSince"] = self.packs.refused_since
        return ready, {
            "status": "ready" if ready else "not-ready",
            "pack": state,
            "database": database,
            "tokens": tokens if self.tokens is not None else "none",
        }

    def metrics_text(self) -> bytes:
        """The numbers, as Prometheus reads them."""
        if self.decisions is not None:
            self.metrics.log("decisions", self.decisions.waiting, self.decisions.dropped)
        return self.metrics.text()


def _answer_of(routed: routing.Routed | bundling.BundleRouted) -> str:
    """The answer, or the error that says why there is none."""
    if isinstance(routed.outcome, WhyrouteError):
        raise routed.outcome
    assert routed.answer is not None  # what is no error has an answer
    return routed.answer


def _parsed(body: bytes) -> Any:
    try:
        return read_json(body)
    except JsonTextError as error:
        raise InvalidRequestError([Issue("", error.message)]) from None
