"""What is kept of each decision, and never what is sent to a model.

It is enough, with the pack and the providers that were registered, to come to the decision again.
"""

from datetime import UTC, datetime
from typing import Any

from ..bundles.bundle import Bundle
from ..errors import BundleUnsatisfiableError
from ..routing.decision import Decision
from .bundling import BundleAsked, BundleRouted
from .packs import PackInForce
from .routing import Asked, Routed
from .tenants import Holdings
from .tokens import Caller

__all__ = ["bundle_record", "decision_record"]


def decision_record(
    routed: Routed,
    asked: Asked,
    *,
    request_id: str,
    caller: Caller,
    pack: PackInForce,
    holdings: Holdings,
    now: datetime,
) -> dict[str, Any]:
    """The record of a route, as a line of JSON.

    `providers` cites those that don't stand in the pack; `labels` are those that the request had in the end.
    """
    found = {
        **_head(request_id, caller, pack, holdings, now),
        "capability": asked.capability,
        "labels": routed.resolved.labels,
        "at": routed.request.at,
    }
    hints = {"preferredProvider": asked.preferred_provider, "preferredModel": asked.preferred_model}
    found |= {key: value for key, value in hints.items() if value is not None}
    found |= _beside_the_pack(holdings)
    outcome = routed.outcome
    if isinstance(outcome, Decision):
        found |= {"pick": outcome.candidate.to_dict(), "score": outcome.score, "fallback": outcome.fallback}
    else:
        cores = [[constraint.id for constraint in core] for core in outcome.explanation.cores]
        found |= {"unsatisfiable": True, "cores": cores}
    if routed.shadow is not None:
        found["shadow"] = routed.shadow
    return found


def bundle_record(
    routed: BundleRouted,
    asked: BundleAsked,
    *,
    request_id: str,
    caller: Caller,
    pack: PackInForce,
    holdings: Holdings,
    now: datetime,
) -> dict[str, Any]:
    """The record of a bundle, as a line of JSON; `labels` are those of the request itself."""
    found = {
        **_head(request_id, caller, pack, holdings, now),
        "bundle": asked.bundle,
        "labels": dict(asked.labels),
        "at": routed.request.at,
        **_beside_the_pack(holdings),
    }
    outcome = routed.outcome
    if isinstance(outcome, Bundle):
        picks = {name: candidate.to_dict() for name, candidate in outcome.picks.items()}
        found |= {"picks": picks, "score": outcome.score, "fallback": outcome.fallback, "proved": outcome.proved}
    elif isinstance(outcome, BundleUnsatisfiableError):
        cores = [[constraint.id for constraint in core] for core in outcome.explanation.cores]
        found |= {"unsatisfiable": True, "cores": cores}
    else:
        found["undecided"] = True
    if routed.shadow is not None:
        found["shadow"] = routed.shadow
    return found


def _head(request_id: str, caller: Caller, pack: PackInForce, holdings: Holdings, now: datetime) -> dict[str, Any]:
    return {
        "requestId": request_id,
        "time": now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "pack": pack.digest,
        "catalog": holdings.digest,
        "tenant": caller.tenant,
    }


def _beside_the_pack(holdings: Holdings) -> dict[str, Any]:
    """What a tenant has beside the pack, cited: a line never repeats it."""
    digest = holdings.registered_digest
    return {} if digest is None else {"providers": digest}
