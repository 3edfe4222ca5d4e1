"""The body of `whyroute bundle`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from ..basics.issues import shown
from ..bundles.bundle import Bundle, outcome_of
from ..bundles.explanation import BundleExplanation
from ..errors import BundleUnsatisfiableError, WhyrouteError
from ..providers.provider_files import read_document
from ..render.bundles import bundle_lines, contrast_lines, failed_bundle_lines
from ..solving.joint import JointSolved, SearchLimit
from ..wire.bundles import BundleRequest
from ..wire.request import read_bundle_request
from .candidates import candidate_named
from .inputs import request_document
from .output import CommandError, print_json, print_lines, print_text, settled
from .packs import labels_of, opened

__all__ = ["request_for_bundle", "run_bundle"]


def request_for_bundle(
    pack: str | None,
    file: str | None,
    *,
    tenant: str | None,
    name: str | None,
    labels: Sequence[str],
    at: str | None,
    request: str | None,
    providers: str | None,
) -> BundleRequest:
    """The request that the options describe.

    Raises:
        CommandError: An option is missing or unusable, or a file can't be read.
        WhyrouteError: The request is broken, or the pack doesn't know what it names.
    """
    if request is not None:
        given = {
            "PACK": pack,
            "--tenant": tenant,
            "--name": name,
            "--label": labels or None,
            "--at": at,
        }
        beside = [option for option, value in given.items() if value is not None]
        if beside:
            raise CommandError(f"{', '.join(beside)} beside --request: the request says it all itself")
        return read_bundle_request(request_document(request, providers))
    if pack is None:
        raise CommandError("PACK or --request is missing: what is to be routed?")
    if providers is not None:
        raise CommandError("--providers goes with --request; a pack has its own providers")
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


def run_bundle(
    asked: BundleRequest,
    *,
    why_not: Sequence[str],
    format: Literal["text", "json", "html"],
    everything: bool,
    nodes: int,
    output: Path | None,
) -> None:
    """Route it, and print the answer.

    Raises:
        CommandError: A candidate that is asked about can't be told, or the search ended before it found a bundle.
        typer.Exit: Otherwise, with the status.
    """
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
    if format == "html":
        from ..render.page import bundle_page  # noqa: PLC0415

        explanation = BundleExplanation(solved, asked.why_not)
        with settled(0 if isinstance(outcome, Bundle) else 1):
            print_text(bundle_page(explanation), output)
    _print_text(asked, solved, outcome, output, everything=everything)


def _print_text(
    asked: BundleRequest,
    solved: JointSolved,
    outcome: Bundle | BundleUnsatisfiableError,
    output: Path | None,
    *,
    everything: bool,
) -> None:
    explanation = BundleExplanation(solved, asked.why_not)
    lines = list(contrast_lines(explanation))
    if isinstance(outcome, Bundle):
        lines += bundle_lines(outcome)
    else:
        lines += failed_bundle_lines(explanation, everything=everything)
    with settled(0 if isinstance(outcome, Bundle) else 1):
        print_lines(lines, output)


def _pairs(asked: BundleRequest, texts: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The candidates that texts such as `judge=openai/gpt-4o` name."""
    known = [slot.name for slot in asked.slots]
    found: dict[str, tuple[str, str]] = {}
    for text in texts:
        slot, equals, rest = text.partition("=")
        if not equals or slot not in known:
            raise CommandError(f"{shown(text)} names no candidate; write SLOT=PROVIDER/MODEL, SLOT one of {known}")
        pair = candidate_named(asked.catalog, rest, None, None)
        assert pair is not None  # a text was given
        found[slot] = pair
    return found
