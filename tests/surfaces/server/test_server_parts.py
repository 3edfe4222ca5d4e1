"""The parts by themselves: two tenants apart, logs, the description, the command line."""

import io
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import whyroute.server
from house_style import broken_rules
from paths import ROOT
from serverkit import PACK, TENANTS, Kit, make_kit, provider, registration, segment
from whyroute.cli import main
from whyroute.server.lines import FileSink, LineWriter, StreamSink
from whyroute.server.openapi import openapi_document
from whyroute.server.packs import PackKeeper
from whyroute.server.storage import Storage
from whyroute.server.tokens import read_tokens

# Two tenants never see each other's providers.

NAMES = {tenant: [f"{tenant}-registered-{number}" for number in range(3)] for tenant in TENANTS}
MODELS = {tenant: f"model-of-{tenant}" for tenant in TENANTS}
MARKS = {"alpha": "alpha-only", **{tenant: f"{tenant}-registered" for tenant in ("beta", "gamma")}}


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kit]:
    kit = make_kit(tmp_path_factory.mktemp("crowded"))
    yield kit
    kit.app.close()
    kit.service.storage.close()


def requests_of(tenant: str) -> st.SearchStrategy[tuple[str, str, Any]]:
    """Requests of one tenant that may well name another's."""
    names = st.sampled_from([name for each in NAMES.values() for name in each] + ["alpha-only", "azure", "nobody"])
    models = st.sampled_from([*MODELS.values(), "secret-model", "large"])
    features = st.sampled_from(["vision", "tool-use", "batch", "thinking"])
    needs = st.lists(
        st.one_of(
            st.builds(lambda feature: {"feature": feature}, features),
            st.builds(lambda name: {"providers": {"allow": [name]}}, names),
            st.builds(lambda name: {"models": {"allow": [name]}}, models),
        ),
        min_size=1,
        max_size=3,
    )
    body = st.builds(
        lambda needs, name, model: {"capability": {"needs": needs}, "preferredProvider": name, "preferredModel": model},
        needs,
        names,
        models,
    )
    asked = st.builds(
        lambda body, name, model: {**body, "whyNot": {"provider": name, "model": model}}, body, names, models
    )
    own = st.sampled_from(NAMES[tenant])
    shape = {"features": ["vision", "batch"], "model": MODELS[tenant]}
    return st.one_of(
        st.builds(lambda name: ("GET", f"/v1/providers/{name}", None), names),
        st.builds(lambda name: ("POST", f"/v1/providers/{name}/unregister", None), names),
        st.builds(lambda name: ("POST", "/v1/providers", registration(name, **shape)), own),
        st.builds(lambda limit: ("GET", f"/v1/providers?limit={limit}", None), st.integers(1, 5)),
        st.builds(lambda feature: ("GET", f"/v1/providers?feature={feature}", None), features),
        st.builds(lambda limit: ("GET", f"/v1/capabilities?limit={limit}", None), st.integers(1, 20)),
        st.builds(lambda feature: ("GET", f"/v1/capabilities/feature:{feature}", None), features),
        st.just(("GET", "/v1/capabilities/gpu:h100", None)),
        st.just(("GET", "/v1/vocabulary", None)),
        st.builds(lambda body: ("POST", "/v1/route", body), body),
        st.builds(lambda body: ("POST", "/v1/explain", body), asked),
        st.builds(lambda body, other: ("POST", "/v1/bundle", {"slots": {"a": body, "b": other}}), body, body),
    )


STEPS = st.lists(
    st.sampled_from(TENANTS).flatmap(lambda tenant: st.tuples(st.just(tenant), requests_of(tenant))),
    min_size=5,
    max_size=25,
)


