"""`whyroute bundle`: several capabilities routed together."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import typer

from ..basics.issues import did_you_mean, quoted, shown
from ..bundles.bundle import Bundle, outcome_of
from ..bundles.explanation import BundleExplanation
from ..errors import BundleUnsatisfiableError, WhyrouteError
from ..providers.provider_files import read_document
from ..render.bundles import bundle_explanation_lines
from ..solving.joint import SearchLimit
from ..wire.bundles import BundleRequest
from ..wire.request import read_bundle_request
from .candidates import candidate_named
from .inputs import named_pack, nothing_beside, refused, request_document
from .options import At, Label, Output, Pack, Providers, Request, Tenant, as_file, text_option
from .output import CommandError, print_json, print_lines, print_text, settled
from .packs import labels_of, opened
from .usage import command as command_of

__all__ = ["command"]


@command_of("bundle", "whyroute bundle rules bundle.yaml --tenant elbe-clinics")
def command(
    pack: Pack = None,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="A bundle (YAML or JSON): slots, what ties them, and maybe a tenant.",
            callback=as_file,
        ),
    ] = None,
    tenant: Tenant = None,
    name: Annotated[str | None, text_option("--name -n", "NAME", "A bundle of the pack, instead of FILE.")] = None,
    label: Label = None,
    at: At = None,
    request: Request = None,
    providers: Providers = None,
    why_not: Annotated[
        list[str] | None, text_option("--why-not", "SLOT=PROVIDER/MODEL", "A candidate to compare; may be repeated.")
    ] = None,
    nodes: Annotated[
        int, typer.Option("--nodes", metavar="N", help="How many nodes of its tree the search may visit.")
    ] = 100_000,
    format: Annotated[
        Literal["text", "json", "html"],
        typer.Option("--format", "-f", help="How it is printed; html is a page that needs nothing else."),
    ] = "text",
    everything: Annotated[bool, typer.Option("--all", help="All clashes and ways out, however many.")] = False,
    output: Output = None,
) -> None:
    """Route several capabilities together: one pick for each slot, and what ties them holds.

    Exit status 0 when there is a bundle, 1 when there is none, 2 when the request is unusable.
    """
    with refused(format, output, options=request is None):
        if request is None:
            asked = _of_pack(named_pack(pack, providers), file, tenant, name, label or [], at)
        else:
            given = {"PACK": pack, "--tenant": tenant, "--name": name, "--label": label or None, "--at": at}
            nothing_beside(given)
            asked = read_bundle_request(request_document(request, providers))
    try:
        limit = SearchLimit(nodes=nodes)
    except WhyrouteError as error:
        raise CommandError(error) from None
    if why_not:
        asked.why_not = {**(asked.why_not or {}), **_pairs(asked, why_not)}
    solved = asked.solve(limit)
    outcome = outcome_of(solved)
    if format == "json":
        answer = asked.answered(solved, outcome)
        if why_not and not isinstance(outcome, WhyrouteError):
            answer["explanation"] = BundleExplanation(solved, asked.why_not).to_dict()
        with settled(0 if "decision" in answer else 1):
            print_json(answer, output)
    if isinstance(outcome, WhyrouteError) and not isinstance(outcome, BundleUnsatisfiableError):
        raise CommandError(outcome, 1)
    explanation = BundleExplanation(solved, asked.why_not)
    with settled(0 if isinstance(outcome, Bundle) else 1):
        if format == "html":
            from ..render.page import bundle_page  # noqa: PLC0415

            print_text(bundle_page(explanation), output)
        else:
            print_lines(list(bundle_explanation_lines(explanation, everything=everything)), output)


def _of_pack(
    pack: str, file: str | None, tenant: str | None, name: str | None, labels: Sequence[str], at: str | None
) -> BundleRequest:
    """The request that the options describe, under a pack."""
    if (file is None) == (name is None):
        raise CommandError("name one bundle: FILE, or --name for one of the pack")
    asked: str | Mapping[str, Any] = name or ""
    if file is not None:
        asked, tenant = _document(file, tenant)
    if tenant is None:
        raise CommandError("--tenant is missing: whose policy holds?")
    return opened(pack).resolve_bundle(tenant, asked, labels=labels_of(labels), at=at).read()


def _document(file: str, tenant: str | None) -> tuple[Mapping[str, Any], str | None]:
    """The bundle in a file, and the tenant; the file may name one."""
    document = read_document(file)
    if not isinstance(document, dict):
        raise CommandError(f"{file}: a bundle is an object with `slots` and `together`")
    own = document.get("tenant")
    if own is not None and not isinstance(own, str):
        raise CommandError(f"{file}: `tenant` is the name of a tenant")
    if own is not None and tenant is not None and own != tenant:
        raise CommandError(f"{file} is a bundle of tenant {shown(own)}; --tenant says {shown(tenant)}")
    return {key: value for key, value in document.items() if key != "tenant"}, tenant or own


def _pairs(asked: BundleRequest, texts: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The candidates that texts such as `judge=openai/gpt-4o` name."""
    known = [slot.name for slot in asked.slots]
    found: dict[str, tuple[str, str]] = {}
    for text in texts:
        slot, equals, rest = text.partition("=")
        if not equals or slot not in known:
            near = did_you_mean(slot, known) if equals else ""
            hint = near or f"; the slots are {quoted(known)}"
            raise CommandError(f"{shown(text)} names no candidate of a slot; write SLOT=PROVIDER/MODEL{hint}")
        pair = candidate_named(asked.catalog, rest, None, None)
        assert pair is not None  # a text was given
        found[slot] = pair
    return found
