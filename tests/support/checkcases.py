"""Small packs as data, and what a check finds in them.

A case begins with `=== name`. `--- base` adds the pack of docs/checks/README.md as `base.yaml`; `--- NAME.yaml` begins
a file; `--- findings` or `--- findings at TIME` what is found, one finding a line as `file:line:column level CODE name:
message`, with the places that have a part in it on indented lines, and the reason after `silenced:` where a comment
silences it.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from paths import ROOT, TESTS
from whyroute.packs.check import Finding, check_pack

DATA = TESTS / "data" / "checks"
PAGES = ROOT / "docs" / "checks"
NOW = "2026-12-20"
FENCE = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def base_pack() -> str:
    """The pack that the examples of the pages stand beside."""
    blocks: list[str] = FENCE.findall((PAGES / "README.md").read_text("utf-8"))
    return blocks[-1]


@dataclass
class CheckCase:
    """A pack, and what is found in it."""

    topic: str
    name: str
    files: dict[str, str] = field(default_factory=dict)
    at: str = NOW
    expected: str = ""

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


def check_cases() -> list[CheckCase]:
    """All cases of all files."""
    return [case for path in sorted(DATA.glob("*.txt")) for case in _parse(path)]


def _parse(path: Path) -> list[CheckCase]:
    found: list[CheckCase] = []
    for block in re.split(r"^=== ", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        name, _, body = block.partition("\n")
        case = CheckCase(path.stem, name)
        for part in re.split(r"^--- ", body, flags=re.MULTILINE)[1:]:
            head, _, text = part.partition("\n")
            if head == "base":
                case.files["base.yaml"] = base_pack()
            elif head.startswith("findings"):
                case.expected = text.strip("\n")
                case.at = head.partition(" at ")[2] or NOW
            else:
                case.files[head] = text
        found.append(case)
    return found


def outcome(directory: Path, at: str) -> str:
    """What is found in the pack in a directory, in the form of a case's expectation."""
    lines = [line for finding in check_pack(directory, now=at) for line in told(finding)]
    return "\n".join(lines).replace(f"{directory.as_posix()}/", "").replace(directory.as_posix(), ".")


def told(finding: Finding) -> list[str]:
    """A finding in that form."""
    lines = [f"{finding.place} {finding.level} {finding.code} {finding.name}: {finding.message}"]
    lines += [f"  {place}" for place in finding.also]
    return lines if finding.reason is None else [*lines, f"  silenced: {finding.reason}"]
