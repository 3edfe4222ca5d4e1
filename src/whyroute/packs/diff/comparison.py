"""What differs between two packs in what they answer: data only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ...constraints.named import Origin
from .inventory import FactChange, Later, Named
from .json_form import Pair, as_json, given, said
from .labels import LabelValues

__all__ = [
    "Answer",
    "BundleAnswer",
    "BundleChange",
    "Cause",
    "Change",
    "Comparison",
    "Cut",
    "Declared",
    "Effect",
    "Movement",
    "RequestLine",
    "Scope",
    "ShadowAnswer",
    "ShadowChange",
    "TenantVerdict",
    "Verdict",
]

Verdict = Literal["stricter", "looser", "both", "same"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a route comes to.

    Attributes:
        pick: The pick; None when nothing qualifies, or the request is refused.
        fallback: Whether only fallback providers qualify.
        refused: Why the pack refuses the request; None when it answers it.
    """

    pick: Pair | None
    fallback: bool = False
    refused: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        if self.refused is not None:
            return {"refused": self.refused}
        return {"unsatisfiable": True} if self.pick is None else said(self, "pick", "fallback")


@dataclass(frozen=True, slots=True)
class Cause:
    """A constraint, or a preference, that makes the difference.

    Attributes:
        constraint: Its id. `onlyTenants` is no constraint of a route: it hides a provider from the tenant.
        label: Its text.
        owner: `caller`, `policy`, `rule`, or `catalog` for `onlyTenants`.
        change: Whether it is in NEW alone, in OLD alone, in both but not the same, or the same in both: then it is the
            facts of the candidates that changed.
        because: Why there is this rule.
        contact: The contact.
        origins: Where it is written: in NEW what rejects now, in OLD what rejected before.
        counterpart: Where the other pack has it, when it is not the same there.
        waivers: The waivers of the rule that one of the packs alone has.
    """

    constraint: str
    label: str
    owner: str
    change: Literal["added", "removed", "changed", "same"]
    because: str | None = None
    contact: str | None = None
    origins: tuple[Origin, ...] = ()
    counterpart: tuple[Origin, ...] = ()
    waivers: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The cause as JSON."""
        optional = given(self, "because", "contact", "origins", "counterpart", "waivers")
        return {**said(self, "constraint", "label", "owner", "change"), **optional}


@dataclass(frozen=True, slots=True)
class Movement:
    """Candidates that qualify in one pack and not in the other, for the same reasons.

    Attributes:
        candidates: The candidates, in tie-break order.
        causes: The constraints of the pack where they do not qualify that reject them there.
    """

    candidates: tuple[Pair, ...]
    causes: tuple[Cause, ...]

    def to_dict(self) -> dict[str, Any]:
        """The movement as JSON."""
        return {**said(self, "candidates"), "by": as_json(self.causes)}


@dataclass(frozen=True, slots=True)
class Effect:
    """How the answer to a request differs.

    Attributes:
        old: The answer of OLD.
        new: The answer of NEW.
        lost: Candidates of both catalogs that qualify in OLD alone.
        gained: Candidates of both catalogs that qualify in NEW alone.
        withdrawn: Candidates that qualify in OLD and are not in NEW's catalog.
        arrived: Candidates that qualify in NEW and are not in OLD's catalog.
        ranking: The rules that prefer and differ, where the pick changes among candidates that qualify in both.
        reranked: Whether the pick changes among candidates that qualify in both.
    """

    old: Answer
    new: Answer
    lost: tuple[Movement, ...] = ()
    gained: tuple[Movement, ...] = ()
    withdrawn: tuple[Pair, ...] = ()
    arrived: tuple[Pair, ...] = ()
    ranking: tuple[Cause, ...] = ()
    reranked: bool = False

    @property
    def kind(self) -> Literal["broke", "appeared", "pick", "candidates"]:
        """What it is foremost: a route that breaks or appears, another pick, or other candidates behind the pick."""
        if self.old == self.new:
            return "candidates"
        if self.new.pick is None and self.old.pick is not None:
            return "broke"
        if self.old.pick is None and self.new.pick is not None:
            return "appeared"
        return "pick"

    def to_dict(self) -> dict[str, Any]:
        """The effect as JSON."""
        found = said(self, "kind", "old", "new", "lost", "gained", "withdrawn", "arrived")
        return {**found, **said(self, "ranking")} if self.reranked else found


@dataclass(frozen=True, slots=True)
class RequestLine:
    """A request of a file.

    Attributes:
        line: The number of its line, from 1.
        id: What it calls itself.
    """

    line: int
    id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The request's name as JSON."""
        return {**said(self, "line"), **given(self, "id")}


