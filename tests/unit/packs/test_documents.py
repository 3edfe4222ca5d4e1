"""A pack as one document, and its digest."""

import json
from pathlib import Path

import pytest

from packcases import PackCase, cases
from paths import ROOT
from whyroute.documents.canonical import digest_of
from whyroute.packs import Pack, PackError, load_pack
from whyroute.packs.load.documents import pack_document


def reloaded(pack: Pack, folder: Path) -> Pack:
    file = folder / "one.yaml"
    file.write_text(json.dumps(pack_document(pack)), "utf-8")
    return load_pack(file)


def test_the_example_pack_reads_back_from_its_document(tmp_path: Path) -> None:
    pack = load_pack(ROOT / "rules")
    again = reloaded(pack, tmp_path)
    assert again.digest == pack.digest
    for tenant in pack.tenants:
        for capability in pack.capabilities:
            mine, other = (each.resolve(tenant, capability, at="2026-12-24").answer() for each in (pack, again))
            assert mine == other


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_so_does_every_case(case: PackCase, tmp_path: Path) -> None:
    (tmp_path / "case").mkdir()
    case.write(tmp_path / "case")
    try:
        pack = load_pack(tmp_path / "case")
    except PackError:
        return
    assert reloaded(pack, tmp_path).digest == pack.digest


PACK = """
whyroute: 1
labels: {data: {values: [a, b]}}
rules: [{name: r, because: x, forbid: {region: us}}]
tenants: [{tenantId: t, rules: [r]}]
tests: [{name: n, tenant: t, capability: {needs: []}, expect: {unsatisfiable: true}}]
"""


def digest(tmp_path: Path, text: str) -> str:
    file = tmp_path / "pack.yaml"
    file.write_text(text, "utf-8")
    return load_pack(file).digest


def test_comments_layout_and_tests_do_not_count(tmp_path: Path) -> None:
    first = digest(tmp_path, PACK)
    assert digest(tmp_path, "# a comment\n" + PACK.replace("[a, b]", "[ a,\n  'b']")) == first
    assert digest(tmp_path, PACK.replace("name: n,", "name: other,")) == first


@pytest.mark.parametrize(
    ("old", "new"), [("[a, b]", "[b, a]"), ("because: x", "because: y"), ("region: us", "region: eu")]
)
def test_everything_else_does(tmp_path: Path, old: str, new: str) -> None:
    assert digest(tmp_path, PACK.replace(old, new)) != digest(tmp_path, PACK)


def test_numbers_count_as_doubles() -> None:
    assert digest_of({"a": 1, "b": 2**60}) == digest_of({"b": float(2**60), "a": 1.0})
