"""Relaxations: corrections turned into concrete edits of the request, solved again, with the pick they lead to."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..basics.frozen import frozen, thawed
from ..basics.issues import shown
from ..basics.numbers import Number, as_double, ecmascript
from ..catalog.catalog import Candidate
from ..constraints.named import NamedConstraint, Owner
from ..constraints.terms import (
    ContextWindowTerm,
    FeatureTerm,
    KindTerm,
    LatencyTerm,
    ListTerm,
    PriceTerm,
    RegionListTerm,
    RegionTerm,
)
from ..model.capability import Capability, NameLists, Need
from ..model.policy import TenantPolicy
from ..solving.request import Solved

__all__ = ["Draft", "Edit", "Moves", "Operation", "Relaxation", "relax"]

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


class Moves(ABC):
    """What relaxations have in common, of one capability and of bundles: a correction as edits of the request."""

    __slots__ = ()

    correction: tuple[Any, ...]
    patch: tuple[Operation, ...]
    offered: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "patch", frozen(self.patch))

    @property
    def owners(self) -> tuple[Owner, ...]:
        """Whose moves it takes, each once, in constraint order."""
        return tuple(dict.fromkeys(constraint.owner for constraint in self.correction))

    @property
    @abstractmethod
    def text(self) -> str:
        """What to do, in plain words."""

    def _document(self, **gives: Any) -> dict[str, Any]:
        """The relaxation as it goes over the wire, with what it leads to."""
        return {
            "correction": [constraint.id for constraint in self.correction],
            "patch": thawed(self.patch),
            "owners": list(self.owners),
            "offered": self.offered,
            **gives,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Relaxation(Moves):
    """A correction as edits of the request, and the candidate that the edited request leads to.

    Attributes:
        correction: The constraints that change, in constraint order.
        edits: What changes about each.
        patch: The edits as a JSON Patch (RFC 6902) of the wire request; a copy that refuses changes.
        pick: The candidate that the patched request picks.
        offered: Whether it may be proposed to a person at all.
    """

    correction: tuple[NamedConstraint, ...]
    edits: tuple[Edit, ...]
    patch: tuple[Operation, ...]
    pick: Candidate
    offered: bool = True

    @property
    def text(self) -> str:
        """What to do, in plain words."""
        return "; ".join(edit.text for edit in self.edits)

    def to_dict(self) -> dict[str, Any]:
        """The relaxation as it goes over the wire."""
        return self._document(pick=self.pick.to_dict())


def relax(solved: Solved, correction: Sequence[int]) -> Relaxation | None:
    """The relaxation of one correction; None when there is none.

    There is none when other rules apply to the edited request, and nothing satisfies them, or when every candidate is
    of a kind that no request can ask for: a provider's may be empty, a declaration's may not.

    Of the candidates that fail exactly the correction's constraints, it takes those that the fewest edits admit, and
    of these the best ranked one. The edited request is solved again: the pick is what it answers.

    Args:
        solved: A request that nothing satisfies.
        correction: Indices of the constraints, ascending; minimal, so that such candidates exist.
    """
    constraints = solved.constraints
    chosen = [constraints[index] for index in correction]
    admissible = _failing_exactly(solved, correction)
    if any(isinstance(constraint.term, KindTerm) for constraint in chosen):
        admissible &= ~solved.catalog.of_kind("")
    if not admissible:
        return None
    members = _fewest_edits(chosen, admissible)
    candidate = solved.catalog.candidate(solved.ranked(members).best())
    draft = Draft(solved.capability, solved.policy)
    edits = tuple(draft.admit(constraint, candidate) for constraint in chosen)
    again = solved.again(draft.edited_capability(), draft.policy, draft.lifted)
    if not again.survivors:
        if solved.situation is not None and solved.situation.book.entries:
            return None
        raise RuntimeError(
            f"the edits {draft.operations(solved)} admit nobody, though {candidate.id} was to be admitted"
        )
    pick = solved.catalog.candidate(again.ranked(again.survivors).best())
    offered = all(constraint.waivable for constraint in chosen if constraint.owner == "rule")
    return Relaxation(tuple(chosen), edits, tuple(draft.operations(solved)), pick, offered)


def _failing_exactly(solved: Solved, correction: Iterable[int]) -> int:
    dropped = set(correction)
    members = solved.catalog.all()
    for index, admitted in enumerate(solved.constraints.admitted):
        if index not in dropped:
            members &= admitted
    return members


def _fewest_edits(chosen: Iterable[NamedConstraint], members: int) -> int:
    """Every constraint takes one edit, but for a need whose deny and allow list both stop the candidate."""
    groups = [members]
    for constraint in chosen:
        term = constraint.term
        if not isinstance(term, ListTerm) or not term.deny or term.allow is None:
            continue
        allowed = set(term.allow)
        twice = tuple(name for name in term.deny if name not in allowed)
        both = ListTerm(term.subject, twice, None).admitted(constraint.catalog)
        split = [0] * (len(groups) + 1)
        for extra, group in enumerate(groups):
            split[extra] |= group & ~both
            split[extra + 1] |= group & both
        groups = split
    return next(group for group in groups if group)


@dataclass(slots=True)
class Draft:
    """A request under edit: its parts as models, and the same edits as a JSON Patch."""

    capability: Capability
    policy: TenantPolicy | None
    kind: str | None = None
    needs: dict[int, Need | None] = field(default_factory=dict)
    changes: list[Operation] = field(default_factory=list)
    lifted: list[str] = field(default_factory=list)

    def edited_capability(self) -> Capability:
        needs = (self.needs.get(index, need) for index, need in enumerate(self.capability.needs))
        update: dict[str, Any] = {"needs": tuple(need for need in needs if need is not None)}
        if self.kind is not None:
            update["kind"] = self.kind
        return self.capability.model_copy(update=update)

    def operations(self, solved: Solved) -> list[Operation]:
        """The edits as a patch; what is removed from a list goes last, and from the highest index down."""
        dropped = sorted((index for index, need in self.needs.items() if need is None), reverse=True)
        paths = [f"/capability/needs/{index}" for index in dropped]
        if self.lifted and solved.situation is not None:
            # A waiver of a rule that is not there is an error.
            book = solved.situation.book
            rules = [index for index, rule in enumerate(book.rules) if rule.name in self.lifted]
            waivers = [index for index, waiver in enumerate(book.waivers) if waiver.rule in self.lifted]
            paths += [f"/rules/{index}" for index in reversed(rules)]
            paths += [f"/waivers/{index}" for index in reversed(waivers)]
        return [*self.changes, *({"op": "remove", "path": path} for path in paths)]

    def admit(self, constraint: NamedConstraint, candidate: Candidate) -> Edit:
        """Edit the request so that one constraint admits the candidate."""
        section, _, rest = constraint.id.partition("/")
        if section == "kind":
            return self._admit_kind(constraint, candidate)
        if section == "needs":
            return self._admit_need(constraint, candidate, int(rest))
        if constraint.owner == "rule":
            self.lifted.append(rest)
            ask = f" (ask {constraint.contact})" if constraint.contact is not None else ""
            what = "waive" if constraint.waivable else "drop"
            return Edit(constraint, "lifted", f"{what} rule {shown(rest)}{ask}")
        if self.policy is None:
            raise RuntimeError(f"constraint {constraint.id} has no policy to edit")
        edit = self._admit_clause(constraint, candidate, self.policy)
        return replace(edit, text=f"{edit.text} (ask {constraint.contact})") if constraint.contact else edit

    def _admit_kind(self, constraint: NamedConstraint, candidate: Candidate) -> Edit:
        was, self.kind = self.capability.kind, candidate.metadata.capability_kind
        # `add` replaces a member that is there, and a declaration may leave its kind out.
        self.changes.append({"op": "add", "path": "/capability/kind", "value": self.kind})
        return Edit(constraint, "value", f"ask for the kind {shown(self.kind)} instead of {shown(was)}")

    def _admit_need(self, constraint: NamedConstraint, candidate: Candidate, index: int) -> Edit:
        term = constraint.term
        path = f"/capability/needs/{index}"
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
                lists, text = self._pass(term, lists, candidate, f"{path}/{term.subject}", constraint.id)
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
        path = f"/capability/needs/{index}/{key}"
        if op != bound.op:
            self.changes.append({"op": "replace", "path": f"{path}/op", "value": op})
        if value != getattr(bound, of):
            self.changes.append({"op": "replace", "path": f"{path}/{of}", "value": value})
        self.needs[index] = need.model_copy(update={name: bound.model_copy(update={"op": op, of: value})})
        unit = "$" if key == "costPerCall" else ""
        now = f"{key}{op}{unit}{ecmascript(value)}"
        return Edit(constraint, "threshold", f"ask for {now} instead of {constraint.label} ({constraint.id})")

    def _admit_clause(self, constraint: NamedConstraint, candidate: Candidate, policy: TenantPolicy) -> Edit:
        term = constraint.term
        tenant = f"tenant {shown(policy.tenant_id)}"
        update: dict[str, Any]
        match term:
            case ListTerm():
                lists: NameLists = getattr(policy, term.subject)
                lists, text = self._pass(term, lists, candidate, f"/tenantPolicy/{term.subject}", tenant)
                update = {term.subject: lists}
                edit = Edit(constraint, "list", text)
            case RegionListTerm():
                region = candidate.metadata.region
                self.changes.append({"op": "add", "path": "/tenantPolicy/regionAllow/-", "value": region})
                update = {"region_allow": (*term.allow, region)}
                edit = Edit(constraint, "list", f"allow region {shown(region)} for {tenant}")
            case PriceTerm():
                price = candidate.model.cost.prompt_usd_per_1k_tokens
                self.changes.append({"op": "replace", "path": "/tenantPolicy/maxCostPerCallUsd", "value": price})
                update = {"max_cost_per_call_usd": price}
                text = f"raise the price cap of {tenant} from ${ecmascript(term.wanted)} to ${ecmascript(price)} per 1K"
                edit = Edit(constraint, "threshold", text)
            case ContextWindowTerm():
                window = candidate.model.context_window
                self.changes.append({"op": "replace", "path": "/tenantPolicy/maxTokensPerCall", "value": window})
                update = {"max_tokens_per_call": window}
                change = f"from {ecmascript(term.wanted)} to {ecmascript(window)} tokens"
                text = f"lower the context window floor of {tenant} {change}"
                edit = Edit(constraint, "threshold", text)
            case _:
                raise RuntimeError(f"no edit is defined for {constraint!r}")
        self.policy = policy.model_copy(update=update)
        return edit

    def _pass(
        self, term: ListTerm, lists: NameLists, candidate: Candidate, path: str, whose: str
    ) -> tuple[NameLists, str]:
        """Let the candidate's name through: off the deny list, on the allow list, whichever stops it."""
        name = candidate.metadata.id if term.subject == "providers" else candidate.model.name
        one = "provider" if term.subject == "providers" else "model"
        texts: list[str] = []
        # The lists as they stand: an earlier edit may have changed the one that this constraint does not look at.
        if term.deny is not None and name in term.deny and lists.deny is not None:
            for index in range(len(lists.deny) - 1, -1, -1):
                if lists.deny[index] == name:
                    self.changes.append({"op": "remove", "path": f"{path}/deny/{index}"})
            lists = lists.model_copy(update={"deny": tuple(other for other in lists.deny if other != name)})
            texts.append(f"take {one} {shown(name)} off the deny list of {whose}")
        if term.allow is not None and name not in term.allow and lists.allow is not None:
            self.changes.append({"op": "add", "path": f"{path}/allow/-", "value": name})
            lists = lists.model_copy(update={"allow": (*lists.allow, name)})
            texts.append(f"put {one} {shown(name)} on the allow list of {whose}")
        return lists, " and ".join(texts)


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
