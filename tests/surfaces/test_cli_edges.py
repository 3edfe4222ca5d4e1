"""What is rare on the command line: huge answers, odd bytes, pipes as files, interrupts, what a terminal obeys."""

import json
import os
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, get_args, get_type_hints

import pytest
from hypothesis import given, strategies as st
from typer.models import OptionInfo

from paths import ROOT, TESTS
from whyroute.cli import main
from whyroute.cli.app import COMMANDS, loaded
from whyroute.documents.json_text import indented, read_json, terminal_safe
from whyroute.explanations import Explanation, Limits, reasons as reasons_module
from whyroute.providers.importers import models_dev
from whyroute.render.graphs import to_dot
from whyroute.wire.request import read_request

PACK = TESTS / "data" / "packs" / "example" / "pack.yaml"
IMPOSSIBLE = ROOT / "rules" / "requests" / "impossible.json"
CATALOG = ROOT / "rules" / "catalog.yaml"
SITUATION = TESTS / "data" / "situations" / "several-clashes.json"

WHYROUTE = [sys.executable, "-m", "whyroute"]
ODD = os.fsdecode(b"a\xffb")
OBEYED = "\x9b31m\x7f\u202e\u2028\u2066\U000e0001"


def process(*arguments: str | Path, stdin: bytes = b"", **settings: Any) -> subprocess.CompletedProcess[bytes]:
    command = [*WHYROUTE, *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, **settings)


class Ran(NamedTuple):
    """How a run in this process ended."""

    returncode: int
    stdout: bytes
    stderr: bytes


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Ran]:
    def run(*arguments: str | Path) -> Ran:
        status = main([str(argument) for argument in arguments])
        sys.stdout.flush()
        return Ran(status, *capfdbinary.readouterr())

    return run


def provider(name: str = "p", model: str = "m", **more: Any) -> dict[str, Any]:
    cost = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}
    models = [{"name": model, "contextWindow": 1000, "features": [], "cost": cost}]
    return {"id": name, "region": "eu", "models": models, **more}


def refusing(providers: int, names: int) -> dict[str, Any]:
    """A request whose failed answer repeats a list of names for every provider."""
    return {
        "capability": {"needs": [{"providers": {"allow": [f"name{at:07d}" for at in range(names)]}}]},
        "providers": [provider(f"p{at}") for at in range(providers)],
        "at": "2026-01-01",
    }


# Huge answers.


def peak(pieces: Iterator[str]) -> tuple[int, int]:
    """How many characters come, and how many bytes are in use at once meanwhile."""
    tracemalloc.start()
    try:
        length = sum(len(piece) for piece in pieces)
        return length, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_failed_answer_is_never_held_whole() -> None:
    _, pieces = read_request(refusing(150, 5_000)).answer_json()
    length, most = peak(pieces)
    assert length > 10_000_000
    assert most < 7_000_000


def test_near_misses_are_never_held_whole() -> None:
    explanation = Explanation(read_request(refusing(60, 5_000)).solve(), None, Limits(near_misses=None))
    length, most = peak(explanation.iter_json())
    assert length > 4_000_000
    assert most < 3_500_000


@pytest.mark.parametrize("most", [1, 2_000, 4_000_000])
def test_a_streamed_answer_is_the_answer(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reasons_module, "_MOST", most)
    document = refusing(7, 3)
    document["capability"]["needs"] += [{"providers": {"deny": ["p1", "p2"]}}, {"costPerCall": {"op": "<", "usd": 0.5}}]
    document |= {
        "include": ["matched", "explanation", "request"],
        "setupFailures": [{"providerId": "x", "message": "y"}],
    }
    request = read_request(document)
    qualifies, pieces = request.answer_json()
    assert not qualifies
    assert "".join(pieces) == json.dumps(request.answer(), ensure_ascii=False)
    explanation = request.explanation(request.solve())
    assert explanation.to_json() == json.dumps(explanation.to_dict(), ensure_ascii=False)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)


