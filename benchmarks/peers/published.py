"""The published JavaScript package, which comes with the package `kindgi-cli`."""

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final

from ..measuring import System, Taken
from . import UnavailableError
from .node import NodeProcess

__all__ = ["NAME", "Published"]

NAME: Final = "published package"
TENANT: Final = "acme"
_SCRIPT: Final = Path(__file__).with_name("published.mjs")
_INSIDE: Final = "kindgi_cli/_cli/node_modules/@kindgi/capabilities"


class Published(NodeProcess):
    """The package in a Node process; a context manager that ends the process.

    Raises:
        UnavailableError: The package or Node is missing.
    """

    def __init__(self) -> None:
        super().__init__(NAME, _SCRIPT, _package())

    def register(self, name: str, providers: Iterable[Mapping[str, Any]]) -> None:
        """Register providers, given by their metadata in wire form, under the name of a catalog."""
        self.register_tenants(name, ((TENANT, metadata) for metadata in providers))

    def register_tenants(self, name: str, providers: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """The same for providers of several tenants."""
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as file:
            file.writelines(json.dumps(each) + "\n" for each in providers)
            file.flush()
            self.ask("catalog", name=name, file=file.name)

    def forget(self, name: str) -> None:
        """Forget a catalog."""
        self.ask("forget", name=name)

    def requests(self, name: str, requests: Sequence[Mapping[str, Any]]) -> None:
        """Hand over a list of requests under a name."""
        self.ask("requests", name=name, requests=requests)

    def system(self, task: str, catalog: str, requests: str, *, again: bool = False) -> System:
        """A task over a catalog, for a list of requests."""

        def answer(number: int) -> Any:
            return self.ask("answer", task=task, catalog=catalog, requests=requests, number=number)

        def timed(first: int, count: int) -> Taken:
            command = {"task": task, "catalog": catalog, "requests": requests}
            return self.taken("time", **command, first=first, count=count, again=again)

        return System(NAME, answer, timed)


def _package() -> Path:
    try:
        found = Path(str(distribution("kindgi-cli").locate_file(_INSIDE)))
    except PackageNotFoundError:
        raise UnavailableError("kindgi-cli is not installed") from None
    if not (found / "dist" / "index.js").is_file():
        raise UnavailableError("kindgi-cli has no @kindgi/capabilities in it")
    return found
