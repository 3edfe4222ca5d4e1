"""The page as text: what it says, what it holds, and that nothing in a catalog becomes markup."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from page_cases import HOSTILE, Parsed, hostile_request, large_request
from paths import ROOT, TESTS
from volatile import settled
from whyroute.basics.numbers import ecmascript
from whyroute.cli import main
from whyroute.explanations import Explanation, Limits
from whyroute.providers.provider_files import read_providers
from whyroute.render import explanation_lines
from whyroute.render.lines import printable
from whyroute.render.page import explanation_page
from whyroute.render.page.payload import matrix_of, payload, printable_json, script_json
from whyroute.wire.request import read_request

SITUATIONS = TESTS / "data" / "situations"
CATALOG = ROOT / "rules" / "catalog.yaml"
NAMES = sorted(path.stem for path in SITUATIONS.glob("*.json"))


def explained(document: dict[str, Any], limits: Limits | None = None) -> Explanation:
    request = read_request(document)
    return Explanation(request.solve(), request.why_not, limits or Limits())


def situation(name: str) -> Explanation:
    return explained(json.loads((SITUATIONS / f"{name}.json").read_text(encoding="utf-8")))


def example(name: str) -> Explanation:
    document = json.loads((ROOT / "rules" / "requests" / f"{name}.json").read_text(encoding="utf-8"))
    return explained({**document, "providers": read_providers(CATALOG)})


PAGES = [*NAMES, "hostile", "impossible", "summarise"]


def explanation_named(name: str) -> Explanation:
    if name == "hostile":
        return explained(hostile_request())
    return situation(name) if name in NAMES else example(name)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {name: explanation_page(explanation_named(name)) for name in PAGES}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_well_formed(name: str, pages: dict[str, str]) -> None:
    parsed = Parsed(pages[name])
    assert parsed.open == []
    ids = parsed.having("id")
    assert len(ids) == len(set(ids))
    referred = [
        *parsed.having("aria-labelledby"),
        *parsed.having("aria-describedby"),
        *(href.removeprefix("#") for href in parsed.having("href")),
    ]
    assert set(referred) <= set(ids)
    assert {"main", "header", "h1"} <= {tag for tag, _ in parsed.tags}
    assert [tag for tag, _ in parsed.tags].count("h1") == 1


@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_nothing(name: str, pages: dict[str, str]) -> None:
    parsed = Parsed(pages[name])
    assert {tag for tag, _ in parsed.tags}.isdisjoint({"link", "img", "iframe", "object", "embed", "base"})
    assert parsed.having("src") == []
    assert all(href.startswith("#") for href in parsed.having("href"))
    assert parsed.having("style") == []
    assert not [key for _, attributes in parsed.tags for key in attributes if key.startswith("on")]
    style, scripts = parsed.raw["style"][0], parsed.raw["script"]
    assert "url(" not in style
    assert "@import" not in style
    assert "http" not in style + scripts[1]
    assert "innerHTML" not in scripts[1]


@pytest.mark.parametrize("name", PAGES)
def test_content_policy_admits_only_own_assets(name: str, pages: dict[str, str]) -> None:
    parsed = Parsed(pages[name])
    policy = next(
        attributes["content"] or ""
        for tag, attributes in parsed.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )

    def source(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert dict(directive.strip().split(" ", 1) for directive in policy.split(";")) == {
        "default-src": "'none'",
        "style-src": source(parsed.raw["style"][0]),
        "script-src": source(parsed.raw["script"][1]),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert len(parsed.raw["style"]) == 1
    assert len(parsed.raw["script"]) == 2


@pytest.mark.parametrize("name", PAGES)
def test_everything_on_a_page_is_printable(name: str, pages: dict[str, str]) -> None:
    assert all(line.isprintable() for line in pages[name].split("\n"))


def told(data: Any) -> Iterator[tuple[tuple[str, str], dict[str, str]]]:
    """The matrix as the script unfolds it: for each candidate why each constraint rejects it."""
    rows = data["rows"]
    places: list[list[tuple[str, str, Any]]] = []
    for shapes in data["messages"]:
        flat: list[tuple[str, str, Any]] = []
        for head, tail, middle in shapes:
            flat += [(head, tail, middle)] if isinstance(middle, str) else [(head, tail, [text]) for text in middle]
        places.append(flat)
    reasons = iter(rows["reasons"])
    for row, model in enumerate(rows["model"]):
        failed = {}
        for column in data["signatures"][rows["signature"][row]]:
            head, tail, middle = places[column][next(reasons) if len(places[column]) > 1 else 0]
            between = ecmascript(rows[middle][row]) if isinstance(middle, str) else middle[0]
            failed[data["columns"][column]["id"]] = f"{head}{between}{tail}"
        yield (data["providers"][rows["provider"][row]][0], model), failed
    assert next(reasons, None) is None


@pytest.mark.parametrize("explanation", [*map(explanation_named, PAGES), explained(large_request(20))])
def test_the_data_says_what_the_constraints_say(explanation: Explanation) -> None:
    data = Parsed(explanation_page(explanation)).data
    expected = {
        (printable(candidate.metadata.id), printable(candidate.model.name)): {
            printable(constraint.id): printable(reason.message)
            for constraint in explanation.constraints
            if (reason := constraint.rejection(candidate)) is not None
        }
        for candidate in explanation.catalog.candidates()
    }
    assert dict(told(data)) == expected
    assert len(data["rows"]["model"]) == explanation.catalog.size
    assert sorted(data["rows"]["rank"]) == list(range(explanation.catalog.size))
    if explanation.satisfiable:
        key = explanation.ranking[0].candidate.key
        assert list(told(data))[data["pick"]][0] == tuple(map(printable, key))
        qualifying = [row for row, (_, failed) in enumerate(told(data)) if not failed]
        assert data["pick"] == min(qualifying, key=lambda row: data["rows"]["rank"][row])
    else:
        assert "pick" not in data


@pytest.mark.parametrize("name", PAGES)
def test_the_words_need_no_script(name: str, pages: dict[str, str]) -> None:
    explanation = explanation_named(name)
    words = Parsed(pages[name]).words.replace("`", "")
    if explanation.satisfiable:
        assert " is the pick" in words
        assert all(printable(ranked.candidate.model.name) in words for ranked in explanation.ranking)
    else:
        assert "Nothing qualifies" in words
        assert all(constraint.id in words for core in explanation.cores for constraint in core)
        assert all(
            " ".join(printable(r.text).replace("`", "").split()) in words
            for r in explanation.relaxations
            if len(r.edits) == 1
        )
    for miss in explanation.near_misses:
        assert " ".join(printable(miss.candidate.model.name).replace("`", "").split()) in words


@pytest.mark.parametrize("name", [name for name in PAGES if name != "hostile"])
def test_ways_out_are_numbered_as_in_the_text(name: str, pages: dict[str, str]) -> None:
    text = "\n".join(
        "".join(span for span, _ in line) for line in explanation_lines(explanation_named(name), everything=True)
    )
    numbered = re.findall(r"^  (\d+)\. (.*)  gives (.*)$", text, re.MULTILINE)
    words = Parsed(pages[name]).words
    at = 0
    for _, edits, pick in numbered:
        if "; " not in edits:
            at = words.index(edits.replace("`", "") + " gives " + pick, at)


def test_hostile_names_stay_text(pages: dict[str, str]) -> None:
    parsed = Parsed(pages["hostile"])
    assert "img" not in {tag for tag, _ in parsed.tags}
    assert "b" not in {tag for tag, _ in parsed.tags}
    assert all(name in parsed.data["rows"]["model"] for name in map(printable, HOSTILE))
    between = pages["hostile"].split('id="data">')[1].split("</script>")[0]
    assert "<" not in between
    assert "\u2028" not in pages["hostile"]
    assert printable(HOSTILE[0]) in parsed.words


def test_data_in_a_script_survives_every_character() -> None:
    value = {"text": [*HOSTILE, "\ud800", "\x7f", "&<>"]}
    assert json.loads(script_json(value)) == value
    assert json.loads(printable_json(value)) == value
    assert not set("<>&\u2028\u2029") & set(script_json(value))


@pytest.mark.parametrize("name", ["impossible", "hostile"])
def test_patches_on_the_page_are_the_relaxations(name: str, pages: dict[str, str]) -> None:
    explanation = explanation_named(name)
    parts = re.findall(r'<pre [^>]*aria-label="JSON Patch[^>]*><code>(.*?)</code></pre>', pages[name], re.DOTALL)
    found = [json.loads(Parsed(f"<p>{part}</p>").text[0]) for part in parts]
    offered = [[dict(operation) for operation in r.patch] for r in explanation.relaxations if r.offered]
    assert sorted(found, key=json.dumps) == sorted(offered, key=json.dumps)


def test_two_thousand_candidates_stay_small() -> None:
    page = explanation_page(explained(large_request()))
    assert len(page.encode()) < 300_000


def test_the_same_explanation_gives_the_same_bytes(pages: dict[str, str]) -> None:
    script = (
        "import json, sys; from pathlib import Path; from whyroute.explanations import Explanation;"
        "from whyroute.render.page import explanation_page; from whyroute.wire.request import read_request;"
        "request = read_request(json.loads(Path(sys.argv[1]).read_text(encoding='utf-8')));"
        "sys.stdout.buffer.write(explanation_page(Explanation(request.solve(), request.why_not)).encode())"
    )
    for seed in ("1", "2"):
        found = subprocess.run(
            [sys.executable, "-c", script, str(SITUATIONS / "four-way-clash.json")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        )
        assert settled(found.stdout.decode()) == settled(pages["four-way-clash"])


def test_a_large_catalog_is_shown_in_part() -> None:
    explanation = explained(large_request(20))
    matrix = matrix_of(explanation, limit=50)
    failures = [len(failed) for failed in matrix.failed]
    assert failures == sorted(failures)
    assert matrix.omitted_survivors == 0
    assert matrix.omitted_others == 400 - len(matrix.numbers)
    assert all(matrix.row_of(relaxation.pick) is not None for relaxation in explanation.relaxations)
    nearest = [explanation.catalog.number_of(*miss.candidate.key) for miss in explanation.near_misses]
    assert set(nearest) <= set(matrix.numbers)
    assert len(payload(explanation, matrix)["rows"]["model"]) == len(matrix.numbers)


def test_large_catalog_page_keeps_relevant_candidates() -> None:
    explanation = example("summarise")
    matrix = matrix_of(explanation, limit=40)
    assert [not failed for failed in matrix.failed] == [True] * 20 + [False] * 20
    assert (matrix.omitted_survivors, matrix.omitted_others) == (41, 108)
    roomy = matrix_of(explanation, limit=1000)
    assert (roomy.omitted_survivors, roomy.omitted_others) == (0, 0)


def test_what_is_left_out_is_said() -> None:
    explanation = explained(large_request(260))
    words = Parsed(explanation_page(explanation)).words
    shown = len(matrix_of(explanation).numbers)
    assert f"The matrix shows {shown:,} of 5,200 candidates, the best and the nearest." in words
    assert f"Left out: {5200 - shown:,} that do not." in words


def test_a_title_names_the_page() -> None:
    explanation = situation("deny-list")
    page = explanation_page(explanation, title="a <b> & c")
    assert "<title>a &lt;b&gt; &amp; c: Nothing qualifies</title>" in page
    assert '<p class="name">a &lt;b&gt; &amp; c</p>' in page
    assert "<title>Nothing qualifies</title>" in explanation_page(explanation)


@pytest.mark.parametrize(
    ("command", "name", "status"),
    [("explain", "impossible", 0), ("route", "impossible", 1), ("explain", "summarise", 0), ("route", "summarise", 0)],
)
def test_the_command_line_writes_a_page(
    command: str,
    name: str,
    status: int,
    tmp_path: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
    pages: dict[str, str],
) -> None:
    request = ROOT / "rules" / "requests" / f"{name}.json"
    arguments = [command, "--request", str(request), "--providers", str(CATALOG), "--format", "html"]
    assert main(arguments) == status
    sys.stdout.flush()
    assert settled(capfdbinary.readouterr().out.decode()) == settled(pages[name])
    written = tmp_path / "page.html"
    assert main([*arguments, "--output", str(written)]) == status
    assert settled(written.read_text(encoding="utf-8")) == settled(pages[name])
