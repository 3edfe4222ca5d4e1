"""`whyroute batch` where whyroute itself fails at a line, and where lines are too long."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from counting import most_in_use
from whyroute.cli import batch, main
from whyroute.cli.inputs import lines_of
from whyroute.documents.json_text import read_json
from whyroute.engine.single import EngineName
from whyroute.wire import request as wire

GOOD = {"capability": {"needs": []}, "providers": []}
LIMIT = 16 * 1024 * 1024


def answers_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Line 2 fails before it has an answer, line 4 in the middle of it."""

    def answer_json(line: bytes, number: int, *, engine: EngineName) -> Any:
        if number == 2:
            raise OverflowError("too \udcff large\n")
        valid, pieces = wire.answer_json(line, number, engine=engine)
        return valid, halfway(pieces) if number == 4 else pieces

    def halfway(pieces: Iterator[str]) -> Iterator[str]:
        yield next(pieces)
        raise KeyError

    monkeypatch.setattr(batch, "answer_json", answer_json)


def test_batch_goes_on_where_reading_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(text: bytes, **place: int) -> object:
        if b"broken" in text:
            raise ZeroDivisionError
        return read_json(text, **place)

    monkeypatch.setattr(wire, "read_json", broken)
    monkeypatch.setattr(batch, "read_json", broken)
    path, found = tmp_path / "requests.jsonl", tmp_path / "answers.jsonl"
    lines = [json.dumps({**GOOD, "id": each}) for each in (0, "broken", 2)]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert main(["batch", str(path), "-o", str(found)]) == 3
    assert [each["error"]["code"] for each in answers_of(found)][1] == "internal"
    assert [each.get("id") for each in answers_of(found)] == [0, None, 2]
    assert "line 2" in capsys.readouterr().err


@pytest.mark.usefixtures("failing")
def test_batch_goes_on_after_faults_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, found = tmp_path / "requests.jsonl", tmp_path / "answers.jsonl"
    lines = [json.dumps({**GOOD, "id": number}) for number in range(4)] + ["{}"]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert main(["batch", str(path), "-o", str(found)]) == 3
    answers = answers_of(found)
    codes = [each["error"]["code"] for each in answers]
    fine = "capability-unsatisfiable"
    assert codes == [fine, "internal", fine, "internal", "invalid-request"]
    assert [each.get("id") for each in answers] == [0, 1, 2, 3, None]
    message = "a fault of whyroute's own: OverflowError: too \\udcff large\\n; please report it"
    assert answers[1]["error"] == {"code": "internal", "message": message}
    told = capsys.readouterr().err
    assert "at 2 lines, the first of which is line 2" in told
    assert "Traceback" not in told
    monkeypatch.setenv("WHYROUTE_TRACEBACK", "1")
    assert main(["batch", str(path), "-o", str(found)]) == 3
    assert capsys.readouterr().err.count("Traceback") == 2


@pytest.mark.parametrize("end", [b"\n", b""], ids=["line feed", "none"])
def test_batch_refuses_long_lines_and_goes_on(tmp_path: Path, end: bytes) -> None:
    path, found = tmp_path / "requests.jsonl", tmp_path / "answers.jsonl"
    good = json.dumps(GOOD).encode()
    lines = [good, good.ljust(LIMIT), good.ljust(LIMIT + 1), good, b" " * (3 * LIMIT)]
    path.write_bytes(b"\n".join(lines) + end)
    assert main(["batch", str(path), "-o", str(found)]) == 1
    errors = [each["error"] for each in answers_of(found)]
    assert [each["code"] for each in errors] == [
        *["capability-unsatisfiable"] * 2,
        "invalid-request",
        "capability-unsatisfiable",
        "invalid-request",
    ]
    assert errors[2]["message"] == "the request is invalid: line 3: longer than 16 MiB, the limit of a line"


class Endless(io.RawIOBase):
    """A line of so many bytes, and a short one."""

    def __init__(self, length: int) -> None:
        self.left = length

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        octets = b"x" * min(len(buffer), self.left) or (b"\n{}" if self.left == 0 else b"")
        self.left -= len(octets) if self.left > 0 else 1
        buffer[: len(octets)] = octets
        return len(octets)


def test_long_lines_are_skipped_in_bounded_memory() -> None:
    lengths: list[int] = []

    def read() -> None:
        lengths.extend(map(len, lines_of("-", io.BufferedReader(Endless(20 * LIMIT)))))

    assert most_in_use(read) < 3 * LIMIT
    assert lengths == [LIMIT + 1, 2]


def test_diff_refuses_long_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pack, requests = tmp_path / "pack.yaml", tmp_path / "requests.jsonl"
    pack.write_text("whyroute: 1\ntenants: [{tenantId: t}]\n", encoding="utf-8")
    requests.write_bytes(b" " * (LIMIT + 1))
    assert main(["diff", str(pack), str(pack), "--requests", str(requests)]) == 2
    assert "line 1: longer than 16 MiB" in capsys.readouterr().err
