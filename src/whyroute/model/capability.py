"""Capability declarations: a kind, needs, preferences and a budget."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Discriminator, Field, Tag, ValidationError

from ..basics.issues import Issue, few_searches
from ..documents.fields import Amount, Count, Listed, Names, Number, OrAbsent, PositiveInteger, WireModel
from ..documents.json_text import JsonTextError, plain, read_json
from ..documents.model_issues import issues_of
from ..errors import InvalidCapabilityError
from .features import DEFAULT_KIND

__all__ = [
    "CAPABILITY_SCHEMA_URI",
    "Budget",
    "Capability",
    "ComparisonOp",
    "ContextWindowBound",
    "ContextWindowNeed",
    "CostBound",
    "CostNeed",
    "Feature",
    "FeatureNeed",
    "LatencyBound",
    "LatencyNeed",
    "ModelsNeed",
    "NameLists",
    "Need",
    "Preference",
    "ProvidersNeed",
    "RegionNeed",
    "Requirement",
    "UpperBoundOp",
    "define_capability",
    "read_capability",
]

CAPABILITY_SCHEMA_URI: Final = "https://kindgi.com/schemas/v1/capability.schema.json"
"""The `$id` of the JSON Schema that declarations keep to."""

ComparisonOp = Literal[">=", ">", "=", "<=", "<"]
"""How a need compares a number."""

UpperBoundOp = Literal["<=", "<"]
"""How a need bounds a number from above."""

Feature = Literal[
    "structured-output",
    "vision",
    "audio-input",
    "audio-output",
    "tool-use",
    "parallel-tool-use",
    "thinking",
    "long-context",
    "code-execution",
    "web-search",
    "file-search",
    "streaming",
    "batch",
]
"""A feature that a need may ask for; `FEATURES` lists them."""


class FeatureNeed(WireModel):
    """The model must have a feature."""

    feature: Feature


class ContextWindowBound(WireModel):
    """A bound on the context window, in tokens."""

    op: ComparisonOp
    value: PositiveInteger


class ContextWindowNeed(WireModel):
    """The model's context window must meet a bound."""

    context_window: ContextWindowBound


class CostBound(WireModel):
    """A bound on the prompt price, in USD per 1,000 tokens."""

    op: ComparisonOp
    usd: Amount


class CostNeed(WireModel):
    """The model's prompt price per 1,000 tokens must meet a bound."""

    cost_per_call: CostBound


class RegionNeed(WireModel):
    """The provider must be in a region."""

    region: str


class LatencyBound(WireModel):
    """An upper bound on the 95th percentile latency, in milliseconds."""

    op: UpperBoundOp
    value: Count


class LatencyNeed(WireModel):
    """The model's 95th percentile latency must be known and meet a bound."""

    p95_latency_ms: LatencyBound


class NameLists(WireModel):
    """Names that are allowed and names that are denied.

    An allow list that is present restricts even when it is empty. Deny is checked before allow.
    """

    allow: OrAbsent[Names] = Field(
        default=None, description="only these, and none when it is empty; absent: all that are not denied"
    )
    deny: OrAbsent[Names] = Field(default=None, description="not these, even where they are allowed too")


class ProvidersNeed(WireModel):
    """The provider's id must pass the lists."""

    providers: NameLists


class ModelsNeed(WireModel):
    """The model's name must pass the lists."""

    models: NameLists


NEED_KEYS: Mapping[str, type[WireModel]] = {
    "feature": FeatureNeed,
    "contextWindow": ContextWindowNeed,
    "costPerCall": CostNeed,
    "region": RegionNeed,
    "p95LatencyMs": LatencyNeed,
    "providers": ProvidersNeed,
    "models": ModelsNeed,
}
"""The wire key of each need, and its type."""

_PYTHON_KEYS = {"context_window": "contextWindow", "cost_per_call": "costPerCall", "p95_latency_ms": "p95LatencyMs"}


def _need_tag(value: Any) -> str | None:
    if isinstance(value, dict):
        for key in value:
            tag = _PYTHON_KEYS.get(key, key)
            if tag in NEED_KEYS:
                return str(tag)
        return None
    return next((tag for tag, kind in NEED_KEYS.items() if isinstance(value, kind)), None)


