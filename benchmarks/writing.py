"""The files that are made from results: the tables and plots beside them, and the tables within the documentation."""

import json
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from .report import tables, write_plots
from .suites import SUITES
from .targets import beside_published, others, shares

__all__ = ["PAGE", "RESULTS", "page_with", "results_in", "write_page", "write_report"]

RESULTS: Final = Path(__file__).with_name("results")
PAGE: Final = Path(__file__).parents[1] / "docs" / "benchmarks.md"
_BEGIN: Final = "<!-- what follows is written by `python -m benchmarks --report` -->"
_END: Final = "<!-- to here -->"


def results_in(directory: Path) -> dict[str, dict[str, Any]]:
    """The results that stand in a directory, by suite."""
    return {
        name: json.loads(path.read_text("utf-8")) for name in SUITES if (path := directory / f"{name}.json").is_file()
    }


def _targets(found: dict[str, dict[str, Any]]) -> str:
    parts = [
        f"whyroute's time / the published package's, median, and the target:\n\n{beside_published(found)}",
        f"The other targets:\n\n{others(found)}",
    ]
    if any(
        item.get("processorRatios") for name in ("route", "failed") for item in found.get(name, {}).get("items", ())
    ):
        parts.insert(1, f"The same of processor time:\n\n{beside_published(found, 'processorRatios')}")
    told = shares(found)
    if told:
        parts.append(f"A route beside its floor, and where its time goes:\n\n{told}")
    return "\n\n".join(parts) + "\n"


def write_report(directory: Path, stderr: Console) -> None:
    """Write the tables and plots of the results that stand in a directory."""
    found = results_in(directory)
    parts = ["# Results\n", f"## Targets\n\n{_targets(found)}"]
    for name, result in found.items():
        machine = result["machine"]
        where = f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, load {_load(result)}"
        versions = ", ".join(f"{package} {number}" for package, number in result["versions"].items())
        told = [f"{result['date']}, commit {result['commit']}, {where}{_turns(result)}; {versions}"]
        told += [f"Left out: {peer}, since {why}." for peer, why in result["skipped"].items()]
        told += [f"Left out, since the time was up: {part}." for part in result.get("leftOut", ())]
        told += [
            f"Left out at {item['task']}, {item['candidates']:,}: {system}, since {why}."
            for item in result["items"]
            for system, why in item.get("leftOut", {}).items()
        ]
        parts.append(f"{tables(name, result['items'])}\n" + "\n\n".join(told) + "\n")
    (directory / "README.md").write_text("\n".join(parts), encoding="utf-8")
    try:
        for name, result in found.items():
            write_plots(name, result["items"], directory)
    except ImportError:
        stderr.print("left out: plots, since matplotlib is not installed (extra `bench`)", style="yellow", markup=False)


def _load(result: dict[str, Any]) -> str:
    return _range([part["load"] for part in result.get("parts", {}).values()] or [result["machine"]["load"]])


def _turns(result: dict[str, Any]) -> str:
    turns = [item["turns"] for item in result["items"] if "turns" in item]
    return f", turns of each system {_range(turns)}" if turns else ""


def _range(figures: list[Any]) -> str:
    known = sorted(each for each in figures if each is not None) or ["unknown"]
    return f"{known[0]}" if known[0] == known[-1] else f"{known[0]} to {known[-1]}"


def write_page(directory: Path, page: Path) -> None:
    """Put the tables of targets and shares into a page, between its two marks."""
    page.write_text(page_with(results_in(directory), page.read_text("utf-8")), encoding="utf-8")


def page_with(found: dict[str, dict[str, Any]], text: str) -> str:
    """A page with the tables of results between its two marks."""
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError("the page lacks the marks that the tables go between")
    return f"{before}{begin}\n\n{_targets(found)}\n{end}{after}"
