"""Routing over HTTP: what a body may say, and what it comes to. No I/O.

The tenant, its policy and its providers come from the token. A body that names them is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from ..basics.issues import Issue, child, did_you_mean, kind_of, quoted, shown
from ..documents.json_text import plain
from ..errors import CapabilityUnsatisfiableError, InvalidRequestError
from ..explanations import Explanation
from ..model.timestamps import moment_of, read_moment
from ..packs import Pack, Resolved
from ..routing.decision import Decision, outcome_of
from ..wire.document import field_issues
from ..wire.request import Request
from .tenants import Holdings, Route

__all__ = [
    "Asked",
    "Routed",
    "explain",
    "is_quick",
    "read_asked",
    "read_body",
    "route",
    "shared_issues",
]

_KEYS: Final = ("capability", "labels", "preferredProvider", "preferredModel")
_OF_TOKEN: Final = (
    "tenant",
    "tenantId",
    "tenantPolicy",
    "policy",
    "providers",
    "setupFailures",
    "rules",
    "conditions",
    "waivers",
    "regions",
    "origins",
    "capabilityName",
)
_OF_SERVER: Final = ("at", "tokens")
_KEPT_LABELS: Final = 1024  # characters of keys and values together
_QUICK_ANSWER: Final = 10_000  # so many candidates take some milliseconds to write
_INCLUDES: Final = ("matched", "explanation")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a body asks for.

    Attributes:
        capability: The name of a capability of the pack, or a declaration.
        labels: What the request says of itself.
        preferred_provider: A hint.
        preferred_model: A hint.
        include: What the answer holds beside the decision.
        why_not: A (provider id, model name) to compare with the pick.
    """

    capability: str | Mapping[str, Any]
    labels: Mapping[str, str] = field(default_factory=dict)
    preferred_provider: str | None = None
    preferred_model: str | None = None
    include: tuple[str, ...] = ()
    why_not: tuple[str, str] | None = None

    @property
    def route(self) -> Route | None:
        """What may be kept of it: a capability by name, with labels that are texts and not long; None for all else."""
        if not isinstance(self.capability, str) or not all(isinstance(value, str) for value in self.labels.values()):
            return None
        length = sum(len(key) + len(value) for key, value in self.labels.items())
        return (self.capability, tuple(sorted(self.labels.items()))) if length <= _KEPT_LABELS else None


def read_asked(body: Any, *, explaining: bool) -> Asked:
    """Read the body of `/v1/route` or `/v1/explain`.

    Raises:
        InvalidRequestError: It is broken, or says what is not its to say; all issues.
    """
    known = (*_KEYS, "whyNot" if explaining else "include")
    cleaned, issues = read_body(body, known)
    if "capability" not in body:
        issues.append(Issue("/capability", "missing; a request has a `capability`: a name or a declaration"))
    elif not isinstance(body["capability"], str | dict):
        issues.append(Issue("/capability", f"{kind_of(body['capability'])}; a name or a declaration is expected"))
    for key in ("preferredProvider", "preferredModel"):
        if key in body and not isinstance(body[key], str):
            issues.append(Issue(child("", key), f"{kind_of(body[key])}; a string is expected"))
    issues += shared_issues(body, known)
    if explaining and "whyNot" in body:
        issues += field_issues({"whyNot": body["whyNot"]}).get("whyNot", [])
    if issues:
        raise InvalidRequestError(issues)
    asked = cleaned.get("whyNot") if explaining else None
    return Asked(
        capability=cleaned["capability"],
        labels=cleaned.get("labels", {}),
        preferred_provider=cleaned.get("preferredProvider"),
        preferred_model=cleaned.get("preferredModel"),
        include=tuple(cleaned.get("include", ())) if not explaining else (),
        why_not=None if asked is None else (asked["provider"], asked["model"]),
    )


def read_body(body: Any, known: tuple[str, ...]) -> tuple[dict[str, Any], list[Issue]]:
    """A body as plain JSON, and what is wrong with its keys.

    Args:
        body: The body.
        known: The keys that it may have.

    Raises:
        InvalidRequestError: It is no object.
    """
    if not isinstance(body, dict):
        raise InvalidRequestError([Issue("", f"{kind_of(body)}; a request is an object")])
    cleaned, issues = plain(body)
    return cleaned, [*issues, *(_strange_key(key, known) for key in body if key not in known)]


