"""whyroute picks the (provider, model) pair that serves a declared capability under a tenant's policy, and says why.

    import whyroute as wr

    capability = wr.define_capability({"needs": [{"feature": "tool-use"}]})
    decision = wr.route(capability, registry.list("acme"), policy=policy)
    decision.provider, decision.model, decision.reason, decision.alternates

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

__all__ = [
    "BUILT_IN_KINDS",
    "DEFAULT_KIND",
    "FEATURES",
    "FEATURE_DESCRIPTIONS",
    "AdapterConfigCheckInput",
    "AdapterConfigError",
    "AdapterConfigProblem",
    "AdapterFactoryEntry",
    "AdapterFactoryInput",
    "AdapterFactoryRegistry",
    "AdapterIdentities",
    "AdapterIdentitiesPresent",
    "AwsCredentialClient",
    "AwsCredentials",
    "AzureTokenClient",
    "Budget",
    "BudgetExceededError",
    "BudgetLimit",
    "CalledModel",
    "Candidate",
    "Capability",
    "CapabilityUnsatisfiableError",
    "Catalog",
    "ContextWindowNeed",
    "Contrast",
    "CostNeed",
    "Decision",
    "DeclaredProvider",
    "DuplicateAdapterError",
    "DuplicateProviderError",
    "Edit",
    "Explanation",
    "FeatureNeed",
    "InvalidCapabilityError",
    "InvalidPolicyError",
    "InvalidProviderError",
    "InvalidRequestError",
    "Issue",
    "LatencyNeed",
    "Limits",
    "MissingExtraError",
    "ModelCallInput",
    "ModelCallResult",
    "ModelCallWarning",
    "ModelCost",
    "ModelInfo",
    "ModelMessage",
    "ModelProvider",
    "ModelThinking",
    "ModelToolCall",
    "ModelToolDefinition",
    "ModelsNeed",
    "NamedConstraint",
    "NearMiss",
    "NotInvocableError",
    "Origin",
    "Preference",
    "PrepareError",
    "PrepareEvent",
    "PrepareProgress",
    "PrepareReady",
    "ProviderMetadata",
    "ProviderRegistry",
    "ProvidersNeed",
    "Ranked",
    "Reason",
    "ReasonGroup",
    "RegionNeed",
    "Registry",
    "Rejection",
    "RejectionReason",
    "Relaxation",
    "SetupFailure",
    "StructuredOutputRequest",
    "TenantPolicy",
    "Unknown",
    "UsageCounters",
    "WhyrouteError",
    "__version__",
    "adapter_config_error",
    "answer",
    "check_registration",
    "combine",
    "define_capability",
    "explain",
    "match",
    "route",
]

_MODULES = {
    "adapters": (
        "AdapterConfigCheckInput",
        "AdapterConfigProblem",
        "AdapterFactoryEntry",
        "AdapterFactoryInput",
        "AdapterFactoryRegistry",
        "AdapterIdentities",
        "AdapterIdentitiesPresent",
        "AwsCredentialClient",
        "AwsCredentials",
        "AzureTokenClient",
        "PrepareError",
        "PrepareEvent",
        "PrepareProgress",
        "PrepareReady",
        "adapter_config_error",
        "check_registration",
    ),
    "calls": (
        "CalledModel",
        "ModelCallInput",
        "ModelCallResult",
        "ModelCallWarning",
        "ModelMessage",
        "ModelToolCall",
        "ModelToolDefinition",
        "StructuredOutputRequest",
        "UsageCounters",
    ),
    "catalog": (
        "Candidate",
        "Catalog",
    ),
    "constraints": (
        "NamedConstraint",
        "Origin",
    ),
    "declarations": (
        "Budget",
        "Capability",
        "ContextWindowNeed",
        "CostNeed",
        "FeatureNeed",
        "LatencyNeed",
        "ModelsNeed",
        "Preference",
        "ProvidersNeed",
        "RegionNeed",
        "define_capability",
    ),
    "errors": (
        "AdapterConfigError",
        "BudgetExceededError",
        "BudgetLimit",
        "CapabilityUnsatisfiableError",
        "DuplicateAdapterError",
        "DuplicateProviderError",
        "InvalidCapabilityError",
        "InvalidPolicyError",
        "InvalidProviderError",
        "InvalidRequestError",
        "MissingExtraError",
        "NotInvocableError",
        "Reason",
        "Rejection",
        "RejectionReason",
        "WhyrouteError",
    ),
    "explanations": (
        "Contrast",
        "Edit",
        "Explanation",
        "Limits",
        "NearMiss",
        "Ranked",
        "ReasonGroup",
        "Relaxation",
        "Unknown",
    ),
    "features": (
        "BUILT_IN_KINDS",
        "DEFAULT_KIND",
        "FEATURES",
        "FEATURE_DESCRIPTIONS",
    ),
    "issues": ("Issue",),
    "policies": (
        "TenantPolicy",
        "combine",
    ),
    "providers": (
        "DeclaredProvider",
        "ModelCost",
        "ModelInfo",
        "ModelProvider",
        "ModelThinking",
        "ProviderMetadata",
        "SetupFailure",
    ),
    "registry": (
        "ProviderRegistry",
        "Registry",
    ),
    "router": (
        "explain",
        "match",
        "route",
    ),
    "wire": ("answer",),
    "decisions": ("Decision",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module `whyroute` has no attribute `{name}`")
    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
