"""What people write in a pack: its sections, as they are read from the files."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from ...basics.issues import did_you_mean, quoted, shown
from ...constraints.three_valued import Call
from ...documents.fields import Count, Names, OrAbsent, WireModel, expected
from ...model.capability import Capability
from ...model.metadata import ProviderMetadata
from ...model.policy import Clauses

__all__ = [
    "BundleEntry",
    "CapabilityEntry",
    "Descriptor",
    "Expectation",
    "LabelDeclaration",
    "PackProvider",
    "PackTest",
    "PolicyPart",
    "RejectedCandidate",
    "Tenant",
    "TestCandidate",
    "Tokens",
    "no_label",
    "no_value",
]

Name = Annotated[str, StringConstraints(min_length=1)]


class LabelDeclaration(WireModel):
    """What a request may say of itself under one key."""

    values: Names = Field(description="the values it may have; case counts", json_schema_extra={"minItems": 1})
    default: OrAbsent[str] = Field(
        default=None,
        description="the value of a request that names none; without it such a request leaves the label unknown, "
        "and a rule that asks for it applies its require and forbid, not its prefer",
    )
    set_by: OrAbsent[Literal["operator"]] = Field(
        default=None,
        alias="from",
        description="`operator`: the operator of the service sets it (`--label`); a request that names it is refused",
    )


def no_label(key: str, known: Collection[str]) -> str:
    """That a request has no label under a key."""
    listed = f"; the labels are {quoted(known)}" if known else "; the pack declares none"
    return f"{shown(key)} is no label of a request{did_you_mean(key, known) or listed}"


def no_value(key: str, value: Any, values: Collection[str]) -> str:
    """That a label has no such value."""
    near = did_you_mean(value, values) or f"; its values are {quoted(values)}"
    return f"{shown(value)} is no value of label {shown(key)}{near}"


class Tokens(WireModel):
    """What a typical call uses, for `callUsd`."""

    prompt: Count = Field(description="tokens of the prompt")
    completion: Count = Field(description="tokens of the answer")

    @property
    def call(self) -> Call:
        """The call, for conditions over what it costs."""
        return Call.of(self.prompt, self.completion)


class CapabilityEntry(Capability):
    """A capability declaration with a name, for requests, rules and tests to refer to."""

    name: Name = Field(description="what requests, rules and tests call it; not `all`, which means every one")
    labels: Mapping[str, str] = Field(
        default_factory=dict, description="labels that every request for it has; one that says otherwise is invalid"
    )
    tokens: OrAbsent[Tokens] = Field(default=None, description="what a typical call uses; `callUsd` is its price")

    @property
    def call(self) -> Call | None:
        """A typical call, where it says what that uses."""
        return None if self.tokens is None else self.tokens.call


class BundleSlot(WireModel):
    """One capability of a bundle."""

    capability: str | dict[str, Any] = Field(description="the name of a capability of the pack, or a declaration")
    preferred_provider: OrAbsent[str] = Field(default=None, description="a hint: this provider's candidates come first")
    preferred_model: OrAbsent[str] = Field(default=None, description="a hint: candidates of this model name come first")
    labels: Mapping[str, str] = Field(default_factory=dict, description="what the request says of itself, in this slot")


class BundleEntry(WireModel):
    """Several capabilities that are routed together, with a name."""

    name: Name = Field(description="what `whyroute bundle` and tests call it")
    slots: dict[str, BundleSlot] = Field(
        description="the capabilities, by the names of their slots", json_schema_extra={"minProperties": 1}
    )
    together: tuple[dict[str, Any], ...] = Field(default=(), description="what ties the slots")


class Descriptor(WireModel):
    """A feature or a kind beyond the built-in ones, for the service's list of capabilities."""

    id: Name = Field(description="what the list calls it; built-in ones are `feature:<feature>`")
    feature: Name = Field(description="the feature, as models list it")
    description: str = Field(description="what it promises, in one sentence")
    kind: OrAbsent[Name] = Field(default=None, description="the kind of capability; absent: llm-inference")
    params_schema: OrAbsent[Mapping[str, Any]] = Field(
        default=None, description="a JSON Schema of the parameters that go with the feature"
    )


