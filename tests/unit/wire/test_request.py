"""Wire requests: every error code, all problems at once, what is echoed; and nothing makes `answer` raise."""

import copy
import json
import math
import re
import time
from collections import OrderedDict, UserDict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator

import strategies as wire
import whyroute as wr
from house_style import broken_rules
from naming import named
from whyroute import InvalidRequestError, answer
from whyroute.basics.issues import MAX_ISSUES
from whyroute.model.timestamps import MOMENT_PATTERN, moment_issues
from whyroute.wire.request import answer_line, read_request
from whyroute.wire.schemas import request_schema

Json = dict[str, Any]
AT = "2026-12-24T09:30:00Z"


def model(name: str = "m", **more: Any) -> Json:
    cost = {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}
    return {"name": name, "contextWindow": 8000, "features": ["vision"], "cost": cost, **more}


def provider(provider_id: str = "p", *models: Json, **more: Any) -> Json:
    return {"id": provider_id, "region": "r", "models": list(models) or [model()], **more}


def request(**more: Any) -> Json:
    return {"capability": {"needs": [{"feature": "vision"}]}, "providers": [provider()], **more}


def on_the_wire(answered: Json) -> Json:
    """What a reader of the answer gets; fails where the answer is no JSON."""
    text = json.dumps(answered, ensure_ascii=False, allow_nan=False).encode("utf-8")
    found: Json = json.loads(text)
    return found


def asked(given_request: Any, **options: Any) -> Json:
    answered = answer(given_request, **options)
    on_the_wire(answered)
    if "error" in answered:
        error = answered["error"]
        assert broken_rules(error["message"]) == [], error["message"]
        for issue in error.get("issues", ()):
            assert broken_rules(issue["message"]) == [], issue
            assert issue["path"] == "" or issue["path"].startswith("/")
    else:
        assert broken_rules(answered["decision"]["reason"]) == []
    return answered


def error_of(given_request: Any) -> Json:
    found: Json = asked(given_request)["error"]
    return found


def paths(error: Json) -> list[str]:
    return [issue["path"] for issue in error["issues"]]


def message_at(error: Json, path: str) -> str:
    (message,) = (issue["message"] for issue in error["issues"] if issue["path"] == path)
    return str(message)


# Answers.


def test_a_decision() -> None:
    assert asked(request(at=AT)) == {
        "decision": {
            "pick": {"provider": "p", "model": "m"},
            "alternates": [],
            "fallback": False,
            "reason": "`p` / `m` meets the one need; it is the only candidate that qualifies",
            "score": 0,
        },
        "at": AT,
        "asked": {
            "declaration": {"needs": [{"feature": "vision"}]},
            "labels": {},
            "at": AT,
            "whyroute": wr.__version__,
        },
    }


def test_a_failed_answer() -> None:
    failed = request(at=AT, tenantPolicy={"tenantId": "t", "models": {"allow": []}})
    error = asked(failed)["error"]
    assert {key: error[key] for key in ("code", "tenantId")} == {"code": "capability-unsatisfiable", "tenantId": "t"}
    assert [reason["requirement"] for reason in error["reasons"]] == ["tenant.models.allow[]"]
    assert asked(failed)["at"] == AT
    assert "tenantId" not in error_of(request(capability={"needs": [{"region": "nowhere"}]}))


def test_an_answer_says_when_it_was_given() -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    moment = datetime.fromisoformat(asked(request())["at"])
    assert before <= moment <= datetime.now(UTC)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", asked(request())["at"])
    now = datetime(2027, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=2)))
    assert read_request(request(), now=now).at == "2026-12-31T22:30:00Z"
    assert read_request(request(at=AT), now=now).at == AT


@pytest.mark.parametrize(
    "moment",
    [
        "2026-12-24",
        "2024-02-29",
        "2026-12-24T09:30Z",
        "2026-12-24T09:30:00Z",
        "2026-12-24t09:30:00z",
        "2026-12-24T09:30:00.5Z",
        "2026-12-24T09:30:00.123456789+05:45",
        "2026-12-24T09:30:00-23:59",
        "0001-01-01",
    ],
)
def test_times(moment: str) -> None:
    assert asked(request(at=moment))["at"] == moment


