"""Answers depend on the request alone; and importing the package loads little."""

import ast
import json
import os
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import whyroute
from paths import ROOT, SUPPORT

SCRIPT = SUPPORT.joinpath("determinism_script.py")
SOURCE = Path(whyroute.__file__).parents[1]


def python(*arguments: str, **environment: str) -> bytes:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    path = os.pathsep.join([str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**inherited, "PYTHONPATH": path, **environment},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    assert done.stderr == b""
    return done.stdout


@cache
def reference() -> bytes:
    return python(str(SCRIPT), "C", "given", PYTHONHASHSEED="0", LC_ALL="C")


def test_the_requests_are_worth_asking() -> None:
    answers = [json.loads(line) for line in reference().splitlines()]
    assert len(answers) == 33
    codes = [found.get("error", {}).get("code") for found in answers]
    assert codes.count(None) >= 20
    assert {"capability-unsatisfiable", "invalid-capability", "invalid-request"} <= set(codes)
    assert any(len(found["decision"]["alternates"]) > 5 for found in answers if "decision" in found)


@pytest.fixture(scope="session")
def locales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of locales that sort, fold and print unlike C, since a machine may have none installed."""
    found = tmp_path_factory.mktemp("locales")
    localedef = shutil.which("localedef")
    if localedef is None:
        pytest.skip("there is no localedef to make locales with")
    for name in OTHER_LOCALES:
        language = name.partition(".")[0]
        made = subprocess.run(
            [localedef, "-i", language, "-f", "UTF-8", str(found / name)], capture_output=True, timeout=60, check=False
        )
        if not (found / name / "LC_COLLATE").exists():
            pytest.skip(f"localedef can't make {name} here: {made.stderr.decode('utf-8', 'replace').strip()}")
    return found


OTHER_LOCALES = ("tr_TR.UTF-8", "de_DE.UTF-8")


@pytest.mark.parametrize(("seed", "name"), [("1", "C"), ("random", "C.UTF-8"), ("0", "POSIX")])
def test_the_hash_seed_changes_no_byte(seed: str, name: str) -> None:
    found = python(str(SCRIPT), name, "given", PYTHONHASHSEED=seed, LC_ALL=name, LANG=name, TZ="Asia/Kathmandu")
    assert found == reference()


@pytest.mark.parametrize("name", OTHER_LOCALES)
def test_the_locale_changes_no_byte(name: str, locales: Path) -> None:
    environment = {"LOCPATH": str(locales), "LC_ALL": name, "LANG": name}
    asked = "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.str(0.5), locale.strcoll('a', 'Z') < 0)"
    assert python("-c", asked, **environment).split() == [b"0,5", b"True"], "this locale is no other than C"
    assert python(str(SCRIPT), name, "given", PYTHONHASHSEED="2", **environment) == reference()


@pytest.mark.parametrize("order", ["reversed", "shuffled"])
def test_provider_order_changes_no_byte_of_decisions(order: str) -> None:
    found = python(str(SCRIPT), "C", order, PYTHONHASHSEED="random", LC_ALL="C").splitlines()
    for mine, theirs in zip(found, reference().splitlines(), strict=True):
        answered, expected = json.loads(mine), json.loads(theirs)
        if "decision" in expected:
            assert json.dumps(answered["decision"]) == json.dumps(expected["decision"])
        else:
            assert answered["error"]["code"] == expected["error"]["code"]
            assert [r["requirement"] for r in answered["error"].get("reasons", ())] == [
                r["requirement"] for r in expected["error"].get("reasons", ())
            ]
        assert answered.get("explanation") == expected.get("explanation"), "rank order, which input order is no part of"


def loaded(code: str) -> set[str]:
    text = python("-c", f"import sys\n{code}\nprint('\\n'.join(sys.modules))").decode()
    return {name.split(".")[0] for name in text.split()}


HEAVY = {"jsonschema", "networkx", "typer", "rich", "ruamel"}


def route_once() -> str:
    provider: dict[str, Any] = {
        "id": "p",
        "region": "r",
        "models": [
            {
                "name": "m",
                "contextWindow": 1,
                "features": [],
                "cost": {"promptUsdPer1kTokens": 0, "completionUsdPer1kTokens": 0},
            }
        ],
    }
    request = {"capability": {"needs": []}, "providers": [provider]}
    return f"whyroute.answer({request!r})"


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import whyroute", {*HEAVY, "pydantic", "constraint"}),
        ("import whyroute\nwhyroute.FEATURES\nwhyroute.InvalidCapabilityError", {*HEAVY, "pydantic", "constraint"}),
        ("import whyroute\nwhyroute.route\nwhyroute.answer\nwhyroute.ProviderRegistry", HEAVY),
        (f"import whyroute\n{route_once()}", HEAVY),
    ],
    ids=["import", "names", "functions", "answer"],
)
def test_what_is_loaded(code: str, absent: set[str]) -> None:
    assert loaded(code) & absent == set()


def test_loaded_module_list_is_not_empty() -> None:
    assert {"whyroute", "pydantic", "constraint"} <= loaded(f"import whyroute\n{route_once()}")


def test_the_public_names() -> None:
    for name in whyroute.__all__:
        assert getattr(whyroute, name) is not None, name
    assert len(set(whyroute.__all__)) == len(whyroute.__all__)
    assert set(whyroute.__all__) <= set(dir(whyroute))
    with pytest.raises(AttributeError, match=r"\brout\b"):
        whyroute.rout  # type: ignore[attr-defined]  # noqa: B018 (no such name, on purpose)


def test_stub_imports_each_name_from_its_module() -> None:
    tree = ast.parse(Path(whyroute.__file__).with_suffix(".pyi").read_text("utf-8"))
    found = set[str]()
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom):
            module = import_module(f"whyroute.{statement.module}")
            for alias in statement.names:
                assert getattr(module, alias.name) is getattr(whyroute, alias.name), alias.name
                found.add(alias.name)
    assert found == set(whyroute.__all__)


def test_the_version_is_written_the_same_twice() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == whyroute.__version__
