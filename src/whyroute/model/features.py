"""The closed feature set, with what each feature promises, and the well-known kinds."""

from types import MappingProxyType
from typing import Final

__all__ = [
    "BUILT_IN_KINDS",
    "DEFAULT_KIND",
    "FEATURES",
    "FEATURE_DESCRIPTIONS",
    "UNSPECIFIED_REGION",
    "CapabilityKind",
]

FEATURE_DESCRIPTIONS: Final = MappingProxyType(
    {
        "structured-output": "Keeps to a JSON schema that the caller hands over, instead of answering in free text.",
        "vision": "Takes images as input.",
        "audio-input": "Takes audio as input.",
        "audio-output": "Answers with audio.",
        "tool-use": "Asks for tools to be called and goes on from their results.",
        "parallel-tool-use": "Asks for more than one tool call in a single turn.",
        "thinking": "Reasons in a step of its own before the answer.",
        "long-context": "Works on inputs that need a large context window.",
        "code-execution": "Runs code in a sandbox that the provider hosts.",
        "web-search": "Looks things up on the web through the provider.",
        "file-search": "Searches files through the provider's own retrieval.",
        "streaming": "Sends the answer piece by piece while it is written.",
        "batch": "Takes many requests at once, answered later at a lower price.",
    }
)
"""What each feature promises, in one sentence."""

FEATURES: Final = tuple(FEATURE_DESCRIPTIONS)
"""The closed set of features a need may ask for."""

CapabilityKind = str
"""The kind of a capability or a provider: any text, matched by equality."""

DEFAULT_KIND: Final = "llm-inference"
"""The kind that an absent kind means, in a declaration and in a provider's metadata."""

BUILT_IN_KINDS: Final = (DEFAULT_KIND, "embedding", "gpu-compute", "sandbox-exec", "browser-session")
"""The well-known kinds; kinds are open, and match by equality."""

UNSPECIFIED_REGION: Final = "unspecified"
"""The region of a provider that is not bound to one: an unknown fact."""
