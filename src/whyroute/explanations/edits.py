"""Edits of a request that admit candidates: its parts as models, and the same edits as a JSON Patch."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..basics.issues import shown
from ..basics.numbers import Number, as_double, ecmascript
from ..catalog.candidate import Candidate
from ..constraints.named import NamedConstraint
from ..constraints.terms import (
    ContextWindowTerm,
    FeatureTerm,
    LatencyTerm,
    ListTerm,
    PriceTerm,
    RegionListTerm,
    RegionTerm,
)
from ..documents.phrases import in_backticks
from ..model.capability import Capability, NameLists, Need
from ..model.policy import TenantPolicy
from ..model.regions import NO_REGIONS, Regions
from ..solving.request import Solved

__all__ = ["Draft", "Edit", "Operation", "outermost"]

Operation = Mapping[str, Any]
"""One operation of a JSON Patch (RFC 6902) on the wire request."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The change of one constraint that admits a candidate.

    Attributes:
        constraint: The constraint that changes.
        kind: `threshold`, `list`, `value` (a kind or region that becomes another), `dropped` (a need that goes) or
            `lifted` (a rule that goes).
        text: What to do, in plain words.
    """

    constraint: NamedConstraint
    kind: str
    text: str


class Draft:
    """A request under edit, for one capability or several: its parts as models, and the same edits as a JSON Patch.

    Args:
        slots: Each capability, solved.
        paths: JSON pointer of each.

    Attributes:
        slots: The declarations.
        policy: The policy.
        changes: What changes about the policy, and about what ties the slots.
        lifted: The names of the rules that are removed.
        untied: The numbers of the ties that are removed.
    """

    def __init__(self, slots: Sequence[Solved], paths: Sequence[str]) -> None:
        self.slots = [_DeclarationDraft(solved.capability, path) for solved, path in zip(slots, paths, strict=True)]
        self.policy = slots[0].policy
        self.changes: list[Operation] = []
        self.lifted: list[str] = []
        self.untied: list[int] = []
        self._situation = slots[0].situation

    def admit(self, constraint: NamedConstraint, stopped: Mapping[int, Candidate]) -> Edit:
        """Edit the request so that one constraint admits the candidates that it stops.

        Args:
            constraint: The constraint, as it is in one of these slots.
            stopped: The candidates, by their slots: one if it is a slot's own constraint.
        """
        candidates = list(stopped.values())
        if constraint.owner == "caller":
            (slot,) = stopped
            return self.slots[slot].admit(constraint, candidates[0])
        if constraint.owner == "rule":
            name = constraint.id.partition("/")[2]
            self.lifted.append(name)
            ask = f" (ask {constraint.contact})" if constraint.contact is not None else ""
            what = "waive" if constraint.waivable else "drop"
            return Edit(constraint, "lifted", f"{what} rule {shown(name)}{ask}")
        if self.policy is None:
            raise RuntimeError(f"constraint {constraint.id} has no policy to edit")
        edit = self._admit_clause(constraint, candidates, self.policy)
        return replace(edit, text=f"{edit.text} (ask {constraint.contact})") if constraint.contact else edit

    def operations(self) -> list[Operation]:
        """The edits as a patch; what is removed from a list goes last, and from the highest index down."""
        found = [operation for slot in self.slots for operation in slot.changes]
        paths = [path for slot in self.slots for path in slot.dropped()]
        paths += [f"/together/{index}" for index in sorted(self.untied, reverse=True)]
        if self.lifted and self._situation is not None:
            # A waiver of a rule that is not there is an error.
            book = self._situation.book
            rules = [index for index, rule in enumerate(book.rules) if rule.name in self.lifted]
            waivers = [index for index, waiver in enumerate(book.waivers) if waiver.rule in self.lifted]
            paths += [f"/rules/{index}" for index in reversed(rules)]
            paths += [f"/waivers/{index}" for index in reversed(waivers)]
        return [*found, *self.changes, *({"op": "remove", "path": path} for path in paths)]

    def _admit_clause(self, constraint: NamedConstraint, candidates: Sequence[Candidate], policy: TenantPolicy) -> Edit:
        term = constraint.term
        tenant = f"tenant {shown(policy.tenant_id)}"
        update: dict[str, Any]
        match term:
            case ListTerm():
                lists: NameLists = getattr(policy, term.subject)
                path = f"/tenantPolicy/{term.subject}"
                lists, changes, text = _passing(term, lists, candidates, path, tenant)
                self.changes += changes
                update = {term.subject: lists}
                edit = Edit(constraint, "list", text)
            case RegionListTerm():
                names = self._regions(candidates)
                self.changes += [{"op": "add", "path": "/tenantPolicy/regionAllow/-", "value": name} for name in names]
                update = {"region_allow": (*term.allow, *names)}
                edit = Edit(constraint, "list", f"allow {_named('region', names)} for {tenant}")
            case PriceTerm():
                price = max(candidate.model.cost.prompt_usd_per_1k_tokens for candidate in candidates)
                self.changes.append({"op": "replace", "path": "/tenantPolicy/maxCostPerCallUsd", "value": price})
                update = {"max_cost_per_call_usd": price}
                text = f"raise the price cap of {tenant} from ${ecmascript(term.wanted)} to ${ecmascript(price)} per 1K"
                edit = Edit(constraint, "threshold", text)
            case ContextWindowTerm():
                window = min(candidate.model.context_window for candidate in candidates)
                self.changes.append({"op": "replace", "path": "/tenantPolicy/maxTokensPerCall", "value": window})
                update = {"max_tokens_per_call": window}
                change = f"from {ecmascript(term.wanted)} to {ecmascript(window)} tokens"
                text = f"lower the context window floor of {tenant} {change}"
                edit = Edit(constraint, "threshold", text)
            case _:
                raise RuntimeError(f"no edit is defined for {constraint!r}")
        self.policy = policy.model_copy(update=update)
        return edit

    def _regions(self, candidates: Iterable[Candidate]) -> list[str]:
        """The regions of candidates, each once, without those that another of them, a group, means as well."""
        groups = NO_REGIONS if self._situation is None else self._situation.context.regions
        return outermost(dict.fromkeys(candidate.metadata.region for candidate in candidates), groups)


def outermost(names: Iterable[str], groups: Regions) -> list[str]:
    """Names of regions without those that another of them, a group, means as well."""
    names = list(names)
    return [name for name in names if not any(name != other and name in groups.meaning(other) for other in names)]


@dataclass(slots=True)
class _DeclarationDraft:
    """A declaration under edit."""

    capability: Capability
    path: str
    kind: str | None = None
    needs: dict[int, Need | None] = field(default_factory=dict)
    changes: list[Operation] = field(default_factory=list)

    def edited(self) -> Capability:
        needs = (self.needs.get(index, need) for index, need in enumerate(self.capability.needs))
        update: dict[str, Any] = {"needs": tuple(need for need in needs if need is not None)}
        if self.kind is not None:
            update["kind"] = self.kind
        return self.capability.model_copy(update=update)

    def dropped(self) -> list[str]:
        """The needs that go, from the highest index down."""
        indices = sorted((index for index, need in self.needs.items() if need is None), reverse=True)
        return [f"{self.path}/needs/{index}" for index in indices]

    def admit(self, constraint: NamedConstraint, candidate: Candidate) -> Edit:
        """Edit the declaration so that one constraint admits the candidate."""
        section, _, rest = constraint.id.partition("/")
        if section == "kind":
            return self._admit_kind(constraint, candidate)
        return self._admit_need(constraint, candidate, int(rest))

    def _admit_kind(self, constraint: NamedConstraint, candidate: Candidate) -> Edit:
        was, self.kind = self.capability.kind, candidate.metadata.capability_kind
        # `add` replaces a member that is there, and a declaration may leave its kind out.
        self.changes.append({"op": "add", "path": f"{self.path}/kind", "value": self.kind})
        return Edit(constraint, "value", f"ask for the kind {shown(self.kind)} instead of {shown(was)}")

    def _admit_need(self, constraint: NamedConstraint, candidate: Candidate, index: int) -> Edit:
        term = constraint.term
        path = f"{self.path}/needs/{index}"
        where = f"({constraint.id})"
        match term:
            case FeatureTerm():
                self.needs[index] = None
                return Edit(constraint, "dropped", f"do without {shown(term.feature)} {where}")
            case LatencyTerm() if candidate.model.p95_latency_ms is None:
                self.needs[index] = None
                return Edit(constraint, "dropped", f"drop {term.label} {where}: the pick's p95 latency is not known")
            case LatencyTerm():
                op, value = _latency_bound(term.op, candidate.model.p95_latency_ms or 0)
                return self._bound(constraint, index, ("p95LatencyMs", "value"), op, value)
            case ContextWindowTerm():
                op, value = _integer_bound(term.op, candidate.model.context_window, least=1)
                return self._bound(constraint, index, ("contextWindow", "value"), op, value)
            case PriceTerm():
                op = {"<": "<=", ">": ">="}.get(term.op, term.op)
                return self._bound(
                    constraint, index, ("costPerCall", "usd"), op, candidate.model.cost.prompt_usd_per_1k_tokens
                )
            case RegionTerm():
                region = candidate.metadata.region
                self.changes.append({"op": "replace", "path": f"{path}/region", "value": region})
                self.needs[index] = self.capability.needs[index].model_copy(update={"region": region})
                return Edit(
                    constraint, "value", f"ask for region {shown(region)} instead of {shown(term.wanted)} {where}"
                )
            case ListTerm():
                need = self.capability.needs[index]
                lists: NameLists = getattr(need, term.subject)
                lists, changes, text = _passing(term, lists, [candidate], f"{path}/{term.subject}", constraint.id)
                self.changes += changes
                self.needs[index] = need.model_copy(update={term.subject: lists})
                return Edit(constraint, "list", text)
            case _:
                raise RuntimeError(f"no edit is defined for {constraint!r}")

    def _bound(self, constraint: NamedConstraint, index: int, keys: tuple[str, str], op: str, value: Number) -> Edit:
        key, of = keys
        need = self.capability.needs[index]
        name = {"contextWindow": "context_window", "costPerCall": "cost_per_call", "p95LatencyMs": "p95_latency_ms"}[
            key
        ]
        bound = getattr(need, name)
        path = f"{self.path}/needs/{index}/{key}"
        if op != bound.op:
            self.changes.append({"op": "replace", "path": f"{path}/op", "value": op})
        if value != getattr(bound, of):
            self.changes.append({"op": "replace", "path": f"{path}/{of}", "value": value})
        self.needs[index] = need.model_copy(update={name: bound.model_copy(update={"op": op, of: value})})
        unit = "$" if key == "costPerCall" else ""
        now = f"{key}{op}{unit}{ecmascript(value)}"
        return Edit(constraint, "threshold", f"ask for {now} instead of {constraint.label} ({constraint.id})")


def _passing(
    term: ListTerm, lists: NameLists, candidates: Iterable[Candidate], path: str, whose: str
) -> tuple[NameLists, list[Operation], str]:
    """Let the candidates' names through: off the deny list, on the allow list, whichever stops them."""
    by_provider = term.subject == "providers"
    names = dict.fromkeys(each.metadata.id if by_provider else each.model.name for each in candidates)
    one = "provider" if by_provider else "model"
    changes: list[Operation] = []
    texts: list[str] = []
    # The lists as they stand: an earlier edit may have changed the one that this constraint does not look at.
    if term.deny is not None and lists.deny is not None:
        denied = [name for name in names if name in term.deny]
        places = [index for index, name in enumerate(lists.deny) if name in denied]
        changes += [{"op": "remove", "path": f"{path}/deny/{index}"} for index in reversed(places)]
        if denied:
            lists = lists.model_copy(update={"deny": tuple(other for other in lists.deny if other not in denied)})
            texts.append(f"take {_named(one, denied)} off the deny list of {whose}")
    if term.allow is not None and lists.allow is not None:
        missing = [name for name in names if name not in term.allow]
        changes += [{"op": "add", "path": f"{path}/allow/-", "value": name} for name in missing]
        if missing:
            lists = lists.model_copy(update={"allow": (*lists.allow, *missing)})
            texts.append(f"put {_named(one, missing)} on the allow list of {whose}")
    return lists, changes, " and ".join(texts)


def _named(what: str, names: Sequence[str]) -> str:
    return f"{what}{'s' if len(names) > 1 else ''} {in_backticks(names, 'and')}"


def _integer_bound(op: str, value: Number, *, least: int) -> tuple[str, Number]:
    """The bound that just admits an integer.

    A strict one stays strict, one step off, where the schema allows that and a double can tell the two apart.
    """
    if op == ">":
        below = as_double(value - 1)
        return (op, below) if least <= below < value else (">=", value)
    if op == "<":
        above = as_double(value + 1)
        return (op, above) if above > value else ("<=", value)
    return op, value


def _latency_bound(op: str, value: Number) -> tuple[str, Number]:
    """The integer bound that just admits a latency, which need not be an integer itself."""
    if op == "<":
        return _integer_bound(op, as_double(math.floor(value)), least=0)
    return op, as_double(math.ceil(value))