@pytest.mark.parametrize(
    "moment",
    [
        "",
        "now",
        "2026",
        "2026-12",
        "2026-2-3",
        "2025-02-29",
        "2026-13-01",
        "0000-01-01",
        "2026-12-24T09:30:00",
        "2026-12-24T25:00Z",
        "2026-12-24T09:30:61Z",
        "2026-12-24 09:30:00Z",
        "2026-12-24T09Z",
        "2026-12-24T0930Z",
        "20261224",
        "2026-W01-1",
        "2026-12-24T09:30:00+25:00",
        "2026-12-24T09:30:00.1234567890Z",
        "2026-12-24\n",
        "\u0662\u0660\u0662\u0666-12-24",
        1798104600,
        None,
        ["2026-12-24"],
        True,
    ],
    ids=str,
)
def test_what_is_no_time(moment: Any) -> None:
    error = error_of(request(at=moment))
    assert (error["code"], paths(error)) == ("invalid-request", ["/at"])


def test_what_may_be_included() -> None:
    plain = asked(request(at=AT))
    matched = asked(request(at=AT, include=["matched"]))
    assert matched == {**plain, "matched": [{"provider": "p", "model": "m"}]}
    explained = asked(request(at=AT, include=["explanation"]))
    assert explained["explanation"]["satisfiable"] is True
    assert [found["id"] for found in explained["explanation"]["constraints"]] == ["kind", "needs/0"]
    everything = asked(request(at=AT, include=["explanation", "request", "matched", "matched"]))
    assert set(everything) == {"decision", "at", "asked", "matched", "explanation", "request"}
    assert asked(request(include=[])).keys() == {"decision", "at", "asked"}
    failed = asked(request(capability={"needs": [{"region": "x"}]}, include=["matched", "explanation"]))
    assert failed["matched"] == []
    assert failed["explanation"]["satisfiable"] is False


@settings(max_examples=60)
@given(wire.requests())
def test_included_request_gives_the_same_answer(asking: Json) -> None:
    first = asked({**asking, "include": ["matched", "request"], "id": 7})
    again = first.pop("request")
    assert not {"id", "include"} & set(again)
    assert again["at"] == first["at"]
    assert asked({**again, "include": ["matched"], "id": 7}) == first


def test_included_request_is_always_json() -> None:
    asking: Any = MappingProxyType(
        {
            "capability": UserDict({"needs": ({"feature": "vision"},)}),
            "providers": (OrderedDict(provider()),),
            "include": ("request",),
            "labels": MappingProxyType({"env": "dev"}),
            "at": AT,
        }
    )
    answered = on_the_wire(asked(asking))
    assert answered["request"] == request(labels={"env": "dev"}, at=AT)


@pytest.mark.parametrize(
    "given_id", [0, "", "x", None, 1.5, [1, {"a": None}], {"k": []}, True, 2**70, "\u00e9\U0001f600"], ids=str
)
def test_an_id_is_echoed(given_id: Any) -> None:
    for asking in (request(), request(capability={"needs": [{"region": "x"}]}), request(at=5), {}):
        answered = on_the_wire(asked({**asking, "id": given_id}))
        assert answered["id"] == given_id
        assert next(iter(answered)) == "id"
    assert "id" not in asked(request())


@pytest.mark.parametrize(
    "given_id", [math.nan, [math.inf], "\ud800", object(), {1: 2}], ids=["nan", "inf", "half", "object", "key"]
)
def test_non_json_id_is_not_echoed(given_id: Any) -> None:
    answered = asked(request(id=given_id))
    assert "id" not in answered
    assert answered["error"]["code"] == "invalid-request"
    assert paths(answered["error"])[0].startswith("/id")


# Errors.


def test_every_code() -> None:
    broken = {
        "invalid-request": request(at="soon"),
        "invalid-capability": request(capability={"needs": [{"feature": "vison"}]}),
        "invalid-policy": request(tenantPolicy={"tenantId": "t", "maxCostPerCallUsd": -1}),
        "invalid-provider": request(providers=[provider(region="")]),
        "duplicate-provider": request(providers=[provider(), provider("q"), provider()]),
    }
    for code, asking in broken.items():
        assert error_of(asking)["code"] == code
    assert message_at(error_of(broken["invalid-capability"]), "/capability/needs/0/feature") == (
        "`vison` is not a feature; did you mean `vision`?"
    )
    assert paths(error_of(broken["invalid-policy"])) == ["/tenantPolicy/maxCostPerCallUsd"]
    assert error_of(broken["invalid-provider"])["reason"] == "empty-region"
    duplicate = error_of(broken["duplicate-provider"])
    assert duplicate["providerId"] == "p"
    assert paths(duplicate) == ["/providers/2/id"]
    assert "/providers/0" in message_at(duplicate, "/providers/2/id")
    assert "at" not in asked(broken["invalid-request"])