@given(JSON)
def test_indented_is_how_the_library_indents(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert "".join(indented([text])) == json.dumps(value, ensure_ascii=False, indent=2)


@pytest.mark.parametrize("options", [(), ("--all",)])
@pytest.mark.parametrize("command", ["route", "explain"])
def test_answer_is_indented_on_stdout_and_file(
    command: str, options: tuple[str, ...], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    request = tmp_path / "request.json"
    request.write_text(json.dumps({**json.loads(SITUATION.read_bytes()), "at": "2026-12-01"}), "utf-8")
    arguments = [command, "--request", str(request), "--format", "json", *options]
    status = main(arguments)
    sys.stdout.flush()
    out = capfdbinary.readouterr().out
    assert status == (command == "route")
    assert out.decode() == json.dumps(json.loads(out), ensure_ascii=False, indent=2) + "\n"
    main([*arguments, "-o", str(tmp_path / "out.json")])
    written = json.loads((tmp_path / "out.json").read_bytes())
    assert written == json.loads(out)


# Characters that a terminal obeys.


@given(JSON, st.sampled_from([None, 2]))
def test_escapes_change_no_meaning(value: Any, indent: int | None) -> None:
    text = terminal_safe(json.dumps(value, ensure_ascii=False, indent=indent))
    assert json.loads(text) == value
    assert text.replace("\n", "").isprintable()


def commands(tmp_path: Path) -> Iterator[list[str]]:
    declared = {"needs": [{"region": "us"}]}
    request = {"capability": declared, "providers": [provider(f"p{OBEYED}", f"m{OBEYED}")], "id": OBEYED}
    path = tmp_path / "request.json"
    path.write_text(json.dumps(request), encoding="utf-8")
    yield ["route", "-r", str(path), "--format", "json"]
    yield ["explain", "-r", str(path), "--format", "json"]
    yield ["batch", str(path)]
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps({**request, "preferredModel": 5, OBEYED: 1}), encoding="utf-8")
    yield ["route", "-r", str(path), "--format", "json"]
    yield ["batch", str(path)]
    pack = tmp_path / "pack.yaml"
    rule = {"name": "r", "because": f"b{OBEYED}", "forbid": {"provider": "q"}}
    pack.write_text(
        json.dumps({"whyroute": 1, "tenants": [{"tenantId": "t", "rules": ["r"]}], "rules": [rule]}), encoding="utf-8"
    )
    yield ["show", str(pack), "-t", "t", "--format", "json"]
    path = tmp_path / "openrouter.json"
    prices = {"prompt": "0.1", "completion": "0.1"}
    text = {"input_modalities": ["text"], "output_modalities": ["text"]}
    row = {"id": f"m{OBEYED}", "pricing": prices, "context_length": 5, "architecture": text}
    path.write_text(json.dumps({"data": [row]}), encoding="utf-8")
    yield ["import", "openrouter", str(path), "--format", "json"]
    yield ["import", "openrouter", str(path), "--format", "yaml"]


def test_no_command_prints_terminal_controls(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for arguments in commands(tmp_path):
        status = main(arguments)
        out, err = capfdbinary.readouterr()
        assert status in (0, 1, 2), arguments
        assert (out + err).decode().replace("\n", "").isprintable(), arguments
        assert b"202e" in out, arguments
        if "yaml" not in arguments:
            json.loads(out)


# Bytes that are no UTF-8.


@pytest.mark.parametrize(
    "option",
    ["--tenant", "--capability", "--label", "--at", "--prefer-provider", "--prefer-model", "--why-not"],
)
def test_non_text_option_is_wrong_usage(option: str, run: Callable[..., Ran]) -> None:
    given_options = {"--tenant": "clinic", "--capability": "look", option: f"{ODD}=x/y"}
    words = [word for pair in given_options.items() for word in pair]
    ran = run("explain", PACK, *words, "--format", "json")
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert rb"`a\udcffb=x/y` is not valid UTF-8" in ran.stderr
    assert b"Traceback" not in ran.stderr


def _words(*, paths: bool) -> list[tuple[str, ...]]:
    """For each parameter of each command that takes text, or a path, what stands before its value."""
    found: list[tuple[str, ...]] = []
    for command in (each for name in COMMANDS for each in loaded(name).registered_commands):
        assert command.callback is not None
        arguments = 0
        for hint in get_type_hints(command.callback, include_extras=True).values():
            if not hasattr(hint, "__metadata__"):
                continue
            kind, info = get_args(hint)[:2]
            before = ("litellm",) * arguments
            if isinstance(info, OptionInfo):
                # The first name stands where an option without `Annotated` has its default.
                names = (info.default, *(info.param_decls or ()))
                before = (next(str(each) for each in names if str(each).startswith("--")),)
            else:
                arguments += 1
            inner = [part for each in (get_args(kind) or (kind,)) for part in get_args(each) or (each,)]
            is_path = Path in inner or any(word in (info.metavar or "") for word in ("FILE", "PACK", "OLD", "NEW"))
            if (str in inner or Path in inner) and is_path is paths:
                name = command.name or command.callback.__name__
                found.append((name, *(str(word) for word in before)))
    return found


@pytest.mark.parametrize("words", _words(paths=False), ids=" ".join)
def test_every_text_option_refuses_non_text(words: tuple[str, ...], run: Callable[..., Ran]) -> None:
    ran = run(*words, ODD)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert rb"`a\udcffb` is not valid UTF-8" in ran.stderr


@pytest.mark.parametrize("words", _words(paths=True), ids=" ".join)
def test_an_empty_path_is_wrong_usage(
    words: tuple[str, ...], run: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(PACK, tmp_path / "pack.yaml")
    monkeypatch.chdir(tmp_path)
    before = (tmp_path / "pack.yaml").read_bytes()
    ran = run(*words, "@" if words[1:] == ("--capability",) else "")
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert b"an empty path; name a" in ran.stderr
    assert (tmp_path / "pack.yaml").read_bytes() == before


def test_the_parameters_are_found() -> None:
    assert ("test", "--match") in _words(paths=False)
    assert {("check",), ("diff", "litellm"), ("route", "--capability"), ("import", "litellm")} <= set(
        _words(paths=True)
    )


def test_non_text_candidate_is_wrong_usage(run: Callable[..., Ran]) -> None:
    for provider_id, model in ((ODD, "m"), ("p", ODD)):
        ran = run(
            "explain", PACK, "-t", "clinic", "-c", "look", "--why-not-provider", provider_id, "--why-not-model", model
        )
        assert ran.returncode == 2
        assert b"is not valid UTF-8" in ran.stderr


def test_a_path_may_be_any_bytes(tmp_path: Path, run: Callable[..., Ran]) -> None:
    pack, declaration, request, catalog, output = (
        tmp_path / f"{ODD}{end}" for end in (".yaml", ".json", "-r.json", "-c.yaml", "-out.json")
    )
    try:
        shutil.copy(PACK, pack)
    except OSError:
        pytest.skip("names of files are UTF-8 on this system")
    declaration.write_text('{"needs": [{"feature": "vision"}]}')
    document = json.loads(SITUATION.read_text("utf-8"))
    catalog.write_text(json.dumps({"whyroute": 1, "providers": document.pop("providers")}))
    request.write_text(json.dumps(document))
    for format in ("text", "json", "html", "dot", "mermaid", "graphml"):
        ran = run("explain", pack, "-t", "clinic", "-c", f"@{declaration}", "--format", format, "-o", output)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b""), format
        output.read_bytes().decode()
        ran = run("route", "-r", request, "--providers", catalog, "--format", format)
        assert (ran.returncode, ran.stderr) == (1, b""), format
    assert run("show", pack, "-t", "clinic", "--format", "json").returncode == 0
    assert run("batch", request).returncode == 1
    for arguments in (
        ("route", tmp_path / f"{ODD}-none", "-t", "t", "-c", "c"),
        ("route", pack, "-t", "clinic", "-c", f"@{tmp_path}/{ODD}-none"),
        ("route", "-r", pack),
        ("route", "-r", tmp_path / f"{ODD}-none"),
        ("import", "litellm", tmp_path / f"{ODD}-none"),
        ("batch", tmp_path / f"{ODD}-none"),
        ("explain", pack, "-t", "clinic", "-c", "look", "-o", tmp_path / ODD / "none"),
        ("schema", ODD),
        (ODD,),
    ):
        ran = run(*arguments)
        assert ran.returncode == 2, arguments
        assert rb"a\udcffb" in ran.stderr, arguments
        if arguments[0] == "route":
            ran = run(*arguments, "--format", "json")
            assert (ran.returncode, b"Traceback" in ran.stderr) == (2, False), arguments


# Files that are none.


def test_a_pipe_is_written_straight(tmp_path: Path) -> None:
    expected = process("schema", "capability").stdout
    for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        ran = process("schema", "capability", "-o", name)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, expected, b""), name
    reading, writing = os.pipe()
    ran = process("schema", "capability", "-o", f"/dev/fd/{writing}", pass_fds=[writing])
    os.close(writing)
    with open(reading, "rb") as pipe:
        assert (pipe.read(), ran.returncode) == (expected, 0)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    found: list[bytes] = []
    reader = Thread(target=lambda: found.append(fifo.read_bytes()), daemon=True)
    reader.start()
    ran = process("batch", "-", "-o", fifo, stdin=b"{}\n")
    reader.join(10)
    assert ran.returncode == 1
    assert b"invalid-request" in found[0]
    assert fifo.is_fifo()


def test_regular_file_stream_is_not_truncated(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("before\n")
    with open(path, "ab") as log:
        command = [*WHYROUTE, "show", str(PACK), "-t", "clinic", "-o", "/dev/stdout"]
        assert subprocess.run(command, stdout=log, check=False).returncode == 0
    assert path.read_text().startswith("before\n")
    assert len(path.read_text().splitlines()) > 2


def test_closed_and_unread_streams_are_handled() -> None:
    ran = process("schema", "capability", "-o", "/dev/fd/87")
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert b"`/dev/fd/87` can't be written: bad file descriptor" in ran.stderr
    reading, writing = os.pipe()
    os.close(reading)
    ran = process("schema", "pack", "-o", f"/dev/fd/{writing}", pass_fds=[writing])
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (0, b"")


# Interrupts.


@pytest.mark.parametrize("module", ["typer", "ruamel/yaml"])
def test_an_interrupt_during_imports_is_quiet(module: str, tmp_path: Path) -> None:
    package = tmp_path / module
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise KeyboardInterrupt\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT / "src")])
    command = ["route", "-r", str(IMPOSSIBLE), "--providers", str(CATALOG)]
    ran = process(*command, env={**os.environ, "PYTHONPATH": path})
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, b"", b"")


