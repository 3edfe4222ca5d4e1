"""The suites: what is measured, at which sizes, and beside whom."""

import gc
import json
import random
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import whyroute as wr
from whyroute.catalog.catalog import Catalog
from whyroute.model.capability import Capability
from whyroute.model.metadata import ProviderMetadata
from whyroute.model.policy import TenantPolicy
from whyroute.model.provider import DeclaredProvider
from whyroute.wire.request import answer_json

from .answers import comparable, picked
from .bench import (
    REQUESTS,
    Bench,
    Items,
    answerer,
    asked,
    build_index,
    compared_at,
    failure_of,
    fitting,
    indexed,
    outcome_of,
    parts_of,
    read,
    router,
    router_again,
)
from .bundles import bundles
from .catalogs import catalog_of, failing_request, metadata_of, providers_of, request_of
from .floor import floor
from .measuring import OURS, Case, Figure, Part, System, python_system
from .packs import write_pack
from .peers.filters import FILTERS
from .peers.json_rules import MOST as JSON_RULES_MOST
from .peers.published import NAME as PUBLISHED
from .solvers import solvers
from .work import Request, picker, rows_of

__all__ = ["SUITES"]


def route(bench: Bench) -> list[Part]:
    """Route: pick, reason, count of alternates; the same again; all as JSON."""
    return [*parts_of(bench.sizes, partial(_route_at, bench)), *parts_of(bench.larger, _route_alone)]


def _route_alone(size: int) -> Items:
    catalog = indexed(size)
    yield Case("route", size, [python_system(OURS, router(catalog, fitting(catalog)))])


def _route_at(bench: Bench, size: int) -> Items:
    catalog = indexed(size)
    requests = fitting(catalog)
    published = bench.with_catalog(size, {"fitting": [each.wire for each in requests]})

    run = router(catalog, requests)

    def as_json(at: int) -> str:
        return requests[at].prepared.bind(catalog).route().to_json()

    answer = answerer(catalog, requests)

    def pick(at: int) -> Any:
        return picked(outcome_of(requests[at], catalog))

    for task, ours, theirs, again in (
        ("route", run, "route", False),
        ("the same request again", router_again(catalog, requests), "route", True),
        ("route, all as JSON", as_json, "json", False),
    ):
        systems = [python_system(OURS, ours, answer, again=again)]
        if published is not None:
            systems.append(published.system(theirs, str(size), "fitting", again=again))
        yield Case(task, size, systems, compared=compared_at(size))
    rows = rows_of(providers_of(size)) if size <= 10_000 else []
    systems = [python_system(OURS, run)]
    for name, (make, most) in FILTERS.items():
        if size > (most if not bench.quick else 10):
            continue
        passing = bench.made(name, partial(make, rows))
        if passing is not None:
            found = asked(picker(rows, passing), requests)
            systems.append(python_system(name, found, found, expected=pick))
    if bench.json_rules is not None and size <= (JSON_RULES_MOST if not bench.quick else 10):
        its = bench.json_rules.system(rows, requests)
        systems.append(System(its.name, its.answer, its.timed, pick))
    if len(systems) > 1:
        compared = 3 if bench.quick else 8 if size <= 100 else 2
        yield Case("route, beside rule engines", size, systems, compared=compared, rounds=None if size < 1_000 else 3)
    if published is not None:
        published.forget(str(size))


def failed(bench: Bench) -> list[Part]:
    """Failed answers: all cores and corrections; every reason as JSON."""
    return parts_of(bench.sizes, partial(_failed_at, bench))


def _failed_at(bench: Bench, size: int) -> Items:
    catalog = indexed(size)
    requests = [Request(*failing_request(seed)) for seed in range(REQUESTS)]
    published = bench.with_catalog(size, {"failing": [each.wire for each in requests]})

    def cores(at: int) -> object:
        error = failure_of(requests[at], catalog)
        return error.explanation.cores, error.explanation.corrections

    def as_json(at: int) -> str:
        return failure_of(requests[at], catalog).to_json()

    def answer(at: int) -> Any:
        return comparable(failure_of(requests[at], catalog))

    for task, ours, theirs in (
        ("failed: all cores and corrections", cores, "failed"),
        ("failed: every reason as JSON", as_json, "failedJson"),
    ):
        systems = [python_system(OURS, ours, answer)]
        if published is not None:
            systems.append(published.system(theirs, str(size), "failing"))
        yield Case(task, size, systems, compared=min(compared_at(size), 8))
    if published is not None:
        published.forget(str(size))


