"""The constraint library decides: with classes in its place that do nothing, no answer comes out right."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cases import lines

STUB = '''
"""Classes with the library's names that take anything and do nothing."""


class _Nothing:
    def __init__(self, *args, **kwargs):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: RESULT


class Problem(_Nothing):
    pass


class Domain(list):
    def __init__(self, *args, **kwargs):
        pass


class Constraint(_Nothing):
    pass


class FunctionConstraint(Constraint):
    pass


class Solver(_Nothing):
    pass


class BacktrackingSolver(Solver):
    pass
'''

SCRIPT = """
import json, sys
import whyroute as wr

assert not hasattr(__import__("constraint"), "AllDifferentConstraint"), "the library itself was imported"
for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = wr.answer(request)
    except Exception as error:
        answer = {"raised": type(error).__name__}
    print(json.dumps(answer))
"""

BUNDLE = {
    "slots": {"planner": {"capability": {"needs": []}}, "judge": {"capability": {"needs": []}}},
    "together": [{"different": "provider"}],
    "providers": [
        {
            "id": name,
            "region": "eu",
            "models": [
                {
                    "name": "m",
                    "contextWindow": 1,
                    "features": [],
                    "cost": {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1},
                }
            ],
        }
        for name in ("a", "b")
    ],
}


@pytest.mark.parametrize("result", ["None", "[]", "iter(())"])
def test_no_answer_comes_out_right_without_the_library(tmp_path: Path, result: str) -> None:
    package = tmp_path / "constraint"
    package.mkdir()
    (package / "__init__.py").write_text(f"RESULT = {result}\n{STUB}", "utf-8")
    routes = [case for case in lines("routing.jsonl") if case["expect"].get("route") or case["expect"].get("error")]
    assert len(routes) > 300
    requests = [*(case["input"] for case in routes), BUNDLE]
    path = os.pathsep.join([str(tmp_path), *sys.path])
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input="\n".join(map(json.dumps, requests)),
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(answers) == len(requests)
    right = [case["id"] for case, answer in zip(routes, answers, strict=False) if "decision" in answer]
    assert right == []
    if result == "None":  # an empty list is the library's own word for "no solution"
        assert all("raised" in answer for answer in answers)
    assert "decision" not in answers[-1]
