"""How far a route is from its floor, and where the rest goes.

The floor is the time that it takes to read, at memory speed, the bytes of the index that decide the answer. The stages
of a route take turns with it: each does what the one before does, and more.
"""

import gc
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from whyroute.basics.bits import BitSlices
from whyroute.catalog.catalog import Catalog
from whyroute.constraints.named import compile_constraints

from .bench import Bench, Items, fitting, indexed, parts_of, router
from .measuring import OURS, Case, Figure, Part, System, Taken, python_system
from .work import Request

__all__ = ["GROWTH", "STAGES", "TASK", "floor", "sets_read"]

TASK: Final = "route, by its stages"
STAGES: Final = ("the bytes read", "sets combined", "index asked", "bound", "picked")
"""In order; the whole route, with reason and count of alternates, comes last."""

GROWTH: Final = "route, beside a hundredth of the candidates"


def floor(bench: Bench) -> list[Part]:
    """The stages of a route at each size; and what a hundred times the candidates cost."""
    small, large = (10, 60) if bench.quick else (1_000, 100_000)
    sizes = (*bench.sizes, *bench.larger)
    growth = [Part("growth", partial(_growth, small, large))] if large in sizes else []
    collector = Part("collector", partial(_collector, small))
    return [*parts_of(bench.sizes, _stages_at), collector, *growth, *parts_of(bench.larger, _stages_at)]


def _stages_at(size: int) -> Items:
    catalog = indexed(size)
    requests = fitting(catalog)
    read = [sets_read(catalog, request) for request in requests]
    counts = [sum((members.bit_length() + 7) // 8 for members in each) for each in read]
    octets = b"\1" * max(counts)  # none of them is looked for, so that all are read
    terms = [
        [each.term for each in compile_constraints(request.capability, request.policy, catalog)] for request in requests
    ]

    def combined(at: int) -> int:
        found = catalog.all()
        for members in read[at]:
            found &= members
        return found

    def asked(at: int) -> object:
        return [term.admitted(catalog) for term in terms[at]]

    def bound(at: int) -> object:
        return requests[at].prepared.bind(catalog)

    def picked(at: int) -> object:
        return requests[at].prepared.bind(catalog).route().candidate

    works = (lambda at: octets.find(b"\0", 0, counts[at]), combined, asked, bound, picked)
    systems = [python_system(OURS, router(catalog, requests))]
    systems += [python_system(name, work) for name, work in zip(STAGES, works, strict=True)]
    yield Case(TASK, size, systems)
    yield Figure("sets that decide a route, on average", size, sum(map(len, read)) / len(read), "sets")
    yield Figure("their bytes", size, sum(counts) / len(counts), "B")


def _growth(small: int, large: int) -> Items:
    catalogs = {size: indexed(size) for size in (small, large)}
    systems = [
        python_system(OURS if size == large else f"whyroute, {small:,} candidates", router(catalog, fitting(catalog)))
        for size, catalog in sorted(catalogs.items(), reverse=True)
    ]
    yield Case(GROWTH, large, systems)


def _collector(size: int) -> Items:
    """What Python's collector adds, which is off within the turns of everything else."""
    catalog = indexed(size)
    run = router(catalog, fitting(catalog))
    ours = python_system(OURS, run)

    def collected(first: int, count: int) -> Taken:
        gc.enable()
        try:
            return ours.timed(first, count)
        finally:
            gc.disable()

    yield Case(
        "route, with and without Python's collector",
        size,
        [ours, System("whyroute, the collector on", None, collected)],
    )


def sets_read(catalog: Catalog, request: Request) -> Sequence[int]:
    """The sets of the index that decide the answer to one of `catalogs.request_of`: each has to be read once.

    Those of the kind, the feature, the regions and the fallbacks; of each threshold the slices that tell; one for each
    preference. A denied provider is a range, which nothing has to be read for.
    """
    feature, window, price, _, regions = request.parts
    sets = [catalog.of_kind(request.capability.kind), catalog.with_feature(feature)]
    sets += _telling(catalog.context_window, window, bisect_left)
    sets += _telling(catalog.prompt_price, price, bisect_right)
    sets += map(catalog.in_region, regions)
    sets.append(catalog.fallbacks)
    sets += [catalog.with_attribute(name) | catalog.with_feature(name) for name, _ in request.prefer]
    return sets


def _telling(column: BitSlices, bound: float, place: Callable[[Sequence[Any], Any], int]) -> Sequence[int]:
    """The slices that tell whether a rank reaches the bound's, and who has a value at all."""
    rank = place(column.values, bound)
    if rank == 0 or rank >= len(column.values):
        return (column.known,)
    return (*column.slices[(rank & -rank).bit_length() - 1 :], column.known)
