"""The public names, each once: `import whyroute` loads a name when it is first used."""

from .basics.issues import (
    Issue as Issue,
)
from .bundles import (
    Alternates as Alternates,
)
from .bundles import (
    Bundle as Bundle,
)
from .bundles import (
    BundleContrast as BundleContrast,
)
from .bundles import (
    BundleExplanation as BundleExplanation,
)
from .bundles import (
    BundleLimitError as BundleLimitError,
)
from .bundles import (
    BundleRelaxation as BundleRelaxation,
)
from .bundles import (
    BundleUnsatisfiableError as BundleUnsatisfiableError,
)
from .bundles import (
    JointConstraint as JointConstraint,
)
from .bundles import (
    RankedBundle as RankedBundle,
)
from .bundles import (
    SearchLimit as SearchLimit,
)
from .bundles import (
    explain_bundle as explain_bundle,
)
from .bundles import (
    route_bundle as route_bundle,
)
from .catalog.catalog import (
    Candidate as Candidate,
)
from .catalog.catalog import (
    Catalog as Catalog,
)
from .constraints.named import (
    Constraints as Constraints,
)
from .constraints.named import (
    NamedConstraint as NamedConstraint,
)
from .constraints.named import (
    Origin as Origin,
)
from .engine.single import (
    ENGINES as ENGINES,
)
from .engine.single import (
    EngineName as EngineName,
)
from .errors import (
    AdapterConfigError as AdapterConfigError,
)
from .errors import (
    BudgetExceededError as BudgetExceededError,
)
from .errors import (
    BudgetLimit as BudgetLimit,
)
from .errors import (
    CapabilityUnsatisfiableError as CapabilityUnsatisfiableError,
)
from .errors import (
    DuplicateAdapterError as DuplicateAdapterError,
)
from .errors import (
    DuplicateProviderError as DuplicateProviderError,
)
from .errors import (
    InvalidCapabilityError as InvalidCapabilityError,
)
from .errors import (
    InvalidInputError as InvalidInputError,
)
from .errors import (
    InvalidPolicyError as InvalidPolicyError,
)
from .errors import (
    InvalidProviderError as InvalidProviderError,
)
from .errors import (
    InvalidRequestError as InvalidRequestError,
)
from .errors import (
    MissingExtraError as MissingExtraError,
)
from .errors import (
    NotInvocableError as NotInvocableError,
)
from .errors import (
    Reason as Reason,
)
from .errors import (
    Rejection as Rejection,
)
from .errors import (
    RejectionReason as RejectionReason,
)
from .errors import (
    WhyrouteError as WhyrouteError,
)
from .explanations import (
    Contrast as Contrast,
)
from .explanations import (
    Edit as Edit,
)
from .explanations import (
    Explanation as Explanation,
)
from .explanations import (
    Limits as Limits,
)
from .explanations import (
    NearMiss as NearMiss,
)
from .explanations import (
    Ranked as Ranked,
)
from .explanations import (
    ReasonGroup as ReasonGroup,
)
from .explanations import (
    Relaxation as Relaxation,
)
from .explanations import (
    Unknown as Unknown,
)
from .model.calls import (
    CalledModel as CalledModel,
)
from .model.calls import (
    ModelCallInput as ModelCallInput,
)
from .model.calls import (
    ModelCallResult as ModelCallResult,
)
from .model.calls import (
    ModelCallWarning as ModelCallWarning,
)
from .model.calls import (
    ModelMessage as ModelMessage,
)
from .model.calls import (
    ModelToolCall as ModelToolCall,
)
from .model.calls import (
    ModelToolDefinition as ModelToolDefinition,
)
from .model.calls import (
    StructuredOutputRequest as StructuredOutputRequest,
)
from .model.calls import (
    UsageCounters as UsageCounters,
)
from .model.capability import (
    Budget as Budget,
)
from .model.capability import (
    Capability as Capability,
)
from .model.capability import (
    ContextWindowBound as ContextWindowBound,
)
from .model.capability import (
    ContextWindowNeed as ContextWindowNeed,
)
from .model.capability import (
    CostBound as CostBound,
)
from .model.capability import (
    CostNeed as CostNeed,
)
from .model.capability import (
    FeatureNeed as FeatureNeed,
)
from .model.capability import (
    LatencyBound as LatencyBound,
)
from .model.capability import (
    LatencyNeed as LatencyNeed,
)
from .model.capability import (
    ModelsNeed as ModelsNeed,
)
from .model.capability import (
    NameLists as NameLists,
)
from .model.capability import (
    Need as Need,
)
from .model.capability import (
    Preference as Preference,
)
from .model.capability import (
    ProvidersNeed as ProvidersNeed,
)
from .model.capability import (
    RegionNeed as RegionNeed,
)
from .model.capability import (
    define_capability as define_capability,
)
from .model.features import (
    BUILT_IN_KINDS as BUILT_IN_KINDS,
)
from .model.features import (
    DEFAULT_KIND as DEFAULT_KIND,
)
from .model.features import (
    FEATURE_DESCRIPTIONS as FEATURE_DESCRIPTIONS,
)
from .model.features import (
    FEATURES as FEATURES,
)
from .model.policy import (
    TenantPolicy as TenantPolicy,
)
from .model.policy import (
    combine as combine,
)
from .model.provider import (
    DeclaredProvider as DeclaredProvider,
)
from .model.provider import (
    ModelCost as ModelCost,
)
from .model.provider import (
    ModelInfo as ModelInfo,
)
from .model.provider import (
    ModelProvider as ModelProvider,
)
from .model.provider import (
    ModelThinking as ModelThinking,
)
from .model.provider import (
    ProviderMetadata as ProviderMetadata,
)
from .model.provider import (
    SetupFailure as SetupFailure,
)
from .packs import (
    Case as Case,
)
from .packs import (
    CaseResult as CaseResult,
)
from .packs import (
    NoTestsError as NoTestsError,
)
from .packs import (
    Pack as Pack,
)
from .packs import (
    PackError as PackError,
)
from .packs import (
    Place as Place,
)
from .packs import (
    PolicyInForce as PolicyInForce,
)
from .packs import (
    Problem as Problem,
)
from .packs import (
    Resolved as Resolved,
)
from .packs import (
    ResolvedBundle as ResolvedBundle,
)
from .packs import (
    Results as Results,
)
from .packs import (
    UnknownBundleError as UnknownBundleError,
)
from .packs import (
    UnknownCapabilityError as UnknownCapabilityError,
)
from .packs import (
    UnknownTenantError as UnknownTenantError,
)
from .packs import (
    load_pack as load_pack,
)
from .packs import (
    run_tests as run_tests,
)
from .packs.check import (
    Finding as Finding,
)
from .packs.check import (
    check_pack as check_pack,
)
from .packs.diff import (
    Comparison as Comparison,
)
from .packs.diff import (
    compare_packs as compare_packs,
)
from .providers.adapters import (
    AdapterConfigCheckInput as AdapterConfigCheckInput,
)
from .providers.adapters import (
    AdapterConfigProblem as AdapterConfigProblem,
)
from .providers.adapters import (
    AdapterFactoryEntry as AdapterFactoryEntry,
)
from .providers.adapters import (
    AdapterFactoryInput as AdapterFactoryInput,
)
from .providers.adapters import (
    AdapterFactoryRegistry as AdapterFactoryRegistry,
)
from .providers.adapters import (
    AdapterIdentities as AdapterIdentities,
)
from .providers.adapters import (
    AdapterIdentitiesPresent as AdapterIdentitiesPresent,
)
from .providers.adapters import (
    AwsCredentialClient as AwsCredentialClient,
)
from .providers.adapters import (
    AwsCredentials as AwsCredentials,
)
from .providers.adapters import (
    AzureTokenClient as AzureTokenClient,
)
from .providers.adapters import (
    PrepareError as PrepareError,
)
from .providers.adapters import (
    PrepareEvent as PrepareEvent,
)
from .providers.adapters import (
    PrepareProgress as PrepareProgress,
)
from .providers.adapters import (
    PrepareReady as PrepareReady,
)
from .providers.adapters import (
    adapter_config_error as adapter_config_error,
)
from .providers.adapters import (
    check_registration as check_registration,
)
from .providers.registry import (
    ProviderRegistry as ProviderRegistry,
)
from .providers.registry import (
    Registry as Registry,
)
from .routing.decision import (
    Decision as Decision,
)
from .routing.facade import (
    explain as explain,
)
from .routing.facade import (
    match as match,
)
from .routing.facade import (
    route as route,
)
from .routing.prepare import (
    Bound as Bound,
)
from .routing.prepare import (
    Prepared as Prepared,
)
from .routing.prepare import (
    prepare as prepare,
)
from .solving.ranking import (
    RankedCandidates as RankedCandidates,
)
from .wire.request import (
    answer as answer,
)

__all__: list[str]
__version__: str
