"""Names that a pack doesn't have."""

from collections.abc import Iterable
from typing import Any, ClassVar

from ...basics.issues import did_you_mean, quoted, shown
from ...errors import WhyrouteError

__all__ = ["UnknownBundleError", "UnknownCapabilityError", "UnknownTenantError"]


class _UnknownNameError(WhyrouteError):
    """A name that the pack doesn't have."""

    what: ClassVar[str]
    plural: ClassVar[str]
    without: ClassVar[str] = "it defines none"

    def __init__(self, name: str, known: Iterable[str] = (), where: str = "pack") -> None:
        setattr(self, self.what, name)
        self.known = tuple(known)
        self.where = where
        listed = f"; the {self.plural} are {quoted(self.known, limit=8)}" if self.known else f"; {self.without}"
        super().__init__(f"{shown(name)} is no {self.what} of the {where}{did_you_mean(name, self.known) or listed}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (getattr(self, self.what), self.known, self.where)


class UnknownTenantError(_UnknownNameError):
    """A tenant that the pack doesn't name.

    Attributes:
        tenant: Its name, as it was given.
        known: The tenants that it names.
    """

    code: ClassVar[str] = "unknown-tenant"
    what, plural, without = "tenant", "tenants", "it names none"
    tenant: str


class UnknownCapabilityError(_UnknownNameError):
    """A capability that the pack doesn't name.

    Attributes:
        capability: Its name, as it was given.
        known: The capabilities that it names.
    """

    code: ClassVar[str] = "unknown-capability"
    what, plural = "capability", "capabilities"
    capability: str


class UnknownBundleError(_UnknownNameError):
    """A bundle that the pack doesn't name.

    Attributes:
        bundle: Its name, as it was given.
        known: The bundles that it names.
    """

    code: ClassVar[str] = "unknown-bundle"
    what, plural = "bundle", "bundles"
    bundle: str
