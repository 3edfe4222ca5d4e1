"""Whether a request that comes round again profits from its answer of before: counted, so that no machine blurs it.

64 requests in turn are to be answered afresh each time, and only the same request again at once may be faster. A
request's second time among the 64 has to take as many calls as its first.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import whyroute as wr
from whyroute.catalog import Catalog

from .bench import REQUESTS, Bench, Items, build_index, failure_of, fitting, indexed, parts_of, read
from .catalogs import catalog_of, failing_request
from .counting import calls
from .measuring import Figure, Part
from .work import Request

__all__ = ["AGAIN", "AT_ONCE", "FIRST", "TASKS", "counted", "reuse"]

_BEFORE: Final = 8
"""How many other requests a catalog is asked about before: what it keeps has to make room from the first one on."""

FIRST, AGAIN, AT_ONCE = "the first time", "when it comes round again", "again at once"


def _route(request: Request, catalog: Catalog) -> object:
    return read(wr.route(request.capability, catalog, policy=request.policy))


def _as_json(request: Request, catalog: Catalog) -> object:
    return wr.route(request.capability, catalog, policy=request.policy).to_json()


def _cores(request: Request, catalog: Catalog) -> object:
    explanation = failure_of(request, catalog).explanation
    return explanation.cores, explanation.corrections


def _reasons_as_json(request: Request, catalog: Catalog) -> object:
    return failure_of(request, catalog).to_json()


Work = Callable[[Request, Catalog], object]

TASKS: dict[str, tuple[Work, bool]] = {
    "route": (_route, False),
    "route, all as JSON": (_as_json, False),
    "failed: all cores and corrections": (_cores, True),
    "failed: every reason as JSON": (_reasons_as_json, True),
}
"""By name, as in the other suites: the work, and whether its requests fail."""


def reuse(bench: Bench) -> list[Part]:
    """Calls of a request: the first time, when it comes round again, and again at once."""
    return parts_of((60,) if bench.quick else (1_000,), _reuse_at)


def _reuse_at(size: int) -> Items:
    for task in TASKS:
        for when, count in counted(task, size).items():
            yield Figure(f"{task}: calls {when}", size, count, "calls")


def counted(task: str, size: int) -> dict[str, float]:
    """The calls of a request, on average over 64, by when it is asked: the three constants of this module.

    The catalog was never asked about these requests. What depends on a declaration alone has been made, on another
    catalog, and so has what depends on this catalog alone.
    """
    work, failing = TASKS[task]
    if failing:
        requests = [Request(*failing_request(seed)) for seed in range(REQUESTS + _BEFORE)]
    else:
        requests = fitting(indexed(size), REQUESTS + _BEFORE)
    for request in requests:
        work(request, indexed(size))
    catalog = catalog_of(size)
    build_index(catalog)
    others, requests = requests[:_BEFORE], requests[_BEFORE:]
    _all(work, others, catalog, 1)

    def each(times: int) -> int:
        return calls(partial(_all, work, requests, catalog, times))

    first, again = each(1), each(1)
    found = {FIRST: first, AGAIN: again, AT_ONCE: each(2) - again}
    return {when: count / REQUESTS for when, count in found.items()}


def _all(work: Work, requests: Sequence[Request], catalog: Catalog, times: int) -> None:
    for request in requests:
        for _ in range(times):
            work(request, catalog)
