"""Packs at revisions of a real git repository."""

import os
import subprocess
from pathlib import Path

import pytest

from whyroute.cli import main

ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}
PACK = """\
whyroute: 1
providers:
  - id: a
    region: eu
    models:
      - {name: m, contextWindow: 1, features: [], cost: {promptUsdPer1kTokens: 1, completionUsdPer1kTokens: 1}}
capabilities: [{name: any, needs: []}]
"""
LOOSE = "whyroute: 1\ntenants: [{tenantId: acme}]\n"
STRICT = "whyroute: 1\ntenants:\n  - {tenantId: acme, regionAllow: [us]}\n"


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=directory, env=ENVIRONMENT, check=True, capture_output=True)


def commit(directory: Path, files: dict[str, str], message: str) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "-m", message)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("repository")
    git(directory, "init", "-q", "-b", "main")
    commit(directory, {"my rules/pack.yaml": PACK, "my rules/deep/tenants.yml": "whyroute: 1\ntenants: 3\n"}, "broken")
    git(directory, "tag", "broken")
    more = {"my rules/.hidden.yaml": "x: [", "my rules/README.md": "no pack", "other/x.txt": "x"}
    commit(directory, {"my rules/deep/tenants.yml": LOOSE, **more}, "loose")
    git(directory, "tag", "-a", "-m", "v1", "v1")
    commit(directory, {"my rules/deep/tenants.yml": STRICT}, "strict")
    links = directory / "links"
    links.mkdir()
    (links / "a.yaml").symlink_to("../my rules/pack.yaml")
    (links / "b.yaml").symlink_to("../rules/deep/tenants.yml")
    (links / "gone.txt").symlink_to("nowhere")
    (directory / "bad").mkdir()
    (directory / "bad" / "gone.yaml").symlink_to("../nowhere.yaml")
    (directory / "bad" / "outside").symlink_to("../../outside")
    (directory / "bad" / "absolute").symlink_to("/outside")
    (directory / "rules").symlink_to("my rules")
    (directory / "bad" / "chain").symlink_to("../rules/deep")
    (directory / "bad" / "inside").symlink_to("../my rules")
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "-m", "links")
    return directory


