"""The site of the documentation: every page and every public name is in it, and every link leads somewhere."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import whyroute as wr

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, made anew; a warning of mkdocs (a broken link, a page without a place) fails."""
    pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
    made = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(made)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return made


def test_reference_has_every_public_name_once(site: Path) -> None:
    pages = [path.read_text("utf-8") for path in (site / "reference").glob("*.html")]
    found = Counter(name for page in pages for name in re.findall(r'<h3 id="whyroute\.(\w+)"', page))
    assert found == dict.fromkeys(wr.__all__, 1)


def test_every_docs_page_is_in_the_site(site: Path) -> None:
    docs = ROOT / "docs"
    pages = [path.relative_to(docs) for path in docs.rglob("*.md") if "examples" not in path.parts]
    made = [page.with_name("index.html" if page.name == "README.md" else f"{page.stem}.html") for page in pages]
    assert made
    assert [page for page in made if not (site / page).exists()] == []


def test_links_out_of_docs_stay_in_site(site: Path) -> None:
    guide = (site / "guide.html").read_text("utf-8")
    assert 'href="project/rules/index.html"' in guide
    assert (site / "project/rules/index.html").exists()


def test_no_page_asks_another_host_for_anything(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert not re.findall(r'(?:src|rel="stylesheet" href)="https?://', page.read_text("utf-8")), page
