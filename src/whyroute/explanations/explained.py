"""What explanations of one capability and of bundles have in common; everything is computed when it is read."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

from ..basics.computed import computed
from ..basics.issues import Issue, child, shown
from ..catalog.catalog import Catalog
from ..constraints.named import NamedConstraint
from ..errors import InvalidRequestError
from ..model.provider import SetupFailure
from .found import Conflicts
from .hints import UnmetHint
from .relaxations import DeadEnd, Moves

if TYPE_CHECKING:
    from ..solving.joint import JointConstraint, JointSolved
    from ..solving.request import Shadow, Solved
    from .relaxing import Nearest

__all__ = ["C", "Explained", "Limits", "R", "constraint_dict"]

S = TypeVar("S", bound="Solved | JointSolved")
W = TypeVar("W")
C = TypeVar("C", bound="NamedConstraint | JointConstraint")
R = TypeVar("R", bound=Moves)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of each list an explanation makes. The number of cores and corrections can be exponential.

    Attributes:
        cores: Minimal sets of constraints that clash.
        corrections: Minimal sets of constraints to drop.
        relaxations: Corrections that are turned into edits and solved again.
        near_misses: Candidates that don't qualify; None: all of them.
        unknowns: Unknown facts; None: all of them.
        ranking: Candidates that qualify; None: all of them.

    Raises:
        InvalidRequestError: A limit is no integer of at least 1, nor None where that means all; all issues.
    """

    cores: int = 64
    corrections: int = 64
    relaxations: int = 16
    near_misses: int | None = 10
    unknowns: int | None = 10
    ranking: int | None = 20

    def __post_init__(self) -> None:
        issues: list[Issue] = []
        for each in fields(self):
            value = getattr(self, each.name)
            all_of_them = ", or None for all" if each.name in ("near_misses", "unknowns", "ranking") else ""
            if value is None and all_of_them:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                expected = f"a limit is an integer of at least 1{all_of_them}"
                issues.append(Issue(child("/limits", each.name), f"{shown(value)}; {expected}"))
        if issues:
            raise InvalidRequestError(issues)


