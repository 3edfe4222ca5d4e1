"""The command line: what it prints, where, and how it exits."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paths import ROOT, TESTS
from volatile import settled
from whyroute.cli import main

DATA = TESTS / "data"
SUMMARISE = ROOT / "rules" / "requests" / "summarise.json"
IMPOSSIBLE = ROOT / "rules" / "requests" / "impossible.json"
CATALOG = ROOT / "rules" / "catalog.yaml"


class Ran:
    """What a run printed and how it ended."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status = status
        self.out = out
        self.err = err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Any:
    def run(*arguments: str | Path) -> Ran:
        status = main([str(argument) for argument in arguments])
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        assert b"Traceback" not in err
        return Ran(status, out.decode(), err.decode())

    return run


def process(*arguments: str | Path, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "whyroute", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, env={**os.environ, **environment}, check=False)


def situation(name: str) -> Path:
    return DATA / "situations" / f"{name}.json"


# route and explain


def test_route_prints_the_pick_and_exits_0(run: Any) -> None:
    ran = run("route", "--request", SUMMARISE, "--providers", CATALOG)
    assert ran.status == 0
    assert ran.err == ""
    asked, first, why, _, alternates, *_ = ran.out.splitlines()
    assert asked.startswith("Asked: a declaration of its own for tenant `acme`; at 20")
    assert first == "nebius / Qwen/Qwen3.5-397B-A17B"
    assert "meets all 3 needs" in why
    assert "deepseek-ai/DeepSeek-V3.2" in alternates


def test_unsatisfiable_route_explains_and_exits_1(run: Any) -> None:
    ran = run("route", "--request", IMPOSSIBLE, "--providers", CATALOG)
    assert ran.status == 1
    assert "\nNothing qualifies: 4 constraints can't all hold, for any of 189 candidates\n" in ran.out
    assert "Ways out" in ran.out
    assert len(ran.out.splitlines()) <= 25
    assert ran.err == ""


def test_explain_exits_0_whatever_the_answer_unless_asked(run: Any) -> None:
    assert run("explain", "-r", IMPOSSIBLE, "--providers", CATALOG).status == 0
    assert run("explain", "-r", IMPOSSIBLE, "--providers", CATALOG, "--exit-code").status == 1
    assert run("explain", "-r", SUMMARISE, "--providers", CATALOG, "--exit-code").status == 0


def test_explain_all_names_every_candidate_with_its_failures(run: Any) -> None:
    short = run("explain", "-r", IMPOSSIBLE, "--providers", CATALOG).out
    everything = run("explain", "-r", IMPOSSIBLE, "--providers", CATALOG, "--all").out
    assert len(everything.splitlines()) > 189 > len(short.splitlines())
    request = json.loads(run("route", "-r", IMPOSSIBLE, "--providers", CATALOG, "--format", "json").out)
    for rejection in request["error"]["reasons"][0]["rejectingProviders"]:
        assert rejection["id"].split("/")[0] in everything


def test_json_is_the_wire_answer(run: Any) -> None:
    ran = run("route", "-r", situation("outranked"), "--format", "json")
    assert ran.status == 0
    assert ran.json["decision"]["pick"] == {"provider": "initech-de", "model": "brot"}
    explained = run("explain", "-r", situation("outranked"), "--format", "json")
    assert explained.json["satisfiable"] is True
    assert explained.json["contrast"]["decidedBy"] == "score"


def test_plain_engine_gives_the_same_answer(run: Any) -> None:
    answers = [
        run("route", "-r", situation("outranked"), "-f", "json", "--engine", e).json for e in ("bitset", "plain")
    ]
    assert answers[0]["decision"] == answers[1]["decision"]


