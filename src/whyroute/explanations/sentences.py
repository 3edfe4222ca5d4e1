"""Sentences about an explanation that more than one rendering tells: without markup, not yet made printable."""

from ..numbers import ecmascript
from .contrast import Contrast
from .explanation import Explanation
from .words import counted

__all__ = ["outranked_clause", "qualifying_clause", "redundant_clause", "score_clause", "tenant_of"]

_TIES = {
    "fallback": "regular candidates come before fallbacks",
    "hint": "it matches the hint and the next does not",
    "score": "its score is higher",
    "order": "a preference orders it first",
    "provider": "the order of provider ids decides",
    "defaultModel": "it is the provider's default model",
    "model": "the order of model names decides",
}


def tenant_of(explanation: Explanation) -> str | None:
    """The tenant whose policy applies, if there is one."""
    return None if explanation.solved.policy is None else explanation.solved.policy.tenant_id


def qualifying_clause(explanation: Explanation) -> str:
    """`61 of 189 candidates qualify`."""
    count = explanation.survivors.bit_count()
    return f"{count} of {counted(explanation.catalog.size)} qualif{'ies' if count == 1 else 'y'}"


def score_clause(explanation: Explanation) -> str | None:
    """How the pick's score compares with the next one's; None when there is no next one."""
    if explanation.margin is None:
        return None
    than = f"{ecmascript(explanation.margin)} more than the next"
    tie = f"as the next does: {_TIES[explanation.decided_by or 'model']}"
    return f"scores {ecmascript(explanation.ranking[0].score)}, {than if explanation.margin else tie}"


def redundant_clause(explanation: Explanation) -> str:
    """What the redundant constraints, named before it, do."""
    verb = "rejects" if len(explanation.redundant) == 1 else "reject"
    return f"{verb} nobody that the others don't"


def outranked_clause(contrast: Contrast) -> str | None:
    """What puts the pick before a candidate that qualifies too; None when it is the pick or does not qualify."""
    match contrast.decided_by:
        case None:
            return None
        case "fallback":
            return "it is a fallback, and regular candidates qualify"
        case "hint":
            return "the pick matches the hint and it does not"
        case "score":
            pick, other = ecmascript(contrast.pick_score or 0), ecmascript(contrast.score or 0)
            return f"the pick scores more, {pick} against {other}"
        case "order":
            return "a preference orders the pick first"
        case "provider":
            return "the scores tie, and the pick's provider id comes first"
        case "defaultModel":
            return "the scores tie, and the pick is the provider's default model"
        case "model":
            return "the scores tie, and the pick's model name comes first"
