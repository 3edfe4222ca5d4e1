"""One wire request to one wire answer: what `batch`, `route --request` and the service run."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..basics.issues import Issue, child, did_you_mean, few_searches, kind_of, quoted, shown
from ..catalog.catalog import Catalog
from ..constraints.named import Origin
from ..documents.json_text import JsonTextError, plain, read_json
from ..engine.single import EngineName
from ..errors import (
    CapabilityUnsatisfiableError,
    DuplicateProviderError,
    InvalidCapabilityError,
    InvalidInputError,
    InvalidPolicyError,
    InvalidProviderError,
    InvalidRequestError,
    WhyrouteError,
)
from ..explanations import Explanation
from ..explanations.hints import UnmetHint, unmet_hints
from ..model.capability import Capability, read_capability
from ..model.metadata import ProviderMetadata, read_metadata
from ..model.policy import TenantPolicy, read_policy
from ..model.provider import DeclaredProvider, SetupFailure, read_setup_failures
from ..model.request_facts import label_issues, token_issues
from ..model.timestamps import moment_issues, read_moment, written
from ..routing.decision import Decision, outcome_of
from ..solving.asked import Provenance
from ..solving.request import RequestTerms, Solved
from ..solving.situation import Situation
from .answering import Answerable
from .document import WireRequest, field_issues

if TYPE_CHECKING:
    from .bundles import BundleRequest

__all__ = [
    "answer",
    "answer_json",
    "answer_line",
    "id_of",
    "read_any_request",
    "read_bundle_request",
    "read_request",
]

_OF_BUNDLES = ("slots", "together")
_FACTS = ("origins", "contacts", "labels", "tokens", "capabilityName")
_RULE_SECTIONS = ("regions", "conditions", "rules", "waivers")


def answer(request: Mapping[str, Any], *, engine: EngineName = "bitset") -> dict[str, Any]:
    """Answer one wire request.

    Args:
        request: The request as parsed JSON: `capability`, `providers` and what may go with them; `slots` instead of
            `capability` for a bundle. An `id` is echoed.
        engine: The engine, as for `route`.

    Returns:
        The wire answer: a `decision`, or an `error` with its code. A broken request is an error answer too.

    Example:
        >>> import whyroute as wr
        >>> provider = wr.EchoProvider("echo").metadata.to_dict()
        >>> wr.answer({"capability": {"needs": []}, "providers": [provider]})["decision"]["pick"]
        {'provider': 'echo', 'model': 'echo'}
    """
    try:
        parsed = read_any_request(request)
    except WhyrouteError as error:
        return {**id_of(request), "error": error.to_dict()}
    return {**id_of(request), **parsed.answer(engine)}


def answer_line(line: str | bytes, number: int, *, engine: EngineName = "bitset") -> dict[str, Any]:
    """Answer one line of a batch; `number` is the line's, from 1, for the message when it is not JSON."""
    try:
        request = read_json(line, line=number)
    except JsonTextError as error:
        return {"error": InvalidRequestError([Issue("", error.message)]).to_dict()}
    return answer(request, engine=engine)


def answer_json(line: str | bytes, number: int, *, engine: EngineName = "bitset") -> tuple[bool, Iterator[str]]:
    """`answer_line` as JSON text in pieces, and whether the line was a request at all.

    The text of a failed answer grows with candidates times constraints; it is never there as a whole.
    """
    try:
        request = read_json(line, line=number)
        parsed = read_any_request(request)
    except (JsonTextError, WhyrouteError):
        return False, iter((_json(answer_line(line, number, engine=engine)),))
    head = f"{_json({'id': request['id']})[:-1]}, " if "id" in request else "{"
    return True, parsed.answer_json(engine, head=head)[1]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


