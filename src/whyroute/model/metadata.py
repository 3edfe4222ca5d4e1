"""What a provider says of itself, and the rules that it must meet."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, Self, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    StrictBool,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from ..basics.frozen import FrozenDict
from ..basics.issues import Issue, child, did_you_mean, few_searches, kind_of, quoted, shown
from ..documents.fields import Amount, FilledList, FilledText, Listed, OrNone, PositiveInteger, Text, WireModel, refused
from ..documents.json_text import Unreadable, plain
from ..documents.phrases import null
from ..errors import InvalidProviderError
from .features import DEFAULT_KIND

__all__ = [
    "LABEL_KEY",
    "ModelCost",
    "ModelInfo",
    "ModelThinking",
    "ProviderMetadata",
    "invalid_provider",
    "metadata_problems",
    "read_metadata",
    "routable_problems",
    "source_of",
]

_WIRE: Final = object()
"""The validation context of metadata in wire form: no key that it has is null or has a name in Python."""


class _Open(WireModel):
    """Keys that adapters add are kept."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")


class ModelCost(_Open):
    """What a model charges, in USD per 1,000 tokens."""

    prompt_usd_per_1k_tokens: Amount = Field(description="USD per 1,000 prompt tokens")
    completion_usd_per_1k_tokens: Amount = Field(description="USD per 1,000 completion tokens")


class ModelThinking(WireModel):
    """How a model thinks before it answers."""

    mode: Literal["adaptive", "always"] = Field(
        description="`adaptive`: on unless turned down; `always`: it can only be lowered"
    )
    lowest: FilledText = Field(description="the vendor's own setting for the least thinking")


class ModelInfo(_Open):
    """One model of a provider."""

    name: FilledText = Field(description="the vendor's name of the model, unique within its provider")
    context_window: PositiveInteger = Field(description="tokens of prompt and answer together; a positive integer")
    features: Listed[Text] = Field(description="the features it has")
    cost: ModelCost = Field(description="what it charges for 1,000 tokens, in USD")
    p95_latency_ms: OrNone[Amount] = Field(
        default=None, description="95th percentile latency in milliseconds; absent: unknown"
    )
    max_output_tokens: OrNone[PositiveInteger] = Field(
        default=None, description="default cap on a call's output tokens; a positive integer"
    )
    sampling: OrNone[StrictBool] = Field(default=None, description="false: it takes no temperature; absent: it does")
    thinking: OrNone[ModelThinking] = Field(default=None, description="absent: it doesn't, or nothing is known")
    description: OrNone[Text] = Field(default=None, description="for people; nothing compares it")


