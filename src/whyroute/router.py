"""The facade: route, match and explain."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from . import bits
from .catalog import Candidate, Catalog
from .constraints import Constraints, compile_constraints
from .declarations import Capability, read_capability
from .errors import CapabilityUnsatisfiableError
from .explanations import Explanation, reasons_of
from .issues import shown
from .numbers import Number, ecmascript, exact, wire_number
from .policies import TenantPolicy, read_policy
from .providers import ModelInfo, ModelProvider, SetupFailure
from .ranking import RankedCandidates, Ranking, rank
from .solver import EngineName, engine_named

__all__ = ["Decision", "Solved", "explain", "match", "route", "solve"]

_NO_CANDIDATE = "no registered provider satisfies the capability"


@dataclass(frozen=True, eq=False)
class Decision:
    """The candidate that serves a capability, and why.

    Attributes:
        candidate: The pick.
        fallback: Whether only fallback providers qualified.
    """

    candidate: Candidate
    fallback: bool
    _ranking: Ranking = field(repr=False)
    _solved: "Solved" = field(repr=False)

    @property
    def provider(self) -> ModelProvider:
        """The picked provider, to invoke."""
        return self.candidate.provider

    @property
    def model(self) -> ModelInfo:
        """The picked model; pass its name to the provider's `invoke`."""
        return self.candidate.model

    @property
    def alternates(self) -> RankedCandidates:
        """The other candidates that qualify, in rank order; made when they are read."""
        return RankedCandidates(self._ranking, range(1, len(self._ranking)))

    @cached_property
    def score(self) -> Number:
        """The sum of the weights of the preferences that the pick meets."""
        return wire_number(self._ranking.scores.score(self._ranking.best()))

    @cached_property
    def reason(self) -> str:
        """Why this candidate, in plain words."""
        return _reason(self)

    @cached_property
    def explanation(self) -> Explanation:
        """What each constraint did, and what stands in the way of the other candidates."""
        return self._solved.explanation()

    def to_dict(self) -> dict[str, Any]:
        """The decision as it goes over the wire."""
        return {
            "pick": self.candidate.to_dict(),
            "alternates": [candidate.to_dict() for candidate in self.alternates],
            "fallback": self.fallback,
            "reason": self.reason,
            "score": self.score,
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True, slots=True)
class Solved:
    """A request, compiled and solved: what a decision, a failed answer and an explanation are made from."""

    catalog: Catalog
    capability: Capability
    policy: TenantPolicy | None
    constraints: Constraints
    survivors: int
    preferred_provider: str | None
    preferred_model: str | None
    setup_failures: tuple[SetupFailure, ...]

    def outcome(self) -> "Decision | CapabilityUnsatisfiableError":
        """The decision, or the error that says that there is none."""
        if not self.survivors:
            return CapabilityUnsatisfiableError(
                _failed(self.setup_failures),
                tenant_id=None if self.policy is None else self.policy.tenant_id,
                reasons=lambda: reasons_of(self.constraints, self.catalog, self.setup_failures),
                explanation=self.explanation,
            )
        ranking = self._ranked(self.survivors)
        return Decision(self.catalog.candidate(ranking.best()), ranking.fallback, ranking, self)

    def matched(self) -> tuple[Candidate, ...]:
        """The candidates that qualify, in input order."""
        admitted = bits.flags(self.survivors, self.catalog.size)
        candidate = self.catalog.candidate
        return tuple(candidate(number) for number in self.catalog.input_order() if admitted[number] == "1")

    def explanation(self) -> Explanation:
        """What each constraint did, and what stands in the way of each candidate."""
        everyone = self.catalog.all()
        fallbacks = self.catalog.fallbacks()
        parts = [part for part in (everyone & ~fallbacks, fallbacks) if part]
        order = tuple(self._ranked(part) for part in parts)
        return Explanation(self.catalog, tuple(self.constraints), self.survivors, order, self.setup_failures)

    def _ranked(self, members: int) -> Ranking:
        return rank(members, self.catalog, self.capability.prefer, self.preferred_provider, self.preferred_model)


