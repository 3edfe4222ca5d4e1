"""What a request says of itself beside its declaration: labels, time and tokens, and what is wrong with them."""

import math
from collections.abc import Mapping
from typing import Any

from ..basics.issues import Issue, child, did_you_mean, kind_of, shown
from ..basics.numbers import Number, as_double
from ..documents.phrases import null
from .timestamps import moment_issues

__all__ = ["fact_issues", "label_issues", "not_text", "token_issues"]

_TOKEN_KEYS = ("prompt", "completion")


def label_issues(value: Any, path: str) -> list[Issue]:
    """What is wrong with a request's labels."""
    if not isinstance(value, Mapping):
        return [Issue(path, f"{kind_of(value)}; labels are an object of strings")]
    issues = [
        Issue(path, f"key {shown(key)} is {kind_of(key)}; a string is expected")
        for key in value
        if not isinstance(key, str)
    ]
    return issues + [
        not_text(child(path, key), item)
        for key, item in value.items()
        if isinstance(key, str) and not isinstance(item, str)
    ]


def not_text(path: str, value: Any) -> Issue:
    """The issue about a value that is no string."""
    if value is None:
        return null(path, "a string is expected")
    message = f"{shown(value)} is {kind_of(value)}; a string is expected"
    return Issue(path, message, Issue.VALUE, value=value, wants="string")


def token_issues(value: Any, path: str) -> list[Issue]:
    """What is wrong with the tokens of a call."""
    if not isinstance(value, Mapping):
        return [Issue(path, f"{kind_of(value)}; tokens are an object with `prompt` and `completion`")]
    issues = [
        Issue(child(path, key), f"{shown(key)} is no key here{did_you_mean(str(key), _TOKEN_KEYS)}", Issue.KEY)
        for key in value
        if key not in _TOKEN_KEYS
    ]
    for key in _TOKEN_KEYS:
        count = value.get(key)
        if isinstance(count, bool) or not isinstance(count, int | float) or not _is_count(count):
            expected = f"`{key}` is an integer of at least 0"
            if key in value:
                message = f"{shown(count)}; {expected}"
                issues.append(Issue(child(path, key), message, Issue.VALUE, value=count, wants="integer"))
            else:
                issues.append(Issue(child(path, key), f"missing; {expected}"))
    return issues


def _is_count(number: Number) -> bool:
    # Past 2**53 the double of an integer is a float, and past all doubles an infinity.
    number = as_double(number)
    return math.isfinite(number) and number >= 0 and number % 1 == 0


_CHECKS = {"labels": label_issues, "at": moment_issues, "tokens": token_issues}


def fact_issues(facts: Mapping[str, Any]) -> list[Issue]:
    """What is wrong with `labels`, `at` and `tokens`; keys that are absent are fine."""
    return [issue for key, value in facts.items() for issue in _CHECKS[key](value, child("", key))]