class ProviderMetadata(_Open):
    """What a provider reports about itself, so that it can be routed to without being called.

    Here, in Python, a field goes by its snake_case or its wire name; what is read as wire form knows wire names only.

    Raises:
        ValidationError: Rules of the contract are broken; all of them, each at its place.

    Example:
        >>> import whyroute as wr
        >>> metadata = wr.EchoProvider("echo", region="eu").metadata
        >>> wr.ProviderMetadata.model_validate(metadata.model_dump()) == metadata
        True
    """

    id: FilledText = Field(description="unique within the tenant")
    region: FilledText = Field(description="where the connection goes; `unspecified` when it is not bound to a region")
    models: FilledList[ModelInfo] = Field(description="at least one; names are unique")
    default_model: OrNone[Text] = Field(default=None, description="comes before the other models where ranks tie")
    attributes: Listed[Text] = Field(default=(), description="what preferences may name beside features")
    description: OrNone[Text] = Field(default=None, description="for people; nothing compares it")
    capability_kind: Text = Field(default=DEFAULT_KIND, description="matched by equality; absent: llm-inference")
    fallback: StrictBool = Field(default=False, description="counts only when nothing else qualifies")
    labels: Annotated[Mapping[Text, Text], AfterValidator(FrozenDict)] = Field(
        default_factory=FrozenDict, description="bookkeeping of the provider's owner"
    )

    def __hash__(self) -> int:
        # Not over all models and their features: equal metadata has equal ids.
        return hash((type(self), self.id))

    @model_validator(mode="wrap")
    @classmethod
    def _meets_the_rules(cls, value: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        if isinstance(value, cls):
            return value
        if info.context is _WIRE:
            return handler(value)
        problems, found = _read(value, "", by_name=True, validate=handler)
        if problems:
            raise refused(cls, (issue for _, issue in problems), found)
        return cast("Self", found)


_SOURCE: Final = "source"
_PACK: Final = "pack"


def source_of(metadata: ProviderMetadata) -> str:
    """Where a provider comes from: `pack` when its metadata says so under `source`, else `registered`."""
    extra = metadata.model_extra
    return _PACK if extra is not None and extra.get(_SOURCE) == _PACK else "registered"


LABELS_MAX_KEYS = 32
LABEL_VALUE_MAX_LENGTH = 256
LABEL_KEY = re.compile(r"[a-z0-9]([a-z0-9._/-]{0,61}[a-z0-9])?", re.ASCII)

Problem = tuple[str, Issue]
"""A broken rule: the contract's reason, and the issue."""


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
    problems, found = routable_problems(document, path)
    if problems:
        raise invalid_provider(problems, found)
    return cast("ProviderMetadata", found)


def invalid_provider(problems: list[Problem], found: Any) -> InvalidProviderError:
    """The error for what `metadata_problems` found."""
    provider_id = found.get("id") if isinstance(found, dict) else getattr(found, "id", None)
    known = provider_id if isinstance(provider_id, str) and provider_id else None
    return InvalidProviderError(problems[0][0], [issue for _, issue in problems], known)


def metadata_problems(value: Any, path: str = "") -> tuple[list[Problem], Any]:
    """Every rule of the contract that metadata breaks, in the contract's order, then what no rule looks at.

    Args:
        value: Metadata as on the wire. A snake_case spelling of a key that routing knows is a problem.
        path: JSON pointer of the metadata.

    Returns:
        The problems, and the metadata: as a model when there are none, else in wire form.
    """
    with few_searches():
        return _read(value, path, by_name=False, validate=_of_wire)


def _of_wire(meta: Any) -> ProviderMetadata:
    return ProviderMetadata.model_validate(meta, context=_WIRE, by_alias=True, by_name=False)


def routable_problems(value: Any, path: str) -> tuple[list[Problem], Any]:
    """`metadata_problems` outside a rule pack, where nothing keeps a provider to the tenants that it is for."""
    problems, found = metadata_problems(value, path)
    if isinstance(value, Mapping) and "onlyTenants" in value:
        message = (
            "`onlyTenants` is for rule packs, where requests name their tenant; give the providers that this tenant has"
        )
        problems.append(("invalid-metadata", Issue(child(path, "onlyTenants"), message)))
    return problems, found


def _read(
    value: Any, path: str, *, by_name: bool, validate: Callable[[Any], ProviderMetadata]
) -> tuple[list[Problem], Any]:
    if not isinstance(value, Mapping):
        return [("empty-id", Issue(path, f"metadata is an object, this is {kind_of(value)}"))], value
    if _is_tidy(value):
        problems, others, found = _judged(value, path, validate)
        if found is not None and not problems and not others:
            return [], found
    misspelt: list[Problem] = []
    cleaned, unreadable = plain(_wire_form(value, path, by_name, misspelt), path, marked=True)
    for part, keys in _parts(cleaned):
        for key in part.keys() & keys if isinstance(part, dict) else ():
            if part[key] is None and key != _SOURCE:
                part[key] = _NULL  # the models take null for absent
    problems, others, found = _judged(cleaned, path, validate)
    others += misspelt
    if unreadable:
        _add_unreadable(unreadable, problems, others, child(path, "labels"))
    return problems + others, cleaned if problems or others else found


def _is_tidy(value: Mapping[Any, Any]) -> bool:
    """Whether a document has no keys but those of metadata, no nulls, and lists where lists are due: most are such,
    and need no copy to be read.
    """
    models, labels = value.get("models"), value.get("labels", _NOTHING)
    return (
        type(models) is list
        and type(labels) is dict
        and all(type(key) is str for key in labels)
        and type(value.get("attributes", models)) is list
        and value.get(_SOURCE, _PACK) == _PACK
        and all(
            type(part) is dict and part.keys() <= keys and None not in part.values() for part, keys in _parts(value)
        )
        and all(type(model.get("features")) is list for model in models)
    )


def _parts(meta: Mapping[Any, Any]) -> Iterator[tuple[Any, frozenset[str]]]:
    """What stands where metadata has an object, each with the keys that are known there."""
    yield meta, _METADATA_KEYS
    models = meta.get("models")
    for model in models if isinstance(models, list) else ():
        yield model, _MODEL_KEYS
        if isinstance(model, dict):
            yield model.get("cost", _NOTHING), _COST_KEYS


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


_NOTHING: Final[dict[str, Any]] = {}
_NULL: Final = Unreadable("null")
_PROVIDER_KEYS, _MODEL_KEYS, _COST_KEYS = (
    frozenset(field.alias or name for name, field in model.model_fields.items())
    for model in (ProviderMetadata, ModelInfo, ModelCost)
)
_METADATA_KEYS = _PROVIDER_KEYS | {_SOURCE}
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
    if not isinstance(model, Mapping):
        return model
    found = _renamed(model, _MODEL_NAMES, path, by_name, problems)
    if isinstance(found.get("cost"), Mapping):
        found["cost"] = _renamed(found["cost"], _COST_NAMES, f"{path}/cost", by_name, problems)
    return found


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
            problems.append(("invalid-metadata", Issue(child(path, key), message, Issue.KEY)))
        elif name in value:
            message = f"{shown(key)} and {shown(name)} are one field; give it once"
            problems.append(("invalid-metadata", Issue(child(path, key), message)))
        elif item is not None:
            found[name] = item
    return found


_CONTRACT: Final = {
    "id": ("empty-id", "`id` is a non-empty string", "string"),
    "region": ("empty-region", "`region` is a non-empty string", "string"),
    "models": ("empty-models", "`models` is a list of at least one", ""),
    "models/*": ("empty-model-name", "a model is an object", ""),
    "models/*/name": ("empty-model-name", "a model has a non-empty name", "string"),
    "models/*/contextWindow": ("invalid-context-window", "`contextWindow` is a positive integer, in tokens", ""),
    "models/*/cost": ("invalid-cost", "both prices are needed: an unknown price is not 0", ""),
    "models/*/cost/promptUsdPer1kTokens": (
        "invalid-cost",
        "`promptUsdPer1kTokens` is a number of at least 0, in USD per 1,000 tokens",
        "number",
    ),
    "models/*/cost/completionUsdPer1kTokens": (
        "invalid-cost",
        "`completionUsdPer1kTokens` is a number of at least 0, in USD per 1,000 tokens",
        "number",
    ),
    "models/*/p95LatencyMs": (
        "invalid-p95-latency",
        "`p95LatencyMs` is a number of at least 0, or absent when unknown",
        "number",
    ),
    "models/*/maxOutputTokens": ("invalid-max-output-tokens", "`maxOutputTokens` is a positive integer", "integer"),
    "models/*/sampling": ("invalid-sampling", "`sampling` is true or false", ""),
    "models/*/thinking": (
        "invalid-thinking",
        "`thinking` is {mode: adaptive or always, lowest: a non-empty string}",
        "",
    ),
    "defaultModel": ("unknown-default-model", "is none of the provider's models", ""),
    "labels": ("invalid-labels", "`labels` is an object of strings", ""),
    "models/*/features": ("invalid-features", "`features` is a list of strings", "list"),
    "models/*/features/*": ("invalid-features", "a string is expected", "string"),
    "models/*/description": ("invalid-description", "`description` is a string", "string"),
    "attributes": ("invalid-attributes", "`attributes` is a list of strings", "list"),
    "attributes/*": ("invalid-attributes", "a string is expected", "string"),
    "capabilityKind": ("invalid-capability-kind", "`capabilityKind` is a string", "string"),
    "description": ("invalid-description", "`description` is a string", "string"),
    "fallback": ("invalid-fallback", "`fallback` is true or false", ""),
}
"""The contract's rules in its order, each with its reason, what would be right, and of which type that is."""

_RANKS: Final = {rule: rank for rank, rule in enumerate(_CONTRACT)}
_TAKEN_FOR_GRANTED: Final = _RANKS["models/*/features"]
"""The first of the rules that the published contract takes for granted: what routing reads has its type."""

_NOT_TOLD: Final = ("string_unicode", "too_short")
"""Errors of pydantic about a value with something in it: `plain` tells of the text, the items of a list of theirs."""

Place = tuple[str | int, ...]


def _judged(
    meta: Mapping[str, Any], path: str, validate: Callable[[Any], ProviderMetadata]
) -> tuple[list[Problem], list[Problem], Any]:
    """The rules of the contract that metadata in wire form breaks, those taken for granted, and the metadata read."""
    read = None
    told: dict[Place, Problem] = {}
    try:
        read = validate(meta)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_context=False):
            place = detail["loc"]
            if place[2:3] == ("thinking",):
                reason, message, _ = _CONTRACT["models/*/thinking"]
                told[place[:3]] = reason, Issue(child(path, *place[:3]), message, Issue.KEY)
            elif not (detail["type"] in _NOT_TOLD and detail["input"]) and place[0] not in ("labels", "defaultModel"):
                told[place] = _CONTRACT[_rule(place)][0], _unlike_the_rule(meta, place, path)
    told.update(_contradictions(meta, path))
    found: tuple[list[Problem], list[Problem]] = ([], [])
    for place in sorted(told, key=_rank) if told else ():
        found[_rank(place)[0]].append(told[place])
    if "labels" in meta:
        found[0].extend(("invalid-labels", issue) for issue in _label_issues(meta, path))
    return *found, read


