"""Constraints of a caller's own, judged by a function in three values."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..basics import bits
from ..basics.issues import Issue, child, kind_of, shown
from ..catalog.candidate import Candidate
from ..catalog.catalog import Catalog
from ..errors import InvalidRequestError, RejectionReason
from ..model.metadata import ModelInfo, ProviderMetadata
from ..model.provider import DeclaredProvider

__all__ = ["Custom", "CustomTerm", "read_custom"]

Admits: TypeAlias = Callable[[Candidate], bool | None]
"""Whether a candidate passes, by its metadata and its model: yes, no, or None where a fact is not known."""


@dataclass(frozen=True, slots=True)
class Custom:
    """A constraint of the caller's own. Its constraint's id is `custom/<id>`.

    Attributes:
        id: Unique among the custom constraints of a request.
        label: What it is called in reasons and explanations.
        admits: Judges a candidate by its metadata and its model: True, False, or None where a fact is not known, which
            never passes. Equal candidates get equal answers; it is called for each candidate whenever a request is
            bound.
        because: Why there is this constraint: what is read where it rejects.

    Example:
        >>> import whyroute as wr
        >>> audited = wr.Custom(
        ...     "audited",
        ...     "audited = yes",
        ...     lambda candidate: {"yes": True, "no": False}.get(candidate.metadata.labels.get("audited", "")),
        ...     "Clients ask for audited providers.",
        ... )
        >>> error = None
        >>> try:
        ...     wr.prepare({"needs": []}, custom=[audited]).bind([wr.EchoProvider("echo")]).route()
        ... except wr.CapabilityUnsatisfiableError as unsatisfiable:
        ...     error = unsatisfiable
        >>> [reason.requirement for reason in error.reasons], [core[0].id for core in error.explanation.cores]
        (['audited = yes'], ['custom/audited'])
    """

    id: str
    label: str
    admits: Admits
    because: str

    def __post_init__(self) -> None:
        for name in ("id", "label", "because"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value:
                raise TypeError(f"`{name}` is {shown(value)}; a non-empty string is expected")
        if not callable(self.admits):
            raise TypeError(f"`admits` is {kind_of(self.admits)}; a function of a candidate is expected")


@dataclass(frozen=True, slots=True)
class CustomTerm:
    """What a custom constraint compares: what its function says of a candidate."""

    custom: Custom

    @property
    def id(self) -> str:
        """The id of its constraint."""
        return f"custom/{self.custom.id}"

    @property
    def label(self) -> str:
        return self.custom.label

    def admitted(self, catalog: Catalog) -> int:
        return self._members(catalog, True)

    def undecided(self, catalog: Catalog) -> int:
        """The candidates of which it is not known whether they pass, as a set."""
        return self._members(catalog, None)

    def _members(self, catalog: Catalog, wanted: bool | None) -> int:
        candidates = enumerate(catalog.candidates())
        members = [at for at, each in candidates if self.observe(each.metadata, each.model) is wanted]
        return bits.from_positions(members, catalog.size)

    def observe(self, provider: ProviderMetadata, model: ModelInfo) -> bool | None:
        # By what is described alone, so that a live provider makes no difference.
        found = self.custom.admits(Candidate(DeclaredProvider(provider), provider, model))
        if found is None or isinstance(found, bool):
            return found
        raise TypeError(f"{shown(self.id)} says {shown(found)}, {kind_of(found)}; True, False or None is expected")

    def observe_all(self, providers: Iterable[ProviderMetadata], models: Iterable[ModelInfo]) -> Iterator[Hashable]:
        return map(self.observe, providers, models)

    def accepts(self, observed: Any) -> bool:
        return observed is True

    def reason(self, observed: Any) -> RejectionReason:
        because = self.custom.because.strip().rstrip(".")
        met = "it is not known whether it holds" if observed is None else "it does not hold"
        message = f"{shown(self.custom.label)} ({because}): {met}"
        details = {"id": self.custom.id, "because": self.custom.because, "observed": observed}
        return RejectionReason("custom-violated", message, details)


def read_custom(given: Any) -> tuple[Custom, ...]:
    """The custom constraints of a request.

    Raises:
        InvalidRequestError: One is of another type, or two have one id.
    """
    if isinstance(given, Custom | str) or not isinstance(given, Iterable):
        raise InvalidRequestError([Issue("/custom", f"{kind_of(given)}; a list of Custom is expected")])
    found = tuple(given)
    issues: list[Issue] = []
    seen: set[str] = set()
    for index, each in enumerate(found):
        path = child("/custom", index)
        if not isinstance(each, Custom):
            issues.append(Issue(path, f"{kind_of(each)}; a Custom is expected"))
        elif each.id in seen:
            issues.append(Issue(child(path, "id"), f"{shown(each.id)} is there twice; ids are unique"))
        else:
            seen.add(each.id)
    if issues:
        raise InvalidRequestError(issues)
    return found
