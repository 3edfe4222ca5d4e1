"""What a comparison says of labels that no pack declares, against all short texts and an evaluation of its own.

Conditions are judged here by regular expressions and three values written out again, not by the code under test.
"""

import itertools
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from pack_strategies import AT, Json, loaded, text as text_of
from paths import TESTS
from whyroute.cli import main
from whyroute.errors import InvalidRequestError
from whyroute.packs import Pack
from whyroute.packs.diff import Comparison, compare_packs
from whyroute.packs.diff.comparison import Movement
from whyroute.packs.diff.labels import LabelValue
from whyroute.render.diffmarkdown import comparison_markdown
from whyroute.render.diffs import comparison_lines

DATA = TESTS / "data" / "diffs"
REGIONS = ["ap", "eu", "us"]
KEYS = ["data", "team"]
TEXTS = ["".join(each) for size in range(6) for each in itertools.product("abcx", repeat=size)]
"""Every text of up to five characters: three that conditions name, and one that none names."""

Labels = Mapping[str, str | None]


@lru_cache(maxsize=1024)
def expression(pattern: str) -> re.Pattern[str]:
    wild = {"*": "[\\s\\S]*", "?": "[\\s\\S]"}
    return re.compile("".join(wild.get(each, re.escape(each)) for each in pattern))


def matcher_holds(matcher: Any, text: str | None) -> bool | None:
    """Whether a text meets all of a matcher; None is unknown."""
    results: list[bool | None] = []
    for op, wanted in matcher.items():
        if op == "exists":
            results.append((text is not None) is wanted)
        elif text is None:
            results.append(None)
        else:
            results.append(text_holds(op, wanted, text))
    return every(results)


def text_holds(op: str, wanted: Any, text: str) -> bool:
    match op:
        case "like":
            return expression(wanted).fullmatch(text) is not None
        case "eq" | "ne":
            return (text == wanted) is (op == "eq")
        case _:
            return (text in wanted) is (op == "in")


def every(results: list[bool | None]) -> bool | None:
    return False if False in results else None if None in results else True


def opposite(result: bool | None) -> bool | None:
    return None if result is None else not result


def holds(when: Json, labels: Labels) -> bool | None:
    """Whether a condition holds for a request, in three values."""
    results: list[bool | None] = []
    for field, value in when.items():
        match field:
            case "all":
                results.append(every([holds(each, labels) for each in value]))
            case "any":
                results.append(opposite(every([opposite(holds(each, labels)) for each in value])))
            case "not":
                results.append(opposite(holds(value, labels)))
            case _:
                results.append(matcher_holds(value, labels[field.removeprefix("labels.")]))
    return every(results)


def admitted(document: Json, given: Labels) -> set[str] | None:
    """The regions whose candidates qualify; None when the request is refused."""
    fixed = document["capabilities"][0].get("labels", {})
    if any(given[key] not in (None, value) for key, value in fixed.items()):
        return None
    labels = {**given, **fixed}
    left = set(REGIONS)
    for rule in document["rules"]:
        if holds(rule["when"], labels) is not False:
            left &= {rule["require"]["region"]} if "require" in rule else left - {rule["forbid"]["region"]}
    return left


def comparisons(when: Json) -> Iterator[tuple[str, Json]]:
    for field, value in when.items():
        if field in ("all", "any"):
            for each in value:
                yield from comparisons(each)
        elif field == "not":
            yield from comparisons(value)
        else:
            yield field.removeprefix("labels."), value


def column(op: str, wanted: Any) -> list[bool]:
    """Whether each of the texts meets a comparison."""
    if op == "like":
        fullmatch = expression(wanted).fullmatch
        return [fullmatch(text) is not None for text in TEXTS]
    return [text_holds(op, wanted, text) for text in TEXTS]


def requests(*documents: Json) -> Iterator[Labels]:
    """The labels of all requests, but for one of each kind that no comparison of a document tells apart."""
    compared: dict[str, dict[str, tuple[str, Any]]] = {key: {} for key in KEYS}
    for document in documents:
        for rule in document["rules"]:
            for key, matcher in comparisons(rule["when"]):
                compared[key] |= {repr(each): each for each in matcher.items()}
    texts: list[list[str | None]] = []
    for key in KEYS:
        columns = [column(op, wanted) for op, wanted in compared[key].values() if op != "exists"]
        kinds = dict(zip(zip(*columns, strict=True), TEXTS, strict=True)) if columns else {(): "x"}
        fixed = [document["capabilities"][0].get("labels", {}).get(key) for document in documents]
        texts.append(list(dict.fromkeys([None, *fixed, *kinds.values()])))
    return (dict(zip(KEYS, each, strict=True)) for each in itertools.product(*texts))


