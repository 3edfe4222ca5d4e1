"""Tenant policies and how they combine."""

from pydantic import Field

from .declarations import NameLists
from .fields import Amount, Names, OrAbsent, PositiveInteger, WireModel

__all__ = ["TenantPolicy"]


class TenantPolicy(WireModel):
    """A tenant's clauses."""

    tenant_id: str
    providers: OrAbsent[NameLists] = None
    models: OrAbsent[NameLists] = None
    region_allow: OrAbsent[Names] = None
    max_cost_per_call_usd: OrAbsent[Amount] = Field(default=None, alias="maxCostPerCallUsd")
    max_tokens_per_call: OrAbsent[PositiveInteger] = None


def read_policy(document: object, path: str = "") -> TenantPolicy:
    return TenantPolicy.model_validate(document)
