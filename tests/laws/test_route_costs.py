"""What routes and failed answers cost, in calls, in bytes, and in ratios of own operations: no machine's speed counts.

Each bound has little room above what there is, so that a longer path is noticed: lower it when the path gets shorter.
"""

import random
from collections.abc import Callable

import pytest
from benchmarks.bench import build_index, failure_of, fitting, indexed, read, router
from benchmarks.catalogs import failing_request, metadata_of, providers_of
from benchmarks.measuring import OURS, Case, System, measure, python_system
from benchmarks.work import Request

import whyroute as wr
from counting import calls, most_in_use
from whyroute.catalog.catalog import Catalog
from whyroute.model.metadata import ProviderMetadata
from whyroute.model.provider import DeclaredProvider

SMALL, LARGE = 100, 10_000
SET = LARGE // 8
"""The bytes of one set of candidates."""


def _route(request: Request, catalog: Catalog) -> object:
    return read(request.prepared.bind(catalog).route())


def _cores(request: Request, catalog: Catalog) -> object:
    explanation = failure_of(request, catalog).explanation
    return explanation.cores, explanation.corrections


def _failing(seeds: range) -> list[Request]:
    return [Request(*failing_request(seed)) for seed in seeds]


def _each(work: Callable[[Request, Catalog], object], requests: list[Request], catalog: Catalog) -> float:
    """The calls of a request, on average, once what depends on declarations alone has been made."""
    for request in requests:
        work(request, catalog)
    return calls(lambda: [work(request, catalog) for request in requests]) / len(requests)


def test_core_call_count_ignores_candidate_count() -> None:
    small, large = (_each(_cores, _failing(range(8)), indexed(size)) for size in (SMALL, LARGE))
    assert large < 1.2 * small


def test_json_route_makes_few_calls_per_alternate() -> None:
    catalog = indexed(LARGE)
    requests = fitting(catalog, 4)

    def as_json(request: Request, catalog: Catalog) -> object:
        return wr.route(request.capability, catalog, policy=request.policy).to_json()

    alternates = sum(len(wr.route(each.capability, catalog, policy=each.policy).alternates) for each in requests)
    more = _each(as_json, requests, catalog) - _each(_route, requests, catalog)
    assert more < CALLS_OF_AN_ALTERNATE * alternates / len(requests)


def test_json_reasons_make_few_calls_per_candidate() -> None:
    def as_json(request: Request, catalog: Catalog) -> object:
        return failure_of(request, catalog).to_json()

    assert _each(as_json, _failing(range(4)), indexed(LARGE)) < CALLS_OF_ALL_REASONS * LARGE


def test_registering_costs_the_same_in_any_tenant() -> None:
    def registered(size: int) -> float:
        providers = (DeclaredProvider(ProviderMetadata.model_validate(each)) for each in providers_of(size))
        registry = wr.ProviderRegistry(("acme", provider) for provider in providers)
        build_index(registry.list("acme"))
        requests = fitting(registry.list("acme"), 4)

        def work(request: Request, _: Catalog) -> object:
            number = 10**5 + len(registry.list("acme"))
            registry.register("acme", DeclaredProvider(metadata_of(number, 10, random.Random(number))))
            return _route(request, registry.list("acme"))

        return _each(work, requests, registry.list("acme"))

    small, large = registered(SMALL), registered(LARGE)
    assert large < 1.3 * small


@pytest.mark.parametrize(("work", "failing", "sets"), [(_route, False, 19), (_cores, True, 36)], ids=["route", "cores"])
def test_few_sets_are_held_at_once(work: Callable[[Request, Catalog], object], failing: bool, sets: int) -> None:
    """No call tells of a copy of a set, but its bytes do."""
    catalog = indexed(LARGE)
    known, *requests = _failing(range(9)) if failing else fitting(catalog, 9)
    work(known, catalog)
    assert max(most_in_use(lambda each=request: work(each, catalog)) for request in requests) < sets * SET  # type: ignore[misc]


def test_route_cost_grows_slowly_with_candidates() -> None:
    """The target is 15 from 1,000 to 100,000; these catalogs are made sooner."""

    def system(name: str, size: int) -> System:
        return python_system(name, router(indexed(size), fitting(indexed(size))))

    assert measure(Case("route", LARGE, [system(OURS, LARGE), system("small", SMALL)]), 5).ratios["small"].median < 10


CALLS_OF_AN_ALTERNATE = 3.3
CALLS_OF_ALL_REASONS = 1.8
