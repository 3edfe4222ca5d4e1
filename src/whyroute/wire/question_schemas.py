"""JSON Schemas of what an answer says of its question."""

from typing import Any, Final, get_args

from ..explanations.hints import HintName, Why
from ..solving.asked import LabelSource

__all__ = ["HINTS", "QUESTION_DEFINITIONS"]

_TEXT: Final = {"type": "string"}
_NAMES: Final = {"type": "array", "items": _TEXT}
_COUNT: Final = {"type": "integer", "minimum": 0}

_ASKED: Final[dict[str, Any]] = {
    "description": "What was asked, of which tenant and under which pack, and when.",
    "type": "object",
    "required": ["labels", "at", "whyroute"],
    "additionalProperties": False,
    "properties": {
        "tenant": {**_TEXT, "description": "Whose policy held."},
        "capability": {**_TEXT, "description": "The capability's name."},
        "bundle": {**_TEXT, "description": "The name of the pack's bundle."},
        "declaration": {
            "type": "object",
            "description": "A declaration of the request's own; of a bundle, `slots` and `together`.",
        },
        "labels": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["value", "from"],
                "additionalProperties": False,
                "properties": {"value": _TEXT, "from": {"enum": list(get_args(LabelSource))}},
            },
            "description": "The labels, each with where it comes from.",
        },
        "preferredProvider": {**_TEXT, "description": "A hint."},
        "preferredModel": {**_TEXT, "description": "A hint."},
        "tokens": {
            "type": "object",
            "required": ["prompt", "completion"],
            "properties": {"prompt": _COUNT, "completion": _COUNT},
            "description": "What the call uses.",
        },
        "at": {**_TEXT, "description": "The time of the request."},
        "pack": {
            **_TEXT,
            "pattern": "^[0-9a-f]{64}$",
            "description": "SHA-256 of what the rule pack defines, as canonical JSON (RFC 8785).",
        },
        "whyroute": {**_TEXT, "description": "The version that answered."},
    },
}

_UNMET_HINT: Final[dict[str, Any]] = {
    "description": "A hint that the answer doesn't follow.",
    "type": "object",
    "required": ["hint", "value", "honoured", "why"],
    "additionalProperties": False,
    "properties": {
        "slot": {**_TEXT, "description": "Of a bundle: the slot that gave it."},
        "hint": {"enum": list(get_args(HintName))},
        "value": _TEXT,
        "honoured": {"const": False},
        "why": {"enum": list(get_args(Why))},
        "by": {**_NAMES, "description": "The constraints that reject what it names."},
        "near": {**_NAMES, "description": "Known names that are near an unknown one."},
    },
}

QUESTION_DEFINITIONS: Final = {"Asked": _ASKED, "UnmetHint": _UNMET_HINT}
"""The definitions, by name."""

HINTS: Final = {
    "type": "array",
    "items": {"$ref": "#/$defs/UnmetHint"},
    "description": "The hints that the answer doesn't follow; absent when it follows all.",
}
"""The member that lists them."""