# Graphs.


@pytest.mark.parametrize("long", ["n" * 40_000, '"' * 20_000, "é" * 9_000, "&\\" * 9_000, "\u202e" * 8_000])
def test_long_texts_in_a_graph_are_cut(long: str) -> None:
    request = read_request(
        {
            "capability": {"needs": [{"region": long}, {"providers": {"allow": [long]}}]},
            "providers": [provider(f"p{long}", f"m{long}", region=f"r{long}")],
        }
    )
    drawing = to_dot(Explanation(request.solve()).to_graph())
    assert all(len(line.encode()) < 16_384 for line in drawing.splitlines())
    assert '..."' in drawing
    dot = shutil.which("dot")
    if dot is not None:
        ran = subprocess.run([dot, "-Tcanon"], input=drawing.encode(), capture_output=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, b"")


# Importers.


@pytest.mark.parametrize(
    ("provider_id", "title", "name"), [("\ud800", "t", "m"), ("p", "\udc00", "m"), ("p", "t", "\ud83d")]
)
def test_an_importer_counts_what_is_no_text(provider_id: str, title: str, name: str) -> None:
    row = {
        "modalities": {"input": ["text"], "output": ["text"]},
        "cost": {"input": 1, "output": 1},
        "limit": {"context": 1000, "output": 5},
    }
    document = {
        provider_id: {"id": provider_id, "name": title, "models": {name: row}},
        "good": {"id": "good", "name": "Good", "models": {"m": row}},
    }
    result = models_dev(json.loads(json.dumps(document)))
    assert [found["id"] for found in result.providers] == ["good"]
    assert [(each.reason, each.count) for each in result.skipped] == [("against-the-rules", 1)]


