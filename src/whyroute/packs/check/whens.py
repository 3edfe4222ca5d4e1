"""Conditions over the request: kinds that nothing has, and conditions that no request can meet.

A request is for a capability of the pack, which says its kind, its features and some of its labels, or for a
declaration of the caller's own, which has any kind, any features, and no name. A fact that it doesn't give is unknown:
that applies a rule that requires or forbids, and no rule that prefers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from ...basics.globs import matching
from ...basics.issues import did_you_mean, quoted, shown
from ...constraints.three_valued import Compiled
from ...model.capability import FeatureNeed
from ...model.condition import AllOf, Leaf, Node
from ...model.condition_grammar import LABEL_PREFIX
from ...model.features import BUILT_IN_KINDS, FEATURES
from ...model.regions import NO_REGIONS
from ..load.definitions import Piece
from ..load.models import CapabilityEntry
from ..load.pack import Pack
from .findings import Finding, found
from .leaves import comparisons, field_tree, tree
from .nearglobs import near_glob
from .possible import Literal, Possible, text_can_hold
from .survey import Survey

__all__ = ["Requests", "impossible_whens", "known_kinds", "unknown_kinds"]


def unknown_kinds(survey: Survey) -> Iterator[Finding]:
    """Kinds, and globs over kinds, in conditions over the request that fit nothing the pack knows of."""
    kinds = sorted(known_kinds(survey.pack))
    for name, entry in survey.entries.items():
        if entry.when is None or "kind" not in entry.when.fields:
            continue
        for each in comparisons(survey.pack.rules[name].piece.inner("when")):
            if each.field != "kind":
                continue
            if each.is_glob and not matching(each.value, kinds):
                near = near_glob(each.value, kinds)
                message = f"no kind matches {shown(each.value)}"
                message += f"; the kinds are {quoted(kinds)}" if near is None else f"; did you mean {shown(near)}?"
            elif not each.is_glob and each.value not in kinds:
                near = did_you_mean(each.value, kinds) or f"; the kinds are {quoted(kinds)}"
                message = f"nothing has kind {shown(each.value)}{near}"
            else:
                continue
            yield found("unknown-kind", each.place, message, rules=(name,))


def known_kinds(pack: Pack) -> frozenset[str]:
    """The built-in kinds, and those that anything in a pack has, declares or describes."""
    kinds = {*BUILT_IN_KINDS}
    kinds |= {each.value.kind for each in pack.capabilities.values()}
    kinds |= {each.value.metadata.capability_kind for each in pack.providers.values()}
    kinds |= {each.value.kind for each in pack.descriptors.values() if each.value.kind is not None}
    declared: list[object] = [
        slot.capability for bundle in pack.bundles.values() for slot in bundle.value.slots.values()
    ]
    declared += [test.value.capability for test in pack.tests.values()]
    kinds |= {each["kind"] for each in declared if isinstance(each, Mapping) and "kind" in each}
    kinds |= {meta.capability_kind for test in pack.tests.values() for meta in test.value.providers or ()}
    return frozenset(kinds)


def impossible_whens(survey: Survey) -> Iterator[Finding]:
    """Conditions over the request, and parts of them, that no request can meet; the innermost ones."""
    requests = Requests(survey.pack)
    sound: set[tuple[Node, bool]] = set()  # many rules have the same condition
    for name, rule in survey.pack.rules.items():
        if rule.value.when is None:
            continue
        node, unknown_counts = rule.value.when.node, rule.value.effect != "prefer"
        if (node, unknown_counts) in sound:
            continue
        when = rule.piece.inner("when")
        piece = Piece.of(when.source, when.node)
        told = []
        if _has_choice(node) or not requests.can_meet(node, unknown_counts=unknown_counts):
            told = _within(requests, piece, (name,), unknown_counts=unknown_counts)
        if unknown_counts and not told and not requests.can_certainly_meet(node):
            message = "no request certainly meets this; the rule applies only to those for which it is unknown"
            told.append(found("uncertain-when", piece.place, message, rules=(name,)))
        if not told:
            sound.add((node, unknown_counts))
        yield from told


def _has_choice(node: Node) -> bool:
    """Whether a part of a condition may be impossible although the whole is not."""
    match node:
        case AllOf(parts):
            return any(map(_has_choice, parts))
        case Leaf():
            return False
    return True


def _within(requests: "Requests", piece: Piece, rules: tuple[str, ...], *, unknown_counts: bool) -> list[Finding]:
    told: list[Finding] = []
    for key, _, node in piece.node.pairs():
        inner = Piece.of(piece.source, node)
        if key == "not":  # what is unknown there leaves the whole unknown
            told += _within(requests, inner, rules, unknown_counts=not unknown_counts)
        elif key in ("any", "all"):
            for part in node.value:
                told += _within(requests, Piece.of(piece.source, part), rules, unknown_counts=unknown_counts)
        elif not requests.can_meet(AllOf(tuple(field_tree(key, node))), unknown_counts=unknown_counts):
            message = f"no request can have such {'labels' if key == 'labels' else f'a {shown(key)}'}"
            message += "".join(requests.defaults(field_tree(key, node)))
            told.append(found("impossible-condition", inner.place, message, rules=rules))
    if not told and not requests.can_meet(tree(piece.node), unknown_counts=unknown_counts):
        message = "no request can meet all of this together"
        told.append(found("impossible-condition", piece.place, message, rules=rules))
    return told


_Facts = Mapping[str, Any]
"""The values of fields that a request can't choose; None: unknown."""

