"""Where and with what the figures were taken."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from .peers.json_rules import NAME, JsonRules
from .peers.published import Published

__all__ = ["environment", "load"]

_PACKAGES: Final = (
    "python-constraint2",
    "pydantic",
    "python-sat",
    "cpmpy",
    "ortools",
    "z3-solver",
    "rule-engine",
    "zen-engine",
    "common-expression-language",
    "regopy",
)


def environment(published: Published | None, json_rules: JsonRules | None = None) -> dict[str, Any]:
    """The machine, the versions of everything that is measured, the commit and the date."""
    versions: dict[str, str] = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    if published is not None:
        versions |= {"@kindgi/capabilities": published.version, "node": published.node}
    if json_rules is not None:
        versions |= {NAME: json_rules.version, "node": json_rules.node}
    return {
        "machine": _machine(),
        "versions": versions,
        "commit": _commit(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def load() -> float | None:
    """How many processes want to run, over the last minute; None where nobody tells."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def _machine() -> dict[str, Any]:
    return {
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": load(),
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _commit() -> str | None:
    """The commit, with `+` after it when files differ from it."""
    here = Path(__file__).parent
    try:
        told = [
            subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=True).stdout.strip()
            for arguments in (("rev-parse", "HEAD"), ("status", "--porcelain", "--", "../src", "*.py", "peers"))
        ]
    except (OSError, subprocess.CalledProcessError):
        return None
    return told[0] + ("+" if told[1] else "")
