"""Arguments of a wrong type are refused at once, all of them, with where they stand and what would be right."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import whyroute as wr
from house_style import broken_rules

PROVIDERS = [
    {
        "id": name,
        "region": "r",
        "models": [
            {
                "name": "m",
                "contextWindow": 1,
                "features": [],
                "cost": {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1},
            }
        ],
    }
    for name in "pq"
]

CASES: list[tuple[dict[str, Any], list[str]]] = [
    ({"setup_failures": [{"providerId": 1}]}, ["/setupFailures/0", "/setupFailures/0/providerId"]),
    ({"setup_failures": [{"providerId": "p", "message": "no key"}, 5]}, ["/setupFailures/1"]),
    ({"setup_failures": [{"providerId": "p", "message": "m", "other": 1}]}, ["/setupFailures/0/other"]),
    ({"setup_failures": {"providerId": "p", "message": "no key"}}, ["/setupFailures"]),
    ({"setup_failures": "p"}, ["/setupFailures"]),
    ({"setup_failures": 5}, ["/setupFailures"]),
    ({"setup_failures": None}, ["/setupFailures"]),
    ({"rules": 5}, ["/rules"]),
    ({"rules": "x"}, ["/rules"]),
    ({"rules": {"name": "x"}}, ["/rules"]),
    ({"rules": None, "waivers": None}, ["/rules", "/waivers"]),
    ({"waivers": 5}, ["/waivers"]),
    ({"capability_name": 3}, ["/capabilityName"]),
    ({"origins": {"kind": 5}}, ["/origins"]),
    ({"origins": [1]}, ["/origins"]),
    ({"labels": {3: "x", "y": 4}}, ["/labels", "/labels/y"]),
    ({"preferred_provider": 3}, ["/preferredProvider"]),
    ({"preferred_model": ["m"]}, ["/preferredModel"]),
    (
        {"preferred_provider": 3, "preferred_model": b"m", "setup_failures": [None]},
        ["/preferredProvider", "/preferredModel", "/setupFailures/0"],
    ),
]


@pytest.mark.parametrize(("arguments", "paths"), CASES, ids=[repr(arguments) for arguments, _ in CASES])
@pytest.mark.parametrize("function", [wr.route, wr.explain])
def test_arguments_are_checked(function: Callable[..., Any], arguments: dict[str, Any], paths: list[str]) -> None:
    with pytest.raises(wr.InvalidRequestError) as caught:
        function({"needs": []}, PROVIDERS, **arguments)
    assert [issue.path for issue in caught.value.issues] == paths
    assert [broken_rules(issue.message) for issue in caught.value.issues] == [[]] * len(paths)


@pytest.mark.parametrize("asked", ["p/m", "pm", ("p",), ("p", "m", "x"), ("p", 3), {"p": 1, "m": 2}, 7, b"pm", ()])
def test_contrast_is_checked_before_reading(asked: Any) -> None:
    with pytest.raises(wr.InvalidRequestError) as caught:
        wr.explain({"needs": []}, PROVIDERS, why_not=asked)
    assert [issue.path for issue in caught.value.issues] == ["/whyNot"]
    assert broken_rules(caught.value.message) == []


@pytest.mark.parametrize("asked", [("q", "m"), ["q", "m"]])
def test_a_pair_is_taken_as_a_list_too(asked: Any) -> None:
    contrast = wr.explain({"needs": []}, PROVIDERS, why_not=asked).contrast
    assert contrast is not None
    assert contrast.rank == 2


@pytest.mark.parametrize("name", ["cores", "corrections", "relaxations", "near_misses", "unknowns", "ranking"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "3", True])
def test_limits_are_at_least_one(name: str, value: Any) -> None:
    with pytest.raises(wr.InvalidRequestError) as caught:
        wr.Limits(**{name: value})
    assert [issue.path for issue in caught.value.issues] == [f"/limits/{name}"]
    assert broken_rules(caught.value.message) == []


def test_only_bounded_lists_come_without_limit() -> None:
    assert wr.Limits(near_misses=None, unknowns=None, ranking=None).ranking is None
    with pytest.raises(wr.InvalidRequestError) as caught:
        wr.Limits(cores=None, corrections=None, relaxations=None)  # type: ignore[arg-type]  # wrong on purpose
    assert [issue.path for issue in caught.value.issues] == [
        "/limits/cores",
        "/limits/corrections",
        "/limits/relaxations",
    ]


NO_LIST: list[Any] = [None, 5, "p", b"p", PROVIDERS[0], wr.ProviderMetadata.model_validate(PROVIDERS[0]), object()]


@pytest.mark.parametrize("given", NO_LIST, ids=["none", "number", "text", "bytes", "wire", "metadata", "object"])
@pytest.mark.parametrize("function", [wr.route, wr.match, wr.explain])
def test_what_is_no_list_of_providers(function: Callable[..., Any], given: Any) -> None:
    with pytest.raises(wr.InvalidRequestError) as caught:
        function({"needs": []}, given)
    (issue,) = caught.value.issues
    assert issue.path == "/providers"
    assert broken_rules(issue.message) == []


@pytest.mark.parametrize("given", [None, 5, "p", object()], ids=["none", "number", "text", "object"])
def test_what_is_no_provider(given: Any) -> None:
    with pytest.raises(
        wr.InvalidProviderError, match="without `metadata`; a provider has `metadata` and an async `inv"
    ):
        wr.route({"needs": []}, [given])


class Broken:
    """A provider whose metadata can't be read, for a reason of its own."""

    @property
    def metadata(self) -> Any:
        return self.conection  # type: ignore[attr-defined]  # misspelt on purpose

    async def invoke(self, call: Any, /) -> Any:
        raise NotImplementedError


def test_a_fault_within_a_providers_metadata_is_told() -> None:
    for call in (lambda: wr.route({"needs": []}, [Broken()]), lambda: wr.ProviderRegistry().register("t", Broken())):
        with pytest.raises(AttributeError, match="conection"):
            call()


def test_engines_and_limits_that_there_are_not() -> None:
    engines: list[Any] = [5, [], "turbo"]
    for engine in engines:
        with pytest.raises(ValueError, match="is no engine; the engines are `bitset`, `plain`"):
            wr.route({"needs": []}, PROVIDERS, engine=engine)
    with pytest.raises(TypeError, match="`limits` is a number; Limits are expected"):
        wr.explain({"needs": []}, PROVIDERS, limits=5)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("tenant", [None, 5, b"t", ("t",), ["t"]], ids=repr)
def test_a_tenant_is_a_string(tenant: Any) -> None:
    registry = wr.ProviderRegistry()
    calls: list[Callable[[], Any]] = [
        lambda: registry.register(tenant, wr.ProviderMetadata.model_validate(PROVIDERS[0])),  # type: ignore[arg-type]  # wrong twice
        lambda: registry.get(tenant, "p"),
        lambda: registry.get("t", tenant),
        lambda: registry.has(tenant, "p"),
        lambda: registry.list(tenant),
        lambda: asyncio.run(registry.hydrate(tenant)),
        lambda: registry.invalidate(tenant),
        lambda: registry.setup_failures(tenant),
        lambda: wr.ProviderRegistry([(tenant, Broken())]),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"`(tenant|provider_id)` is an? \w+; a string is expected|null"):
            call()


def test_a_seed_is_of_pairs() -> None:
    with pytest.raises(
        TypeError, match="item 0 of the seed is a string; a pair of a tenant and a provider is expected"
    ):
        wr.ProviderRegistry(["tp"])  # type: ignore[list-item]  # wrong on purpose