class Drawing:
    """Random packs whose rules look at labels that are not declared."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.globs: list[str] = []

    def text(self, characters: str, longest: int) -> str:
        return "".join(self.random.choices(characters, k=self.random.randint(1, longest)))

    def matcher(self) -> Json:
        if self.random.random() < 0.6:
            return {"like": self.random.choice(self.globs), **({"exists": True} if self.random.random() < 0.3 else {})}
        match self.random.choice(["eq", "ne", "in", "notIn", "exists"]):
            case "exists":
                return {"exists": self.random.random() < 0.5}
            case ("eq" | "ne") as op:
                return {op: self.text("abc", 2)}
            case op:
                return {op: sorted({self.text("abc", 2) for _ in range(2)})}

    def when(self, depth: int = 0) -> Json:
        kind = self.random.random()
        if depth < 3 and kind < 0.2:
            return {"not": self.when(depth + 1)}
        if depth < 3 and kind < (1 if depth == 0 else 0.5):
            return {self.random.choice(["all", "any"]): [self.when(depth + 1) for _ in range(3)]}
        return {f"labels.{self.random.choice(KEYS[:1] * 4 + KEYS)}": self.matcher()}

    def conjunction(self) -> Json:
        """A condition that few texts meet: each glob matches, or doesn't."""
        parts: list[Json] = [
            {"labels.data": {"exists": True}},
            *({"labels.data": {"like": each}} for each in self.globs),
        ]
        excluded = [{"not": each} if self.random.random() < 0.3 else each for each in parts[1:]]
        return {"all": [parts[0], *excluded]}

    def pair(self) -> tuple[Json, Json]:
        self.globs = [self.text("abc**?", 4) for _ in range(self.random.randint(1, 4))]
        rules = [
            {
                "name": f"r{number}",
                "because": "b",
                "when": self.when(),
                self.random.choice(["require", "forbid"]): {"region": self.random.choice(REGIONS)},
            }
            for number in range(2)
        ]
        document = {
            "providers": [{"id": each, "region": each, "models": [MODEL]} for each in REGIONS],
            "tenants": [{"tenantId": "t", "rules": ["r0", "r1"]}],
            "rules": rules,
        }
        when = rules[0]["when"]
        ways: list[Callable[[], Json]] = [
            self.when,
            lambda: {"all": [when, self.when(2)]},
            lambda: {"any": [when, self.when(2)]},
            lambda: {"any": [when, self.conjunction()]},
            lambda: {"all": [when, {"not": self.conjunction()}]},
        ]
        other = self.random.choice(ways)()
        return (
            {**document, "capabilities": [self.capability()]},
            {**document, "capabilities": [self.capability()], "rules": [{**rules[0], "when": other}, rules[1]]},
        )

    def capability(self) -> Json:
        """A capability that may fix a label."""
        fixed = {"labels": {"data": self.text("ab", 2)}} if self.random.random() < 0.2 else {}
        return {"name": "c", "needs": [], **fixed}


MODEL = {
    "name": "m",
    "contextWindow": 10,
    "features": [],
    "cost": {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1},
}


def fits(value: LabelValue, text: str | None) -> bool:
    if value.other_than is None or text is None:
        return value.text == text
    return (
        text not in value.other_than
        and all(expression(each).fullmatch(text) for each in value.like)
        and not any(expression(each).fullmatch(text) for each in value.unlike)
    )


def told(comparison: Comparison, labels: Labels) -> list[tuple[set[str], set[str]]]:
    """The regions that a request loses and gains, by each change that it belongs to."""
    return [
        (providers(change.effect.lost), providers(change.effect.gained))
        for change in comparison.changes
        for scope in change.scopes
        for case in scope.labels
        if all(any(fits(value, labels[key]) for value in values) for key, values in case)
    ]


def providers(movements: Sequence[Movement]) -> set[str]:
    return {provider for movement in movements for provider, _ in movement.candidates}


def routed(pack: Pack, labels: Labels) -> set[str]:
    known = {key: text for key, text in labels.items() if text is not None}
    answer = pack.resolve("t", "c", labels=known, at=AT).answer(include=["matched"])
    return {each["provider"] for each in answer["matched"]}


