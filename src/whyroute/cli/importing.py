"""`whyroute import`: a published catalog turned into providers."""

from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from ..errors import WhyrouteError
from ..providers.importers import import_catalog, skipped_lines, to_json, to_yaml
from .options import Output, as_path, path_option
from .output import CommandError, complain, print_text, remark
from .usage import command as command_of

__all__ = ["command"]

_Source = Literal["models-dev", "litellm", "openrouter"]


@command_of(
    "import",
    "whyroute import models-dev -o rules/catalog.yaml",
    "whyroute import litellm prices.json --overlay overlay.yaml",
)
def command(
    source: Annotated[
        _Source, typer.Argument(metavar="SOURCE", help=f"Whose catalog it is: {', '.join(get_args(_Source))}.")
    ],
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="The published catalog; models-dev: that of the installed package when absent.",
            parser=as_path,
        ),
    ] = None,
    overlay: Annotated[
        Path | None, path_option("--overlay", "FILE", "Regions, attributes and latencies to fill in.")
    ] = None,
    format: Annotated[
        Literal["yaml", "json"], typer.Option("--format", "-f", help="How the providers are written.")
    ] = "yaml",
    output: Output = None,
) -> None:
    """Turn a published catalog into a `providers:` section.

    What can't be used is left out and counted on stderr: no price is ever guessed.
    """
    try:
        result = import_catalog(source, file, overlay)
    except WhyrouteError as error:
        raise CommandError(error) from None
    print_text(
        to_yaml(result.providers, header=result.header) if format == "yaml" else to_json(result.providers), output
    )
    models = sum(len(provider["models"]) for provider in result.providers)
    remark(f"{len(result.providers)} providers, {models} models")
    for line in skipped_lines(result.skipped):
        remark(line)
    if not result.providers:
        complain("nothing of this catalog can be used")
        raise typer.Exit(2)
