"""Types of the public names; `__init__.py` loads them when they are first used."""

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
    PrepareProgress as PrepareProgress,
)
from .adapters import (
    PrepareReady as PrepareReady,
)
from .adapters import (
    adapter_config_error as adapter_config_error,
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
    NamedConstraint as NamedConstraint,
)
from .constraints import (
    Origin as Origin,
)
from .declarations import (
    Budget as Budget,
)
from .declarations import (
    Capability as Capability,
)
from .declarations import (
    ContextWindowNeed as ContextWindowNeed,
)
from .declarations import (
    CostNeed as CostNeed,
)
from .declarations import (
    FeatureNeed as FeatureNeed,
)
from .declarations import (
    LatencyNeed as LatencyNeed,
)
from .declarations import (
    ModelsNeed as ModelsNeed,
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
    Explanation as Explanation,
)
from .explanations import (
    NearMiss as NearMiss,
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
from .registry import (
    ProviderRegistry as ProviderRegistry,
)
from .registry import (
    Registry as Registry,
)
from .router import (
    Decision as Decision,
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
from .wire import (
    answer as answer,
)

__version__: str
