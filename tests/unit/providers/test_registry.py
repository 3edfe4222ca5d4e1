"""The registry: every rule of the contract, in its order; tenants kept apart; snapshots."""

import asyncio
import copy
import itertools
import json
import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from house_style import broken_rules
from naming import named
from paths import TESTS
from whyroute import (
    DeclaredProvider,
    DuplicateProviderError,
    InvalidProviderError,
    ModelProvider,
    NotInvocableError,
    ProviderMetadata,
    ProviderRegistry,
    Registry,
    answer,
    route,
)
from whyroute.basics.issues import child
from whyroute.model.provider import check_provider
from whyroute.providers.registry import LoadsProviders, hydrated

Json = dict[str, Any]

INVALID: list[Json] = json.loads((TESTS / "data" / "invalid_providers.json").read_text("utf-8"))

CONTRACT_ORDER = [
    "empty-id",
    "empty-region",
    "empty-models",
    "empty-model-name",
    "duplicate-model-name",
    "invalid-context-window",
    "invalid-cost",
    "invalid-p95-latency",
    "invalid-max-output-tokens",
    "invalid-sampling",
    "invalid-thinking",
    "unknown-default-model",
    "invalid-labels",
    "invalid-invoke",
]


def model(name: Any = "m", **more: Any) -> Json:
    cost = {"promptUsdPer1kTokens": 0, "completionUsdPer1kTokens": 0}
    return {"name": name, "contextWindow": 1000, "features": [], "cost": cost, **more}


def metadata(provider_id: Any = "p", *models: Json, **more: Any) -> Json:
    return {"id": provider_id, "region": "r", "models": list(models) or [model()], **more}


class Live:
    """A provider as users write one."""

    def __init__(self, given: Any) -> None:
        self.metadata = given

    async def invoke(self, call: Any, /) -> Any:
        raise NotImplementedError


def provider(provider_id: str = "p", *models: Json, **more: Any) -> ModelProvider:
    return Live(metadata(provider_id, *models, **more))


def refused(given: Any) -> InvalidProviderError:
    registry = ProviderRegistry()
    with pytest.raises(InvalidProviderError) as caught:
        registry.register("t", given)
    assert len(registry.list("t")) == 0
    error = caught.value
    assert broken_rules(error.message) == []
    for issue in error.issues:
        assert broken_rules(issue.message) == [], issue
    json.dumps(error.to_dict(), allow_nan=False)
    assert error.to_dict()["reason"] == error.reason
    return error


def _short(value: object) -> str:
    return named(value)[:60]


def ids(case: Json) -> str:
    return f"{case['reason']}: {case['about']}"


@pytest.mark.parametrize("case", INVALID, ids=ids)
def test_a_rule_that_is_broken(case: Json) -> None:
    error = refused(Live(case["metadata"]))
    assert error.code == "invalid-provider"
    assert error.reason == case["reason"]
    assert [issue.path for issue in error.issues] == case["paths"]
    with pytest.raises(ValidationError) as caught:
        ProviderMetadata.model_validate(case["metadata"])
    found = [("".join(child("", token) for token in each["loc"]), each["msg"]) for each in caught.value.errors()]
    assert found == [tuple(issue) for issue in error.issues]
    answered = answer({"capability": {"needs": []}, "providers": [metadata("other"), case["metadata"]]})
    assert answered["error"]["reason"] == case["reason"]
    assert [issue["path"] for issue in answered["error"]["issues"]] == ["/providers/1" + at for at in case["paths"]]


def test_every_reason_of_the_contract_has_a_case() -> None:
    found = list(dict.fromkeys(case["reason"] for case in INVALID))
    assert found == CONTRACT_ORDER[:-1], "in the contract's order; the last one is about the provider object"


def spoil(meta: Json, reason: str) -> None:
    """Break one rule, whatever else is broken already."""
    first = meta["models"][0]
    match reason:
        case "empty-id":
            meta["id"] = ""
        case "empty-region":
            meta["region"] = ""
        case "empty-model-name":
            meta["models"].append(model(""))
        case "duplicate-model-name":
            meta["models"].append(dict(first))
        case "invalid-context-window":
            first["contextWindow"] = 0
        case "invalid-cost":
            first["cost"] = {"promptUsdPer1kTokens": 0}
        case "invalid-p95-latency":
            first["p95LatencyMs"] = -1
        case "invalid-max-output-tokens":
            first["maxOutputTokens"] = 0
        case "invalid-sampling":
            first["sampling"] = 0
        case "invalid-thinking":
            first["thinking"] = {}
        case "unknown-default-model":
            meta["defaultModel"] = "nothing"
        case "invalid-labels":
            meta["labels"] = {"": ""}


