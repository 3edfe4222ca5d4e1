"""What a constraint compares: one class per kind of comparison.

A term looks at one value of a candidate. It knows the candidates it admits in two independent ways: as a set, from
the catalog's index, and one by one, from the metadata. The engines use one or the other.
"""

import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from ..basics.issues import quoted, shown
from ..basics.numbers import Number, ecmascript
from ..catalog.catalog import Catalog
from ..errors import RejectionReason
from ..model.metadata import ModelInfo, ProviderMetadata

__all__ = [
    "ContextWindowTerm",
    "FeatureTerm",
    "KindTerm",
    "LatencyTerm",
    "ListTerm",
    "NumberReason",
    "NumberTerm",
    "PriceTerm",
    "RegionListTerm",
    "RegionTerm",
    "Term",
]

COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "=": operator.eq,
    "<=": operator.le,
    "<": operator.lt,
}

# Read at C speed, where many candidates are looked at.
_KIND: Final = operator.attrgetter("capability_kind")
_REGION: Final = operator.attrgetter("region")
_ID: Final = operator.attrgetter("id")
_NAME: Final = operator.attrgetter("name")
_CONTEXT_WINDOW: Final = operator.attrgetter("context_window")
_PROMPT_PRICE: Final = operator.attrgetter("cost.prompt_usd_per_1k_tokens")
_P95_LATENCY: Final = operator.attrgetter("p95_latency_ms")


class Term(Protocol):
    """A comparison: the candidates it admits, and why it rejects one.

    Equal terms are interchangeable, and have equal hashes: they admit the same candidates of a catalog.
    """

    @property
    def label(self) -> str:
        """The contract's text for it."""
        ...

    def admitted(self, catalog: Catalog) -> int:
        """The set of candidates it admits, from the catalog's index."""
        ...

    def observe(self, provider: ProviderMetadata, model: ModelInfo) -> Hashable:
        """The value of a candidate that it looks at."""
        ...

    def observe_all(self, providers: Iterable[ProviderMetadata], models: Iterable[ModelInfo]) -> Iterator[Hashable]:
        """`observe` for many candidates at once."""
        ...

    def accepts(self, observed: Any) -> bool:
        """Whether a candidate with this value passes."""
        ...

    def reason(self, observed: Any) -> RejectionReason:
        """Why a candidate with this value does not pass."""
        ...


@dataclass(frozen=True, slots=True)
class NumberReason:
    """A reason that only an observed number tells from candidate to candidate, so that the rest is made once.

    Attributes:
        code: The reason's code.
        before: Its message up to the number.
        after: The rest of the message.
        field: The detail that is the number; it comes first.
        details: The other details.
    """

    code: str
    before: str
    after: str
    field: str
    details: Mapping[str, Any]

    def about(self, observed: Number) -> RejectionReason:
        """The reason for one number."""
        message = f"{self.before}{ecmascript(observed)}{self.after}"
        return RejectionReason(self.code, message, {self.field: observed, **self.details})


@dataclass(frozen=True, slots=True)
class KindTerm:
    """The provider's kind equals the one asked for."""

    wanted: str

    @property
    def label(self) -> str:
        return f"capability.kind = {self.wanted}"

    def admitted(self, catalog: Catalog) -> int:
        return catalog.of_kind(self.wanted)

    def observe(self, provider: ProviderMetadata, model: ModelInfo) -> str:
        return provider.capability_kind

    def observe_all(self, providers: Iterable[ProviderMetadata], models: Iterable[ModelInfo]) -> Iterator[str]:
        return map(_KIND, providers)

    def accepts(self, observed: str) -> bool:
        return observed == self.wanted

    def reason(self, observed: str) -> RejectionReason:
        message = f"serves {shown(observed)}, not {shown(self.wanted)}"
        return RejectionReason("capability-kind-mismatch", message, {"observed": observed, "wanted": self.wanted})


@dataclass(frozen=True, slots=True)
class FeatureTerm:
    """The model has a feature."""

    feature: str

    @property
    def label(self) -> str:
        return f"feature:{self.feature}"

    def admitted(self, catalog: Catalog) -> int:
        return catalog.with_feature(self.feature)

    def observe(self, provider: ProviderMetadata, model: ModelInfo) -> bool:
        return self.feature in model.features

    def observe_all(self, providers: Iterable[ProviderMetadata], models: Iterable[ModelInfo]) -> Iterator[bool]:
        return (self.feature in model.features for model in models)

    def accepts(self, observed: bool) -> bool:
        return observed

    def reason(self, observed: bool) -> RejectionReason:
        return RejectionReason("missing-feature", f"has no {shown(self.feature)}", {"feature": self.feature})


