"""What the tests of a pack came to: text for people, and JSON."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from ..documents.phrases import counted
from ..explanations import Explanation
from ..packs import CaseResult, Coverage, Covered, Mismatch, Results
from ..packs.test.coverage import Subject
from ..solving.request import Solved
from .flow import flow
from .lines import Line, Unbroken, indent_of, printable, wrapped
from .prose import explanation_lines

if TYPE_CHECKING:
    from ..bundles.explanation import BundleExplanation

__all__ = ["case_title", "failure_lines", "results_document", "results_lines"]

_KEY: Final = 16
_COLUMN: Final = 31
_VALUES: Final = 8
"""How many values of a list stand in a column."""

_CASES: Final = 3
"""How many failed cases of one test are told in full."""

_TOLD: Final = 20
"""How many failed cases of all tests are told in full."""

_BRIEFLY: Final = 40
"""After how many failed cases that are told in a line each the others are only counted."""

Cell = list[str]


def results_lines(results: Results, *, command: str, everything: bool = False) -> Iterator[Line]:
    """The failures, each with its explanation, what the cases reach, and a summary.

    Args:
        results: What the tests came to.
        command: The words that run them again, such as `whyroute test rules`, to which a test's name is added.
        everything: Every failed case in full, and everything that is reached.
    """
    told = 0
    briefly = 0
    untold: list[CaseResult] = []
    by_test: dict[str, list[CaseResult]] = {}
    for each in results.failures:
        by_test.setdefault(each.case.test.name, []).append(each)
    for name, failed in by_test.items():
        count = len(failed) if everything else max(0, min(_CASES, _TOLD - told))
        for result in failed[:count]:
            yield from failure_lines(result, results, command=command)
            yield ()
        told += min(count, len(failed))
        more = failed[count:]
        if more and briefly >= _BRIEFLY:
            untold += more
        elif more:
            briefly += min(_VALUES, len(more))
            yield from _briefly(name, more)
            yield ()
    if untold:
        tests = len({each.case.test.name for each in untold})
        told_more = f"and {counted(len(untold), 'more failed case')} of {counted(tests, 'test')}; --all shows them"
        yield ((told_more, "dim"),)
        yield ()
    if results.coverage is not None:
        yield from coverage_lines(results.coverage, everything=everything)
        yield ()
    yield from _summary(results)


def _briefly(name: str, failed: Sequence[CaseResult]) -> Iterator[Line]:
    for each in failed[:_VALUES]:
        yield from wrapped((("FAIL ", "bold red"), (printable(name), "bold"), (f" ({case_title(each)})", "")))
    more = len(failed) - _VALUES
    yield ((f"  {f'and {more} more of this test; ' if more > 0 else ''}--all tells why", "dim"),)


def case_title(result: CaseResult) -> str:
    """The tenant and the capability or the bundle of a case."""
    if result.case.bundle is not None:
        return f"{printable(result.case.tenant)}, bundle {printable(result.case.bundle)}"
    capability = "its own declaration" if result.case.capability is None else printable(result.case.capability)
    return f"{printable(result.case.tenant)}, {capability}"


def failure_lines(result: CaseResult, results: Results, *, command: str) -> Iterator[Line]:
    """A case that failed: what was expected beside what it is, why, where, and what runs it again."""
    case = result.case
    yield from wrapped((("FAIL ", "bold red"), (printable(case.test.name), "bold"), (f" ({case_title(result)})", "")))
    yield ((f"  {printable(str(case.place))}", "cyan"),)
    if result.problem is not None:
        yield from wrapped((("  no request: ", ""), (printable(result.problem), "yellow")), indent=4)
    else:
        yield (("  " + " " * _KEY, ""), ("expected".ljust(_COLUMN), "dim"), ("got", "dim"))
        for mismatch in result.mismatches:
            yield from _mismatch_lines(mismatch)
    explanation = explanation_of(result)
    if explanation is not None:
        yield ()
        for line in _explained(explanation):
            yield from wrapped((("  ", ""), *line), indent=indent_of(line) + 6)
    yield ()
    yield Unbroken((("  again: ", "dim"), (again(result, results, command=command), "")))  # to be copied


def _explained(explanation: "Explanation | BundleExplanation") -> Iterator[Line]:
    if isinstance(explanation, Explanation):
        return explanation_lines(explanation, asked=False)
    from .bundles import bundle_explanation_lines  # noqa: PLC0415 (takes long to load, and few packs have bundles)

    return bundle_explanation_lines(explanation, asked=False)


def explanation_of(result: CaseResult) -> "Explanation | BundleExplanation | None":
    """The explanation of a failed case, compared with what was expected in vain: the first candidate, or the picks."""
    if result.solved is None:
        return None
    if not isinstance(result.solved, Solved):
        from ..bundles.explanation import BundleExplanation  # noqa: PLC0415 (takes long to load, and few packs have bundles)

        return BundleExplanation(result.solved, _asked(result))
    about = next((each.about for each in result.mismatches if each.about is not None), None)
    return Explanation(result.solved, about)


def _asked(result: CaseResult) -> Mapping[str, tuple[str, str]] | None:
    """The picks of a bundle that were expected in vain."""
    return next((each.asked for each in result.mismatches if each.asked), None)


def again(result: CaseResult, results: Results, *, command: str) -> str:
    """The command that shows the same: `explain` or `bundle` where the options can say it all, else the test alone.

    They can't where the test has providers or a declaration of its own, or sets labels that are the operator's.
    """
    case, test = result.case, result.case.test.value
    declared = results.pack.labels or {}
    operator = any(declared[name].value.set_by == "operator" for name in test.labels if name in declared)
    asked = _asked(result) or {}
    told = case.capability is not None or (case.bundle is not None and not any("=" in slot for slot in asked))
    if not told or test.providers is not None or operator or result.problem is not None:
        at = "" if test.at is not None else f" --at {result.at}"
        return f"{command} -k {_quoted(case.test.name)}{at}"
    if case.bundle is not None:
        words = ["whyroute", "bundle", results.pack.path, "-t", case.tenant, "--name", case.bundle]
    else:
        words = ["whyroute", "explain", results.pack.path, "-t", case.tenant, "-c", case.capability or ""]
    for name, value in test.labels.items():
        words += ["--label", f"{name}={value}"]
    words += ["--at", result.at]
    about = next((each.about for each in result.mismatches if each.about is not None), None)
    for slot, pair in asked.items():
        words += ["--why-not", f"{slot}={'/'.join(pair)}"]
    if about is not None:
        words += ["--why-not-provider", about[0], "--why-not-model", about[1]]
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    return printable(shlex.quote(word))


def _mismatch_lines(mismatch: Mismatch) -> Iterator[Line]:
    expected, got = _columns(mismatch)
    rows = zip_longest(_cut(expected), _cut(got), fillvalue="")
    for place, (left, right) in enumerate(rows):
        lefts, rights = _filled(left, _COLUMN - 2), _filled(right, _COLUMN)
        for inner, (one, other) in enumerate(zip_longest(lefts, rights, fillvalue="")):
            key = mismatch.key if place == inner == 0 else ""
            yield (
                (f"  {key.ljust(_KEY)}", "bold"),
                (one.ljust(_COLUMN), "green"),
                (other, "red"),
            )
    for note in mismatch.notes:
        yield from wrapped((("    ", ""), (printable(note), "yellow")), indent=6)


def _filled(text: str, width: int) -> list[str]:
    return wrap(text, width, break_on_hyphens=False) or [""]


def _columns(mismatch: Mismatch) -> tuple[Cell, Cell]:
    """What is expected and what it is, as lines that stand side by side."""
    expected, got = mismatch.expected, mismatch.got
    match mismatch.key.partition("/")[0]:
        case "picks":
            return _picks(expected, got)
        case "pick":
            return [_candidate(expected)], ["nothing qualifies" if got is None else _candidate(got)]
        case "fallback" | "unsatisfiable":
            return [_truth(expected)], [_UNKNOWN[mismatch.key] if got is None else _truth(got)]
        case "every":
            return [flow(expected)], [f"not so for {len(got)} of those admitted"]
        case "admitted":
            return _sides([_candidate(each) for each in expected], [_candidate(each) for each in got])
        case "rejected":
            head = _candidate(expected)
            by = [f"by {printable(name)}" for name in expected.get("by", ())]
            if got is None:
                return [head, *by], ["no such candidate"]
            return [head, *by], ["", *(f"by {printable(name)}" for name in got)] if got else ["it qualifies"]
        case _:
            cores = [" + ".join(map(printable, core)) or "(empty)" for core in got]
            return [" + ".join(map(printable, expected)) or "(empty)"], cores or ["something qualifies"]


_UNKNOWN: Final = {"fallback": "nothing qualifies", "unsatisfiable": "not known"}


def _picks(expected: Mapping[str, Any], got: Mapping[str, Any] | None) -> tuple[Cell, Cell]:
    """The picks that differ, slot by slot; all that were expected where none does, or there are none."""
    if got is None:
        return [_in_slot(*each) for each in expected.items()], ["nothing qualifies"]
    differing = [slot for slot, wanted in expected.items() if not _is_same(wanted, got[slot])] or list(expected)
    return [_in_slot(slot, expected[slot]) for slot in differing], [_in_slot(slot, got[slot]) for slot in differing]


def _in_slot(slot: str, document: Any) -> str:
    return f"{printable(slot)}: {_candidate(document)}"


def _is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return bool(one["provider"] == other["provider"] and one["model"] == other["model"])


def _sides(expected: Sequence[str], got: Sequence[str]) -> tuple[Cell, Cell]:
    """Two lists with what they have in common side by side, first what is missing, then what is too much."""
    if not got:
        return list(expected), ["nothing qualifies"]
    if not expected:
        return ["none"], list(got)
    missing = [each for each in expected if each not in got]
    more = [each for each in got if each not in expected]
    both = [each for each in expected if each in got]
    return [*missing, *("-" for _ in more), *both], [*("-" for _ in missing), *more, *both]


def _cut(cell: Cell) -> Cell:
    more = len(cell) - _VALUES
    return cell if more <= 1 else [*cell[:_VALUES], f"and {more} more"]


def _candidate(document: Any) -> str:
    return f"{printable(document['provider'])} / {printable(document['model'])}"


def _truth(value: bool) -> str:
    return "true" if value else "false"


def _summary(results: Results) -> Iterator[Line]:
    cases, failed = len(results.cases), len(results.failures)
    tests = len(results.tests)
    ran = f"{counted(tests, 'test')}, {counted(cases, 'case')}: "
    left = f"; {results.left_out} not run" if results.left_out else ""
    silent = sum(each.said_nothing for each in results.cases)
    if failed:
        yield ((ran, "bold"), (f"{failed} failed", "bold red"), (f", {cases - failed} passed{left}", ""))
    else:
        yield ((ran, "bold"), ("all passed" if cases > 1 else "passed", "bold green"), (left, ""))
    if silent:
        vacuous = f"{'is' if silent == 1 else 'are'} vacuous: no candidate qualifies"
        yield ((f"{counted(silent, 'case')} with `every` {vacuous}", "yellow"),)


_HEADS: Final[Mapping[Subject, str]] = {
    "rule": "rules",
    "clause": "clauses",
    "waiver": "waivers",
    "condition": "conditions",
}


def coverage_lines(coverage: Coverage, *, everything: bool = False) -> Iterator[Line]:
    """What the tests reach, as a table, and what they never do, each with its place."""
    yield (("Coverage", "bold"), (" (rejected, preferred, admitted or decided somebody in a case)", "dim"))
    groups = [(name, coverage.of(subject)) for subject, name in _HEADS.items()]
    rows = [(name, items) for name, items in groups if items]
    for name, items in [*rows, ("all", coverage.items)]:
        count = sum(each.reached for each in items)
        share = f"{Coverage.percent_of(items):.1f}%".rjust(7)
        yield ((f"  {name.ljust(12)}", ""), (f"{count:>5} of {len(items):<5}", ""), (share, _grade(items)))
    never = [each for each in coverage.items if not each.reached]
    if never:
        yield (("Never", "bold"),)
        yield from _items(never if everything else never[: _TOLD + 1], counts=False)
        more = len(never) - _TOLD - 1
        if more > 0 and not everything:
            yield ((f"  and {more} more; --all shows them", "dim"),)
    reached = [each for each in coverage.items if each.reached]
    if everything and reached:
        yield (("In so many cases", "bold"),)
        yield from _items(reached, counts=True)


def _grade(items: Iterable[Covered]) -> str:
    return "green" if all(each.reached for each in items) else "yellow"


def _items(items: Sequence[Covered], *, counts: bool) -> Iterator[Line]:
    names = [_named(each) for each in items]
    width = min(44, max(map(len, names)))
    for name, each in zip(names, items, strict=True):
        place = f"{each.origin.file}:{each.origin.line}:{each.origin.column}"
        count = f"{each.cases:>7}  " if counts else "  "
        yield ((count, ""), (name.ljust(width), ""), (f"  {printable(place)}", "cyan"))


def _named(each: Covered) -> str:
    name = printable(each.name)
    if each.subject == "clause":
        return f"{each.part} {name}: {each.clause.removeprefix('policy/').replace('/', '.')}"
    return f"{each.subject} {name}{' (shadow)' if each.shadow else ''}"


def results_document(results: Results, *, command: str) -> dict[str, Any]:
    """The results as JSON."""
    found: dict[str, Any] = {
        "pack": results.pack.path,
        "passed": results.passed,
        "tests": len(results.tests),
        "cases": len(results.cases),
        "failed": len(results.failures),
        **({"notRun": results.left_out} if results.left_out else {}),
        "seconds": round(results.seconds, 6),
        "results": [_case_document(each, results, command) for each in results.cases],
    }
    if results.coverage is not None:
        found["coverage"] = coverage_document(results.coverage)
    return found


def _case_document(result: CaseResult, results: Results, command: str) -> dict[str, Any]:
    case = result.case
    found: dict[str, Any] = {
        "test": case.test.name,
        **case.place.to_dict(),
        "tenant": case.tenant,
        **({} if case.capability is None else {"capability": case.capability}),
        **({} if case.bundle is None else {"bundle": case.bundle}),
        "at": result.at,
        "passed": result.passed,
        "seconds": round(result.seconds, 6),
    }
    if result.said_nothing:
        found["saidNothing"] = ["every"]
    if not result.passed:
        found["again"] = again(result, results, command=command)
    if result.problem is not None:
        found["problem"] = result.problem
    if result.mismatches:
        found["mismatches"] = [_mismatch_document(each) for each in result.mismatches]
    explanation = explanation_of(result)
    if explanation is not None:
        found["explanation"] = explanation.to_dict()
    return found


def _mismatch_document(mismatch: Mismatch) -> dict[str, Any]:
    found = {"key": mismatch.key, "expected": mismatch.expected, "got": mismatch.got}
    return {**found, "notes": list(mismatch.notes)} if mismatch.notes else found


def coverage_document(coverage: Coverage) -> dict[str, Any]:
    """What the tests reach as JSON."""
    found: dict[str, Any] = {
        "percent": coverage.percent,
        "reached": coverage.reached,
        "of": len(coverage.items),
    }
    for subject, name in _HEADS.items():
        items = coverage.of(subject)
        found[name] = [_covered_document(each) for each in items]
    return found


def _covered_document(each: Covered) -> dict[str, Any]:
    found: dict[str, Any] = {each.part: each.name, "clause": each.clause} if each.part else {"name": each.name}
    if each.effect:
        found["effect"] = each.effect
    if each.shadow:
        found["shadow"] = True
    return {**found, **each.origin.to_dict(), "cases": each.cases}