def route(
    capability: Capability | Mapping[str, Any],
    providers: Iterable[Any],
    *,
    policy: TenantPolicy | Mapping[str, Any] | None = None,
    preferred_provider: str | None = None,
    preferred_model: str | None = None,
    setup_failures: Sequence[SetupFailure | Mapping[str, Any]] = (),
    engine: EngineName = "bitset",
) -> Decision:
    """Pick the candidate that serves a capability under a policy.

    Args:
        capability: The declaration, as a model or in wire form. An empty `needs` is fine here.
        providers: The tenant's providers: `registry.list(tenant)`, which is indexed, or any list of providers.
        policy: The tenant's policy.
        preferred_provider: A hint: candidates of this provider come first. It never admits anyone.
        preferred_model: A hint: candidates of this model name come first.
        setup_failures: Providers that could not be set up, to be named when nothing qualifies.
        engine: `bitset`, or `plain`: the library's own search over function constraints, slower by far.

    Raises:
        CapabilityUnsatisfiableError: No candidate qualifies.
        InvalidCapabilityError: The declaration is broken.
        InvalidPolicyError: The policy is broken.
        InvalidProviderError: A provider's metadata is broken.
        DuplicateProviderError: Two providers in the list have one id.
    """
    outcome = solve(
        capability,
        providers,
        policy=policy,
        preferred_provider=preferred_provider,
        preferred_model=preferred_model,
        setup_failures=setup_failures,
        engine=engine,
    ).outcome()
    if isinstance(outcome, Decision):
        return outcome
    raise outcome


def match(
    capability: Capability | Mapping[str, Any],
    providers: Iterable[Any],
    *,
    policy: TenantPolicy | Mapping[str, Any] | None = None,
    setup_failures: Sequence[SetupFailure | Mapping[str, Any]] = (),
    engine: EngineName = "bitset",
) -> tuple[Candidate, ...]:
    """The candidates that qualify, fallbacks included, unranked: in the order of the providers and their models.

    Takes the arguments of `route` but for the hints, and raises the same errors.
    """
    solved = solve(capability, providers, policy=policy, setup_failures=setup_failures, engine=engine)
    outcome = solved.outcome()
    if isinstance(outcome, Decision):
        return solved.matched()
    raise outcome


def explain(
    capability: Capability | Mapping[str, Any],
    providers: Iterable[Any],
    *,
    policy: TenantPolicy | Mapping[str, Any] | None = None,
    preferred_provider: str | None = None,
    preferred_model: str | None = None,
    setup_failures: Sequence[SetupFailure | Mapping[str, Any]] = (),
    engine: EngineName = "bitset",
) -> Explanation:
    """What each constraint does, and what stands in the way of each candidate.

    Takes the arguments of `route` and raises its errors, but never for "nothing qualifies".
    """
    return solve(
        capability,
        providers,
        policy=policy,
        preferred_provider=preferred_provider,
        preferred_model=preferred_model,
        setup_failures=setup_failures,
        engine=engine,
    ).explanation()


def solve(
    capability: Capability | Mapping[str, Any],
    providers: Iterable[Any],
    *,
    policy: TenantPolicy | Mapping[str, Any] | None = None,
    preferred_provider: str | None = None,
    preferred_model: str | None = None,
    setup_failures: Sequence[SetupFailure | Mapping[str, Any]] = (),
    engine: EngineName = "bitset",
) -> Solved:
    """Compile a request against the catalog and solve it. Takes the arguments of `route`."""
    if not isinstance(capability, Capability):
        capability = read_capability(capability)
    if policy is not None and not isinstance(policy, TenantPolicy):
        policy = read_policy(policy)
    catalog = providers if isinstance(providers, Catalog) else Catalog(providers)
    constraints = compile_constraints(capability, policy, catalog)
    return Solved(
        catalog,
        capability,
        policy,
        constraints,
        engine_named(engine).solve(constraints),
        preferred_provider,
        preferred_model,
        _read_failures(setup_failures) if setup_failures else (),
    )


