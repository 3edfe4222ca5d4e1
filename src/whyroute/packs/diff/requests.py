"""Requests of a file, to compare two packs by."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ...basics.issues import Issue, child, did_you_mean, kind_of, quoted, shown
from ...documents.json_text import JsonTextError, read_json
from ...errors import InvalidInputError, WhyrouteError
from ...model.request_facts import label_issues
from ...model.timestamps import moment_issues
from ..load.pack import Pack
from ..load.resolved import Resolved
from .comparison import RequestLine

__all__ = ["InvalidRequestsError", "PackRequest", "read_requests"]


class InvalidRequestsError(InvalidInputError):
    """Lines of a file of requests are broken: the path of an issue is its line, then a JSON pointer into that."""

    code: ClassVar[str] = "invalid-requests"
    subject: ClassVar[str] = "the file of requests"


@dataclass(frozen=True, slots=True)
class PackRequest:
    """A request to compare two packs by.

    Attributes:
        line: Where it stands.
        tenant: The tenant.
        capability: The capability's name; None for a declaration of its own.
        at: Its time, if it has one of its own.
        old: What it comes to under OLD, or why OLD refuses it.
        new: Likewise, under NEW.
    """

    line: RequestLine
    tenant: str
    capability: str | None
    at: str | None
    old: Resolved | str
    new: Resolved | str


_KEYS = (*("id", "tenant", "capability", "labels", "operatorLabels", "at", "preferredProvider", "preferredModel"),)


def read_requests(lines: Iterable[bytes], old: Pack, new: Pack) -> list[PackRequest]:
    """Read requests, one JSON object a line: `tenant`, `capability`, and what else a request may say.

    Where one pack alone refuses a request, the line is not broken: the refusal is that pack's answer. Empty lines are
    passed over.

    Args:
        lines: The lines, without their ends.
        old: One pack.
        new: The other.

    Raises:
        InvalidRequestsError: Lines are broken, or no line is there; all of them are told.
    """
    found: list[PackRequest] = []
    issues: list[Issue] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        read = _read(line, number, old, new)
        if isinstance(read, PackRequest):
            found.append(read)
        else:
            issues += (Issue(f"line {number} {each.path}".rstrip(), each.message) for each in read)
    if not issues and not found:
        issues.append(Issue("", "it is empty; one request per line is expected"))
    if issues:
        raise InvalidRequestsError(issues)
    return found


def _read(line: bytes, number: int, old: Pack, new: Pack) -> PackRequest | list[Issue]:
    try:
        document = read_json(line)
    except JsonTextError as error:
        return [Issue("", error.in_line)]
    if not isinstance(document, dict):
        return [Issue("", f"{kind_of(document)}; a request is an object with `tenant` and `capability`")]
    issues = list(_issues(document))
    if issues:
        return issues
    results = [_resolved(pack, document) for pack in (old, new)]
    before, after = (result.message if isinstance(result, WhyrouteError) else result for result in results)
    if all(isinstance(result, WhyrouteError) for result in results):
        return _refusals(results[1])
    capability, identity = document["capability"], document.get("id")
    return PackRequest(
        RequestLine(number, None if identity is None else str(identity)),
        document["tenant"],
        capability if isinstance(capability, str) else None,
        document.get("at"),
        before,
        after,
    )


def _refusals(error: Any) -> list[Issue]:
    """Why a pack refuses a request, in its own words."""
    return list(error.issues) if isinstance(error, InvalidInputError) else [Issue("", error.message)]


def _resolved(pack: Pack, document: Mapping[str, Any]) -> Resolved | WhyrouteError:
    try:
        return pack.resolve(
            document["tenant"],
            document["capability"],
            labels=document.get("labels"),
            operator_labels=document.get("operatorLabels"),
            at=document.get("at"),
            preferred_provider=document.get("preferredProvider"),
            preferred_model=document.get("preferredModel"),
        )
    except WhyrouteError as error:
        return error


def _issues(document: Mapping[str, Any]) -> Iterator[Issue]:
    for key in ("tenant", "capability"):
        if key not in document:
            yield Issue(child("", key), f"missing; a request has {quoted(('tenant', 'capability'))}")
    for key, value in document.items():
        path = child("", key)
        if key not in _KEYS:
            hint = did_you_mean(key, _KEYS) or f"; the keys are {quoted(_KEYS)}"
            yield Issue(path, f"{shown(key)} is no key of a request here{hint}")
        elif key in ("labels", "operatorLabels"):
            yield from label_issues(value, path)
        elif key == "at":
            yield from moment_issues(value, path)
        elif key == "capability":
            if not isinstance(value, str | dict):
                yield Issue(path, f"{kind_of(value)}; a name or a declaration is expected")
        elif key == "id":
            if isinstance(value, bool) or not isinstance(value, str | int):
                yield Issue(path, f"{kind_of(value)}; a string or an integer is expected")
        elif not isinstance(value, str):
            yield Issue(path, f"{shown(value)} is {kind_of(value)}; a string is expected")
