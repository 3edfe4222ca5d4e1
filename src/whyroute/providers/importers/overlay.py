"""The overlay: what no published catalog says of a provider, and which of its providers and models to take."""

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictBool, ValidationError
from pydantic_core import ErrorDetails

from ...basics.issues import Issue, child, did_you_mean, kind_of, pointer, quoted, shown
from ...documents.fields import Amount, Names, OrAbsent, WireModel
from ...documents.json_text import plain
from ...documents.phrases import null
from ...errors import InvalidInputError
from ...model.metadata import metadata_problems
from ..provider_files import read_document
from .building import Conversion, LeftOut, phrase

__all__ = ["InvalidOverlayError", "ModelOverlay", "Overlay", "ProviderOverlay", "apply", "overlay_from", "read_overlay"]

Text = Annotated[str, Field(min_length=1)]


class InvalidOverlayError(InvalidInputError):
    """An overlay is broken, or names a provider or model that the source doesn't have."""

    code: ClassVar[str] = "invalid-overlay"
    subject: ClassVar[str] = "the overlay"


class ModelOverlay(WireModel):
    """What the overlay knows of one model."""

    p95_latency_ms: OrAbsent[Amount] = Field(
        default=None, alias="p95LatencyMs", description="95th percentile latency in milliseconds"
    )


class ProviderOverlay(WireModel):
    """What the overlay knows of one provider."""

    source: OrAbsent[Text] = Field(
        default=None, alias="from", description="the source's provider; absent: the one of the same id"
    )
    region: OrAbsent[Text] = None
    attributes: OrAbsent[Names] = None
    description: OrAbsent[str] = None
    default_model: OrAbsent[str] = None
    fallback: OrAbsent[StrictBool] = None
    labels: OrAbsent[dict[str, str]] = None
    p95_latency_ms: OrAbsent[Amount] = Field(
        default=None, alias="p95LatencyMs", description="of every model that has none of its own, in milliseconds"
    )
    include: OrAbsent[Annotated[Names, Field(min_length=1)]] = Field(
        default=None, description="the models to take; absent: all of them"
    )
    models: dict[str, ModelOverlay] = Field(default_factory=dict)


class Overlay(WireModel):
    """An overlay file."""

    note: OrAbsent[str] = Field(default=None, description="copied to the head of the YAML that is written")
    unlisted: Literal["keep", "drop"] = Field(
        default="keep", description="what happens to the source's providers that are not listed here"
    )
    providers: dict[str, ProviderOverlay] = Field(default_factory=dict)


def read_overlay(path: str | PathLike[str]) -> Overlay:
    """The overlay of a file: YAML 1.2, or JSON when its name ends in `.json`.

    Raises:
        UnreadableFileError: The file can't be read or is not in its format.
        InvalidOverlayError: It is no overlay; `issues` are all its problems.
    """
    return overlay_from(read_document(path))


def overlay_from(document: Any) -> Overlay:
    """The overlay of a parsed document.

    Raises:
        InvalidOverlayError: It is none; `issues` are all its problems.
    """
    if document is None:
        raise InvalidOverlayError([Issue("", "empty; an object with the key `providers` is expected")])
    cleaned, issues = plain(document)
    if issues:
        raise InvalidOverlayError(
            issue.with_more("; text goes in quotes") if issue.code == Issue.FOREIGN else issue for issue in issues
        )
    try:
        return Overlay.model_validate(cleaned, by_name=False, by_alias=True)
    except ValidationError as error:
        raise InvalidOverlayError(_issue(details) for details in error.errors()) from None


def _issue(details: ErrorDetails) -> Issue:
    place = details["loc"]
    value = details["input"]
    expected = {
        "string_type": "a string is expected",
        "string_too_short": "a non-empty string is expected",
        "bool_type": "true or false is expected",
        "dict_type": "an object is expected",
        "model_type": "an object is expected",
        "model_attributes_type": "an object is expected",
        "too_short": "a list of at least one name is expected; leave the key out to take all models",
        "literal_error": "`keep` or `drop` is expected",
    }.get(details["type"])
    if details["type"] == "extra_forbidden":
        key = str(place[-1])
        known = _keys(len(place))
        message = f"{shown(key)} is no key here{did_you_mean(key, known) or '; they are ' + quoted(known)}"
    elif expected is not None:
        found = "empty" if value in ("", [], {}) else f"{shown(value)}, {kind_of(value)}"
        message = f"{found}; {expected}"
    else:
        message = f"{shown(value)}, {kind_of(value)}; {details['msg']}"
    at = pointer(place)
    return null(at, expected or details["msg"]) if value is None else Issue(at, message)


