"""Files with a `providers:` section, and YAML that is broken, hostile or not what it looks like."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from whyroute.documents.yaml_text import YamlTextError, read_yaml
from whyroute.packs.load.composing import compose, parsed
from whyroute.packs.source.nodes import plain_value
from whyroute.packs.source.sources import Source
from whyroute.providers.provider_files import (
    ONLY_IN_PACKS,
    InvalidCatalogError,
    UnreadableFileError,
    read_document,
    read_providers,
)


def written(tmp_path: Path, text: str, name: str = "catalog.yaml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


LIMITS = "limits what may be used, and only the providers are read here; use `whyroute route PACK --tenant ...`"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("catalog.yaml", "whyroute: 1\nproviders:\n  - {id: a, region: no, price: 2.8e-07}\n"),
        ("catalog.yml", "providers: [{id: a, region: no, price: 2.8e-07}]\nregions: {eu: [x]}\n"),
        ("catalog.json", '{"whyroute": 1, "providers": [{"id": "a", "region": "no", "price": 2.8e-07}]}'),
        ("catalog.yaml", '{"providers": [{"id": "a", "region": "no", "price": 2.8e-07}]}'),
    ],
)
def test_providers_of_a_file(tmp_path: Path, name: str, text: str) -> None:
    assert read_providers(written(tmp_path, text, name)) == [{"id": "a", "region": "no", "price": 2.8e-07}]


@pytest.mark.parametrize(
    ("text", "issues"),
    [
        ("", [("", "empty; an object with the key `providers` is expected")]),
        ("- id: a\n", [("", "a list; an object with the key `providers` is expected")]),
        ("x", [("", "a string; an object with the key `providers` is expected")]),
        ("provider: []", [("", "there is no key `providers`; did you mean `providers`?")]),
        ("whyroute: 1", [("", "there is no key `providers`")]),
        ("providers:", [("/providers", "null; a list of providers is expected")]),
        ("providers: {a: 1}", [("/providers", "an object; a list of providers is expected")]),
        (
            "whyroute: 2\nproviders: [a, {}, 3]",
            [
                ("/whyroute", "`2` is no format version that is read here; it is 1"),
                ("/providers/0", "`a` is a string; a provider is an object"),
                ("/providers/2", "`3` is a number; a provider is an object"),
            ],
        ),
        ("whyroute: true\nproviders: []", [("/whyroute", "`true` is no format version that is read here; it is 1")]),
        (
            "providers: [{id: 2024-08-06}]",
            [("/providers/0/id", "a Python `date` has no JSON form; text goes in quotes")],
        ),
        (
            "providers: [{id: a, onlyTenants: [acme]}]\nrules: []\npolicies: []",
            [
                (
                    "/policies",
                    f"`policies` {LIMITS}",
                ),
                (
                    "/rules",
                    f"`rules` {LIMITS}",
                ),
                ("/providers/0/onlyTenants", ONLY_IN_PACKS),
            ],
        ),
        ("providers: [{cost: .nan}]", [("/providers/0/cost", "`NaN` is not a number; a finite number is expected")]),
    ],
)
def test_documents_without_providers(tmp_path: Path, text: str, issues: list[tuple[str, str]]) -> None:
    with pytest.raises(InvalidCatalogError) as caught:
        read_providers(written(tmp_path, text))
    assert [tuple(issue) for issue in caught.value.issues] == issues
    assert caught.value.to_dict()["code"] == "invalid-catalog"


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.yaml", "a: [", "line 1, column 5: not YAML: "),
        ("a.yaml", "a: 1\na: 2\n", "line 2, column 1: not YAML: "),
        ("a.yaml", "a: 1\n---\nb: 2\n", "line 2, column 1: not YAML: expected a single document"),
        ("a.yaml", "a: !!python/object:os.system x", "line 1, column 4: not YAML: could not determine a constructor"),
        ("a.yaml", "a: \x01", "not YAML: "),
        ("a.yaml", "a: 2026-13-45", "a value that can't be read: "),
        ("a.yaml", "a: " + "9" * 5000, "a value that can't be read: "),
        ("a.yaml", "&a [*a]", "line 1, column 1: an alias stands inside the value it names"),
        ("a.yaml", "a: &a {b: {c: *a}}", "line 1, column 4: an alias stands inside the value it names"),
        ("a.yaml", "a: &a {x: 1}\nb:\n  <<: *a\n", "line 3, column 3: `<<` merges nothing in YAML 1.2"),
        ("a.yaml", "<<: {x: 1}\n", "line 1, column 1: `<<` merges nothing in YAML 1.2"),
        ("a.yaml", "[" * 5000, "nested too deeply"),
        ("a.yaml", "%YAML 1.1\n---\na: no\n", "line 1, column 1: version `1.1` of YAML is not read here; it is 1.2"),
        ("a.yaml", "# c\n\n%TAG ! x:\r\n%YAML 1.3\n--- a", "line 4, column 1: version `1.3` of YAML is not read here"),
        ("a.json", "", "line 1: empty; a JSON value is expected"),
        ("a.JSON", "{'a': 1}", "line 1, column 2: not JSON: "),
        ("a.json", '{"a": 1, "a": 2}', "line 1: not JSON: key `a` stands twice in one object"),
    ],
)
def test_files_that_are_not_in_their_format(tmp_path: Path, name: str, text: str, problem: str) -> None:
    path = written(tmp_path, text, name)
    with pytest.raises(UnreadableFileError) as caught:
        read_document(path)
    assert caught.value.path == str(path)
    assert caught.value.problem.startswith(problem), caught.value.problem
    assert "\n" not in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match="there is no such file"):
        read_providers(tmp_path / "missing.yaml")
    with pytest.raises(UnreadableFileError, match="this is a directory"):
        read_providers(tmp_path)
    with pytest.raises(UnreadableFileError, match=r"^an empty path; name a file$"):
        read_document("")


def test_bytes_that_are_not_text() -> None:
    with pytest.raises(YamlTextError, match="not UTF-8: byte 4 is 0xff"):
        read_yaml(b"a: \xff")


def test_moderate_aliases_are_read() -> None:
    assert read_yaml("a: &x [1, 2]\nb: *x\n") == {"a": [1, 2], "b": [1, 2]}
    assert read_yaml("a: &x 1\nb: &x 2\nc: *x\n") == {"a": 1, "b": 2, "c": 2}


def test_alias_bombs_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(YamlTextError, match="stand for more than"):
        read_yaml("\n".join(lines))


def test_merged_keys_are_refused_before_expansion() -> None:
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 100)}]}}" for n in range(1, 5)]
    with pytest.raises(YamlTextError, match="`<<` merges nothing"):
        read_yaml("\n".join(lines))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'<<': 1", {"<<": 1}),
        ("a: <<x", {"a": "<<x"}),
        ("? [1, 2]\n: 3", {(1, 2): 3}),
        ("no", "no"),
        ("off", "off"),
        ("0o17", 15),
        ("12:30:45", "12:30:45"),
        ("%YAML 1.2\n---\nno", "no"),
        ("x: =", {"x": "="}),
        ("x: <<  # c", {"x": "<<"}),
        ("[<<, =, '=']", ["<<", "=", "="]),
        ("=: 1", {"=": 1}),
        ("[1_000, 1_0.5, 1000]", ["1_000", "1_0.5", 1000]),
        (r'{"\ud83d\ude00": "a\uD83D\uDE00"}', {"\U0001f600": "a\U0001f600"}),
        (r'"\\ud83d\\ude00"', r"\ud83d\ude00"),
        (r"'\ud83d\ude00'", r"\ud83d\ude00"),
        ("1e-7", 1e-7),
        ("2.8e-07", 2.8e-07),
        ("", None),
    ],
)
def test_yaml_is_1_2(text: str, value: Any) -> None:
    assert read_yaml(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "%YAML 1.2\n---\nx: no",
        "x: =",
        "x: <<",
        "=: 1",
        "x: [<<, =]",
        "x: 1_000",
        "x: 0o17",
        "x: 0x1F",
        "x: yes",
        "x: ~",
        "x: 1e3",
        "x: +5",
        r'{"\ud83d\ude00": "a\uD83D\uDE00"}',
        r'x: "\\ud83d"',
    ],
)
def test_pack_and_catalog_read_texts_alike(text: str) -> None:
    source = Source("a.yaml", text)
    for compose_ in (compose, parsed):
        root, problems = compose_(source)
        assert root is not None
        assert problems == []
        assert plain_value(root) == read_yaml(text)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("%YAML 1.1\n---\nx: no", (1, 1), "version `1.1` of YAML is not read here; it is 1.2"),
        ("# c\n%YAML 1.3\n---\nx: no", (2, 1), "version `1.3` of YAML is not read here; it is 1.2"),
        (r'x: "\ud83d"', (1, 4), "text with half a surrogate pair"),
        (r'"\ude00\ud83d": 1', (1, 1), "a key with half a surrogate pair"),
    ],
)
def test_what_a_pack_refuses(text: str, place: tuple[int, int], message: str) -> None:
    _, [problem] = compose(Source("a.yaml", text))
    assert (problem.place.line, problem.place.column) == place
    assert problem.message.startswith(message)
