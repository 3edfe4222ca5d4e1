"""The last good pack: kept and served by the deployment that kept it alone, which every answer says."""

import re
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from house_style import broken_rules
from serverkit import PACK, make_kit, serving
from whyroute.errors import WhyrouteError
from whyroute.server.packs import BrokenPackError, PackKeeper
from whyroute.server.storage import Storage, StorageUnavailableError

GOOD = PACK.read_text("utf-8")
BROKEN = "whyroute: 1\nrules: 5\n"
PATHS = ("/v1/capabilities", "/v1/providers", "/v1/vocabulary", "/healthz", "/readyz", "/metrics", "/openapi.json", "/")


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    path = tmp_path / "pack.yaml"
    path.write_text(GOOD, "utf-8")
    return path


def test_no_other_deployment_serves_a_kept_pack(database: str, pack: Path) -> None:
    """As in containers: every service has its pack at the same path, and all share a database."""
    storage = Storage(database)
    loose = PackKeeper(str(pack), storage, deployment="loose")
    assert loose.open() is None
    pack.write_text(BROKEN)
    for deployment, said in (
        (None, "`--deployment NAME` keeps the last good one"),
        ("strict", "deployment `strict` has kept none of this path"),
        ("Loose", "deployment `Loose` has kept none of this path"),
        ("loose ", "deployment `loose ` has kept none of this path"),
    ):
        with pytest.raises(BrokenPackError) as error:
            PackKeeper(str(pack), storage, deployment=deployment).open()
        assert said in error.value.message
        assert broken_rules(error.value.message) == []
        assert getattr(error.value.cause, "code", "") == "invalid-pack"
    again = PackKeeper(str(pack), storage, deployment="loose")
    assert again.open() is not None
    assert again.current.digest == loose.current.digest
    assert again.current.kept_since is not None
    storage.close()


def test_no_other_path_gets_a_kept_pack(tmp_path: Path, pack: Path) -> None:
    storage = Storage("sqlite://")
    assert PackKeeper(str(pack), storage, deployment="one").open() is None
    for name, text in (("typo.yaml", None), ("other.yaml", BROKEN)):
        if text is not None:
            (tmp_path / name).write_text(text)
        with pytest.raises(BrokenPackError):
            PackKeeper(str(tmp_path / name), storage, deployment="one").open()
    storage.close()


def test_without_a_deployment_nothing_is_kept(tmp_path: Path, pack: Path) -> None:
    path = tmp_path / "p.db"
    storage = Storage(str(path))
    keeper = PackKeeper(str(pack), storage)
    keeper.open()
    pack.write_text(GOOD.replace("look", "see"))
    keeper.reload()
    storage.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM whyroute_kept_packs").fetchone() == (0,)


def test_packs_kept_by_path_are_ignored(tmp_path: Path, pack: Path) -> None:
    """A database of before: its table stays as it is, for those that still use it."""
    import hashlib  # noqa: PLC0415
    import json  # noqa: PLC0415

    path = tmp_path / "p.db"
    key = hashlib.sha256(pack.resolve().as_posix().encode()).hexdigest()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE whyroute_packs (path VARCHAR(64) PRIMARY KEY, digest VARCHAR(80), files TEXT)")
        row = (key, "sha256:0", json.dumps({"pack.yaml": GOOD}))
        connection.execute("INSERT INTO whyroute_packs VALUES (?, ?, ?)", row)
    pack.write_text(BROKEN)
    storage = Storage(str(path))
    for deployment in (None, "one"):
        with pytest.raises(BrokenPackError):
            PackKeeper(str(pack), storage, deployment=deployment).open()
    storage.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT * FROM whyroute_packs").fetchall() == [row]


@pytest.mark.parametrize("given", [{"tenant": "gone"}, {"operator_labels": {"data": "no such value"}}])
def test_a_good_pack_against_the_service_is_refused(given: dict[str, object], tmp_path: Path) -> None:
    """It is not broken: a pack that no longer has the tenant, say, must not bring back the one that had it."""
    pack = tmp_path / "pack.yaml"
    with_it, without = GOOD.replace("gamma", "gone"), GOOD
    if "operator_labels" in given:
        with_it = "whyroute: 1\n"
        without = "whyroute: 1\nlabels: {data: {values: [public], from: operator}}\n"
    storage = Storage("sqlite://")
    pack.write_text(with_it, "utf-8")
    PackKeeper(str(pack), storage, deployment="one", **given).open()  # type: ignore[arg-type]  # of several types
    pack.write_text(without, "utf-8")
    keeper = PackKeeper(str(pack), storage, deployment="one", **given)  # type: ignore[arg-type]
    with pytest.raises(WhyrouteError) as error:
        keeper.open()
    assert not isinstance(error.value, BrokenPackError)
    storage.close()


