"""The facade: route and explain a bundle."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from ..basics.issues import Issue, child
from ..documents.json_text import plain
from ..errors import InvalidRequestError
from ..explanations import Limits
from ..model.capability import Capability
from ..model.policy import TenantPolicy, read_policy
from ..model.provider import SetupFailure, read_setup_failures
from ..model.timestamps import Moment
from ..solving.asked import Provenance, request_labels
from ..solving.joint import JointSolved, SearchLimit, solve_jointly
from ..solving.situation import RuleArguments, Situation, read_catalog, situation_of
from ..solving.ties import Tie
from .bundle import Bundle, outcome_of
from .explanation import BundleExplanation
from .reading import read_slots, read_together, slot_issues, slots_shape_issues, together_issues, why_not_issues

__all__ = ["explain_bundle", "route_bundle"]

Slots = Mapping[str, Capability | Mapping[str, Any]]


def route_bundle(
    slots: Slots,
    providers: Iterable[Any],
    *,
    together: Iterable[Mapping[str, Any]] = (),
    policy: TenantPolicy | Mapping[str, Any] | None = None,
    setup_failures: Sequence[SetupFailure | Mapping[str, Any]] = (),
    limit: SearchLimit | None = None,
    **ruling: Unpack[RuleArguments],
) -> Bundle:
    """Pick the candidates that serve several capabilities together, under a policy.

    Args:
        slots: By name, in order: a declaration, or a slot in wire form, `{"capability": ..., "preferredModel": ...}`.
        providers: The tenant's providers: `registry.list(tenant)`, which is indexed, or any list of providers.
        together: What ties the slots, in wire form, such as `{"same": "region"}`.
        policy: The tenant's policy. It holds for every slot.
        setup_failures: Providers that could not be set up, to be named when nothing qualifies.
        limit: How long the search may take.
        ruling: Rules and what they depend on: the keys of `RuleArguments`.

    Raises:
        BundleUnsatisfiableError: No candidates satisfy all slots together.
        BundleLimitError: The search ended at its limit before it found any.
        InvalidRequestError: A slot, a tie, a hint, a setup failure, a rule or what goes with rules is broken.
        InvalidCapabilityError: A declaration is broken.
        InvalidPolicyError: The policy is broken.
        InvalidProviderError: A provider's metadata is broken.
        DuplicateProviderError: Two providers in the list have one id.

    Five slots of a thousand candidates with four ties take a few tenths of a second.

    Example:
        >>> import whyroute as wr
        >>> slots = {"writer": {"capability": {"needs": []}}, "judge": {"capability": {"needs": []}}}
        >>> providers = [wr.EchoProvider("a"), wr.EchoProvider("b")]
        >>> bundle = wr.route_bundle(slots, providers, together=[{"different": "provider"}])
        >>> {name: pick.id for name, pick in bundle.picks.items()}
        {'writer': 'a/echo', 'judge': 'b/echo'}
    """
    outcome = outcome_of(_solved(slots, providers, together, policy, setup_failures, limit, *situation_of(**ruling)))
    if isinstance(outcome, Bundle):
        return outcome
    raise outcome


def explain_bundle(
    slots: Slots,
    providers: Iterable[Any],
    *,
    together: Iterable[Mapping[str, Any]] = (),
    policy: TenantPolicy | Mapping[str, Any] | None = None,
    setup_failures: Sequence[SetupFailure | Mapping[str, Any]] = (),
    why_not: Mapping[str, tuple[str, str]] | None = None,
    limits: Limits | None = None,
    limit: SearchLimit | None = None,
    **ruling: Unpack[RuleArguments],
) -> BundleExplanation:
    """Why a bundle comes out as it does, why not otherwise, and what would have to change.

    Takes the arguments of `route_bundle` and raises its errors, but never for "nothing qualifies".

    Args:
        why_not: For some slots, a (provider id, model name) to compare with the picks.
        limits: How much of each list is made.

    Example:
        >>> import whyroute as wr
        >>> slots = {"writer": {"capability": {"needs": []}}, "judge": {"capability": {"needs": []}}}
        >>> explanation = wr.explain_bundle(slots, [wr.EchoProvider("a")], together=[{"different": "provider"}])
        >>> [[each.id for each in core] for core in explanation.cores]
        [['together/0']]
    """
    solved = _solved(slots, providers, together, policy, setup_failures, limit, *situation_of(**ruling))
    if why_not is not None:
        asked = {slot: dict(zip(("provider", "model"), pair, strict=False)) for slot, pair in why_not.items()}
        issues = why_not_issues(asked, "/whyNot", slots)
        if issues:
            raise InvalidRequestError(issues)
        why_not = {slot: (pair[0], pair[1]) for slot, pair in why_not.items()}
    return BundleExplanation(solved, why_not, limits or Limits())


def _solved(
    slots: Slots,
    providers: Iterable[Any],
    together: Iterable[Mapping[str, Any]],
    policy: TenantPolicy | Mapping[str, Any] | None,
    setup_failures: Sequence[SetupFailure | Mapping[str, Any]],
    limit: SearchLimit | None,
    situation: Situation | None,
    at: Moment | None,
) -> JointSolved:
    if situation is not None and situation.custom:
        message = "custom constraints are for one capability; write a rule for a bundle"
        raise InvalidRequestError([Issue("/custom", message)])
    documents, ties = _read(slots, list(together))
    read, errors = read_slots(documents, situation)
    if errors:
        raise type(errors[0])([issue for error in errors for issue in error.issues])
    clauses = None if policy is None else read_policy(policy)
    return solve_jointly(
        read,
        read_catalog(providers, clauses),
        ties,
        policy=clauses,
        setup_failures=read_setup_failures(setup_failures, "/setupFailures") if setup_failures != () else (),
        limit=limit,
        at=at,
        provenance=Provenance(
            labels=request_labels({} if situation is None else situation.labels),
            declaration={"slots": documents, "together": [tie.to_dict() for tie in ties]},
        ),
    )


def _read(slots: Any, together: list[Any]) -> tuple[dict[str, dict[str, Any]], tuple[Tie, ...]]:
    """The slots in wire form, and the ties.

    Raises:
        InvalidRequestError: The shape of some is broken; all issues.
    """
    issues: list[Issue] = slots_shape_issues(slots, "/slots")
    documents: dict[str, dict[str, Any]] = {}
    if not issues:
        for name, slot in slots.items():
            is_slot = isinstance(slot, Mapping) and "capability" in slot
            documents[name] = dict(slot) if is_slot else {"capability": slot}
            issues += slot_issues(documents[name], child("/slots", name))
    cleaned, foreign = plain(together, "/together")
    issues += foreign or together_issues(cleaned, "/together", documents or None)
    if issues:
        raise InvalidRequestError(issues)
    return documents, read_together(cleaned, documents)
