"""What requests come to under a pack: whose labels count, what is refused, and what a pack keeps of them."""

import gc
import json
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

import whyroute as wr
from whyroute.catalog.catalog import Catalog
from whyroute.model.provider import DeclaredProvider
from whyroute.packs import Pack, Results, load_pack, run_tests
from whyroute.packs.check import check_pack

MODELS = "[{name: m, contextWindow: 9, features: [], cost: {promptUsdPer1kTokens: 1, completionUsdPer1kTokens: 1}}]"
PACK = f"""whyroute: 1
labels:
  data: {{values: [public, patient], default: public}}
  tier: {{values: [free, paid]}}
  env: {{values: [prod, dev], from: operator, default: dev}}
providers: [{{id: p, region: r, models: {MODELS}}}, {{id: q, region: s, models: {MODELS}}}]
capabilities:
  - {{name: plain, needs: [], tokens: {{prompt: 10, completion: 20}}}}
  - {{name: secret, needs: [], labels: {{data: patient}}}}
bundles:
  - {{name: pair, slots: {{one: {{capability: plain, labels: {{tier: paid}}}}, two: {{capability: plain}}}}}}
  - {{name: mixed, slots: {{one: {{capability: secret}}, two: {{capability: plain}}}}}}
rules:
  - {{name: in-prod, because: x, when: {{labels.env: prod}}, forbid: {{provider: q}}}}
  - {{name: dear, because: x, forbid: {{callUsd: {{gt: 100}}}}}}
tenants: [{{tenantId: t, rules: [in-prod, dear]}}]
"""
BARE = """whyroute: 1
capabilities: [{name: c, needs: [], labels: {a: fixed}}, {name: d, needs: []}]
bundles: [{name: b, slots: {one: {capability: d}}}]
tenants: [{tenantId: t}]
"""


def loaded(directory: Path, text: str) -> Pack:
    (directory / "pack.yaml").write_text(text, "utf-8")
    return load_pack(directory)


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    return loaded(tmp_path, PACK)


@pytest.fixture
def bare(tmp_path: Path) -> Pack:
    return loaded(tmp_path, BARE)


def issues(resolve: Any, *arguments: Any, **options: Any) -> list[str]:
    with pytest.raises(wr.InvalidRequestError) as raised:
        resolve(*arguments, **options)
    return [str(each) for each in raised.value.issues]


# Labels.


def test_a_bundles_slot_can_not_be_overruled(pack: Pack) -> None:
    assert issues(pack.resolve_bundle, "t", "pair", labels={"tier": "free"}) == [
        "/slots/one/labels/tier: `free`, but this slot always has `paid`"
    ]
    assert issues(pack.resolve_bundle, "t", "mixed", labels={"data": "public"}) == [
        "/slots/one/labels/data: `public`, but this capability always has `patient`"
    ]
    slots = pack.resolve_bundle("t", "pair", labels={"tier": "paid", "data": "patient"}).slots
    assert slots["one"]["labels"] == {"data": "patient", "tier": "paid", "env": "dev"}


def test_request_slots_meet_request_limits(pack: Pack) -> None:
    slots = {"x": {"capability": "plain", "labels": {"env": "prod", "data": "no", "dat": "public"}}}
    assert issues(pack.resolve_bundle, "t", {"slots": slots}) == [
        "/slots/x/labels/env: `env` is set by the operator; a request does not name it",
        "/slots/x/labels/data: `no` is no value of label `data`; its values are `public`, `patient`",
        "/slots/x/labels/dat: `dat` is no label of a request; did you mean `data`?",
    ]
    slots = {"x": {"capability": "plain", "labels": {"data": "patient"}}}
    found = pack.resolve_bundle("t", {"slots": slots}, labels={"data": "public"})
    assert found.slots["x"]["labels"]["data"] == "patient"


def test_whose_label_counts(pack: Pack, bare: Pack) -> None:
    assert pack.resolve("t", "plain").labels == {"data": "public", "env": "dev"}
    assert pack.resolve("t", "secret", operator_labels={"env": "prod"}).labels == {"data": "patient", "env": "prod"}
    assert pack.resolve("t", "plain", labels={"data": "patient"}).labels["data"] == "patient"
    assert bare.resolve("t", "c", operator_labels={"a": "his", "b": "his"}).labels == {"a": "fixed", "b": "his"}
    assert bare.resolve("t", "d", labels={"a": "mine"}, operator_labels={"b": "his"}).labels == {
        "a": "mine",
        "b": "his",
    }


def test_a_request_does_not_overrule_the_operator(bare: Pack) -> None:
    told = ["/labels/a: `a` is set by the operator; a request does not name it"]
    for value in ("his", "mine"):
        assert issues(bare.resolve, "t", "d", labels={"a": value}, operator_labels={"a": "his"}) == told
        assert issues(bare.resolve_bundle, "t", "b", labels={"a": value}, operator_labels={"a": "his"}) == told


@pytest.mark.parametrize("given", ["labels", "operator_labels"])
def test_values_of_labels_are_strings(bare: Pack, given: str) -> None:
    told = ["/labels/a: `1` is a number; a string is expected"]
    assert issues(bare.resolve, "t", "d", **{given: {"a": 1}}) == told
    assert issues(bare.resolve_bundle, "t", "b", **{given: {"a": 1}}) == told