def test_output_goes_to_a_file_without_colour(run: Any, tmp_path: Path) -> None:
    ran = run("explain", "-r", situation("four-way-clash"), "-o", tmp_path / "out.txt")
    assert ran.out == ""
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").splitlines()[1].startswith("Nothing qualifies: 4 constr")
    failed = run("explain", "-r", situation("four-way-clash"), "-o", tmp_path / "no" / "out.txt")
    assert (failed.status, failed.out) == (2, "")
    assert "can't be written: no such file or directory" in failed.err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--why-not", "acme-eu/small"], "Why not acme-eu / small? It qualifies, in place 3"),
        (["--why-not", "acme-eu / small"], "Why not acme-eu / small? It qualifies, in place 3"),
        (["--why-not", "`acme-eu` / `small`"], "Why not acme-eu / small? It qualifies, in place 3"),
        (["--why-not", "globex-us/vista"], "Why not globex-us / vista? 1 constraint rejects it"),
        (["--why-not", "acme-eu/smal"], "It is not a candidate; near it are acme-eu / small"),
        (["--why-not-provider", "initech-de", "--why-not-model", "brot"], "Why not initech-de / brot? It is the pick"),
    ],
)
def test_why_not(run: Any, options: list[str], expected: str) -> None:
    ran = run("explain", "-r", situation("outranked"), *options)
    assert ran.status == 0
    assert expected in ran.out


def test_why_not_that_reads_two_ways_lists_them(run: Any, tmp_path: Path) -> None:
    models: list[dict[str, Any]] = [
        {"name": n, "contextWindow": 1, "features": [], "cost": _FREE} for n in ("b/c", "c")
    ]
    request = {
        "capability": {"needs": []},
        "providers": [
            {"id": "a", "region": "r", "models": [models[0]]},
            {"id": "a/b", "region": "r", "models": [models[1]]},
        ],
    }
    path = tmp_path / "request.json"
    path.write_text(json.dumps(request), encoding="utf-8")
    ran = run("explain", "-r", path, "--why-not", "a/b/c")
    assert ran.status == 2
    assert "`a/b/c` is ambiguous" in ran.err
    assert "--why-not-provider a --why-not-model b/c" in ran.err
    assert "--why-not-provider a/b --why-not-model c" in ran.err
    exact = run("explain", "-r", path, "--why-not-provider", "a/b", "--why-not-model", "c")
    assert "Why not a/b / c? It qualifies, in place 2" in exact.out


_FREE = {"promptUsdPer1kTokens": 0, "completionUsdPer1kTokens": 0}


# unusable input


@pytest.mark.parametrize("command", ["route", "explain"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "line 1: empty; a JSON value is expected"),
        ("   \n\n", "line 1: empty"),
        ("{", "line 1, column 2: not JSON"),
        ('{"capability": {"needs": []},\n "providers": [}', "line 2, column 16: not JSON"),
        ("[]", "a request is a JSON object"),
        ("3", "a request is a JSON object"),
        ('{"capability": {"needs": []}, "providers": [], "x": NaN}', "`NaN` is not a JSON number"),
        ('{"a": 1, "a": 2}', "key `a` stands twice in one object"),
        ("[" * 100_000, "nested too deeply"),
        (
            '{"capability": {"needs": [{"feature": "vison"}]}, "providers": []}',
            "`vison` is not a feature; did you mean",
        ),
        ('{"capability": {"needs": []}, "provider": []}', "`provider` is not a key of a request; did you mean"),
        ('{"capability": {"needs": [' + "[" * 200 + "]" * 200 + "]}, " + '"providers": []}', "nested too deeply"),
        (
            '{"capability": {"needs": [{"contextWindow": {"op": ">=", "value": 1'
            + "0" * 5_000
            + '}}]}, "providers": []}',
            "/capability/needs/0/contextWindow/value",
        ),
        ('{"capability": {"needs": [{"costPerCall": {"op": "<=", "usd": 1e999}}]}, "providers": []}', "infinite"),
        ('{"capability": {"needs": [{"costPerCall": {"op": "<=", "usd": true}}]}, "providers": []}', "`true`"),
    ],
)
def test_an_unusable_request_exits_2_and_says_why(
    run: Any, tmp_path: Path, command: str, text: str, expected: str
) -> None:
    path = tmp_path / "request.json"
    path.write_text(text, encoding="utf-8")
    ran = run(command, "--request", path)
    assert (ran.status, ran.out) == (2, "")
    assert expected in ran.err


