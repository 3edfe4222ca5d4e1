"""Settings of the whole suite."""

import re

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["databases", "tabs"]

# The same examples on every run and on every machine; a slow machine fails no test.
settings.register_profile(
    "default", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("default")

_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests run in several processes, which must agree on their names."""
    wrong = [item.nodeid for item in items if _ADDRESS.search(item.nodeid)]
    if wrong:
        raise pytest.UsageError(f"named after an address in memory: {', '.join(wrong)}; see tests/naming.py")
