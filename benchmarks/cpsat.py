"""The same joint routing by OR-Tools CP-SAT, for comparison: the extra `bench`.

CP-SAT works on 64-bit integers, so that the order of bundles is met in stages: the fewest fallbacks, the most hints,
the highest score, then the first slot's place, the second's, and so on, each solved with those before it fixed.
"""

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from whyroute.engine.joint import AtMost, Different, Reaches, Same
from whyroute.solving.joint import JointSolved

__all__ = ["best_by_cpsat"]


def best_by_cpsat(
    joint: JointSolved, *, threads: int = 2, stages: bool = True, seconds: float = 60
) -> tuple[int, ...] | None:
    """The candidates of the best bundle; None when there is none.

    Args:
        joint: The request for a bundle.
        threads: How many threads CP-SAT uses.
        stages: Whether ties are settled; otherwise the score alone is, beside fallbacks and hints.
        seconds: How long all solves may take together.

    Raises:
        TimeoutError: They took longer.
    """
    from ortools.sat.python import cp_model  # noqa: PLC0415 (an extra)

    rows = [slot.numbers for slot in joint.ranked]
    if not all(rows):
        return None
    model, chosen = _modelled(joint, rows)
    objectives = _objectives(joint, chosen, stages=stages)
    solver: Any = cp_model.CpSolver()
    solver.parameters.num_workers = threads
    end = time.perf_counter() + seconds
    for objective in objectives:
        if isinstance(objective, int):
            continue
        model.minimize(objective)
        solver.parameters.max_time_in_seconds = max(0.01, end - time.perf_counter())
        status = solver.solve(model)
        if status == cp_model.INFEASIBLE:
            return None
        if status != cp_model.OPTIMAL:
            raise TimeoutError(f"CP-SAT proved nothing within {seconds} s")
        model.add(objective == round(solver.objective_value))
        model.clear_hints()
        for each in chosen:
            for variable in each:
                model.add_hint(variable, solver.value(variable))
    return tuple(
        next(number for variable, number in zip(each, numbers, strict=True) if solver.value(variable))
        for each, numbers in zip(chosen, rows, strict=True)
    )


def _modelled(joint: JointSolved, rows: Sequence[Sequence[int]]) -> tuple[Any, list[list[Any]]]:
    """The ties as a model, and for each slot a variable for each of its rows."""
    from ortools.sat.python import cp_model  # noqa: PLC0415 (an extra)

    model: Any = cp_model.CpModel()
    chosen = [[model.new_bool_var(f"{slot}/{row}") for row in range(len(each))] for slot, each in enumerate(rows)]
    for each in chosen:
        model.add_exactly_one(each)
    for tie in joint.compiled:
        passes = tie.passes
        for slot in tie.slots if passes is not None else ():
            for variable, number in zip(chosen[slot], rows[slot], strict=True):
                if passes is not None and not passes[number]:
                    model.add(variable == 0)
        for piece in tie.pieces:
            made = piece.tie(piece.slots, [rows[slot] for slot in piece.slots])
            _add(model, made, [chosen[slot] for slot in made.variables])
    return model, chosen


def _objectives(joint: JointSolved, chosen: Sequence[Sequence[Any]], *, stages: bool) -> list[Any]:
    """What is to be made least, one after the other."""
    slots = list(zip(chosen, joint.ranked, strict=True))
    shared = min(slot.exponent for slot in joint.ranked)
    found = [sum(v for each, slot in slots for v, is_one in zip(each, slot.fallback, strict=True) if is_one)]
    found.append(sum(v for each, slot in slots for v, is_one in zip(each, slot.missed, strict=True) if is_one))
    found.append(
        -sum(
            v * score * 10 ** (slot.exponent - shared)
            for each, slot in slots
            for v, score in zip(each, slot.scores, strict=True)
        )
    )
    if stages:
        found += [sum(v * place for place, v in enumerate(each)) for each in chosen]
    return found


def _add(model: Any, tie: Any, chosen: Sequence[Sequence[Any]]) -> None:
    match tie:
        case AtMost(values=values, cap=cap):
            pairs = zip(chosen, values, strict=True)
            model.add(sum(v * value for each, own in pairs for v, value in zip(each, own, strict=True)) <= cap)
        case Reaches(values=reaching):
            pairs = zip(chosen, reaching, strict=True)
            model.add_bool_or([v for each, own in pairs for v, reaches in zip(each, own, strict=True) if reaches])
        case Same(values=codes) | Different(values=codes):
            having: list[dict[int, list[Any]]] = []
            for each, own in zip(chosen, codes, strict=True):
                by_code: dict[int, list[Any]] = {}
                for variable, code in zip(each, own, strict=True):
                    by_code.setdefault(code, []).append(variable)
                having.append(by_code)
            for code in sorted({code for by_code in having for code in by_code}):
                sums = [sum(by_code.get(code, [])) for by_code in having]
                if isinstance(tie, Different):
                    model.add_at_most_one([v for by_code in having for v in by_code.get(code, [])])
                else:
                    for one, other in pairwise(sums):
                        model.add(one == other)