@dataclass(frozen=True, slots=True)
class Scope:
    """Requests: each of some tenants for each of some capabilities, in each of some cases.

    Attributes:
        tenants: The tenants.
        capabilities: The names of the capabilities; None for a declaration of a request's own.
        labels: The labels: any of the values of each key, for one of the mappings. A key that is not there has any
            value; one empty mapping: whatever the labels are.
        requests: The requests of the file, when there is one; then `labels` is empty.
    """

    tenants: tuple[str, ...]
    capabilities: tuple[str | None, ...]
    labels: tuple[tuple[tuple[str, LabelValues], ...], ...] = ()
    requests: tuple[RequestLine, ...] = ()

    @property
    def order(self) -> tuple[tuple[int, ...], tuple[str, ...], tuple[str, ...]]:
        """Where it sorts: by lines of the file, else by tenants and capabilities."""
        return (
            tuple(each.line for each in self.requests),
            self.tenants,
            tuple(each or "" for each in self.capabilities),
        )

    def to_dict(self) -> dict[str, Any]:
        """The scope as JSON."""
        found = said(self, "tenants", "capabilities")
        if self.requests:
            return {**found, **said(self, "requests")}
        return {**found, "labels": [{key: as_json(values) for key, values in case} for case in self.labels]}


@dataclass(frozen=True, slots=True)
class Change:
    """The same effect on some requests.

    Attributes:
        effect: The effect.
        scopes: The requests.
        routes: How many routes that are: tenant, capability and labels, or requests.
    """

    effect: Effect
    scopes: tuple[Scope, ...]
    routes: int

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON."""
        return {**said(self, "routes", "scopes"), **self.effect.to_dict()}


@dataclass(frozen=True, slots=True)
class ShadowAnswer:
    """What enforcing the rules that are only tried out would give.

    Attributes:
        pick: The pick; None when nothing would qualify.
        by: The ids of the rules that make the difference.
    """

    pick: Pair | None
    by: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {**({"unsatisfiable": True} if self.pick is None else said(self, "pick")), **said(self, "by")}


@dataclass(frozen=True, slots=True)
class ShadowChange:
    """Requests for which the rules that are only tried out come to something else.

    Attributes:
        old: What they come to in OLD; None when none is in force.
        new: What they come to in NEW.
        scopes: The requests.
        routes: How many routes that are.
    """

    old: ShadowAnswer | None
    new: ShadowAnswer | None
    scopes: tuple[Scope, ...]
    routes: int

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON."""
        return said(self, "routes", "scopes", "old", "new")


@dataclass(frozen=True, slots=True)
class TenantVerdict:
    """What the change means to a tenant.

    Attributes:
        tenant: The tenant.
        verdict: By the candidates of both catalogs: `stricter` when some route loses one and none gains one, `looser`
            the other way round.
        routes: How many routes were compared.
        broke: How many of them are no longer satisfied.
        appeared: How many of them are satisfied only now.
        picks: How many are satisfied by another pick.
        candidates: How many have the same answer, and other candidates behind it.
    """

    tenant: str
    verdict: Verdict
    routes: int
    broke: int
    appeared: int
    picks: int
    candidates: int

    @property
    def changed(self) -> int:
        """How many routes differ."""
        return self.broke + self.appeared + self.picks + self.candidates

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON."""
        return said(self, "tenant", "verdict", "routes", "broke", "appeared", "picks", "candidates")


@dataclass(frozen=True, slots=True)
class BundleAnswer:
    """What a bundle comes to.

    Attributes:
        picks: The pick of each slot, by the slots' names; None when nothing qualifies, or the request is refused.
        refused: Why the pack refuses the request; None when it answers it.
    """

    picks: tuple[tuple[str, Pair], ...] | None
    refused: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        if self.refused is not None:
            return {"refused": self.refused}
        return (
            {"unsatisfiable": True}
            if self.picks is None
            else {"picks": {slot: pick.to_dict() for slot, pick in self.picks}}
        )


@dataclass(frozen=True, slots=True)
class BundleChange:
    """A bundle of both packs that is another one in NEW, or comes to something else.

    Attributes:
        bundle: Its name.
        redefined: Whether its slots, or what ties them, are others.
        tenants: Those for which it comes to something else; none when it was only redefined.
        old: What it comes to for them in OLD; None when there are none.
        new: Likewise, in NEW.
        origin: Where NEW has it.
        counterpart: Where OLD has it.
        labels: Labels with which it does; none where it does without any.
    """

    bundle: str
    redefined: bool
    tenants: tuple[str, ...]
    old: BundleAnswer | None
    new: BundleAnswer | None
    origin: Origin
    counterpart: Origin
    labels: tuple[tuple[str, str], ...] = ()

    @property
    def is_broken(self) -> bool:
        """Whether it came to something, and does not any more."""
        return self.old is not None and self.old.picks is not None and (self.new is None or self.new.picks is None)

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON."""
        labels = {"labels": dict(self.labels)} if self.labels else {}
        return {
            **said(self, "bundle", "redefined", "tenants"),
            **labels,
            **said(self, "old", "new", "origin", "counterpart"),
        }