class Request(Answerable[Solved, Decision | CapabilityUnsatisfiableError, tuple[str, str]]):
    """A wire request for one capability, read and checked: prepared as `terms`."""

    def __init__(
        self,
        document: dict[str, Any],
        terms: RequestTerms,
        catalog: Catalog,
        setup_failures: tuple[SetupFailure, ...],
        provenance: Provenance | None = None,
    ) -> None:
        asked: dict[str, str] | None = document.get("whyNot")
        super().__init__(
            document,
            catalog,
            setup_failures,
            None if asked is None else (asked["provider"], asked["model"]),
            provenance or Provenance(at=document["at"]),
        )
        self.terms = terms
        self.preferred_provider: str | None = document.get("preferredProvider")
        self.preferred_model: str | None = document.get("preferredModel")

    def solve(self, engine: EngineName = "bitset") -> Solved:
        """The request, compiled and solved."""
        return self.terms.solved(
            self.catalog,
            read_moment(self.at),
            preferred_provider=self.preferred_provider,
            preferred_model=self.preferred_model,
            setup_failures=self.setup_failures,
            engine=engine,
            provenance=self.provenance,
        )

    def outcome(self, solved: Solved) -> Decision | CapabilityUnsatisfiableError:
        """The decision, or the error that says that nothing qualifies."""
        return outcome_of(solved)

    def hints(self, solved: Solved) -> tuple[UnmetHint, ...]:
        """The hints that the pick doesn't follow."""
        return unmet_hints(solved)

    def explanation(self, solved: Solved) -> Explanation:
        """Why the request comes out as it does."""
        return Explanation(solved, self.why_not)


def read_any_request(request: Any, *, now: datetime | None = None) -> "Request | BundleRequest":
    """`read_bundle_request` for a request with `slots`, `read_request` for any other."""
    if isinstance(request, Mapping) and "slots" in request:
        return read_bundle_request(request, now=now)
    return read_request(request, now=now)


def read_bundle_request(request: Any, *, now: datetime | None = None) -> "BundleRequest":
    """Check a wire request for a bundle, and read its parts. Arguments and errors are those of `read_request`."""
    from ..bundles.reading import read_slots, read_together  # noqa: PLC0415
    from .bundles import BundleRequest, note_problems  # noqa: PLC0415 (takes long to load, and few requests are such)

    if not isinstance(request, Mapping):
        raise InvalidRequestError([Issue("", f"{kind_of(request)}; a request is an object")])
    reader = _Reader(request, _BUNDLE_KEYS, ("slots", "providers"))
    document = reader.document()
    document.setdefault("at", written(now or datetime.now(UTC)))
    policy = reader.policy()
    providers = reader.providers()
    failures = reader.setup_failures()
    note_problems(document, reader.request_issues, reader.errors)
    reader.raise_problems()
    slots, _ = read_slots(document["slots"], _situation(document))
    ties = read_together(document.get("together", ()), document["slots"])
    return BundleRequest(document, slots, ties, Catalog.of_members(providers), policy, failures)


def read_request(request: Any, *, now: datetime | None = None) -> Request:
    """Check a wire request, and read its parts.

    Args:
        request: The request as parsed JSON.
        now: The time of a request that names none; the present when absent.

    Raises:
        InvalidRequestError: Unknown keys, or values of a wrong type.
        InvalidCapabilityError: The declaration is broken.
        InvalidPolicyError: The policy is broken.
        InvalidProviderError: A provider's metadata is broken.
        DuplicateProviderError: Two providers have one id.

    Every error lists all problems of the request; its kind is the first of these that applies.
    """
    if not isinstance(request, Mapping):
        raise InvalidRequestError([Issue("", f"{kind_of(request)}; a request is an object")])
    with few_searches():
        return _read_request(request, now)


def _read_request(request: Mapping[str, Any], now: datetime | None) -> Request:
    reader = _Reader(request)
    document = reader.document()
    document.setdefault("at", written(now or datetime.now(UTC)))
    capability = reader.capability()
    policy = reader.policy()
    providers = reader.providers()
    failures = reader.setup_failures()
    reader.raise_problems()
    assert capability is not None  # read_capability raised otherwise, and so did raise_problems
    terms = RequestTerms(capability, policy, _situation(document))
    return Request(document, terms, Catalog.of_members(providers), failures)


