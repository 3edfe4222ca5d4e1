"""The shapes of a model call, the same for every vendor; adapters translate them.

In all of them None says that a value is absent; a 0, an empty text or an empty list is there.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema, model_validator

from ..basics.frozen import FrozenDict, FrozenList
from ..basics.issues import Issue, child, kind_of, shown
from ..documents.fields import Amount, Count, Listed, Number, OrNone, PositiveInteger, WireModel, broken

__all__ = [
    "CalledModel",
    "FinishReason",
    "JsonObject",
    "MessageRole",
    "ModelCallDelta",
    "ModelCallInput",
    "ModelCallResult",
    "ModelCallWarning",
    "ModelMessage",
    "ModelToolCall",
    "ModelToolDefinition",
    "StructuredOutputRequest",
    "UsageCounters",
]

T = TypeVar("T")

MAX_JSON_DEPTH = 100
"""How deep the objects of a call may nest; pydantic itself gives up writing them not far beyond."""


def _json_object(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise broken(f"an object is expected, this is {kind_of(value)}")
    problems: list[Issue] = []
    found = _frozen(value, "", MAX_JSON_DEPTH, problems)
    if problems:
        raise broken("; ".join(str(problem) for problem in problems))
    return found


def _frozen(value: Any, path: str, depth: int, problems: list[Issue]) -> Any:
    match value:
        case None | bool():
            return value
        case int():
            # Not read as a double: an id of more than 53 bits must reach its tool as the model wrote it.
            return int(value)
        case float():
            if not math.isfinite(value):
                problems.append(Issue(path, f"{shown(float(value))} is no number of JSON"))
            return float(value)
        case str():
            return _frozen_text(value, path, problems)
        case Mapping() | list() | tuple() if depth <= 0:
            problems.append(Issue(path, f"nested too deeply; at most {MAX_JSON_DEPTH} levels"))
            return None
        case Mapping():
            found: dict[str, Any] = {}
            for key, item in value.items():
                if isinstance(key, str):
                    text = _frozen_text(key, path, problems)
                    found[text] = _frozen(item, child(path, text), depth - 1, problems)
                else:
                    problems.append(Issue(path, f"key {shown(key)} is not a string"))
            return FrozenDict(found)
        case list() | tuple():
            return FrozenList([_frozen(item, child(path, i), depth - 1, problems) for i, item in enumerate(value)])
    problems.append(Issue(path, f"a Python {shown(type(value).__name__)} has no JSON form"))
    return None


def _frozen_text(value: str, path: str, problems: list[Issue]) -> str:
    # A member of an enumeration that mixes in str reads as its value here; `str(value)` would give its name.
    text = str.__str__(value)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        problems.append(Issue(path, "text with half a surrogate pair; it is not valid Unicode"))
    return text


JsonObject = Annotated[Mapping[str, Any], PlainValidator(_json_object), WithJsonSchema({"type": "object"})]
"""A JSON object: a copy of what was given, a dict that refuses changes at every level. Integers stay exact."""


def _ordered(value: Any) -> Any:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise broken("a list is expected")
    return value


_Ordered = Annotated[Listed[T], BeforeValidator(_ordered)]

_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII)


def _traceparent(value: str) -> str:
    if not _TRACEPARENT.fullmatch(value):
        raise broken(
            f"{shown(value)} is no traceparent; it reads `00-<trace id>-<span id>-<flags>`, with 32, 16 and 2 "
            "lower-case hexadecimal digits and neither id all zeros"
        )
    return value


class _Shape(WireModel):
    # Most programs route without a call, so that pydantic need not get ready for them on import.
    model_config: ClassVar[ConfigDict] = ConfigDict(defer_build=True)

    def to_dict(self) -> dict[str, Any]:
        """The value as it goes over the wire: plain dicts and lists that may be changed, absent keys left out."""
        return self.model_dump(mode="json", by_alias=True)


MessageRole = Literal["system", "user", "assistant", "tool"]
"""Who speaks in a message."""

FinishReason = Literal["stop", "length", "tool-use", "content-filter", "error"]
"""Why the model stopped; adapters translate their vendor's reasons to these."""


class ModelToolCall(_Shape):
    """A call of a tool that the model asks for."""

    id: str = Field(description="what the tool's answer refers to")
    name: str = Field(description="the tool's name")
    arguments: JsonObject = Field(description="the parsed arguments")
    signature: OrNone[str] = Field(
        default=None,
        description="the provider's own opaque token; it goes back unchanged, and only its adapter reads it",
    )


class ModelMessage(_Shape):
    """One message of a conversation.

    A `tool_call_id` belongs to the role `tool`, `tool_calls` to the role `assistant`.
    """

    role: MessageRole
    content: str = Field(description="the text; it may be empty, where there are tool calls for one")
    tool_call_id: OrNone[str] = Field(default=None, description="role `tool`: the call that this message answers")
    tool_calls: OrNone[_Ordered[ModelToolCall]] = Field(
        default=None, description="role `assistant`: the tools to run, in the model's order"
    )

    @model_validator(mode="after")
    def _fits_the_role(self) -> Self:
        problems = []
        if self.tool_call_id is not None and self.role != "tool":
            problems.append(f"`toolCallId` belongs to the role `tool`, this is `{self.role}`")
        if self.tool_calls and self.role != "assistant":
            problems.append(f"`toolCalls` belong to the role `assistant`, this is `{self.role}`")
        if problems:
            raise broken("; ".join(problems))
        return self