BROKEN: list[tuple[str, str, Json]] = [
    ("invalid-request", "/tokans", {"tokans": 1}),
    ("invalid-capability", "/capability/needs/0", {"capability": {"needs": [{}]}}),
    ("invalid-policy", "/tenantPolicy", {"tenantPolicy": {}}),
    ("invalid-provider", "/providers/0/id", {"providers": [provider("")]}),
    (
        "duplicate-provider",
        "/providers/3/id",
        {"providers": [provider("x"), provider("d"), provider("e"), provider("d")]},
    ),
]


@pytest.mark.parametrize("first", range(len(BROKEN)))
@pytest.mark.parametrize("second", range(len(BROKEN)))
def test_all_problems_come_with_the_first_kind(first: int, second: int) -> None:
    if first >= second:
        return
    asking = request()
    expected = []
    for code, path, spoilt in (BROKEN[first], BROKEN[second]):
        for key, value in spoilt.items():
            if key == "providers" and asking["providers"][0]["id"] == "":
                asking["providers"] += value[1:]  # both errors of providers at once
            else:
                asking[key] = value
        expected.append(path)
        assert code
    error = error_of(asking)
    assert error["code"] == BROKEN[first][0]
    if (first, second) == (3, 4):
        assert paths(error) == ["/providers/0/id", "/providers/3/id"]
    else:
        assert paths(error) == expected


def test_everything_wrong_at_once() -> None:
    error = error_of(
        {
            "capability": {"needs": [{"feature": "vison"}, {"region": 5}], "kind": ""},
            "providers": [
                provider("a", model(contextWindow=0)),
                provider("b"),
                provider("b"),
                "c",
                provider("b"),
                provider("d", model(""), region=""),
            ],
            "tenantPolicy": {"tenantId": 5, "regionAllow": "eu"},
            "preferredProvider": 5,
            "preferredModel": None,
            "setupFailures": [{"providerId": 5, "mesage": "x"}, 5],
            "labels": {"a": 1},
            "at": "now",
            "tokens": {"prompt": -1, "completon": 5},
            "include": ["matchd", 5],
            "lables": {},
        }
    )
    assert error["code"] == "invalid-request"
    found = paths(error)
    assert sorted(found) == sorted(
        [
            "/capability/kind",
            "/capability/needs/0/feature",
            "/capability/needs/1/region",
            "/providers/0/models/0/contextWindow",
            "/providers/2/id",
            "/providers/3",
            "/providers/4/id",
            "/providers/5/region",
            "/providers/5/models/0/name",
            "/tenantPolicy/tenantId",
            "/tenantPolicy/regionAllow",
            "/preferredProvider",
            "/preferredModel",
            "/setupFailures/0/providerId",
            "/setupFailures/0/message",
            "/setupFailures/0/mesage",
            "/setupFailures/1",
            "/labels/a",
            "/at",
            "/tokens/prompt",
            "/tokens/completion",
            "/tokens/completon",
            "/include/0",
            "/include/1",
            "/lables",
        ]
    )
    assert found[0] == "/preferredProvider", "the issues of the kind that names the error come first"


def test_every_duplicate_is_told() -> None:
    twice = request(providers=[provider(name) for name in ("a", "b", "b", "a", "a")])
    error = error_of(twice)
    assert error["providerId"] == "b"
    assert paths(error) == ["/providers/2/id", "/providers/3/id", "/providers/4/id"]


def test_rule_breaks_precede_duplicates() -> None:
    error = error_of(request(providers=[provider("a"), provider("a"), provider("b", region="")]))
    assert (error["code"], error["reason"]) == ("invalid-provider", "empty-region")
    assert paths(error) == ["/providers/2/region", "/providers/1/id"]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("Capability", "capability"),
        ("capabilty", "capability"),
        ("provider", "providers"),
        ("tenant_policy", "tenantPolicy"),
        ("preferredprovider", "preferredProvider"),
        ("setup_failures", "setupFailures"),
        ("token", "tokens"),
        ("includes", "include"),
        ("lable", "labels"),
    ],
)
def test_unknown_key_is_refused_with_suggestion(key: str, meant: str) -> None:
    error = error_of(request(**{key: None}))
    assert error["code"] == "invalid-request"
    assert message_at(error, f"/{key}") == f"`{key}` is not a key of a request; did you mean `{meant}`?"


