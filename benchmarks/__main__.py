"""Route and failed answers from 10 to 100,000 candidates, the two engines side by side.

Every figure is the median over rounds in which the systems take turns, so that a change of the machine's speed meets
all of them alike. Compare the ratios; absolute times mean little on a shared machine.
"""

import argparse
import gc
import json
import platform
import random
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import whyroute as wr
from benchmarks.catalogs import catalog_of, failing_request, metadata_of, request_of
from whyroute.catalog import Catalog
from whyroute.solver import EngineName

SIZES = (10, 1_000, 10_000, 100_000)
QUICK_SIZES = (10, 1_000)
PLAIN_UP_TO = 10_000
REQUESTS = 64
DESIGN = {  # microseconds on the machine of a prototype: a route; a failed answer with all its corrections
    10: (14, 35),
    1_000: (33, 136),
    10_000: (74, 236),
    100_000: (424, 613),
}
"""What docs/architecture.md sets as the goal, within a factor of two."""


def main() -> int:
    """Run the suite and print its tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds: does everything run?")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file too")
    options = parser.parse_args()
    sizes = QUICK_SIZES if options.quick else SIZES
    rounds = 3 if options.quick else 9
    console = Console()
    results: dict[str, Any] = {"machine": platform.platform(), "python": platform.python_version(), "sizes": {}}
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("measuring", total=len(sizes))
        for size in sizes:
            bar.update(task, description=f"{size:,} candidates")
            results["sizes"][size] = measure(size, rounds)
            bar.advance(task)
    show(results, console)
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    return 0


def measure(size: int, rounds: int) -> dict[str, float | None]:
    """The figures of one catalog size; times in seconds, per operation."""
    index_seconds, index_bytes = index_cost(size)
    catalog = catalog_of(size)
    build_index(catalog)
    fitting = [request_of(seed) for seed in range(REQUESTS)]
    failing = [failing_request(seed) for seed in range(REQUESTS)]
    check_engines_agree(catalog, [*fitting[:8], *failing[:8]])
    newcomers = [metadata_of(10**6 + seed, 10, random.Random(seed)) for seed in range(REQUESTS)]
    operations: dict[str, Callable[[int], object]] = {
        "route": lambda at: routed(catalog, *fitting[at], "bitset"),
        "fail": lambda at: routed(catalog, *failing[at], "bitset"),
        "reasons": lambda at: reasons(catalog, *failing[at]),
        "reasons as JSON": lambda at: reasons_as_json(catalog, *failing[at]),
        "register": lambda at: routed(catalog.with_provider(newcomers[at]), *fitting[at], "bitset"),
    }
    if size <= PLAIN_UP_TO:
        operations["plain route"] = lambda at: routed(catalog, *fitting[at], "plain")
        operations["plain fail"] = lambda at: routed(catalog, *failing[at], "plain")
    found: dict[str, float | None] = dict(interleaved(operations, rounds))
    return {"index": index_seconds, "index bytes": index_bytes / size, **found}


def interleaved(operations: dict[str, Callable[[int], object]], rounds: int) -> dict[str, float]:
    """The median seconds of each operation; in every round all take their turn."""
    times: dict[str, list[float]] = {name: [] for name in operations}
    repeats = {name: repeats_for(operation) for name, operation in operations.items()}
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            for name, operation in operations.items():
                count = repeats[name]
                start = time.perf_counter()
                for at in range(count):
                    operation((turn + at) % REQUESTS)
                times[name].append((time.perf_counter() - start) / count)
    finally:
        gc.enable()
    return {name: statistics.median(values) for name, values in times.items()}


def repeats_for(operation: Callable[[int], object]) -> int:
    """How often to repeat an operation for a round of about 20 ms; warms it up on the way."""
    start = time.perf_counter()
    operation(0)
    once = time.perf_counter() - start
    if once < 0.02:
        start = time.perf_counter()
        for at in range(1, 9):
            operation(at)
        once = (time.perf_counter() - start) / 8
    return max(1, min(REQUESTS, int(0.02 / once)))


def routed(catalog: Catalog, capability: wr.Capability, policy: wr.TenantPolicy, engine: EngineName) -> object:
    """A route, or the error that says that nothing qualifies."""
    try:
        return wr.route(capability, catalog, policy=policy, engine=engine)
    except wr.CapabilityUnsatisfiableError as error:
        return error


def reasons(catalog: Catalog, capability: wr.Capability, policy: wr.TenantPolicy) -> object:
    """Every reason of a failed answer, read to the end."""
    error = routed(catalog, capability, policy, "bitset")
    if not isinstance(error, wr.CapabilityUnsatisfiableError):
        return None
    return [(list(reason.satisfying_providers), list(reason.rejecting_providers)) for reason in error.reasons]


def reasons_as_json(catalog: Catalog, capability: wr.Capability, policy: wr.TenantPolicy) -> object:
    """The JSON text of a failed answer, as it goes to a socket: every reason, piece by piece."""
    error = routed(catalog, capability, policy, "bitset")
    return sum(map(len, error.iter_json())) if isinstance(error, wr.CapabilityUnsatisfiableError) else None


def check_engines_agree(catalog: Catalog, requests: list[tuple[wr.Capability, wr.TenantPolicy]]) -> None:
    """Answers first, times after."""
    if catalog.size > PLAIN_UP_TO:
        return
    for capability, policy in requests:
        answers = [routed(catalog, capability, policy, engine) for engine in ("bitset", "plain")]
        first, second = (a.to_dict() for a in answers if isinstance(a, wr.Decision | wr.CapabilityUnsatisfiableError))
        if first != second:
            raise SystemExit(f"the engines differ on {capability.to_dict()}")


def build_index(catalog: Catalog) -> None:
    """Ask for every column once."""
    catalog.with_feature("")
    catalog.with_attribute("")
    catalog.in_region("")
    catalog.of_kind("")
    catalog.of_model("")
    catalog.of_provider("")
    catalog.fallbacks()
    catalog.context_window()
    catalog.prompt_price()
    catalog.p95_latency()


def index_cost(size: int) -> tuple[float, int]:
    """Seconds to index a catalog completely, and the bytes that the index keeps."""
    catalog = catalog_of(size)
    start = time.perf_counter()
    build_index(catalog)
    seconds = time.perf_counter() - start
    catalog = catalog_of(size)
    gc.collect()
    tracemalloc.start()
    build_index(catalog)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return seconds, kept


def show(results: dict[str, Any], console: Console) -> None:
    """Two tables: times, and what they are next to."""
    console.print(f"[bold]Python {results['python']}[/bold], {results['machine']}")
    times = Table(title="median time per operation, in microseconds")
    for column in (
        "candidates",
        "route",
        "(goal)",
        "plain engine",
        "failed",
        "plain engine",
        "every reason",
        "as JSON",
    ):
        times.add_column(column, justify="right")
    for size, row in results["sizes"].items():
        goal = DESIGN.get(size, (0, 0))[0]
        times.add_row(
            f"{size:,}",
            micro(row["route"]),
            f"{goal}",
            micro(row.get("plain route")),
            micro(row["fail"]),
            micro(row.get("plain fail")),
            micro(row["reasons"]),
            micro(row["reasons as JSON"]),
        )
    console.print(times)
    index = Table(title="the index")
    for column in ("candidates", "built in, s", "bytes a candidate", "one more provider, then a route, us"):
        index.add_column(column, justify="right")
    for size, row in results["sizes"].items():
        index.add_row(f"{size:,}", f"{row['index']:.3f}", f"{row['index bytes']:.0f}", micro(row["register"]))
    console.print(index)


def micro(seconds: float | None) -> str:
    """Microseconds to three figures; nothing where there is no figure."""
    return "" if seconds is None else f"{seconds * 1e6:,.0f}"


if __name__ == "__main__":
    sys.exit(main())
