"""The first line of an explanation says true things in the right number, whatever rejects."""

import json
from pathlib import Path
from typing import Any

import pytest

from whyroute.cli import main

LATENCY: dict[str, Any] = {"p95LatencyMs": {"op": "<=", "value": 5}}
LARGE: dict[str, Any] = {"contextWindow": {"op": ">=", "value": 9}}
OFF: dict[str, Any] = {"providers": {"deny": ["c"]}}
COST = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 0}


@pytest.mark.parametrize(
    ("needs", "policy", "providers", "told"),
    [
        ([LATENCY], {}, "a", "its p95 latency is not known"),
        ([LATENCY], {}, "ab", "no p95 latency is known"),
        ([OFF, LARGE], {}, "aC", "1 passes the provider lists; its context window is 2 tokens"),
        ([OFF, LARGE], {}, "abC", "2 pass the provider lists; the largest context window among them is 2 tokens"),
        ([LARGE], OFF, "aC", "1 passes the tenant's provider deny list; its context window is 2 tokens"),
        (
            [LARGE],
            OFF,
            "abC",
            "2 pass the tenant's provider deny list; the largest context window among them is 2 tokens",
        ),
    ],
)
def test_first_lines_are_true_of_one_and_many(
    needs: list[Any],
    policy: Any,
    providers: str,
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A provider in capitals is the one that is large enough."""
    request = {
        "capability": {"needs": needs},
        "tenantPolicy": {"tenantId": "t", **policy},
        "providers": [
            {
                "id": name.lower(),
                "region": "r",
                "models": [{"name": "m", "contextWindow": 9 if name.isupper() else 2, "features": [], "cost": COST}],
            }
            for name in providers
        ],
    }
    file = tmp_path / "request.json"
    file.write_text(json.dumps(request), encoding="utf-8")
    assert main(["explain", "--request", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith(told)
