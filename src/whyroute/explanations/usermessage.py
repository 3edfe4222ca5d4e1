"""One paragraph for the end user of a product built on whyroute: no provider, price, rule or constraint names."""

from collections.abc import Sequence

from ..constraints.named import NamedConstraint
from ..constraints.terms import (
    ContextWindowTerm,
    FeatureTerm,
    KindTerm,
    LatencyTerm,
    ListTerm,
    PriceTerm,
    RegionListTerm,
    RegionTerm,
    Term,
)
from ..documents.phrases import joined

__all__ = ["user_message"]

_CAN = {
    "structured-output": "answer in the exact format this task asks for",
    "vision": "look at images",
    "audio-input": "listen to audio",
    "audio-output": "answer with audio",
    "tool-use": "use tools",
    "parallel-tool-use": "use several tools at once",
    "thinking": "think a question through before answering",
    "long-context": "work on very long texts",
    "code-execution": "run code",
    "web-search": "search the web",
    "file-search": "search through files",
    "streaming": "show the answer while it is being written",
    "batch": "work through many requests at once",
}
_WITHOUT = {
    "vision": "try it without images",
    "audio-input": "try it with text instead of audio",
    "audio-output": "ask for a written answer",
    "web-search": "try it without a web search",
    "file-search": "paste the text in instead of attaching files",
    "code-execution": "try it without running code",
    "long-context": "try a shorter text",
    "thinking": "try a simpler question",
}
_RULED = "be used for this task under your organisation's rules"
_AT_LEAST = (">=", ">")
_AT_MOST = ("<=", "<")
_ADMINISTRATOR = "ask the administrator of this service, who can see the details and change what is allowed"


def user_message(cores: Sequence[Sequence[NamedConstraint]], *, setup_failed: bool) -> str:
    """What can't be done and what to do next, for somebody who knows nothing of providers and policies.

    Args:
        cores: The minimal sets of constraints that clash; the first is told.
        setup_failed: Whether a provider was missing because it could not be set up: it may be back soon.
    """
    first = cores[0] if cores else ()
    terms = [constraint.term for constraint in first]
    if not terms:
        can = "This can't be done right now: no service is connected that could do it"
    elif all(isinstance(each.term, ListTerm) or each.owner == "rule" for each in first):
        can = "This can't be done right now: your organisation's rules leave no service that may be used for it"
    else:
        wanted = list(dict.fromkeys(_RULED if each.owner == "rule" else _can(each.term) for each in first))
        both = "both " if len(wanted) == 2 else ""
        together = " together" if len(wanted) > 2 else ""
        can = f"This can't be done right now: no service you may use can {both}{joined(wanted)}{together}"
    tries = list(dict.fromkeys(step for term in terms if (step := _try(term)) is not None))
    if setup_failed:
        tries.append("try again in a few minutes, as part of the service is not available at the moment")
    if not tries:
        return f"{can}. Your input is not at fault; trying again won't help. Please {_ADMINISTRATOR}."
    return f"{can}. You can {joined(tries, 'or')}. If you need it just as it is, please {_ADMINISTRATOR}."


def _can(term: Term) -> str:
    match term:
        case FeatureTerm(feature=feature):
            return _CAN.get(feature, "do what this task needs")
        case ContextWindowTerm(op=op):
            return "take in that much text" if op in _AT_LEAST else "be of the size that this task asks for"
        case PriceTerm(op=op):
            return "stay within the spending limit" if op in _AT_MOST else "be in the price range that is asked for"
        case RegionTerm() | RegionListTerm():
            return "keep your data where it has to stay"
        case LatencyTerm(op=op):
            return "answer as quickly as is asked" if op in _AT_MOST else "answer at the pace that is asked for"
        case ListTerm():
            return _RULED
        case KindTerm():
            return "do this kind of task"
        case _:
            return "do what this task needs"


def _try(term: Term) -> str | None:
    match term:
        case FeatureTerm(feature=feature):
            return _WITHOUT.get(feature)
        case ContextWindowTerm(op=op, floor=False) if op in _AT_LEAST:
            return "try a shorter text"
        case _:
            return None
