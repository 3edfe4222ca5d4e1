"""The entry point: exit statuses, interrupts, closed pipes and faults, the same for every command."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import typer

from ..basics.issues import printable
from .app import app
from .output import (
    CommandError,
    ReaderGoneError,
    complain,
    complain_about,
    reason_of,
    remark,
    silence,
    standard_output,
)
from .usage import usage_message

__all__ = ["main"]

# typer brings a click of its own or uses the installed one, and exports only some of its exceptions: the one that
# prints itself for wrong usage is the base of those, whichever click it is.
_UsageError: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: The words after the program's name; those of the process when absent.

    Returns:
        The exit status: 0 yes, 1 a negative answer, 2 wrong usage or unusable input, 3 a fault of whyroute's own,
        130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Whatever the locale can't encode is escaped rather than fatal.
            stream.reconfigure(errors="backslashreplace")
    command = typer.main.get_command(app)
    try:
        status = command.main(
            args=None if arguments is None else list(arguments), prog_name="whyroute", standalone_mode=False
        )
        if sys.stdout is not None:
            with standard_output():
                pass
    except CommandError as failure:
        complain_about(failure)
        return failure.status
    except _UsageError as error:
        _complain_of_usage(error)
        return 2
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except ReaderGoneError:
        return 0
    except SystemExit as error:
        # The library exits by itself when it has completed a command line, and when its reader has gone: it is asked
        # for help then, for every answer of ours keeps its own status.
        if isinstance(error.__context__, BrokenPipeError):
            silence(sys.stdout)
            return 0
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None:
            # No file that could not be opened: the library prints help by itself, and could not.
            silence(sys.stdout)
            complain(f"standard output can't be written: {reason_of(error)}")
            return 2
        if os.environ.get("WHYROUTE_TRACEBACK"):
            raise
        complain(
            f"a fault of whyroute's own: {type(error).__name__}: {error}; please report it. "
            "WHYROUTE_TRACEBACK=1 shows where it happened"
        )
        return 3
    return status if isinstance(status, int) else 0


def _complain_of_usage(error: Any) -> None:
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        with suppress(OSError, AttributeError):  # stderr may be full or closed; the exit status tells all the same
            error.show()
        return
    if context is not None:
        for line in context.get_usage().splitlines():
            remark(line)
    complain(printable(usage_message(error)))
    if context is not None:
        remark(f"{context.command_path} --help tells more")
