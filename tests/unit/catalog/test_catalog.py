"""The catalog's index against a naive scan, in one go and grown provider by provider."""

import copy
import operator
import pickle
import random
import re
import threading
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import strategies as wire
from whyroute import (
    Candidate,
    Catalog,
    DeclaredProvider,
    DuplicateProviderError,
    InvalidProviderError,
    ModelInfo,
    ProviderMetadata,
    route,
)
from whyroute.basics.bits import BitSlices, positions

Json = dict[str, Any]
Pair = tuple[ProviderMetadata, ModelInfo]


def model(name: str, **more: Any) -> Json:
    cost = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}
    return {"name": name, "contextWindow": 1, "features": [], "cost": cost, **more}


def provider(provider_id: str, *models: Json, **more: Any) -> Json:
    return {"id": provider_id, "region": "r", "models": list(models) or [model("m")], **more}


def numbered(catalog: Catalog) -> list[Pair]:
    """Provider and model by number, in the order the contract breaks ties by."""
    pairs = [(meta, one) for meta in catalog.metadata for one in meta.models]
    return sorted(pairs, key=lambda pair: (pair[0].id, pair[1].name != pair[0].default_model, pair[1].name))


Values = Callable[[ProviderMetadata, ModelInfo], Collection[str]]
COLUMNS: dict[str, tuple[Callable[[Catalog, str], int], Values]] = {
    "region": (lambda catalog, name: catalog.in_region(name), lambda meta, one: {meta.region}),
    "kind": (lambda catalog, name: catalog.of_kind(name), lambda meta, one: {meta.capability_kind}),
    "attribute": (lambda catalog, name: catalog.with_attribute(name), lambda meta, one: meta.attributes),
    "feature": (lambda catalog, name: catalog.with_feature(name), lambda meta, one: one.features),
    "provider": (Catalog.of_provider, lambda meta, one: {meta.id}),
    "model": (lambda catalog, name: catalog.of_model(name), lambda meta, one: {one.name}),
}
NUMBERS: dict[str, tuple[Callable[[Catalog], BitSlices], Callable[[Any], Any]]] = {
    "context": (lambda catalog: catalog.context_window, lambda one: one.context_window),
    "price": (lambda catalog: catalog.prompt_price, lambda one: one.cost.prompt_usd_per_1k_tokens),
    "completion price": (
        lambda catalog: catalog.numbers("completionUsdPer1kTokens"),
        lambda one: one.cost.completion_usd_per_1k_tokens,
    ),
    "output": (lambda catalog: catalog.numbers("maxOutputTokens"), lambda one: one.max_output_tokens),
    "latency": (lambda catalog: catalog.p95_latency, lambda one: one.p95_latency_ms),
}


TEXTS: dict[str, Values] = {
    **{name: values for name, (_, values) in COLUMNS.items()},
    "source": lambda meta, one: {"pack" if (meta.model_extra or {}).get("source") == "pack" else "registered"},
    "labels.tier": lambda meta, one: {meta.labels[key] for key in meta.labels if key == "tier"},
    "labels.a/b": lambda meta, one: {meta.labels[key] for key in meta.labels if key == "a/b"},
}
PATTERNS = ["*", "", "a", "*-*", "?", "[a]", "*[*", "a*b", "*\u0301"]
CALLS = [(0, 0), (1, 0), (1000, 500), (3, 10**9)]


def check_rules(catalog: Catalog, pairs: list[Pair]) -> None:
    """What rules ask a catalog."""
    for name, values in TEXTS.items():
        there = {value for pair in pairs for value in values(*pair)}
        for wanted in ([], ["nobody has this"], sorted(there)[:1], sorted(there)[::2], [*sorted(there), "x"]):
            expected = [number for number, pair in enumerate(pairs) if set(values(*pair)) & set(wanted)]
            assert list(positions(catalog.having(name, wanted))) == expected, (name, wanted)
        for pattern in PATTERNS:
            regex = "".join({"*": ".*", "?": "."}.get(character, re.escape(character)) for character in pattern)
            expected = [
                number
                for number, pair in enumerate(pairs)
                if any(re.fullmatch(regex, value, re.DOTALL) for value in values(*pair))
            ]
            assert list(positions(catalog.matching(name, pattern))) == expected, (name, pattern)
        known = [
            n for n, pair in enumerate(pairs) if set(values(*pair)) - ({"unspecified"} if name == "region" else set())
        ]
        assert list(positions(catalog.known(name))) == known, name
    for prompt, completion in CALLS:
        costs = catalog.call_costs(prompt, completion)
        exactly = [
            (
                Fraction(repr(one.cost.prompt_usd_per_1k_tokens)) * prompt
                + Fraction(repr(one.cost.completion_usd_per_1k_tokens)) * completion
            )
            / 1000
            for _, one in pairs
        ]
        for bound in [0, 0.1, 0.0003, 1e-7, 1e300, *(float(cost) for cost in exactly[:3])]:
            wanted_usd = Fraction(repr(bound))
            for op, holds in {"<": operator.lt, "<=": operator.le, "=": operator.eq, ">": operator.gt}.items():
                expected = [number for number, cost in enumerate(exactly) if holds(cost, wanted_usd)]
                assert list(positions(costs.meets(op, bound))) == expected, (prompt, completion, op, bound)
        if pairs:
            for highest, most in ((False, min(exactly)), (True, max(exactly))):
                expected = [number for number, cost in enumerate(exactly) if cost == most]
                assert list(positions(costs.costs.foremost(catalog.all(), highest=highest))) == expected


