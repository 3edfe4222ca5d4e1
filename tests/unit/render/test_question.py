"""What an answer says of its question, in words."""

from typing import Any

import pytest

from whyroute.render.question import question_facts, question_lines

END = {"at": "2026-12-24", "whyroute": "0.1.0"}


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ({"labels": {}}, "Asked: a declaration of its own; at 2026-12-24; whyroute 0.1.0"),
        (
            {
                "tenant": "t",
                "capability": "summarise",
                "labels": {
                    "data": {"value": "patient", "from": "default"},
                    "env": {"value": "prod", "from": "operator"},
                },
                "tokens": {"prompt": 1000.0, "completion": 5},
                "preferredModel": "m",
                "pack": "0123456789abcdef" * 4,
            },
            "Asked: `summarise` for tenant `t`; labels data=patient (default), env=prod (operator); "
            "tokens 1000 prompt, 5 completion; preferred model m; at 2026-12-24; pack 0123456789ab; whyroute 0.1.0",
        ),
        (
            {"labels": {}, "declaration": {"slots": {"a": {}, "b": {}}}},
            "Asked: a bundle of 2 slots; at 2026-12-24; whyroute 0.1.0",
        ),
        ({"labels": {}, "bundle": "x\x1b"}, "Asked: bundle `x\\x1b`; at 2026-12-24; whyroute 0.1.0"),
    ],
)
def test_a_question_is_one_line(asked: dict[str, Any], line: str) -> None:
    (spans,) = question_lines({**asked, **END})
    assert "".join(text for text, _ in spans) == line


def test_a_page_has_the_whole_digest() -> None:
    facts = dict(question_facts({"labels": {}, "tenant": "t", "pack": "f" * 64, **END}))
    assert facts == {"tenant": "t", "time": "2026-12-24", "pack": "f" * 64, "answered by": "whyroute 0.1.0"}
