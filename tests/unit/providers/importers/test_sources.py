"""Each source becomes providers that can be registered, and what it doesn't say is never made up."""

import json
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies as st

from paths import TESTS
from whyroute.documents.json_text import plain
from whyroute.model.features import FEATURES
from whyroute.model.metadata import metadata_problems
from whyroute.providers import importers
from whyroute.providers.importers.reading import parse, read_catalog
from whyroute.providers.provider_files import InvalidCatalogError

DATA = TESTS / "data" / "importers"

JSON = dict[str, Any]


def by_name(result: importers.ImportResult, provider_id: str) -> dict[str, JSON]:
    (provider,) = [provider for provider in result.providers if provider["id"] == provider_id]
    return {model["name"]: model for model in provider["models"]}


def left_out(result: importers.ImportResult) -> dict[str, int]:
    return {item.reason: item.count for item in result.skipped}


def row(**changes: Any) -> JSON:
    found = {
        "id": "m",
        "modalities": {"input": ["text"], "output": ["text"]},
        "cost": {"input": 0.28, "output": 1.1},
        "limit": {"context": 1000, "output": 100},
        **changes,
    }
    return {key: value for key, value in found.items() if value != "absent"}


def dev(**models: Any) -> JSON:
    return {"p": {"id": "p", "name": "P", "models": models}}


# --- models.dev ---


def test_models_dev_facts() -> None:
    full = row(
        tool_call=True,
        reasoning=True,
        structured_output=True,
        temperature=False,
        modalities={"input": ["text", "image", "audio", "pdf"], "output": ["text", "audio"]},
    )
    result = importers.models_dev({"p": {"name": "Provider", "models": {"m/1": full, "bare": row()}}})
    assert result.skipped == ()
    assert result.providers == (
        {
            "id": "p",
            "region": "unspecified",
            "description": "Provider",
            "models": [
                {
                    "name": "bare",
                    "contextWindow": 1000,
                    "features": [],
                    "cost": {"promptUsdPer1kTokens": 0.00028, "completionUsdPer1kTokens": 0.0011},
                    "maxOutputTokens": 100,
                },
                {
                    "name": "m/1",
                    "contextWindow": 1000,
                    "features": [
                        "structured-output",
                        "vision",
                        "audio-input",
                        "audio-output",
                        "tool-use",
                        "thinking",
                    ],
                    "cost": {"promptUsdPer1kTokens": 0.00028, "completionUsdPer1kTokens": 0.0011},
                    "maxOutputTokens": 100,
                    "sampling": False,
                },
            ],
        },
    )


@pytest.mark.parametrize("value", [False, None, "true", 1, "absent"])
def test_a_feature_needs_a_plain_true(value: Any) -> None:
    (provider,) = importers.models_dev(dev(m=row(tool_call=value, reasoning=value, structured_output=value))).providers
    assert provider["models"][0]["features"] == []


@pytest.mark.parametrize("value", [True, None, "false", 0, "absent"])
def test_sampling_is_denied_by_a_plain_false_only(value: Any) -> None:
    (provider,) = importers.models_dev(dev(m=row(temperature=value))).providers
    assert "sampling" not in provider["models"][0]


@pytest.mark.parametrize("value", [0, -5, 1.5, "4096", None, True, math.nan])
def test_an_unusable_output_limit_is_left_off(value: Any) -> None:
    (provider,) = importers.models_dev(dev(m=row(limit={"context": 10, "output": value}))).providers
    assert "maxOutputTokens" not in provider["models"][0]


