"""What the suites have in common: the peers of a run, the sizes, catalogs, requests, and whyroute doing its work."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, Final

import whyroute as wr
from whyroute.catalog.catalog import Catalog

from .answers import comparable
from .catalogs import catalog_of, providers_of, request_of
from .measuring import Case, Figure, Part
from .peers import UnavailableError
from .peers.json_rules import JsonRules
from .peers.published import Published
from .work import Request

__all__ = [
    "REQUESTS",
    "Bench",
    "Items",
    "answerer",
    "asked",
    "build_index",
    "compared_at",
    "failure_of",
    "fitting",
    "indexed",
    "outcome_of",
    "parts_of",
    "read",
    "router",
    "router_again",
]

REQUESTS: Final = 64
MILLION: Final = 1_000_000
Items = Iterator[Case | Figure]


@dataclass
class Bench:
    """What a run has.

    Attributes:
        quick: Whether it only shows that everything runs and agrees.
        most: The most candidates of a catalog.
        published: The published package; None when it is missing.
        json_rules: json-rules-engine; None when it is missing.
        skipped: Peers that are missing, each with why.
    """

    quick: bool = False
    most: int = 1_000_000
    published: Published | None = None
    json_rules: JsonRules | None = None
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes at which whyroute is measured beside the published package."""
        sizes = (10, 60) if self.quick else (10, 100, 1_000, 10_000, 100_000)
        return tuple(size for size in sizes if size <= self.most)

    @property
    def larger(self) -> tuple[int, ...]:
        """The sizes at which whyroute is measured alone."""
        return (MILLION,) if self.most >= MILLION and not self.quick else ()

    def made(self, name: str, make: Callable[[], Any]) -> Any:
        """What makes a peer, or None, and a note, when it is missing."""
        try:
            return make()
        except UnavailableError as error:
            self.skipped[name] = str(error)
            return None

    def with_catalog(self, size: int, requests: Mapping[str, Sequence[Mapping[str, Any]]]) -> Published | None:
        """The published package with a catalog of a size and named lists of requests."""
        if self.published is not None:
            self.published.register(str(size), providers_of(size))
            for name, listed in requests.items():
                self.published.requests(name, listed)
        return self.published


def outcome_of(request: Request, catalog: Catalog) -> wr.Decision | wr.CapabilityUnsatisfiableError:
    """A route, or the error that says that nothing qualifies."""
    try:
        return request.prepared.bind(catalog).route()
    except wr.CapabilityUnsatisfiableError as error:
        return error


def read(outcome: wr.Decision | wr.CapabilityUnsatisfiableError) -> object:
    """What a caller reads of a route."""
    if isinstance(outcome, wr.Decision):
        return outcome.candidate, outcome.reason, len(outcome.alternates)
    return None


@lru_cache
def indexed(size: int) -> Catalog:
    """The synthetic catalog of a size, its index built."""
    catalog = catalog_of(size)
    build_index(catalog)
    return catalog


def build_index(catalog: Catalog) -> None:
    """Ask for every column that the contract's constraints look at."""
    catalog.with_feature("")
    catalog.with_attribute("")
    catalog.in_region("")
    catalog.of_kind("")
    catalog.of_model("")
    catalog.of_provider("")
    _ = catalog.fallbacks, catalog.context_window, catalog.prompt_price, catalog.p95_latency


def fitting(catalog: Catalog, count: int = REQUESTS, preferences: int = 2) -> list[Request]:
    """The first so many of the seeded requests that some candidate of a catalog serves."""
    found: list[Request] = []
    seed = 0
    while len(found) < count:
        request = Request(*request_of(seed, preferences))
        seed += 1
        if isinstance(outcome_of(request, catalog), wr.Decision):
            found.append(request)
    return found


def router(catalog: Catalog, requests: Sequence[Request]) -> Callable[[int], object]:
    """What binds the prepared request of a number anew, routes it, and reads what a caller reads."""
    return lambda at: read(requests[at].prepared.bind(catalog).route())


def router_again(catalog: Catalog, requests: Sequence[Request]) -> Callable[[int], object]:
    """What routes the bound request of a number again, and reads what a caller reads."""
    bound = [request.prepared.bind(catalog) for request in requests]
    return lambda at: read(bound[at].route())


def answerer(catalog: Catalog, requests: Sequence[Request]) -> Callable[[int], Any]:
    """What answers the request of a number in comparable form."""
    return lambda at: comparable(outcome_of(requests[at], catalog))


def asked(pick: Callable[[Request], Any], requests: Sequence[Request]) -> Callable[[int], Any]:
    """What asks a peer for the request of a number."""
    return lambda at: pick(requests[at])


def compared_at(size: int) -> int:
    """For how many requests answers are compared: reading them takes long where there are many candidates."""
    return REQUESTS if size <= 1_000 else 8 if size <= 10_000 else 2


def failure_of(request: Request, catalog: Catalog) -> wr.CapabilityUnsatisfiableError:
    """The error that says that nothing qualifies, which has to be so."""
    try:
        decision = request.prepared.bind(catalog).route()
    except wr.CapabilityUnsatisfiableError as error:
        return error
    raise AssertionError(f"{decision.candidate} qualifies, though nobody was to")


def parts_of(sizes: Sequence[int], at: Callable[[int], Items]) -> list[Part]:
    """A part of a suite for each size."""
    return [Part(f"{size:,}", partial(at, size)) for size in sizes]
