"""`whyroute route`: the pick, or why there is none."""

from ..explanations import Explanation
from ..render import decision_lines
from ..routing.decision import Decision, outcome_of
from .asking import Format, limits, print_explanation, request_asked
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
)
from .output import print_json_text, print_lines, settled
from .usage import command as command_of

__all__ = ["command"]


@command_of(
    "route",
    "whyroute route rules --tenant elbe-clinics --capability summarise",
    "whyroute route --request request.json --format json",
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
    format: Format = "text",
    everything: All = False,
    output: Output = None,
    engine: Engine = "bitset",
) -> None:
    """Route one request, under a rule pack or as a wire request: the pick, why, and the alternates.

    Exit status 0 when a candidate qualifies, 1 when none does, 2 when the request is unusable.
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
    if format == "json":
        qualifies, pieces = asked.answer_json(engine)
        with settled(0 if qualifies else 1):
            print_json_text(pieces, output)
    solved = asked.solve(engine)
    outcome = outcome_of(solved)
    with settled(0 if isinstance(outcome, Decision) else 1):
        if format == "text" and isinstance(outcome, Decision):
            print_lines(decision_lines(outcome), output)
        else:
            explanation = Explanation(solved, limits=limits(everything=everything))
            print_explanation(explanation, format, output, everything=everything)
