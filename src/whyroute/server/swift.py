"""What is known to take less time to answer than to hand to a thread."""

from collections.abc import Mapping
from typing import Any, Final

from ..rulepack import Pack

__all__ = ["SWIFT_BODY", "Question", "Swift", "question_of"]

SWIFT_BODY: Final = 1024
"""How many bytes of a body may be read on the event loop."""

_SWIFT_SECONDS: Final = 0.002
_MOST: Final = 10_000

Question = tuple[str, str, tuple[tuple[str, str], ...]]
"""A tenant, a capability of the pack, and the labels of a request in the order of their keys."""


class Swift:
    """The pack's capabilities that were routed, when they last were, in less time than anybody waits for.

    A request that is answered on the event loop holds up all others meanwhile: what it costs must be known, and small.
    A capability that a body declares costs whatever the body makes it cost, so only the pack's own are kept here; the
    rules of labels that were not there before have to be compiled first, so each set of labels counts by itself; and
    what a tenant registers has to be indexed first, so each is known for one version of what the tenant has.

    Args:
        seconds: How long the processor may be busy with a decision.
    """

    def __init__(self, seconds: float = _SWIFT_SECONDS) -> None:
        self.seconds = seconds
        self._pack: Pack | None = None
        self._known: dict[Question, int] = {}

    def knows(self, question: Question, pack: Pack, version: int) -> bool:
        """Whether a route under a pack is swift over what the tenant has at a version."""
        return self._pack is pack and self._known.get(question) == version

    def note(self, question: Question, pack: Pack, version: int, seconds: float) -> None:
        """Note how long the processor was busy with a decision, in seconds."""
        if self._pack is not pack:
            self._pack, self._known = pack, {}
        if seconds > self.seconds:
            self._known.pop(question, None)
        elif question in self._known or len(self._known) < _MOST:
            self._known[question] = version

    def forget(self, question: Question) -> None:
        """Forget a route that came to no decision: telling why takes long."""
        self._known.pop(question, None)


def question_of(tenant: str, capability: Any, labels: Mapping[str, Any]) -> Question | None:
    """What a request may be known by; None for one that declares its capability, or whose labels are no strings."""
    if not isinstance(capability, str) or not all(isinstance(value, str) for value in labels.values()):
        return None
    return tenant, capability, tuple(sorted(labels.items()))
