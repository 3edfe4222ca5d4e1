"""The public names, each once: `import whyroute` loads a name when it is first used."""

from .adapters import (
    AdapterConfigCheckInput as AdapterConfigCheckInput,
)
from .adapters import (
    AdapterConfigProblem as AdapterConfigProblem,
)
from .adapters import (
    AdapterFactoryEntry as AdapterFactoryEntry,
)
from .adapters import (
    AdapterFactoryInput as AdapterFactoryInput,
)
from .adapters import (
    AdapterFactoryRegistry as AdapterFactoryRegistry,
)
from .adapters import (
    AdapterIdentities as AdapterIdentities,
)
from .adapters import (
    AdapterIdentitiesPresent as AdapterIdentitiesPresent,
)
from .adapters import (
    AwsCredentialClient as AwsCredentialClient,
)
from .adapters import (
    AwsCredentials as AwsCredentials,
)
from .adapters import (
    AzureTokenClient as AzureTokenClient,
)
from .adapters import (
    PrepareError as PrepareError,
)
from .adapters import (
    PrepareEvent as PrepareEvent,
)
from .adapters import (
    PrepareProgress as PrepareProgress,
)
from .adapters import (
    PrepareReady as PrepareReady,
)
from .adapters import (
    adapter_config_error as adapter_config_error,
)
from .adapters import (
    check_registration as check_registration,
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
from .calls import (
    CalledModel as CalledModel,
)
from .calls import (
    ModelCallInput as ModelCallInput,
)
from .calls import (
    ModelCallResult as ModelCallResult,
)
from .calls import (
    ModelCallWarning as ModelCallWarning,
)
from .calls import (
    ModelMessage as ModelMessage,
)
from .calls import (
    ModelToolCall as ModelToolCall,
)
from .calls import (
    ModelToolDefinition as ModelToolDefinition,
)
from .calls import (
    StructuredOutputRequest as StructuredOutputRequest,
)
from .calls import (
    UsageCounters as UsageCounters,
)
from .catalog import (
    Candidate as Candidate,
)
from .catalog import (
    Catalog as Catalog,
)
from .constraints import (
    Constraints as Constraints,
)
from .constraints import (
    NamedConstraint as NamedConstraint,
)
from .constraints import (
    Origin as Origin,
)
from .decisions import (
    Decision as Decision,
)
from .declarations import (
    Budget as Budget,
)
from .declarations import (
    Capability as Capability,
)
from .declarations import (
    ContextWindowBound as ContextWindowBound,
)
from .declarations import (
    ContextWindowNeed as ContextWindowNeed,
)
from .declarations import (
    CostBound as CostBound,
)
from .declarations import (
    CostNeed as CostNeed,
)
from .declarations import (
    FeatureNeed as FeatureNeed,
)
from .declarations import (
    LatencyBound as LatencyBound,
)
from .declarations import (
    LatencyNeed as LatencyNeed,
)
from .declarations import (
    ModelsNeed as ModelsNeed,
)
from .declarations import (
    NameLists as NameLists,
)
from .declarations import (
    Need as Need,
)
from .declarations import (
    Preference as Preference,
)
from .declarations import (
    ProvidersNeed as ProvidersNeed,
)
from .declarations import (
    RegionNeed as RegionNeed,
)
from .declarations import (
    define_capability as define_capability,
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
from .features import (
    BUILT_IN_KINDS as BUILT_IN_KINDS,
)
from .features import (
    DEFAULT_KIND as DEFAULT_KIND,
)
from .features import (
    FEATURE_DESCRIPTIONS as FEATURE_DESCRIPTIONS,
)
from .features import (
    FEATURES as FEATURES,
)
from .issues import (
    Issue as Issue,
)
from .policies import (
    TenantPolicy as TenantPolicy,
)
from .policies import (
    combine as combine,
)
from .providers import (
    DeclaredProvider as DeclaredProvider,
)
from .providers import (
    ModelCost as ModelCost,
)
from .providers import (
    ModelInfo as ModelInfo,
)
from .providers import (
    ModelProvider as ModelProvider,
)
from .providers import (
    ModelThinking as ModelThinking,
)
from .providers import (
    ProviderMetadata as ProviderMetadata,
)
from .providers import (
    SetupFailure as SetupFailure,
)
from .ranking import (
    RankedCandidates as RankedCandidates,
)
from .registry import (
    ProviderRegistry as ProviderRegistry,
)
from .registry import (
    Registry as Registry,
)
from .router import (
    explain as explain,
)
from .router import (
    match as match,
)
from .router import (
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
from .rulepack import (
    Case as Case,
)
from .rulepack import (
    CaseResult as CaseResult,
)
from .rulepack import (
    NoTestsError as NoTestsError,
)
from .rulepack import (
    Pack as Pack,
)
from .rulepack import (
    PackError as PackError,
)
from .rulepack import (
    Place as Place,
)
from .rulepack import (
    PolicyInForce as PolicyInForce,
)
from .rulepack import (
    Problem as Problem,
)
from .rulepack import (
    Resolved as Resolved,
)
from .rulepack import (
    ResolvedBundle as ResolvedBundle,
)
from .rulepack import (
    Results as Results,
)
from .rulepack import (
    UnknownBundleError as UnknownBundleError,
)
from .rulepack import (
    UnknownCapabilityError as UnknownCapabilityError,
)
from .rulepack import (
    UnknownTenantError as UnknownTenantError,
)
from .rulepack import (
    load_pack as load_pack,
)
from .rulepack import (
    run_tests as run_tests,
)
from .rulepack.checks import (
    Finding as Finding,
)
from .rulepack.checks import (
    check_pack as check_pack,
)
from .rulepack.diffing import (
    Comparison as Comparison,
)
from .rulepack.diffing import (
    compare_packs as compare_packs,
)
from .solver import (
    ENGINES as ENGINES,
)
from .solver import (
    EngineName as EngineName,
)
from .wire import (
    answer as answer,
)

__all__: list[str]
__version__: str