class ModelToolDefinition(_Shape):
    """A tool that the model may ask for."""

    name: str
    description: str = Field(description="what it does, for the model")
    input_schema: JsonObject = Field(description="JSON Schema of its arguments")


class StructuredOutputRequest(_Shape):
    """Asks for an answer in JSON that keeps to a schema; adapters whose vendor has no such thing leave it out."""

    name: str
    # BaseModel has a `schema` of its own, which a field of that name would hide.
    json_schema: JsonObject = Field(description="the JSON Schema; `schema` on the wire")


class ModelCallInput(_Shape):
    """What a call sends.

    Cancellation is asyncio's own: cancel the task that awaits `invoke`, or put it under `asyncio.timeout`.
    """

    model: str = Field(min_length=1, description="one of the receiving provider's `models[].name`")
    messages: _Ordered[ModelMessage] = Field(description="the conversation, oldest first")
    tools: OrNone[_Ordered[ModelToolDefinition]] = Field(default=None, description="what the model may call")
    structured_output: OrNone[StructuredOutputRequest] = None
    temperature: OrNone[Number] = Field(default=None, description="absent: the model's default, which is not 0")
    thinking: OrNone[Literal["lowest"]] = Field(
        default=None, description="`lowest`: as little thinking as the model allows; absent: its default"
    )
    max_output_tokens: OrNone[PositiveInteger] = Field(
        default=None, description="cap on the answer, in tokens; absent: the model's own `maxOutputTokens`"
    )
    traceparent: OrNone[Annotated[str, AfterValidator(_traceparent)]] = Field(
        default=None,
        description="W3C trace context for the request to the vendor; an adapter passes it on and never makes one up",
    )


class UsageCounters(_Shape):
    """What a call used, in tokens.

    The first two counts are totals, the others parts of them. A reported 0 is 0; a part that the vendor doesn't
    report is absent. Parts that exceed their total are refused: an adapter added something up wrong.
    """

    prompt_tokens: Count = Field(description="all input tokens, those read from and written to a cache included")
    completion_tokens: Count = Field(description="all output tokens, those spent on reasoning included")
    cache_read_tokens: OrNone[Count] = Field(default=None, description="prompt tokens read from the vendor's cache")
    cache_write_tokens: OrNone[Count] = Field(default=None, description="prompt tokens written to the vendor's cache")
    reasoning_tokens: OrNone[Count] = Field(default=None, description="completion tokens spent on reasoning")

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        problems = []
        if (self.cache_read_tokens or 0) + (self.cache_write_tokens or 0) > self.prompt_tokens:
            problems.append(
                "`cacheReadTokens` and `cacheWriteTokens` together exceed `promptTokens`, which includes them"
            )
        if (self.reasoning_tokens or 0) > self.completion_tokens:
            problems.append("`reasoningTokens` exceeds `completionTokens`, which includes it")
        if problems:
            raise broken("; ".join(problems))
        return self


class ModelCallWarning(_Shape):
    """Something the caller should know about an answer."""

    code: str = Field(description="stable, for programs; `sampling-unsupported` for one")
    message: str = Field(description="a sentence, for people")


class ModelCallDelta(_Shape):
    """A piece of an answer that is streamed.

    Example:
        >>> import whyroute as wr
        >>> wr.ModelCallDelta(content="hel").to_dict()
        {'content': 'hel'}
    """

    content: str = Field(description="the text that comes next")


class CalledModel(_Shape):
    """The provider and the model that were called."""

    id: str = Field(description="the provider's id")
    model: str = Field(description="the model's name")


class ModelCallResult(_Shape):
    """What a call returns."""

    message: ModelMessage = Field(description="the answer; its role is `assistant`")
    finish_reason: FinishReason
    usage: UsageCounters
    cost_usd: Amount = Field(description="what the call cost in USD, by the adapter's own price table")
    duration_ms: Amount = Field(description="how long it took, in milliseconds")
    provider: CalledModel
    warnings: OrNone[_Ordered[ModelCallWarning]] = None
    served_model: OrNone[str] = Field(default=None, description="the exact version that the vendor says answered")
    provider_request_id: OrNone[str] = Field(default=None, description="the vendor's id of the request")
    attempts: OrNone[Count] = Field(default=None, description="HTTP requests it took, the client's retries included")
    raw_usage: OrNone[JsonObject] = Field(default=None, description="the vendor's usage object, as reported")

    @model_validator(mode="after")
    def _is_an_answer(self) -> Self:
        if self.message.role != "assistant":
            raise broken(f"the role of the answer's `message` is `assistant`, this is `{self.message.role}`")
        return self
