"""What is kept of each decision: enough, with the pack, to come to it again; never what is sent to a model."""

from datetime import UTC, datetime
from typing import Any

from ..decisions import Decision
from .packs import PackInForce
from .routing import Asked, Routed
from .tenants import Holdings
from .tokens import Caller

__all__ = ["decision_record"]


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

    `registered` are the providers that don't stand in the pack; `labels` those that the request had in the end.
    """
    found: dict[str, Any] = {
        "requestId": request_id,
        "time": now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "pack": pack.digest,
        "catalog": holdings.digest,
        "tenant": caller.tenant,
        "capability": asked.capability,
        "labels": routed.resolved.labels,
        "at": routed.request.at,
    }
    hints = {"preferredProvider": asked.preferred_provider, "preferredModel": asked.preferred_model}
    found |= {key: value for key, value in hints.items() if value is not None}
    if holdings.registered_documents:
        found["registered"] = holdings.registered_documents
    if holdings.failures:
        found["setupFailures"] = [failure.model_dump(by_alias=True) for failure in holdings.failures]
    outcome = routed.outcome
    if isinstance(outcome, Decision):
        found |= {"pick": outcome.candidate.to_dict(), "score": outcome.score, "fallback": outcome.fallback}
    else:
        cores = [[constraint.id for constraint in core] for core in outcome.explanation.cores]
        found |= {"unsatisfiable": True, "cores": cores}
    if routed.shadow is not None:
        found["shadow"] = routed.shadow
    return found
