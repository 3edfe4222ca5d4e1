"""The explanation as a graph, and the graph in the formats of other programs."""

import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings, strategies as st

from paths import TESTS
from strategies import requests
from whyroute.cli import main
from whyroute.explanations import Explanation
from whyroute.render.graphs import to_dot, to_graphml, to_mermaid
from whyroute.wire.request import read_request

GOLDEN = TESTS / "data" / "golden"
WRITERS = {"dot": to_dot, "mermaid": to_mermaid, "graphml": to_graphml}
MODEL = {
    "name": "m",
    "contextWindow": 8000,
    "features": ["vision"],
    "cost": {"promptUsdPer1kTokens": 0.25, "completionUsdPer1kTokens": 1},
}


def explained(request: dict[str, Any]) -> Explanation:
    return Explanation(read_request({"at": "2026-12-24", **request}).solve())


def provider(name: str, *models: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": name, "region": "eu", "models": [{**MODEL, **model} for model in models], **more}


SMALL = {
    "capability": {
        "needs": [{"feature": "vision"}, {"contextWindow": {"op": ">=", "value": 100000}}, {"region": "eu"}],
        "prefer": [{"feature": "local", "weight": 2}],
    },
    "tenantPolicy": {"tenantId": "acme", "providers": {"deny": ["big"]}},
    "providers": [
        provider("big", {"name": "giant", "contextWindow": 200000}),
        provider("near", {"name": "small", "features": []}, {"name": "fair"}, attributes=["local"]),
    ],
}
FITTING = {**SMALL, "capability": {"needs": [{"feature": "vision"}]}, "tenantPolicy": {"tenantId": "acme"}}


def of_kind(graph: "nx.DiGraph[str]", kind: str) -> dict[str, dict[str, Any]]:
    return {name: node for name, node in graph.nodes(data=True) if node["kind"] == kind}


def ends(graph: "nx.DiGraph[str]", kind: str, start: str | None = None) -> list[str]:
    """Where the edges of a kind lead to, from one node or from all."""
    return [end for a, end, edge in graph.edges(data=True) if edge["kind"] == kind and start in (None, a)]


def read_back(graph: "nx.DiGraph[str]") -> "nx.DiGraph[str]":
    found = nx.parse_graphml(to_graphml(graph))
    assert isinstance(found, nx.DiGraph)
    return found


@given(request=requests())
def test_the_graph_says_what_the_constraints_say(request: dict[str, Any]) -> None:
    explanation = explained(request)
    graph = explanation.to_graph()
    constraints = list(zip(of_kind(graph, "constraint").items(), explanation.constraints, strict=True))
    candidates = of_kind(graph, "candidate")
    by_key = {candidate.key: candidate for candidate in explanation.catalog.candidates()}
    assert len(candidates) == len(by_key) == graph.graph["candidates"]
    for name, node in candidates.items():
        candidate = by_key.pop((node["provider"], node["model"]))
        for (other, _), constraint in constraints:
            assert graph.has_edge(name, other) == (not constraint.admits(candidate))
            reason = constraint.rejection(candidate)
            if reason is not None:
                assert graph.edges[name, other] == {"kind": "rejected", "code": reason.code, "message": reason.message}
        assert node["admits"] == all(constraint.admits(candidate) for constraint in explanation.constraints)
        picked = explanation.satisfiable and explanation.ranking[0].candidate == candidate
        assert node["pick"] == picked
    by_id = {constraint.id: name for (name, _), constraint in constraints}
    for (name, node), constraint in constraints:
        assert (node["id"], node["label"], node["owner"]) == (constraint.id, constraint.label, constraint.owner)
        assert node["admitted"] == constraint.admitted.bit_count()
        assert node["admitted"] + node["rejected"] == explanation.catalog.size
        assert node["rejected"] == sum(1 for start in graph.predecessors(name) if start in candidates)
        assert [number in node["cores"] for number in range(1, len(explanation.cores) + 1)] == [
            constraint in core for core in explanation.cores
        ]
    for (name, node), core in zip(of_kind(graph, "core").items(), explanation.cores, strict=True):
        assert node["size"] == len(core)
        assert list(graph.successors(name)) == [by_id[constraint.id] for constraint in core]
    for (name, node), relaxation in zip(of_kind(graph, "relaxation").items(), explanation.relaxations, strict=True):
        assert node["text"] == relaxation.text
        changed = ends(graph, "changes", name)
        assert changed == [by_id[constraint.id] for constraint in relaxation.correction]
        (pick,) = ends(graph, "leads-to", name)
        assert (candidates[pick]["provider"], candidates[pick]["model"]) == relaxation.pick.key


@given(request=requests(), limit=st.integers(0, 4))
def test_limited_graph_keeps_nearest_and_their_obstacles(request: dict[str, Any], limit: int) -> None:
    explanation = explained(request)
    whole, part = explanation.to_graph(), explanation.to_graph(limit)
    kept = list(of_kind(part, "candidate"))
    picks = ends(part, "leads-to")
    assert kept[:limit] == list(of_kind(whole, "candidate"))[:limit]
    assert set(kept[limit:]) <= set(picks)
    # What is there is there completely.
    dropped = [name for name in of_kind(whole, "candidate") if name not in part]
    whole.remove_nodes_from(dropped)
    assert nx.utils.graphs_equal(whole, part)


def test_candidates_come_in_order() -> None:
    ranked = explained({**FITTING, "capability": {"needs": [], "prefer": [{"feature": "local", "weight": 1}]}})
    assert [node["model"] for node in of_kind(ranked.to_graph(), "candidate").values()] == ["fair", "small", "giant"]
    failing = explained(SMALL)
    assert [node["model"] for node in of_kind(failing.to_graph(), "candidate").values()] == ["fair", "giant", "small"]


def test_candidates_that_read_alike_are_two_nodes() -> None:
    request = {
        "capability": {"needs": [{"feature": "vision"}]},
        "providers": [provider("a", {"name": "b/c"}), provider("a/b", {"name": "c", "features": []})],
    }
    nodes = of_kind(explained(request).to_graph(), "candidate")
    assert [(node["provider"], node["model"], node["admits"]) for node in nodes.values()] == [
        ("a", "b/c", True),
        ("a/b", "c", False),
    ]


def test_no_candidates() -> None:
    graph = explained({**SMALL, "providers": []}).to_graph()
    assert of_kind(graph, "core") == {"core:1": {"kind": "core", "number": 1, "size": 0}}
    assert not of_kind(graph, "candidate")
    for write in WRITERS.values():
        assert "core" in write(graph)


def flat(value: Any) -> Any:
    return " ".join(map(str, value)) if isinstance(value, tuple) else value


def same_after_graphml(graph: "nx.DiGraph[str]") -> None:
    again = read_back(graph)
    assert list(again) == list(graph)
    for name, node in graph.nodes(data=True):
        assert again.nodes[name] == {key: flat(value) for key, value in node.items()}
    assert {(a, b): edge for a, b, edge in again.edges(data=True)} == {
        (a, b): edge for a, b, edge in graph.edges(data=True)
    }
    assert again.graph["satisfiable"] == graph.graph["satisfiable"]
    assert nx.utils.graphs_equal(nx.read_graphml(io.BytesIO(to_graphml(graph).encode())), again)


@given(request=requests())
@settings(max_examples=30)
def test_graphml_comes_back_as_it_was(request: dict[str, Any]) -> None:
    same_after_graphml(explained(request).to_graph())


HOSTILE = [
    'quote " and "] --> other',
    "back\\slash \\N \\",
    "line\nbreak\r\ttab",
    "<b>bold</b> & &amp; &#38; <script>",
    "#quot; #35; `code` **x** __y__",
    "1. list",
    "- list",
    "style:#x; %% end",
    "\u00fc\u4e2d\u6587\U0001f600 \u202e",
    "]:::pick",
    "]]>",
    "graph TD; end",
    "{a|b}",
]


def hostile() -> Explanation:
    models = [{"name": name} for name in HOSTILE]
    request = {
        "capability": {"needs": [{"region": HOSTILE[0]}, {"models": {"deny": HOSTILE, "allow": []}}]},
        "tenantPolicy": {"tenantId": HOSTILE[3], "providers": {"allow": HOSTILE}},
        "providers": [provider(name, *models) for name in HOSTILE],
    }
    return explained(request)


def test_hostile_names_survive_graphml() -> None:
    graph = hostile().to_graph()
    found = read_back(graph)
    texts = {node["provider"] for _, node in found.nodes(data=True) if node["kind"] == "candidate"}
    assert texts == {name.replace("\r", "\\r") for name in HOSTILE}
    escaped = explained({**SMALL, "providers": [provider("bell\x07\x00", {"name": "\ufffe\x1b[31m"})]}).to_graph()
    nodes = of_kind(read_back(escaped), "candidate")
    assert [(node["provider"], node["model"]) for node in nodes.values()] == [("bell\\x07\\x00", "\\ufffe\\x1b[31m")]


_QUOTED = r'"(?:[^"\\]|\\.)*"'
_DOT_LINE = re.compile(
    rf"digraph whyroute {{|  rankdir=LR;|  (node|edge) \[[^\]]*\];|  {{rank=same; ({_QUOTED}(; )?)+}}|}}"
    rf"|  {_QUOTED}( -> {_QUOTED})? \[(\w+=({_QUOTED}|\w+)(, )?)+\];"
)


@pytest.mark.parametrize("limit", [1, 3, None])
def test_hostile_names_stay_inside_their_dot_strings(limit: int | None) -> None:
    for line in to_dot(hostile().to_graph(limit)).splitlines():
        assert _DOT_LINE.fullmatch(line), line


_NAME = r"(constraint|candidate|core|relaxation)_\d+"
_TEXT = r'"[^"#<>&`;|{}\[\]\\*_~%:\n]*"'
_MERMAID_LINE = re.compile(
    rf"flowchart LR|  classDef \w+ [-\w:#,]+|  {_NAME}(\(\[{_TEXT}\]\)|\[{_TEXT}\]|{{{{{_TEXT}}}}}|>{_TEXT}\]):::\w+"
    rf"|  {_NAME} (===|-\.->\|changes\||-\.->\|leads to\||-->(\|{_TEXT}\|)?) {_NAME}"
)


@pytest.mark.parametrize("limit", [1, 3, None])
def test_hostile_names_stay_inside_their_mermaid_strings(limit: int | None) -> None:
    for line in to_mermaid(hostile().to_graph(limit)).splitlines():
        # Code points and our own line breaks stand for themselves; nothing else that Mermaid reads may be left.
        plain = line if "classDef" in line else re.sub(r"#\d+;|<br>", "", line)
        assert _MERMAID_LINE.fullmatch(plain), line
        for label in re.findall(r'"([^"]*)"', line):
            for part in label.split("<br>"):
                assert not re.match(r"\s*(\d+[.)]|[-+*])", part), line


def test_mermaid_labels_say_what_was_named() -> None:
    text = to_mermaid(hostile().to_graph())
    read = re.sub(r"#(\d+);", lambda match: chr(int(match[1])), text)
    for name in HOSTILE:
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
        assert f'["{shown}<br>' in read


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("limit", [1, 5, 40])
def test_graphviz_draws_hostile_names(limit: int) -> None:
    graph = hostile().to_graph(limit)
    drawn = subprocess.run(["dot", "-Tsvg"], input=to_dot(graph).encode(), capture_output=True, check=True)
    assert drawn.stderr == b""
    svg = drawn.stdout.decode()
    assert svg.count('class="node"') == len(graph)
    assert svg.count('class="edge"') == graph.number_of_edges()
    assert "<script" not in svg
    assert "<b>" not in svg


@pytest.mark.parametrize("name", ["failing", "fitting"])
@pytest.mark.parametrize("format", ["dot", "mermaid"])
def test_golden_files(name: str, format: str) -> None:
    text = WRITERS[format](explained(SMALL if name == "failing" else FITTING).to_graph())
    assert text == (GOLDEN / f"{name}.{format}").read_text(encoding="utf-8")


def test_many_rejections_are_not_told_on_the_edges() -> None:
    for write in (to_dot, to_mermaid):
        few, many = write(explained(SMALL).to_graph()), write(hostile().to_graph())
        assert "its context window is 8000 tokens" in few.replace("#", "")
        assert "-->|" not in many
    edges = [line for line in to_dot(hostile().to_graph()).splitlines() if line.startswith('  "candidate:')]
    assert any(" -> " in line for line in edges)
    assert not any('" -> "' in line and ", label=" in line for line in edges)


@pytest.fixture
def request_file(tmp_path: Path) -> Path:
    path = tmp_path / "request.json"
    models = [{"name": f"m{at}"} for at in range(50)]
    path.write_text(json.dumps({**SMALL, "providers": [provider("near", *models)]}), encoding="utf-8")
    return path


@pytest.mark.parametrize(("command", "status"), [("explain", 0), ("route", 1)])
@pytest.mark.parametrize("format", list(WRITERS))
def test_the_command_line_writes_graphs(command: str, status: int, format: str, request_file: Path) -> None:
    explanation = explained(json.loads(request_file.read_text(encoding="utf-8")))
    output = request_file.with_suffix(".out")
    arguments = [command, "--request", str(request_file), "--format", format, "--output", str(output)]
    assert main(arguments) == status
    assert output.read_text(encoding="utf-8") == WRITERS[format](explanation.to_graph(40))
    assert main([*arguments, "--all"]) == status
    assert output.read_text(encoding="utf-8") == WRITERS[format](explanation.to_graph())
