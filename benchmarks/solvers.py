"""All cores and corrections of one answer, beside solvers made for that, on the same instances."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

from .bench import REQUESTS, Bench, Items, failure_of, indexed
from .catalogs import failing_request
from .measuring import OURS, Case, Part, python_system
from .peers.cores import ALL, CORE_PEERS, Core, Instance, agrees
from .work import Request

__all__ = ["solvers"]

_INSTANCES: Final = 4


@dataclass(frozen=True, slots=True)
class _Posed:
    """An instance, its cores and its corrections."""

    instance: Instance
    cores: list[Core]
    corrections: list[Core]


@lru_cache
def _posed(size: int, count: int) -> list[_Posed]:
    """So many instances of ten constraints."""
    found: list[_Posed] = []
    for seed in range(count):
        explanation = failure_of(_request(seed), indexed(size)).explanation
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
    return found


def _request(seed: int) -> Request:
    return Request(*failing_request(seed, floor=True))


def _prepared(
    prepare: Callable[[Instance], Callable[[], Any]], instances: Sequence[Instance]
) -> list[Callable[[], Any]]:
    return [prepare(instance) for instance in instances]


def _called(prepared: Sequence[Callable[[], Any]]) -> Callable[[int], Any]:
    return lambda at: prepared[at % len(prepared)]()


def _judged(prepared: Sequence[Callable[[], Any]], task: str, posed: Sequence[_Posed]) -> Callable[[int], bool]:
    """Whether what a peer finds is right."""
    return lambda at: agrees(prepared[at](), task, posed[at].instance, posed[at].cores, posed[at].corrections)


def solvers(bench: Bench) -> list[Part]:
    """One core, a smallest core, a smallest correction, and all of them; CPMpy, which takes seconds, apart."""
    size = 12 if bench.quick else min(bench.most, 1_000)
    groups: dict[tuple[str, bool], list[str]] = {}
    for name, (task, _) in CORE_PEERS.items():
        groups.setdefault((task, name.startswith("CPMpy")), []).append(name)
    return [
        Part(f"{task}, by {'CPMpy' if slow else 'solvers'}", partial(_beside, bench, size, names, slow))
        for (task, slow), names in sorted(groups.items(), key=lambda group: group[0][1])
    ]


def _beside(bench: Bench, size: int, names: Sequence[str], slow: bool) -> Items:
    catalog = indexed(size)
    posed = _posed(size, 2 if bench.quick else _INSTANCES)
    # Many objects of the few requests, as a catalog keeps what the last few objects came to.
    requests = [_request(at % len(posed)) for at in range(REQUESTS)]

    def ours(at: int) -> object:
        explanation = failure_of(requests[at], catalog).explanation
        return explanation.cores, explanation.corrections

    systems = [python_system(OURS, ours)]
    task = CORE_PEERS[names[0]][0]
    for name in names:
        prepare = CORE_PEERS[name][1]
        prepared = bench.made(name, partial(_prepared, prepare, [each.instance for each in posed]))
        if prepared is not None:
            judged = _judged(prepared, task, posed)
            systems.append(python_system(name, _called(prepared), judged, expected=lambda at: True))
    if len(systems) > 1:
        yield Case(
            f"{task}, by {'CPMpy' if slow else 'solvers'}",
            size,
            systems,
            compared=1 if slow else len(posed),
            once=slow and task == ALL,
            rounds=(1 if task == ALL else 3) if slow else None,
        )
