"""Conditions over the request: names that don't exist are reported, and so is what no request can meet, exactly."""

import json
import random
import re
from collections.abc import Iterable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from whyroute.model.features import BUILT_IN_KINDS, FEATURES
from whyroute.packs.check import Finding, check_pack

Json = dict[str, Any]

NOW = "2026-12-20"
PRICES = {"promptUsdPer1kTokens": 0.001, "completionUsdPer1kTokens": 0.002}
PROVIDER = {"id": "p", "region": "r", "models": [{"name": "m", "contextWindow": 9000, "features": [], "cost": PRICES}]}
EFFECTS: tuple[Json, ...] = (
    {"require": {"region": "r"}},
    {"forbid": {"region": {"like": "*", "ne": "r"}}},
    {"prefer": {"region": "r"}, "weight": 1},
)


def checked(path: Path, head: Json, whens: list[tuple[Json, int]]) -> list[Finding]:
    """What is found in a pack with a rule for each condition and effect, one a line, the first on line 2."""
    rules = [
        json.dumps({"name": f"r{number}", "because": "x", "when": when, **EFFECTS[effect]})
        for number, (when, effect) in enumerate(whens)
    ]
    first = json.dumps({"whyroute": 1, "providers": [PROVIDER], **head})[:-1]
    path.write_text(f'{first}, "rules": [\n' + ",\n".join(rules) + "]}\n", "utf-8")
    return list(check_pack(path, now=NOW))


def lines(findings: list[Finding], *codes: str) -> set[int]:
    """The numbers of the rules that findings are about."""
    return {finding.place.line - 2 for finding in findings if finding.code in codes and finding.place.line}


# What no request can meet, held against all requests of small vocabularies.

NAMES = ("a", "b", "ab")
GLOBS = ("a*", "*b", "?", "??", "*a*", "a", "*")
SOME_FEATURES = ("vision", "batch", "tool-use")
CAPABILITIES: list[Json] = [
    {"name": "c1", "kind": "a", "needs": [{"feature": "vision"}], "labels": {"data": "b"}},
    {"name": "c2", "needs": [{"region": "r"}], "labels": {"env": "a"}},
    {"name": "d", "kind": "ab", "needs": [{"feature": "batch"}, {"feature": "vision"}]},
]
LABELS: list[Json | None] = [
    {"data": {"values": ["a", "b"], "default": "a"}, "env": {"values": ["a", "b", "ab"]}},
    {"data": {"values": ["a", "b"]}, "env": {"values": ["a", "b", "ab"], "default": "ab"}},
    None,
]
WANTED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "kind": (NAMES, GLOBS),
    "feature": (SOME_FEATURES, ()),
    "capability": (("c1", "c2", "d"), ("c*", "?", "*1", "*")),
    "labels.data": (("a", "b"), ("a*", "*b", "?", "*")),
    "labels.env": (NAMES, GLOBS),
}


@cache
def matches(pattern: str, text: str) -> bool:
    """Whether a text matches a glob."""
    regex = "".join({"*": ".*", "?": "."}.get(character, re.escape(character)) for character in pattern)
    return re.fullmatch(regex, text, re.DOTALL) is not None


def texts(*, empty: bool) -> list[str]:
    """One text of each kind that the names and the globs tell from others."""
    words = ["".join(each) for length in range(0 if empty else 1, 4) for each in product("abz", repeat=length)]
    kinds = {(word if word in NAMES else None, *(matches(glob, word) for glob in GLOBS)): word for word in words}
    return list(kinds.values())


