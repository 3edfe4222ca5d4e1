"""One wire request for a bundle to one wire answer."""

from collections.abc import Mapping
from typing import Any

from ..basics.issues import Issue, child
from ..bundles.bundle import Bundle, BundleLimitError, outcome_of
from ..bundles.explanation import BundleExplanation
from ..bundles.reading import (
    slot_issues,
    slots_shape_issues,
    together_issues,
    why_not_issues,
)
from ..catalog.catalog import Catalog
from ..documents.json_text import plain
from ..errors import BundleUnsatisfiableError, InvalidCapabilityError, WhyrouteError
from ..explanations.hints import UnmetHint, unmet_hints_of_bundle
from ..model.capability import read_capability
from ..model.policy import TenantPolicy
from ..model.provider import SetupFailure
from ..model.timestamps import read_moment
from ..solving.asked import Provenance, request_labels
from ..solving.joint import JointSolved, SearchLimit, Slot, solve_jointly
from ..solving.ties import Tie
from .answering import Answerable

__all__ = ["BundleRequest", "note_problems"]


BundleOutcome = Bundle | BundleUnsatisfiableError | BundleLimitError


class BundleRequest(Answerable[JointSolved, BundleOutcome, Mapping[str, tuple[str, str]]]):
    """A wire request for a bundle, read and checked.

    Attributes:
        slots: The slots, in order.
        ties: What ties them.
        policy: The tenant's policy, if one was given.
    """

    def __init__(
        self,
        document: dict[str, Any],
        slots: list[Slot],
        ties: tuple[Tie, ...],
        catalog: Catalog,
        policy: TenantPolicy | None,
        setup_failures: tuple[SetupFailure, ...] = (),
        provenance: Provenance | None = None,
    ) -> None:
        asked: dict[str, dict[str, str]] | None = document.get("whyNot")
        pairs = None if asked is None else {slot: (each["provider"], each["model"]) for slot, each in asked.items()}
        if provenance is None:
            provenance = Provenance(
                labels=request_labels(document.get("labels", {})),
                at=document["at"],
                declaration={key: document[key] for key in ("slots", "together") if key in document},
                tokens=document.get("tokens"),
            )
        super().__init__(document, catalog, setup_failures, pairs, provenance)
        self.slots = slots
        self.ties = ties
        self.policy = policy

    def solve(self, limit: SearchLimit | None = None, *, engine: str = "bitset") -> JointSolved:
        """The request, compiled and solved. There is one engine for bundles, whatever is asked for."""
        return solve_jointly(
            self.slots,
            self.catalog,
            self.ties,
            policy=self.policy,
            setup_failures=self.setup_failures,
            limit=limit,
            at=read_moment(self.at),
            provenance=self.provenance,
        )

    def outcome(self, solved: JointSolved) -> BundleOutcome:
        """The bundle, or the error that says that there is none, or that it is not known."""
        return outcome_of(solved)

    def hints(self, solved: JointSolved) -> tuple[UnmetHint, ...]:
        """The hints that the picks don't follow."""
        return unmet_hints_of_bundle(solved)

    def explanation(self, solved: JointSolved) -> BundleExplanation:
        """Why the request comes out as it does."""
        return BundleExplanation(solved, self.why_not)


def note_problems(document: dict[str, Any], issues: list[Issue], errors: list[WhyrouteError]) -> None:
    """Check what of a request is about its bundle, and note what is wrong with its shape and its declarations."""
    slots = document.get("slots")
    if "slots" in document:
        issues += slots_shape_issues(slots, "/slots")
        if isinstance(slots, Mapping):
            for name, slot in slots.items():
                if isinstance(name, str):
                    issues += slot_issues(slot, child("/slots", name))
                    errors += _declaration_errors(slot, child("/slots", name))
    for key, check in (("together", together_issues), ("whyNot", why_not_issues)):
        if key in document:
            cleaned, foreign = plain(document[key], child("", key))
            document[key] = cleaned
            issues += foreign or check(cleaned, child("", key), slots)


def _declaration_errors(slot: Any, path: str) -> list[InvalidCapabilityError]:
    if isinstance(slot, Mapping) and "capability" in slot:
        try:
            read_capability(slot["capability"], child(path, "capability"))
        except InvalidCapabilityError as error:
            return [error]
    return []
