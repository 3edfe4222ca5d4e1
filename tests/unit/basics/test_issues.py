"""Issues: names that are near, errors of very many problems."""

import pickle
import string
from difflib import get_close_matches
from typing import Any

import pytest
from hypothesis import given, strategies as st

from whyroute import InvalidCapabilityError, InvalidProviderError, Issue, answer, define_capability
from whyroute.basics import issues
from whyroute.basics.issues import MAX_ISSUES, did_you_mean, near_name, quoted

KNOWN = ("feature", "contextWindow", "costPerCall", "region", "p95LatencyMs", "providers", "models")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("featur", "feature"),
        ("context_window", "contextWindow"),
        ("REGION", "region"),
        ("model", "models"),
        ("feature", None),
        ("zebra", None),
        ("", None),
        ("feature" * 100, None),
    ],
)
def test_did_you_mean(name: str, near: str | None) -> None:
    assert did_you_mean(name, KNOWN) == ("" if near is None else f"; did you mean `{near}`?")


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("embedding", ["embedder", "azure-de-embedding"], "azure-de-embedding"),
        ("gpt-4o", ["gpt-4", "gpt-4o-mini", "gpt-4o-2024-08-06"], "gpt-4o-mini"),
        ("anthropic-claude", ["claude", "clauded"], None),
        ("my-claude-sonnet", ["claude-sonnet", "my-cloud"], "claude-sonnet"),
        ("maxCallUsd", ["maxCostPerCallUsd", "callUsd"], "callUsd"),
        ("maxCallUsd", ["maxCostPerCallUsd", "maxTokensPerCall"], None),
        ("max", ["maxCostUsd", "maxTokens"], None),
        ("ab", ["abacus"], None),
    ],
)
def test_name_prefix_or_suffix_is_nearest(name: str, known: list[str], near: str | None) -> None:
    assert near_name(name, known) == near


_WORDS = st.text(st.sampled_from("abcde"), min_size=1, max_size=10)


@given(_WORDS, st.lists(_WORDS, max_size=8, unique=True))
def test_nothing_near_is_passed_over(name: str, known: list[str]) -> None:
    # Independent of the code: a part of a name comes first, then a name that is part, then likeness.
    whole = sorted((len(each), each) for each in known if each.startswith(name) or each.endswith(name))
    part = sorted((len(each), each) for each in known if name.startswith(each) or name.endswith(each))
    part = [each for each in part if 2 * each[0] > len(name)]
    if name in known:
        near = None
    elif len(name) >= 3 and whole and (len(whole) == 1 or 2 * len(name) > whole[0][0]):
        near = whole[0][1]
    elif len(name) >= 3 and part:
        near = part[-1][1]
    else:
        near = next(iter(get_close_matches(name, sorted(known), 1, 0.7)), None)
    assert did_you_mean(name, known) == ("" if near is None else f"; did you mean `{near}`?")


def test_names_are_compared_only_where_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def counting(word: str, possibilities: list[str], *more: Any) -> list[str]:
        compared.extend(possibilities)
        return get_close_matches(word, possibilities, *more)

    monkeypatch.setattr(issues, "get_close_matches", counting)
    for _ in range(1_000):
        did_you_mean("a-mistake-that-stands-everywhere", KNOWN)
        did_you_mean("faeture", KNOWN)
    for number in range(1_000):
        did_you_mean(f"qxz{number}", KNOWN)
    assert len(compared) < 10
    many = [f"{first}{second}{number}" for first in string.ascii_lowercase for second in "xyz" for number in range(500)]
    assert did_you_mean("qx499z", many) == "; did you mean `qx499`?"
    assert len(compared) < 2_000


def test_error_keeps_a_thousand_issues() -> None:
    def of(count: int) -> InvalidCapabilityError:
        return InvalidCapabilityError(Issue(f"/{at}", "wrong") for at in range(count))

    assert [issue.path for issue in of(MAX_ISSUES).issues] == [f"/{at}" for at in range(MAX_ISSUES)]
    error = of(20_000)
    assert len(error.issues) == MAX_ISSUES
    assert [issue.path for issue in error.issues[:-1]] == [f"/{at}" for at in range(MAX_ISSUES - 1)]
    assert error.issues[-1] == Issue("", f"{20_001 - MAX_ISSUES} more problems are not listed; correct these first")
    assert str(error).endswith(f"(and at least {MAX_ISSUES - 1} more problems)")
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.issues, str(copied)) == (error.issues, str(error))


def test_faults_past_a_thousand_are_not_sought() -> None:
    needs: list[Any] = [{"vison": number} for number in range(1_500)]
    with pytest.raises(InvalidCapabilityError) as caught:
        define_capability({"needs": needs, "kind": 5})
    assert [issue.path for issue in caught.value.issues[:3]] == ["/needs/0/vison", "/needs/1/vison", "/needs/2/vison"]
    assert caught.value.issues[-1] == ("", "more problems are not looked for; correct these first")
    assert len(caught.value.issues) == MAX_ISSUES
    assert "(and at least 999 more problems)" in str(caught.value)
    answered = answer({"capability": {"needs": needs}, "providers": [{"id": ""}]})["error"]
    assert answered["code"] == "invalid-capability"
    assert len(answered["issues"]) == MAX_ISSUES


def test_many_broken_models_of_one_provider() -> None:
    answered = answer({"capability": {"needs": []}, "providers": [{"id": "p", "region": "r", "models": [{}] * 5_000}]})
    assert answered["error"]["reason"] == "empty-model-name"
    assert len(answered["error"]["issues"]) == MAX_ISSUES
    assert InvalidProviderError("empty-id", [], None).issues == ()


def test_quoted_reads_no_more_names_than_it_shows() -> None:
    assert quoted(["a", "b", "c"], limit=2) == "`a`, `b` and 1 more"
    assert quoted(("a", "b"), limit=2) == "`a`, `b`"
    assert quoted({}) == ""


def test_an_issue_keeps_its_code_and_data() -> None:
    issue = Issue("/b", "`x` is not a key here", Issue.KEY, near=None)
    moved = pickle.loads(pickle.dumps(issue)).under("/a").with_more("; did you mean `y`?")
    assert moved == ("/a/b", "`x` is not a key here; did you mean `y`?")
    assert (moved.code, moved.data) == (Issue.KEY, {"near": None})


def test_issues_are_equal_when_their_sentences_are() -> None:
    assert Issue("/b", "wrong", Issue.VALUE, value=1) == Issue("/b", "wrong")
