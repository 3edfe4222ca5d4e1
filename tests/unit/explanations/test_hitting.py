"""Minimal hitting sets: the search and the table against brute force, and against PySAT."""

from collections.abc import Sequence
from itertools import islice, product

import pytest
from hypothesis import example, given, strategies as st
from pysat.examples.hitman import Hitman

from bruteforce import all_hitting_sets
from whyroute.explanations import hitting, lattice
from whyroute.explanations.found import Found
from whyroute.explanations.hitting import hitting_sets, transposed
from whyroute.explanations.search import HittingSets, Work

VERTICES = 8

families = st.lists(st.frozensets(st.integers(0, VERTICES - 1), min_size=1).map(sorted), max_size=10)
PLENTY = 10**9


def solved(edges: Sequence[Sequence[int]], vertices: int, limit: int = PLENTY, work: int = PLENTY) -> Found[int]:
    hits = transposed(edges, vertices)
    within = [vertex for vertex in range(vertices) if hits[vertex]]
    return hitting_sets([hits[vertex] for vertex in within], [(vertex,) for vertex in within], limit, work)


@given(families)
@example([])
@example([[0]])
@example([[0, 1], [1, 2], [0, 2]])
def test_table_and_search_agree_with_brute_force(edges: list[list[int]]) -> None:
    expected = all_hitting_sets(VERTICES, edges)
    assert list(HittingSets(transposed(edges, VERTICES), Work(PLENTY)).enumerate()) == expected
    numbers = [sum(1 << (VERTICES - 1 - vertex) for vertex in edge) for edge in edges]
    table = [
        tuple(vertex for vertex in range(VERTICES) if number >> (VERTICES - 1 - vertex) & 1)
        for number in lattice.minimal_hitting_sets(VERTICES, numbers)
    ]
    assert table == expected
    assert solved(edges, VERTICES) == Found(tuple(expected))


@given(families)
def test_a_table_of_several_chunks_is_the_same(edges: list[list[int]]) -> None:
    numbers = [sum(1 << vertex for vertex in edge) for edge in edges]
    whole = list(lattice.minimal_hitting_sets(VERTICES, numbers))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice, "_CHUNK", 3)
        assert list(lattice.minimal_hitting_sets(VERTICES, numbers)) == whole


@given(families)
def test_edges_may_come_to_light_during_the_search(edges: list[list[int]]) -> None:
    def missed(chosen: tuple[int, ...]) -> int | None:
        for edge in edges:
            if not set(chosen) & set(edge):
                return sum(1 << vertex for vertex in edge)
        return None

    search = HittingSets([0] * VERTICES, Work(PLENTY))
    assert list(search.enumerate(missed)) == all_hitting_sets(VERTICES, edges)


@given(families)
def test_dual_of_dual_is_the_minimal_edges(edges: list[list[int]]) -> None:
    minimal = {tuple(edge) for edge in edges if not any(set(other) < set(edge) for other in edges)}
    dual = solved(edges, VERTICES).sets
    if not edges:
        assert dual == ((),)
    else:
        assert set(solved(dual, VERTICES).sets) == minimal


@given(families.filter(bool))
def test_pysat_finds_the_same(edges: list[list[int]]) -> None:
    with Hitman(bootstrap_with=edges, htype="sorted") as hitman:
        others = [tuple(sorted(each)) for each in hitman.enumerate()]
    ours = solved(edges, VERTICES).sets
    assert sorted(ours) == sorted(others)
    assert [len(each) for each in ours] == [len(each) for each in others]


@given(families, st.integers(1, 5), st.integers(0, 60))
def test_cut_search_gives_a_minimal_beginning(edges: list[list[int]], limit: int, work: int) -> None:
    expected = all_hitting_sets(VERTICES, edges)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hitting, "_TABLE", -1)
        found = solved(edges, VERTICES, limit, work)
    assert 1 <= len(found.sets) <= limit
    assert set(found.sets) <= set(expected)
    assert list(found.sets) == sorted(found.sets, key=lambda each: (len(each), each))
    assert found.truncated or list(found.sets) == expected
    beginning = list(HittingSets(transposed(edges, VERTICES), Work(work)).enumerate())
    assert beginning == expected[: len(beginning)]


@st.composite
def interchangeable(draw: st.DrawFn) -> tuple[list[list[int]], list[list[int]]]:
    """Edges over 5 vertices, and for each vertex up to 3 members, which lie scattered."""
    edges = draw(st.lists(st.frozensets(st.integers(0, 4), min_size=1).map(sorted), max_size=6))
    copies = draw(st.lists(st.integers(1, 3), min_size=5, max_size=5))
    owners = draw(st.permutations([vertex for vertex in range(5) for _ in range(copies[vertex])]))
    return edges, [[member for member, owner in enumerate(owners) if owner == vertex] for vertex in range(5)]


@given(interchangeable(), st.integers(1, 12), st.sampled_from([5, 20, 60, PLENTY]))
def test_interchangeable_members_are_written_out_in_order(
    family: tuple[list[list[int]], list[list[int]]], limit: int, work: int
) -> None:
    edges, members = family
    whole = {
        tuple(sorted(choice))
        for vertices in all_hitting_sets(5, edges)
        for choice in product(*(members[vertex] for vertex in vertices))
    }
    expected = sorted(whole, key=lambda each: (len(each), each))
    hits = transposed(edges, 5)
    groups = sorted((members[vertex], hits[vertex]) for vertex in range(5) if hits[vertex])
    arguments = [hit for _, hit in groups], [each for each, _ in groups]
    assert hitting_sets(*arguments, limit, PLENTY) == Found(tuple(expected[:limit]), len(expected) > limit)
    for bound in ("_FEW_VERTICES", "_FEW_EDGES", "_FEW_CHOICES"):  # the ways for few and for many give the same
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(hitting, bound, -1)
            assert hitting_sets(*arguments, limit, PLENTY) == Found(tuple(expected[:limit]), len(expected) > limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hitting, "_TABLE", -1)
        cut = hitting_sets(*arguments, limit, work)
    assert cut.sets
    assert set(cut.sets) <= whole
    assert cut.truncated or list(cut.sets) == expected
    if work == PLENTY:
        assert cut == Found(tuple(expected[:limit]), len(expected) > limit)


def test_cut_search_leaves_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hitting, "_TABLE", -1)
    hits = transposed([[at, (at + 1) % 5] for at in range(5)], 5)
    members = [[vertex, vertex + 5] for vertex in range(5)]
    whole = hitting_sets(hits, members, PLENTY, PLENTY)
    assert len(whole.sets) == 5 * 2**3
    cut_short = 0
    for work in range(200):
        if any(HittingSets(hits, Work(work)).enumerate()):
            found = hitting_sets(hits, members, PLENTY, work)
            assert found.sets == whole.sets[: len(found.sets)]
            cut_short += found.truncated
    assert cut_short > 10


def test_the_search_stops_at_its_bound() -> None:
    # Twelve pentagons: each needs three of its five vertices, but no more than two disjoint edges show it.
    edges = [[12 * at + ring, 12 * ((at + 1) % 5) + ring] for ring in range(12) for at in range(5)]
    bound = Work(20_000)
    first = list(islice(HittingSets(transposed(edges, 60), bound).enumerate(), 1))
    assert bound.spent
    assert bound.left > -2_000
    assert first == []
    found = solved(edges, 60, limit=64, work=20_000)
    assert found.truncated
    assert found.sets
    for each in found.sets:
        assert all(set(each) & set(edge) for edge in edges)
        for vertex in each:
            assert any(set(each) & set(edge) == {vertex} for edge in edges)