def fresh(bench: Bench) -> list[Part]:
    """A declaration with thresholds that nobody asked for before, from its wire form to the pick, each time."""
    return parts_of(bench.sizes, partial(_fresh_at, bench))


def _fresh_at(bench: Bench, size: int) -> Items:
    count = 64 if bench.quick else 512
    catalog = indexed(size)
    requests = fitting(catalog, count)
    wires = [request.wire for request in requests]
    published = bench.with_catalog(size, {"fresh": wires})

    def run(at: int) -> object:
        capability = wr.define_capability(wires[at]["capability"])
        return read(wr.route(capability, catalog, policy=requests[at].policy))

    def answer(at: int) -> Any:
        capability = wr.define_capability(wires[at]["capability"])
        return comparable(wr.route(capability, catalog, policy=wires[at]["tenantPolicy"]))

    systems = [python_system(OURS, run, answer, requests=count)]
    if published is not None:
        systems.append(published.system("fresh", str(size), "fresh"))
    yield Case("define, then route", size, systems, count, min(compared_at(size), count))
    if published is not None:
        published.forget(str(size))


def churn(bench: Bench) -> list[Part]:
    """One more provider registered in a tenant, then a route."""
    return parts_of(bench.sizes, partial(_churn_at, bench))


def _churn_at(bench: Bench, size: int) -> Items:
    rounds = 3 if bench.quick else 15
    registry = wr.ProviderRegistry(
        ("acme", DeclaredProvider(ProviderMetadata.model_validate(meta))) for meta in providers_of(size)
    )
    build_index(registry.list("acme"))
    base = registry.list("acme")
    requests = fitting(base, rounds)
    newcomers = [metadata_of(10**5 * 3 + at * 7, 10, random.Random(at)) for at in range(rounds)]
    wires = [
        {**request.wire, "newcomer": newcomer.model_dump(mode="json", by_alias=True, exclude_unset=True)}
        for request, newcomer in zip(requests, newcomers, strict=True)
    ]
    published = bench.with_catalog(size, {"newcomers": wires})

    def run(at: int) -> object:
        registry.register("acme", DeclaredProvider(newcomers[at]))
        return read(wr.route(requests[at].capability, registry.list("acme"), policy=requests[at].policy))

    def answer(at: int) -> Any:
        return comparable(outcome_of(requests[at], base.with_provider(newcomers[at])))

    systems = [python_system(OURS, run, answer, requests=rounds)]
    if published is not None:
        systems.append(published.system("register", str(size), "newcomers"))
    compared = 2 if size > 10_000 else rounds
    yield Case("register a provider, then route", size, systems, rounds, compared, once=True, rounds=rounds)
    if published is not None:
        published.forget(str(size))


def tenants(bench: Bench) -> list[Part]:
    """Tenants with catalogs of their own, each asked in turn, beside one tenant that is asked as often."""
    count, size = (20, 10) if bench.quick else (1_000, 100)
    return [Part(f"{count:,}", partial(_tenants_at, bench, count, size))]


