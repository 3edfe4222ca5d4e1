"""schemathesis against a server that runs, by the server's own description, with every check it has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from serverkit import DATA, serving, token_file


@pytest.mark.parametrize(
    ("phases", "examples"),
    [
        ("examples,fuzzing", 3),
        pytest.param("examples,coverage,fuzzing,stateful", 60, marks=pytest.mark.slow),
    ],
)
def test_the_server_does_what_it_describes(phases: str, examples: int, tmp_path: Path) -> None:
    tokens = token_file(tmp_path / "tokens.json")
    with serving(tmp_path, "--tokens", "tokens.json", "--decisions", "decisions.jsonl") as process:
        program = Path(sys.executable).parent / "schemathesis"
        run = subprocess.run(
            [
                *(str(program), "--config-file", str(DATA / "schemathesis.toml"), "run"),
                *(f"{process.url}/openapi.json", "--checks", "all", "--phases", phases),
                *("--max-examples", str(examples), "--seed", "1", "--no-color"),
                *("--header", f"Authorization: Bearer {tokens['alpha']}"),
            ],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(DATA)},
            check=False,
        )
        assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
        assert process.process.poll() is None
        assert process.stop() == 0
    seen = []
    while not process.lines.empty():
        seen.append(process.lines.get())
    assert not [line for line in seen if line["event"] == "fault"]
    assert len([line for line in seen if line["event"] == "request"]) > 50