@settings(max_examples=15)
@given(steps=STEPS)
def test_no_answer_names_what_is_anothers(crowded: Kit, steps: list[tuple[str, tuple[str, str, Any]]]) -> None:
    owned: dict[str, set[str]] = {tenant: set() for tenant in TENANTS}
    for tenant in TENANTS:
        for name in NAMES[tenant]:
            crowded.call("POST", f"/v1/providers/{name}/unregister", tenant)
    cursors: dict[str, list[str]] = {tenant: [] for tenant in TENANTS}
    for tenant, (method, path, body) in steps:
        answer = crowded.call(method, path, tenant, json_body=body)
        assert answer.status < 500
        said = answer.body.decode()
        asked = path + json.dumps(body)
        for other in set(TENANTS) - {tenant}:
            for secret in (*NAMES[other], MODELS[other], *(["alpha-only", "secret-model"] if other == "alpha" else [])):
                # What the request itself named may come back; as a fact it may not.
                assert secret not in said or secret in asked, (tenant, path, secret)
        if method == "GET" and answer.status == 200 and path.startswith("/v1/providers/"):
            assert path.rpartition("/")[2] in (*owned[tenant], "azure", *(["alpha-only"] if tenant == "alpha" else []))
        if path == "/v1/explain" and answer.status == 200:
            contrast = answer.json()["contrast"]
            named = contrast["candidate"]["provider"]
            if any(named in NAMES[other] for other in set(TENANTS) - {tenant}):
                assert contrast["known"] is False
        if path == "/v1/providers" and answer.status == 201:
            owned[tenant].add(body["metadata"]["id"])
        if path.endswith("/unregister"):
            name = path.split("/")[3]
            assert (answer.status == 200) is (name in owned[tenant])
            owned[tenant].discard(name)
        if '"nextCursor"' in said:
            cursors[tenant].append(answer.json()["nextCursor"])
    for tenant, sealed in cursors.items():
        for cursor in sealed:
            assert not any(mark in cursor for mark in MARKS.values())
            for other in set(TENANTS) - {tenant}:
                for path in ("/v1/providers", "/v1/capabilities"):
                    assert crowded.get(f"{path}?cursor={segment(cursor)}", other).code == "bad-input"


# Lines.


def read_lines(path: Path) -> list[Any]:
    return [json.loads(line)["n"] for line in path.read_text().splitlines()]


