"""The overlay fills what no catalog says; what it gets wrong is reported all at once."""

from pathlib import Path
from typing import Any

import pytest

from whyroute.documents.json_text import plain
from whyroute.model.metadata import metadata_problems
from whyroute.providers import importers
from whyroute.providers.importers import InvalidOverlayError, overlay_from, read_overlay
from whyroute.providers.provider_files import UnreadableFileError

JSON = dict[str, Any]


def model(**changes: Any) -> JSON:
    return {
        "modalities": {"input": ["text"], "output": ["text"]},
        "cost": {"input": 1, "output": 2},
        "limit": {"context": 1000},
        **changes,
    }


DOCUMENT: JSON = {
    "cloud": {
        "name": "Cloud",
        "models": {"big": model(), "small": model(), "free": model(cost=None), "2024-08-06": model()},
    },
    "other": {"name": "Other", "models": {"one": model()}},
    "empty": {"models": {"x": model(cost=None)}},
}


def overlaid(**overlay: Any) -> importers.ImportResult:
    return importers.models_dev(DOCUMENT, overlay_from(overlay))


def issues_of(document: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidOverlayError) as caught:
        importers.models_dev(DOCUMENT, overlay_from(document))
    return [(issue.path, issue.message) for issue in caught.value.issues]


def test_an_overlay_fills_region_latency_and_the_rest() -> None:
    result = overlaid(
        unlisted="drop",
        note="of no account",
        providers={
            "cloud": {
                "region": "eu-west-1",
                "attributes": ["eu-hosted"],
                "description": "The cloud",
                "defaultModel": "small",
                "fallback": False,
                "labels": {"team": "a"},
                "p95LatencyMs": 900,
                "include": ["small", "big"],
                "models": {"big": {"p95LatencyMs": 1500.5}},
            }
        },
    )
    cost = {"promptUsdPer1kTokens": 0.001, "completionUsdPer1kTokens": 0.002}
    assert result.providers == (
        {
            "id": "cloud",
            "region": "eu-west-1",
            "description": "The cloud",
            "attributes": ["eu-hosted"],
            "labels": {"team": "a"},
            "fallback": False,
            "defaultModel": "small",
            "models": [
                {"name": "big", "contextWindow": 1000, "features": [], "cost": cost, "p95LatencyMs": 1500.5},
                {"name": "small", "contextWindow": 1000, "features": [], "cost": cost, "p95LatencyMs": 900},
            ],
        },
    )
    assert result.note == "of no account"


def test_one_source_provider_becomes_several() -> None:
    result = overlaid(
        providers={
            "cloud-us": {"from": "cloud", "region": "us-east-1", "include": ["big"]},
            "cloud-eu": {"from": "cloud", "region": "eu-west-1"},
        }
    )
    assert [(provider["id"], provider["region"], len(provider["models"])) for provider in result.providers] == [
        ("cloud", "unspecified", 3),
        ("cloud-eu", "eu-west-1", 3),
        ("cloud-us", "us-east-1", 1),
        ("other", "unspecified", 1),
    ]


def test_what_an_overlay_leaves_out_stays_unknown() -> None:
    result = overlaid(providers={"cloud": {}}, unlisted="drop")
    (provider,) = result.providers
    assert provider["region"] == "unspecified"
    assert all("p95LatencyMs" not in model for model in provider["models"])
    assert not {"attributes", "fallback", "defaultModel", "labels"} & provider.keys()


def test_a_latency_of_zero_is_a_latency() -> None:
    (provider,) = overlaid(
        providers={"other": {"p95LatencyMs": 7, "models": {"one": {"p95LatencyMs": 0}}}}, unlisted="drop"
    ).providers
    assert provider["models"][0]["p95LatencyMs"] == 0


def test_an_embedding_provider_keeps_its_kind() -> None:
    document = {"p": {"models": {"e": model(family="text-embedding")}}}
    overlay = overlay_from({"providers": {"p-eu": {"from": "p-embedding", "region": "eu-west-1"}}, "unlisted": "drop"})
    (provider,) = importers.models_dev(document, overlay).providers
    assert provider["capabilityKind"] == "embedding"


