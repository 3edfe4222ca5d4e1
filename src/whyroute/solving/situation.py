"""What an answer depends on beside the declaration, the policy and the candidates: read as `route` takes it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypedDict

from ..basics.issues import Issue, did_you_mean, kind_of, shown
from ..basics.numbers import Number
from ..catalog.catalog import Catalog
from ..constraints.named import Origin, Origins
from ..errors import InvalidPolicyError, InvalidRequestError
from ..model.capability import Capability
from ..model.policy import TenantPolicy
from ..model.provider import SetupFailure, read_setup_failures
from ..model.regions import Regions
from ..model.request_facts import fact_issues
from ..model.timestamps import Moment, present, read_moment

if TYPE_CHECKING:
    from ..constraints.custom import Custom
    from ..constraints.rulebook import Entry, Rulebook
    from ..constraints.three_valued import EvalContext
    from ..model.condition import Condition
    from ..model.rule import Rule, Waiver

__all__ = ["RuleArguments", "Situation", "read_at", "read_catalog", "read_rest", "situation_of"]


@dataclass(frozen=True, slots=True)
class Situation:
    """Rules, and what they depend on beside the declaration, the policy, the candidates and the time.

    Attributes:
        book: The rules.
        context: The groups of regions and the tokens of the call.
        labels: What the request says of itself.
        capability: The capability's name; None when it is declared in place.
        origins: Where constraints are written, by their ids.
        contacts: The contact for clauses, by their constraints' ids.
        custom: Constraints of the caller's own.
    """

    book: "Rulebook"
    context: "EvalContext"
    labels: Mapping[str, str]
    capability: str | None
    origins: Origins | None = None
    contacts: Mapping[str, str] | None = None
    custom: "tuple[Custom, ...]" = ()

    def without(self, ids: Collection[str]) -> "Situation":
        """The same without the rules and the custom constraints whose constraints have these ids."""
        rules = {name.removeprefix("rules/") for name in ids if name.startswith("rules/")}
        kept = tuple(each for each in self.custom if f"custom/{each.id}" not in ids)
        return replace(self, book=self.book.without(rules), custom=kept)

    def asked(self, capability: Capability, policy: TenantPolicy | None) -> "tuple[tuple[int, Entry], ...]":
        """The rules that apply to a declaration under a policy, whatever the time, each with its place in the book."""
        from ..constraints.rulebook import RequestFacts  # noqa: PLC0415 (takes long to load, and most requests have no rules)

        tenant = None if policy is None else policy.tenant_id
        return self.book.asked(RequestFacts.of(capability, self.capability, self.labels, tenant))


class RuleArguments(TypedDict, total=False):
    """The arguments of `route` that are about rules.

    Attributes:
        rules: What policy authors require, forbid and prefer, in order; or a Rulebook, which has the waivers,
            conditions and regions already and is read once for any number of routes.
        waivers: Exceptions from waivable rules.
        conditions: Named conditions, which rules and waivers refer to by `is`.
        regions: Groups of regions: the name of a group means its members too, in needs, policies and rules.
        labels: What the request says of itself; rules may look at it.
        at: The request's time, which decides about rules and waivers with dates; the present when absent.
        tokens: What the call uses, `prompt` and `completion`; without it the price of the call is unknown.
        capability_name: The capability's name; rules may look at it.
        origins: Where constraints are written, by their ids.
        custom: Constraints of the caller's own.
    """

    rules: "Rulebook | Iterable[Rule | Mapping[str, Any]]"
    waivers: "Iterable[Waiver | Mapping[str, Any]]"
    conditions: "Mapping[str, Condition | Mapping[str, Any]] | None"
    regions: Regions | Mapping[str, Sequence[str]] | None
    labels: Mapping[str, str] | None
    at: datetime | str | None
    tokens: Mapping[str, int] | None
    capability_name: str | None
    origins: Origins | None
    custom: "Iterable[Custom]"


_BESIDE: Final = (
    "policy",
    "preferred_provider",
    "preferred_model",
    "setup_failures",
    "engine",
    "why_not",
    "limits",
    "limit",
)
"""What functions that take these arguments take beside them."""


def situation_of(
    *,
    rules: "Rulebook | Iterable[Any]" = (),
    waivers: Iterable[Any] = (),
    conditions: Mapping[str, Any] | None = None,
    regions: Any = None,
    labels: Mapping[str, str] | None = None,
    at: datetime | str | None = None,
    tokens: Any = None,
    capability_name: str | None = None,
    origins: Origins | None = None,
    custom: "Iterable[Custom]" = (),
    **unknown: Any,
) -> tuple[Situation | None, Moment | None]:
    """Read the rules of a request and what they depend on, as `route` takes them, and its time.

    Returns:
        None for what the request says nothing of: rules and what they depend on, and the time.

    Raises:
        InvalidRequestError: Something is broken; all issues.
        TypeError: There is no such argument.
    """
    for name in unknown:
        raise TypeError(
            f"{shown(name)} is no argument here{did_you_mean(name, (*_BESIDE, *RuleArguments.__annotations__))}"
        )
    issues = _argument_issues(rules, waivers, capability_name, origins)
    if issues:
        raise InvalidRequestError(issues)
    own: tuple[Custom, ...] = ()
    if custom != ():
        from ..constraints.custom import read_custom  # noqa: PLC0415 (few requests have any)

        own = read_custom(custom)
    if not (rules or waivers or conditions or regions or origins or labels or tokens or capability_name or own):
        # An empty object of labels or tokens may be broken all the same.
        given = at is not None or tokens is not None or labels is not None
        return None, _read_facts(labels, at, tokens)[0] if given else None
    from ..constraints.rulebook import read_rulebook  # noqa: PLC0415
    from ..constraints.three_valued import Call, EvalContext  # noqa: PLC0415 (takes long to load, and most requests have no rules)

    book = read_rulebook(rules, waivers=waivers, conditions=conditions, regions=regions)
    moment, call = _read_facts(labels, at, tokens)
    context = EvalContext(book.regions, None if call is None else Call.of(*call))
    return Situation(book, context, dict(labels or {}), capability_name, origins, custom=own), moment


def read_at(at: datetime | str | None) -> Moment:
    """A time as `route` takes it; the present when absent.

    Raises:
        InvalidRequestError: It is no time.
    """
    return present() if at is None else _read_facts(None, at, None)[0]


def _argument_issues(rules: Any, waivers: Any, capability_name: Any, origins: Any) -> list[Issue]:
    """What is wrong with arguments that nothing else looks at, or whose absence would be taken for none."""
    issues = [
        Issue(f"/{name}", f"null; {name} are a list, which may be empty")
        for name, given in (("rules", rules), ("waivers", waivers))
        if given is None
    ]
    if capability_name is not None and not isinstance(capability_name, str):
        message = f"{shown(capability_name)} is {kind_of(capability_name)}; a string is expected"
        issues.append(Issue("/capabilityName", message))
    if origins is not None and not _are_origins(origins):
        issues.append(Issue("/origins", "origins are lists of Origin in an object, by the ids of constraints"))
    return issues


def _are_origins(given: Any) -> bool:
    return isinstance(given, Mapping) and all(
        isinstance(name, str) and isinstance(places, list | tuple) and all(isinstance(each, Origin) for each in places)
        for name, places in given.items()
    )


def _read_facts(labels: Any, at: Any, tokens: Any) -> tuple[Moment, tuple[Number, Number] | None]:
    """A request's time, and the tokens of its call."""
    if isinstance(at, datetime):
        at = at.astimezone(UTC).isoformat() if at.tzinfo is not None else str(at)
    given = {"labels": labels, "at": at, "tokens": tokens}
    issues = fact_issues({key: value for key, value in given.items() if value is not None})
    if issues:
        raise InvalidRequestError(issues)
    moment = present() if at is None else read_moment(at)
    return moment, None if tokens is None else (tokens["prompt"], tokens["completion"])


