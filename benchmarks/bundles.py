"""Joint routing beside OR-Tools CP-SAT, on the same models.

The picks have to be the same, or, where CP-SAT finds the best score alone, the scores.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, Final

from whyroute.bundles.explanation import BundleExplanation
from whyroute.bundles.ranking import ranked_bundle
from whyroute.model.capability import Capability
from whyroute.model.features import FEATURES
from whyroute.solving.joint import JointSolved, SearchLimit, Slot, solve_jointly
from whyroute.solving.ties import Tie

from .bench import Bench, Items, indexed
from .catalogs import ATTRIBUTES
from .measuring import OURS, Case, Part, System, python_system
from .peers import UnavailableError

__all__ = ["bundle_of", "bundles"]

SEEDS: Final = 3
SECONDS: Final = 20
"""How long one search of CP-SAT may take; past that it has an empty cell."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a bundle is like: see `bundle_of`."""

    name: str
    slots: int
    candidates: int
    usd: float
    latency: int

    def bundle(self, seed: int) -> JointSolved:
        """The bundle of a seed."""
        return bundle_of(self.slots, self.candidates, seed, usd=self.usd, latency=self.latency)


SHAPES: Final = (
    _Shape("5 slots, loose caps", 5, 1_000, 0.002, 2_000),
    _Shape("5 slots, tight caps", 5, 1_000, 0.0002, 500),
    _Shape("10 slots, loose caps", 10, 200, 0.002, 2_000),
    _Shape("10 slots, tight caps", 10, 200, 0.0005, 1_200),
    _Shape("5 slots, infeasible", 5, 1_000, 0.00002, 250),
    _Shape("10 slots, infeasible", 10, 200, 0.0002, 1_200),
)

SMALL: Final = (
    _Shape("5 slots, loose caps", 5, 200, 0.002, 2_000),
    _Shape("5 slots, infeasible", 5, 60, 0.00002, 250),
)


def bundles(bench: Bench) -> list[Part]:
    """The best bundle, proved, with everything that ties settle; and of bundles that nothing serves one core."""
    return [Part(shape.name, partial(_bundles_of, bench, shape)) for shape in (SMALL if bench.quick else SHAPES)]


def _bundles_of(bench: Bench, shape: _Shape) -> Items:
    seeds = 1 if bench.quick else SEEDS
    # A search starts from what pruning has left, on both sides; what was found is kept by the object, so each is new.
    joints = [shape.bundle(seed) for seed in range(seeds)]
    found = [joint.best.numbers for joint in joints]

    def best(at: int) -> object:
        return shape.bundle(at).best.numbers

    systems = [python_system(OURS, best, found.__getitem__, requests=seeds, processor=False)]
    if bench.made("CP-SAT", _ortools) is not None:
        systems += [_cpsat("CP-SAT", joints, True), _cpsat("CP-SAT, the score alone", joints, False)]
    yield Case(f"the best bundle: {shape.name}", shape.candidates, systems, seeds, seeds)
    if None in found:

        def core(at: int) -> object:
            return BundleExplanation(shape.bundle(at)).core

        yield Case(f"one core: {shape.name}", shape.candidates, [python_system(OURS, core, requests=seeds)], seeds)


def _ortools() -> bool:
    if find_spec("ortools") is None:
        raise UnavailableError("ortools is not installed")
    return True


def _cpsat(name: str, joints: Sequence[JointSolved], exact: bool) -> System:
    """CP-SAT: the exact order, one solve after the other, or the score alone, which is compared as such."""
    from .cpsat import best_by_cpsat  # noqa: PLC0415 (an extra)

    def solve(at: int) -> tuple[int, ...] | None:
        return best_by_cpsat(joints[at], stages=exact, seconds=SECONDS)

    def score(at: int) -> Any:
        return _score(joints[at], solve(at))

    def expected(at: int) -> Any:
        return _score(joints[at], joints[at].best.numbers)

    return python_system(
        name,
        solve,
        solve if exact else score,
        expected=None if exact else expected,
        requests=len(joints),
        processor=False,
    )


def _score(joint: JointSolved, numbers: Sequence[int] | None) -> Any:
    return None if numbers is None else ranked_bundle(joint, tuple(numbers), True).score


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
    catalog = indexed(candidates)
    return solve_jointly([Slot(name, _capability(rng)) for name in names], catalog, ties, limit=SearchLimit(nodes=None))


def _capability(rng: random.Random) -> Capability:
    liked = rng.sample([*ATTRIBUTES, *FEATURES], 4)
    return Capability.model_validate(
        {
            "needs": [{"contextWindow": {"op": ">=", "value": 8_192}}],
            "prefer": [{"feature": name, "weight": rng.choice([0.5, 1, 2, 2.5])} for name in liked],
        }
    )
