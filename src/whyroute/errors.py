"""Exceptions. Every one carries its data as attributes and says what would be right."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from json.encoder import JSONEncoder
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from .basics.computed import computed
from .basics.frozen import FrozenDict, frozen, thawed
from .basics.issues import MAX_ISSUES, Issue, capped, shown
from .basics.numbers import Number, ecmascript

if TYPE_CHECKING:
    from .bundles.explanation import BundleExplanation  # noqa: F401 (the parameter of a base class, in quotes)
    from .explanations import Explanation  # noqa: F401

__all__ = [
    "AdapterConfigError",
    "BudgetExceededError",
    "BudgetLimit",
    "BundleUnsatisfiableError",
    "CapabilityUnsatisfiableError",
    "DuplicateAdapterError",
    "DuplicateProviderError",
    "InvalidCapabilityError",
    "InvalidInputError",
    "InvalidPolicyError",
    "InvalidProviderError",
    "InvalidRequestError",
    "MissingExtraError",
    "NotInvocableError",
    "Reason",
    "Rejection",
    "RejectionReason",
    "UnsatisfiableError",
    "WhyrouteError",
    "WireSequence",
    "reasons_text",
]


T = TypeVar("T")
E = TypeVar("E")


class WhyrouteError(Exception):
    """Base of every error that whyroute raises on purpose.

    Attributes:
        code: Stable machine-readable name of the kind of error.
    """

    code: ClassVar[str] = "error"

    @property
    def message(self) -> str:
        """The sentence a person reads."""
        return str(self.args[0]) if self.args else self.code

    def __str__(self) -> str:
        return self.message

    def to_dict(self) -> dict[str, Any]:
        """The error as it goes over the wire."""
        return {"code": self.code, "message": self.message}

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return _json(self.to_dict())


class InvalidInputError(WhyrouteError):
    """An input is broken; `issues` lists all its problems at once.

    Attributes:
        issues: Every problem found, as (JSON pointer, message), in the order of the input. Of more than a thousand
            only the first are kept, and the last issue, which points nowhere, says how many more there are.
    """

    code = "invalid-request"
    subject: ClassVar[str] = "the input"

    def __init__(self, issues: Iterable[Issue]) -> None:
        self.issues: tuple[Issue, ...] = capped(issues)
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        if not self.issues:
            return f"{self.subject} is invalid"
        more = len(self.issues) - 1
        least = "at least " if len(self.issues) == MAX_ISSUES else ""
        tail = f" (and {least}{more} more {'problem' if more == 1 else 'problems'})" if more else ""
        return f"{self.subject} is invalid: {self.issues[0]}{tail}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.issues,)

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "issues": [{"path": i.path, "message": i.message} for i in self.issues]}


class InvalidRequestError(InvalidInputError):
    """A wire request is not JSON, has unknown keys or values of a wrong type."""

    subject = "the request"


class InvalidCapabilityError(InvalidInputError):
    """A declaration breaks the capability schema."""

    code = "invalid-capability"
    subject = "the declaration"


class InvalidPolicyError(InvalidInputError):
    """A tenant policy is broken."""

    code = "invalid-policy"
    subject = "the policy"


class InvalidProviderError(InvalidInputError):
    """A provider can't be registered or routed to.

    Attributes:
        reason: The first rule of the contract that it breaks, such as `empty-id` or `invalid-cost`.
        provider_id: The provider's id, when it has a usable one.
        issues: Every problem found.
    """

    code = "invalid-provider"
    subject = "the provider"

    def __init__(self, reason: str, issues: Iterable[Issue], provider_id: str | None = None) -> None:
        self.reason = reason
        self.provider_id = provider_id
        super().__init__(issues)

    def _sentence(self) -> str:
        sentence = super()._sentence()
        if self.provider_id is None:
            return sentence
        return sentence.replace(self.subject, f"provider {shown(self.provider_id)}", 1)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.issues, self.provider_id)

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "reason": self.reason}


class DuplicateProviderError(WhyrouteError):
    """A provider id is already taken, under the same tenant or in the same request.

    Attributes:
        provider_id: The id that stands twice.
        tenant_id: The tenant it is registered for; None when the duplicate is within one list of providers.
        issues: Where the second one stands, when the input has places.
    """

    code = "duplicate-provider"

    def __init__(self, provider_id: str, tenant_id: str | None = None, issues: Iterable[Issue] = ()) -> None:
        self.provider_id = provider_id
        self.tenant_id = tenant_id
        self.issues: tuple[Issue, ...] = capped(issues)
        where = "twice in one list" if tenant_id is None else f"already registered for tenant {shown(tenant_id)}"
        super().__init__(f"provider {shown(provider_id)} is {where}; ids must be unique")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.provider_id, self.tenant_id, self.issues)

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {**super().to_dict(), "providerId": self.provider_id}
        if self.issues:
            found["issues"] = [{"path": i.path, "message": i.message} for i in self.issues]
        return found


@dataclass(frozen=True, slots=True)
class RejectionReason:
    """Why a constraint rejects a candidate.

    Attributes:
        code: The contract's name of the reason, such as `missing-feature`.
        message: A sentence about this value; not part of the contract.
        details: The contract's fields of that code, named as on the wire; a copy that refuses changes.
    """

    code: str
    message: str
    details: Mapping[str, Any] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "details", frozen(self.details))

    def to_dict(self) -> dict[str, Any]:
        """The reason as it goes over the wire."""
        return {
            "code": self.code,
            "message": self.message,
            # A tuple is a list of names, which may be long.
            **{key: list(value) if type(value) is tuple else thawed(value) for key, value in self.details.items()},
        }


@dataclass(frozen=True, slots=True)
class Rejection:
    """A candidate (or a provider that could not be set up) and the `reason` for which a requirement rejects it.

    Attributes:
        id: `<providerId>/<modelName>`; under `provider set up` the provider id alone.
        candidate: Its provider id and model name; None under `provider set up`.
    """

    id: str
    reason: RejectionReason
    candidate: tuple[str, str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The rejection as it goes over the wire."""
        return {"id": self.id, "reason": self.reason.to_dict()}


