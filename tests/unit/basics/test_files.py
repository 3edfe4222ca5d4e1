"""Files that are too large: said with their name and the limit, before they are read."""

import io
import os
import subprocess
from pathlib import Path

import pytest

from checkcases import base_pack
from counting import most_in_use
from whyroute.basics.files import FILE_LIMIT, FileTooLargeError, read_file, read_stream
from whyroute.cli import main

HUGE = 6 * 1024**3
SAID = "larger than 32 MiB, the limit of a file"


@pytest.fixture
def huge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pack with a file of 6 GiB, which takes no room on the disk."""
    monkeypatch.chdir(tmp_path)
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "a.yaml").write_text(base_pack(), "utf-8")
    path = pack / "huge.yaml"
    path.touch()
    os.truncate(path, HUGE)
    return path


def test_files_up_to_the_limit_are_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(FILE_LIMIT))
    assert len(read_file(path)) == FILE_LIMIT
    with open(path, "ab") as file:
        file.write(b"x")
    with pytest.raises(FileTooLargeError):
        read_file(path)
    with pytest.raises(FileTooLargeError):
        read_stream(io.BytesIO(bytes(FILE_LIMIT + 1)))


def test_nothing_is_read_of_large_files(huge: Path) -> None:
    def read() -> None:
        with pytest.raises(FileTooLargeError):
            read_file(huge)

    assert most_in_use(read) < 1_000_000


@pytest.mark.parametrize(
    "command",
    [
        *("check pack", "check pack/huge.yaml", "check pack -f sarif", "test pack", "show pack --tenant shop"),
        *("fmt pack", "fmt pack/huge.yaml", "diff pack pack", "route pack --tenant shop --capability chat"),
        *("route -r pack/huge.yaml", "explain -r pack/huge.yaml", "import litellm pack/huge.yaml"),
        *("bundle pack pack/huge.yaml --tenant shop", "route pack/a.yaml --tenant shop --capability @pack/huge.yaml"),
        "serve pack --tenant shop",
    ],
)
def test_commands_refuse_large_files(huge: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    status = main(command.split())
    out, err = capsys.readouterr()
    assert status == (1 if command.startswith("check") else 2)
    assert SAID in out + err
    assert "huge.yaml" in out + err


def test_a_large_file_of_a_revision_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("whyroute.packs.source.revisions.FILE_LIMIT", 20_000)
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "a.yaml").write_text(base_pack(), "utf-8")
    (tmp_path / "pack" / "large.yaml").write_text("#" * 20_001, "utf-8")
    own = ("-c", "user.name=T", "-c", "user.email=t@example.com")
    for arguments in (("init", "-q"), ("add", "."), (*own, "commit", "-qm", "One")):
        subprocess.run(["git", *arguments], check=True, capture_output=True)
    assert main(["diff", "HEAD:pack", "pack/a.yaml"]) == 2
    assert f"HEAD:pack/large.yaml: can't be read: {SAID}" in capsys.readouterr().err
