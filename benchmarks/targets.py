"""The targets beside what was measured: met or not, and by how much. Everything is read from the results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from .floor import GROWTH, STAGES, TASK
from .measuring import OURS
from .peers.published import NAME as PUBLISHED
from .report import markdown, ratio_text, time_text

__all__ = ["BESIDE_PUBLISHED", "OTHERS", "Target", "beside_published", "others", "shares"]

Results = Mapping[str, Mapping[str, Any]]
"""By suite, what its file says."""

BESIDE_PUBLISHED: Final[dict[str, dict[int, float]]] = {
    "route": {10: 2.5, 100: 0.5, 1_000: 0.05, 10_000: 0.005, 100_000: 0.0006},
    "the same request again": {10: 1.0, 100: 0.1, 1_000: 0.01, 10_000: 0.0005, 100_000: 0.0001},
    "route, all as JSON": {10: 3.0, 100: 0.8, 1_000: 0.1, 10_000: 0.02, 100_000: 0.01},
    "failed: all cores and corrections": {10: 4.0, 100: 0.8, 1_000: 0.08, 10_000: 0.004, 100_000: 0.001},
    "failed: every reason as JSON": {10: 4.0, 100: 1.5, 1_000: 0.8, 10_000: 0.5, 100_000: 0.4},
}
"""What whyroute's time divided by the published package's is to be at most, by task and candidates."""


@dataclass(frozen=True, slots=True)
class Target:
    """A figure that is to be reached.

    Attributes:
        told: What is measured.
        bound: The most that it may be; where `least` holds, the least.
        find: Finds the figure in the results; None when it is not there.
        show: The figure as text.
        least: Whether more is better.
    """

    told: str
    bound: float
    find: Callable[[Results], float | None]
    show: Callable[[float], str]
    least: bool = False

    def verdict(self, figure: float) -> str:
        """Whether it is met, and by how much."""
        return _verdict(figure, self.bound, least=self.least)


def _verdict(figure: float, bound: float, *, least: bool = False) -> str:
    met = figure >= bound if least else figure <= bound
    if not bound or not figure:
        return "met" if met else "not met"
    spare = figure / bound if least else bound / figure
    if 1 <= spare < 1.005:
        return "met"
    return f"met, by {_factor(spare)}" if met else f"not met, by {_factor(1 / spare)}"


def _factor(value: float) -> str:
    """How far above 1 a factor is."""
    return f"{value:,.0f}x" if value >= 10 else f"{value:.1f}x" if value >= 1.195 else f"{value - 1:.0%}"


def _items(results: Results, suite: str) -> Sequence[Mapping[str, Any]]:
    items: Sequence[Mapping[str, Any]] = results.get(suite, {}).get("items", ())
    return items


def _found(
    suite: str, task: str, system: str, candidates: int | None = None, *, of: str = "ratios", inverse: bool = False
) -> Callable[[Results], float | None]:
    """The median of a case, of what its file calls `of`."""

    def find(results: Results) -> float | None:
        for item in _items(results, suite):
            if item.get("task") == task and candidates in (None, item["candidates"]):
                spread = item.get(of, {}).get(system)
                if spread is not None:
                    return float(1 / spread["median"] if inverse else spread["median"])
        return None

    return find


def _figure(suite: str, begin: str, candidates: int) -> Callable[[Results], float | None]:
    def find(results: Results) -> float | None:
        found = [
            float(item["value"])
            for item in _items(results, suite)
            if item.get("figure", "").startswith(begin) and item["candidates"] == candidates
        ]
        return found[0] if found else None

    return find


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _times_as_fast(value: float) -> str:
    return f"{_plain(value)} times"


def _octets(value: float) -> str:
    return f"{_plain(value)} B"


def _growth(of: str) -> Callable[[Results], float | None]:
    return _found("floor", GROWTH, "whyroute, 1,000 candidates", 100_000, of=of)


_CHURN: Final = "register a provider, then route"
OTHERS: Final = (
    Target("route, 100,000 candidates / 1,000 candidates", 15, _growth("ratios"), ratio_text),
    Target("the same of processor time", 15, _growth("processorRatios"), ratio_text),
    Target("route over 1,000,000 candidates", 0.01, _found("floor", TASK, OURS, 10**6, of="seconds"), time_text),
    Target("the same of processor time", 0.01, _found("floor", TASK, OURS, 10**6, of="processorSeconds"), time_text),
    Target(
        "one provider registered in a tenant of 100,000, then a route",
        0.005,
        _found("churn", _CHURN, OURS, 100_000, of="seconds"),
        time_text,
    ),
    Target(
        "the same of processor time",
        0.005,
        _found("churn", _CHURN, OURS, 100_000, of="processorSeconds"),
        time_text,
    ),
    *(
        Target(f"index, for each of {size:,} candidates", 200, _figure("memory", "index, bytes", size), _octets)
        for size in (1_000, 10_000, 100_000)
    ),
    *(
        Target(
            f"{system} / all cores and corrections, 1,000 candidates",
            bound,
            _found("solvers", task, system, 1_000, inverse=True),
            _times_as_fast,
            least=True,
        )
        for system, task, bound in (
            ("CPMpy marco", "all cores and corrections, by CPMpy", 1_000),
            ("PySAT OptUx", "smallest core, by solvers", 20),
            ("PySAT MUSX", "one core, by solvers", 3),
        )
    ),
    Target("heavy packages loaded by `import whyroute`", 0, _figure("start", "import whyroute: of", 0), _plain),
    Target("heavy packages loaded by `whyroute --version`", 0, _figure("start", "whyroute --version: of", 0), _plain),
)
"""The targets that are no ratio to the published package's time; the last one shows that no answer is used again."""