def check(old: Json, new: Json) -> bool:
    """Hold a comparison to what all requests come to, and say whether one of them differs."""
    packs = loaded(old), loaded(new)
    comparison = compare_packs(*packs, at=AT)
    differs = False
    for labels in requests(old, new):
        was, now = admitted(old, labels), admitted(new, labels)
        if was is None or now is None:
            if was is not now:
                assert not comparison.is_same, f"{labels} is refused by one pack, and nothing is said"
                assert comparison.is_broken or now is not None
            continue
        differs |= was != now
        assert not (was != now and comparison.is_same), f"{labels} differs, and nothing is said"
        if comparison.is_complete:
            assert told(comparison, labels) == ([] if was == now else [(was - now, now - was)]), labels
    for change in comparison.changes:
        for scope in change.scopes:
            for case in scope.labels:
                for chosen in itertools.product(*(values for _, values in case)):
                    labels = {key: value.text for (key, _), value in zip(case, chosen, strict=True)}
                    assert routed(packs[0], labels) != routed(packs[1], labels), labels
    return differs


def test_undeclared_labels_differ_as_all_texts_do() -> None:
    drawing = Drawing(1)
    differing = sum(check(*drawing.pair()) for _ in range(200))
    assert 80 < differing < 140


@pytest.mark.slow
def test_so_they_do_in_many_packs() -> None:
    drawing = Drawing(2)
    for _ in range(3000):
        check(*drawing.pair())


def three_globs(*options: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    paths = [str(DATA / f"diff-three-globs-{side}.yaml") for side in ("old", "new")]
    status = main(["diff", *paths, "--at", AT, *options])
    return status, capsys.readouterr().out


def test_three_globs_together_are_looser(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = three_globs("--fail-on", "looser", capsys=capsys)
    assert status == 1
    assert "t: c, with a value of data like *b* and *c and a* (such as abc)" in text
    status, text = three_globs("--format", "json", capsys=capsys)
    (value,) = json.loads(text)["changes"][0]["scopes"][0]["labels"][0]["data"]
    assert value == {"otherThan": [], "like": ["*b*", "*c", "a*"], "unlike": [], "example": "abc"}
    assert "like <code>&#42;b&#42;</code> and" in three_globs("--format", "markdown", capsys=capsys)[1]


def of_when(when: Json) -> Json:
    return {
        "providers": [{"id": each, "region": each, "models": [MODEL]} for each in REGIONS],
        "capabilities": [{"name": "c", "needs": []}],
        "tenants": [{"tenantId": "t", "rules": ["r"]}],
        "rules": [{"name": "r", "because": "b", "when": when, "require": {"region": "eu"}}],
    }


def compared(*whens: Json) -> Comparison:
    return compare_packs(*(loaded(of_when(each)) for each in whens), at=AT)


def told_as_text(comparison: Comparison) -> list[str]:
    return ["".join(part for part, _ in line).strip() for line in comparison_lines(comparison)]


OTHER: Json = {"labels.data": {"like": "*z*"}}
THERE: Json = {"labels.data": {"exists": True}}
NEVER: Json = {"all": [THERE, OTHER, {"not": OTHER}]}
STARTING: Json = {"labels.data": {"like": "a*"}}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (STARTING, {"all": [STARTING, {"not": OTHER}]}, "a value of data like *z* and a* (such as az)"),
        ({"all": [THERE, STARTING]}, NEVER, "a value of data like a* (such as a)"),
        (
            {"all": [THERE, {"not": STARTING}, {"labels.data": {"ne": "q"}}]},
            NEVER,
            "another value of data not like a* (such as an empty one)",
        ),
        (
            {"any": [STARTING, {"labels.data": "q"}]},
            NEVER,
            "data=q or a value like a* (such as a) (or none given)",
        ),
        ({"labels.data": {"notIn": ["q", "r"]}}, NEVER, "another value of data (or none given)"),
    ],
)
def test_values_are_told_in_few_words(old: Json, new: Json, said: str) -> None:
    assert f"t: c, with {said}" in told_as_text(compared(old, new))


def test_globs_that_tell_too_much_apart_are_told() -> None:
    long = "*a" + "?" * 20
    found = compared(
        {"labels.data": {"like": long}}, {"any": [{"labels.data": {"like": each}} for each in (long, "b")]}
    )
    (cut,) = found.cuts
    assert cut.labels == ("data",)
    assert found.to_dict()["cut"][0]["labels"] == ["data"]
    assert (found.is_complete, found.is_same) == (False, False)
    assert any("the globs over data tell more values apart than were tried" in each for each in told_as_text(found))
    assert "the globs over <code>data</code> tell more" in comparison_markdown(found)


def test_unfinished_globs_of_equal_packs_differ_in_nothing() -> None:
    when = {"labels.data": {"like": "*a" + "?" * 20}}
    assert compared(when, when).is_same


