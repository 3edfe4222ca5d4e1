"""Telling the published catalogs apart, so that a file given to the wrong importer is named for what it is."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ...basics.issues import Issue, child, kind_of, shown
from ..provider_files import InvalidCatalogError
from .reading import entries

__all__ = ["FORMATS", "require_format"]


def _is_models_dev(document: Any) -> bool:
    return isinstance(document, dict) and any(
        isinstance(value, dict) and isinstance(value.get("models"), dict) for _, value in entries(document)
    )


def _is_litellm(document: Any) -> bool:
    return isinstance(document, dict) and any(
        isinstance(value, dict) and "litellm_provider" in value for _, value in entries(document)
    )


def _is_openrouter(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("data"), list)


FORMATS: Mapping[str, tuple[Callable[[Any], bool], str]] = MappingProxyType(
    {
        "models-dev": (_is_models_dev, "an object of providers, each with `models`, as models.dev's api.json has it"),
        "litellm": (
            _is_litellm,
            "an object of models, each with `litellm_provider`, as model_prices_and_context_window.json has it",
        ),
        "openrouter": (_is_openrouter, "an object with a list under `data`, as OpenRouter's /api/v1/models answers"),
    }
)
"""Source to the test of a document and the shape in words."""


def _foreign_keys(document: Any) -> list[Issue]:
    """The keys that no JSON text could have given: a document that was not parsed from one may have such."""
    if not isinstance(document, dict):
        return []
    holders = [("", document)]
    for name, value in entries(document):
        models = value.get("models") if isinstance(value, dict) else None
        if isinstance(name, str) and isinstance(models, dict):
            holders.append((child("", name, "models"), models))
    return [
        Issue(path, f"key {shown(key)} is {kind_of(key)}; the keys of a parsed JSON document are strings")
        for path, holder in holders
        for key in holder
        if not isinstance(key, str)
    ]


def require_format(document: Any, source: str) -> None:
    """Make sure that a document is of the source's format.

    Raises:
        InvalidCatalogError: It is not, and the message names the source it looks like, when it looks like one; or keys
            are no strings.
    """
    recognise, shape = FORMATS[source]
    foreign = _foreign_keys(document)
    if foreign:
        raise InvalidCatalogError(foreign)
    if recognise(document):
        return
    other = next((name for name, (test, _) in FORMATS.items() if test(document)), None)
    if other is not None:
        hint = f"; this looks like the format of `{other}`"
    elif isinstance(document, dict) and isinstance(document.get("providers"), list):
        hint = "; this has a `providers` section already, there is nothing to import"
    else:
        hint = ""
    found = "an empty object" if document == {} else kind_of(document)
    raise InvalidCatalogError([Issue("", f"{found}; what is expected is {shape}{hint}")])