class World:
    """All requests of small vocabularies, and what conditions come to for each, as sets of their numbers.

    Args:
        labels: The labels that the pack declares.
        beside: The same world; here, declarations of callers' own have a name that no capability has.
    """

    def __init__(self, labels: Json | None, beside: "World | None" = None) -> None:
        self._beside = beside
        self.requests: list[Json] = []
        domains: dict[str, list[str | None]] = {"data": [*texts(empty=True), None], "env": [*texts(empty=True), None]}
        if labels is not None:
            domains = {key: [*each["values"], *([] if "default" in each else [None])] for key, each in labels.items()}
        said = [dict(zip(domains, each, strict=True)) for each in product(*domains.values())]
        for capability in CAPABILITIES:
            features = {need["feature"] for need in capability["needs"] if "feature" in need}
            kind = capability.get("kind", "llm-inference")
            for each in said:
                self._add(kind, features, capability["name"], {**each, **capability.get("labels", {})})
        sets: list[set[str]] = [set(), {"streaming"}, {"vision"}, {"batch"}, {"tool-use"}, {*SOME_FEATURES}]
        sets += [{*SOME_FEATURES} - {each} for each in SOME_FEATURES]
        for kind, features, each in product(texts(empty=False), sets, said):
            self._add(kind, features, None if beside is None else "", each)
        self.all = (1 << len(self.requests)) - 1
        self._known: dict[str, tuple[int, int]] = {}

    def _add(self, kind: str, features: set[str], capability: str | None, labels: Json) -> None:
        facts = {f"labels.{key}": value for key, value in labels.items()}
        self.requests.append({"kind": kind, "feature": features, "capability": capability, **facts})

    def value(self, when: Json) -> tuple[int, int]:
        """The requests for which a condition certainly holds, and for which it certainly does not."""
        yes, no = self.all, 0
        for key, inner in when.items():
            if key == "not":
                refused, held = self.value(inner)
            elif key == "any":
                held, refused = 0, self.all
                for part in map(self.value, inner):
                    held, refused = held | part[0], refused & part[1]
            else:
                if key == "all":
                    known = [self.value(part) for part in inner]
                elif key == "labels":
                    known = [self._field(f"labels.{each}", inner[each]) for each in inner]
                else:
                    known = [self._field(key, inner)]
                held, refused = self.all, 0
                for part in known:
                    held, refused = held & part[0], refused | part[1]
            yes, no = yes & held, no | refused
        return yes, no

    def _field(self, field: str, matcher: Any) -> tuple[int, int]:
        if self._beside is not None and field != "capability":
            return self._beside._field(field, matcher)
        key = f"{field} {matcher}"
        if key not in self._known:
            operators = matcher if isinstance(matcher, dict) else {"in" if isinstance(matcher, list) else "eq": matcher}
            yes, no = self.all, 0
            for operator, wanted in operators.items():
                values = [_compared(field, operator, wanted, each[field]) for each in self.requests]
                yes &= _numbers(value is True for value in values)
                no |= _numbers(value is False for value in values)
            self._known[key] = yes, no
        return self._known[key]

    def met(self, when: Json, *, unknown_counts: bool) -> bool:
        """Whether any request meets a condition."""
        yes, no = self.value(when)
        return (self.all & ~no if unknown_counts else yes) != 0

    def has_impossible_part(self, when: Json, *, unknown_counts: bool) -> bool:
        """Whether no request meets a condition, or a part of it."""
        if not self.met(when, unknown_counts=unknown_counts):
            return True
        return any(
            self.has_impossible_part(part, unknown_counts=unknown_counts is (key != "not"))
            for key, inner in when.items()
            for part in (inner if key in ("any", "all") else [inner] if key == "not" else [])
        ) or any(not self.met({key: inner}, unknown_counts=unknown_counts) for key, inner in when.items())


def _numbers(chosen: Iterable[bool]) -> int:
    """The set of those that are chosen, the first last."""
    return int("".join("1" if each else "0" for each in chosen), 2)


def _compared(field: str, operator: str, wanted: Any, fact: Any) -> bool | None:
    if operator == "exists":
        return (fact not in (None, set()) and (field, fact) != ("capability", "")) is wanted
    if fact is None:
        return None
    if operator == "like":
        return matches(wanted, fact)
    names = wanted if isinstance(wanted, list) else [wanted]
    has = any(name in fact for name in names) if isinstance(fact, set) else fact in names
    return has is (operator in ("eq", "in"))


