"""What `route` and `explain` share: the request that the options describe, and how an explanation is printed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from ..basics.issues import printable
from ..explanations import Explanation, Limits
from ..render import explanation_lines
from ..render.graphs import to_dot, to_graphml, to_mermaid
from ..wire.request import Request, read_request
from .inputs import named_pack, nothing_beside, refused, request_document
from .output import CommandError, print_json_text, print_lines, print_text

__all__ = ["Format", "limits", "print_explanation", "request_asked"]

Format = Annotated[
    Literal["text", "json", "html", "dot", "mermaid", "graphml"],
    typer.Option("--format", "-f", help="How the answer is printed; html is a page that needs nothing else."),
]

_GRAPH_CANDIDATES: Final = 40


def request_asked(
    pack: str | None,
    providers: str | None,
    request: str | None,
    *,
    tenant: str | None,
    capability: str | None,
    labels: list[str],
    at: str | None,
    preferred_provider: str | None,
    preferred_model: str | None,
    format: str,
    output: Path | None,
) -> Request:
    """The request that the options describe: those of a pack, or those of a wire request.

    Raises:
        CommandError: It is unusable.
        typer.Exit: Likewise, and the answer in JSON says so.
    """
    with refused(format, output, options=request is None):
        if request is not None:
            nothing_beside(
                {
                    "PACK": pack,
                    "--tenant": tenant,
                    "--capability": capability,
                    "--label": labels or None,
                    "--at": at,
                    "--prefer-provider": preferred_provider,
                    "--prefer-model": preferred_model,
                }
            )
            return read_request(request_document(request, providers))
        path = named_pack(pack, providers)
        if tenant is None or capability is None:
            missing = [name for name, given in (("--tenant", tenant), ("--capability", capability)) if given is None]
            verb = "is" if len(missing) == 1 else "are"
            raise CommandError(f"{' and '.join(missing)} {verb} missing; a pack is asked for both")
        from .packs import labels_of, opened  # noqa: PLC0415 (a wire request needs no packs)

        resolved = opened(path).resolve(
            tenant,
            _declaration(capability[1:]) if capability.startswith("@") else capability,
            labels=labels_of(labels),
            at=at,
            preferred_provider=preferred_provider,
            preferred_model=preferred_model,
        )
        return resolved.read()


def _declaration(path: str) -> Mapping[str, Any]:
    """The declaration in a file."""
    from ..providers.provider_files import read_document  # noqa: PLC0415 (brings the YAML reader)

    document = read_document(path)
    if not isinstance(document, dict):
        raise CommandError(f"`{printable(path)}`: a capability declaration is an object")
    return document


def limits(*, everything: bool) -> Limits:
    """How much an explanation tells."""
    return Limits(near_misses=None, unknowns=None, ranking=None) if everything else Limits()


def print_explanation(explanation: Explanation, format: str, output: Path | None, *, everything: bool) -> None:
    """Print an explanation in a format."""
    match format:
        case "json":
            print_json_text(explanation.iter_json(), output)
        case "html":
            from ..render.page import explanation_page  # noqa: PLC0415 (few ask for a page)

            print_text(explanation_page(explanation), output)
        case "text":
            print_lines(explanation_lines(explanation, everything=everything), output)
        case _:
            drawn = {"dot": to_dot, "mermaid": to_mermaid, "graphml": to_graphml}[format]
            print_text(drawn(explanation.to_graph(None if everything else _GRAPH_CANDIDATES)), output)