def _tenants_at(bench: Bench, count: int, size: int) -> Items:
    each = [(f"tenant-{number}", meta) for number in range(count) for meta in providers_of(size, seed=number)]
    registry = wr.ProviderRegistry()
    for tenant, meta in each:
        registry.register(tenant, DeclaredProvider(ProviderMetadata.model_validate(meta)))
    requests = [Request(*request_of(seed)) for seed in range(REQUESTS)]
    for number in range(count):
        build_index(registry.list(f"tenant-{number}"))

    def request(at: int) -> Request:
        return requests[(at + at // count) % REQUESTS]

    def run(at: int) -> object:
        return read(outcome_of(request(at), registry.list(f"tenant-{at % count}")))

    def one(at: int) -> object:
        return read(outcome_of(request(at), registry.list("tenant-0")))

    def answer(at: int) -> Any:
        return comparable(outcome_of(request(at), registry.list(f"tenant-{at % count}")))

    numbers = count * REQUESTS
    systems = [python_system(OURS, run, answer, requests=numbers)]
    systems.append(python_system("whyroute, one tenant", one, requests=numbers))
    if bench.published is not None:
        bench.published.register_tenants("tenants", each)
        bench.published.requests("tenants", [one.wire for one in requests])
        systems.append(bench.published.system("tenant", "tenants", "tenants"))
    yield Case(f"{count:,} tenants in turn", size, systems, numbers, REQUESTS)
    if bench.published is not None:
        bench.published.forget("tenants")


def preferences(bench: Bench) -> list[Part]:
    """Routes with many preferences."""
    return parts_of((2, 16) if bench.quick else (2, 16, 64, 256), partial(_preferences_at, bench))


def _preferences_at(bench: Bench, count: int) -> Items:
    size = 100 if bench.quick else 1_000
    catalog = indexed(size)
    requests = fitting(catalog, REQUESTS, count)
    published = bench.with_catalog(size, {"preferences": [each.wire for each in requests]})

    run = router(catalog, requests)

    answer = answerer(catalog, requests)

    systems = [python_system(OURS, run, answer)]
    if published is not None:
        systems.append(published.system("route", str(size), "preferences"))
    yield Case(f"{count} preferences", size, systems)


def batch(bench: Bench) -> list[Part]:
    """Lines of requests, each with its own providers: read, validated, answered and written as JSON."""
    return parts_of((10,) if bench.quick else (10, 100), partial(_batch_at, bench))


def _batch_at(bench: Bench, size: int) -> Items:
    providers = list(providers_of(size))
    catalog = indexed(size)
    requests = fitting(catalog)
    lines = [json.dumps({**request.wire, "providers": providers}) for request in requests]
    published = bench.with_catalog(size, {"lines": [{"line": line} for line in lines]})

    def run(at: int) -> int:
        _, pieces = answer_json(lines[at], at)
        return sum(map(len, pieces))

    answer = answerer(catalog, requests)

    systems = [python_system(OURS, run, answer)]
    if published is not None:
        systems.append(published.system("line", str(size), "lines"))
    yield Case("one line of a batch", size, systems)


def packs(bench: Bench) -> list[Part]:
    """Rule packs: load, check, test."""
    shapes: list[dict[str, int]] = [{"rules": 20, "tenants": 4, "candidates": 50, "tests": 4}]
    if not bench.quick:
        shapes = [
            {"rules": 100, "tenants": 20, "candidates": 500, "tests": 100},
            {"rules": 1_000, "tenants": 200, "candidates": 5_000, "tests": 1_000},
        ]
    return [Part(f"{shape['rules']:,} rules", partial(_packs_at, shape)) for shape in shapes]


def _packs_at(shape: dict[str, int]) -> Items:
    from whyroute.packs import load_pack, run_tests  # noqa: PLC0415 (takes long to load)
    from whyroute.packs.check import check_pack  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as directory:
        write_pack(Path(directory), **shape)
        pack = load_pack(directory)
        told = f"{shape['rules']:,} rules, {shape['tenants']} tenants, {shape['tests']:,} tests"
        tasks: dict[str, Callable[[int], object]] = {
            "load a pack": lambda at: load_pack(directory),
            "check a pack": lambda at: check_pack(directory),
            "load and test a pack": lambda at: run_tests(directory, at="2026-12-24"),
        }
        results = run_tests(pack, at="2026-12-24")
        if not len(results.cases) == shape["tests"]:
            raise AssertionError("not every test of the pack ran")
        for task, work in tasks.items():
            systems = [python_system(OURS, work)]
            yield Case(f"{task}: {told}", shape["candidates"], systems, rounds=None if shape["rules"] < 1_000 else 3)


def memory(bench: Bench) -> list[Part]:
    """What the index keeps for a candidate, beyond the metadata."""
    return parts_of((1_000,) if bench.quick else [size for size in bench.sizes if size >= 1_000], _memory_at)


def _memory_at(size: int) -> Items:
    catalog = catalog_of(size)
    gc.collect()
    tracemalloc.start()
    build_index(catalog)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    yield Figure("index, bytes a candidate", size, kept / size, "B")
    catalog = catalog_of(size)
    start = time.perf_counter()
    build_index(catalog)
    yield Figure("index built in", size, time.perf_counter() - start, "s")


def start(bench: Bench) -> list[Part]:
    """Fresh processes: `import whyroute`, a first route, `whyroute --version`; beside Python that does nothing."""
    return [
        Part(task, partial(_start_of, task, arguments, 1 if bench.quick else 15))
        for task, arguments in (
            ("import whyroute", ("-c", "import whyroute")),
            ("first route", ("-c", _FIRST_ROUTE)),
            ("whyroute --version", ("-m", "whyroute", "--version")),
        )
    ] + [Part("modules", _loaded)]


def _start_of(task: str, arguments: Sequence[str], rounds: int) -> Items:
    def process(*arguments: str) -> Callable[[int], object]:
        return lambda at: subprocess.run([sys.executable, *arguments], check=True, capture_output=True)

    systems = [
        python_system(OURS, process(*arguments), processor=False),
        python_system("Python alone", process("-c", "pass"), processor=False),
    ]
    yield Case(task, 0, systems, rounds=rounds)


def _loaded() -> Items:
    """How many of the packages that are not to be loaded are."""
    for what, code, packages in (
        ("import whyroute", "import whyroute", _HEAVY),
        ("whyroute --version", "from whyroute.cli import main\nmain(['--version'])", (*_HEAVY_TO_START, "rich")),
    ):
        told = f"import sys\n{code}\nprint(sum(name in sys.modules for name in {packages!r}))"
        ran = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True)
        yield Figure(f"{what}: of {', '.join(packages)} loaded", 0, int(ran.stdout.split()[-1]), "packages")


_HEAVY_TO_START: Final = ("jsonschema", "networkx", "ruamel.yaml", "pydantic", "constraint")
_HEAVY: Final = ("jsonschema", "networkx", "ruamel.yaml", "typer", "rich")
_FIRST_ROUTE: Final = """import whyroute
metadata = {"id": "p", "region": "eu", "models": [{"name": "m", "contextWindow": 1, "features": [],
            "cost": {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}}]}
whyroute.route({"needs": []}, [metadata])
"""


def real(bench: Bench) -> list[Part]:
    """Routes on the real catalog of the example pack."""
    return [Part("catalog", partial(_real, bench))]


def _real(bench: Bench) -> Items:
    catalog, providers = _real_catalog()
    requests = []
    for seed in range(10 * REQUESTS):
        rng = random.Random(seed)
        capability = Capability.model_validate(
            {
                "needs": [
                    {"feature": rng.choice(["vision", "tool-use", "structured-output", "streaming"])},
                    {"contextWindow": {"op": ">=", "value": rng.randrange(8_000, 500_000)}},
                    {"costPerCall": {"op": "<=", "usd": rng.uniform(0.0005, 0.02)}},
                ],
                "prefer": [{"feature": "thinking", "weight": rng.choice([0.5, 1, 2])}],
            }
        )
        policy = TenantPolicy.model_validate({"tenantId": "acme", "maxCostPerCallUsd": rng.uniform(0.001, 0.05)})
        request = Request(capability, policy)
        if isinstance(outcome_of(request, catalog), wr.Decision):
            requests.append(request)
        if len(requests) == REQUESTS:
            break

    run = router(catalog, requests)

    systems = [python_system(OURS, run, lambda at: _ordered(comparable(outcome_of(requests[at], catalog))))]
    if bench.published is not None:
        bench.published.register("real", providers)
        bench.published.requests("real", [each.wire for each in requests])
        theirs = bench.published.system("route", "real", "real")
        # The published package orders names by locale, whyroute by code point: the rest has to agree.
        ordered = theirs.answer
        if ordered is not None:
            systems.append(System(PUBLISHED, lambda at: _ordered(ordered(at)), theirs.timed))
    yield Case("route on the real catalog", catalog.size, systems, len(requests), len(requests))


def _ordered(answer: list[Any]) -> list[Any]:
    return [answer[2], answer[4]]


def _real_catalog() -> tuple[Catalog, list[dict[str, Any]]]:
    from whyroute.providers.provider_files import read_providers  # noqa: PLC0415 (loads the reader of YAML)

    providers = read_providers(_REAL)
    return Catalog(providers), providers


_REAL: Final = Path(__file__).parents[1] / "rules" / "catalog.yaml"


SUITES: Final[dict[str, Callable[[Bench], list[Part]]]] = {
    "route": route,
    "failed": failed,
    "solvers": solvers,
    "fresh": fresh,
    "churn": churn,
    "tenants": tenants,
    "preferences": preferences,
    "batch": batch,
    "bundles": bundles,
    "packs": packs,
    "real": real,
    "memory": memory,
    "start": start,
    "floor": floor,
}
"""By name: the parts of each suite. What a part needs is made when it is measured."""
