"""What a person reads after a route: golden text for a few dozen situations. UPDATE_GOLDEN=1 writes it anew."""

import json
import os
import re
from pathlib import Path

import pytest

from whyroute.explanations import Explanation, Limits
from whyroute.render import explanation_lines
from whyroute.render.lines import Line
from whyroute.wire import read_request

SITUATIONS = Path(__file__).parent / "data" / "situations"
NAMES = sorted(path.stem for path in SITUATIONS.glob("*.json"))


def explanation_of(name: str, limits: Limits | None = None) -> Explanation:
    request = read_request(json.loads((SITUATIONS / f"{name}.json").read_text(encoding="utf-8")))
    return Explanation(request.solve(), request.why_not, limits or Limits())


def text_of(lines: list[Line]) -> str:
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines)


def golden(name: str) -> str:
    explanation = explanation_of(name)
    short = text_of(list(explanation_lines(explanation)))
    everything = Limits(near_misses=None, unknowns=None, ranking=None)
    full = text_of(list(explanation_lines(explanation_of(name, everything), everything=True)))
    message = explanation.user_message or "(nothing: it qualifies)"
    return f"{short}\n---- to the end user ----\n{message}\n\n---- --all ----\n{full}"


@pytest.mark.parametrize("name", NAMES)
def test_a_situation_reads_as_it_should(name: str) -> None:
    path = SITUATIONS / f"{name}.txt"
    found = golden(name)
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(found, encoding="utf-8", newline="\n")
    assert found == path.read_text(encoding="utf-8")


def test_there_are_situations() -> None:
    assert len(NAMES) >= 12


@pytest.mark.parametrize("name", NAMES)
def test_text_is_never_a_wall(name: str) -> None:
    assert len(list(explanation_lines(explanation_of(name)))) <= 25


@pytest.mark.parametrize("name", NAMES)
def test_nothing_from_a_catalog_drives_the_terminal(name: str) -> None:
    for line in golden(name).split("\n"):
        assert line.isprintable()


@pytest.mark.parametrize("name", NAMES)
def test_the_message_to_the_end_user_names_no_provider_price_or_rule(name: str) -> None:
    explanation = explanation_of(name)
    message = explanation.user_message
    assert (message is None) == explanation.satisfiable
    if message is None:
        return
    names = {c.metadata.id for c in explanation.catalog.candidates()} | {
        c.model.name for c in explanation.catalog.candidates()
    }
    assert not [each for each in names if re.search(rf"(?<!\w){re.escape(each)}(?!\w)", message) and each != "small"]
    assert "$" not in message
    assert "\n" not in message
    assert not [each.id for each in explanation.constraints if "/" in each.id and each.id in message]
