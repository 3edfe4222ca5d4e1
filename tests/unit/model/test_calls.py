"""The shapes of a model call: wire names, what is refused, copies that nobody can change."""

import copy
import json
import pickle
from enum import Enum
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from whyroute.documents.fields import WireModel
from whyroute.model.calls import (
    MAX_JSON_DEPTH,
    CalledModel,
    ModelCallInput,
    ModelCallResult,
    ModelCallWarning,
    ModelMessage,
    ModelToolCall,
    ModelToolDefinition,
    StructuredOutputRequest,
    UsageCounters,
)

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

INPUT: dict[str, Any] = {
    "model": "acme-large",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How warm is it?"},
        {
            "role": "assistant",
            "content": "",
            "toolCalls": [
                {"id": "c1", "name": "weather", "arguments": {"place": None, "days": [1, 2.5]}, "signature": "s=="}
            ],
        },
        {"role": "tool", "content": "21 degrees", "toolCallId": "c1"},
    ],
    "tools": [{"name": "weather", "description": "The weather.", "inputSchema": {"type": "object"}}],
    "structuredOutput": {"name": "answer", "schema": {"type": "object", "default": None}},
    "temperature": 0,
    "thinking": "lowest",
    "maxOutputTokens": 200,
    "traceparent": TRACEPARENT,
}

RESULT: dict[str, Any] = {
    "message": {"role": "assistant", "content": "21 degrees."},
    "finishReason": "stop",
    "usage": {
        "promptTokens": 120,
        "completionTokens": 9,
        "cacheReadTokens": 0,
        "cacheWriteTokens": 120,
        "reasoningTokens": 9,
    },
    "costUsd": 0.0012,
    "durationMs": 840.5,
    "provider": {"id": "acme-llm", "model": "acme-large"},
    "warnings": [{"code": "sampling-unsupported", "message": "The model takes no temperature."}],
    "servedModel": "acme-large-001",
    "providerRequestId": "req-7",
    "attempts": 2,
    "rawUsage": {"input_tokens": 0, "cache": {"ephemeral": None}},
}

SHAPES: list[tuple[type[Any], dict[str, Any]]] = [
    (ModelCallInput, INPUT),
    (ModelCallInput, {"model": "m", "messages": []}),
    (ModelCallInput, {"model": "m", "messages": [], "tools": []}),
    (ModelCallResult, RESULT),
    (
        ModelCallResult,
        {
            "message": {"role": "assistant", "content": "", "toolCalls": []},
            "finishReason": "tool-use",
            "usage": {"promptTokens": 0, "completionTokens": 0},
            "costUsd": 0,
            "durationMs": 0,
            "provider": {"id": "p/x", "model": "m/x"},
            "attempts": 0,
        },
    ),
    # The published types leave the id out of older conversations.
    (ModelMessage, {"role": "tool", "content": ""}),
    (ModelMessage, {"role": "user", "content": "", "toolCalls": []}),
]


def usage(**counts: object) -> dict[str, Any]:
    return {"promptTokens": 10, "completionTokens": 5, **counts}


@pytest.mark.parametrize(("shape", "wire"), SHAPES)
def test_wire_input_goes_back_unchanged(shape: type[WireModel], wire: dict[str, Any]) -> None:
    read = shape.model_validate(wire)
    dumped = read.model_dump(by_alias=True, exclude_none=True)
    assert shape.model_validate(dumped) == read
    assert shape.model_validate_json(json.dumps(wire)) == read
    assert read.to_dict() == wire
    assert pickle.loads(pickle.dumps(read)) == read
    assert copy.deepcopy(read) == read
    assert hash(read) == hash(shape.model_validate(dumped))


def test_python_names_are_snake_case() -> None:
    built = ModelCallInput(
        model="acme-large",
        messages=(
            ModelMessage(role="system", content="Be brief."),
            ModelMessage(role="user", content="How warm is it?"),
            ModelMessage(
                role="assistant",
                content="",
                tool_calls=(
                    ModelToolCall(
                        id="c1", name="weather", arguments={"place": None, "days": (1, 2.5)}, signature="s=="
                    ),
                ),
            ),
            ModelMessage(role="tool", content="21 degrees", tool_call_id="c1"),
        ),
        tools=(ModelToolDefinition(name="weather", description="The weather.", input_schema={"type": "object"}),),
        structured_output=StructuredOutputRequest(name="answer", json_schema={"type": "object", "default": None}),
        temperature=0,
        thinking="lowest",
        max_output_tokens=200,
        traceparent=TRACEPARENT,
    )
    assert built == ModelCallInput.model_validate(INPUT)