def test_a_price_of_zero_is_a_price() -> None:
    (provider,) = importers.models_dev(dev(m=row(cost={"input": 0, "output": 0.0}))).providers
    assert provider["models"][0]["cost"] == {"promptUsdPer1kTokens": 0, "completionUsdPer1kTokens": 0}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"cost": "absent"}, "no-price"),
        ({"cost": None}, "no-price"),
        ({"cost": {}}, "no-price"),
        ({"cost": {"input": 1}}, "no-price"),
        ({"cost": {"output": 1}}, "no-price"),
        ({"cost": {"input": None, "output": 1}}, "no-price"),
        ({"cost": {"input": -1, "output": 1}}, "unusable-price"),
        ({"cost": {"input": 1, "output": -0.5}}, "unusable-price"),
        ({"cost": {"input": math.nan, "output": 1}}, "unusable-price"),
        ({"cost": {"input": math.inf, "output": 1}}, "unusable-price"),
        ({"cost": {"input": Decimal("NaN"), "output": 1}}, "unusable-price"),
        ({"cost": {"input": "1", "output": 1}}, "unusable-price"),
        ({"cost": {"input": True, "output": 1}}, "unusable-price"),
        ({"cost": {"input": 10**400, "output": 1}}, "unusable-price"),
        ({"cost": {"input": Decimal("1e-400"), "output": 1}}, "unusable-price"),
        ({"cost": {"input": [], "output": 1}}, "unusable-price"),
        ({"cost": 3}, "unusable-price"),
        ({"cost": []}, "unusable-price"),
        ({"limit": "absent"}, "no-context-window"),
        ({"limit": None}, "no-context-window"),
        ({"limit": {"output": 5}}, "no-context-window"),
        ({"limit": {"context": 0}}, "unusable-context-window"),
        ({"limit": {"context": -1}}, "unusable-context-window"),
        ({"limit": {"context": 1.5}}, "unusable-context-window"),
        ({"limit": {"context": "128000"}}, "unusable-context-window"),
        ({"limit": {"context": True}}, "unusable-context-window"),
        ({"limit": {"context": 10**400}}, "unusable-context-window"),
        ({"limit": {"context": math.nan}}, "unusable-context-window"),
        ({"limit": []}, "unusable-context-window"),
        ({"modalities": "absent"}, "unclear-kind"),
        ({"modalities": []}, "unclear-kind"),
        ({"modalities": {"input": ["text"]}}, "unclear-kind"),
        ({"modalities": {"input": "text", "output": ["text"]}}, "unclear-kind"),
        ({"modalities": {"input": ["text"], "output": ["image"]}}, "not-text"),
        ({"modalities": {"input": ["audio"], "output": ["text"]}}, "not-text"),
    ],
)
def test_what_models_dev_leaves_out(changes: JSON, reason: str) -> None:
    result = importers.models_dev(dev(bad=row(**changes), good=row()))
    assert list(by_name(result, "p")) == ["good"]
    assert result.skipped == (importers.Skipped(reason, 1, ("p/bad",)),)


@pytest.mark.parametrize("bad", [None, 3, "x", [], True])
def test_rows_of_wrong_type_are_left_out(bad: Any) -> None:
    result = importers.models_dev({**dev(bad=bad, good=row()), "q": bad, "r": {"models": bad}})
    assert [provider["id"] for provider in result.providers] == ["p"]
    assert result.skipped == (importers.Skipped("unreadable", 3, ("p/bad", "q", "r")),)


def test_embedding_models_get_their_own_provider() -> None:
    result = importers.models_dev(
        dev(chat=row(), embedder=row(family="text-embedding", cost={"input": 1, "output": 0}))
    )
    chat, embedding = result.providers
    assert "capabilityKind" not in chat
    assert (embedding["id"], embedding["capabilityKind"]) == ("p-embedding", "embedding")
    assert [model["name"] for model in embedding["models"]] == ["embedder"]
    assert "maxOutputTokens" not in embedding["models"][0]  # the source puts the vector's size there


@pytest.mark.parametrize("name", ["qwen3-embedding-8b", "baai/bge-m3", "nv-rerank", "intfloat/e5-mistral"])
def test_undeclared_embedding_models_are_not_text_generation(name: str) -> None:
    assert left_out(importers.models_dev(dev(**{name: row(family="qwen"), "m": row()}))) == {"unclear-kind": 1}


@pytest.mark.parametrize("name", ["codebge1", "e50", "phone5"])
def test_names_that_only_look_alike_are_taken(name: str) -> None:
    assert importers.models_dev(dev(**{name: row()})).skipped == ()


def test_provider_id_is_not_shared_between_kinds() -> None:
    document = {
        "p": {"models": {"e": row(family="text-embedding")}},
        "p-embedding": {"models": {"m": row()}},
    }
    result = importers.models_dev(document)
    assert [provider["id"] for provider in result.providers] == ["p-embedding"]
    assert "capabilityKind" not in result.providers[0]
    assert left_out(result) == {"id-taken": 1}


