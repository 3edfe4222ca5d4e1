"""The pack that is served: loaded, watched over, swapped when a change is good, kept for the next start."""

import hashlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from ..basics.issues import shown
from ..errors import InvalidRequestError, WhyrouteError
from ..model.timestamps import written
from ..packs import Pack, Source, pack_of, read_sources
from .storage import KeptPack, Storage

__all__ = ["BrokenPackError", "PackInForce", "PackKeeper"]

Refused = Callable[[WhyrouteError], None]


@dataclass(frozen=True, slots=True)
class PackInForce:
    """A pack that is served.

    Attributes:
        pack: The pack.
        digest: A digest of its files' names and texts.
        since: Since when it is served.
        kept_since: Where it is a kept one in place of one that is broken: when it was last seen to be good.
    """

    pack: Pack
    digest: str
    since: str
    kept_since: str | None = None


class BrokenPackError(WhyrouteError):
    """The pack is broken, and none is kept that may be served in its place.

    Attributes:
        cause: What is wrong with the pack.
    """

    code: ClassVar[str] = "broken-pack"

    def __init__(self, cause: WhyrouteError, why: str) -> None:
        self.cause = cause
        super().__init__(why)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.cause, self.message)


class PackKeeper:
    """Loads the pack of a path, again and again. A pack that is refused leaves the one in force where it is.

    Args:
        path: The pack.
        storage: Where the last good pack is kept.
        deployment: The name under which it is kept; None: none is kept, and none that was kept is served.
        operator_labels: Labels that the operator sets; a pack must take them.
        tenant: The tenant that is served, where there is but one; a pack must name it.

    Attributes:
        refused_since: Since when the pack of the path is broken; None while it is in force.
        not_kept: Why the pack in force could not be kept.
    """

    def __init__(
        self,
        path: str,
        storage: Storage,
        *,
        deployment: str | None = None,
        operator_labels: Mapping[str, str] | None = None,
        tenant: str | None = None,
    ) -> None:
        self.path = path
        self.operator_labels = dict(operator_labels or {})
        self.refused_since: str | None = None
        self.not_kept: WhyrouteError | None = None
        self._storage = storage
        self._deployment = deployment
        self._tenant = tenant
        self._key = Path(path).resolve().as_posix()
        self._lock = threading.Lock()
        self._current: PackInForce | None = None

    @property
    def current(self) -> PackInForce:
        """The pack in force."""
        if self._current is None:
            raise RuntimeError("no pack was opened yet")
        return self._current

    def open(self) -> WhyrouteError | None:
        """Load the pack for the first time. When it is broken, the one that the deployment kept takes its place.

        A good pack that doesn't name the tenant of the service, or that refuses the operator's labels, is refused.

        Returns:
            What is wrong with the pack, when the kept one is served instead.

        Raises:
            BrokenPackError: It is broken, and there is no kept one to serve.
            WhyrouteError: It is good, and not for this service.
        """
        with self._lock:
            try:
                pack, digest, sources = self._load()
            except WhyrouteError as error:
                self._current = self._kept(error)
                self.refused_since = _now()
                return error
            # A good pack without the tenant, or against the operator's labels, is no reason to serve an older one.
            self._take(self._checked(pack), digest, sources)
        return None

    def _kept(self, cause: WhyrouteError) -> PackInForce:
        if self._deployment is None:
            raise BrokenPackError(
                cause, "the pack can't be loaded; `--deployment NAME` keeps the last good one and serves it instead"
            )
        named = f"deployment {shown(self._deployment)}"
        try:
            kept = self._storage.kept_pack(self._deployment, self._key)
        except WhyrouteError:
            raise BrokenPackError(
                cause, f"the pack can't be loaded, and the database that may hold the one of {named} does not answer"
            ) from None
        if kept is None:
            raise BrokenPackError(cause, f"the pack can't be loaded, and {named} has kept none of this path")
        sources = [Source(name, text) for name, text in kept.files.items()]
        if digest_of(sources) != kept.digest:
            raise BrokenPackError(cause, f"the pack can't be loaded, and the one that {named} kept is damaged")
        try:
            pack = self._checked(pack_of(Path(self.path).as_posix(), sources))
        except WhyrouteError:
            raise BrokenPackError(
                cause, f"the pack can't be loaded, and neither can the one that {named} kept"
            ) from None
        return PackInForce(pack, kept.digest, _now(), kept.since)

    def reload(self) -> bool:
        """Load the pack again, and serve it when it is good.

        Returns:
            Whether another pack is in force now.

        Raises:
            WhyrouteError: It is broken; the one in force stays.
        """
        with self._lock:
            try:
                pack, digest, sources = self._load()
                self._checked(pack)
            except WhyrouteError:
                self.refused_since = self.refused_since or _now()
                raise
            self.refused_since = None
            if self._current is not None and self._current.digest == digest:
                self._current = replace(self._current, kept_since=None)
                self._keep(digest, sources)
                return False
            self._take(pack, digest, sources)
            return True

    def _load(self) -> tuple[Pack, str, Sequence[Source]]:
        found, problems = read_sources(self.path)
        # What a tenant is told of where a rule is written says nothing of where on this machine the pack is.
        sources = [Source(_inner_name(self.path, source.name), source.text) for source in found]
        return pack_of(Path(self.path).as_posix(), sources, problems), digest_of(sources), sources

    def _take(self, pack: Pack, digest: str, sources: Sequence[Source]) -> None:
        # It comes into force first: a good pack, which may forbid more, does not wait for the database.
        self._current = PackInForce(pack, digest, _now())
        self._keep(digest, sources)

    def _keep(self, digest: str, sources: Sequence[Source]) -> None:
        if self._deployment is None:
            return
        kept = KeptPack({source.name: source.text for source in sources}, digest, _now())
        try:
            self._storage.keep_pack(self._deployment, self._key, kept)
        except WhyrouteError as error:
            self.not_kept = error
        else:
            self.not_kept = None

    def _checked(self, pack: Pack) -> Pack:
        issues = pack.operator_label_issues(self.operator_labels)
        if issues:
            raise InvalidRequestError(issues)
        if self._tenant is not None:
            pack.policy(self._tenant)
        for tenant in pack.tenants:
            pack.rulebook(tenant)  # made now, not when the first request of the tenant waits for it
        return pack


def _inner_name(path: str, file: str) -> str:
    """The name of a file from the pack's own directory on."""
    if not os.path.isdir(path):
        return Path(file).name
    return f"{Path(path).resolve().name}/{Path(os.path.relpath(file, path)).as_posix()}"


def digest_of(sources: Sequence[Source]) -> str:
    """A digest of a pack: of the names of its files and of their texts."""
    state = hashlib.sha256()
    for source in sorted(sources, key=lambda each: each.name):
        for text in (source.name, source.text):
            data = text.encode("utf-8", "surrogateescape")  # a file's name may be no UTF-8
            state.update(f"{len(data)}:".encode("ascii"))
            state.update(data)
    return f"sha256:{state.hexdigest()}"


def _now() -> str:
    return written(datetime.now(UTC))