# Completion and help.


def completed(words: list[str]) -> list[str]:
    environment = {
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_WHYROUTE_COMPLETE": "complete_bash",
    }
    ran = process(env={**os.environ, **environment})
    assert (ran.returncode, ran.stderr) == (0, b"")
    return ran.stdout.decode().split()


def test_names_of_a_pack_are_completed(tmp_path: Path) -> None:
    before = ["whyroute", "route", str(PACK)]
    assert completed([*before, "-t", "cl"]) == ["clinic"]
    assert completed(["whyroute", "show", str(PACK), "--tenant", ""]) == ["bank", "clinic", "shop"]
    assert completed([*before, "-t", "clinic", "-c", ""]) == ["huge", "look", "read"]
    assert completed([*before, "--label", "data=pu"]) == ["data=public"]
    assert completed(["whyroute", "route", str(tmp_path / "none"), "-t", ""]) == []


def test_help_has_a_whole_line_for_every_command(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["--help"]) == 0
    told = capfdbinary.readouterr().out.decode().partition("Commands:")[2].splitlines()
    assert len(told) > 5
    assert not [line for line in told if line.endswith("...")]


def test_what_was_escaped_is_read_again() -> None:
    assert read_json(terminal_safe(json.dumps([OBEYED], ensure_ascii=False))) == [OBEYED]