def _read_failures(given: Sequence[SetupFailure | Mapping[str, Any]]) -> tuple[SetupFailure, ...]:
    return tuple(f if isinstance(f, SetupFailure) else SetupFailure.model_validate(f) for f in given)


def _failed(setup_failures: Sequence[SetupFailure]) -> str:
    """The first provider that could not be set up says why, since it may be the only one there is."""
    if not setup_failures:
        return _NO_CANDIDATE
    first, more = setup_failures[0], len(setup_failures) - 1
    also = "" if not more else f" (and {more} more could not be set up)"
    return f"{_NO_CANDIDATE}; provider {shown(first.provider_id)} could not be set up: {first.message}{also}"


def _reason(decision: Decision) -> str:
    solved, ranking = decision._solved, decision._ranking
    asked = [_counted(len(solved.capability.needs))] if solved.capability.needs else []
    if solved.policy is not None:
        asked.append(f"the policy of tenant {shown(solved.policy.tenant_id)}")
    met = f"meets {' and '.join(asked)}" if asked else f"is of the kind asked for, {shown(solved.capability.kind)}"
    parts = [f"{shown(decision.candidate.metadata.id)} / {shown(decision.candidate.model.name)} {met}"]
    if decision.fallback:
        parts.append("it is a fallback: no other provider qualifies")
    others = len(ranking) - 1
    if not others:
        parts.append("it is the only candidate that does")
        return "; ".join(parts)
    parts.append(f"of {others + 1} candidates it {_why_first(decision, solved, ranking)}")
    return "; ".join(parts)


def _counted(needs: int) -> str:
    return {1: "the one need", 2: "both needs"}.get(needs, f"all {needs} needs")


def _why_first(decision: Decision, solved: Solved, ranking: Ranking) -> str:
    if ranking.hinted and ranking.hinted != ranking.members:
        given = [
            f"{what} {shown(name)}"
            for what, name in (("provider", solved.preferred_provider), ("model", solved.preferred_model))
            if name is not None
        ]
        return f"matches the preferred {' and '.join(given)}"
    best = next(ranking.classes())
    if best == ranking.members:
        tied = f"all score {ecmascript(decision.score)}, " if solved.capability.prefer else ""
        return f"comes first: {tied}{_decided(decision.candidate, best, ranking)}"
    score = f"has the highest score, {ecmascript(decision.score)}"
    met = _matched_preferences(decision.candidate, solved.capability)
    if met:
        score += f" ({', '.join(met)})"
    tied_with = best.bit_count() - 1
    if not tied_with:
        return score
    return f"{score}, as {'has one more' if tied_with == 1 else f'have {tied_with} more'}: " + _decided(
        decision.candidate, best, ranking
    )


def _decided(pick: Candidate, tied: int, ranking: Ranking) -> str:
    """What puts the pick before the next of its class."""
    following = ranking.catalog.candidate(bits.select(tied, 1))
    if following.metadata.id != pick.metadata.id:
        return "the order of provider ids decides"
    if pick.metadata.default_model == pick.model.name:
        return "it is the provider's default model"
    return "the order of model names decides"


def _matched_preferences(candidate: Candidate, capability: Capability) -> list[str]:
    weights: dict[str, Any] = {}
    for preference in capability.prefer:
        if preference.feature in candidate.model.features or preference.feature in candidate.metadata.attributes:
            weights[preference.feature] = weights.get(preference.feature, 0) + exact(preference.weight)
    return [
        f"{shown(name)} {'+' if weight >= 0 else ''}{ecmascript(wire_number(weight))}"
        for name, weight in weights.items()
    ]