def some_when(rng: random.Random, depth: int = 3, *, negated: bool = False) -> Json:
    """A condition over the request."""
    choice = rng.random()
    if depth and choice < 0.45:
        parts = [some_when(rng, depth - 1, negated=negated) for _ in range(rng.randint(1, 3))]
        found: Json = {rng.choice(["any", "all", "all"]): parts}
    elif depth and choice < 0.6:
        found = {"not": some_when(rng, depth - 1, negated=True)}
    elif choice < 0.7:
        keys = rng.sample(["data", "env"], 1 if negated else rng.randint(1, 2))
        found = {"labels": {key: some_matcher(rng, f"labels.{key}") for key in keys}}
    else:
        found = {}
    if not found or (not negated and rng.random() < 0.3):
        for field in rng.sample(sorted(WANTED), 1 if negated else rng.randint(1, 2)):
            found[field] = some_matcher(rng, field)
    return found


def some_matcher(rng: random.Random, field: str) -> Any:
    """What a field is compared with."""
    names, globs = WANTED[field]
    listed = rng.sample(names, rng.randint(1, len(names)))
    match rng.randrange(6):
        case 0 | 1:
            return listed[0]
        case 2:
            return listed
        case 3:
            return {"exists": rng.random() < 0.5}
    operators = ("eq", "in") if field == "feature" else ("eq", "ne", "in", "notIn", "like")
    matcher: Json = {}
    for operator in rng.sample(operators, rng.randint(1, 2)):
        matcher[operator] = (
            listed if operator in ("in", "notIn") else rng.choice(globs if operator == "like" else names)
        )
    return matcher


def held_against_all_requests(path: Path, seed: int, rounds: int, rules: int = 250) -> tuple[int, int]:
    """Checks packs of random conditions; how many there were, and how many no request can meet."""
    rng = random.Random(seed)
    worlds = [(labels, world, World(labels, world)) for labels, world in ((each, World(each)) for each in LABELS)]
    count = impossible = 0
    for turn in range(rounds):
        labels, world, certain = worlds[turn % len(worlds)]
        head: Json = {"capabilities": CAPABILITIES, **({} if labels is None else {"labels": labels})}
        whens = [(some_when(rng), rng.randrange(len(EFFECTS))) for _ in range(rules)]
        findings = checked(path, head, whens)
        assert lines(findings, "WR101") == set()
        told, uncertain = lines(findings, "WR104"), lines(findings, "WR221")
        for number, (when, effect) in enumerate(whens):
            prefers = "prefer" in EFFECTS[effect]
            broken = world.has_impossible_part(when, unknown_counts=not prefers)
            assert (number in told) is broken, (labels, when, EFFECTS[effect])
            unsure = not broken and not prefers and not certain.met(when, unknown_counts=False)
            assert (number in uncertain) is unsure, (labels, when, EFFECTS[effect])
            impossible += not world.met(when, unknown_counts=not prefers)
            count += 1
    return count, impossible


def test_what_no_request_can_meet_is_told_exactly(tmp_path: Path) -> None:
    count, impossible = held_against_all_requests(tmp_path / "a.yaml", 1, 15, 80)
    assert count == 1200
    assert impossible > 120


@pytest.mark.slow
def test_unreachable_requests_are_told_exactly_at_length(tmp_path: Path) -> None:
    for seed in range(2, 10):
        held_against_all_requests(tmp_path / "a.yaml", seed, 12)


# One letter wrong in a name.

HEAD: Json = {
    "labels": {
        "data": {"values": ["public", "staff", "patient"], "default": "public"},
        "stage": {"values": ["production", "development"], "from": "operator"},
    },
    "capabilities": [
        {"name": "summarise", "needs": []},
        {"name": "translate", "kind": "translation", "needs": [{"feature": "vision"}]},
    ],
    "descriptors": [{"id": "speech", "feature": "speech", "kind": "speech-synthesis", "description": "Speaks."}],
    "tenants": [{"tenantId": "t"}],
}
KNOWN: dict[str, tuple[str, ...]] = {
    "kind": (*BUILT_IN_KINDS, "translation", "speech-synthesis"),
    "feature": FEATURES,
    "capability": ("summarise", "translate"),
    "data": ("public", "staff", "patient"),
    "stage": ("production", "development"),
}


