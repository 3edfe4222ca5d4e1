"""An explanation as a graph: candidates, constraints, what rejects what, what clashes, what would have to change."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from .failures import near_miss_numbers

if TYPE_CHECKING:
    import networkx as nx

    from .explanation import Explanation

__all__ = ["graph_of"]


def graph_of(explanation: "Explanation", limit: int | None) -> "nx.DiGraph[str]":
    """The graph of an explanation; `Explanation.to_graph` says what is in it."""
    import networkx as nx  # noqa: PLC0415 (takes longer to load than a route takes)

    graph: nx.DiGraph[str] = nx.DiGraph(
        satisfiable=explanation.satisfiable,
        candidates=explanation.catalog.size,
        truncated=explanation.truncated,
    )
    indices = {constraint.id: index for index, constraint in enumerate(explanation.constraints)}
    cores: dict[str, list[int]] = {name: [] for name in indices}
    for number, core in enumerate(explanation.cores, start=1):
        for constraint in core:
            cores[constraint.id].append(number)
    named = [(_constraint(index), each) for index, each in enumerate(explanation.constraints)]
    named += [(f"shadow:{index}", each) for index, each in enumerate(explanation.shadows)]
    for name, constraint in named:
        admitted = constraint.admitted.bit_count()
        graph.add_node(
            name,
            kind="constraint",
            id=constraint.id,
            label=constraint.label,
            owner=constraint.owner,
            admitted=admitted,
            rejected=explanation.catalog.size - admitted,
            cores=() if constraint.shadow else tuple(cores[constraint.id]),
            shadow=constraint.shadow,
        )
    for number, core in enumerate(explanation.cores, start=1):
        graph.add_node(f"core:{number}", kind="core", number=number, size=len(core))
        for constraint in core:
            graph.add_edge(f"core:{number}", _constraint(indices[constraint.id]), kind="contains")
    for candidate in islice(_in_order(explanation), limit):
        _add_candidate(graph, explanation, candidate)
    for number, relaxation in enumerate(explanation.relaxations, start=1):
        name = f"relaxation:{number}"
        graph.add_node(
            name,
            kind="relaxation",
            number=number,
            text=relaxation.text,
            owners=tuple(relaxation.owners),
            offered=relaxation.offered,
        )
        for edit in relaxation.edits:
            graph.add_edge(name, _constraint(indices[edit.constraint.id]), kind="changes", text=edit.text)
        pick = explanation.catalog.number_of(*relaxation.pick.key)
        if pick is not None:
            _add_candidate(graph, explanation, pick)
            graph.add_edge(name, _candidate(pick), kind="leads-to")
    return graph


def _constraint(index: int) -> str:
    return f"constraint:{index}"


def _candidate(number: int) -> str:
    # Its number in the catalog: ids and names may hold anything, and two pairs may read alike when joined.
    return f"candidate:{number}"


def _in_order(explanation: "Explanation") -> Iterator[int]:
    """The candidates' numbers, those that qualify in rank order, then the others by how little stops them."""
    solved = explanation.solved
    if explanation.survivors:
        yield from solved.ranked(explanation.survivors).among(explanation.survivors)
    yield from near_miss_numbers(solved, None)


def _add_candidate(graph: "nx.DiGraph[str]", explanation: "Explanation", number: int) -> None:
    """Add a candidate with all its rejections, once."""
    solved, name = explanation.solved, _candidate(number)
    if name in graph:
        return
    candidate = solved.catalog.candidate(number)
    survivors = explanation.survivors
    graph.add_node(
        name,
        kind="candidate",
        provider=candidate.metadata.id,
        model=candidate.model.name,
        admits=bool(survivors >> number & 1),
        pick=survivors != 0 and number == solved.ranked(survivors).best(),
    )
    for index, constraint in enumerate(solved.constraints):
        reason = constraint.rejection(candidate)
        if reason is not None:
            graph.add_edge(name, _constraint(index), kind="rejected", code=reason.code, message=reason.message)
