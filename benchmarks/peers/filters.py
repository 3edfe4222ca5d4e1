"""Rule engines and a constraint library as filters: each candidate is asked for by a condition made from the request.

A condition is compiled once for a request and evaluated for every candidate, which is how these engines are meant to
be used; Rego gets all candidates as data once, and a request as input.
"""

import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from importlib import import_module
from typing import Any, Final

from ..work import Request, Row
from . import UnavailableError

__all__ = ["FILTERS"]

Filter = Callable[[Sequence[Row], Request], Sequence[Row]]


def _imported(name: str, package: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise UnavailableError(f"{package} is not installed") from None


def _lambdas(rows: Sequence[Row]) -> Filter:
    """python-constraint2 as its manual shows it: a variable over the candidates, a lambda for each constraint."""
    constraint = _imported("constraint", "python-constraint2")

    def passing(rows: Sequence[Row], request: Request) -> Sequence[Row]:
        feature, window, price, denied, regions = request.parts
        problem = constraint.Problem()
        problem.addVariable("candidate", range(len(rows)))
        tests: list[Callable[[int], bool]] = [
            lambda at: rows[at]["kind"] == "llm-inference",
            lambda at: feature in rows[at]["features"],
            lambda at: rows[at]["contextWindow"] >= window,
            lambda at: rows[at]["promptPrice"] <= price,
            lambda at: rows[at]["provider"] not in denied,
            lambda at: rows[at]["region"] in regions,
        ]
        for test in tests:
            problem.addConstraint(test, ["candidate"])
        return [rows[solution["candidate"]] for solution in problem.getSolutions()]

    return passing


def _rule_engine(rows: Sequence[Row]) -> Filter:
    rule_engine = _imported("rule_engine", "rule-engine")

    def passing(rows: Sequence[Row], request: Request) -> Sequence[Row]:
        feature, window, price, denied, regions = request.parts
        condition = (
            f"kind == 'llm-inference' and {_quoted(feature)} in features and contextWindow >= {window} "
            f"and promptPrice <= {_fixed(price)} and not (provider in {_list(denied)}) and region in {_list(regions)}"
        )
        return list(rule_engine.Rule(condition).filter(rows))

    return passing


def _zen(rows: Sequence[Row]) -> Filter:
    zen = _imported("zen", "zen-engine")

    def passing(rows: Sequence[Row], request: Request) -> Sequence[Row]:
        feature, window, price, denied, regions = request.parts
        expression = zen.compile_expression(
            f"kind == 'llm-inference' and contains(features, {_quoted(feature)}) and contextWindow >= {window} "
            f"and promptPrice <= {_fixed(price)} and not (provider in {_list(denied)}) and region in {_list(regions)}"
        )
        return [row for row in rows if expression.evaluate(row)]

    return passing


def _cel(rows: Sequence[Row]) -> Filter:
    cel = _imported("cel", "common-expression-language")

    def passing(rows: Sequence[Row], request: Request) -> Sequence[Row]:
        feature, window, price, denied, regions = request.parts
        program = cel.compile(
            f"kind == 'llm-inference' && {_quoted(feature)} in features && contextWindow >= {window} "
            f"&& promptPrice <= {_fixed(price)} && !(provider in {_list(denied)}) && region in {_list(regions)}"
        )
        return [row for row in rows if program.execute(row)]

    return passing


_REGO: Final = """package route
import rego.v1

passing contains at if {
    some at, row in data.rows
    row.kind == "llm-inference"
    input.feature in row.features
    row.contextWindow >= input.window
    row.promptPrice <= input.price
    not row.provider in input.denied
    row.region in input.regions
}
"""


def _rego(rows: Sequence[Row]) -> Filter:
    regopy = _imported("regopy", "regopy")
    interpreter = regopy.Interpreter()
    interpreter.add_module("route", _REGO)
    text = json.dumps({"rows": list(rows)})
    interpreter.add_data_json(re.sub(r"\b\d[\d.]*e-\d+", lambda found: _fixed(found[0]), text))

    def passing(rows: Sequence[Row], request: Request) -> Sequence[Row]:
        names = ("feature", "window", "price", "denied", "regions")
        interpreter.set_input(dict(zip(names, request.parts, strict=True)))
        output = interpreter.query("x = data.route.passing")
        return [rows[at] for at in output[0]["x"]]

    return passing


def _fixed(number: float | str) -> str:
    """A number without an exponent, which some of the parsers do not read."""
    return format(Decimal(str(number)), "f")


def _quoted(text: str) -> str:
    return "'" + text + "'"  # the benchmarks' names have no quotes in them


def _list(names: Sequence[str]) -> str:
    return "[" + ", ".join(map(_quoted, names)) + "]"


FILTERS: Final[dict[str, tuple[Callable[[Sequence[Row]], Filter], int]]] = {
    "python-constraint2, lambdas": (_lambdas, 10_000),
    "rule-engine": (_rule_engine, 1_000),
    "zen-engine": (_zen, 10_000),
    "CEL": (_cel, 1_000),
    "Rego (regopy)": (_rego, 1_000),
}
"""By name: what makes a filter over the candidates, and the most candidates it is measured with."""