def test_changed_kept_pack_is_not_served(tmp_path: Path, pack: Path) -> None:
    path = tmp_path / "p.db"
    storage = Storage(str(path))
    PackKeeper(str(pack), storage, deployment="one").open()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE whyroute_kept_packs SET files = replace(files, 'vision', 'batch')")
    pack.write_text(BROKEN)
    with pytest.raises(BrokenPackError, match="is damaged"):
        PackKeeper(str(pack), storage, deployment="one").open()
    storage.close()


def test_every_answer_names_the_kept_pack(tmp_path: Path, pack: Path) -> None:
    first = make_kit(tmp_path, pack=pack, deployment="one")
    before = first.get("/readyz", None).json()["pack"]
    assert before["kept"] is False
    assert "whyroute-pack" not in first.get("/v1/vocabulary").headers
    pack.write_text(BROKEN)
    kit = make_kit(tmp_path, pack=pack, deployment="one")
    state = kit.get("/readyz", None).json()["pack"]
    assert (state["digest"], state["kept"]) == (before["digest"], True)
    bodies = [{"capability": "look"}, {"capability": {"needs": [{"feature": "batch"}]}}, {"capability": "absent"}]
    answers = [kit.get(path, "alpha") for path in PATHS]
    answers += [kit.post(path, body) for path in ("/v1/route", "/v1/explain") for body in bodies]
    answers += [kit.post("/v1/bundle", {"slots": {"a": {"capability": "look"}}}), kit.get("/v1/route")]
    answers += [kit.get("/absent"), kit.get("/v1/providers", None), kit.get("/" + "x" * 9000)]
    assert {answer.status for answer in answers} == {200, 401, 404, 405, 414, 422}
    assert {answer.headers.get("whyroute-pack") for answer in answers} == {f'kept; since="{state["keptSince"]}"'}
    # The pack is mended to what it was: no other pack, and no longer a kept one.
    pack.write_text(GOOD, "utf-8")
    assert not kit.service.packs.reload()
    assert kit.get("/readyz", None).json()["pack"] == {**before, "since": state["since"]}
    assert "whyroute-pack" not in kit.get("/v1/vocabulary").headers
    for each in (first, kit):
        each.app.close()
        each.service.storage.close()


def test_good_pack_does_not_wait_for_database(tmp_path: Path, pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = Storage(str(tmp_path / "p.db"))
    keeper = PackKeeper(str(pack), storage, deployment="one")
    keeper.open()

    def gone(*_: object) -> None:
        raise StorageUnavailableError

    monkeypatch.setattr(storage, "keep_pack", gone)
    pack.write_text(GOOD.replace("look", "see"), "utf-8")
    assert keeper.reload()
    assert isinstance(keeper.not_kept, StorageUnavailableError)
    monkeypatch.undo()
    assert not keeper.reload()  # the same pack, kept now
    assert keeper.not_kept is None
    pack.write_text(BROKEN)
    again = PackKeeper(str(pack), storage, deployment="one")
    assert again.open() is not None
    assert again.current.digest == keeper.current.digest
    storage.close()


def test_server_names_option_and_kept_pack(
    tmp_path: Path, pack: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from whyroute.cli import main  # noqa: PLC0415

    arguments = ("--tenant", "alpha", "--deployment", "elbe")
    with serving(tmp_path, *arguments, pack=pack) as process:
        assert httpx.get(f"{process.url}/readyz").json()["pack"]["kept"] is False
    pack.write_text(BROKEN)
    monkeypatch.chdir(tmp_path)
    for named, said in (
        ([], "the pack can't be loaded; `--deployment NAME` keeps the last good one and serves it instead"),
        (["--deployment", "oder"], "the pack can't be loaded, and deployment `oder` has kept none of this path"),
    ):
        assert main(["serve", "pack.yaml", "--tenant", "alpha", *named]) == 2
        told = capsys.readouterr().err
        assert "pack.yaml:2:8" in told
        assert told.endswith(f"error: {said}\n")
    assert main(["serve", "pack.yaml", "--tenant", "alpha", "--deployment", ""]) == 2
    assert "--deployment: an empty name" in capsys.readouterr().err
    with serving(tmp_path, *arguments, pack=pack) as process:
        since = process.event("pack-kept")["since"]
        url = process.url
        answer = httpx.post(f"{url}/v1/route", json={"capability": "look"})
        assert (answer.status_code, answer.headers["whyroute-pack"]) == (200, f'kept; since="{since}"')
        assert re.search(f"the one that was kept at {re.escape(since)} is served until it can", process.errors())
        pack.write_text(GOOD, "utf-8")
        process.process.send_signal(signal.SIGHUP)
        process.event("pack-unchanged")
        assert "whyroute-pack" not in httpx.get(f"{url}/readyz").headers
