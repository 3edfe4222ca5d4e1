"""Tenants that can be served nothing."""

from collections.abc import Iterator

from ...basics.issues import shown
from ...constraints.rulebook import Rulebook
from ...constraints.three_valued import EvalContext
from ...solving.request import RequestTerms
from ...solving.situation import Situation
from .findings import Finding, found
from .survey import Group, Survey

__all__ = ["unroutable_tenants"]


def unroutable_tenants(survey: Survey) -> Iterator[Finding]:
    """Tenants for which no candidate is left, whichever capability of the pack is asked for and whatever its labels.

    None is told where the pack has no providers: they are registered while the service runs.
    """
    pack = survey.pack
    if not pack.capabilities or not pack.providers:
        return
    for group in survey.groups:
        for tenant in group.tenants:
            if not any(_left(survey, tenant, name) & group.view for name in pack.capabilities):
                place = pack.tenants[tenant].piece.value("tenantId")
                yield found("unroutable-tenant", place, f"tenant {shown(tenant)} {_why(survey, group)}")


def _why(survey: Survey, group: Group) -> str:
    if not group.view:
        return "sees no provider at all"
    count = len(survey.pack.capabilities)
    what = "the pack's one capability" if count == 1 else f"any of the pack's {count} capabilities"
    return f"has no candidate for {what}; `whyroute explain` with that tenant tells what clashes"


def _left(survey: Survey, tenant: str, name: str) -> int:
    """The candidates that a tenant's policy and those of its rules admit that surely apply to a capability now."""
    pack, capability = survey.pack, survey.pack.capabilities[name].value
    entries = (entry for entry in pack.rulebook(tenant).entries if entry.rule.effect != "prefer")
    surely = Rulebook(tuple(entry for entry in entries if survey.applies(entry.rule.name, name)), (), survey.regions)
    context = EvalContext(survey.regions, capability.call)
    situation = Situation(surely, context, capability.labels, name)
    return RequestTerms(capability, pack.policy(tenant).clauses, situation).solved(survey.catalog, survey.now).survivors
