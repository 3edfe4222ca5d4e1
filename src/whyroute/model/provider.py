"""What a provider says of itself, the rules that metadata must meet, and the shapes of a model call."""

import re
from collections.abc import Iterable, Mapping
from inspect import getattr_static
from typing import Annotated, Any, ClassVar, Literal, Protocol, Self, runtime_checkable

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    StrictBool,
    ValidationInfo,
    model_validator,
)

from ..basics.frozen import FrozenDict
from ..basics.issues import Issue, child, did_you_mean, few_searches, kind_of, quoted, shown
from ..documents.fields import Amount, PositiveInteger, WireModel
from ..documents.json_text import Unreadable, plain
from ..documents.model_issues import read_model
from ..errors import InvalidProviderError, InvalidRequestError, NotInvocableError
from .calls import ModelCallInput, ModelCallResult
from .features import DEFAULT_KIND

__all__ = [
    "DeclaredProvider",
    "ModelCost",
    "ModelInfo",
    "ModelProvider",
    "ModelThinking",
    "ProviderMetadata",
    "SetupFailure",
    "check_provider",
    "invalid_provider",
    "metadata_of",
    "metadata_problems",
    "read_metadata",
    "read_setup_failures",
    "routable_problems",
    "source_of",
]


_CHECKED = object()


class _Open(WireModel):
    """Keys that adapters add are kept."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")


class ModelCost(_Open):
    """What a model charges, in USD per 1,000 tokens."""

    prompt_usd_per_1k_tokens: Amount = Field(description="USD per 1,000 prompt tokens")
    completion_usd_per_1k_tokens: Amount = Field(description="USD per 1,000 completion tokens")


class ModelThinking(_Open):
    """How a model thinks before it answers."""

    model_config: ClassVar[ConfigDict] = ConfigDict(json_schema_extra={"additionalProperties": False})

    mode: Literal["adaptive", "always"] = Field(
        description="`adaptive`: on unless turned down; `always`: it can only be lowered"
    )
    lowest: str = Field(
        description="the vendor's own setting for the least thinking", json_schema_extra={"minLength": 1}
    )


class ModelInfo(_Open):
    """One model of a provider."""

    name: str = Field(
        description="the vendor's name of the model, unique within its provider", json_schema_extra={"minLength": 1}
    )
    context_window: PositiveInteger = Field(description="tokens of prompt and answer together; a positive integer")
    features: tuple[str, ...] = Field(description="the features it has")
    cost: ModelCost = Field(description="what it charges for 1,000 tokens, in USD")
    p95_latency_ms: Amount | None = Field(
        default=None, description="95th percentile latency in milliseconds; absent: unknown"
    )
    max_output_tokens: PositiveInteger | None = Field(
        default=None, description="default cap on a call's output tokens; a positive integer"
    )
    sampling: StrictBool | None = Field(default=None, description="false: it takes no temperature; absent: it does")
    thinking: ModelThinking | None = Field(default=None, description="absent: it doesn't, or nothing is known")
    description: str | None = Field(default=None, description="for people; nothing compares it")


class ProviderMetadata(_Open):
    """What a provider reports about itself, so that it can be routed to without being called.

    Here, in Python, a field goes by its snake_case or its wire name; what is read as wire form knows wire names only.

    Raises:
        InvalidProviderError: A rule of the contract is broken; `reason` is the first one, `issues` are all.
    """

    id: str = Field(description="unique within the tenant", json_schema_extra={"minLength": 1})
    region: str = Field(
        description="where the connection goes; `unspecified` when it is not bound to a region",
        json_schema_extra={"minLength": 1},
    )
    models: tuple[ModelInfo, ...] = Field(
        description="at least one; names are unique", json_schema_extra={"minItems": 1}
    )
    default_model: str | None = Field(default=None, description="comes before the other models where ranks tie")
    attributes: tuple[str, ...] = Field(default=(), description="what preferences may name beside features")
    description: str | None = Field(default=None, description="for people; nothing compares it")
    capability_kind: str = Field(default=DEFAULT_KIND, description="matched by equality; absent: llm-inference")
    fallback: bool = Field(default=False, description="counts only when nothing else qualifies")
    labels: Annotated[Mapping[str, str], AfterValidator(FrozenDict)] = Field(
        default_factory=FrozenDict, description="bookkeeping of whoever manages the provider"
    )

    def __hash__(self) -> int:
        # Not over all models and their features: equal metadata has equal ids.
        return hash((type(self), self.id))

    @model_validator(mode="wrap")
    @classmethod
    def _meets_the_rules(cls, value: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        if isinstance(value, cls):
            return value
        if info.context is _CHECKED:
            return handler(value)
        problems, cleaned = _problems_of(value, "", by_name=True)
        if problems:
            raise invalid_provider(problems, cleaned)
        return handler(cleaned)

    @classmethod
    def of_checked(cls, wire: dict[str, Any]) -> Self:
        """The metadata in the wire form that `metadata_problems` returned, when it found no problem."""
        return cls.model_validate(wire, context=_CHECKED)


def source_of(metadata: ProviderMetadata) -> str:
    """Where a provider comes from: `pack` when its metadata says so under `source`, else `registered`."""
    extra = metadata.model_extra
    return "pack" if extra is not None and extra.get("source") == "pack" else "registered"


class SetupFailure(WireModel):
    """A registered provider that its registry could not set up; it is never a candidate."""

    provider_id: str
    message: str = Field(description="why, in a sentence for whoever made the call; no secrets")


@runtime_checkable
class ModelProvider(Protocol):
    """A provider: metadata to route by, and a call."""

    @property
    def metadata(self) -> ProviderMetadata:
        """What it says of itself; read once, when it is registered or listed."""
        ...

    async def invoke(self, call: ModelCallInput, /) -> ModelCallResult:
        """Call the model. Cancel it as any asyncio task."""
        ...


class DeclaredProvider:
    """A provider known by its metadata alone: it can be routed to, not called. Equal to others with equal metadata."""

    __slots__ = ("_metadata",)

    def __init__(self, metadata: ProviderMetadata) -> None:
        self._metadata = metadata

    @property
    def metadata(self) -> ProviderMetadata:
        """What is known of it."""
        return self._metadata

    def __eq__(self, other: object) -> bool:
        return self._metadata == other._metadata if isinstance(other, DeclaredProvider) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._metadata)

    async def invoke(self, call: ModelCallInput, /) -> ModelCallResult:
        """Always raises NotInvocableError."""
        raise NotInvocableError(self.metadata.id)

    def __repr__(self) -> str:
        return f"DeclaredProvider({self.metadata.id!r})"


LABELS_MAX_KEYS = 32
LABEL_VALUE_MAX_LENGTH = 256
LABEL_KEY = re.compile(r"[a-z0-9]([a-z0-9._/-]{0,61}[a-z0-9])?", re.ASCII)

Problem = tuple[str, Issue]
"""A broken rule: the contract's reason, and the issue."""


