"""json-rules-engine, an npm package, as a filter; the best of what passes is found in Node as well."""

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ..measuring import System, Taken
from ..work import Request, Row
from . import UnavailableError
from .node import NodeProcess

__all__ = ["MOST", "NAME", "VARIABLE", "JsonRules"]

NAME: Final = "json-rules-engine"
MOST: Final = 10_000
"""The most candidates that it is measured with."""
VARIABLE: Final = "WHYROUTE_BENCH_NPM"
"""The environment variable that says where npm packages are."""
_HERE: Final = Path(__file__).parent
_PARTS: Final = ("feature", "window", "price", "denied", "regions")


class JsonRules(NodeProcess):
    """The package in a Node process; a context manager that ends the process.

    Args:
        prefix: The directory that `npm install --prefix` was given; None: what the environment variable says, or else
            the directory of this module, whose `package.json` names the package.

    Raises:
        UnavailableError: The package or Node is missing.
    """

    def __init__(self, prefix: Path | None = None) -> None:
        where = prefix or Path(os.environ.get(VARIABLE) or _HERE)
        package = where.resolve() / "node_modules" / NAME
        if not (package / "package.json").is_file():
            wanted = json.loads((_HERE / "package.json").read_text("utf-8"))["dependencies"][NAME]
            told = f"`npm install --prefix benchmarks/peers` brings {wanted}, and `--npm` names another directory"
            raise UnavailableError(f"it is not installed: {told}")
        super().__init__(NAME, _HERE / "json_rules.mjs", package)

    def system(self, rows: Sequence[Row], requests: Sequence[Request]) -> System:
        """What routes requests over rows. The process has one set of each at a time."""
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json") as file:
            json.dump(list(rows), file)
            file.flush()
            self.ask("rows", file=file.name)
        listed = [{**dict(zip(_PARTS, request.parts, strict=True)), "prefer": request.prefer} for request in requests]
        self.ask("requests", requests=listed)

        def answer(number: int) -> Any:
            found = self.ask("answer", number=number)
            return None if found is None else tuple(found)

        def timed(first: int, count: int) -> Taken:
            return self.taken("time", first=first, count=count)

        return System(NAME, answer, timed)
