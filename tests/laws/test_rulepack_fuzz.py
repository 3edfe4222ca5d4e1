"""Whatever a file holds, loading it succeeds or says what is wrong; and both parsers read the same."""

import string
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from fuzz_packs import check_pack, documents
from packcases import PackCase, cases, outcome
from paths import ROOT
from whyroute.packs import PackError, load_pack
from whyroute.packs.load.composing import compose, parsed
from whyroute.packs.source.events import UnreadableError, quick_events
from whyroute.packs.source.nodes import Node
from whyroute.packs.source.sources import Source, unprintable
from yamltexts import SEEDS, texts

BUDGET = 400


def loads_or_says_why(directory: Path, data: bytes) -> None:
    path = directory / "fuzz.yaml"
    path.write_bytes(data)
    with suppress(PackError):
        load_pack(path)


@settings(max_examples=BUDGET)
@given(texts)
def test_any_text(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    loads_or_says_why(tmp_path_factory.getbasetemp(), text.encode("utf-8", "surrogatepass"))


@settings(max_examples=BUDGET)
@given(st.binary(max_size=60), st.sampled_from(SEEDS), st.integers(0, 200))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes, seed: str, at: int) -> None:
    text = seed.encode("utf-8")
    loads_or_says_why(tmp_path_factory.getbasetemp(), text[:at] + data + text[at:])


@settings(max_examples=BUDGET)
@given(documents())
def test_any_value_where_another_belongs(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    check_pack(tmp_path_factory.getbasetemp() / "fuzz.yaml", text.encode("utf-8", "surrogatepass"))


def tree(node: Node) -> Any:
    """All that is in a node."""
    value: Any = node.value
    if node.keys is not None:
        value = [(key, place, tree(inner)) for key, place, inner in node.pairs()]
    elif isinstance(value, list):
        value = [tree(inner) for inner in value]
    return node.line, node.column, type(node.value), value, node.text, node.broken


def reads_the_same(text: str) -> bool:
    """Whether libyaml takes a text; tree and problems are those of ruamel.yaml's parser in any case."""
    source = Source("a.yaml", text.replace("\r\n", "\n").replace("\r", "\n"))
    if unprintable(source):
        return False
    root, problems = compose(source)
    judged, expected = parsed(source)
    assert problems == expected
    assert (root and tree(root)) == (judged and tree(judged))
    with suppress(UnreadableError):
        return len(list(quick_events(source.text))) > 0
    return False


def test_libyaml_takes_ordinary_files() -> None:
    sound = [text for text in SEEDS if parsed(Source("a.yaml", text))[1] == []]
    taken = [reads_the_same(text) for text in sound]
    assert sum(taken) > 0.9 * len(taken)
    assert reads_the_same(ROOT.joinpath("rules", "catalog.yaml").read_text("utf-8"))


@settings(max_examples=BUDGET)
@given(texts)
def test_both_parsers_read_any_text_the_same(text: str) -> None:
    reads_the_same(text)


RESOLVING = [case for case in cases() if any(head.startswith("resolve") for head in case.expected)]


@settings(max_examples=60)
@given(st.sampled_from(RESOLVING), st.randoms(use_true_random=False))
def test_file_names_and_sections_change_only_positions(
    tmp_path_factory: pytest.TempPathFactory, case: PackCase, random: Any
) -> None:
    before, after = tmp_path_factory.mktemp("before"), tmp_path_factory.mktemp("after")
    case.write(before)
    names = random.sample(string.ascii_lowercase, len(case.files))
    renamed = {f"{name}/x.yml": _shuffled(text, random) for name, text in zip(names, case.files.values(), strict=True)}
    PackCase(case.topic, case.name, renamed).write(after)
    for head in case.expected:
        assert _without_places(outcome(case, head, before)) == _without_places(outcome(case, head, after))


def _shuffled(text: str, random: Any) -> str:
    """The file with its sections in another order."""
    sections: list[str] = []
    for line in text.splitlines(keepends=True):
        if sections and line.startswith((" ", "-", "#")):
            sections[-1] += line
        else:
            sections.append(line)
    first, *others = sections
    random.shuffle(others)
    return first + "".join(others)


def _without_places(text: str) -> str:
    return text.split('\n "origins"', maxsplit=1)[0]
