"""What the service counts, for Prometheus. Tenants are no label: what one does is not for all to read."""

import re
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from ..bundles.bundle import Bundle
from ..errors import BundleUnsatisfiableError
from ..routing.decision import Decision
from .bundling import BundleRouted
from .routing import Routed

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_NEED: Final = re.compile(r"needs/\d{2,}", re.ASCII)


class Metrics:
    """The numbers of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "whyroute_requests", "Requests by route and status.", ["route", "method", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "whyroute_request_seconds",
            "How long answers took, by route.",
            ["route"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._unreadable = Counter(
            "whyroute_unreadable_requests",
            "Requests that could not be read.",
            registry=self._registry,
        )
        self._routes = Counter("whyroute_routes", "Routes by outcome.", ["outcome"], registry=self._registry)
        self._bundles = Counter("whyroute_bundles", "Bundles by outcome.", ["outcome"], registry=self._registry)
        self._most = Counter(
            "whyroute_most_rejecting",
            "Routes for which nothing qualified, by the constraint that rejected most.",
            ["constraint"],
            registry=self._registry,
        )
        self._reloads = Counter(
            "whyroute_pack_reloads", "Reloads of the rule pack by outcome.", ["outcome"], registry=self._registry
        )
        self._waiting = Gauge(
            "whyroute_lines_waiting", "Lines of a log that wait to be written.", ["log"], registry=self._registry
        )
        self._dropped = Gauge(
            "whyroute_lines_dropped", "Lines of a log that were never written.", ["log"], registry=self._registry
        )
        for outcome in ("picked", "fallback", "unsatisfiable", "refused"):
            self._routes.labels(outcome)
            self._bundles.labels(outcome)
        self._answers: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """A request was answered."""
        kept = self._answers.get((route, method, status))
        if kept is None:  # there are few of them, and looking them up by their labels takes its time
            kept = self._requests.labels(route, method, str(status)), self._seconds.labels(route)
            self._answers[route, method, status] = kept
        kept[0].inc()
        kept[1].observe(seconds)

    def unreadable(self) -> None:
        """A request could not be read."""
        self._unreadable.inc()

    def routed(self, routed: Routed) -> None:
        """A capability was routed."""
        if isinstance(routed.outcome, Decision):
            self._routes.labels("fallback" if routed.outcome.fallback else "picked").inc()
            return
        self._routes.labels("unsatisfiable").inc()
        constraints = routed.outcome.explanation.constraints
        if constraints:
            most = min(constraints, key=lambda each: each.admitted.bit_count())
            # A request may have any number of needs; a label may not.
            self._most.labels(_NEED.sub("needs/10+", most.id)).inc()

    def refused(self) -> None:
        """A request to route was broken."""
        self._routes.labels("refused").inc()

    def bundled(self, routed: BundleRouted) -> None:
        """A bundle was routed; `undecided` where the search ended before it found any."""
        outcome = routed.outcome
        if isinstance(outcome, Bundle):
            self._bundles.labels("fallback" if outcome.fallback else "picked").inc()
        else:
            self._bundles.labels(
                "unsatisfiable" if isinstance(outcome, BundleUnsatisfiableError) else "undecided"
            ).inc()

    def bundle_refused(self) -> None:
        """A request for a bundle was broken."""
        self._bundles.labels("refused").inc()

    def reloaded(self, outcome: str) -> None:
        """The pack was loaded again: `swapped`, `unchanged` or `refused`."""
        self._reloads.labels(outcome).inc()

    def log(self, name: str, waiting: int, dropped: int) -> None:
        """How far a log is behind."""
        self._waiting.labels(name).set(waiting)
        self._dropped.labels(name).set(dropped)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self._registry)