def test_an_unknown_key_that_is_like_no_other() -> None:
    assert "the keys are `capability`, `providers`" in message_at(error_of(request(xyzzy=1)), "/xyzzy")
    assert message_at(error_of(request(**{"a/b~c": 1})), "/a~1b~0c")


def test_ties_go_with_slots() -> None:
    error = error_of(request(together=[]))
    assert error["code"] == "invalid-request"
    assert "which has `slots`" in message_at(error, "/together")


def test_slots_take_the_place_of_a_capability() -> None:
    error = error_of(request(slots=[]))
    assert error["code"] == "invalid-request"
    assert "an object of slots" in message_at(error, "/slots")
    assert "key of each slot" in message_at(error, "/capability")


def test_what_is_missing() -> None:
    assert paths(error_of({})) == ["/capability", "/providers"]
    assert paths(error_of({"providers": []})) == ["/capability"]
    assert paths(error_of({"capability": {"needs": []}})) == ["/providers"]
    assert "missing" in message_at(error_of({}), "/providers")


@pytest.mark.parametrize("asking", [None, [], "text", 5, True, 1.5, b"{}", object(), {1, 2}], ids=named)
def test_a_request_that_is_no_object(asking: Any) -> None:
    error = error_of(asking)
    assert (error["code"], paths(error)) == ("invalid-request", [""])


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("capability", [None, [], "text", 5, True]),
        ("providers", [None, {}, "text", 5, True]),
        ("tenantPolicy", [None, [], "text", 5, True]),
        ("preferredProvider", [None, [], {}, 5, True]),
        ("preferredModel", [None, [], {}, 5, True]),
        ("setupFailures", [None, {}, "text", 5, True]),
        ("labels", [None, [], "text", 5, True]),
        ("tokens", [None, [], "text", 5, True]),
        ("include", [None, {}, "matched", 5, True]),
        ("whyNot", [None, [], "p/m", 5, True]),
    ],
)
def test_wrong_types(key: str, values: list[Any]) -> None:
    for value in values:
        error = error_of(request(**{key: value}))
        assert error["code"] == {"capability": "invalid-capability", "tenantPolicy": "invalid-policy"}.get(
            key, "invalid-request"
        )
        assert paths(error) == [f"/{key}"]


def test_null_is_no_clause() -> None:
    for clause in ("providers", "models", "regionAllow", "maxCostPerCallUsd", "maxTokensPerCall"):
        error = error_of(request(tenantPolicy={"tenantId": "t", clause: None}))
        assert (error["code"], paths(error)) == ("invalid-policy", [f"/tenantPolicy/{clause}"])


@pytest.mark.parametrize(
    ("clause", "value"),
    [
        ("maxCostPerCallUsd", -0.01),
        ("maxCostPerCallUsd", math.inf),
        ("maxCostPerCallUsd", math.nan),
        ("maxCostPerCallUsd", True),
        ("maxCostPerCallUsd", "1"),
        ("maxTokensPerCall", 0),
        ("maxTokensPerCall", 1.5),
        ("maxTokensPerCall", -5),
        ("maxTokensPerCall", False),
        ("maxTokensPerCall", 10**400),
        ("regionAllow", "eu"),
        ("regionAllow", [5]),
        ("providers", ["p"]),
        ("providers", {"alow": []}),
        ("models", {"deny": "m"}),
    ],
)
def test_a_policy_that_is_broken(clause: str, value: Any) -> None:
    error = error_of(request(tenantPolicy={"tenantId": "t", clause: value}))
    assert error["code"] == "invalid-policy"
    assert all(path.startswith(f"/tenantPolicy/{clause}") for path in paths(error))


