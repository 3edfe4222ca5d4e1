"""Joint routing beside OR-Tools CP-SAT: `python -m benchmarks.bundles [--quick]`, given the extra `bench`.

Both solve the same models, and their answers are compared: the picks, and for the score alone the scores.
"""

import argparse
import math
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

from whyroute.bundles.explanation import BundleExplanation
from whyroute.bundles.ranking import ranked_bundle
from whyroute.bundles.solving import JointSolved, SearchLimit, Slot, solve_jointly
from whyroute.bundles.ties import Tie
from whyroute.declarations import Capability
from whyroute.features import FEATURES

from .catalogs import ATTRIBUTES, catalog_of

__all__ = ["bundle_of"]

SEEDS = 5


def bundle_of(slots: int, candidates: int, seed: int, *, usd: float, latency: int) -> JointSolved:
    """A request for a bundle with four ties.

    All providers differ, the first three slots share a region, and the prompt prices and the latencies have caps.

    Args:
        slots: How many slots.
        candidates: How many candidates, the same for every slot.
        seed: Of the preferences.
        usd: The cap on the sum of the prompt prices, per slot.
        latency: The cap on the sum of the latencies in milliseconds, per slot.
    """
    rng = random.Random(seed)
    names = [f"slot{index}" for index in range(slots)]
    ties = [
        Tie("different", "provider", tuple(names)),
        Tie("same", "region", tuple(names[:3]), everywhere=False),
        Tie("sum", "promptUsdPer1kTokens", tuple(names), "<=", usd * slots),
        Tie("sum", "p95LatencyMs", tuple(names), "<=", latency * slots),
    ]
    catalog = catalog_of(candidates)
    return solve_jointly([Slot(name, _capability(rng)) for name in names], catalog, ties, limit=SearchLimit(nodes=None))


def _capability(rng: random.Random) -> Capability:
    liked = rng.sample([*ATTRIBUTES, *FEATURES], 4)
    return Capability.model_validate(
        {
            "needs": [{"contextWindow": {"op": ">=", "value": 8_192}}],
            "prefer": [{"feature": name, "weight": rng.choice([0.5, 1, 2, 2.5])} for name in liked],
        }
    )


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


Case = tuple[str, int, int, float, int]

CASES: Sequence[Case] = (
    ("5 slots x 1,000, loose caps", 5, 1_000, 0.002, 2_000),
    ("5 slots x 1,000, tight caps", 5, 1_000, 0.0002, 500),
    ("10 slots x 200, loose caps", 10, 200, 0.002, 2_000),
    ("10 slots x 200, tight caps", 10, 200, 0.0005, 1_200),
    ("5 slots x 1,000, infeasible", 5, 1_000, 0.00002, 250),
    ("10 slots x 200, infeasible", 10, 200, 0.0002, 1_200),
)

SMALL: Sequence[Case] = (
    ("5 slots x 200, loose caps", 5, 200, 0.002, 2_000),
    ("6 slots x 100, tight caps", 6, 100, 0.0005, 1_200),
    ("5 slots x 200, infeasible", 5, 200, 0.00002, 250),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small models, one of each; a few seconds")
    parser.add_argument("--seconds", type=float, default=30, help="how long one search of CP-SAT may take (30)")
    options = parser.parse_args()
    seeds = 1 if options.quick else SEEDS
    compared = find_spec("ortools") is not None
    if not compared:
        print("OR-Tools is not installed (extra `bench`): nothing to compare with")
    print(f"{f'median (most) of {seeds} in s':30}" + "".join(f"{head:>18}" for head in HEADS))
    same = True
    for name, slots, candidates, usd, latency in SMALL if options.quick else CASES:
        times: dict[str, list[float]] = {head: [] for head in HEADS}
        for seed in range(seeds):
            make = partial(bundle_of, slots, candidates, seed, usd=usd, latency=latency)
            same &= _measured(name, make, times, options.seconds if compared else None)
        print(f"{name:30}" + "".join(f"{_shown(times[head]):>18}" for head in HEADS), flush=True)
    if not same:
        sys.exit("the answers differ: the times mean nothing")


HEADS = ("best", "one core", "CP-SAT, score", "CP-SAT, exact")


def _measured(name: str, make: Callable[[], JointSolved], times: dict[str, list[float]], seconds: float | None) -> bool:
    """Whether both find the same; how long each takes is added to `times`."""
    joint = make()
    taken, best = _timed(lambda: joint.best)
    times["best"].append(taken)
    if best.numbers is None:
        times["one core"].append(_timed(lambda: BundleExplanation(joint).core)[0])
    if seconds is None:
        return True
    from .cpsat import best_by_cpsat  # noqa: PLC0415 (an extra)

    same = True
    for head, stages in (("CP-SAT, score", False), ("CP-SAT, exact", True)):
        try:
            taken, other = _timed(partial(best_by_cpsat, joint, stages=stages, seconds=seconds))
        except TimeoutError:
            times[head].append(math.inf)
            continue
        times[head].append(taken)
        alike = other == best.numbers if stages else _score(joint, other) == _score(joint, best.numbers)
        if not alike:
            print(f"{name}: CP-SAT found {other}, not {best.numbers}")
        same &= alike
    return same


def _score(joint: JointSolved, numbers: Sequence[int] | None) -> Any:
    return None if numbers is None else ranked_bundle(joint, tuple(numbers), True).score


def _shown(times: Sequence[float]) -> str:
    return f"{statistics.median(times):.2f} ({max(times):.2f})" if times else "-"


if __name__ == "__main__":
    main()