class _Part(WireModel):
    name: Name = Field(description="what `extends` and `everyTenant` call it")
    owner: OrAbsent[str] = Field(default=None, description="the contact for questions about it")
    extends: Names = Field(default=(), description="parts that it adds to; the combination is never looser than a part")
    rules: Names = Field(default=(), description="names of rules that hold wherever this part does")


class PolicyPart(Clauses, _Part):  # in this order, the name comes before the clauses
    """A part of policies, for tenants and other parts to extend."""


class _Tenant(WireModel):
    tenant_id: Name = Field(description="whose policy it is; not `all`, which means every one")
    extends: Names = Field(default=(), description="policies that hold for it, beside those of `everyTenant`")
    rules: Names = Field(default=(), description="names of rules that hold for it")


class Tenant(Clauses, _Tenant):
    """A tenant, and the policy that its routes meet."""


class PackProvider(WireModel):
    """A provider of the pack, and who may see it."""

    metadata: ProviderMetadata
    only_tenants: tuple[str, ...] | None = None

    def visible_to(self, tenant: str) -> bool:
        """Whether a tenant sees it: everyone does, unless it is kept for some."""
        return self.only_tenants is None or tenant in self.only_tenants


class TestCandidate(WireModel):
    """A candidate, by its names."""

    __test__ = False  # pytest takes classes of this name for its own

    provider: str = Field(description="the provider's id")
    model: str = Field(description="the model's name, without the provider's id")


class RejectedCandidate(TestCandidate):
    """A candidate that must be rejected."""

    by: OrAbsent[Names] = Field(default=None, description="by exactly these constraints, such as `rules/<name>`")


def _candidates(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise expected("a list of candidates is expected", "")
    return value


class Expectation(WireModel):
    """What a test expects. Every key that is given must hold."""

    pick: OrAbsent[TestCandidate] = Field(default=None, description="the candidate that is picked")
    picks: OrAbsent[dict[str, TestCandidate]] = Field(
        default=None, description="of a bundle: the candidates that are picked, by the names of slots"
    )
    fallback: OrAbsent[Annotated[bool, Field(strict=True)]] = Field(
        default=None, description="whether only fallback providers qualify"
    )
    every: OrAbsent[dict[str, Any]] = Field(default=None, description="a condition that every admitted candidate meets")
    admitted: OrAbsent[Annotated[tuple[TestCandidate, ...], BeforeValidator(_candidates)]] = Field(
        default=None, description="exactly these candidates qualify"
    )
    rejected: OrAbsent[Annotated[tuple[RejectedCandidate, ...], BeforeValidator(_candidates)]] = Field(
        default=None, description="these candidates do not qualify"
    )
    unsatisfiable: OrAbsent[Annotated[bool, Field(strict=True)]] = Field(
        default=None, description="whether nothing qualifies"
    )
    core: OrAbsent[Names] = Field(default=None, description="one of the cores is exactly this")


class PackTest(WireModel):
    """A test of the pack: what a request of a tenant must come to."""

    name: Name = Field(description="what it shows, in a few words")
    tenant: str | tuple[str, ...] = Field(description="a tenant, a list of them, or `all`")
    capability: OrAbsent[str | tuple[str, ...] | dict[str, Any]] = Field(
        default=None, description="the name of a capability, a list of them, `all`, or a declaration"
    )
    bundle: OrAbsent[str] = Field(default=None, description="the name of a bundle, instead of `capability`")
    labels: Mapping[str, str] = Field(default_factory=dict, description="what the request says of itself")
    at: OrAbsent[str] = Field(
        default=None, description="the time of the request: a date, or a date and time with its zone; default: now"
    )
    providers: OrAbsent[tuple[ProviderMetadata, ...]] = Field(
        default=None, description="this test's own catalog instead of the pack's"
    )
    expect: Expectation = Field(description="at least one of its keys")