@dataclass(frozen=True, slots=True)
class ContextWindowTerm:
    """The context window meets a bound; for a need, and for the policy's floor."""

    op: str
    wanted: Number
    floor: bool = False

    @property
    def label(self) -> str:
        if self.floor:
            return f"tenant.maxTokensPerCall<={ecmascript(self.wanted)}"
        return f"contextWindow{self.op}{ecmascript(self.wanted)}"

    def admitted(self, catalog: Catalog) -> int:
        return catalog.context_window.meets(self.op, self.wanted)

    def observe(self, provider: ProviderMetadata, model: ModelInfo) -> Number:
        return model.context_window

    def observe_all(self, providers: Iterable[ProviderMetadata], models: Iterable[ModelInfo]) -> Iterator[Number]:
        return map(_CONTEXT_WINDOW, models)

    def accepts(self, observed: Number) -> bool:
        return COMPARE[self.op](observed, self.wanted)

    def reason(self, observed: Number) -> RejectionReason:
        return self.number_reason().about(observed)

    def number_reason(self) -> NumberReason:
        after = f" tokens; {self.op} {ecmascript(self.wanted)} is asked for"
        details = {"op": self.op, "wanted": self.wanted}
        return NumberReason("context-window-mismatch", "its context window is ", after, "observed", details)


@dataclass(frozen=True, slots=True)
class PriceTerm:
    """The prompt price per 1,000 tokens meets a bound; for a need, and for the policy's cap."""

    op: str
    wanted: Number
    cap: bool = False

    @property
    def label(self) -> str:
        if self.cap:
            return f"tenant.maxCostPerCallUsd<={ecmascript(self.wanted)}"
        return f"costPerCall{self.op}${ecmascript(self.wanted)}"

    def admitted(self, catalog: Catalog) -> int:
        return catalog.prompt_price.meets(self.op, self.wanted)

    def observe(self, provider: ProviderMetadata, model: ModelInfo) -> Number:
        return model.cost.prompt_usd_per_1k_tokens

    def observe_all(self, providers: Iterable[ProviderMetadata], models: Iterable[ModelInfo]) -> Iterator[Number]:
        return map(_PROMPT_PRICE, models)

    def accepts(self, observed: Number) -> bool:
        return COMPARE[self.op](observed, self.wanted)

    def reason(self, observed: Number) -> RejectionReason:
        return self.number_reason().about(observed)

    def number_reason(self) -> NumberReason:
        before, wanted = "its prompt price is $", ecmascript(self.wanted)
        if self.cap:
            after = f" per 1K tokens; the tenant's cap is ${wanted}"
            return NumberReason("tenant-cost-cap-exceeded", before, after, "observedUsd", {"capUsd": self.wanted})
        after = f" per 1K tokens; {self.op} ${wanted} is asked for"
        details = {"op": self.op, "wantedUsd": self.wanted}
        return NumberReason("cost-exceeds-cap", before, after, "observedUsdPer1k", details)


@dataclass(frozen=True, slots=True)
class RegionTerm:
    """The provider is in the region asked for, or in one that it stands for.

    Attributes:
        wanted: The region or group of regions.
        names: The regions that it stands for, itself among them.
    """

    wanted: str
    names: Sequence[str] | None = None

    @property
    def label(self) -> str:
        return f"region={self.wanted}"

    def admitted(self, catalog: Catalog) -> int:
        return catalog.in_region(self.wanted) if self.names is None else catalog.in_any_region(self.names)

    def observe(self, provider: ProviderMetadata, model: ModelInfo) -> str:
        return provider.region

    def observe_all(self, providers: Iterable[ProviderMetadata], models: Iterable[ModelInfo]) -> Iterator[str]:
        return map(_REGION, providers)

    def accepts(self, observed: str) -> bool:
        return observed == self.wanted if self.names is None else observed in self.names

    def reason(self, observed: str) -> RejectionReason:
        message = f"is in {shown(observed)}, not in {shown(self.wanted)}"
        return RejectionReason("region-mismatch", message, {"observed": observed, "wanted": self.wanted})


@dataclass(frozen=True, slots=True)
class LatencyTerm:
    """The 95th percentile latency is known and meets a bound."""

    op: str
    wanted: Number

    @property
    def label(self) -> str:
        return f"p95LatencyMs{self.op}{ecmascript(self.wanted)}"

    def admitted(self, catalog: Catalog) -> int:
        return catalog.p95_latency.meets(self.op, self.wanted)

    def observe(self, provider: ProviderMetadata, model: ModelInfo) -> Number | None:
        return model.p95_latency_ms

    def observe_all(
        self, providers: Iterable[ProviderMetadata], models: Iterable[ModelInfo]
    ) -> Iterator[Number | None]:
        return map(_P95_LATENCY, models)

    def accepts(self, observed: Number | None) -> bool:
        return observed is not None and COMPARE[self.op](observed, self.wanted)

    def reason(self, observed: Number | None) -> RejectionReason:
        if observed is None:
            return RejectionReason("p95-latency-unknown", "its p95 latency is not known")
        return self.number_reason().about(observed)

    def number_reason(self) -> NumberReason:
        after = f" ms; {self.op} {ecmascript(self.wanted)} ms is asked for"
        details = {"op": self.op, "wantedMs": self.wanted}
        return NumberReason("p95-latency-exceeds", "its p95 latency is ", after, "observedMs", details)