@pytest.mark.parametrize("pair", list(itertools.combinations(["empty-id", "empty-region", *CONTRACT_ORDER[5:]], 2)))
def test_first_contract_rule_names_the_error(pair: tuple[str, str]) -> None:
    for order in (pair, pair[::-1]):
        meta = metadata()
        for reason in order:
            spoil(meta, reason)
        given: Any = Live(meta) if "invalid-invoke" not in pair else SimpleNamespace(metadata=meta)
        error = refused(given)
        assert error.reason == pair[0]
        assert len(error.issues) == 2


def test_models_are_checked_one_after_the_other() -> None:
    error = refused(provider("p", model("a", sampling=0), model("a", contextWindow=0, thinking=5)))
    assert error.reason == "invalid-sampling"
    assert [issue.path for issue in error.issues] == [
        "/models/0/sampling",
        "/models/1/name",
        "/models/1/contextWindow",
        "/models/1/thinking",
    ]
    assert refused(provider("p", model("", contextWindow=0))).reason == "empty-model-name"
    assert refused(provider("p", model("m"), model("m", contextWindow=0))).reason == "duplicate-model-name"
    assert refused(Live(metadata("p", model("x", contextWindow=0), model("")))).reason == "invalid-context-window"


def test_all_that_is_wrong_is_told_at_once() -> None:
    meta = metadata()
    broken = [reason for reason in CONTRACT_ORDER if reason not in ("empty-models", "invalid-invoke")]
    for reason in reversed(broken):
        spoil(meta, reason)
    error = refused(SimpleNamespace(metadata=meta, invoke=None))
    assert error.reason == "empty-id"
    assert error.provider_id is None
    assert {issue.path for issue in error.issues} >= {
        "/id",
        "/region",
        "/models/0/contextWindow",
        "/models/0/cost/completionUsdPer1kTokens",
        "/models/0/p95LatencyMs",
        "/models/0/maxOutputTokens",
        "/models/0/sampling",
        "/models/0/thinking",
        "/models/1/name",
        "/defaultModel",
        "/labels/",
        "/invoke",
    }
    assert f"and {len(error.issues) - 1} more problems" in error.message


UNPRINTABLE = [math.nan, math.inf, -math.inf, 10**400, -(10**400)]


@pytest.mark.parametrize("number", UNPRINTABLE, ids=["nan", "inf", "-inf", "huge", "-huge"])
def test_numbers_that_are_no_finite_doubles(number: float) -> None:
    for key, reason in (
        ("contextWindow", "invalid-context-window"),
        ("p95LatencyMs", "invalid-p95-latency"),
        ("maxOutputTokens", "invalid-max-output-tokens"),
    ):
        assert refused(provider("p", {**model(), key: number})).reason == reason
    for key in ("promptUsdPer1kTokens", "completionUsdPer1kTokens"):
        assert refused(provider("p", model(cost={**model()["cost"], key: number}))).reason == "invalid-cost"
    assert refused(provider("p", model(sampling=number))).reason == "invalid-sampling"
    assert refused(provider(id=number)).reason == "empty-id"


@pytest.mark.parametrize("number", UNPRINTABLE, ids=["nan", "inf", "-inf", "huge", "-huge"])
def test_adapter_key_holds_only_json(number: float) -> None:
    for given in (
        provider(note=number),
        provider("p", model(note=[number])),
        provider("p", model(cost={**model()["cost"], "cachedUsd": number})),
    ):
        refused(given)


@pytest.mark.parametrize("number", [Decimal("0.1"), Fraction(1, 2), 1 + 0j, "1", [1], {}, None, object()], ids=_short)
def test_numbers_of_other_types_are_refused(number: Any) -> None:
    refused(provider("p", model(contextWindow=number)))
    refused(provider("p", model(cost={"promptUsdPer1kTokens": number, "completionUsdPer1kTokens": 0})))


ELSEWHERE = {"description": "half \ud800", "note": object()}


