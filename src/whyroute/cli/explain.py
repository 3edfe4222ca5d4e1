"""`whyroute explain`: why, why not, and what would have to change."""

from typing import Annotated

import typer

from ..explanations import Explanation
from .asking import Format, limits, print_explanation, request_asked
from .candidates import candidate_named
from .options import (
    All,
    At,
    CapabilityName,
    Engine,
    Label,
    Output,
    Pack,
    PreferModel,
    PreferProvider,
    Providers,
    Request,
    Tenant,
    text_option,
)
from .output import settled
from .usage import command as command_of

__all__ = ["command"]


@command_of(
    "explain",
    "whyroute explain rules --tenant elbe-clinics --capability summarise",
    "whyroute explain rules -t elbe-clinics -c summarise --why-not PROVIDER/MODEL",
)
def command(
    pack: Pack = None,
    tenant: Tenant = None,
    capability: CapabilityName = None,
    label: Label = None,
    at: At = None,
    prefer_provider: PreferProvider = None,
    prefer_model: PreferModel = None,
    request: Request = None,
    providers: Providers = None,
    why_not: Annotated[
        str | None, text_option("--why-not", "PROVIDER/MODEL", "A candidate to compare with the pick.")
    ] = None,
    why_not_provider: Annotated[
        str | None, text_option("--why-not-provider", "P", "Its provider, where PROVIDER/MODEL is ambiguous.")
    ] = None,
    why_not_model: Annotated[
        str | None, text_option("--why-not-model", "M", "Its model; goes with --why-not-provider.")
    ] = None,
    format: Format = "text",
    everything: All = False,
    output: Output = None,
    engine: Engine = "bitset",
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 when nothing qualifies.")] = False,
) -> None:
    """Explain one request: what clashes, who is nearest, what would have to change and whose move that is.

    Exit status 0, whatever the answer is; 2 when the request is unusable.
    """
    asked = request_asked(
        pack,
        providers,
        request,
        tenant=tenant,
        capability=capability,
        labels=label or [],
        at=at,
        preferred_provider=prefer_provider,
        preferred_model=prefer_model,
        format=format,
        output=output,
    )
    pair = candidate_named(asked.catalog, why_not, why_not_provider, why_not_model) or asked.why_not
    explanation = Explanation(asked.solve(engine), pair, limits(everything=everything))
    with settled(1 if exit_code and not explanation.satisfiable else 0):
        print_explanation(explanation, format, output, everything=everything)
