"""Relaxations: corrections as edits of the request, with the picks that they lead to; or why there are no edits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..basics.frozen import frozen, thawed
from ..catalog.candidate import Candidate
from ..constraints.named import Owner
from ..documents.phrases import in_backticks
from .edits import Edit, Operation

__all__ = ["BundleRelaxation", "DeadEnd", "Moves", "Relaxation"]


@dataclass(frozen=True, slots=True)
class Moves:
    """A correction as edits of the request, and the picks that the edited request leads to.

    Attributes:
        correction: The constraints that change, in constraint order.
        edits: What changes about each.
        patch: The edits as a JSON Patch (RFC 6902) of the wire request; a copy that refuses changes.
        picks: The candidate of each slot that the patched request picks.
    """

    correction: tuple[Any, ...]
    edits: tuple[Edit, ...]
    patch: tuple[Operation, ...]
    picks: Mapping[str, Candidate]

    def __post_init__(self) -> None:
        object.__setattr__(self, "patch", frozen(self.patch))
        object.__setattr__(self, "picks", frozen(self.picks))

    @property
    def offered(self) -> bool:
        """Whether it may be proposed to a person at all: it changes no rule that can't be waived."""
        return all(constraint.waivable for constraint in self.correction if constraint.owner == "rule")

    @property
    def owners(self) -> tuple[Owner, ...]:
        """Whose moves it takes, each once, in constraint order."""
        return tuple(dict.fromkeys(constraint.owner for constraint in self.correction))

    @property
    def texts(self) -> tuple[str, ...]:
        """What to do, in plain words, one sentence an edit."""
        return tuple(edit.text for edit in self.edits)

    @property
    def text(self) -> str:
        """What to do, in plain words."""
        return "; ".join(self.texts)

    def to_dict(self) -> dict[str, Any]:
        """The relaxation as it goes over the wire."""
        return {
            "correction": [constraint.id for constraint in self.correction],
            "patch": thawed(self.patch),
            "owners": list(self.owners),
            "offered": self.offered,
            **self._gives(),
            "text": self.text,
        }

    def _gives(self) -> dict[str, Any]:
        return {"picks": {name: candidate.to_dict() for name, candidate in self.picks.items()}}


class Relaxation(Moves):
    """A correction of one capability: what `Moves` says, of its one pick."""

    __slots__ = ()

    @property
    def pick(self) -> Candidate:
        """The candidate that the patched request picks."""
        (pick,) = self.picks.values()
        return pick

    def _gives(self) -> dict[str, Any]:
        return {"pick": self.pick.to_dict()}


class BundleRelaxation(Moves):
    """A correction of a bundle: what `Moves` says, of the picks of its slots."""

    __slots__ = ()


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
