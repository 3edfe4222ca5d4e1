"""What is known to take less time to answer than to hand to a thread."""

import weakref
from collections.abc import Mapping
from typing import Final

from .tenants import Holdings

__all__ = ["SWIFT_BODY", "Swift"]

SWIFT_BODY: Final = 1024
"""How many bytes of a body may be read on the event loop."""

_SWIFT_SECONDS: Final = 0.002
_OF_ONE_TENANT: Final = 1000

Key = tuple[str, str]


class Swift:
    """The pack's capabilities that were routed, when they last were, in less time than anybody waits for.

    A request that is answered on the event loop holds up all others meanwhile: what it costs must be known, and small.
    A capability that a body declares costs whatever the body makes it cost, so only the pack's own are kept here. What
    the labels say decides over which rules hold. And when a tenant has other providers than before, some of what is
    made but once is made by whoever comes first.

    Args:
        seconds: How long the processor may be busy with a decision.
    """

    def __init__(self, seconds: float = _SWIFT_SECONDS) -> None:
        self.seconds = seconds
        self._known: dict[str, dict[Key, weakref.ref[Holdings]]] = {}  # of each tenant

    def knows(self, tenant: str, capability: str, labels: Mapping[str, str], holdings: Holdings) -> bool:
        """Whether a tenant's route to a capability of the pack is swift, with these labels and what the tenant has."""
        known = self._known.get(tenant, {}).get(_key(capability, labels))
        return known is not None and known() is holdings

    def note(self, tenant: str, capability: str, labels: Mapping[str, str], holdings: Holdings, seconds: float) -> None:
        """Note how long the processor was busy with a decision, in seconds."""
        key, known = _key(capability, labels), self._known.setdefault(tenant, {})
        if seconds > self.seconds:
            known.pop(key, None)
        else:
            if len(known) >= _OF_ONE_TENANT:
                known.clear()  # most of them may be of packs and providers that are gone
            known[key] = weakref.ref(holdings)

    def forget(self, tenant: str, capability: str, labels: Mapping[str, str]) -> None:
        """Forget a route that came to no decision: telling why takes long."""
        self._known.get(tenant, {}).pop(_key(capability, labels), None)


def _key(capability: str, labels: Mapping[str, str]) -> Key:
    return capability, repr(labels)  # they may be anything yet, not only what can be a key