def _rule(place: Place) -> str:
    return "/".join("*" if isinstance(token, int) else token for token in place)


def _rank(place: Place) -> tuple[bool, int, Any, int]:
    """Where a place comes in the contract's order: one model is judged as a whole, then the next."""
    rank = _RANKS[_rule(place)]
    return rank >= _TAKEN_FOR_GRANTED, _RANKS[str(place[0])], place[1] if len(place) > 1 else 0, rank


def _unlike_the_rule(meta: Mapping[str, Any], place: Place, path: str) -> Issue:
    """The issue about what stands at a place instead of what is right there."""
    _, right, wants = _CONTRACT[_rule(place)]
    at = child(path, *place)
    value: Any = meta
    for token in place:
        if isinstance(value, dict) and token not in value:
            return Issue(at, f"missing; {right}")
        value = value[token]
    if isinstance(place[-1], str) and value in ("", [], {}):
        return Issue(at, f"empty; {right}")
    return _wrong(at, value, f"; {right}", wants)


def _wrong(path: str, value: Any, rest: str, wants: str = "") -> Issue:
    """The issue about a value, with what there is to say after what it is."""
    if isinstance(value, Unreadable) and value is not _NULL:
        return Issue(path, value.why + rest)
    if value is None or value is _NULL:
        return null(path, rest.removeprefix("; "))
    return Issue(path, f"{shown(value)}, {kind_of(value)}{rest}", Issue.VALUE, value=value, wants=wants)


