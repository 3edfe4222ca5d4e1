"""The example application of docs/library.md: it runs, keeps tenants apart, records decisions, and type-checks."""

import asyncio
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

import whyroute as wr
from paths import ROOT

APP = ROOT / "docs" / "examples" / "app" / "service.py"
COST = {"promptUsdPer1kTokens": 0.001, "completionUsdPer1kTokens": 0.002}
EU: dict[str, Any] = {
    "id": "eu-llm",
    "region": "eu-west-1",
    "models": [{"name": "large", "contextWindow": 8000, "features": ["vision"], "cost": COST}],
}


@pytest.fixture(scope="module")
def service() -> ModuleType:
    spec = importlib.util.spec_from_file_location("service", APP)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["service"] = module
    spec.loader.exec_module(module)
    return module


async def sent(app: Any, path: str, body: Any, tenant: str = "clinic") -> httpx.Response:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        return await client.post(path, json=body, headers={"tenant": tenant})


ASKED = {"capability": "look", "text": "hello", "labels": {"data": "patient"}}


def test_a_tenant_registers_asks_and_leaves_a_record(service: ModuleType, tmp_path: Path) -> None:
    database = service.connect(str(tmp_path / "platform.db"))
    app = service.make_app(database)

    async def story() -> None:
        unserved = await sent(app, "/ask", ASKED)
        assert unserved.status_code == 502, "the pack knows the provider, and nothing can call it yet"
        assert (await sent(app, "/providers", EU)).status_code == 201
        assert (await sent(app, "/providers", EU)).status_code == 409
        answered = await sent(app, "/ask", ASKED)
        assert answered.status_code == 200, answered.text
        told = answered.json()
        assert (told["text"], told["provider"], told["model"]) == ("hello", "eu-llm", "large")

    asyncio.run(story())
    ((text,),) = database.execute("SELECT record FROM audit").fetchall()
    record = json.loads(text)
    assert record["tenant"] == "clinic"
    assert record["pack"] == wr.load_pack(service.PACK).digest
    assert record["pick"] == {"provider": "eu-llm", "model": "large"}
    assert record["attempts"][-1]["provider"] == "eu-llm"


def test_wrong_requests_get_their_own_statuses(service: ModuleType, tmp_path: Path) -> None:
    app = service.make_app(service.connect(str(tmp_path / "platform.db")))

    async def story() -> None:
        assert (await sent(app, "/ask", {"capability": "look", "text": "x"}, "stranger")).status_code == 403
        assert (await sent(app, "/ask", {"capability": "loook", "text": "x"})).status_code == 404
        broken = {**EU, "models": []}
        assert (await sent(app, "/providers", broken)).status_code == 422

    asyncio.run(story())


def test_the_app_passes_mypy_strict() -> None:
    command = [sys.executable, "-m", "mypy", "--config-file=", "--strict", "--cache-dir=.mypy_cache/plain", str(APP)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout


def test_the_app_passes_pyright() -> None:
    command = [sys.executable, "-m", "basedpyright", "--level", "error", str(APP)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout
