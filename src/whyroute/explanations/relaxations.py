"""Relaxations: corrections turned into concrete edits of the request, solved again, with the pick they lead to."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..basics.frozen import frozen, thawed
from ..catalog.candidate import Candidate
from ..catalog.catalog import Catalog
from ..constraints.named import NamedConstraint, Owner
from ..constraints.terms import FeatureTerm, KindTerm, ListTerm, Term
from ..documents.phrases import in_backticks
from ..solving.request import RequestTerms, Solved
from .edits import Draft, Edit, Operation

__all__ = ["DeadEnd", "Moves", "Relaxation", "editable", "relax", "two_edits"]


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


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """A correction that no edit of the request carries out, and why.

    Attributes:
        correction: The constraints that would have to change, in constraint order.
        why: `kind`: only candidates of a kind without a name would do, and no request can ask for that kind; `rules`:
            other rules apply to the edited request, and nothing satisfies them; `search-limit`: the search ended at its
            limit before it found a bundle.
        by: The ids of these rules.
    """

    correction: tuple[Any, ...]
    why: Literal["kind", "rules", "search-limit"]
    by: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Why there is no way out, in plain words."""
        if self.why == "kind":
            return "only candidates of a kind without a name would qualify, and a request can't ask for that kind"
        if self.why == "rules":
            verb = "apply" if len(self.by) > 1 else "applies"
            return f"{in_backticks(self.by, 'and')} {verb} to the edited request, and nothing qualifies"
        return "the search ended at its limit before it found a bundle"

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the correction's constraints."""
        return tuple(constraint.id for constraint in self.correction)

    def to_dict(self) -> dict[str, Any]:
        """The dead end as it goes over the wire."""
        return {
            "correction": list(self.ids),
            "why": self.why,
            **({"by": list(self.by)} if self.by else {}),
            "text": self.text,
        }


def relax(solved: Solved, correction: Sequence[int]) -> Relaxation | DeadEnd:
    """The relaxation of one correction, or why there is none.

    Of the candidates that fail exactly the correction's constraints, it takes those that the fewest edits admit, and
    of these the best ranked one. The edited request is solved again: the pick is what it answers.

    Args:
        solved: A request that nothing satisfies.
        correction: Indices of the constraints, ascending; minimal, so that such candidates exist.
    """
    constraints = solved.constraints
    chosen = [constraints[index] for index in correction]
    lifted = {constraint.id for constraint in chosen if constraint.owner == "rule"}
    members, by = editable(solved, chosen, lifted, _failing_exactly(solved, correction))
    if not members:
        return DeadEnd(tuple(chosen), "rules" if by else "kind", by)
    candidate = solved.catalog.candidate(solved.ranked(_fewest_edits(chosen, members)).best())
    draft = Draft([solved], ["/capability"])
    edits = tuple(draft.admit(constraint, {0: candidate}) for constraint in chosen)
    again = solved.again(draft.slots[0].edited(), draft.policy, draft.lifted)
    if not again.survivors:
        raise RuntimeError(f"the edits {draft.operations()} admit nobody, though {candidate.id} was to be admitted")
    pick = solved.catalog.candidate(again.ranked(again.survivors).best())
    offered = all(constraint.waivable for constraint in chosen if constraint.owner == "rule")
    return Relaxation(tuple(chosen), edits, tuple(draft.operations()), pick, offered)


def _failing_exactly(solved: Solved, correction: Iterable[int]) -> int:
    dropped = set(correction)
    members = solved.catalog.all()
    for index, admitted in enumerate(solved.constraints.admitted):
        if index not in dropped:
            members &= admitted
    return members


def editable(
    solved: Solved, chosen: Collection[NamedConstraint], lifted: Collection[str], members: int
) -> tuple[int, tuple[str, ...]]:
    """The candidates of a set that qualify once the request is edited for them, and the rules that stop others then.

    A declaration can't ask for a kind without a name; and other rules may apply to another kind, or without a feature.

    Args:
        solved: The request.
        chosen: The constraints that are edited.
        lifted: The ids of the rules that are lifted.
        members: Candidates that fail none but `chosen`.
    """
    catalog, capability = solved.catalog, solved.capability
    new_kind = any(isinstance(constraint.term, KindTerm) for constraint in chosen)
    if new_kind:
        members &= ~catalog.of_kind("")
    dropped = {constraint.id for constraint in chosen if isinstance(constraint.term, FeatureTerm)}
    if solved.situation is None or not (new_kind or dropped):
        return members, ()
    needs = tuple(need for index, need in enumerate(capability.needs) if f"needs/{index}" not in dropped)
    groups = {capability.kind: members}
    if new_kind:
        kinds = dict.fromkeys(candidate.metadata.capability_kind for candidate in catalog.candidates(members))
        groups = {kind: members & catalog.of_kind(kind) for kind in kinds}
    found, by = 0, dict[str, None]()
    for kind, group in groups.items():
        edited = capability.model_copy(update={"kind": kind, "needs": needs})
        for term in RequestTerms(edited, solved.policy, solved.situation).rule_terms(solved.at):
            admitted = term.admitted(catalog)
            if term.id not in lifted and group & ~admitted:
                by[term.id] = None
                group &= admitted  # noqa: PLW2901
        found |= group
    return found, tuple(by)


def two_edits(term: Term, catalog: Catalog) -> int:
    """The candidates that take two edits of one need: off its deny list, and on its allow list."""
    if not isinstance(term, ListTerm) or not term.deny or term.allow is None:
        return 0
    allowed = set(term.allow)
    neither = tuple(name for name in term.deny if name not in allowed)
    return catalog.all() & ~ListTerm(term.subject, None, neither).admitted(catalog)


def _fewest_edits(chosen: Iterable[NamedConstraint], members: int) -> int:
    groups = [members]
    for constraint in chosen:
        both = two_edits(constraint.term, constraint.catalog)
        split = [0] * (len(groups) + 1)
        for extra, group in enumerate(groups):
            split[extra] |= group & ~both
            split[extra + 1] |= group & both
        groups = split
    return next(group for group in groups if group)