def test_absent_is_none_and_zero_is_zero() -> None:
    counted = UsageCounters(prompt_tokens=3, completion_tokens=0, cache_read_tokens=0)
    assert counted.cache_read_tokens == 0
    assert counted.cache_write_tokens is None
    assert counted.to_dict() == {"promptTokens": 3, "completionTokens": 0, "cacheReadTokens": 0}
    # What vendors' clients give for "not said" can be handed on.
    assert UsageCounters(prompt_tokens=3, completion_tokens=0, reasoning_tokens=None).reasoning_tokens is None
    call = ModelCallInput(model="m", messages=(), temperature=0)
    assert (call.temperature, call.tools) == (0, None)
    assert ModelCallInput(model="m", messages=(), tools=()).tools == ()


REFUSED: list[tuple[str, type[WireModel], dict[str, Any], str]] = [
    ("unknown key", ModelCallInput, {**INPUT, "maxTokens": 1}, "Extra inputs"),
    ("no abort signal", ModelCallInput, {**INPUT, "abortSignal": {}}, "Extra inputs"),
    ("no model", ModelCallInput, {**INPUT, "model": ""}, "at least 1 character"),
    ("a set of messages", ModelCallInput, {**INPUT, "messages": set()}, "a list is expected"),
    ("text for messages", ModelCallInput, {**INPUT, "messages": "hi"}, "a list is expected"),
    ("unknown thinking", ModelCallInput, {**INPUT, "thinking": "off"}, "'lowest'"),
    ("temperature NaN", ModelCallInput, {**INPUT, "temperature": float("nan")}, "finite"),
    ("temperature true", ModelCallInput, {**INPUT, "temperature": True}, "a number is expected"),
    ("no output tokens", ModelCallInput, {**INPUT, "maxOutputTokens": 0}, "at least 1"),
    ("half a token", ModelCallInput, {**INPUT, "maxOutputTokens": 0.5}, "an integer"),
    ("unknown role", ModelMessage, {"role": "developer", "content": ""}, "'system', 'user', 'assistant' or 'tool'"),
    ("no content", ModelMessage, {"role": "assistant"}, "Field required"),
    ("null content", ModelMessage, {"role": "assistant", "content": None}, "valid string"),
    (
        "answer by a user",
        ModelMessage,
        {"role": "user", "content": "", "toolCallId": "c"},
        "belongs to the role `tool`",
    ),
    (
        "calls by a tool",
        ModelMessage,
        {"role": "tool", "content": "", "toolCalls": [{"id": "c", "name": "n", "arguments": {}}]},
        "belong to the role `assistant`, this is `tool`",
    ),
    ("arguments as text", ModelToolCall, {"id": "c", "name": "n", "arguments": "{}"}, "this is a string"),
    ("arguments as a list", ModelToolCall, {"id": "c", "name": "n", "arguments": []}, "this is a list"),
    ("schema missing", StructuredOutputRequest, {"name": "n"}, "Field required"),
    ("unknown finish", ModelCallResult, {**RESULT, "finishReason": "tool_use"}, "'tool-use'"),
    ("negative cost", ModelCallResult, {**RESULT, "costUsd": -0.1}, "at least 0"),
    ("cost unknown", ModelCallResult, {**RESULT, "costUsd": None}, "a number"),
    ("infinite duration", ModelCallResult, {**RESULT, "durationMs": float("inf")}, "finite"),
    ("half an attempt", ModelCallResult, {**RESULT, "attempts": 1.5}, "an integer"),
    (
        "an answer by the user",
        ModelCallResult,
        {**RESULT, "message": {"role": "user", "content": ""}},
        "`assistant`, this is `user`",
    ),
    ("negative tokens", UsageCounters, usage(promptTokens=-1), "at least 0"),
    ("tokens as a boolean", UsageCounters, usage(promptTokens=True), "an integer"),
    ("reads above the total", UsageCounters, usage(cacheReadTokens=11), "exceed `promptTokens`"),
    ("cache above the total", UsageCounters, usage(cacheReadTokens=6, cacheWriteTokens=5), "exceed `promptTokens`"),
    ("reasoning above the total", UsageCounters, usage(reasoningTokens=6), "exceeds `completionTokens`"),
]


