"""Seeded sample of mutations of the core: runs the tests on each and lists those that no test notices."""

import argparse
import ast
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import cache_from_source
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from hypothesis import HealthCheck, Phase, settings

from paths import ROOT

PACKAGE = ROOT / "src" / "whyroute"
MODULES = (
    *("basics/bits.py", "basics/globs.py", "catalog/*.py", "model/condition.py", "solving/ranking.py"),
    *("constraints/named.py", "constraints/rule_terms.py", "constraints/terms.py", "constraints/three_valued.py"),
    *("explanations/*.py", "bundles/*.py", "engine/bounds.py", "solving/combining.py", "solving/joint.py"),
    *("solving/ordering.py", "solving/tie_columns.py", "solving/ties.py"),
)
BUNDLES = (
    "surfaces/test_golden_answers bundles/test_small_print bundles/test_bundle laws/test_relaxations "
    "laws/test_engines surfaces/test_bundle_surfaces surfaces/test_bundle_page"
)
FIRST = {
    "bundles/": BUNDLES,
    "engine/bounds.py": BUNDLES,
    "explanations/": (
        "surfaces/test_golden_answers laws/test_relaxations laws/test_situations explanations/test_hitting "
        "explanations/test_ties explanations/test_cores explanations/test_graph explanations/test_walker "
        "explanations/test_reasons explanations/test_explanation"
    ),
    "catalog/": "basics/test_bits laws/test_conformance catalog/test_catalog model/test_rule",
    "solving/combining.py": BUNDLES,
    "solving/joint.py": BUNDLES,
    "solving/ordering.py": BUNDLES,
    "solving/ti": BUNDLES,
    "solving/ranking.py": "solving/test_ranking laws/test_conformance catalog/test_catalog",
    "basics/bits.py": "basics/test_bits catalog/test_catalog explanations/test_hitting",
    "basics/globs.py": "basics/test_globs documents/test_toposort packs/test_resolved packs/test_pack",
    "model/condition.py": "model/test_rule packs/test_pack packs/test_resolved",
    "constraints/three_valued.py": "model/test_rule packs/test_resolved packs/test_pack_explanations",
    "constraints/rule_terms.py": "model/test_rule packs/test_resolved packs/test_pack_explanations",
    "constraints/terms.py": "constraints/test_terms constraints/test_named laws/test_conformance model/test_policy",
    "constraints/named.py": "constraints/test_named constraints/test_terms model/test_policy model/test_rule",
}
"""The tests that most likely notice a mutation, quickest first, by the beginning of a module's path."""
THEN = (
    "laws/test_conformance laws/test_situations model/test_rule packs/test_resolved explanations/test_reasons "
    "explanations/test_explanation explanations/test_walker model/test_policy routing/test_facade "
    "engine/test_single solving/test_request laws/test_naive documents/test_toposort wire/test_request "
    "packs/test_running packs/test_checking laws/test_check_soundness packs/test_comparing laws/test_packdiff_laws "
    "bundles/test_bundle laws/test_engines surfaces/test_bundle_surfaces basics/test_frozen laws/test_determinism "
    "surfaces/test_page surfaces/test_cli surfaces/test_guide surfaces/test_docs model/test_calls "
    "laws/test_route_costs laws/test_explanation_costs"
)
"""The tests that are run on what those let through."""
UNSUITABLE = ("core/ExceptionReplacer", "core/RemoveDecorator")
"""Operators that change no answer: one names an exception that does not exist, one takes caches away."""


OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow and not browser")
PRELOADED = ("hypothesis.strategies", "jsonpatch", "jsonschema", "networkx", "pydantic", "pytest", "ruamel.yaml")
SECONDS = (30, 120, 300, 1200)
"""The time of a processor after which a mutation counts as noticed, for each stage of `_tests`."""
MEASURED = ROOT / "mutants" / "slow.json"


@dataclass(frozen=True)
class Mutant:
    """One changed place: its module, line, the line before and after, and the whole changed module."""

    module: str
    line: int
    operator: str
    before: str
    after: str
    code: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.operator}\n    - {self.before}\n    + {self.after}"


