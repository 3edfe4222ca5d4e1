"""Results as text: tables in markdown, and plots as SVG."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .measuring import OURS

__all__ = ["markdown", "ratio_text", "tables", "time_text", "write_plots"]


def time_text(seconds: float) -> str:
    """A time in the unit that suits it, to three figures."""
    for unit, factor in (("us", 1e6), ("ms", 1e3)):
        if seconds * factor < 999.5:
            return f"{_three(seconds * factor)} {unit}"
    return f"{_three(seconds)} s"


def ratio_text(ratio: float) -> str:
    """A ratio to two significant figures, without an exponent."""
    if ratio >= 10:
        return f"{ratio:.0f}"
    digits = 1
    while ratio * 10**digits < 10 and digits < 7:
        digits += 1
    return f"{ratio:.{digits}f}"


def figure_text(value: float) -> str:
    """A figure to three digits, or all of an integer."""
    return f"{value:,.0f}" if value == int(value) or value >= 999.5 else f"{value:.3g}"


def _three(value: float) -> str:
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


def tables(suite: str, items: Sequence[Mapping[str, Any]]) -> str:
    """The tables of a suite: times, then ratios with their quartiles, then figures that are no times."""
    cases = [item for item in items if "task" in item]
    figures = [item for item in items if "figure" in item]
    parts = []
    for task in dict.fromkeys(case["task"] for case in cases):
        rows = [case for case in cases if case["task"] == task]
        names = list(dict.fromkeys(name for case in rows for name in case["seconds"]))
        # Beside many, the processor's time would make the table too wide.
        owns = names[1:] if len(names) == 2 and any(case.get("processorRatios") for case in rows) else []
        head = ["candidates", *names, *(f"whyroute / {name}" for name in names[1:])]
        head += ["the same of processor time" for _ in owns]
        lines = [
            [
                f"{case['candidates']:,}" if case["candidates"] else "",
                *(_time_cell(case["seconds"].get(name)) for name in names),
                *(_ratio_cell(case["ratios"].get(name)) for name in names[1:]),
                *(_ratio_cell(case.get("processorRatios", {}).get(name)) for name in owns),
            ]
            for case in rows
        ]
        parts.append(f"**{task}**\n\n{markdown(head, lines)}")
    if figures:
        lines = [
            [
                each["figure"],
                f"{each['candidates']:,}" if each["candidates"] else "",
                f"{figure_text(each['value'])} {each['unit']}",
            ]
            for each in figures
        ]
        parts.append(markdown(["figure", "candidates", "value"], lines))
    return f"## {suite}\n\n" + ("\n\n".join(parts) or "Nothing was measured.") + "\n"


def _time_cell(spread: Mapping[str, float] | None) -> str:
    return "" if spread is None else time_text(spread["median"])


def _ratio_cell(spread: Mapping[str, float] | None) -> str:
    if spread is None:
        return ""
    return f"{ratio_text(spread['median'])} ({ratio_text(spread['low'])} to {ratio_text(spread['high'])})"


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table, its cells aligned to the right."""
    widths = [max(len(row[at]) for row in (head, *lines)) for at in range(len(head))]
    rule = [("-" * (width - 1)) + ":" for width in widths]
    rows = [[cell.rjust(width) for cell, width in zip(row, widths, strict=True)] for row in (head, *lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (rows[0], rule, *rows[1:]))


def write_plots(suite: str, items: Sequence[Mapping[str, Any]], directory: Path) -> list[Path]:
    """Plot time against candidates for each task that was measured at several sizes; the files.

    Raises:
        ImportError: matplotlib is missing.
    """
    import matplotlib as mpl  # noqa: PLC0415 (an extra, and takes long to load)
    from matplotlib.figure import Figure  # noqa: PLC0415

    written = []
    cases = [item for item in items if "task" in item]
    for task in dict.fromkeys(case["task"] for case in cases):
        rows = [case for case in cases if case["task"] == task]
        if len({case["candidates"] for case in rows}) < 2:
            continue
        with mpl.rc_context({"svg.hashsalt": "whyroute", "svg.fonttype": "none"}):
            figure = Figure(figsize=(7, 4.5), layout="constrained")
            axes = figure.subplots()
            for name in dict.fromkeys(name for case in rows for name in case["seconds"]):
                points = [(case["candidates"], case["seconds"][name]) for case in rows if name in case["seconds"]]
                sizes = [size for size, _ in points]
                axes.plot(
                    sizes,
                    [spread["median"] for _, spread in points],
                    marker="o",
                    linewidth=2.5 if name == OURS else 1.5,
                    label=name,
                )
                axes.fill_between(
                    sizes, [each["low"] for _, each in points], [each["high"] for _, each in points], alpha=0.2
                )
            axes.set(xscale="log", yscale="log", xlabel="candidates", ylabel="seconds an operation", title=task)
            axes.grid(visible=True, which="major", alpha=0.3)
            axes.legend()
            path = directory / f"{suite}-{_slug(task)}.svg"
            figure.savefig(path, metadata={"Date": None})
            written.append(path)
    return written


def _slug(text: str) -> str:
    return "-".join("".join(character if character.isalnum() else " " for character in text.lower()).split())