@dataclass(frozen=True, slots=True)
class Cut:
    """Routes, or a bundle, with more combinations of labels than are looked at.

    Attributes:
        tenant: The tenant.
        capability: The capability, or the bundle.
        compared: How many combinations were compared.
        total: How many are known of.
        labels: The labels whose globs are too many or too long to know of all.
        what: What `capability` is.
    """

    tenant: str
    capability: str
    compared: int
    total: int
    labels: tuple[str, ...] = ()
    what: Literal["capability", "bundle"] = "capability"

    def to_dict(self) -> dict[str, Any]:
        """The note as JSON."""
        compared = {**said(self, "tenant"), self.what: self.capability, **said(self, "compared", "total")}
        return {**compared, **given(self, "labels")}


@dataclass(frozen=True, slots=True)
class Declared:
    """A capability that a request may declare itself, and that the packs answer otherwise: others were not tried.

    Attributes:
        tenant: The tenant.
        declaration: The declaration, as it goes over the wire.
    """

    tenant: str
    declaration: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The note as JSON."""
        return said(self, "tenant", "declaration")


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two packs.

    Attributes:
        old: What OLD is called.
        new: What NEW is called.
        at: The time of the requests that have none of their own.
        of_requests: Whether the requests of a file were compared, not all routes.
        tenants: A verdict for each tenant of both packs; of those that a file of requests names, when there is one.
        changes: What differs in answers: broken routes first, then those that appear, picks, candidates.
        shadows: What differs in what shadow rules come to.
        added: What NEW alone has.
        removed: What OLD alone has.
        facts: What differs in the facts of candidates that both catalogs have.
        later: What begins or ends after the time of the comparison, in one of the packs alone.
        bundles: What differs in the bundles of both packs.
        cuts: Where combinations of labels were left out, and what they come to could differ.
        declared: What the packs answer otherwise though nothing else differs.
    """

    old: str
    new: str
    at: str
    of_requests: bool
    tenants: tuple[TenantVerdict, ...]
    changes: tuple[Change, ...]
    shadows: tuple[ShadowChange, ...]
    added: tuple[Named, ...]
    removed: tuple[Named, ...]
    facts: tuple[FactChange, ...]
    later: tuple[Later, ...]
    bundles: tuple[BundleChange, ...]
    cuts: tuple[Cut, ...]
    declared: tuple[Declared, ...] = ()

    @property
    def routes(self) -> int:
        """How many routes were compared."""
        return sum(each.routes for each in self.tenants)

    @property
    def is_looser(self) -> bool:
        """Whether some tenant's verdict is `looser` or `both`."""
        return any(each.verdict in ("looser", "both") for each in self.tenants)

    @property
    def is_broken(self) -> bool:
        """Whether a route or a bundle broke; what is gone, if requests name it, breaks all that do."""
        gone = not self.of_requests and any(each.refused for each in self.removed)
        broke = any(each.effect.kind == "broke" for each in self.changes)
        return gone or broke or any(each.is_broken for each in self.bundles)

    @property
    def is_complete(self) -> bool:
        """Whether everything was compared that could differ."""
        return not (self.cuts or self.declared)

    @property
    def differs(self) -> bool:
        """Whether something that was compared differs."""
        named = self.added or self.removed or self.facts or self.later
        return bool(self.changes or self.shadows or self.bundles or named)

    @property
    def is_same(self) -> bool:
        """Whether nothing differs at all, and nothing was left out that could."""
        return self.is_complete and not self.differs

    @property
    def facts_of(self) -> Mapping[Pair, tuple[FactChange, ...]]:
        """The changed facts of each candidate of both catalogs that has some of its own."""
        found: dict[Pair, list[FactChange]] = {}
        for each in self.facts:
            if each.model is not None:
                found.setdefault(Pair(each.provider, each.model), []).append(each)
        return {candidate: tuple(facts) for candidate, facts in found.items()}

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON."""
        return {
            **said(self, "old", "new", "at"),
            "same": self.is_same,
            "complete": self.is_complete,
            "looser": self.is_looser,
            "broken": self.is_broken,
            **said(self, "tenants", "changes"),
            "shadow": as_json(self.shadows),
            **said(self, "added", "removed", "facts", "later", "bundles"),
            "cut": as_json((*self.cuts, *self.declared)),
        }
