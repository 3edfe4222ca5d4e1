"""docs/service.md says what is so."""

import json
import re
import shlex
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from paths import ROOT
from serverkit import serving
from whyroute.cli import main
from whyroute.packs import load_pack
from whyroute.server.bundling import MAX_SLOTS, MAX_TIES, SEARCH
from whyroute.server.cursors import Cursors
from whyroute.server.limits import ServiceLimits
from whyroute.server.openapi import openapi_document
from whyroute.server.queries import MAX_LIMIT
from whyroute.server.registrations import MAX_ID_LENGTH, Quota

PAGE = (ROOT / "docs" / "service.md").read_text("utf-8")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_its_options_are_those_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--help"]) == 0
    shown = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}
    assert shown == (set(re.findall(r"--[a-z][a-z-]+", PAGE)) | {"--port"}) - {"--expires", "--revoke"}


def test_its_paths_are_those_of_the_description() -> None:
    told = {path.replace("{id}", "{}") for path in re.findall(r"(/v1/[a-z/{}]+|/healthz|/readyz|/metrics)", PAGE)}
    described = {re.sub(r"\{\w+\}", "{}", path) for path in openapi_document()["paths"]}
    assert described == told | {"/openapi.json"}


def test_its_limits_are_those_in_force() -> None:
    limits = ServiceLimits()
    assert f"{limits.body // 2**20} MiB and {limits.receive_seconds} seconds to come" in PAGE
    assert f"query {limits.target // 1024} KiB, headers {limits.headers // 1024} KiB" in PAGE
    assert f"a page {MAX_LIMIT} entries" in " ".join(PAGE.split())
    assert f"{MAX_ID_LENGTH} characters over HTTP" in PAGE
    assert f"an answer {limits.answer_seconds} seconds" in PAGE
    text = " ".join(PAGE.split())
    assert f"at most {limits.question // 1024} KiB, {MAX_SLOTS} slots and {MAX_TIES} ties" in text
    assert f"longer than {limits.answer // 2**20} MiB" in text
    assert f"{limits.tenant_requests} requests in flight and {limits.tenant_bytes // 2**20} MiB of bodies" in text
    assert f"nothing for {limits.send_seconds} seconds, or takes more than {limits.read_seconds} seconds" in text
    assert f"register {Quota().providers} providers and {Quota().size // 2**20} MiB" in text
    assert f"after {SEARCH.seconds} seconds or {SEARCH.nodes:,} nodes" in text


def test_its_commands_do_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = [body for language, body in FENCE.findall(PAGE) if language == "sh"]
    tokens = [line.partition("#")[0].split() for body in blocks for line in body.splitlines() if " token " in line]
    assert len(tokens) == 3
    for words in tokens[:2]:
        assert main(words[1:]) == 0
    identifier = capsys.readouterr().out.split("_")[1]
    assert main([identifier if word == "ID" else word for word in tokens[2][1:]]) == 0
    (key,) = [body for body in blocks if "urandom" in body]
    code = re.search(r'"(.*)"', key)
    assert code is not None
    exec(code[1])
    assert Cursors([capsys.readouterr().out.strip()])


def test_its_descriptors_are_read(tmp_path: Path) -> None:
    (example,) = [body for language, body in FENCE.findall(PAGE) if language == "yaml"]
    (tmp_path / "pack.yaml").write_text(f"whyroute: 1\n{example}", "utf-8")
    assert list(load_pack(tmp_path).descriptors) == ["gpu:h100"]


def test_its_registration_is_taken(tmp_path: Path) -> None:
    (example,) = [body for language, body in FENCE.findall(PAGE) if language == "json"]
    with serving(tmp_path, "--tenant", "thames-bank", pack=ROOT / "rules") as process, httpx.Client() as client:
        url = f"{process.url}/v1/providers"
        made = client.post(url, content=example, headers={"Content-Type": "application/json"})
        assert (made.status_code, made.json()) == (201, {"providerId": "ward"})
        assert client.get(f"{url}/ward").json() == json.loads(example)["metadata"]


def test_the_readme_starts_it_and_asks_it(tmp_path: Path) -> None:
    section = (ROOT / "README.md").read_text("utf-8").partition("## As a service\n")[2].partition("\n## ")[0]
    blocks = dict(FENCE.findall(section))
    started, asked = (shlex.split(line) for line in blocks["sh"].splitlines())
    with serving(tmp_path, *started[3:], pack=ROOT / started[2]) as process:
        url = urlsplit(asked[2])
        name, _, value = asked[asked.index("-H") + 1].partition(": ")
        answer = httpx.post(f"{process.url}{url.path}", content=asked[-1], headers={name: value}).json()
    shown = re.sub(r"\.\.\.", "null", blocks["json"])
    assert list(answer) == list(json.loads(shown))
    assert answer["decision"]["pick"] == json.loads(shown)["decision"]["pick"]
    assert url.port == 8000