Need = Annotated[
    Annotated[FeatureNeed, Tag("feature")]
    | Annotated[ContextWindowNeed, Tag("contextWindow")]
    | Annotated[CostNeed, Tag("costPerCall")]
    | Annotated[RegionNeed, Tag("region")]
    | Annotated[LatencyNeed, Tag("p95LatencyMs")]
    | Annotated[ProvidersNeed, Tag("providers")]
    | Annotated[ModelsNeed, Tag("models")],
    Discriminator(_need_tag),
]
"""One hard requirement: exactly one of the seven shapes."""

Requirement = Need
"""What the capability schema calls a need."""


class Preference(WireModel):
    """A weighted wish: candidates whose features or provider attributes include `feature` gain `weight`."""

    feature: str
    weight: Number


class Budget(WireModel):
    """What one call may use. `route` enforces none of it; `Router.invoke` checks it."""

    max_cost_usd: OrAbsent[Amount] = None
    max_tokens: OrAbsent[Count] = None
    max_duration_ms: OrAbsent[Count] = None


class Capability(WireModel):
    """What a caller needs from a model, and what it would like.

    The router takes an empty `needs`; `define_capability` does not.
    """

    kind: Annotated[str, Field(min_length=1)] = DEFAULT_KIND
    needs: Listed[Need]
    prefer: Listed[Preference] = ()
    budget: OrAbsent[Budget] = None


def define_capability(spec: Mapping[str, Any] | str | bytes | Capability) -> Capability:
    """Validate a declaration against the capability schema, version 1.1.0.

    Args:
        spec: The declaration with its wire names, its JSON text, or a Capability.

    Returns:
        The declaration as a frozen model.

    Raises:
        InvalidCapabilityError: The declaration is broken or not JSON; all its issues, in document order.

    Example:
        >>> import whyroute as wr
        >>> wr.define_capability({"needs": [{"feature": "vision"}]}).kind
        'llm-inference'
    """
    document: Any = spec
    if isinstance(spec, str | bytes):
        try:
            document = read_json(spec)
        except JsonTextError as error:
            raise InvalidCapabilityError([Issue("", error.message)]) from None
    if isinstance(spec, Capability):
        if spec.needs:
            return spec
        document = spec.to_dict()
    value = _sound(document)
    if value is not None and value.needs:
        return value
    with few_searches():
        issues = _schema_issues(document, empty_needs=False)
    if issues:
        raise InvalidCapabilityError(issues)
    return _read(plain(document)[0], "")


def read_capability(document: Any, path: str = "") -> Capability:
    """Read a declaration as the router takes it: an empty `needs` is fine, text is not parsed.

    Args:
        document: A JSON-like object with wire names, or a Capability, which is returned as it is.
        path: JSON pointer of the document, for the issues.

    Raises:
        InvalidCapabilityError: The declaration is broken; all its issues, in document order.
    """
    if isinstance(document, Capability):
        return document
    value = _sound(document)
    if value is not None:
        return value
    with few_searches():
        broken = _schema_issues(document, empty_needs=True)
    if broken:
        raise InvalidCapabilityError([issue.under(path) for issue in broken])
    return _read(plain(document)[0], path)


def _sound(document: Any) -> Capability | None:
    """A declaration that the models accept, which are as strict as the schema but for an empty `needs`; else None.

    Of what is broken the schema tells more, and takes ten times as long.
    """
    cleaned, foreign = plain(document)
    if foreign:
        return None
    try:
        value = Capability.model_validate(cleaned, by_alias=True, by_name=False)
    except ValidationError:
        return None
    return value


def _schema_issues(document: Any, *, empty_needs: bool) -> list[Issue]:
    # jsonschema takes long to load, and a declaration that the router can read doesn't need it.
    from ..documents.schema_issues import declaration_issues  # noqa: PLC0415

    return declaration_issues(document, empty_needs=empty_needs)


def _read(cleaned: Any, path: str) -> Capability:
    try:
        value = Capability.model_validate(cleaned, by_alias=True, by_name=False)
    except ValidationError as error:
        raise InvalidCapabilityError(issues_of(error, cleaned, path, model=Capability)) from None
    return value