def slip(rng: random.Random, name: str) -> str:
    """A name with one letter more, less or another, or two of them swapped."""
    at = rng.randrange(len(name))
    letter = rng.choice("abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    swapped = name[:at] + name[at + 1 : at + 2] + name[at] + name[at + 2 :]
    return rng.choice([name[:at] + letter + name[at:], name[:at] + letter + name[at + 1 :], swapped])


class Written:
    """A condition that requests can meet, with a slip in one of its names, or none.

    Args:
        rng: What is random.
        slipped: Which of its names has the slip, counted as they are written; -1: none.
    """

    def __init__(self, rng: random.Random, slipped: int) -> None:
        self._rng = rng
        self._left = slipped
        self.meant: tuple[str, str] | None = None
        parts = [self._part(field) for field in rng.sample(sorted(KNOWN), rng.randint(1, 3))]
        self.when: Json = rng.choice([{"all": parts}, {"any": parts}]) if len(parts) > 1 else parts[0]
        if rng.random() < 0.3:
            self.when = {"any": [{"all": [self.when]}, {"not": self._part(rng.choice(sorted(KNOWN)))}]}

    def _name(self, what: str, name: str, known: tuple[str, ...]) -> str:
        self._left -= 1
        if self._left == -1:
            wrong = slip(self._rng, name)
            while wrong in known:
                wrong = slip(self._rng, name)
            self.meant = what, name
            return wrong
        return name

    def _part(self, field: str) -> Json:
        rng, known = self._rng, KNOWN[field]
        operator = rng.choice(["", "list", "eq", "in", *(() if field == "feature" else ("ne", "notIn"))])
        listed = operator in ("list", "in", "notIn")
        chosen = rng.sample(known, rng.randint(1, len(known) - 1) if listed else 1)
        names = [self._name(field, each, known) for each in chosen]
        matcher: Any = names if listed else names[0]
        if operator not in ("", "list"):
            matcher = {operator: matcher}
        if field in ("data", "stage"):
            key = self._name("label", field, ("data", "stage"))
            part: Json = rng.choice([{"labels": {key: matcher}}, {f"labels.{key}": matcher}])
        else:
            part = {field: matcher}
        return {"not": part} if rng.random() < 0.2 else part


def held_against_slips(path: Path, seed: int, rounds: int, rules: int = 250) -> int:
    """Checks packs without slips, and packs of which every rule has one; how many slips there were."""
    rng = random.Random(seed)
    count = 0
    for _ in range(rounds):
        sound = [(Written(rng, -1).when, rng.randrange(2)) for _ in range(rules)]
        assert [str(each) for each in checked(path, HEAD, sound) if each.level == "error"] == []
        broken = [each for each in (Written(rng, rng.randrange(4)) for _ in range(2 * rules)) if each.meant]
        # What keeps a pack from being loaded keeps the checks from looking at it.
        for of_kinds in (True, False):
            some = [each for each in broken if each.meant and (each.meant[0] == "kind") is of_kinds]
            findings = checked(path, HEAD, [(each.when, rng.randrange(3)) for each in some])
            told = lines(findings, "WR107" if of_kinds else "WR101")
            assert told == set(range(len(some))), [some[each].when for each in set(range(len(some))) - told]
            count += len(some)
    return count


def test_name_slip_under_when_is_reported(tmp_path: Path) -> None:
    assert held_against_slips(tmp_path / "a.yaml", 1, 12, 60) > 1000


@pytest.mark.slow
def test_name_slip_under_when_is_reported_at_length(tmp_path: Path) -> None:
    for seed in range(2, 10):
        held_against_slips(tmp_path / "a.yaml", seed, 8)
