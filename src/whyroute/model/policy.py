"""Tenant policies: the clauses that every route of a tenant must meet, and how policies combine."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import Field

from ..basics.issues import child
from ..documents.fields import Amount, Names, OrAbsent, PositiveInteger, WireModel
from ..documents.model_issues import read_model
from ..errors import InvalidPolicyError
from .capability import NameLists
from .regions import NO_REGIONS, Regions, read_regions

__all__ = ["Clauses", "TenantPolicy", "combine", "read_policy"]

T = TypeVar("T")


class Clauses(WireModel):
    """The clauses of a policy. One that is left out sets nothing; null is refused.

    An empty deny list sets nothing either; an empty allow list or `region_allow` allows nothing.
    """

    providers: OrAbsent[NameLists] = Field(
        default=None, description="provider ids that are allowed or denied, compared letter by letter; deny wins"
    )
    models: OrAbsent[NameLists] = Field(
        default=None,
        description="model names, without the provider's id, that are allowed or denied, compared letter by letter; "
        "deny wins",
    )
    region_allow: OrAbsent[Names] = Field(
        default=None, description="the provider's region must be one of these; an empty list allows no region"
    )
    max_cost_per_call_usd: OrAbsent[Amount] = Field(
        default=None,
        description="in spite of its name a cap on one price: at most this many USD for 1,000 prompt tokens; "
        "0 lets only free models through",
    )
    max_tokens_per_call: OrAbsent[PositiveInteger] = Field(
        default=None,
        description="in spite of its name a floor: the model's context window must hold at least this many tokens",
    )


class _Owned(WireModel):
    tenant_id: str = Field(description="whose policy it is; failed answers carry it")


class TenantPolicy(Clauses, _Owned):  # in this order, the tenant's id comes before the clauses
    """What a tenant lets its callers use: the clauses that every route of the tenant must meet.

    Example:
        >>> import whyroute as wr
        >>> policy = wr.TenantPolicy(tenant_id="acme", region_allow=["eu"])
        >>> policy.to_dict()
        {'tenantId': 'acme', 'regionAllow': ['eu']}
    """


def read_policy(document: Any, path: str = "") -> TenantPolicy:
    """Read a policy from its wire form.

    Args:
        document: A JSON-like object with camelCase keys, or a TenantPolicy, which is returned as it is when sound.
        path: JSON pointer of the document, for the issues.

    Raises:
        InvalidPolicyError: The document is broken; all its issues, in document order.
    """
    return read_model(TenantPolicy, document, path, error=InvalidPolicyError)


def combine(
    *parts: TenantPolicy | Mapping[str, Any], regions: Regions | Mapping[str, Sequence[str]] | None = None
) -> TenantPolicy:
    """One policy that is at least as strict as each of its parts.

    Allow lists and `region_allow` intersect where several are set, deny lists unite, the smaller
    `max_cost_per_call_usd` and the larger `max_tokens_per_call` hold. Members come in the order of first appearance,
    each once. A clause that no part sets stays unset.

    Args:
        parts: Policies, as models or in wire form, a tenant's own last: the combination carries its tenant id.
        regions: Groups of regions. Where several parts set `region_allow`, groups are taken for their members first.

    Raises:
        InvalidPolicyError: A part is broken; the issues say which one, from 0.
        InvalidRequestError: The groups are broken, or hold each other.
        ValueError: There are no parts; no policy at all would allow everything.

    Example:
        >>> import whyroute as wr
        >>> one = wr.TenantPolicy(tenant_id="t", max_cost_per_call_usd=0.02)
        >>> other = wr.TenantPolicy(tenant_id="t", max_cost_per_call_usd=0.01)
        >>> wr.combine(one, other).max_cost_per_call_usd
        0.01
    """
    if not parts:
        raise ValueError("nothing to combine; at least one policy is expected")
    policies = [read_policy(part, child("", index)) for index, part in enumerate(parts)]
    if len(policies) == 1:
        return policies[0]
    groups = NO_REGIONS if regions is None else read_regions(regions)
    allowed = _given(policy.region_allow for policy in policies)
    if len(allowed) > 1:
        allowed = [groups.meanings(names) for names in allowed]
    clauses: dict[str, Any] = {
        "providers": _combined_lists(policy.providers for policy in policies),
        "models": _combined_lists(policy.models for policy in policies),
        "region_allow": _intersection(allowed),
        "max_cost_per_call_usd": min(_given(policy.max_cost_per_call_usd for policy in policies), default=None),
        "max_tokens_per_call": max(_given(policy.max_tokens_per_call for policy in policies), default=None),
    }
    return TenantPolicy(tenant_id=policies[-1].tenant_id, **_set_only(clauses))


def _given(values: Iterable[T | None]) -> list[T]:
    return [value for value in values if value is not None]


def _set_only(clauses: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in clauses.items() if value is not None}


def _combined_lists(parts: Iterable[NameLists | None]) -> NameLists | None:
    lists = _given(parts)
    if not lists:
        return None
    allow = _intersection(part.allow for part in lists)
    deny = _union(part.deny for part in lists)
    return NameLists(**_set_only({"allow": allow, "deny": deny}))


def _intersection(parts: Iterable[Sequence[str] | None]) -> tuple[str, ...] | None:
    lists = _given(parts)
    if not lists:
        return None
    common = set(lists[0]).intersection(*lists[1:])
    return tuple(name for name in dict.fromkeys(lists[0]) if name in common)


def _union(parts: Iterable[Sequence[str] | None]) -> tuple[str, ...] | None:
    lists = _given(parts)
    return tuple(dict.fromkeys(name for names in lists for name in names)) if lists else None
