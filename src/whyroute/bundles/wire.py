"""One wire request for a bundle to one wire answer."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..basics.issues import Issue, child
from ..catalog.catalog import Catalog
from ..documents.json_text import plain
from ..errors import BundleUnsatisfiableError, InvalidCapabilityError, WhyrouteError
from ..model.capability import read_capability
from ..model.policy import TenantPolicy
from ..model.provider import SetupFailure
from ..model.timestamps import read_moment
from ..solving.joint import JointSolved, SearchLimit, Slot, solve_jointly
from ..solving.request import Situation
from ..solving.ties import Tie
from .bundle import Bundle, BundleLimitError, outcome_of
from .explanation import BundleExplanation
from .reading import read_slots, read_together, slot_issues, slots_shape_issues, together_issues, why_not_issues

__all__ = ["BundleRequest", "read_bundle"]


class BundleRequest:
    """A wire request for a bundle, read and checked.

    Attributes:
        slots: The slots, in order.
        ties: What ties them.
        catalog: The providers.
        policy: The tenant's policy, if one was given.
        setup_failures: Providers that could not be set up.
        why_not: The candidates that are asked about, by slot; None when none are.
        at: The time of the request, as it was written.
        document: The request as it was given, with its time filled in.
    """

    __slots__ = ("at", "catalog", "document", "include", "policy", "setup_failures", "slots", "ties", "why_not")

    def __init__(
        self,
        document: dict[str, Any],
        slots: list[Slot],
        ties: tuple[Tie, ...],
        catalog: Catalog,
        policy: TenantPolicy | None,
        setup_failures: tuple[SetupFailure, ...] = (),
    ) -> None:
        self.document = document
        self.slots = slots
        self.ties = ties
        self.catalog = catalog
        self.policy = policy
        self.setup_failures = setup_failures
        asked: dict[str, dict[str, str]] | None = document.get("whyNot")
        self.why_not = None if asked is None else {slot: (c["provider"], c["model"]) for slot, c in asked.items()}
        self.include: tuple[str, ...] = tuple(document.get("include", ()))
        self.at: str = document["at"]

    def solve(self, limit: SearchLimit | None = None) -> JointSolved:
        """The request, compiled and solved."""
        return solve_jointly(
            self.slots,
            self.catalog,
            self.ties,
            policy=self.policy,
            setup_failures=self.setup_failures,
            limit=limit,
            at=read_moment(self.at),
        )

    def explanation(self, solved: JointSolved) -> BundleExplanation:
        """Why the request comes out as it does."""
        return BundleExplanation(solved, self.why_not)

    def answer(self, engine: str = "bitset", limit: SearchLimit | None = None) -> dict[str, Any]:
        """The wire answer. There is one engine for bundles, whatever is asked for."""
        solved = self.solve(limit)
        return self.answered(solved, outcome_of(solved))

    def answered(
        self, solved: JointSolved, outcome: Bundle | BundleUnsatisfiableError | BundleLimitError
    ) -> dict[str, Any]:
        """The wire answer of a request that was solved already, and what it came to."""
        found: dict[str, Any] = {
            "decision" if isinstance(outcome, Bundle) else "error": outcome.to_dict(),
            "at": self.at,
        }
        if (shadow := solved.shadow) is not None:
            found["shadow"] = shadow.to_dict()
        if "matched" in self.include:
            found["matched"] = {
                name: [candidate.to_dict() for candidate in slot.matched()]
                for name, slot in zip(solved.names, solved.slots, strict=True)
            }
        if "explanation" in self.include and isinstance(outcome, Bundle | BundleUnsatisfiableError):
            found["explanation"] = self.explanation(solved).to_dict()
        if "request" in self.include:
            kept = {key: value for key, value in self.document.items() if key not in ("include", "id")}
            found["request"] = plain(kept)[0]
        return found

    def answer_json(self, engine: str = "bitset", *, head: str = "{") -> tuple[bool, Iterator[str]]:
        """Whether there is a bundle, and `answer` as JSON text.

        Args:
            engine: There is one for bundles, whatever is asked for.
            head: What the text begins with: a brace, and members that stand before those of the answer.
        """
        solved = self.solve()
        outcome = outcome_of(solved)
        found = json.dumps(self.answered(solved, outcome), ensure_ascii=False, allow_nan=False)
        return isinstance(outcome, Bundle), iter((head, found[1:]))


Parts = Callable[[Catalog, TenantPolicy | None, tuple[SetupFailure, ...], Situation | None], BundleRequest]


def read_bundle(document: dict[str, Any], issues: list[Issue], errors: list[WhyrouteError]) -> Parts | None:
    """Check what of a request is about its bundle, and note what is wrong.

    Args:
        document: The request, with its time; the parts that other requests have, too, are checked elsewhere.
        issues: Takes what is wrong with its shape.
        errors: Takes what is wrong with its declarations.

    Returns:
        What makes the request of its other parts; None when something is wrong.
    """
    known = len(issues)
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
    if "slots" not in document or len(issues) > known or errors:
        return None

    def parts(
        catalog: Catalog,
        policy: TenantPolicy | None,
        failures: tuple[SetupFailure, ...],
        situation: Situation | None,
    ) -> BundleRequest:
        read, _ = read_slots(document["slots"], situation)
        ties = read_together(document.get("together", ()), document["slots"])
        return BundleRequest(document, read, ties, catalog, policy, failures)

    return parts


def _declaration_errors(slot: Any, path: str) -> list[InvalidCapabilityError]:
    if isinstance(slot, Mapping) and "capability" in slot:
        try:
            read_capability(slot["capability"], child(path, "capability"))
        except InvalidCapabilityError as error:
            return [error]
    return []