def _contradictions(meta: Mapping[str, Any], path: str) -> Iterator[tuple[Place, Problem]]:
    """Where parts that are fine by themselves don't go together."""
    names: dict[str, None] = {}
    models = meta.get("models")
    for index, model in enumerate(models if isinstance(models, list) else ()):
        name = model.get("name") if isinstance(model, dict) else None
        if isinstance(name, str) and name:
            if name in names:
                issue = Issue(child(path, "models", index, "name"), f"{shown(name)} is there twice; names are unique")
                yield ("models", index, "name"), ("duplicate-model-name", issue)
            names[name] = None
    if "defaultModel" in meta:
        default = meta["defaultModel"]
        listed = f"; they are {quoted(names)}" if names else ""
        if not isinstance(default, str) or default not in names:
            at = child(path, "defaultModel")
            reason, wrong, _ = _CONTRACT["defaultModel"]
            if isinstance(default, str):
                near = did_you_mean(default, names)
                issue = Issue(at, f"{shown(default)} {wrong}{near or listed}")
            else:
                issue = _wrong(at, default, f" {wrong}{listed}")
            yield ("defaultModel",), (reason, issue)


def _label_issues(meta: Mapping[str, Any], path: str) -> Iterator[Issue]:
    labels = meta["labels"]
    at = child(path, "labels")
    if not isinstance(labels, dict):
        yield _unlike_the_rule(meta, ("labels",), path)
        return
    if len(labels) > LABELS_MAX_KEYS:
        yield Issue(at, f"{len(labels)} labels; at most {LABELS_MAX_KEYS}")
    for key, value in labels.items():
        if not LABEL_KEY.fullmatch(key):
            yield Issue(
                child(at, key),
                f"{shown(key)} is no label key: 1 to 63 lower-case letters and digits, with `.`, `_`, `-`, `/` inside",
                Issue.KEY,
            )
        if not isinstance(value, str):
            yield _wrong(child(at, key), value, "; a label's value is a string", "string")
        elif len(value) > LABEL_VALUE_MAX_LENGTH:
            yield Issue(child(at, key), f"{len(value)} characters; at most {LABEL_VALUE_MAX_LENGTH}")