def test_names_that_are_not_unicode_are_left_out() -> None:
    document = parse(json.dumps(dev(**{"\ud800": row(), "good": row()})).encode(), "x")
    result = importers.models_dev(document)
    assert list(by_name(result, "p")) == ["good"]
    assert left_out(result) == {"against-the-rules": 1}
    assert importers.skipped_lines(result.skipped)[0].isprintable()


def twice(first: JSON, second: JSON) -> Any:
    text = f'{{"p": {{"models": {{"m": {json.dumps(first)}, "n": {json.dumps(row())}, "m": {json.dumps(second)}}}}}}}'
    return parse(text.encode(), "x")


def test_equal_duplicate_model_is_kept_once() -> None:
    result = importers.models_dev(twice(row(), row(release_date="2026-01-01")))
    assert list(by_name(result, "p")) == ["m", "n"]
    assert result.skipped == (importers.Skipped("repeated", 1, ("p/m",)),)


@pytest.mark.parametrize("second", [row(cost={"input": 2, "output": 3}), row(cost="absent"), row(limit={"context": 5})])
def test_differing_duplicate_model_is_dropped(second: JSON) -> None:
    for document in (twice(row(), second), twice(second, row())):
        result = importers.models_dev(document)
        assert list(by_name(result, "p")) == ["n"]
        assert result.skipped == (importers.Skipped("conflicting", 2, ("p/m",)),)


def test_a_fact_given_twice_is_no_fact() -> None:
    text = json.dumps(dev(m=row(), n=row())).replace('"input": 0.28', '"input": 0.28, "input": 0.3', 1)
    assert left_out(importers.models_dev(parse(text.encode(), "x"))) == {"unusable-price": 1}


def test_a_provider_listed_twice_is_one() -> None:
    text = f'{{"p": {{"models": {{"a": {json.dumps(row())}}}}}, "p": {{"models": {{"b": {json.dumps(row())}}}}}}}'
    assert list(by_name(importers.models_dev(parse(text.encode(), "x")), "p")) == ["a", "b"]


def test_order_does_not_depend_on_the_document() -> None:
    names = ["b", "B", "a/1", "a-1", "é", "10", "9"]
    models = {name: row() for name in names}
    documents = [
        {key: {"models": dict(order)} for key in keys}
        for keys, order in (("qp", list(models.items())), ("pq", list(reversed(models.items()))))
    ]
    first, second = (importers.models_dev(document) for document in documents)
    assert first == second
    assert [provider["id"] for provider in first.providers] == ["p", "q"]
    assert [model["name"] for model in first.providers[0]["models"]] == sorted(names)


# --- LiteLLM ---


@pytest.fixture(scope="module")
def litellm() -> importers.ImportResult:
    return importers.litellm(read_catalog(DATA / "litellm.json"))


def test_litellm_facts(litellm: importers.ImportResult) -> None:
    assert by_name(litellm, "openai")["gpt-4o"] == {
        "name": "gpt-4o",
        "contextWindow": 128000,
        "features": ["structured-output", "vision", "tool-use", "parallel-tool-use"],
        "cost": {"promptUsdPer1kTokens": 0.0025, "completionUsdPer1kTokens": 0.01},
        "maxOutputTokens": 16384,
    }
    assert by_name(litellm, "azure")["azure/gpt-4o-mini"]["cost"]["promptUsdPer1kTokens"] == 0.000165
    assert by_name(litellm, "openrouter")["openrouter/deepseek/deepseek-coder"]["cost"] == {
        "promptUsdPer1kTokens": 0.00014,
        "completionUsdPer1kTokens": 0.00028,
    }
    assert {"thinking", "audio-input", "web-search"} <= set(
        by_name(litellm, "gemini")["gemini/gemini-2.5-pro"]["features"]
    )
    assert by_name(litellm, "ollama")["ollama/llama3.1"]["cost"] == {
        "promptUsdPer1kTokens": 0,
        "completionUsdPer1kTokens": 0,
    }
    assert "codex-mini-latest" in by_name(litellm, "openai")  # mode `responses`