@pytest.mark.parametrize(
    ("given", "reason", "path"),
    [
        (metadata(""), "empty-id", "/id"),
        (metadata(b"p"), "empty-id", "/id"),
        (metadata(region=object()), "empty-region", "/region"),
        (metadata(models={"m"}), "empty-models", "/models"),
        (metadata(models=[object()]), "empty-model-name", "/models/0"),
        (metadata("p", model(b"m")), "empty-model-name", "/models/0/name"),
        (metadata("p", model(contextWindow=Decimal(5))), "invalid-context-window", "/models/0/contextWindow"),
        (
            metadata("p", model(cost={"promptUsdPer1kTokens": Decimal("0.1"), "completionUsdPer1kTokens": 0})),
            "invalid-cost",
            "/models/0/cost/promptUsdPer1kTokens",
        ),
        (metadata("p", model(sampling=object())), "invalid-sampling", "/models/0/sampling"),
        (metadata("p", model(thinking={"mode": b"", "lowest": "x"})), "invalid-thinking", "/models/0/thinking"),
        (metadata(defaultModel=b"m"), "unknown-default-model", "/defaultModel"),
        (metadata(labels={"a": date(2026, 1, 2)}), "invalid-labels", "/labels/a"),
        (metadata(labels={5: "a"}), "invalid-labels", "/labels"),
    ],
    ids=_short,
)
def test_non_json_value_breaks_its_fields_rule(given: Json, reason: str, path: str) -> None:
    error = refused(Live(given))
    assert (error.reason, [issue.path for issue in error.issues]) == (reason, [path])
    for other in (ELSEWHERE, {key: ELSEWHERE[key] for key in reversed(ELSEWHERE)}):
        error = refused(Live({**other, **given}))
        assert error.reason == reason
        assert {issue.path for issue in error.issues} == {path, "/description", "/note"}, "each is told once"


def test_price_type_error_says_how_to_pass() -> None:
    cost = {"promptUsdPer1kTokens": Decimal("0.1"), "completionUsdPer1kTokens": 0}
    message = refused(provider("p", model(cost=cost))).issues[0].message
    assert message.startswith("a Python `Decimal` has no JSON form; pass a float or an int; `promptUsdPer1kTokens` is ")


def test_excess_labels_do_not_hide_their_content() -> None:
    many: Json = {f"k{at}": "x" for at in range(33)}
    error = refused(provider(labels={**many, "odd": "\ud800"}))
    assert [issue.path for issue in error.issues] == ["/labels", "/labels/odd"]


@pytest.mark.parametrize(
    "given",
    [
        metadata("p", model(contextWindow=200000.0)),
        metadata("p", model(contextWindow=2**53 + 1)),
        metadata("p", model(contextWindow=10**300)),
        metadata("p", model(p95LatencyMs=0)),
        metadata("p", model(p95LatencyMs=0.5)),
        metadata("p", model(maxOutputTokens=1.0, sampling=False, thinking={"mode": "always", "lowest": "low"})),
        metadata("p", model(cost={"promptUsdPer1kTokens": 0, "completionUsdPer1kTokens": 1e-300})),
        metadata(" "),
        metadata("a/b\u00e9\U0001f600", model("x/y"), defaultModel="x/y"),
        metadata("p", model("m"), model("M"), model("\u00e9"), model("e\u0301")),
        metadata(labels={}),
        metadata(labels={f"k{at}": "x" * 256 for at in range(32)}),
        metadata(labels={"a": "", "a" * 63: "", "0": "", "team/a.b_c-d/0": "Any text, even \u00e9"}),
        metadata(attributes=[], fallback=True, capabilityKind="sandbox-exec", description="", region="unspecified"),
        metadata(anything={"of": ["the", "adapter's", 1, None]}),
    ],
    ids=_short,
)
def test_metadata_that_meets_the_rules(given: Json) -> None:
    registry = ProviderRegistry()
    registry.register("t", Live(given))
    registry.register("u", Live(ProviderMetadata.model_validate(given)))
    assert registry.list("t").metadata == registry.list("u").metadata
    assert registry.list("t").metadata[0].id == given["id"]


@pytest.mark.parametrize("given", [None, 5, "text", [], [metadata()], ()], ids=_short)
def test_metadata_that_is_no_object(given: Any) -> None:
    assert refused(Live(given)).reason == "empty-id"