def _situation(document: Mapping[str, Any]) -> Situation | None:
    """The rules of a request without issues, and what they depend on; None where it says nothing of either."""
    sections = {key: document[key] for key in _RULE_SECTIONS if key in document}
    origins = document.get("origins")
    contacts = document.get("contacts")
    if not any(sections.values()) and not any(key in document for key in _FACTS):
        return None
    from ..constraints.rulebook import rulebook_of  # noqa: PLC0415
    from ..constraints.three_valued import Call, EvalContext  # noqa: PLC0415 (takes long to load, and most requests have no rules)

    book = rulebook_of(sections)
    tokens = document.get("tokens")
    call = None if tokens is None else Call.of(tokens["prompt"], tokens["completion"])
    return Situation(
        book,
        EvalContext(book.regions, call),
        document.get("labels", {}),
        document.get("capabilityName"),
        None if origins is None else _origins_of(origins),
        contacts,
    )


def _origins_of(document: Mapping[str, Any]) -> dict[str, tuple[Origin, ...]]:
    return {
        name: tuple(Origin(each["file"], each["line"], each["column"]) for each in places)
        for name, places in document.items()
    }


class _Reader:
    """Reads a request part by part, and gathers what is wrong with each."""

    def __init__(
        self,
        request: Mapping[str, Any],
        keys: tuple[str, ...] = (),
        required: tuple[str, ...] = ("capability", "providers"),
    ) -> None:
        self.request = request
        self.keys = keys or _KEYS
        self.required = required
        # Its own module judges what a bundle asks about.
        self.apart = (*_JUDGED_APART, *(("slots", "together", "whyNot") if keys else ()))
        self.request_issues: list[Issue] = []
        self.errors: list[WhyrouteError] = []

    def raise_problems(self) -> None:
        errors: list[WhyrouteError] = [InvalidRequestError(self.request_issues)] if self.request_issues else []
        errors += self.errors
        if not errors:
            return
        ranked = sorted(errors, key=lambda error: _PRECEDENCE.index(type(error)))  # stable: document order within
        issues = [issue for error in errors for issue in getattr(error, "issues", ())]
        first = ranked[0]
        if isinstance(first, InvalidProviderError):
            raise InvalidProviderError(first.reason, _first_to_front(first, issues), first.provider_id)
        if isinstance(first, DuplicateProviderError):
            raise DuplicateProviderError(first.provider_id, issues=issues)
        if isinstance(first, InvalidInputError):
            raise type(first)(_first_to_front(first, issues))
        raise first

    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        problems: dict[str, list[Issue]] = {}  # by key, in the order of the document
        unreadable: set[str] = set()
        for key, value in self.request.items():
            if not isinstance(key, str) or key not in self.keys:
                problems[key] = [_unknown_key(key, self.keys)]
                continue
            found[key] = value
            problems[key] = []
            if key not in self.apart:
                found[key], problems[key] = plain(value, child("", key))
                unreadable |= {issue.path for issue in problems[key]}
        sound = {key: value for key, value in found.items() if not problems[key] and key not in self.apart}
        judged = field_issues(sound)
        for key, foreign in problems.items():
            check = _CHECKS.get(key) if key in sound else None
            self.request_issues += foreign or judged.get(key) or (check(found[key], child("", key)) if check else ())
        sections = {key: found[key] for key in _RULE_SECTIONS if key in found}
        if sections:
            from ..constraints.rulebook import rulebook_issues  # noqa: PLC0415 (takes long to load, and most requests have no rules)

            # A value that no JSON text could hold was reported; what is left of it would be reported again.
            self.request_issues += [issue for issue in rulebook_issues(sections) if issue.path not in unreadable]
        for key in self.required:
            if key not in self.request:
                self.request_issues.append(Issue(child("", key), f"missing; a request has `{key}`"))
        return found

    def capability(self) -> Capability | None:
        if "capability" not in self.request:
            return None
        try:
            return read_capability(self.request["capability"], "/capability")
        except InvalidCapabilityError as error:
            self.errors.append(error)
            return None

    def policy(self) -> TenantPolicy | None:
        if "tenantPolicy" not in self.request:
            return None
        try:
            return read_policy(self.request["tenantPolicy"], "/tenantPolicy")
        except InvalidPolicyError as error:
            self.errors.append(error)
            return None

    def providers(self) -> list[tuple[DeclaredProvider, ProviderMetadata]]:
        given = self.request.get("providers", [])
        if not isinstance(given, list | tuple):
            self.request_issues.append(Issue("/providers", f"{kind_of(given)}; `providers` is a list of metadata"))
            return []
        found: list[tuple[DeclaredProvider, ProviderMetadata]] = []
        seen: dict[str, int] = {}
        for index, value in enumerate(given):
            path = child("", "providers", index)
            try:
                metadata = read_metadata(value, path)
            except InvalidProviderError as error:
                self.errors.append(error)
                continue
            if metadata.id in seen:
                message = f"{shown(metadata.id)} is the id of /providers/{seen[metadata.id]} too; ids are unique"
                self.errors.append(DuplicateProviderError(metadata.id, issues=[Issue(child(path, "id"), message)]))
                continue
            seen[metadata.id] = index
            found.append((DeclaredProvider(metadata), metadata))
        return found

    def setup_failures(self) -> tuple[SetupFailure, ...]:
        if self.request_issues:
            return ()
        return read_setup_failures(self.request.get("setupFailures", ()), "/setupFailures")