def read_catalog(providers: Iterable[Any], policy: TenantPolicy | None) -> Catalog:
    """The candidates of a request, indexed.

    Raises:
        InvalidPolicyError: They are listed for another tenant than the policy's.
        InvalidProviderError: A provider's metadata is broken.
        DuplicateProviderError: Two providers in the list have one id.
    """
    catalog = providers if isinstance(providers, Catalog) else Catalog(providers)
    if catalog.tenant is not None and policy is not None and catalog.tenant != policy.tenant_id:
        theirs, whose = shown(policy.tenant_id), shown(catalog.tenant)
        message = f"this is the policy of tenant {theirs}, and the providers are those of tenant {whose}"
        raise InvalidPolicyError([Issue("/tenantId", message)])
    return catalog


def read_rest(
    preferred_provider: str | None,
    preferred_model: str | None,
    setup_failures: Sequence[SetupFailure | Mapping[str, Any]],
) -> tuple[SetupFailure, ...]:
    """Check the hints of a request, and read its setup failures.

    Raises:
        InvalidRequestError: Something is broken; all issues.
    """
    issues = [
        Issue(path, f"{shown(hint)} is {kind_of(hint)}; a string is expected")
        for path, hint in (("/preferredProvider", preferred_provider), ("/preferredModel", preferred_model))
        if hint is not None and not isinstance(hint, str)
    ]
    failures: tuple[SetupFailure, ...] = ()
    try:
        failures = read_setup_failures(setup_failures, "/setupFailures")
    except InvalidRequestError as error:
        issues += error.issues
    if issues:
        raise InvalidRequestError(issues)
    return failures