def _keys(depth: int) -> list[str]:
    fields = {1: Overlay.model_fields, 3: ProviderOverlay.model_fields}.get(depth, ModelOverlay.model_fields)
    return [field.alias or name for name, field in fields.items()]


def apply(overlay: Overlay, conversion: Conversion) -> tuple[dict[str, Any], ...]:
    """The providers with what the overlay knows, by id.

    Raises:
        InvalidOverlayError: It names providers or models that aren't there; `issues` are all of them.
    """
    source = {provider["id"]: provider for provider in conversion.providers}
    left_out: dict[str, dict[str, LeftOut]] = {}
    for (provider_id, name), reason in conversion.reasons.items():
        left_out.setdefault(provider_id, {})[name] = reason
    found = {} if overlay.unlisted == "drop" else dict(source)
    issues: list[Issue] = []
    for provider_id, entry in overlay.providers.items():
        at = child("/providers", provider_id)
        wanted = provider_id if entry.source is None else entry.source
        if wanted not in source:
            place = at if entry.source is None else child(at, "from")
            issues.append(Issue(place, _unknown_provider(wanted, source, left_out)))
            continue
        if wanted != provider_id and provider_id in source:
            message = f"{shown(provider_id)} is a provider of the source; `from` makes another one, under a new id"
            issues.append(Issue(at, message))
            continue
        problems = _name_issues(entry, source[wanted], left_out.get(wanted, {}), at)
        if not problems:
            provider = _overlaid(provider_id, entry, source[wanted])
            found[provider_id] = plain(provider)[0]
            problems = [issue for _, issue in metadata_problems(provider, at)[0]]
        issues += problems
    if issues:
        raise InvalidOverlayError(issues)
    return tuple(found[provider_id] for provider_id in sorted(found))


def _unknown_provider(wanted: str, source: Iterable[str], left_out: Mapping[str, Any]) -> str:
    if wanted in left_out:
        return f"all models of {shown(wanted)} were left out, so it is not imported"
    return f"{shown(wanted)} is no provider of the source{did_you_mean(wanted, source)}"


def _name_issues(
    entry: ProviderOverlay, provider: Mapping[str, Any], left_out: Mapping[str, LeftOut], at: str
) -> list[Issue]:
    names = {model["name"] for model in provider["models"]}
    issues: list[Issue] = []

    def check(name: str, place: str) -> bool:
        if name in names:
            return True
        if name in left_out:
            message = f"{shown(name)} is not imported: a model {phrase(left_out[name])}"
        else:
            message = f"{shown(name)} is no model of {shown(provider['id'])}{did_you_mean(name, names)}"
        issues.append(Issue(place, message))
        return False

    included: set[str] = set()
    for index, name in enumerate(entry.include or ()):
        place = child(at, "include", index)
        if name in included:
            issues.append(Issue(place, f"{shown(name)} is there twice; once is enough"))
        included.add(name)
        check(name, place)
    others = [(name, child(at, "models", name)) for name in entry.models]
    if entry.default_model is not None:
        others.append((entry.default_model, child(at, "defaultModel")))
    for name, place in others:
        if check(name, place) and entry.include is not None and name not in included:
            issues.append(Issue(place, f"{shown(name)} is not among `include`, so it is not taken"))
    return issues


def _overlaid(provider_id: str, entry: ProviderOverlay, provider: Mapping[str, Any]) -> dict[str, Any]:
    known = {
        "capabilityKind": provider.get("capabilityKind"),
        "description": provider.get("description") if entry.description is None else entry.description,
        "attributes": None if entry.attributes is None else list(entry.attributes),
        "labels": entry.labels,
        "fallback": entry.fallback,
        "defaultModel": entry.default_model,
    }
    region = provider["region"] if entry.region is None else entry.region
    found = {"id": provider_id, "region": region, **{key: value for key, value in known.items() if value is not None}}
    found["models"] = [
        _model(model, entry) for model in provider["models"] if entry.include is None or model["name"] in entry.include
    ]
    return found


def _model(model: Mapping[str, Any], entry: ProviderOverlay) -> dict[str, Any]:
    own = entry.models.get(model["name"])
    latency = entry.p95_latency_ms if own is None or own.p95_latency_ms is None else own.p95_latency_ms
    return dict(model) if latency is None else {**model, "p95LatencyMs": latency}
