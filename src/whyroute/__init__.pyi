"""The public names, each once: `import whyroute` loads a name when it is first used."""

from .basics.issues import (
    Issue as Issue,
)
from .bundles.bundle import (
    Bundle as Bundle,
    BundleLimitError as BundleLimitError,
)
from .bundles.contrast import (
    BundleContrast as BundleContrast,
)
from .bundles.explanation import (
    BundleExplanation as BundleExplanation,
)
from .bundles.ranking import (
    Alternates as Alternates,
    RankedBundle as RankedBundle,
)
from .bundles.routing import (
    explain_bundle as explain_bundle,
    route_bundle as route_bundle,
)
from .calling.invoking import (
    Attempt as Attempt,
    InvocationError as InvocationError,
    Outcome as Outcome,
)
from .calling.router import (
    Router as Router,
)
from .catalog.candidate import Candidate as Candidate
from .catalog.catalog import Catalog as Catalog
from .constraints.custom import (
    Custom as Custom,
)
from .constraints.named import (
    Constraints as Constraints,
    NamedConstraint as NamedConstraint,
    Origin as Origin,
)
from .constraints.rulebook import (
    Rulebook as Rulebook,
)
from .engine.single import (
    ENGINES as ENGINES,
    EngineName as EngineName,
)
from .errors import (
    AdapterConfigError as AdapterConfigError,
    BudgetExceededError as BudgetExceededError,
    BudgetLimit as BudgetLimit,
    BundleUnsatisfiableError as BundleUnsatisfiableError,
    CapabilityUnsatisfiableError as CapabilityUnsatisfiableError,
    DuplicateAdapterError as DuplicateAdapterError,
    DuplicateProviderError as DuplicateProviderError,
    InvalidCapabilityError as InvalidCapabilityError,
    InvalidInputError as InvalidInputError,
    InvalidPolicyError as InvalidPolicyError,
    InvalidProviderError as InvalidProviderError,
    InvalidRequestError as InvalidRequestError,
    MissingExtraError as MissingExtraError,
    NotInvocableError as NotInvocableError,
    Reason as Reason,
    Rejection as Rejection,
    RejectionReason as RejectionReason,
    WhyrouteError as WhyrouteError,
)
from .explanations import (
    Contrast as Contrast,
    Edit as Edit,
    Explanation as Explanation,
    Limits as Limits,
    NearMiss as NearMiss,
    Ranked as Ranked,
    ReasonGroup as ReasonGroup,
    Relaxation as Relaxation,
    Unknown as Unknown,
)
from .explanations.relaxations import (
    BundleRelaxation as BundleRelaxation,
)
from .model.calls import (
    CalledModel as CalledModel,
    ModelCallDelta as ModelCallDelta,
    ModelCallInput as ModelCallInput,
    ModelCallResult as ModelCallResult,
    ModelCallWarning as ModelCallWarning,
    ModelMessage as ModelMessage,
    ModelToolCall as ModelToolCall,
    ModelToolDefinition as ModelToolDefinition,
    StructuredOutputRequest as StructuredOutputRequest,
    UsageCounters as UsageCounters,
)
from .model.capability import (
    CAPABILITY_SCHEMA_URI as CAPABILITY_SCHEMA_URI,
    Budget as Budget,
    Capability as Capability,
    ComparisonOp as ComparisonOp,
    ContextWindowBound as ContextWindowBound,
    ContextWindowNeed as ContextWindowNeed,
    CostBound as CostBound,
    CostNeed as CostNeed,
    Feature as Feature,
    FeatureNeed as FeatureNeed,
    LatencyBound as LatencyBound,
    LatencyNeed as LatencyNeed,
    ModelsNeed as ModelsNeed,
    NameLists as NameLists,
    Need as Need,
    Preference as Preference,
    ProvidersNeed as ProvidersNeed,
    RegionNeed as RegionNeed,
    Requirement as Requirement,
    UpperBoundOp as UpperBoundOp,
    define_capability as define_capability,
)
from .model.features import (
    BUILT_IN_KINDS as BUILT_IN_KINDS,
    DEFAULT_KIND as DEFAULT_KIND,
    FEATURE_DESCRIPTIONS as FEATURE_DESCRIPTIONS,
    FEATURES as FEATURES,
    CapabilityKind as CapabilityKind,
)
from .model.metadata import (
    ModelCost as ModelCost,
    ModelInfo as ModelInfo,
    ModelThinking as ModelThinking,
    ProviderMetadata as ProviderMetadata,
)
from .model.policy import (
    TenantPolicy as TenantPolicy,
    combine as combine,
)
from .model.provider import (
    DeclaredProvider as DeclaredProvider,
    ModelProvider as ModelProvider,
    ProviderSetupFailure as ProviderSetupFailure,
    SetupFailure as SetupFailure,
)
from .model.rule import (
    Rule as Rule,
    Waiver as Waiver,
)
from .packs import (
    Case as Case,
    CaseResult as CaseResult,
    NoTestsError as NoTestsError,
    Pack as Pack,
    PackError as PackError,
    Place as Place,
    PolicyInForce as PolicyInForce,
    Problem as Problem,
    Resolved as Resolved,
    ResolvedBundle as ResolvedBundle,
    Results as Results,
    UnknownBundleError as UnknownBundleError,
    UnknownCapabilityError as UnknownCapabilityError,
    UnknownTenantError as UnknownTenantError,
    load_pack as load_pack,
    run_tests as run_tests,
)
from .packs.check import (
    Finding as Finding,
    check_pack as check_pack,
)
from .packs.diff import (
    Comparison as Comparison,
    compare_packs as compare_packs,
)
from .providers.adapters import (
    AdapterConfigCheckInput as AdapterConfigCheckInput,
    AdapterConfigProblem as AdapterConfigProblem,
    AdapterFactory as AdapterFactory,
    AdapterFactoryEntry as AdapterFactoryEntry,
    AdapterFactoryInput as AdapterFactoryInput,
    AdapterFactoryRegistry as AdapterFactoryRegistry,
    AdapterIdentities as AdapterIdentities,
    AdapterIdentitiesPresent as AdapterIdentitiesPresent,
    AwsCredentialClient as AwsCredentialClient,
    AwsCredentials as AwsCredentials,
    AzureTokenClient as AzureTokenClient,
    PrepareError as PrepareError,
    PrepareEvent as PrepareEvent,
    PrepareProgress as PrepareProgress,
    PrepareReady as PrepareReady,
    adapter_config_error as adapter_config_error,
    check_registration as check_registration,
)
from .providers.echo import (
    EchoProvider as EchoProvider,
)
from .providers.hydrating import (
    HydratingRegistry as HydratingRegistry,
    Registration as Registration,
)
from .providers.registry import (
    LoadsProviders as LoadsProviders,
    ProviderRegistry as ProviderRegistry,
    Registry as Registry,
)
from .routing.decision import (
    Decision as Decision,
)
from .routing.facade import (
    explain as explain,
    match as match,
    route as route,
)
from .routing.prepare import (
    Bound as Bound,
    Prepared as Prepared,
    prepare as prepare,
)
from .solving.joint import (
    JointConstraint as JointConstraint,
    SearchLimit as SearchLimit,
)
from .solving.ranking import (
    RankedCandidates as RankedCandidates,
)
from .wire.request import (
    answer as answer,
)

__all__: list[str]
__version__: str
from .basics.issues import child as child
from .model.provider import check_provider as check_provider
from .providers.importers import (
    ImportResult as ImportResult,
    import_catalog as import_catalog,
    skipped_lines as skipped_lines,
    to_yaml as to_yaml,
)
from .providers.provider_files import read_providers as read_providers
from .render.page import explanation_page as explanation_page