def test_fields_that_routing_reads_have_their_types() -> None:
    not_text: dict[Any, Any] = {5: "a key that is no string"}
    for given in (
        metadata("p", {key: value for key, value in model().items() if key != "features"}),
        metadata("p", model(features="vision")),
        metadata("p", model(features=["vision", 5])),
        metadata(attributes="local"),
        metadata(attributes=[None]),
        metadata(fallback="yes"),
        metadata(fallback=1),
        metadata(capabilityKind=None),
        metadata(capabilityKind=5),
        metadata(description=5),
        metadata("half \ud800"),
        metadata("p", model("\udfff")),
        {**metadata(), **not_text},
        metadata(note=object()),
        metadata(note={1, 2}),
    ):
        refused(Live(given))


class Listed:
    metadata = metadata()
    invoke = "no function"


@pytest.mark.parametrize(
    "given",
    [SimpleNamespace(metadata=metadata()), SimpleNamespace(metadata=metadata(), invoke=None), Listed()],
    ids=["missing", "none", "text"],
)
def test_a_provider_without_a_call(given: Any) -> None:
    error = refused(given)
    assert error.reason == "invalid-invoke"
    assert [issue.path for issue in error.issues] == ["/invoke"]
    assert error.provider_id == "p"


def test_an_id_is_taken_once_per_tenant() -> None:
    registry = ProviderRegistry([("t", provider("p")), ("u", provider("p"))])
    for read in (False, True):
        if read:
            registry.list("t")
        with pytest.raises(DuplicateProviderError) as caught:
            registry.register("t", provider("p", model("other")))
        assert (caught.value.provider_id, caught.value.tenant_id) == ("p", "t")
        assert caught.value.to_dict()["providerId"] == "p"
        assert broken_rules(caught.value.message) == []
    assert [candidate.key for candidate in registry.list("t").candidates()] == [("p", "m")]
    registry.register("t", provider("P"))
    with pytest.raises(DuplicateProviderError):
        ProviderRegistry([("t", provider("p")), ("t", provider("p"))])
    with pytest.raises(InvalidProviderError):
        ProviderRegistry([("t", provider(""))])


def test_wrong_value_is_told_before_taken_id() -> None:
    registry = ProviderRegistry([("t", provider("p"))])
    with pytest.raises(InvalidProviderError):
        registry.register("t", provider("p", region=""))


def test_tenants_see_nothing_of_each_other() -> None:
    first, second = provider("p"), provider("p", model("other"))
    registry = ProviderRegistry([("t", first), ("u", second), ("u", provider("q"))])
    assert registry.get("t", "p") is first
    assert registry.get("u", "p") is second
    assert registry.get("t", "q") is None
    assert (registry.has("t", "p"), registry.has("t", "q"), registry.has("v", "p")) == (True, False, False)
    assert [meta.id for meta in registry.list("t").metadata] == ["p"]
    assert [meta.id for meta in registry.list("u").metadata] == ["p", "q"]
    assert len(registry.list("v")) == 0
    assert len(registry.list("T")) == 0
    assert registry.get("v", "p") is None
    assert registry.list("t")[0] is first


def test_a_list_is_a_snapshot() -> None:
    registry = ProviderRegistry()
    snapshots = [registry.list("t")]
    for at in range(60):
        registry.register("t", provider(f"p{(at * 37) % 60:02d}", model("m", features=["vision"] * (at % 2))))
        if at % 4 == 0 or at > 40:
            snapshots.append(registry.list("t"))
            snapshots[-1].with_feature("vision")
            assert registry.list("t") is snapshots[-1]
    assert [len(snapshot) for snapshot in snapshots] == [0, *range(1, 42, 4), *range(42, 61)]
    last = registry.list("t")
    assert [meta.id for meta in last.metadata] == [f"p{(at * 37) % 60:02d}" for at in range(60)]
    for snapshot in snapshots:
        assert snapshot.metadata == last.metadata[: len(snapshot)]
        assert snapshot.with_feature("vision").bit_count() == len(snapshot) // 2
    decision = route({"needs": [{"feature": "vision"}]}, last)
    assert decision.provider.metadata["id"] == min(m.id for m in last.metadata if m.models[0].features)  # type: ignore[index]  # as given


def test_metadata_is_read_when_it_is_registered() -> None:
    given = metadata("p", model("m", features=["vision"]), labels={"team": "a"})
    live = Live(given)
    registry = ProviderRegistry([("t", live)])
    given["models"][0]["features"].clear()
    given["models"].append(model("more"))
    given["id"] = "q"
    live.metadata = metadata("r")
    assert [candidate.key for candidate in registry.list("t").candidates()] == [("p", "m")]
    assert registry.list("t").with_feature("vision") == 1
    assert registry.get("t", "p") is live
    registry.register("t", live)
    assert [meta.id for meta in registry.list("t").metadata] == ["p", "r"]


