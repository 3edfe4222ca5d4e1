"""A progress bar on stderr, for those who wait at a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

__all__ = ["Columns", "progress_bar"]

Columns = tuple[Literal["count", "time"], ...]
"""What stands behind a bar: how many are done, the time that is left."""


@contextmanager
def progress_bar(
    text: str,
    *,
    wanted: bool | None = None,
    columns: Columns = (),
    total: int | None = None,
    **fields: Any,
) -> Iterator[Callable[..., None] | None]:
    """Shows a bar while something is done.

    Args:
        text: What stands before the bar; `{task.fields[NAME]}` is one of the fields.
        wanted: Whether it is shown; None: where stderr is a terminal.
        columns: What stands behind it.
        total: How much there is to do; None while that is unknown.
        fields: What the text tells of.

    Yields:
        What moves the bar: it takes `advance`, `completed`, `total` and fields. None where no bar is shown.
    """
    if wanted is False or (wanted is None and not (sys.stderr is not None and sys.stderr.isatty())):
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 (only a terminal needs it)
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    kinds = {"count": MofNCompleteColumn, "time": TimeRemainingColumn}
    shown = (TextColumn(text), BarColumn(), *(kinds[each]() for each in columns))
    with Progress(*shown, console=Console(stderr=True, force_terminal=wanted), transient=True) as bar:
        task = bar.add_task("", total=total, **fields)
        yield lambda **changes: bar.update(task, **changes)
