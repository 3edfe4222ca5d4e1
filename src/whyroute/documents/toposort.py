"""Names that refer to other names: an order in which none comes before those it refers to, and the cycles."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["cycles", "in_order"]


def in_order(references: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The names, each after all those it refers to; otherwise as they are written. There must be no cycle.

    Args:
        references: For each name, those it refers to; names that are not keys refer to nothing and are left out.
    """
    if _refer_back_only(references):
        return tuple(references)
    import networkx as nx  # noqa: PLC0415

    return tuple(nx.dfs_postorder_nodes(_graph(references)))


def cycles(references: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """The circles in which names refer to each other, each from its first name on; none when there is none.

    Every name that is part of a circle is part of one of those listed, or shares names with one.
    """
    if _refer_back_only(references):
        return ()
    import networkx as nx  # noqa: PLC0415

    circles: dict[tuple[str, ...], None] = {}
    path: list[str] = []
    for _, name, step in nx.dfs_labeled_edges(_graph(references)):
        if step == "forward":
            path.append(name)
        elif step == "reverse":
            path.pop()
        elif name in path:
            circles[tuple(path[path.index(name) :])] = None
    return tuple(circles)


def _refer_back_only(references: Mapping[str, Sequence[str]]) -> bool:
    """Whether each name refers to earlier ones only, as most people write them: then networkx need not be loaded."""
    later = set(references)
    for name, others in references.items():
        if not later.isdisjoint(others):
            return False
        later.discard(name)
    return True


def _graph(references: Mapping[str, Sequence[str]]) -> "nx.DiGraph[str]":
    import networkx as nx  # noqa: PLC0415 (takes longer to load than most packs)

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(references)
    graph.add_edges_from(
        (name, other) for name, others in references.items() for other in others if other in references
    )
    return graph
