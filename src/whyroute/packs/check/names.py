"""Names and globs that match nothing, or less than they seem to, and model names that approve more."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...basics.globs import glob
from ...basics.issues import quoted, shown
from ...model.features import UNSPECIFIED_REGION
from ..load.definitions import Piece
from ..load.policy import Part
from ..source.nodes import Node
from ..source.problems import Place
from .findings import Finding, found
from .leaves import Written, comparisons, mappings, references, tree
from .survey import Survey

__all__ = ["ambiguous_models", "unmatched_names"]

_NOUNS: Final = {
    "provider": "provider",
    "model": "model",
    "region": "region",
    "kind": "kind",
    "feature": "feature",
    "attribute": "attribute",
}
_SKIPPED: Final = ("source",)  # it is the registry that knows which there are
_SETS: Final = ("feature", "attribute")  # these take no `like`
_NAMED_AT_MOST: Final = 3


@dataclass(slots=True)
class _Use:
    """A name at its place, and all that it is used for.

    Attributes:
        written: The name.
        negated: Whether a miss of it lets something through anywhere.
        view: The candidates that the tenants see for which it holds.
        rules: The rules that it decides.
        within_providers: Whether a list of providers that are allowed stands beside it.
        in_condition: Whether it stands in a condition, which has globs, and not in a list of a policy or a need.
    """

    written: Written
    negated: bool = False
    view: int = 0
    rules: dict[str, None] = field(default_factory=dict)
    within_providers: bool = False
    in_condition: bool = False


@dataclass(frozen=True, slots=True)
class _Root:
    """A condition of a rule or a waiver, or a list of a policy or a capability.

    Attributes:
        piece: The condition.
        negated: Whether it is one that rejects.
        view: The candidates that the tenants see for which it holds.
        rule: The rule whose condition it is.
        approves: Whether what meets it is approved, not only preferred or rejected.
    """

    piece: Piece
    negated: bool
    view: int
    rule: str | None
    approves: bool


def _roots(survey: Survey) -> Iterator[_Root]:
    for name, each in survey.pack.rules.items():
        rule = each.value
        if rule.condition is not None:
            piece = Piece.of(each.piece.source, each.piece.inner(rule.effect).node)
            view = survey.view_of_rule(name)
            yield _Root(piece, rule.effect == "forbid", view, name, rule.effect == "require")
    for waiver in survey.pack.waivers.values():
        piece = Piece.of(waiver.piece.source, waiver.piece.inner("admits").node)
        yield _Root(piece, False, survey.view_of_tenant(waiver.value.tenant), None, True)


def _condition_roots(survey: Survey) -> Iterator[_Root]:
    """The conditions of rules and waivers, and the named ones, once for every way in which they are used."""
    piece_of = {name: each.piece for name, each in survey.pack.conditions.items()}
    inner = {name: tuple(references(piece)) for name, piece in piece_of.items()}
    used: set[str] = set()
    for root in _roots(survey):
        yield root
        seen: set[tuple[str, bool]] = set()
        waiting = [(each.name, each.negated) for each in references(root.piece, root.negated)]
        while waiting:
            name, negated = waiting.pop()
            if (name, negated) not in seen:
                seen.add((name, negated))
                used.add(name)
                approves = root.approves and not negated
                yield _Root(piece_of[name], negated, root.view, root.rule, approves)
                waiting += [(each.name, each.negated is not negated) for each in inner[name]]
    for name, piece in piece_of.items():
        if name not in used:
            yield _Root(piece, False, survey.view_of_all(), None, False)


def _list_uses(survey: Survey) -> Iterator[_Use]:
    """The names in the lists of policies, tenants and capabilities."""
    parts: list[Part] = [*survey.pack.policies.values(), *survey.pack.tenants.values()]
    for part in parts:
        view = survey.view_of_part(part)
        yield from _lists(part.piece, view)
        yield from _names(part.piece, ("regionAllow",), "region", False, view)
    view = survey.view_of_all()
    for capability in survey.pack.capabilities.values():
        for index in range(len(capability.value.needs)):
            need = Piece.of(capability.piece.source, capability.piece.inner("needs", index).node)
            yield from _lists(need, view)
            yield from _names(need, ("region",), "region", False, view)
            yield from _names(need, ("feature",), "feature", False, view)


def _lists(piece: Piece, view: int) -> Iterator[_Use]:
    providers = piece.node.value.get("providers")
    within = providers is not None and providers.keys is not None and "allow" in providers.value
    for key, name in (("providers", "provider"), ("models", "model")):
        for inner, negated in (("allow", False), ("deny", True)):
            for use in _names(piece, (key, inner), name, negated, view):
                use.within_providers = within
                yield use


def _names(piece: Piece, keys: tuple[str, ...], name: str, negated: bool, view: int) -> Iterator[_Use]:
    node = piece.node
    for key in keys:
        if node.keys is None or key not in node.value:
            return
        node = node.value[key]
    for each in node.value if type(node.value) is list else [node]:
        written = Written(name, each.value, False, negated, piece.source.place(*each.position))
        yield _Use(written, negated, view)


def _uses(survey: Survey) -> list[_Use]:
    """Every name in a condition or a list, once for each place."""
    found_uses: dict[tuple[str, int | None, int | None, str], _Use] = {}

    def add(written: Written, negated: bool, view: int, rule: str | None, *, in_condition: bool) -> None:
        place = written.place
        key = (place.file, place.line, place.column, written.field)
        use = found_uses.setdefault(key, _Use(written))
        use.negated |= negated
        use.view |= view
        use.in_condition = in_condition
        if rule is not None:
            use.rules[rule] = None

    for root in _condition_roots(survey):
        for written in comparisons(root.piece, root.negated):
            add(written, written.negated, root.view, root.rule, in_condition=True)
    for use in _list_uses(survey):
        add(use.written, use.negated, use.view, None, in_condition=False)
    return list(found_uses.values())


def unmatched_names(survey: Survey) -> Iterator[Finding]:
    """Names that nothing has, and globs that would match more if case didn't count.

    A pack without providers says nothing of what those have that are registered while the service runs.
    """
    if not survey.pack.providers:
        return
    for use in _uses(survey):
        written = use.written
        if written.field in _SKIPPED or (written.field == "region" and written.value == UNSPECIFIED_REGION):
            continue
        if written.is_glob:
            yield from _glob(survey, use)
        elif not survey.having(written.field, written.value) & use.view:
            yield _unmatched(survey, use)
    yield from _group_members(survey)


def _unmatched(survey: Survey, use: _Use) -> Finding:
    written = use.written
    name = written.value
    noun = _NOUNS.get(written.field, f"`{written.field}`")
    elsewhere = survey.having(written.field, name)
    also: list[Place] = []
    hint = ""
    if written.field == "region" and name in survey.pack.regions:
        also.append(survey.pack.regions[name].place())
        what = f"no provider is in a region of group {shown(name)}"
    elif elsewhere:
        what = f"nothing that its tenants see has {noun} {shown(name)}"
        hint = "; only what is kept for others (`onlyTenants`) has it"
        also += [survey.pack.providers[meta.id].place("onlyTenants") for _, meta, _ in survey.candidates(elsewhere, 1)]
    else:
        what = f"nothing has {noun} {shown(name)}"
        hint = _literal_glob(use) or survey.names(written.field).near(name)
    if use.negated:
        what += _rejected_still(survey, use)
    kind = "unmatched-negative" if use.negated else "unmatched-name"
    return found(kind, written.place, what + hint, also, use.rules)


def _literal_glob(use: _Use) -> str:
    """What to say of a name that is written like a glob where it is none."""
    written = use.written
    if "*" not in written.value or written.field in _SETS:
        return ""
    if use.in_condition:
        return f"; a glob stands under `like`: {shown(f'{{like: {json.dumps(written.value, ensure_ascii=False)}}}')}"
    return "; a name in a list is no glob: write a rule with `like`"


def _glob(survey: Survey, use: _Use) -> Iterator[Finding]:
    written = use.written
    pattern = written.value
    matches = glob(pattern)
    missed = [value for value in survey.matching_in_any_case(written.field, pattern) if not matches(value)]
    if use.negated:
        there = [value for value in missed if _let_in(survey, use, survey.having(written.field, value) & use.view)]
        if there:
            message = f"{shown(pattern)} does not match {quoted(there, limit=_NAMED_AT_MOST)}, where only case differs"
            yield found("case-missed-glob", written.place, message, rules=use.rules)
        elif not missed and not survey.catalog.matching(written.field, pattern) & use.view:
            yield _unmatched_glob(survey, use, "unmatched-negative")
    elif not survey.catalog.matching(written.field, pattern) & use.view:
        yield _unmatched_glob(survey, use, "unmatched-name", missed)


def _unmatched_glob(survey: Survey, use: _Use, kind: str, missed: Sequence[str] = ()) -> Finding:
    written = use.written
    noun = _NOUNS.get(written.field, f"`{written.field}`")
    hidden = survey.catalog.matching(written.field, written.value)
    seen = " that its tenants see" if hidden else ""
    message = f"no {noun}{seen} matches {shown(written.value)}"
    also: list[Place] = []
    if use.negated:
        message += _rejected_still(survey, use)
    if hidden:
        message += "; only what is kept for others (`onlyTenants`) does"
        also += [survey.pack.providers[meta.id].place("onlyTenants") for _, meta, _ in survey.candidates(hidden, 1)]
    if missed:
        differs = "differs" if len(missed) == 1 else "differ"
        message += f"; {quoted(missed, limit=_NAMED_AT_MOST)} {differs} only in case"
    if not (hidden or missed):
        message += survey.names(written.field).near_glob(written.value)
    return found(kind, written.place, message, also, use.rules)


def _rejected_still(survey: Survey, use: _Use) -> str:
    """What a negated name that nothing has rejects: nothing, or what it is not known of."""
    field = use.written.field
    unknown = use.view & ~survey.catalog.known(field) if use.in_condition and field not in _SETS else 0
    rejected = 0
    for name in use.rules:
        entry = survey.entries[name]
        if entry.condition is not None and entry.rule.effect != "prefer":
            rejected |= unknown & ~survey.admitted(entry, entry.condition)
    if not rejected:
        return ", so this rejects no candidate"
    count = rejected.bit_count()
    which = "the one candidate" if count == 1 else f"the {count} candidates"
    return f", so this rejects only {which} whose {shown(field)} is not known"


def _let_in(survey: Survey, use: _Use, members: int) -> bool:
    """Whether any of some candidates gets past the rules that the glob is part of."""
    if not members or not use.rules:
        return bool(members)
    for name in use.rules:
        entry = survey.entries[name]
        if entry.condition is None or entry.rule.effect == "prefer":
            return True
        if members & survey.admitted(entry, entry.condition):
            return True
    return False


def _group_members(survey: Survey) -> Iterator[Finding]:
    """Members of groups of regions that miss a region by case or Unicode form alone; others may come to be."""
    there = set(survey.values("region"))
    for name, group in survey.pack.regions.items():
        for index, member in enumerate(group.value):
            if member not in there and member not in survey.pack.regions:
                near = survey.names("region").same_but_for_case(member)
                if near:
                    message = f"nothing has region {shown(member)}, of group {shown(name)}{near}"
                    yield found("unmatched-name", group.place(index), message)


def ambiguous_models(survey: Survey) -> Iterator[Finding]:
    """Models that are approved by a bare name which several providers have."""
    seen: dict[tuple[str, int | None, int | None], None] = {}
    for place, name, members in _approved(survey):
        key = (place.file, place.line, place.column)
        if key in seen:
            continue
        providers = list(dict.fromkeys(meta.id for _, meta, _ in survey.candidates(members, 64)))
        if len(providers) > 1:
            seen[key] = None
            message = (
                f"model {shown(name)} is approved at {quoted(providers, limit=_NAMED_AT_MOST)}; "
                "name the provider, too, where not all of them are meant"
            )
            yield found(
                "ambiguous-model", place, message, [survey.place_of(n) for n, _, _ in survey.candidates(members)]
            )


def _approved(survey: Survey) -> Iterator[tuple[Place, str, int]]:
    """The model names that are approved without a provider, each with the candidates."""
    for use in _list_uses(survey):
        if use.written.field == "model" and not use.negated and not use.within_providers:
            yield use.written.place, use.written.value, survey.having("model", use.written.value) & use.view
    for root in _condition_roots(survey):
        if root.approves:
            yield from _bare_models(survey, root)


def _bare_models(survey: Survey, root: _Root) -> Iterator[tuple[Place, str, int]]:
    """The models in a condition that are compared for equality, where no provider is named beside or around them."""
    if "provider" in root.piece.node.value:
        return
    named_beside: set[tuple[int, int]] = set()  # where these parts are written
    for mapping, negated in mappings(root.piece, root.negated):
        around = (mapping.node.line, mapping.node.column) in named_beside or "provider" in mapping.node.value
        if around:
            named_beside |= {(part.line, part.column) for key in ("any", "all") for part in _parts(mapping, key)}
            continue
        beside = _parts(mapping, "all")
        if any("provider" in part.value for part in beside):
            named_beside |= {(part.line, part.column) for part in beside}
        if negated or "model" not in mapping.node.value:
            continue
        known = survey.known(survey.compiled(tree(mapping.node))).yes & root.view
        for written in comparisons(Piece.of(mapping.source, _only(mapping, "model"))):
            if not written.is_glob and not written.negated:
                yield written.place, written.value, survey.having("model", written.value) & known


def _parts(mapping: Piece, key: str) -> list[Node]:
    found_parts: list[Node] = mapping.node.value[key].value if key in mapping.node.value else []
    return found_parts


def _only(mapping: Piece, key: str) -> Node:
    """A condition with one of its fields."""
    node = mapping.node
    return Node(node.line, node.column, {key: node.value[key]}, keys={key: (node.keys or {})[key]})
