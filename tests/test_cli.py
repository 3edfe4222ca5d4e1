"""The command line: what it prints, where, and how it exits."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from whyroute.cli import main

ROOT = Path(__file__).parent.parent
DATA = Path(__file__).parent / "data"
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
    first, why, _, alternates, *_ = ran.out.splitlines()
    assert first == "nebius / Qwen/Qwen3.5-397B-A17B"
    assert "meets all 3 needs" in why
    assert "deepseek-ai/DeepSeek-V3.2" in alternates


def test_route_that_nothing_satisfies_explains_itself_and_exits_1(run: Any) -> None:
    ran = run("route", "--request", IMPOSSIBLE, "--providers", CATALOG)
    assert ran.status == 1
    assert ran.out.startswith("Nothing qualifies: 4 constraints can't all hold, for any of 189 candidates\n")
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
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").startswith("Nothing qualifies: 4 constraints")
    failed = run("explain", "-r", situation("four-way-clash"), "-o", tmp_path / "no" / "out.txt")
    assert (failed.status, failed.out) == (2, "")
    assert "can't be written: no such file or directory" in failed.err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--why-not", "acme-eu/small"], "Why not acme-eu / small? It qualifies, in place 3"),
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
    assert "--why-not-provider 'a' --why-not-model 'b/c'" in ran.err
    assert "--why-not-provider 'a/b' --why-not-model 'c'" in ran.err
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
        (["rout"], "No such command 'rout'"),
        (["schema", "cap"], "'cap' is not one of"),
        (["route", "--format", "xml"], "'xml' is not one of"),
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


def test_a_line_that_is_no_request_gets_an_error_and_the_rest_go_on(run: Any, tmp_path: Path) -> None:
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


def test_progress_is_off_unless_stderr_is_a_terminal_and_can_be_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    path.write_text(json.dumps({"capability": {"needs": []}, "providers": []}) + "\n", encoding="utf-8")
    assert process("batch", path).stderr == b""
    assert b"answered" in process("batch", path, "--progress").stderr


# colour, schemas, version, help, faults


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1", "FORCE_COLOR": ""}, {}])
def test_no_colour_off_a_terminal(environment: dict[str, str]) -> None:
    ran = process("explain", "-r", situation("four-way-clash"), stdin=b"", **environment)
    assert b"\x1b" not in ran.stdout


@pytest.mark.parametrize("locale", ["C", "POSIX", "tr_TR.UTF-8", "en_US.ISO-8859-1"])
def test_any_locale_will_do(locale: str) -> None:
    ran = process("explain", "-r", situation("names-that-bite"), LC_ALL=locale, LANG=locale)
    assert ran.returncode == 0
    assert ran.stdout == process("explain", "-r", situation("names-that-bite")).stdout


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
    monkeypatch.setattr("whyroute.wire.read_request", lambda document: 1 / 0)
    ran = run("route", "-r", situation("outranked"))
    assert (ran.status, ran.out) == (3, "")
    assert "a fault of whyroute's own: ZeroDivisionError" in ran.err


# import


def test_import_writes_providers_and_reports_what_it_left_out(run: Any, tmp_path: Path) -> None:
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