@dataclass(frozen=True, slots=True)
class Reason:
    """What one requirement did to the candidates, in a failed answer.

    Attributes:
        requirement: The constraint's label.
        satisfying_providers: Ids of the candidates that meet it, in input order; made when they are read.
        rejecting_providers: Those that don't, each with why, in input order; made when they are read.
        constraint: The constraint's id, as in cores; None for `provider set up`, which is no constraint.
    """

    requirement: str
    satisfying_providers: Sequence[str]
    rejecting_providers: Sequence[Rejection]
    constraint: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.satisfying_providers, list):
            object.__setattr__(self, "satisfying_providers", tuple(self.satisfying_providers))
        if isinstance(self.rejecting_providers, list):
            object.__setattr__(self, "rejecting_providers", tuple(self.rejecting_providers))

    def to_dict(self) -> dict[str, Any]:
        """The reason as it goes over the wire. Nothing in it is shared: every dictionary may be changed on its own."""
        satisfying, rejecting = self.satisfying_providers, self.rejecting_providers
        return {
            **self._names(),
            "satisfyingProviders": list(satisfying),
            "rejectingProviders": rejecting.to_wire()
            if isinstance(rejecting, WireSequence)
            else [rejection.to_dict() for rejection in rejecting],
        }

    def _names(self) -> dict[str, str]:
        """What it is called, as it goes over the wire."""
        return {"requirement": self.requirement} | ({} if self.constraint is None else {"constraint": self.constraint})

    def iter_json(self) -> Iterator[str]:
        """`to_dict` as JSON text, in pieces."""
        yield _json(self._names())[:-1]
        listed: tuple[Sequence[Any], ...] = (self.satisfying_providers, self.rejecting_providers)
        for key, items in zip(("satisfyingProviders", "rejectingProviders"), listed, strict=True):
            yield f', "{key}": '
            if isinstance(items, WireSequence):
                yield from items.iter_json()
            else:
                yield _json([each if isinstance(each, str) else each.to_dict() for each in items])
        yield "}"


def reasons_text(reasons: Iterable[Reason]) -> Iterator[str]:
    """The JSON text of a list of reasons, in pieces."""
    yield "["
    for place, reason in enumerate(reasons):
        yield from chain((", ",) if place else (), reason.iter_json())
    yield "]"


class WireSequence(Sequence[T]):
    """A sequence that is written without making its items one by one."""

    __slots__ = ()

    @abstractmethod
    def to_wire(self) -> list[Any]:
        """The items as they go over the wire."""

    @abstractmethod
    def iter_json(self) -> Iterator[str]:
        """`to_wire` as JSON text, in pieces."""


