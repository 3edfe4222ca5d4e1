"""Joint routing measured: `python -m benchmarks.bundles [--cpsat]`; with CP-SAT beside it, given the extra `bench`."""

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from whyroute.bundles.explanation import BundleExplanation
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


CASES: Sequence[tuple[str, int, int, float, int]] = (
    ("5 slots x 1,000, loose caps", 5, 1_000, 0.002, 2_000),
    ("5 slots x 1,000, tight caps", 5, 1_000, 0.0002, 500),
    ("10 slots x 200, loose caps", 10, 200, 0.002, 2_000),
    ("10 slots x 200, tight caps", 10, 200, 0.0005, 1_200),
    ("5 slots x 1,000, infeasible", 5, 1_000, 0.00002, 250),
    ("10 slots x 200, infeasible", 10, 200, 0.0002, 1_200),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpsat", action="store_true", help="CP-SAT on the same models, too")
    compared = parser.parse_args().cpsat
    print(f"{'median (most) of ' + str(SEEDS) + ' in s':32} {'best':>15} {'one core':>15} {'CP-SAT':>15}")
    for name, slots, candidates, usd, latency in CASES:
        bests, cores, others = [], [], []
        for seed in range(SEEDS):
            joint = bundle_of(slots, candidates, seed, usd=usd, latency=latency)
            taken, best = _timed(lambda joint=joint: joint.best)  # type: ignore[misc]
            bests.append(taken)
            if best.numbers is None:
                cores.append(_timed(lambda joint=joint: BundleExplanation(joint).core)[0])  # type: ignore[misc]
            if compared:
                from .cpsat import best_by_cpsat  # noqa: PLC0415 (an extra)

                taken, other = _timed(lambda joint=joint: best_by_cpsat(joint))  # type: ignore[misc]
                others.append(taken)
                if other != best.numbers:
                    print(f"{name}: CP-SAT found {other}, not {best.numbers}")
        print(f"{name:32} {_shown(bests):>15} {_shown(cores):>15} {_shown(others):>15}", flush=True)


def _shown(times: Sequence[float]) -> str:
    return f"{statistics.median(times):.2f} ({max(times):.2f})" if times else "-"


if __name__ == "__main__":
    main()