def main() -> None:
    """Run the tests on a sample of mutations, and print what noticed each and which none noticed."""
    arguments = _arguments()
    chosen = sample(arguments.seed, arguments.sample, arguments.only)
    if arguments.list:
        print(*chosen, sep="\n")
        return
    slow = _slow_tests()
    forks = get_context("forkserver")
    forks.set_forkserver_preload(["__main__", *PRELOADED])
    trees: SimpleQueue[Path] = SimpleQueue()
    left = list(chosen)
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(arguments.jobs) as pool:
        for job in range(arguments.jobs):
            tree = Path(place) / str(job) / "whyroute"
            shutil.copytree(PACKAGE, tree)
            trees.put(tree)
        if failed := _failed(_files("basics/test_bits constraints/test_terms"), tree.parent, SECONDS[0], forks):
            raise SystemExit(f"a test fails without a mutation: {failed}")

        def run(mutant: Mutant, stage: int) -> str | None:
            tree = trees.get()
            try:
                return _noticed(mutant, tree, _tests(mutant, slow)[stage], SECONDS[stage], forks)
            finally:
                trees.put(tree)

        for stage in range(len(SECONDS)):
            runs = {pool.submit(run, mutant, stage): mutant for mutant in left}
            for done in as_completed(runs):
                if noticed := done.result():
                    left.remove(runs[done])
                    print(f"{runs[done]}\n    {noticed}", flush=True)
            print(f"{len(left)} of {len(chosen)} not noticed after stage {stage + 1} of {len(SECONDS)}", flush=True)
    print(*left, sep="\n")


def _tests(mutant: Mutant, slow: list[str]) -> list[list[str]]:
    """What is run on a mutation, stage by stage: the nearest tests, near ones, slow near ones, and all others."""
    first = _files(next(tests for start, tests in FIRST.items() if mutant.module.startswith(start)))
    skipped = [option for test in slow for option in ("--deselect", test)]
    then = [file for file in _files(THEN) if file not in first]
    late = [test for test in slow if test.startswith(tuple(first))]
    return [first[:2] + skipped, first[2:] + skipped if first[2:] else [], late, then]


def sample(seed: int, size: int, only: str = "") -> list[Mutant]:
    """Mutations of places chosen at random, at most one a place; the same for the same seed and source."""
    places: dict[tuple[str, tuple[int, int]], list[tuple[str, int]]] = {}
    for path in sorted(path for module in MODULES for path in PACKAGE.glob(module)):
        module = path.relative_to(PACKAGE).as_posix()
        for place, mutation in _mutations(path.read_text("utf-8")):
            places.setdefault((module, place), []).append(mutation)
    chooser = random.Random(seed)
    order = sorted(places)
    chooser.shuffle(order)
    found: list[Mutant] = []
    for module, place in order:
        mutations = places[module, place]
        chooser.shuffle(mutations)
        if not module.startswith(only):
            continue
        source = (PACKAGE / module).read_text("utf-8")
        mutants = (_mutant(module, place[0], source, mutation) for mutation in mutations)
        if mutant := next((each for each in mutants if each is not None), None):
            found.append(mutant)
        if len(found) == size:
            break
    return found


def _mutations(source: str) -> Iterator[tuple[tuple[int, int], tuple[str, int]]]:
    """Places, each with the operator and its occurrence there; none in annotations, decorators and `__all__`."""
    ignored = list(_ignored(ast.parse(source)))
    nodes = list(ast_nodes(get_ast(source)))
    for name in sorted(operator_names()):
        operator_class = get_operator(name)
        if name in UNSUITABLE or operator_class.arguments():
            continue
        operator = operator_class()
        positions = [start for node in nodes for start, _ in operator.mutation_positions(node)]
        for occurrence, start in enumerate(positions):
            if not any(begin <= start < end for begin, end in ignored):
                yield start, (name, occurrence)


def _ignored(tree: ast.Module) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    for node in ast.walk(tree):
        parts: list[Any] = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        parts += getattr(node, "decorator_list", [])
        for part in parts:
            if isinstance(part, ast.expr):
                assert part.end_lineno is not None
                assert part.end_col_offset is not None
                yield (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)