def beside_published(results: Results, of: str = "ratios") -> str:
    """The table of whyroute's time divided by the published package's, by task and candidates.

    Args:
        results: The results.
        of: Which ratios: `ratios`, or `processorRatios`.
    """
    head = ["candidates", *BESIDE_PUBLISHED]
    lines = []
    for size in next(iter(BESIDE_PUBLISHED.values())):
        cells = [f"{size:,}"]
        for task, by_size in BESIDE_PUBLISHED.items():
            suite = "failed" if task.startswith("failed") else "route"
            ratio, bound = _found(suite, task, PUBLISHED, size, of=of)(results), by_size[size]
            told = "" if ratio is None else f"{ratio_text(ratio)} "
            verdict = "not measured" if ratio is None else _verdict(ratio, bound)
            cells.append(f"{told}(<= {bound:g}: {verdict})")
        lines.append(cells)
    return markdown(head, lines)


def others(results: Results) -> str:
    """The table of the other targets."""
    lines = []
    for target in OTHERS:
        figure = target.find(results)
        bound = f"{'>=' if target.least else '<='} {target.show(target.bound)}"
        measured = "" if figure is None else target.show(figure)
        lines.append([target.told, bound, measured, "not measured" if figure is None else target.verdict(figure)])
    return markdown(["target", "bound", "measured", "verdict"], lines)


def shares(results: Results) -> str:
    """Where the time of a route goes, by candidates: the floor, and what each stage adds; "" without the suite."""
    heads = ("candidates", "bytes read", "their floor", "route", "route / floor", *_ADDED)
    lines = []
    for item in _items(results, "floor"):
        if item.get("task") != TASK:
            continue
        size, medians = item["candidates"], {name: each["median"] for name, each in item["seconds"].items()}
        whole, read = medians[OURS], medians[STAGES[0]]
        octets = _figure("floor", "their bytes", size)(results)
        ends = [0.0, *(medians[name] for name in STAGES[2:]), whole]
        added = [max(0.0, after - before) / whole for before, after in pairwise(ends)]
        lines.append(
            [
                f"{size:,}",
                "" if octets is None else f"{octets:,.0f}",
                time_text(read),
                time_text(whole),
                _plain(whole / read),
                *(f"{share:.0%}" for share in added),
            ]
        )
    return markdown(heads, lines) if lines else ""


_ADDED: Final = ("asking the index", "compiling and the engine", "rank and pick", "reason and count")
