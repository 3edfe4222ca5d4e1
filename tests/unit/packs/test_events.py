"""The two parsers of packs: which of them reads what."""

import pytest
import yaml

from whyroute.packs.load.composing import compose, parsed
from whyroute.packs.source.events import UnreadableError, events, quick_events
from whyroute.packs.source.nodes import Node
from whyroute.packs.source.sources import Source


def shape(node: Node | None) -> object:
    """All that a tree holds, with its places."""
    if node is None:
        return None
    inner = [shape(each) for each in node.value] if isinstance(node.value, list) else node.value
    if node.keys is not None:
        inner = [(key, place, shape(each)) for key, place, each in node.pairs()]
    return node.position, node.text, node.broken, inner


@pytest.mark.parametrize(
    "text",
    [
        "a: {b: [1, 'x', \"y\"], c: }\nd:\n- e\n-\n  f: |\n    g\n",
        "a: 東京 # wide\n東: {b: \U0001f600, c: d}\n",
        "---\na: 1\n",
        "%YAML 1.2\n---\na: yes\n",
        "a: &x [1]\nb: *x\n",
        "a: >-\n  folded\n  text\n\nb: plain\n  on two lines\n",
        '"quoted": "\\x41\\u6771\\/"\n',
    ],
)
def test_both_parsers_give_the_same_places(text: str) -> None:
    source = Source("a.yaml", text)
    assert list(quick_events(text))
    root, problems = compose(source)
    expected, none = parsed(source)
    assert shape(root) == shape(expected)
    assert problems == none == []


@pytest.mark.parametrize(
    "text",
    [
        "a:\tb\n",
        "a: |#x\n",
        "a: &b% c\n",
        "a: 1\n...\n...\n",
        "a: [\n",
        '{"a": "\\ud83d\\ude00"}',
        "{a: :b}",
    ],
)
def test_libyaml_leaves_what_it_may_take_otherwise(text: str) -> None:
    with pytest.raises(UnreadableError):
        list(quick_events(text))


@pytest.mark.parametrize("text", ["|\n#a", "---  ", "&a:b c"])
def test_non_mapping_document_has_ruamel_places(text: str) -> None:
    source = Source("a.yaml", text)
    assert shape(compose(source)[0]) == shape(parsed(source)[0])


def test_packs_are_read_without_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.delattr(yaml, "CSafeLoader")
    root, problems = compose(Source("a.yaml", "a: 1\n"))
    assert root is not None
    assert problems == []


def test_the_error_says_where_the_text_ends() -> None:
    with pytest.raises(UnreadableError, match="is not closed") as raised:
        list(events("a: [b\n"))
    assert raised.value.position == (1, 4)
