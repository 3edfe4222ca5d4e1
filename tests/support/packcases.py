"""Small packs as data: the files of each, and what loading or resolving it comes to.

A case begins with `=== name`. `--- NAME.yaml` begins a file; `--- problems` what keeps the pack from being loaded, one
problem a line, as `file:line:column: message`, with the places that have a part in it on indented lines;
`--- resolve {arguments}` what a request comes to, as JSON.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paths import TESTS
from whyroute.errors import WhyrouteError
from whyroute.packs import Pack, PackError, Resolved, load_pack

DATA = TESTS / "data" / "packs"


@dataclass
class PackCase:
    """A pack, and what it should come to."""

    topic: str
    name: str
    files: dict[str, str] = field(default_factory=dict)
    expected: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """What pytest calls it."""
        return f"{self.topic}: {self.name}"

    def write(self, directory: Path) -> None:
        """Write the pack's files."""
        for name, text in self.files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))


def cases() -> list[PackCase]:
    """All cases of all files."""
    return [case for path in sorted(DATA.glob("*.txt")) for case in parse(path)]


def parse(path: Path) -> list[PackCase]:
    """The cases of a file."""
    found: list[PackCase] = []
    lines: list[str] = []
    for line in [*path.read_text("utf-8").split("\n"), "=== "]:
        if line.startswith("=== "):
            if found:
                _take(found[-1], lines)
            found.append(PackCase(path.stem, line[4:]))
            lines = []
        elif not line.startswith("#!"):
            lines.append(line)
    return found[:-1]


def _take(case: PackCase, lines: list[str]) -> None:
    parts: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("--- "):
            parts.append((line[4:], []))
        elif parts:
            parts[-1][1].append(line)
    for head, body in parts:
        if head.endswith((".yaml", ".yml")):
            case.files[head] = "".join(f"{line}\n" for line in body)
        else:
            case.expected[head] = "\n".join(body).strip("\n")


def outcome(case: PackCase, head: str, directory: Path) -> str:
    """What the pack in `directory` comes to, in the form of the case's expectation `head`."""
    try:
        pack = load_pack(directory)
    except PackError as error:
        return _problems(error, directory)
    return "" if head == "problems" else _resolution(pack, json.loads(head.removeprefix("resolve ")), directory)


def _problems(error: PackError, directory: Path) -> str:
    lines = []
    for problem in error.problems:
        lines.append(str(problem))
        lines += [f"  {place}" for place in problem.also]
    return "\n".join(lines).replace(f"{directory.as_posix()}/", "")


def _resolution(pack: Pack, arguments: dict[str, Any], directory: Path) -> str:
    try:
        resolved = pack.resolve(**{"capability": "any", **arguments})
    except WhyrouteError as error:
        issues = getattr(error, "issues", ())
        return "\n".join([f"{error.code}: {error.message}"] + [f"  {issue}" for issue in issues[1:]])
    lines = [f'"{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in _summary(resolved).items()]
    return ("{" + ",\n ".join(lines) + "}").replace(f"{directory.as_posix()}/", "")


def _summary(resolved: Resolved) -> dict[str, Any]:
    request = resolved.request
    kept = ("tenantPolicy", "labels", "tokens", "conditions")
    found = {key: request[key] for key in kept if key in request}
    found["providers"] = [provider["id"] for provider in request["providers"]]
    for key in ("rules", "waivers"):
        if key in request:
            found[key] = [each["name"] for each in request[key]]
    places = {
        constraint: [f"{each.file}:{each.line}:{each.column}" for each in origins]
        for constraint, origins in resolved.origins.items()
    }
    return {**found, "origins": places}
