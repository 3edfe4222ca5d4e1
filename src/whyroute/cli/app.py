"""The commands by name. The module of a command is loaded when it is called, and not for the list of them."""

from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from .. import __version__
from .output import print_text

__all__ = ["COMMANDS", "app", "loaded"]

COMMANDS: Final = {
    "route": ("route", "Route one request: the pick, or why there is none."),
    "explain": ("explain", "Explain one request: why, why not, what to change."),
    "show": ("show", "Show the policy in force for a tenant."),
    "fmt": ("fmt", "Lay out the files of a pack in one way."),
    "test": ("testing", "Run the tests of a rule pack."),
    "check": ("check", "Look for what is wrong in a rule pack, or likely is."),
    "diff": ("diff", "Compare what two rule packs answer."),
    "batch": ("batch", "Answer one wire request per line."),
    "bundle": ("bundle", "Route several capabilities together."),
    "schema": ("schema", "Print a JSON Schema."),
    "import": ("importing", "Turn a published catalog into providers."),
    "serve": ("serve", "Serve capabilities, providers and routing over HTTP."),
    "token": ("token", "Make or revoke a token of the service."),
}
"""The commands, each with the module that has it as `command`, and what the list says of it."""


def loaded(name: str) -> typer.Typer:
    """A command, from its module."""
    found: typer.Typer = import_module(f".{COMMANDS[name][0]}", __package__).command
    return found


class _Commands(TyperGroup):
    """Commands that stand in for those that are called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the words call, itself."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, found if name is None else typer.main.get_command(loaded(name)), rest


app = typer.Typer(
    name="whyroute",
    cls=_Commands,
    help="Pick the (provider, model) pair that serves a capability under a tenant's policy, and say why.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print_text(f"whyroute {__version__}\n")
        raise typer.Exit


@app.callback()
def whyroute(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Pick the (provider, model) pair that serves a capability under a tenant's policy, and say why."""


def _listed() -> None:
    """A command of the list, which is never called."""


for _name, (_, _says) in COMMANDS.items():
    app.command(_name, short_help=_says)(_listed)
