"""What the tests of a pack came to, as JUnit XML for CI servers."""

import re
from typing import Final
from xml.etree import ElementTree

from ..packs import CaseResult, Results
from .tests import case_title, failure_lines

__all__ = ["results_junit"]

# What XML 1.0 can't hold, not even as a reference.
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def results_junit(results: Results, *, command: str) -> str:
    """The results as JUnit XML: a suite for every file with tests, a test case for every case."""
    suites: dict[str, list[CaseResult]] = {}
    for each in results.cases:
        suites.setdefault(each.case.place.file, []).append(each)
    root = ElementTree.Element(
        "testsuites", {"name": _text(f"whyroute test {results.pack.path}"), **_counts(results.cases)}
    )
    for file, cases in suites.items():
        suite = ElementTree.SubElement(root, "testsuite", {"name": _text(file), **_counts(cases), "file": _text(file)})
        for each in cases:
            _add_case(suite, each, results, command)
    ElementTree.indent(root)
    # Line ends in an attribute would be read as spaces; there are none, for titles are on one line.
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add_case(suite: ElementTree.Element, result: CaseResult, results: Results, command: str) -> None:
    case = result.case
    attributes = {
        "name": _text(f"{case.test.name} ({case_title(result)})"),
        "classname": _text(case.place.file),
        "time": f"{result.seconds:.6f}",
        "file": _text(case.place.file),
        "line": str(case.place.line),
    }
    element = ElementTree.SubElement(suite, "testcase", attributes)
    if result.passed:
        return
    what = result.problem or ", ".join(each.key for each in result.mismatches)
    kind = "problem" if result.problem is not None else "expectation"
    failure = ElementTree.SubElement(element, "failure", {"message": _text(what), "type": kind})
    lines = failure_lines(result, results, command=command)
    failure.text = _text("\n".join("".join(text for text, _ in line).rstrip() for line in lines))


def _counts(cases: tuple[CaseResult, ...] | list[CaseResult]) -> dict[str, str]:
    failed = sum(not each.passed for each in cases)
    seconds = sum(each.seconds for each in cases)
    return {"tests": str(len(cases)), "failures": str(failed), "errors": "0", "time": f"{seconds:.6f}"}


def _text(text: str) -> str:
    return _NO_XML.sub(lambda found: f"\\x{ord(found.group()):02x}", text)
