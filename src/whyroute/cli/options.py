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
    "file_option",
    "path_option",
    "text_option",
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


def text_option(names: str, metavar: str, help: str, **more: Any) -> Any:
    """An option that takes text.

    Args:
        names: Its names, with spaces between them.
        metavar: What its value is called.
        help: What it is for.
        more: What else `typer.Option` takes.
    """
    return typer.Option(*names.split(), metavar=metavar, help=help, callback=as_text, **more)


def file_option(names: str, metavar: str, help: str) -> Any:
    """An option that takes the name of a file, or `-` where it says so."""
    return typer.Option(*names.split(), metavar=metavar, help=help, callback=as_file)


def path_option(names: str, metavar: str, help: str) -> Any:
    """An option that takes a path."""
    return typer.Option(*names.split(), metavar=metavar, help=help, parser=as_path)


_PACK: Any = typer.Argument(
    metavar="PACK", help="A rule pack: a directory of YAML files, or one file.", callback=as_pack
)
Pack = Annotated[str | None, _PACK]
RequiredPack = Annotated[str, _PACK]
Request = Annotated[str | None, file_option("--request -r", "FILE|-", "One wire request as JSON; - is standard input.")]
Providers = Annotated[
    str | None, file_option("--providers", "FILE", "A catalog (YAML or JSON) for a request that has no providers.")
]
Tenant = Annotated[
    str | None, text_option("--tenant -t", "T", "Whose policy holds; goes with PACK.", autocompletion=tenants)
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
    text_option("--label", "KEY=VALUE", "What the request says of itself; may be repeated.", autocompletion=labels),
]
At = Annotated[str | None, text_option("--at", "TIME", "A date, or a date and time with its zone; default: now.")]
PreferProvider = Annotated[
    str | None, text_option("--prefer-provider", "P", "A hint: this provider's candidates come first.")
]
PreferModel = Annotated[
    str | None, text_option("--prefer-model", "M", "A hint: candidates of this model name come first.")
]
Output = Annotated[
    Path | None, path_option("--output -o", "FILE", "Write the answer to a file instead of standard output.")
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