def check_provider(provider: Any, path: str = "") -> ProviderMetadata:
    """The provider's metadata, when it meets every rule and the provider can be called.

    Args:
        provider: Anything with `metadata` (a ProviderMetadata or its wire form) and an async `invoke`.
        path: JSON pointer of the metadata, for the issues.

    Raises:
        InvalidProviderError: With the first broken rule as `reason`, and all as `issues`.
    """
    metadata = metadata_of(provider)
    problems, read = _read_problems(metadata, path)
    if not callable(getattr(provider, "invoke", None)):
        problems.append(("invalid-invoke", Issue("/invoke", "a provider has an async `invoke` to call its models")))
    if isinstance(read, ProviderMetadata) and not problems:
        return read
    raise invalid_provider(problems, read)


def metadata_of(provider: Any) -> Any:
    """What a provider gives as its metadata; None when it has none.

    An AttributeError from within a `metadata` property is the provider's own fault, and is not taken for the lack of
    one.
    """
    try:
        return provider.metadata
    except AttributeError:
        if getattr_static(provider, "metadata", None) is not None:
            raise
        return None


def read_metadata(document: Any, path: str = "") -> ProviderMetadata:
    """Read metadata from its wire form.

    Args:
        document: A JSON-like object with camelCase keys, or a ProviderMetadata, which is returned as it is.
        path: JSON pointer of the document, for the issues.

    Raises:
        InvalidProviderError: With the first broken rule as `reason`, and all as `issues`.
    """
    if isinstance(document, ProviderMetadata):
        return document
    problems, read = _read_problems(document, path)
    if isinstance(read, ProviderMetadata):
        return read
    raise invalid_provider(problems, read)


def _read_problems(document: Any, path: str) -> tuple[list[Problem], Any]:
    """What is wrong with metadata; the metadata read when nothing is, else its wire form."""
    if not isinstance(document, ProviderMetadata):
        problems, cleaned = routable_problems(document, path)
        return problems, cleaned if problems else ProviderMetadata.of_checked(cleaned)
    return [], document


