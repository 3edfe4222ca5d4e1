"""Every way out, of one capability and of bundles, leads where it says, and a correction without one says why."""

import copy
from typing import Any

import jsonpatch  # type: ignore[import-untyped]

import whyroute as wr
from stuck_requests import Maker

Json = dict[str, Any]


def faults_of(request: Json) -> list[tuple[str, Any]]:
    """What is wrong with the ways out of a request: patches that give something else, corrections without a word."""
    answered = wr.answer(copy.deepcopy(request))
    if "decision" in answered:
        return []
    explanation = answered["explanation"]
    found: list[tuple[str, Any]] = []
    told = [each["correction"] for each in explanation["relaxations"]]
    for relaxation in explanation["relaxations"]:
        patched = jsonpatch.apply_patch(copy.deepcopy(request), relaxation["patch"])
        decision = wr.answer(patched).get("decision", {})
        for key in ("pick", "picks"):
            if decision.get(key) != relaxation.get(key):
                found.append(("patch", relaxation))
    told += [each["correction"] for each in explanation.get("deadEnds", [])]
    found += [("silent", each) for each in explanation["corrections"][:16] if each not in told]
    return found
