"""Printing: answers on stdout, everything else on stderr; colour only for people who see it."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import WhyrouteError

if TYPE_CHECKING:
    from ..render.lines import Line
    from ..rulepack import PackError

__all__ = ["CommandError", "complain", "complain_about", "print_json", "print_lines"]


class CommandError(Exception):
    """The command can't be carried out.

    Attributes:
        error: What is wrong: an error of the library, or a sentence.
        status: The exit status.
    """

    def __init__(self, error: WhyrouteError | str, status: int = 2) -> None:
        self.error = error
        self.status = status
        super().__init__(str(error))


def complain_about(failure: CommandError) -> None:
    """Say on stderr what is wrong, all of it."""
    if isinstance(failure.error, str):
        complain(failure.error)
    elif failure.error.code == "invalid-pack":
        from ..render.packs import pack_error_lines  # noqa: PLC0415 (only packs need it)

        # Its code tells it; loading its type would bring all of the packs along with every other error.
        _print(pack_error_lines(cast("PackError", failure.error)), stderr=True)
    else:
        from ..render.text import error_lines  # noqa: PLC0415 (only when something is wrong)

        _print(error_lines(failure.error), stderr=True)


def complain(sentence: str) -> None:
    """Say one sentence on stderr."""
    _print([(("error: ", "bold red"), (sentence, ""))], stderr=True)


def print_lines(lines: Iterable["Line"], output: Path | None = None) -> None:
    """Print text on stdout, or write it to a file without colour."""
    if output is None:
        _print(lines, stderr=False)
    else:
        write_file(output, "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines))


def print_json(value: Any, output: Path | None = None) -> None:
    """Print JSON in UTF-8 on stdout, or write it to a file."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    print_text(text, output)


def print_text(text: str, output: Path | None = None) -> None:
    """Print text in UTF-8 as it is on stdout, or write it to a file."""
    if output is None:
        sys.stdout.buffer.write(text.encode("utf-8"))
        sys.stdout.buffer.flush()
    else:
        write_file(output, text)


def write_file(path: Path, text: str) -> None:
    """Write a file in UTF-8.

    Raises:
        CommandError: It can't be written.
    """
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise CommandError(f"`{path}` can't be written: {reason_of(error)}") from None


def reason_of(error: OSError) -> str:
    """The system's reason, in our style."""
    reason = error.strerror or type(error).__name__
    return reason[:1].lower() + reason[1:]


def _print(lines: Iterable["Line"], *, stderr: bool) -> None:
    from rich.console import Console  # noqa: PLC0415 (only when something is shown)
    from rich.text import Text  # noqa: PLC0415

    console = Console(stderr=stderr, soft_wrap=True, highlight=False)
    for line in lines:
        shown = Text()
        for text, style in line:
            shown.append(text, style or None)
        shown.rstrip()
        console.print(shown)
