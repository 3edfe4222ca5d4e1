"""Caps that reject no candidate."""

from collections.abc import Iterator

from ...basics.numbers import ecmascript
from ..load.policy import Part
from .findings import Finding, found
from .survey import Survey

__all__ = ["idle_caps"]


def idle_caps(survey: Survey) -> Iterator[Finding]:
    """Caps of policies and tenants that reject none of the candidates that their tenants see, or are never the
    strictest.
    """
    for part in survey.all_parts:
        view = survey.view_of_part(part)
        if not view:
            continue
        cost, tokens = part.value.max_cost_per_call_usd, part.value.max_tokens_per_call
        if cost is not None:
            beyond = survey.catalog.prompt_price.meets(">", cost) & view
            yield from _idle(survey, part, "maxCostPerCallUsd", f"no prompt price is above {ecmascript(cost)}", beyond)
        if tokens is not None:
            beyond = survey.catalog.context_window.meets("<", tokens) & view
            yield from _idle(
                survey, part, "maxTokensPerCall", f"no context window is below {ecmascript(tokens)}", beyond
            )


def _idle(survey: Survey, part: Part, key: str, told: str, beyond: int) -> Iterator[Finding]:
    place = part.piece.value(key)
    if not beyond:
        yield found("idle-cap", place, f"`{key}` rejects no candidate: {told}")
        return
    stricter = _stricter(survey, part, key)
    if stricter is not None:
        message = f"`{key}` never decides: for every tenant that it holds for, another one is stricter"
        yield found("idle-cap", place, message, [stricter.piece.value(key)])


def _stricter(survey: Survey, part: Part, key: str) -> Part | None:
    """A part that is stricter for a tenant of a part; None where there is none for one of its tenants."""
    is_policy = survey.pack.policies.get(part.name) is part
    tenants = survey.tenants_of_policy[part.name] if is_policy else (part.name,)
    first: Part | None = None
    for tenant in tenants:
        stricter = next((other for other in survey.parts[tenant] if _is_stricter(other, part, key)), None)
        if stricter is None:
            return None
        first = first or stricter
    return first


def _is_stricter(one: Part, other: Part, key: str) -> bool:
    if key == "maxCostPerCallUsd":
        mine, its = one.value.max_cost_per_call_usd, other.value.max_cost_per_call_usd
        return mine is not None and its is not None and mine < its
    tokens, its_tokens = one.value.max_tokens_per_call, other.value.max_tokens_per_call
    return tokens is not None and its_tokens is not None and tokens > its_tokens