def test_error_in_own_metadata_passes_through() -> None:
    class Faulty:
        @property
        def metadata(self) -> ProviderMetadata:
            raise RuntimeError("disk on fire")

        async def invoke(self, call: Any, /) -> Any:
            raise NotImplementedError

    with pytest.raises(RuntimeError, match="disk on fire"):
        ProviderRegistry().register("t", Faulty())


def test_a_registry_may_do_without_loading() -> None:
    class Plain:
        def __init__(self) -> None:
            self._inner = ProviderRegistry([("t", provider())])
            self.register, self.get, self.list, self.has = (
                self._inner.register,
                self._inner.get,
                self._inner.list,
                self._inner.has,
            )

    plain = Plain()
    assert isinstance(plain, Registry)
    assert not isinstance(plain, LoadsProviders)
    assert asyncio.run(hydrated(plain, "t")) == (plain.list("t"), ())


def test_the_protocol() -> None:
    registry = ProviderRegistry([("t", provider())])
    assert isinstance(registry, Registry)
    assert isinstance(registry, LoadsProviders)
    assert not isinstance(SimpleNamespace(register=None), Registry)
    before = registry.list("t")
    for _ in range(3):
        asyncio.run(registry.hydrate("t"))
        registry.invalidate("t")
    asyncio.run(registry.hydrate("unheard of"))
    assert registry.list("t") is before
    assert registry.setup_failures("t") == ()
    assert isinstance(provider(), ModelProvider)
    assert isinstance(DeclaredProvider(check_provider(provider())), ModelProvider)


def test_metadata_only_provider_is_not_called() -> None:
    declared = DeclaredProvider(ProviderMetadata.model_validate(metadata("p")))
    ProviderRegistry().register("t", declared)
    call: Any = None
    with pytest.raises(NotInvocableError) as caught:
        asyncio.run(declared.invoke(call))
    assert caught.value.provider_id == "p"
    assert repr(declared) == "DeclaredProvider('p')"


def test_python_names_are_taken_too() -> None:
    given = {
        "id": "p",
        "region": "r",
        "default_model": "m",
        "capability_kind": "embedding",
        "models": [
            {
                "name": "m",
                "context_window": 5,
                "features": (),
                "cost": {"prompt_usd_per_1k_tokens": 0.5, "completion_usd_per_1k_tokens": 1},
                "p95_latency_ms": None,
                "max_output_tokens": 7,
            }
        ],
    }
    before = copy.deepcopy(given)
    meta = ProviderMetadata.model_validate(given)
    assert given == before
    assert (meta.default_model, meta.capability_kind, meta.models[0].context_window) == ("m", "embedding", 5)
    assert meta.models[0].p95_latency_ms is None
    assert meta.model_dump(by_alias=True, exclude_unset=True, mode="json")["models"][0]["cost"] == {
        "promptUsdPer1kTokens": 0.5,
        "completionUsdPer1kTokens": 1,
    }


def test_threads_may_register_and_list_at_once() -> None:
    for _ in range(5):
        registry = ProviderRegistry()
        barrier = threading.Barrier(6)

        def work(
            which: int, registry: ProviderRegistry = registry, barrier: threading.Barrier = barrier
        ) -> tuple[int, list[int]]:
            barrier.wait()
            refusals, sizes = 0, []
            for at in range(20):
                try:
                    registry.register("t", provider(f"p{at:02d}" if which % 2 else f"q{which}-{at:02d}"))
                except DuplicateProviderError:
                    refusals += 1
                catalog = registry.list("t")
                catalog.in_region("r")
                sizes.append(len(catalog))
            return refusals, sizes

        with ThreadPoolExecutor(6) as threads:
            results = list(threads.map(work, range(6)))
        assert sum(refusals for refusals, _ in results) == 40, "three threads wanted the same twenty ids"
        assert all(sizes == sorted(sizes) for _, sizes in results)
        catalog = registry.list("t")
        assert len(catalog) == 80
        assert catalog.in_region("r") == catalog.all()
        assert len({meta.id for meta in catalog.metadata}) == 80