def test_all_problems_are_told_at_once(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    broken = {"capability": {"needs": [{"feature": "vison"}, {}]}, "providers": [{"id": ""}], "tenantPolicy": {"x": 1}}
    path.write_text(json.dumps(broken), encoding="utf-8")
    ran = run("route", "-r", path)
    assert ran.status == 2
    for place in ("/capability/needs/0/feature", "/capability/needs/1", "/providers/0/id", "/tenantPolicy/x"):
        assert f"  {place}: " in ran.err
    as_json = run("route", "-r", path, "--format", "json")
    assert as_json.status == 2
    assert as_json.json["error"]["code"] == "invalid-capability"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["route"], "PACK or --request is missing"),
        (["route", "-r", "no-such-file.json"], "`no-such-file.json` can't be read: no such file or directory"),
        (["route", "-r", str(DATA)], "can't be read: is a directory"),
        (["route", "-r", str(SUMMARISE)], "/providers: missing"),
        (["route", "-r", str(SUMMARISE), "--providers", "nowhere.yaml"], "nowhere.yaml"),
        (["route", "-r", str(situation("outranked")), "--providers", str(CATALOG)], "has `providers` of its own"),
        (["explain", "-r", str(situation("outranked")), "--why-not", "x"], "`x` names no candidate"),
        (["explain", "-r", str(situation("outranked")), "--why-not-model", "x"], "go together"),
        (["rout"], "there is no command `rout`; did you mean `route`?"),
        (
            ["schema", "pck"],
            "NAME: `pck` is not one of `capability`, `request`, `answer`, `pack`, `bundle`; did you mean `pack`?",
        ),
        (
            ["import", "litelm"],
            "SOURCE: `litelm` is not one of `models-dev`, `litellm`, `openrouter`; did you mean `lit",
        ),
        (["check", "x", "--fomat", "json"], "there is no option `--fomat`; did you mean `--format`?"),
        (["check", "x", "--zzz"], "there is no option `--zzz` whyroute check --help"),
        (["check", "x", "y"], "`y` is one argument too many"),
        (["check", "x", "--format"], "--format is given without a value"),
        (["schema"], "NAME is missing"),
        (["help"], "there is no command `help`; `whyroute --help` lists the commands"),
        (["version"], "there is no command `version`; `whyroute --version` prints it"),
        (
            ["check", "x", "--fail-on", "eror"],
            "--fail-on: `eror` is not one of `error`, `warning`; did you mean `error`?",
        ),
        (["route", "--format", "xml"], "--format: `xml` is not one of"),
        (["batch", "no-such-file.jsonl"], "can't be read: no such file or directory"),
        (["batch", str(DATA)], "is a directory"),
        (["import", "litellm", "no-such-file.json"], "no-such-file.json"),
        (["import", "openrouter"], "openrouter"),
    ],
)
def test_wrong_usage_exits_2(run: Any, arguments: list[str], expected: str) -> None:
    ran = run(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert expected in " ".join(ran.err.split())


def test_not_utf8_is_said(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_bytes(b'{"capability": "\xff"}')
    assert "not UTF-8: byte 17 is 0xff" in run("route", "-r", path).err
    path.write_bytes(b'\xef\xbb\xbf{"capability": {}}')
    assert "byte order mark" in run("route", "-r", path).err


# batch


def lines_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("engine", ["bitset", "plain"])
def test_batch_answers_every_recorded_case(run: Any, tmp_path: Path, engine: str) -> None:
    cases = lines_of("routing.jsonl")
    requests = tmp_path / "requests.jsonl"
    requests.write_text(
        "".join(json.dumps({**case["input"], "id": case["id"], "include": ["matched"]}) + "\n" for case in cases),
        encoding="utf-8",
    )
    ran = run("batch", requests, "--engine", engine)
    assert ran.status == 0
    assert ran.err == ""
    answers = [json.loads(line) for line in ran.out.splitlines()]
    assert [found["id"] for found in answers] == [case["id"] for case in cases]
    for case, found in zip(cases, answers, strict=True):
        assert normal(found) == {key: value for key, value in case["expect"].items() if key != "valid"}, case["id"]


def normal(found: dict[str, Any]) -> dict[str, Any]:
    """An answer in the shape of the recorded ones."""
    if "decision" in found:
        decision = found["decision"]
        return {
            "matched": [[c["provider"], c["model"]] for c in found["matched"]],
            "route": {
                "pick": [decision["pick"]["provider"], decision["pick"]["model"]],
                "alternates": [[c["provider"], c["model"]] for c in decision["alternates"]],
                "fallback": decision["fallback"],
            },
        }
    error = found["error"]
    reasons = [
        {
            "requirement": reason["requirement"],
            "satisfying": reason["satisfyingProviders"],
            "rejecting": [
                {"id": each["id"], "reason": {k: v for k, v in each["reason"].items() if k != "message"}}
                for each in reason["rejectingProviders"]
            ],
        }
        for reason in error["reasons"]
    ]
    tenant = {"tenantId": error["tenantId"]} if "tenantId" in error else {}
    return {"error": {"code": error["code"], **tenant, "reasons": reasons}}


@pytest.mark.parametrize("engine", ["bitset", "plain"])
def test_batch_judges_every_recorded_declaration(run: Any, tmp_path: Path, engine: str) -> None:
    cases = lines_of("declarations.jsonl")
    requests = tmp_path / "requests.jsonl"
    requests.write_text(
        "".join(json.dumps({"capability": case["declaration"], "providers": []}) + "\n" for case in cases),
        encoding="utf-8",
    )
    ran = run("batch", requests, "--engine", engine)
    assert ran.status == 1
    for case, line in zip(cases, ran.out.splitlines(), strict=True):
        error = json.loads(line)["error"]
        needs = case["declaration"].get("needs") if isinstance(case["declaration"], dict) else None
        # The router takes an empty `needs`; nothing else about a declaration is looser there.
        only_empty = needs == [] and case.get("paths") == ["/needs"]
        assert (error["code"] == "capability-unsatisfiable") == (case["valid"] or only_empty), case["id"]
        if error["code"] == "invalid-capability":
            paths = ["/capability" + path for path in case["paths"]]
            assert any((i["path"] + "/").startswith(path + "/") for i in error["issues"] for path in paths), case["id"]


@pytest.mark.parametrize("engine", ["bitset", "plain"])
def test_batch_answers_the_reported_faults(run: Any, tmp_path: Path, engine: str) -> None:
    cases = lines_of("reported.jsonl")
    requests = tmp_path / "requests.jsonl"
    requests.write_text("".join(json.dumps(case["request"]) + "\n" for case in cases), encoding="utf-8")
    ran = run("batch", requests, "--engine", engine)
    assert ran.status == 1  # some of the requests are broken, as they should be
    for case, line in zip(cases, ran.out.splitlines(), strict=True):
        found, expect = json.loads(line), case["expect"]
        if "pick" in expect:
            assert found["decision"]["pick"] == expect["pick"], case["id"]
            assert found["decision"]["alternates"] == expect["alternates"], case["id"]
        else:
            assert found["error"]["code"] == expect["code"], case["id"]


def test_invalid_line_gets_error_and_others_continue(run: Any, tmp_path: Path) -> None:
    good = json.dumps({"capability": {"needs": []}, "providers": [], "id": "good"})
    path = tmp_path / "requests.jsonl"
    path.write_bytes(
        b"\n".join([good.encode(), b"{", b"", b"\xff", b"[" * 100_000, b"NaN", good.encode() + b"\r", b"[1]"])
    )
    ran = run("batch", path)
    assert ran.status == 1
    answers = [json.loads(line) for line in ran.out.splitlines()]
    assert len(answers) == 8
    codes = [found["error"]["code"] for found in answers]
    assert codes == [
        "capability-unsatisfiable",
        *["invalid-request"] * 5,
        "capability-unsatisfiable",
        "invalid-request",
    ]
    assert answers[0]["id"] == answers[6]["id"] == "good"
    assert "line 2, column 2" in answers[1]["error"]["message"]
    assert "line 3: empty" in answers[2]["error"]["message"]


@pytest.mark.parametrize("how", ["file", "stdin"])
def test_an_empty_batch_is_an_error(how: str, tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    path.touch()
    ran = process("batch", path) if how == "file" else process("batch")
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert b"is empty; one request per line is expected" in ran.stderr


def test_batch_streams(tmp_path: Path) -> None:
    line = (json.dumps({"capability": {"needs": []}, "providers": [], "id": 1}) + "\n").encode()
    command = [sys.executable, "-m", "whyroute", "batch"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for _ in range(3):
            running.stdin.write(line)
            running.stdin.flush()
            assert json.loads(running.stdout.readline())["id"] == 1  # answered before the next line is sent
        running.stdin.close()
        assert running.wait(timeout=30) == 0


def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    path.write_text((json.dumps({"capability": {"needs": []}, "providers": []}) + "\n") * 5_000, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "whyroute", "batch", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.wait(timeout=60) == 0
        assert running.stderr.read() == b""


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Children take interrupts, which those of a script in the background ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_exits_130() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "whyroute", "batch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(b'{"capability": {"needs": []}, "providers": []}\n')
        running.stdin.flush()
        running.stdout.readline()
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=30) == 130
        assert running.stderr is not None
        assert b"Traceback" not in running.stderr.read()


def test_progress_shows_only_on_terminals_or_request(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    path.write_text(json.dumps({"capability": {"needs": []}, "providers": []}) + "\n", encoding="utf-8")
    assert process("batch", path).stderr == b""
    assert b"answered" in process("batch", path, "--progress").stderr


# colour, schemas, version, help, faults


@pytest.mark.parametrize(
    "environment",
    [{}, {"NO_COLOR": "1", "FORCE_COLOR": ""}, {"FORCE_COLOR": "1"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}],
)
def test_no_colour_off_a_terminal(environment: dict[str, str]) -> None:
    ran = process("explain", "-r", situation("four-way-clash"), stdin=b"", **environment)
    assert ran.stdout
    assert b"\x1b" not in ran.stdout
    assert b"\x1b" not in process("explain", "-r", "nowhere.json", stdin=b"", **environment).stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal to hand")
@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({"NO_COLOR": ""}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ({"NO_COLOR": "", "TERM": "dumb"}, False),
    ],
)
def test_colour_on_a_terminal_unless_refused(environment: dict[str, str], coloured: bool) -> None:
    near, far = os.openpty()
    command = [sys.executable, "-m", "whyroute", "explain", "-r", str(situation("outranked"))]
    subprocess.run(command, stdout=far, env={**os.environ, "COLUMNS": "", "TERM": "xterm", **environment}, check=True)
    shown = os.read(near, 100_000)
    os.close(near)
    os.close(far)
    assert (b"\x1b[" in shown) == coloured
    plain = process("explain", "-r", situation("outranked")).stdout
    uncoloured = re.sub(rb"\x1b\[[0-9;]*m", b"", shown).replace(b"\r\n", b"\n")
    assert settled(uncoloured.decode()) == settled(plain.decode())


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal to hand")
@pytest.mark.parametrize("width", [40, 80, 1000])
def test_lines_fit_a_terminal_and_say_the_same(width: int) -> None:
    near, far = os.openpty()
    command = [sys.executable, "-m", "whyroute", "route", "-r", str(SUMMARISE), "--providers", str(CATALOG)]
    subprocess.run(command, stdout=far, env={**os.environ, "NO_COLOR": "1", "COLUMNS": str(width)}, check=True)
    shown = os.read(near, 100_000).decode().replace("\r\n", "\n")
    os.close(near)
    os.close(far)
    plain = process("route", "-r", SUMMARISE, "--providers", CATALOG).stdout.decode()
    assert settled(" ".join(shown.split())) == settled(" ".join(plain.split()))
    assert max(map(len, shown.splitlines())) <= width < max(map(len, plain.splitlines())) or settled(shown) == settled(
        plain
    )


# what can't be written or read


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A line of shell in which `whyroute` is the command line."""
    prelude = 'set -o pipefail; whyroute() { "$PYTHON" -m whyroute "$@"; }; '
    return subprocess.run(
        ["bash", "-c", prelude + line],
        capture_output=True,
        env={
            **os.environ,
            "PYTHON": sys.executable,
            "R": str(situation("four-way-clash")),
            "L": str(DATA / "routing.jsonl"),
            **environment,
        },
        check=False,
    )


unix = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


@unix
@pytest.mark.parametrize(
    "command",
    ["explain -r $R", "explain -r $R -f json", "route -r $R", "schema request", "batch $L", "--version", "--help"],
)
def test_unwritable_answer_exits_2(command: str) -> None:
    ran = shell(f"whyroute {command} >/dev/full")
    assert ran.stderr == b"error: standard output can't be written: no space left on device\n"
    assert ran.returncode == 2


@unix
def test_closed_stream_is_no_internal_fault() -> None:
    for command in ("explain -r $R", "batch $L", "schema request"):
        closed = shell(f"whyroute {command} >&-")
        assert (closed.returncode, closed.stderr) == (2, b"error: standard output is closed\n")
    for command in ("explain -r -", "batch"):
        closed = shell(f"whyroute {command} <&-")
        assert (closed.returncode, closed.stdout) == (2, b"")
        assert closed.stderr == b"error: standard input is closed\n"
    assert shell("whyroute explain -r nowhere.json 2>&-").returncode == 2
    assert shell("whyroute explain -r nowhere.json 2>/dev/full").returncode == 2
    assert shell("whyroute explain -r $R 2>&-").returncode == 0


@unix
@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("route -r $R --format json", 1),
        ("route -r $R", 1),
        ("explain -r $R --exit-code", 1),
        ("explain -r $R --format html", 0),
        ("route -r $BROKEN --format json", 2),
        ("batch $BROKEN", 1),
        ("schema answer", 0),
        ("--help", 0),
        ("--version", 0),
    ],
)
def test_a_closed_pipe_does_not_change_the_answer(command: str, status: int, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    reader, writer = os.pipe()
    os.close(reader)
    words = [{"$R": str(situation("four-way-clash")), "$BROKEN": str(broken)}.get(w, w) for w in command.split()]
    ran = subprocess.run([sys.executable, "-m", "whyroute", *words], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (status, b"")


def test_an_exit_of_the_library_keeps_its_status(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whyroute.cli.asking.read_request", lambda document: sys.exit(7))
    assert run("route", "-r", situation("outranked")).status == 7


def test_batch_may_write_to_its_input(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    lines = [json.dumps({"capability": {"needs": []}, "providers": [], "id": n}) + "\n" for n in range(3)]
    path.write_text("".join(lines), encoding="utf-8")
    path.chmod(0o640)
    (tmp_path / "link").symlink_to(path)
    assert run("batch", path, "-o", tmp_path / "link").status == 0
    assert [json.loads(line)["id"] for line in path.read_text(encoding="utf-8").splitlines()] == [0, 1, 2]
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link", "requests.jsonl"]


def test_output_replaces_a_file_only_when_whole(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out"
    target.write_text("old", encoding="utf-8")
    empty = tmp_path / "empty"
    empty.touch()
    assert run("batch", empty, "-o", target).status == 2
    assert target.read_text(encoding="utf-8") == "old"

    def interrupted(line: bytes, number: int, *, engine: str) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("whyroute.cli.batch.answer_json", interrupted)
    assert run("batch", DATA / "routing.jsonl", "-o", target).status == 130
    assert target.read_text(encoding="utf-8") == "old"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["empty", "out"]


def test_output_goes_to_devices_and_new_files(run: Any, tmp_path: Path) -> None:
    assert run("schema", "answer", "-o", os.devnull).status == 0
    assert not Path(os.devnull).is_file()
    mask = os.umask(0o027)
    try:
        assert run("schema", "answer", "-o", tmp_path / "new").status == 0
    finally:
        os.umask(mask)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
    ran = run("schema", "answer", "-o", tmp_path)
    assert ran.status == 2
    assert "can't be written: is a directory" in ran.err


@pytest.mark.parametrize("command", ["route", "explain"])
@pytest.mark.parametrize("text", ["", "{", "[]", '{"capability": 1}'])
def test_unusable_request_is_a_json_error(run: Any, tmp_path: Path, command: str, text: str) -> None:
    path = tmp_path / "request.json"
    path.write_text(text, encoding="utf-8")
    ran = run(command, "-r", path, "--format", "json")
    assert (ran.status, ran.err) == (2, "")
    assert ran.json["error"]["code"].startswith("invalid-")
    assert ran.json["error"]["issues"]


@pytest.mark.parametrize("locale", ["C", "POSIX", "tr_TR.UTF-8", "en_US.ISO-8859-1"])
def test_any_locale_will_do(locale: str) -> None:
    ran = process("explain", "-r", situation("names-that-bite"), LC_ALL=locale, LANG=locale)
    assert ran.returncode == 0
    plain = process("explain", "-r", situation("names-that-bite")).stdout
    assert settled(ran.stdout.decode()) == settled(plain.decode())


@pytest.mark.parametrize("name", ["capability", "request", "answer"])
def test_schema_prints_a_valid_schema(run: Any, name: str) -> None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415

    ran = run("schema", name)
    assert ran.status == 0
    Draft202012Validator.check_schema(ran.json)


def test_the_schemas_describe_requests_and_answers(run: Any) -> None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415

    from whyroute import answer  # noqa: PLC0415

    request = Draft202012Validator(run("schema", "request").json)
    reply = Draft202012Validator(run("schema", "answer").json)
    for case in [
        *(c["input"] for c in lines_of("routing.jsonl")[:100]),
        *(c["request"] for c in lines_of("reported.jsonl")),
    ]:
        found = answer({**case, "include": ["matched", "explanation", "request"]})
        reply.validate(found)
        if "issues" not in found.get("error", {}):
            request.validate(case)
    for path in (DATA / "situations").glob("*.json"):
        request.validate(json.loads(path.read_text(encoding="utf-8")))


def test_version_and_help(run: Any) -> None:
    from whyroute import __version__  # noqa: PLC0415

    assert run("--version").out == f"whyroute {__version__}\n"
    for arguments in ([], ["route"], ["explain"], ["batch"], ["schema"], ["import"]):
        ran = run(*arguments, "--help")
        assert ran.status == 0
        assert ran.out.startswith("Usage: whyroute")
    assert "--install-completion" in run("--help").out


def test_a_fault_of_our_own_exits_3(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whyroute.cli.asking.read_request", lambda document: 1 / 0)
    ran = run("route", "-r", situation("outranked"))
    assert (ran.status, ran.out) == (3, "")
    assert "a fault of whyroute's own: ZeroDivisionError" in ran.err


# import


def test_import_writes_providers_and_reports_omissions(run: Any, tmp_path: Path) -> None:
    target = tmp_path / "catalog.yaml"
    ran = run("import", "models-dev", "--overlay", ROOT / "catalog" / "overlay.yaml", "-o", target)
    assert (ran.status, ran.out) == (0, "")
    assert "25 providers, 189 models" in ran.err
    assert "left out" in ran.err
    routed = run("route", "-r", SUMMARISE, "--providers", target, "--format", "json")
    assert routed.json["decision"]["pick"]["provider"] == "nebius"
    as_json = run("import", "models-dev", "--overlay", ROOT / "catalog" / "overlay.yaml", "--format", "json")
    assert len(as_json.json["providers"]) == 25


def test_the_version_loads_next_to_nothing() -> None:
    heavy = ("jsonschema", "networkx", "ruamel.yaml", "pydantic", "constraint", "rich")
    code = (
        "import sys; from whyroute.cli import main; main(['--version']);"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[1] == "[]"


@pytest.mark.parametrize("text", ["x: !!bool maybe\n", 'x: !!int ""\n', "%YAML 1.3\n---\nproviders: []\n"])
def test_unreadable_yaml_catalog_exits_2(run: Any, tmp_path: Path, text: str) -> None:
    path = tmp_path / "catalog.yaml"
    path.write_text(text, encoding="utf-8")
    assert run("route", "-r", SUMMARISE, "--providers", path).status == 2


def test_wrong_usage_exits_2_without_streams() -> None:
    with open("/dev/full", "wb") as full:
        ran = subprocess.run([sys.executable, "-m", "whyroute", "nope"], stderr=full, check=False)
    assert ran.returncode == 2
