"""A page that is worked through from top to bottom: its files are written, its commands run, in an empty folder.

`python tests/guide.py PAGE` runs it and puts what the commands print into the page.
"""

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from whyroute.cli import main

__all__ = ["worked_through"]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
AT_END = ", at the end"
NAMES = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@clinic.example"}


class Shell:
    """A bash that goes on from command to command, as a person's does.

    `whyroute` runs in this process, in the shell's folder and environment, as starting Python takes longest.
    """

    def __init__(self, home: Path) -> None:
        kept = {
            key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "COLUMNS", "FORCE_COLOR"))
        }
        committer = {key.replace("AUTHOR", "COMMITTER"): value for key, value in NAMES.items()}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "NO_COLOR": "1", "PATH": path}
        self._environment = kept | NAMES | committer | quiet
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=home,
            env=self._environment,
            text=True,
            encoding="utf-8",
        )

    def run(self, command: str) -> str:
        """What a command prints."""
        program, *arguments = shlex.split(command, comments=True)
        if program != "whyroute":
            return self._run(command)
        printed = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        environment = patch.dict(os.environ, self._environment, clear=True)
        with environment, chdir(self.folder()), redirect_stdout(printed), redirect_stderr(printed):
            status = main(arguments)
        self._run(f"(exit {status})")
        printed.seek(0)
        return printed.read()

    def _run(self, command: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        end = "the-command-has-ended"
        self._process.stdin.write(f"{command}\n{{ status=$?; echo {end}; (exit $status); }} 2>&1\n")
        self._process.stdin.flush()
        lines = list(iter(self._process.stdout.readline, f"{end}\n"))
        return "".join(lines)

    def folder(self) -> Path:
        """Where it is."""
        return Path(self._run("pwd").strip())

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def worked_through(text: str, home: Path) -> str:
    """A page with what its commands print when they are run in order.

    A YAML block whose first line is `# NAME` is written to that file, that line included; where the line ends with
    `, at the end`, after what the file has.
    """
    shell = Shell(home)
    try:
        return "".join(_pieces(text, shell))
    finally:
        shell.close()


def _pieces(text: str, shell: Shell) -> Iterator[str]:
    done = 0
    for block in FENCE.finditer(text):
        yield text[done : block.start()]
        done = block.end()
        language, body = block.groups()
        if language == "yaml":
            _write(body, shell.folder())
        if language != "console":
            yield block.group()
            continue
        commands = re.findall(r"^\$ (.*)$", body, re.MULTILINE)
        yield "```console\n" + "".join(f"$ {command}\n{shell.run(command)}" for command in commands) + "```"
    yield text[done:]


def _write(body: str, folder: Path) -> None:
    first = body.partition("\n")[0]
    name = first.removeprefix("# ").removesuffix(AT_END)
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if first.endswith(AT_END):
        file.write_text(file.read_text(encoding="utf-8") + body, encoding="utf-8")
    else:
        file.write_text(body, encoding="utf-8")


if __name__ == "__main__":
    page = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        page.write_text(worked_through(page.read_text(encoding="utf-8"), Path(folder)), encoding="utf-8")
