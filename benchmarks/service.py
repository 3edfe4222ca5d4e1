"""The service under load on loopback: throughput, p50 and p99, errors, memory, and what it adds to the library's call.

A client in Python, in processes of its own, keeps so many connections open and sends one request after another on
each. It shares the machine with the server, so the figures are a lower bound. What any answer takes, and this client,
is told by a server that does nothing else than answer, which is asked in turns with ours.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.catalogs import metadata_of
from whyroute.packs import load_pack

MODELS_EACH = 10
PROVIDER = 100  # the one that some capabilities name
LEAST = (PROVIDER + 1) * MODELS_EACH
WARM = 5
BARE = """
import socket, sys
import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

async def answer(request):
    await request.body()
    return Response(b"{}", media_type="application/json")

listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
listening.bind(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
app = Starlette(routes=[Route("/v1/route", answer, methods=["POST"])])
config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")
uvicorn.Server(config).run(sockets=[listening])
"""
"""A server that only answers, with the framework's own parts."""

BODIES = {
    "one qualifies": {"capability": "one"},
    "some qualify": {"capability": "some"},
    "nothing qualifies": {"capability": "none"},
}
CAPABILITIES = [
    {"name": "one", "needs": [{"providers": {"allow": ["provider-000100"]}}, {"models": {"allow": ["MODEL"]}}]},
    {
        "name": "some",
        "needs": [
            {"feature": "vision"},
            {"feature": "tool-use"},
            {"contextWindow": {"op": ">=", "value": 1_000_000}},
            {"region": "eu-west-1"},
        ],
        "prefer": [{"feature": "lower-cost", "weight": 1}],
    },
    {"name": "none", "needs": [{"providers": {"allow": ["provider-000100"]}}, {"region": "nowhere"}]},
]


def main() -> int:
    """Run the server, load it, and print the figures as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long the load lasts")
    parser.add_argument("--connections", type=int, default=8, help="how many connections there are")
    parser.add_argument("--candidates", type=int, default=5_000, help="how large the catalog is")
    parser.add_argument("--calls", type=int, default=1_000, help="how many calls the comparison makes")
    options = parser.parse_args()
    if options.candidates < LEAST:
        parser.error(f"--candidates: {options.candidates} is too few; {LEAST} is the least")
    with tempfile.TemporaryDirectory() as directory:
        pack = _pack(Path(directory), options.candidates)
        process, port = started(pack, Path(directory))
        bare = subprocess.Popen([sys.executable, "-c", BARE], stdout=subprocess.PIPE, text=True)
        try:
            assert bare.stdout is not None
            bare_port = int(bare.stdout.readline())
            found: dict[str, Any] = {
                "machine": platform.platform(),
                "cores": os.cpu_count(),
                "load average before": round(os.getloadavg()[1], 1),
                "python": platform.python_version(),
                "candidates": options.candidates,
                "added to the library's call": _compared(pack, port, bare_port, process.pid, options.calls),
                "load": _load(port, process.pid, options.seconds, options.connections),
            }
        finally:
            for each in (process, bare):
                each.terminate()
                each.wait(30)
    print(json.dumps(found, indent=2))
    return 1 if found["load"]["errors"] else 0


def _pack(directory: Path, candidates: int) -> Path:
    rng = Random(1)
    providers = [metadata_of(index, MODELS_EACH, rng).to_dict() for index in range(candidates // MODELS_EACH)]
    path = directory / "pack.yaml"
    capabilities = json.loads(json.dumps(CAPABILITIES).replace("MODEL", providers[PROVIDER]["models"][0]["name"]))
    sections = {"whyroute": 1, "providers": providers, "capabilities": capabilities, "tenants": [{"tenantId": "t"}]}
    path.write_text("\n".join(f"{key}: {json.dumps(value)}" for key, value in sections.items()) + "\n", "utf-8")
    return path


def started(pack: Path, directory: Path) -> tuple[subprocess.Popen[bytes], int]:
    command = [sys.executable, "-m", "whyroute", "serve", str(pack), "--tenant", "t", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--decisions", "decisions.jsonl"],
        cwd=directory,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")},
    )
    assert process.stdout is not None
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == "listening":
            threading.Thread(target=lambda out=process.stdout: [None for _ in out], daemon=True).start()
            return process, int(event["url"].rpartition(":")[2])
    process.communicate()
    raise SystemExit(f"the server did not start: exit status {process.returncode}")


def _compared(pack: Path, port: int, bare_port: int, server: int, calls: int) -> dict[str, Any]:
    """The p50 of a route over HTTP, beside those of what the service calls for it and of an empty answer.

    All in microseconds. `busy` is how long a processor was at it, of the server alone: what else the machine does
    counts less there.
    """
    loaded = load_pack(pack)
    connection = http.client.HTTPConnection("127.0.0.1", port)
    bare = http.client.HTTPConnection("127.0.0.1", bare_port)
    rows: dict[str, Any] = {}
    for name, body in BODIES.items():
        sent = json.dumps(body).encode()

        def library(capability: str = body["capability"]) -> None:
            answer = loaded.resolve("t", capability).answer(include=["explanation"] if capability == "none" else ())
            json.dumps(answer, ensure_ascii=False).encode()

        def service(sent: bytes = sent) -> None:
            connection.request("POST", "/v1/route", sent, {"Content-Type": "application/json"})
            connection.getresponse().read()

        def nothing(sent: bytes = sent) -> None:
            bare.request("POST", "/v1/route", sent, {"Content-Type": "application/json"})
            bare.getresponse().read()

        # Whatever nothing qualifies for is told of with every candidate's reason: that takes its time.
        rounds = calls if name != "nothing qualifies" else max(10, calls // 20)
        times: dict[str, list[float]] = {"library": [], "service": [], "an empty answer": []}
        busy = {"library": 0.0, "service": 0.0}
        for turn in range(rounds + WARM):  # in turns, so that a change of the machine's speed meets all alike
            before = _busy(server)
            for what, work in (("library", library), ("service", service), ("an empty answer", nothing)):
                began = time.thread_time()
                times[what].append(_timed(work))
                busy["library"] += (time.thread_time() - began) * (what == "library")
            busy["service"] += _busy(server) - before
            if turn == WARM - 1:
                times, busy = {what: [] for what in times}, dict.fromkeys(busy, 0.0)
        middle = {what: round(statistics.median(each) * 1e6) for what, each in times.items()}
        rows[name] = {
            **middle,
            "added": middle["service"] - middle["library"],
            "ratio to an empty answer": round(middle["service"] / middle["an empty answer"], 2),
            "busy": {what: round(seconds / rounds * 1e6) for what, seconds in busy.items()},
        }
    bare.close()
    connection.close()
    return rows


def _timed(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _busy(process: int) -> float:
    """For how many seconds the processors were at a process's work."""
    found = 0
    for thread in Path(f"/proc/{process}/task").iterdir():
        found += int((thread / "schedstat").read_text("ascii").split()[0])
    return found / 1e9


def _load(port: int, server: int, seconds: float, connections: int) -> dict[str, Any]:
    memory = [_memory(server)]
    with multiprocessing.Pool(min(2, connections)) as pool:
        share = max(1, connections // 2)
        waiting = pool.starmap_async(_client, [(port, seconds, share, seed) for seed in range(min(2, connections))])
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(seconds / 6)
            memory.append(_memory(server))
        parts = waiting.get(seconds + 60)
    times = sorted(each for part, _ in parts for each in part)
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": seconds,
        "connections": share * len(parts),
        "requests": len(times),
        "errors": sum(errors for _, errors in parts),
        "per second": round(len(times) / seconds),
        "p50 ms": round(times[len(times) // 2] * 1000, 2),
        "p99 ms": round(times[len(times) * 99 // 100] * 1000, 2),
        "memory MiB": memory,
    }


def _client(port: int, seconds: float, connections: int, seed: int) -> tuple[list[float], int]:
    times: list[float] = []
    errors = [0]

    def work(own: int) -> None:
        rng = Random(seed * 1000 + own)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        until = time.monotonic() + seconds
        bodies = [json.dumps(body).encode() for body in BODIES.values()]
        while time.monotonic() < until:
            body = rng.choices(bodies, weights=(500, 499, 1))[0]
            started = time.perf_counter()
            connection.request("POST", "/v1/route", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            times.append(time.perf_counter() - started)
            errors[0] += answer.status not in (200, 422)
        connection.close()

    threads = [threading.Thread(target=work, args=(own,)) for own in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times, errors[0]


def _memory(process: int) -> float | None:
    try:
        for line in Path(f"/proc/{process}/status").read_text("ascii").splitlines():
            if line.startswith("VmRSS:"):
                return round(int(line.split()[1]) / 1024, 1)
    except OSError:
        pass
    return None


if __name__ == "__main__":
    sys.exit(main())
