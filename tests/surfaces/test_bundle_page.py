"""The page of a bundle as text: what it says, what it holds, and that nothing in a request becomes markup."""

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from page_cases import HOSTILE, Parsed, hostile_bundle
from paths import ROOT
from volatile import settled
from whyroute import BundleExplanation
from whyroute.cli import main
from whyroute.providers.provider_files import read_providers
from whyroute.render.lines import printable
from whyroute.render.page import bundle_page
from whyroute.wire.request import read_bundle_request

CATALOG = ROOT / "rules" / "catalog.yaml"
NAMES = ["bundle", "bundle-impossible", "why-not", "hostile", "hostile-impossible", "nobody"]


def request_named(name: str) -> dict[str, Any]:
    if name.startswith("hostile"):
        return hostile_bundle(satisfiable=name == "hostile")
    file = "bundle-impossible" if name == "bundle-impossible" else "bundle"
    document = json.loads((ROOT / "rules" / "requests" / f"{file}.json").read_text(encoding="utf-8"))
    asked = {
        "planner": {"provider": "openai", "model": "gpt-4o"},
        "judge": {"provider": "nebius", "model": "zai-org/GLM-5"},
    }
    why_not = {"whyNot": asked} if name == "why-not" else {}
    return {**document, **why_not, "providers": [] if name == "nobody" else read_providers(CATALOG)}


def explained(name: str) -> BundleExplanation:
    request = read_bundle_request(request_named(name))
    return request.explanation(request.solve())


@pytest.fixture(scope="module")
def explanations() -> dict[str, BundleExplanation]:
    return {name: explained(name) for name in NAMES}


@pytest.fixture(scope="module")
def pages(explanations: dict[str, BundleExplanation]) -> dict[str, str]:
    return {name: bundle_page(each) for name, each in explanations.items()}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_well_formed_and_loads_nothing(name: str, pages: dict[str, str]) -> None:
    parsed = Parsed(pages[name])
    assert parsed.open == []
    ids = parsed.having("id")
    assert len(ids) == len(set(ids))
    assert set(parsed.having("aria-labelledby")) <= set(ids)
    assert [tag for tag, _ in parsed.tags].count("h1") == 1
    assert {tag for tag, _ in parsed.tags}.isdisjoint({"link", "img", "iframe", "object", "embed", "base", "b"})
    assert [*parsed.having("src"), *parsed.having("href"), *parsed.having("style")] == []
    assert not [key for _, attributes in parsed.tags for key in attributes if key.startswith("on")]
    (style,), (script,) = parsed.raw["style"], parsed.raw["script"]
    assert "url(" not in style
    assert "@import" not in style
    assert "http" not in style + script
    assert "innerHTML" not in script
    policy = next(attributes["content"] or "" for _, attributes in parsed.tags if "http-equiv" in attributes)
    for text in (style, script):
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy
    assert policy.startswith("default-src 'none'; ")
    assert all(line.isprintable() for line in pages[name].split("\n"))


@pytest.mark.parametrize("name", NAMES)
def test_page_has_every_slot_and_constraint(
    name: str, pages: dict[str, str], explanations: dict[str, BundleExplanation]
) -> None:
    explanation = explanations[name]
    table = pages[name].split('<section id="slots"')[1].split("</section>")[0]
    columns = len(explanation.solved.names)
    assert table.count('<th scope="col">') == columns
    body = table.split("<tbody>")[1]
    assert {row.count("<td") for row in re.findall(r"<tr.*?</tr>", body, re.DOTALL)} == {columns}
    places = [int(each) for each in re.findall(r'data-constraint="(\d+)"', table)]
    assert sorted(places) == list(range(len(explanation.constraints)))
    words = Parsed(table).words
    for slot, each in zip(explanation.solved.names, explanation.solved.slots, strict=True):
        assert " ".join(printable(slot).split()) in words
        assert f"{each.survivors.bit_count()} qualif" in words
    for constraint in explanation.constraints:
        assert " ".join(printable(constraint.id).split()) in words
        for named in constraint.named.values():
            assert f"{named.admitted.bit_count()} pass, {named.rejected.bit_count()} fail" in words


def test_bundle_page_shows_picks_and_ties(pages: dict[str, str]) -> None:
    words = Parsed(pages["bundle"]).words
    assert "All 3 slots have picks" in words
    assert "The best bundles, in order" in words
    close = words.replace(" ", "")
    assert "sumofpromptUsdPer1kTokens<=0.001together/2sum:0.000890.00060.000090.0002" in close
    assert "differentprovider[planner,judge]together/0nebiusovhcloudnothere" in close


def test_clashes_and_ways_out_match_explanation(
    pages: dict[str, str], explanations: dict[str, BundleExplanation]
) -> None:
    for name in ("bundle-impossible", "hostile-impossible"):
        explanation, parsed = explanations[name], Parsed(pages[name])
        lit = [
            tuple(explanation.constraints[int(place)].id for place in each.split())
            for each in parsed.having("data-constraints")
        ]
        offered = [way for way in explanation.relaxations if way.offered]
        sets = [*explanation.cores, *(way.correction for way in offered)]
        assert sorted(lit) == sorted(tuple(constraint.id for constraint in each) for each in sets)
        parts = re.findall(r'<pre [^>]*aria-label="JSON Patch[^>]*><code>(.*?)</code></pre>', pages[name], re.DOTALL)
        found = [json.loads(Parsed(f"<p>{part}</p>").text[0]) for part in parts]
        patches = [[dict(operation) for operation in way.patch] for way in offered]
        assert sorted(found, key=json.dumps) == sorted(patches, key=json.dumps)


def test_why_not_is_told(pages: dict[str, str]) -> None:
    words = Parsed(pages["why-not"]).words
    assert "Why not planner openai / gpt-4o and judge nebius / zai-org/GLM-5?" in words
    assert "in slot planner: is in `us-east-1`".replace("`", "") in words


def test_no_candidates_at_all(pages: dict[str, str]) -> None:
    words = Parsed(pages["nobody"]).words
    assert "No bundle qualifies There are no candidates." in words


def test_hostile_names_stay_text(pages: dict[str, str]) -> None:
    for name in ("hostile", "hostile-impossible"):
        parsed = Parsed(pages[name])
        assert {"img", "b"}.isdisjoint({tag for tag, _ in parsed.tags})
        assert len(parsed.raw["script"]) == 1
        assert printable(HOSTILE[0]) in parsed.words
        assert "\u2028" not in pages[name]
        assert "\u202e" not in pages[name]


def test_the_command_writes_it(tmp_path: Path) -> None:
    for name, status in (("bundle", 0), ("bundle-impossible", 1)):
        file = tmp_path / f"{name}.html"
        request = str(ROOT / "rules" / "requests" / f"{name}.json")
        arguments = ["bundle", "--request", request, "--providers", str(CATALOG), "--format", "html", "-o", str(file)]
        assert main(arguments) == status
        assert settled(file.read_text("utf-8")) == settled(bundle_page(explained(name)))


def test_a_title_names_the_page(explanations: dict[str, BundleExplanation]) -> None:
    page = bundle_page(explanations["bundle"], title="a <b> & c")
    assert "<title>a &lt;b&gt; &amp; c: All 3 slots have picks</title>" in page
