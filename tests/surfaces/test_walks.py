"""The walks through the code that docs/architecture.md shows are those that the code takes."""

import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import whyroute as wr
from paths import ROOT
from serverkit import make_kit

PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
MOST = 15

Stop = tuple[str, str]


def walk(title: str) -> list[Stop]:
    section = PAGE.partition(f"\n{title}\n\n")[2].partition("\n\n")[0]
    return re.findall(r"^\d+\. `(.+?)` `(.+?)`$", section, re.MULTILINE)


def entered(work: Callable[[], object]) -> list[Stop]:
    """The functions of ours that a piece of work enters, in all threads, each where it is entered first."""
    found: dict[Stop, None] = {}

    def note(frame: FrameType, event: str, argument: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and "/whyroute/" in path:
            found[path.rpartition("/whyroute/")[2], frame.f_code.co_qualname] = None

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(found)


def check(title: str, taken: list[Stop]) -> None:
    told = walk(title)
    assert 0 < len(told) <= MOST
    assert [stop for stop in told if stop not in taken] == []
    assert [stop for stop in taken if stop in told] == told


def test_a_route() -> None:
    providers = wr.Catalog(wr.read_providers(ROOT / "rules" / "catalog.yaml"))
    prepared = wr.prepare({"needs": [{"feature": "tool-use"}], "prefer": [{"feature": "vision", "weight": 1}]})
    prepared.bind(providers).route()
    check("A route, from a prepared request:", entered(lambda: prepared.bind(providers).route()))


def test_a_rule() -> None:
    def work() -> None:
        pack = wr.load_pack(ROOT / "rules")
        tenant = "elbe-clinics"
        prepared = pack.compile().prepared(tenant, "discharge-letter", labels={"data": "patient"})
        prepared.bind(pack.catalog(tenant), "2026-12-24").route()

    check("A rule, from YAML to a constraint:", entered(work))


def test_a_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kit = make_kit(tmp_path)
    try:
        check("A request to `/v1/route`:", entered(lambda: kit.post("/v1/route", {"capability": "look"})))
    finally:
        kit.app.close()
        kit.service.storage.close()
