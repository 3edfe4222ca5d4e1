"""Published catalogs of models as providers that can be registered: models.dev, LiteLLM and OpenRouter."""

from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar

from ...basics.issues import did_you_mean, quoted, shown
from ...errors import WhyrouteError
from . import from_litellm, from_models_dev, from_openrouter
from .building import Conversion, LeftOut, Skipped, skipped_lines
from .overlay import InvalidOverlayError, Overlay, apply, overlay_from, read_overlay
from .reading import read_catalog
from .writing import to_json, to_yaml

__all__ = [
    "SOURCES",
    "ImportResult",
    "InvalidOverlayError",
    "LeftOut",
    "Overlay",
    "Skipped",
    "SourceWithoutFileError",
    "UnknownSourceError",
    "import_catalog",
    "litellm",
    "models_dev",
    "openrouter",
    "overlay_from",
    "read_overlay",
    "skipped_lines",
    "to_json",
    "to_yaml",
]

_CONVERTERS = {
    "models-dev": from_models_dev.convert,
    "litellm": from_litellm.convert,
    "openrouter": from_openrouter.convert,
}

SOURCES = tuple(_CONVERTERS)
"""What `import_catalog` reads."""


class UnknownSourceError(WhyrouteError):
    """There is no importer of that name.

    Attributes:
        source: The name.
    """

    code: ClassVar[str] = "unknown-source"

    def __init__(self, source: str) -> None:
        self.source = source
        near = did_you_mean(source, SOURCES) or f"; they are {quoted(SOURCES)}"
        super().__init__(f"{shown(source)} is no source to import from{near}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.source,)


class SourceWithoutFileError(WhyrouteError):
    """A source that no installed package ships was asked for without a file.

    Attributes:
        source: The source.
    """

    code: ClassVar[str] = "source-without-file"

    def __init__(self, source: str) -> None:
        self.source = source
        super().__init__(f"{shown(source)} needs a file; only `models-dev` comes with an installed package")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.source,)


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What came out of a published catalog.

    Attributes:
        providers: In wire form, by id, their models by name; each can be registered.
        skipped: What was left out, by reason.
        origin: What the data is, such as `models-dev 1.0.398`; None when the caller handed over a document.
        note: The overlay's note.
    """

    providers: tuple[dict[str, Any], ...]
    skipped: tuple[Skipped, ...]
    origin: str | None = None
    note: str | None = None

    @property
    def header(self) -> str:
        """Lines for the head of the file that is written: the data's origin, and the overlay's note."""
        made = [] if self.origin is None else [f"Made by `whyroute import` from {self.origin}; edits are lost."]
        return "\n".join([*made, *([] if self.note is None else self.note.splitlines())])


def _result(conversion: Conversion, overlay: Overlay | None, origin: str | None) -> ImportResult:
    if overlay is None:
        return ImportResult(conversion.providers, conversion.skipped, origin)
    return ImportResult(apply(overlay, conversion), conversion.skipped, origin, overlay.note)


def models_dev(document: Any, overlay: Overlay | None = None) -> ImportResult:
    """Providers from models.dev's parsed api.json.

    Args:
        document: The document; a number may be an int, a float or a Decimal.
        overlay: What the document doesn't say.

    Raises:
        InvalidCatalogError: The document is of another format.
        InvalidOverlayError: The overlay names a provider or model that isn't there.
    """
    return _result(from_models_dev.convert(document), overlay, None)


def litellm(document: Any, overlay: Overlay | None = None) -> ImportResult:
    """Providers from LiteLLM's parsed model_prices_and_context_window.json; as `models_dev` otherwise."""
    return _result(from_litellm.convert(document), overlay, None)


def openrouter(document: Any, overlay: Overlay | None = None) -> ImportResult:
    """The provider of OpenRouter's parsed /api/v1/models answer; as `models_dev` otherwise."""
    return _result(from_openrouter.convert(document), overlay, None)


def import_catalog(
    source: str, file: str | PathLike[str] | None = None, overlay: str | PathLike[str] | None = None
) -> ImportResult:
    """Read a published catalog and an overlay, and convert them.

    Args:
        source: One of SOURCES.
        file: The catalog as JSON, plain or gzip; None reads the one that the installed package `models-dev` ships.
        overlay: A YAML or JSON file with what the catalog doesn't say.

    Raises:
        UnknownSourceError: There is no such source.
        SourceWithoutFileError: No file, and no package ships this source.
        MissingExtraError: No file, and the package `models-dev` is not installed.
        UnreadableFileError: A file can't be read or is not in its format.
        InvalidCatalogError: The document is of another format.
        InvalidOverlayError: The overlay is broken or names what isn't there.
    """
    convert = _CONVERTERS.get(source)
    if convert is None:
        raise UnknownSourceError(source)
    laid_over = None if overlay is None else read_overlay(overlay)
    if file is not None:
        return _result(convert(read_catalog(file)), laid_over, f"a file of {source}")
    if source != "models-dev":
        raise SourceWithoutFileError(source)
    document = from_models_dev.installed_document()
    return _result(convert(document), laid_over, f"models-dev {from_models_dev.installed_version()}")