@pytest.mark.parametrize(("shape", "wire", "says"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_a_contradiction_or_a_wrong_type_is_refused(shape: type[WireModel], wire: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError) as raised:
        shape.model_validate(wire)
    assert any(says in error["msg"] for error in raised.value.errors()), raised.value


def test_all_contradictions_are_reported_at_once() -> None:
    with pytest.raises(ValidationError, match=r"promptTokens.*completionTokens"):
        UsageCounters(prompt_tokens=1, completion_tokens=1, cache_read_tokens=2, reasoning_tokens=2)
    calls = [{"id": "c", "name": "n", "arguments": {}}]
    with pytest.raises(ValidationError, match=r"toolCallId.*toolCalls"):
        ModelMessage.model_validate({"role": "user", "content": "", "toolCallId": "c", "toolCalls": calls})


def test_parts_may_be_the_whole() -> None:
    wire = usage(cacheReadTokens=4, cacheWriteTokens=6, reasoningTokens=5)
    assert UsageCounters.model_validate(wire).to_dict() == wire


@pytest.mark.parametrize(
    "header",
    [
        "",
        TRACEPARENT + "\r\nx-admin: 1",
        TRACEPARENT + "\n",
        "00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01",
        TRACEPARENT[3:],
        "00-" + "0" * 32 + "-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-" + "0" * 16 + "-01",
        TRACEPARENT.replace("0af", "\N{ARABIC-INDIC DIGIT ZERO}af"),
    ],
)
def test_a_traceparent_that_is_none_is_refused(header: str) -> None:
    with pytest.raises(ValidationError, match="is no traceparent"):
        ModelCallInput(model="m", messages=(), traceparent=header)


class Colour(str, Enum):  # noqa: UP042 (the older kind, whose `str` is its name)
    RED = "red"


def test_objects_are_copies_of_what_was_given() -> None:
    given_arguments: dict[str, Any] = {"list": [{"n": 1}], "colour": Colour.RED}
    call = ModelToolCall(id="c", name="n", arguments=given_arguments)
    given_arguments["list"][0]["n"] = 2
    given_arguments["more"] = 3
    assert call.arguments == {"list": [{"n": 1}], "colour": "red"}
    assert type(call.arguments["colour"]) is str


def test_integers_of_an_object_stay_exact() -> None:
    call = ModelToolCall(id="c", name="n", arguments={"id": 2**63 + 1})
    assert call.arguments["id"] == 2**63 + 1
    assert ModelToolCall.model_validate(call.to_dict()) == call
    assert ModelToolCall.model_validate_json(call.model_dump_json(by_alias=True, exclude_none=True)) == call


CHANGES = {
    "set": "call.arguments['list'] = 1",
    "delete": "del call.arguments['list']",
    "clear": "call.arguments.clear()",
    "pop": "call.arguments.pop('list')",
    "popitem": "call.arguments.popitem()",
    "setdefault": "call.arguments.setdefault('x', 1)",
    "update": "call.arguments.update(x=1)",
    "merge": "found = call.arguments; found |= {'x': 1}",
    "item": "call.arguments['list'][0] = 1",
    "delete item": "del call.arguments['list'][0]",
    "append": "call.arguments['list'].append(1)",
    "extend": "call.arguments['list'].extend([1])",
    "insert": "call.arguments['list'].insert(0, 1)",
    "pop item": "call.arguments['list'].pop()",
    "remove": "call.arguments['list'].remove(2)",
    "reverse": "call.arguments['list'].reverse()",
    "sort": "call.arguments['list'].sort()",
    "add": "found = call.arguments['list']; found += [1]",
    "multiply": "found = call.arguments['list']; found *= 2",
    "clear list": "call.arguments['list'].clear()",
    "nested": "call.arguments['list'][1]['n'] = 2",
}


@pytest.mark.parametrize("statement", CHANGES.values(), ids=CHANGES)
def test_objects_refuse_changes_at_every_level(statement: str) -> None:
    call = ModelToolCall(id="c", name="n", arguments={"list": [2, {"n": 1}]})
    for value in (call, copy.deepcopy(call), copy.copy(call), pickle.loads(pickle.dumps(call))):
        with pytest.raises(TypeError, match="read-only"):
            exec(statement, {"call": value})
        assert value == call
    assert call.to_dict()["arguments"] == {"list": [2, {"n": 1}]}


def test_shapes_are_frozen() -> None:
    call = ModelCallInput(model="m", messages=())
    with pytest.raises(ValidationError, match="frozen"):
        call.model = "other"  # type: ignore[misc]  # what is tested: it is read-only


def test_objects_work_where_dicts_are_wanted() -> None:
    call = ModelToolCall(id="c", name="n", arguments={"a": [1], "b": {"c": None}})
    assert isinstance(call.arguments, dict)
    assert isinstance(call.arguments["a"], list)
    assert json.loads(json.dumps(call.arguments)) == call.arguments
    assert dict(**call.arguments) == call.arguments


def test_the_wire_form_may_be_changed() -> None:
    call = ModelToolCall(id="c", name="n", arguments={"a": [1], "b": {"c": None}})
    wire = call.to_dict()
    wire["arguments"]["a"].append(2)
    wire["arguments"]["b"]["d"] = 3
    assert call.arguments == {"a": [1], "b": {"c": None}}


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"a": [0, float("nan")]}, "/a/1: `nan` is no number of JSON"),
        ({"a/b": {"c": object()}}, "/a~1b/c: a Python `object` has no JSON form"),
        ({"a": {1: 2}}, "/a: key `1` is not a string"),
        ({"a": "\ud800"}, "/a: text with half a surrogate pair"),
        ({"\ud800": 1}, "half a surrogate pair"),
        ({"a": {1}, "b": float("inf")}, "/a: a Python `set` has no JSON form; /b: `inf`"),
    ],
)
def test_non_json_values_are_refused_with_place(value: dict[Any, Any], says: str) -> None:
    with pytest.raises(ValidationError) as raised:
        ModelToolCall(id="c", name="n", arguments=value)
    assert says in raised.value.errors()[0]["msg"]


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"x": value}
    return value


