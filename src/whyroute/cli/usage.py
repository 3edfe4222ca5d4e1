"""How commands are made, with help that names no types of Python's; wrong usage, told as all that is wrong is."""

import re
from collections.abc import Callable, Iterable
from typing import Any

import typer
from typer.core import TyperCommand

from ..basics.issues import did_you_mean, shown

__all__ = ["command", "usage_message"]


class _Command(TyperCommand):
    """A command whose help calls arguments what its usage line calls them."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options."""
        arguments: list[tuple[str, str]] = []
        options: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and parameter.param_type_name == "argument":
                arguments.append((record[0].partition(" <")[0].strip("[]"), record[1]))
            elif record is not None:
                options.append(record)
        for title, records in (("Arguments", arguments), ("Options", options)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def command(name: str, *examples: str) -> Callable[[Callable[..., None]], typer.Typer]:
    """Make a command of a function, which ends with `typer.Exit` where the exit status isn't 0.

    Args:
        name: Its name.
        examples: How it is called: the last part of its help.
    """
    title = f"Example{'' if len(examples) == 1 else 's'}:"
    epilog = "\n".join(("\b", title, *(f"  {line}" for line in examples)))

    def made(function: Callable[..., None]) -> typer.Typer:
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name, cls=_Command, epilog=epilog)(function)
        return alone

    return made


_CHOICE = re.compile(r"(?:Value error, )?'(.*?)' is not one of (.*?)\.?", re.DOTALL)
_COMMAND = re.compile(r"No such command '(.*?)'\..*|No such command '(.*)'", re.DOTALL)
_EXTRA = re.compile(r"Got unexpected extra argument(?:s|\(s\))? \((.*)\)\.?", re.DOTALL)
_VALUELESS = re.compile(r"Option '(.*)' requires an argument\.?", re.DOTALL)
_INSTEAD = {
    "help": "; `whyroute --help` lists the commands, and `whyroute COMMAND --help` tells of one",
    "version": "; `whyroute --version` prints it",
}


def usage_message(error: Any) -> str:
    """What is wrong with a command line, in our words.

    Args:
        error: The library's exception, whichever version of it is installed.
    """
    message = str(error.message or "")
    context = error.ctx
    option = getattr(error, "option_name", None)
    parameter = getattr(error, "param", None)
    if type(error).__name__ == "NoSuchOption" and option:
        known = [name for each in context.command.get_params(context) for name in each.opts]
        return f"there is no option {shown(option)}{did_you_mean(option, known)}"
    if type(error).__name__ == "MissingParameter" and parameter is not None:
        return f"{_called(parameter)} is missing"
    if parameter is not None:
        return f"{_called(parameter)}: {_value(message)}"
    if (match := _COMMAND.fullmatch(message)) is not None:
        known = [] if context is None else context.command.list_commands(context)
        name = match[1] or match[2]
        return f"there is no command {shown(name)}{_INSTEAD.get(name) or did_you_mean(name, known)}"
    if (match := _EXTRA.fullmatch(message)) is not None:
        return f"{shown(match[1])} is one argument too many"
    if (match := _VALUELESS.fullmatch(message)) is not None:
        return f"{match[1]} is given without a value"
    return _plain(message)


def _called(parameter: Any) -> str:
    """What people call an option or an argument: `--format`, `PACK`."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper()).strip("[]{}")
    return str(max(parameter.opts, key=len))


def _value(message: str) -> str:
    match = _CHOICE.fullmatch(message)
    if match is None:
        return _plain(message.removeprefix("Value error, "))
    choices = re.findall(r"'([^']*)'", match[2])
    return f"{shown(match[1])} is not one of {_listed(choices)}{did_you_mean(match[1], choices)}"


def _listed(choices: Iterable[str]) -> str:
    return ", ".join(map(shown, choices))


def _plain(message: str) -> str:
    return (message[:1].lower() + message[1:]).removesuffix(".")
