"""What is known to take less time to answer than to hand to a thread."""

from typing import Final

from ..rulepack import Pack

__all__ = ["SWIFT_BODY", "Swift"]

SWIFT_BODY: Final = 1024
"""How many bytes of a body may be read on the event loop."""

_SWIFT_SECONDS: Final = 0.002
_MOST: Final = 10_000

Key = tuple[str, str]


class Swift:
    """The pack's capabilities that were routed, when they last were, in less time than anybody waits for.

    A request that is answered on the event loop holds up all others meanwhile: what it costs must be known, and small.
    A capability that a body declares costs whatever the body makes it cost, so only the pack's own are kept here; and
    what a tenant registers has to be indexed first, so each is known for one version of what the tenant has.

    Args:
        seconds: How long the processor may be busy with a decision.
    """

    def __init__(self, seconds: float = _SWIFT_SECONDS) -> None:
        self.seconds = seconds
        self._pack: Pack | None = None
        self._known: dict[Key, int] = {}

    def knows(self, tenant: str, capability: str, pack: Pack, version: int) -> bool:
        """Whether a tenant's route to a capability of the pack is swift over what it has at a version."""
        return self._pack is pack and self._known.get((tenant, capability)) == version

    def note(self, tenant: str, capability: str, pack: Pack, version: int, seconds: float) -> None:
        """Note how long the processor was busy with a decision, in seconds."""
        if self._pack is not pack:
            self._pack, self._known = pack, {}
        key = tenant, capability
        if seconds > self.seconds:
            self._known.pop(key, None)
        elif key in self._known or len(self._known) < _MOST:
            self._known[key] = version

    def forget(self, tenant: str, capability: str) -> None:
        """Forget a route that came to no decision: telling why takes long."""
        self._known.pop((tenant, capability), None)