def shared_issues(body: Mapping[str, Any], known: tuple[str, ...]) -> list[Issue]:
    """What is wrong with what all bodies may have: `labels`, and `include` where it is one of the known keys."""
    issues: list[Issue] = []
    if "labels" in body and not isinstance(body["labels"], dict):
        issues.append(Issue("/labels", f"{kind_of(body['labels'])}; labels are an object of strings"))
    if "include" in known and "include" in body:
        issues += _include_issues(body["include"])
    return issues


def _strange_key(key: str, known: tuple[str, ...]) -> Issue:
    """What is wrong with a key of a body that is not for a request to have."""
    path = child("", key)
    if key in _OF_TOKEN:
        return Issue(path, f"{shown(key)} comes from the token and the rule pack; a request does not name it")
    if key in _OF_SERVER:
        return Issue(path, f"{shown(key)} is the server's to say; a request does not name it")
    hint = did_you_mean(key, known) or f"; the keys are {quoted(known)}"
    return Issue(path, f"{shown(key)} is not a key of a request{hint}")


def _include_issues(value: Any) -> list[Issue]:
    """What is wrong with what an answer is asked to hold."""
    if not isinstance(value, list):
        return [Issue("/include", f"{kind_of(value)}; `include` is a list")]
    return [
        Issue(f"/include/{index}", f"{shown(item)} can't be included; there are {quoted(_INCLUDES)}")
        for index, item in enumerate(value)
        if item not in _INCLUDES
    ]


@dataclass(frozen=True, slots=True)
class Routed:
    """A request, routed.

    Attributes:
        resolved: What the request came to under the pack.
        request: The request, as it was solved.
        outcome: The decision, or the error that says that there is none.
        answer: The answer as JSON text; None when nothing qualifies.
        shadow: What enforcing the rules that are only tried out would give, where some are.
    """

    resolved: Resolved
    request: Request
    outcome: Decision | CapabilityUnsatisfiableError
    answer: str | None
    shadow: dict[str, Any] | None


def route(
    pack: Pack,
    tenant: str,
    holdings: Holdings,
    asked: Asked,
    operator_labels: Mapping[str, str],
    now: datetime | None = None,
) -> Routed:
    """Route a request of a tenant.

    Raises:
        WhyrouteError: The request is broken, or the pack doesn't know the capability.
    """
    resolved, request = _resolved(pack, tenant, holdings, asked, operator_labels, now)
    known = None if asked.include else asked.route
    solved = None if known is None else holdings.bound(known, read_moment(request.at))
    if solved is None:
        solved = request.solve()
        if known is not None and solved.survivors:
            holdings.keep_bound(known, solved)
    solved = solved.hinted(asked.preferred_provider, asked.preferred_model, request.provenance)
    outcome = outcome_of(solved)
    shadow = None if solved.shadow is None else solved.shadow.to_dict()
    answer = "".join(request.answered_json(solved, outcome)) if isinstance(outcome, Decision) else None
    return Routed(resolved, request, outcome, answer, shadow)


def is_quick(holdings: Holdings, asked: Asked, now: datetime) -> bool:
    """Whether a route takes next to no time: it was bound before, something qualifies, and the answer is not long."""
    known = asked.route
    if known is None or asked.include:
        return False
    solved = holdings.bound(known, moment_of(now))
    return solved is not None and 0 < solved.survivors.bit_count() <= _QUICK_ANSWER


def explain(
    pack: Pack,
    tenant: str,
    holdings: Holdings,
    asked: Asked,
    operator_labels: Mapping[str, str],
    now: datetime | None = None,
) -> Explanation:
    """Explain a request of a tenant; raises as `route` does, but never for "nothing qualifies"."""
    _, request = _resolved(pack, tenant, holdings, asked, operator_labels, now)
    return Explanation(request.solve(), asked.why_not)


def _resolved(
    pack: Pack,
    tenant: str,
    holdings: Holdings,
    asked: Asked,
    operator_labels: Mapping[str, str],
    now: datetime | None,
) -> tuple[Resolved, Request]:
    resolved = pack.resolve(
        tenant,
        asked.capability,
        labels=asked.labels,
        preferred_provider=asked.preferred_provider,
        preferred_model=asked.preferred_model,
        operator_labels=operator_labels,
        why_not=asked.why_not,
        catalog=holdings.catalog,
    )
    return resolved, resolved.read(include=asked.include, now=now, setup_failures=holdings.failures)
