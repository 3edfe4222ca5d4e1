"""The suites: what is measured, at which sizes, and beside whom."""

import gc
import json
import random
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

import whyroute as wr
from whyroute.catalog import Catalog
from whyroute.declarations import Capability
from whyroute.policies import TenantPolicy
from whyroute.providers import DeclaredProvider, ProviderMetadata
from whyroute.wire import answer_json

from .answers import comparable, picked
from .catalogs import catalog_of, failing_request, metadata_of, providers_of, request_of
from .measuring import OURS, Case, Figure, System, python_system
from .packs import write_pack
from .peers import UnavailableError
from .peers.cores import ALL, CORE_PEERS, Core, Instance, agrees
from .peers.filters import FILTERS
from .peers.published import NAME as PUBLISHED
from .peers.published import Published
from .work import Request, picker, rows_of

__all__ = ["SUITES", "Bench"]

REQUESTS: Final = 64
Items = Iterator[Case | Figure]


@dataclass
class Bench:
    """What a run has.

    Attributes:
        quick: Whether it only shows that everything runs and agrees.
        most: The most candidates of a catalog.
        published: The published package; None when it is missing.
        skipped: Peers that are missing, each with why.
    """

    quick: bool = False
    most: int = 1_000_000
    published: Published | None = None
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes at which whyroute is measured beside the published package."""
        sizes = (10, 60) if self.quick else (10, 100, 1_000, 10_000, 100_000)
        return tuple(size for size in sizes if size <= self.most)

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
        return wr.route(request.capability, catalog, policy=request.policy)
    except wr.CapabilityUnsatisfiableError as error:
        return error


def _read(outcome: wr.Decision | wr.CapabilityUnsatisfiableError) -> object:
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


def _router(catalog: Catalog, requests: Sequence[Request]) -> Callable[[int], object]:
    """What routes the request of a number and reads what a caller reads."""
    return lambda at: _read(wr.route(requests[at].capability, catalog, policy=requests[at].policy))


def _answerer(catalog: Catalog, requests: Sequence[Request]) -> Callable[[int], Any]:
    """What answers the request of a number in comparable form."""
    return lambda at: comparable(outcome_of(requests[at], catalog))


def _asked(pick: Callable[[Request], Any], requests: Sequence[Request]) -> Callable[[int], Any]:
    """What asks a peer for the request of a number."""
    return lambda at: pick(requests[at])


def _compared(size: int) -> int:
    """For how many requests answers are compared: reading them takes long where there are many candidates."""
    return REQUESTS if size <= 1_000 else 8 if size <= 10_000 else 2


def route(bench: Bench) -> Items:
    """Route: pick, reason, count of alternates; the same again; all as JSON."""
    for size in bench.sizes:
        yield from _route_at(bench, size)
    if not bench.quick and bench.most >= 1_000_000:
        catalog = catalog_of(1_000_000)
        requests = fitting(catalog)
        yield Case("route", catalog.size, [python_system(OURS, _router(catalog, requests))])


def _route_at(bench: Bench, size: int) -> Items:
    catalog = indexed(size)
    requests = fitting(catalog)
    published = bench.with_catalog(size, {"fitting": [each.wire for each in requests]})

    run = _router(catalog, requests)

    def as_json(at: int) -> str:
        return wr.route(requests[at].capability, catalog, policy=requests[at].policy).to_json()

    answer = _answerer(catalog, requests)

    def pick(at: int) -> Any:
        return picked(outcome_of(requests[at], catalog))

    for task, ours, theirs, again in (
        ("route", run, "route", False),
        ("the same request again", run, "route", True),
        ("route, all as JSON", as_json, "json", False),
    ):
        systems = [python_system(OURS, ours, answer, again=again)]
        if published is not None:
            systems.append(published.system(theirs, str(size), "fitting", again=again))
        yield Case(task, size, systems, compared=_compared(size))
    rows = rows_of(providers_of(size)) if size <= 10_000 else []
    systems = [python_system(OURS, run)]
    for name, (make, most) in FILTERS.items():
        if size > (most if not bench.quick else 10):
            continue
        passing = bench.made(name, partial(make, rows))
        if passing is not None:
            asked = _asked(picker(rows, passing), requests)
            systems.append(python_system(name, asked, asked, expected=pick))
    if len(systems) > 1:
        compared = 3 if bench.quick else 8 if size <= 100 else 2
        yield Case("route, beside rule engines", size, systems, compared=compared, rounds=None if size < 1_000 else 3)
    if published is not None:
        published.forget(str(size))


def failed(bench: Bench) -> Items:
    """Failed answers: all cores and corrections; every reason as JSON; and the same cores by solvers made for them."""
    for size in bench.sizes:
        yield from _failed_at(bench, size)
    yield from _by_core_peers(bench, 12 if bench.quick else min(bench.most, 1_000))


def _failed_at(bench: Bench, size: int) -> Items:
    catalog = indexed(size)
    requests = [Request(*failing_request(seed)) for seed in range(REQUESTS)]
    published = bench.with_catalog(size, {"failing": [each.wire for each in requests]})

    def cores(at: int) -> object:
        error = _failure(requests[at], catalog)
        return error.explanation.cores, error.explanation.corrections

    def as_json(at: int) -> str:
        return _failure(requests[at], catalog).to_json()

    def answer(at: int) -> Any:
        return comparable(_failure(requests[at], catalog))

    for task, ours, theirs in (
        ("failed: all cores and corrections", cores, "failed"),
        ("failed: every reason as JSON", as_json, "failedJson"),
    ):
        systems = [python_system(OURS, ours, answer)]
        if published is not None:
            systems.append(published.system(theirs, str(size), "failing"))
        yield Case(task, size, systems, compared=min(_compared(size), 8))
    if published is not None:
        published.forget(str(size))


def _failure(request: Request, catalog: Catalog) -> wr.CapabilityUnsatisfiableError:
    try:
        decision = wr.route(request.capability, catalog, policy=request.policy)
    except wr.CapabilityUnsatisfiableError as error:
        return error
    raise AssertionError(f"{decision.candidate} qualifies, though nobody was to")


@dataclass(frozen=True, slots=True)
class _Posed:
    """An instance, its cores and its corrections."""

    instance: Instance
    cores: list[Core]
    corrections: list[Core]


def _prepared(
    prepare: Callable[[Instance], Callable[[], Any]], instances: Sequence[Instance]
) -> list[Callable[[], Any]]:
    return [prepare(instance) for instance in instances]


def _called(prepared: Sequence[Callable[[], Any]]) -> Callable[[int], Any]:
    return lambda at: prepared[at]()


def _judged(prepared: Sequence[Callable[[], Any]], task: str, posed: Sequence[_Posed]) -> Callable[[int], bool]:
    """Whether what a peer finds is right."""
    return lambda at: agrees(prepared[at](), task, posed[at].instance, posed[at].cores, posed[at].corrections)


def _by_core_peers(bench: Bench, size: int) -> Items:
    catalog = indexed(size)
    requests = [Request(*failing_request(seed, floor=True)) for seed in range(2 if bench.quick else 4)]
    found: list[_Posed] = []
    for request in requests:
        explanation = _failure(request, catalog).explanation
        numbers = {name: at for at, name in enumerate(explanation.constraints.ids)}
        sets = [
            [tuple(numbers[each.id] for each in part) for part in parts]
            for parts in (explanation.cores, explanation.corrections)
        ]
        admitted = [frozenset(at for at in range(size) if each.admitted >> at & 1) for each in explanation.constraints]
        instance = Instance(size, tuple(admitted))
        if not all(map(instance.is_core, sets[0])):
            raise AssertionError("a core is no core")
        found.append(_Posed(instance, *sets))

    def ours(at: int) -> object:
        explanation = _failure(requests[at], catalog).explanation
        return explanation.cores, explanation.corrections

    for task in dict.fromkeys(task for task, _ in CORE_PEERS.values()):
        systems = [python_system(OURS, ours, requests=len(requests))]
        for name, (its_task, prepare) in CORE_PEERS.items():
            if its_task != task:
                continue
            prepared = bench.made(name, partial(_prepared, prepare, [each.instance for each in found]))
            if prepared is not None:
                systems.append(
                    python_system(
                        name,
                        _called(prepared),
                        _judged(prepared, task, found),
                        expected=lambda at: True,
                        requests=len(requests),
                    )
                )
        if len(systems) > 1:
            slow = task == ALL
            compared, rounds = (1, 1) if slow else (len(requests), None)
            yield Case(f"{task}, by solvers", size, systems, len(requests), compared, once=slow, rounds=rounds)


def fresh(bench: Bench) -> Items:
    """A declaration with thresholds that nobody asked for before, from its wire form to the pick, each time."""
    count = 64 if bench.quick else 512
    for size in bench.sizes:
        yield from _fresh_at(bench, size, count)


def _fresh_at(bench: Bench, size: int, count: int) -> Items:
    catalog = indexed(size)
    requests = fitting(catalog, count)
    wires = [request.wire for request in requests]
    published = bench.with_catalog(size, {"fresh": wires})

    def run(at: int) -> object:
        capability = wr.define_capability(wires[at]["capability"])
        return _read(wr.route(capability, catalog, policy=requests[at].policy))

    def answer(at: int) -> Any:
        capability = wr.define_capability(wires[at]["capability"])
        return comparable(wr.route(capability, catalog, policy=wires[at]["tenantPolicy"]))

    systems = [python_system(OURS, run, answer, requests=count)]
    if published is not None:
        systems.append(published.system("fresh", str(size), "fresh"))
    yield Case("define, then route", size, systems, count, min(_compared(size), count))
    if published is not None:
        published.forget(str(size))


def churn(bench: Bench) -> Items:
    """One more provider registered in a tenant, then a route."""
    rounds = 3 if bench.quick else 15
    for size in bench.sizes:
        yield from _churn_at(bench, size, rounds)


def _churn_at(bench: Bench, size: int, rounds: int) -> Items:
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
        return _read(wr.route(requests[at].capability, registry.list("acme"), policy=requests[at].policy))

    def answer(at: int) -> Any:
        return comparable(outcome_of(requests[at], base.with_provider(newcomers[at])))

    systems = [python_system(OURS, run, answer, requests=rounds)]
    if published is not None:
        systems.append(published.system("register", str(size), "newcomers"))
    compared = 2 if size > 10_000 else rounds
    yield Case("register a provider, then route", size, systems, rounds, compared, once=True, rounds=rounds)
    if published is not None:
        published.forget(str(size))


def tenants(bench: Bench) -> Items:
    """Tenants with catalogs of their own, each asked in turn, beside one tenant that is asked as often."""
    count, size = (20, 10) if bench.quick else (1_000, 100)
    registry = wr.ProviderRegistry()
    for number in range(count):
        for meta in providers_of(size, seed=number):
            registry.register(f"tenant-{number}", DeclaredProvider(ProviderMetadata.model_validate(meta)))
    requests = [Request(*request_of(seed)) for seed in range(REQUESTS)]

    def run(at: int) -> object:
        request = requests[at % REQUESTS]
        return _read(outcome_of(request, registry.list(f"tenant-{at}")))

    def one(at: int) -> object:
        request = requests[at % REQUESTS]
        return _read(outcome_of(request, registry.list("tenant-0")))

    for number in range(count):
        build_index(registry.list(f"tenant-{number}"))
    systems = [python_system(OURS, run, requests=count), python_system("whyroute, one tenant", one, requests=count)]
    yield Case(f"{count:,} tenants in turn", size, systems, count, 0)


def preferences(bench: Bench) -> Items:
    """Routes with many preferences."""
    size = 100 if bench.quick else 1_000
    catalog = indexed(size)
    for count in (2, 16) if bench.quick else (2, 16, 64, 256):
        yield from _preferences_at(bench, catalog, count)


def _preferences_at(bench: Bench, catalog: Catalog, count: int) -> Items:
    size = catalog.size
    requests = fitting(catalog, REQUESTS, count)
    published = bench.with_catalog(size, {"preferences": [each.wire for each in requests]})

    run = _router(catalog, requests)

    answer = _answerer(catalog, requests)

    systems = [python_system(OURS, run, answer)]
    if published is not None:
        systems.append(published.system("route", str(size), "preferences"))
    yield Case(f"{count} preferences", size, systems)


def batch(bench: Bench) -> Items:
    """Lines of requests, each with its own providers: read, validated, answered and written as JSON."""
    for size in (10,) if bench.quick else (10, 100):
        yield from _batch_at(bench, size)


def _batch_at(bench: Bench, size: int) -> Items:
    providers = list(providers_of(size))
    catalog = indexed(size)
    requests = fitting(catalog)
    lines = [json.dumps({**request.wire, "providers": providers}) for request in requests]
    published = bench.with_catalog(size, {"lines": [{"line": line} for line in lines]})

    def run(at: int) -> int:
        _, pieces = answer_json(lines[at], at)
        return sum(map(len, pieces))

    answer = _answerer(catalog, requests)

    systems = [python_system(OURS, run, answer)]
    if published is not None:
        systems.append(published.system("line", str(size), "lines"))
    yield Case("one line of a batch", size, systems)


def packs(bench: Bench) -> Items:
    """Rule packs: load, check, test."""
    shapes: list[dict[str, int]] = [{"rules": 20, "tenants": 4, "candidates": 50, "tests": 4}]
    if not bench.quick:
        shapes = [
            {"rules": 100, "tenants": 20, "candidates": 500, "tests": 100},
            {"rules": 1_000, "tenants": 200, "candidates": 5_000, "tests": 1_000},
        ]
    for shape in shapes:
        yield from _packs_at(bench, shape)


def _packs_at(bench: Bench, shape: dict[str, int]) -> Items:
    from whyroute.rulepack import load_pack, run_tests  # noqa: PLC0415 (takes long to load)
    from whyroute.rulepack.checks import check_pack  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as directory:
        write_pack(Path(directory), **shape)
        pack = load_pack(directory)
        told = f"{shape['rules']:,} rules, {shape['tenants']} tenants, {shape['tests']:,} tests"
        tasks: dict[str, Callable[[int], object]] = {
            "load a pack": lambda at: load_pack(directory),
            "check a pack": lambda at: check_pack(directory),
            "load and test a pack": lambda at: run_tests(load_pack(directory), now="2026-12-24"),
        }
        results = run_tests(pack, now="2026-12-24")
        if not len(results.cases) == shape["tests"]:
            raise AssertionError("not every test of the pack ran")
        for task, work in tasks.items():
            systems = [python_system(OURS, work)]
            yield Case(f"{task}: {told}", shape["candidates"], systems, rounds=None if shape["rules"] < 1_000 else 3)


def memory(bench: Bench) -> Items:
    """What the index keeps for a candidate, beyond the metadata."""
    for size in (1_000,) if bench.quick else [size for size in bench.sizes if size >= 1_000]:
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


def start(bench: Bench) -> Items:
    """A fresh process: `import whyroute` and `whyroute --version`, beside Python that does nothing."""

    def process(*arguments: str) -> Callable[[int], object]:
        return lambda at: subprocess.run([sys.executable, *arguments], check=True, capture_output=True)

    commands = {
        "import whyroute": ("-c", "import whyroute"),
        "first route": ("-c", _FIRST_ROUTE),
        "whyroute --version": ("-m", "whyroute", "--version"),
    }
    for task, arguments in commands.items():
        systems = [
            python_system(OURS, process(*arguments)),
            python_system("Python alone", process("-c", "pass")),
        ]
        yield Case(task, 0, systems, rounds=1 if bench.quick else 15)


_FIRST_ROUTE: Final = """import whyroute
metadata = {"id": "p", "region": "eu", "models": [{"name": "m", "contextWindow": 1, "features": [],
            "cost": {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}}]}
whyroute.route({"needs": []}, [metadata])
"""


def real(bench: Bench) -> Items:
    """Routes on the real catalog of the example pack."""
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

    run = _router(catalog, requests)

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
    from whyroute.catalogfile import read_providers  # noqa: PLC0415 (loads the reader of YAML)

    providers = read_providers(_REAL)
    return Catalog(providers), providers


_REAL: Final = Path(__file__).parents[1] / "rules" / "catalog.yaml"


SUITES: Final[dict[str, Callable[[Bench], Items]]] = {
    "route": route,
    "failed": failed,
    "fresh": fresh,
    "churn": churn,
    "tenants": tenants,
    "preferences": preferences,
    "batch": batch,
    "packs": packs,
    "real": real,
    "memory": memory,
    "start": start,
}
"""By name: what yields the cases of a suite, each made when the one before has been measured."""
