"""Bundles over HTTP: what a body may say, and what it comes to. No I/O."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from ..bundles import Bundle, BundleLimitError, BundleUnsatisfiableError
from ..bundles.bundle import outcome_of
from ..bundles.wire import BundleRequest
from ..errors import InvalidRequestError
from ..issues import Issue, child, kind_of
from ..rulepack import Pack, ResolvedBundle
from .routing import read_body, shared_issues
from .tenants import Holdings

__all__ = ["BundleAsked", "BundleRouted", "read_bundle_asked", "route_bundle"]

_KEYS: Final = ("bundle", "slots", "together", "labels", "include")


@dataclass(frozen=True, slots=True)
class BundleAsked:
    """What a body asks for.

    Attributes:
        bundle: The name of a bundle of the pack, or `slots` and `together`.
        labels: What the request says of itself.
        include: What the answer holds beside the decision.
    """

    bundle: str | Mapping[str, Any]
    labels: Mapping[str, str] = field(default_factory=dict)
    include: tuple[str, ...] = ()


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
    issues += shared_issues(body, _KEYS)
    if issues:
        raise InvalidRequestError(issues)
    own = {key: cleaned[key] for key in ("slots", "together") if key in cleaned}
    return BundleAsked(
        bundle=cleaned.get("bundle", own), labels=cleaned.get("labels", {}), include=tuple(cleaned.get("include", ()))
    )


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
        tenant, asked.bundle, labels=asked.labels, operator_labels=operator_labels, catalog=holdings.catalog
    )
    request = resolved.read(include=asked.include, now=now, setup_failures=holdings.failures)
    solved = request.solve()
    outcome = outcome_of(solved)
    shadow = None if solved.shadow is None else solved.shadow.to_dict()
    answer = None
    if isinstance(outcome, Bundle):
        answer = json.dumps(request.answered(solved, outcome), ensure_ascii=False, allow_nan=False)
    return BundleRouted(resolved, request, outcome, answer, shadow)
