"""Files that hold a `providers:` section, and the reading of YAML and JSON files."""

from os import PathLike, fspath
from pathlib import Path
from typing import Any, ClassVar

from ..basics.files import FileTooLargeError, read_file
from ..basics.issues import Issue, child, did_you_mean, kind_of, printable, shown
from ..documents.json_text import JsonTextError, plain, read_json
from ..documents.yaml_text import YamlTextError, read_yaml
from ..errors import InvalidInputError, WhyrouteError

__all__ = [
    "FORMAT_VERSION",
    "ONLY_IN_PACKS",
    "InvalidCatalogError",
    "UnreadableFileError",
    "read_bytes",
    "read_document",
    "read_providers",
]

FORMAT_VERSION = 1
"""The value of the key `whyroute` that opens a file."""

ONLY_IN_PACKS = (
    "`onlyTenants` is for rule packs, where requests name their tenant; "
    "use `whyroute route PACK --tenant ...`, or leave the provider out"
)
"""Why a provider that only some tenants may see is refused where the tenant of a request is unknown."""

_LIMITING = ("policies", "everyTenant", "tenants", "rules", "waivers")
_LIMITS = "{} limits what may be used, and only the providers are read here; use `whyroute route PACK --tenant ...`"

FilePath = str | PathLike[str]


class UnreadableFileError(WhyrouteError):
    """A file is not there, can't be opened, or is not in the format it should be in.

    Attributes:
        path: The file, as it was named; the name may be empty.
        problem: What is wrong with it.
    """

    code: ClassVar[str] = "unreadable-file"

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{_named(path)}: {problem}" if path else problem)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.problem)


def _named(path: str) -> str:
    # Its end tells a file from others, so a path is never cut.
    return f"`{printable(path)}`"


class InvalidCatalogError(InvalidInputError):
    """A document is no catalog of providers."""

    code: ClassVar[str] = "invalid-catalog"
    subject: ClassVar[str] = "the catalog"


def read_bytes(path: FilePath) -> bytes:
    """What a file holds.

    Raises:
        UnreadableFileError: It is not there, can't be opened, or is too large.
    """
    if path == "":
        raise UnreadableFileError("", "an empty path; name a file")
    try:
        return read_file(Path(path))
    except FileNotFoundError:
        raise UnreadableFileError(fspath(path), "there is no such file") from None
    except IsADirectoryError:
        raise UnreadableFileError(fspath(path), "this is a directory; a file is expected") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        reason = reason if isinstance(error, FileTooLargeError) else reason.lower()
        raise UnreadableFileError(fspath(path), f"can't be read: {reason}") from None


def read_document(path: FilePath) -> Any:
    """The one document of a file: JSON when its name ends in `.json`, else YAML 1.2 (of which JSON is a part).

    Returns:
        The value as it was read; None for a YAML file without a document.

    Raises:
        UnreadableFileError: The file can't be read or is not in that format.
    """
    data = read_bytes(path)
    try:
        return read_json(data) if fspath(path).lower().endswith(".json") else read_yaml(data)
    except (JsonTextError, YamlTextError) as error:
        raise UnreadableFileError(fspath(path), error.message) from None


def read_providers(path: FilePath) -> list[dict[str, Any]]:
    """The providers of a file, in wire form: what stands under its key `providers`.

    The providers are not held to the contract's rules here; routing does that. Of other sections, those that limit who
    may use the providers are refused, and the rest are not read.

    Args:
        path: A YAML 1.2 file such as `whyroute import` writes, or the same as JSON (named `*.json`).

    Raises:
        UnreadableFileError: The file can't be read or is not in its format.
        InvalidCatalogError: The document has no list of objects under `providers`, or it is a rule pack.
    """
    document, issues = plain(read_document(path))
    if issues:
        raise InvalidCatalogError(
            issue.with_more("; text goes in quotes") if issue.code == Issue.FOREIGN and not issue.data else issue
            for issue in issues
        )
    if not isinstance(document, dict):
        found = "empty" if document is None else f"{kind_of(document)}"
        raise InvalidCatalogError([Issue("", f"{found}; an object with the key `providers` is expected")])
    issues = []
    version = document.get("whyroute", FORMAT_VERSION)
    if version != FORMAT_VERSION or isinstance(version, bool):
        issues.append(Issue("/whyroute", f"{shown(version)} is no format version that is read here; it is 1"))
    if "providers" not in document:
        near = next((found for key in document if (found := did_you_mean(key, ["providers"]))), "")
        issues.append(Issue("", f"there is no key `providers`{near}"))
        raise InvalidCatalogError(issues)
    issues += [Issue(child("", key), _LIMITS.format(shown(key))) for key in _LIMITING if key in document]
    providers = document["providers"]
    if not isinstance(providers, list):
        issues.append(Issue("/providers", f"{kind_of(providers)}; a list of providers is expected"))
    else:
        issues += [
            Issue(child("/providers", index), f"{shown(item)} is {kind_of(item)}; a provider is an object")
            for index, item in enumerate(providers)
            if not isinstance(item, dict)
        ]
        issues += [
            Issue(child("/providers", index, "onlyTenants"), ONLY_IN_PACKS)
            for index, item in enumerate(providers)
            if isinstance(item, dict) and "onlyTenants" in item
        ]
    if issues:
        raise InvalidCatalogError(issues)
    return list(providers)
