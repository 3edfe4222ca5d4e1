"""The contract's reasons of a failed answer."""

from collections.abc import Sequence
from typing import Any

from .. import bits
from ..catalog import Catalog
from ..constraints import NamedConstraint
from ..errors import Reason, Rejection, RejectionReason
from ..providers import SetupFailure

__all__ = ["SET_UP", "reasons_of"]

SET_UP = "provider set up"
"""The requirement under which providers that could not be set up are named."""


def reasons_of(
    constraints: Sequence[NamedConstraint], catalog: Catalog, setup_failures: Sequence[SetupFailure] = ()
) -> tuple[Reason, ...]:
    """For each constraint that rejects a candidate, in order: the candidates it admits and those it rejects, with why.

    Candidates stand in input order. The time and the size grow with candidates times constraints.
    """
    order = catalog.input_order()
    candidates = [catalog.candidate(number) for number in order]
    ids = [candidate.id for candidate in candidates]
    found: list[Reason] = []
    for constraint in constraints:
        if not constraint.rejected:
            continue
        admitted = bits.flags(constraint.admitted, catalog.size)
        term = constraint.term
        shared: dict[Any, RejectionReason] = {}
        satisfying: list[str] = []
        rejecting: list[Rejection] = []
        for candidate_id, candidate, number in zip(ids, candidates, order, strict=True):
            if admitted[number] == "1":
                satisfying.append(candidate_id)
                continue
            observed = term.observe(candidate.metadata, candidate.model)
            reason = shared.get(observed)
            if reason is None:
                reason = shared[observed] = term.reason(observed)
            rejecting.append(Rejection(candidate_id, reason))
        found.append(Reason(constraint.label, tuple(satisfying), tuple(rejecting)))
    if setup_failures:
        rejected = tuple(
            Rejection(
                failure.provider_id,
                RejectionReason("provider-setup-failed", failure.message, {"providerId": failure.provider_id}),
            )
            for failure in setup_failures
        )
        found.append(Reason(SET_UP, tuple(ids), rejected))
    return tuple(found)