def test_nesting_limit_can_still_be_written() -> None:
    calls = [{"id": "c", "name": "n", "arguments": nested(MAX_JSON_DEPTH)}]
    wire = {"model": "m", "messages": [{"role": "assistant", "content": "", "toolCalls": calls}]}
    call = ModelCallInput.model_validate(wire)
    assert call.to_dict() == wire
    assert ModelCallInput.model_validate_json(call.model_dump_json(by_alias=True, exclude_none=True)) == call
    with pytest.raises(ValidationError, match="nested too deeply"):
        ModelToolCall(id="c", name="n", arguments=nested(MAX_JSON_DEPTH + 1))
    cyclic: dict[str, Any] = {}
    cyclic["x"] = cyclic
    with pytest.raises(ValidationError, match="nested too deeply"):
        ModelToolCall(id="c", name="n", arguments=cyclic)


texts = st.text(max_size=6)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, json_values, max_size=3)
absent = st.none()


def shapes(shape: type[WireModel], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    # Not `st.builds`: it would fill in the wire names, which stand in the signature beside Python's.
    return st.fixed_dictionaries(fields).map(lambda values: shape(**values))


tool_calls = shapes(ModelToolCall, id=texts, name=texts, arguments=objects, signature=absent | texts)
tool_definitions = shapes(ModelToolDefinition, name=texts, description=texts, input_schema=objects)
messages = (
    shapes(ModelMessage, role=st.sampled_from(["system", "user"]), content=texts)
    | shapes(ModelMessage, role=st.just("tool"), content=texts, tool_call_id=absent | texts)
    | shapes(
        ModelMessage, role=st.just("assistant"), content=texts, tool_calls=absent | st.lists(tool_calls, max_size=2)
    )
)
inputs = shapes(
    ModelCallInput,
    model=st.just("m"),
    messages=st.lists(messages, max_size=3),
    tools=absent | st.lists(tool_definitions, max_size=2),
    structured_output=absent | shapes(StructuredOutputRequest, name=texts, json_schema=objects),
    temperature=absent | st.floats(0, 2),
    thinking=absent | st.just("lowest"),
    max_output_tokens=absent | st.integers(1, 10**6),
)


@st.composite
def counters(draw: st.DrawFn) -> UsageCounters:
    read, write, reasoning = (draw(st.none() | st.integers(0, 10**9)) for _ in range(3))
    fresh, said = draw(st.integers(0, 10**9)), draw(st.integers(0, 10**9))
    return UsageCounters(
        prompt_tokens=(read or 0) + (write or 0) + fresh,
        completion_tokens=(reasoning or 0) + said,
        cache_read_tokens=read,
        cache_write_tokens=write,
        reasoning_tokens=reasoning,
    )


results = shapes(
    ModelCallResult,
    message=shapes(ModelMessage, role=st.just("assistant"), content=texts),
    finish_reason=st.sampled_from(["stop", "length", "tool-use", "content-filter", "error"]),
    usage=counters(),
    cost_usd=st.floats(0, 100),
    duration_ms=st.floats(0, 10**6),
    provider=shapes(CalledModel, id=texts, model=texts),
    warnings=absent | st.lists(shapes(ModelCallWarning, code=texts, message=texts), max_size=2),
    served_model=absent | texts,
    attempts=absent | st.integers(0, 9),
    raw_usage=absent | objects,
)


@given(inputs | results)
def test_writing_and_reading_is_the_identity(value: ModelCallInput | ModelCallResult) -> None:
    shape = type(value)
    assert shape.model_validate(value.model_dump(by_alias=True, exclude_none=True)) == value
    assert shape.model_validate(value.to_dict()) == value
    assert shape.model_validate_json(json.dumps(value.to_dict())) == value


@pytest.mark.parametrize("shape", [ModelCallInput, ModelCallResult])
def test_there_is_a_json_schema_with_wire_names(shape: type[WireModel]) -> None:
    schema = shape.model_json_schema(by_alias=True)
    text = json.dumps(schema)
    assert "_" not in "".join(schema["properties"])
    assert '"schema"' in text if shape is ModelCallInput else '"rawUsage"' in text
