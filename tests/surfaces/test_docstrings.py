"""The examples in docstrings of public names run, and print what they show."""

import doctest

import pytest

import whyroute as wr

FINDER = doctest.DocTestFinder()
EXAMPLES = [
    pytest.param(test, id=test.name)
    for name in wr.__all__
    if callable(found := getattr(wr, name)) and str(getattr(found, "__module__", "")).startswith("whyroute")
    for test in FINDER.find(found, name)
    if test.examples
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_prints_what_it_shows(example: doctest.DocTest) -> None:
    told: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=told.append)
    assert "".join(told) == ""