@pytest.mark.parametrize(
    ("tokens", "wrong"),
    [
        ({"prompt": 0, "completion": 0}, []),
        ({"prompt": 5.0, "completion": 2**53}, []),
        ({"prompt": 2**53 + 2, "completion": 10**300}, []),
        ({"prompt": 2.5, "completion": -(2**53) - 2}, ["/tokens/prompt", "/tokens/completion"]),
        ({"prompt": math.inf, "completion": 10**400}, ["/tokens/prompt", "/tokens/completion"]),
        ({}, ["/tokens/prompt", "/tokens/completion"]),
        ({"prompt": 1}, ["/tokens/completion"]),
        ({"prompt": 1.5, "completion": True}, ["/tokens/prompt", "/tokens/completion"]),
        ({"prompt": -1, "completion": "1"}, ["/tokens/prompt", "/tokens/completion"]),
        ({"prompt": math.nan, "completion": 1}, ["/tokens/prompt"]),
        ({"prompt": 1, "completion": 1, "total": 2}, ["/tokens/total"]),
    ],
)
def test_tokens(tokens: Json, wrong: list[str]) -> None:
    answered = asked(request(tokens=tokens))
    assert [issue["path"] for issue in answered.get("error", {}).get("issues", ())] == wrong


def test_numbers_are_read_as_doubles() -> None:
    asking = request(
        capability={"needs": [{"contextWindow": {"op": ">=", "value": 200000.0}}]},
        providers=[provider("p", model(contextWindow=10**25), model("n", contextWindow=199999.0))],
        include=["matched"],
    )
    assert asked(asking)["matched"] == [{"provider": "p", "model": "m"}]
    only = request(capability={"needs": [{"contextWindow": {"op": "<", "value": 200000.0}}]}, providers=[])
    only["providers"] = [provider("p", model(contextWindow=10**25))]
    reason = error_of(only)["reasons"][0]
    assert reason["requirement"] == "contextWindow<200000"
    assert reason["rejectingProviders"][0]["reason"]["observed"] == 1e25
    assert "1e+25" in reason["rejectingProviders"][0]["reason"]["message"]


def test_an_empty_needs_is_fine_here() -> None:
    assert "decision" in asked(request(capability={"needs": []}))


# Hostile values.


def nested(depth: int, make: Callable[[Any], Any]) -> Any:
    found: Any = 0
    for _ in range(depth):
        found = make(found)
    return found


def cyclic_list() -> Any:
    found: list[Any] = []
    found.append(found)
    return found


def cyclic_twice() -> Any:
    """Holds itself twice: a reader that only counts levels would take 2**64 steps."""
    found: list[Any] = []
    found += [found, found]
    return found


def cyclic_object() -> Any:
    found: Json = {}
    found["a"] = found
    found["b"] = [found]
    return found


class Number(float):
    pass


class Text(str):
    __slots__ = ()


HOSTILE: dict[str, Callable[[], Any]] = {
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "huge": lambda: 10**400,
    "very huge": lambda: 1 << 200_000,
    "-huge": lambda: -(10**400),
    "true": lambda: True,
    "zero": lambda: 0,
    "minus zero": lambda: -0.0,
    "null": lambda: None,
    "empty": lambda: "",
    "half a pair": lambda: "a\ud800b",
    "a key that is half a pair": lambda: {"\udfff": 1},
    "nul": lambda: "\x00",
    "line break": lambda: "a\nb\u2028",
    "long": lambda: "x" * 100_000,
    "backticks": lambda: "a`b`c",
    "bytes": lambda: b"bytes",
    "bytearray": lambda: bytearray(b"bytes"),
    "set": lambda: {1, 2},
    "object": object,
    "type": lambda: int,
    "function": lambda: len,
    "decimal": lambda: Decimal("0.1"),
    "fraction": lambda: Fraction(1, 3),
    "complex": lambda: 1j,
    "generator": lambda: (at for at in range(3)),
    "datetime": lambda: datetime(2026, 1, 1, tzinfo=UTC),
    "number key": lambda: {7: 2, None: 3, True: 4, 1.5: 5},
    "tuple key": lambda: {(1, 2): 3},
    "deep list": lambda: nested(10_000, lambda inner: [inner]),
    "deep object": lambda: nested(10_000, lambda inner: {"a": inner}),
    "deep tuple": lambda: nested(10_000, lambda inner: (inner,)),
    "cyclic list": cyclic_list,
    "cyclic twice": cyclic_twice,
    "cyclic object": cyclic_object,
    "float subclass": lambda: Number("nan"),
    "str subclass": lambda: Text("\ud800"),
    "exception": lambda: ValueError("x"),
    "pointer": lambda: {"a/b": {"~": object()}},
}

