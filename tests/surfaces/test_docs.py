"""Every command and every example of the README and of docs/ does what the page shows."""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from paths import ROOT
from volatile import settled
from whyroute.cli import main

PAGES = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.name != "guide.md"),  # a test of its own
    ROOT / "catalog" / "README.md",
    ROOT / "rules" / "README.md",
]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def console_runs(page: Path) -> list[tuple[str, str]]:
    """The commands of a page with the output it shows, where it shows any."""
    found: list[tuple[str, str]] = []
    for language, body in FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                if command.startswith("whyroute ") and output:
                    found.append((command, output))
    return found


RUNS = [
    pytest.param(command, output, id=f"{page.name}: {command[:60]}")
    for page in PAGES
    for command, output in console_runs(page)
]


@pytest.mark.parametrize(("command", "output"), RUNS)
def test_a_command_prints_what_the_page_shows(
    command: str, output: str, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    main(shlex.split(command)[1:])
    sys.stdout.flush()
    assert settled(capfdbinary.readouterr().out.decode()) == settled(output)


def test_the_readme_shows_commands() -> None:
    assert len(console_runs(ROOT / "README.md")) >= 3


def test_example_pack_tour_covers_every_tenant() -> None:
    asked = " ".join(command for command, _ in console_runs(ROOT / "rules" / "README.md"))
    for tenant in (ROOT / "rules" / "tenants").glob("*.yaml"):
        assert f"--tenant {tenant.stem} " in asked


@pytest.mark.parametrize("page", ["README.md", "docs/explanations.md", "docs/bundles.md", "docs/library.md"])
def test_page_examples_print_what_they_show(page: str) -> None:
    blocks = FENCE.findall((ROOT / page).read_text(encoding="utf-8"))
    names: dict[str, object] = {}
    printed = io.StringIO()
    shown = ""
    with contextlib.redirect_stdout(printed):
        for language, body in blocks:
            if language == "python":
                exec(compile(body, page, "exec"), names)
            elif language == "text":
                shown += body
    assert printed.getvalue() == shown


@pytest.mark.parametrize("page", ["docs/adapters.md", "docs/library.md"])
def test_the_examples_of_a_page_pass_mypy(page: str, tmp_path: Path) -> None:
    blocks = FENCE.findall((ROOT / page).read_text(encoding="utf-8"))
    example = tmp_path / "example.py"
    example.write_text("\n\n".join(body for language, body in blocks if language == "python"), encoding="utf-8")
    cache = ROOT / ".mypy_cache" / "plain"
    # A process of its own: mypy raises the limit of recursion.
    command = [sys.executable, "-m", "mypy", "--config-file=", "--strict", f"--cache-dir={cache}", str(example)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.stdout == "Success: no issues found in 1 source file\n"


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
