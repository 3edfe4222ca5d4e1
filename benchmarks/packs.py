"""Synthetic rule packs: seeded, so that every run measures the same."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from whyroute.model.features import FEATURES

from .catalogs import REGIONS, metadata_of

__all__ = ["pack_text", "write_pack"]

ALWAYS = 4
"""How many policies hold for every tenant."""


def write_pack(
    directory: Path, *, rules: int = 1_000, tenants: int = 200, candidates: int = 5_000, tests: int = 0, seed: int = 7
) -> None:
    """Write a pack of so many rules, tenants and candidates.

    The rules are in policies of ten. Every tenant has four of them with everybody, and four of its own.

    Args:
        directory: Where to; it is there.
        rules: How many rules.
        tenants: How many tenants.
        candidates: How many candidates, ten to a provider.
        tests: How many tests, each of one case; no two have the same request.
        seed: Of the random numbers.
    """
    (directory / "pack.yaml").write_text(
        pack_text(rules=rules, tenants=tenants, candidates=candidates, tests=tests, seed=seed), "utf-8"
    )


def pack_text(*, rules: int, tenants: int, candidates: int, tests: int, seed: int = 7) -> str:
    """The one file of such a pack."""
    rng = random.Random(seed)
    return "".join(f"{line}\n" for line in _lines(rng, rules, tenants, candidates, tests))


def _lines(rng: random.Random, rules: int, tenants: int, candidates: int, tests: int) -> Iterator[str]:
    yield "whyroute: 1"
    yield "regions: {eu: [eu-west-1, eu-central-1, eu-north-1], us: [us-east-1, us-west-2]}"
    yield "labels:"
    yield "  data: {values: [public, staff, patient], default: staff}"
    yield f"  team: {{values: [{', '.join(f't{at}' for at in range(50))}]}}"
    yield "providers:"
    for index in range(candidates // 10):
        yield f"  - {_flow(metadata_of(index, 10, rng).model_dump(by_alias=True, exclude_unset=True, mode='json'))}"
    yield "capabilities:"
    for at in range(20):
        needs = [{"feature": name} for name in rng.sample(FEATURES, 2)]
        yield f"  - {_flow({'name': f'c{at}', 'needs': needs, 'tokens': {'prompt': 1000 * at, 'completion': 100}})}"
    yield "conditions:"
    yield "  approved: {any: [{region: eu}, {attribute: local}]}"
    yield "rules:"
    for at in range(rules):
        yield f"  - {_flow(_rule(at, rng))}"
    yield "policies:"
    groups = max(1, rules // 10)
    for at in range(groups):
        names = [f"r{number}" for number in range(at * 10, min(rules, at * 10 + 10))]
        yield f"  - {_flow({'name': f'p{at}', 'owner': 'x@example.com', 'rules': names, 'maxCostPerCallUsd': 1 + at})}"
    yield f"everyTenant: [{', '.join(f'p{at}' for at in range(min(ALWAYS, groups)))}]"
    yield "tenants:"
    for at in range(tenants):
        extends = [f"p{number}" for number in sorted(rng.sample(range(groups), min(4, groups)))]
        yield f"  - {_flow({'tenantId': f'tenant{at}', 'extends': extends})}"
    if tests:
        yield "tests:"
    for at in range(tests):
        # Tenants, capabilities and labels go round at different paces: no two tests have the same request.
        labels = {"team": f"t{at // (tenants * 20) % 50}", "data": ("public", "staff", "patient")[at % 3]}
        test = {
            "name": f"test {at}",
            "tenant": f"tenant{at % tenants}",
            "capability": f"c{at // tenants % 20}",
            "labels": labels,
            "at": "2026-12-24",
            "expect": {"unsatisfiable": False, "every": {"contextWindow": {"gt": 0}}},
        }
        yield f"  - {_flow(test)}"


def _rule(at: int, rng: random.Random) -> dict[str, Any]:
    rule: dict[str, Any] = {"name": f"r{at}", "because": f"Reason {at}."}
    if rng.random() < 0.5:
        rule["when"] = {"labels": {"data": rng.sample(["public", "staff", "patient"], 2)}}
    match at % 5:
        case 0:
            rule["forbid"] = {"provider": f"provider-{rng.randrange(500):06d}"}
        case 1:
            rule["forbid"] = {"model": {"like": f"*-{rng.randrange(40):02d}-0{rng.randrange(10)}"}}
        case 2:
            rule["require"] = {"any": [{"is": "approved"}, {"region": rng.sample(REGIONS, 5)}]}
        case 3:
            rule["require"] = {"contextWindow": {"gte": rng.choice([4_000, 8_192, 10_000])}}
        case _:
            rule |= {"prefer": {"region": rng.choice(REGIONS)}, "weight": rng.randrange(1, 5)}
    return rule


def _flow(value: Any) -> str:
    """A value as YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return format(value, "f")
    return f'"{value}"' if set(value) & set("*#: ,.@") else str(value)
