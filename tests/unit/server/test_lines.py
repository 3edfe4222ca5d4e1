import json
import threading
from pathlib import Path

from whyroute.server.lines import FileSink, LineWriter


class Stuck:
    """A sink that takes nothing until it is let go."""

    def __init__(self) -> None:
        self.let = threading.Event()
        self.entered = threading.Event()
        self.written = b""

    def begin(self) -> None:
        self.entered.set()
        self.let.wait(30)

    def write(self, data: memoryview) -> int:
        self.written += data
        return len(data)

    def close(self) -> None:
        pass


def test_lines_after_the_end_are_dropped_and_counted() -> None:
    sink = Stuck()
    sink.let.set()
    writer = LineWriter(sink)
    writer.put({"a": 1})
    writer.close()
    writer.put({"a": 2})
    assert (writer.dropped, writer.waiting) == (1, 0)
    assert sink.written == b'{"a": 1}\n'


def test_every_line_is_written_or_counted() -> None:
    sink = Stuck()
    writer = LineWriter(sink)
    writer.put({"a": 0})
    sink.entered.wait(10)
    for number in range(1, 4):
        writer.put({"a": number})
    writer.close(0)  # what is in hand may still be written
    assert writer.dropped == 3
    sink.let.set()
    writer._thread.join(10)
    assert writer.dropped + sink.written.count(b"\n") == 4


def test_torn_line_of_other_process_stays_apart(tmp_path: Path) -> None:
    sink = FileSink(tmp_path / "log")
    for number in range(2):
        sink.begin()
        sink.write(memoryview(b'{"a": %d}\n' % number))
        with open(tmp_path / "log", "ab") as other:
            other.write(b'{"torn')
    sink.begin()
    sink.write(memoryview(b'{"a": 2}\n'))
    sink.close()
    whole = [line for line in (tmp_path / "log").read_text().splitlines() if line.endswith("}")]
    assert [json.loads(line) for line in whole] == [{"a": 0}, {"a": 1}, {"a": 2}]
