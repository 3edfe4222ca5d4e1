"""Bundles over HTTP: what a body may say, and what it comes to. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from ..basics.issues import Issue, child, kind_of
from ..bundles.bundle import Bundle, BundleLimitError, outcome_of
from ..bundles.explanation import BundleExplanation
from ..bundles.reading import why_not_issues
from ..errors import BundleUnsatisfiableError, InvalidRequestError
from ..packs import Pack, ResolvedBundle
from ..solving.joint import SearchLimit
from ..wire.bundles import BundleRequest
from .routing import read_body, shared_issues
from .tenants import Holdings

__all__ = ["MAX_SLOTS", "MAX_TIES", "SEARCH", "BundleAsked", "BundleRouted", "read_bundle_asked", "route_bundle"]

MAX_SLOTS: Final = 100
"""How many slots a request may have over HTTP; a bundle of the pack may have more."""

MAX_TIES: Final = 100
"""Likewise, how many ties."""

SEARCH: Final = SearchLimit(seconds=8)
"""How long one search may take. A search that ends early gives the best found, and says that it is not proved."""

_KEYS: Final = ("bundle", "slots", "together", "labels", "include", "whyNot")


@dataclass(frozen=True, slots=True)
class BundleAsked:
    """What a body asks for.

    Attributes:
        bundle: The name of a bundle of the pack, or `slots` and `together`.
        labels: What the request says of itself.
        include: What the answer holds beside the decision; the explanation in any case where `why_not` is asked.
        why_not: For some slots, a (provider id, model name) to compare with the pick.
    """

    bundle: str | Mapping[str, Any]
    labels: Mapping[str, str] = field(default_factory=dict)
    include: tuple[str, ...] = ()
    why_not: Mapping[str, tuple[str, str]] | None = None


def read_bundle_asked(body: Any) -> BundleAsked:
    """Read the body of `/v1/bundle`. What is wrong with slots and ties is found when they are resolved.

    Raises:
        InvalidRequestError: It is broken, or says what is not its to say; all issues.
    """
    cleaned, issues = read_body(body, _KEYS)
    if "bundle" in body:
        if not isinstance(body["bundle"], str):
            issues.append(Issue("/bundle", f"{kind_of(body['bundle'])}; the name of a bundle is expected"))
        message = "stands beside `bundle`; a request has the name of a bundle, or slots of its own"
        issues += [Issue(child("", key), f"`{key}` {message}") for key in ("slots", "together") if key in body]
    elif "slots" not in body:
        issues.append(Issue("/slots", "missing; a request has `slots`, or the name of a `bundle`"))
    for key, most in (("slots", MAX_SLOTS), ("together", MAX_TIES)):
        if isinstance(given := body.get(key), list | dict) and len(given) > most:
            # Reading so many would take long; what else is wrong is told of when there are fewer.
            message = f"{len(given)} of them; there are at most {most} over HTTP"
            raise InvalidRequestError([Issue(child("", key), message)])
    issues += shared_issues(body, _KEYS)
    if "whyNot" in body:
        issues += why_not_issues(body["whyNot"], "/whyNot", None)  # whether there are such slots is found out later
    if issues:
        raise InvalidRequestError(issues)
    own = {key: cleaned[key] for key in ("slots", "together") if key in cleaned}
    include, why_not = list(cleaned.get("include", ())), None
    if "whyNot" in cleaned:
        why_not = {slot: (each["provider"], each["model"]) for slot, each in cleaned["whyNot"].items()}
        include.append("explanation")
    return BundleAsked(cleaned.get("bundle", own), cleaned.get("labels", {}), tuple(dict.fromkeys(include)), why_not)


@dataclass(frozen=True, slots=True)
class BundleRouted:
    """A bundle, routed.

    Attributes:
        resolved: What the request came to under the pack.
        request: The request, as it was solved.
        outcome: The bundle, or the error that says that there is none, or that the search ended before it found any.
        answer: The answer as JSON text; None when there is no bundle.
        shadow: What enforcing the rules that are only tried out would give, where some are.
    """

    resolved: ResolvedBundle
    request: BundleRequest
    outcome: Bundle | BundleUnsatisfiableError | BundleLimitError
    answer: str | None
    shadow: dict[str, Any] | None


def route_bundle(
    pack: Pack,
    tenant: str,
    holdings: Holdings,
    asked: BundleAsked,
    operator_labels: Mapping[str, str],
    now: datetime | None = None,
) -> BundleRouted:
    """Route a bundle of a tenant.

    Raises:
        WhyrouteError: The request is broken, or the pack doesn't know the bundle or one of its capabilities.
    """
    resolved = pack.resolve_bundle(
        tenant,
        asked.bundle,
        labels=asked.labels,
        operator_labels=operator_labels,
        why_not=asked.why_not,
        catalog=holdings.catalog,
    )
    request = resolved.read(include=asked.include, now=now, setup_failures=holdings.failures)
    solved = request.solve(SEARCH)
    outcome = outcome_of(solved)
    if isinstance(outcome, BundleUnsatisfiableError) and asked.why_not is not None:
        outcome = _asked_about(outcome, request.explanation(solved))
    shadow = None if solved.shadow is None else solved.shadow.to_dict()
    answer = None
    if isinstance(outcome, Bundle):
        answer = "".join(request.answered_json(solved, outcome))
    return BundleRouted(resolved, request, outcome, answer, shadow)


def _asked_about(error: BundleUnsatisfiableError, explanation: BundleExplanation) -> BundleUnsatisfiableError:
    """The error with an explanation that answers what was asked about, too."""
    return BundleUnsatisfiableError(
        error.message, tenant_id=error.tenant_id, reasons=lambda: error.reasons, explanation=lambda: explanation
    )