def check(catalog: Catalog) -> None:
    """Everything a catalog tells, against a scan of its metadata."""
    pairs = numbered(catalog)
    check_rules(catalog, pairs)
    assert catalog.size == len(pairs)
    assert [(c.metadata, c.model) for c in catalog.candidates()] == pairs
    assert [catalog.candidate(number).key for number in range(len(pairs))] == [(m.id, one.name) for m, one in pairs]
    for number, (meta, one) in enumerate(pairs):
        assert catalog.number_of(meta.id, one.name) == number
        assert catalog.candidate(number).provider is catalog[catalog.metadata.index(meta)]
    for strangers in (("nobody", "m"), (pairs[0][0].id, "nothing") if pairs else ("", "")):
        assert catalog.number_of(*strangers) is None
    in_input_order = [(meta.id, one.name) for meta in catalog.metadata for one in meta.models]
    assert [catalog.candidate(number).key for number in catalog.input_order()] == in_input_order
    for name, (having, values) in COLUMNS.items():
        for value in {"nobody has this", ""}.union(*(values(*pair) for pair in pairs)):
            found = having(catalog, value)
            expected = [number for number, pair in enumerate(pairs) if value in values(*pair)]
            assert list(positions(found)) == expected, (name, value)
            assert [c.model for c in catalog.candidates(found)] == [pairs[number][1] for number in expected]
    assert list(positions(catalog.all())) == list(range(len(pairs)))
    assert list(positions(catalog.fallbacks)) == [n for n, (meta, _) in enumerate(pairs) if meta.fallback]
    some = [*sorted({meta.region for meta in catalog.metadata})[::2], "nowhere"]
    assert list(positions(catalog.in_any_region(some))) == [n for n, (m, _) in enumerate(pairs) if m.region in some]
    assert catalog.in_any_region([]) == 0
    for name, (column, read) in NUMBERS.items():
        slices = column(catalog)
        known = {read(one) for _, one in pairs} - {None}
        assert list(positions(slices.known)) == [n for n, (_, one) in enumerate(pairs) if read(one) is not None], name
        for bound in [*sorted(known), -1, 8001.5]:
            at_least = [n for n, (_, one) in enumerate(pairs) if read(one) is not None and read(one) >= bound]
            assert list(positions(slices.meets(">=", bound))) == at_least, (name, bound)
            equal = [n for n, (_, one) in enumerate(pairs) if read(one) == bound]
            assert list(positions(slices.meets("=", bound))) == equal, (name, bound)


@given(wire.provider_lists())
def test_an_index_answers_as_a_scan_does(providers: list[Json]) -> None:
    check(Catalog(providers))


@settings(max_examples=60)
@given(wire.provider_lists(at_most=6), st.data())
def test_grown_catalog_equals_one_made_at_once(providers: list[Json], data: st.DataObject) -> None:
    grown = Catalog()
    for at, metadata in enumerate(providers):
        if data.draw(st.booleans()):
            check(grown)  # reads every column, so that the next step updates them
        elif data.draw(st.booleans()):
            grown.with_feature("vision")
            _ = grown.p95_latency
        grown = grown.with_provider(metadata)
        assert len(grown) == at + 1
    check(grown)
    whole = Catalog(providers)
    assert [c.key for c in grown.candidates()] == [c.key for c in whole.candidates()]
    assert grown.metadata == whole.metadata


