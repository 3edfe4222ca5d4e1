import threading

import pytest

from whyroute.engine.deadlines import TooLateError
from whyroute.server.inflight import InFlight


def test_ended_request_holds_nothing() -> None:
    """Workers hold bytes for requests that end at the same moment; another request keeps the tenant's account open."""
    every = InFlight(1000, 1 << 40)
    other = every.begin("acme")

    def work() -> None:
        for _ in range(300):
            flight = every.begin("acme")
            holders = [threading.Thread(target=hold, args=(flight.hold,)) for _ in range(2)]
            for holder in holders:
                holder.start()
            flight.end()
            for holder in holders:
                holder.join()

    def hold(more: object) -> None:
        assert callable(more)
        try:
            for _ in range(20):
                more(1)
        except TooLateError:
            pass

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert every.of("acme") == (1, 0)
    other.end()
    assert every.of("acme") == (0, 0)


def test_held_bytes_are_read_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    every = InFlight(10, 100)
    keeper, flight = every.begin("acme"), every.begin("acme")
    end = every._end
    monkeypatch.setattr(every, "_end", lambda ended: (ended.hold(50), end(ended)))
    flight.end()
    assert every.of("acme") == (1, 0)
    keeper.end()
