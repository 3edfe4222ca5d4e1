"""The recorded cases, in the form of wire requests and answers."""

import json
from typing import Any

from paths import TESTS

DATA = TESTS / "data"


def lines(name: str) -> list[dict[str, Any]]:
    """The cases of a file, one per line."""
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def expected(case: dict[str, Any]) -> dict[str, Any]:
    """What `naive.without_messages` leaves of the answer that a case of `routing.jsonl` asks for, scores aside."""
    expect = case["expect"]
    if "error" in expect:
        reasons = [
            {
                "requirement": reason["requirement"],
                "satisfyingProviders": reason["satisfying"],
                "rejectingProviders": reason["rejecting"],
            }
            for reason in expect["error"]["reasons"]
        ]
        return {"matched": [], "error": {**expect["error"], "reasons": reasons}}
    route = expect["route"]
    return {
        "matched": _candidates(expect["matched"]),
        "decision": {
            "pick": _candidates([route["pick"]])[0],
            "alternates": _candidates(route["alternates"]),
            "fallback": route["fallback"],
        },
    }


def _candidates(pairs: list[list[str]]) -> list[dict[str, str]]:
    return [{"provider": provider, "model": model} for provider, model in pairs]