_PRECEDENCE: list[type[WhyrouteError]] = [
    InvalidRequestError,
    InvalidCapabilityError,
    InvalidPolicyError,
    InvalidProviderError,
    DuplicateProviderError,
]


def _first_to_front(first: InvalidInputError, issues: list[Issue]) -> list[Issue]:
    """The issues that gave the error its kind, then the others."""
    own = {(issue.path, issue.message) for issue in first.issues}
    return [*first.issues, *(issue for issue in issues if (issue.path, issue.message) not in own)]


def _unknown_key(key: Any, keys: tuple[str, ...]) -> Issue:
    if key in _OF_BUNDLES and "slots" not in keys:
        return Issue(child("", key), f"{shown(key)} is a key of a bundle's request, which has `slots`")
    if key in _OF_ONE_CAPABILITY and "slots" in keys:
        return Issue(child("", key), f"{shown(key)} is a key of each slot in a bundle's request; write it there")
    foreign = plain({key: None})[1]
    if foreign:
        return foreign[0]  # no string, or none that a path may repeat
    hint = did_you_mean(key, keys) or f"; the keys are {quoted(keys)}"
    return Issue(child("", key), f"{shown(key)} is not a key of a request{hint}")


def id_of(request: Any) -> dict[str, Any]:
    """The `id` that an answer repeats, as a member of it; none where the request has none that JSON can hold."""
    if not isinstance(request, Mapping) or "id" not in request:
        return {}
    return {} if plain(request["id"])[1] else {"id": request["id"]}


_CHECKS = {"labels": label_issues, "at": moment_issues, "tokens": token_issues}
_ID, *_FIELDS = (field.alias or name for name, field in WireRequest.model_fields.items())
_KEYS = (*_FIELDS, _ID)
_JUDGED_APART = ("capability", "providers", "tenantPolicy")
"""What is read into a model of its own, from what was given."""

_OF_ONE_CAPABILITY = ("capability", "preferredProvider", "preferredModel", "capabilityName")
_BUNDLE_KEYS = ("slots", "together", *(key for key in _KEYS if key not in _OF_ONE_CAPABILITY))
