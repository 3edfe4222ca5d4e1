import asyncio
import threading

import pytest

from whyroute.server.probes import Probe


def test_late_error_is_not_reported(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[object] = []
    go = threading.Event()

    def check() -> None:
        go.wait(10)
        raise OSError("no answer")

    async def ask() -> list[bool]:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))
        probe = Probe(check, 0.01)
        found = [await probe.answers() for _ in range(3)]
        go.set()
        while True:
            await asyncio.sleep(0.01)
            assert probe._under_way is not None
            if probe._under_way.done():
                return found

    assert asyncio.run(ask()) == [False] * 3
    assert told == []
    assert capsys.readouterr().err == ""