def test_litellm_context_windows_are_input_limits(
    litellm: importers.ImportResult,
) -> None:
    # max_tokens is 4096 (the output limit), 4097 and 32768 (neither) in these rows.
    assert by_name(litellm, "openai")["gpt-4"]["contextWindow"] == 8192
    assert by_name(litellm, "openai")["gpt-3.5-turbo"]["contextWindow"] == 16385
    assert by_name(litellm, "ollama")["ollama/llama3.1"]["contextWindow"] == 8192
    # These two have max_tokens only, one an output limit and the other a window.
    names = {model["name"] for provider in litellm.providers for model in provider["models"]}
    assert not names & {"gemini/gemini-gemma-2-9b-it", "openrouter/anthropic/claude-2"}


def test_litellm_embeddings_are_providers_of_their_own_kind(litellm: importers.ImportResult) -> None:
    embedding = [provider for provider in litellm.providers if provider.get("capabilityKind") == "embedding"]
    assert [provider["id"] for provider in embedding] == ["azure-embedding", "openai-embedding"]
    assert [model["name"] for model in embedding[1]["models"]] == [
        "text-embedding-3-large",
        "text-embedding-3-small",
        "text-embedding-ada-002",
    ]


def test_what_litellm_leaves_out(litellm: importers.ImportResult) -> None:
    assert importers.skipped_lines(litellm.skipped) == [
        "left out 1 model meant as an example of the format (e.g. `sample_spec`)",
        "left out 5 models of a kind that is neither text generation nor embedding"
        " (e.g. `256-x-256/dall-e-2`, `omni-moderation-latest`, `rerank-v3.5`)",
        "left out 1 model whose kind the source leaves unclear (e.g. `fireworks-ai-4.1b-to-16b`)",
        "left out 6 models without a price (e.g. `bedrock/*/1-month-commitment/cohere.command-light-text-v14`,"
        " `bedrock/eu-central-1/1-month-commitment/anthropic.claude-v1`,"
        " `meta_llama/Llama-4-Scout-17B-16E-Instruct-FP8`)",
        "left out 2 models without a context window"
        " (e.g. `gemini/gemini-gemma-2-9b-it`, `openrouter/anthropic/claude-2`)",
    ]
    taken = sum(len(provider["models"]) for provider in litellm.providers)
    assert taken + sum(item.count for item in litellm.skipped) == 41


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"litellm_provider": None}, "unreadable"),
        ({"litellm_provider": ""}, "unreadable"),
        ({"litellm_provider": 3}, "unreadable"),
        ({"mode": "image_generation"}, "other-kind"),
        ({"mode": "Chat"}, "other-kind"),
        ({"mode": None}, "unclear-kind"),
        ({"mode": ["chat"]}, "unclear-kind"),
        ({"output_cost_per_token": None}, "no-price"),
        ({"input_cost_per_token": "2.8e-07"}, "unusable-price"),
        ({"input_cost_per_token": -1}, "unusable-price"),
        ({"max_input_tokens": None, "max_tokens": 8192}, "no-context-window"),
        ({"max_input_tokens": "8192"}, "unusable-context-window"),
    ],
)
def test_litellm_rows_that_are_left_out(changes: JSON, reason: str) -> None:
    good = {
        "litellm_provider": "p",
        "mode": "chat",
        "input_cost_per_token": 2.8e-07,
        "output_cost_per_token": 1.1e-06,
        "max_input_tokens": 8192,
    }
    result = importers.litellm({"good": good, "bad": {**good, **changes}})
    assert list(by_name(result, "p")) == ["good"]
    assert left_out(result) == {reason: 1}


# --- OpenRouter ---


def test_openrouter_facts() -> None:
    result = importers.openrouter(read_catalog(DATA / "openrouter.json"))
    (provider,) = result.providers
    assert provider == {
        "id": "openrouter",
        "region": "unspecified",
        "description": "OpenRouter",
        "models": [
            {
                "name": "acme/thinker",
                "contextWindow": 400000,
                "features": ["audio-input", "audio-output", "thinking", "web-search"],
                "cost": {"promptUsdPer1kTokens": 0.00125, "completionUsdPer1kTokens": 0.01},
                "sampling": False,
            },
            {
                "name": "acme/writer",
                "contextWindow": 200000,
                "features": ["structured-output", "vision", "tool-use", "parallel-tool-use"],
                "cost": {"promptUsdPer1kTokens": 0.00028, "completionUsdPer1kTokens": 0.0025},
                "maxOutputTokens": 8192,
            },
            {
                "name": "acme/writer:free",
                "contextWindow": 32768,
                "features": [],
                "cost": {"promptUsdPer1kTokens": 0, "completionUsdPer1kTokens": 0},
                "maxOutputTokens": 4096,
            },
        ],
    }
    assert left_out(result) == {
        "not-text": 1,
        "no-price": 1,
        "unusable-price": 1,
        "no-context-window": 1,
        "conflicting": 2,
    }


