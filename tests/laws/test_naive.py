"""The naive router against the recorded answers: an oracle must be right before it judges."""

import pytest

import naive
from cases import expected, lines


def test_the_naive_router_answers_as_recorded() -> None:
    for case in lines("routing.jsonl"):
        found = naive.answer(case["input"])
        if "decision" in found:
            del found["decision"]["score"]  # the recorded answers have none
        assert found == expected(case), case["id"]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"),
        (0.00003, "0.00003"),
        (1e-7, "1e-7"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1.5e-9, "1.5e-9"),
        (1e21, "1e+21"),
        (123456789012345680000.0, "123456789012345680000"),
        (2**60, "1152921504606847000"),
        (0, "0"),
        (-0.0, "0"),
        (-2.5, "-2.5"),
        (1e-6, "0.000001"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
    ],
)
def test_numbers_print_as_ecmascript_prints_them(number: float, text: str) -> None:
    assert naive.printed(number) == text
