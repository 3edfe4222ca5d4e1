"""Requests that are prepared once, bound to any catalog, and routed any number of times."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from ..basics.computed import computed
from ..basics.issues import Issue, kind_of, shown
from ..catalog.candidate import Candidate
from ..catalog.catalog import Catalog
from ..constraints.named import Constraints
from ..engine.single import EngineName
from ..errors import InvalidRequestError
from ..explanations import Explanation, Limits
from ..model.capability import Capability, read_capability
from ..model.policy import TenantPolicy, read_policy
from ..model.provider import SetupFailure
from ..model.timestamps import Moment, to_datetime
from ..solving.request import RequestTerms, Solved
from ..solving.situation import RuleArguments, read_at, read_catalog, read_rest, situation_of
from .decision import Decision, decided, unsatisfiable

if TYPE_CHECKING:
    from ..constraints.custom import Custom
    from ..constraints.rulebook import Rulebook
    from ..model.condition import Condition
    from ..model.regions import Regions
    from ..model.rule import Rule, Waiver

__all__ = ["Bound", "Prepared", "prepare", "prepared_at", "read_why_not"]


def prepare(
    capability: Capability | Mapping[str, Any],
    policy: TenantPolicy | Mapping[str, Any] | None = None,
    *,
    rules: "Rulebook | Iterable[Rule | Mapping[str, Any]]" = (),
    conditions: "Mapping[str, Condition | Mapping[str, Any]] | None" = None,
    waivers: "Iterable[Waiver | Mapping[str, Any]]" = (),
    regions: "Regions | Mapping[str, Sequence[str]] | None" = None,
    labels: Mapping[str, str] | None = None,
    tokens: Mapping[str, int] | None = None,
    capability_name: str | None = None,
    custom: "Iterable[Custom]" = (),
) -> "Prepared":
    """Check a request and compile it, before it meets providers and a time.

    Preparing costs some ten microseconds for each rule; binding and routing what was prepared cost a fraction of that.

    Args:
        capability: The declaration, as a model or in wire form. An empty `needs` is fine here.
        policy: The tenant's policy.
        rules: What policy authors require, forbid and prefer, in order; or a Rulebook, which has the waivers,
            conditions and regions already.
        conditions: Named conditions, which rules and waivers refer to by `is`.
        waivers: Exceptions from waivable rules.
        regions: Groups of regions: the name of a group means its members too, in needs, policies and rules.
        labels: What the request says of itself; rules may look at it.
        tokens: What the call uses, `prompt` and `completion`; without it the cost of the call is unknown.
        capability_name: The capability's name; rules may look at it.
        custom: Constraints of the caller's own; they come after the needs.

    Raises:
        InvalidCapabilityError: The declaration is broken.
        InvalidPolicyError: The policy is broken.
        InvalidRequestError: A rule or what goes with rules is broken.

    Example:
        >>> import whyroute as wr
        >>> prepared = wr.prepare({"needs": [{"region": "eu"}]})
        >>> prepared.bind([wr.EchoProvider("echo", region="eu")]).route().candidate.id
        'echo/echo'
    """
    ruling: RuleArguments = {
        "rules": rules,
        "waivers": waivers,
        "conditions": conditions,
        "regions": regions,
        "labels": labels,
        "tokens": tokens,
        "capability_name": capability_name,
        "custom": custom,
    }
    return prepared_at(capability, policy, ruling)[0]


def prepared_at(
    capability: Capability | Mapping[str, Any], policy: TenantPolicy | Mapping[str, Any] | None, ruling: RuleArguments
) -> "tuple[Prepared, Moment | None]":
    """`prepare`, and the time; None where nothing depends on it."""
    situation, at = situation_of(**ruling)
    read = read_capability(capability)
    return Prepared(RequestTerms(read, None if policy is None else read_policy(policy), situation)), at


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Prepared:
    """A request, checked and compiled to terms; it knows no catalog. Immutable, and safe to share between threads."""

    _terms: RequestTerms

    def __reduce__(self) -> tuple[Any, ...]:
        return Prepared, (self._terms,)

    @property
    def capability(self) -> Capability:
        """The declaration."""
        return self._terms.capability

    @property
    def policy(self) -> TenantPolicy | None:
        """The tenant's policy, if there is one."""
        return self._terms.policy

    def bind(
        self,
        providers: Iterable[Any],
        at: datetime | str | Moment | None = None,
        *,
        setup_failures: Sequence[SetupFailure | Mapping[str, Any]] = (),
        engine: EngineName = "bitset",
    ) -> "Bound":
        """Compile the terms against providers, and solve.

        Args:
            providers: The tenant's providers: a Catalog or `registry.list(tenant)`, which are indexed, or any list.
            at: The time, which decides about rules and waivers with dates; the present when absent.
            setup_failures: Providers that could not be set up, to be named when nothing qualifies.
            engine: `bitset`, or `plain`: the library's own search over function constraints, slower by far.

        Raises:
            InvalidProviderError: A provider's metadata is broken.
            DuplicateProviderError: Two providers in the list have one id.
            InvalidRequestError: The time or a setup failure is broken.
            InvalidPolicyError: The providers are listed for another tenant than the policy's.
        """
        terms = self._terms
        moment = at if isinstance(at, Moment) or (at is None and not terms.changes) else read_at(at)
        solved = terms.solved(
            read_catalog(providers, terms.policy),
            moment,
            setup_failures=() if setup_failures == () else read_rest(None, None, setup_failures),
            engine=engine,
        )
        return Bound(solved, terms.changes)

    def __repr__(self) -> str:
        return f"<Prepared {len(self._terms.capability.needs)} needs, {self._terms.rules} rules>"


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Bound:
    """A prepared request over a catalog at a time, solved. Immutable, and safe to share between threads."""

    _solved: Solved
    _changes: tuple[int, ...]

    def __init__(self, solved: Solved, changes: tuple[int, ...] = ()) -> None:
        # As the one that would be generated, at less than half its cost.
        fields = self.__dict__
        fields["_solved"] = solved
        fields["_changes"] = changes

    def __reduce__(self) -> tuple[Any, ...]:
        return Bound, (self._solved, self._changes)

    @property
    def catalog(self) -> Catalog:
        """The candidates."""
        return self._solved.catalog

    @property
    def constraints(self) -> Constraints:
        """The constraints over the catalog, in the contract's order, then rules."""
        return self._solved.constraints

    @property
    def until(self) -> datetime | None:
        """The first moment at which other rules or waivers may be in force; None when there is none.

        A bound request gives the answers of its time, and may be kept until then.
        """
        at = self._solved.at
        later = () if at is None else self._changes[bisect_right(self._changes, at.start) :]
        try:
            return to_datetime(later[0]) if later else None
        except OverflowError:  # after the last day that there is
            return None

    def route(self, preferred_provider: str | None = None, preferred_model: str | None = None) -> Decision:
        """Pick the candidate that serves the request.

        Args:
            preferred_provider: A hint: candidates of this provider come first. It never admits anything.
            preferred_model: A hint: candidates of this model name come first.

        Raises:
            CapabilityUnsatisfiableError: No candidate qualifies.
            InvalidRequestError: A hint is not a string.
        """
        if not self._solved.survivors:
            raise unsatisfiable(self._hinted(preferred_provider, preferred_model))
        if preferred_provider is None and preferred_model is None:
            return self._decision
        return decided(self._hinted(preferred_provider, preferred_model))

    @computed
    def _decision(self) -> Decision:
        return decided(self._solved)

    def _hinted(self, preferred_provider: str | None, preferred_model: str | None) -> Solved:
        read_rest(preferred_provider, preferred_model, ())
        return self._solved.hinted(preferred_provider, preferred_model)

    def match(self) -> tuple[Candidate, ...]:
        """The candidates that qualify, fallbacks included, unranked: in the order of the providers and their models.

        Raises:
            CapabilityUnsatisfiableError: No candidate qualifies.
        """
        self.route()
        return self._solved.matched()

    def explain(
        self,
        why_not: tuple[str, str] | None = None,
        limits: Limits | None = None,
        *,
        preferred_provider: str | None = None,
        preferred_model: str | None = None,
    ) -> Explanation:
        """Why the request comes out as it does, why not otherwise, and what would have to change.

        Args:
            why_not: A (provider id, model name) to compare with the pick.
            limits: How much of each list is made.
            preferred_provider: As for `route`.
            preferred_model: As for `route`.

        Raises:
            InvalidRequestError: What `why_not` names is no pair of strings, or a hint is not a string.
        """
        solved = self._hinted(preferred_provider, preferred_model)
        if limits is not None and not isinstance(limits, Limits):
            raise TypeError(f"`limits` is {kind_of(limits)}; Limits are expected")
        return Explanation(solved, None if why_not is None else read_why_not(why_not), limits or _LIMITS)

    def __repr__(self) -> str:
        return f"<Bound {self._solved.survivors.bit_count()} of {self._solved.catalog.size} candidates qualify>"


_LIMITS: Final = Limits()


def read_why_not(given: Any) -> tuple[str, str]:
    """A (provider id, model name) to compare with the pick.

    Raises:
        InvalidRequestError: It is no pair of strings.
    """
    match given:
        case tuple() | list() if len(given) == 2 and all(isinstance(name, str) for name in given):
            return given[0], given[1]
        case _:
            message = f"{shown(given)} is {kind_of(given)}; a provider id and a model name are expected, in a tuple"
            raise InvalidRequestError([Issue("/whyNot", message)])