@pytest.mark.parametrize("feared", ["looser", "broken", "any"])
def test_unfinished_globs_fail_whatever_is_feared(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, feared: str
) -> None:
    paths = [tmp_path / "old.yaml", tmp_path / "new.yaml"]
    for path, name in zip(paths, "bc", strict=True):
        both = [{"labels.data": {"like": "*a" + "?" * 20}}, {"not": {"labels.data": {"like": f"*{name}" + "?" * 20}}}]
        path.write_text(text_of(of_when({"all": both})))
    assert main(["diff", *map(str, paths), "--at", AT]) == 0
    assert main(["diff", *map(str, paths), "--at", AT, "--fail-on", feared]) == 1
    assert "no difference was found, but not everything was compared" in capsys.readouterr().out


def bundled(document: Json) -> Json:
    """A pack with a bundle, one of whose slots no capability stands for."""
    slots = {"one": {"capability": "c"}, "two": {"capability": {"needs": []}}}
    return {**document, "bundles": [{"name": "b", "slots": slots, "together": [{"same": "region"}]}]}


def bundle_answer(pack: Pack, labels: Labels) -> Json | None:
    """The picks of the bundle, or that there are none; None when the request is refused."""
    known = {key: text for key, text in labels.items() if text is not None}
    try:
        answer = pack.resolve_bundle("t", "b", labels=known, at=AT).answer()
    except InvalidRequestError:
        return None
    if "decision" in answer:
        picks = answer["decision"]["picks"]
        return {"picks": {slot: {key: each[key] for key in ("provider", "model")} for slot, each in picks.items()}}
    return {"unsatisfiable": True}


def check_bundle(old: Json, new: Json) -> bool:
    packs = loaded(old), loaded(new)
    comparison = compare_packs(*packs, at=AT)
    changes = [each.to_dict() for each in comparison.bundles]
    expected: list[tuple[Json, Json]] = []
    for labels in requests(old, new):
        was, now = (bundle_answer(pack, labels) for pack in packs)
        if was is not None and now is not None and was != now and (was, now) not in expected:
            expected.append((was, now))
    if comparison.is_complete:
        assert sorted(map(repr, expected)) == sorted(repr((each["old"], each["new"])) for each in changes)
    for each in changes:
        said = each.get("labels", {})
        assert (each["old"], each["new"]) == tuple(bundle_answer(pack, said) for pack in packs)
    return bool(expected)


def test_bundles_differ_as_all_texts_do() -> None:
    drawing = Drawing(3)
    differing = sum(check_bundle(*map(bundled, drawing.pair())) for _ in range(40))
    assert 5 < differing < 35


@pytest.mark.slow
def test_so_do_bundles_of_many_packs() -> None:
    drawing = Drawing(4)
    for _ in range(300):
        check_bundle(*map(bundled, drawing.pair()))


def test_a_bundle_that_differs_with_labels_alone() -> None:
    documents = [bundled(of_when({"all": [THERE, each]})) for each in (STARTING, OTHER)]
    for document in documents:
        document["capabilities"] = []
        document["bundles"][0]["slots"].pop("one")
        document["rules"][0]["require"] = {"region": "us"}
    found = compare_packs(*map(loaded, documents), at=AT)
    assert (found.is_same, found.is_complete) == (False, True)
    assert [each.labels for each in found.bundles] == [(("data", "a"),), (("data", "z"),)]
    assert found.bundles[0].to_dict()["labels"] == {"data": "a"}
    assert "t: b, with labels such as data=a" in told_as_text(found)


def test_a_bundle_with_too_many_kinds_of_labels() -> None:
    globs = [f"*{letter}*" for letter in "abcdefgh"]
    whens = [
        {"all": [THERE, {"any": [{"labels.data": {"like": each}} for each in some]}]} for some in (globs, globs[1:])
    ]
    documents = [bundled(of_when(each)) for each in whens]
    for document in documents:
        document["rules"] = [
            {"name": f"r{number}", "because": "b", "when": {"labels.data": {"like": each}}, "forbid": {"region": "us"}}
            for number, each in enumerate(globs)
        ] + document["rules"]
        document["tenants"][0]["rules"] = [rule["name"] for rule in document["rules"]]
    found = compare_packs(*map(loaded, documents), at=AT)
    (cut,) = [each for each in found.cuts if each.what == "bundle"]
    assert cut.to_dict() == {"tenant": "t", "bundle": "b", "compared": cut.compared, "total": 257}
    assert any(each.startswith("t: bundle b") for each in told_as_text(found))