_UNNAMED: Final = ""
"""Stands for a name that no capability of the pack has."""

_DECLARED_IN_PLACE: Final[_Facts] = {"capability": None}
_OF_ANOTHER_NAME: Final[_Facts] = {"capability": _UNNAMED}


class Requests:
    """All requests that a pack could be asked.

    Args:
        pack: The pack.
    """

    def __init__(self, pack: Pack) -> None:
        self._search = Possible({}, (), NO_REGIONS)
        declared = {LABEL_PREFIX + key: each.value for key, each in (pack.labels or {}).items()}
        self._default = {key: label.default for key, label in declared.items() if label.default is not None}
        self._labels: dict[str, tuple[str | None, ...]] | None = None
        if pack.labels is not None:
            self._labels = {
                key: (*label.values, *(() if key in self._default else (None,))) for key, label in declared.items()
            }
        self._named = [_facts_of(each.value) for each in pack.capabilities.values()]

    def defaults(self, leaves: Iterable[Leaf]) -> Iterator[str]:
        """What to say of labels that must be absent and have a default."""
        for leaf in leaves:
            if (leaf.op, leaf.wanted) == ("exists", False) and leaf.field in self._default:
                label = shown(leaf.field.removeprefix(LABEL_PREFIX))
                yield f"; label {label} is {shown(self._default[leaf.field])} where a request does not give it"

    def can_meet(self, node: Node, *, unknown_counts: bool) -> bool:
        """Whether a condition holds for any of them.

        Exact for conditions that take a search of few steps; yes for the others.

        Args:
            node: The condition.
            unknown_counts: Whether a request meets it for which it is unknown.
        """
        return self._can_meet(node, (_DECLARED_IN_PLACE, *self._named), unknown_counts)

    def can_certainly_meet(self, node: Node) -> bool:
        """Whether a condition certainly holds for any of them.

        A declaration of a caller's own counts as a capability of another name than those of the pack.
        """
        return self._can_meet(node, (_OF_ANOTHER_NAME, *self._named), unknown_counts=False)

    def _can_meet(self, node: Node, every: Iterable[_Facts], unknown_counts: bool) -> bool:
        return any(
            self._search.can_hold(node, partial(self._fits, fixed, unknown_counts=unknown_counts)) for fixed in every
        )

    def _fits(self, fixed: _Facts, field: str, literals: Sequence[Literal], *, unknown_counts: bool) -> bool:
        values: Sequence[Any]
        if field in fixed:
            values = (fixed[field],)
        elif field == "kind":
            return _some_text(field, (*literals, (Leaf(field, "eq", ""), False)))
        elif field == "feature":
            # Nothing, or all that may be there: what is asked for is there in the one, what is excluded in neither.
            excluded = {
                name
                for leaf, wanted in literals
                if not wanted and leaf.op != "exists"
                for name in (leaf.wanted if leaf.op == "in" else (leaf.wanted,))
            }
            values = ((), tuple(name for name in FEATURES if name not in excluded))
        elif self._labels is not None:
            values = self._labels[field]
        elif _some_text(field, literals):
            return True
        else:
            values = (None,)
        return any(all(_comes_out(each, value, unknown_counts) for each in literals) for value in values)


def _facts_of(capability: CapabilityEntry) -> _Facts:
    return {
        "kind": capability.kind,
        "feature": tuple(need.feature for need in capability.needs if isinstance(need, FeatureNeed)),
        "capability": capability.name,
        **{LABEL_PREFIX + key: value for key, value in capability.labels.items()},
    }


def _comes_out(literal: Literal, value: Any, unknown_counts: bool) -> bool:
    leaf, wanted = literal
    if (leaf.field, leaf.op, value) == ("capability", "exists", _UNNAMED):
        value = None
    holds = Compiled(leaf, (), (leaf.field,)).value({leaf.field: value})
    return unknown_counts if holds is None else holds is wanted


def _some_text(field: str, literals: Sequence[Literal]) -> bool:
    """Whether some text makes comparisons come out as they must."""
    if any(leaf.op == "exists" and leaf.wanted is not wanted for leaf, wanted in literals):
        return False
    return text_can_hold(field, [each for each in literals if each[0].op != "exists"], NO_REGIONS)
