import threading

import pytest

from whyroute.server import memory
from whyroute.server.memory import GivingBack


def test_memory_is_given_back_once_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_SECONDS", 0.05)
    done: list[int] = []
    given = threading.Event()
    giving = GivingBack()

    def trim(kept: int) -> int:
        done.append(kept)
        given.set()
        return 1

    monkeypatch.setattr(giving, "_trim", trim)
    for _ in range(100):
        giving.soon()
    assert given.wait(10)
    assert done == [0]
    given.clear()
    giving.soon()
    assert given.wait(10)
    assert done == [0, 0]


def test_another_c_library_keeps_what_it_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    giving = GivingBack()
    monkeypatch.setattr(giving, "_trim", None)
    before = threading.active_count()
    giving.soon()
    assert threading.active_count() == before