@dataclass(frozen=True)
class Explained(ABC, Generic[S, W, C, R]):
    """Why a request came out as it did.

    Attributes:
        solved: The request, compiled and solved.
        why_not: What is asked about.
        limits: How much of each list is made.
    """

    solved: S = field(repr=False)
    why_not: W | None = None
    limits: Limits = Limits()

    def __reduce__(self) -> tuple[Any, ...]:
        # A live provider may hold connections and locks. What was read is computed again where it is asked for.
        return type(self), (self.solved.declared(), self.why_not, self.limits)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    @property
    def catalog(self) -> Catalog:
        """The candidates."""
        return self.solved.catalog

    @property
    @abstractmethod
    def constraints(self) -> Sequence[C]:
        """Every constraint, in the contract's order."""

    @property
    def setup_failures(self) -> tuple[SetupFailure, ...]:
        """Registered providers that were no candidates because they could not be set up."""
        return self.solved.setup_failures

    @property
    def shadow(self) -> "Shadow | None":
        """What enforcing the rules that are only tried out would give; None when none is in force."""
        return self.solved.shadow

    @property
    def asked(self) -> dict[str, Any]:
        """What was asked, of which tenant and under which pack, and when: as it goes over the wire."""
        return self.solved.asked()

    @property
    @abstractmethod
    def hints(self) -> tuple[UnmetHint, ...]:
        """The hints that the pick doesn't follow; all of them when nothing qualifies."""

    @property
    @abstractmethod
    def satisfiable(self) -> bool:
        """Whether anything qualifies."""

    # When nothing qualifies.

    @property
    @abstractmethod
    def _conflicts(self) -> Conflicts[int]:
        """What clashes, by the places of the constraints."""

    @property
    @abstractmethod
    def _joint(self) -> "JointSolved":
        """The request as one for a bundle."""

    @computed
    def cores(self) -> tuple[tuple[C, ...], ...]:
        """The minimal sets of constraints that nothing satisfies together, smallest first."""
        return self._named(self._conflicts.cores.sets)

    @computed
    def corrections(self) -> tuple[tuple[C, ...], ...]:
        """The minimal sets of constraints without which something qualifies, smallest first."""
        return self._named(self._conflicts.corrections.sets)

    def _named(self, sets: Sequence[Sequence[int]]) -> tuple[tuple[C, ...], ...]:
        named = self.constraints[:]
        return tuple([tuple([named[index] for index in each]) for each in sets])

    @computed
    def _nearest(self) -> "tuple[Nearest, ...]":
        """The first corrections, each with what fails exactly its constraints."""
        from .relaxing import nearest_of  # noqa: PLC0415 (takes long to load; most routes succeed)

        sets = self._conflicts.corrections.sets[: self.limits.relaxations]
        return tuple(nearest_of(self._joint, each) for each in sets)

    @computed
    def _ways(self) -> tuple[Moves | DeadEnd, ...]:
        from .relaxing import relax  # noqa: PLC0415 (as above)

        return tuple(relax(self._joint, nearest) for nearest in self._nearest)

    @computed
    def relaxations(self) -> tuple[R, ...]:
        """For every correction the edits it takes, solved again, with the picks that they lead to."""
        return tuple([cast("R", each) for each in self._ways if not isinstance(each, DeadEnd)])

    @property
    def dead_ends(self) -> tuple[DeadEnd, ...]:
        """The corrections that no edits carry out, each with why."""
        return tuple(each for each in self._ways if isinstance(each, DeadEnd))

    @property
    def truncated(self) -> tuple[str, ...]:
        """Which of cores, corrections and relaxations a limit cut short."""
        return self._conflicts.truncated(self.limits.relaxations)

    # Out.

    def to_dict(self) -> dict[str, Any]:
        """The explanation as it goes over the wire."""
        return {name: list(value) if isinstance(value, Iterator) else value for name, value in self._members()}

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return "".join(self.iter_json())

    def iter_json(self) -> Iterator[str]:
        """The JSON text in pieces, each of them at most one item of a list: reasons may repeat long lists of names."""
        between = "{"
        for name, value in self._members():
            yield f"{between}{_json(name)}: "
            between = ", "
            if not isinstance(value, Iterator):
                yield _json(value)
                continue
            before = "["
            for item in value:
                yield f"{before}{_json(item)}"
                before = ", "
            yield "]" if before == ", " else "[]"
        yield "}"

    def _members(self) -> Iterator[tuple[str, Any]]:
        """The members of the wire form; of lists that may be long, their items are made one by one."""
        yield "satisfiable", self.satisfiable
        yield "asked", self.asked
        if self.hints:
            yield "hints", [hint.to_dict() for hint in self.hints]
        yield from self._first_members()
        yield "cores", [[constraint.id for constraint in core] for core in self.cores]
        yield "corrections", [[constraint.id for constraint in each] for each in self.corrections]
        if self.truncated:
            yield "truncated", list(self.truncated)
        yield "relaxations", (relaxation.to_dict() for relaxation in self.relaxations)
        if self.dead_ends:
            yield "deadEnds", [each.to_dict() for each in self.dead_ends]
        yield from self._last_members()

    @abstractmethod
    def _first_members(self) -> Iterator[tuple[str, Any]]:
        """Those that stand before the cores."""

    @abstractmethod
    def _last_members(self) -> Iterator[tuple[str, Any]]:
        """Those that stand after the relaxations."""


def constraint_dict(constraint: "NamedConstraint | JointConstraint") -> dict[str, Any]:
    """What a constraint says of itself, as it goes over the wire."""
    found: dict[str, Any] = {"id": constraint.id, "label": constraint.label, "owner": constraint.owner}
    if constraint.contact is not None:
        found["contact"] = constraint.contact
    if constraint.because is not None:
        found["because"] = constraint.because
    if constraint.origins:
        found["origins"] = [origin.to_dict() for origin in constraint.origins]
    return found


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
