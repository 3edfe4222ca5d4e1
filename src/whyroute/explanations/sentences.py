"""Sentences about an explanation that more than one rendering tells: without markup, not yet made printable."""

from ..basics.issues import shown
from ..basics.numbers import ecmascript
from ..constraints.named import NamedConstraint
from ..solving.request import Shadow
from .contrast import Contrast
from .explanation import Explanation
from .ties import tie_clause
from .words import counted, few, named

__all__ = [
    "hinge_clause",
    "hinges",
    "outranked_clause",
    "qualifying_clause",
    "redundant_clause",
    "score_clause",
    "shadow_clause",
    "tenant_of",
]

_TIES = {
    "fallback": "regular candidates come before fallbacks",
    "hint": "it matches the hint and the next does not",
    "score": "its score is higher",
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
    if not explanation.margin:
        than = f"tied with the next one; {_TIES.get(explanation.decided_by or '') or _tie(explanation)}"
    return f"scores {ecmascript(explanation.ranking[0].score)}, {than}"


def _tie(explanation: Explanation) -> str:
    ranking = explanation.solved.ranked(explanation.survivors)
    return tie_clause(ranking)


def hinges(explanation: Explanation) -> tuple[NamedConstraint, ...]:
    """The constraints that the choice hangs on: those that alone stop the most candidates; none when none stops any.

    A constraint that admits few is none of them where the others reject the same candidates.
    """
    most = max((members.bit_count() for _, members in explanation.stopped_alone), default=0)
    return tuple(constraint for constraint, members in explanation.stopped_alone if members.bit_count() == most)


def hinge_clause(explanation: Explanation) -> tuple[str, str]:
    """The names of the hinges, of which there are some, and what each of them does."""
    constraints = hinges(explanation)
    tenant = tenant_of(explanation)
    more = next(members for constraint, members in explanation.stopped_alone if constraint is constraints[0])
    which = {1: "it", 2: "either of them"}.get(len(constraints), "any one of them")
    return (
        few([named(constraint, tenant) for constraint in constraints], 3),
        f"without {which}, {more.bit_count()} more would qualify",
    )


def redundant_clause(explanation: Explanation) -> str:
    """What is said of the redundant constraints, named before it: of each by itself, not of all together."""
    verb = "makes" if len(explanation.redundant) == 1 else "make"
    return f"{verb} no difference: other constraints already reject the same candidates"


def shadow_clause(shadow: Shadow | None, pick: tuple[str, str] | None) -> str | None:
    """What enforcing the rules in shadow mode would do; None when it would change nothing.

    Args:
        shadow: What enforcing them would give; None when there are none.
        pick: The (provider id, model name) that is picked; None when nothing qualifies.
    """
    if shadow is None or not shadow.by:
        return None
    rules = few([f"rule {shown(name.partition('/')[2])}" for name in shadow.by], 3)
    if shadow.pick is None:
        would = "nothing would qualify"
    elif shadow.pick.key == pick:
        would = "fewer would qualify or their order change, and the pick would be the same"
    else:
        would = f"{shadow.pick.metadata.id} / {shadow.pick.model.name} would be the pick"
    return f"if {rules} were enforced, {would}"


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
            return f"the scores tie, and {contrast.order}"
        case "provider":
            return "the scores tie, and the pick's provider id comes first"
        case "defaultModel":
            return "the scores tie, and the pick is the provider's default model"
        case "model":
            return "the scores tie, and the pick's model name comes first"
