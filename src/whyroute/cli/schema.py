"""`whyroute schema`: the JSON Schemas of what whyroute reads and answers."""

from typing import Annotated, Literal, get_args

import typer

from .options import Output
from .output import print_json
from .usage import command as command_of

__all__ = ["command"]

_Name = Literal["capability", "request", "answer", "pack", "bundle"]


@command_of("schema", "whyroute schema pack -o pack.schema.json")
def command(
    name: Annotated[_Name, typer.Argument(metavar="NAME", help=f"Which schema: {', '.join(get_args(_Name))}.")],
    output: Output = None,
) -> None:
    """Print a JSON Schema (draft 2020-12), for editors and validators."""
    if name == "pack":
        from ..packs.load.schema import pack_schema  # noqa: PLC0415 (the others need no packs)

        print_json(pack_schema(), output)
    else:
        from ..wire.schemas import schema_named  # noqa: PLC0415 (nor does that of packs need these)

        print_json(schema_named(name), output)