@pytest.fixture(autouse=True)
def _surroundings(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [key for key in os.environ if key.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.chdir(repository)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["diff", *arguments, "--at", "2026-12-24"])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize(
    "old", ["HEAD@{2099-01-01 00:00:00}:my rules", "HEAD^{/l:?inks}:my rules", "main@{0}:./my rules"]
)
def test_colons_within_a_revision(capsys: pytest.CaptureFixture[str], old: str) -> None:
    status, out, err = run(capsys, old, "my rules", "--fail-on", "any")
    assert (status, err) == (0, "")
    assert out.endswith("no difference in meaning\n")


def test_revision_with_colons_in_braces_is_path(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "HEAD@{2099-01-01 00:00:00}", "my rules")
    assert status == 2
    assert "there is no such file or directory" in err


@pytest.mark.parametrize("end", ["/", "/.", "//"])
def test_file_with_trailing_slash_is_refused(capsys: pytest.CaptureFixture[str], end: str) -> None:
    status, _, err = run(capsys, f"HEAD:my rules/pack.yaml{end}", "my rules")
    assert status == 2
    assert "`my rules/pack.yaml` is a file at `HEAD`; leave out what follows its name" in err


@pytest.mark.parametrize("old", ["v1:my rules", "HEAD~2:my rules/", "v1:./my rules", "main~2:other/../my rules"])
def test_a_revision_and_the_working_tree(capsys: pytest.CaptureFixture[str], old: str) -> None:
    status, out, err = run(capsys, old, "my rules", "--fail-on", "broken")
    assert (status, err) == (1, "")
    assert "nothing qualifies" in out
    assert "my rules/deep/tenants.yml:3:22" in out


def test_two_revisions_say_so_in_places(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "HEAD:my rules", "v1:my rules", "--fail-on", "looser")
    assert status == 1
    assert out.startswith("HEAD:my rules  ->  v1:my rules\n")
    assert "HEAD:my rules/deep/tenants.yml:3:22" in out


def test_from_inside_the_repository(
    capsys: pytest.CaptureFixture[str], repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository / "my rules" / "deep")
    assert run(capsys, "HEAD:..", "HEAD:my rules")[0] == 0
    assert run(capsys, "HEAD:../", "..", "--fail-on", "any")[0] == 0
    _, _, err = run(capsys, "HEAD:tenants.yml", "..")
    assert "there is no `tenants.yml` at `HEAD`" in err
    assert "did you mean `HEAD:./tenants.yml`?" in err
    _, _, err = run(capsys, "HEAD:../../..", "..")
    assert "`../../..` leads out of the repository" in err


def test_a_shallow_clone_says_that_it_is_one(
    capsys: pytest.CaptureFixture[str], repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", repository.as_uri(), "shallow")
    monkeypatch.chdir(tmp_path / "shallow")
    status, _, err = run(capsys, "HEAD~1:my rules", "my rules")
    assert status == 2
    assert "`HEAD~1` is no revision of this git repository, which is a shallow clone: `git fetch --unshallow` " in err


def test_links(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "HEAD:links", "my rules", "--fail-on", "any")[:2][0] == 0
    assert run(capsys, "HEAD:links/a.yaml", "HEAD:my rules/pack.yaml", "--fail-on", "any")[0] == 0
    status, _, err = run(capsys, "HEAD:bad", "my rules")
    assert status == 2
    assert "HEAD:bad/gone.yaml: can't be read: a link that leads to nothing in this revision" in err
    assert "HEAD:bad/inside: a link to a directory; these are not followed in a revision" in err
    assert "HEAD:bad/chain: a link to a directory; these are not followed in a revision" in err
    assert "HEAD:bad/outside: a link that leads out of the repository" in err
    assert "HEAD:bad/absolute: a link that leads out of the repository" in err


def test_a_path_with_a_colon_wins(
    capsys: pytest.CaptureFixture[str], repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "HEAD:x.yaml").write_text(PACK, "utf-8")
    assert run(capsys, "HEAD:x.yaml", "HEAD:x.yaml")[0] == 0


def test_both_packs_are_told_when_both_are_broken(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "broken:my rules", "HEAD:other")
    assert (status, out) == (2, "")
    assert err.splitlines() == [
        "error: OLD, `broken:my rules`, can't be compared",
        "error: the pack has 1 problem",
        "broken:my rules/deep/tenants.yml:2:10: `3`, a number; `tenants` is a list of tenants",
        "  2 | tenants: 3",
        "    |          ^",
        "error: NEW, `HEAD:other`, can't be compared",
        "error: the pack has 1 problem",
        "HEAD:other: no `*.yaml` or `*.yml` in this directory; a pack has at least one",
    ]


@pytest.mark.parametrize(
    ("old", "message"),
    [
        ("nope:my rules", "`nope` is no revision of this git repository"),
        ("HEAD:nope", "there is no `nope` at `HEAD`; paths are from the root of the repository"),
        ("HEAD:/my rules", "`/my rules` is absolute"),
        (":my rules", "the revision is missing before the colon"),
        ("v1..HEAD:my rules", "`v1..HEAD` is no revision"),
        ("^HEAD:my rules", "`^HEAD` is no revision"),
        ("HEAD:my rules/pack.yaml/x", "there is no `my rules/pack.yaml/x`"),
    ],
)
def test_what_is_not_there(capsys: pytest.CaptureFixture[str], old: str, message: str) -> None:
    status, out, err = run(capsys, old, "my rules")
    assert (status, out) == (2, "")
    assert message.lower() in err.lower()


def test_a_revision_is_never_an_option(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    status = main(["diff", "--", "--output=x:my rules", "my rules"])
    assert status == 2
    assert "`--output=x` is no revision" in capsys.readouterr().err
    assert not (repository / "x").exists()


def test_no_repository(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert "no git repository here" in run(capsys, "HEAD:x", "HEAD:x")[2]


def test_no_git(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "git is not installed, or not on the PATH" in run(capsys, "HEAD:x", "my rules")[2]


def test_nothing_is_checked_out(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    before = sorted(path.relative_to(repository).as_posix() for path in repository.rglob("*"))
    run(capsys, "v1:my rules", "HEAD:my rules")
    assert sorted(path.relative_to(repository).as_posix() for path in repository.rglob("*")) == before