@pytest.mark.parametrize(
    ("document", "issues"),
    [
        (None, [("", "empty; an object with the key `providers` is expected")]),
        ([], [("", "empty; an object is expected")]),
        ("x", [("", "`x`, a string; an object is expected")]),
        ({"provider": {}}, [("/provider", "`provider` is no key here; did you mean `providers`?")]),
        ({"zzz": 1}, [("/zzz", "`zzz` is no key here; they are `note`, `unlisted`, `providers`")]),
        ({"unlisted": "yes"}, [("/unlisted", "`yes`, a string; `keep` or `drop` is expected")]),
        ({"providers": []}, [("/providers", "empty; an object is expected")]),
        ({"providers": {"cloud": None}}, [("/providers/cloud", "`cloud` is null; an object is expected")]),
        (
            {"providers": {"clod": {}, "empty": {}, "cloud": {"from": "othr"}}},
            [
                ("/providers/clod", "`clod` is no provider of the source; did you mean `cloud`?"),
                ("/providers/empty", "all models of `empty` were left out, so it is not imported"),
                ("/providers/cloud/from", "`othr` is no provider of the source; did you mean `other`?"),
            ],
        ),
        (
            {"providers": {"other": {"from": "cloud"}}},
            [("/providers/other", "`other` is a provider of the source; `from` makes another one, under a new id")],
        ),
        (
            {
                "providers": {
                    "cloud": {
                        "include": ["big", "smal", "free", "big"],
                        "models": {"bigg": {}, "2024-08-06": {}},
                        "defaultModel": "small",
                    },
                    "a/b~c": {"from": "other", "defaultModel": "two"},
                }
            },
            [
                ("/providers/cloud/include/1", "`smal` is no model of `cloud`; did you mean `small`?"),
                ("/providers/cloud/include/2", "`free` is not imported: a model without a price"),
                ("/providers/cloud/include/3", "`big` is there twice; once is enough"),
                ("/providers/cloud/models/bigg", "`bigg` is no model of `cloud`; did you mean `big`?"),
                ("/providers/cloud/models/2024-08-06", "`2024-08-06` is not among `include`, so it is not taken"),
                ("/providers/cloud/defaultModel", "`small` is not among `include`, so it is not taken"),
                ("/providers/a~1b~0c/defaultModel", "`two` is no model of `other`"),
            ],
        ),
        (
            {
                "providers": {
                    "cloud": {
                        "regoin": "x",
                        "region": "",
                        "attributes": "eu",
                        "description": 5,
                        "fallback": "yes",
                        "include": [],
                        "p95LatencyMs": -1,
                        "models": {"big": {"p95LatencyMs": "fast"}, "small": {"latency": 1}},
                    },
                    "other": {"region": None, "include": [3], "p95LatencyMs": True, "labels": {"a": 1}},
                }
            },
            [
                ("/providers/cloud/region", "empty; a non-empty string is expected"),
                ("/providers/cloud/attributes", "`eu`, a string; a list of strings is expected"),
                ("/providers/cloud/description", "`5`, a number; a string is expected"),
                ("/providers/cloud/fallback", "`yes`, a string; true or false is expected"),
                ("/providers/cloud/p95LatencyMs", "`-1`, a number; a number of at least 0 is expected"),
                (
                    "/providers/cloud/include",
                    "empty; a list of at least one name is expected; leave the key out to take all models",
                ),
                ("/providers/cloud/models/big/p95LatencyMs", "`fast`, a string; a number of at least 0 is expected"),
                ("/providers/cloud/models/small/latency", "`latency` is no key here; did you mean `p95LatencyMs`?"),
                ("/providers/cloud/regoin", "`regoin` is no key here; did you mean `region`?"),
                ("/providers/other/region", "`region` is null; leave it out"),
                ("/providers/other/labels/a", "`1`, a number; a string is expected"),
                ("/providers/other/p95LatencyMs", "`true`, a boolean; a number of at least 0 is expected"),
                ("/providers/other/include/0", "`3`, a number; a string is expected"),
            ],
        ),
        (
            {"providers": {"cloud": {"labels": {"Team": "a"}}, "other": {"p95LatencyMs": float("nan")}}},
            [("/providers/other/p95LatencyMs", "`NaN` is not a number; a finite number is expected")],
        ),
    ],
)
def test_every_problem_is_reported_with_its_place(document: Any, issues: list[tuple[str, str]]) -> None:
    assert issues_of(document) == issues


def test_what_could_not_be_registered_is_refused() -> None:
    (issue,) = issues_of({"providers": {"cloud": {"labels": {"Team": "a"}}}})
    assert issue[0] == "/providers/cloud/labels/Team"


def test_overlay_file_is_yaml_or_json(tmp_path: Path) -> None:
    yaml = tmp_path / "overlay.yaml"
    yaml.write_text("providers:\n  cloud:\n    region: no\n    include: [big, '2024-08-06']\n", encoding="utf-8")
    json = tmp_path / "overlay.json"
    json.write_text('{"providers": {"cloud": {"region": "no", "include": ["big", "2024-08-06"]}}}', encoding="utf-8")
    assert read_overlay(yaml) == read_overlay(json)
    assert read_overlay(yaml).providers["cloud"].region == "no"  # a boolean in YAML 1.1


@pytest.mark.parametrize(
    ("text", "issues"),
    [
        ("", [("", "empty; an object with the key `providers` is expected")]),
        (
            "providers: {cloud: {include: [2024-08-06]}}",
            [("/providers/cloud/include/0", "a Python `date` has no JSON form; text goes in quotes")],
        ),
        ("providers: {1: {}}", [("/providers", "key `1` is not a string; text goes in quotes")]),
        (
            "providers: {cloud: {defaultModel: 4.10}}",
            [("/providers/cloud/defaultModel", "`4.1`, a number; a string is expected")],
        ),
    ],
)
def test_yaml_that_is_not_what_it_looks_like(tmp_path: Path, text: str, issues: list[tuple[str, str]]) -> None:
    path = tmp_path / "overlay.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidOverlayError) as caught:
        read_overlay(path)
    assert [tuple(issue) for issue in caught.value.issues] == issues


def test_an_unreadable_overlay_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "overlay.yaml"
    path.write_text("providers:\n  cloud: {region: [}\n", encoding="utf-8")
    with pytest.raises(UnreadableFileError, match=r"^`/.*/overlay\.yaml`: line 2, column \d+: not YAML: "):
        read_overlay(path)


def test_overlaid_providers_can_be_registered() -> None:
    for provider in overlaid(providers={"c": {"from": "cloud", "region": "x", "fallback": True}}).providers:
        assert metadata_problems(provider)[0] == []
        assert plain(provider) == (provider, [])
