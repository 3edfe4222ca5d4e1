"""Options and arguments that several commands have, and what their texts have to be."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..basics.issues import shown
from ..documents.json_text import is_unicode
from .completion import capabilities, labels, tenants

__all__ = [
    "All",
    "At",
    "CapabilityName",
    "Engine",
    "Label",
    "Output",
    "Pack",
    "PreferModel",
    "PreferProvider",
    "Progress",
    "Providers",
    "Request",
    "RequiredPack",
    "Tenant",
    "TextOrJson",
    "as_file",
    "as_pack",
    "as_path",
    "as_text",
]


def as_text(value: Any) -> Any:
    """Refuse what is no text; names of files may be any bytes."""
    for text in (value,) if isinstance(value, str) else value or ():
        if not text.isascii() and not is_unicode(text):
            raise typer.BadParameter(f"{shown(text)} is not valid UTF-8")
    return value


def _text_or_file(value: Any) -> Any:
    if value is None or not value.startswith("@"):
        return as_text(value)
    as_file(value[1:])
    return value


def as_file(value: Any) -> Any:
    """Refuse an empty name of a file; to the system's own functions it is the current directory."""
    if value == "":
        raise typer.BadParameter("an empty path; name a file")
    return value


def as_pack(value: Any) -> Any:
    """Likewise, of a pack."""
    if value == "":
        raise typer.BadParameter("an empty path; name a rule pack: `.` is the current directory")
    return value


def as_path(text: str) -> Path:
    """The path that a text is."""
    return Path(as_file(text))


_PACK: Any = typer.Argument(
    metavar="PACK", help="A rule pack: a directory of YAML files, or one file.", callback=as_pack
)
Pack = Annotated[str | None, _PACK]
RequiredPack = Annotated[str, _PACK]
Request = Annotated[
    str | None,
    typer.Option(
        "--request", "-r", metavar="FILE|-", help="One wire request as JSON; - is standard input.", callback=as_file
    ),
]
Providers = Annotated[
    str | None,
    typer.Option(
        "--providers",
        metavar="FILE",
        help="A catalog (YAML or JSON) for a request that has no providers.",
        callback=as_file,
    ),
]
Tenant = Annotated[
    str | None,
    typer.Option(
        "--tenant",
        "-t",
        metavar="T",
        help="Whose policy holds; goes with PACK.",
        callback=as_text,
        autocompletion=tenants,
    ),
]
CapabilityName = Annotated[
    str | None,
    typer.Option(
        "--capability",
        "-c",
        metavar="NAME|@FILE",
        help="A capability of the pack, or a file with a declaration; goes with PACK.",
        callback=_text_or_file,
        autocompletion=capabilities,
    ),
]
Label = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="KEY=VALUE",
        help="What the request says of itself; may be repeated.",
        callback=as_text,
        autocompletion=labels,
    ),
]
At = Annotated[
    str | None,
    typer.Option(
        "--at", metavar="TIME", help="A date, or a date and time with its zone; default: now.", callback=as_text
    ),
]
PreferProvider = Annotated[
    str | None,
    typer.Option(
        "--prefer-provider", metavar="P", help="A hint: this provider's candidates come first.", callback=as_text
    ),
]
PreferModel = Annotated[
    str | None,
    typer.Option(
        "--prefer-model", metavar="M", help="A hint: candidates of this model name come first.", callback=as_text
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write the answer to a file instead of standard output.", parser=as_path
    ),
]
All = Annotated[
    bool,
    typer.Option("--all", help="Everything, however long; otherwise text is 25 lines, and a graph has 40 candidates."),
]
Engine = Annotated[
    Literal["bitset", "plain"],
    typer.Option("--engine", help="bitset, or plain: the solver library's own search, slower by far."),
]
Progress = Annotated[
    bool | None,
    typer.Option("--progress/--no-progress", help="A progress bar on stderr; by default when it is a terminal."),
]
TextOrJson = Annotated[Literal["text", "json"], typer.Option("--format", "-f", help="How it is printed.")]