def test_providers_are_found_by_the_exact_id() -> None:
    registry = ProviderRegistry()
    names: list[str] = ["a", "A", "\u00e9", "e\u0301", "a/b", " a"]
    ask: Callable[[str], Any] = lambda name: registry.get("t", name)  # noqa: E731
    for name in names:
        assert ask(name) is None
        registry.register("t", provider(name))
    assert [ask(name).metadata["id"] for name in names] == names
    assert ask("b") is None


SNAKE_CASE = [
    (("capability_kind",), "capabilityKind", "embedding"),
    (("default_model",), "defaultModel", "m"),
    (("models", 0, "p95_latency_ms"), "p95LatencyMs", 50),
    (("models", 0, "context_window"), "contextWindow", 50),
    (("models", 0, "max_output_tokens"), "maxOutputTokens", 50),
    (("models", 0, "cost", "prompt_usd_per_1k_tokens"), "promptUsdPer1kTokens", 0.5),
]


@pytest.mark.parametrize(("place", "wire", "value"), SNAKE_CASE, ids=_short)
@pytest.mark.parametrize("both", [False, True], ids=["alone", "beside the wire name"])
def test_wire_form_knows_wire_names_only(place: tuple[Any, ...], wire: str, value: Any, both: bool) -> None:
    given = metadata()
    holder: Any = given
    for token in place[:-1]:
        holder = holder[token]
    if both:
        holder[wire] = value
    else:
        holder.pop(wire, None)
    holder[place[-1]] = value
    path = "".join(f"/{token}" for token in place)
    meant = f"`{place[-1]}` is not a key here; did you mean `{wire}`?"
    assert (path, meant) in refused(Live(given)).issues
    with pytest.raises(InvalidProviderError) as caught:
        route({"needs": []}, [given])
    assert (f"/0{path}", meant) in caught.value.issues
    error = answer({"capability": {"needs": []}, "providers": [given]})["error"]
    assert {"path": f"/providers/0{path}", "message": meant} in error["issues"]
    if both:
        with pytest.raises(ValidationError, match=f"`{place[-1]}` and `{wire}` are one field"):
            ProviderMetadata.model_validate(given)
    else:
        assert ProviderMetadata.model_validate(given).id == "p"


def test_provider_list_error_says_which_one() -> None:
    cases: list[tuple[Any, str]] = [
        (metadata(""), "/1/id"),
        (Live(metadata("")), "/1/id"),
        (None, "/1"),
        (metadata("b", model(), model("")), "/1/models/1/name"),
    ]
    for broken, path in cases:
        with pytest.raises(InvalidProviderError) as caught:
            route({"needs": []}, [metadata("a"), broken])
        assert [issue.path for issue in caught.value.issues] == [path]
        assert path in str(caught.value)


def test_replaced_and_unregistered_providers() -> None:
    registry = ProviderRegistry([("t", provider("a")), ("t", provider("b")), ("u", provider("a"))])
    before = registry.list("t")
    other = provider("a", model("n"))
    registry.replace("t", other)
    registry.replace("t", provider("c"))
    assert [each.key for each in registry.list("t").candidates()] == [("a", "n"), ("b", "m"), ("c", "m")]
    assert registry.get("t", "a") is other
    with pytest.raises(InvalidProviderError):
        registry.replace("t", provider("a", region=""))
    assert registry.get("t", "a") is other
    assert registry.unregister("t", "b")
    assert not registry.unregister("t", "b")
    assert not registry.unregister("nobody", "b")
    assert [each.key for each in registry.list("t").candidates()] == [("a", "n"), ("c", "m")]
    assert [each.key for each in before.candidates()] == [("a", "m"), ("b", "m")]
    registry.register("t", provider("b"))
    assert [each.key for each in registry.list("u").candidates()] == [("a", "m")]


def test_invalidate_reads_metadata_again() -> None:
    changing = Live(metadata("a"))
    registry = ProviderRegistry([("t", changing), ("t", provider("b"))])
    changing.metadata = metadata("a", model("n"))
    assert [each.key for each in registry.list("t").candidates()] == [("a", "m"), ("b", "m")]
    registry.invalidate("t")
    assert [each.key for each in registry.list("t").candidates()] == [("a", "n"), ("b", "m")]
    for broken, error in ((metadata("a", region=""), InvalidProviderError), (metadata("b"), DuplicateProviderError)):
        changing.metadata = broken
        with pytest.raises(error):
            registry.invalidate("t")
        assert [each.key for each in registry.list("t").candidates()] == [("a", "n"), ("b", "m")]
