"""The pack that is served: loaded, watched over, swapped when a change is good, kept for the next start."""

import hashlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ..errors import InvalidRequestError, WhyrouteError
from ..moments import written
from ..rulepack import Pack, Source, pack_of, read_sources
from .storage import Storage

__all__ = ["PackInForce", "PackKeeper"]

Refused = Callable[[WhyrouteError], None]


@dataclass(frozen=True, slots=True)
class PackInForce:
    """A pack that is served.

    Attributes:
        pack: The pack.
        digest: A digest of its files' names and texts.
        since: Since when it is served.
    """

    pack: Pack
    digest: str
    since: str


class PackKeeper:
    """Loads the pack of a path, again and again. A pack that is refused leaves the one in force where it is.

    Args:
        path: The pack.
        storage: Where the last good pack is kept.
        operator_labels: Labels that whoever runs the service sets; a pack must take them.
        tenant: The tenant that is served, where there is but one; a pack must name it.
    """

    def __init__(
        self,
        path: str,
        storage: Storage,
        *,
        operator_labels: Mapping[str, str] | None = None,
        tenant: str | None = None,
    ) -> None:
        self.path = path
        self.operator_labels = dict(operator_labels or {})
        self.refused_since: str | None = None
        self._storage = storage
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
        """Load the pack for the first time. When it is broken, the last good one of its path takes its place.

        Returns:
            What is wrong with the pack, when the last good one is served instead.

        Raises:
            WhyrouteError: It is broken, and none is kept.
        """
        with self._lock:
            try:
                self._take(*self._load())
            except WhyrouteError as error:
                files = self._storage.kept_pack(self._key)
                if files is None:
                    raise
                try:
                    sources = [Source(name, text) for name, text in files.items()]
                    pack = self._checked(pack_of(Path(self.path).as_posix(), sources))
                except WhyrouteError:
                    raise error from None
                self._current = PackInForce(pack, digest_of(sources), _now())
                self.refused_since = _now()
                return error
        return None

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
            except WhyrouteError:
                self.refused_since = self.refused_since or _now()
                raise
            self.refused_since = None
            if self._current is not None and self._current.digest == digest:
                return False
            self._take(pack, digest, sources)
            return True

    def _load(self) -> tuple[Pack, str, Sequence[Source]]:
        found, problems = read_sources(self.path)
        # What a tenant is told of where a rule is written says nothing of where on this machine the pack is.
        sources = [Source(_inner_name(self.path, source.name), source.text) for source in found]
        return self._checked(pack_of(Path(self.path).as_posix(), sources, problems)), digest_of(sources), sources

    def _take(self, pack: Pack, digest: str, sources: Sequence[Source]) -> None:
        self._storage.keep_pack(self._key, digest, {source.name: source.text for source in sources})
        self._current = PackInForce(pack, digest, _now())

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