def test_lines_come_in_order_and_all_of_them(tmp_path: Path) -> None:
    path = tmp_path / "log"
    writer = LineWriter(FileSink(path))

    def write(own: int) -> None:
        for number in range(2000):
            writer.put({"n": own * 10_000 + number, "text": "ü\n\u2028"})

    threads = [threading.Thread(target=write, args=(own,)) for own in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    found = read_lines(path)
    assert len(found) == 8000
    for own in range(4):
        assert [each for each in found if each // 10_000 == own] == [own * 10_000 + number for number in range(2000)]


def test_full_file_is_rotated_without_loss(tmp_path: Path) -> None:
    path = tmp_path / "log"
    writer = LineWriter(FileSink(path, full=500))
    for number in range(300):
        writer.put({"n": number})
        if number % 50 == 0:
            while writer.waiting:
                pass
    writer.close()
    files = [*sorted(each for each in tmp_path.iterdir() if each != path), path]
    assert len(files) > 2
    assert [number for file in files for number in read_lines(file)] == list(range(300))


def test_moved_file_is_started_again(tmp_path: Path) -> None:
    path = tmp_path / "log"
    sink = FileSink(path)
    for number in range(3):
        sink.begin()
        sink.write(memoryview(b'{"n": %d}\n' % number))
        os.rename(path, tmp_path / f"old-{number}")
    sink.close()
    assert [read_lines(tmp_path / f"old-{number}") for number in range(3)] == [[0], [1], [2]]


class Troubled:
    """A sink that fails a few times, after a part of the data."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.data = b""

    def begin(self) -> None:
        """Nothing to do."""

    def write(self, data: memoryview) -> int:
        """Half of it, or a failure."""
        if self.failures:
            self.failures -= 1
            raise OSError(28, "No space left on device")
        half = max(1, len(data) // 2)
        self.data += bytes(data[:half])
        return half

    def close(self) -> None:
        """Nothing to do."""


def test_what_fails_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whyroute.server.lines._RETRY_SECONDS", 0.001)
    sink = Troubled(3)
    told: list[OSError | None] = []
    writer = LineWriter(sink, on_trouble=told.append)
    for number in range(50):
        writer.put({"n": number})
    writer.close()
    assert [json.loads(line)["n"] for line in sink.data.splitlines()] == list(range(50))
    assert [type(each) for each in told] == [OSError, type(None)]
    assert writer.dropped == 0


def test_past_a_number_lines_are_dropped_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whyroute.server.lines._RETRY_SECONDS", 0.001)
    sink = Troubled(10**9)
    writer = LineWriter(sink, most=10)
    for number in range(600):
        writer.put({"n": number})
    writer.close(0.05)
    assert writer.dropped == 600
    assert sink.data == b""


class Slow(Troubled):
    """A sink that takes its time, and a piece at a time."""

    def write(self, data: memoryview) -> int:
        """Some of it."""
        time.sleep(0.02)
        self.data += bytes(data[:200])
        return min(200, len(data))


def test_the_end_waits_for_what_is_slow() -> None:
    sink = Slow(0)
    writer = LineWriter(sink)
    for number in range(1000):
        writer.put({"n": number})
    writer.close(0.1)
    assert [json.loads(line)["n"] for line in sink.data.splitlines()] == list(range(1000))
    assert writer.dropped == 0


def test_large_lines_are_not_all_made_at_once() -> None:
    sizes: list[int] = []

    class Noted(Troubled):
        def write(self, data: memoryview) -> int:
            sizes.append(len(data))
            return len(data)

    writer = LineWriter(Noted(0))
    for _ in range(100):
        writer.put({"text": "a" * 200_000})
    writer.close()
    assert sum(sizes) > 20_000_000
    assert max(sizes) < 1_000_000


def test_unwritable_lines_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whyroute.server.lines._RETRY_SECONDS", 0.001)
    writer = LineWriter(Troubled(10**9))
    for number in range(5):
        writer.put({"n": number})
    time.sleep(0.2)
    assert (writer.waiting, writer.dropped) == (5, 0)
    writer.close(0.01)
    assert (writer.waiting, writer.dropped) == (0, 5)


def test_failed_rotation_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whyroute.server.lines._RETRY_SECONDS", 0.001)
    real, failures = os.rename, [OSError(13, "Permission denied")] * 3

    def rename(*arguments: Any) -> None:
        if failures:
            raise failures.pop()
        real(*arguments)

    monkeypatch.setattr(os, "rename", rename)
    path = tmp_path / "log"
    writer = LineWriter(FileSink(path, full=10))
    for number in range(3):
        writer.put({"n": number})
        while writer.waiting:
            pass
    writer.close()
    assert writer.dropped == 0
    files = [*sorted(each for each in tmp_path.iterdir() if each != path), path]
    assert [number for file in files for number in read_lines(file)] == [0, 1, 2]


def test_stream_without_reader_ends_quietly() -> None:
    stream = io.BytesIO()
    writer = LineWriter(StreamSink(stream))
    writer.put({"n": 1})
    while not stream.getvalue():
        pass
    stream.close()
    writer.put({"n": 2})
    writer.close()
    assert writer.dropped == 1


# The description.


def test_the_description_is_kept_in_docs() -> None:
    kept = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
    assert kept == json.loads(json.dumps(openapi_document())), "write docs/openapi.json anew: see docs/service.md"


def test_the_description_is_of_openapi_3_1(tmp_path: Path) -> None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415

    document = openapi_document()
    assert document["openapi"] == "3.1.0"
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    text = json.dumps(document)
    for part in text.split('"$ref": "')[1:]:
        path = part.partition('"')[0]
        target: Any = document
        for key in path.removeprefix("#/").split("/"):
            target = target[key]
    names = [each["operationId"] for operations in document["paths"].values() for each in operations.values()]
    assert len(names) == len(set(names))
    assert "/$defs/" not in text


# Packs.


def test_digest_depends_on_pack_not_on_path(tmp_path: Path) -> None:
    digests = []
    for number, (names, text) in enumerate([("ab", "x"), ("ab", "x"), ("ab", "y"), ("ac", "x")]):
        directory = tmp_path / str(number) / "pack"
        directory.mkdir(parents=True)
        for name in names:
            (directory / f"{name}.yaml").write_text("whyroute: 1\n" if name != "a" else f"whyroute: 1  # {text}\n")
        storage = Storage("sqlite://")
        keeper = PackKeeper(str(directory), storage)
        keeper.open()
        assert keeper.current.pack.files[0] == "pack/a.yaml"
        digests.append(keeper.current.digest)
        storage.close()
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are Unicode")
def test_file_name_may_be_invalid_utf_8(tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "a.yaml").write_bytes(PACK.read_bytes())
    storage = Storage(str(tmp_path / "p.db"))
    keeper = PackKeeper(str(pack), storage, deployment="one")
    assert keeper.open() is None
    before = keeper.current.digest
    Path(os.fsdecode(os.fsencode(pack) + b"/\xff.yaml")).write_text("whyroute: 1\n")
    assert keeper.reload()
    assert keeper.current.digest != before
    (pack / "a.yaml").write_text("whyroute: 2\n")
    kept = PackKeeper(str(pack), storage, deployment="one")
    assert kept.open() is not None
    assert kept.current.digest == keeper.current.digest
    storage.close()


def test_a_pack_may_be_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / "pack"
    for name in ("x", "y"):
        (directory / name).mkdir(parents=True)
        (directory / name / "a.yaml").write_text("whyroute: 1\n")
    found = []
    for at, path in ((directory, "."), (directory, "./"), (tmp_path, "pack"), (tmp_path, str(directory))):
        monkeypatch.chdir(at)
        keeper = PackKeeper(path, Storage("sqlite://"))
        keeper.open()
        found.append((keeper.current.pack.files, keeper.current.digest))
    assert {files for files, _ in found} == {("pack/x/a.yaml", "pack/y/a.yaml")}
    assert len(set(found)) == 1


# The command line.


@pytest.mark.parametrize("library", ["fastapi", "uvicorn", "sqlalchemy", "cryptography.fernet"])
def test_without_the_extra_the_command_names_it(
    library: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(whyroute, "server", whyroute.server)  # put back with its modules
    for name in [name for name in sys.modules if name.startswith("whyroute.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    assert main(["serve", str(PACK), "--tenant", "alpha"]) == 2
    assert "pip install 'whyroute[server]'" in capsys.readouterr().err


def test_a_token_that_has_expired_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["token", "alpha", "--tokens", str(tmp_path / "t.json"), "--expires", "2020-01-01"]) == 0
    assert "which expired 2020-01-01: no request with it is answered" in capsys.readouterr().err
    today = datetime.now(UTC).date().isoformat()  # a date lasts to its end
    assert main(["token", "alpha", "--tokens", str(tmp_path / "t.json"), "--expires", today]) == 0
    assert f"which expires {today};" in capsys.readouterr().err


def test_a_token_is_printed_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "t.json"
    assert main(["token", "alpha", "--tokens", str(file), "--expires", "2999-01-01T00:00:00+02:00"]) == 0
    told = capsys.readouterr()
    identifier = told.out.split("_")[1]
    assert told.out.startswith(f"wr_{identifier}_")
    assert told.out.count("\n") == 1
    assert identifier in told.err
    assert told.out.strip() not in told.err
    assert "expires 2999-01-01T00:00:00+02:00" in told.err
    (token,) = read_tokens(file.read_bytes())
    assert (token.id, token.tenant, token.expires) == (identifier, "alpha", "2999-01-01T00:00:00+02:00")
    assert main(["token", "alpha", "--tokens", str(file), "--revoke", identifier]) == 0
    assert capsys.readouterr().out == ""
    assert read_tokens(file.read_bytes())[0].revoked is not None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["alpha", "--tokens", "{file}", "--expires", "tomorrow"], "`tomorrow` is no time"),
        (["alpha", "--tokens", "{file}", "--revoke", "nothing"], "`nothing` is no token of tenant `alpha`"),
        (["alpha", "--tokens", "{file}", "--revoke", "x", "--expires", "2999-01-01"], "--expires beside --revoke"),
        (["", "--tokens", "{file}"], "TENANT is empty"),
        (["alpha", "--tokens", "{broken}"], "no file of tokens: line 1"),
        (["alpha", "--tokens", "{absent}/t.json"], "no such file or directory"),
    ],
)
def test_a_token_that_is_not_made(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken").write_text("nonsense")
    paths = {"file": tmp_path / "t.json", "broken": tmp_path / "broken", "absent": tmp_path / "absent"}
    assert main(["token", *(each.format(**paths) for each in arguments)]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""
    message = told.err.removeprefix("error: ").splitlines()[0]
    assert [each for each in broken_rules(message) if "capital" not in each] == []
    assert (tmp_path / "broken").read_text() == "nonsense"


def test_messages_keep_the_house_style(tmp_path: Path) -> None:
    kit = make_kit(tmp_path)
    bodies = [
        {},
        {"capability": 1},
        {"capability": "x"},
        {"capability": "look", "tenant": 1},
        {"capability": {"needs": 1}},
    ]
    answers = [kit.post("/v1/route", body) for body in bodies]
    answers += [kit.get(path) for path in ("/x", "/v1/capabilities?limit=0", "/v1/capabilities?x", "/v1/providers/x")]
    answers += [kit.get("/v1/providers", None), kit.call("PUT", "/v1/route")]
    answers += [kit.post("/v1/providers", {"metadata": provider("x"), "adapter": 1})]
    for answer in answers:
        error = answer.json()["error"]
        assert broken_rules(error["message"]) == [], error["message"]
        for issue in error.get("details", {}).get("issues", ()):
            assert broken_rules(issue["message"]) == [], issue["message"]
    assert PACK.exists()
