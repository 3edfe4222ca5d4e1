"""Trees of files, compared."""

import pytest

from whyroute.packs.load.composing import compose
from whyroute.packs.source.nodes import Node, same_tree
from whyroute.packs.source.sources import Source


def tree(text: str) -> Node:
    root, problems = compose(Source("a.yaml", text))
    assert problems == []
    assert root is not None
    return root


ONE = "a: [1, x]\nb: {c: 2.50}\n"


@pytest.mark.parametrize("other", ["a:\n  - 1\n  - 'x'\nb:\n  c: 2.50 # c\n", "a: &n [1, x]\n\nb: {c: 2.50}\n"])
def test_trees_are_the_same_however_laid_out(other: str) -> None:
    assert same_tree(tree(ONE), tree(other))
    assert not same_tree(tree(ONE), tree(other), places=True)


@pytest.mark.parametrize(
    "other",
    [
        "a: [1, x]\nb: {c: 2.5}\n",
        "b: {c: 2.50}\na: [1, x]\n",
        "a: [1]\nb: {c: 2.50}\n",
        "a: ['1', x]\nb: {c: 2.50}\n",
        "a: [1, y]\nb: {c: 2.50}\n",
        "a: {}\nb: {c: 2.50}\n",
    ],
)
def test_trees_differ_by_what_is_written(other: str) -> None:
    assert not same_tree(tree(ONE), tree(other))
    assert not same_tree(tree(ONE), None)


def test_trees_at_the_same_places() -> None:
    assert same_tree(tree(ONE), tree(f"{ONE}# c\n"), places=True)
    assert not same_tree(tree("a:  1\n"), tree("a: 1\n"), places=True)
    assert same_tree(None, None)
