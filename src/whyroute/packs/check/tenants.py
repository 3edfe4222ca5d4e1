"""Tenants that can be served nothing."""

from collections.abc import Iterator

from ...basics.issues import shown
from ...constraints.named import compile_constraints
from ...model.capability import Capability
from ...model.policy import TenantPolicy
from ...model.timestamps import is_within
from .findings import Finding, found
from .survey import Group, Survey

__all__ = ["unroutable_tenants"]


def unroutable_tenants(survey: Survey) -> Iterator[Finding]:
    """Tenants for whom no candidate is left, whichever capability of the pack is asked for and whatever its labels.

    None is told where the pack has no providers: they are registered while the service runs.
    """
    if not survey.pack.capabilities or not survey.pack.providers:
        return
    asked = {name: _admitted(survey, each.value, None) for name, each in survey.pack.capabilities.items()}
    waived = {waiver.value.tenant for waiver in survey.pack.waivers.values()}
    for group in survey.groups:
        left_by_rules: dict[str, int] = {}
        for tenant in group.tenants:
            known = {} if tenant in waived else left_by_rules
            clauses = _admitted(survey, None, survey.pack.policy(tenant).clauses)
            if not any(
                _left(survey, group, tenant, name, known) & members & clauses for name, members in asked.items()
            ):
                place = survey.pack.tenants[tenant].piece.value("tenantId")
                yield found("unroutable-tenant", place, f"tenant {shown(tenant)} {_why(survey, group)}")


def _why(survey: Survey, group: Group) -> str:
    if not group.view:
        return "sees no provider at all"
    count = len(survey.pack.capabilities)
    what = "the pack's one capability" if count == 1 else f"any of the pack's {count} capabilities"
    return f"has no candidate for {what}; `whyroute explain` with that tenant tells what clashes"


_NOTHING = Capability(needs=())


def _admitted(survey: Survey, capability: Capability | None, policy: TenantPolicy | None) -> int:
    """The candidates that a capability's needs admit, or a policy's clauses."""
    constraints = compile_constraints(capability or _NOTHING, policy, survey.catalog, regions=survey.regions)
    members = survey.catalog.all()
    for number, admitted in enumerate(constraints.admitted):
        if number or capability is not None:  # the first is the kind, of which clauses say nothing
            members &= admitted
    return members


def _left(survey: Survey, group: Group, tenant: str, capability: str, known: dict[str, int]) -> int:
    """The candidates that a group of tenants sees, and that those rules admit that surely apply now."""
    members = known.get(capability)
    if members is None:
        members = group.view
        call = survey.call_of(survey.pack.capabilities[capability].value)
        for name in group.rules:
            entry = survey.entries[name]
            if entry.condition is None or entry.rule.effect == "prefer" or entry.rule.shadow:
                continue
            if not survey.in_force_now(name) or survey.applies(name, capability) is not True:
                continue
            admitted = survey.admitted(entry, entry.condition, call)
            for lift in entry.lifts:
                if lift.waiver.tenant == tenant and is_within(survey.now, None, lift.until):
                    admitted |= survey.known(lift.admits, call).yes
            members &= admitted
            if not members:
                break
        known[capability] = members
    return members