def many(count: int, rng: random.Random) -> list[Json]:
    """So many providers in shuffled order, with hundreds of regions, attributes, kinds and features."""
    found = [
        provider(
            f"p{at:03d}",
            *(
                model(
                    f"m{(at + n) % 150}",
                    features=[f"f{(at * 3 + n) % 200}", f"f{at % 7}"],
                    contextWindow=1 + (at * 31 + n) % 400,
                    **({"p95LatencyMs": at % 300} if at % 5 else {}),
                )
                for n in range(1 + at % 3)
            ),
            region=f"r{at % 170}",
            attributes=[f"a{at % 140}", "common"],
            capabilityKind=f"k{at % 135}",
            fallback=at % 4 == 0,
            defaultModel=f"m{(at + at % 3) % 150}",
        )
        for at in range(count)
    ]
    rng.shuffle(found)
    return found


def test_columns_of_hundreds_of_values() -> None:
    check(Catalog(many(300, random.Random(1))))


@pytest.mark.parametrize("start", [0, 120, 200])
def test_a_long_chain_of_updates(start: int) -> None:
    """Past the length of a journal, and past the number of values that a column of sets may hold."""
    providers = many(start + 90, random.Random(start))
    grown = Catalog(providers[:start])
    for at, metadata in enumerate(providers[start:]):
        if at == 0:
            check(grown)
        elif at % 3 == 0:
            grown.in_region("r5")
            grown.of_model("m7")
            grown.with_attribute("common")
        grown = grown.with_provider(metadata)
    check(grown)
    check(Catalog(grown))


def test_provider_with_many_values_may_be_followed() -> None:
    """The column is made again when it is next asked for, and not before."""
    catalog = Catalog([provider("a", attributes=["common"])])
    assert list(positions(catalog.with_attribute("common"))) == [0]
    many_values = [f"value-{at}" for at in range(300)]
    grown = catalog.with_provider(provider("b", attributes=many_values)).with_provider(
        provider("c", attributes=["common"])
    )
    assert list(positions(grown.with_attribute("common"))) == [0, 2]
    assert list(positions(grown.with_attribute("value-299"))) == [1]


def test_catalogs_from_one_parent_are_independent() -> None:
    rng = random.Random(3)
    providers = many(150, rng)
    parent = Catalog(providers[:130])
    check(parent)
    before = [parent.in_region(f"r{at}") for at in range(170)], parent.context_window, parent.all()
    left, right = parent, parent
    for metadata in providers[130:140]:
        left = left.with_provider(metadata)
    for metadata in providers[140:]:
        right = right.with_provider(metadata)
        left.of_model("m3")
    check(left)
    check(right)
    check(parent)
    assert before == ([parent.in_region(f"r{at}") for at in range(170)], parent.context_window, parent.all())
    assert (len(parent), len(left), len(right)) == (130, 140, 140)


def test_ids_and_names_compare_by_code_point() -> None:
    names = ["z", "Z", "a", "\u00e9", "e\u0301", "\U0001f600", "\uffff", "I", "\u0131", "\u0130", "i", "10", "9", "-"]
    catalog = Catalog(provider(name, *map(model, names), defaultModel="i") for name in names)
    ordered = sorted(names, key=lambda name: list(map(ord, name)))
    assert list(dict.fromkeys(c.metadata.id for c in catalog.candidates())) == ordered
    first = [c.model.name for c in catalog.candidates()][: len(names)]
    assert first == ["i", *(name for name in ordered if name != "i")]


def test_default_model_comes_first_at_its_provider() -> None:
    catalog = Catalog([provider("a", model("x"), model("y")), provider("b", model("x"), model("y"), defaultModel="y")])
    assert [c.key for c in catalog.candidates()] == [("a", "x"), ("a", "y"), ("b", "y"), ("b", "x")]


class Live:
    """A provider of a user's own, that is no class of whyroute's."""

    def __init__(self, metadata: Any) -> None:
        self.metadata = metadata

    async def invoke(self, call: Any) -> Any:
        raise NotImplementedError


def test_providers_metadata_and_wire_form_are_taken_alike() -> None:
    live = Live(ProviderMetadata.model_validate(provider("live")))
    loose = Live(provider("loose"))
    declared = DeclaredProvider(ProviderMetadata.model_validate(provider("declared")))
    catalog = Catalog([live, loose, declared, ProviderMetadata.model_validate(provider("meta")), provider("wire")])
    assert [meta.id for meta in catalog.metadata] == ["live", "loose", "declared", "meta", "wire"]
    assert all(isinstance(meta, ProviderMetadata) for meta in catalog.metadata)
    assert catalog[0] is live
    assert catalog[1] is loose
    assert catalog[2] is declared
    assert isinstance(catalog[3], DeclaredProvider)
    assert catalog[3:] == tuple(catalog)[3:]
    assert catalog[-1].metadata.id == "wire"
    assert live in catalog
    assert list(catalog) == [catalog[at] for at in range(len(catalog))]
    assert catalog.with_provider(Live(provider("more")))[-1].metadata["id"] == "more"  # type: ignore[index]  # as given
    assert repr(catalog) == "Catalog(5 providers, 5 candidates)"
    decision = route({"needs": [], "prefer": []}, catalog, preferred_provider="live")
    assert decision.provider is live


