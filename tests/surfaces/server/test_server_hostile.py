"""Questions that are meant to take long: they end in time, in the worker too, and nobody else waits for them."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from attackkit import HAD, large_pack, tied_hard
from serverkit import Answer, Kit, called, make_kit
from whyroute.engine.deadlines import TooLateError, check_time, due_within
from whyroute.engine.joint import SearchBudget
from whyroute.model.features import FEATURES
from whyroute.server.bundling import MAX_SLOTS, MAX_TIES
from whyroute.server.limits import ServiceLimits

SECONDS = 2
MISSING = [{"feature": feature} for feature in sorted(set(FEATURES) - set(HAD))[:2]]


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kit]:
    directory = tmp_path_factory.mktemp("hostile")
    pack = large_pack(directory / "pack.yaml")
    limits = ServiceLimits(answer_seconds=SECONDS, answer=8 * 2**20)
    kit = make_kit(directory, pack=pack, tenant="attacker", limits=limits)
    yield kit
    kit.app.close()
    kit.service.storage.close()


def filled(make: Any, size: int = 200_000) -> list[Any]:
    """As many items as fit into so many bytes."""
    count = size // (len(json.dumps(make(10**5))) + 2)
    return [make(number) for number in range(count)]


def needs(*given: Any) -> dict[str, Any]:
    return {"capability": {"needs": list(given)}}


CASES: dict[str, tuple[str, Any]] = {
    "many needs": ("/v1/route", lambda: needs(*filled(lambda each: {"region": f"x{each}"}))),
    "long names": ("/v1/route", lambda: needs(*({"region": letter * 20_000} for letter in "abcdefghi"))),
    "a long list": ("/v1/route", lambda: needs({"providers": {"allow": filled(str)}})),
    "needs again and again": (
        "/v1/route",
        lambda: needs(*[*MISSING, {"region": "x"}, {"costPerCall": {"op": "<", "usd": 0}}] * 900),
    ),
    "many needs, explained": ("/v1/explain", lambda: needs(*filled(lambda each: {"region": f"x{each}"}))),
    "many bounds, explained": (
        "/v1/explain",
        lambda: {
            **needs(*filled(lambda each: {"contextWindow": {"op": ">=", "value": each + 1}})),
            "whyNot": {"provider": "p0001", "model": "m1"},
        },
    ),
    "many keys": ("/v1/route", lambda: {"capability": "x", **{f"capabilit{each}": 1 for each in range(9000)}}),
    "many slots": (
        "/v1/bundle",
        lambda: {
            "slots": {f"s{each}": {"capability": {"needs": [{"feature": "vision"}]}} for each in range(MAX_SLOTS)},
            "together": [{"different": "provider"}],
        },
    ),
    "many slots without a bundle": (
        "/v1/bundle",
        lambda: {
            "slots": {
                f"s{each}": {"capability": {"needs": [{"region": f"r{each % 40}"}]}} for each in range(MAX_SLOTS)
            },
            "together": [{"different": "provider"}, {"same": "region"}],
        },
    ),
    "hard ties": ("/v1/bundle", lambda: tied_hard(12, 10)),
    "many hard ties": ("/v1/bundle", lambda: tied_hard(40, 80)),
    "many ties": (
        "/v1/bundle",
        lambda: {
            "slots": {f"s{each}": {"capability": {"needs": []}} for each in range(6)},
            "together": [{"sum": "p95LatencyMs", "op": "<=", "value": each} for each in range(MAX_TIES)],
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_question_ends_in_time(kit: Kit, name: str) -> None:
    path, make = CASES[name]
    body = json.dumps(make()).encode()
    assert len(body) <= kit.app.limits.question
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    assert kit.app.at_work == 0

    async def asked() -> tuple[Answer, float]:
        started = time.monotonic()
        answer = await called(kit.app, "POST", path, headers, [body])
        # The worker is done soon after, whatever became of the answer.
        while kit.app.at_work and time.monotonic() - started < 60:
            await asyncio.sleep(0.05)
        return answer, time.monotonic() - started

    answer, seconds = asyncio.run(asked())
    assert answer.status in (200, 400, 404, 422, 503)
    if answer.status != 200:
        assert answer.code in (
            *("capability-unsatisfiable", "search-limit", "answer-too-large", "answer-timeout"),
            *("invalid-request", "invalid-capability"),
        )
    assert seconds < SECONDS + 20  # a busy machine is slow to come round to it
    assert len(answer.body) < 40 * 2**20


def test_slow_page_ends_in_time(kit: Kit) -> None:
    body = needs(*({"contextWindow": {"op": ">=", "value": 10**8 + number}} for number in range(2000)))
    answer = kit.post("/v1/explain", body, None, headers=[("Accept", "text/html")])
    assert (answer.status, answer.code) == (503, "answer-timeout")
    until = time.monotonic() + 20  # a busy machine is slow to come round to it
    while kit.app.at_work:
        assert time.monotonic() < until, "the work goes on, though nobody waits for it"
        time.sleep(0.01)


def test_time_that_is_up_ends_what_asks() -> None:
    check_time()  # nobody waits
    with due_within(60):
        check_time()
        with due_within(0):
            time.sleep(0.001)
            with pytest.raises(TooLateError):
                check_time()
            with pytest.raises(TooLateError):
                SearchBudget(None).spend()
        check_time()
    check_time()
    SearchBudget(None).spend()


def test_look_up_does_not_wait_for_questions(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    monkeypatch.setattr(type(kit.service), "explain", lambda *_: ended.wait(30))
    headers = [(b"host", b"localhost")]
    question = b'{"capability": {"needs": []}}'

    async def asked() -> list[Answer]:
        asking = [asyncio.create_task(called(kit.app, "POST", "/v1/explain", headers, [question])) for _ in range(40)]
        await asyncio.sleep(0.1)
        looked = [
            await called(kit.app, "GET", path, headers, [b""]) for path in ("/v1/providers", "/readyz", "/metrics")
        ]
        for task in asking:
            task.cancel()
        ended.set()
        return looked

    assert [answer.status for answer in asyncio.run(asked())] == [200, 200, 200]