def read_setup_failures(given: Any, path: str = "") -> tuple[SetupFailure, ...]:
    """Read setup failures, as models or in wire form.

    Args:
        given: Several of them.
        path: JSON pointer of the whole, for the issues.

    Raises:
        InvalidRequestError: One of them is broken; all issues, in order.
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        message = f"{kind_of(given)}; setup failures are a list of {{providerId, message}}"
        raise InvalidRequestError([Issue(path, message)])
    found: list[SetupFailure] = []
    issues: list[Issue] = []
    for index, failure in enumerate(given):
        try:
            found.append(read_model(SetupFailure, failure, child(path, index), error=InvalidRequestError))
        except InvalidRequestError as error:
            issues += error.issues
    if issues:
        raise InvalidRequestError(issues)
    return tuple(found)


def invalid_provider(problems: list[Problem], cleaned: Any) -> InvalidProviderError:
    """The error for what `metadata_problems` found; `cleaned` is the wire form it returned, or sound metadata."""
    provider_id = cleaned.get("id") if isinstance(cleaned, dict) else getattr(cleaned, "id", None)
    known = provider_id if isinstance(provider_id, str) and provider_id else None
    return InvalidProviderError(problems[0][0], [issue for _, issue in problems], known)


def metadata_problems(value: Any, path: str = "") -> tuple[list[Problem], Any]:
    """Every rule of the contract that metadata breaks, in the contract's order, then what no rule looks at.

    Args:
        value: Metadata as on the wire. A snake_case spelling of a key that routing knows is a problem.
        path: JSON pointer of the metadata.

    Returns:
        The problems, and the metadata in wire form with its numbers read as doubles.
    """
    with few_searches():
        return _problems_of(value, path, by_name=False)


def routable_problems(value: Any, path: str = "") -> tuple[list[Problem], Any]:
    """`metadata_problems` outside a rule pack, where nobody would keep a provider to the tenants that it is for."""
    problems, cleaned = metadata_problems(value, path)
    if isinstance(value, Mapping) and "onlyTenants" in value:
        message = (
            "`onlyTenants` is for rule packs, where requests name their tenant; give the providers that this tenant has"
        )
        problems.append(("invalid-metadata", Issue(child(path, "onlyTenants"), message)))
    return problems, cleaned


def _problems_of(value: Any, path: str, *, by_name: bool) -> tuple[list[Problem], Any]:
    if not isinstance(value, Mapping):
        return [("empty-id", Issue(path, f"metadata is an object, this is {kind_of(value)}"))], value
    misspelt: list[Problem] = []
    cleaned, unreadable = plain(_wire_form(value, path, by_name, misspelt), path, marked=True)
    problems = _core_problems(cleaned, path)
    others = [*_shape_problems(cleaned, path), *misspelt]
    if unreadable:
        _add_unreadable(unreadable, problems, others, child(path, "labels"))
    return problems + others, cleaned


def _add_unreadable(unreadable: list[Issue], problems: list[Problem], others: list[Problem], labels: str) -> None:
    """Add what no JSON text could hold, but for what breaks the rule of its own field: that says it better."""
    told = {issue.path for _, issue in (*problems, *others)}
    for issue in unreadable:
        at = issue.path
        if at == labels or at.startswith(f"{labels}/"):
            if at not in told:
                problems.append(("invalid-labels", issue))
            continue
        while at and at not in told:
            at = at[: at.rfind("/")]
        if at not in told:
            others.append(("invalid-metadata", issue))


def _spellings(model: type[BaseModel]) -> dict[Any, str]:
    """Wire names by the names in Python, where these differ."""
    names = ((name, field.alias or name) for name, field in model.model_fields.items())
    return {name: wire for name, wire in names if name != wire}


_PROVIDER_NAMES = _spellings(ProviderMetadata)
_MODEL_NAMES = _spellings(ModelInfo)
_COST_NAMES = _spellings(ModelCost)


def _wire_form(value: Mapping[Any, Any], path: str, by_name: bool, problems: list[Problem]) -> dict[Any, Any]:
    """Metadata under wire names. Names in Python are taken when `by_name` says so, and are problems otherwise."""
    found = _renamed(value, _PROVIDER_NAMES, path, by_name, problems)
    models = found.get("models")
    if isinstance(models, list | tuple):
        at = child(path, "models")
        found["models"] = [
            _model_wire_form(model, f"{at}/{index}", by_name, problems) for index, model in enumerate(models)
        ]
    return found


def _model_wire_form(model: Any, path: str, by_name: bool, problems: list[Problem]) -> Any:
    if isinstance(model, BaseModel):
        model = _dumped(model)
    if not isinstance(model, Mapping):
        return model
    found = _renamed(model, _MODEL_NAMES, path, by_name, problems)
    cost, thinking = found.get("cost"), found.get("thinking")
    if isinstance(cost, BaseModel):
        cost = _dumped(cost)
    if isinstance(cost, Mapping):
        found["cost"] = _renamed(cost, _COST_NAMES, f"{path}/cost", by_name, problems)
    if isinstance(thinking, BaseModel):
        found["thinking"] = _dumped(thinking)
    return found


def _dumped(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)


def _renamed(
    value: Mapping[Any, Any], names: Mapping[Any, str], path: str, by_name: bool, problems: list[Problem]
) -> dict[Any, Any]:
    """With wire names; a snake_case argument that is None is absent, while null on the wire is null."""
    if names.keys().isdisjoint(value):
        return dict(value)
    found: dict[Any, Any] = {}
    for key, item in value.items():
        name = names.get(key)
        if name is None:
            found[key] = item
        elif not by_name:
            message = f"{shown(key)} is not a key here; did you mean {shown(name)}?"
            problems.append(("invalid-metadata", Issue(child(path, key), message)))
        elif name in value:
            message = f"{shown(key)} and {shown(name)} are one field; give it once"
            problems.append(("invalid-metadata", Issue(child(path, key), message)))
        elif item is not None:
            found[name] = item
    return found


def _core_problems(meta: dict[str, Any], path: str) -> list[Problem]:
    problems: list[Problem] = []

    def add(reason: str, at: str, message: str) -> None:
        problems.append((reason, Issue(at, message)))

    for key, reason in (("id", "empty-id"), ("region", "empty-region")):
        if not _filled(meta.get(key)):
            add(reason, child(path, key), f"{_instead(meta, key)}; `{key}` is a non-empty string")
    models = meta.get("models")
    names: dict[str, None] = {}
    if not isinstance(models, list) or not models:
        add("empty-models", child(path, "models"), f"{_instead(meta, 'models')}; `models` is a list of at least one")
    else:
        for index, model in enumerate(models):
            problems += _model_problems(model, child(path, "models", index), names)
    default = meta.get("defaultModel")
    if "defaultModel" in meta and not (isinstance(default, str) and default in names):
        near = did_you_mean(default, names) if isinstance(default, str) else ""
        listed = f"; they are {quoted(names)}" if names else ""
        add(
            "unknown-default-model",
            child(path, "defaultModel"),
            f"{shown(default) if isinstance(default, str) else _told(default)} is none of the provider's models"
            f"{near or listed}",
        )
    problems += [("invalid-labels", issue) for issue in _label_issues(meta, path)]
    return problems


def _model_problems(model: Any, path: str, names: dict[str, None]) -> Iterable[Problem]:
    if not isinstance(model, dict):
        yield "empty-model-name", Issue(path, f"{_told(model)}; a model is an object")
        return
    name = model.get("name")
    if not _filled(name):
        yield "empty-model-name", Issue(child(path, "name"), f"{_instead(model, 'name')}; a model has a non-empty name")
    elif name in names:
        yield "duplicate-model-name", Issue(child(path, "name"), f"{shown(name)} is there twice; names are unique")
    else:
        names[str(name)] = None
    if not _positive_integer(model.get("contextWindow")):
        message = f"{_instead(model, 'contextWindow')}; `contextWindow` is a positive integer, in tokens"
        yield "invalid-context-window", Issue(child(path, "contextWindow"), message)
    yield from _cost_problems(model, path)
    if "p95LatencyMs" in model and not _amount(model["p95LatencyMs"]):
        message = f"{_instead(model, 'p95LatencyMs')}; `p95LatencyMs` is a number of at least 0, or absent when unknown"
        yield "invalid-p95-latency", Issue(child(path, "p95LatencyMs"), message)
    if "maxOutputTokens" in model and not _positive_integer(model["maxOutputTokens"]):
        message = f"{_instead(model, 'maxOutputTokens')}; `maxOutputTokens` is a positive integer"
        yield "invalid-max-output-tokens", Issue(child(path, "maxOutputTokens"), message)
    if "sampling" in model and not isinstance(model["sampling"], bool):
        message = f"{_instead(model, 'sampling')}; `sampling` is true or false"
        yield "invalid-sampling", Issue(child(path, "sampling"), message)
    if "thinking" in model and not _is_thinking(model["thinking"]):
        message = "`thinking` is {mode: adaptive or always, lowest: a non-empty string}"
        yield "invalid-thinking", Issue(child(path, "thinking"), message)


def _cost_problems(model: dict[str, Any], path: str) -> Iterable[Problem]:
    cost = model.get("cost")
    if not isinstance(cost, dict):
        message = f"{_instead(model, 'cost')}; both prices are needed: an unknown price is not 0"
        yield "invalid-cost", Issue(child(path, "cost"), message)
        return
    for key in ("promptUsdPer1kTokens", "completionUsdPer1kTokens"):
        if not _amount(cost.get(key)):
            message = f"{_instead(cost, key)}; `{key}` is a number of at least 0, in USD per 1,000 tokens"
            yield "invalid-cost", Issue(child(path, "cost", key), message)


def _label_issues(meta: dict[str, Any], path: str) -> Iterable[Issue]:
    if "labels" not in meta:
        return
    labels = meta["labels"]
    at = child(path, "labels")
    if not isinstance(labels, dict):
        yield Issue(at, f"{_instead(meta, 'labels')}; `labels` is an object of strings")
        return
    if len(labels) > LABELS_MAX_KEYS:
        yield Issue(at, f"{len(labels)} labels; at most {LABELS_MAX_KEYS}")
    for key, value in labels.items():
        if not LABEL_KEY.fullmatch(key):
            yield Issue(
                child(at, key),
                f"{shown(key)} is no label key: 1 to 63 lower-case letters and digits, with `.`, `_`, `-`, `/` inside",
            )
        if not isinstance(value, str):
            yield Issue(child(at, key), f"{_told(value)}; a label's value is a string")
        elif len(value) > LABEL_VALUE_MAX_LENGTH:
            yield Issue(child(at, key), f"{len(value)} characters; at most {LABEL_VALUE_MAX_LENGTH}")


def _shape_problems(meta: dict[str, Any], path: str) -> Iterable[Problem]:
    """What the published rules take for granted: fields that routing reads have their types."""
    models = meta.get("models")
    for index, model in enumerate(models if isinstance(models, list) else []):
        if isinstance(model, dict):
            at = child(path, "models", index)
            yield from _list_of_strings(model, "features", at, "invalid-features", required=True)
            yield from _string(model, "description", at, "invalid-description")
    yield from _list_of_strings(meta, "attributes", path, "invalid-attributes", required=False)
    yield from _string(meta, "capabilityKind", path, "invalid-capability-kind")
    yield from _string(meta, "description", path, "invalid-description")
    if "fallback" in meta and not isinstance(meta["fallback"], bool):
        message = f"{_instead(meta, 'fallback')}; `fallback` is true or false"
        yield "invalid-fallback", Issue(child(path, "fallback"), message)


def _list_of_strings(value: dict[str, Any], key: str, path: str, reason: str, *, required: bool) -> Iterable[Problem]:
    if key not in value and not required:
        return
    items = value.get(key)
    if not isinstance(items, list):
        yield reason, Issue(child(path, key), f"{_instead(value, key)}; `{key}` is a list of strings")
        return
    for index, item in enumerate(items):
        if not isinstance(item, str):
            yield reason, Issue(child(path, key, index), f"{_told(item)}; a string is expected")


def _string(value: dict[str, Any], key: str, path: str, reason: str) -> Iterable[Problem]:
    if key in value and not isinstance(value[key], str):
        yield reason, Issue(child(path, key), f"{_instead(value, key)}; `{key}` is a string")


def _instead(value: dict[str, Any], key: str) -> str:
    if key not in value:
        return "missing"
    found = value[key]
    return "empty" if found in ("", [], {}) else _told(found)


def _told(found: Any) -> str:
    return found.why if isinstance(found, Unreadable) else f"{shown(found)}, {kind_of(found)}"


def _filled(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _positive_integer(value: Any) -> bool:
    # Numbers were read as doubles: a float that is left is fractional, infinite or beyond 2**53.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value > 0 and (isinstance(value, int) or value.is_integer())


def _amount(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value < float("inf")


def _is_thinking(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"mode", "lowest"}
        and value["mode"] in ("adaptive", "always")
        and _filled(value["lowest"])
    )
