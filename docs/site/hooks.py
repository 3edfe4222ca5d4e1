"""Make the pages of the site that no file in `docs/` holds.

The first page is the README. Files outside `docs/` that a page links to stand below `project/`, under their own paths.
The API reference has a page for each group of packages, with every name that `whyroute` exports.
"""

import ast
import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(?=[)#])")
_REFERENCE = {
    "routing": ("Routing", ["routing", "wire", "solving", "catalog", "constraints", "engine"]),
    "declarations": ("Capabilities, policies and calls", ["model"]),
    "bundles": ("Bundles", ["bundles"]),
    "explanations": ("Explanations", ["explanations", "render"]),
    "packs": ("Rule packs", ["packs"]),
    "providers": ("Providers", ["providers", "calling"]),
    "errors": ("Errors", ["errors", "basics"]),
}
"""The pages of the API reference: each one's title, and the packages whose public names it has, in order."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the README, the API reference, and what pages link to outside `docs/`."""
    root = Path(config.config_file_path).parent
    files.append(File.generated(config, "index.md", abs_src_path=str(root / "README.md")))
    for name, text in reference_pages(root).items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    waiting = [file for file in files if file.is_documentation_page()]
    while waiting:
        page = waiting.pop()
        for link in _LINK.findall(page.content_string):
            place = _place(page.src_uri, link)
            if (root / place).is_file() and files.get_file_from_path(_uri(place)) is None:
                added = File.generated(config, _uri(place), abs_src_path=str(root / place))
                files.append(added)
                if added.is_documentation_page():
                    waiting.append(added)
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links at the place that a file has in the site."""
    root = Path(config.config_file_path).parent
    source = page.file.src_uri

    def moved(match: re.Match[str]) -> str:
        place = _place(source, match[1])
        target = _uri(posixpath.join(place, "README.md") if (root / place).is_dir() else place)
        if files.get_file_from_path(target) is None:
            return match[1]
        return posixpath.relpath(target, posixpath.dirname(source) or ".")

    return _LINK.sub(moved, markdown)


def reference_pages(root: Path) -> dict[str, str]:
    """The API reference: Markdown by the page's name.

    Raises:
        KeyError: A public name comes from a package that no page has.
    """
    names: dict[str, list[str]] = {package: [] for _, packages in _REFERENCE.values() for package in packages}
    tree = ast.parse((root / "src/whyroute/__init__.pyi").read_text("utf-8"))
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module is not None:
            names[statement.module.partition(".")[0]] += [alias.name for alias in statement.names]
    return {
        page: f"# {title}\n\n" + "\n".join(f"::: whyroute.{each}\n" for package in packages for each in names[package])
        for page, (title, packages) in _REFERENCE.items()
    }


def _place(source: str, link: str) -> str:
    """Where in the project the link of a page of the site leads, from the project's root."""
    if source == "index.md":
        folder = ""
    elif source.startswith("project/"):
        folder = posixpath.dirname(source.removeprefix("project/"))
    else:
        folder = posixpath.join("docs", posixpath.dirname(source))
    return posixpath.normpath(posixpath.join(folder, link))


def _uri(place: str) -> str:
    """Where the site has a file of the project."""
    if place == "README.md":
        return "index.md"
    return place.removeprefix("docs/") if place.startswith("docs/") else f"project/{place}"
