"""Catalog files: JSON with exact decimals, gzip, keys that stand twice, and everything that is none of that."""

import gzip
import json
from decimal import Decimal
from pathlib import Path

import pytest

from whyroute.providers.importers.reading import Repeated, entries, parse, read_catalog
from whyroute.providers.provider_files import UnreadableFileError


def test_numbers_keep_their_decimals() -> None:
    assert parse(b'{"a": 2.80e-07, "b": 3}', "x") == {"a": Decimal("2.80e-07"), "b": 3}
    assert isinstance(parse(b"0.1", "x"), Decimal)


def test_non_json_tokens_are_no_numbers() -> None:
    for text in (b"NaN", b"Infinity", b"-Infinity", b"1e99999999999999999999"):
        assert not parse(text, "x").is_finite()


def test_a_huge_integer_is_read_in_no_time() -> None:
    assert parse(b"9" * 100_000, "x").adjusted() == 99_999


def test_keys_that_stand_twice_are_kept_apart() -> None:
    document = parse(b'{"a": 1, "b": 2, "a": 3}', "x")
    assert document == {"a": Repeated((1, 3)), "b": 2}
    assert sorted(entries(document)) == [("a", 1), ("a", 3), ("b", 2)]


def test_plain_and_gzip_read_alike_whatever_the_name(tmp_path: Path) -> None:
    data = json.dumps({"a": "ä"}).encode()
    (tmp_path / "a.json").write_bytes(data)
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(data, mtime=0))
    (tmp_path / "b").write_bytes(gzip.compress(data, mtime=0))
    assert [read_catalog(tmp_path / name) for name in ("a.json", "a.json.gz", "b")] == [{"a": "ä"}] * 3


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("a.json", b"", "the file is empty; a JSON document is expected"),
        ("a.json", b"  \n", "empty; a JSON document is expected"),
        ("a.json", b'{"a": 1,\n "b" 2}', "line 2, column 6: not JSON: expecting ':' delimiter"),
        ("a.json", b'\xff{"a": 1}', "not UTF-8: byte 1 is 0xff"),
        ("a.json", b"[" * 100_000, "nested too deeply for a catalog"),
        ("a.json.gz", b'{"a": 1}', "its name ends in `.gz`, but it is not compressed with gzip"),
        ("a.gz", gzip.compress(b"{}" * 100, mtime=0)[:20], "damaged gzip data: "),
        ("a.gz", b"\x1f\x8bnonsense", "damaged gzip data: "),
        ("a.gz", gzip.compress(b"", mtime=0), "empty; a JSON document is expected"),
    ],
)
def test_unreadable_files(tmp_path: Path, name: str, data: bytes, problem: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(UnreadableFileError) as caught:
        read_catalog(path)
    assert caught.value.path == str(path)
    assert caught.value.problem.startswith(problem)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for path, problem in (
        (tmp_path / "missing.json", "there is no such file"),
        (tmp_path, "this is a directory; a file is expected"),
        (tmp_path / "a\0b", "can't be read: embedded null byte"),
    ):
        with pytest.raises(UnreadableFileError) as caught:
            read_catalog(path)
        assert caught.value.problem == problem


def test_a_gzip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whyroute.providers.importers.reading._MAX_BYTES", 1 << 20)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b" " * (2 << 20), mtime=0))
    with pytest.raises(UnreadableFileError, match="more than 1 MB when unpacked"):
        read_catalog(path)