FULL: Json = {
    "capability": {
        "kind": "llm-inference",
        "needs": [
            {"feature": "vision"},
            {"contextWindow": {"op": ">=", "value": 1}},
            {"costPerCall": {"op": "<=", "usd": 5}},
            {"region": "r"},
            {"p95LatencyMs": {"op": "<=", "value": 100}},
            {"providers": {"allow": ["p"], "deny": ["q"]}},
            {"models": {"allow": ["m"], "deny": []}},
        ],
        "prefer": [{"feature": "local", "weight": 0.5}],
        "budget": {"maxCostUsd": 1, "maxTokens": 5, "maxDurationMs": 9},
    },
    "providers": [
        provider(
            "p",
            model(p95LatencyMs=5, maxOutputTokens=5, sampling=True, thinking={"mode": "always", "lowest": "low"}),
            attributes=["local"],
            labels={"team": "a"},
            fallback=False,
            defaultModel="m",
            capabilityKind="llm-inference",
            description="text",
            note={"of": ["the adapter"]},
        )
    ],
    "tenantPolicy": {
        "tenantId": "t",
        "providers": {"allow": ["p"], "deny": []},
        "models": {"allow": ["m"], "deny": ["n"]},
        "regionAllow": ["r"],
        "maxCostPerCallUsd": 3,
        "maxTokensPerCall": 3,
    },
    "preferredProvider": "p",
    "preferredModel": "m",
    "whyNot": {"provider": "p", "model": "m"},
    "setupFailures": [{"providerId": "z", "message": "no key"}],
    "labels": {"env": "dev"},
    "at": AT,
    "tokens": {"prompt": 1, "completion": 1},
    "include": ["matched", "explanation", "request"],
    "id": ["an", "id"],
}


def places(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield at
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*at, key))


PLACES = list(places(FULL))


def planted(at: tuple[str | int, ...], value: Any) -> Any:
    if not at:
        return value
    found = copy.deepcopy(FULL)
    holder: Any = found
    for key in at[:-1]:
        holder = holder[key]
    holder[at[-1]] = value
    return found


def test_the_full_request_is_answered() -> None:
    assert asked(FULL)["decision"]["pick"] == {"provider": "p", "model": "m"}
    assert len(PLACES) > 80


JSON_HOLDS = {"true", "zero", "minus zero", "null", "empty", "nul", "line break", "long", "backticks"}


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_makes_answer_raise(name: str) -> None:
    value = HOSTILE[name]()
    for at in PLACES:
        answered = asked(planted(at, value))
        assert ("error" in answered) != ("decision" in answered), at
        if name not in JSON_HOLDS:
            assert answered["error"]["code"] != "capability-unsatisfiable", at
            where = "".join(f"/{key}" for key in at)
            assert any(path.startswith(where) or where.startswith(path) for path in paths(answered["error"])), at
    for key in (name, 5, None, (1, 2), "\ud800", "a\nb"):
        assert error_of({**FULL, key: value})["code"] == "invalid-request"


@settings(max_examples=80)
@given(
    st.lists(st.tuples(st.sampled_from(PLACES[1:]), st.sampled_from(sorted(HOSTILE))), min_size=2, max_size=4),
    st.sampled_from(["bitset", "plain"]),
)
def test_several_hostile_values_at_once(planting: list[tuple[tuple[str | int, ...], str]], engine: Any) -> None:
    found = copy.deepcopy(FULL)
    for at, name in planting:
        holder: Any = found
        try:
            for key in at[:-1]:
                holder = holder[key]
            holder[at[-1]] = HOSTILE[name]()
        except (KeyError, TypeError, IndexError):
            continue  # an earlier one took its place away
    answered = asked(found, engine=engine)
    assert ("error" in answered) != ("decision" in answered)


# Lines of a batch.


