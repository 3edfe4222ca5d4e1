"""The policy in force for a tenant: what its parts come to together, everything with where it is written."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...constraints.named import Origin
from ...model.policy import TenantPolicy, combine
from ...model.regions import Regions
from ...model.rule import Rule, Waiver
from .definitions import Definition
from .models import PolicyPart, Tenant

__all__ = [
    "CLAUSES",
    "AttachedRule",
    "Part",
    "PolicyInForce",
    "as_policy",
    "clause_origin",
    "parts_of",
    "policy_of",
    "sets_clause",
]

Part = Definition[PolicyPart] | Definition[Tenant]

_CLAUSES: Final[Mapping[str, tuple[str, str | None]]] = {
    "policy/providers/deny": ("providers", "deny"),
    "policy/providers/allow": ("providers", "allow"),
    "policy/models/deny": ("models", "deny"),
    "policy/models/allow": ("models", "allow"),
    "policy/regionAllow": ("region_allow", None),
    "policy/maxCostPerCallUsd": ("max_cost_per_call_usd", None),
    "policy/maxTokensPerCall": ("max_tokens_per_call", None),
}
"""The clauses, each with the attributes that hold it."""

CLAUSES: Final = tuple(_CLAUSES)
"""The ids of the constraints that clauses come to, in their order."""

_WIRE = {name: each.alias or name for name, each in TenantPolicy.model_fields.items()}


@dataclass(frozen=True, slots=True)
class AttachedRule:
    """A rule that holds for a tenant.

    Attributes:
        rule: The rule.
        attached: Where policies and the tenant name it.
    """

    rule: Definition[Rule]
    attached: tuple[Origin, ...]


@dataclass(frozen=True, slots=True)
class PolicyInForce:
    """What holds for a tenant, everything with where it comes from.

    Attributes:
        tenant: The tenant.
        parts: The policies that it is combined from, in the order in which they combine; the tenant itself last.
        clauses: The combination.
        origins: For each constraint of a clause or a rule, by its id, where it is written.
        contacts: For each constraint of a clause, the contact, where the policies say so.
        rules: The rules, each once.
        waivers: The tenant's waivers of these rules.
    """

    tenant: str
    parts: tuple[Part, ...]
    clauses: TenantPolicy
    origins: Mapping[str, tuple[Origin, ...]]
    contacts: Mapping[str, str]
    rules: tuple[AttachedRule, ...]
    waivers: tuple[Definition[Waiver], ...]


def parts_of(
    tenant: Definition[Tenant], every_tenant: Iterable[str], policies: Mapping[str, Definition[PolicyPart]]
) -> Iterator[Part]:
    """The parts of a tenant's policy, each once: of `everyTenant`, then of `extends`, depth first; its own last."""
    done: set[str] = set()
    for first in (*every_tenant, *tenant.value.extends):
        # An explicit stack: the chain may be longer than Python lets functions call each other.
        stack = [(first, iter(policies[first].value.extends))] if first not in done else []
        while stack:
            name, following = stack[-1]
            inner = next((each for each in following if each not in done), None)
            if inner is None:
                stack.pop()
                done.add(name)
                yield policies[name]
            else:
                stack.append((inner, iter(policies[inner].value.extends)))
    yield tenant


def policy_of(
    tenant: str,
    parts: tuple[Part, ...],
    regions: Regions | None,
    rules: Mapping[str, Definition[Rule]],
    waivers: Iterable[Definition[Waiver]],
) -> PolicyInForce:
    """What parts of a policy come to.

    Args:
        tenant: The tenant.
        parts: The parts, in the order in which they combine.
        regions: The groups of regions, where there are some.
        rules: The rules that the parts may name.
        waivers: The waivers of the tenant.
    """
    set_by: dict[str, list[Origin]] = {}
    owners: dict[str, dict[str, None]] = {}
    attached: dict[str, list[Origin]] = {}
    for part in parts:
        owner = getattr(part.value, "owner", None)
        for constraint in CLAUSES:
            if sets_clause(part, constraint):
                set_by.setdefault(constraint, []).append(clause_origin(part, constraint))
                if owner:
                    owners.setdefault(constraint, {})[owner] = None
        for index, name in enumerate(part.value.rules):
            attached.setdefault(name, []).append(part.piece.inner("rules", index).origin)
    origins = {constraint: tuple(set_by[constraint]) for constraint in CLAUSES if constraint in set_by}
    return PolicyInForce(
        tenant,
        parts,
        combine(*map(as_policy, parts), regions=regions),
        {**origins, **{f"rules/{name}": (rules[name].origin,) for name in attached}},
        {constraint: ", ".join(owners[constraint]) for constraint in CLAUSES if constraint in owners},
        tuple(AttachedRule(rules[name], tuple(places)) for name, places in attached.items()),
        tuple(each for each in waivers if each.value.rule in attached),
    )


def _clause(part: Part, constraint: str) -> Any:
    first, second = _CLAUSES[constraint]
    found = getattr(part.value, first)
    return found if second is None or found is None else getattr(found, second)


def sets_clause(part: Part, constraint: str) -> bool:
    """Whether a part of a policy sets a clause, which is named by its constraint's id."""
    return _clause(part, constraint) not in (None, () if constraint.endswith("/deny") else None)


def clause_origin(part: Part, constraint: str) -> Origin:
    """Where a part of a policy sets a clause."""
    first, second = _CLAUSES[constraint]
    return part.piece.inner(_WIRE[first], *((second,) if second else ())).origin


def as_policy(part: Part) -> TenantPolicy:
    """The clauses of one part of a tenant's policy, by themselves."""
    given = {name: getattr(part.value, name) for name, _ in _CLAUSES.values()}
    set_only = {name: each for name, each in given.items() if each is not None}
    return TenantPolicy.model_construct(tenant_id=part.name, **set_only)  # the part was held to the same grammar