def _mutant(module: str, line: int, source: str, mutation: tuple[str, int]) -> Mutant | None:
    """A mutation made; None when what comes of it is no Python, or the same program."""
    name, occurrence = mutation
    code = mutate_code(source, get_operator(name)(), occurrence)
    try:
        if code is None or ast.dump(ast.parse(code)) == ast.dump(ast.parse(source)):
            return None
    except SyntaxError:
        return None
    before, after = source.splitlines(), code.splitlines()
    changed = next(at for at, (old, new) in enumerate(zip(before, after, strict=False)) if old != new)
    return Mutant(module, line, name.removeprefix("core/"), before[changed].strip(), after[changed].strip(), code)


def _noticed(mutant: Mutant, tree: Path, tests: list[str], seconds: int, forks: ForkServerContext) -> str | None:
    """The first test that fails, or what else happened; None when all pass."""
    changed = tree / mutant.module
    changed.write_text(mutant.code, "utf-8")
    _forget_bytecode(changed)
    try:
        return _failed(tests, tree.parent, seconds, forks) if tests else None
    finally:
        shutil.copy2(PACKAGE / mutant.module, changed)
        _forget_bytecode(changed)


def _forget_bytecode(path: Path) -> None:
    """Remove what was compiled from a module: Python tells versions apart by second and size only."""
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def _files(names: str) -> list[str]:
    """The files of tests with these names, below `tests` or `tests/unit`."""
    each = dict.fromkeys(names.split())
    return [f"tests/{name if name.startswith(('laws/', 'surfaces/')) else f'unit/{name}'}.py" for name in each]


def _failed(tests: list[str], place: Path, seconds: int, forks: ForkServerContext) -> str | None:
    output = place / "output"
    process = forks.Process(target=_test, args=(tests, str(place), str(output), seconds))
    process.start()
    process.join(10 * seconds)
    if process.is_alive() or process.exitcode == -signal.SIGXCPU:
        assert process.pid is not None
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.join()
        return "timeout"
    if process.exitcode == 0:
        return None
    lines = output.read_text("utf-8").splitlines()
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return failed[0].partition(" - ")[0] if failed else f"status {process.exitcode}: {lines[-1:]}"


def _test(tests: list[str], place: str, output: str, seconds: int) -> None:
    """Run tests on a changed tree, in a process of its own."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # a mutation may ask for more memory than there is
    os.environ["PYTHONPATH"] = place  # of the processes that tests start
    sys.path.insert(0, place)
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    settings.register_profile(
        "mutants",
        derandomize=True,
        deadline=None,
        database=None,
        phases=(Phase.explicit, Phase.generate),  # what fails is not made smaller
        suppress_health_check=[HealthCheck.too_slow],
    )
    preloaded = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
    sys.exit(pytest.main(["-x", *OPTIONS, "--tb=no", "--hypothesis-profile=mutants", *preloaded, *tests]))


def _slow_tests() -> list[str]:
    """The tests that take long, measured once without a mutation, when all must pass."""
    if not MEASURED.exists():
        tests = dict.fromkeys(_files(" ".join((*FIRST.values(), THEN))))
        command = [sys.executable, "-m", "pytest", *OPTIONS, "--durations=0", "--durations-min=0.3", *tests]
        output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        found = re.findall(r"^[0-9.]+s call +(.*)$", output, re.MULTILINE)
        MEASURED.parent.mkdir(exist_ok=True)
        MEASURED.write_text(json.dumps(found, indent=1), "utf-8")
    slow: list[str] = json.loads(MEASURED.read_text("utf-8"))
    return slow


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=200, metavar="N", help="how many mutations (200)")
    parser.add_argument("--seed", type=int, default=10, metavar="N", help="which ones (10)")
    parser.add_argument("--only", default="", metavar="START", help="modules whose path starts like this: bundles/")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="how many at a time")
    parser.add_argument("--list", action="store_true", help="print the mutations and run no test")
    return parser.parse_args()


if __name__ == "__main__":
    main()
