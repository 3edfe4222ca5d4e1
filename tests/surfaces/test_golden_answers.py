"""Answers to random requests as JSON and in words, recorded: those that tell one mutation of the code from the code."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import whyroute as wr
from cases import lines
from whyroute.cli import main

CASES = lines("golden/answers.jsonl")


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_answers_are_what_they_were(case: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """To record them anew, write what this finds into the file, and read the difference as whoever gets it."""
    request = case["request"]
    assert wr.answer(copy.deepcopy(request)) == case["answer"]
    path = tmp_path / "request.json"
    path.write_text(json.dumps(request), "utf-8")
    last = request["providers"][-1]
    provider, model = last["id"], last["models"][-1]["name"]
    if "slots" in request:
        asked = ["bundle", "--why-not", f"{list(request['slots'])[-1]}={provider}/{model}", "--all"]
    else:
        asked = ["explain", "--why-not-provider", provider, "--why-not-model", model]
    main([*asked, "--request", str(path)])
    told = capsys.readouterr()
    assert (told.out + told.err).split("\n") == case["text"]