def test_metadata_is_read_once() -> None:
    metadata = provider("p", model("m", features=["vision"]))
    catalog = Catalog([Live(metadata)])
    metadata["models"].clear()
    metadata["id"] = "q"
    assert catalog.candidate(0).key == ("p", "m")
    check(catalog)


def test_an_id_that_stands_twice_is_refused() -> None:
    with pytest.raises(DuplicateProviderError) as caught:
        Catalog([provider("a"), provider("b"), provider("b"), provider("a")])
    assert caught.value.provider_id == "b"
    for read in (False, True):
        catalog = Catalog([provider("a"), provider("c")])
        if read:
            check(catalog)
        for taken in ("a", "c"):
            with pytest.raises(DuplicateProviderError):
                catalog.with_provider(provider(taken))
        check(catalog.with_provider(provider("b")))
        check(catalog.with_provider(provider("A")))


def test_broken_metadata_is_refused() -> None:
    for bad in (provider(""), {}, None, 5, "text", Live(None)):
        with pytest.raises(InvalidProviderError):
            Catalog([bad])
        with pytest.raises(InvalidProviderError):
            Catalog().with_provider(bad)


def test_an_empty_catalog() -> None:
    catalog = Catalog()
    check(catalog)
    assert len(catalog) == 0
    assert list(catalog.candidates()) == []
    assert list(catalog.input_order()) == []
    assert not catalog.in_region("r")
    check(catalog.with_provider(provider("a")))


def test_candidates() -> None:
    catalog = Catalog([provider("a/b", model("c")), provider("a", model("b/c"))])
    first, second = catalog.candidates()
    assert (first.id, second.id) == ("a/b/c", "a/b/c")
    assert first != second
    assert (first.key, second.key) == (("a", "b/c"), ("a/b", "c"))
    assert first.to_dict() == {"provider": "a", "model": "b/c"}
    assert first == Candidate(first.provider, first.metadata, first.model)
    with pytest.raises(IndexError):
        catalog.candidate(2)
    with pytest.raises(AttributeError):
        first.model = second.model  # type: ignore[misc]  # it is frozen


def test_catalog_is_copied_and_pickled_with_providers() -> None:
    catalog = Catalog([provider("b", model("x"), model("y"), defaultModel="y", labels={"a": "b"}), provider("a")])
    check(catalog)
    for again in (copy.copy(catalog), copy.deepcopy(catalog), pickle.loads(pickle.dumps(catalog))):
        check(again)
        assert again.metadata == catalog.metadata
    assert copy.copy(catalog)[0] is catalog[0]


def test_threads_may_ask_a_fresh_catalog_at_once() -> None:
    providers = many(120, random.Random(5))
    capability = {
        "kind": "k3",
        "needs": [{"contextWindow": {"op": ">=", "value": 2}}, {"models": {"deny": ["m1"]}}],
        "prefer": [{"feature": "common", "weight": 1}, {"feature": "f9", "weight": 2}],
    }
    alone = route(capability, Catalog(providers)).to_dict()
    for _ in range(10):
        catalog = Catalog(providers)
        barrier = threading.Barrier(6)

        def ask(which: int, catalog: Catalog = catalog, barrier: threading.Barrier = barrier) -> Json:
            barrier.wait()
            target = catalog if which % 2 else catalog.with_provider(provider("zzz", region="other"))
            return route(capability, target).to_dict()

        with ThreadPoolExecutor(6) as threads:
            assert list(threads.map(ask, range(6))) == [alone] * 6
        check(catalog)


def test_threads_may_read_the_alternates_of_one_decision() -> None:
    providers = [
        provider(f"p{at:02d}", *(model(f"m{n}", features=[f"f{n}", f"f{at % 5}"]) for n in range(4)))
        for at in range(25)
    ]
    prefer = [{"feature": f"f{n}", "weight": n + 1} for n in range(5)]
    alone = route({"needs": [], "prefer": prefer}, providers).to_dict()
    for _ in range(10):
        decision = route({"needs": [], "prefer": prefer}, providers)
        barrier = threading.Barrier(4)

        def read(_: int, decision: Any = decision, barrier: threading.Barrier = barrier) -> Any:
            barrier.wait()
            return decision.to_dict()

        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(read, range(4))) == [alone] * 4