_json: Final = JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class UnsatisfiableError(WhyrouteError, Generic[E]):
    """Nothing satisfies all constraints of a request.

    Its message, reasons and explanation are computed when first read, in time that grows with the catalog.

    Attributes:
        tenant_id: The policy's tenant; None when no policy was given.
    """

    code: ClassVar[str] = "capability-unsatisfiable"

    def __init__(
        self,
        message: str | Callable[[], str],
        *,
        tenant_id: str | None = None,
        reasons: Callable[[], tuple[Reason, ...]],
        explanation: Callable[[], E],
    ) -> None:
        super().__init__()
        self._message = message
        self.tenant_id = tenant_id
        self._make_reasons = reasons
        self._make_explanation = explanation

    @property
    def message(self) -> str:
        """That nothing qualifies, and what stands in the way."""
        if not isinstance(self._message, str):
            self._message = self._message()
        return self._message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r})"

    @computed
    def reasons(self) -> tuple[Reason, ...]:
        """For each constraint that rejected a candidate by itself, as no tie does: what it admitted and rejected."""
        return self._make_reasons()

    @computed
    def explanation(self) -> E:
        """What clashes, and what would have to change."""
        return self._make_explanation()

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), self.message, self.tenant_id, self.reasons, self.explanation)

    def to_dict(self) -> dict[str, Any]:
        """The error as it goes over the wire. Nothing in it is shared: every dictionary may be changed on its own."""
        return {**self._without_reasons(), "reasons": [reason.to_dict() for reason in self.reasons]}

    def _without_reasons(self) -> dict[str, Any]:
        tenant = {} if self.tenant_id is None else {"tenantId": self.tenant_id}
        return {**super().to_dict(), **tenant}

    def to_json(self) -> str:
        return "".join(self.iter_json())

    def iter_json(self) -> Iterator[str]:
        """`to_dict` as JSON text, in pieces of at most about a megabyte: for a file or a socket.

        Costs a fraction of `to_dict`, in time and in memory: there are as many entries as candidates times constraints.
        """
        yield f'{_json(self._without_reasons())[:-1]}, "reasons": '
        yield from reasons_text(self.reasons)
        yield "}"


class CapabilityUnsatisfiableError(UnsatisfiableError["Explanation"]):
    """No candidate satisfies the capability under the policy."""


class BundleUnsatisfiableError(UnsatisfiableError["BundleExplanation"]):
    """No candidates satisfy all slots of a bundle together."""


def _unpickled(
    made: type[UnsatisfiableError[E]], message: str, tenant_id: str | None, reasons: tuple[Reason, ...], explanation: E
) -> UnsatisfiableError[E]:
    return made(message, tenant_id=tenant_id, reasons=lambda: reasons, explanation=lambda: explanation)


@dataclass(frozen=True, slots=True)
class BudgetLimit:
    """A limit of a declaration's budget.

    Attributes:
        kind: `cost` (USD), `tokens` or `duration` (milliseconds).
        value: The limit.
    """

    kind: str
    value: Number


class BudgetExceededError(WhyrouteError):
    """A call went over a limit of the declared budget. `route` enforces none; `Router.invoke` does.

    Attributes:
        limit: The limit that was exceeded.
        actual: What the call used, in the limit's unit.
        outcome: The router's `Outcome`, which is there all the same; None where no router made the call.
    """

    code = "budget-exceeded"
    outcome: Any = None

    def __init__(self, limit: BudgetLimit, actual: Number) -> None:
        self.limit = limit
        self.actual = actual
        unit = {"cost": " USD", "tokens": " tokens", "duration": " ms"}.get(limit.kind, "")
        super().__init__(
            f"the {limit.kind} budget is {ecmascript(limit.value)}{unit}, the call used {ecmascript(actual)}{unit}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.limit, self.actual)

    def to_dict(self) -> dict[str, Any]:
        limit = {"kind": self.limit.kind, "value": self.limit.value}
        return {**super().to_dict(), "limit": limit, "actual": self.actual}


class DuplicateAdapterError(WhyrouteError):
    """An adapter id is registered twice.

    Attributes:
        adapter_id: The id.
    """

    code = "duplicate-adapter"

    def __init__(self, adapter_id: str) -> None:
        self.adapter_id = adapter_id
        super().__init__(f"adapter {shown(adapter_id)} is already registered; each id is registered once, at start-up")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.adapter_id,)


class AdapterConfigError(WhyrouteError):
    """An adapter refuses a provider's registration.

    Attributes:
        adapter_id: The adapter.
        provider_id: The provider.
        path: JSON pointer into the registration, such as `/adapter_config/<key>` or `/secret_ref`.
        problem: What is wrong with that setting and what it takes.
    """

    code = "adapter-config"

    def __init__(self, adapter_id: str, provider_id: str, path: str, problem: str) -> None:
        self.adapter_id = adapter_id
        self.provider_id = provider_id
        self.path = path
        self.problem = problem
        super().__init__(f'{adapter_id}: provider "{provider_id}": {problem}')

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.adapter_id, self.provider_id, self.path, self.problem)


class NotInvocableError(WhyrouteError):
    """A provider that is known by its metadata alone was invoked.

    Attributes:
        provider_id: The provider.
    """

    code = "not-invocable"

    def __init__(self, provider_id: str) -> None:
        self.provider_id = provider_id
        super().__init__(
            f"provider {shown(provider_id)} is known by its metadata alone; register one with an `invoke` to call it"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.provider_id,)


class MissingExtraError(WhyrouteError):
    """A feature needs an optional dependency that is not installed.

    Attributes:
        extra: The extra of the `whyroute` package that brings it.
    """

    code = "missing-extra"

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra = extra
        self.purpose = purpose
        super().__init__(f"{purpose} needs the extra `{extra}`: pip install 'whyroute[{extra}]'")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.extra, self.purpose)
