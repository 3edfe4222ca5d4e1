"""The graph of an explanation in the formats that other programs draw or read: DOT, Mermaid, GraphML."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from .lines import printable

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["to_dot", "to_graphml", "to_mermaid"]

_LABEL_LENGTH = 56
_LABELLED_EDGES = 16
"""Up to so many rejections each says why on its edge; more would cover the drawing."""

_DOT_BYTES = 8192
"""How long a quoted string is at most in DOT, in UTF-8; Graphviz reads at most 16 KB, escapes and all."""

# Borders that colour-blind readers tell apart; the cores' numbers stand in the labels too.
_CORE_COLOURS = ("#b3261e", "#0b57d0", "#7a4a00", "#6b2fa0", "#00695c", "#ad1457")
_CORE_FILL = "#fdecea"
_PLAIN, _PLAIN_FILL = "#5f6368", "#f8f9fa"
_GOOD, _GOOD_FILL = "#137333", "#e6f4ea"
_CHANGE, _CHANGE_FILL = "#9a6700", "#fff8e1"

Attributes = Mapping[str, Any]


def to_dot(graph: "nx.DiGraph[str]") -> str:
    """The graph for Graphviz: `dot -Tsvg`. Whole texts and the reasons of rejections are in tooltips."""
    lines = [
        "digraph whyroute {",
        "  rankdir=LR;",
        '  node [fontname="Helvetica,Arial,sans-serif", fontsize=11, style=filled];',
        '  edge [fontname="Helvetica,Arial,sans-serif", fontsize=9, color="#5f6368"];',
    ]
    for name, node in graph.nodes(data=True):
        styled = _dot_style(node)
        text = _label(node)
        tooltip = _tooltip(node)
        label = "\\n".join(_dot_text(line) for line in text)
        lines.append(f'  "{name}" [label="{label}", tooltip="{_dot_text(tooltip)}", {styled}];')
    for kinds in (("constraint",), ("core", "relaxation")):
        column = [f'"{name}"' for name, node in graph.nodes(data=True) if node["kind"] in kinds]
        if len(column) > 1:
            lines.append(f"  {{rank=same; {'; '.join(column)}}}")
    told = _tells_why(graph)
    for start, end, edge in graph.edges(data=True):
        match edge["kind"]:
            case "contains":
                colour = _core_colour(graph.nodes[start]["number"])
                # Drawn from the constraint, so that cores stand on the other side of them than the candidates.
                lines.append(f'  "{end}" -> "{start}" [dir=none, penwidth=2, color="{colour}"];')
            case "changes":
                style = f'dir=back, style=dashed, color="{_CHANGE}", tooltip="{_dot_text(edge["text"])}"'
                lines.append(f'  "{end}" -> "{start}" [{style}];')
            case "leads-to":
                lines.append(f'  "{start}" -> "{end}" [style=dotted, color="{_GOOD}", constraint=false];')
            case _:
                message = _dot_text(edge["message"])
                label = f', label="{_dot_text(_short(edge["message"]))}"' if told else ""
                lines.append(f'  "{start}" -> "{end}" [tooltip="{message}"{label}];')
    lines.append("}")
    return "\n".join(lines) + "\n"


def _dot_style(node: Attributes) -> str:
    def style(shape: str, border: str, fill: str, more: str = "") -> str:
        return f'shape={shape}, color="{border}", fillcolor="{fill}"{more}'

    match node["kind"]:
        case "core":
            return style("octagon", _core_colour(node["number"]), _CORE_FILL, ", penwidth=2")
        case "constraint" if node["shadow"]:
            return style("ellipse", _PLAIN, "#ffffff").replace("shape=", 'style="filled,dashed", shape=')
        case "constraint" if node["cores"]:
            return style("ellipse", _core_colour(node["cores"][0]), _CORE_FILL, ", penwidth=2")
        case "constraint":
            return style("ellipse", _PLAIN, _PLAIN_FILL)
        case "relaxation":
            return style("note", _CHANGE, _CHANGE_FILL)
        case _ if node["pick"]:
            return style("box", _GOOD, _GOOD_FILL, ", penwidth=2, peripheries=2")
        case _ if node["admits"]:
            return style("box", _GOOD, _GOOD_FILL)
        case _:
            return style("box", _PLAIN, _PLAIN_FILL)


def _dot_text(text: str) -> str:
    """Text for a quoted string of DOT, cut where Graphviz would stop reading."""
    whole = _dot_escaped(text[: _DOT_BYTES + 1])
    if len(whole.encode()) <= _DOT_BYTES:
        return whole
    fitting = bisect_right(
        range(_DOT_BYTES), _DOT_BYTES - 3, key=lambda count: len(_dot_escaped(text[:count]).encode())
    )
    return f"{_dot_escaped(text[: fitting - 1])}..."


def _dot_escaped(text: str) -> str:
    """What DOT reads in a quoted string: backslashes, and entities as HTML has them, stand for themselves."""
    return printable(text).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")


def to_mermaid(graph: "nx.DiGraph[str]") -> str:
    """The graph as a Mermaid flowchart, for Markdown.

    Mermaid draws 500 edges and 50,000 characters unless its own configuration says otherwise.
    """
    lines = ["flowchart LR"]
    names = {name: name.replace(":", "_") for name in graph}
    for name, node in graph.nodes(data=True):
        opening, closing = _MERMAID_SHAPES[node["kind"]]
        label = "<br>".join(_mermaid_text(line) for line in _label(node))
        lines.append(f'  {names[name]}{opening}"{label}"{closing}:::{_mermaid_class(node)}')
    told = _tells_why(graph)
    for start, end, edge in graph.edges(data=True):
        match edge["kind"]:
            case "contains":
                lines.append(f"  {names[end]} === {names[start]}")
            case "changes":
                lines.append(f"  {names[start]} -.->|changes| {names[end]}")
            case "leads-to":
                lines.append(f"  {names[start]} -.->|leads to| {names[end]}")
            case _:
                label = f'|"{_mermaid_text(_short(edge["message"]))}"|' if told else ""
                lines.append(f"  {names[start]} -->{label} {names[end]}")
    lines += [f"  classDef {name} {style}" for name, style in _MERMAID_CLASSES.items()]
    if any(node.get("shadow") for _, node in graph.nodes(data=True)):
        lines.append(f"  classDef shadow {_MERMAID_SHADOW}")
    return "\n".join(lines) + "\n"


_MERMAID_SHAPES = {
    "constraint": ("([", "])"),
    "candidate": ("[", "]"),
    "core": ("{{", "}}"),
    "relaxation": (">", "]"),
}
_MERMAID_CLASSES = {
    "inCore": f"fill:{_CORE_FILL},stroke:{_CORE_COLOURS[0]},stroke-width:3px,color:#202124",
    "outside": f"fill:{_PLAIN_FILL},stroke:{_PLAIN},color:#202124",
    "rejected": f"fill:{_PLAIN_FILL},stroke:{_PLAIN},color:#202124",
    "qualifies": f"fill:{_GOOD_FILL},stroke:{_GOOD},color:#202124",
    "pick": f"fill:{_GOOD_FILL},stroke:{_GOOD},stroke-width:4px,color:#202124",
    "change": f"fill:{_CHANGE_FILL},stroke:{_CHANGE},color:#202124",
}


_MERMAID_SHADOW = f"fill:#ffffff,stroke:{_PLAIN},stroke-dasharray:4,color:#202124"


def _mermaid_class(node: Attributes) -> str:
    match node["kind"]:
        case "core":
            return "inCore"
        case "constraint" if node["shadow"]:
            return "shadow"
        case "constraint":
            return "inCore" if node["cores"] else "outside"
        case "relaxation":
            return "change"
        case _ if node["pick"]:
            return "pick"
        case _:
            return "qualifies" if node["admits"] else "rejected"


def _mermaid_text(text: str) -> str:
    """Text for a quoted label: what Mermaid, Markdown or HTML could read as their own stands as its code point."""
    text = printable(text)
    # At the start even a number with a point, or a dash, would make a list.
    start = _LIST_MARK.match(text)
    marks = start.end() if start else 0
    return _coded(text[:marks], _NOT_PLAIN_AT_START) + _coded(text[marks:], _NOT_PLAIN)


def _coded(text: str, characters: re.Pattern[str]) -> str:
    return characters.sub(lambda match: f"#{ord(match[0])};", text)


_LIST_MARK = re.compile(r"\s*(?:[0-9]+[.)]|\W)")
_NOT_PLAIN_AT_START = re.compile(r"[^0-9A-Za-z\x80-\U0010ffff]")
_NOT_PLAIN = re.compile(r"[^0-9A-Za-z ,./=$()\x80-\U0010ffff-]")


def to_graphml(graph: "nx.DiGraph[str]") -> str:
    """The graph as GraphML, which network tools read. Lists become text, their items parted by spaces.

    Control characters, which XML has no form for, stand as escapes: `\\x1b`.
    """
    import networkx as nx  # noqa: PLC0415 (takes long to load)

    plain: nx.DiGraph[str] = nx.DiGraph(**_flat(graph.graph))
    plain.add_nodes_from((name, _flat(node)) for name, node in graph.nodes(data=True))
    plain.add_edges_from((start, end, _flat(edge)) for start, end, edge in graph.edges(data=True))
    return "\n".join(nx.generate_graphml(plain)) + "\n"


def _flat(attributes: Attributes) -> dict[str, Any]:
    return {name: _scalar(value) for name, value in attributes.items()}


def _scalar(value: Any) -> Any:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return _NOT_XML.sub(_escaped, value) if isinstance(value, str) else value


# XML 1.0, production 2; a carriage return is left out because readers turn it into a line feed.
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


# What all drawings share.


def _label(node: Attributes) -> Iterator[str]:
    """The lines of a node's label."""
    match node["kind"]:
        case "constraint":
            yield _short(node["id"])
            yield _short(node["label"])
            if node["shadow"]:
                yield f"shadow: would admit {node['admitted']}, reject {node['rejected']}"
                return
            yield f"admits {node['admitted']}, rejects {node['rejected']}"
            if node["cores"]:
                yield f"in {'core' if len(node['cores']) == 1 else 'cores'} {_short(_numbers(node['cores']))}"
        case "core":
            yield f"core {node['number']}"
            yield (
                "can't hold together"
                if node["size"] > 1
                else "admits no candidate"
                if node["size"]
                else "no candidates"
            )
        case "relaxation":
            yield f"way out {node['number']} ({', '.join(node['owners'])})"
            yield from wrap(printable(node["text"]), _LABEL_LENGTH, max_lines=4, placeholder=" ...")
        case _:
            yield _short(node["provider"])
            yield _short(node["model"])
            if node["pick"]:
                yield "the pick"
            elif node["admits"]:
                yield "qualifies"


def _tooltip(node: Attributes) -> str:
    match node["kind"]:
        case "constraint":
            return f"{node['id']}: {node['label']} ({node['owner']})"
        case "core":
            return f"core {node['number']}"
        case "relaxation":
            return str(node["text"])
        case _:
            return f"{node['provider']} / {node['model']}"


def _numbers(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _short(text: str) -> str:
    return text if len(text) <= _LABEL_LENGTH else text[: _LABEL_LENGTH - 3] + "..."


def _core_colour(number: int) -> str:
    return _CORE_COLOURS[(number - 1) % len(_CORE_COLOURS)]


def _tells_why(graph: "nx.DiGraph[str]") -> bool:
    rejections = [edge for _, _, edge in graph.edges(data=True) if edge["kind"] == "rejected"]
    return len(rejections) <= _LABELLED_EDGES