def test_labels_are_split_by_who_sets_them(pack: Pack, bare: Pack) -> None:
    assert pack.split_labels({"env": "prod", "data": "public", "x": "y"}) == (
        {"data": "public", "x": "y"},
        {"env": "prod"},
    )
    assert bare.split_labels({"env": "prod"}) == ({"env": "prod"}, {})


@pytest.mark.parametrize("asked", [None, [], 7, ["plain"]])
def test_what_is_neither_a_name_nor_a_declaration(pack: Pack, asked: Any) -> None:
    assert issues(pack.resolve, "t", asked)[0].startswith("/capability: ")
    assert issues(pack.resolve_bundle, "t", asked)[0].startswith("/bundle: ")


# What is checked and tested.


@pytest.mark.parametrize("asked", ["capability: plain", "bundle: pair"])
def test_test_with_operator_labels_tests_rules(tmp_path: Path, asked: str) -> None:
    tests = f"tests: [{{name: x, tenant: t, {asked}, labels: {{env: prod}}, expect: {{fallback: false}}}}]\n"
    loaded(tmp_path, PACK + tests)
    assert not [each.message for each in check_pack(tmp_path, now="2027-01-01") if each.name == "untested-rule"]


# What is read and kept.


def test_bundle_uses_the_packs_own_catalog(pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = pack.resolve_bundle("t", "pair", at="2027-01-01", operator_labels={"env": "prod"})
    on_the_wire = wr.answer(json.loads(json.dumps({**bundle.request, "include": ["explanation", "matched"]})))

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr(Catalog, "of_members", never)
    monkeypatch.setattr(wr.ProviderMetadata, "to_dict", never)
    request = bundle.read(include=["explanation", "matched"])
    assert request.catalog is pack.catalog("t")
    assert all(slot.situation and slot.situation.book is pack.rulebook("t") for slot in request.slots)
    answer = json.loads(json.dumps(request.answer()))
    assert answer["asked"] == answer["explanation"]["asked"]
    assert (answer["asked"]["bundle"], answer["asked"]["pack"]) == ("pair", pack.digest)
    for each in (answer, answer["explanation"], on_the_wire, on_the_wire["explanation"]):
        del each["asked"]
    assert answer == on_the_wire
    monkeypatch.undo()
    given = bundle.answer(include=["request"])["request"]
    assert given == json.loads(json.dumps(bundle.request))


def test_bundle_contrast_candidates_are_in_slots(pack: Pack) -> None:
    asked = {"tow": ("p", "m")}
    assert issues(lambda: pack.resolve_bundle("t", "pair", why_not=asked)) == [
        "/whyNot/tow: `tow` is no slot of the bundle; the slots are `one`, `two`"
    ]


def foreign(pack: Pack) -> Catalog:
    metadata = pack.providers["p"].value.metadata
    return Catalog.of_members([(DeclaredProvider(metadata), metadata)])


def test_pack_holds_no_catalog_but_its_own(pack: Pack) -> None:
    catalog = foreign(pack)
    gone = weakref.ref(catalog)
    for _ in range(3):
        pack.resolve("t", "plain", catalog=catalog).read().solve()
        pack.resolve_bundle("t", "pair", catalog=catalog).read().solve()
    del catalog
    gc.collect()
    assert gone() is None


def test_a_pack_can_be_a_key(pack: Pack, tmp_path: Path) -> None:
    assert {pack: 1}[pack] == 1
    assert pack != load_pack(tmp_path)


def test_a_pack_without_bundles_loads_without_them(tmp_path: Path) -> None:
    text = PACK[: PACK.index("bundles:")] + PACK[PACK.index("rules:") :]
    loaded(tmp_path, text)
    script = (
        "import sys\nfrom whyroute.packs import load_pack\n"
        "load_pack(sys.argv[1]).resolve('t', 'plain').answer()\n"
        "sys.exit('whyroute.bundles' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False, timeout=60).returncode == 0


# What is told of many failures.


def many(directory: Path, count: int) -> Results:
    line = "  - {{name: 'n{}', tenant: t, capability: plain, expect: {{unsatisfiable: true}}}}\n"
    return run_tests(loaded(directory, PACK + "tests:\n" + "".join(map(line.format, range(count)))), now="2027-01-01")


def test_failures_are_read_once_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from whyroute.render.junit import results_junit  # noqa: PLC0415
    from whyroute.render.tests import results_lines  # noqa: PLC0415

    results = many(tmp_path, 90)
    asked: list[int] = []
    failures = Results.failures.fget  # type: ignore[attr-defined]

    def counted(self: Results) -> Any:
        asked.append(1)
        return failures(self)

    monkeypatch.setattr(Results, "failures", property(counted))
    lines = ["".join(text for text, _ in line) for line in results_lines(results, command="whyroute test x")]
    assert len(asked) <= 3
    assert sum(line.startswith("FAIL ") for line in lines) == 60
    assert "and 30 more failed cases of 30 tests; --all shows them" in lines
    monkeypatch.undo()
    assert results_junit(results, command="x").count("<failure") == 90


def test_conditions_are_quoted_as_yaml_needs_it() -> None:
    from whyroute.render.flow import flow  # noqa: PLC0415

    assert flow({"region": "yes", "in": ("eu-west-1", "a: b"), "x": [True, 1.0]}) == (
        '{region: "yes", in: [eu-west-1, "a: b"], x: [true, 1]}'
    )
