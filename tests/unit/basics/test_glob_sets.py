"""The classes that globs divide texts into, against all short texts and a translation into regular expressions."""

import random
import re
from collections.abc import Iterator, Sequence
from itertools import product

import pytest

from whyroute.basics.glob_sets import TextClass, text_classes


def expression(pattern: str) -> re.Pattern[str]:
    wild = {"*": "[\\s\\S]*", "?": "[\\s\\S]"}
    return re.compile("".join(wild.get(each, re.escape(each)) for each in pattern))


def texts(length: int, alphabet: str) -> Iterator[str]:
    """All texts up to a length."""
    for size in range(length + 1):
        yield from map("".join, product(alphabet, repeat=size))


def drawn(generator: random.Random, characters: str, longest: int) -> str:
    return "".join(generator.choices(characters, k=generator.randint(0, longest)))


def like(globs: Sequence[str], text: str) -> tuple[str, ...]:
    return tuple(each for each in globs if expression(each).fullmatch(text))


def check(globs: Sequence[str], constants: Sequence[str], everything: Sequence[str]) -> None:
    found = text_classes(globs, constants)
    assert found.complete
    globs, constants = list(dict.fromkeys(globs)), list(dict.fromkeys(constants))
    assert [each.example for each in found.classes if each.constant] == constants
    for each in found.classes:
        assert each.like == like(globs, each.example)
        assert sorted([*each.like, *each.unlike]) == sorted(globs)
        assert each.constant is (each.example in constants)
    shortest: dict[tuple[str, ...], int] = {}
    for text in everything:
        if text not in constants:
            shortest.setdefault(like(globs, text), len(text))
    others = {each.like: len(each.example) for each in found.classes if not each.constant}
    assert len(others) == len(found.classes) - len(constants)
    longest = len(everything[-1])
    assert {key: length for key, length in others.items() if length <= longest} == shortest


def check_many(seed: int, cases: int) -> None:
    generator = random.Random(seed)
    everything = list(texts(5, "ab?xy"))  # y is in no pattern
    for _ in range(cases):
        globs = [drawn(generator, "ab?***", 5) for _ in range(generator.randint(0, 4))]
        constants = [drawn(generator, "ab?x", 3) for _ in range(generator.randint(0, 4))]
        check(globs, constants, everything)


def test_classes_are_those_of_all_short_texts() -> None:
    check_many(1, 200)


@pytest.mark.slow
def test_so_are_those_of_many_globs() -> None:
    check_many(2, 2_000)


def test_all_pairs_of_short_globs() -> None:
    everything = list(texts(4, "aby"))
    patterns = list(texts(2, "ab*?"))
    for first, second in product(patterns, repeat=2):
        check([first, second], ["a"], everything)


def test_constants_that_are_all_a_glob_matches() -> None:
    found = text_classes(["?", "*"], ["a", "b"])
    assert [each.example for each in found.classes] == ["a", "b", "", "c"]
    assert text_classes(["ab", "a*"], ["ab"]).classes == (
        TextClass("ab", ("ab", "a*"), (), constant=True),
        TextClass("", (), ("ab", "a*"), constant=False),
        TextClass("a", ("a*",), ("ab",), constant=False),
    )


def test_wildcards_in_constants_are_plain_characters() -> None:
    found = text_classes(["?"], ["a", "*", "?"])
    assert [(each.example, each.like) for each in found.classes[3:]] == [("", ()), ("b", ("?",))]


def test_a_search_beside_constants_may_end_early() -> None:
    assert not text_classes(["*"], ["", "a", "b"], most_states=2).complete
    assert text_classes(["*"], ["", "a", "b"], most_states=4).complete


def test_stars_that_were_reached_leave_few_states() -> None:
    assert text_classes(["*ab*cd*ef*", "*x?y*", "a*z"], most_states=80).complete


def test_many_constants_cost_little() -> None:
    constants = [f"team-{number}" for number in range(5000)]
    found = text_classes(["team-*", "*-1"], constants)
    assert found.complete
    assert len(found.classes) == 5000 + 4


def test_what_takes_too_many_states_is_incomplete() -> None:
    globs = [f"*{letter}*" for letter in "abcdefgh"]
    assert len(text_classes(globs).classes) == 256
    found = text_classes(globs, most_states=200)
    assert not found.complete
    assert 0 < len(found.classes) <= 208
    assert all(each.like == like(globs, each.example) for each in found.classes)
    long = ["*a" + "?" * 20, "?" * 300]
    found = text_classes(long)
    assert not found.complete
    assert set(long) <= {glob for each in found.classes for glob in each.like}


def test_special_characters_are_nothing_special() -> None:
    found = text_classes(["[ab]*", "*\\*", "*\n*", "*\U0001f600?"])
    assert found.complete
    assert len(found.classes) == 16
    assert all(each.like == like(["[ab]*", "*\\*", "*\n*", "*\U0001f600?"], each.example) for each in found.classes)


def test_the_order_of_globs_changes_no_example() -> None:
    globs = ["a*", "*b*", "*c", "?b*"]
    there, back = text_classes(globs), text_classes(globs[::-1])
    assert [each.example for each in there.classes] == [each.example for each in back.classes]
