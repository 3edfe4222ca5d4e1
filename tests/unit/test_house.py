"""Each class has a name of its own, modules can be read at a sitting, and nothing is found by its identity."""

import ast
import re
from collections import Counter

from paths import ROOT

PACKAGE = ROOT / "src" / "whyroute"


def test_each_class_has_a_name_of_its_own() -> None:
    names = Counter(
        statement.name
        for path in PACKAGE.rglob("*.py")
        for statement in ast.parse(path.read_text("utf-8")).body
        if isinstance(statement, ast.ClassDef)
    )
    assert {name for name, count in names.items() if count > 1} == set()


def test_modules_have_a_readable_size() -> None:
    long = {
        path.relative_to(PACKAGE).as_posix(): length
        for path in PACKAGE.rglob("*.py")
        if (length := len(path.read_text("utf-8").splitlines())) > 500
    }
    assert long == {}


def test_nothing_is_found_by_its_identity() -> None:
    calls = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id"
    ]
    assert calls == []


def test_candidates_are_not_told_of_as_people() -> None:
    paths = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "rules").rglob("*.md")]
    paths += [path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".pyi", ".js", ".css", ".html")]
    words = sum(
        len(re.findall(r"\b(?:whoever|whom|nobody)\b", path.read_text("utf-8"), re.IGNORECASE)) for path in paths
    )
    assert len(paths) > 100
    assert words <= 5


def test_names_of_tests_have_at_most_eight_words() -> None:
    names = [
        node.name
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert len(names) > 1000
    assert [name for name in names if name.count("_") > 8] == []
