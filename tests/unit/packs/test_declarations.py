"""Packs that answer their own capabilities alike and those that requests declare otherwise are not called the same."""

import json
from pathlib import Path
from typing import Any

import pytest

import whyroute as wr
from whyroute.cli import main

Json = dict[str, Any]


def provider(name: str, region: str, kind: str = "llm-inference") -> Json:
    price = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}
    model = {"name": "m", "contextWindow": 10, "features": ["vision", "tool-use"], "cost": price}
    return {"id": name, "region": region, "capabilityKind": kind, "models": [model]}


def pack(*rules: Json, **sections: Any) -> Json:
    return {
        "whyroute": 1,
        "providers": [provider("eu", "eu"), provider("us", "us"), provider("e", "eu", "embedding")],
        "capabilities": [{"name": "c", "needs": [{"region": "eu"}]}],
        "tenants": [{"tenantId": "t", "rules": [f"r{place}" for place in range(len(rules))]}],
        "rules": [{"name": f"r{place}", "because": "b", **rule} for place, rule in enumerate(rules)],
        **sections,
    }


def rule(when: Json, region: str = "eu") -> Json:
    return {"when": when, "require": {"region": region}}


PAIRS: dict[str, tuple[Json, Json, Json | None]] = {
    "a group of regions": (
        pack(regions={"g": ["eu"]}),
        pack(regions={"g": ["eu", "us"]}),
        {"needs": [{"region": "g"}]},
    ),
    "a kind": (
        pack(rule({"kind": "embedding"})),
        pack(rule({"kind": "embedding"}, "us")),
        {"kind": "embedding", "needs": []},
    ),
    "a feature": (
        pack(rule({"feature": "vision"})),
        pack(rule({"feature": "tool-use"})),
        {"kind": "llm-inference", "needs": [{"feature": "tool-use"}]},
    ),
    "not a capability": (
        pack(rule({"not": {"capability": "c"}})),
        pack(rule({"not": {"capability": "c"}}, "us")),
        {"kind": "embedding", "needs": []},
    ),
    "the same in other words": (
        pack(rule({"not": {"not": {"kind": "llm-inference"}}})),
        pack(rule({"kind": "llm-inference"})),
        None,
    ),
    "a group that means the same": (
        pack(regions={"g": ["eu"]}),
        pack(regions={"g": ["eu", "nowhere"]}),
        None,
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_declarations_of_requests_are_tried(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new, example = PAIRS[name]
    paths = []
    for side, document in (("old", old), ("new", new)):
        paths.append(tmp_path / f"{side}.yaml")
        paths[-1].write_text(json.dumps(document), "utf-8")
    found = wr.compare_packs(*map(wr.load_pack, paths), at="2026-12-24").to_dict()
    assert found["changes"] == []
    assert found["same"] is found["complete"] is (example is None)
    assert [each.get("declaration") for each in found.get("cut", ())] == ([] if example is None else [example])
    assert main(["diff", *map(str, paths), "--fail-on", "any"]) == (1 if example else 0)
    told = capsys.readouterr().out
    assert ("where a request declares it itself, is answered otherwise" in told) is (example is not None)