@pytest.mark.parametrize(
    "line",
    [
        "",
        "   ",
        "nul",
        "{",
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1, "a": 2}',
        "[" * 10_000,
        "[" * 10_000 + "]" * 10_000,
        '{"a":' * 10_000 + "1" + "}" * 10_000,
        "\ufeff{}",
        b"\xff\xfe",
        b'{"a": "\xc3"}',
        "{} {}",
        "'single'",
        "5" * 100_000 + "x",
    ],
    ids=lambda line: repr(line[:20]),
)
def test_a_line_that_is_no_json(line: str | bytes) -> None:
    answered = answer_line(line, 7)
    on_the_wire(answered)
    error = answered["error"]
    assert (error["code"], paths(error)) == ("invalid-request", [""])
    assert broken_rules(error["message"]) == []
    assert "line 7" in error["message"] or "not UTF-8" in error["message"]


@pytest.mark.parametrize(
    "line",
    [
        "null",
        "[]",
        "{}",
        '{"capability": 1e999, "providers": []}',
        '{"capability": {"needs": []}, "providers": [], "id": ' + "9" * 5000 + "}",
        '{"capability": {"needs": []}, "providers": [{"id": "\\ud800"}]}',
        '{"\\udfff": 1}',
        '{"providers": ' + "[" * 900 + "]" * 900 + "}",
    ],
    ids=lambda line: line[:30],
)
def test_a_line_that_is_no_request(line: str) -> None:
    answered = answer_line(line, 1)
    on_the_wire(answered)
    assert answered["error"]["code"] in ("invalid-request", "invalid-capability", "invalid-provider")


def test_a_line_is_answered_as_its_request() -> None:
    assert answer_line(json.dumps(FULL), 1) == asked(FULL)
    assert answer_line(json.dumps(FULL).encode(), 1, engine="plain") == asked(FULL)


def test_read_request_raises_what_answer_tells() -> None:
    with pytest.raises(InvalidRequestError) as caught:
        read_request({"capability": {"needs": []}, "providers": [], "tokans": 1})
    assert [issue.path for issue in caught.value.issues] == ["/tokans"]


TIMES = [
    *("2026-12-24", "2024-02-29", "2026-02-29", "2000-02-29", "1900-02-29", "0000-01-01", "0001-01-01", "2026-04-31"),
    *("2026-12-24T09:30:00Z", "2026-12-24t09:30z", "2026-12-24T23:59:60Z", "2026-12-24T24:00:00Z", "2026-13-01"),
    *("2026-12-24T09:30:00.123456789+23:59", "2026-12-24T09:30:00.1234567890Z", "2026-12-24T09:30:00", "2026-12-24\n"),
    *("2026-12-24T09:30:00+24:00", "2026-12-24 09:30:00Z", "2026-10-31", "2026-11-31", "x", ""),
]


@pytest.mark.parametrize("at", TIMES, ids=repr)
def test_schema_and_reader_accept_the_same_times(at: str) -> None:
    assert bool(re.search(MOMENT_PATTERN.replace("$", r"\Z"), at)) == (moment_issues(at, "") == [])


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ({"onlyTenants": ["acme"]}, {}),
        ({"default_model": "m"}, {}),
        ({}, {"context_window": 1}),
        ({}, {"thinking": {"mode": "adaptive", "lowest": ""}}),
        ({}, {"thinking": {"mode": "adaptive", "lowest": "low", "more": 1}}),
    ],
    ids=["only-tenants", "name-in-python", "name-in-python-of-a-model", "empty-thinking", "more-thinking"],
)
def test_schema_and_reader_refuse_the_same_metadata(provider: Any, model: Any) -> None:
    whole = {
        "name": "m",
        "contextWindow": 1,
        "features": [],
        "cost": {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1},
        **model,
    }
    given = {"capability": {"needs": []}, "providers": [{"id": "p", "region": "r", "models": [whole], **provider}]}
    assert not Draft202012Validator(request_schema()).is_valid(given)
    assert answer(given)["error"]["code"] == "invalid-provider"


def test_hostile_sizes_take_no_more_than_they_hold() -> None:
    """Near names are sought so often and no more: each of these took minutes."""
    many = range(20_000)
    documents: list[Json] = [
        {"capability": {"needs": [{"feature": f"visoin{index}"} for index in many]}},
        {f"providres{index}": 1 for index in many},
        {"conditions": {f"c{index}": {"is": f"d{index}"} for index in many}},
    ]
    for document in documents:
        started = time.process_time()
        issues = answer({"capability": {"needs": []}, "providers": [], **document})["error"]["issues"]
        assert time.process_time() - started < 15
        assert len(issues) == MAX_ISSUES
        assert re.search(r"more problems are not", issues[-1]["message"])