def test_openrouter_with_nothing_usable_gives_no_provider() -> None:
    for data in ([], [3, None, {}, {"id": ""}, {"id": 5}]):
        result = importers.openrouter({"data": data})
        assert result.providers == ()
        assert left_out(result) == ({"unreadable": 5} if data else {})


# --- all of them ---

CONVERTERS: dict[str, Callable[[Any], importers.ImportResult]] = {
    "models-dev": importers.models_dev,
    "litellm": importers.litellm,
    "openrouter": importers.openrouter,
}
SAMPLES = {
    "models-dev": dev(m=row()),
    "litellm": {"m": {"litellm_provider": "p"}},
    "openrouter": {"data": [{"id": "m"}]},
}


@pytest.mark.parametrize("source", CONVERTERS)
@pytest.mark.parametrize("document", [None, True, 3, 2.5, "x", [], {}, {"a": 1}, {"a": {}}, [{}], {"data": {}}])
def test_foreign_documents(source: str, document: Any) -> None:
    with pytest.raises(InvalidCatalogError, match="what is expected is an object"):
        CONVERTERS[source](document)


@pytest.mark.parametrize("source", CONVERTERS)
@pytest.mark.parametrize("other", SAMPLES)
def test_another_sources_document_is_named(source: str, other: str) -> None:
    if source == other:
        CONVERTERS[source](SAMPLES[other])
        return
    with pytest.raises(InvalidCatalogError) as caught:
        CONVERTERS[source](SAMPLES[other])
    assert f"this looks like the format of `{other}`" in str(caught.value)


def test_a_file_of_ours_is_named() -> None:
    with pytest.raises(InvalidCatalogError, match="there is nothing to import"):
        importers.litellm({"whyroute": 1, "providers": []})


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 10**6)
    | st.sampled_from([10**400, 2**60, -(10**400), math.nan, math.inf, -math.inf, 1e-320, 2.8e-07, Decimal("sNaN")])
    | st.sampled_from(["", "text", "image", "0.0001", "-1", "\ud800", "chat", "embedding", "x" * 300]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["", "a", "input", "output"]), inner),
    max_leaves=6,
)


def spoilt(keys: list[str]) -> st.SearchStrategy[JSON]:
    """Rows whose every fact may be absent or anything at all."""
    return st.fixed_dictionaries({}, optional=dict.fromkeys(keys, junk))


dev_rows = spoilt(["modalities", "cost", "limit", "family", "temperature", "tool_call", "name"])
half_good = dev_rows.map(lambda changes: {**row(), **changes})
lite_rows = spoilt(
    ["litellm_provider", "mode", "input_cost_per_token", "output_cost_per_token", "max_input_tokens", "supports_vision"]
)
router_rows = spoilt(["id", "context_length", "pricing", "architecture", "supported_parameters", "top_provider"])
names = st.sampled_from(["m", "n", "", "a/b", "\ud800", "no"])


@given(
    st.one_of(
        st.tuples(
            st.just("models-dev"),
            st.dictionaries(names, junk | st.fixed_dictionaries({"models": st.dictionaries(names, half_good | junk)})),
        ),
        st.tuples(st.just("litellm"), st.dictionaries(names, lite_rows | junk)),
        st.tuples(st.just("openrouter"), st.fixed_dictionaries({"data": st.lists(router_rows | junk)})),
    )
)
def test_every_import_result_can_be_registered(case: tuple[str, Any]) -> None:
    source, document = case
    try:
        result = CONVERTERS[source](document)
    except InvalidCatalogError:
        return
    ids = [provider["id"] for provider in result.providers]
    assert ids == sorted(set(ids))
    for provider in result.providers:
        assert metadata_problems(provider)[0] == []
        assert plain(provider) == (provider, [])
        assert all(set(model["features"]) <= set(FEATURES) for model in provider["models"])
    importers.to_yaml(result.providers)
    importers.skipped_lines(result.skipped)
