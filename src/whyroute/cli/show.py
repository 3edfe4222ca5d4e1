"""`whyroute show`: the policy in force for a tenant."""

from typing import Annotated

from ..errors import WhyrouteError
from ..render.packs import policy_document, policy_lines
from .completion import tenants
from .inputs import time_of
from .options import At, Output, RequiredPack, TextOrJson, text_option
from .output import CommandError, print_json, print_lines
from .packs import opened
from .usage import command as command_of

__all__ = ["command"]


@command_of("show", "whyroute show rules --tenant elbe-clinics")
def command(
    pack: RequiredPack,
    tenant: Annotated[str, text_option("--tenant -t", "T", "Whose policy is shown.", autocompletion=tenants)],
    at: At = None,
    format: TextOrJson = "text",
    output: Output = None,
) -> None:
    """Show the policy in force for a tenant: clauses, rules, dates and waivers, each with where it comes from.

    Rules and waivers that are not in force at the time are shown too, and marked.
    """
    moment = time_of(at)
    try:
        policy = opened(pack).policy(tenant)
    except WhyrouteError as error:
        raise CommandError(error) from None
    if format == "json":
        print_json(policy_document(policy, moment), output)
    else:
        print_lines(policy_lines(policy, moment), output)