@dataclass(frozen=True, slots=True)
class ListTerm:
    """A provider id or a model name passes an allow and a deny list.

    Attributes:
        subject: `providers` or `models`.
        allow: Names that pass; absent: all do. An empty list lets none pass.
        deny: Names that do not, whatever `allow` says; absent: none.
        clause: `allow` or `deny` for the policy's clause of that name; absent for a need.
    """

    subject: str
    allow: Sequence[str] | None
    deny: Sequence[str] | None
    clause: str | None = None
    _found: dict[str, frozenset[str]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def label(self) -> str:
        if self.clause is not None:
            return f"tenant.{self.subject}.{self.clause}[{','.join((*(self.allow or ()), *(self.deny or ())))}]"
        return f"{self.subject}{{allow:[{','.join(self.allow or ())}]deny:[{','.join(self.deny or ())}]}}"

    def admitted(self, catalog: Catalog) -> int:
        named = catalog.of_provider if self.subject == "providers" else catalog.of_model
        if self.allow is None:
            found = catalog.all()
        else:
            found = 0
            for name in self.allow:
                found |= named(name)
        if self.deny:
            denied = 0
            for name in self.deny:
                denied |= named(name)
            found &= ~denied
        return found

    def observe(self, provider: ProviderMetadata, model: ModelInfo) -> str:
        return provider.id if self.subject == "providers" else model.name

    def observe_all(self, providers: Iterable[ProviderMetadata], models: Iterable[ModelInfo]) -> Iterator[str]:
        return map(_ID, providers) if self.subject == "providers" else map(_NAME, models)

    def accepts(self, observed: str) -> bool:
        if self.deny is not None and observed in self._names("deny", self.deny):
            return False
        return self.allow is None or observed in self._names("allow", self.allow)

    def _names(self, which: str, names: Sequence[str]) -> frozenset[str]:
        """A list as a set, made when a candidate is first looked at: most routes look at none."""
        found = self._found.get(which)
        if found is None:
            found = self._found[which] = frozenset(names)
        return found

    def reason(self, observed: str) -> RejectionReason:
        denied = self.deny is not None and observed in self._names("deny", self.deny)
        one, key = ("provider", "providerId") if self.subject == "providers" else ("model", "modelName")
        details: dict[str, Any] = {key: observed}
        whose = "" if self.clause is None else "the tenant's "
        if denied:
            message = f"{one} {shown(observed)} is on {whose or 'the '}deny list"
        elif self.allow:
            message = f"{one} {shown(observed)} is not on {whose or 'the '}allow list"
        else:
            message = f"{whose or 'the '}allow list of {self.subject} is empty: it lets none pass"
        if self.clause is not None:
            kind = "" if one == "provider" else "model-"
            code = f"tenant-{kind}denied" if denied else f"tenant-{kind}not-allowed"
        elif denied:
            code = f"{one}-on-denylist"
        else:
            code = f"{one}-not-in-allowlist"
            details["allow"] = self.allow or ()
        return RejectionReason(code, message, details)


@dataclass(frozen=True, slots=True)
class RegionListTerm:
    """The provider is in one of the regions that the policy allows, or in one that they stand for.

    Attributes:
        allow: The regions and groups of regions.
        names: The regions that they stand for, themselves among them.
    """

    allow: Sequence[str]
    names: Sequence[str] | None = None
    _found: list[frozenset[str]] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def label(self) -> str:
        return f"tenant.regionAllow[{','.join(self.allow)}]"

    def admitted(self, catalog: Catalog) -> int:
        return catalog.in_any_region(self.allow if self.names is None else self.names)

    def observe(self, provider: ProviderMetadata, model: ModelInfo) -> str:
        return provider.region

    def observe_all(self, providers: Iterable[ProviderMetadata], models: Iterable[ModelInfo]) -> Iterator[str]:
        return map(_REGION, providers)

    def accepts(self, observed: str) -> bool:
        if not self._found:
            self._found.append(frozenset(self.allow if self.names is None else self.names))
        return observed in self._found[0]

    def reason(self, observed: str) -> RejectionReason:
        names = quoted(self.allow, limit=5) or "no region"
        message = f"is in {shown(observed)}; the tenant allows {names}"
        return RejectionReason("tenant-region-not-allowed", message, {"observed": observed, "allow": self.allow})


NumberTerm = ContextWindowTerm | PriceTerm | LatencyTerm
"""A comparison of a number, whose reasons differ in that number alone; where it is unknown, None is observed."""
