"""Edits of a request that admit candidates: its parts as models, and the same edits as a JSON Patch."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..basics.issues import child, shown
from ..basics.numbers import Number, as_double, ecmascript, exact, wire_number
from ..catalog.candidate import Candidate
from ..constraints.custom import CustomTerm
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

if TYPE_CHECKING:
    from ..solving.joint import JointConstraint, JointSolved
    from ..solving.ties import Tie

__all__ = ["Draft", "Edit", "Operation", "outermost"]

Operation = Mapping[str, Any]
"""One operation of a JSON Patch (RFC 6902) on the wire request."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The change of one constraint that admits a candidate.

    Attributes:
        constraint: The constraint that changes.
        kind: `threshold`, `list`, `value` (a kind or region that becomes another), `dropped` (a need or tie that goes)
            or `lifted` (a rule that goes).
        text: What to do, in plain words.
    """

    constraint: "NamedConstraint | JointConstraint"
    kind: str
    text: str


class Draft:
    """A request under edit, so that it admits some picks: its parts as models, and the same edits as a JSON Patch.

    Args:
        solved: The request.
        numbers: The pick of each slot.

    Attributes:
        edits: What was edited.
    """

    def __init__(self, solved: "JointSolved", numbers: Sequence[int]) -> None:
        self.edits: list[Edit] = []
        self._solved = solved
        self._numbers = numbers
        self._candidates = [solved.catalog.candidate(number) for number in numbers]
        paths = [child(child("", "slots"), name) if name else "" for name in solved.names]
        self._slots = [
            _DeclarationDraft(slot.capability, f"{path}/capability")
            for slot, path in zip(solved.slots, paths, strict=True)
        ]
        self._policy = solved.policy
        self._ties: list[Tie | None] = list(solved.ties)
        self._changes: list[Operation] = []
        self._lifted: list[str] = []
        self._dropped: list[str] = []
        self._situation = solved.slots[0].situation

    def solve(self) -> "JointSolved":
        """The edited request, solved."""
        ties = tuple(tie for tie in self._ties if tie is not None)
        without = [*(f"rules/{name}" for name in self._lifted), *self._dropped]
        return self._solved.again([slot.edited() for slot in self._slots], self._policy, ties, without)

    def operations(self) -> list[Operation]:
        """The edits as a patch; what is removed from a list goes last, and from the highest index down."""
        found = [operation for slot in self._slots for operation in slot.changes]
        paths = [path for slot in self._slots for path in slot.dropped()]
        paths += [f"/together/{index}" for index in reversed(range(len(self._ties))) if self._ties[index] is None]
        if self._lifted and self._situation is not None:
            # A waiver of a rule that is not there is an error.
            book = self._situation.book
            rules = [index for index, rule in enumerate(book.rules) if rule.name in self._lifted]
            waivers = [index for index, waiver in enumerate(book.waivers) if waiver.rule in self._lifted]
            paths += [f"/rules/{index}" for index in reversed(rules)]
            paths += [f"/waivers/{index}" for index in reversed(waivers)]
        if self._dropped and self._situation is not None:
            # No part of the wire request: the path is that among the arguments in Python.
            own = [index for index, each in enumerate(self._situation.custom) if f"custom/{each.id}" in self._dropped]
            paths += [f"/custom/{index}" for index in reversed(own)]
        return [*found, *self._changes, *({"op": "remove", "path": path} for path in paths)]

    def admit(self, constraint: "JointConstraint") -> None:
        """Edit the request so that one constraint admits the picks."""
        if constraint.tie is not None:
            self._loosen(constraint, constraint.tie)
            return
        stopped = {
            slot: self._candidates[slot]
            for slot, named in constraint.named.items()
            if not named.admitted >> self._numbers[slot] & 1
        }
        if stopped:
            slot = next(iter(stopped))
            edit = self._admit(constraint.named[slot], slot, list(stopped.values()))
            if not self._solved.alone:
                where = f"in slot {shown(self._solved.names[slot])}, " if constraint.owner == "caller" else ""
                edit = replace(edit, constraint=constraint, text=f"{where}{edit.text}")
            self.edits.append(edit)

    def _admit(self, constraint: NamedConstraint, slot: int, candidates: Sequence[Candidate]) -> Edit:
        """Edit the request so that a constraint admits candidates: one, that of its slot, if the slot alone has it."""
        if isinstance(constraint.term, CustomTerm):
            self._dropped.append(constraint.id)
            return Edit(constraint, "dropped", f"do without {shown(constraint.label)} ({constraint.id})")
        if constraint.owner == "caller":
            return self._slots[slot].admit(constraint, candidates[0])
        if constraint.owner == "rule":
            name = constraint.id.partition("/")[2]
            self._lifted.append(name)
            ask = f" (ask {constraint.contact})" if constraint.contact is not None else ""
            what = "waive" if constraint.waivable else "drop"
            return Edit(constraint, "lifted", f"{what} rule {shown(name)}{ask}")
        if self._policy is None:
            raise RuntimeError(f"constraint {constraint.id} has no policy to edit")
        edit = self._admit_clause(constraint, candidates, self._policy)
        return replace(edit, text=f"{edit.text} (ask {constraint.contact})") if constraint.contact else edit

    def _loosen(self, constraint: "JointConstraint", index: int) -> None:
        """Move the bound of a tie so that the picks meet it, or do without the tie."""
        tie = self._solved.ties[index]
        picks = [self._candidates[slot] for slot in constraint.slots]
        if tie.holds(picks):
            return
        total = None if tie.op is None else tie.total(picks)
        what = f"{shown(tie.label)} ({constraint.id})"
        loosened = tie
        if total is not None:
            op = tie.op or "<="
            value = _bounding(op, total)
            if value is not None:
                loosened = replace(tie, op={"<": "<=", ">": ">="}.get(op, op), value=value)
        if not loosened.holds(picks):
            # There is no bound to move, something is not known, or no double is the sum.
            self._ties[index] = None
            why = "something of the picks is not known" if total is None else "no double is a bound that the picks meet"
            text = f"do without {what}" + (f": {why}" if tie.op is not None else "")
            self.edits.append(Edit(constraint, "dropped", text))
            return
        self._ties[index] = loosened
        for key, was, now in (("op", tie.op, loosened.op), ("value", tie.value, loosened.value)):
            if was != now:
                self._changes.append({"op": "replace", "path": f"/together/{index}/{key}", "value": now})
        self.edits.append(Edit(constraint, "threshold", f"ask for {shown(loosened.label)} instead of {what}"))

    def _admit_clause(self, constraint: NamedConstraint, candidates: Sequence[Candidate], policy: TenantPolicy) -> Edit:
        term = constraint.term
        tenant = f"tenant {shown(policy.tenant_id)}"
        update: dict[str, Any]
        match term:
            case ListTerm():
                lists: NameLists = getattr(policy, term.subject)
                path = f"/tenantPolicy/{term.subject}"
                lists, changes, text = _passing(term, lists, candidates, path, tenant)
                self._changes += changes
                update = {term.subject: lists}
                edit = Edit(constraint, "list", text)
            case RegionListTerm():
                names = self._regions(candidates)
                self._changes += [{"op": "add", "path": "/tenantPolicy/regionAllow/-", "value": name} for name in names]
                update = {"region_allow": (*term.allow, *names)}
                edit = Edit(constraint, "list", f"allow {_named('region', names)} for {tenant}")
            case PriceTerm():
                price = max(candidate.model.cost.prompt_usd_per_1k_tokens for candidate in candidates)
                self._changes.append({"op": "replace", "path": "/tenantPolicy/maxCostPerCallUsd", "value": price})
                update = {"max_cost_per_call_usd": price}
                text = f"raise the price cap of {tenant} from ${ecmascript(term.wanted)} to ${ecmascript(price)} per 1K"
                edit = Edit(constraint, "threshold", text)
            case ContextWindowTerm():
                window = min(candidate.model.context_window for candidate in candidates)
                self._changes.append({"op": "replace", "path": "/tenantPolicy/maxTokensPerCall", "value": window})
                update = {"max_tokens_per_call": window}
                change = f"from {ecmascript(term.wanted)} to {ecmascript(window)} tokens"
                text = f"lower the context window floor of {tenant} {change}"
                edit = Edit(constraint, "threshold", text)
            case _:
                raise RuntimeError(f"no edit is defined for {constraint!r}")
        self._policy = policy.model_copy(update=update)
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


def _bounding(op: str, total: Fraction) -> Number | None:
    """A total as a bound that a double can hold, rounded to the side on which the total still meets it.

    None where there is no such double: past the largest one, and for a bound that is to be equal and can't be.
    """
    value = wire_number(total)
    if op in ("<=", "<") and exact(value) < total:
        value = math.nextafter(value, math.inf)
    elif op in (">=", ">") and exact(value) > total:
        value = math.nextafter(value, -math.inf)
    elif op == "=" and exact(value) != total:
        return None
    return as_double(value) if math.isfinite(value) else None
